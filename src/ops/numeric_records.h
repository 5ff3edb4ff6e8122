// Records of decompositions, transforms and special functions, one of each family, for the registry
// and each other. Apart from records.h, so that not all ops are compiled when one is added.
#pragma once
#include "graph/op.h"

namespace gradus {

extern const Op cofactors_op;
extern const Op expm_op;
extern const Op fft_op;
extern const Op gamma_sample_op;
extern const Op igamma_op;
extern const Op ndtri_op;
extern const Op pinv_op;
extern const Op svd_op;
extern const Op undetermined_op;

}  // namespace gradus
