// The ops that give a tensor another shape.
#include "gradus/shaping.h"

#include "base/check.h"
#include "gradus/elementwise.h"
#include "gradus/reduce.h"
#include "graph/batch.h"
#include "graph/context.h"
#include "graph/dispatch.h"
#include "graph/graph.h"
#include "ops/axes.h"
#include "ops/checks.h"
#include "ops/records.h"
#include "ops/unbroadcast.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

struct ShapeAttrs {
  Shape shape;
  static auto fields() { return attr_fields(attr("shape", &ShapeAttrs::shape)); }
};

Sample shape_sample(const Shape& in, const Shape& out) { return sample<ShapeAttrs>({{in}}, {out}); }

// The batch stays in front of the new shape.
Tensors batch_shape(const BatchCall& call) {
  ShapeAttrs attrs = call.get<ShapeAttrs>();
  attrs.shape.insert(0, call.size);
  return call.op.run(call.in, &attrs);
}

}  // namespace

const Op reshape_op = linear(
    {.name = "reshape",
     .doc = "The same elements in row-major order under another shape.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<ShapeAttrs>(),
     .infer =
         [](const Call& c, Avals& out) {
           const Shape& shape = c.get<ShapeAttrs>().shape;
           check_sizes(c, "shape", shape);
           const Size count = num_elements(c.shape(0));
           if (!sizes_agree(count, num_elements(shape))) {
             fail<InvalidArgumentError>("[reshape] a tensor of shape ", c.shape(0), " has ", count,
                                        " elements; it cannot have shape ", shape);
           }
           out.push_back({c.in[0].dtype, shape});
         },
     .batch = batch_shape,
     .samples =
         [] {
           return std::vector<Sample>{shape_sample({2, 3}, {3, 2}), shape_sample({4}, {2, 2, 1}),
                                      shape_sample({0, 3}, {3, 0})};
         },
     .like = "numpy.reshape",
     .is_view = true},
    [](const Site& s, int, const Tensor& ct) -> Cotangent { return reshape(ct, s.shape(0)); });

const Op identity_op = linear({.name = "identity",
                               .doc = "The value itself.",
                               .dtypes = kAnyDType,
                               .batch = batch_leading,
                               .samples =
                                   [] {
                                     return std::vector<Sample>{{{{Shape{2, 3}}}, nullptr}};
                                   },
                               .is_view = true},
                              [](const Site&, int, const Tensor& ct) -> Cotangent { return ct; });

const Op stop_gradient_op =
    not_differentiable({.name = "stop_gradient",
                        .doc = "The value itself; gradients stop here.",
                        .dtypes = kAnyDType,
                        .batch = batch_leading,
                        .samples =
                            [] {
                              return std::vector<Sample>{{{{Shape{2, 3}}}, nullptr}};
                            },
                        .is_view = true},
                       "stop_gradient was asked for");

const Op broadcast_to_op = linear(
    {.name = "broadcast_to",
     .doc = "Repeats along axes of size 1 and new leading axes.",
     .dtypes = kAnyDType,
     .attrs = &attr_type<ShapeAttrs>(),
     .infer =
         [](const Call& c, Avals& out) {
           const Shape& shape = c.get<ShapeAttrs>().shape;
           check_sizes(c, "shape", shape);
           if (!shapes_agree(broadcast_shapes("broadcast_to", c.shape(0), shape), shape)) {
             fail<InvalidArgumentError>("[broadcast_to] shape ", c.shape(0),
                                        " does not broadcast to ", shape);
           }
           out.push_back({c.in[0].dtype, shape});
         },
     .kernel = [](const KernelCall& c) { copy_rule().run(c.in, c.out[0]); },
     .batch =
         [](const BatchCall& c) {
           // Axes that are new come between the batch and the example's own.
           ShapeAttrs attrs = c.get<ShapeAttrs>();
           Shape aligned{c.size};
           const int rank = c.in[0].rank() - 1;
           for (int i = rank; i < attrs.shape.rank(); ++i) aligned.push_back(1);
           for (int i = 0; i < rank; ++i) aligned.push_back(c.in[0].shape()[i + 1]);
           attrs.shape.insert(0, c.size);
           return Tensors{c.op({reshape(c.in[0], aligned)}, attrs)};
         },
     .expression = [](const Call&, std::span<const expr::Expr> in) -> std::vector<expr::Expr> {
       return {in[0]};
     },
     .samples =
         [] {
           return std::vector<Sample>{shape_sample({3}, {2, 3}), shape_sample({2, 1}, {4, 2, 3}),
                                      shape_sample({}, {2}), shape_sample({1}, {0})};
         },
     .like = "numpy.broadcast_to"},
    [](const Site& s, int, const Tensor& ct) -> Cotangent {
      return unbroadcast(ct, ct.shape(), s.shape(0));
    });

namespace {

// What -1 stands for. Of nothing, it is what is left of the sizes that are not 0, as in TensorFlow;
// -1 if they do not go together.
Size what_is_left(const Shape& from, const Shape& to, Size count, Size known) {
  if (!is_same(known, 0)) return count / known;
  if (!from.is_known() || !to.is_known()) return -1;
  const auto product = [](const Shape& shape) {  // checked: it may not fit
    Size n = 1;
    for (const Size size : shape) n *= size > 0 ? size : Size(1);
    return std::int64_t{n};
  };
  const std::int64_t had = product(from), given = product(to);
  return had % given == 0 ? had / given : -1;
}

}  // namespace

Tensor reshape(In x, const Shape& shape) {
  ShapeAttrs attrs{shape};
  const Size count = num_elements(x->shape());
  Size known = 1;
  int unknown = -1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] < -1 && shape[i].is_known()) {
      fail<InvalidArgumentError>("[reshape] got shape ", shape,
                                 "; sizes must be at least 0 (or -1, once, for what is left)");
    } else if (shape[i] != -1) {
      known = known * shape[i];
    } else if (unknown >= 0) {
      fail<InvalidArgumentError>("[reshape] shape ", shape, " has more than one -1");
    } else {
      unknown = i;
    }
  }
  if (unknown >= 0) attrs.shape[unknown] = what_is_left(x->shape(), shape, count, known);
  const bool fits = unknown < 0 || !is_same(known, 0)
                        ? sizes_agree(unknown < 0 ? known : known * attrs.shape[unknown], count)
                        : attrs.shape[unknown] >= 0 && is_same(count, 0);
  if (!fits) {
    fail<InvalidArgumentError>("[reshape] a tensor of shape ", x->shape(), " has ", count,
                               " elements; it cannot have shape ", shape);
  }
  return reshape_op({x}, attrs);
}

Tensor identity(In x) { return identity_op(x); }
Tensor stop_gradient(In x) { return stop_gradient_op(x); }

Tensor broadcast_to(In x, const Shape& shape) {
  if (is_same(x->shape(), shape)) return x;
  return broadcast_to_op({x}, ShapeAttrs{shape});
}

}  // namespace gradus
