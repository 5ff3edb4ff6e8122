// Plain loops that vectorise. Arrays that may be missing are switched on outside the loops, by
// templates over the few combinations that exist.
#include "kernels/optimizer_loops.h"
#include "kernels/vec.h"

namespace gradus::kernels::GRADUS_ISA {
namespace {

template <class T>
inline T root(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_sqrtf(x);
  else
    return __builtin_sqrt(x);
}

// What all steps do with gradient and variable.
template <class T>
struct Scaled {
  const T* __restrict gradient;
  T scale, decay;

  Scaled(const StepScale& step, const void* gradient)
      : gradient(static_cast<const T*>(gradient)),
        scale(static_cast<T>(step.gradient_scale)),
        decay(static_cast<T>(step.decay)) {}
  template <bool kGradient>
  T g(std::int64_t i) const {
    return kGradient ? gradient[i] * scale : T(0);
  }
  T shrunk(T x) const { return x - x * decay; }
};

template <class T, bool kGradient, bool kMomentum>
void sgd_loop(const SgdStep& step, std::int64_t n, Scaled<T> s, T* __restrict m, T* __restrict x) {
  const T rate = static_cast<T>(step.rate), momentum = static_cast<T>(step.momentum);
  const bool nesterov = step.nesterov;
  for (std::int64_t i = 0; i < n; ++i) {
    const T by = s.template g<kGradient>(i) * rate;
    const T start = s.shrunk(x[i]);
    if constexpr (kMomentum) {
      const T next = m[i] * momentum - by;
      m[i] = next;
      x[i] = start + (nesterov ? next * momentum - by : next);
    } else {
      x[i] = start - by;
    }
  }
}

template <class T>
void sgd(const SgdStep& step, std::int64_t n, const void* gradient, void* momentum,
         void* variable) {
  const Scaled<T> s(step, gradient);
  T* m = static_cast<T*>(momentum);
  T* x = static_cast<T*>(variable);
  if (m)
    gradient ? sgd_loop<T, true, true>(step, n, s, m, x)
             : sgd_loop<T, false, true>(step, n, s, m, x);
  else
    gradient ? sgd_loop<T, true, false>(step, n, s, m, x)
             : sgd_loop<T, false, false>(step, n, s, m, x);
}

template <class T, bool kGradient, bool kLargest>
void adam_loop(const AdamStep& step, std::int64_t n, Scaled<T> s, T* __restrict m, T* __restrict v,
               T* __restrict largest, T* __restrict x) {
  const T rate = static_cast<T>(step.rate), epsilon = static_cast<T>(step.epsilon);
  const T to_m = static_cast<T>(1 - step.beta_1), to_v = static_cast<T>(1 - step.beta_2);
  for (std::int64_t i = 0; i < n; ++i) {
    const T g = s.template g<kGradient>(i);
    const T first = m[i] + (g - m[i]) * to_m;
    T second = v[i] + (g * g - v[i]) * to_v;
    m[i] = first;
    v[i] = second;
    if constexpr (kLargest) {
      second = largest[i] > second ? largest[i] : second;
      largest[i] = second;
    }
    x[i] = s.shrunk(x[i]) - first * rate / (root(second) + epsilon);
  }
}

template <class T>
void adam(const AdamStep& step, std::int64_t n, const void* gradient, void* m, void* v,
          void* largest_v, void* variable) {
  const Scaled<T> s(step, gradient);
  T *first = static_cast<T*>(m), *second = static_cast<T*>(v),
    *largest = static_cast<T*>(largest_v), *x = static_cast<T*>(variable);
  if (largest)
    gradient ? adam_loop<T, true, true>(step, n, s, first, second, largest, x)
             : adam_loop<T, false, true>(step, n, s, first, second, largest, x);
  else
    gradient ? adam_loop<T, true, false>(step, n, s, first, second, largest, x)
             : adam_loop<T, false, false>(step, n, s, first, second, largest, x);
}

template <class T>
void adagrad(const AdagradStep& step, std::int64_t n, const void* gradient, void* accumulator,
             void* variable) {
  const Scaled<T> s(step, gradient);
  T* __restrict a = static_cast<T*>(accumulator);
  T* __restrict x = static_cast<T*>(variable);
  const T rate = static_cast<T>(step.rate), epsilon = static_cast<T>(step.epsilon);
  if (!gradient) {
    for (std::int64_t i = 0; i < n; ++i) x[i] = s.shrunk(x[i]);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const T g = s.template g<true>(i), sum = a[i] + g * g;
    a[i] = sum;
    x[i] = s.shrunk(x[i]) - rate * g / root(sum + epsilon);
  }
}

template <class T, bool kGradient, bool kCentered, bool kMomentum>
void rmsprop_loop(const RmspropStep& step, std::int64_t n, Scaled<T> s, T* __restrict v,
                  T* __restrict average, T* __restrict m, T* __restrict x) {
  const T rate = static_cast<T>(step.rate), epsilon = static_cast<T>(step.epsilon);
  const T rho = static_cast<T>(step.rho), rest = static_cast<T>(1 - step.rho);
  const T momentum = static_cast<T>(step.momentum);
  for (std::int64_t i = 0; i < n; ++i) {
    const T g = s.template g<kGradient>(i);
    const T velocity = rho * v[i] + rest * (g * g);
    v[i] = velocity;
    T denominator = velocity;
    if constexpr (kCentered) {
      const T mean = rho * average[i] + rest * g;
      average[i] = mean;
      denominator = velocity - mean * mean;
    }
    T increment = rate * g / root(denominator + epsilon);
    if constexpr (kMomentum) {
      increment = momentum * m[i] + increment;
      m[i] = increment;
    }
    x[i] = s.shrunk(x[i]) - increment;
  }
}

template <class T>
void rmsprop(const RmspropStep& step, std::int64_t n, const void* gradient, void* velocity,
             void* average, void* momentum, void* variable) {
  const Scaled<T> s(step, gradient);
  T *v = static_cast<T*>(velocity), *a = static_cast<T*>(average), *m = static_cast<T*>(momentum),
    *x = static_cast<T*>(variable);
  const auto run = [&]<bool kGradient>() {
    if (a)
      m ? rmsprop_loop<T, kGradient, true, true>(step, n, s, v, a, m, x)
        : rmsprop_loop<T, kGradient, true, false>(step, n, s, v, a, m, x);
    else
      m ? rmsprop_loop<T, kGradient, false, true>(step, n, s, v, a, m, x)
        : rmsprop_loop<T, kGradient, false, false>(step, n, s, v, a, m, x);
  };
  gradient ? run.template operator()<true>() : run.template operator()<false>();
}

// 16 lanes of float64 on every instruction set, so that all give the same bits.
template <class T>
void squares(const void* in, std::int64_t n, double scale, double* sum, double* largest) {
  constexpr int kAll = 16, kVectors = kAll / kLanes<double>;
  const T* p = static_cast<const T*>(in);
  alignas(64) double total[kAll] = {}, most[kAll] = {};
  std::int64_t i = 0;
  if constexpr (sizeof(T) >= 4) {
    Vec<double> sums[kVectors] = {}, peaks[kVectors] = {};
    for (; i + kAll <= n; i += kAll) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const Vec<double> x = load_wide(p + i + v * kLanes<double>), y = x * scale;
        sums[v] += y * y;
        if constexpr (sizeof(T) == 8) {
          const Vec<double> size = x < 0 ? -x : x;
          peaks[v] = size > peaks[v] ? size : peaks[v];
        }
      }
    }
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      store(total + v * kLanes<double>, sums[v]);
      store(most + v * kLanes<double>, peaks[v]);
    }
  }
  for (; i < n; ++i) {
    short_loop();
    const auto x = static_cast<double>(load_one(p + i));
    const double y = x * scale, size = x < 0 ? -x : x;
    total[i % kAll] += y * y;
    most[i % kAll] = size > most[i % kAll] ? size : most[i % kAll];
  }
  for (int m = kAll / 2; m > 0; m /= 2)
    for (int l = 0; l < m; ++l) {
      total[l] += total[l + m];
      most[l] = most[l] > most[l + m] ? most[l] : most[l + m];
    }
  *sum = total[0];
  *largest = most[0];
}

constexpr OptimizerLoops all_loops() {
  OptimizerLoops loops = {{sgd<float>, sgd<double>},
                          {adam<float>, adam<double>},
                          {adagrad<float>, adagrad<double>},
                          {rmsprop<float>, rmsprop<double>},
                          {}};
  loops.squares[static_cast<int>(float16)] = squares<half>;
  loops.squares[static_cast<int>(bfloat16)] = squares<bfloat>;
  loops.squares[static_cast<int>(float32)] = squares<float>;
  loops.squares[static_cast<int>(float64)] = squares<double>;
  return loops;
}

}  // namespace

constinit const OptimizerLoops optimizer_loops = all_loops();

}  // namespace gradus::kernels::GRADUS_ISA
