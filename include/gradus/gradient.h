// Gradients by reverse mode: the tape.
//
//   gd::GradientTape tape;                       // records until it is used or destroyed
//   auto loss = gd::reduce_mean(gd::square(gd::matmul(x, w) + b - y));
//   auto [dw, db] = tape.gradient(loss, w, b);
//
// Variables are watched when they are read; tensors when watch() says so. Several targets are
// summed. Tapes nest in any order, and what one tape computes is recorded by the others, so that
// gradients of gradients need nothing special. Each thread has its own tapes.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gradus/tensor.h"
#include "gradus/variable.h"

namespace gradus {

namespace forward_diff {
class GradientTape;  // gradus/forward.h
}

// A gradient as a tape returns it: none (not connected), a tensor, or rows of one. Rows are what
// gather and embedding_lookup give: `values` for some rows of axis 0, where repeated indices add
// up.
class Gradient {
 public:
  Gradient() = default;                                  // none
  Gradient(Tensor dense) : values_(std::move(dense)) {}  // NOLINT: implicit by design
  Gradient(Tensor indices, Tensor values, const Shape& dense_shape)
      : values_(std::move(values)), indices_(std::move(indices)), shape_(dense_shape) {}

  bool is_none() const { return !values_.defined(); }
  bool is_rows() const { return indices_.defined(); }
  explicit operator bool() const { return !is_none(); }

  // The whole gradient as a tensor. Rows become dense, which the report counts; none is an error.
  Tensor tensor() const;
  operator Tensor() const { return tensor(); }

  const Tensor& values() const { return values_; }
  const Tensor& indices() const { return indices_; }
  const Shape& dense_shape() const { return is_rows() ? shape_ : values_.shape(); }
  DType dtype() const { return values_.dtype(); }

 private:
  Tensor values_, indices_;
  Shape shape_;
};

// What a gradient is asked for: a tensor or a variable.
class Source {
 public:
  Source(const Tensor& t) : tensor_(t) {}      // NOLINT: implicit by design
  Source(const Variable& v) : variable_(v) {}  // NOLINT
  bool is_variable() const { return variable_.defined(); }
  const Tensor& tensor() const { return tensor_; }
  const Variable& variable() const { return variable_; }
  const Shape& shape() const { return is_variable() ? variable_.shape() : tensor_.shape(); }
  DType dtype() const { return is_variable() ? variable_.dtype() : tensor_.dtype(); }

 private:
  Tensor tensor_;
  Variable variable_;
};

enum class Unconnected { none, zero };  // TensorFlow's UnconnectedGradients

// A gradient that several calls add to, in place where the memory allows: micro-batches need no
// second copy of the gradients.
class GradientBuffer {
 public:
  GradientBuffer() = default;
  Gradient value() const;
  void reset();

 private:
  friend class GradientTape;
  friend class forward_diff::GradientTape;
  // The sum so far, which is given away; and the one from now on.
  Gradient take(const Source& source);
  void settle(const Source& source);  // in a variable, if a function is being traced
  void put(Gradient sum);

  Gradient sum_;
  Variable state_;  // holds the sum instead once a compiled function has used the buffer
};

struct GradientOptions {
  std::vector<Tensor> output_gradients = {};  // one per target; undefined means ones
  Unconnected unconnected = Unconnected::none;
  std::vector<GradientBuffer>* into =
      nullptr;  // one per source: adds to them, returns their values
};

struct TapeOptions {
  bool persistent = false;
  bool watch_accessed_variables = true;
};

struct TapeReport;  // gradus/explain.h

// The convenient ways to ask a tape for gradients of one target.
template <class Tape>
class GradientCalls {
 public:
  // One gradient per source; with a single source, just that gradient.
  template <class... S>
  auto gradient(const Tensor& target, const S&... sources) {
    std::vector<Gradient> all = self().gradient(std::vector<Tensor>{target}, {Source(sources)...});
    if constexpr (sizeof...(S) == 1) {
      return std::move(all[0]);
    } else {
      std::array<Gradient, sizeof...(S)> result;
      for (std::size_t i = 0; i < sizeof...(S); ++i) result[i] = std::move(all[i]);
      return result;
    }
  }
  // Structures of sources give structures of gradients.
  template <class T>
  std::vector<Gradient> gradient(const Tensor& target, const std::vector<T>& sources) {
    return self().gradient(std::vector<Tensor>{target},
                           std::vector<Source>(sources.begin(), sources.end()));
  }
  template <class K, class T>
  std::map<K, Gradient> gradient(const Tensor& target, const std::map<K, T>& sources) {
    std::vector<Source> flat;
    for (const auto& [key, source] : sources) flat.push_back(source);
    std::vector<Gradient> all = self().gradient(std::vector<Tensor>{target}, flat);
    std::map<K, Gradient> result;
    std::size_t i = 0;
    for (const auto& [key, source] : sources) result[key] = std::move(all[i++]);
    return result;
  }

 private:
  Tape& self() { return static_cast<Tape&>(*this); }
};

class GradientTape : public GradientCalls<GradientTape> {
 public:
  explicit GradientTape(TapeOptions options = {});
  ~GradientTape();
  GradientTape(GradientTape&&) noexcept;
  GradientTape& operator=(GradientTape&&) noexcept;

  void watch(const Tensor& t);
  void watch(const Variable& v);
  void reset();  // forgets what was recorded and records on
  void stop();   // leaves the recording; gradient() may still be called
  // Records on after stop(): what was recorded and watched before is still there. A tape that has
  // given its gradient and is not persistent begins anew.
  void resume();
  bool is_recording() const;
  std::vector<Variable> watched_variables() const;

  // What runs while the result lives is not recorded by this tape.
  class Pause {
   public:
    explicit Pause(GradientTape& tape);
    ~Pause();
    Pause(const Pause&) = delete;

   private:
    GradientTape* tape_;
  };
  Pause stop_recording() { return Pause(*this); }

  std::vector<Gradient> gradient(const std::vector<Tensor>& targets,
                                 const std::vector<Source>& sources,
                                 const GradientOptions& options = {});

  using GradientCalls<GradientTape>::gradient;

  // d target / d source with shape target.shape + source.shape, by one reverse sweep that carries
  // all rows at once, or `chunk` of them at a time (0: as many as memory and caches like).
  std::vector<Gradient> jacobian(const Tensor& target, const std::vector<Source>& sources,
                                 Unconnected unconnected = Unconnected::none,
                                 std::int64_t chunk = 0);
  Gradient jacobian(const Tensor& target, const Source& source,
                    Unconnected unconnected = Unconnected::none, std::int64_t chunk = 0);
  // The Jacobian of each example by itself, for a target (b, t...) and a source (b, s...) whose
  // examples along axis 0 do not mix: shape (b, t..., s...), at the cost of one example's rows.
  Gradient batch_jacobian(const Tensor& target, const Source& source,
                          Unconnected unconnected = Unconnected::none, std::int64_t chunk = 0);

  // What the tape holds and what it cost (gradus/explain.h); with a target and sources, also what
  // of it does not lie between them.
  TapeReport report() const;
  TapeReport report(const Tensor& target, const std::vector<Source>& sources) const;
  // Why the gradient of target with respect to source is what it is: connected, none, zero or NaN,
  // with the op and the line of the program that decided it.
  std::string explain(const Tensor& target, const Source& source);

  struct State;
  State& state() { return *state_; }  // for the engine

 private:
  std::unique_ptr<State> state_;
};

}  // namespace gradus
