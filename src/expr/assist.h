// Slow but right functions for the few elements that vector code cannot do: angles whose multiple
// of pi / 2 has too many bits, remainders with a huge quotient, zeta below 0. And functions that
// have no vector code at all, as derivatives of zeta: they give up everywhere.
//
// A definition makes NaN where it gives up and ends with assist(f, y, x): where y is NaN, the value
// is f(x). A vector without a NaN pays for one test (Code::assist, machine_ops.cpp); elements that
// are NaN anyway are asked about in vain, and stay NaN.
#pragma once
#include "expr/expr.h"

namespace gradus::expr {

// After zeta come its derivatives in the first argument.
enum class Assistant : std::uint8_t { sin, cos, tan, rem, zeta };
inline constexpr int kMostZetaOrders = 15;
inline constexpr int kAssistants = static_cast<int>(Assistant::zeta) + kMostZetaOrders + 1;

Expr assist(Assistant f, Expr y, Expr x, Expr second);
inline Expr assist(Assistant f, Expr y, Expr x) { return assist(f, y, x, x); }

// y[i] = f(x[i], second[i]) where y[i] is NaN; for f32 and f64.
using AssistFn = void (*)(const void* x, const void* second, void* y, int n);
AssistFn assist_fn(Assistant f, Type type);

}  // namespace gradus::expr
