#include <gtest/gtest.h>

#include <cmath>

#include "gradus/error.h"
#include "unit/expr_util.h"

namespace gradus::expr {
namespace {

std::size_t count(const Program& p, Code code) {
  std::size_t n = 0;
  for (const Instr& i : p.code) n += i.code == code;
  return n;
}

TEST(ExprBuilder, EqualValuesAreMadeOnce) {
  Builder b;
  const Expr x = b.input(float32), y = b.input(float32);
  b.output((x + y) * (y + x), float32);
  const Program p = b.finish();
  EXPECT_EQ(count(p, Code::add), 1u);
  EXPECT_EQ(p.code.size(), 4u);
}

TEST(ExprBuilder, FoldsConstantsInTheirType) {
  Builder b;
  const Expr x = b.input(float32);
  const Expr third = b.constant(Type::f32, 1) / 3;
  EXPECT_EQ(b.instr(third.id()).bits, std::bit_cast<std::uint32_t>(1.0f / 3.0f));
  b.output(x * (third + 2), float32);
  EXPECT_EQ(b.finish().code.size(), 3u);
}

TEST(ExprBuilder, IdentitiesThatHoldForEveryValue) {
  Builder b;
  const Expr x = b.input(float32), m = x < 1;
  for (const Expr same : {x * 1, 1 * x, x / 1, x - 0, x + -0.0, -(-x), select(m, x, x), max(x, x),
                          convert(x, Type::f32)})
    EXPECT_TRUE(same.same_as(x));
  EXPECT_FALSE((x + 0).same_as(x)) << "-0 + 0 is +0";
  EXPECT_FALSE((x * 0).same_as(b.constant(Type::f32, 0))) << "inf * 0 is NaN";
  EXPECT_FALSE((x - x).same_as(b.constant(Type::f32, 0)));
  EXPECT_TRUE((!!m).same_as(m));
  EXPECT_TRUE((x / 4).same_as(x * 0.25));
  EXPECT_TRUE(select(!m, x, 2).same_as(select(m, 2, x)));
}

TEST(ExprBuilder, FinishKeepsOnlyWhatOutputsNeedAndIsCanonical) {
  const auto build = [](bool other_order) {
    Builder b;
    const Expr x = b.input(float32), y = b.input(float32);
    Expr s, t;
    if (other_order) {
      t = sqrt(y);
      s = x * y;
    } else {
      s = x * y;
      sqrt(x + y);
      t = sqrt(y);
    }
    b.output(s - t, float32);
    return b.finish();
  };
  const Program p = build(false), q = build(true);
  EXPECT_EQ(p.code.size(), 5u);
  EXPECT_EQ(p, q) << to_string(p) << to_string(q);
  EXPECT_EQ(hash_of(p), hash_of(q));
  Program r = p;
  r.outputs[0].dtype = float16;
  EXPECT_NE(p, r);
  EXPECT_NE(hash_of(p), hash_of(r));
}

TEST(ExprBuilder, AppendsAProgramWithTheRoundingOfItsOutputs) {
  Builder inner;
  inner.output(inner.input(float16) * 3, float16);
  const Program p = inner.finish();
  Builder outer;
  const Expr x = outer.input(float16);
  const Expr once = outer.append(p, std::vector<Expr>{x})[0];
  const Expr twice = outer.append(p, std::vector<Expr>{once})[0];
  outer.output(twice, float16);
  const Program q = outer.finish();
  const auto values = nasty<half>(100, 5);
  for (const Isa isa : isas()) {
    const auto got = run(compile(q, isa), q, 1, 100, {Array::of(values)});
    std::vector<half> want;
    for (const half v : values) want.push_back(half(half(v * 3.0f) * 3.0f));
    EXPECT_EQ(first_difference(got[0], Array::of(want)), -1);
  }
}

TEST(ExprBuilder, PrintsItself) {
  Builder b;
  const Expr x = b.input(float32);
  b.output(x * 2, float32);
  EXPECT_EQ(
      to_string(b.finish()),
      "%0 = input.f32 0 float32\n%1 = constant.f32 2\n%2 = mul.f32 %0 %1\noutput %2 float32\n");
}

TEST(ExprBuilder, MistakesAreExplained) {
  Builder b;
  const Expr x = b.input(float32), d = b.input(float64), i = b.input(int32);
  EXPECT_THROW(x + d, InvalidArgumentError);
  EXPECT_THROW((x < 1) + (x < 2), InvalidArgumentError);
  EXPECT_THROW(x && x, InvalidArgumentError);
  EXPECT_THROW(sqrt(i), InvalidArgumentError);
  EXPECT_THROW(shl(x, x), InvalidArgumentError);
  EXPECT_THROW(bitcast(x, Type::i64), InvalidArgumentError);
  EXPECT_THROW(b.output(x, float64), InvalidArgumentError);
  EXPECT_THROW(b.output(x, float32, true), InvalidArgumentError);
  EXPECT_THROW(b.input(complex64), InvalidArgumentError);
  try {
    x + d;
  } catch (const InvalidArgumentError& e) {
    EXPECT_STREQ(e.message(),
                 "[expr add] got f32 and f64; both sides must have one type; use convert()");
  }
}

}  // namespace
}  // namespace gradus::expr
