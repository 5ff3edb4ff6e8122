#include "kernels/half.h"

#include "base/check.h"
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

}  // namespace gradus::kernels
