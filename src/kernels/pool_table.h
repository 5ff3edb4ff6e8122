// What pool_isa.cpp makes for each instruction set: functions that compute the rows [begin, end) of
// their result, counted through all images.
#pragma once
#include "kernels/pool.h"

namespace gradus::kernels {

struct PoolArgs {
  const Pool2dShape* shape;
  std::int64_t out_h, out_w;
  const void* from;
  void* to;
  const std::int32_t* taps;
  std::int32_t* new_taps;
  bool accumulate;
};

using PoolRows = void (*)(const PoolArgs& args, std::int64_t begin, std::int64_t end);

struct PoolTable {
  PoolRows max, take, max_gradient, average, average_gradient;
};

struct PoolTables {
  PoolTable float32, float64;
};

namespace baseline {
extern const PoolTables pool_tables;
}
namespace avx2 {
extern const PoolTables pool_tables;
}
namespace avx512 {
extern const PoolTables pool_tables;
}

}  // namespace gradus::kernels
