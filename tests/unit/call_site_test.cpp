#include "gradus/call_site.h"

#include <gtest/gtest.h>

#include "gradus/error.h"
#include "gradus/explain.h"
#include "gradus/function.h"
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

// "message\n  at .../call_site_test.cpp:LINE" of what a call throws.
template <class F>
std::string said(const F& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing";
}
std::string at(int line) { return "call_site_test.cpp:" + std::to_string(line); }

TEST(CallSite, ErrorsNameTheLineOfTheCall) {
  const Tensor a = ones({2, 3});
  EXPECT_NE(said([&] { matmul(a, a); }).find(at(__LINE__)), std::string::npos);
  // Functions that are made of other ops, and those that fail before any op runs.
  EXPECT_NE(said([&] { index(a, {5}); }).find(at(__LINE__)), std::string::npos);
  EXPECT_NE(said([&] { norm(a, -1); }).find(at(__LINE__)), std::string::npos);
  EXPECT_NE(said([&] { zeros({-2}); }).find(at(__LINE__)), std::string::npos);
  // What has no line of its own does not borrow that of the op before.
  exp(a);
  EXPECT_EQ(said([&] { a.item<float>(); }).find("\n"), std::string::npos);
  EXPECT_EQ(Error("[op] wrong").what(), std::string("[op] wrong"));
}

TEST(CallSite, ErrorsOfProgramsNameTheOpThatFailed) {
  const auto f = function([](const Tensor& x, const Tensor& i) {
    const Tensor y = exp(x);
    return gather(y, i) * 2;
  });
  const int line = __LINE__ - 2;
  const Tensor x = {1.0f, 2.0f};
  f(x, Tensor{0});
  const std::string text = said([&] { f(x, Tensor{7}); });
  EXPECT_NE(text.find(at(line)), std::string::npos) << text;
}

}  // namespace
}  // namespace gradus
