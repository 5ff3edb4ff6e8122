// The loops of optimizer.h, one table per instruction set; index 0 is float32, 1 is float64.
#pragma once
#include <cstdint>

#include "kernels/optimizer.h"

namespace gradus::kernels {

struct OptimizerLoops {
  void (*sgd[2])(const SgdStep&, std::int64_t n, const void* gradient, void* momentum,
                 void* variable);
  void (*adam[2])(const AdamStep&, std::int64_t n, const void* gradient, void* m, void* v,
                  void* largest_v, void* variable);
  void (*adagrad[2])(const AdagradStep&, std::int64_t n, const void* gradient, void* accumulator,
                     void* variable);
  void (*rmsprop[2])(const RmspropStep&, std::int64_t n, const void* gradient, void* velocity,
                     void* average, void* momentum, void* variable);
  // The sum of (x * scale)^2, in float64, and the largest |x| of float64 numbers, whose squares may
  // overflow (NaN is never the largest).
  void (*squares[kDTypeCount])(const void* x, std::int64_t n, double scale, double* sum,
                               double* largest);
};

namespace baseline {
extern const OptimizerLoops optimizer_loops;
}
namespace avx2 {
extern const OptimizerLoops optimizer_loops;
}
namespace avx512 {
extern const OptimizerLoops optimizer_loops;
}

}  // namespace gradus::kernels
