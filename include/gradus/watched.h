// Whether somebody on this thread follows a value, so that using it as a plain number would lose
// its derivative without a word.
#pragma once
#include "gradus/tensor.h"

namespace gradus {

bool is_watched(const Tensor& t);  // by an open tape or a forward accumulator

}  // namespace gradus
