#include "gradus/explain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gradus/gradus.h"

namespace gradus {
namespace {

std::string line(unsigned n) { return "explain_test.cpp:" + std::to_string(n); }

const TapeOptions kPersistent{.persistent = true};

TEST(Explain, ConnectedAndIndependent) {
  const Variable w(Tensor(2.0), {.name = "w"}), b(Tensor(1.0), {.name = "b"});
  GradientTape tape;
  const Tensor y = w * w + 1.0, z = b * 3.0;
  EXPECT_EQ(tape.explain(y, w),
            "connected: the gradient is finite and not zero; 2 ops between target and source");
  EXPECT_EQ(tape.explain(z, w), "none: the target does not depend on the variable 'w'");
  EXPECT_EQ(tape.gradient(y, w).tensor().item<double>(), 4);  // explaining does not use the tape up
  EXPECT_EQ(tape.explain(y, w),
            "unknown: this tape was already used and keeps nothing; make it persistent, or call "
            "explain() before gradient()");
}

TEST(Explain, CutByAnOp) {
  const Tensor x = {1.0, 2.0};
  GradientTape tape(kPersistent);
  tape.watch(x);
  const Tensor stopped = stop_gradient(x * 2.0);
  const unsigned at = __LINE__ - 1;
  const Tensor y = stopped + 1.0;
  EXPECT_EQ(tape.explain(y, x),
            "none: on the way from the source (float64, shape (2,)) to the target, derivatives end "
            "at\n  [stop_gradient] at " +
                line(at) + ": stop_gradient was asked for");
  const Tensor whole = cast(cast(x, int32), float64) * 2.0;
  EXPECT_EQ(tape.explain(whole, x),
            "none: on the way from the source (float64, shape (2,)) to the target, derivatives end "
            "at\n  [cast] at " +
                line(__LINE__ - 4) +
                ": its result is not float or complex, so it has no derivatives");
  const Tensor rounded = floor(x) * 2.0;
  EXPECT_EQ(tape.explain(rounded, x),
            "none: on the way from the source (float64, shape (2,)) to the target, derivatives end "
            "at\n  [floor] at " +
                line(__LINE__ - 4) + ": its derivative is zero everywhere");
  const Tensor place = argmax(x);
  EXPECT_EQ(tape.explain(place, x).rfind("none: on the way", 0), 0u);
  EXPECT_NE(tape.explain(place, x).find("[argmax] at " + line(__LINE__ - 2)), std::string::npos);
}

TEST(Explain, NotWatched) {
  const Tensor x(1.0), whole = {1, 2};
  const Variable fixed(Tensor(1.0), {.name = "fixed", .trainable = false});
  const Variable w(Tensor(1.0), {.name = "w"});
  const Tensor early = w * 2.0;
  GradientTape tape(kPersistent);
  const Tensor y = x * fixed;
  EXPECT_EQ(tape.explain(y, x),
            "none: this tape does not follow the source (float64, shape ()); call watch() on it "
            "before it is used");
  EXPECT_EQ(tape.explain(y, whole),
            "none: the source (int32, shape (2,)) has no derivatives; cast it to a float dtype and "
            "watch the result");
  EXPECT_EQ(tape.explain(y, fixed),
            "none: the variable 'fixed' was not read while this tape was recording and watched; it "
            "is not trainable, so the tape only follows it after watch()");
  EXPECT_EQ(tape.explain(early, w),
            "none: the variable 'w' was not read while this tape was recording; reads before the "
            "tape opened or while it was stopped do not count");
  const Tensor later = w * 3.0;
  EXPECT_EQ(tape.explain(early, w),
            "none: the target was not computed from anything that this tape follows: it was made "
            "before the tape opened, while it was stopped, or from values that are not watched");
  GradientTape blind({.watch_accessed_variables = false});
  EXPECT_EQ(blind.explain(w * 1.0, w),
            "none: the variable 'w' was not read while this tape was recording and watched; the "
            "tape has watch_accessed_variables = false, call watch()");
}

TEST(Explain, ThroughAnAssignedVariable) {
  const Variable w(Tensor(2.0), {.name = "w"}), cell(Tensor(0.0), {.name = "cell"});
  GradientTape tape;
  cell.assign(w * 3.0);
  const unsigned at = __LINE__ - 1;
  const Tensor y = cell * 2.0;
  EXPECT_EQ(tape.explain(y, w),
            "none: on the way from the variable 'w' to the target, derivatives end at\n  the "
            "assignment to the variable 'cell' at " +
                line(at) + ": derivatives do not pass through a variable");
}

TEST(Explain, Zero) {
  const Tensor x = {-1.0, -2.0};
  GradientTape tape(kPersistent);
  tape.watch(x);
  const Tensor y = reduce_sum(nn::relu(x) * 3.0);
  EXPECT_EQ(tape.explain(y, x),
            "zero: what arrives there is not zero, but is multiplied by 0 in\n  [relu] at " +
                line(__LINE__ - 3));
  EXPECT_EQ(tape.explain(x - x, x), "zero: contributions that are not zero cancel each other");
}

TEST(Explain, GoesBadInForwardOrBackward) {
  const Tensor x = {0.0, 1.0}, negative = {-1.0, 4.0};
  GradientTape tape(kPersistent);
  tape.watch(x);
  tape.watch(negative);
  const Tensor y = sqrt(x) * 2.0;
  EXPECT_EQ(tape.explain(y, x),
            "infinite: the forward values are finite; on the way back, [sqrt] at " +
                line(__LINE__ - 3) + " turns finite gradients into inf for its argument 0");
  const Tensor z = sqrt(negative) * 2.0;
  EXPECT_EQ(tape.explain(z, negative),
            "NaN: already in the forward values: NaN is first seen in [sqrt] at " +
                line(__LINE__ - 3) + "'s result");
  GradientTape other(kPersistent);
  other.watch(negative);
  const Tensor logs = log(negative) * negative;
  EXPECT_EQ(other.explain(logs, negative),
            "NaN: already in the forward values: NaN is made by [log] at " + line(__LINE__ - 2) +
                " from finite arguments");
}

TEST(Explain, DoesNotDisturbOtherTapes) {
  const Tensor x(3.0);
  GradientTape outer, inner(kPersistent);
  outer.watch(x);
  inner.watch(x);
  const Tensor y = x * x;
  const std::size_t before = outer.report().ops;
  (void)inner.explain(y, x);
  EXPECT_EQ(outer.report().ops, before);
}

TEST(Report, CountsOpsAndBytes) {
  const Variable w(ones({4, 4}, float32));
  const Tensor x = ones({8, 4}, float32);
  GradientTape tape(kPersistent);
  const Tensor hidden = tanh(matmul(x, w));
  const Tensor unused = exp(hidden);
  const unsigned at = __LINE__ - 1;
  const Tensor which = argmax(hidden);
  const Tensor loss = reduce_sum(hidden);
  const TapeReport report = tape.report(loss, {w});
  EXPECT_EQ(report.ops, 4u);
  EXPECT_EQ(report.unused, std::vector<std::string>{"[exp] at " + line(at)});
  EXPECT_EQ(report.cut, std::vector<std::string>{"[argmax] at " + line(at + 2)});
  EXPECT_EQ(report.saved_bytes, 3 * 128u);  // x, hidden or its argument, exp's result
  std::size_t saved = 0, count = 0;
  for (const auto& l : report.by_op) {
    saved += l.bytes;
    count += l.count;
    if (l.op == "matmul") {
      EXPECT_EQ(l.flops, 2 * 8 * 4 * 4);
    }
  }
  EXPECT_EQ(saved, report.saved_bytes);
  EXPECT_EQ(count, report.ops);
  const std::string text = to_string(report);
  EXPECT_EQ(text.rfind("tape: 4 ops recorded; it holds 384 B of saved tensors and ", 0), 0u)
      << text;
  EXPECT_NE(text.find("\n  matmul      1       128 B     256 flop\n"), std::string::npos) << text;
  EXPECT_NE(text.find("no derivative passes 1 op: [argmax] at "), std::string::npos) << text;
  EXPECT_NE(text.find("1 op (128 B saved) not between sources and target: [exp] at "),
            std::string::npos)
      << text;
  EXPECT_TRUE(tape.report().unused.empty());
}

TEST(Report, OfAUsedTape) {
  const Variable w(Tensor(1.0));
  GradientTape tape;
  tape.gradient(w * w, w);
  EXPECT_EQ(to_string(tape.report()), "tape: already used, it holds nothing any more\n");
}

TEST(TapeReport, CutOpsOfOtherTapesAreTheirs) {
  const Tensor x{1.0f, 2.0f}, y{3.0f, 4.0f};
  GradientTape outer;
  outer.watch(x);
  GradientTape inner;
  inner.watch(y);
  (void)argmax(y);
  EXPECT_TRUE(outer.report().cut.empty()) << outer.report();
  ASSERT_EQ(inner.report().cut.size(), 1u);
  (void)argmax(x);
  ASSERT_EQ(outer.report().cut.size(), 1u);
  EXPECT_EQ(inner.report().cut.size(), 1u);
}

}  // namespace
}  // namespace gradus
