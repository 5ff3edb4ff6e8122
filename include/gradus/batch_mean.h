// What losses are reduced by. In a header of its own because few need it.
#pragma once
#include "gradus/in.h"

namespace gradus::keras {

// The mean of the losses of a batch; 0 of an empty one.
Tensor batch_mean(In values);

}  // namespace gradus::keras
