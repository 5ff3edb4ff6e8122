#include "expr/fn.h"

#include <bit>
#include <cmath>

#include "base/check.h"

namespace gradus::expr {
namespace {

const Fn kScaled = {"scaled",
                    2,
                    [](const Expr* in) { return select(in[0] == 0, 0, in[0] * in[1]); },
                    {[](Expr g, const Expr* in, Expr) { return scaled(g, in[1]); },
                     [](Expr g, const Expr* in, Expr) { return scaled(g, in[0]); }}};

// A cotangent that is 0 at this point still varies: its derivative is that of the plain quotient.
const Fn kRatio = {"ratio",
                   2,
                   [](const Expr* in) { return select(in[0] == 0, 0, in[0] / in[1]); },
                   {[](Expr g, const Expr* in, Expr) { return ratio(g, in[1]); },
                    [](Expr g, const Expr* in, Expr y) { return -scaled(g, ratio(y, in[1])); }}};

const Instr& instr_of(Expr e) { return e.builder().instr(e.id()); }

bool is_finite_constant(Expr e) {
  const Instr& i = instr_of(e);
  if (i.code != Code::constant) return false;
  return i.type == Type::f32
             ? std::isfinite(std::bit_cast<float>(static_cast<std::uint32_t>(i.bits)))
             : std::isfinite(std::bit_cast<double>(i.bits));
}

bool is_zero_constant(Expr e) {
  const Instr& i = instr_of(e);
  return i.code == Code::constant && i.bits << (is_wide(i.type) ? 1 : 33) == 0;
}

}  // namespace

Expr call(const Fn& fn, std::span<const Expr> args) {
  GRADUS_ASSERT(static_cast<int>(args.size()) == fn.arity && fn.arity >= 1 && fn.arity <= 3);
  Instr i{.code = Code::call, .type = args[0].type(), .a = args[0].id(), .fn = &fn};
  if (fn.arity > 1) i.b = args[1].id();
  if (fn.arity > 2) i.c = args[2].id();
  for (const Expr& arg : args) GRADUS_ASSERT(&arg.builder() == &args[0].builder());
  return args[0].builder().emit(i);
}

Expr scaled(Expr g, Expr p) {
  if (is_zero_constant(g)) return g;
  if (is_finite_constant(p) || instr_of(g).code == Code::constant) return g * p;
  return call(kScaled, g, p);
}

Expr ratio(Expr g, Expr d) {
  if (is_zero_constant(g)) return g;
  return instr_of(g).code == Code::constant ? g / d : call(kRatio, g, d);
}

}  // namespace gradus::expr
