// First the elements that will be shown are turned into words of suitable width; then the words are
// laid out in brackets and lines. Both walk the array in the same order.
#include "tensor/print.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ostream>
#include <span>
#include <vector>

#include "tensor/float_text.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

constexpr std::int64_t kThreshold = 1000;  // more elements than this are summarised
constexpr std::int64_t kEdgeItems = 3;     // shown at each end of each axis then
constexpr std::size_t kLineWidth = 75;

using Sizes = std::span<const std::int64_t>;

Sizes sizes_of(const Tensor& a) { return a.shape().numbers(); }

std::int64_t element_count(Sizes shape) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return n;
}

bool shows_all(std::int64_t extent, bool summarised) {
  return !summarised || extent <= 2 * kEdgeItems;
}

// The offsets of all elements that are shown, in order.
void collect_shown(Sizes shape, std::int64_t offset, bool summarised,
                   std::vector<std::int64_t>& shown) {
  if (shape.empty()) return shown.push_back(offset);
  const std::int64_t inner = element_count(shape.subspan(1));
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    if (!shows_all(shape[0], summarised) && i == kEdgeItems) i = shape[0] - kEdgeItems;
    collect_shown(shape.subspan(1), offset + i * inner, summarised, shown);
  }
}

template <class T>
std::vector<T> gathered(const Tensor& a, const std::vector<std::int64_t>& at) {
  std::vector<T> values(at.size());
  const auto* bytes = static_cast<const char*>(a.raw_data());
  for (std::size_t i = 0; i < at.size(); ++i)
    std::memcpy(&values[i], bytes + at[i] * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return values;
}

void align_right(std::vector<std::string>& words) {
  std::size_t width = 0;
  for (const std::string& w : words) width = std::max(width, w.size());
  for (std::string& w : words) w.insert(0, width - w.size(), ' ');
}

// Six significant digits and no alignment: so does NumPy's bfloat16 extension.
std::string bfloat_text(bfloat x) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", static_cast<double>(static_cast<float>(x)));
  // C prints the sign of a NaN, NumPy does not.
  return static_cast<float>(x) != static_cast<float>(x) ? "nan" : buffer;
}

template <class Complex>
std::vector<std::string> complex_column(const std::vector<Complex>& values) {
  using Real = typename Complex::value_type;
  std::vector<Real> real, imaginary;
  for (const Complex& z : values) {
    real.push_back(z.real());
    imaginary.push_back(z.imag());
  }
  std::vector<std::string> words = column_text(real), tails = column_text(imaginary, true);
  for (std::size_t i = 0; i < words.size(); ++i) {
    tails[i].insert(tails[i].find_last_not_of(' ') + 1, "j");
    words[i] += tails[i];
  }
  return words;
}

std::vector<std::string> element_words(const Tensor& a, const std::vector<std::int64_t>& at) {
  return visit_dtype(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<std::string> words;
    if constexpr (std::is_same_v<T, bool>) {
      for (const std::uint8_t x : gathered<std::uint8_t>(a, at))
        words.push_back(x != 0 ? " True" : "False");
    } else if constexpr (std::is_integral_v<T>) {
      for (const T x : gathered<T>(a, at)) words.push_back(std::to_string(x));
      align_right(words);
    } else if constexpr (std::is_same_v<T, bfloat>) {
      for (const T x : gathered<T>(a, at)) words.push_back(bfloat_text(x));
    } else if constexpr (is_complex(dtype_v<T>)) {
      words = complex_column(gathered<T>(a, at));
    } else {
      words = column_text(gathered<T>(a, at));
    }
    return words;
  });
}

struct Layout {
  const std::vector<std::string>& words;
  std::string separator;  // " " or ", "
  bool summarised;
  std::size_t next_word = 0;

  std::string bare_separator() const { return separator == " " ? "" : ","; }

  // Adds a word to the line, or to a new one if it does not fit.
  static void extend(std::string& text, std::string& line, const std::string& word,
                     std::size_t width, std::size_t indent) {
    if (line.size() + word.size() > width && line.size() > indent) {
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
      line.assign(indent, ' ');
    }
    line += word;
  }

  // The text of one sub-array; its lines start at column `indent` and end before `width`.
  std::string brackets(Sizes shape, std::size_t indent, std::size_t width) {
    if (shape.empty()) return words[next_word++];
    const std::int64_t extent = shape[0];
    const bool all = shows_all(extent, summarised), rows = shape.size() > 1;
    const std::int64_t shown = all ? extent : 2 * kEdgeItems + 1;
    std::string text, line(indent, ' ');
    for (std::int64_t i = 0; i < shown; ++i) {
      const std::string word =
          !all && i == kEdgeItems ? "..." : brackets(shape.subspan(1), indent + 1, width - 1);
      const bool last = i == shown - 1;
      if (rows) {
        text += std::string(indent, ' ') + word;
        if (!last) text += bare_separator() + std::string(shape.size() - 1, '\n');
      } else {
        extend(text, line, word, width - 1, indent);
        if (!last) line += separator;
      }
    }
    if (!rows) text += line;
    return "[" + text.substr(indent) + "]";
  }
};

std::string array_text(const Tensor& a, const std::string& separator, std::size_t prefix,
                       std::size_t width) {
  const std::int64_t n = a.num_elements();
  if (n == 0) return "[]";
  std::vector<std::int64_t> shown;
  collect_shown(sizes_of(a), 0, n > kThreshold, shown);
  const std::vector<std::string> words = element_words(a, shown);
  return Layout{words, separator, n > kThreshold}.brackets(sizes_of(a), prefix + 1, width);
}

std::string complex_scalar(const std::string& real, const std::string& imaginary) {
  if (real == "0") return imaginary + "j";
  const bool signed_already = imaginary[0] == '-';
  return "(" + real + (signed_already ? "" : "+") + imaginary + "j)";
}

// A tensor without axes; with `exact`, as Python's own number of that value, i.e. in double.
std::string scalar_word(const Tensor& a, bool exact) {
  return visit_dtype(a.dtype(), [&](auto zero) -> std::string {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>)
      return *static_cast<const char*>(a.raw_data()) != 0 ? "True" : "False";
    const T x = *static_cast<const T*>(a.raw_data());
    if constexpr (std::is_integral_v<T>) {
      return std::to_string(x);
    } else if constexpr (is_complex(dtype_v<T>)) {
      if (exact)
        return complex_scalar(scalar_text<double>(x.real(), false),
                              scalar_text<double>(x.imag(), false));
      return complex_scalar(scalar_text(x.real(), false), scalar_text(x.imag(), false));
    } else if constexpr (std::is_same_v<T, bfloat>) {
      return exact ? scalar_text<double>(static_cast<float>(x)) : bfloat_text(x);
    } else {
      return exact ? scalar_text<double>(x) : scalar_text(x);
    }
  });
}

// What NumPy's repr leaves out, because an array literal has it anyway.
bool is_implied(DType t) {
  return t == DType::bool_ || t == DType::int64 || t == DType::float64 || t == DType::complex128;
}

std::string on_own_line(const std::string& text) {
  return text.find('\n') == std::string::npos ? text : "\n" + text;
}

// What can be said about a tensor that has no elements to show; empty if it has.
std::string without_value(const Tensor& t) {
  if (!t.defined()) return "<undefined tensor>";
  if (is_concrete(t)) return "";
  const char* kind = t.impl()->kind == ValueKind::traced ? "traced" : "batched";
  return std::string("<") + kind + " tensor: shape=" + to_string(t.shape()) +
         ", dtype=" + name_of(t.dtype()) + ">";
}

}  // namespace

std::string array_repr(const Tensor& a) {
  const std::string prefix = "array(";
  const std::int64_t n = a.num_elements();
  std::string text = prefix + array_text(a, ", ", prefix.size(), kLineWidth - 1);
  std::string extras;
  if ((n == 0 && a.rank() != 1) || n > kThreshold) extras = "shape=" + to_string(a.shape());
  if (!is_implied(a.dtype()) || n == 0)
    extras += (extras.empty() ? "dtype=" : ", dtype=") + std::string(name_of(a.dtype()));
  if (extras.empty()) return text + ")";
  text += ",";
  const std::size_t last_line = text.size() - (text.rfind('\n') + 1);
  const bool fits = last_line + extras.size() + 2 <= kLineWidth;
  return text + (fits ? " " : "\n" + std::string(prefix.size(), ' ')) + extras + ")";
}

std::string tensor_str(const Tensor& a) {
  if (std::string substitute = without_value(a); !substitute.empty()) return substitute;
  return "tf.Tensor(" + on_own_line(to_string(a)) + ", shape=" + to_string(a.shape()) +
         ", dtype=" + name_of(a.dtype()) + ")";
}

std::string to_string(const Tensor& a) {
  if (std::string substitute = without_value(a); !substitute.empty()) return substitute;
  return a.rank() == 0 ? scalar_word(a, false) : array_text(a, " ", 0, kLineWidth);
}

std::string repr(const Tensor& a) {
  if (std::string substitute = without_value(a); !substitute.empty()) return substitute;
  const std::string value = a.rank() == 0 ? scalar_word(a, true) : array_repr(a);
  return "<tf.Tensor: shape=" + to_string(a.shape()) + ", dtype=" + name_of(a.dtype()) +
         ", numpy=" + on_own_line(value) + ">";
}

std::ostream& operator<<(std::ostream& out, const Tensor& a) { return out << to_string(a); }

}  // namespace gradus
