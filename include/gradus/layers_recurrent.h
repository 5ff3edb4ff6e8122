// Recurrent layers over sequences [batch, time, features].
//
//   gd::keras::LSTM encoder(16, 32);                                   // gives the last output
//   gd::keras::GRU tagger(16, 32, {.return_sequences = true});         // gives all of them
//   gd::keras::Bidirectional<gd::keras::LSTM> both(16, 32);            // forwards and backwards
#pragma once
#include "gradus/activations.h"

namespace gradus::keras {

struct RecurrentOptions {
  bool return_sequences = false;
  bool go_backwards = false;          // the last time first; so are the outputs
  bool zero_output_for_mask = false;  // outputs at masked times are 0 instead of the one before
};

struct RecurrentResult {
  Tensor sequence, last;       // outputs of all times, [batch, time, units], and the last one
  std::vector<Tensor> states;  // after the last time; h first
};

namespace forms {

// Weights as Keras has them (gradus/nn.h). No states: zeros. Where the mask, bool [batch, time], is
// false, a step passes its states on. The bias and the mask may be undefined. Halves are computed
// in float32.
struct RecurrentWeights {
  Tensor kernel, recurrent_kernel, bias = {};
};
RecurrentResult lstm(In x, const RecurrentWeights& weights, const RecurrentOptions& options = {},
                     const std::vector<Tensor>& states = {}, const Tensor& mask = {});
RecurrentResult gru(In x, const RecurrentWeights& weights, const RecurrentOptions& options = {},
                    const std::vector<Tensor>& states = {}, const Tensor& mask = {});
// h = activation(x kernel + bias + h recurrent_kernel), one step after the other. All outputs are
// given only if options.return_sequences asks for them.
RecurrentResult simple_rnn(In x, const RecurrentWeights& weights, const Activation& activation,
                           const RecurrentOptions& options = {},
                           const std::vector<Tensor>& states = {}, const Tensor& mask = {});

// What two directions give: mode "concat", "sum", "ave" or "mul". Sequences of the second one are
// turned round before.
Tensor both_directions(In forward, In backward, const std::string& merge_mode, bool are_sequences);

}  // namespace forms

namespace detail {

struct Recurrent {
  Variable kernel, recurrent_kernel, bias;
  RecurrentOptions options;
  std::vector<Variable> variables() const { return {kernel, recurrent_kernel, bias}; }
  auto gradus_parts() { return std::tie(kernel, recurrent_kernel, bias, options); }

 protected:
  Recurrent(std::int64_t inputs, std::int64_t units, std::int64_t gates, const Tensor& first_bias,
            const RecurrentOptions& options);
  forms::RecurrentWeights weights() const { return {kernel, recurrent_kernel, bias}; }
  Tensor chosen(const RecurrentResult& r) const {
    return options.return_sequences ? r.sequence : r.last;
  }
};

}  // namespace detail

// run() gives outputs and states; the call what the options ask for.
struct LSTM : detail::Recurrent {
  LSTM(std::int64_t inputs, std::int64_t units, const RecurrentOptions& options = {});
  auto gradus_parts() { return Recurrent::gradus_parts(); }
  RecurrentResult run(In x, const std::vector<Tensor>& states = {}, const Tensor& mask = {}) const;
  Tensor operator()(In x, const Tensor& mask = {}) const { return chosen(run(x, {}, mask)); }
};
struct GRU : detail::Recurrent {
  GRU(std::int64_t inputs, std::int64_t units, const RecurrentOptions& options = {});
  auto gradus_parts() { return Recurrent::gradus_parts(); }
  RecurrentResult run(In x, const std::vector<Tensor>& states = {}, const Tensor& mask = {}) const;
  Tensor operator()(In x, const Tensor& mask = {}) const { return chosen(run(x, {}, mask)); }
};
struct SimpleRNN : detail::Recurrent {
  Activation activation;
  SimpleRNN(std::int64_t inputs, std::int64_t units, const RecurrentOptions& options = {},
            Activation activation = "tanh");
  auto gradus_parts() { return std::tuple_cat(Recurrent::gradus_parts(), std::tie(activation)); }
  RecurrentResult run(In x, const std::vector<Tensor>& states = {}, const Tensor& mask = {}) const;
  Tensor operator()(In x, const Tensor& mask = {}) const { return chosen(run(x, {}, mask)); }
};

// One of the layers above in both directions.
template <class Layer>
struct Bidirectional {
  Layer forward_layer, backward_layer;
  std::string merge_mode;
  Bidirectional(std::int64_t inputs, std::int64_t units, RecurrentOptions options = {},
                std::string merge_mode = "concat")
      : forward_layer(inputs, units, directed(options, false)),
        backward_layer(inputs, units, directed(options, true)),
        merge_mode(std::move(merge_mode)) {}
  Tensor operator()(In x, const Tensor& mask = {}) const {
    return forms::both_directions(forward_layer(x, mask), backward_layer(x, mask), merge_mode,
                                  forward_layer.options.return_sequences);
  }
  std::vector<Variable> variables() const {
    std::vector<Variable> all = forward_layer.variables();
    for (const Variable& v : backward_layer.variables()) all.push_back(v);
    return all;
  }
  auto gradus_parts() { return std::tie(forward_layer, backward_layer, merge_mode); }

 private:
  // What one direction says at a masked time must not stand beside what the other one knows.
  static RecurrentOptions directed(RecurrentOptions options, bool backwards) {
    options.go_backwards = backwards;
    options.zero_output_for_mask = options.return_sequences;
    return options;
  }
};

}  // namespace gradus::keras
