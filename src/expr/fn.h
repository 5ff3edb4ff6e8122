// Named scalar functions with derivatives. A call keeps the function's identity until lower(), so
// that gradients (and gradients of gradients) are derived from `scales`, never from the polynomial
// that computes the value.
#pragma once
#include "expr/expr.h"

namespace gradus::expr {

struct Fn {
  const char* name;
  int arity;  // 1 to 3
  // The value in terms of machine codes and other functions; may look at args[0].type(). Its type
  // is that of args[0].
  Expr (*value)(const Expr* args);
  // scales[i] gives g * d out / d in_i, linear in g. A null entry says that the derivative is zero
  // everywhere; no entries at all say that the function has no derivative.
  std::vector<Expr (*)(Expr g, const Expr* in, Expr out)> scales = {};
};

Expr call(const Fn& fn, std::span<const Expr> args);
inline Expr call(const Fn& fn, Expr a) { return call(fn, std::span<const Expr>(&a, 1)); }
inline Expr call(const Fn& fn, Expr a, Expr b) {
  const Expr args[] = {a, b};
  return call(fn, args);
}
inline Expr call(const Fn& fn, Expr a, Expr b, Expr c) {
  const Expr args[] = {a, b, c};
  return call(fn, args);
}

// g * p, but exactly 0 where g == 0, even if p is inf or NaN: how a cotangent meets a partial.
Expr scaled(Expr g, Expr p);
// g / d in the same way.
Expr ratio(Expr g, Expr d);

// True if changing `wrt` can change `value`.
bool depends_on(Expr value, Expr wrt);

// The chain rule: g * d value / d wrt, where `wrt` is an input (or any other value, then held as
// the independent variable). Comparisons, masks and integers have no derivative; the result is the
// constant 0 where nothing depends. Throws for functions without derivative, for bit casts and for
// row reductions.
Expr scale_through(Expr value, Expr wrt, Expr g);

}  // namespace gradus::expr
