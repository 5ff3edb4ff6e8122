#include "kernels/isa.h"

#include <cpuid.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace gradus::kernels {
namespace {

// Parts of x86-64-v3 that not every compiler's __builtin_cpu_supports knows.
bool has_f16c_movbe_lzcnt() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kF16c = 1u << 29, kMovbe = 1u << 22, kLzcnt = 1u << 5;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & kF16c) == 0 || (ecx & kMovbe) == 0)
    return false;
  return __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) && (ecx & kLzcnt) != 0;
}

Isa processor_isa() {
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  has_f16c_movbe_lzcnt();
  if (!v3) return Isa::baseline;
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? Isa::avx512 : Isa::avx2;
}

Isa chosen_isa() {
  const Isa best = processor_isa();
  const char* wanted = std::getenv("GRADUS_ISA");
  if (!wanted) return best;
  for (const Isa lower : {Isa::baseline, Isa::avx2})
    if (lower < best && std::strcmp(wanted, name_of(lower)) == 0) return lower;
  return best;
}

}  // namespace

Isa isa() {
  static const Isa chosen = chosen_isa();
  return chosen;
}

const char* name_of(Isa isa) {
  switch (isa) {
    case Isa::baseline:
      return "baseline";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      break;
  }
  return "avx512";
}

}  // namespace gradus::kernels
