// One sweep per optimizer step over flat arrays of float32 or float64, by the formulas of Keras 3
// and in their order of operations. Moments and variables are updated in place.
//
// Every step can take the gradient times `gradient_scale` (clipping, loss scale) and shrink the
// variable by variable * `decay` first (decoupled weight decay: decay = weight_decay * rate).
// A null gradient stands for zeros.
#pragma once
#include <cstdint>

#include "base/function_ref.h"
#include "gradus/dtype.h"

namespace gradus::kernels {

struct StepScale {
  double gradient_scale = 1;
  double decay = 0;
};

// variable -= rate * g; with momentum (array not null) m = momentum * m - rate * g, and variable
// += m, or += momentum * m - rate * g for Nesterov.
struct SgdStep : StepScale {
  double rate = 0.01, momentum = 0;
  bool nesterov = false;
};
void sgd(DType t, const SgdStep& step, std::int64_t n, const void* gradient, void* momentum,
         void* variable);

// m += (g - m)(1 - beta_1), v += (g^2 - v)(1 - beta_2), variable -= rate * m / (sqrt(v) + epsilon),
// with the largest v so far in place of v where that array is not null (amsgrad). `rate` has the
// bias correction in it: learning rate * sqrt(1 - beta_2^t) / (1 - beta_1^t).
struct AdamStep : StepScale {
  double rate = 0.001, beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
};
void adam(DType t, const AdamStep& step, std::int64_t n, const void* gradient, void* m, void* v,
          void* largest_v, void* variable);

// a += g^2, variable -= rate * g / sqrt(a + epsilon).
struct AdagradStep : StepScale {
  double rate = 0.001, epsilon = 1e-7;
};
void adagrad(DType t, const AdagradStep& step, std::int64_t n, const void* gradient,
             void* accumulator, void* variable);

// v = rho v + (1 - rho) g^2; increment = rate * g / sqrt(v + epsilon), or sqrt(v - a^2 + epsilon)
// with a = rho a + (1 - rho) g (centered, array not null); variable -= increment, or -= m with
// m = momentum * m + increment (array not null).
struct RmspropStep : StepScale {
  double rate = 0.001, rho = 0.9, momentum = 0, epsilon = 1e-7;
};
void rmsprop(DType t, const RmspropStep& step, std::int64_t n, const void* gradient, void* velocity,
             void* average, void* momentum, void* variable);

// Walks an array of [total_rows, width] whose gradient has values only in some rows, ascending and
// without repeats (row_groups.h): calls update(first element, count, gradient row) for each of
// them, and, unless `only_listed`, update(first element, count, -1) for the runs in between, so
// that the result is the one of the dense gradient. Calls come from several threads.
void for_each_row_run(const std::int64_t* rows, std::int64_t count, std::int64_t total_rows,
                      std::int64_t width, bool only_listed,
                      FunctionRef<void(std::int64_t, std::int64_t, std::int64_t)> update);

// sqrt(sum of squares) without overflow or underflow on the way. Floating types and, by modulus,
// complex ones.
double euclidean_norm(DType t, const void* x, std::int64_t n);

}  // namespace gradus::kernels
