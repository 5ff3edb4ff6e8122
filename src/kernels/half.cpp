#include "kernels/half.h"

#include <algorithm>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/half_table.h"
#include "kernels/isa.h"

namespace gradus::kernels {
namespace {

const HalfTable& table() {
  return pick(baseline::half_table, avx2::half_table, avx512::half_table);
}

}  // namespace

void widen(DType dtype, float* to, const void* from, std::int64_t count) {
  GRADUS_ASSERT(dtype == DType::float16 || dtype == DType::bfloat16);
  if (dtype == DType::float16)
    table().widen_half(to, static_cast<const half*>(from), count);
  else
    table().widen_bfloat(to, static_cast<const bfloat*>(from), count);
}

void narrow(DType dtype, void* to, const float* from, std::int64_t count) {
  GRADUS_ASSERT(dtype == DType::float16 || dtype == DType::bfloat16);
  if (dtype == DType::float16)
    table().narrow_half(static_cast<half*>(to), from, count);
  else
    table().narrow_bfloat(static_cast<bfloat*>(to), from, count);
}

void narrow_in_parallel(DType dtype, void* to, const float* from, std::int64_t count) {
  constexpr std::int64_t kChunk = 64 * 1024;  // about 6 us
  auto* halves = static_cast<std::uint16_t*>(to);
  parallel_for((count + kChunk - 1) / kChunk, [&](std::int64_t i) {
    const std::int64_t begin = i * kChunk;
    narrow(dtype, halves + begin, from + begin, std::min(kChunk, count - begin));
  });
}

}  // namespace gradus::kernels
