// Products of matrices and factorisations; all of them over the last two axes.
#pragma once
#include "gradus/in.h"

namespace gradus {

struct MatmulOptions {
  bool transpose_a = false, transpose_b = false;
};
Tensor matmul(In a, In b, MatmulOptions options = {});

}  // namespace gradus
