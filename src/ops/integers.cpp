// Division, remainders and powers, with what integers ask for besides; ops on bits.
//
// A program of scalar expressions has no way to fail: it divides integers by zero and gives 0.
// TensorFlow's users expect an error, so divisors and exponents that are integers are looked at
// first: here if they are known, else by an op of the traced function.
#include "base/check.h"
#include "expr/math.h"
#include "gradus/bitwise.h"
#include "gradus/elementwise.h"
#include "graph/batch.h"
#include "graph/symbols.h"
#include "ops/records.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using expr::bit_and;
using expr::rem;
using expr::select;

struct CheckAttrs {
  Text op;
  bool exponents = false;
  static auto fields() {
    return attr_fields(attr("op", &CheckAttrs::op), attr("exponents", &CheckAttrs::exponents));
  }
};

// Throws where an integer cannot divide or be an exponent.
void check_integers(const char* op, bool exponents, DType dtype, const void* data,
                    std::int64_t count) {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const T* p = static_cast<const T*>(data);
      for (std::int64_t i = 0; i < count; ++i) {
        if (!exponents && p[i] == 0) {
          fail<InvalidArgumentError>("[", op, "] element ", i, " of the divisor is 0; integers ",
                                     "cannot be divided by zero");
        }
        if (exponents && std::is_signed_v<T> && p[i] < T(0)) {
          fail<InvalidArgumentError>("[", op, "] element ", i, " of the exponent is ", +p[i],
                                     "; integers have no negative powers, cast them to a float ",
                                     "dtype first");
        }
      }
    }
  });
}

bool is_integer(const Tensor& t) { return kIntegers & one_dtype(t.dtype()); }

}  // namespace

const Op check_integers_op = not_differentiable(
    {.name = "check_integers",
     .doc = "The integers themselves; an error if one cannot divide or be an exponent.",
     .dtypes = kIntegers,
     .attrs = &attr_type<CheckAttrs>(),
     .kernel =
         [](const KernelCall& c) {
           const auto& p = c.get<CheckAttrs>();
           check_integers(p.op.c_str(), p.exponents, c.in[0].dtype, c.in[0].data, c.in[0].count());
           copy_rule().run(c.in, c.out[0]);
         },
     .batch = batch_leading,
     .samples =
         [] {
           return std::vector<Sample>{sample<CheckAttrs>({{{2, 3}, 1, 9}}, {"divide"}),
                                      sample<CheckAttrs>({{{4}, 0, 9}}, {"pow", true})};
         }},
    "integers have no derivative");

namespace {

Tensor checked(const char* op, bool exponents, const Tensor& x, const Tensor& y) {
  if (!is_integer(x) || !is_integer(y)) return y;
  if (!is_concrete(y)) return check_integers_op({y}, CheckAttrs{op, exponents});
  check_integers(op, exponents, y.dtype(), y.raw_data(), y.num_elements());
  return y;
}
Tensor divisor(const char* op, const Tensor& x, const Tensor& y) {
  return checked(op, false, x, y);
}

OpInfo division(const char* name, const char* doc, SizesFn on_sizes = nullptr) {
  return {.name = name, .doc = doc, .dtypes = kReal, .on_sizes = on_sizes, .low = 0.5, .high = 3};
}

Expr floor_quotient(Expr x, Expr y) {
  if (expr::is_float(x.type())) return expr::floordiv(x, y);
  const Expr q = x / y, r = x - q * y;
  return select(r != 0 && ((r < 0) ^ (y < 0)), q - 1, q);
}

// By repeated squaring; overflow wraps.
Expr integer_power(Expr x, Expr y) {
  Expr power = x, result = expr::constant(x, 1);
  const int bits = x.type() == expr::Type::i32 ? 31 : x.type() == expr::Type::i64 ? 63 : 64;
  for (int i = 0; i < bits; ++i) {
    const Expr bit = bit_and(expr::shr(y, i), expr::constant(y, 1));
    result = result * select(bit != 0, power, 1);
    power = power * power;
  }
  return result;
}

OpInfo bits(const char* name, const char* doc) {
  return {.name = name, .doc = doc, .dtypes = kIntegers, .low = 0, .high = 9};
}

Expr clamped(Expr shift, Expr most) {
  return select(shift < 0, 0, select(shift < most, shift, most));
}

// One less than the number of bits, with the dtype of x.
Tensor last_bit(const Tensor& x) {
  return cast(static_cast<std::int64_t>(8 * size_of(x.dtype()) - 1), x.dtype());
}

}  // namespace

const Op floordiv_op = elementwise(division("floordiv", "The largest integer not above x / y.",
                                            [](Size x, Size y) { return x / y; }),
                                   floor_quotient);
const Op floormod_op =
    elementwise(division("floormod", "x - floordiv(x, y) * y: it has the sign of y."),
                [](Expr x, Expr y) { return expr::floormod(x, y); });
const Op truncatediv_op = elementwise(
    division("truncatediv", "x / y, rounded towards zero."),
    [](Expr x, Expr y) { return expr::is_float(x.type()) ? expr::truncatediv(x, y) : x / y; });
const Op truncatemod_op =
    elementwise(division("truncatemod", "x - truncatediv(x, y) * y: it has the sign of x."),
                [](Expr x, Expr y) { return expr::truncatemod(x, y); });
const Op integer_pow_op = elementwise(
    bits("integer_pow", "x to the power y, of integers; overflow wraps."), integer_power);

const Op bitwise_and_op = elementwise(bits("bitwise_and", "The bits that both have."),
                                      [](Expr x, Expr y) { return bit_and(x, y); });
const Op bitwise_or_op = elementwise(bits("bitwise_or", "The bits that either has."),
                                     [](Expr x, Expr y) { return expr::bit_or(x, y); });
const Op bitwise_xor_op = elementwise(bits("bitwise_xor", "The bits that one of them has."),
                                      [](Expr x, Expr y) { return expr::bit_xor(x, y); });
const Op invert_op = elementwise(bits("invert", "The bits that it does not have."),
                                 [](Expr x) { return expr::bit_not(x); });
const Op left_shift_op =
    elementwise(bits("left_shift", "Bits moved up by y, between 0 and a limit."),
                [](Expr x, Expr y, Expr most) { return expr::shl(x, clamped(y, most)); });
const Op right_shift_op =
    elementwise(bits("right_shift", "Bits moved down by y, between 0 and a limit; with the sign."),
                [](Expr x, Expr y, Expr most) {
                  const Expr shift = clamped(y, most);
                  return x.type() == expr::Type::u64 ? expr::shr(x, shift) : expr::sar(x, shift);
                });

Tensor divide(In x, In y) { return divide_op(x, divisor("divide", x, y)); }
Tensor floordiv(In x, In y) { return floordiv_op(x, divisor("floordiv", x, y)); }
Tensor floormod(In x, In y) { return floormod_op(x, divisor("floormod", x, y)); }
Tensor truncatediv(In x, In y) { return truncatediv_op(x, divisor("truncatediv", x, y)); }
Tensor truncatemod(In x, In y) { return truncatemod_op(x, divisor("truncatemod", x, y)); }

Tensor pow(In x, In y) {
  if (!is_integer(x) || !is_integer(y)) return pow_op(x, y);
  return integer_pow_op(x, checked("pow", true, x, y));
}

namespace bitwise {

Tensor bitwise_and(In x, In y) { return bitwise_and_op(x, y); }
Tensor bitwise_or(In x, In y) { return bitwise_or_op(x, y); }
Tensor bitwise_xor(In x, In y) { return bitwise_xor_op(x, y); }
Tensor invert(In x) { return invert_op(x); }
Tensor left_shift(In x, In y) { return left_shift_op(x, y, last_bit(x)); }
Tensor right_shift(In x, In y) { return right_shift_op(x, y, last_bit(x)); }

}  // namespace bitwise
}  // namespace gradus
