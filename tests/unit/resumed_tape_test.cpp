// Tapes that record on after they were stopped, and buffers of gradients inside compiled functions.
#include <gtest/gtest.h>

#include "gradus/forward.h"
#include "gradus/gradus.h"

namespace gradus {
namespace {

TEST(ResumedTape, KeepsWhatItWatchedAndRecorded) {
  const Tensor x = {1.0f, 2.0f, 3.0f};
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor first = reduce_sum(x * x);
  tape.stop();
  const Tensor unseen = x * 5;
  tape.resume();
  const Tensor y = gather(x, Tensor(1));
  const Tensor l = reduce_sum(y * y) + first;
  tape.stop();
  EXPECT_EQ(to_string(tape.gradient(l, y)), "4.0");
  EXPECT_EQ(to_string(tape.gradient(l, x)), "[2. 8. 6.]");
  EXPECT_EQ(to_string(tape.gradient(first, x)), "[2. 4. 6.]");
  EXPECT_TRUE(tape.gradient(unseen, x).is_none());
}

TEST(ResumedTape, RecordsInsideOfATapeThatWasOpenedMeanwhile) {
  const Tensor x(3.0f);
  const Variable w(Tensor(2.0f));
  GradientTape early({.persistent = true});
  early.watch(x);
  const Tensor before = x * x * w;
  early.stop();
  GradientTape outer({.persistent = true});
  outer.watch(x);
  early.resume();
  const Tensor l = before + x * x * x * w;
  early.stop();
  const Tensor dx = early.gradient(l, x);  // 2 x w + 3 x^2 w
  EXPECT_EQ(dx.item<float>(), 66);
  EXPECT_EQ(Tensor(early.gradient(l, w)).item<float>(), 36);
  EXPECT_EQ(Tensor(outer.gradient(l, x)).item<float>(), 54);  // it did not see `before`
  EXPECT_EQ(Tensor(outer.gradient(l, w)).item<float>(), 27);
  EXPECT_EQ(Tensor(outer.gradient(dx, x)).item<float>(), 6 * 3 * 2 + 2 * 2);
}

TEST(ResumedTape, OneThatIsUsedUpBeginsAnew) {
  const Variable w(Tensor(2.0f));
  GradientTape tape;
  const Tensor y = w * w;
  EXPECT_EQ(Tensor(tape.gradient(y, w)).item<float>(), 4);
  tape.resume();
  const Tensor z = w * w * w;
  EXPECT_EQ(Tensor(tape.gradient(z, w)).item<float>(), 12);
}

TEST(ResumedTape, ForwardOnesGoOnToo) {
  const Tensor x = {1.0f, 2.0f};
  forward_diff::GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor first = x * x;
  tape.stop();
  tape.resume();
  const Tensor l = reduce_sum(first * x);
  tape.stop();
  EXPECT_EQ(to_string(tape.gradient(l, x)), "[ 3. 12.]");
}

TEST(GradientBuffers, HoldTheNumbersOfCompiledFunctions) {
  const Variable w(Tensor({1.0f, 2.0f})), b(Tensor(0.5f));
  std::vector<GradientBuffer> buffers;
  const auto add = [&](const Tensor& x) {
    GradientTape tape;
    const Tensor loss = reduce_sum(w * w * x) + b * reduce_sum(x);
    return tape.gradient({loss}, {w, b}, {.into = &buffers})[0].tensor();
  };
  const auto compiled = function(add);
  const Tensor x = {1.0f, 3.0f};
  EXPECT_EQ(to_string(compiled(x)), "[ 2. 12.]");
  EXPECT_EQ(to_string(buffers[0].value().tensor()), "[ 2. 12.]");
  EXPECT_EQ(buffers[1].value().tensor().item<float>(), 4);
  EXPECT_EQ(to_string(compiled(x)), "[ 4. 24.]");  // each run adds
  EXPECT_EQ(to_string(compiled(x * 2)), "[ 8. 48.]");
  EXPECT_EQ(buffers[1].value().tensor().item<float>(), 16);
  EXPECT_EQ(compiled.trace_count(), 1);
  EXPECT_EQ(to_string(add(x)), "[10. 60.]");  // and so does what runs outside of it
  EXPECT_EQ(to_string(compiled(x)), "[12. 72.]");
  buffers[0].reset();
  EXPECT_EQ(to_string(compiled(x)), "[ 2. 12.]");
  EXPECT_EQ(buffers[1].value().tensor().item<float>(), 28);
}

TEST(GradientBuffers, GoOnFromWhatTheyHeld) {
  const Variable w(Tensor({1.0f, 2.0f, 3.0f}));
  std::vector<GradientBuffer> buffers;
  const auto add = [&](const Tensor& rows) {  // gradients that are rows
    GradientTape tape;
    const Tensor loss = reduce_sum(square(gather(w, rows)));
    tape.gradient({loss}, {w}, {.into = &buffers});
    return loss;
  };
  add(Tensor({0, 2}));
  const auto compiled = function(add);
  compiled(Tensor({2, 2}));
  EXPECT_EQ(to_string(buffers[0].value().tensor()), "[ 2.  0. 18.]");
  compiled(Tensor({1, 1}));
  EXPECT_EQ(to_string(buffers[0].value().tensor()), "[ 2.  8. 18.]");
}

}  // namespace
}  // namespace gradus
