// Reductions: tf.reduce_* and tf.math.reduce_*.
#include "function.h"
#include "gradus/ops.h"

namespace gradus::python {
namespace {

using OverAll = Tensor (*)(In);
using OverAxes = Tensor (*)(In, const Shape&, bool);

// axis=None is all axes; with keepdims, all of them by name.
Shape axes_of(const Tensor& x, const Arguments& a, int i) {
  if (!a.is_none(i)) return a.shape(i);
  Shape all;
  for (int axis = 0; axis < x.rank(); ++axis) all.push_back(axis);
  return all;
}

PyObject* reduce(const Arguments& a, OverAll over_all, OverAxes over_axes) {
  const Tensor x = a.tensor(0);
  const bool keep = a.boolean(2);
  if (a.is_none(1) && !keep) return wrap(on_large(x, [&] { return over_all(x); }));
  const Shape axes = axes_of(x, a, 1);
  return wrap(on_large(x, [&] { return over_axes(x, axes, keep); }));
}

template <OverAll over_all, OverAxes over_axes>
PyObject* reduction(const Arguments& a) {
  return reduce(a, over_all, over_axes);
}

using ArgReduce = Tensor (*)(In, int, DType);
PyObject* positions(const Arguments& a, ArgReduce op) {
  const Tensor x = a.tensor(0);
  const int axis = a.is_none(1) ? 0 : a.small(1);
  return wrap(on_large(x, [&, type = a.dtype(2, int64)] { return op(x, axis, type); }));
}

PyObject* both_moments(const Arguments& a) {
  const Tensor x = a.tensor(0);
  const Shape axes = axes_of(x, a, 1);
  const auto found = on_large(x, [&, keep = a.boolean(3)] { return moments(x, axes, keep); });
  const Ref mean = Ref::own(wrap(found.first)), variance = Ref::own(wrap(found.second));
  return PyTuple_Pack(2, mean.get(), variance.get());
}

constexpr const char* kReduce = "input_tensor, axis=None, keepdims=False, name=None";

const FunctionEntry entries[] = {
    {"reduce_sum math.reduce_sum", kReduce, "The sum over axes.",
     reduction<reduce_sum, reduce_sum>},
    {"reduce_mean math.reduce_mean", kReduce, "The mean over axes.",
     reduction<reduce_mean, reduce_mean>},
    {"reduce_prod math.reduce_prod", kReduce, "The product over axes.",
     reduction<reduce_prod, reduce_prod>},
    {"reduce_max math.reduce_max", kReduce, "The maximum over axes.",
     reduction<reduce_max, reduce_max>},
    {"reduce_min math.reduce_min", kReduce, "The minimum over axes.",
     reduction<reduce_min, reduce_min>},
    {"reduce_any math.reduce_any", kReduce, "Whether any is true.",
     reduction<reduce_any, reduce_any>},
    {"reduce_all math.reduce_all", kReduce, "Whether all are true.",
     reduction<reduce_all, reduce_all>},
    {"reduce_logsumexp math.reduce_logsumexp", kReduce, "log(sum(exp(x))), safe at any scale.",
     reduction<reduce_logsumexp, reduce_logsumexp>},
    {"math.reduce_variance", kReduce, "The mean squared distance from the mean.",
     reduction<reduce_variance, reduce_variance>},
    {"math.reduce_std", kReduce, "The root of the variance.", reduction<reduce_std, reduce_std>},
    {"math.reduce_euclidean_norm", kReduce, "The root of the sum of squares.",
     reduction<reduce_euclidean_norm, reduce_euclidean_norm>},
    {"math.count_nonzero", "input, axis=None, keepdims=None, dtype='int64', name=None",
     "How many elements are not 0.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0);
       const bool keep = !a.is_none(2) && a.boolean(2);
       return wrap(count_nonzero(x, axes_of(x, a, 1), keep, a.dtype(3, int64)));
     }},
    {"argmax math.argmax", "input, axis=None, output_type='int64', name=None",
     "The position of the largest element along an axis.",
     [](const Arguments& a) { return positions(a, argmax); }},
    {"argmin math.argmin", "input, axis=None, output_type='int64', name=None",
     "The position of the smallest element along an axis.",
     [](const Arguments& a) { return positions(a, argmin); }},
    {"nn.moments", "x, axes, shift=None, keepdims=False, name=None", "Mean and variance over axes.",
     both_moments, "shift: a hint for another algorithm, no input of the result"},
};

}  // namespace

void add_reduce_functions() { add_functions(entries); }

}  // namespace gradus::python
