// Runs expression programs on vectors, on every instruction set this machine has.
#pragma once
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "expr/expr.h"
#include "expr/fn.h"
#include "expr/kernel.h"

namespace gradus::expr {

inline std::vector<Isa> isas() {
  std::vector<Isa> list{Isa::interpreter};
  for (const Isa isa : {Isa::avx2, Isa::avx512})
    if (supported(isa)) list.push_back(isa);
  return list;
}

// An array of any dtype, placed `offset` bytes into its buffer and surrounded by guard bytes.
class Array {
 public:
  Array() = default;
  Array(DType dtype, std::size_t count, std::size_t offset = 0)
      : dtype_(dtype),
        count_(count),
        begin_(64 + offset),
        bytes_(64 + offset + count * size_of(dtype) + 64, kGuard) {}
  template <class T>
  static Array of(const std::vector<T>& values, std::size_t offset = 0) {
    Array a(dtype_v<T>, values.size(), offset);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T x = values[i];
      std::memcpy(a.data() + i * sizeof(T), &x, sizeof(T));
    }
    return a;
  }
  unsigned char* data() { return bytes_.data() + begin_; }
  const unsigned char* data() const { return bytes_.data() + begin_; }
  DType dtype() const { return dtype_; }
  std::size_t count() const { return count_; }
  template <class T>
  T at(std::size_t i) const {
    T x;
    std::memcpy(&x, data() + i * sizeof(T), sizeof(T));
    return x;
  }
  bool guards_intact() const {
    const std::size_t end = begin_ + count_ * size_of(dtype_);
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if ((i < begin_ || i >= end) && bytes_[i] != kGuard) return false;
    return true;
  }

 private:
  static constexpr unsigned char kGuard = 0xa5;
  DType dtype_ = DType::float32;
  std::size_t count_ = 0, begin_ = 0;
  std::vector<unsigned char> bytes_;
};

// Contiguous rows in, contiguous rows out; what is added starts as 0 and is summed over rows.
inline std::vector<Array> run(const Kernel& kernel, const Program& p, std::int64_t rows,
                              std::int64_t cols, const std::vector<Array>& inputs,
                              std::size_t offset = 0) {
  LoopArgs args;
  args.rows = rows;
  args.cols = cols;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    args.in[k] = inputs[k].data();
    args.in_row_bytes[k] = (p.inputs[k].varies_along_row ? cols : 1) *
                           static_cast<std::int64_t>(size_of(p.inputs[k].dtype));
  }
  std::vector<Array> outputs;
  for (std::size_t k = 0; k < p.outputs.size(); ++k) {
    const Output& o = p.outputs[k];
    const std::int64_t per_row = o.per_row ? 1 : cols;
    outputs.emplace_back(o.dtype, static_cast<std::size_t>((o.adds ? 1 : rows) * per_row), offset);
    args.out_row_bytes[k] = o.adds ? 0 : per_row * static_cast<std::int64_t>(size_of(o.dtype));
    if (o.adds) std::memset(outputs.back().data(), 0, outputs.back().count() * size_of(o.dtype));
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) args.out[k] = outputs[k].data();
  std::vector<std::uint64_t> scratch(kernel.scratch_bytes(cols) / 8 + 8);
  args.scratch = scratch.data();
  kernel(args);
  return outputs;
}

// One NaN stands for all of them: payload and sign are not specified.
inline std::uint64_t canonical_bits(const Array& a, std::size_t i) {
  switch (a.dtype()) {
    case DType::float64: {
      const double x = a.at<double>(i);
      return x != x ? ~0ull : a.at<std::uint64_t>(i);
    }
    case DType::float32: {
      const float x = a.at<float>(i);
      return x != x ? ~0ull : a.at<std::uint32_t>(i);
    }
    case DType::float16: {
      const float x = a.at<half>(i);
      return x != x ? ~0ull : a.at<std::uint16_t>(i);
    }
    case DType::bfloat16: {
      const float x = a.at<bfloat>(i);
      return x != x ? ~0ull : a.at<std::uint16_t>(i);
    }
    default: {
      std::uint64_t bits = 0;
      std::memcpy(&bits, a.data() + i * size_of(a.dtype()), size_of(a.dtype()));
      return bits;
    }
  }
}

// The first element in which two arrays differ, or -1.
inline std::int64_t first_difference(const Array& a, const Array& b) {
  if (a.count() != b.count() || a.dtype() != b.dtype()) return 0;
  for (std::size_t i = 0; i < a.count(); ++i)
    if (canonical_bits(a, i) != canonical_bits(b, i)) return static_cast<std::int64_t>(i);
  return -1;
}

// Values that find mistakes, then random ones.
template <class T>
std::vector<T> nasty(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values;
  if constexpr (std::is_same_v<T, bool>) {
    for (std::size_t i = 0; i < count; ++i) values.push_back(random() & 1);
  } else if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    for (const T x : {T(0), T(1), T(2), T(-1), Limits::max(), Limits::min(), T(Limits::max() - 1),
                      T(31), T(64)})
      values.push_back(x);
    while (values.size() < count) values.push_back(static_cast<T>(random() >> (random() % 64)));
  } else {
    for (const double x : {0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 1e-40, -1e-45, 1e38, 3e9,
                           -2147483648.0, 2147483647.0, 1e19})
      values.push_back(T(static_cast<float>(x)));
    for (const double x : {__builtin_inf(), -__builtin_inf(), __builtin_nan("")})
      values.push_back(T(static_cast<float>(x)));
    std::normal_distribution<double> normal;
    while (values.size() < count) {
      const double x = normal(random) * std::pow(2.0, static_cast<int>(random() % 41) - 20);
      values.push_back(
          T(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(x)));
    }
  }
  // The special values meet each other in other places when the order differs.
  std::vector<T> shuffled(
      values.begin(),
      values.begin() + static_cast<std::ptrdiff_t>(std::max(count, std::size_t{0}) < values.size()
                                                       ? count
                                                       : values.size()));
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  return shuffled;
}

inline Array nasty_array(DType dtype, std::size_t count, unsigned seed, std::size_t offset = 0) {
  return visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
      return Array();
    else
      return Array::of(nasty<T>(count, seed), offset);
  });
}

}  // namespace gradus::expr
