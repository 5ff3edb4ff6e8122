#include "gradus/layers_recurrent.h"

#include "gradus/error.h"
#include "gradus/initializers.h"
#include "gradus/ops.h"
#include "nn/weights.h"

namespace gradus::keras {
namespace {

void check_sequences(In x, const std::vector<Tensor>& states, std::size_t state_count) {
  if (x->rank() != 3)
    throw InvalidArgumentError("[recurrent] got sequences of shape " + to_string(x->shape()) +
                               "; expected [batch, time, features]");
  if (!states.empty() && states.size() != state_count)
    throw InvalidArgumentError("[recurrent] got " + std::to_string(states.size()) +
                               " states; expected " + std::to_string(state_count));
}

// What the forms start from: the sequence and the mask in the order of the steps, in a dtype that
// has kernels.
struct Start {
  DType given, dtype;
  Tensor x, mask;
  forms::RecurrentWeights weights;
  std::vector<Tensor> states;
  bool has_states;

  Start(In in, const forms::RecurrentWeights& w, const RecurrentOptions& options,
        const std::vector<Tensor>& first, const Tensor& seen, std::size_t state_count,
        const Shape& bias_shape)
      : given(in->dtype()),
        dtype(given == float64 ? float64 : float32),
        has_states(!first.empty()) {
    check_sequences(in, first, state_count);
    x = as(in, dtype);
    if (seen.defined()) mask = as(seen, bool_);
    if (options.go_backwards) {
      x = reverse(x, {1});
      if (mask.defined()) mask = reverse(mask, {1});
    }
    weights = {as(w.kernel, dtype), as(w.recurrent_kernel, dtype),
               w.bias.defined() ? as(w.bias, dtype) : zeros(bias_shape, dtype)};
    for (const Tensor& state : first) states.push_back(as(state, dtype));
    while (states.size() < state_count)
      states.push_back(zeros({x.shape()[0], w.recurrent_kernel.shape()[0]}, dtype));
  }
};

// The outputs with what masks ask for beyond the states, in the dtype that was given.
RecurrentResult finished(const Start& start, const RecurrentOptions& options, Tensor outputs,
                         std::vector<Tensor> states) {
  const auto kept_where = [&](const Tensor& seen) {
    outputs = where(expand_dims(seen, -1), outputs, zeros({}, outputs.dtype()));
  };
  Tensor last = states[0];
  if (start.mask.defined() && (options.zero_output_for_mask || start.has_states)) {
    // Before the first time that counts an output is 0 and not the state.
    kept_where(options.zero_output_for_mask ? start.mask : cumsum(cast(start.mask, int32), 1) > 0);
    last = index(outputs, {Slice{}, -1});
  }
  for (Tensor& state : states) state = as(state, start.given);
  return {as(outputs, start.given), as(last, start.given), std::move(states)};
}

}  // namespace

namespace forms {

RecurrentResult lstm(In x, const RecurrentWeights& weights, const RecurrentOptions& options,
                     const std::vector<Tensor>& states, const Tensor& mask) {
  const Shape bias_shape = {weights.kernel.shape().back()};
  const Start s(x, weights, options, states, mask, 2, bias_shape);
  const auto& [kernel, recurrent_kernel, bias] = s.weights;
  const nn::LstmResult r =
      nn::lstm(s.x, kernel, recurrent_kernel, bias, s.states[0], s.states[1], s.mask);
  return finished(s, options, r.sequence, {r.h, r.c});
}

RecurrentResult gru(In x, const RecurrentWeights& weights, const RecurrentOptions& options,
                    const std::vector<Tensor>& states, const Tensor& mask) {
  const Shape bias_shape = {2, weights.kernel.shape().back()};
  const Start s(x, weights, options, states, mask, 1, bias_shape);
  const auto& [kernel, recurrent_kernel, bias] = s.weights;
  const nn::GruResult r = nn::gru(s.x, kernel, recurrent_kernel, bias, s.states[0], s.mask);
  return finished(s, options, r.sequence, {r.h});
}

RecurrentResult simple_rnn(In x, const RecurrentWeights& weights, const Activation& activation,
                           const RecurrentOptions& options, const std::vector<Tensor>& states,
                           const Tensor& mask) {
  check_sequences(x, states, 1);
  Tensor in = x, seen = mask.defined() ? as(mask, bool_) : mask;
  if (options.go_backwards) {
    in = reverse(in, {1});
    if (seen.defined()) seen = reverse(seen, {1});
  }
  // The inputs' share of all times is one product.
  const Tensor share = plus(matmul(as(in, weights.kernel.dtype()), weights.kernel), weights.bias);
  const std::vector<Tensor> steps = unstack(share, 1);
  std::vector<Tensor> kept, outputs;
  if (seen.defined()) kept = unstack(expand_dims(seen, -1), 1);
  Tensor state = states.empty()
                     ? zeros({in.shape()[0], weights.recurrent_kernel.shape()[0]}, share.dtype())
                     : states[0];
  Tensor output = zeros_like(state);
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const Tensor h = activation(steps[t] + matmul(state, weights.recurrent_kernel));
    if (seen.defined()) {
      output = where(kept[t], h, options.zero_output_for_mask ? zeros_like(h) : output);
      state = where(kept[t], h, state);
    } else {
      output = state = h;
    }
    if (options.return_sequences) outputs.push_back(output);
  }
  return {options.return_sequences ? stack(outputs, 1) : Tensor(), output, {state}};
}

Tensor both_directions(In forward, In backward, const std::string& merge_mode, bool are_sequences) {
  const Tensor back = are_sequences ? reverse(backward, {1}) : backward.tensor();
  if (merge_mode == "concat") return concat({forward, back}, -1);
  if (merge_mode == "sum") return forward + back;
  if (merge_mode == "ave") return (forward + back) / 2;
  if (merge_mode == "mul") return forward * back;
  throw InvalidArgumentError("[Bidirectional] got merge mode '" + merge_mode +
                             "'; expected 'concat', 'sum', 'ave' or 'mul'");
}

}  // namespace forms

namespace detail {

Recurrent::Recurrent(std::int64_t inputs, std::int64_t units, std::int64_t gates,
                     const Tensor& first_bias, const RecurrentOptions& options)
    : kernel(weight(glorot_uniform({inputs, gates * units}), "kernel")),
      recurrent_kernel(weight(orthogonal(units, gates * units), "recurrent_kernel")),
      bias(weight(first_bias, "bias")),
      options(options) {}

}  // namespace detail

// The forget gate starts open, as in Keras.
LSTM::LSTM(std::int64_t inputs, std::int64_t units, const RecurrentOptions& options)
    : Recurrent(inputs, units, 4, concat({zeros({units}), ones({units}), zeros({2 * units})}, 0),
                options) {}
RecurrentResult LSTM::run(In x, const std::vector<Tensor>& states, const Tensor& mask) const {
  return forms::lstm(x, weights(), options, states, mask);
}

GRU::GRU(std::int64_t inputs, std::int64_t units, const RecurrentOptions& options)
    : Recurrent(inputs, units, 3, zeros({2, 3 * units}), options) {}
RecurrentResult GRU::run(In x, const std::vector<Tensor>& states, const Tensor& mask) const {
  return forms::gru(x, weights(), options, states, mask);
}

SimpleRNN::SimpleRNN(std::int64_t inputs, std::int64_t units, const RecurrentOptions& options,
                     Activation activation)
    : Recurrent(inputs, units, 1, zeros({units}), options), activation(std::move(activation)) {}
RecurrentResult SimpleRNN::run(In x, const std::vector<Tensor>& states, const Tensor& mask) const {
  return forms::simple_rnn(x, weights(), activation, options, states, mask);
}

}  // namespace gradus::keras
