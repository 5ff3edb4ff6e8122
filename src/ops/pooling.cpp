// Pooling. The maximum records which element of each window it took; that choice parametrises a
// linear map, which is its derivative.
#include <limits>

#include "base/check.h"
#include "gradus/nn.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/block_kernels.h"
#include "graph/symbols.h"
#include "kernels/pool.h"
#include "ops/checks.h"
#include "ops/records.h"
#include "ops/same_padding.h"

namespace gradus {
namespace {

struct PoolAttrs {
  Ints window, strides;
  Ints padding;  // top, bottom, left, right
  Shape size;    // of the image, for the gradients
  static auto fields() {
    return attr_fields(attr("window", &PoolAttrs::window), attr("strides", &PoolAttrs::strides),
                       attr("padding", &PoolAttrs::padding), attr("size", &PoolAttrs::size));
  }
};

kernels::Pool2dShape shape_of(const PoolAttrs& p, DType dtype, const Shape& image) {
  kernels::Pool2dShape s;
  s.dtype = dtype;
  s.batch = image[0];
  s.in_h = image[1];
  s.in_w = image[2];
  s.channels = image[3];
  s.window_h = p.window[0];
  s.window_w = p.window[1];
  s.stride_h = p.strides[0];
  s.stride_w = p.strides[1];
  s.pad_top = p.padding[0];
  s.pad_bottom = p.padding[1];
  s.pad_left = p.padding[2];
  s.pad_right = p.padding[3];
  return s;
}

Shape pooled(const PoolAttrs& p, const Shape& x) {
  Shape out = x;
  for (int i = 0; i < 2; ++i) {
    const Size padded = x[i + 1] + p.padding[2 * i] + p.padding[2 * i + 1];
    out[i + 1] = padded.is_known() && padded < p.window[i]
                     ? Size(0)
                     : (padded - p.window[i]) / p.strides[i] + 1;
  }
  return out;
}

// What images of this shape give; all ops here rest on it.
Shape pooled(const Call& c, const Shape& image) {
  const auto& p = c.get<PoolAttrs>();
  check_numbers(c, "window", p.window, 2, 1);
  check_numbers(c, "strides", p.strides, 2, 1);
  check_numbers(c, "padding", p.padding, 4, 0);
  if (p.window[0] * p.window[1] > std::numeric_limits<std::int32_t>::max()) {
    fail<InvalidArgumentError>("[", c.op.name(), "] got window ", p.window,
                               "; a window has less than 2^31 elements");
  }
  if (image.rank() != 4) {
    fail<InvalidArgumentError>("[", c.op.name(), "] got shape ", image,
                               "; images are [batch, height, width, channels]");
  }
  return pooled(p, image);
}

void infer_pool(const Call& c, Avals& out) {
  out.push_back({c.in[0].dtype, pooled(c, c.shape(0))});
}
void infer_max_pool(const Call& c, Avals& out) {
  infer_pool(c, out);
  out.push_back({int32, out[0].shape});
}
void check_places(const Call& c) {
  if (c.in[1].dtype == int32) return;
  fail<InvalidArgumentError>("[", c.op.name(), "] places in windows are int32, got ",
                             name_of(c.in[1].dtype));
}
void infer_image(const Call& c, Avals& out) {
  const Shape& size = c.get<PoolAttrs>().size;
  check_sizes(c, "size", size);
  const Shape windows = pooled(c, size);
  for (std::size_t i = 0; i < c.in.size(); ++i)
    check_operand_shape(c, static_cast<int>(i), windows);
  if (c.in.size() == 2) check_places(c);
  out.push_back({c.in[0].dtype, size});
}
void infer_taken(const Call& c, Avals& out) {
  check_operand_shape(c, 1, pooled(c, c.shape(0)));
  check_places(c);
  out.push_back({c.in[0].dtype, c.shape(1)});
}

// Places come from max_pool2d, but anybody can pass some: each must lie inside the image.
void check_places_inside(const KernelCall& c, const kernels::Pool2dShape& s) {
  const Shape& windows = c.shape(1);
  const auto* place = c.in[1].as<std::int32_t>();
  for (std::int64_t i = 0, n = c.in[1].count(); i < n; ++i) {
    if (place[i] < 0) continue;  // a window that sees nothing
    const std::int64_t at = i / windows[3], row = at / windows[2] % windows[1];
    const std::int64_t y = row * s.stride_h - s.pad_top + place[i] / s.window_w;
    const std::int64_t x = at % windows[2] * s.stride_w - s.pad_left + place[i] % s.window_w;
    if (place[i] < s.window_h * s.window_w && y >= 0 && y < s.in_h && x >= 0 && x < s.in_w)
      continue;
    fail<InvalidArgumentError>("[", c.op.name(), "] place ", place[i], " at position ", i,
                               " is not inside its window and image");
  }
}

// The batch of vmap joins the batch of images.
Tensors batch_images(const BatchCall& c) {
  Tensors in;
  std::int64_t images = 0;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    Shape merged = c.in[i].shape();
    if (!c.is_batched(static_cast<int>(i))) merged.insert(0, c.size);
    const Tensor whole = broadcast_to(c.in[i], merged);
    images = merged[1];
    merged.erase(0);
    merged[0] = c.size * images;
    in.push_back(reshape(whole, merged));
  }
  PoolAttrs attrs = c.get<PoolAttrs>();
  if (attrs.size.rank() > 0) attrs.size[0] = c.size * images;
  Tensors out = c.op.run(in, &attrs);
  for (Tensor& y : out) {
    Shape split = y.shape();
    split[0] = images;
    split.insert(0, c.size);
    y = reshape(y, split);
  }
  return out;
}

const PoolAttrs kPlain{{2, 2}, {2, 2}, {0, 0, 0, 0}, {}};
const PoolAttrs kOverlapping{{3, 2}, {1, 2}, {1, 1, 0, 1}, {}};
PoolAttrs sized(PoolAttrs attrs, const Shape& size) {
  attrs.size = size;
  return attrs;
}

}  // namespace

extern const Op max_pool_take_op, max_pool_gradient_op;

const Op max_pool_op = general(
    {.name = "max_pool2d",
     .doc = "The maximum of each window and where in the window it was; the first of equal ones.",
     .attrs = &attr_type<PoolAttrs>(),
     .outputs = 2,
     .infer = infer_max_pool,
     .kernel =
         [](const KernelCall& c) {
           kernels::max_pool2d(shape_of(c.get<PoolAttrs>(), c.in[0].dtype, c.shape(0)),
                               c.in[0].data, c.out[0].data, c.out[1].as<std::int32_t>());
         },
     .batch = batch_images,
     .reads =
         [](const void*, std::uint32_t) {
           return Reads{0, 2};
         },
     .samples =
         [] {
           return std::vector<Sample>{
               sample({{{2, 4, 5, 3}, -2, 2, Fill::distinct}}, kPlain),
               sample({{{1, 4, 5, 2}, -2, 2, Fill::distinct}}, kOverlapping)};
         },
     .like = "tensorflow.nn.max_pool2d"},
    [](const Site& s, std::span<const Tensor> t, std::span<Tensor> out) {
      out[0] = max_pool_take_op({t[0], s.out[1]}, sized(s.get<PoolAttrs>(), s.shape(0)));
    },
    [](const Site& s, std::span<const Tensor> cts, std::uint32_t, std::span<Cotangent> grads) {
      if (!cts[0].defined()) return;
      grads[0] = max_pool_gradient_op({cts[0], s.out[1]}, sized(s.get<PoolAttrs>(), s.shape(0)));
    });

const Op max_pool_take_op = linear(
    {.name = "max_pool2d_take",
     .doc = "The elements of windows at given places: the derivative of max_pool2d.",
     .attrs = &attr_type<PoolAttrs>(),
     .inputs = 2,
     .differentiable = 1,
     .infer = infer_taken,
     .kernel =
         [](const KernelCall& c) {
           const auto shape = shape_of(c.get<PoolAttrs>(), c.in[0].dtype, c.shape(0));
           check_places_inside(c, shape);
           kernels::max_pool2d_take(shape, c.in[0].data, c.in[1].as<std::int32_t>(), c.out[0].data);
         },
     .batch = batch_images,
     .samples =
         [] {
           return std::vector<Sample>{sample({{{2, 4, 4, 3}}, {{2, 2, 2, 3}, 0, 4, Fill::integer}},
                                             sized(kPlain, {2, 4, 4, 3}))};
         }},
    [](const Site& s, int, const Tensor& ct) -> Cotangent {
      return max_pool_gradient_op({ct, s.in[1]}, s.get<PoolAttrs>());
    });

const Op max_pool_gradient_op = linear(
    {.name = "max_pool2d_gradient",
     .doc = "Values put back at given places of windows, which add up: the transpose of the take.",
     .attrs = &attr_type<PoolAttrs>(),
     .inputs = 2,
     .differentiable = 1,
     .infer = infer_image,
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<PoolAttrs>();
           kernels::max_pool2d_gradient(shape_of(p, c.in[0].dtype, p.size), c.in[0].data,
                                        c.in[1].as<std::int32_t>(), c.out[0].data, false);
         },
     .batch = batch_images,
     .samples =
         [] {
           return std::vector<Sample>{sample({{{2, 2, 2, 3}}, {{2, 2, 2, 3}, 0, 4, Fill::integer}},
                                             sized(kPlain, {2, 4, 4, 3}))};
         }},
    [](const Site& s, int, const Tensor& ct) -> Cotangent {
      return max_pool_take_op({ct, s.in[1]}, s.get<PoolAttrs>());
    });

static const BlockKernel max_pool_gradient_in_blocks(
    max_pool_gradient_op, [](const KernelCall& c, const BlockTaker& taker) {
      const auto& p = c.get<PoolAttrs>();
      kernels::max_pool2d_gradient(shape_of(p, c.in[0].dtype, p.size), c.in[0].data,
                                   c.in[1].as<std::int32_t>(), taker);
    });

extern const Op avg_pool_gradient_op;

const Op avg_pool_op =
    linear({.name = "avg_pool2d",
            .doc = "The mean of each window, over what of it lies inside the image.",
            .attrs = &attr_type<PoolAttrs>(),
            .infer = infer_pool,
            .kernel =
                [](const KernelCall& c) {
                  kernels::avg_pool2d(shape_of(c.get<PoolAttrs>(), c.in[0].dtype, c.shape(0)),
                                      c.in[0].data, c.out[0].data);
                },
            .batch = batch_images,
            .samples =
                [] {
                  return std::vector<Sample>{sample({{{2, 4, 5, 3}}}, kPlain),
                                             sample({{{1, 4, 5, 2}}}, kOverlapping)};
                },
            .like = "tensorflow.nn.avg_pool2d"},
           [](const Site& s, int, const Tensor& ct) -> Cotangent {
             return avg_pool_gradient_op({ct}, sized(s.get<PoolAttrs>(), s.shape(0)));
           });

const Op avg_pool_gradient_op =
    linear({.name = "avg_pool2d_gradient",
            .doc = "Each value spread evenly over its window: the transpose of avg_pool2d.",
            .attrs = &attr_type<PoolAttrs>(),
            .infer = infer_image,
            .kernel =
                [](const KernelCall& c) {
                  const auto& p = c.get<PoolAttrs>();
                  kernels::avg_pool2d_gradient(shape_of(p, c.in[0].dtype, p.size), c.in[0].data,
                                               c.out[0].data, false);
                },
            .batch = batch_images,
            .samples =
                [] {
                  return std::vector<Sample>{sample({{{2, 2, 2, 3}}}, sized(kPlain, {2, 4, 4, 3}))};
                }},
           [](const Site& s, int, const Tensor& ct) -> Cotangent {
             return avg_pool_op({ct}, sized(s.get<PoolAttrs>(), {}));
           });

static const BlockKernel avg_pool_gradient_in_blocks(
    avg_pool_gradient_op, [](const KernelCall& c, const BlockTaker& taker) {
      const auto& p = c.get<PoolAttrs>();
      kernels::avg_pool2d_gradient(shape_of(p, c.in[0].dtype, p.size), c.in[0].data, taker);
    });

namespace nn {
namespace {

PoolAttrs attributes(const char* op, const Shape& image, const PoolOptions& o) {
  const auto pair = [&](const std::vector<std::int64_t>& v) -> Ints {
    if (v.size() == 1) return {v[0], v[0]};
    if (v.size() == 4) return {v[1], v[2]};
    if (v.size() != 2)
      fail<InvalidArgumentError>("[", op, "] ksize and strides are one or two numbers");
    return {v[0], v[1]};
  };
  PoolAttrs attrs{pair(o.ksize), pair(o.strides), {0, 0, 0, 0}, {}};
  for (int i = 0; i < 2; ++i) {
    if (attrs.window[i] < 1 || attrs.strides[i] < 1) {
      fail<InvalidArgumentError>("[", op, "] ksize and strides must be at least 1");
    }
  }
  if (o.padding == "SAME" && image.rank() == 4) {
    for (int i = 0; i < 2; ++i) {
      const Size total = same_padding(image[i + 1], attrs.strides[i], attrs.window[i]);
      attrs.padding[2 * i] = total / 2;
      attrs.padding[2 * i + 1] = total - total / 2;
    }
  } else if (o.padding != "VALID" && o.padding != "SAME") {
    fail<InvalidArgumentError>("[", op, "] padding must be SAME or VALID, got '", o.padding, "'");
  }
  return attrs;
}

}  // namespace

Tensor max_pool2d(In x, const PoolOptions& options) {
  const PoolAttrs attrs = attributes("max_pool2d", x->shape(), options);
  const Tensor in[] = {x};
  return std::move(max_pool_op.run(in, &attrs)[0]);
}

Tensor avg_pool2d(In x, const PoolOptions& options) {
  return avg_pool_op({x}, attributes("avg_pool2d", x->shape(), options));
}

}  // namespace nn
}  // namespace gradus
