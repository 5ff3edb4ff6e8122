// Branches and loops inside a vmap whose bodies use examples of the batch that they do not carry:
// eagerly, compiled, with derivatives, against a plain loop over the examples.
#include <gtest/gtest.h>

#include "gradus/gradus.h"

namespace gradus {
namespace {

using Example = std::function<Tensor(const Tensor& x, const Tensor& y)>;

const Tensor kXs = {{0.5f, -0.25f}, {1.5f, 0.75f}, {-1.0f, 2.0f}};
const Tensor kYs = {{0.25f, 0.5f}, {-0.5f, 1.0f}, {0.75f, -0.125f}};

Tensor one_by_one(const Example& f, const Tensor& xs, const Tensor& ys) {
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < xs.shape()[0]; ++i)
    rows.push_back(f(gather(xs, Tensor(i)), gather(ys, Tensor(i))));
  return stack(rows);
}

void expect_near(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  for (std::int64_t i = 0; i < a.num_elements(); ++i)
    EXPECT_NEAR(a.data<float>()[i], b.data<float>()[i], 2e-6f * (1 + std::abs(b.data<float>()[i])))
        << what << " " << i;
}

void expect_mapped(const Example& f, const char* what) {
  const std::string name = what;
  const auto mapped = [&](const Tensor& xs, const Tensor& ys) { return vmap(f)(xs, ys); };
  const Tensor expected = one_by_one(f, kXs, kYs);
  expect_near(mapped(kXs, kYs), expected, name + ", eager");
  expect_near(function(mapped)(kXs, kYs), expected, name + ", compiled");
  const Example gradient = [&](const Tensor& x, const Tensor& y) {
    return grad([&](const Tensor& v) { return reduce_sum(square(f(v, y))); })(x) +
           grad<1>([&](const Tensor& u, const Tensor& v) { return reduce_sum(square(f(u, v))); })(
               x, y);
  };
  const auto gradients = [&](const Tensor& xs, const Tensor& ys) { return vmap(gradient)(xs, ys); };
  const Tensor slopes = one_by_one(gradient, kXs, kYs);
  expect_near(gradients(kXs, kYs), slopes, name + ", gradient");
  expect_near(function(gradients)(kXs, kYs), slopes, name + ", compiled gradient");
  // The other way round: the tape around the vmap.
  const auto around = [&](const Tensor& xs, const Tensor& ys) {
    const auto loss = [&](const Tensor& u, const Tensor& v) {
      return reduce_sum(square(mapped(u, v)));
    };
    return grad(loss)(xs, ys) + grad<1>(loss)(xs, ys);
  };
  expect_near(around(kXs, kYs), slopes, name + ", gradient around");
  expect_near(function(around)(kXs, kYs), slopes, name + ", compiled gradient around");
}

// A loop whose number of turns only the program knows: turns(x) is 3 at any x.
Tensor turns(const Tensor& x) { return cast(reduce_sum(x * 0), int32) + 3; }

TEST(VmapControl, WhileLoopsUseExamplesOfTheirSurroundings) {
  expect_mapped(
      [](const Tensor& x, const Tensor& y) {
        return std::get<1>(while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                                      [&](const Tensor& i, const Tensor& s) {
                                        return std::tuple(i + 1, s * 0.5 + sin(y) * s);
                                      },
                                      std::tuple(Tensor(0), x)));
      },
      "known count");
  expect_mapped(
      [](const Tensor& x, const Tensor& y) {
        return std::get<1>(while_loop([&](const Tensor& i, const Tensor&) { return i < turns(y); },
                                      [&](const Tensor& i, const Tensor& s) {
                                        return std::tuple(i + 1, s * 0.5 + sin(y) * s);
                                      },
                                      std::tuple(Tensor(0), x)));
      },
      "count by example");
  expect_mapped(
      [](const Tensor& x, const Tensor& y) {
        return std::get<1>(
            while_loop([&](const Tensor& i,
                           const Tensor&) { return i < 2 + cast(reduce_sum(y) > 0.6f, int32); },
                       [&](const Tensor& i, const Tensor& s) {
                         return std::tuple(i + 1, tanh(s + y) * cos(y));
                       },
                       std::tuple(Tensor(0), x)));
      },
      "each its own count");
  expect_mapped(
      [](const Tensor& x, const Tensor& y) {
        return std::get<1>(while_loop([](const Tensor& i, const Tensor&) { return i < 2; },
                                      [&](const Tensor& i, const Tensor&) {
                                        return std::tuple(i + 1, exp(y));  // of the example alone
                                      },
                                      std::tuple(Tensor(0), x)));
      },
      "only the example");
  expect_mapped(
      [](const Tensor& x, const Tensor& y) {
        return std::get<1>(while_loop([](const Tensor& i, const Tensor&) { return i < 2; },
                                      [&](const Tensor& i, const Tensor&) {
                                        return std::tuple(i + 1, y);  // the example itself
                                      },
                                      std::tuple(Tensor(0), x)));
      },
      "the example itself");
}

TEST(VmapControl, ScansUseExamplesOfTheirSurroundings) {
  expect_mapped(
      [](const Tensor& x, const Tensor& y) {
        const auto [last, rows] = scan(
            [&](const Tensor& c, const Tensor& row) {
              const Tensor next = tanh(c * row + exp(y));
              return std::pair(next, reduce_sum(sin(y)) * row);
            },
            x, stack({x, y, x * y}));
        return last + reduce_sum(rows, {0});
      },
      "scan");
}

TEST(VmapControl, BranchesUseExamplesOfTheirSurroundings) {
  // The choice is the same for all examples, and known only to the program when it is traced.
  const Tensor shared = {1.0f, 2.0f};
  for (const float sign : {1.0f, -1.0f}) {
    const auto chosen = [&](const Tensor& xs, const Tensor& ys, const Tensor& by) {
      return vmap([&](const Tensor& x, const Tensor& y) {
        return cond(
            reduce_sum(by) > 0, [&] { return sin(y) * x; }, [&] { return exp(x) + y; });
      })(xs, ys);
    };
    const auto switched = [&](const Tensor& xs, const Tensor& ys, const Tensor& by) {
      return vmap([&](const Tensor& x, const Tensor& y) {
        const std::vector<std::function<Tensor()>> branches = {
            [&] { return y; }, [&] { return sin(y) * x; }, [&] { return x; }};
        return switch_case(cast(reduce_sum(by) > 0, int32), branches);
      })(xs, ys);
    };
    const Tensor by = shared * sign;
    expect_near(function(chosen)(kXs, kYs, by), chosen(kXs, kYs, by), "cond");
    expect_near(function(switched)(kXs, kYs, by), switched(kXs, kYs, by), "switch_case");
    const auto slope = [&](auto f) {
      return [&, f](const Tensor& xs, const Tensor& ys, const Tensor& b) {
        return grad([&](const Tensor& u) { return reduce_sum(square(f(xs, u, b))); })(ys);
      };
    };
    expect_near(function(slope(chosen))(kXs, kYs, by), slope(chosen)(kXs, kYs, by), "cond slope");
    expect_near(function(slope(switched))(kXs, kYs, by), slope(switched)(kXs, kYs, by),
                "switch_case slope");
  }
}

TEST(VmapControl, NestedLoopsUseExamplesOfAllTheirSurroundings) {
  expect_mapped(
      [](const Tensor& x, const Tensor& y) {
        return std::get<1>(while_loop([&](const Tensor& i, const Tensor&) { return i < turns(x); },
                                      [&](const Tensor& i, const Tensor& s) {
                                        const Tensor inner = std::get<1>(while_loop(
                                            [&](const Tensor& j, const Tensor&) { return j < 2; },
                                            [&](const Tensor& j, const Tensor& t) {
                                              return std::tuple(j + 1, t * cos(y) + sin(x) * s);
                                            },
                                            std::tuple(Tensor(0), s)));
                                        return std::tuple(i + 1, tanh(inner + exp(y)));
                                      },
                                      std::tuple(Tensor(0), x)));
      },
      "nested");
  const auto twice = [](const Tensor& xs, const Tensor& ys) {  // vmap in vmap
    return vmap([&](const Tensor& x) {
      return vmap([&](const Tensor& y) {
        return std::get<1>(while_loop([](const Tensor& i, const Tensor&) { return i < 2; },
                                      [&](const Tensor& i, const Tensor& s) {
                                        return std::tuple(i + 1, s * sin(y) + cos(x) * exp(y));
                                      },
                                      std::tuple(Tensor(0), x)));
      })(ys);
    })(xs);
  };
  expect_near(function(twice)(kXs, kYs), twice(kXs, kYs), "vmap in vmap");
}

}  // namespace
}  // namespace gradus
