// The harness that Gradus and its peers share, so that both are timed by the same code.
//
// A program lists its cases and calls run_cases. It prints "# title", then one line per case,
// separated by tabs:
//   name  threads  best_us  best_cpu_us  check
// A sample repeats the step until it lasts 0.3 ms; the best sample counts. The processor time tells
// how busy the machine was. `check` is what the third step returned (a loss, a norm):
// bench/compare.py refuses to compare two programs that did not compute the same thing.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace bench {

// One step of the work. Only when asked (`want_check`) does it read its result back.
using Step = std::function<double(bool want_check)>;

struct Case {
  std::string name;
  double per;                  // operations in a step: the time is divided by it
  std::function<Step()> make;  // builds the inputs and the model; not timed
};

struct Timing {
  double best_us, best_cpu_us, check;
};

inline double wall_seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

inline double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline Timing measure(const Case& c, double budget) {
  constexpr double kSample = 3e-4;
  const Step step = c.make();
  step(false);
  step(false);
  const double check = step(true);

  const double start = wall_seconds();
  step(false);
  const double one = std::max(wall_seconds() - start, 1e-9);
  const int repeats = std::max(1, static_cast<int>(kSample / one) + (one < kSample));
  double best = 1e30, best_cpu = 1e30;
  for (int samples = 0; samples < 3 || wall_seconds() - start < budget; ++samples) {
    const double cpu = cpu_seconds(), wall = wall_seconds();
    for (int i = 0; i < repeats; ++i) step(false);
    best = std::min(best, (wall_seconds() - wall) / repeats);
    best_cpu = std::min(best_cpu, (cpu_seconds() - cpu) / repeats);
  }
  return {best * 1e6 / c.per, best_cpu * 1e6 / c.per, check};
}

// The main of a program: [--threads N] [--budget SECONDS] [--only name,name].
inline int run_cases(int argc, char** argv, const std::string& title, void (*set_threads)(int),
                     const std::vector<Case>& cases) {
  int threads = 1;
  double budget = 0.2;
  std::string only;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--threads") threads = std::atoi(argv[i + 1]);
    if (option == "--budget") budget = std::atof(argv[i + 1]);
    if (option == "--only") only = "," + std::string(argv[i + 1]) + ",";
  }
  set_threads(threads);
  std::printf("# %s\n", title.c_str());
  int failed = 0;
  for (const Case& c : cases) {
    if (!only.empty() && only.find("," + c.name + ",") == std::string::npos) continue;
    try {
      const Timing t = measure(c, budget);
      std::printf("%s\t%d\t%.6g\t%.6g\t%.9g\n", c.name.c_str(), threads, t.best_us, t.best_cpu_us,
                  t.check);
      std::fflush(stdout);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: %s\n", c.name.c_str(), e.what());
      ++failed;
    }
  }
  return failed ? 1 : 0;
}

}  // namespace bench
