// Building blocks of networks: tf.nn.
#include "function.h"
#include "gradus/error.h"
#include "gradus/ops.h"

namespace gradus::python {
namespace {

// A size for height and width: one number, two, or four with those of batch and channels.
std::vector<std::int64_t> pair_of(const Arguments& a, int i, const char* what) {
  std::vector<std::int64_t> v = a.integers(i);
  if (v.size() == 1) return {v[0], v[0]};
  if (v.size() == 4) {
    if (v[0] != 1 || v[3] != 1)
      throw UnimplementedError(std::string("[") + what +
                               "] strides over the batch or the channels are not covered");
    return {v[1], v[2]};
  }
  if (v.size() != 2) raise(PyExc_ValueError, "[%s] expected 1, 2 or 4 numbers, got %R", what, a[i]);
  return v;
}

void need_nhwc(const Arguments& a, int i, const char* op) {
  if (!a.is_none(i) && a.string(i) != "NHWC")
    throw UnimplementedError(std::string("[") + op + "] got data_format " + a.string(i) +
                             "; only NHWC is covered: transpose the input");
}

nn::ConvOptions conv_options(const Arguments& a, int strides, int padding, int dilations) {
  nn::ConvOptions options;
  options.strides = pair_of(a, strides, "conv2d");
  if (!a.is_none(dilations)) options.dilations = pair_of(a, dilations, "conv2d");
  if (PyUnicode_Check(a[padding])) {
    options.padding = a.string(padding);
  } else {  // [[0, 0], [top, bottom], [left, right], [0, 0]]
    const Tensor by = cast(a.tensor(padding), int64);
    if (!(by.shape() == Shape{4, 2}))
      raise(PyExc_ValueError, "[conv2d] explicit padding must have shape (4, 2), got %R",
            a[padding]);
    const std::int64_t* v = by.data<std::int64_t>();
    options.padding = "EXPLICIT";
    options.explicit_padding = {v[2], v[3], v[4], v[5]};
  }
  return options;
}

PyObject* convolution(const Arguments& a) {
  need_nhwc(a, 4, "conv2d");
  const nn::ConvOptions options = conv_options(a, 2, 3, 5);
  const auto in = to_pair(a[0], a[1]);
  return wrap(
      on_large(in.first, in.second, [&] { return nn::conv2d(in.first, in.second, options); }));
}

PyObject* transposed_convolution(const Arguments& a) {
  need_nhwc(a, 5, "conv2d_transpose");
  const nn::ConvOptions options = conv_options(a, 3, 4, 6);
  const auto in = to_pair(a[0], a[1]);
  const Shape shape = a.shape(2);
  return wrap(on_large(in.first, in.second,
                       [&] { return nn::conv2d_transpose(in.first, in.second, shape, options); }));
}

PyObject* pooling(const Arguments& a, Tensor (*op)(In, const nn::PoolOptions&)) {
  need_nhwc(a, 4, "pool2d");
  const Tensor x = a.tensor(0);
  const nn::PoolOptions options{pair_of(a, 1, "pool2d"), pair_of(a, 2, "pool2d"), a.string(3)};
  return wrap(on_large(x, [&] { return op(x, options); }));
}

PyObject* along_axis(const Arguments& a, Tensor (*op)(In, int)) {
  const Tensor x = a.tensor(0);
  return wrap(on_large(x, [&, axis = a.is_none(1) ? -1 : a.small(1)] { return op(x, axis); }));
}

// Of logits along any axis, with labels that do not take part in the gradient's dtype checks.
PyObject* cross_entropy(const Arguments& a) {
  std::optional<DType> dtype = own_dtype(a[1]);
  Tensor logits = a.tensor(1), labels = a.tensor(0, dtype ? dtype : logits.dtype());
  const int rank = logits.rank(), axis = a.small(2);
  if (axis != -1 && axis != rank - 1) {
    Shape order;
    for (int i = 0; i < rank; ++i)
      if (i != (axis < 0 ? axis + rank : axis)) order.push_back(i);
    order.push_back(axis < 0 ? axis + rank : axis);
    logits = transpose(logits, order);
    labels = transpose(labels, order);
  }
  return wrap(
      on_large(logits, [&] { return nn::softmax_cross_entropy_with_logits(labels, logits); }));
}

PyObject* sparse_cross_entropy(const Arguments& a) {
  const Tensor labels = a.tensor(0), logits = a.tensor(1);
  return wrap(on_large(
      logits, [&] { return nn::sparse_softmax_cross_entropy_with_logits(labels, logits); }));
}

PyObject* sigmoid_cross_entropy(const Arguments& a) {
  const auto both = to_pair(a[1], a[0]);
  return wrap(on_large(
      both.first, [&] { return nn::sigmoid_cross_entropy_with_logits(both.second, both.first); }));
}

PyObject* weighted_cross_entropy(const Arguments& a) {
  const auto both = to_pair(a[1], a[0]);
  const Tensor weight = a.tensor(2, both.first.dtype());
  return wrap(on_large(both.first, [&] {
    return nn::weighted_cross_entropy_with_logits(both.second, both.first, weight);
  }));
}

PyObject* dropped(const Arguments& a) {
  const Tensor x = a.tensor(0);
  if (!a.is_none(2))
    throw UnimplementedError("[dropout] noise_shape is not covered yet; multiply with a mask");
  return wrap(on_large(x, [&, rate = a.real(1), seed = a.integer_or_none(3)] {
    return nn::dropout(x, rate, seed);
  }));
}

PyObject* normalized(const Arguments& a) {
  const Tensor x = a.tensor(0);
  Shape axes;
  if (a.is_none(1))
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  else
    axes = a.shape(1);
  return wrap(on_large(x, [&, epsilon = a.real(2)] { return nn::l2_normalize(x, axes, epsilon); }));
}

PyObject* batch_normalized(const Arguments& a) {
  const Tensor x = a.tensor(0);
  const Tensor zero = zeros({}, x.dtype()), one = ones({}, x.dtype());
  const Tensor mean = a.tensor(1, x.dtype()), variance = a.tensor(2, x.dtype());
  const Tensor offset = a.is_none(3) ? zero : a.tensor(3, x.dtype());
  const Tensor scale = a.is_none(4) ? one : a.tensor(4, x.dtype());
  return wrap(on_large(x, [&, epsilon = a.real(5)] {
    return nn::batch_normalization(x, mean, variance, offset, scale, epsilon);
  }));
}

// Gradients scaled so that a norm stays below a bound.
PyObject* clipped_by_norm(const Arguments& a) {
  const Tensor t = a.tensor(0), bound = a.tensor(1, t.dtype());
  Shape axes;
  if (a.is_none(2))
    for (int i = 0; i < t.rank(); ++i) axes.push_back(i);
  else
    axes = a.shape(2);
  const Tensor length = reduce_euclidean_norm(t, axes, true);
  return wrap(t * bound / maximum(length, bound));
}

PyObject* global_norm(const Arguments& a) {
  Tensor sum;
  const Ref list = Ref::own(PySequence_List(a[0]));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i) {
    if (PyList_GET_ITEM(list.get(), i) == Py_None) continue;
    const Tensor t = to_tensor(PyList_GET_ITEM(list.get(), i));
    const Tensor part = reduce_sum(square(t));
    sum = sum.defined() ? sum + part : part;
  }
  return wrap(sum.defined() ? sqrt(sum) : zeros({}));
}

constexpr const char* kFeatures = "features, name=None";
constexpr const char* kPool = "input, ksize, strides, padding, data_format='NHWC', name=None";

const FunctionEntry entries[] = {
    {"nn.relu", kFeatures, "max(x, 0).", unary<nn::relu>},
    {"nn.relu6", kFeatures, "min(max(x, 0), 6).", unary<nn::relu6>},
    {"nn.leaky_relu", "features, alpha=0.2, name=None", "x above 0, alpha * x below.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0);
       return wrap(on_large(x, [&, alpha = a.real(1)] { return nn::leaky_relu(x, alpha); }));
     }},
    {"nn.elu", kFeatures, "x above 0, exp(x) - 1 below.", unary<nn::elu>},
    {"nn.selu", kFeatures, "The self-normalising exponential linear unit.", unary<nn::selu>},
    {"nn.gelu", "features, approximate=False, name=None",
     "x times the normal distribution function of x.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0);
       return wrap(on_large(x, [&, rough = a.boolean(1)] { return nn::gelu(x, rough); }));
     }},
    {"nn.silu nn.swish", "features, beta=1.0", "x * sigmoid(beta * x).",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0);
       const double beta = a.real(1);
       return wrap(on_large(x, [&] { return beta == 1 ? nn::silu(x) : x * sigmoid(beta * x); }));
     }},
    {"nn.softsign math.softsign", kFeatures, "x / (1 + |x|).", unary<nn::softsign>},
    {"nn.softmax math.softmax", "logits, axis=None, name=None", "exp(x) / sum(exp(x)).",
     [](const Arguments& a) { return along_axis(a, nn::softmax); }},
    {"nn.log_softmax math.log_softmax", "logits, axis=None, name=None", "log(softmax(x)).",
     [](const Arguments& a) { return along_axis(a, nn::log_softmax); }},
    {"nn.softmax_cross_entropy_with_logits", "labels, logits, axis=-1, name=None",
     "Cross entropy of probabilities and logits, per row.", cross_entropy},
    {"nn.sparse_softmax_cross_entropy_with_logits", "labels, logits, name=None",
     "Cross entropy of class numbers and logits, per row.", sparse_cross_entropy},
    {"nn.sigmoid_cross_entropy_with_logits", "labels=None, logits=None, name=None",
     "Cross entropy of independent labels and logits, elementwise.", sigmoid_cross_entropy},
    {"nn.weighted_cross_entropy_with_logits", "labels, logits, pos_weight, name=None",
     "The same with a weight for positive labels.", weighted_cross_entropy},
    {"nn.conv2d", "input, filters, strides, padding, data_format='NHWC', dilations=None, name=None",
     "Convolution of images.", convolution},
    {"nn.conv2d_transpose",
     "input, filters, output_shape, strides, padding='SAME', data_format='NHWC', dilations=None, "
     "name=None",
     "The transpose of conv2d in its input.", transposed_convolution},
    {"nn.depthwise_conv2d",
     "input, filter, strides, padding, data_format=None, dilations=None, name=None",
     "A convolution of each channel by itself.",
     [](const Arguments& a) {
       need_nhwc(a, 4, "depthwise_conv2d");
       const nn::ConvOptions options = conv_options(a, 2, 3, 5);
       const auto in = to_pair(a[0], a[1]);
       return wrap(
           on_large(in.first, [&] { return nn::depthwise_conv2d(in.first, in.second, options); }));
     }},
    {"nn.conv1d", "input, filters, stride, padding, data_format='NWC', dilations=None, name=None",
     "Convolution of sequences.",
     [](const Arguments& a) {
       const auto in = to_pair(a[0], a[1]);
       const std::int64_t stride = a.integers(2).back();
       const std::int64_t dilation = a.is_none(5) ? 1 : a.integers(5).back();
       const std::string padding = a.string(3);
       return wrap(on_large(
           in.first, [&] { return nn::conv1d(in.first, in.second, stride, padding, dilation); }));
     }},
    {"nn.space_to_depth", "input, block_size, data_format='NHWC', name=None",
     "Blocks of pixels become channels.",
     [](const Arguments& a) { return wrap(nn::space_to_depth(a.tensor(0), a.integer(1))); }},
    {"nn.depth_to_space", "input, block_size, data_format='NHWC', name=None",
     "Channels become blocks of pixels.",
     [](const Arguments& a) { return wrap(nn::depth_to_space(a.tensor(0), a.integer(1))); }},
    {"nn.max_pool2d nn.max_pool", kPool, "The maximum of each window.",
     [](const Arguments& a) { return pooling(a, nn::max_pool2d); }},
    {"nn.avg_pool2d nn.avg_pool", kPool, "The mean of each window.",
     [](const Arguments& a) { return pooling(a, nn::avg_pool2d); }},
    {"nn.dropout", "x, rate, noise_shape=None, seed=None, name=None",
     "Zero with probability `rate`, else x / (1 - rate).", dropped},
    {"nn.l2_normalize math.l2_normalize linalg.l2_normalize",
     "x, axis=None, epsilon=1e-12, name=None", "x divided by its norm.", normalized},
    {"nn.l2_loss", "t, name=None", "Half the sum of squares.", unary<nn::l2_loss>},
    {"nn.bias_add", "value, bias, data_format=None, name=None", "value + bias.",
     [](const Arguments& a) {
       need_nhwc(a, 2, "bias_add");
       return binary<add>(a);
     }},
    {"nn.batch_normalization", "x, mean, variance, offset, scale, variance_epsilon, name=None",
     "(x - mean) / sqrt(variance + epsilon) * scale + offset.", batch_normalized},
    {"clip_by_norm", "t, clip_norm, axes=None, name=None", "t, shortened to a norm at most.",
     clipped_by_norm},
    {"linalg.global_norm", "t_list, name=None", "The root of the sum of all squares.", global_norm},
};

}  // namespace

void add_nn_functions() { add_functions(entries); }

}  // namespace gradus::python
