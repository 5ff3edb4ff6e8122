// Gradus: tensors and their derivatives. This header includes the whole public API.
#pragma once
#include "gradus/error.h"
#include "gradus/forward.h"
#include "gradus/gradient.h"
#include "gradus/ops.h"
#include "gradus/structure.h"
#include "gradus/tensor.h"
#include "gradus/variable.h"
#include "gradus/vmap.h"
