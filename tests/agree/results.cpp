// What C++ makes of programs, for tests/python/test_agree.py:
//   agree_results OUT.npz PROGRAMS.txt...                 eager results
//   agree_results --save FOLDER PROGRAMS.txt...           compiled functions, as FOLDER/NAME.gradus
//   agree_results --run FOLDER OUT.npz PROGRAMS.txt...    results of functions in that folder
#include <filesystem>
#include <iostream>

#include "agree/derivatives.h"

namespace agree {
namespace {

constexpr std::int64_t kRows = 4;
using Results = std::map<std::string, Tensor>;

void add(Results& results, const Program& p, const char* kind, const Tensors& all) {
  for (std::size_t k = 0; k < all.size(); ++k)
    results[p.name + "/" + kind + std::to_string(k)] = all[k];
}

void add_eager(Results& results, const Program& p) {
  const Point at = point_of(p, kRows, 0);
  add(results, p, "v", value(p, at));
  if (p.has("nograd")) return;
  add(results, p, "g", gradient(p, at));
  if (!p.has("nohvp")) add(results, p, "h", hessian_product(p, at));
}

void save(const Program& p, const std::string& path) {
  const auto f = gd::function([&](const Tensors& x) { return run(p, x); });
  f(inputs_of(p, kRows, 0));
  gd::save_function(path, f.saved());
}

// Calls f(program) for the programs of all files; what it throws is printed.
template <class F>
void for_programs(const std::vector<std::string>& files, F f) {
  for (const std::string& file : files) {
    for (const Program& p : read_programs(file)) {
      try {
        f(p);
      } catch (const std::exception& e) {
        std::cerr << p.name << ": " << e.what() << "\n";
      }
    }
  }
}

int main_of(std::vector<std::string> words) {
  const auto take = [&] {
    std::string first = words.at(0);
    words.erase(words.begin());
    return first;
  };
  const std::string mode = take();
  if (mode == "--save") {
    const std::string folder = take();
    for_programs(words, [&](const Program& p) { save(p, folder + "/" + p.name + ".gradus"); });
    return 0;
  }
  Results results;
  if (mode == "--run") {
    const std::string folder = take(), out = take();
    for_programs(words, [&](const Program& p) {
      const std::string path = folder + "/" + p.name + ".gradus";
      if (std::filesystem::exists(path))
        add(results, p, "v", gd::load_function(path)(inputs_of(p, kRows, 0)));
    });
    gd::save_npz(out, results);
  } else {
    for_programs(words, [&](const Program& p) { add_eager(results, p); });
    gd::save_npz(mode, results);
  }
  return 0;
}

}  // namespace
}  // namespace agree

int main(int argc, char** argv) {
  return agree::main_of(std::vector<std::string>(argv + 1, argv + argc));
}
