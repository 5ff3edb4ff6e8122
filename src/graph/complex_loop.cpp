#include "graph/complex_loop.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "expr/fn.h"

namespace gradus {
namespace {

using expr::Code;
using expr::Instr;
using Number = std::complex<double>;
using Function = Number (*)(const Number*);

Number square(Number x) { return x * x; }
Number one_plus_i_times(Number x) { return {1 - x.imag(), x.real()}; }
Number one_minus_i_times(Number x) { return {1 + x.imag(), -x.real()}; }

// e^(a + bi) - 1 = (e^a - 1) cos b - 2 sin(b / 2)^2 + i e^a sin b.
Number expm1(Number x) {
  const double a = x.real(), b = x.imag();
  if (!(std::abs(a) < 1)) return std::exp(x) - 1.0;
  const double s = std::sin(0.5 * b);
  return {std::expm1(a) * std::cos(b) - 2 * s * s, std::exp(a) * std::sin(b)};
}

// |1 + x|^2 = 1 + a (2 + a) + b^2.
Number log1p(Number x) {
  const double a = x.real(), b = x.imag();
  if (!(std::abs(a) < 0.5 && std::abs(b) < 0.5)) return std::log(1.0 + x);
  return {0.5 * std::log1p(a * (2 + a) + b * b), std::atan2(b, 1 + a)};
}

const Function* find_function(const std::string& name) {
  static const std::unordered_map<std::string, Function> functions = {
      {"exp", [](const Number* x) { return std::exp(x[0]); }},
      {"expm1", [](const Number* x) { return expm1(x[0]); }},
      {"log", [](const Number* x) { return std::log(x[0]); }},
      {"log1p", [](const Number* x) { return log1p(x[0]); }},
      {"sqrt", [](const Number* x) { return std::sqrt(x[0]); }},
      {"rsqrt", [](const Number* x) { return 1.0 / std::sqrt(x[0]); }},
      {"reciprocal", [](const Number* x) { return 1.0 / x[0]; }},
      {"tanh", [](const Number* x) { return std::tanh(x[0]); }},
      {"sigmoid", [](const Number* x) { return 1.0 / (1.0 + std::exp(-x[0])); }},
      {"sin", [](const Number* x) { return std::sin(x[0]); }},
      {"cos", [](const Number* x) { return std::cos(x[0]); }},
      {"tan", [](const Number* x) { return std::tan(x[0]); }},
      {"sinh", [](const Number* x) { return std::sinh(x[0]); }},
      {"cosh", [](const Number* x) { return std::cosh(x[0]); }},
      {"asin", [](const Number* x) { return std::asin(x[0]); }},
      {"acos", [](const Number* x) { return std::acos(x[0]); }},
      {"atan", [](const Number* x) { return std::atan(x[0]); }},
      {"asinh", [](const Number* x) { return std::asinh(x[0]); }},
      {"acosh", [](const Number* x) { return std::acosh(x[0]); }},
      {"atanh", [](const Number* x) { return std::atanh(x[0]); }},
      {"pow", [](const Number* x) { return x[1] == 0.0 ? Number(1) : std::pow(x[0], x[1]); }},
      {"has_no_log", [](const Number* x) { return x[0] == 0.0 ? Number(1) : Number(); }},
      // Derivatives of the above.
      {"sech_squared", [](const Number* x) { return square(1.0 / std::cosh(x[0])); }},
      {"sec_squared", [](const Number* x) { return square(1.0 / std::cos(x[0])); }},
      {"sigmoid_slope",
       [](const Number* x) { return 1.0 / ((1.0 + std::exp(-x[0])) * (1.0 + std::exp(x[0]))); }},
      {"arcsine_slope",
       [](const Number* x) { return 1.0 / (std::sqrt(1.0 - x[0]) * std::sqrt(1.0 + x[0])); }},
      {"one_plus_square",
       [](const Number* x) { return one_plus_i_times(x[0]) * one_minus_i_times(x[0]); }},
      {"one_minus_square", [](const Number* x) { return (1.0 - x[0]) * (1.0 + x[0]); }},
      {"root_of_square_plus_one",
       [](const Number* x) {
         return std::sqrt(one_plus_i_times(x[0])) * std::sqrt(one_minus_i_times(x[0]));
       }},
      {"root_of_square_minus_one",
       [](const Number* x) { return std::sqrt(x[0] - 1.0) * std::sqrt(x[0] + 1.0); }},
      {"ratio", [](const Number* x) { return x[0] == 0.0 ? Number() : x[0] / x[1]; }},
      {"scaled", [](const Number* x) { return x[0] == 0.0 ? Number() : x[0] * x[1]; }},
  };
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : &found->second;
}

Number load(const View& v, std::int64_t i) {
  switch (v.dtype) {
    case complex64:
      return v.as<std::complex<float>>()[i];
    case complex128:
      return v.as<Number>()[i];
    case bool_:
      return v.as<bool>()[i] ? 1.0 : 0.0;
    default:
      return visit_dtype(v.dtype, [&](auto zero) -> Number {
        using T = decltype(zero);
        if constexpr (is_complex(dtype_v<T>)) {
          return {};
        } else {
          return static_cast<double>(v.as<T>()[i]);
        }
      });
  }
}

void store(const View& v, std::int64_t i, Number x) {
  visit_dtype(v.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (is_complex(dtype_v<T>)) {
      v.as<T>()[i] = static_cast<T>(x);
    } else if constexpr (std::is_same_v<T, bool>) {
      v.as<T>()[i] = x != 0.0;
    } else if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
      v.as<T>()[i] = T(static_cast<float>(x.real()));
    } else {
      v.as<T>()[i] = static_cast<T>(x.real());
    }
  });
}

double constant_of(const Instr& instr) {
  double x;
  switch (instr.type) {
    case expr::Type::f64:
      std::memcpy(&x, &instr.bits, 8);
      return x;
    case expr::Type::mask:
      return instr.bits ? 1 : 0;
    default:
      return static_cast<double>(static_cast<std::int64_t>(instr.bits));
  }
}

// Steps of each operand along the axes of the result, 0 where it is repeated.
std::vector<std::int64_t> steps_of(const Shape& in, const Shape& out) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(out.rank()), 0);
  std::int64_t step = 1;
  for (int i = in.rank() - 1, j = out.rank() - 1; i >= 0; --i, --j) {
    if (in[i] != 1) steps[static_cast<std::size_t>(j)] = step;
    step *= in[i];
  }
  return steps;
}

}  // namespace

void run_complex(const char* op, const expr::Program& program, std::span<const View> in,
                 const View& out) {
  std::vector<std::vector<std::int64_t>> steps;
  for (const View& v : in) steps.push_back(steps_of(*v.shape, *out.shape));
  std::vector<const Function*> functions(program.code.size(), nullptr);
  for (std::size_t k = 0; k < program.code.size(); ++k) {
    if (program.code[k].code != Code::call) continue;
    functions[k] = find_function(program.code[k].fn->name);
    if (!functions[k]) {
      fail<InvalidArgumentError>("[", op, "] has no complex form: ", program.code[k].fn->name,
                                 " is defined for real numbers only");
    }
  }
  std::vector<Number> value(program.code.size());
  const std::int64_t count = out.count();
  for (std::int64_t element = 0; element < count; ++element) {
    for (std::size_t k = 0; k < program.code.size(); ++k) {
      const Instr& i = program.code[k];
      const Number a = value[i.a], b = value[i.b], c = value[i.c];
      switch (i.code) {
        case Code::input: {
          std::int64_t rest = element, at = 0;
          for (int axis = out.shape->rank() - 1; axis >= 0; --axis) {
            at += rest % (*out.shape)[axis] * steps[i.a][static_cast<std::size_t>(axis)];
            rest /= (*out.shape)[axis];
          }
          value[k] = load(in[i.a], at);
          break;
        }
        case Code::constant:
          value[k] = constant_of(i);
          break;
        case Code::add:
          value[k] = a + b;
          break;
        case Code::sub:
          value[k] = a - b;
          break;
        case Code::mul:
          value[k] = a * b;
          break;
        case Code::div:
          value[k] = a / b;
          break;
        case Code::fma:
          value[k] = a * b + c;
          break;
        case Code::neg:
          value[k] = -a;
          break;
        case Code::sqrt:
          value[k] = std::sqrt(a);
          break;
        case Code::eq:
          value[k] = a == b ? 1.0 : 0.0;
          break;
        case Code::ne:
          value[k] = a != b ? 1.0 : 0.0;
          break;
        case Code::select:
          value[k] = a != 0.0 ? b : c;
          break;
        case Code::keep:
          value[k] = a != 0.0 ? b : Number();
          break;
        case Code::drop:
          value[k] = a != 0.0 ? Number() : b;
          break;
        case Code::logical_not:
          value[k] = a == 0.0 ? 1.0 : 0.0;
          break;
        case Code::logical_and:
          value[k] = a != 0.0 && b != 0.0 ? 1.0 : 0.0;
          break;
        case Code::logical_or:
          value[k] = a != 0.0 || b != 0.0 ? 1.0 : 0.0;
          break;
        case Code::convert:
          value[k] = a;
          break;
        case Code::call: {
          const Number args[] = {a, b, c};
          value[k] = (*functions[k])(args);
          break;
        }
        default:
          fail<InvalidArgumentError>("[", op, "] has no complex form: it uses '",
                                     expr::name_of(i.code), "', which complex numbers do not have");
      }
    }
    store(out, element, value[program.outputs[0].value]);
  }
}

}  // namespace gradus
