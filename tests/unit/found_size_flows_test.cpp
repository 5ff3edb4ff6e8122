// Whole programs of branches and loops whose sizes the data decide (docs/design/034): each against
// plain loops over vectors (unit/sized_programs_util.h).
#include <algorithm>
#include <tuple>

#include "unit/sized_programs_util.h"

namespace gradus::sized {
namespace {

// The body of a loop is traced once with the sizes of the first turn, and what its slices ask then
// stays, though the body is traced again with sizes that vary.
constexpr int kFirstTurnAsks = 4;

TEST(FoundSizeFlows, Branches) {
  expect_program({"branches of different sizes",
                  [](Given x, Given, Given) {
                    return cond(
                        reduce_sum(x) > 0, [&] { return boolean_mask(x * x, x > 0); },
                        [&] {
                          return concat({x, sin(x)}, 0);
                        });
                  },
                  [](const Plain& p) {
                    if (sum_of(p.x).value() > 0) return map_of(positive(p.x), taylor::square);
                    return joined(p.x, map_of(p.x, [](const Series& v) { return sin(v); }));
                  }});
  expect_program(
      {"two results of different sizes",
       [](Given x, Given, Given m) {
         const auto [a, b] = cond(
             m > 2, [&] { return std::pair(slice_between(x, {}, m, {}), boolean_mask(x, x > 0)); },
             [&] { return std::pair(x * 3, slice_between(x, m, {}, {})); });
         return concat({a * reduce_sum(b), sin(b)}, 0);
       },
       [](const Plain& p) {
         const Rows a = p.m > 2 ? part(p.x, 0, p.m) : scaled(p.x, 3);
         const Rows b = p.m > 2 ? positive(p.x) : part(p.x, p.m, p.size());
         return joined(scaled(a, sum_of(b)), map_of(b, [](const Series& v) { return sin(v); }));
       }});
  expect_program({"one of three sizes",
                  [](Given x, Given, Given m) {
                    const std::vector<std::function<Tensor()>> branches = {
                        [&] { return x; }, [&] { return boolean_mask(tanh(x), x > 0); },
                        [&] {
                          return concat({x, x * x}, 0);
                        }};
                    return switch_case(floormod(m, 3), branches) * 2;
                  },
                  [](const Plain& p) {
                    if (p.m % 3 == 0) return scaled(p.x, 2);
                    if (p.m % 3 == 1)
                      return scaled(map_of(positive(p.x), [](const Series& v) { return tanh(v); }),
                                    2);
                    return scaled(joined(p.x, map_of(p.x, taylor::square)), 2);
                  }});
  expect_program({"a branch in a branch",
                  [](Given x, Given, Given m) {
                    return cond(
                        m > 1,
                        [&] {
                          return cond(
                              reduce_sum(x) > 0,
                              [&] { return slice_between(x, {}, m, {}) * doubles(m); },
                              [&] { return boolean_mask(x, x < 0); });
                        },
                        [&] {
                          return concat({x, ones({1}, float64)}, 0);
                        });
                  },
                  [](const Plain& p) {
                    if (p.m <= 1) return joined(p.x, {Series(1)});
                    if (sum_of(p.x).value() > 0)
                      return scaled(part(p.x, 0, p.m), static_cast<long double>(p.m));
                    return kept(p.x, [](const Series& v) { return v.value() < 0; });
                  }});
  expect_program({"sizes go on after a branch",
                  [](Given x, Given, Given) {
                    const Tensor y = cond(
                        reduce_sum(x) > 0, [&] { return boolean_mask(x, x > 0); },
                        [&] { return x; });
                    return matmul(column(y), expand_dims(sin(y), 0)) / (1 + y.shape()[0]);
                  },
                  [](const Plain& p) {
                    const Rows y = sum_of(p.x).value() > 0 ? positive(p.x) : p.x;
                    const auto n = static_cast<int64_t>(y.size());
                    Rows out;
                    for (const Series& a : y)
                      for (const Series& b : y)
                        out.push_back(a * sin(b) / Series(static_cast<long double>(n + 1)));
                    return Array({n, n}, out);
                  }});
}

TEST(FoundSizeFlows, LoopsThatGrow) {
  expect_program({"a list that grows",
                  [](Given x, Given, Given m) {
                    return std::get<1>(
                        while_loop([&](Tensor i, Tensor) { return i < m; },
                                   [&](Tensor i, Tensor y) {
                                     const Tensor next = sin(reduce_sum(y)) + gather(x, i);
                                     return std::tuple(i + 1, concat({y, one_row(next)}, 0));
                                   },
                                   std::tuple(whole(0), zeros({0}, float64))));
                  },
                  [](const Plain& p) {
                    Rows y;
                    for (int64_t i = 0; i < p.m; ++i) y.push_back(sin(sum_of(y)) + p.x[at(i)]);
                    return y;
                  }});
  expect_program({"rows that grow",
                  [](Given x, Given, Given m) {
                    const Tensor rows = three_columns(x);
                    return std::get<1>(
                        while_loop([&](Tensor i, Tensor) { return i < m; },
                                   [&](Tensor i, Tensor y) {
                                     const Tensor row = gather(rows, i) + reduce_sum(y, {0}) * 0.5;
                                     return std::tuple(i + 1, concat({y, expand_dims(row, 0)}, 0));
                                   },
                                   std::tuple(whole(0), zeros({0, 3}, float64))));
                  },
                  [](const Plain& p) {
                    Rows out;
                    Rows sums(3);
                    for (int64_t i = 0; i < p.m; ++i)
                      for (std::size_t j = 0; j < 3; ++j) {
                        out.push_back(p.x[at(i)] * kThree[j] + sums[j] * 0.5);
                        sums[j] += out.back();
                      }
                    return Array({p.m, 3}, out);
                  }});
  expect_program(
      {"doubling",
       [](Given x, Given, Given m) {
         return std::get<1>(while_loop([&](Tensor i, Tensor) { return i < minimum(m, 3); },
                                       [&](Tensor i, Tensor y) {
                                         return std::tuple(i + 1, concat({y * 0.5, sin(y)}, 0));
                                       },
                                       std::tuple(whole(0), x)));
       },
       [](const Plain& p) {
         Rows y = p.x;
         for (int64_t i = 0; i < std::min<int64_t>(p.m, 3); ++i)
           y = joined(scaled(y, 0.5L), map_of(y, [](const Series& v) { return sin(v); }));
         return y;
       }});
  expect_program({"two lists that grow at different speeds",
                  [](Given x, Given, Given m) {
                    const auto [i, a, b] =
                        while_loop([&](Tensor i, Tensor, Tensor) { return i < m; },
                                   [&](Tensor i, Tensor a, Tensor b) {
                                     const Tensor v = one_row(gather(x, i));
                                     return std::tuple(i + 1, concat({a, v}, 0),
                                                       concat({b, v * reduce_sum(a), tanh(v)}, 0));
                                   },
                                   std::tuple(whole(0), zeros({0}, float64), ones({1}, float64)));
                    return concat({b, a * reduce_sum(b) * doubles(i)}, 0);
                  },
                  [](const Plain& p) {
                    Rows a, b = {Series(1)};
                    for (int64_t i = 0; i < p.m; ++i) {
                      b.push_back(p.x[at(i)] * sum_of(a));
                      b.push_back(tanh(p.x[at(i)]));
                      a.push_back(p.x[at(i)]);
                    }
                    return joined(b, scaled(a, sum_of(b) * static_cast<long double>(p.m)));
                  }});
  expect_program({"as long as the sum is small",
                  [](Given x, Given, Given) {
                    return while_loop([](Tensor y) { return reduce_sum(y) < 6; },
                                      [&](Tensor y) {
                                        return concat({y, one_row(1 + reduce_sum(x * x) * 0.1)}, 0);
                                      },
                                      x);
                  },
                  [](const Plain& p) {
                    Rows y = p.x;
                    const Series next = Series(1) + sum_of(map_of(p.x, taylor::square)) * 0.1;
                    while (sum_of(y).value() < 6) y.push_back(next);
                    return y;
                  }});
  expect_program({"Pascal's triangle",
                  [](Given x, Given, Given m) {
                    const Tensor none = zeros({1}, float64);
                    const auto [i, row] = while_loop(
                        [&](Tensor i, Tensor) { return i < m; },
                        [&](Tensor i, Tensor row) {
                          return std::tuple(i + 1, concat({row, none}, 0) + concat({none, row}, 0));
                        },
                        std::tuple(whole(0), one_row(reduce_sum(x * x))));
                    return row;
                  },
                  [](const Plain& p) {
                    Rows row = {sum_of(map_of(p.x, taylor::square))};
                    for (int64_t i = 0; i < p.m; ++i) {
                      row.emplace_back(0);
                      for (std::size_t j = row.size() - 1; j > 0; --j) row[j] += row[j - 1];
                    }
                    return row;
                  }});
  expect_program({"at most two turns",
                  [](Given x, Given, Given) {
                    return while_loop([](Tensor y) { return length(y) < 40; },
                                      [&](Tensor y) {
                                        return concat({y, square(x)}, 0);
                                      },
                                      x, {.maximum_iterations = 2});
                  },
                  [](const Plain& p) {
                    const Rows squares = map_of(p.x, taylor::square);
                    return joined(joined(p.x, squares), squares);
                  }});
}

TEST(FoundSizeFlows, LoopsThatShrink) {
  expect_program({"beams that are pruned",
                  [](Given x, Given, Given) {
                    return while_loop([](Tensor y) { return length(y) > 2; },
                                      [](Tensor y) {
                                        const Tensor mean = reduce_mean(y);
                                        return boolean_mask(y * 0.9 + mean * 0.1, y > mean);
                                      },
                                      x);
                  },
                  [](const Plain& p) {
                    Rows y = p.x;
                    while (y.size() > 2) {
                      const Series mean = sum_of(y) / Series(static_cast<long double>(y.size()));
                      Rows next;
                      for (const Series& v : y)
                        if (is_above(v, mean)) next.push_back(v * 0.9 + mean * 0.1);
                      y = next;
                    }
                    return y;
                  }});
  expect_program({"a sum by halves",
                  [](Given x, Given, Given) {
                    return while_loop(
                        [](Tensor y) { return length(y) > 1; },
                        [](Tensor y) {
                          // A size that is odd gets one more zero.
                          const Tensor even = pad(y, {{0, to_size(floormod(length(y), 2))}});
                          const Tensor pairs = reshape(even, {even.shape()[0] / 2, 2});
                          return reduce_sum(pairs, {1}) + 0.1 * reduce_prod(pairs, {1});
                        },
                        x);
                  },
                  [](const Plain& p) {
                    Rows y = p.x;
                    while (y.size() > 1) {
                      if (y.size() % 2) y.emplace_back(0);
                      Rows next;
                      for (std::size_t i = 0; i < y.size(); i += 2)
                        next.push_back(y[i] + y[i + 1] + y[i] * y[i + 1] * 0.1);
                      y = next;
                    }
                    return y;
                  }});
  expect_program({"the upper half each time",
                  [](Given x, Given, Given) {
                    return while_loop(
                        [](Tensor y) { return length(y) > 2; },
                        [](Tensor y) {
                          return tanh(slice_between(y, floordiv(length(y), 2), {}, {})) +
                                 reduce_sum(slice_between(y, {}, floordiv(length(y), 2), {}));
                        },
                        x);
                  },
                  [](const Plain& p) {
                    Rows y = p.x;
                    while (y.size() > 2) {
                      const auto n = static_cast<int64_t>(y.size());
                      const Series low = sum_of(part(y, 0, n / 2));
                      y = map_of(part(y, n / 2, n), [&](const Series& v) { return tanh(v) + low; });
                    }
                    return y;
                  }});
  expect_program(
      {"the best, without those that are near",  // non-maximum suppression
       [](Given x, Given, Given) {
         const auto [left, chosen] =
             while_loop([](Tensor left, Tensor) { return length(left) > 0; },
                        [](Tensor left, Tensor chosen) {
                          const Tensor best = reduce_max(left);
                          return std::tuple(boolean_mask(left, left < best - 0.6),
                                            concat({chosen, one_row(best * best)}, 0));
                        },
                        std::tuple(x, zeros({0}, float64)));
         return concat({chosen, left}, 0);
       },
       [](const Plain& p) {
         Rows left = p.x, chosen;
         while (!left.empty()) {
           const Series best =
               *std::max_element(left.begin(), left.end(),
                                 [](const Series& a, const Series& b) { return is_above(b, a); });
           left = kept(left, [&](const Series& v) { return v.value() < best.value() - 0.6L; });
           chosen.push_back(best * best);
         }
         return chosen;
       }});
  expect_program({"one element less in each turn",
                  [](Given x, Given, Given m) {
                    const auto [i, y] =
                        while_loop([&](Tensor i, Tensor) { return i < m; },
                                   [](Tensor i, Tensor y) {
                                     const Tensor rest = index(y, {Slice{.begin = 1}});
                                     const Tensor before = index(y, {Slice{.end = -1}});
                                     return std::tuple(i + 1, rest * before);
                                   },
                                   std::tuple(whole(0), x + 1));
                    return y;
                  },
                  [](const Plain& p) {
                    Rows y = map_of(p.x, [](const Series& v) { return v + 1; });
                    for (int64_t i = 0; i < p.m; ++i) {
                      Rows next;
                      for (std::size_t j = 1; j < y.size(); ++j) next.push_back(y[j] * y[j - 1]);
                      y = next;
                    }
                    return y;
                  }},
                 kFirstTurnAsks);
}

TEST(FoundSizeFlows, FlowsInFlows) {
  expect_program({"a stack",  // odd numbers push, others pop
                  [](Given x, Given k, Given) {
                    const auto [i, stack] = while_loop(
                        [&](Tensor i, Tensor) { return i < length(x); },
                        [&](Tensor i, Tensor stack) {
                          const Tensor v = gather(x, i);
                          const Tensor next = cond(
                              equal(floormod(gather(k, i), 2), 1),
                              [&] {
                                return concat({stack, one_row(v + reduce_sum(stack))}, 0);
                              },
                              [&] { return slice_between(stack, {}, whole(-1), {}) * v; });
                          return std::tuple(i + 1, next);
                        },
                        std::tuple(whole(0), zeros({0}, float64)));
                    return stack;
                  },
                  [](const Plain& p) {
                    Rows stack;
                    for (std::size_t i = 0; i < p.x.size(); ++i) {
                      if (p.k[i] % 2 == 1) {
                        stack.push_back(p.x[i] + sum_of(stack));
                      } else {
                        if (!stack.empty()) stack.pop_back();
                        stack = scaled(stack, p.x[i]);
                      }
                    }
                    return stack;
                  }});
  expect_program({"a loop in a branch",
                  [](Given x, Given, Given m) {
                    const auto grown = [&] {
                      return std::get<1>(while_loop(
                          [&](Tensor i, Tensor) { return i < m; },
                          [&](Tensor i, Tensor y) {
                            return std::tuple(i + 1, concat({y, one_row(gather(x, i))}, 0) * 0.8);
                          },
                          std::tuple(whole(0), square(x))));
                    };
                    return cond(reduce_sum(x) > 0, grown, [&] { return boolean_mask(x, x < 0); });
                  },
                  [](const Plain& p) {
                    if (sum_of(p.x).value() <= 0)
                      return kept(p.x, [](const Series& v) { return v.value() < 0; });
                    Rows y = map_of(p.x, taylor::square);
                    for (int64_t i = 0; i < p.m; ++i) y = scaled(joined(y, {p.x[at(i)]}), 0.8L);
                    return y;
                  }});
  expect_program({"a loop in a loop",
                  [](Given x, Given k, Given) {
                    const auto [i, all] = while_loop(
                        [&](Tensor i, Tensor) { return i < length(x); },
                        [&](Tensor i, Tensor all) {
                          const Tensor count = gather(k, i), v = gather(x, i);
                          const auto [j, more] = while_loop(
                              [&](Tensor j, Tensor) { return j < count; },
                              [&](Tensor j, Tensor more) {
                                return std::tuple(j + 1, concat({more * 0.9, one_row(v * v)}, 0));
                              },
                              std::tuple(whole(0), all));
                          return std::tuple(i + 1, more);
                        },
                        std::tuple(whole(0), zeros({0}, float64)));
                    return all;
                  },
                  [](const Plain& p) {
                    Rows all;
                    for (std::size_t i = 0; i < p.x.size(); ++i)
                      for (int64_t j = 0; j < p.k[i]; ++j)
                        all = joined(scaled(all, 0.9L), {p.x[i] * p.x[i]});
                    return all;
                  }});
  expect_program({"masks in a loop",
                  [](Given x, Given k, Given) {
                    const auto [i, sums] = while_loop(
                        [&](Tensor i, Tensor) { return i < largest(k); },
                        [&](Tensor i, Tensor sums) {
                          const Tensor some = boolean_mask(x, equal(k, i));
                          return std::tuple(i + 1, concat({sums, some * reduce_sum(some)}, 0));
                        },
                        std::tuple(whole(0), zeros({0}, float64)));
                    return sums;
                  },
                  [](const Plain& p) {
                    Rows sums;
                    for (int64_t i = 0; i < largest(p.k); ++i) {
                      Rows some;
                      for (std::size_t j = 0; j < p.x.size(); ++j)
                        if (p.k[j] == i) some.push_back(p.x[j]);
                      sums = joined(sums, scaled(some, sum_of(some)));
                    }
                    return sums;
                  }});
  expect_program({"unique in a loop",
                  [](Given, Given k, Given m) {
                    return doubles(std::get<1>(while_loop(
                        [&](Tensor i, Tensor) { return i < m; },
                        [&](Tensor i, Tensor y) {
                          return std::tuple(i + 1, unique(floordiv(concat({y, k}, 0), 2)).y);
                        },
                        std::tuple(whole(0), k + 4))));
                  },
                  [](const Plain& p) {
                    Integers y;
                    for (const int64_t k : p.k) y.push_back(k + 4);
                    for (int64_t i = 0; i < p.m; ++i) {
                      Integers next;
                      y.insert(y.end(), p.k.begin(), p.k.end());
                      for (const int64_t v : y)
                        if (std::find(next.begin(), next.end(), v / 2) == next.end())
                          next.push_back(v / 2);
                      y = next;
                    }
                    Rows out;
                    for (const int64_t v : y) out.emplace_back(static_cast<long double>(v));
                    return out;
                  }});
  expect_program({"scan over chosen rows",
                  [](Given x, Given, Given) {
                    const auto [last, all] = scan(
                        [](const Tensor& state, const Tensor& row) {
                          const Tensor next = tanh(state * 0.5 + row);
                          return std::pair(next, next * row);
                        },
                        reduce_sum(x), concat({boolean_mask(x, x > 0), ones({1}, float64)}, 0));
                    return concat({all, one_row(last)}, 0);
                  },
                  [](const Plain& p) {
                    Series state = sum_of(p.x);
                    Rows out;
                    for (const Series& v : joined(positive(p.x), {Series(1)})) {
                      state = tanh(state * 0.5 + v);
                      out.push_back(state * v);
                    }
                    out.push_back(state);
                    return out;
                  }});
}

}  // namespace
}  // namespace gradus::sized
