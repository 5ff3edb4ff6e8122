// Changing rows of a variable, in place where nobody else can see its value.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "gradus/indexing.h"
#include "gradus/ops.h"
#include "gradus/variable.h"
#include "graph/context.h"
#include "graph/host_number.h"
#include "graph/variable_program.h"
#include "kernels/scatter.h"
#include "ops/indices.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using kernels::ScatterOp;

// Checked operands: indices int32 or int64, updates of the variable's dtype, one row per index.
struct RowUpdates {
  Tensor indices, updates;

  RowUpdates(const char* what, const VariableState& v, const Tensor& at, const Tensor& with) {
    if (v.shape.rank() == 0) {
      fail<InvalidArgumentError>("[", what, "] '", v.name, "' is a scalar and has no rows");
    }
    if (!is_integer(at.dtype())) {
      fail<InvalidArgumentError>("[", what, "] got indices of dtype ", name_of(at.dtype()),
                                 "; they must be integers");
    }
    indices = at.dtype() == int32 || (at.dtype() == int64 && !at.impl()->has(kWeak))
                  ? at
                  : cast(at, int64);
    updates = with.impl()->has(kWeak) ? number_as(what, with, v.dtype) : with;
    Shape expected = indices.shape();
    for (int i = 1; i < v.shape.rank(); ++i) expected.push_back(v.shape[i]);
    if (updates.rank() == 0) updates = broadcast_to(updates, expected);
    if (updates.dtype() != v.dtype || !(updates.shape() == expected)) {
      fail<InvalidArgumentError>("[", what, "] got updates of shape ", updates.shape(),
                                 " and dtype ", name_of(updates.dtype()), "; '", v.name,
                                 "' takes shape ", expected, " and dtype ", name_of(v.dtype));
    }
  }
};

// The variable's elements for writing: its own if nobody else has them.
void* writable(Tensor& value) {
  if (!is_unique(value)) {
    const Tensor copy = make_tensor(value.dtype(), value.shape());
    std::memcpy(copy.impl()->data, value.raw_data(), value.num_bytes());
    value = copy;
  }
  return value.impl()->data;
}

template <class F>
void change(const char* what, const Variable& variable, const Tensor& at, const Tensor& with,
            Tensor (*traced)(In, In, In), F write) {
  if (!variable.defined()) fail<FailedPreconditionError>("[", what, "] the variable has no value");
  VariableState& state = *variable.state();
  const RowUpdates rows(what, state, at, with);
  if (thread_context.variables || state.is_declared) {
    if (!traced) {
      fail<UnimplementedError>("[", what, "] cannot be traced; compute with the rows' values and ",
                               "use scatter_update");
    }
    const Tensor with[] = {expand_dims(rows.indices, -1), rows.updates};
    const auto merge = [traced](const Tensor& now, std::span<const Tensor> rows) {
      return traced(now, rows[0], rows[1]);
    };
    return update_traced(*tracer_of(state), state, with, merge);
  }
  if (!is_concrete(rows.indices) || !is_concrete(rows.updates)) {
    fail<InvalidArgumentError>("[", what, "] '", state.name,
                               "' cannot be changed by traced or mapped values");
  }
  const View indices{rows.indices.impl()->data, &rows.indices.shape(), rows.indices.dtype()};
  check_indices(what, indices, state.shape[0]);
  if (thread_context.observer) thread_context.observer->assigned(state, rows.updates);
  kernels::ScatterShape shape{rows.indices.num_elements(), 1, state.shape[0]};
  for (int i = 1; i < state.shape.rank(); ++i) shape.width *= state.shape[i];
  if (shape.count * shape.width == 0) return;
  state.update([&](Tensor& value) { write(rows, shape, writable(value)); });
}

void scatter(const char* what, ScatterOp op, const Variable& v, const Tensor& at,
             const Tensor& with, Tensor (*traced)(In, In, In)) {
  if (v.defined() && !kernels::scatters(op, v.dtype())) {
    fail<InvalidArgumentError>("[", what, "] '", v.name(), "' has dtype ", name_of(v.dtype()),
                               ", for which this is not defined");
  }
  change(what, v, at, with, traced,
         [&](const RowUpdates& rows, const kernels::ScatterShape& shape, void* out) {
           kernels::scatter(op, rows.updates.dtype(), rows.indices.dtype(), rows.indices.raw_data(),
                            rows.updates.raw_data(), shape, out);
         });
}

template <class T>
void divide_rows(const RowUpdates& rows, const kernels::ScatterShape& shape, T* out) {
  const T* updates = static_cast<const T*>(rows.updates.raw_data());
  for (std::int64_t k = 0; k < shape.count; ++k) {
    const std::int64_t row = rows.indices.dtype() == int32 ? rows.indices.data<std::int32_t>()[k]
                                                           : rows.indices.data<std::int64_t>()[k];
    for (std::int64_t j = 0; j < shape.width; ++j, ++updates) {
      T& y = out[row * shape.width + j];
      if constexpr (std::is_integral_v<T>) {
        // The one quotient that does not fit wraps, as all integer arithmetic here.
        y = *updates == static_cast<T>(-1) && std::is_signed_v<T>
                ? static_cast<T>(0u - static_cast<std::make_unsigned_t<T>>(y))
                : static_cast<T>(y / *updates);
      } else if constexpr (sizeof(T) == 2) {
        y = T(static_cast<float>(y) / static_cast<float>(*updates));
      } else {
        y = y / *updates;
      }
    }
  }
}

}  // namespace

void Variable::scatter_add(In indices, In updates) const {
  scatter("Variable.scatter_add", ScatterOp::add, *this, indices, updates, tensor_scatter_nd_add);
}
void Variable::scatter_sub(In indices, In updates) const {
  scatter("Variable.scatter_sub", ScatterOp::subtract, *this, indices, updates,
          tensor_scatter_nd_sub);
}
void Variable::scatter_update(In indices, In updates) const {
  scatter("Variable.scatter_update", ScatterOp::update, *this, indices, updates,
          tensor_scatter_nd_update);
}
void Variable::scatter_max(In indices, In updates) const {
  scatter("Variable.scatter_max", ScatterOp::maximum, *this, indices, updates,
          tensor_scatter_nd_max);
}
void Variable::scatter_min(In indices, In updates) const {
  scatter("Variable.scatter_min", ScatterOp::minimum, *this, indices, updates,
          tensor_scatter_nd_min);
}
void Variable::scatter_mul(In indices, In updates) const {
  scatter("Variable.scatter_mul", ScatterOp::multiply, *this, indices, updates, nullptr);
}

void Variable::scatter_div(In indices, In updates) const {
  const char* what = "Variable.scatter_div";
  if (defined() && dtype() == bool_) {
    fail<InvalidArgumentError>("[", what, "] '", name(), "' has dtype bool, for which this is not ",
                               "defined");
  }
  change(what, *this, indices, updates, nullptr,
         [&](const RowUpdates& rows, const kernels::ScatterShape& shape, void* out) {
           visit_dtype(rows.updates.dtype(), [&](auto zero) {
             using T = decltype(zero);
             if constexpr (!std::is_same_v<T, bool>) {
               if constexpr (std::is_integral_v<T>) {
                 const T* first = static_cast<const T*>(rows.updates.raw_data());
                 if (std::find(first, first + rows.updates.num_elements(), T(0)) !=
                     first + rows.updates.num_elements()) {
                   fail<InvalidArgumentError>("[", what, "] an integer is divided by zero");
                 }
               }
               divide_rows(rows, shape, static_cast<T*>(out));
             }
           });
         });
}

}  // namespace gradus
