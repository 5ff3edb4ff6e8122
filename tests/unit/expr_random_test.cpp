// Random programs: emitted code gives the bits of the interpreter.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "unit/expr_util.h"

namespace gradus::expr {
namespace {

class Generator {
 public:
  Generator(unsigned seed, bool wide, bool rows) : random_(seed), wide_(wide), rows_(rows) {}

  Program make(int instructions) {
    const int inputs = 1 + pick(kMaxInputs);
    for (int k = 0; k < inputs; ++k) values_.push_back(b_.input(storage(), pick(4) != 0));
    for (int k = 0; k < instructions; ++k) values_.push_back(grow());
    const int outputs = 1 + pick(4);
    for (int k = 0; k < outputs; ++k) {
      const Expr v = k == 0 ? values_.back() : any();
      if (rows_ && v.type() != Type::mask && pick(3) == 0)
        b_.output_added(v, computed(v.type()));
      else
        b_.output(v, storage_of(v.type()), !b_.varies(v.id()) && pick(2));
    }
    return b_.finish();
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  DType storage() {
    static constexpr DType kNarrow[] = {float32, float32, float32, float16, bfloat16, int32,
                                        int8,    uint8,   int16,   uint16,  bool_};
    static constexpr DType kWide[] = {float64, float64, float32, int64, uint64,
                                      uint32,  int32,   bool_,   int8,  float16};
    return wide_ ? kWide[pick(10)] : kNarrow[pick(11)];
  }
  DType storage_of(Type t) {
    for (;;)
      if (const DType d = storage(); type_of(d) == t)
        return d;
      else if (t == Type::i64 || t == Type::u64 || t == Type::f64)
        return t == Type::i64 ? int64 : t == Type::u64 ? uint64 : float64;
  }
  static DType computed(Type t) {
    return t == Type::f32   ? float32
           : t == Type::f64 ? float64
           : t == Type::i32 ? int32
           : t == Type::i64 ? int64
                            : uint64;
  }
  Expr any() { return values_[static_cast<std::size_t>(pick(static_cast<int>(values_.size())))]; }
  Expr recent() {  // mostly what was made last: long chains, and values that live long
    const int n = static_cast<int>(values_.size());
    return pick(3) ? values_[static_cast<std::size_t>(std::max(0, n - 1 - pick(6)))] : any();
  }
  Type number_type() {
    static constexpr Type kNarrow[] = {Type::f32, Type::f32, Type::f32, Type::i32};
    static constexpr Type kWide[] = {Type::f64, Type::f64, Type::f32,
                                     Type::i64, Type::i32, Type::u64};
    return wide_ ? kWide[pick(6)] : kNarrow[pick(4)];
  }
  Expr of(Type t) {
    for (int tries = 0; tries < 8; ++tries)
      if (const Expr v = recent(); v.type() == t) return v;
    if (pick(3) == 0) return b_.constant(t, pick(200) * 0.25 - 20);
    Expr v = recent();
    // The conversions that emitted code does not have would only test the interpreter with itself.
    if (is_float(t) && v.type() == Type::u64) v = bitcast(v, Type::i64);
    if (t == Type::u64 && is_float(v.type())) v = convert(v, Type::i64);
    return convert(v, t);
  }
  Expr mask() { return of(Type::mask); }
  // The bits of a NaN are not specified, so they must not become something else.
  static Expr definite(Expr x) { return is_float(x.type()) ? select(is_nan(x), 1, x) : x; }

  Expr grow() {
    const Type t = number_type();
    const Expr x = of(t), y = of(t);
    if (rows_ && pick(9) == 0 && t != Type::u64) {
      static constexpr Expr (*kReduce[])(Expr) = {row_sum, row_max, row_min, row_prod};
      return kReduce[pick(t == Type::i64 ? 3 : 4)](x);
    }
    switch (pick(12)) {
      case 0:
        return x + y;
      case 1:
        return x - y;
      case 2:
        return x * y;
      case 3:
        return fma(x, y, of(t));
      case 4:
        return pick(2) ? max(x, y) : min(x, y);
      case 5:
        return pick(2) ? select(mask(), x, y) : select(mask(), x, 0);
      case 6:
        return pick(2) ? -x : abs(x);
      case 7:
        switch (pick(4)) {
          case 0:
            return x < y;
          case 1:
            return x <= y;
          case 2:
            return x == y;
          default:
            return x != y;
        }
      case 8:
        switch (pick(4)) {
          case 0:
            return mask() && mask();
          case 1:
            return mask() || mask();
          case 2:
            return mask() ^ mask();
          default:
            return !mask();
        }
      case 9:
        switch (pick(3)) {
          case 0:
            return bit_and(definite(x), definite(y));
          case 1:
            return bit_or(definite(x), definite(y));
          default:
            return bit_xor(definite(x), definite(y));
        }
      case 10:
        if (is_float(t)) return pick(2) ? x / y : sqrt(abs(x));
        switch (pick(4)) {
          case 0:
            return shl(x, pick(40));
          case 1:
            return shr(x, bit_and(y, b_.constant(t, 63)));
          case 2:
            return sar(x, y);
          default:
            return t == Type::i32 ? (pick(2) ? x / y : rem(x, y)) : sar(x, pick(70));
        }
      default:
        if (t == Type::f32 && pick(3) == 0) return narrow(x, pick(2) ? float16 : bfloat16);
        if (is_float(t)) return pick(2) ? floor(x) : round(x);
        return sar(x, pick(31)) - x;
    }
  }

  Builder b_;
  std::mt19937 random_;
  std::vector<Expr> values_;
  bool wide_, rows_;
};

void compare(const Program& p, unsigned seed, std::int64_t rows, std::int64_t cols) {
  std::vector<Array> in;
  for (std::size_t k = 0; k < p.inputs.size(); ++k) {
    const std::int64_t count = rows * (p.inputs[k].varies_along_row ? cols : 1);
    in.push_back(nasty_array(p.inputs[k].dtype, static_cast<std::size_t>(count),
                             seed + static_cast<unsigned>(k)));
  }
  const auto want = run(compile(p, Isa::interpreter), p, rows, cols, in);
  for (const Isa isa : isas()) {
    const Kernel kernel = compile(p, isa);
    ASSERT_EQ(kernel.isa(), isa) << "not emitted:\n" << to_string(lower(p));
    const auto got = run(kernel, p, rows, cols, in);
    for (std::size_t k = 0; k < got.size(); ++k) {
      ASSERT_EQ(first_difference(got[k], want[k]), -1)
          << "seed " << seed << ", output " << k << ", " << rows << " x " << cols << '\n'
          << to_string(lower(p));
      ASSERT_TRUE(got[k].guards_intact()) << "seed " << seed;
    }
  }
}

void random_programs(bool wide, bool rows, unsigned count) {
  for (unsigned seed = 0; seed < count; ++seed) {
    const Program p = Generator(seed, wide, rows).make(3 + static_cast<int>(seed % 60));
    const std::int64_t cols = 1 + static_cast<std::int64_t>(seed * 7 % 83);
    compare(p, seed, 1 + seed % 3, cols);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(ExprRandom, NarrowElementwise) { random_programs(false, false, 300); }
TEST(ExprRandom, WideElementwise) { random_programs(true, false, 300); }
TEST(ExprRandom, NarrowRows) { random_programs(false, true, 300); }
TEST(ExprRandom, WideRows) { random_programs(true, true, 300); }

// More live values than any machine has registers: everything is spilled and comes back.
TEST(ExprRandom, RegisterPressure) {
  for (const DType dtype : {float32, float64}) {
    Builder b;
    std::vector<Expr> live;
    const Expr x = b.input(dtype);
    for (int k = 0; k < 60; ++k) live.push_back(sqrt(x * x + k * 0.37));
    Expr sum = live[0];
    for (std::size_t k = 1; k < live.size(); ++k)
      sum = sum + live[k] * live[live.size() - k] / live[k / 2];
    for (std::size_t k = 0; k < live.size(); ++k)
      sum = fma(sum, live[k], live[(k * 7) % live.size()]) / (1 + abs(sum));
    b.output(sum, dtype);
    compare(b.finish(), 1, 1, 50);
  }
}

}  // namespace
}  // namespace gradus::expr
