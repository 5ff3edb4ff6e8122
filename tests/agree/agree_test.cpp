// The same programs in all modes: eager, compiled, saved and loaded, mapped, by forward and reverse
// mode, with one thread and two; and beside numbers that another library computed in float64
// (tools/agree_reference.py). tests/python/test_agree.py does the same in Python, and compares the
// bits of both languages.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "agree/compare.h"
#include "agree/derivatives.h"

namespace agree {
namespace {

constexpr std::int64_t kRows = 4, kOtherRows = 5, kManyRows = 700;

const std::vector<Program>& programs() {
  static const std::vector<Program> all = [] {
    std::vector<Program> read;
    const char* only = std::getenv("GRADUS_AGREE_ONLY");  // part of a name
    const char* more = std::getenv("GRADUS_AGREE_FILE");  // instead of those of the tree
    std::vector<std::string> paths = {AGREE_FOLDER "/programs.txt", AGREE_FOLDER "/random.txt"};
    if (more) paths = {more};
    for (const std::string& path : paths)
      for (Program& p : read_programs(path))
        if (!only || p.name.find(only) != std::string::npos) read.push_back(std::move(p));
    return read;
  }();
  return all;
}

const References& references() {
  static const References all = read_references(AGREE_FOLDER "/reference.txt");
  return all;
}

// How much rounding errors may have grown in a result. Programs that round on their way say so.
double amplification(const Program& p, const std::string& result) {
  const double rounds = p.has("single") ? 0x1p29 : p.has("half") ? 0x1p13 : 1;
  const auto of_program = references().find(p.name);
  if (of_program == references().end()) return 512 * rounds;
  const auto at = of_program->second.find(result);
  return at == of_program->second.end() ? 512 * rounds : at->second.amplification * rounds;
}

// What counts as large in a result. Without a reference nobody knows whether a number that is
// small is the rest of larger ones.
double least(const Program& p) { return references().count(p.name) ? 0 : 1; }

// Calls check(program) for all programs; what it throws or says fails, with the program's name.
template <class Check>
void for_all(const char* mode, const char* without, Check check) {
  int count = 0;
  std::string failures;
  for (const Program& p : programs()) {
    if (p.has(without)) continue;
    ++count;
    const auto fail = [&](const std::string& what) {
      failures += p.name + ", " + mode + ": " + what + "\n";
    };
    try {
      check(p, fail);
    } catch (const std::exception& e) {
      fail(std::string("threw ") + e.what());
    }
  }
  EXPECT_GT(count, 0);
  EXPECT_TRUE(failures.empty()) << failures;
}

using Fail = std::function<void(const std::string&)>;

void expect_close(const Program& p, const char* kind, const Tensors& got, const Tensors& expected,
                  const std::string& where, const Fail& fail) {
  if (got.size() != expected.size()) return fail(where + ": another number of results");
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string result = kind + std::to_string(i);
    const std::string difference =
        differs(got[i], expected[i], 4 * amplification(p, result), least(p));
    if (!difference.empty()) fail(where + ", " + result + ": " + difference);
  }
}

void expect_same_bits(const char* kind, const Tensors& got, const Tensors& expected,
                      const std::string& where, const Fail& fail) {
  if (got.size() != expected.size()) return fail(where + ": another number of results");
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!same_bits(got[i], expected[i]))
      fail(where + ", " + kind + std::to_string(i) + ": " + differs(got[i], expected[i], 0, 0));
}

void expect_reference(const Program& p, const char* kind, const Tensors& got, const Fail& fail) {
  const auto of_program = references().find(p.name);
  if (of_program == references().end()) return;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string result = kind + std::to_string(i);
    const auto at = of_program->second.find(result);
    if (at == of_program->second.end()) continue;
    Expected expected = at->second;
    expected.amplification = amplification(p, result);
    const std::string difference = differs(got[i], expected);
    if (!difference.empty()) fail(result + ": " + difference);
  }
}

// A function of a point, compiled.
template <class F>
auto compiled(const Program& p, F f) {
  return gd::function([&p, f](const Tensors& inputs, const Tensors& weights, const Tensors& v) {
    return f(p, Point{inputs, weights, v});
  });
}
template <class F>
Tensors call(const F& f, const Point& at) {
  return f(at.inputs, at.weights, at.directions);
}

TEST(Agree, ValuesAreThoseOfTheReference) {
  for_all("value", "", [](const Program& p, const Fail& fail) {
    expect_reference(p, "v", value(p, point_of(p, kRows, 0)), fail);
  });
}

TEST(Agree, EveryProgramHasAReferenceOrSaysWhyNot) {
  for_all("reference", "noref", [](const Program& p, const Fail& fail) {
    if (!std::getenv("GRADUS_AGREE_FILE") && !references().count(p.name)) fail("none");
  });
}

TEST(Agree, GradientsAreThoseOfTheReference) {
  for_all("gradient", "nograd", [](const Program& p, const Fail& fail) {
    expect_reference(p, "g", gradient(p, point_of(p, kRows, 0)), fail);
  });
}

TEST(Agree, SecondOrderIsThatOfTheReferenceInTwoWays) {
  for_all("hvp", "nograd", [](const Program& p, const Fail& fail) {
    if (p.has("nohvp")) return;
    const Point at = point_of(p, kRows, 0);
    const Tensors forward = hessian_product(p, at);
    expect_reference(p, "h", forward, fail);
    expect_close(p, "h", hessian_product2(p, at), forward, "reverse over reverse", fail);
  });
}

TEST(Agree, ForwardModeIsTheTransposeOfReverseMode) {
  for_all("jvp", "nograd", [](const Program& p, const Fail& fail) {
    const Point at = point_of(p, kRows, 0);
    if (at.directions.empty()) return;
    const Tensors g = gradient(p, at);
    const Tensor along = loss_along(p, at);
    // Rounding errors of a sum are those of its largest terms.
    double terms = least(p), allowed = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
      const Tensor products = gd::abs(g[i]) * gd::abs(at.directions[i]);
      const double sum = gd::reduce_sum(gd::cast(products, gd::float64)).item<double>();
      terms += sum;
      allowed =
          std::max(allowed, epsilon_of(g[i].dtype()) * amplification(p, "g" + std::to_string(i)));
    }
    const double forward = along.item<double>(), backward = dot(g, at.directions);
    if (!(std::abs(forward - backward) <= 4 * kUnits * allowed * terms))
      fail("forward " + std::to_string(forward) + ", backward " + std::to_string(backward));
  });
}

template <class F>
void expect_compiled(const Program& p, const char* kind, F f, const Fail& fail) {
  const Point at = point_of(p, kRows, 0);
  const auto g = compiled(p, f);
  const Tensors expected = f(p, at);
  expect_close(p, kind, call(g, at), expected, "first call", fail);
  if (p.has_batch() && !p.has("nosize")) {
    for (const std::int64_t rows : {kOtherRows, std::int64_t{1}, std::int64_t{0}, kOtherRows + 2}) {
      Point other;
      Tensors eager;
      try {
        other = point_of(p, rows, 1);
        eager = f(p, other);
      } catch (const gd::Error&) {
        if (rows > 1) throw;
        continue;  // the program needs more rows
      }
      expect_close(p, kind, call(g, other), eager, std::to_string(rows) + " rows", fail);
    }
  }
  const Point changed = point_of(p, kRows, 2);
  expect_close(p, kind, call(g, changed), f(p, changed), "other values", fail);
  expect_close(p, kind, call(g, at), expected, "last call", fail);
}

TEST(Agree, CompiledValues) {
  for_all("compiled value", "nocompile",
          [](const Program& p, const Fail& fail) { expect_compiled(p, "v", value, fail); });
}

TEST(Agree, CompiledGradients) {
  for_all("compiled gradient", "nograd", [](const Program& p, const Fail& fail) {
    if (!p.has("nocompile")) expect_compiled(p, "g", gradient, fail);
  });
}

TEST(Agree, CompiledSecondOrder) {
  for_all("compiled hvp", "nograd", [](const Program& p, const Fail& fail) {
    if (p.has("nocompile") || p.has("nohvp")) return;
    const Point at = point_of(p, kRows, 0);
    expect_close(p, "h", call(compiled(p, hessian_product), at), hessian_product(p, at), "", fail);
  });
}

// A compiled function under a tape is another program than the plain one.
TEST(Agree, GradientsOfCompiledFunctions) {
  for_all("gradient of compiled", "nograd", [](const Program& p, const Fail& fail) {
    if (p.has("nocompile")) return;
    const Point at = point_of(p, kRows, 0);
    const auto f = gd::function([&](const Tensors& x) { return run(p, x); });
    gd::GradientTape tape;
    Tensors x;
    for (std::size_t i : p.sources()) {
      tape.watch(at.inputs[i]);
      x.push_back(at.inputs[i]);
    }
    const Tensors y = f(at.inputs);
    Tensors targets;
    for (const Tensor& t : y)
      if (gd::is_differentiable(t.dtype())) targets.push_back(t);
    Tensors got;
    for (const gd::Gradient& g :
         tape.gradient(targets, std::vector<gd::Source>(x.begin(), x.end()),
                       {.output_gradients = at.weights, .unconnected = gd::Unconnected::zero}))
      got.push_back(g.tensor());
    expect_close(p, "g", got, gradient(p, at), "", fail);
  });
}

gd::LoadedFunction saved_and_loaded(const gd::SavedFunction& saved, bool in_file) {
  // Files are synchronised with the disk, which is slow: some go through one, the others are read
  // from the same text.
  if (!in_file) return gd::LoadedFunction(saved);
  const std::string path = ::testing::TempDir() + "agree" + std::to_string(getpid()) + ".gradus";
  gd::save_function(path, saved);
  gd::LoadedFunction read = gd::load_function(path);
  std::remove(path.c_str());
  return read;
}

Tensors flat(const Point& at) {
  Tensors all = at.inputs;
  all.insert(all.end(), at.weights.begin(), at.weights.end());
  all.insert(all.end(), at.directions.begin(), at.directions.end());
  return all;
}

template <class F>
void expect_saved(const Program& p, const char* kind, F f, const Fail& fail) {
  const Point at = point_of(p, kRows, 0);
  const auto g = compiled(p, f);
  const Tensors expected = call(g, at);
  const bool in_file = p.name.size() % 16 == 0;
  expect_same_bits(kind, saved_and_loaded(g.saved(), in_file)(flat(at)), expected, "", fail);
  if (!p.has_batch() || p.has("nosize")) return;
  // A program that serves all sizes, at a size that it has not seen.
  call(g, point_of(p, kOtherRows, 1));
  const int traces = g.trace_count();
  const Point other = point_of(p, kOtherRows + 2, 1);
  call(g, other);
  if (g.trace_count() > traces) return;  // it has a trace for each size
  expect_close(p, kind, saved_and_loaded(g.saved(), in_file)(flat(other)), f(p, other), "any size",
               fail);
}

TEST(Agree, SavedAndLoaded) {
  for_all("saved", "nocompile", [](const Program& p, const Fail& fail) {
    if (!p.has("nosave")) expect_saved(p, "v", value, fail);
  });
}

TEST(Agree, SavedAndLoadedGradients) {
  for_all("saved gradient", "nograd", [](const Program& p, const Fail& fail) {
    if (!p.has("nocompile") && !p.has("nosave")) expect_saved(p, "g", gradient, fail);
  });
}

template <class F>
void expect_mapped(const Program& p, const char* kind, F f, const Fail& fail) {
  std::vector<Tensors> each;
  std::vector<Tensors> columns;  // the tensors of a point, over the examples
  for (std::uint32_t variant = 0; variant < 3; ++variant) {
    const Point at = point_of(p, kRows, variant);
    each.push_back(f(p, at));
    const Tensors all = flat(at);
    columns.resize(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) columns[i].push_back(all[i]);
  }
  Point batch;
  const std::size_t inputs = p.inputs.size(), sources = p.has("nograd") ? 0 : p.sources().size();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Tensors& part = i < inputs                     ? batch.inputs
                    : i < columns.size() - sources ? batch.weights
                                                   : batch.directions;
    part.push_back(gd::stack(columns[i]));
  }
  Tensors expected;
  for (std::size_t i = 0; i < each[0].size(); ++i) {
    Tensors parts;
    for (const Tensors& example : each) parts.push_back(example[i]);
    expected.push_back(gd::stack(parts));
  }
  const auto mapped = gd::vmap([&](const Tensors& x, const Tensors& w, const Tensors& v) {
    return f(p, Point{x, w, v});
  });
  expect_close(p, kind, call(mapped, batch), expected, "mapped", fail);
  if (p.has("nocompile")) return;
  expect_close(p, kind, call(gd::function(mapped), batch), expected, "mapped and compiled", fail);
  expect_close(p, kind, call(gd::vmap(compiled(p, f)), batch), expected, "compiled and mapped",
               fail);
}

TEST(Agree, MappedValues) {
  for_all("vmap", "novmap",
          [](const Program& p, const Fail& fail) { expect_mapped(p, "v", value, fail); });
}

TEST(Agree, MappedGradients) {
  for_all("vmap of gradient", "novmap", [](const Program& p, const Fail& fail) {
    if (!p.has("nograd")) expect_mapped(p, "g", gradient, fail);
  });
}

TEST(Agree, ThreadsGiveTheSameBits) {
  const int before = gd::thread_count();
  for_all("threads", "nobig", [](const Program& p, const Fail& fail) {
    gd::set_thread_count(1);
    const Point at = point_of(p, p.has_batch() ? kManyRows : kRows, 0);
    const bool compiles = !p.has("nocompile"), derives = !p.has("nograd");
    const auto all = [&] {
      Tensors results = value(p, at);
      const auto add = [&](const Tensors& more) {
        results.insert(results.end(), more.begin(), more.end());
      };
      if (derives) add(gradient(p, at));
      if (derives && compiles) add(call(compiled(p, gradient), at));
      return results;
    };
    const Tensors one = all();
    gd::set_thread_count(2);
    expect_same_bits("", all(), one, "2 threads", fail);
  });
  gd::set_thread_count(before);
}

}  // namespace
}  // namespace agree
