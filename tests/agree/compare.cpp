#include "agree/compare.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

namespace agree {
namespace {

// Elements as numbers: of complex tensors, real and imaginary parts in turn.
std::vector<double> numbers_of(const Tensor& t) {
  if (!gd::is_complex(t.dtype())) return gd::cast(t, gd::float64).to_vector<double>();
  const auto complex = gd::cast(t, gd::complex128).to_vector<std::complex<double>>();
  std::vector<double> all;
  for (const auto& z : complex) {
    all.push_back(z.real());
    all.push_back(z.imag());
  }
  return all;
}

double largest_of(const std::vector<double>& x) {
  double largest = 0;
  for (double v : x)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return largest;
}

bool close(double a, double b, double allowed) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::abs(a - b) <= allowed;
}

double projected(const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double v = std::isnan(x[k]) ? 0.5 : std::isinf(x[k]) ? std::copysign(0.25, x[k]) : x[k];
    sum += (2 * hashed(static_cast<std::uint32_t>(k), 77) - 1) * v;
  }
  return sum;
}

// Which elements are stored: all of up to eight, else eight of them.
std::size_t place(std::size_t sample, std::size_t count) {
  return count <= 8 ? sample : sample * (count - 1) / 7;
}

std::string said(std::size_t k, double got, double expected, double allowed) {
  std::ostringstream out;
  out.precision(17);
  out << "element " << k << " is " << got << ", expected " << expected << " (allowed " << allowed
      << ")";
  return out.str();
}

}  // namespace

double epsilon_of(gd::DType t) {
  switch (t) {
    case gd::float16:
      return std::ldexp(1, -10);
    case gd::bfloat16:
      return std::ldexp(1, -7);
    case gd::float32:
    case gd::complex64:
      return std::ldexp(1, -23);
    case gd::float64:
    case gd::complex128:
      return std::ldexp(1, -52);
    default:
      return 0;
  }
}

References read_references(const std::string& path) {
  References all;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    if (text.starts_with("#")) continue;
    std::istringstream in(text);
    std::string program, result, sizes, word;
    Expected e;
    in >> program >> result >> sizes >> e.amplification >> e.projection >> e.largest;
    for (const std::string& size : parts_of(sizes.substr(1, sizes.size() - 2), ','))
      e.shape.push_back(std::stoll(size));
    while (in >> word) e.samples.push_back(std::stod(word));
    all[program][result] = e;
  }
  return all;
}

std::string differs(const Tensor& got, const Expected& expected) {
  if (got.shape() != expected.shape)
    return "shape " + to_string(got.shape()) + ", expected " + to_string(expected.shape);
  const std::vector<double> x = numbers_of(got);
  const double allowed =
      kUnits * epsilon_of(got.dtype()) * expected.amplification * expected.largest;
  for (std::size_t i = 0; i < expected.samples.size(); ++i) {
    const std::size_t k = place(i, x.size());
    if (!close(x[k], expected.samples[i], allowed))
      return said(k, x[k], expected.samples[i], allowed);
  }
  const double of_all = allowed * std::sqrt(static_cast<double>(x.size()));
  return close(projected(x), expected.projection, of_all + 1e-14 * std::abs(expected.projection))
             ? ""
             : "projection: " + said(0, projected(x), expected.projection, of_all);
}

std::string differs(const Tensor& got, const Tensor& expected, double amplification, double least) {
  if (got.dtype() != expected.dtype())
    return std::string("dtype ") + name_of(got.dtype()) + ", expected " + name_of(expected.dtype());
  if (got.shape() != expected.shape())
    return "shape " + to_string(got.shape()) + ", expected " + to_string(expected.shape());
  const std::vector<double> x = numbers_of(got), y = numbers_of(expected);
  const double allowed =
      kUnits * epsilon_of(got.dtype()) * amplification * std::max(least, largest_of(y));
  for (std::size_t k = 0; k < x.size(); ++k)
    if (!close(x[k], y[k], allowed)) return said(k, x[k], y[k], allowed);
  return "";
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.raw_data(), b.raw_data(), a.num_bytes()) == 0;
}

}  // namespace agree
