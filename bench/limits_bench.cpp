// The limits of this machine, one line each: name, threads, value.
//   limits_bench [--threads N] [--budget SECONDS]
#include "limits.h"

#include <string>

#include "gradus/threads.h"

int main(int argc, char** argv) {
  int threads = 1;
  double budget = 0.2;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--threads") threads = std::atoi(argv[i + 1]);
    if (std::string(argv[i]) == "--budget") budget = std::atof(argv[i + 1]);
  }
  gradus::set_thread_count(threads);
  std::printf("# %s\n", gradus::kernels::name_of(gradus::kernels::isa()));
  const auto print = [&](const char* name, double value) {
    std::printf("%s\t%d\t%.4g\n", name, threads, value);
  };
  print("gflops", bench::peak_gflops(budget, threads));
  print("gops", bench::peak_gops(budget, threads));
  constexpr std::int64_t kKiB = 1024, kMiB = kKiB * kKiB;
  const std::pair<const char*, std::int64_t> levels[] = {
      {"L1", 24 * kKiB}, {"L2", 256 * kKiB}, {"L3", 4 * kMiB}, {"DRAM", 192 * kMiB}};
  for (const auto& [name, bytes] : levels) print(name, bench::memory_rate(budget, threads, bytes));
  return 0;
}
