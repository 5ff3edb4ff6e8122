// Programs that ask about sizes which their run finds: each of them once failed, crashed or hung.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <tuple>

#include "gradus/gradus.h"

namespace gradus {
namespace {

// A guard about a size found inside of a branch, and one about a size found behind it: attempts to
// run the program must not forget what the one before had found.
TEST(FoundSizeQuestions, AttemptsRememberWhatBranchesFound) {
  const auto from = [](const Tensor& x, const Tensor& n) {
    return index(x, {Slice{.begin = to_size(n)}});
  };
  const auto f = [&](const Tensor& x) {
    const Tensor y = cond(
        reduce_sum(x) > 0, [&] { return from(x, count_nonzero(x > 2.0)); }, [&] { return x; });
    return from(x, count_nonzero(y > 1.0));
  };
  const Tensor x({-1.0, 1.5, 3.0, -0.5});
  EXPECT_EQ(to_string(function(f)(x)), to_string(f(x)));
}

// Guards were asked about, which can add one, while they were iterated.
TEST(FoundSizeQuestions, LargestOfAFoundCountInALoop) {
  const auto f = [](const Tensor& x) {
    const Tensor turns = count_nonzero(x > 0.3);
    return std::get<1>(
        while_loop([&](Tensor i, Tensor) { return i < turns; },
                   [&](Tensor i, Tensor y) {
                     const Tensor k = minimum(count_nonzero(y > -0.6), dynamic_size(y.shape()[0]));
                     return std::tuple(i + 1, y + reduce_sum(top_k(y, to_size(k)).values));
                   },
                   std::tuple(Tensor(std::int64_t{0}), x)));
  };
  const Tensor x({0.31, 1.0, -2.0, 3.0});
  EXPECT_EQ(to_string(function(f)(x)), to_string(f(x)));
}
TEST(FoundSizeQuestions, SliceFromAFoundPlaceInALoopOfNothing) {
  const auto f = [](const Tensor& x) {
    const Tensor turns = count_nonzero(x < 9.0) * 0 + 1;
    return std::get<1>(while_loop([&](Tensor i, Tensor) { return i < turns; },
                                  [&](Tensor i, Tensor y) {
                                    const Size n = to_size(count_nonzero(y > 0));
                                    return std::tuple(i + 1, index(y, {Slice{.begin = n}}));
                                  },
                                  std::tuple(Tensor(std::int64_t{0}), x)));
  };
  const Tensor x = zeros({0}, float64);
  EXPECT_EQ(to_string(function(f)(x)), to_string(f(x)));
}

// A loop in C++ over a size that is found is unrolled as often as the call says.
TEST(FoundSizeQuestions, LoopsInCppOverFoundSizesEnd) {
  const auto f = [](const Tensor& x) {
    const Size n = to_size(count_nonzero(x > 0));
    Tensor y = x;
    for (std::int64_t i = 0; i < n; ++i) y = y * 2;
    return y;
  };
  const Tensor x({1.0, -2.0, 3.0});
  EXPECT_EQ(to_string(function(f)(x)), to_string(f(x)));
}

// gradus/size.h says that a size can be used like any number.
TEST(FoundSizeQuestions, FoundSizesAsNumbers) {
  const auto f = [](const Tensor& x) {
    return x * static_cast<double>(std::int64_t{to_size(count_nonzero(x > 0))});
  };
  const Tensor x({1.0, -2.0, 3.0});
  EXPECT_EQ(to_string(function(f)(x)), to_string(f(x)));
}

// More than 16 sizes that are found one behind the other and asked about.
TEST(FoundSizeQuestions, ManyFoundSizesThatAreAskedAbout) {
  const auto f = [](const Tensor& given) {
    Tensor x = given;
    for (int i = 0; i < 17; ++i) {
      x = boolean_mask(x, x > 0.0) - 0.05;
      x = x.shape()[0] < 4 ? x * 1.5 : x * 0.5;
    }
    return reduce_sum(x);
  };
  const Tensor x({1.0, 2.0, 3.0});
  EXPECT_EQ(to_string(function(f)(x)), to_string(f(x)));
}

// A scan over no rows gives no rows, eagerly too.
TEST(FoundSizeQuestions, ScanOverNoRows) {
  const auto f = [](const Tensor& x) {
    return scan([](const Tensor& s, const Tensor& r) { return std::pair(s + r, s * r); },
                Tensor(1.0), boolean_mask(x, x > 0))
        .second;
  };
  const Tensor x({-1.0, -2.0});
  EXPECT_EQ(to_string(function(f)(x)), "[]");
  EXPECT_EQ(to_string(f(x)), "[]");
}

// A program that asked about a size that is found, saved after a call and loaded, serves the
// arguments of that call.
TEST(FoundSizeQuestions, SavedProgramsThatAsked) {
  const auto count = [](const Tensor& x) { return to_size(count_nonzero(x > 0)); };
  const std::function<Tensor(const Tensor&)> all[] = {
      [&](const Tensor& x) { return top_k(x, count(x)).values; },
      [&](const Tensor& x) { return index(x, {Slice{.begin = count(x)}}); }};
  for (const auto& f : all) {
    const auto compiled = function(f);
    for (const Tensor& x : {Tensor({1.0, -2.0, 3.0}), Tensor({1.0, 2.0}), Tensor({-1.0}),
                            Tensor({2.0}), zeros({0}, float64)}) {
      compiled(x);
      EXPECT_NO_THROW(
          EXPECT_EQ(to_string(LoadedFunction(compiled.saved())({x})[0]), to_string(f(x))));
    }
  }
}

// Few programs: x[:n] asks which ends are inside,
template <class F>
int traces_of(F f, const std::vector<Tensor>& calls) {
  const auto compiled = function(f);
  for (const Tensor& x : calls) compiled(x);
  return compiled.trace_count();
}
const std::vector<Tensor> kCalls = {Tensor({1.0, -2.0, 3.0, 2.0}), Tensor({1.0, 2.0, -2.0}),
                                    Tensor({-1.0, -2.0}),          Tensor({1.0, 2.0, 3.0}),
                                    zeros({0}, float64),           Tensor({5.0})};
TEST(FoundSizeQuestions, TracesOfASliceToAFoundPlace) {
  EXPECT_LE(
      traces_of(
          [](const Tensor& x) { return index(x, {Slice{.end = to_size(count_nonzero(x > 0))}}); },
          kCalls),
      3);
}
// the gradient of sums over groups asks nothing,
TEST(FoundSizeQuestions, TracesOfTheGradientOfSumsOverGroups) {
  EXPECT_LE(traces_of(
                [](const Tensor& x) {
                  return grad([](const Tensor& v) {
                    const Unique u = unique(cast(v > 0, int32));
                    return reduce_sum(square(unsorted_segment_sum(v, u.idx, u.y.shape()[0])));
                  })(x);
                },
                kCalls),
            2);
}
// and what the body of a loop asks in a trace that is dropped is forgotten.
TEST(FoundSizeQuestions, TracesOfSlicesInALoop) {
  EXPECT_LE(
      traces_of(
          [](const Tensor& x) {
            const Tensor turns = count_nonzero(x > 0);
            return std::get<1>(while_loop(
                [&](Tensor i, Tensor) { return i < turns; },
                [](Tensor i, Tensor y) { return std::tuple(i + 1, index(y, {Slice{.begin = 1}})); },
                std::tuple(Tensor(std::int64_t{0}), x)));
          },
          kCalls),
      2);
}

// The hint of a size that hangs on another one that is found.
TEST(FoundSizeQuestions, LoopsOverTheRowsOfTwoMasks) {
  const auto f = [](const Tensor& x) {
    Tensor p = boolean_mask(x, x > 0);
    p = boolean_mask(p * ones({p.shape()[0]}, float64), p > 1);
    Tensor y = reduce_sum(p);
    for (std::int64_t i = 0; i < p.shape()[0]; ++i) y = y * 2 + 1;
    return y;
  };
  const auto compiled = function(f);
  for (const Tensor& x : {Tensor({1.5, -2.0, 3.0, 0.5}), Tensor({2.0, 2.0, 2.0, 2.0}),
                          Tensor({-1.0, -1.0, 0.5, 0.25})})
    EXPECT_EQ(compiled(x).item<double>(), f(x).item<double>());
}

// A run that stops at a question is made again with the same random numbers: were they drawn anew,
// rare answers would become rarer.
TEST(FoundSizeQuestions, RandomNumbersKeepTheirDistribution) {
  random::set_seed(5);
  const auto f = function([] {
    const Tensor r = random::normal({3}, {.dtype = float64});
    return boolean_mask(r, r > 0).shape()[0] > 2 ? Tensor(1.0) : Tensor(0.0);
  });
  double sum = 0;
  constexpr int kCalls = 2000;
  for (int i = 0; i < kCalls; ++i) sum += f().item<double>();
  EXPECT_NEAR(sum / kCalls, 0.125, 0.03);  // four standard deviations
}

TEST(FoundSizeQuestions, ReshapeOfNothing) {
  EXPECT_EQ(reshape(zeros({0, 6, 2}), {0, -1, 2}).shape(), (Shape{0, 6, 2}));
  EXPECT_THROW(reshape(zeros({0}), {0, std::int64_t{1} << 32, std::int64_t{1} << 32, -1}),
               ResourceExhaustedError);
}

}  // namespace
}  // namespace gradus
