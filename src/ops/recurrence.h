// What recurrent layers over whole sequences share: kernels over [batch, units] whose operands have
// their own distances between rows, and the rows that a mask lets a step pass on unchanged.
#pragma once
#include <atomic>
#include <cstring>
#include <vector>

#include "expr/math.h"
#include "graph/elementwise.h"
#include "graph/op.h"

namespace gradus {

// Scalar expressions over [b, h], compiled when first needed.
class GateKernel {
 public:
  using Exprs = std::vector<Expr>;
  GateKernel(int inputs, Exprs (*body)(const Exprs&)) : inputs_(inputs), body_(body) {}

  const expr::Kernel& operator[](DType dtype) const {
    auto& slot = kernels_[dtype == float32 ? 0 : 1];
    if (const expr::Kernel* known = slot.load(std::memory_order_acquire)) return *known;
    expr::Builder builder;
    Exprs in;
    for (int i = 0; i < inputs_; ++i) in.push_back(builder.input(dtype));
    for (const Expr& e : body_(in)) builder.output(e, dtype);
    const expr::Kernel* made = new expr::Kernel(compile(builder.finish()));
    const expr::Kernel* expected = nullptr;
    if (slot.compare_exchange_strong(expected, made, std::memory_order_acq_rel)) return *made;
    delete made;
    return *expected;
  }

 private:
  int inputs_;
  Exprs (*body_)(const Exprs&);
  mutable std::atomic<const expr::Kernel*> kernels_[2] = {};
};

// The rows of a step that keep their states: where the mask, bool [batch, time], is false.
class KeptRows {
 public:
  KeptRows(std::span<const View> in, std::size_t mask, std::int64_t batch, std::int64_t time)
      : mask_(in.size() > mask ? in[mask].as<bool>() : nullptr), batch_(batch), time_(time) {}

  explicit operator bool() const { return mask_ != nullptr; }
  template <class F>
  void each(std::int64_t t, F&& f) const {
    if (!mask_) return;
    for (std::int64_t b = 0; b < batch_; ++b)
      if (!mask_[b * time_ + t]) f(b);
  }

 private:
  const bool* mask_;
  std::int64_t batch_, time_;
};

// sum = a + b over n elements.
inline void add_row(DType dtype, const char* a, const char* b, char* sum, std::int64_t n) {
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < n; ++i)
      reinterpret_cast<T*>(sum)[i] =
          reinterpret_cast<const T*>(a)[i] + reinterpret_cast<const T*>(b)[i];
  };
  dtype == float32 ? run(0.0f) : run(0.0);
}

// The states before each step: the first one, then all but the last of [batch, time, units].
inline void states_before(const char* first, const char* all, std::int64_t batch, std::int64_t time,
                          std::int64_t row_bytes, char* out) {
  for (std::int64_t b = 0; b < batch && time > 0; ++b) {
    char* to = out + b * time * row_bytes;
    std::memcpy(to, first + b * row_bytes, static_cast<std::size_t>(row_bytes));
    std::memcpy(to + row_bytes, all + b * time * row_bytes,
                static_cast<std::size_t>((time - 1) * row_bytes));
  }
}

// `count` operands of the first one's dtype, and perhaps a mask behind them.
void check_operand_count(const Call& call, std::size_t count);
// Operand i, if there is one, is bool [batch, time] for operand 0 [batch, time, features].
void check_mask(const Call& call, std::size_t i);
// [batch, units] at the last time of [batch, time, units] or [time, batch, units].
Tensor last_state(const Tensor& all, int time_axis);
// The same sample with a mask behind its operands.
Sample with_mask(Sample plain);

}  // namespace gradus
