// New tensors from shapes and numbers.
#include "gradus/makers.h"

#include <cmath>
#include <cstring>

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/reduce.h"
#include "gradus/shaping.h"
#include "gradus/type_error.h"
#include "graph/context.h"
#include "graph/dynamic_size.h"
#include "graph/graph.h"
#include "graph/host_number.h"
#include "graph/symbols.h"
#include "kernels/movement.h"
#include "ops/axes.h"
#include "ops/checks.h"
#include "ops/records.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

struct IotaAttrs {
  Size size = 0;
  DType dtype = int64;
  static auto fields() {
    return attr_fields(attr("size", &IotaAttrs::size), attr("dtype", &IotaAttrs::dtype));
  }
};

struct OneHotAttrs {
  Size depth = 0;
  int axis = 0;
  static auto fields() {
    return attr_fields(attr("depth", &OneHotAttrs::depth), attr("axis", &OneHotAttrs::axis));
  }
};

// Runs an op without operands; with an unknown size it becomes part of what is being traced.
template <class Attrs>
Tensor run_alone(const Op& op, const Attrs& attrs, bool is_symbolic) {
  if (!is_symbolic || !thread_context.graph) return op.run_one({}, &attrs);
  Graph& graph = *thread_context.graph;
  return graph.tensor(graph.add(op, &attrs, {}).first_out);
}

// The dtype in which some numbers meet: that of the tensors among them, or their own.
DType common_dtype(const char* op, std::initializer_list<const Tensor*> numbers) {
  const Tensor* strong = nullptr;
  for (const Tensor* t : numbers) {
    if (t->impl()->has(kWeak)) continue;
    if (strong && strong->dtype() != t->dtype()) {
      fail<TypeError>("[", op, "] got dtypes ", name_of(strong->dtype()), " and ",
                      name_of(t->dtype()), "; all must be the same, cast one of them");
    } else {
      strong = t;
    }
  }
  return strong ? strong->dtype() : dtype_alone(numbers);
}

Tensor in_dtype(const char* op, const Tensor& t, DType dtype) {
  return t.impl()->has(kWeak) ? number_as(op, t, dtype) : t;
}

std::vector<Sample> one_hot_samples() {
  const SampleArg indices{{2, 3}, -1, 5, Fill::integer}, one{{2}, 0, 3, Fill::integer}, number{{}};
  return {sample<OneHotAttrs>({indices, number, number}, {4, 2}),
          sample<OneHotAttrs>({indices, number, number}, {4, 0}),
          sample<OneHotAttrs>({one, number, number}, {0, 0})};
}

}  // namespace

const Op iota_op = not_differentiable(
    {.name = "iota",
     .doc = "0, 1, 2, ...",
     .attrs = &attr_type<IotaAttrs>(),
     .inputs = 0,
     .infer =
         [](const Call& c, Avals& out) {
           const auto& p = c.get<IotaAttrs>();
           out.push_back({p.dtype, {p.size}});
         },
     .kernel =
         [](const KernelCall& c) {
           visit_dtype(c.out[0].dtype, [&](auto zero) {
             using T = decltype(zero);
             const T start = T(0.0f), step = T(1.0f);
             kernels::iota(c.out[0].dtype, &start, &step, c.out[0].count(), c.out[0].data);
           });
         },
     .samples =
         [] {
           return std::vector<Sample>{sample<IotaAttrs>({}, {5}), sample<IotaAttrs>({}, {0})};
         },
     .like = "numpy.arange"},
    "it has no arguments");

const Op one_hot_op = composite(
    {.name = "one_hot",
     .doc = "A new axis with on_value at the index and off_value elsewhere.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<OneHotAttrs>(),
     .inputs = 3,
     .differentiable = 6,
     .infer =
         [](const Call& c, Avals& out) {
           const auto& p = c.get<OneHotAttrs>();
           check_index_dtype(c, 0);
           check_operand_shape(c, 1, {});
           check_operand_shape(c, 2, {});
           if (c.in[1].dtype != c.in[2].dtype) {
             fail<InvalidArgumentError>("[one_hot] on_value is ", name_of(c.in[1].dtype),
                                        ", off_value ", name_of(c.in[2].dtype),
                                        "; both must have one dtype");
           }
           check_sizes(c, "the depth", {p.depth});
           check_axis(c, p.axis, c.shape(0).rank() + 1);
           Shape shape = c.shape(0);
           shape.insert(p.axis, p.depth);
           out.push_back({c.in[1].dtype, shape});
         },
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<OneHotAttrs>();
           std::int64_t outer = 1, inner = 1;
           for (int i = 0; i < p.axis; ++i) outer *= c.shape(0)[i];
           for (int i = p.axis; i < c.shape(0).rank(); ++i) inner *= c.shape(0)[i];
           kernels::one_hot(c.in[0].dtype, c.in[0].data, outer, p.depth, inner,
                            size_of(c.in[1].dtype), c.in[1].data, c.in[2].data, c.out[0].data);
         },
     .samples = one_hot_samples,
     .like = "tensorflow.one_hot"},
    [](const void* attrs, std::span<const Tensor> in) -> Tensors {
      const auto& p = *static_cast<const OneHotAttrs*>(attrs);
      Shape column{p.depth};
      for (int i = p.axis; i < in[0].rank(); ++i) column.push_back(1);
      const Tensor positions = reshape(iota(p.depth, in[0].dtype()), column);
      return {where(equal(expand_dims(in[0], p.axis), positions), in[1], in[2])};
    });

Tensor dynamic_size(Size size) {
  return !size.is_known() ? traced_size(size) : Tensor(std::int64_t{size});
}

namespace {

Tensor filled(const Shape& shape, DType dtype, double value) {
  Tensor one = cast(value, dtype);
  if (shape.rank() == 0) return one;
  if (value == 0 && shape.is_known()) {
    Tensor t = make_tensor(dtype, shape);
    std::memset(t.impl()->data, 0, t.num_bytes());
    return t;
  }
  return broadcast_to(one, shape);
}

}  // namespace

Tensor zeros(const Shape& shape, DType dtype, CallSite) {
  const OpenCall here;
  return filled(shape, dtype, 0);
}
Tensor ones(const Shape& shape, DType dtype, CallSite) {
  const OpenCall here;
  return filled(shape, dtype, 1);
}
Tensor fill(const Shape& shape, In value) { return broadcast_to(value, shape); }
Tensor zeros_like(In x) { return zeros(x->shape(), x->dtype()); }
Tensor ones_like(In x) { return ones(x->shape(), x->dtype()); }

Tensor iota(Size count, DType dtype, CallSite) {
  const OpenCall here;
  return run_alone(iota_op, IotaAttrs{count, dtype}, !count.is_known());
}

namespace {

// The numbers of a range as functions of its start and of its step, if anybody follows these.
Tensor with_slopes(const Tensor& made, const Tensor& start, const Tensor& delta) {
  const auto followed = [&](const Tensor& t) {
    const bool some = t.impl()->has(kTracked) || t.impl()->has(kHasTangent);
    return some && t.dtype() == made.dtype();
  };
  Tensor sum = made;
  if (followed(start)) sum = sum + (start - stop_gradient(start));
  if (followed(delta)) {
    const Tensor places = cast(iota(made.num_elements(), int64), made.dtype());
    sum = sum + places * (delta - stop_gradient(delta));
  }
  return sum;
}

bool is_number(const Tensor& t, double number) {
  return is_concrete(t) && cast(t, float64).item<double>() == number;
}

// A range whose arguments only the run of the program will know.
Tensor range_of_found_size(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  const DType dtype = start.dtype();
  if (!is_integer(dtype) && !is_floating(dtype))
    fail<InvalidArgumentError>("[range] got dtype ", name_of(dtype), "; real numbers expected");
  if (is_integer(dtype) && is_number(start, 0) && is_number(delta, 1))
    return iota(to_size(limit), dtype);
  const Tensor count = is_integer(dtype)
                           ? -floordiv(cast(start, int64) - cast(limit, int64), cast(delta, int64))
                           : cast(ceil(abs(stop_gradient((limit - start) / delta))), int64);
  return start + cast(iota(to_size(count)), dtype) * delta;
}

}  // namespace

Tensor range(In limit) { return range(0, limit); }

Tensor range(In start, In limit, In delta) {
  const DType dtype = common_dtype("range", {&start.tensor(), &limit.tensor(), &delta.tensor()});
  for (const Tensor* t : {&start.tensor(), &limit.tensor(), &delta.tensor()}) {
    if (t->rank() != 0) {
      fail<InvalidArgumentError>("[range] got an argument of shape ", t->shape(),
                                 "; scalars were expected");
    }
  }
  if (!is_concrete(start) || !is_concrete(limit) || !is_concrete(delta))
    return range_of_found_size(in_dtype("range", start, dtype), in_dtype("range", limit, dtype),
                               in_dtype("range", delta, dtype));
  return visit_dtype(dtype, [&](auto zero) -> Tensor {
    using T = decltype(zero);
    if constexpr (is_bool(dtype_v<T>) || is_complex(dtype_v<T>)) {
      fail<InvalidArgumentError>("[range] got dtype ", name_of(dtype), "; real numbers expected");
    } else {
      using Wide = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
      const auto as_given = [&](In x) { return in_dtype("range", x, dtype).template item<T>(); };
      const T first = as_given(start), step = as_given(delta);
      const Wide a = static_cast<Wide>(first), b = static_cast<Wide>(as_given(limit));
      const Wide d = static_cast<Wide>(step);
      if (d == 0 || (d > 0 ? a > b : a < b)) {
        fail<InvalidArgumentError>("[range] start ", a, " does not reach limit ", b,
                                   " by steps of ", d);
      }
      std::int64_t count;
      if constexpr (std::is_integral_v<T>) {
        count = d > 0 ? (b - a + d - 1) / d : (a - b - d - 1) / -d;
      } else {
        // In the precision of the numbers themselves: (1.1 - 0.1) / 0.1 is 10 in float32, as
        // written, while the float32 numbers that are nearest to these give 11 in exact arithmetic.
        const T span = static_cast<T>(static_cast<Wide>(static_cast<T>(b - a)));
        const T steps = static_cast<T>(static_cast<Wide>(span) / d);
        count = static_cast<std::int64_t>(std::ceil(std::abs(static_cast<Wide>(steps))));
      }
      const Tensor made = Tensor::filled_by(
          dtype, {count}, [&](void* out) { kernels::iota(dtype, &first, &step, count, out); });
      return is_floating(dtype) ? with_slopes(made, start, delta) : made;
    }
  });
}

Tensor linspace(In start, In stop, Size num, int axis) {
  const DType given = common_dtype("linspace", {&start.tensor(), &stop.tensor()});
  const DType dtype = is_integer(given) ? float64 : given;
  if (num.is_known() && num < 0) fail<InvalidArgumentError>("[linspace] num is ", num);
  Tensor first = cast(start, dtype), last = cast(stop, dtype);
  const int at = normal_axis("linspace", axis, std::max(first.rank(), last.rank()) + 1);
  const Tensor sum = first + last;  // for its shape
  first = expand_dims(broadcast_to(first, sum.shape()), at);
  last = expand_dims(broadcast_to(last, sum.shape()), at);
  if (!num.is_known()) {
    Shape column{num};
    for (int i = at + 1; i < first.rank(); ++i) column.push_back(1);
    const Tensor places = reshape(iota(num), column), end = maximum(traced_size(num) - 1, 1);
    const Tensor between = first + (last - first) / cast(end, dtype) * cast(places, dtype);
    return where(equal(places, end), last, between);
  }
  if (num <= 1) {
    Shape shape = first.shape();
    shape[at] = num;
    return broadcast_to(first, shape);
  }
  Shape steps{num - 2};
  for (int i = at + 1; i < first.rank(); ++i) steps.push_back(1);
  const Tensor inside = reshape(range(1, num - 1), steps);
  const Tensor between =
      first + (last - first) / static_cast<double>(num - 1) * cast(inside, dtype);
  return concat({first, between, last}, at);
}

Tensor eye(Size num_rows, Size num_columns, const Shape& batch_shape, DType dtype, CallSite) {
  const OpenCall here;
  const Size columns = is_same(num_columns, -1) ? num_rows : num_columns;
  const Tensor square = equal(expand_dims(iota(num_rows), 1), iota(columns));
  Shape shape = batch_shape;
  shape.push_back(num_rows);
  shape.push_back(columns);
  return broadcast_to(cast(square, dtype), shape);
}

Tensor one_hot(In indices, Size depth, In on_value, In off_value, int axis) {
  const DType dtype = common_dtype("one_hot", {&on_value.tensor(), &off_value.tensor()});
  if (depth < 0 && depth.is_known()) fail<InvalidArgumentError>("[one_hot] depth is ", depth);
  return one_hot_op(
      {indices, in_dtype("one_hot", on_value, dtype), in_dtype("one_hot", off_value, dtype)},
      OneHotAttrs{depth, normal_axis("one_hot", axis, indices->rank() + 1)});
}

Tensor sequence_mask(In lengths, Size maxlen, DType dtype) {
  if (!is_integer(lengths->dtype())) {
    fail<InvalidArgumentError>("[sequence_mask] lengths must be integers, got ",
                               name_of(lengths->dtype()));
  }
  if (is_same(maxlen, -1)) maxlen = to_size(maximum(reduce_max(lengths), 0));
  return cast(less(iota(maxlen, lengths->dtype()), expand_dims(lengths, -1)), dtype);
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& axes, const std::string& indexing) {
  if (indexing != "xy" && indexing != "ij") {
    fail<InvalidArgumentError>("[meshgrid] indexing is '", indexing, "'; use 'xy' or 'ij'");
  }
  const int rank = static_cast<int>(axes.size());
  const auto axis_of = [&](int i) { return indexing == "xy" && rank >= 2 && i < 2 ? 1 - i : i; };
  Shape shape;
  for (int i = 0; i < rank; ++i)
    shape.push_back(num_elements(axes[static_cast<std::size_t>(axis_of(i))].shape()));
  std::vector<Tensor> grids;
  for (int i = 0; i < rank; ++i) {
    Shape line;
    for (int k = 0; k < rank; ++k) line.push_back(k == axis_of(i) ? shape[k] : Size(1));
    grids.push_back(broadcast_to(reshape(axes[static_cast<std::size_t>(i)], line), shape));
  }
  return grids;
}

Tensor shape(In x, DType out_type) {
  std::vector<Tensor> sizes;
  for (const Size n : x->shape()) sizes.push_back(reshape(dynamic_size(n), {1}));
  return cast(sizes.empty() ? zeros({0}, int64) : concat(sizes, 0), out_type);
}
Tensor size(In x, DType out_type) { return cast(dynamic_size(num_elements(x->shape())), out_type); }
Tensor rank(In x) { return Tensor(x->rank()); }

}  // namespace gradus
