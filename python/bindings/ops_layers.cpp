// What Python's layers compute, each by one call: the forms of gradus/layers.h. Weights that a
// layer does not have are None, and so is an activation that is not there.
#include <algorithm>

#include "activations.h"
#include "function.h"
#include "gradus/layers.h"
#include "gradus/ops.h"

namespace gradus::python {
namespace {

namespace forms = keras::forms;

Tensor as(const Tensor& t, DType dtype) { return t.dtype() == dtype ? t : cast(t, dtype); }
Tensor optional(const Arguments& a, int i) { return a.is_none(i) ? Tensor() : a.tensor(i); }

PyObject* dense(const Arguments& a) {
  const Tensor x = a.tensor(0), kernel = a.tensor(1), bias = optional(a, 2);
  return activated(a[3], on_large(x, kernel, [&] { return forms::dense(x, kernel, bias); }));
}

PyObject* embedding(const Arguments& a) {
  const Tensor indices = a.tensor(0), table = a.tensor(1);
  return wrap(on_large(indices, [&, dtype = a.dtype(2, table.dtype())] {
    return as(forms::embedding(indices, table), dtype);
  }));
}

PyObject* projection(const Arguments& a) {
  const Tensor x = a.tensor(0), kernel = a.tensor(1), bias = optional(a, 2);
  return activated(a[3], on_large(x, kernel, [&, summed = a.small(4)] {
                     return forms::projection(x, kernel, bias, summed);
                   }));
}

template <auto form>
PyObject* convolution(const Arguments& a) {
  const Tensor x = a.tensor(0), kernel = a.tensor(1), bias = optional(a, 2);
  const keras::ConvolutionOptions options{
      .strides = a.integers(4),
      .padding = a.string(5),
      .dilations = a.integers(6),
      .channels_first = a.boolean(7),
      .output_padding = a.is_none(8) ? std::vector<std::int64_t>() : a.integers(8)};
  return activated(a[3], on_large(x, kernel, [&] { return form(x, kernel, bias, options); }));
}
constexpr const char* kConvolution =
    "x, kernel, bias, activation, strides, padding, dilations, channels_first, output_padding=None";

keras::Pooling pooling_of(const Arguments& a, int i) {
  return a.string(i) == "max" ? keras::Pooling::max : keras::Pooling::average;
}

PyObject* pooling(const Arguments& a) {
  const Tensor x = a.tensor(0);
  const keras::Pooling how = pooling_of(a, 1);
  const keras::PoolingOptions options{.pool_size = a.integers(2),
                                      .strides = a.integers(3),
                                      .padding = a.string(4),
                                      .channels_first = a.boolean(5)};
  return wrap(on_large(x, [&] { return forms::pooling(x, how, options); }));
}

PyObject* global_pooling(const Arguments& a) {
  const Tensor x = a.tensor(0), mask = optional(a, 4);
  const keras::Pooling how = pooling_of(a, 1);
  const keras::GlobalPoolingOptions options{.keepdims = a.boolean(2),
                                            .channels_first = a.boolean(3)};
  return wrap(on_large(x, [&] { return forms::global_pooling(x, how, options, mask); }));
}

PyObject* batch_normalization(const Arguments& a) {
  const Tensor x = a.tensor(0), gamma = optional(a, 1), beta = optional(a, 2);
  const keras::BatchNormalizationOptions options{
      .axis = a.small(6), .momentum = a.real(7), .epsilon = a.real(8)};
  const DType dtype = a.dtype(9, x.dtype());
  if (!a.boolean(5)) {
    const Tensor mean = a.tensor(3), variance = a.tensor(4);
    return wrap(on_large(x, [&] {
      return as(forms::batch_normalization(x, gamma, beta, mean, variance, options), dtype);
    }));
  }
  const Variable &mean = variable_of(a[3]), &variance = variable_of(a[4]);
  const Tensor mask = optional(a, 10);
  return wrap(on_large(x, [&] {
    return as(forms::batch_normalization_in_training(x, gamma, beta, mean, variance, options, mask),
              dtype);
  }));
}

PyObject* layer_normalization(const Arguments& a) {
  const Tensor x = a.tensor(0), gamma = optional(a, 1), beta = optional(a, 2);
  const forms::LayerNormalizationOptions options{
      .axes = a.shape(3), .epsilon = a.real(4), .rms = a.boolean(5)};
  const DType dtype = a.dtype(6, x.dtype());
  return wrap(
      on_large(x, [&] { return as(forms::layer_normalization(x, gamma, beta, options), dtype); }));
}

PyObject* normalization(const Arguments& a) {
  const Tensor x = as(a.tensor(0), a.dtype(4, float32)), mean = a.tensor(1), variance = a.tensor(2);
  return wrap(on_large(
      x, [&, invert = a.boolean(3)] { return forms::normalization(x, mean, variance, invert); }));
}

PyObject* rescaling(const Arguments& a) {
  const Tensor x = as(a.tensor(0), a.dtype(3, float32)), scale = a.tensor(1), offset = a.tensor(2);
  return wrap(on_large(x, [&] { return forms::rescaling(x, scale, offset); }));
}

// The seed is a tensor, or the variable of a generator.
PyObject* dropout(const Arguments& a) {
  const Tensor x = a.tensor(0);
  const double rate = a.real(1);
  const Shape axes = a.shape(3);
  if (is_variable(a[2])) {
    const keras::SeedGenerator seeds(variable_of(a[2]));
    return wrap(on_large(x, [&] { return forms::dropout(x, rate, seeds, axes); }));
  }
  const Tensor seed = a.tensor(2);
  return wrap(on_large(x, [&] { return forms::dropout(x, rate, seed, axes); }));
}

// Outputs, or a tuple of them and the states.
PyObject* recurrent(const Arguments& a, int last, bool may_run_long,
                    keras::RecurrentResult (*run)(const Arguments&, In,
                                                  const forms::RecurrentWeights&,
                                                  const keras::RecurrentOptions&,
                                                  const std::vector<Tensor>&, const Tensor&)) {
  const Tensor x = a.tensor(0), mask = optional(a, 5);
  const forms::RecurrentWeights weights{a.tensor(1), a.tensor(2), optional(a, 3)};
  std::vector<Tensor> states;
  if (!a.is_none(4)) {
    const Ref list = Ref::own(PySequence_Fast(a[4], "expected a list of states"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i)
      states.push_back(to_tensor(PySequence_Fast_GET_ITEM(list.get(), i)));
  }
  const keras::RecurrentOptions options{.return_sequences = a.boolean(6),
                                        .go_backwards = a.boolean(7),
                                        .zero_output_for_mask = a.boolean(8)};
  const auto work = [&] { return run(a, x, weights, options, states, mask); };
  const keras::RecurrentResult r =
      may_run_long ? on_large(x, weights.recurrent_kernel, work) : work();
  const Tensor& output = options.return_sequences ? r.sequence : r.last;
  if (!a.boolean(last)) return wrap(output);
  Ref tuple = Ref::own(PyTuple_New(static_cast<Py_ssize_t>(r.states.size()) + 1));
  PyTuple_SET_ITEM(tuple.get(), 0, wrap(output));
  for (std::size_t i = 0; i < r.states.size(); ++i)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i) + 1, wrap(r.states[i]));
  return tuple.release();
}
template <auto form>
PyObject* gated(const Arguments& a) {
  return recurrent(a, 9, true,
                   [](const Arguments&, In x, const forms::RecurrentWeights& weights,
                      const keras::RecurrentOptions& options, const std::vector<Tensor>& states,
                      const Tensor& mask) { return form(x, weights, options, states, mask); });
}
PyObject* simple_rnn(const Arguments& a) {
  return recurrent(a, 9, is_native(a[10]),
                   [](const Arguments& arguments, In x, const forms::RecurrentWeights& weights,
                      const keras::RecurrentOptions& options, const std::vector<Tensor>& states,
                      const Tensor& mask) {
                     return forms::simple_rnn(x, weights, as_activation(arguments[10]), options,
                                              states, mask);
                   });
}
constexpr const char* kRecurrent =
    "x, kernel, recurrent_kernel, bias, states, mask, return_sequences, go_backwards, "
    "zero_output_for_mask, return_state";

PyObject* both_directions(const Arguments& a) {
  const Tensor forward = a.tensor(0), backward = a.tensor(1);
  return wrap(on_large(forward, [&, mode = a.string(2), are_sequences = a.boolean(3)] {
    return forms::both_directions(forward, backward, mode, are_sequences);
  }));
}

// Weights are a tuple of kernels and biases: of query, key, value and output.
PyObject* multi_head_attention(const Arguments& a) {
  const Tensor query = a.tensor(0), key = a.tensor(1), value = a.tensor(2), mask = optional(a, 4);
  if (!PyTuple_Check(a[3]) || PyTuple_GET_SIZE(a[3]) != 8)
    raise(PyExc_TypeError, "expected a tuple of 8 weights, got %R", a[3]);
  const Arguments w(PySequence_Fast_ITEMS(a[3]));
  const forms::AttentionWeights weights{w.tensor(0), optional(w, 1), w.tensor(2), optional(w, 3),
                                        w.tensor(4), optional(w, 5), w.tensor(6), optional(w, 7)};
  const bool drops = !a.is_none(6);
  const keras::SeedGenerator seeds(drops ? variable_of(a[6]) : Variable());
  const forms::AttentionOptions options{
      .dropout = a.real(5), .seeds = drops ? &seeds : nullptr, .sees_all_if_nothing = a.boolean(7)};
  const forms::AttentionResult r = on_large(query, weights.query_kernel, [&] {
    return forms::multi_head_attention(query, key, value, weights, mask, options);
  });
  if (!a.boolean(8)) return wrap(r.output);
  Ref tuple = Ref::own(PyTuple_New(2));
  PyTuple_SET_ITEM(tuple.get(), 0, wrap(r.output));
  PyTuple_SET_ITEM(tuple.get(), 1, wrap(r.scores));
  return tuple.release();
}

PyObject* relu(const Arguments& a) {
  const Tensor x = a.tensor(0);
  const forms::ReluOptions options{a.real(1), a.real(3),
                                   a.is_none(2) ? std::nullopt : std::optional(a.real(2))};
  return wrap(on_large(x, [&] { return forms::relu(x, options); }));
}

PyObject* softmax(const Arguments& a) {
  const Tensor x = a.tensor(0), mask = optional(a, 1);
  const Shape axes = a.shape(2);
  PyObject* y = wrap(on_large(x, [&] { return forms::softmax(x, mask, axes); }));
  static PyObject* const kind = PyUnicode_InternFromString("softmax");
  const bool is_last = axes.rank() == 1 && (axes[0] == -1 || axes[0] == x.rank() - 1);
  return is_last && !mask.defined() ? with_logits(y, x, kind) : y;
}

PyObject* merged(const Arguments& a) {
  static constexpr const char* kNames[] = {"sum",  "product", "difference",
                                           "mean", "maximum", "minimum"};
  const Ref list = Ref::own(PySequence_Fast(a[0], "expected a list of tensors"));
  std::vector<Tensor> inputs;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i)
    inputs.push_back(to_tensor(PySequence_Fast_GET_ITEM(list.get(), i)));
  const std::string how = a.string(1);
  const auto number = std::find(std::begin(kNames), std::end(kNames), how) - std::begin(kNames);
  if (inputs.empty() || number == std::ssize(kNames))
    raise(PyExc_ValueError, "expected tensors to merge by sum, product ..., got %R and %R", a[0],
          a[1]);
  return wrap(on_large(inputs[0],
                       [&] { return forms::merged(inputs, static_cast<forms::Merge>(number)); }));
}

// Sizes as x has them, but 1 along some axes.
Shape noise_shape(const Tensor& x, const std::vector<std::int64_t>& axes) {
  Shape shape = x.shape();
  for (const std::int64_t axis : axes) {
    if (axis < -x.rank() || axis >= x.rank())
      raise(PyExc_ValueError, "[noise] no axis %lld", static_cast<long long>(axis));
    shape[static_cast<int>(axis < 0 ? axis + x.rank() : axis)] = 1;
  }
  return shape;
}

const FunctionEntry entries[] = {
    {"_dense", "x, kernel, bias, activation", "activation(x @ kernel + bias).", dense},
    {"_embedding", "indices, table, dtype", "Rows of a table, as that dtype.", embedding},
    {"_projection", "x, kernel, bias, activation, summed",
     "The product over the last axes of x and the first ones of the kernel.", projection},
    {"_convolution", kConvolution, "A convolution over one or two spatial axes.",
     convolution<forms::convolution>},
    {"_convolution_transpose", kConvolution, "Its transpose.",
     convolution<forms::convolution_transpose>},
    {"_pooling", "x, how, pool_size, strides, padding, channels_first",
     "The largest ('max') or the mean of each window.", pooling},
    {"_global_pooling", "x, how, keepdims, channels_first, mask=None", "The same of all of space.",
     global_pooling},
    {"_batch_normalization",
     "x, gamma, beta, moving_mean, moving_variance, training, axis, momentum, epsilon, dtype, "
     "mask=None",
     "Features with mean 0 and variance 1; in training the moving statistics follow.",
     batch_normalization},
    {"_layer_normalization", "x, gamma, beta, axes, epsilon, rms, dtype",
     "Each example with mean 0 and variance 1 over some axes.", layer_normalization},
    {"_normalization", "x, mean, variance, invert, dtype", "(x - mean) / sqrt(variance).",
     normalization},
    {"_rescaling", "x, scale, offset, dtype", "x * scale + offset.", rescaling},
    {"_dropout", "x, rate, seed, axes=()",
     "Zero with probability `rate`, else x / (1 - rate); along `axes` all alike.", dropout},
    {"_lstm", kRecurrent, "A long short-term memory layer.", gated<forms::lstm>},
    {"_gru", kRecurrent, "A layer of gated recurrent units.", gated<forms::gru>},
    {"_simple_rnn",
     "x, kernel, recurrent_kernel, bias, states, mask, return_sequences, go_backwards, "
     "zero_output_for_mask, return_state, activation",
     "h = activation(x kernel + bias + h recurrent_kernel) over time.", simple_rnn},
    {"_both_directions", "forward, backward, merge_mode, are_sequences",
     "What two directions in time give, as one.", both_directions},
    {"_multi_head_attention",
     "query, key, value, weights, mask, dropout, seed, sees_all_if_nothing, with_scores",
     "Attention in several heads, between projections.", multi_head_attention},
    {"_relu", "x, negative_slope, max_value, threshold",
     "x above the threshold, at most max_value.", relu},
    {"_elu", "x, alpha", "x above 0, alpha * (exp(x) - 1) below.",
     [](const Arguments& a) {
       const Tensor x = a.tensor(0);
       return wrap(on_large(x, [&, alpha = a.real(1)] { return forms::elu(x, alpha); }));
     }},
    {"_softmax", "x, mask, axes", "Probabilities along axes, 0 where a mask is false.", softmax},
    {"_flatten", "x, channels_first", "All axes but the first as one.",
     [](const Arguments& a) { return wrap(forms::flatten(a.tensor(0), a.boolean(1))); }},
    {"_reshape_examples", "x, target", "Each example with another shape.",
     [](const Arguments& a) { return wrap(forms::reshaped(a.tensor(0), a.shape(1))); }},
    {"_merge", "inputs, how", "The sum, product ... of tensors that broadcast behind the batch.",
     merged},
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
