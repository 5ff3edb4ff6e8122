#include "gradus/sparse.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gradus/gradus.h"

namespace gradus {
namespace {

using Values = std::vector<double>;

// Rows 1, 3, 1 of a [4, 2] table.
Gradient repeated() {
  return Gradient(Tensor{1, 3, 1}, Tensor{{1.0, 2.0}, {4.0, -5.0}, {10.0, 20.0}}, {4, 2});
}

void expect_same(const Gradient& rows, const Tensor& dense) {
  EXPECT_TRUE(rows.is_rows());
  const Values a = rows.tensor().to_vector<double>(), b = dense.to_vector<double>();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12);
}

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

TEST(Sparse, EveryOperationKeepsRowsAndEqualsTheDenseOne) {
  const Gradient g = repeated();
  const Tensor whole = g.tensor();
  expect_same(combine_rows(g), whole);
  EXPECT_EQ(combine_rows(g).indices().num_elements(), 2);
  expect_same(scale(g, 0.5), whole * 0.5);
  expect_same(scale(g, Tensor(0.5)), whole * 0.5);
  expect_same(add(g, g), whole * 2.0);
  expect_same(clip_by_value(g, -3, 12), clip_by_value(whole, -3.0, 12.0));
  expect_same(clip_by_norm(g, 1), whole / reduce_euclidean_norm(whole));
  expect_same(clip_by_norm(g, 1e6), whole);
  EXPECT_EQ(cast(g, float32).dtype(), float32);
  EXPECT_TRUE(cast(g, float32).is_rows());
  const Gradient dense(ones({3}, float64));
  const auto [clipped, norm] = clip_by_global_norm({g, Gradient(), dense}, 2);
  const double expected = std::sqrt(11 * 11 + 22 * 22 + 16 + 25 + 3);
  EXPECT_NEAR(norm.item<double>(), expected, 1e-12);
  expect_same(clipped[0], whole * (2 / expected));
  EXPECT_TRUE(clipped[1].is_none());
  EXPECT_NEAR(clipped[2].tensor().data<double>()[0], 2 / expected, 1e-12);
  EXPECT_FALSE(add(g, Gradient(whole)).is_rows());
  EXPECT_TRUE(add(g, Gradient()).is_rows());
}

TEST(Sparse, AnInfiniteNormGivesNan) {
  const Gradient g(Tensor{std::numeric_limits<double>::infinity(), 1.0});
  const Tensor clipped = clip_by_norm(g, 1).tensor();
  EXPECT_TRUE(std::isnan(clipped.data<double>()[1]));
}

TEST(Sparse, FromGatherToTheOptimizerNothingIsDense) {
  const ForbidDensify forbid;
  const Variable table(ones({1000, 4}, float32));
  std::vector<GradientBuffer> buffers;
  for (int batch = 0; batch < 2; ++batch) {
    GradientTape tape;
    const Tensor loss = reduce_sum(square(gather(table, Tensor{3, 7, 3})) * 0.5);
    const Gradient g = tape.gradient({loss}, {table}, {.into = &buffers})[0];
    EXPECT_TRUE(g.is_rows());
  }
  sgd_update(table, clip_by_norm(scale(buffers[0].value(), 0.5), 100), 1);
  EXPECT_FLOAT_EQ(table.value().data<float>()[3 * 4], 1 - 2);
  EXPECT_FLOAT_EQ(table.value().data<float>()[7 * 4], 1 - 1);
  EXPECT_FLOAT_EQ(table.value().data<float>()[0], 1);
}

TEST(Sparse, WhoeverDensifiesIsNamedCountedAndCanBeForbidden) {
  const Variable table(ones({10, 2}, float64));
  reset_densify_report();
  const auto gradient = [&] {
    GradientTape tape;
    const Tensor y = gather(tanh(table), Tensor{1, 2});
    return tape.gradient(reduce_sum(y), table);
  };
  const unsigned at = __LINE__ - 3;
  EXPECT_FALSE(gradient().is_rows());
  const DensifyReport report = densify_report();
  EXPECT_EQ(report.count, 1u);
  EXPECT_EQ(report.bytes, 160u);
  ASSERT_EQ(report.places.size(), 1u);
  EXPECT_EQ(report.places[0].who, "[tanh] at sparse_test.cpp:" + std::to_string(at));
  EXPECT_EQ(to_string(report),
            "1 row gradients were made dense, 160 bytes\n  [tanh] at "
            "sparse_test.cpp:" +
                std::to_string(at) + ": 1 times, 160 bytes\n");
  const ForbidDensify forbid;
  EXPECT_EQ(error_of(gradient),
            "[ForbidDensify] [tanh] at sparse_test.cpp:" + std::to_string(at) +
                " would turn a gradient of 2 rows into a dense tensor of shape (10, 2); use rows "
                "all the way (gradus/sparse.h), or allow it");
  EXPECT_NE(error_of([] { repeated().tensor(); }).find("Gradient::tensor()"), std::string::npos);
  EXPECT_EQ(densify_report().count, 1u);
}

TEST(Sparse, Errors) {
  EXPECT_EQ(error_of([] { clip_by_value(repeated(), 1, 2); }),
            "[clip_by_value] got the range from 1 to 2 for a gradient of rows; it must contain 0, "
            "which the other rows are");
  EXPECT_EQ(error_of([] { scale(repeated(), Tensor{1.0}); }),
            "[scale] got a factor of shape (1,); gradients are scaled by scalars");
  EXPECT_EQ(error_of([] { add(repeated(), Gradient(Tensor(1.0))); }),
            "[add] got gradients of shapes (4, 2) and () and dtypes float64 and float64; they must "
            "agree");
  EXPECT_EQ(error_of([] { clip_by_norm(repeated(), 0); }),
            "[clip_by_global_norm] got clip_norm 0; it must be positive");
}

Values values(const Variable& v) { return v.value().to_vector<double>(); }

TEST(VariableScatter, RepeatedRowsAllCountExceptInUpdate) {
  const Tensor start = {{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}};
  const Tensor at = {2, 0, 2}, with = {{2.0, 4.0}, {10.0, 20.0}, {8.0, 16.0}};
  const auto after = [&](void (Variable::*change)(In, In) const) {
    const Variable v(start);
    (v.*change)(at, with);
    EXPECT_EQ(start.to_vector<double>(), (Values{1, 2, 3, 4, 5, 6}));  // others' values stay
    (v.*change)(Tensor{1}, Tensor{{3.0, 4.0}});                        // in place now
    return values(v);
  };
  EXPECT_EQ(after(&Variable::scatter_add), (Values{11, 22, 6, 8, 15, 26}));
  EXPECT_EQ(after(&Variable::scatter_sub), (Values{-9, -18, 0, 0, -5, -14}));
  EXPECT_EQ(after(&Variable::scatter_update), (Values{10, 20, 3, 4, 8, 16}));
  EXPECT_EQ(after(&Variable::scatter_mul), (Values{10, 40, 9, 16, 80, 384}));
  EXPECT_EQ(after(&Variable::scatter_div), (Values{0.1, 0.1, 1, 1, 0.3125, 0.09375}));
  EXPECT_EQ(after(&Variable::scatter_max), (Values{10, 20, 3, 4, 8, 16}));
  EXPECT_EQ(after(&Variable::scatter_min), (Values{1, 2, 3, 4, 2, 4}));
}

TEST(VariableScatter, ScalarsShapesAndDtypes) {
  const Variable v(Tensor{1, 2, 3});
  v.scatter_add(Tensor(std::int64_t{1}), Tensor(10));
  v.scatter_sub(cast(Tensor{0, 2}, uint8), 1);
  v.scatter_div(Tensor{1}, Tensor{-1});
  EXPECT_EQ(v.value().to_vector<int>(), (std::vector<int>{0, -12, 2}));
  v.scatter_update(zeros({0}, int32), zeros({0}, int32));
  EXPECT_EQ(v.value().to_vector<int>(), (std::vector<int>{0, -12, 2}));
}

TEST(VariableScatter, DoesNotChangeWhatATapeSaved) {
  const Variable v(Tensor{2.0, 3.0});
  GradientTape tape;
  const Tensor y = square(v);
  v.scatter_update(Tensor{0}, Tensor{100.0});
  EXPECT_EQ(tape.gradient(y, v).tensor().to_vector<double>(), (Values{4, 6}));
}

TEST(VariableScatter, Errors) {
  const Variable v(ones({3, 2}, float64), {.name = "v"});
  EXPECT_EQ(error_of([&] { v.scatter_add(Tensor{0}, Tensor{1.0}); }),
            "[Variable.scatter_add] got updates of shape (1,) and dtype float64; 'v' takes shape "
            "(1, 2) and dtype float64");
  EXPECT_EQ(error_of([&] { v.scatter_add(Tensor{0.0}, Tensor{1.0}); }),
            "[Variable.scatter_add] got indices of dtype float64; they must be integers");
  EXPECT_THROW(v.scatter_add(Tensor{3}, Tensor{{1.0, 1.0}}), InvalidArgumentError);
  EXPECT_THROW(v.scatter_add(Tensor{-1}, Tensor{{1.0, 1.0}}), InvalidArgumentError);
  const Variable whole(Tensor{1}, {.name = "whole"}), flag(Tensor{true}, {.name = "flag"});
  EXPECT_EQ(error_of([&] { whole.scatter_div(Tensor{0}, 0); }),
            "[Variable.scatter_div] an integer is divided by zero");
  EXPECT_EQ(error_of([&] { flag.scatter_add(Tensor{0}, Tensor{true}); }),
            "[Variable.scatter_add] 'flag' has dtype bool, for which this is not defined");
}

}  // namespace
}  // namespace gradus
