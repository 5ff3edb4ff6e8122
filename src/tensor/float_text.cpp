#include "tensor/float_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace gradus {
namespace {

constexpr int kPrecision = 8;  // digits after the point in a column

struct Parts {
  std::string whole;     // with sign
  std::string fraction;  // without trailing zeros
  std::string exponent;  // sign and at least two digits; empty if positional
};

// The largest magnitudes that are written without an exponent, in a column and alone.
template <class T>
constexpr double kColumnLimit = 1e8;
template <>
constexpr double kColumnLimit<half> = 1e3;
template <>
constexpr double kColumnLimit<float> = 1e6;
template <class T>
constexpr double kScalarLimit = 1e16;
template <>
constexpr double kScalarLimit<half> = 1e3;
template <>
constexpr double kScalarLimit<float> = 1e6;

std::string printed(double x, std::chars_format format, int precision) {
  char buffer[400];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x, format, precision).ptr;
  return {buffer, end};
}

void strip_zeros(std::string& digits, std::size_t keep) {
  while (digits.size() > keep && digits.back() == '0') digits.pop_back();
}

// Reads "d.ddde+XX".
Decimal parse_scientific(const char* begin, const char* end) {
  Decimal d{.negative = *begin == '-', .digits = {}, .exponent = 0};
  const char* p = begin + d.negative;
  for (; p != end && *p != 'e'; ++p)
    if (*p != '.') d.digits += *p;
  strip_zeros(d.digits, 1);
  if (p != end) d.exponent = std::atoi(std::string(p + 1, end).c_str());
  return d;
}

std::string exponent_text(int exponent) {
  const std::string digits = std::to_string(std::abs(exponent));
  return (exponent < 0 ? "-" : "+") + std::string(digits.size() < 2, '0') + digits;
}

const char* sign_text(bool negative, bool plus) { return negative ? "-" : plus ? "+" : ""; }

Parts positional(const Decimal& d, bool plus) {
  Parts parts{.whole = sign_text(d.negative, plus), .fraction = {}, .exponent = {}};
  const int whole_digits = d.exponent + 1, n = static_cast<int>(d.digits.size());
  if (whole_digits <= 0) {
    parts.whole += '0';
    if (d.digits != "0") parts.fraction = std::string(static_cast<std::size_t>(-whole_digits), '0');
    parts.fraction += d.digits == "0" ? "" : d.digits;
  } else {
    parts.whole += d.digits.substr(0, static_cast<std::size_t>(std::min(n, whole_digits)));
    if (n < whole_digits) parts.whole.append(static_cast<std::size_t>(whole_digits - n), '0');
    if (n > whole_digits) parts.fraction = d.digits.substr(static_cast<std::size_t>(whole_digits));
  }
  return parts;
}

Parts scientific(const Decimal& d, bool plus) {
  return {.whole = sign_text(d.negative, plus) + d.digits.substr(0, 1),
          .fraction = d.digits.substr(1),
          .exponent = exponent_text(d.exponent)};
}

// The number with as many digits as it needs but at most `kPrecision` after the point.
template <class T>
Parts column_parts(T x, bool exponents, bool plus) {
  Decimal d = shortest_decimal(x);
  const int needed = static_cast<int>(d.digits.size()) - 1 - (exponents ? 0 : d.exponent);
  if (needed <= kPrecision) return exponents ? scientific(d, plus) : positional(d, plus);
  if (exponents) {
    const std::string text = printed(x, std::chars_format::scientific, kPrecision);
    return scientific(parse_scientific(text.data(), text.data() + text.size()), plus);
  }
  const std::string text = printed(std::abs(double{x}), std::chars_format::fixed, kPrecision);
  const std::size_t point = text.find('.');
  Parts parts{.whole = sign_text(d.negative, plus) + text.substr(0, point),
              .fraction = text.substr(point + 1),
              .exponent = {}};
  strip_zeros(parts.fraction, 0);
  return parts;
}

template <class T>
bool wants_exponents(const std::vector<T>& values) {
  T smallest = T(std::numeric_limits<float>::infinity()), largest = T(0.0f);
  for (const T x : values) {
    const T magnitude = T(std::abs(x));
    if (!std::isfinite(x) || magnitude == 0) continue;
    smallest = std::min(smallest, magnitude);
    largest = std::max(largest, magnitude);
  }
  if (largest == 0) return false;
  return largest >= kColumnLimit<T> || smallest < T(0.0001) || T(largest / smallest) > 1000;
}

std::string special_text(double x, bool plus) {
  if (std::isnan(x)) return plus ? "+nan" : "nan";
  return std::string(sign_text(x < 0, plus)) + "inf";
}

std::string padded_left(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

}  // namespace

template <class T>
Decimal shortest_decimal(T x) {
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::scientific).ptr;
  return parse_scientific(buffer, end);
}

// Five digits always suffice. A decimal is right if it lies between the midpoints to both
// neighbours; a midpoint itself reads back as x if the last bit of x is 0. At a power of two the
// lower midpoint is the nearer one, and the decimal above x may do where the nearest does not.
template <>
Decimal shortest_decimal(half x) {
  const double value = std::abs(float{x});
  half up = x, down = x;
  up.bits = static_cast<std::uint16_t>((x.bits & 0x7fff) + 1);
  down.bits = static_cast<std::uint16_t>((x.bits & 0x7fff) - (value != 0));
  const double above = std::isinf(up) ? 65520 : (value + float{up}) / 2,
               below = (value + float{down}) / 2;
  const bool midpoint_is_ours = (x.bits & 1) == 0;
  Decimal d;
  const auto reads_back = [&](double candidate, int precision) {
    const std::string text = printed(candidate, std::chars_format::scientific, precision);
    const double back = std::strtod(text.c_str(), nullptr);
    d = parse_scientific(text.data(), text.data() + text.size());
    return midpoint_is_ours ? below <= back && back <= above : below < back && back < above;
  };
  for (int precision = 0; precision <= 4; ++precision) {
    if (reads_back(value, precision)) break;
    if (reads_back(value + std::pow(10.0, d.exponent - precision), precision)) break;
  }
  d.negative = (x.bits & 0x8000) != 0;
  return d;
}

template <class T>
std::string scalar_text(T x, bool keep_zero) {
  if (!std::isfinite(x)) return special_text(x, false);
  const double magnitude = std::abs(double{x});
  const Decimal d = shortest_decimal(x);
  if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= kScalarLimit<T>)) {
    const Parts p = scientific(d, false);
    return p.whole + (p.fraction.empty() ? "" : "." + p.fraction) + "e" + p.exponent;
  }
  const Parts p = positional(d, false);
  if (p.fraction.empty()) return keep_zero ? p.whole + ".0" : p.whole;
  return p.whole + "." + p.fraction;
}

template <class T>
std::vector<std::string> column_text(const std::vector<T>& values, bool plus) {
  const bool exponents = wants_exponents(values);
  std::vector<Parts> parts(values.size());
  std::size_t left = 0, fraction = 0, exponent = 0;
  bool any_finite = false, any_special = false, any_negative_infinity = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T x = values[i];
    if (!std::isfinite(x)) {
      any_special = true;
      any_negative_infinity |= std::isinf(x) && x < 0;
      continue;
    }
    any_finite = true;
    parts[i] = column_parts(x, exponents, plus);
    left = std::max(left, parts[i].whole.size());
    fraction = std::max(fraction, parts[i].fraction.size());
    exponent = std::max(exponent, parts[i].exponent.size());
  }
  const bool as_exponents = exponents && any_finite;
  const std::size_t right = as_exponents ? exponent + 1 + fraction : fraction;
  if (any_special) {
    const std::size_t longest = 3 + (plus || any_negative_infinity);
    if (longest > right + 1) left = std::max(left, longest - right - 1);
  }

  std::vector<std::string> words(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T x = values[i];
    if (!std::isfinite(x)) {
      words[i] = padded_left(special_text(x, plus), left + right + 1);
    } else if (as_exponents) {
      // All with the same number of digits, taken from the exact value.
      const std::string text =
          printed(x, std::chars_format::scientific, static_cast<int>(fraction));
      const std::size_t e = text.find('e');
      std::string mantissa = text.substr(0, e), digits = text.substr(e + 2);
      if (fraction == 0) mantissa += '.';
      if (plus && mantissa[0] != '-') mantissa.insert(0, "+");
      words[i] = padded_left(mantissa, left + 1 + fraction) + text.substr(e, 2) +
                 std::string(exponent - 1 - digits.size(), '0') + digits;
    } else {
      words[i] = padded_left(parts[i].whole, left) + "." + parts[i].fraction +
                 std::string(fraction - parts[i].fraction.size(), ' ');
    }
  }
  return words;
}

template Decimal shortest_decimal(float);
template Decimal shortest_decimal(double);
template std::string scalar_text(half, bool);
template std::string scalar_text(float, bool);
template std::string scalar_text(double, bool);
template std::vector<std::string> column_text(const std::vector<half>&, bool);
template std::vector<std::string> column_text(const std::vector<float>&, bool);
template std::vector<std::string> column_text(const std::vector<double>&, bool);

}  // namespace gradus
