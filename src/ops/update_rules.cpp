#include "ops/update_rules.h"

#include <array>
#include <cmath>

#include "expr/math.h"
#include "gradus/elementwise.h"

namespace gradus {
namespace {

using expr::Expr;
using Exprs = RuleDefinition::Exprs;
template <class T>
using Numbers = std::vector<T>;

// A rule has `numbers`, a template over double and Tensor, and `body`. Here a[0] is the variable
// and a.back() the gradient, k what `numbers` gives, c the settings of the user.
template <class Rule>
RuleDefinition define(const char* name, int state, int numbers, int settings,
                      bool by_rows = false) {
  return {name,
          state,
          numbers,
          settings,
          by_rows,
          Rule::body,
          Rule::template numbers<double>,
          Rule::template numbers<Tensor>};
}

// The learning rate, then the settings as they are.
struct RateAndSettings {
  template <class T>
  static Numbers<T> numbers(const StepNumbers<T>& s) {
    Numbers<T> all = {s.learning_rate};
    for (double x : s.settings) all.push_back(T(x));
    return all;
  }
};

struct Sgd : RateAndSettings {
  static Exprs body(const Exprs& a, const Exprs& k) { return {a[0] - k[0] * a[1]}; }
};

struct Momentum : RateAndSettings {
  static Exprs body(const Exprs& a, const Exprs& k) {
    const Expr velocity = k[1] * a[1] - k[0] * a[2];
    return {a[0] + velocity, velocity};
  }
};

struct Nesterov : RateAndSettings {
  static Exprs body(const Exprs& a, const Exprs& k) {
    const Expr velocity = k[1] * a[1] - k[0] * a[2];
    return {a[0] + (k[1] * velocity - k[0] * a[2]), velocity};
  }
};

struct Adagrad : RateAndSettings {
  static Exprs body(const Exprs& a, const Exprs& k) {
    const Expr sum = a[1] + a[2] * a[2];
    return {a[0] - k[0] * a[2] / expr::sqrt(sum + k[1]), sum};
  }
};

struct Adam {
  template <class T>
  static Numbers<T> numbers(const StepNumbers<T>& s) {
    using std::pow, std::sqrt;
    const auto& c = s.settings;
    const T alpha = s.learning_rate * sqrt(1 - pow(c[1], s.step)) / (1 - pow(c[0], s.step));
    return {alpha, T(1 - c[0]), T(1 - c[1]), T(c[2])};
  }
  static Exprs body(const Exprs& a, const Exprs& k) {
    const Expr g = a[3], m = expr::fma(g - a[1], k[1], a[1]);
    const Expr v = expr::fma(g * g - a[2], k[2], a[2]);
    return {expr::fma(-k[0], m / (expr::sqrt(v) + k[3]), a[0]), m, v};
  }
};

struct Amsgrad : Adam {
  static Exprs body(const Exprs& a, const Exprs& k) {
    const Expr g = a[4], m = expr::fma(g - a[1], k[1], a[1]);
    const Expr v = expr::fma(g * g - a[2], k[2], a[2]), largest = expr::max(a[3], v);
    return {expr::fma(-k[0], m / (expr::sqrt(largest) + k[3]), a[0]), m, v, largest};
  }
};

struct Adamax {
  template <class T>
  static Numbers<T> numbers(const StepNumbers<T>& s) {
    using std::pow;
    const auto& c = s.settings;
    return {s.learning_rate / (1 - pow(c[0], s.step)), T(1 - c[0]), T(c[1]), T(c[2])};
  }
  static Exprs body(const Exprs& a, const Exprs& k) {
    const Expr g = a[3], m = a[1] + (g - a[1]) * k[1];
    const Expr norm = expr::max(k[2] * a[2], expr::abs(g));
    return {a[0] - k[0] * m / (norm + k[3]), m, norm};
  }
};

// Adam with Nesterov's momentum, whose share grows with the steps; `product` is that of all shares.
struct Nadam {
  template <class T>
  static Numbers<T> numbers(const StepNumbers<T>& s) {
    using std::pow;
    const auto& c = s.settings;
    const T share = c[0] * (1 - 0.5 * pow(0.96, s.step));
    const T next = c[0] * (1 - 0.5 * pow(0.96, s.step + 1));
    return {s.learning_rate,
            next / (1 - s.product * next),
            (1 - share) / (1 - s.product),
            T(1 - c[0]),
            T(1 - c[1]),
            1 / (1 - pow(c[1], s.step)),
            T(c[2])};
  }
  static Exprs body(const Exprs& a, const Exprs& k) {
    const Expr g = a[3], m = a[1] + (g - a[1]) * k[3], v = a[2] + (g * g - a[2]) * k[4];
    return {a[0] - k[0] * (k[1] * m + k[2] * g) / (expr::sqrt(v * k[5]) + k[6]), m, v};
  }
};

struct Adadelta : RateAndSettings {
  static Exprs body(const Exprs& a, const Exprs& k) {
    const Expr g = a[3], rho = k[1], epsilon = k[2];
    const Expr squares = rho * a[1] + (1 - rho) * (g * g);
    const Expr change = expr::sqrt(a[2] + epsilon) * g / expr::sqrt(squares + epsilon);
    return {a[0] - k[0] * change, squares, rho * a[2] + (1 - rho) * (change * change)};
  }
};

// settings: rho, epsilon, momentum
template <bool centered, bool with_momentum>
struct Rmsprop : RateAndSettings {
  static Exprs body(const Exprs& a, const Exprs& k) {
    const Expr g = a.back(), squares = k[1] * a[1] + (1 - k[1]) * (g * g);
    Exprs state = {squares};
    Expr variance = squares, momentum;
    if (centered) {
      const Expr mean = k[1] * a[with_momentum ? 3 : 2] + (1 - k[1]) * g;
      variance = variance - mean * mean;
      state.push_back(mean);
    }
    Expr change = k[0] * g / expr::sqrt(variance + k[2]);
    if (with_momentum) {
      change = k[3] * a[2] + change;
      state.insert(state.begin() + 1, change);
    }
    state.insert(state.begin(), a[0] - change);
    return state;
  }
};

struct Lion : RateAndSettings {
  static Exprs body(const Exprs& a, const Exprs& k) {
    const Expr g = a[2], blend = a[1] * k[1] + g * (1 - k[1]);
    return {a[0] - k[0] * expr::sign(blend), a[1] * k[2] + g * (1 - k[2])};
  }
};

// settings: the power (positive), l1, l2, shrinkage, beta
struct Ftrl {
  template <class T>
  static Numbers<T> numbers(const StepNumbers<T>& s) {
    const auto& c = s.settings;
    return {s.learning_rate, T(c[0]), T(c[1]), 2 * (c[2] + c[4] / (2 * s.learning_rate)),
            T(2 * c[3])};
  }
  static Exprs body(const Exprs& a, const Exprs& k) {
    const Expr p = a[0], g = a[3], rate = k[0], l1 = k[2];
    const Expr sum = a[1] + g * g, scale = expr::pow(sum, k[1]);
    const Expr linear = a[2] + (g + k[4] * p) - (scale - expr::pow(a[1], k[1])) / rate * p;
    const Expr within = expr::max(expr::min(linear, l1), -l1);
    return {(within - linear) / (scale / rate + k[3]), sum, linear};
  }
};

}  // namespace

const RuleDefinition& definition_of(UpdateRule rule) {
  // In the order of UpdateRule: state, numbers, settings.
  static const std::array<RuleDefinition, kUpdateRules> all = {
      define<Sgd>("sgd", 0, 1, 0, true),
      define<Momentum>("momentum", 1, 2, 1),
      define<Nesterov>("nesterov", 1, 2, 1),
      define<Adagrad>("adagrad", 1, 2, 1, true),
      define<Adam>("adam", 2, 4, 3),
      define<Amsgrad>("amsgrad", 3, 4, 3),
      define<Adamax>("adamax", 2, 4, 3),
      define<Nadam>("nadam", 2, 7, 3),
      define<Adadelta>("adadelta", 2, 3, 2),
      define<Rmsprop<false, false>>("rmsprop", 1, 3, 2),
      define<Rmsprop<false, true>>("rmsprop_momentum", 2, 4, 3),
      define<Rmsprop<true, false>>("rmsprop_centered", 2, 3, 2),
      define<Rmsprop<true, true>>("rmsprop_centered_momentum", 3, 4, 3),
      define<Lion>("lion", 1, 3, 2),
      define<Ftrl>("ftrl", 2, 5, 5),
  };
  return all[static_cast<std::size_t>(rule)];
}

}  // namespace gradus
