// What a traced function returned, taken apart into tensors and put together again at each call.
#pragma once
#include <memory>
#include <vector>

#include "types.h"

namespace gradus::python {

struct Returned {
  enum class Leaf : std::uint8_t { tensor, fixed, rows, rows_with_shape };
  Ref structure;  // with None in place of tensors
  std::vector<Leaf> leaves;
  std::vector<Ref> fixed;  // one per leaf
  bool is_one_tensor = false;

  static std::shared_ptr<Returned> make();  // may be dropped by threads that do not hold the GIL
};

std::vector<Tensor> take_apart(PyObject* function, PyObject* result, Returned& returned);
Ref put_together(const Returned& returned, const std::vector<Tensor>& tensors);

}  // namespace gradus::python
