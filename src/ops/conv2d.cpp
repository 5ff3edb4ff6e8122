// Convolution and its two gradients. All three are bilinear, and each one's transposes are the
// other two, so that gradients of any order stay within this file.
#include "kernels/conv2d.h"

#include "base/check.h"
#include "gradus/nn.h"
#include "gradus/shaping.h"
#include "graph/batch.h"
#include "graph/block_kernels.h"
#include "graph/symbols.h"
#include "ops/checks.h"
#include "ops/records.h"
#include "ops/same_padding.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

struct Conv2dAttrs {
  Ints strides, dilations;
  Ints padding;  // top, bottom, left, right
  Shape size;    // of the result, for the gradients; of the convolution: empty
  static auto fields() {
    return attr_fields(attr("strides", &Conv2dAttrs::strides),
                       attr("dilations", &Conv2dAttrs::dilations),
                       attr("padding", &Conv2dAttrs::padding), attr("size", &Conv2dAttrs::size));
  }
};

kernels::Conv2dShape shape_of(const Conv2dAttrs& p, DType dtype, const Shape& x, const Shape& w) {
  kernels::Conv2dShape s;
  s.dtype = dtype;
  s.batch = x[0];
  s.in_h = x[1];
  s.in_w = x[2];
  s.in_c = x[3];
  s.filter_h = w[0];
  s.filter_w = w[1];
  s.out_c = w[3];
  s.stride_h = p.strides[0];
  s.stride_w = p.strides[1];
  s.dilation_h = p.dilations[0];
  s.dilation_w = p.dilations[1];
  s.pad_top = p.padding[0];
  s.pad_bottom = p.padding[1];
  s.pad_left = p.padding[2];
  s.pad_right = p.padding[3];
  s.groups = w[2] == 0 ? Size(1) : x[3] / w[2];
  return s;
}

Size output_size(Size in, Size before, Size after, Size filter, Size stride, Size dilation) {
  const Size window = (filter - 1) * dilation + 1;
  const Size padded = in + before + after;
  if (padded.is_known() && padded < window) return 0;
  return (padded - window) / stride + 1;
}

// What images of shape x give with a filter of shape w; all three ops rest on this.
Shape convolved(const Call& c, const Shape& x, const Shape& w) {
  const auto& p = c.get<Conv2dAttrs>();
  check_same_dtype(c);
  check_numbers(c, "strides", p.strides, 2, 1);
  check_numbers(c, "dilations", p.dilations, 2, 1);
  check_numbers(c, "padding", p.padding, 4, 0);
  if (x.rank() != 4 || w.rank() != 4) {
    fail<InvalidArgumentError>("[", c.op.name(), "] got shapes ", x, " and ", w,
                               "; the input is [batch, height, width, channels], the filter ",
                               "[height, width, in channels, out channels]");
  }
  if (w[0] < 1 || w[1] < 1) {
    fail<InvalidArgumentError>("[", c.op.name(), "] got a filter of shape ", w,
                               "; its height and width must be known and at least 1");
  }
  const bool grouped =
      x[3] > 0 && w[2] > 0 && w[3] >= 0 && x[3] % w[2] == 0 && w[3] % (x[3] / w[2]) == 0;
  if (!grouped && !(x[3] == 0 && w[2] == 0)) {
    fail<InvalidArgumentError>("[", c.op.name(), "] an input with ", x[3],
                               " channels does not fit a filter of ", "shape ", w,
                               "; its in channels must divide them");
  }
  return {x[0], output_size(x[1], p.padding[0], p.padding[1], w[0], p.strides[0], p.dilations[0]),
          output_size(x[2], p.padding[2], p.padding[3], w[1], p.strides[1], p.dilations[1]), w[3]};
}

void infer_conv2d(const Call& c, Avals& out) {
  out.push_back({c.in[0].dtype, convolved(c, c.shape(0), c.shape(1))});
}

// The gradients: operand `cotangent` is what images of shape x give with a filter of shape w.
void infer_gradient(const Call& c, const Shape& x, const Shape& w, int cotangent, Avals& out) {
  const Shape& size = c.get<Conv2dAttrs>().size;
  check_sizes(c, "size", size);
  check_operand_shape(c, cotangent, convolved(c, x, w));
  out.push_back({c.in[0].dtype, size});
}
void infer_input_gradient(const Call& c, Avals& out) {
  infer_gradient(c, c.get<Conv2dAttrs>().size, c.shape(1), 0, out);
}
void infer_filter_gradient(const Call& c, Avals& out) {
  infer_gradient(c, c.shape(0), c.get<Conv2dAttrs>().size, 1, out);
}

// The batch of vmap joins the batch of images, if the images have it and the filter does not.
template <int kImages>
Tensors batch_images(const BatchCall& c) {
  if (c.batched != 1u << kImages) return batch_loop(c);
  Tensors in(c.in.begin(), c.in.end());
  const Shape whole = in[kImages].shape();
  Shape merged = whole;
  merged.erase(0);
  merged[0] = whole[0] * whole[1];
  in[kImages] = reshape(in[kImages], merged);
  Conv2dAttrs attrs = c.get<Conv2dAttrs>();
  if (attrs.size.rank() > 0) attrs.size[0] = merged[0];
  const Tensor y = c.op(std::span<const Tensor>(in), attrs);
  Shape split = y.shape();
  split[0] = whole[1];
  split.insert(0, whole[0]);
  return {reshape(y, split)};
}

double conv_flops(const Call& c, const Shape& y, const Shape& w) {
  (void)c;
  return 2.0 * static_cast<double>(y.num_elements()) * static_cast<double>(w[0] * w[1] * w[2]);
}

const Conv2dAttrs kPlain{{1, 1}, {1, 1}, {0, 0, 0, 0}, {}};
const Conv2dAttrs kStrided{{2, 1}, {1, 2}, {1, 0, 2, 1}, {}};

Conv2dAttrs sized(Conv2dAttrs attrs, const Shape& size) {
  attrs.size = size;
  return attrs;
}

}  // namespace

extern const Op conv2d_op, conv2d_input_gradient_op, conv2d_filter_gradient_op;

const Op conv2d_op = bilinear(
    {.name = "conv2d",
     .doc = "Two-dimensional convolution (a correlation: the filter is not flipped).",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .attrs = &attr_type<Conv2dAttrs>(),
     .inputs = 2,
     .infer = infer_conv2d,
     .kernel =
         [](const KernelCall& c) {
           kernels::conv2d(shape_of(c.get<Conv2dAttrs>(), c.in[0].dtype, c.shape(0), c.shape(1)),
                           c.in[0].data, c.in[1].data, c.out[0].data);
         },
     .batch = batch_images<0>,
     .accumulate =
         [](const Site& s, int input, const Tensor& ct, const Tensor& sum) {
           const auto shape = shape_of(s.get<Conv2dAttrs>(), ct.dtype(), s.shape(0), s.shape(1));
           if (input == 0) {
             kernels::conv2d_input_gradient(shape, ct.raw_data(), s.in[1].raw_data(),
                                            mutable_data(sum), true);
           } else {
             kernels::conv2d_filter_gradient(shape, s.in[0].raw_data(), ct.raw_data(),
                                             mutable_data(sum), true);
           }
         },
     .flops =
         [](const Call& c) {
           Avals out;
           infer_conv2d(c, out);
           return conv_flops(c, out[0].shape, c.shape(1));
         },
     .samples =
         [] {
           return std::vector<Sample>{sample({{{2, 4, 5, 2}}, {{3, 2, 2, 3}}}, kPlain),
                                      sample({{{1, 5, 6, 4}}, {{2, 3, 2, 6}}}, kStrided)};
         },
     .like = "tensorflow.nn.conv2d"},
    [](const Site& s, int input, const Tensor& ct) -> Cotangent {
      const Conv2dAttrs attrs = sized(s.get<Conv2dAttrs>(), s.shape(input));
      return input == 0 ? conv2d_input_gradient_op({ct, s.in[1]}, attrs)
                        : conv2d_filter_gradient_op({s.in[0], ct}, attrs);
    });

static const BlockKernel conv2d_in_blocks(conv2d_op, [](const KernelCall& c,
                                                        const BlockTaker& taker) {
  kernels::conv2d(shape_of(c.get<Conv2dAttrs>(), c.in[0].dtype, c.shape(0), c.shape(1)),
                  c.in[0].data, c.in[1].data, taker);
});

const Op conv2d_input_gradient_op = bilinear(
    {.name = "conv2d_input_gradient",
     .doc = "What conv2d sends back to its input: of (cotangent, filter).",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .attrs = &attr_type<Conv2dAttrs>(),
     .inputs = 2,
     .infer = infer_input_gradient,
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<Conv2dAttrs>();
           kernels::conv2d_input_gradient(shape_of(p, c.in[0].dtype, p.size, c.shape(1)),
                                          c.in[0].data, c.in[1].data, c.out[0].data, false);
         },
     .batch = batch_images<0>,
     .flops = [](const Call& c) { return conv_flops(c, c.shape(0), c.shape(1)); },
     .samples =
         [] {
           return std::vector<Sample>{
               sample({{{2, 2, 4, 3}}, {{3, 2, 2, 3}}}, sized(kPlain, {2, 4, 5, 2}))};
         },
     .like = "tensorflow.nn.conv2d_transpose"},
    [](const Site& s, int input, const Tensor& h) -> Cotangent {
      const Conv2dAttrs plain = sized(s.get<Conv2dAttrs>(), {});
      return input == 0 ? conv2d_op({h, s.in[1]}, plain)
                        : conv2d_filter_gradient_op({h, s.in[0]}, sized(plain, s.shape(1)));
    });

static const BlockKernel conv2d_input_gradient_in_blocks(
    conv2d_input_gradient_op, [](const KernelCall& c, const BlockTaker& taker) {
      const auto& p = c.get<Conv2dAttrs>();
      kernels::conv2d_input_gradient(shape_of(p, c.in[0].dtype, p.size, c.shape(1)), c.in[0].data,
                                     c.in[1].data, taker);
    });

const Op conv2d_filter_gradient_op = bilinear(
    {.name = "conv2d_filter_gradient",
     .doc = "What conv2d sends back to its filter: of (input, cotangent).",
     .dtypes = one_dtype(float32) | one_dtype(float64),
     .attrs = &attr_type<Conv2dAttrs>(),
     .inputs = 2,
     .infer = infer_filter_gradient,
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<Conv2dAttrs>();
           kernels::conv2d_filter_gradient(shape_of(p, c.in[0].dtype, c.shape(0), p.size),
                                           c.in[0].data, c.in[1].data, c.out[0].data, false);
         },
     .batch = batch_loop,
     .flops = [](const Call& c) { return conv_flops(c, c.shape(1), c.get<Conv2dAttrs>().size); },
     .samples =
         [] {
           return std::vector<Sample>{
               sample({{{2, 4, 5, 2}}, {{2, 2, 4, 3}}}, sized(kPlain, {3, 2, 2, 3}))};
         }},
    [](const Site& s, int input, const Tensor& h) -> Cotangent {
      const Conv2dAttrs plain = sized(s.get<Conv2dAttrs>(), {});
      return input == 0 ? conv2d_input_gradient_op({s.in[1], h}, sized(plain, s.shape(0)))
                        : conv2d_op({s.in[0], h}, plain);
    });

namespace nn {
namespace {

Ints pair(const char* what, const std::vector<std::int64_t>& values) {
  if (values.size() == 1) return {values[0], values[0]};
  if (values.size() == 2) return {values[0], values[1]};
  if (values.size() == 4 && values[0] == 1 && values[3] == 1) return {values[1], values[2]};
  fail<InvalidArgumentError>("[conv2d] ", what,
                             " must be one or two numbers (or four, as TensorFlow ",
                             "writes them, with 1 for batch and channels); got ", values.size());
}

Conv2dAttrs attributes(const Shape& image, const Shape& filter, const ConvOptions& o) {
  Conv2dAttrs attrs{pair("strides", o.strides), pair("dilations", o.dilations), {0, 0, 0, 0}, {}};
  for (int i = 0; i < 2; ++i) {
    if (attrs.strides[i] < 1 || attrs.dilations[i] < 1) {
      fail<InvalidArgumentError>("[conv2d] strides and dilations must be at least 1");
    }
  }
  if (o.padding == "SAME" && image.rank() == 4 && filter.rank() == 4) {
    for (int i = 0; i < 2; ++i) {
      const Size window = (filter[i] - 1) * attrs.dilations[i] + 1;
      const Size total = same_padding(image[i + 1], attrs.strides[i], window);
      attrs.padding[2 * i] = total / 2;
      attrs.padding[2 * i + 1] = total - total / 2;
    }
  } else if (o.padding == "EXPLICIT") {
    if (o.explicit_padding.size() != 4) {
      fail<InvalidArgumentError>("[conv2d] explicit_padding needs top, bottom, left and right");
    }
    for (int i = 0; i < 4; ++i) attrs.padding[i] = o.explicit_padding[static_cast<std::size_t>(i)];
  } else if (o.padding != "VALID" && o.padding != "SAME") {
    fail<InvalidArgumentError>("[conv2d] padding must be SAME, VALID or EXPLICIT, got '", o.padding,
                               "'");
  }
  return attrs;
}

}  // namespace

Tensor conv2d(In x, In filter, const ConvOptions& options) {
  return conv2d_op({x, filter}, attributes(x->shape(), filter->shape(), options));
}

Tensor conv2d_transpose(In x, In filter, const Shape& output_shape, const ConvOptions& options) {
  const Conv2dAttrs attrs = attributes(output_shape, filter->shape(), options);
  return conv2d_input_gradient_op({x, filter}, sized(attrs, output_shape));
}

}  // namespace nn
}  // namespace gradus
