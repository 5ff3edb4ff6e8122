// Elementwise ops: the value, and how a cotangent is scaled by each partial derivative, written as
// scalar expressions.
//
//   const Op exp_op = elementwise({.name = "exp", .doc = "e to the power x."},
//                                 [](Expr x) { return exp(x); });
//   const Op relu_op = elementwise({.name = "relu", .doc = "max(x, 0)."},
//                                  [](Expr x) { return max(x, 0); },
//                                  [](Expr g, Expr x, Expr y) { return select(y > 0, g, 0); });
//
// The second lambda is g * dy/dx, given g, the inputs and the output; with several inputs there is
// one per input, nullptr where there is no derivative. Without any, the chain rule over the value
// finds them. From these the engine makes, when first needed, the kernels for each dtype and
// layout, and further elementwise ops for the vjp of each input and the jvp: their own derivatives
// come from the chain rule, so every order exists, as one fused kernel or (if it is wide) a few.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "expr/expr.h"
#include "expr/fn.h"
#include "expr/kernel.h"
#include "graph/op.h"

namespace gradus {

using expr::Expr;

struct ElementwiseRule {
  using Exprs = std::span<const Expr>;
  using Value = std::function<Expr(Exprs in)>;
  using Scale = std::function<Expr(Expr g, Exprs in, Expr out)>;

  int arity = 1;
  Value value;
  std::vector<Scale> scales;      // one per input, or none: by the chain rule
  bool makes_bool = false;        // comparisons and predicates
  std::uint32_t bool_inputs = 0;  // inputs that are masks whatever the dtype of the others

  std::optional<expr::Type> only;  // a piece of a wide expression: the one type it is made for

  // Derived ops. The vjp op of input i takes (g, in..., out) restricted to what it reads; the jvp
  // op for a set of inputs takes (tangents..., in..., out) likewise. `reads` says which those are.
  // One that would take more than a kernel does is a chain of ops instead.
  struct Piece {
    std::unique_ptr<Op> op;
    std::vector<int> args;  // those of the whole, then the results of earlier pieces
  };
  struct Derived {
    std::unique_ptr<Op> op;  // null: the result is the cotangent itself (add), or zero, or wide
    bool is_zero = false, is_identity = false;
    Reads reads;
    std::vector<Piece> float_pieces, double_pieces;  // wide: by the type that is computed in
    Tensor run(std::span<const Tensor> args) const;
  };
  const Derived& vjp(const Op& self, int input) const;
  const Derived& jvp(const Op& self, std::uint32_t inputs) const;

  // g * dy/dx_i as an expression, whether authored or derived.
  Expr scale(int i, Expr g, Exprs in, Expr out) const;

  // The kernel for these dtypes; bit i of `per_row` says that input i is constant along rows.
  const expr::Kernel& kernel(std::span<const DType> in, DType out, std::uint32_t per_row) const;
  // Runs the kernel over operands that broadcast to the result.
  void run(std::span<const View> in, const View& out) const;
  // A result of another dtype than the program's value is converted.
  expr::Program program(std::span<const DType> in, DType out, std::uint32_t per_row) const;

 private:
  struct KernelKey {
    std::uint64_t in = 0;  // four bits for each of up to kMaxInputs dtypes
    DType out;
    std::uint32_t per_row;
    bool operator==(const KernelKey&) const = default;
  };
  static_assert(kDTypeCount <= 16 && expr::kMaxInputs <= 16);
  struct CachedKernel {
    KernelKey key;
    expr::Kernel kernel;
    std::unique_ptr<CachedKernel> next;
  };
  const Derived& derive(std::uint32_t key, const std::function<Derived()>& make) const;
  void set_op(Derived& d, const Op& self, const std::string& suffix, const std::string& doc,
              std::unique_ptr<ElementwiseRule> rule) const;

  mutable std::mutex mutex_;
  mutable std::atomic<const CachedKernel*> kernels_{nullptr};  // newest first, only ever grows
  mutable std::unique_ptr<CachedKernel> newest_;
  mutable std::vector<std::pair<std::uint32_t, std::unique_ptr<Derived>>> derived_;
  mutable std::atomic<const Derived*> vjp_cache_[4] = {};
};

// Whether an op computes this of its two inputs, whatever it is called: its expression is the same.
bool computes(const Op& op, Expr (*function)(Expr, Expr));

Op make_elementwise(const OpInfo& info, std::unique_ptr<ElementwiseRule> rule,
                    bool derived = false);

namespace detail {

template <class F, std::size_t... I>
Expr spread(const F& f, std::span<const Expr> in, std::index_sequence<I...>) {
  return f(in[I]...);
}
template <class F, std::size_t... I>
Expr spread_scale(const F& f, Expr g, std::span<const Expr> in, Expr out,
                  std::index_sequence<I...>) {
  return f(g, in[I]..., out);
}
template <class F>
constexpr int expr_arity() {
  if constexpr (std::is_invocable_v<F, Expr>)
    return 1;
  else if constexpr (std::is_invocable_v<F, Expr, Expr>)
    return 2;
  else if constexpr (std::is_invocable_v<F, Expr, Expr, Expr>)
    return 3;
  else
    return 4;
}

}  // namespace detail

template <class V, class... S>
std::unique_ptr<ElementwiseRule> elementwise_rule(V value, S... scale) {
  constexpr int arity = detail::expr_arity<V>();
  static_assert(sizeof...(S) == 0 || sizeof...(S) == arity, "one scale per input, or none");
  using Indices = std::make_index_sequence<arity>;
  auto rule = std::make_unique<ElementwiseRule>();
  rule->arity = arity;
  rule->value = [value](ElementwiseRule::Exprs in) { return detail::spread(value, in, Indices{}); };
  [[maybe_unused]] const auto add = [&rule](auto f) {
    if constexpr (std::is_null_pointer_v<decltype(f)>) {
      rule->scales.emplace_back(nullptr);
    } else {
      rule->scales.emplace_back([f](Expr g, ElementwiseRule::Exprs in, Expr out) {
        return detail::spread_scale(f, g, in, out, Indices{});
      });
    }
  };
  (add(scale), ...);
  return rule;
}

template <class V, class... S>
Op elementwise(OpInfo info, V value, S... scale) {
  return make_elementwise(info, elementwise_rule(value, scale...));
}

// A comparison or predicate: its result is bool and it has no derivative.
template <class V>
Op predicate(OpInfo info, V value) {
  auto rule = elementwise_rule(value);
  rule->makes_bool = true;
  return make_elementwise(info, std::move(rule));
}

}  // namespace gradus
