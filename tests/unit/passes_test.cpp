// Each pass of the compiler on graphs written as text.
#include <cmath>
#include <cstring>
#include <limits>

#include "compile/executable.h"
#include "compile/passes/clean.h"
#include "compile/passes/expand.h"
#include "compile/passes/fuse.h"
#include "compile/passes/pipeline.h"
#include "compile/passes/remat.h"
#include "compile/passes/simplify.h"
#include "gradus/gradus.h"
#include "graph/evaluate.h"
#include "graph_text_util.h"
#include "ops/identities.h"
#include "ops/registry.h"

namespace gradus {
namespace {

using GraphPtr = std::shared_ptr<Graph>;
GraphPtr cleaned(const GraphPtr& g) { return clean(*g); }
GraphPtr expanded(const GraphPtr& g) { return expand(*g); }
GraphPtr simplified(const GraphPtr& g) { return clean(*simplify(*g)); }

TEST(CleanPass, DropsWhatNobodyNeeds) {
  expect_pass(cleaned,
              R"(%0 = input : float32 (3,)
                 %1 = input : float32 (3,)
                 %2 = exp(%0) : float32 (3,)
                 %3 = add(%2, %1) : float32 (3,)
                 %4 = tanh(%2) : float32 (3,)
                 return %4)",
              R"(%0 = input : float32 (3,)
                 %1 = input : float32 (3,)
                 %2 = exp(%0) : float32 (3,)
                 %3 = tanh(%2) : float32 (3,)
                 return %3)");
}

TEST(CleanPass, ComputesWhatIsConstant) {
  expect_pass(cleaned,
              R"(%0 = input : float32 (3,)
                 %1 = constant(2) : float32 ()
                 %2 = constant(3) : float32 ()
                 %3 = multiply(%1, %2) : float32 ()
                 %4 = square(%3) : float32 ()
                 %5 = add(%0, %4) : float32 (3,)
                 return %5)",
              R"(%0 = input : float32 (3,)
                 %1 = constant(36) : float32 ()
                 %2 = add(%0, %1) : float32 (3,)
                 return %2)");
}

TEST(CleanPass, DoesNotComputeWhatIsLarge) {
  const std::string text = R"(%0 = input : float32 (1000, 1000)
                              %1 = constant(2) : float32 ()
                              %2 = broadcast_to(%1, shape=(1000, 1000)) : float32 (1000, 1000)
                              %3 = add(%0, %2) : float32 (1000, 1000)
                              return %3)";
  expect_pass(cleaned, text, text);
}

TEST(CleanPass, LooksThroughViewsThatChangeNothingSoThatEqualOpsMeet) {
  expect_pass(cleaned,
              R"(%0 = input : float32 (s0, 3)
                 %1 = reshape(%0, shape=(s0, 3)) : float32 (s0, 3)
                 %2 = identity(%1) : float32 (s0, 3)
                 %3 = exp(%2) : float32 (s0, 3)
                 %4 = exp(%0) : float32 (s0, 3)
                 %5 = add(%3, %4) : float32 (s0, 3)
                 return %5)",
              R"(%0 = input : float32 (s0, 3)
                 %1 = exp(%0) : float32 (s0, 3)
                 %2 = add(%1, %1) : float32 (s0, 3)
                 return %2)");
}

TEST(ExpandPass, CompositesBecomeTheirBodies) {
  expect_pass(expanded,
              R"(%0 = input : float32 (2, 4)
                 %1 = reduce_mean(%0, axes=(1,), keepdims=False) : float32 (2,)
                 return %1)",
              R"(%0 = input : float32 (2, 4)
                 %1 = constant(4) : float32 ()
                 %2 = reduce_sum(%0, axes=(1,), keepdims=False) : float32 (2,)
                 %3 = divide(%2, %1) : float32 (2,)
                 return %3)");
}

TEST(FusePass, AChainWithARowReductionIsOneLoopAndAProductIsNot) {
  const auto graph = from_text(R"(%0 = input : float32 (s0, 8)
                                  %1 = input : float32 (8, 8)
                                  %2 = constant(2) : float32 ()
                                  %3 = multiply(%0, %2) : float32 (s0, 8)
                                  %4 = exp(%3) : float32 (s0, 8)
                                  %5 = reduce_sum(%4, axes=(1,), keepdims=True) : float32 (s0, 1)
                                  %6 = divide(%4, %5) : float32 (s0, 8)
                                  %7 = matmul(%6, %1, transpose_a=False, transpose_b=False) : float32 (s0, 8)
                                  %8 = tanh(%7) : float32 (s0, 8)
                                  return %8)");
  EXPECT_EQ(renamed(to_text(*fuse(*graph))),
            "%0 = input : float32 (s0, 8)\n"
            "%1 = input : float32 (8, 8)\n"
            "%2 = fused(%0, loop=[multiply, exp, reduce_sum, divide]) : float32 (s0, 8)\n"
            "%3 = matmul(%2, %1, transpose_a=False, transpose_b=False) : float32 (s0, 8)\n"
            "%4 = fused(%3, loop=[tanh]) : float32 (s0, 8)\n"
            "return %4\n");
}

TEST(FusePass, SumsOverRowsEndInTheLoopThatMakesTheirOperand) {
  const auto graph = from_text(R"(%0 = input : float32 (s0, 64)
                   %1 = input : float32 (s0, 64)
                   %2 = reduce_max(%0, axes=(1,), keepdims=True) : float32 (s0, 1)
                   %3 = subtract(%0, %2) : float32 (s0, 64)
                   %4 = reduce_sum(%3, axes=(0,), keepdims=True) : float32 (1, 64)
                   %5 = add(%3, %4) : float32 (s0, 64)
                   %6 = multiply(%3, %1) : float32 (s0, 64)
                   %7 = reduce_sum(%6, axes=(0, 1), keepdims=False) : float32 ()
                   %8 = reduce_sum(%1, axes=(0,), keepdims=False) : float32 (64,)
                   return %5, %7, %8)");
  EXPECT_EQ(renamed(to_text(*fuse(*graph))),
            "%0 = input : float32 (s0, 64)\n"
            "%1 = input : float32 (s0, 64)\n"
            "%2, %3, %4, %5 = fused(%0, %1, loop=[reduce_max, subtract, reduce_sum, multiply, "
            "reduce_sum, reduce_sum]) : float32 (s0, 64), float32 (1, 64), float32 (), float32 "
            "(64,)\n"
            "%6 = fused(%2, %3, loop=[add]) : float32 (s0, 64)\n"
            "return %6, %4, %5\n");
}

TEST(FusePass, SumsOverShortOrFewRowsAndBehindProductsAreKernels) {
  const auto fused_sum = [](const std::string& shape, const std::string& sum,
                            const std::string& dtype = "float32") {
    const std::string type = " : " + dtype + " ", full = type + shape + "\n";
    const auto graph = from_text("%0 = input" + full + "%1 = tanh(%0)" + full +
                                 "%2 = reduce_sum(%1, axes=(0,), keepdims=False)" + type + sum +
                                 "\nreturn %1, %2");
    return to_text(*fuse(*graph)).find("[tanh, reduce_sum]") != std::string::npos;
  };
  EXPECT_TRUE(fused_sum("(s0, 32)", "(32,)"));
  EXPECT_TRUE(fused_sum("(32, 8192)", "(8192,)"));
  EXPECT_TRUE(fused_sum("(32, 4, 8)", "(4, 8)", "float64"));
  EXPECT_FALSE(fused_sum("(s0, 31)", "(31,)"));
  EXPECT_FALSE(fused_sum("(s0, 8193)", "(8193,)"));
  EXPECT_FALSE(fused_sum("(s0, s1)", "(s1,)"));
  EXPECT_FALSE(fused_sum("(31, 64)", "(64,)"));
  EXPECT_FALSE(fused_sum("(64, 64)", "(64,)", "float16"));

  const auto product = from_text(
      R"(%0 = input : float32 (64, 64)
         %1 = matmul(%0, %0, transpose_a=False, transpose_b=False) : float32 (64, 64)
         %2 = tanh(%1) : float32 (64, 64)
         %3 = reduce_sum(%2, axes=(0,), keepdims=False) : float32 (64,)
         return %2, %3)");
  EXPECT_NE(to_text(*fuse(*product)).find("loop=[tanh])"), std::string::npos);
}

// One row for each identity: a graph, and what is left of it.
struct Simpler {
  const char* op;
  std::string before, after;
  bool same_bits = true;
};

// `lines` on x = %0, with the result in %9.
Simpler of(const char* op, const std::string& lines, const std::string& after,
           const std::string& x = "float32 (2, 3)", bool same_bits = true) {
  const std::string input = "%0 = input : " + x + "\n";
  return {op, input + lines + "\nreturn %9", input + after, same_bits};
}

std::vector<Simpler> simpler_forms() {
  const std::string f = " : float32 (2, 3)\n", b = " : bool (2, 3)\n", same = "return %0";
  const auto twice = [&](const char* op, const std::string& attrs,
                         const std::string& x = " : float32 (2, 3)\n") {
    return std::string("%1 = ") + op + "(%0" + attrs + ")" + x + "%9 = " + op + "(%1" + attrs +
           ")" + x;
  };
  const auto once = [&](const char* op) {
    return std::string("%9 = ") + op + "(%0)" + f + "return %9";
  };
  const auto with = [&](const char* op, const char* number) {
    return std::string("%1 = constant(") + number + ") : float32 ()\n%9 = " + op + "(%0, %1)" + f;
  };
  return {
      of("add", with("add", "-0"), same),
      of("add", "%1 = constant(0) : int32 ()\n%9 = add(%0, %1) : int32 (4,)", same, "int32 (4,)"),
      of("subtract", with("subtract", "0"), same),
      of("multiply", with("multiply", "1"), same),
      of("multiply", "%1 = constant(1, 1, 1) : float32 (3,)\n%9 = multiply(%1, %0)" + f, same),
      of("divide", with("divide", "1"), same),
      of("pow", with("pow", "1"), same),
      of("pow", with("pow", "2"), once("square"), "float32 (2, 3)", false),
      of("negative", twice("negative", ""), same),
      of("logical_not", twice("logical_not", "", b), same, "bool (2, 3)"),
      of("conj", twice("conj", "", " : complex64 (2,)\n"), same, "complex64 (2,)"),
      of("abs", "%1 = negative(%0)" + f + "%9 = abs(%1)" + f, once("abs")),
      of("square", "%1 = abs(%0)" + f + "%9 = square(%1)" + f, once("square")),
      of("relu", twice("relu", ""), once("relu")),
      of("floor", twice("floor", ""), once("floor")),
      of("ceil", twice("ceil", ""), once("ceil")),
      of("round", twice("round", ""), once("round")),
      of("sign", twice("sign", ""), once("sign")),
      of("maximum", "%9 = maximum(%0, %0)" + f, same),
      of("minimum", "%9 = minimum(%0, %0)" + f, same),
      of("where", "%1 = less(%0, %0)" + b + "%9 = where(%1, %0, %0)" + f, same),
      of("cast", "%1 = cast(%0, dtype=float64) : float64 (2, 3)\n%9 = cast(%1, dtype=float32)" + f,
         same),
      of("cast", "%9 = cast(%0, dtype=float32)" + f, same),
      of("reshape",
         "%1 = reshape(%0, shape=(6,)) : float32 (6,)\n%9 = reshape(%1, shape=(3, 2)) : float32 "
         "(3, 2)",
         "%9 = reshape(%0, shape=(3, 2)) : float32 (3, 2)\nreturn %9"),
      of("broadcast_to", "%9 = broadcast_to(%0, shape=(2, 3))" + f, same),
      of("broadcast_to",
         "%1 = broadcast_to(%0, shape=(2, 2, 3)) : float32 (2, 2, 3)\n"
         "%9 = broadcast_to(%1, shape=(4, 2, 2, 3)) : float32 (4, 2, 2, 3)",
         "%9 = broadcast_to(%0, shape=(4, 2, 2, 3)) : float32 (4, 2, 2, 3)\nreturn %9"),
      of("transpose",
         "%1 = transpose(%0, permutation=(1, 2, 0)) : float32 (3, 4, 2)\n"
         "%9 = transpose(%1, permutation=(1, 0, 2)) : float32 (4, 3, 2)",
         "%9 = transpose(%0, permutation=(2, 1, 0)) : float32 (4, 3, 2)\nreturn %9",
         "float32 (2, 3, 4)"),
      of("transpose",
         "%1 = transpose(%0, permutation=(1, 2, 0)) : float32 (3, 4, 2)\n"
         "%9 = transpose(%1, permutation=(2, 0, 1)) : float32 (2, 3, 4)",
         same, "float32 (2, 3, 4)"),
      of("transpose", "%9 = transpose(%0, permutation=(1, 0)) : float32 (s0, 1)",
         "%9 = reshape(%0, shape=(s0, 1)) : float32 (s0, 1)\nreturn %9", "float32 (1, s0)"),
      of("reverse", twice("reverse", ", axes=(1,)"), same),
      of("slice", "%9 = slice(%0, begin=(0, 0), size=(2, 3))" + f, same),
      of("pad_zeros", "%9 = pad_zeros(%0, before=(0, 0), after=(0, 0))" + f, same),
      of("pad_constant",
         "%1 = constant(7) : float32 ()\n%9 = pad_constant(%0, %1, before=(0, 0), after=(0, 0))" +
             f,
         same),
      of("concat", "%9 = concat(%0, axis=1)" + f, same),
      of("reduce_sum", "%9 = reduce_sum(%0, axes=(), keepdims=False)" + f, same),
      of("reduce_max", "%9 = reduce_max(%0, axes=(), keepdims=False)" + f, same),
      of("reduce_min", "%9 = reduce_min(%0, axes=(), keepdims=True)" + f, same),
      of("reduce_mean", "%9 = reduce_mean(%0, axes=(), keepdims=False)" + f, same),
      of("matmul",
         "%1 = transpose(%0, permutation=(1, 0)) : float32 (3, 2)\n"
         "%9 = matmul(%1, %1, transpose_a=True, transpose_b=False) : float32 (2, 2)",
         "%9 = matmul(%0, %0, transpose_a=False, transpose_b=True) : float32 (2, 2)\nreturn %9"),
      of("log", "%1 = softmax(%0)" + f + "%9 = log(%1)" + f, once("log_softmax"), "float32 (2, 3)",
         false),
      of("log",
         "%1 = exp(%0)" + f +
             "%2 = reduce_sum(%1, axes=(1,), keepdims=False) : float32 (2,)\n"
             "%9 = log(%2) : float32 (2,)",
         "%9 = reduce_logsumexp(%0, axes=(1,), keepdims=False) : float32 (2,)\nreturn %9",
         "float32 (2, 3)", false),
  };
}

// Numbers at which a formula that is almost right is wrong.
Tensor nasty(const Aval& aval) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const double values[] = {-0.0, 0.0, kInf, -kInf, kNan, 1e-45, -2.5, 3.4e38, 1.5, 0.1, -7, 2};
  Shape shape = aval.shape;
  for (int a = 0; a < shape.rank(); ++a)
    if (!shape[a].is_known()) shape[a] = 5;
  std::vector<double> x;
  for (std::int64_t i = 0; i < shape.num_elements(); ++i) x.push_back(values[i % 12]);
  const Tensor t = Tensor::from(x, shape);
  return is_integer(aval.dtype) ? cast(range(shape.num_elements()), aval.dtype)
                                : cast(t, aval.dtype);
}

TEST(SimplifyPass, EveryIdentityIsUsedAndHolds) {
  std::map<std::string, int> used;
  for (const Simpler& s : simpler_forms()) {
    ++used[s.op];
    expect_pass(simplified, s.before, s.after);
    if (!s.same_bits) continue;
    const auto before = from_text(s.before), after = from_text(s.after);
    const std::vector<Tensor> x{nasty(before->info(before->inputs()[0]).aval)};
    const Tensor a = evaluate(*before, x)[0], b = evaluate(*after, x)[0];
    ASSERT_EQ(a.num_bytes(), b.num_bytes());
    EXPECT_EQ(to_string(a), to_string(b)) << s.before;
    if (is_floating(a.dtype())) {
      const Tensor p = cast(a, float64), q = cast(b, float64);
      for (std::int64_t i = 0; i < p.num_elements(); ++i) {
        const double u = p.data<double>()[i], v = q.data<double>()[i];
        EXPECT_TRUE(std::isnan(u) || std::signbit(u) == std::signbit(v)) << s.before << " at " << i;
      }
    }
  }
  std::map<std::string, int> known;
  for (const Identity& i : identities()) {
    EXPECT_NE(find_op(i.op), nullptr) << i.op;
    ++known[i.op];
  }
  for (const auto& [op, count] : known) EXPECT_GE(used[op], count) << op;
}

TEST(SimplifyPass, WhatDoesNotHoldForAllNumbersStays) {
  for (const char* lines : {
           "%1 = constant(0) : float32 ()\n%9 = add(%0, %1) : float32 (2, 3)",  // -0 + 0 is 0
           "%1 = constant(-0) : float32 ()\n%9 = subtract(%0, %1) : float32 (2, 3)",
           "%1 = constant(0) : float32 ()\n%9 = multiply(%0, %1) : float32 (2, 3)",  // inf, NaN
           "%1 = constant(1, 1) : float32 (2, 1, 1)\n%9 = multiply(%0, %1) : float32 (2, 2, 3)",
           "%1 = cast(%0, dtype=float16) : float16 (2, 3)\n%9 = cast(%1, dtype=float32) : float32 "
           "(2, 3)",
           "%1 = cast(%0, dtype=int64) : int64 (2, 3)\n%9 = cast(%1, dtype=float32) : float32 (2, "
           "3)",
           "%1 = exp(%0) : float32 (2, 3)\n%9 = log(%1) : float32 (2, 3)",
           "%1 = transpose(%0, permutation=(1, 0)) : float32 (3, 2)\n%9 = exp(%1) : float32 (3, 2)",
           "%1 = reverse(%0, axes=(1,)) : float32 (2, 3)\n%9 = reverse(%1, axes=(0,)) : float32 "
           "(2, 3)",
       }) {
    const std::string text = std::string("%0 = input : float32 (2, 3)\n") + lines + "\nreturn %9";
    expect_pass(simplified, text, text);
  }
}

// A value that is used at both ends: kept, or made twice.
TEST(RematPass, ALongLivedValueIsMadeTwice) {
  const auto graph = from_text(R"(%0 = input : float32 (1024,)
                                  %1 = input : float32 (64, 1024)
                                  %2 = exp(%0) : float32 (1024,)
                                  %3 = reverse(%2, axes=(0,)) : float32 (1024,)
                                  %4 = reduce_sum(%3, axes=(0,), keepdims=False) : float32 ()
                                  %5 = multiply(%1, %4) : float32 (64, 1024)
                                  %6 = reverse(%5, axes=(1,)) : float32 (64, 1024)
                                  %7 = reduce_sum(%6, axes=(0,), keepdims=False) : float32 (1024,)
                                  %8 = reverse(%7, axes=(0,)) : float32 (1024,)
                                  %9 = add(%8, %2) : float32 (1024,)
                                  return %9)");
  const std::int64_t enough = 2 * 64 * 4096 + 8192;
  const Rematerialised same = rematerialise(*graph, {}, {}, 1 << 30);
  EXPECT_EQ(same.graph, nullptr);
  const Rematerialised made = rematerialise(*graph, {}, {}, enough);
  ASSERT_NE(made.graph, nullptr);
  EXPECT_LE(made.bytes, enough);
  EXPECT_EQ(made.repeated, 1u);
  EXPECT_EQ(renamed(to_text(*made.graph)),
            "%0 = input : float32 (1024,)\n"
            "%1 = input : float32 (64, 1024)\n"
            "%2 = exp(%0) : float32 (1024,)\n"
            "%3 = reverse(%2, axes=(0,)) : float32 (1024,)\n"
            "%4 = reduce_sum(%3, axes=(0,), keepdims=False) : float32 ()\n"
            "%5 = multiply(%1, %4) : float32 (64, 1024)\n"
            "%6 = reverse(%5, axes=(1,)) : float32 (64, 1024)\n"
            "%7 = reduce_sum(%6, axes=(0,), keepdims=False) : float32 (1024,)\n"
            "%8 = reverse(%7, axes=(0,)) : float32 (1024,)\n"
            "%9 = exp(%0) : float32 (1024,)\n"
            "%10 = add(%8, %9) : float32 (1024,)\n"
            "return %10\n");
}

// Which values share memory, as a line for each buffer of the arena.
TEST(BufferPass, ValuesAreWrittenOverWhatNobodyReadsAnyMore) {
  const auto graph = from_text(R"(%0 = input : float32 (8,)
                                  %1 = exp(%0) : float32 (8,)
                                  %2 = tanh(%1) : float32 (8,)
                                  %3 = reshape(%2, shape=(2, 4)) : float32 (2, 4)
                                  %4 = reverse(%3, axes=(1,)) : float32 (2, 4)
                                  %5 = square(%4) : float32 (2, 4)
                                  %6 = add(%5, %4) : float32 (2, 4)
                                  return %6, %0)");
  const BufferPlan plan = plan_buffers(*graph);
  ASSERT_EQ(plan.buffers.size(), 3u);
  const auto home = [&](Graph::Value v) { return plan.places[v].home; };
  EXPECT_EQ(home(0), Home::input);
  EXPECT_EQ(plan.places[2].index, plan.places[1].index);  // in place
  EXPECT_EQ(plan.places[3].root, 2u);                     // a view
  EXPECT_NE(plan.places[4].index, plan.places[2].index);  // reads while it writes
  EXPECT_NE(plan.places[5].index, plan.places[4].index);  // still needed
  EXPECT_EQ(home(6), Home::output);
  EXPECT_EQ(plan.buffers[0].first, 0u);
  EXPECT_EQ(plan.buffers[0].last, 2u);
}

TEST(BufferPass, AnInputThatIsGivenAwayIsWrittenOverIfItsLastReaderMay) {
  const std::string text = R"(%0 = input : float32 (8,)
                              %1 = input : float32 (8,)
                              %2 = add(%0, %1) : float32 (8,)
                              %3 = reverse(%1, axes=(0,)) : float32 (8,)
                              return %2, %3)";
  const Donation donations[] = {{0, 0}, {1, 1}};
  const BufferPlan plan = plan_buffers(*from_text(text), donations);
  EXPECT_EQ(plan.donor[0], 0);
  EXPECT_EQ(plan.donor[1], -1);
}

TEST(Pipeline, EveryPassHasATimeAndCanBeSkipped) {
  const auto graph = trace(
      [](std::span<const Tensor> in) {
        GradientTape tape;
        tape.watch(in[0]);
        const Tensor y = reduce_mean(square(nn::softmax(in[0]) * 1 + 1));
        return Tensors{y, tape.gradient(y, in[0]).tensor()};
      },
      std::vector<Aval>{{float64, {4, 5}}});
  const std::vector<Tensor> x{random::stateless_normal({4, 5}, Tensor({1, 2}), {.dtype = float64})};
  const std::vector<Tensor> expected = evaluate(*graph, x);
  const std::vector<std::string> names = pass_names();
  std::vector<PassReport> all;
  optimise(graph, {}, &all);
  ASSERT_EQ(all.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(all[i].name, names[i]);
    EXPECT_GT(all[i].milliseconds, 0) << names[i];
    std::vector<PassReport> others;
    const auto made = optimise(graph, {names[i]}, &others);
    EXPECT_EQ(others.size(), names.size() - 1);
    for (const PassReport& p : others) EXPECT_NE(p.name, names[i]);
    std::vector<Tensor> in = x, out(2);
    Executable(made).run(in, out);
    for (int k = 0; k < 2; ++k)
      EXPECT_LT(reduce_max(abs(out[k] - expected[k])).item<double>(), 1e-12) << names[i];
  }
}

}  // namespace
}  // namespace gradus
