// What layers call and TensorFlow has no public name for: whole recurrent layers, fused
// normalisations. Halves are computed in float32 where the engine has no kernel for them.
#include "function.h"
#include "gradus/ops.h"

namespace gradus::python {
namespace {

DType wide(DType dtype) { return dtype == float64 ? float64 : float32; }
Tensor as(const Tensor& t, DType dtype) { return t.dtype() == dtype ? t : cast(t, dtype); }

Tensor mask_of(const Arguments& a, int i) {
  return a.is_none(i) ? Tensor() : as(a.tensor(i), bool_);
}

PyObject* in_tuple(std::initializer_list<Tensor> parts, DType dtype) {
  Ref tuple = Ref::own(PyTuple_New(static_cast<Py_ssize_t>(parts.size())));
  Py_ssize_t i = 0;
  for (const Tensor& t : parts) PyTuple_SET_ITEM(tuple.get(), i++, wrap(as(t, dtype)));
  return tuple.release();
}

// x, kernel, recurrent kernel and bias, and as many states as the layer has; None: zeros.
std::vector<Tensor> layer_operands(const Arguments& a, int count) {
  std::vector<Tensor> in{a.tensor(0)};
  const DType dtype = wide(in[0].dtype());
  in[0] = as(in[0], dtype);
  for (int i = 1; i < count; ++i) {
    if (i > 3 && a.is_none(i))
      in.push_back(zeros({in[0].shape()[0], in[2].shape()[0]}, dtype));
    else
      in.push_back(as(a.tensor(i), dtype));
  }
  return in;
}

// Sizes as x has them, but 1 along some axes.
Shape noise_shape(const Tensor& x, const std::vector<std::int64_t>& axes) {
  Shape shape = x.shape();
  for (const std::int64_t axis : axes) {
    if (axis < -x.rank() || axis >= x.rank()) raise(PyExc_ValueError, "[noise] no axis %d", axis);
    shape[static_cast<int>(axis < 0 ? axis + x.rank() : axis)] = 1;
  }
  return shape;
}

const FunctionEntry entries[] = {
    {"_lstm", "x, kernel, recurrent_kernel, bias, h, c, mask=None",
     "A long short-term memory layer: all outputs, and the last states.",
     [](const Arguments& a) {
       const auto in = layer_operands(a, 6);
       const Tensor mask = mask_of(a, 6);
       const nn::LstmResult r = on_large(
           in[0], in[2], [&] { return nn::lstm(in[0], in[1], in[2], in[3], in[4], in[5], mask); });
       return in_tuple({r.sequence, r.h, r.c}, a.tensor(0).dtype());
     }},
    {"_gru", "x, kernel, recurrent_kernel, bias, h, mask=None",
     "A layer of gated recurrent units: all outputs, and the last state.",
     [](const Arguments& a) {
       const auto in = layer_operands(a, 5);
       const Tensor mask = mask_of(a, 5);
       const nn::GruResult r =
           on_large(in[0], in[2], [&] { return nn::gru(in[0], in[1], in[2], in[3], in[4], mask); });
       return in_tuple({r.sequence, r.h}, a.tensor(0).dtype());
     }},
    {"_layer_normalization", "x, scale, offset, epsilon",
     "Rows along the last axis with mean 0 and variance 1, scaled and moved.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0), scale = a.tensor(1), offset = a.tensor(2);
       return wrap(on_large(x, [&, epsilon = a.real(3)] {
         return nn::layer_normalization(x, scale, offset, epsilon);
       }));
     }},
    {"_batch_normalization", "x, scale, offset, epsilon",
     "Columns with mean 0 and variance 1, scaled and moved; and their means and variances.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0), scale = a.tensor(1), offset = a.tensor(2);
       const nn::BatchNormResult r = on_large(
           x, [&, epsilon = a.real(3)] { return nn::fused_batch_norm(x, scale, offset, epsilon); });
       Ref tuple = Ref::own(PyTuple_New(3));
       PyTuple_SET_ITEM(tuple.get(), 0, wrap(r.y));
       PyTuple_SET_ITEM(tuple.get(), 1, wrap(r.mean));
       PyTuple_SET_ITEM(tuple.get(), 2, wrap(r.variance));
       return tuple.release();
     }},
    {"_dropout", "x, rate, seed, axes=()",
     "Zero with probability `rate`, else x / (1 - rate); along `axes` all alike.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0), seed = a.tensor(2);
       const double rate = a.real(1);
       const Shape shape = noise_shape(x, a.integers(3));
       return wrap(on_large(x, [&] {
         const Tensor drawn = random::stateless_uniform(shape, seed, {.dtype = x.dtype()});
         return where(greater_equal(drawn, rate), x * (1 / (1 - rate)), cast(0.0, x.dtype()));
       }));
     }},
    {"_noise_like", "x, seed, distribution, a, b, axes=()",
     "Random numbers with the shape of x: 'uniform' from a to b, or 'normal' with mean a and "
     "deviation b.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0), seed = a.tensor(1);
       const Shape shape = noise_shape(x, a.integers(5));
       const bool normal = a.string(2) == "normal";
       return wrap(on_large(x, [&, p = a.real(3), q = a.real(4)] {
         return normal ? random::stateless_normal(shape, seed,
                                                  {.mean = p, .stddev = q, .dtype = x.dtype()})
                       : random::stateless_uniform(shape, seed,
                                                   {.minval = p, .maxval = q, .dtype = x.dtype()});
       }));
     }},
    {"_conv2d_transpose", "x, filters, size, strides, padding, dilations",
     "The transpose of conv2d in its input, with images of the given height and width.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0), filters = a.tensor(1);
       const Shape size = a.shape(2);
       const nn::ConvOptions options{
           .strides = a.integers(3), .padding = a.string(4), .dilations = a.integers(5)};
       if (x.rank() != 4 || filters.rank() != 4 || size.rank() != 2)
         raise(PyExc_ValueError, "[conv2d_transpose] expected images, filters and two sizes");
       const Shape shape{x.shape()[0], size[0], size[1], filters.shape()[2]};
       return wrap(
           on_large(x, filters, [&] { return nn::conv2d_transpose(x, filters, shape, options); }));
     }},
    {"_hard_sigmoid", "x", "x / 6 + 1 / 2 between 0 and 1.", unary<nn::hard_sigmoid>},
    {"_mish", "x", "x * tanh(softplus(x)).", unary<nn::mish>},
};

}  // namespace

void add_layer_functions() { add_functions(entries); }

}  // namespace gradus::python
