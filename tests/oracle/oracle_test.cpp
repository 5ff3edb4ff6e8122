// The engine against the oracle: random programs over all ops, at random points, along random
// directions, by every mix of the ways to differentiate, up to order 5, eager and compiled. Points
// at kinks are not looked at here: docs/ops.md lists what happens there, and tests of its own
// evaluate that table.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "oracle/runs.h"

namespace oracle {
namespace {

// Compares cases until a few were found wrong; counts those that could be compared.
class Comparison {
 public:
  bool operator()(std::uint64_t seed, CaseOptions options, gd::DType dtype = gd::float64) {
    ++tried_;
    std::optional<Case> c = random_case(seed, options);
    options.complex = true;  // some ops take nothing else
    if (!c) c = random_case(seed, options);
    if (!c) return true;
    c->dtype = dtype;
    try {
      const bool agrees = difference(*c).empty();
      ++compared_;
      if (agrees) return true;
    } catch (const Rejected&) {
      return true;
    }
    ADD_FAILURE() << "seed " << seed << ": " << report(*c);
    return ++wrong_ < 3;
  }
  // A test of points that are all rejected would show nothing.
  void expect_most() const {
    report_count(compared_, tried_);
    EXPECT_GE(2 * compared_, wrong_ ? 0 : tried_) << compared_ << " of " << tried_;
  }

 private:
  int tried_ = 0, compared_ = 0, wrong_ = 0;
};

// Every mix of forward, reverse and hvp.
std::vector<std::string> words_of(int order, const std::string& letters) {
  if (order == 0) return {""};
  std::vector<std::string> all;
  for (const char mode : letters) {
    if (order_of(mode) > order) continue;
    for (const std::string& rest : words_of(order - order_of(mode), letters))
      all.push_back(mode + rest);
  }
  return all;
}
std::vector<std::string> all_words() {
  std::vector<std::string> all;
  for (int order = 1; order <= kMaxOrder; ++order)
    for (const std::string& word : words_of(order, "frh")) all.push_back(word);
  return all;
}

class EveryMix : public testing::TestWithParam<std::string> {};

TEST_P(EveryMix, AgreesOnRandomPrograms) {
  CaseOptions options;
  options.word = GetParam();
  options.order = 0;
  for (const char mode : options.word) options.order += order_of(mode);
  Comparison agrees;
  for_each_seed(std::hash<std::string>()(GetParam()) % 1000, 10, [&](std::uint64_t seed) {
    options.complex = seed % 5 == 0;
    options.compiled = seed % 2;
    options.lines = 1 + static_cast<int>(seed % 5);
    return agrees(seed, options);
  });
  agrees.expect_most();
}
INSTANTIATE_TEST_SUITE_P(UpToOrderFive, EveryMix, testing::ValuesIn(all_words()),
                         [](const auto& info) { return info.param; });

// The functions of one variable that people try first, in every mix up to order 4.
TEST(OrdinaryFunctions, AgreeInEveryMix) {
  const std::vector<std::vector<std::string>> programs = {{"square", "sin"},
                                                          {"square", "exp"},
                                                          {"square", "sqrt"},
                                                          {"square", "atan"},
                                                          {"square", "number_over"},
                                                          {"sin", "square"},
                                                          {"tanh", "square"},
                                                          {"exp", "log1p"},
                                                          {"multiply"},
                                                          {"divide"},
                                                          {"square", "multiply"},
                                                          {"sigmoid", "multiply"},
                                                          {"sin", "divide"},
                                                          {"pow_number"},
                                                          {"root"},
                                                          {"square", "plus_number", "sqrt"},
                                                          {"softplus", "square"},
                                                          {"erf", "multiply"},
                                                          {"cos", "reciprocal"},
                                                          {"square", "tanh"}};
  for (const auto& names : programs) {
    for (int order = 1; order <= 4; ++order) {
      for (const std::string& word : words_of(order, "frh")) {
        Case c;
        c.program.inputs = {{2}};
        c.program.complex_inputs = {false};
        c.at = {{1.5, 0.75}};
        Maker maker(1, c.program, {Reals({2}, Nil(1.5L))});
        for (const std::string& name : names) ASSERT_TRUE(maker.try_op(op_named(name))) << name;
        for (const char mode : word) {
          Level level;
          level.mode = mode;
          level.along.numbers = {{1, 0.5}};
          level.second.numbers = {{0.5, -1}};
          c.word.push_back(level);
        }
        for (const bool compiled : {false, true}) {
          c.word.back().compiled = compiled;
          if (!difference(c).empty()) ADD_FAILURE() << report(c);
        }
      }
    }
  }
}

class EveryOp : public testing::TestWithParam<std::string> {};

TEST_P(EveryOp, AgreesInRandomPrograms) {
  CaseOptions options;
  options.op = &op_named(GetParam());
  Comparison agrees;
  for_each_seed(1000, 30, [&](std::uint64_t seed) {
    options.order = 1 + static_cast<int>(seed % 4);
    options.complex = seed % 3 == 0;
    options.lines = 1 + static_cast<int>(seed % 3);
    return agrees(seed, options);
  });
  agrees.expect_most();
}
std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const OpDef& op : all_ops())
    if (op.name != "fit" && op.name != "into") all.push_back(op.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Ops, EveryOp, testing::ValuesIn(names()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

// Longer programs, all ways to differentiate.
class RandomPrograms : public testing::TestWithParam<int> {};

TEST_P(RandomPrograms, Agree) {
  const auto first = 100000 * static_cast<std::uint64_t>(1 + GetParam());
  Comparison agrees;
  for_each_seed(first, 700, [&](std::uint64_t seed) {
    CaseOptions options;
    options.order = 1 + static_cast<int>(seed % kMaxOrder);
    options.lines = 2 + static_cast<int>(seed % 9);
    options.complex = seed % 7 == 0;
    return agrees(seed, options);
  });
  agrees.expect_most();
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, testing::Range(0, 4));

TEST(RandomProgramsInFloat32, Agree) {
  Comparison agrees;
  for_each_seed(900000, 150, [&](std::uint64_t seed) {
    return agrees(seed, {.order = 1 + static_cast<int>(seed % 2), .lines = 3}, gd::float32);
  });
  agrees.expect_most();
}

}  // namespace
}  // namespace oracle
