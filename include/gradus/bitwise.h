// Ops on the bits of integers: TensorFlow's tf.bitwise. Shapes broadcast, dtypes must agree.
#pragma once
#include "gradus/in.h"

namespace gradus::bitwise {

Tensor bitwise_and(In x, In y);
Tensor bitwise_or(In x, In y);
Tensor bitwise_xor(In x, In y);
Tensor invert(In x);
// Shifts by less than 0 are by 0, by more than the width - 1 by the width - 1. To the right the
// sign comes in.
Tensor left_shift(In x, In y);
Tensor right_shift(In x, In y);

}  // namespace gradus::bitwise
