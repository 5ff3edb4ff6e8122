#include "kernels/isa.h"

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace gradus::kernels {
namespace {

Isa processor_isa() {
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
                  __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
                  __builtin_cpu_supports("movbe");
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
