// Building blocks of networks: tf.nn.
#include "function.h"
#include "gradus/error.h"
#include "gradus/ops.h"
#include "gradus/tracing.h"
#include "ops.h"

namespace gradus::python {
namespace {

// Which axis the channels are, from a data_format. Kernels have them last: images that have them
// behind the batch are turned on the way in and on the way out.
class Layout {
 public:
  Layout(const Arguments& a, int i, const char* op, const char* last = "NHWC",
         const char* first = "NCHW", const char* also_last = "", const char* also_first = "")
      : op_(op) {
    if (a.is_none(i) || a.string(i) == last || a.string(i) == also_last) return;
    if (a.string(i) != first && a.string(i) != also_first)
      throw InvalidArgumentError(std::string("[") + op + "] got data_format " + a.string(i) +
                                 "; expected " + last + " or " + first);
    first_ = true;
  }

  Tensor in(const Tensor& x) const {
    if (!first_) return x;
    Shape order{0};
    for (int axis = 2; axis < x.rank(); ++axis) order.push_back(axis);
    order.push_back(1);
    if (order.rank() != x.rank())
      throw InvalidArgumentError(std::string("[") + op_ + "] got shape " +
                                 gradus::to_string(x.shape()));
    return transpose(x, order);
  }
  Tensor out(const Tensor& y) const {
    if (!first_) return y;
    Shape order{0, y.rank() - 1};
    for (int axis = 1; axis < y.rank() - 1; ++axis) order.push_back(axis);
    return transpose(y, order);
  }
  // Of one number per axis, that of the batch, that of the channels, and where space begins.
  std::size_t channels(std::size_t axes) const { return first_ ? 1 : axes - 1; }
  std::size_t space() const { return first_ ? 2 : 1; }
  Shape in(const Shape& s) const {
    return first_ && s.rank() == 4 ? Shape{s[0], s[2], s[3], s[1]} : s;
  }
  // Sizes along the spatial axes: one number, one for each, or one for each axis of the images.
  std::vector<std::int64_t> sizes(const Arguments& a, int i, std::size_t space_axes) const {
    std::vector<std::int64_t> v = a.integers(i);
    if (v.size() == 1) return std::vector<std::int64_t>(space_axes, v[0]);
    if (v.size() == space_axes) return v;
    if (v.size() != space_axes + 2)
      raise(PyExc_ValueError, "[%s] expected 1, %zu or %zu numbers, got %R", op_, space_axes,
            space_axes + 2, a[i]);
    if (v[0] != 1 || v[channels(v.size())] != 1)
      throw InvalidArgumentError(std::string("[") + op_ +
                                 "] got sizes over the batch or the channels; expected 1 there");
    const auto begin = v.begin() + static_cast<std::ptrdiff_t>(space());
    return {begin, begin + static_cast<std::ptrdiff_t>(space_axes)};
  }
  // top, bottom, left, right of [[0, 0], [top, bottom], [left, right], [0, 0]].
  std::vector<std::int64_t> paddings(const Arguments& a, int i) const {
    const Tensor by = cast(a.tensor(i), int64);
    if (!(by.shape() == Shape{4, 2}))
      raise(PyExc_ValueError, "[%s] explicit padding must have shape (4, 2), got %R", op_, a[i]);
    const std::int64_t* v = by.data<std::int64_t>() + 2 * space();
    return {v[0], v[1], v[2], v[3]};
  }

 private:
  const char* op_;
  bool first_ = false;
};

nn::ConvOptions conv_options(const Arguments& a, const Layout& layout, int strides, int padding,
                             int dilations) {
  nn::ConvOptions options;
  options.strides = layout.sizes(a, strides, 2);
  if (!a.is_none(dilations)) options.dilations = layout.sizes(a, dilations, 2);
  if (PyUnicode_Check(a[padding])) {
    options.padding = a.string(padding);
  } else {
    options.padding = "EXPLICIT";
    options.explicit_padding = layout.paddings(a, padding);
  }
  return options;
}

PyObject* convolution(const Arguments& a, const char* name,
                      Tensor (*op)(In, In, const nn::ConvOptions&)) {
  const Layout layout(a, 4, name);
  const nn::ConvOptions options = conv_options(a, layout, 2, 3, 5);
  const auto in = to_pair(a[0], a[1]);
  return wrap(on_large(in.first, in.second,
                       [&] { return layout.out(op(layout.in(in.first), in.second, options)); }));
}

PyObject* transposed_convolution(const Arguments& a) {
  const Layout layout(a, 5, "conv2d_transpose");
  const nn::ConvOptions options = conv_options(a, layout, 3, 4, 6);
  const auto in = to_pair(a[0], a[1]);
  const Shape shape = layout.in(a.shape(2));
  return wrap(on_large(in.first, in.second, [&] {
    return layout.out(nn::conv2d_transpose(layout.in(in.first), in.second, shape, options));
  }));
}

PyObject* convolution_of_sequences(const Arguments& a) {
  const Layout layout(a, 4, "conv1d", "NWC", "NCW", "NHWC", "NCHW");
  const auto in = to_pair(a[0], a[1]);
  const std::int64_t stride = layout.sizes(a, 2, 1)[0];
  const std::int64_t dilation = a.is_none(5) ? 1 : layout.sizes(a, 5, 1)[0];
  const std::string padding = a.string(3);
  return wrap(on_large(in.first, [&] {
    return layout.out(nn::conv1d(layout.in(in.first), in.second, stride, padding, dilation));
  }));
}

PyObject* pooling(const Arguments& a, Tensor (*op)(In, const nn::PoolOptions&), bool is_max) {
  const Layout layout(a, 4, "pool2d");
  Tensor x = layout.in(a.tensor(0));
  nn::PoolOptions options{layout.sizes(a, 1, 2), layout.sizes(a, 2, 2), "VALID"};
  if (PyUnicode_Check(a[3])) {
    options.padding = a.string(3);
  } else if (is_max) {  // with numbers that are never the largest
    const std::vector<std::int64_t> by = layout.paddings(a, 3);
    x = pad(x, {{0, 0}, {by[0], by[1]}, {by[2], by[3]}, {0, 0}}, PadMode::constant,
            ops::least_of(x.dtype()));
  } else {
    raise(PyExc_ValueError, "[avg_pool] got padding %R; expected 'SAME' or 'VALID'", a[3]);
  }
  return wrap(on_large(x, [&] { return layout.out(op(x, options)); }));
}

PyObject* with_bias(const Arguments& a) {
  const auto both = to_pair(a[0], a[1]);
  const std::string format = a.is_none(2) ? "NHWC" : a.string(2);
  const bool first = format.starts_with("NC");
  if (!first && !(format.starts_with("N") && format.ends_with("C")))
    raise(PyExc_ValueError, "`data_format` must be of the form `N...C` or `NC...`. Received: %R",
          a[2]);
  const Tensor &value = both.first, &bias = both.second;
  if (value.rank() < 2 || bias.rank() != 1)
    throw InvalidArgumentError("[bias_add] got shapes " + gradus::to_string(value.shape()) +
                               " and " + gradus::to_string(bias.shape()) +
                               "; expected a batch and a vector");
  const Size channels = value.shape()[first ? 1 : value.rank() - 1];
  const Size size = bias.shape()[0];
  if (channels.is_known() && size.is_known() && channels != size)
    throw InvalidArgumentError("[bias_add] got " + gradus::to_string(size) + " numbers for " +
                               gradus::to_string(channels) + " channels");
  Shape shape;
  for (int axis = first ? 1 : value.rank() - 1; axis < value.rank(); ++axis)
    shape.push_back(shape.rank() == 0 ? size : Size(1));
  return wrap(on_large(value, [&] { return add(value, reshape(bias, shape)); }));
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
  if (size_of(logits.dtype()) == 2 && !is_integer(logits.dtype()))
    return wrap(cast(nn::sparse_softmax_cross_entropy_with_logits(labels, cast(logits, float32)),
                     logits.dtype()));
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

// With a rate that is a tensor, of which the result is a function too.
Tensor dropped_by(const Tensor& x, const Tensor& rate, std::optional<std::int64_t> seed) {
  const Tensor keep = random::uniform(x.shape(), {.dtype = x.dtype(), .seed = seed}) >= rate;
  return where(keep, x / (1.0 - rate), zeros({}, x.dtype()));
}

PyObject* dropped(const Arguments& a) {
  const Tensor x = a.tensor(0);
  const std::optional<std::int64_t> seed = a.integer_or_none(3);
  const bool by_tensor = is_tensor(a[1]) || is_variable(a[1]);
  const Tensor rates = by_tensor ? a.tensor(1, x.dtype()) : Tensor();
  const auto drop = [&, rate = by_tensor ? 0 : a.real(1)](const Tensor& t) {
    return by_tensor ? dropped_by(t, rates, seed) : nn::dropout(t, rate, seed);
  };
  if (a.is_none(2)) return wrap(on_large(x, [&] { return drop(x); }));
  Shape shape;  // None is the size of x there
  const Ref sizes = Ref::own(PySequence_List(a[2]));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(sizes.get()); ++i) {
    PyObject* size = PyList_GET_ITEM(sizes.get(), i);
    shape.push_back(size != Py_None ? to_sizes(size).at(0) : x.shape()[static_cast<int>(i)]);
  }
  const Tensor kept = drop(ones(shape, x.dtype()));
  return wrap(on_large(x, [&] { return x * kept; }));
}

PyObject* normalized(const Arguments& a) {
  const Tensor x = a.tensor(0);
  if (!a.is_none(1) && !a.is_none(4))
    raise(PyExc_ValueError, "Cannot specify both 'axis' and 'dim'.");
  const int at = a.is_none(1) ? 4 : 1;  // dim is the old name
  Shape axes;
  if (a.is_none(at))
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  else
    axes = a.shape(at);
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
    PyObject* item = PyList_GET_ITEM(list.get(), i);
    // Of rows, as TensorFlow: repeated ones count each for itself.
    const Tensor t = is_rows(item) ? to_tensor(Ref::own(PyObject_GetAttrString(item, "values")))
                                   : to_tensor(item);
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
       if (is_tensor(a[1]) || is_variable(a[1])) {  // of a tensor, which may have a gradient
         const Tensor alpha = a.tensor(1, x.dtype());
         return wrap(where(x > 0, x, alpha * x));
       }
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
     "Convolution of images.",
     [](const Arguments& a) { return convolution(a, "conv2d", nn::conv2d); }},
    {"nn.conv2d_transpose",
     "input, filters, output_shape, strides, padding='SAME', data_format='NHWC', dilations=None, "
     "name=None",
     "The transpose of conv2d in its input.", transposed_convolution},
    {"nn.depthwise_conv2d",
     "input, filter, strides, padding, data_format=None, dilations=None, name=None",
     "A convolution of each channel by itself.",
     [](const Arguments& a) { return convolution(a, "depthwise_conv2d", nn::depthwise_conv2d); }},
    {"nn.conv1d", "input, filters, stride, padding, data_format='NWC', dilations=None, name=None",
     "Convolution of sequences.", convolution_of_sequences},
    {"nn.space_to_depth", "input, block_size, data_format='NHWC', name=None",
     "Blocks of pixels become channels.",
     [](const Arguments& a) {
       const Layout layout(a, 2, "space_to_depth");
       return wrap(layout.out(nn::space_to_depth(layout.in(a.tensor(0)), a.integer(1))));
     }},
    {"nn.depth_to_space", "input, block_size, data_format='NHWC', name=None",
     "Channels become blocks of pixels.",
     [](const Arguments& a) {
       const Layout layout(a, 2, "depth_to_space");
       return wrap(layout.out(nn::depth_to_space(layout.in(a.tensor(0)), a.integer(1))));
     }},
    {"nn.max_pool2d", kPool, "The maximum of each window.",
     [](const Arguments& a) { return pooling(a, nn::max_pool2d, true); }},
    {"nn.avg_pool2d", kPool, "The mean of each window.",
     [](const Arguments& a) { return pooling(a, nn::avg_pool2d, false); }},
    {"nn.dropout", "x, rate, noise_shape=None, seed=None, name=None",
     "Zero with probability `rate`, else x / (1 - rate).", dropped},
    {"nn.l2_normalize math.l2_normalize linalg.l2_normalize",
     "x, axis=None, epsilon=1e-12, name=None, dim=None", "x divided by its norm.", normalized},
    {"nn.l2_loss", "t, name=None", "Half the sum of squares.", unary<nn::l2_loss>},
    {"nn.bias_add", "value, bias, data_format=None, name=None", "value + bias.", with_bias},
    {"nn.batch_normalization", "x, mean, variance, offset, scale, variance_epsilon, name=None",
     "(x - mean) / sqrt(variance + epsilon) * scale + offset.", batch_normalized},
    {"_log_poisson_loss", "targets, log_input, compute_full_loss", "exp(x) - x * targets.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(1), targets = a.tensor(0, x.dtype());
       return wrap(nn::log_poisson_loss(targets, x, a.boolean(2)));
     }},
    {"clip_by_norm", "t, clip_norm, axes=None, name=None", "t, shortened to a norm at most.",
     by_rows<clipped_by_norm>},
    {"linalg.global_norm", "t_list, name=None", "The root of the sum of all squares.", global_norm},
};

}  // namespace

void add_nn_functions() { add_functions(entries); }

}  // namespace gradus::python
