#include "gradus/call_site.h"

#include <gtest/gtest.h>

#include "gradus/explain.h"
#include "gradus/gradient.h"
#include "gradus/ops.h"

namespace gradus {
namespace {

const ForeignLine script{"script.py", "train", 12, 0};
const ForeignLine inner{"inner.py", "other", 3, 0};

TEST(CallSite, OpsAreAttributedToALineOfAnotherLanguage) {
  EXPECT_FALSE(lines_are_recorded());
  const Tensor x = {1.0f, 2.0f};
  GradientTape tape({.persistent = true});
  EXPECT_TRUE(lines_are_recorded());
  tape.watch(x);
  Tensor y;
  {
    const AttributeToLine line(script);
    {
      const AttributeToLine within(inner);
      argmin(x);
    }
    y = cast(argmax(x), float32);
  }
  EXPECT_NE(to_string(tape.report()).find("[argmax] at script.py:12"), std::string::npos)
      << to_string(tape.report());
  EXPECT_NE(to_string(tape.report()).find("[argmin] at inner.py:3"), std::string::npos)
      << to_string(tape.report());
  argmax(x, 0, int32);
  EXPECT_NE(to_string(tape.report()).find("call_site_test.cpp"), std::string::npos);
}

}  // namespace
}  // namespace gradus
