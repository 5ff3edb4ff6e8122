// Graphs as text: what is printed reads back, and what cannot be right is refused with its line.
#include "graph/text.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "gradus/gradus.h"
#include "graph/evaluate.h"

namespace gradus {
namespace {

constexpr const char* kScaledRows = R"(
# rows times two, summed
%0 = input : float32 (s0, 3)
%1 = constant(2) : float32 ()
%2 = multiply(%0, %1) : float32 (s0, 3)
%3 = reduce_sum(%2, axes=(1,), keepdims=False) : float32 (s0,)
return %3
)";

std::string refusal(const std::string& text) {
  try {
    from_text(text);
  } catch (const InvalidArgumentError& e) {
    return e.message();
  }
  return "accepted";
}

TEST(GraphText, ReadsAndRunsAtAnySize) {
  const auto graph = from_text(kScaledRows);
  const Tensor x({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(to_string(evaluate(*graph, std::vector{cast(x, float32)})[0]), "[12. 30.]");
  EXPECT_EQ(to_text(*from_text(to_text(*graph))), to_text(*graph));
}

TEST(GraphText, SizesThatAreSumsProductsAndQuotientsComeBack) {
  auto graph = Graph::make();
  const Size n = graph->symbols().fresh(), m = graph->symbols().fresh();
  graph = trace(
      [](std::span<const Tensor> in) {
        const Tensor both = concat({in[0], in[1]}, 0);
        return Tensors{reshape(both, {-1}), strided_slice(in[0], {0}, {5}, {2})};
      },
      std::vector<Aval>{{float32, {n, 4}}, {float32, {m, 4}}}, graph);
  const std::string text = to_text(*graph);
  EXPECT_NE(text.find("4*s0 + 4*s1"), std::string::npos) << text;
  EXPECT_EQ(to_text(*from_text(text)), text);
}

TEST(GraphText, ConstantsKeepEveryBit) {
  const auto graph = trace(
      [](std::span<const Tensor> in) {
        constexpr double kInf = std::numeric_limits<double>::infinity();
        return Tensors{in[0] * Tensor({0.1f, -0.0f, 1e-45f, 3.4028235e38f}),
                       Tensor({0.1, kInf, -kInf, 5e-324}) + 0.0, Tensor({true, false}),
                       Tensor::from(std::vector<std::int64_t>{INT64_MIN, 7}, {2}),
                       ones({100}) + zeros({100})};
      },
      std::vector<Aval>{{float32, {4}}});
  std::vector<Tensor> constants;
  const std::string text = to_text(*graph, &constants);
  const auto again = from_text(text, constants);
  const std::vector<Tensor> x{Tensor({1.0f, 1.0f, 1.0f, 1.0f})};
  const auto a = evaluate(*graph, x), b = evaluate(*again, x);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(std::memcmp(a[i].raw_data(), b[i].raw_data(), a[i].num_bytes()), 0) << i;
}

TEST(GraphText, BranchesAndLoopsComeBack) {
  const Variable total(Tensor(0.0f));
  const auto f = function([&](const Tensor& x, const Tensor& n) {
    const Tensor bias = cast(range(20), float32) * 0.5;  // too large for the text
    Tensor y = cond(
        reduce_sum(x) > 0, [&] { return x * 2; }, [&] { return x - reduce_sum(bias); });
    std::vector<Tensor> out =
        while_loop([&](const std::vector<Tensor>& v) { return v[0] < n; },
                   [&](const std::vector<Tensor>& v) {
                     return std::vector<Tensor>{v[0] + 1, tanh(v[1]) + reduce_sum(bias)};
                   },
                   std::vector<Tensor>{zeros({}, int32), y});
    total.assign_add(reduce_sum(out[1]));
    return out[1];
  });
  const Tensor x = {1.0f, -2.0f, 3.0f};
  f(x, Tensor(4));
  const LoadedFunction g(f.saved());
  for (const int n : {0, 1, 5}) {
    for (const float sign : {1.0f, -1.0f}) {
      EXPECT_EQ(to_string(g({x * sign, Tensor(n)})[0]), to_string(f(x * sign, Tensor(n))));
    }
  }
  GradientTape a, b;  // derivatives pass through what was read
  a.watch(x);
  b.watch(x);
  const Tensor p = reduce_sum(f(x, Tensor(3))), q = reduce_sum(g({x, Tensor(3)})[0]);
  EXPECT_EQ(to_string(a.gradient(p, x)), to_string(b.gradient(q, x)));
}

TEST(GraphText, RefusalsNameTheLine) {
  EXPECT_NE(refusal("%0 = input : float32 (3,)\n%1 = expp(%0) : float32 (3,)\nreturn %1")
                .find("line 2: there is no op 'expp'"),
            std::string::npos);
  EXPECT_NE(refusal("%0 = input : float32 (3,)\n%1 = exp(%0) : float32 (4,)\nreturn %1")
                .find("line 2: the result is float32 (3,)"),
            std::string::npos);
  EXPECT_NE(refusal("%0 = input : float32 (3,)\n%1 = exp(%2) : float32 (3,)\nreturn %1")
                .find("an operand is not known yet"),
            std::string::npos);
  EXPECT_NE(refusal("%0 = input : float32 (3,)\n%1 = add(%0) : float32 (3,)\nreturn %1")
                .find("add takes another number of operands"),
            std::string::npos);
  EXPECT_NE(refusal("%0 = input : float33 (3,)\nreturn %0").find("'float33' is no dtype"),
            std::string::npos);
  EXPECT_NE(refusal("%0 = input : float32 (3,)\n").find("'return' line is missing"),
            std::string::npos);
  EXPECT_NE(refusal("%0 = constant(@0) : float32 (3,)\nreturn %0").find("no such constant"),
            std::string::npos);
  EXPECT_NE(refusal("%0 = input : float32 (s99999999999,)\nreturn %0").find("no such symbol"),
            std::string::npos);
}

TEST(GraphText, RegionsThatDoNotFitAreRefused) {
  const auto f = function([](const Tensor& x, const Tensor& n) {
    const Tensor y = cond(
        reduce_sum(x) > 0, [&] { return x * 2; }, [&] { return x - 1; });
    return while_loop([&](const std::vector<Tensor>& v) { return v[0] < n; },
                      [&](const std::vector<Tensor>& v) {
                        return std::vector<Tensor>{v[0] + 1, v[1] * 2};
                      },
                      std::vector<Tensor>{zeros({}, int32), y})[1];
  });
  const Tensor x = {1.0f, -2.0f, 3.0f};
  f(x, Tensor(4));
  const SavedFunction saved = f.saved();
  const std::string& text = saved.text;
  for (std::size_t i = 0; i < text.size(); i += 7) {  // whatever is accepted can be called
    for (const char c : {'0', '4', '%'}) {
      SavedFunction damaged = saved;
      if (damaged.text[i] == c) continue;
      damaged.text[i] = c;
      try {
        LoadedFunction g(damaged);
        g({x, Tensor(0)});
      } catch (const Error&) {
      }
    }
  }
  EXPECT_NE(refusal("%0 = input : float32 (3,)\n%1 = reduce_sum(%0, axes=(0,), axes=(0,)) : "
                    "float32 ()\nreturn %1")
                .find("axes is given twice"),
            std::string::npos);
  EXPECT_NE(refusal("%0 = input : float32 ((5)//(0),)\nreturn %0").find("divided by zero"),
            std::string::npos);
}

// Any change of one letter reads as some graph or is refused; it never does harm.
TEST(GraphText, DamagedTextIsRefusedOrRead) {
  const std::string text = kScaledRows;
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char c : {'(', ')', '%', ',', '9', 's', '"', '-', '@'}) {
      std::string damaged = text;
      damaged[i] = c;
      try {
        from_text(damaged);
      } catch (const Error&) {
      }
    }
    try {
      from_text(text.substr(0, i));
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace gradus
