#include "gradus/profile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gradus/gradus.h"

namespace gradus {
namespace {

TEST(Profile, NamesOpsLoopsAndLines) {
  const auto f = function([](const Tensor& x) { return reduce_sum(tanh(matmul(x, x) * 2 + 1)); });
  const Tensor x = ones({16, 16});
  f(x);
  Profile profile;
  const Tensor y = exp(x);
  f(y);
  const std::string live = profile.table();
  EXPECT_NE(live.find("exp (profile_test.cpp:"), std::string::npos) << live;
  EXPECT_NE(live.find("matmul (profile_test.cpp:"), std::string::npos) << live;
  EXPECT_NE(live.find("multiply, add, tanh, reduce_sum (profile_test.cpp:"), std::string::npos)
      << live;
  profile.stop();
  const Tensor after = sin(x);
  EXPECT_EQ(profile.table(), live);
  EXPECT_EQ(live.find("sin"), std::string::npos);
}

TEST(Profile, SavesATraceFile) {
  const auto path = std::filesystem::temp_directory_path() / "gradus_profile_test.json";
  {
    Profile profile;
    const Tensor y = exp(ones({4}));
    EXPECT_THROW(Profile(), FailedPreconditionError);
    profile.save(path.string());
    EXPECT_THROW(profile.save("/no/such/folder/trace.json"), NotFoundError);
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_NE(text.str().find("\"name\": \"exp\""), std::string::npos);
  EXPECT_NE(text.str().find("\"traceEvents\""), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".part"));
  std::filesystem::remove(path);
  const Profile another;  // the first one is gone
}

}  // namespace
}  // namespace gradus
