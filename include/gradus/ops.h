// All ops.
#pragma once
#include "gradus/elementwise.h"
#include "gradus/indexing.h"
#include "gradus/linalg.h"
#include "gradus/makers.h"
#include "gradus/nn.h"
#include "gradus/random.h"
#include "gradus/reduce.h"
#include "gradus/scan.h"
#include "gradus/segments.h"
#include "gradus/shaping.h"
#include "gradus/sorting.h"
