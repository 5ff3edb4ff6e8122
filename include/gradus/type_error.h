// Operands that do not go together whatever their values and shapes are: other dtypes, or a traced
// tensor outside of its function. In a header of its own because few need it.
#pragma once
#include "gradus/error.h"

namespace gradus {

class TypeError : public InvalidArgumentError {
  using InvalidArgumentError::InvalidArgumentError;
};

}  // namespace gradus
