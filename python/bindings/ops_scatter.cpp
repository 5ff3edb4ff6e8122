// Reading and writing by coordinates, with what happens to coordinates that are not there.
#include "function.h"
#include "gradus/error.h"
#include "gradus/ops.h"
#include "gradus/tracing.h"
#include "ops.h"

namespace gradus::python {
namespace {

// Whether bad coordinates are left out; else they are errors.
bool leaves_out(const Arguments& a, int i, const char* op) {
  const std::string policy = a.string(i);
  if (policy != "" && policy != "DEFAULT" && policy != "ERROR" && policy != "IGNORE")
    throw InvalidArgumentError(std::string("[") + op + "] got bad_indices_policy '" + policy +
                               "'; expected '', 'DEFAULT', 'ERROR' or 'IGNORE'");
  return policy == "IGNORE";
}

// Coordinates [..., n] into the sizes of a shape from axis `first` on: those that are there, others
// as zeros; and which ones are there, [...].
std::pair<Tensor, Tensor> only_good(const Tensor& indices, const Shape& shape, int first) {
  if (indices.rank() == 0 || indices.shape().back() > shape.rank() - first)
    throw InvalidArgumentError("[scatter_nd, gather_nd] got indices of shape " +
                               gradus::to_string(indices.shape()) + " into shape " +
                               gradus::to_string(shape) + "; expected up to one for each axis");
  std::vector<Tensor> sizes{zeros({0}, int64)};  // some may be known only when the program runs
  for (int i = 0; i < indices.shape().back(); ++i)
    sizes.push_back(reshape(dynamic_size(shape[first + i]), {1}));
  const Tensor wide = cast(indices, int64), zero = zeros({}, int64), limit = concat(sizes, 0);
  const Tensor good = reduce_all(logical_and(greater_equal(wide, zero), less(wide, limit)), {-1});
  return {where(expand_dims(good, -1), indices, zeros_like(indices)), good};
}

// A mask [...] over values [..., inner].
Tensor over(const Tensor& good, const Tensor& values) {
  Shape shape = good.shape();
  while (shape.rank() < values.rank()) shape.push_back(1);
  return reshape(good, shape);
}

PyObject* read(const Arguments& a) {
  const Tensor params = a.tensor(0), indices = a.tensor(1);
  const int batch = a.small(2);
  if (!leaves_out(a, 4, "gather_nd")) return wrap(gather_nd(params, indices, batch));
  const auto [places, good] = only_good(indices, params.shape(), batch);
  const Tensor found = gather_nd(params, places, batch);
  return wrap(where(over(good, found), found, zeros_like(found)));
}

PyObject* write(const Arguments& a) {
  Tensor indices = a.tensor(0), updates = a.tensor(1);
  const Shape shape = a.shape(2);
  if (leaves_out(a, 3, "scatter_nd")) {
    const auto [places, good] = only_good(indices, shape, 0);
    updates = where(over(good, updates), updates, zeros_like(updates));
    indices = places;
  }
  return wrap(scatter_nd(indices, updates, shape));
}

// The number that changes nothing: 0 for sums, the least for maxima, the largest for minima.
enum class Neutral { zero, least, largest };
Tensor neutral(const Tensor& like, Neutral which) {
  if (which == Neutral::zero) return zeros({}, like.dtype());
  return which == Neutral::least ? ops::least_of(like.dtype()) : ops::largest_of(like.dtype());
}

PyObject* change(const Arguments& a, Tensor (*op)(In, In, In), Neutral which) {
  const Tensor x = a.tensor(0);
  Tensor indices = a.tensor(1), updates = a.tensor(2, x.dtype());
  if (leaves_out(a, 3, "tensor_scatter_nd")) {
    const auto [places, good] = only_good(indices, x.shape(), 0);
    updates = where(over(good, updates), updates, neutral(updates, which));
    indices = places;
  }
  return wrap(on_large(x, [&] { return op(x, indices, updates); }));
}

constexpr const char* kChange = "tensor, indices, updates, bad_indices_policy='', name=None";

const FunctionEntry entries[] = {
    {"gather_nd", "params, indices, batch_dims=0, name=None, bad_indices_policy=''",
     "Slices by coordinates.", read},
    {"scatter_nd", "indices, updates, shape, bad_indices_policy='', name=None",
     "Zeros of a shape with updates added at coordinates.", write},
    {"tensor_scatter_nd_add", kChange, "A copy with some added to.",
     [](const Arguments& a) { return change(a, tensor_scatter_nd_add, Neutral::zero); }},
    {"tensor_scatter_nd_sub", kChange, "A copy with some lessened.",
     [](const Arguments& a) { return change(a, tensor_scatter_nd_sub, Neutral::zero); }},
    {"tensor_scatter_nd_max", kChange, "A copy with some raised.",
     [](const Arguments& a) { return change(a, tensor_scatter_nd_max, Neutral::least); }},
    {"tensor_scatter_nd_min", kChange, "A copy with some lowered.",
     [](const Arguments& a) { return change(a, tensor_scatter_nd_min, Neutral::largest); }},
    {"tensor_scatter_nd_update", "tensor, indices, updates, name=None",
     "A copy with some replaced.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0), indices = a.tensor(1), updates = a.tensor(2, x.dtype());
       return wrap(on_large(x, [&] { return tensor_scatter_nd_update(x, indices, updates); }));
     }},
};

}  // namespace

void add_scatter_functions() { add_functions(entries); }

}  // namespace gradus::python
