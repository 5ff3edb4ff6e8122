// Which records of the engine the random programs reach. A record that can be differentiated is
// traced by some program here, by itself or as part of a derivative, or is listed with the reason.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "graph/op.h"
#include "ops/registry.h"
#include "oracle/case.h"

namespace oracle {
namespace {

constexpr const char* kNoDerivative = "its results are bool or integer";
constexpr const char* kAfterwards = "the compiler makes it of ops that have been differentiated";
const std::map<std::string, const char*> kNotMirrored = {
    {"bitwise_and", kNoDerivative},
    {"bitwise_or", kNoDerivative},
    {"bitwise_xor", kNoDerivative},
    {"greater_equal", kNoDerivative},
    {"integer_pow", kNoDerivative},
    {"invert", kNoDerivative},
    {"is_finite", kNoDerivative},
    {"is_inf", kNoDerivative},
    {"is_nan", kNoDerivative},
    {"left_shift", kNoDerivative},
    {"logical_not", kNoDerivative},
    {"logical_xor", kNoDerivative},
    {"right_shift", kNoDerivative},
    {"label_logits", kAfterwards},
    {"gamma_sample", "a random number: which one, only the engine's kernel says"},
    {"cross_entropy_at", kAfterwards},
};

// The ops of a program, as its text names them.
void add_names(const std::string& text, std::set<std::string>& names) {
  for (std::size_t at = 0; (at = text.find(" = ", at)) != std::string::npos;) {
    at += 3;
    const std::size_t end = text.find('(', at);
    if (end != std::string::npos) names.insert(text.substr(at, end - at));
  }
}

TEST(Coverage, EveryRecordThatHasADerivativeIsMirrored) {
  std::set<std::string> seen;
  for (const OpDef& op : all_ops()) {
    for (std::uint64_t seed = 1; seed <= 36; ++seed) {
      const std::string word = seed % 3 == 0 ? "f" : seed % 3 == 1 ? "r" : "J";
      const auto c = random_case(seed, {.order = 1,
                                        .word = word,
                                        .op = &op,
                                        .complex = seed > 18,
                                        .compiled = false,
                                        .lines = 1});
      if (!c) continue;
      Tensors at;
      for (std::size_t i = 0; i < c->at.size(); ++i) {
        const bool complex = c->program.complex_inputs[i];
        at.push_back(
            gd::zeros(to_shape(c->program.inputs[i]), complex ? gd::complex128 : gd::float64) +
            0.25);
      }
      try {
        const auto f = gd::function(engine_function(c->program, c->word, at));
        f(at);
        add_names(f.text(false), seen);
      } catch (const gd::Error&) {  // at a point that the op does not take
      }
    }
  }
  std::set<std::string> missing;
  for (const gd::Op* op : gd::all_ops()) {
    const bool differentiable = op->kind != gd::Kind::not_differentiable;
    if (differentiable && !seen.contains(op->name()) && !kNotMirrored.contains(op->name()))
      missing.insert(op->name());
  }
  std::string text;
  for (const std::string& name : missing) text += name + " ";
  EXPECT_EQ(text, "");
  for (const auto& [name, reason] : kNotMirrored) EXPECT_FALSE(seen.contains(name)) << name;
}

}  // namespace
}  // namespace oracle
