// How long the random tests run. By default a fixed number of seeds; with GRADUS_ORACLE_SECONDS=n
// each of them goes on for n seconds of this process and says how many of its cases could be
// compared; GRADUS_ORACLE_SEED=n begins elsewhere.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "oracle/case.h"

namespace oracle {

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// f(seed) for `count` seeds from `first` on, or for as long as was asked; stops when f is false.
template <class F>
void for_each_seed(std::uint64_t first, std::uint64_t count, F f) {
  first += from_environment("GRADUS_ORACLE_SEED", 0) * 1000000;
  const std::uint64_t seconds = from_environment("GRADUS_ORACLE_SECONDS", 0);
  const auto now = [] { return static_cast<std::uint64_t>(std::clock() / CLOCKS_PER_SEC); };
  const std::uint64_t end = now() + seconds;
  for (std::uint64_t i = 0; seconds ? now() < end : i < count; ++i)
    if (!f(first + i)) return;
}

inline void report_count(int compared, int tried) {
  if (from_environment("GRADUS_ORACLE_SECONDS", 0))
    std::printf("compared %d of %d cases\n", compared, tried);
}

}  // namespace oracle
