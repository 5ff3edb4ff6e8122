#include "gradus/check_gradient.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <sstream>

#include "base/check.h"
#include "gradus/functional.h"
#include "gradus/ops.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace detail {
namespace {

// Fixed numbers between 0.5 and 1.5 that follow no pattern a function could have.
Tensor weights_like(const Tensor& t, double phase) {
  const auto n = t.num_elements();
  std::vector<double> w;
  for (std::int64_t i = 0; i < n; ++i)
    w.push_back(1 + 0.5 * std::sin(phase + 12.9898 * static_cast<double>(i + 1)));
  return cast(Tensor::from(w, t.shape()), t.dtype());
}

double unit_of(DType t) {
  return t == float64 ? 0x1p-53 : t == float32 ? 0x1p-24 : t == float16 ? 0x1p-11 : 0x1p-8;
}

struct Sum {
  double value = 0, size = 0;  // size: the sum of magnitudes, on which rounding depends
};

class Checker {
 public:
  Checker(const Function& f, std::vector<Tensor> at, const CheckOptions& options)
      : f_(f), at_(std::move(at)), options_(options) {
    for (const Tensor& x : at_) {
      if (!x.defined() || is_complex(x.dtype()) || !is_concrete(x)) {
        fail<InvalidArgumentError>("[check_gradient] arguments must be real tensors with values");
      }
    }
    const std::vector<Tensor> results = f_(at_);
    const bool one = results.size() == 1 && results[0].defined() && results[0].num_elements() == 1;
    for (const Tensor& y : results) {
      const bool counts = y.defined() && is_differentiable(y.dtype());
      if (counts && is_complex(y.dtype())) {
        fail<InvalidArgumentError>("[check_gradient] the function returned ", name_of(y.dtype()),
                                   "; it must return real tensors");
      }
      weights_.push_back(!counts ? Tensor()
                         : one   ? ones(y.shape(), y.dtype())
                                 : weights_like(y, static_cast<double>(weights_.size())));
    }
  }

  GradientCheck run() {
    const Function scalar = [&](const std::vector<Tensor>& x) {
      Tensor sum;
      const std::vector<Tensor> y = f_(x);
      for (std::size_t i = 0; i < y.size(); ++i) {
        if (!weights_[i].defined()) continue;
        const Tensor part = reduce_sum(y[i] * weights_[i]);
        sum = sum.defined() ? sum + cast(part, sum.dtype()) : part;
      }
      if (!sum.defined()) {
        fail<InvalidArgumentError>("[check_gradient] the function returned no float tensor");
      }
      return std::vector<Tensor>{sum};
    };
    const std::vector<Tensor> gradients = gradient(scalar, at_);
    for (std::size_t i = 0; i < at_.size(); ++i)
      if (is_differentiable(at_[i].dtype())) check_tensor(i, gradients[i]);
    compare_modes(scalar, gradients);
    return result_;
  }

 private:
  void check_tensor(std::size_t input, const Tensor& gradient) {
    const std::int64_t n = at_[input].num_elements();
    const std::int64_t tries = std::min(n, std::max<std::int64_t>(1, options_.per_tensor));
    const std::vector<double> g = cast(gradient, float64).to_vector<double>();
    for (std::int64_t k = 0; k < tries; ++k) {
      const std::int64_t i = tries == n ? k
                                        : static_cast<std::int64_t>(static_cast<double>(k) /
                                                                    static_cast<double>(tries) *
                                                                    static_cast<double>(n));
      check_element(input, i, g[static_cast<std::size_t>(i)]);
    }
  }

  void check_element(std::size_t input, std::int64_t i, double analytic) {
    const DType dtype = at_[input].dtype();
    const double unit = unit_of(dtype);
    const double x = element(input, i);
    const double h =
        (options_.step > 0 ? options_.step : std::cbrt(unit)) * std::max(1.0, std::abs(x));
    // Steps are what the dtype makes of them.
    const Tensor up = moved(input, i, x + h), down = moved(input, i, x - h);
    const double step_up = read(up, i) - x, step_down = x - read(down, i);
    const Sum above = at(input, up), below = at(input, down), here = at(input, at_[input]);
    const double numeric = (above.value - below.value) / (step_up + step_down);
    const double from_above = (above.value - here.value) / step_up;
    const double from_below = (here.value - below.value) / step_down;
    const double noise = 8 * unit * here.size / h;
    const double tolerance = options_.tolerance > 0 ? options_.tolerance
                             : dtype == float64     ? 1e-6
                                                    : 100 * std::cbrt(unit * unit);
    const double size = std::max({std::abs(analytic), std::abs(numeric), 1e-30});
    const double difference = std::abs(analytic - numeric);
    const double error = std::isfinite(difference) ? difference / size
                         : (std::isnan(analytic) == std::isnan(numeric) && analytic == numeric)
                             ? 0
                             : std::numeric_limits<double>::infinity();
    const bool wrong = error > 0 && !(difference <= tolerance * size + noise);
    ++result_.checked;
    result_.wrong += wrong;
    const bool worse = wrong != !result_.right ? wrong : error > result_.error;
    if (result_.checked > 1 && !worse) return;
    result_.right = !wrong && result_.right;
    result_.input = input;
    result_.at = position(at_[input].shape(), i);
    result_.analytic = analytic;
    result_.numeric = numeric;
    result_.error = error;
    result_.from_below = from_below;
    result_.from_above = from_above;
    result_.dtype = dtype;
    result_.kink = std::abs(from_above - from_below) >
                   std::sqrt(h) * std::max(std::abs(from_above), std::abs(from_below)) + 4 * noise;
  }

  // Along one direction through all arguments.
  void compare_modes(const Function& scalar, const std::vector<Tensor>& gradients) {
    std::vector<Tensor> direction;
    double reverse = 0, size = 0, unit = 0;
    for (std::size_t i = 0; i < at_.size(); ++i) {
      const bool counts = is_differentiable(at_[i].dtype());
      direction.push_back(counts ? weights_like(at_[i], 0.5 + static_cast<double>(i)) : Tensor());
      if (!counts) continue;
      const Tensor product = cast(gradients[i], float64) * cast(direction[i], float64);
      reverse += reduce_sum(product).item<double>();
      size += reduce_sum(abs(product)).item<double>();
      unit = std::max(unit, unit_of(at_[i].dtype()));
    }
    const double forward = detail::jvp(scalar, at_, direction).tangent[0].item<double>();
    if (!std::isfinite(forward) || !std::isfinite(reverse)) return;
    result_.modes_differ = std::abs(forward - reverse) > 1e4 * unit * (size + std::abs(forward));
    result_.right = result_.right && !result_.modes_differ;
  }

  static Shape position(const Shape& shape, std::int64_t i) {
    Shape at = shape;
    for (int axis = shape.rank(); axis-- > 0; i /= shape[axis]) at[axis] = i % shape[axis];
    return at;
  }
  static double read(const Tensor& t, std::int64_t i) {
    double value = 0;
    visit_dtype(t.dtype(), [&](auto zero) {
      using T = decltype(zero);
      if constexpr (!is_complex(dtype_v<T>)) {
        const T x = static_cast<const T*>(t.raw_data())[i];
        if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
          value = static_cast<double>(static_cast<float>(x));
        } else {
          value = static_cast<double>(x);
        }
      }
    });
    return value;
  }
  double element(std::size_t input, std::int64_t i) const { return read(at_[input], i); }

  Tensor moved(std::size_t input, std::int64_t i, double to) const {
    const Tensor& x = at_[input];
    std::vector<double> values(static_cast<std::size_t>(x.num_elements()));
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = read(x, static_cast<std::int64_t>(k));
    values[static_cast<std::size_t>(i)] = to;
    return cast(Tensor::from(values, x.shape()), x.dtype());
  }

  Sum at(std::size_t input, const Tensor& x) const {
    std::vector<Tensor> arguments = at_;
    arguments[input] = x;
    const std::vector<Tensor> y = f_(arguments);
    Sum sum;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (!weights_[i].defined()) continue;
      const Tensor terms = cast(y[i], float64) * cast(weights_[i], float64);
      sum.value += reduce_sum(terms).item<double>();
      sum.size += reduce_sum(abs(terms)).item<double>();
    }
    return sum;
  }

  const Function& f_;
  std::vector<Tensor> at_;
  CheckOptions options_;
  std::vector<Tensor> weights_;
  GradientCheck result_;
};

}  // namespace

GradientCheck check_gradient(const Function& f, const std::vector<Tensor>& at,
                             const CheckOptions& options) {
  return Checker(f, at, options).run();
}

}  // namespace detail

std::string to_string(const GradientCheck& c) {
  std::ostringstream text;
  text.precision(7);
  if (c.checked == 0) return "nothing to check: no element of a float tensor\n";
  text << (c.right ? "the gradient is right: " : "the gradient is WRONG: ") << c.checked - c.wrong
       << " of " << c.checked << " derivatives agree with differences\n  "
       << (c.wrong ? "worst" : "least exact") << ": input " << c.input << " at " << c.at << ": "
       << c.analytic << " by the gradient, " << c.numeric << " by differences";
  text.precision(2);
  text << " (relative error " << c.error << ")\n";
  text.precision(7);
  if (c.wrong && c.kink) {
    text << "  the function has a kink or a jump there: its slope is " << c.from_below
         << " from below and " << c.from_above << " from above; try another point\n";
  }
  if (c.wrong && c.dtype != float64) {
    text << "  " << name_of(c.dtype) << " leaves few digits to differences; check in float64\n";
  }
  if (c.modes_differ) text << "  forward and reverse mode do not agree with each other\n";
  return text.str();
}

std::ostream& operator<<(std::ostream& out, const GradientCheck& check) {
  return out << to_string(check);
}

}  // namespace gradus
