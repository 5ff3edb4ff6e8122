#include "kernels/fft.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/in_pieces.h"
#include "base/thread_pool.h"
#include "gradus/interrupt.h"

namespace gradus::kernels {
namespace {

// Without the checks for infinities that std::complex must make in each product.
struct Complex {
  double re = 0, im = 0;
};
Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

using Row = std::vector<Complex>;

// e^(sign 2 pi i k / n)
Complex root(double sign, std::size_t k, std::size_t n) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), sign * std::sin(angle)};
}

// f(k) for all k below n; long rows look at the interrupt flag.
template <class F>
void each(std::size_t n, F&& f) {
  in_pieces(static_cast<std::int64_t>(n), [&](std::int64_t k) { f(static_cast<std::size_t>(k)); });
}

// A length whose prime factors are small: the transforms of every r-th element, joined by short
// transforms of length r.
class MixedRadix {
 public:
  static constexpr std::size_t kLargestFactor = 31;

  // Whether all factors are small; `factors` are those that were found.
  static bool factorise(std::size_t n, std::vector<std::size_t>& factors) {
    for (std::size_t r : {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31}) {
      for (; n % r == 0 && n > 1; n /= r) factors.push_back(r);
    }
    return n == 1;
  }

  MixedRadix(double sign, std::size_t n) : sign_(sign) {
    factorise(n, factors_);
    each(n, [&](std::size_t k) { roots_.push_back(root(sign, k, n)); });
  }

  void run(const Complex* in, Complex* out) const { join(0, 1, roots_.size(), in, out); }

 private:
  void join(std::size_t level, std::size_t stride, std::size_t n, const Complex* in,
            Complex* out) const {
    if (n <= 1) {
      if (n == 1) *out = *in;
      return;
    }
    if (n >= 4096) check_interrupt();
    const std::size_t r = factors_[level], m = n / r;
    for (std::size_t j = 0; j < r; ++j)
      join(level + 1, stride * r, m, in + j * stride, out + j * m);
    const auto join_one = [&](std::size_t k) {
      Complex part[kLargestFactor];
      for (std::size_t j = 0; j < r; ++j) part[j] = out[j * m + k] * roots_[j * k * stride];
      if (r == 2) {
        out[k] = part[0] + part[1];
        out[m + k] = part[0] - part[1];
      } else if (r == 4) {
        const Complex even = part[0] + part[2], odd = part[1] + part[3];
        const Complex other = part[0] - part[2], turn = part[1] - part[3];
        const Complex turned = {-sign_ * turn.im, sign_ * turn.re};  // by a quarter
        out[k] = even + odd;
        out[m + k] = other + turned;
        out[2 * m + k] = even - odd;
        out[3 * m + k] = other - turned;
      } else {
        for (std::size_t i = 0; i < r; ++i) {
          Complex sum = part[0];
          for (std::size_t j = 1; j < r; ++j) sum = sum + part[j] * roots_[i * j % r * m * stride];
          out[i * m + k] = sum;
        }
      }
    };
    each(m, join_one);
  }

  double sign_;
  std::vector<std::size_t> factors_;
  Row roots_;
};

// Any length: j k = (j^2 + k^2 - (j - k)^2) / 2 makes the transform a convolution with a chirp,
// which transforms of a power of two compute.
class Bluestein {
 public:
  Bluestein(double sign, std::size_t n)
      : size_(std::bit_ceil(2 * n - 1)), there_(-1, size_), back_(1, size_), filter_(size_) {
    each(n, [&](std::size_t k) { chirp_.push_back(root(sign, k * k % (2 * n), 2 * n)); });
    Row kernel(size_);
    for (std::size_t k = 0; k < n; ++k) {
      const Complex conjugate = {chirp_[k].re, -chirp_[k].im};
      kernel[k] = conjugate;
      if (k > 0) kernel[size_ - k] = conjugate;
    }
    there_.run(kernel.data(), filter_.data());
    for (Complex& x : filter_)
      x = {x.re / static_cast<double>(size_), x.im / static_cast<double>(size_)};
  }

  void run(const Complex* in, Complex* out) const {
    Row a(size_), b(size_);
    for (std::size_t k = 0; k < chirp_.size(); ++k) a[k] = in[k] * chirp_[k];
    there_.run(a.data(), b.data());
    for (std::size_t k = 0; k < size_; ++k) b[k] = b[k] * filter_[k];
    back_.run(b.data(), a.data());
    for (std::size_t k = 0; k < chirp_.size(); ++k) out[k] = a[k] * chirp_[k];
  }

 private:
  std::size_t size_;
  MixedRadix there_, back_;
  Row chirp_, filter_;
};

template <class T, class Plan>
void run_rows(const Plan& plan, const T* in, std::int64_t count, std::size_t n, T* out) {
  parallel_for(count, [&](std::int64_t row) {
    check_interrupt();
    const T* from = in + row * static_cast<std::int64_t>(2 * n);
    T* to = out + row * static_cast<std::int64_t>(2 * n);
    Row a(n), b(n);
    for (std::size_t i = 0; i < n; ++i) a[i] = {from[2 * i], from[2 * i + 1]};
    plan.run(a.data(), b.data());
    for (std::size_t i = 0; i < n; ++i) {
      to[2 * i] = static_cast<T>(b[i].re);
      to[2 * i + 1] = static_cast<T>(b[i].im);
    }
  });
}

template <class T>
void transform(double sign, const void* in, std::int64_t count, std::size_t n, void* out) {
  if (count == 0 || n == 0) return;
  std::vector<std::size_t> factors;
  const auto run = [&](const auto& plan) {
    run_rows(plan, static_cast<const T*>(in), count, n, static_cast<T*>(out));
  };
  MixedRadix::factorise(n, factors) ? run(MixedRadix(sign, n)) : run(Bluestein(sign, n));
}

}  // namespace

void fft(DType t, Sign sign, const void* in, std::int64_t count, std::int64_t n, void* out) {
  const double direction = sign == Sign::negative ? -1 : 1;
  t == complex64 ? transform<float>(direction, in, count, static_cast<std::size_t>(n), out)
                 : transform<double>(direction, in, count, static_cast<std::size_t>(n), out);
}

}  // namespace gradus::kernels
