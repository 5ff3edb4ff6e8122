// Elementwise ops: names, ranges in which they are smooth, and their formulas.
#include "oracle/program.h"
#include "oracle/special.h"

namespace oracle {
namespace {

constexpr Real kGap = 1e-3L;  // from a kink

Nil away(const Nil& x, Real kink) {
  require(std::abs(x.base() - kink) > kGap, "a kink");
  return x;
}
Nil step(Real value, const Nil& near, Real distance) {  // a constant piece
  require(std::abs(near.base() - distance) > kGap, "a step");
  return Nil(value);
}
// Steps where x is a whole number (or, for round, a half).
Nil whole(const Nil& x, Real (*f)(Real), Real offset = 0) {
  const Real shifted = x.base() + offset;
  return step(f(x.base()), Nil(shifted), std::round(shifted));
}

template <class F>
void real_unary(Table& t, const char* name, gd::Tensor (*engine)(gd::In), F formula,
                double low = -3, double high = 3) {
  t.push_back({name,
               [low, high](Maker& m, Node& n) {
                 n.in = {m.within(low, high)};
                 return true;
               },
               [engine](const Node&, const Tensors& in) { return engine(in[0]); },
               with_reals([formula](const Node&, const auto& in) { return map(in[0], formula); })});
}

// Of real and of complex numbers.
template <class F>
void unary(Table& t, const char* name, gd::Tensor (*engine)(gd::In), F formula, double low = -3,
           double high = 3) {
  t.push_back(
      {name,
       [low, high](Maker& m, Node& n) {
         const int x = m.any();
         n.in = {is_complex(m.value(x)) ? x : m.within(x, low, high)};
         return true;
       },
       [engine](const Node&, const Tensors& in) { return engine(in[0]); },
       with_one_kind([formula](const Node&, const auto& in) { return map(in[0], formula); })});
}

// A second operand that broadcasts with the first.
int partner(Maker& m, int x, const std::function<bool(const Value&)>& condition) {
  const Dims& dims = m.dims(x);
  const auto broadcasts = [&](const Value& v) {
    const Dims& other = dims_of(v);
    for (std::size_t i = 1; i <= std::min(dims.size(), other.size()); ++i) {
      const Size a = dims[dims.size() - i], b = other[other.size() - i];
      if (a != b && a != 1 && b != 1) return false;
    }
    return condition(v) && count(broadcast(dims, other)) <= 24;
  };
  return m.any(broadcasts);
}

template <class F>
void real_binary(Table& t, const char* name, gd::Tensor (*engine)(gd::In, gd::In), F formula,
                 std::array<double, 4> ranges = {-3, 3, -3, 3}) {
  t.push_back(
      {name,
       [ranges](Maker& m, Node& n) {
         const int x = m.within(ranges[0], ranges[1]);
         const int y = partner(m, x, [](const Value& v) { return !is_complex(v); });
         n.in = {x, m.within(y, ranges[2], ranges[3])};
         return true;
       },
       [engine](const Node&, const Tensors& in) { return engine(in[0], in[1]); },
       with_reals([formula](const Node&, const auto& in) { return map(in[0], in[1], formula); })});
}

template <class F>
void binary(Table& t, const char* name, gd::Tensor (*engine)(gd::In, gd::In), F formula,
            std::array<double, 4> ranges = {-3, 3, -3, 3}) {
  t.push_back({name,
               [ranges](Maker& m, Node& n) {
                 const int x = m.any();
                 const bool complex = is_complex(m.value(x));
                 const int y =
                     partner(m, x, [&](const Value& v) { return is_complex(v) == complex; });
                 n.in = complex ? std::vector<int>{x, y}
                                : std::vector<int>{m.within(x, ranges[0], ranges[1]),
                                                   m.within(y, ranges[2], ranges[3])};
                 return true;
               },
               [engine](const Node&, const Tensors& in) { return engine(in[0], in[1]); },
               with_one_kind(
                   [formula](const Node&, const auto& in) { return map(in[0], in[1], formula); })});
}

template <class S>
S square(const S& x) {
  return x * x;
}

void add_functions(Table& t) {
  unary(t, "exp", gd::exp, [](const auto& x) { return exp(x); });
  unary(t, "expm1", gd::expm1, [](const auto& x) { return exp(x) - decltype(x + x)(1); });
  unary(
      t, "log", gd::log, [](const auto& x) { return log(x); }, 0.2, 4);
  unary(
      t, "log1p", gd::log1p, [](const auto& x) { return log(x + decltype(x + x)(1)); }, -0.7, 3);
  unary(
      t, "sin", gd::sin, [](const auto& x) { return sin(x); }, -7, 7);
  unary(
      t, "cos", gd::cos, [](const auto& x) { return cos(x); }, -7, 7);
  unary(
      t, "tan", gd::tan, [](const auto& x) { return tan(x); }, -1.1, 1.1);
  unary(
      t, "asin", gd::asin, [](const auto& x) { return asin(x); }, -0.8, 0.8);
  unary(
      t, "acos", gd::acos, [](const auto& x) { return acos(x); }, -0.8, 0.8);
  unary(t, "atan", gd::atan, [](const auto& x) { return atan(x); });
  unary(t, "sinh", gd::sinh, [](const auto& x) { return sinh(x); });
  unary(t, "cosh", gd::cosh, [](const auto& x) { return cosh(x); });
  unary(t, "tanh", gd::tanh, [](const auto& x) { return tanh(x); });
  unary(t, "asinh", gd::asinh, [](const auto& x) { return asinh(x); });
  unary(
      t, "acosh", gd::acosh, [](const auto& x) { return acosh(x); }, 1.2, 4);
  unary(
      t, "atanh", gd::atanh, [](const auto& x) { return atanh(x); }, -0.8, 0.8);
  unary(t, "sigmoid", gd::sigmoid, [](const auto& x) { return sigmoid(x); });
  unary(
      t, "sqrt", gd::sqrt, [](const auto& x) { return sqrt(x); }, 0.2, 4);
  unary(
      t, "rsqrt", gd::rsqrt, [](const auto& x) { return inverse(sqrt(x)); }, 0.2, 4);
  unary(
      t, "reciprocal", gd::reciprocal, [](const auto& x) { return inverse(x); }, 0.3, 4);
  unary(t, "square", gd::square, [](const auto& x) { return square(x); });
  unary(t, "negative", gd::negative, [](const auto& x) { return -x; });
  unary(t, "identity", gd::identity, [](const auto& x) { return x; });

  real_unary(t, "exp2", gd::exp2, [](const Nil& x) { return exp(x * std::log(2.0L)); });
  real_unary(
      t, "log2", gd::log2, [](const Nil& x) { return log(x) / std::log(2.0L); }, 0.2, 4);
  real_unary(
      t, "log10", gd::log10, [](const Nil& x) { return log(x) / std::log(10.0L); }, 0.2, 4);
  real_unary(t, "cbrt", gd::cbrt, [](const Nil& x) {
    away(x, 0);
    return x.base() < 0 ? -power(-x, 1.0L / 3) : power(x, 1.0L / 3);
  });
  real_unary(t, "softplus", gd::softplus, [](const Nil& x) { return log(exp(x) + Nil(1)); });
  real_unary(t, "log_sigmoid", gd::log_sigmoid,
             [](const Nil& x) { return -log(exp(-x) + Nil(1)); });
  real_unary(
      t, "reciprocal_no_nan", gd::reciprocal_no_nan, [](const Nil& x) { return inverse(x); }, -3,
      -0.3);
}

void add_special(Table& t) {
  real_unary(t, "erf", gd::erf, [](const Nil& x) { return erf(x); });
  real_unary(t, "erfc", gd::erfc, [](const Nil& x) { return Nil(1) - erf(x); });
  real_unary(t, "erfinv", gd::erfinv, erfinv, -0.9, 0.9);
  real_unary(
      t, "erfcinv", gd::erfcinv, [](const Nil& x) { return erfinv(Nil(1) - x); }, 0.1, 1.9);
  real_unary(t, "ndtr", gd::ndtr, [](const Nil& x) { return ndtr(x); });
  real_unary(
      t, "ndtri", gd::ndtri, [](const Nil& x) { return erfinv(x + x - Nil(1)) * std::sqrt(2.0L); },
      0.1, 0.9);
  real_unary(
      t, "lgamma", gd::lgamma, [](const Nil& x) { return lgamma(x); }, 0.4, 5);
  real_unary(
      t, "digamma", gd::digamma, [](const Nil& x) { return digamma(x); }, 0.6, 5);
  real_unary(t, "bessel_i0", gd::bessel_i0, bessel_i0);
  real_unary(t, "bessel_i1", gd::bessel_i1, bessel_i1);
  real_unary(t, "bessel_i0e", gd::bessel_i0e,
             [](const Nil& x) { return bessel_i0(x) * exp(-abs(away(x, 0))); });
  real_unary(t, "bessel_i1e", gd::bessel_i1e,
             [](const Nil& x) { return bessel_i1(x) * exp(-abs(away(x, 0))); });
  real_binary(t, "igamma", gd::igamma, igamma, {0.5, 4, 0.3, 5});
  real_binary(t, "igammac", gd::igammac,
              [](const Nil& a, const Nil& x) { return Nil(1) - igamma(a, x); }, {0.5, 4, 0.3, 5});
}

void add_pieces(Table& t) {
  real_unary(t, "abs", gd::abs, [](const Nil& x) { return abs(away(x, 0)); });
  real_unary(t, "sign", gd::sign, [](const Nil& x) { return step(x.base() < 0 ? -1 : 1, x, 0); });
  real_unary(t, "floor", gd::floor, [](const Nil& x) { return whole(x, std::floor); });
  real_unary(t, "ceil", gd::ceil, [](const Nil& x) { return whole(x, std::ceil); });
  real_unary(t, "trunc", gd::trunc, [](const Nil& x) { return whole(x, std::trunc); });
  real_unary(t, "round", gd::round, [](const Nil& x) { return whole(x, std::round, 0.5L); });
  real_unary(t, "relu", gd::nn::relu, [](const Nil& x) { return away(x, 0).base() < 0 ? 0 : x; });
  real_unary(
      t, "relu6", gd::nn::relu6,
      [](const Nil& x) {
        away(x, 6);
        return away(x, 0).base() < 0 ? Nil(0) : x.base() > 6 ? Nil(6) : x;
      },
      -3, 9);
  real_unary(
      t, "leaky_relu", [](gd::In x) { return gd::nn::leaky_relu(x, 0.25); },
      [](const Nil& x) { return away(x, 0).base() < 0 ? x * Nil(0.25) : x; });
  real_unary(t, "elu", gd::nn::elu,
             [](const Nil& x) { return away(x, 0).base() < 0 ? exp(x) - Nil(1) : x; });
  real_unary(t, "selu", gd::nn::selu, [](const Nil& x) {
    constexpr Real kScale = 1.0507009873554804934193349852946L;
    constexpr Real kAlpha = 1.6732632423543772848170429916717L;
    return Nil(kScale) * (away(x, 0).base() < 0 ? (exp(x) - Nil(1)) * Nil(kAlpha) : x);
  });
  real_unary(
      t, "gelu", [](gd::In x) { return gd::nn::gelu(x, false); },
      [](const Nil& x) { return x * ndtr(x); });
  real_unary(
      t, "gelu_tanh", [](gd::In x) { return gd::nn::gelu(x, true); },
      [](const Nil& x) {
        const Nil inner = (x + x * x * x * Nil(0.044715L)) * std::sqrt(2 / kPi);
        return x * (tanh(inner) + Nil(1)) * Nil(0.5L);
      });
  real_unary(t, "silu", gd::nn::silu, [](const Nil& x) { return x * sigmoid(x); });
  real_unary(t, "mish", gd::nn::mish, [](const Nil& x) { return x * tanh(log(exp(x) + Nil(1))); });
  real_unary(t, "softsign", gd::nn::softsign,
             [](const Nil& x) { return x / (abs(away(x, 0)) + Nil(1)); });
  real_unary(
      t, "hard_sigmoid", gd::nn::hard_sigmoid,
      [](const Nil& x) {
        away(x, -3);
        away(x, 3);
        return x.base() < -3 ? Nil(0) : x.base() > 3 ? Nil(1) : (x + Nil(3)) / Nil(6);
      },
      -5, 5);
}

void add_pairs(Table& t) {
  binary(t, "add", gd::add, [](const auto& x, const auto& y) { return x + y; });
  binary(t, "subtract", gd::subtract, [](const auto& x, const auto& y) { return x - y; });
  binary(t, "multiply", gd::multiply, [](const auto& x, const auto& y) { return x * y; });
  binary(t, "divide", gd::divide, [](const auto& x, const auto& y) { return x / y; },
         {-3, 3, 0.4, 3});
  binary(t, "pow", gd::pow, [](const auto& x, const auto& y) { return pow(x, y); },
         {0.3, 3, -2, 2});
  real_binary(t, "atan2", gd::atan2, [](const Nil& y, const Nil& x) {
    require(std::hypot(x.base(), y.base()) > 0.3L, "the origin");
    return atan2(y, x);
  });
  real_binary(t, "hypot", gd::hypot,
              [](const Nil& x, const Nil& y) { return sqrt(x * x + y * y + Nil(0)); },
              {0.2, 3, -3, 3});
  real_binary(t, "maximum", gd::maximum,
              [](const Nil& x, const Nil& y) { return away(x - y, 0).base() > 0 ? x : y; });
  real_binary(t, "minimum", gd::minimum,
              [](const Nil& x, const Nil& y) { return away(x - y, 0).base() < 0 ? x : y; });
  real_binary(t, "squared_difference", gd::squared_difference,
              [](const Nil& x, const Nil& y) { return square(x - y); });
  real_binary(t, "logaddexp", gd::logaddexp,
              [](const Nil& x, const Nil& y) { return log(exp(x) + exp(y)); });
  real_binary(t, "div_no_nan", gd::div_no_nan, [](const Nil& x, const Nil& y) { return x / y; },
              {-3, 3, 0.4, 3});
  real_binary(t, "multiply_no_nan", gd::multiply_no_nan,
              [](const Nil& x, const Nil& y) { return x * away(y, 0); });
  real_binary(t, "xlogy", gd::xlogy, [](const Nil& x, const Nil& y) { return x * log(y); },
              {0.1, 3, 0.2, 4});
  real_binary(t, "xlog1py", gd::xlog1py,
              [](const Nil& x, const Nil& y) { return x * log(y + Nil(1)); }, {-3, -0.1, -0.7, 3});
  real_binary(t, "xdivy", gd::xdivy, [](const Nil& x, const Nil& y) { return x / y; },
              {0.1, 3, 0.4, 3});
  const auto quotient = [](const Nil& x, const Nil& y, Real (*f)(Real)) {
    return whole(Nil(x.base() / y.base()), f);
  };
  real_binary(t, "floordiv", gd::floordiv,
              [quotient](const Nil& x, const Nil& y) { return quotient(x, y, std::floor); },
              {-3, 3, 0.6, 2});
  real_binary(t, "truncatediv", gd::truncatediv,
              [quotient](const Nil& x, const Nil& y) { return quotient(x, y, std::trunc); },
              {-3, 3, 0.6, 2});
  real_binary(t, "floormod", gd::floormod,
              [quotient](const Nil& x, const Nil& y) { return x - quotient(x, y, std::floor) * y; },
              {-3, 3, 0.6, 2});
  real_binary(t, "truncatemod", gd::truncatemod,
              [quotient](const Nil& x, const Nil& y) { return x - quotient(x, y, std::trunc) * y; },
              {-3, 3, 0.6, 2});
  const auto cross_entropy = [](const Nil& z, const Nil& x) {
    return log(exp(x) + Nil(1)) - z * x;
  };
  real_binary(t, "sigmoid_cross_entropy_with_logits", gd::nn::sigmoid_cross_entropy_with_logits,
              cross_entropy);
  real_binary(
      t, "log_poisson_loss", [](gd::In z, gd::In x) { return gd::nn::log_poisson_loss(z, x); },
      [](const Nil& z, const Nil& x) { return exp(x) - x * z; });
}

// A condition that does not depend on the inputs, or does by a comparison.
void add_where(Table& t) {
  t.push_back(
      {"where",
       [](Maker& m, Node& n) {
         const int x = m.any();
         const Dims dims = m.dims(x);
         const int y =
             m.any([&](const Value& v) { return is_complex(v) == is_complex(m.value(x)); });
         n.in = {x, m.fitted(y, dims)};
         for (Size i = 0; i < count(dims); ++i) n.ints.push_back(m.coin());
         return true;
       },
       [](const Node& n, const Tensors& in) {
         return gd::where(
             gd::cast(indices(Dims(in[0].shape().begin(), in[0].shape().end()), n.ints), gd::bool_),
             in[0], in[1]);
       },
       with_one_kind([](const Node& n, const auto& in) {
         auto out = in[0];
         for (Size i = 0; i < out.size(); ++i)
           if (!n.ints[index(i)]) out[i] = in[1][i];
         return out;
       })});
  real_binary(
      t, "where_greater",
      [](gd::In x, gd::In y) { return gd::where(x > y, gd::sin(x), gd::cos(y)); },
      [](const Nil& x, const Nil& y) { return away(x - y, 0).base() > 0 ? sin(x) : cos(y); });
  t.push_back(
      {"clip_by_value",
       [](Maker& m, Node& n) {
         const int x = m.within(-3, 3);
         n.in = {x, m.real_of(m.dims(x), -2, -0.1), m.real_of(m.dims(x), 0.1, 2)};
         return true;
       },
       [](const Node&, const Tensors& in) { return gd::clip_by_value(in[0], in[1], in[2]); },
       with_reals([](const Node&, const auto& in) {
         Reals out = in[0];
         for (Size i = 0; i < out.size(); ++i) {
           if (away(in[0][i] - in[1][i], 0).base() < 0) out[i] = in[1][i];
           if (away(in[0][i] - in[2][i], 0).base() > 0) out[i] = in[2][i];
         }
         return out;
       })});
}

// Functions with a parameter that is a number.
template <class F>
void with_parameter(Table& t, const char* name, gd::Tensor (*engine)(const gd::Tensor&, double),
                    F formula, double low, double high, std::vector<double> parameters) {
  t.push_back({name,
               [low, high, parameters](Maker& m, Node& n) {
                 n.in = {m.within(low, high)};
                 n.reals = {parameters[m.below(parameters.size())]};
                 return true;
               },
               [engine](const Node& n, const Tensors& in) { return engine(in[0], n.reals[0]); },
               with_reals([formula](const Node& n, const auto& in) {
                 return map(in[0], [&](const Nil& x) { return formula(x, n.reals[0]); });
               })});
}

void add_parametrised(Table& t) {
  with_parameter(
      t, "polygamma",
      [](const gd::Tensor& x, double a) { return gd::polygamma(gd::cast(a, x.dtype()), x); },
      [](const Nil& x, double a) { return polygamma(static_cast<int>(a), x); }, 0.9, 5,
      {0, 1, 2, 3});
  with_parameter(
      t, "zeta", [](const gd::Tensor& q, double s) { return gd::zeta(gd::cast(s, q.dtype()), q); },
      [](const Nil& q, double s) { return zeta(Nil(s), q); }, 0.9, 5, {1.5, 2, 3.25});
  with_parameter(
      t, "pow_number", [](const gd::Tensor& x, double p) { return gd::pow(x, p); },
      [](const Nil& x, double p) { return power(x, p); }, -3, -0.3, {0, 1, 2, 3, 4, 5, -1, -2});
  with_parameter(
      t, "root", [](const gd::Tensor& x, double p) { return gd::pow(x, p); },
      [](const Nil& x, double p) { return power(x, p); }, 0.3, 3,
      {0, 0.5, -0.5, 1.5, 2.5, 1.0 / 3});
  with_parameter(
      t, "betainc",
      [](const gd::Tensor& x, double a) {
        return gd::betainc(gd::cast(a, x.dtype()), gd::cast(a + 0.5, x.dtype()), x);
      },
      [](const Nil& x, double a) { return betainc(Nil(a), Nil(a + 0.5), x); }, 0.1, 0.8,
      {0.75, 1.5, 2, 3});
  with_parameter(
      t, "weighted_cross_entropy_with_logits",
      [](const gd::Tensor& x, double w) {
        return gd::nn::weighted_cross_entropy_with_logits(gd::sin(x), x, w);
      },
      [](const Nil& x, double w) {
        const Nil z = sin(x);
        return (Nil(1) - z) * x + (z * Nil(w - 1) + Nil(1)) * log(exp(-x) + Nil(1));
      },
      -3, 3, {0.5, 2});
  with_parameter(
      t, "times_number", [](const gd::Tensor& x, double p) { return p * x; },
      [](const Nil& x, double p) { return x * Nil(p); }, -3, 3, {0, 1, -1, 0.5, 2});
  with_parameter(
      t, "plus_number", [](const gd::Tensor& x, double p) { return x + p; },
      [](const Nil& x, double p) { return x + Nil(p); }, -3, 3, {0, 1, -1, 0.5});
  with_parameter(
      t, "number_over", [](const gd::Tensor& x, double p) { return p / x; },
      [](const Nil& x, double p) { return Nil(p) / x; }, 0.4, 3, {0, 1, -1, 0.5});
  with_parameter(
      t, "cast_and_back",
      [](const gd::Tensor& x, double) {
        return gd::real(gd::cast(x, x.dtype() == gd::float64 ? gd::complex128 : gd::complex64));
      },
      [](const Nil& x, double) { return x; }, -3, 3, {0});
  with_parameter(
      t, "stop_gradient",
      [](const gd::Tensor& x, double p) { return gd::stop_gradient(x) * p + x; },
      [](const Nil& x, double p) { return Nil(x.base() * p) + x; }, -3, 3, {1, -1, 0.5});
  with_parameter(
      t, "recompute_grad",
      [](const gd::Tensor& x, double p) {
        return gd::recompute_grad([p](const gd::Tensor& y) { return gd::sin(y * p) * y; })(x);
      },
      [](const Nil& x, double p) { return sin(x * Nil(p)) * x; }, -3, 3, {1, 0.5});
  with_parameter(
      t, "custom_gradient",
      [](const gd::Tensor& x, double) {
        return gd::custom_gradient([](const gd::Tensor& y) {
          const gd::Tensor e = gd::exp(y);
          return std::pair(gd::log(1 + e),
                           [e](const gd::Tensor& dy) { return dy * (1 - 1 / (1 + e)); });
        })(x);
      },
      [](const Nil& x, double) { return log(exp(x) + Nil(1)); }, -3, 3, {0});
  with_parameter(
      t, "custom_jvp",
      [](const gd::Tensor& x, double) {
        return gd::custom_jvp(
            [](const gd::Tensor& y) { return gd::sin(y); },
            [](const gd::Tensor& y, const gd::Tensor& v) { return gd::cos(y) * v; })(x);
      },
      [](const Nil& x, double) { return sin(x); }, -3, 3, {0});
}

// From real to complex numbers and back.
template <class F>
void to_real(Table& t, const char* name, gd::Tensor (*engine)(gd::In), F formula) {
  t.push_back({name,
               [](Maker& m, Node& n) {
                 n.in = {m.any([](const Value& v) { return is_complex(v); })};
                 return true;
               },
               [engine](const Node&, const Tensors& in) { return engine(in[0]); },
               [formula](const Node&, const Values& in) -> Value {
                 return map(std::get<Complexes>(in[0]), formula);
               }});
}

void add_complex(Table& t) {
  t.push_back({"complex",
               [](Maker& m, Node& n) {
                 const int x = m.any_real();
                 n.in = {x, m.real_of(m.dims(x))};
                 return true;
               },
               [](const Node&, const Tensors& in) { return gd::complex(in[0], in[1]); },
               [](const Node&, const Values& in) -> Value {
                 return map(std::get<Reals>(in[0]), std::get<Reals>(in[1]),
                            [](const Nil& re, const Nil& im) { return Complex(re, im); });
               }});
  to_real(t, "real", gd::real, [](const Complex& z) { return z.re; });
  to_real(t, "imag", gd::imag, [](const Complex& z) { return z.im; });
  to_real(t, "complex_abs", gd::abs, [](const Complex& z) {
    require(base(z) > 0.2L, "the origin");
    return abs(z);
  });
  to_real(t, "angle", gd::angle, [](const Complex& z) {
    require(base(z) > 0.2L && (z.re.base() > 0 || std::abs(z.im.base()) > 0.01L), "a cut");
    return atan2(z.im, z.re);
  });
  to_real(t, "conj", gd::conj, [](const Complex& z) { return conj(z); });
}

}  // namespace

void add_elementwise(Table& table) {
  add_functions(table);
  add_special(table);
  add_pieces(table);
  add_pairs(table);
  add_where(table);
  add_parametrised(table);
  add_complex(table);
}

}  // namespace oracle
