// Branches and loops whose results change their sizes (docs/design/034), differentiated in every
// mix of forward and reverse mode up to order four, eagerly and compiled. What is right is computed
// by power series (unit/taylor_util.h) in plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "gradus/gradus.h"
#include "unit/taylor_util.h"

namespace gradus {
namespace {

using taylor::Series;
using Rows = std::vector<Series>;
using Flow = std::function<Tensor(const Tensor& x, const Tensor& n)>;  // scalars

// A scalar function of x, whose flow also depends on a number of turns.
struct Known {
  std::string name;
  Flow f;
  std::function<Series(const Series& x, std::int64_t n)> plain;
};

Tensor row(const Tensor& scalar) { return reshape(scalar, {1}); }
Tensor none() { return zeros({0}, float64); }
Tensor whole(std::int64_t number) { return Tensor(number); }
Tensor length(const Tensor& y) { return dynamic_size(y.shape()[0]); }
Tensor doubles(const Tensor& t) { return cast(t, float64); }
// x, x^2, ... in a tensor of so many rows.
Tensor powers(const Tensor& x, std::int64_t count) {
  return cumprod(broadcast_to(row(x), {count}));
}

Series sum_of(const Rows& rows) {
  Series sum;
  for (const Series& v : rows) sum += v;
  return sum;
}
Rows powers(const Series& x, std::int64_t count) {
  Rows all;
  for (int k = 1; k <= count; ++k) all.push_back(taylor::power(x, k));
  return all;
}

// Appends next(i, y) to y, so often.
Tensor grown(const Tensor& n, const Tensor& start,
             const std::function<Tensor(const Tensor& i, const Tensor& y)>& next) {
  return std::get<1>(while_loop([&](Tensor i, Tensor) { return i < n; },
                                [&](Tensor i, Tensor y) {
                                  return std::tuple(i + 1, concat({y, row(next(i, y))}, 0));
                                },
                                std::tuple(whole(0), start)));
}

const Known kGrowing[] = {
    {"a sum of powers",
     [](const Tensor& x, const Tensor& n) {
       const auto [i, p, y] =
           while_loop([&](Tensor i, Tensor, Tensor) { return i < n; },
                      [&](Tensor i, Tensor p, Tensor y) {
                        return std::tuple(i + 1, p * x, concat({y, row(p * x)}, 0));
                      },
                      std::tuple(whole(0), Tensor(1.0), none()));
       return reduce_sum(y);
     },
     [](const Series& x, std::int64_t n) { return sum_of(powers(x, n)); }},
    {"a product of rows",
     [](const Tensor& x, const Tensor& n) {
       return reduce_prod(grown(n, row(x), [&](Tensor i, Tensor) { return sin(x) + doubles(i); }));
     },
     [](const Series& x, std::int64_t n) {
       Series product = x;
       for (int i = 0; i < n; ++i) product *= sin(x) + Series(i);
       return product;
     }},
    {"rows made of those before",
     [](const Tensor& x, const Tensor& n) {
       return reduce_sum(
           grown(n, row(x), [&](Tensor, Tensor y) { return sin(reduce_sum(y * y)) * x; }));
     },
     [](const Series& x, std::int64_t n) {
       Rows y = {x};
       for (int i = 0; i < n; ++i) {
         Series squares;
         for (const Series& v : y) squares += v * v;
         y.push_back(sin(squares) * x);
       }
       return sum_of(y);
     }},
    {"a list that doubles",
     [](const Tensor& x, const Tensor& n) {
       const auto [i, y] = while_loop([&](Tensor i, Tensor) { return i < n; },
                                      [&](Tensor i, Tensor y) {
                                        return std::tuple(i + 1, concat({y * x, exp(y * 0.5)}, 0));
                                      },
                                      std::tuple(whole(0), row(x)));
       return reduce_sum(y) / y.shape()[0];
     },
     [](const Series& x, std::int64_t n) {
       Rows y = {x};
       for (int i = 0; i < n; ++i) {
         Rows next;
         for (const Series& v : y) next.push_back(v * x);
         for (const Series& v : y) next.push_back(exp(v * 0.5L));
         y = next;
       }
       return sum_of(y) / Series(static_cast<taylor::Real>(y.size()));
     }},
    {"as long as the sum is small",
     [](const Tensor& x, const Tensor& n) {
       const Tensor y = while_loop([&](Tensor y) { return reduce_sum(y) < doubles(n) * 1.3; },
                                   [&](Tensor y) {
                                     return concat({y, row(1 + x * x * doubles(length(y)))}, 0);
                                   },
                                   row(x));
       return reduce_prod(y);
     },
     [](const Series& x, std::int64_t n) {
       Rows y = {x};
       while (sum_of(y).value() < static_cast<taylor::Real>(n) * 1.3L)
         y.push_back(Series(1) + x * x * static_cast<taylor::Real>(y.size()));
       Series product(1);
       for (const Series& v : y) product *= v;
       return product;
     }},
    {"a matrix that grows",
     [](const Tensor& x, const Tensor& n) {
       const auto [i, y] =
           while_loop([&](Tensor i, Tensor) { return i < n; },
                      [&](Tensor i, Tensor y) {
                        const Tensor last = reduce_sum(y, {0}, true) * x + Tensor({{1.0, 0.5}});
                        return std::tuple(i + 1, concat({y, last}, 0));
                      },
                      std::tuple(whole(0), zeros({0, 2}, float64)));
       return reduce_sum(matmul(y, y, {.transpose_b = true}));
     },
     [](const Series& x, std::int64_t n) {
       // All products of rows: the square of their sum.
       Series a, b;
       for (int i = 0; i < n; ++i) {
         a = a + a * x + 1;
         b = b + b * x + 0.5L;
       }
       return a * a + b * b;
     }},
};

const Known kChoosing[] = {
    {"branches of different sizes",
     [](const Tensor& x, const Tensor& n) {
       const Tensor y = cond(
           n > 2, [&] { return powers(x, 3); }, [&] { return row(sin(x)); });
       return square(reduce_sum(y));
     },
     [](const Series& x, std::int64_t n) {
       return taylor::square(n > 2 ? sum_of(powers(x, 3)) : sin(x));
     }},
    {"one of three",
     [](const Tensor& x, const Tensor& n) {
       const std::vector<std::function<Tensor()>> branches = {
           [&] { return none(); }, [&] { return exp(powers(x, 2)); }, [&] { return powers(x, 4); }};
       return reduce_sum(switch_case(n, branches)) * x;
     },
     [](const Series& x, std::int64_t n) {
       if (n == 0) return Series(0);
       return (n == 1 ? exp(x) + exp(x * x) : sum_of(powers(x, 4))) * x;
     }},
    {"kept powers",
     [](const Tensor& x, const Tensor& n) {
       const Tensor all = powers(x, 6);
       return reduce_sum(boolean_mask(all, equal(floormod(iota(6), n + 1), 0)));
     },
     [](const Series& x, std::int64_t n) {
       Series sum;
       for (int k = 0; k < 6; k += static_cast<int>(n) + 1) sum += taylor::power(x, k + 1);
       return sum;
     }},
    {"masks in a loop",
     [](const Tensor& x, const Tensor& n) {
       const Tensor all = powers(x, 5);
       const auto [i, sum] =
           while_loop([&](Tensor i, Tensor) { return i < n; },
                      [&](Tensor i, Tensor sum) {
                        const Tensor some = boolean_mask(all, equal(floormod(iota(5), i + 2), 0));
                        return std::tuple(i + 1, sum * x + reduce_sum(some * some));
                      },
                      std::tuple(whole(0), Tensor(1.0)));
       return sum;
     },
     [](const Series& x, std::int64_t n) {
       Series sum(1);
       for (int i = 0; i < n; ++i) {
         sum = sum * x;
         for (int k = 0; k < 5; k += i + 2) sum += taylor::power(x, 2 * (k + 1));
       }
       return sum;
     }},
    {"rows that are dropped",
     [](const Tensor& x, const Tensor& n) {
       const auto [i, y] =
           while_loop([&](Tensor i, Tensor) { return i < n; },
                      [&](Tensor i, Tensor y) {
                        return std::tuple(i + 1, boolean_mask(y * x, y >= reduce_mean(y)));
                      },
                      std::tuple(whole(0), sin(x) * Tensor({1.0, 2.0, 3.0, 4.0, 5.0})));
       return reduce_sum(y);
     },
     [](const Series& x, std::int64_t n) {
       Rows y;
       for (int k = 1; k <= 5; ++k) y.push_back(sin(x) * Series(k));
       for (int i = 0; i < n; ++i) {
         const taylor::Real mean = sum_of(y).value() / static_cast<taylor::Real>(y.size());
         Rows next;
         for (const Series& v : y)
           if (v.value() >= mean - 1e-9L) next.push_back(v * x);
         y = next;
       }
       return sum_of(y);
     }},
    {"neighbours multiplied until one is left",
     [](const Tensor& x, const Tensor& n) {
       const Tensor start = powers(x, 4) + doubles(iota(4)) * doubles(n);
       return reduce_sum(while_loop([](Tensor y) { return length(y) > 1; },
                                    [](Tensor y) {
                                      return slice_between(y, whole(1), {}, {}) *
                                             slice_between(y, {}, whole(-1), {}) * 0.5;
                                    },
                                    start));
     },
     [](const Series& x, std::int64_t n) {
       Rows y;
       for (int k = 0; k < 4; ++k)
         y.push_back(taylor::power(x, k + 1) + Series(k) * static_cast<taylor::Real>(n));
       while (y.size() > 1) {
         Rows next;
         for (std::size_t j = 1; j < y.size(); ++j) next.push_back(y[j] * y[j - 1] * 0.5L);
         y = next;
       }
       return y[0];
     }},
};

const Known kNested[] = {
    {"a branch in a loop",
     [](const Tensor& x, const Tensor& n) {
       const auto [i, y] = while_loop(
           [&](Tensor i, Tensor) { return i < n; },
           [&](Tensor i, Tensor y) {
             return std::tuple(i + 1, cond(
                                          equal(floormod(i, 2), 0),
                                          [&] {
                                            return concat({y, row(sin(x) * reduce_sum(y))}, 0);
                                          },
                                          [&] { return y * x; }));
           },
           std::tuple(whole(0), row(x)));
       return reduce_sum(y * y);
     },
     [](const Series& x, std::int64_t n) {
       Rows y = {x};
       for (int i = 0; i < n; ++i) {
         if (i % 2 == 0) {
           y.push_back(sin(x) * sum_of(y));
         } else {
           for (Series& v : y) v = v * x;
         }
       }
       Series squares;
       for (const Series& v : y) squares += v * v;
       return squares;
     }},
    {"a loop in a branch",
     [](const Tensor& x, const Tensor& n) {
       const Tensor y = cond(
           n > 1,
           [&] {
             return grown(n, powers(x, 2), [&](Tensor, Tensor y) { return reduce_sum(y) * x; });
           },
           [&] { return row(exp(x)); });
       return reduce_sum(y);
     },
     [](const Series& x, std::int64_t n) {
       if (n <= 1) return exp(x);
       Rows y = powers(x, 2);
       for (int i = 0; i < n; ++i) y.push_back(sum_of(y) * x);
       return sum_of(y);
     }},
    {"a loop in a loop",
     [](const Tensor& x, const Tensor& n) {
       const auto [i, y] = while_loop(
           [&](Tensor i, Tensor) { return i < n; },
           [&](Tensor i, Tensor y) {
             const Tensor more = grown(i, y, [&](Tensor j, Tensor) { return sin(x * doubles(j)); });
             return std::tuple(i + 1, more * x);
           },
           std::tuple(whole(0), row(x)));
       return reduce_sum(y);
     },
     [](const Series& x, std::int64_t n) {
       Rows y = {x};
       for (int i = 0; i < n; ++i) {
         for (int j = 0; j < i; ++j) y.push_back(sin(x * Series(j)));
         for (Series& v : y) v = v * x;
       }
       return sum_of(y);
     }},
    {"a mask of what has grown",
     [](const Tensor& x, const Tensor& n) {
       const Tensor y = grown(n + 2, none(), [&](Tensor i, Tensor) { return x * doubles(i + 1); });
       const Tensor some = boolean_mask(y, equal(floormod(iota(y.shape()[0]), 2), 0));
       return reduce_sum(exp(some * 0.3)) * some.shape()[0];
     },
     [](const Series& x, std::int64_t n) {
       Series sum;
       int count = 0;
       for (int i = 0; i < n + 2; i += 2, ++count) sum += exp(x * Series(i + 1) * 0.3L);
       return sum * Series(count);
     }},
    {"scan over what has grown",
     [](const Tensor& x, const Tensor& n) {
       const Tensor y = grown(n, row(x), [&](Tensor i, Tensor) { return cos(x) + doubles(i); });
       const auto [last, all] = scan(
           [&](const Tensor& state, const Tensor& v) {
             const Tensor next = state * x + v;
             return std::pair(next, next * v);
           },
           Tensor(1.0), y);
       return last + reduce_sum(all);
     },
     [](const Series& x, std::int64_t n) {
       Series state = Series(1) * x + x, sum = state * x;
       for (int i = 0; i < n; ++i) {
         const Series v = cos(x) + Series(i);
         state = state * x + v;
         sum += state * v;
       }
       return state + sum;
     }},
};

// Bit k of `modes` says whether derivative k, from the inside, is in forward mode.
Flow derived(Flow f, int order, unsigned modes) {
  for (int k = 0; k < order; ++k) {
    const bool forward = modes >> k & 1;
    f = [f, forward](const Tensor& x, const Tensor& n) -> Tensor {
      const auto of_x = [&](const Tensor& at) { return f(at, n); };
      return forward ? jvp(of_x, x, Tensor(1.0)).second : grad(of_x)(x);
    };
  }
  return f;
}

std::string mix_name(int order, unsigned modes) {
  std::string text;
  for (int k = order - 1; k >= 0; --k) text += modes >> k & 1 ? 'f' : 'r';
  return text;
}

constexpr double kAt = 0.7;

void expect_derivative(const Known& known, const Flow& f, int order, std::int64_t n,
                       const std::string& how) {
  const auto want = static_cast<double>(
      known.plain(Series(kAt, 1), n).derivative(static_cast<std::size_t>(order)));
  EXPECT_NEAR(f(Tensor(kAt), Tensor(n)).item<double>(), want, 1e-11 * (1 + std::abs(want)))
      << known.name << ", " << n << " turns, " << how;
}

// One compiled program serves all numbers of turns.
void expect_all_mixes(const Known& known) {
  for (int order = 0; order <= 4; ++order)
    for (unsigned modes = 0; modes < 1u << order; ++modes) {
      const Flow eager = derived(known.f, order, modes);
      const auto compiled = function(eager);
      const std::string mix = mix_name(order, modes);
      for (const std::int64_t n : {2, 0, 1, 4}) {
        expect_derivative(known, eager, order, n, mix);
        expect_derivative(known, compiled, order, n, mix + " compiled");
      }
      EXPECT_EQ(compiled.trace_count(), 1) << known.name << compiled.explain();
    }
}

TEST(SizedFlowOrders, Growing) {
  for (const Known& known : kGrowing) expect_all_mixes(known);
}
TEST(SizedFlowOrders, Choosing) {
  for (const Known& known : kChoosing) expect_all_mixes(known);
}
TEST(SizedFlowOrders, Nested) {
  for (const Known& known : kNested) expect_all_mixes(known);
}

// Derivatives of a function that is compiled, and compiled derivatives inside of others.
TEST(SizedFlowOrders, AroundCompiledFunctions) {
  for (const Known& known : {kGrowing[2], kChoosing[3], kNested[0]})
    for (const unsigned modes : {0b00u, 0b01u, 0b10u, 0b11u})
      for (const std::int64_t n : {2, 0, 4}) {
        const std::string mix = mix_name(2, modes);
        expect_derivative(known, derived(function(known.f), 2, modes), 2, n, mix + " around");
        expect_derivative(known, derived(function(derived(known.f, 2, modes)), 2, modes), 4, n,
                          mix + " around itself");
      }
}

}  // namespace
}  // namespace gradus
