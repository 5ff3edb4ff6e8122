// What half_isa.cpp makes for each instruction set.
#pragma once
#include <cstdint>

#include "gradus/dtype.h"

namespace gradus::kernels {

struct HalfTable {
  void (*widen_half)(float* to, const half* from, std::int64_t count);
  void (*widen_bfloat)(float* to, const bfloat* from, std::int64_t count);
  void (*narrow_half)(half* to, const float* from, std::int64_t count);
  void (*narrow_bfloat)(bfloat* to, const float* from, std::int64_t count);
};

namespace baseline {
extern const HalfTable half_table;
}
namespace avx2 {
extern const HalfTable half_table;
}
namespace avx512 {
extern const HalfTable half_table;
}

}  // namespace gradus::kernels
