// The chain rule over an expression, backwards from the value: each instruction that depends on
// `wrt` hands its cotangent to its operands. Cotangents that are zero are never made.
#include "base/check.h"
#include "expr/fn.h"
#include "expr/math.h"

namespace gradus::expr {
namespace {

class ChainRule {
 public:
  ChainRule(Expr value, Expr wrt)
      : b_(value.builder()), value_(value), wrt_(wrt), active_(value.id() + 1u) {
    GRADUS_ASSERT(&wrt.builder() == &b_);
    if (wrt.id() > value.id()) return;
    active_[wrt.id()] = true;
    for (std::uint32_t v = wrt.id() + 1u; v <= value.id(); ++v) {
      const Instr& i = b_.instr(static_cast<std::uint16_t>(v));
      for (int k = 0; k < operand_count(i); ++k)
        if (operand(i, k) < v && active_[operand(i, k)]) active_[v] = true;
    }
  }

  bool depends() const { return active_[value_.id()]; }

  Expr run(Expr g) {
    cotangent_.resize(active_.size());
    cotangent_[value_.id()] = g;
    for (std::uint32_t v = value_.id(); v > wrt_.id(); --v) {
      const Expr bar = cotangent_[v];
      if (active_[v] && bar.valid()) spread(Expr(&b_, static_cast<std::uint16_t>(v)), bar);
    }
    const Expr result = cotangent_[wrt_.id()];
    return result.valid() ? result : constant(wrt_, 0);
  }

 private:
  bool wants(Expr operand) const { return active_[operand.id()] && is_float(operand.type()); }
  void add(Expr operand, Expr bar) {
    Expr& sum = cotangent_[operand.id()];
    sum = sum.valid() ? sum + bar : bar;
  }
  // Gives an operand its share; f is only called if the operand depends on wrt.
  template <class F>
  void give(Expr operand, F f) {
    if (wants(operand)) add(operand, f());
  }

  void spread(Expr out, Expr g) {
    const Instr i = b_.instr(out.id());
    const Expr x(&b_, i.a), y(&b_, i.b), z(&b_, i.c);
    const auto zero = [&] { return constant(g, 0); };
    switch (i.code) {
      case Code::add:
        give(x, [&] { return g; });
        give(y, [&] { return g; });
        break;
      case Code::sub:
        give(x, [&] { return g; });
        give(y, [&] { return -g; });
        break;
      case Code::mul:
        give(x, [&] { return scaled(g, y); });
        give(y, [&] { return scaled(g, x); });
        break;
      case Code::div:
        give(x, [&] { return scaled(g, 1 / y); });
        give(y, [&] { return -scaled(g, out / y); });
        break;
      case Code::rem:  // x - trunc(x / y) * y
        give(x, [&] { return g; });
        give(y, [&] { return -scaled(g, trunc(x / y)); });
        break;
      case Code::fma:
        give(x, [&] { return scaled(g, y); });
        give(y, [&] { return scaled(g, x); });
        give(z, [&] { return g; });
        break;
      case Code::neg:
        give(x, [&] { return -g; });
        break;
      case Code::abs:
        give(x, [&] { return select(x == 0, zero(), scaled(g, sign(x))); });
        break;
      case Code::min:
        give(x, [&] { return select(x <= y, g, zero()); });
        give(y, [&] { return select(x <= y, zero(), g); });
        break;
      case Code::max:
        give(x, [&] { return select(x >= y, g, zero()); });
        give(y, [&] { return select(x >= y, zero(), g); });
        break;
      case Code::sqrt:
        give(x, [&] { return scaled(g, 0.5 / out); });
        break;
      case Code::select:
        give(y, [&] { return select(x, g, zero()); });
        give(z, [&] { return select(x, zero(), g); });
        break;
      case Code::convert:
        give(x, [&] { return convert(g, x.type()); });
        break;
      case Code::narrow:
        give(x, [&] { return g; });
        break;
      case Code::call:
        spread_call(i, out, g);
        break;
      case Code::round:
      case Code::floor:
      case Code::ceil:
      case Code::trunc:
        break;
      default:
        if (is_float(i.type))
          fail<UnimplementedError>(
              "[scale_through] got ", name_of(i.code),
              ", which has no derivative rule; put it inside an Fn with scales");
    }
  }

  void spread_call(const Instr& i, Expr out, Expr g) {
    const Expr in[] = {Expr(&b_, i.a), Expr(&b_, i.b), Expr(&b_, i.c)};
    for (int k = 0; k < i.fn->arity; ++k) {
      if (!wants(in[k])) continue;
      if (i.fn->scales.empty()) fail<LookupError>("[", i.fn->name, "] has no derivative");
      if (const auto scale = i.fn->scales[static_cast<std::size_t>(k)])
        add(in[k], scale(g, in, out));
    }
  }

  Builder& b_;
  Expr value_, wrt_;
  std::vector<bool> active_;
  std::vector<Expr> cotangent_;
};

}  // namespace

bool depends_on(Expr value, Expr wrt) { return ChainRule(value, wrt).depends(); }

Expr scale_through(Expr value, Expr wrt, Expr g) {
  ChainRule rule(value, wrt);
  return rule.depends() ? rule.run(g) : constant(wrt, 0);
}

}  // namespace gradus::expr
