// Ops whose results have sizes that the data decide, and what is done with them: each program
// against plain loops over vectors (unit/sized_programs_util.h).
#include <algorithm>

#include "unit/sized_programs_util.h"

namespace gradus::sized {
namespace {

Rows times_square_sum(const Plain& p, const Rows& rows) {
  const Series scale = sum_of(map_of(p.x, taylor::square));
  return map_of(rows, [&](const Series& v) { return v * scale; });
}

// A Slice asks which of its ends are inside: a program for each answer, not for each size.
constexpr int kSliceAsks = 5;

TEST(FoundSizePrograms, Masks) {
  expect_program({"mask", [](Given x, Given, Given) { return boolean_mask(x, x > 0); },
                  [](const Plain& p) { return positive(p.x); }});
  expect_program({"mask by integers",
                  [](Given x, Given k, Given) { return tanh(boolean_mask(x * x, equal(k, 2))); },
                  [](const Plain& p) {
                    Rows out;
                    for (std::size_t i = 0; i < p.x.size(); ++i)
                      if (p.k[i] == 2) out.push_back(tanh(p.x[i] * p.x[i]));
                    return out;
                  }});
  expect_program({"rows of a mask",
                  [](Given x, Given, Given) { return boolean_mask(three_columns(x), x > 0); },
                  [](const Plain& p) {
                    Rows out;
                    for (const Series& v : positive(p.x))
                      for (const double c : kThree) out.push_back(v * c);
                    return Array({static_cast<int64_t>(out.size()) / 3, 3}, out);
                  }});
  expect_program({"a mask of two axes",
                  [](Given x, Given, Given) {
                    const Tensor table = column(x) - expand_dims(x, 0);
                    return boolean_mask(table, table > 0.1);
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (const Series& a : p.x)
                      for (const Series& b : p.x)
                        if (a.value() - b.value() > 0.1) out.push_back(a - b);
                    return out;
                  }});
  expect_program({"positions",
                  [](Given x, Given, Given) { return doubles(where(x > 0)) * reduce_sum(x * x); },
                  [](const Plain& p) {
                    Rows out;
                    for (std::size_t i = 0; i < p.x.size(); ++i)
                      if (p.x[i].value() > 0) out.emplace_back(static_cast<double>(i));
                    return Array({static_cast<int64_t>(out.size()), 1}, times_square_sum(p, out));
                  }});
  expect_program({"elements at coordinates",
                  [](Given x, Given, Given) {
                    const Tensor table = three_columns(x);
                    return gather_nd(sin(table), where(table > 0.3));
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (const Series& v : p.x)
                      for (const double c : kThree)
                        if ((v * c).value() > 0.3L) out.push_back(sin(v * c));
                    return out;
                  }});
  expect_program({"masks joined along columns",
                  [](Given x, Given, Given) {
                    const Tensor some = column(boolean_mask(x, x > 0));
                    return concat({some, some * some, boolean_mask(three_columns(x), x > 0)}, 1);
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (const Series& v : positive(p.x)) {
                      out.push_back(v);
                      out.push_back(v * v);
                      for (const double c : kThree) out.push_back(v * c);
                    }
                    return Array({static_cast<int64_t>(out.size()) / 5, 5}, out);
                  }});
  expect_program({"products of chosen rows",
                  [](Given x, Given, Given) {
                    const Tensor rows = boolean_mask(three_columns(x) + 1, x > 0);
                    return matmul(rows, rows, {.transpose_b = true});
                  },
                  [](const Plain& p) {
                    const Rows some = positive(p.x);
                    Rows out;
                    for (const Series& a : some)
                      for (const Series& b : some) {
                        Series sum;
                        for (const double c : kThree) sum += (a * c + 1) * (b * c + 1);
                        out.push_back(sum);
                      }
                    const auto n = static_cast<int64_t>(some.size());
                    return Array({n, n}, out);
                  }});
  expect_program({"columns against columns",
                  [](Given x, Given, Given) {
                    const Tensor rows = boolean_mask(three_columns(x), x > 0);
                    return einsum("ni,nj->ij", {rows, sin(rows)});
                  },
                  [](const Plain& p) {
                    Rows out(9);
                    for (const Series& v : positive(p.x))
                      for (std::size_t i = 0; i < 9; ++i)
                        out[i] += v * kThree[i / 3] * sin(v * kThree[i % 3]);
                    return Array({3, 3}, out);
                  }});
  expect_program({"sorted, then summed up",
                  [](Given x, Given, Given) { return cumsum(sort(boolean_mask(x, x > 0))); },
                  [](const Plain& p) {
                    Rows some = positive(p.x);
                    std::sort(some.begin(), some.end(), [](const Series& a, const Series& b) {
                      return a.value() < b.value();
                    });
                    Series sum;
                    for (Series& v : some) v = sum += v;
                    return some;
                  }});
  expect_program(
      {"log of a sum of powers",
       [](Given x, Given, Given) {
         return reduce_logsumexp(concat({boolean_mask(x, x > 0), zeros({1}, float64)}, 0));
       },
       [](const Plain& p) {
         Series sum(1);
         for (const Series& v : positive(p.x)) sum += exp(v);
         return Array({}, {log(sum)});
       }});
}

TEST(FoundSizePrograms, Slices) {
  expect_program(
      {"x[:m]", [](Given x, Given, Given m) { return index(x, {Slice{.end = to_size(m)}}) * 2; },
       [](const Plain& p) {
         return map_of(part(p.x, 0, p.m), [](const Series& v) { return v * 2; });
       }},
      kSliceAsks);
  expect_program({"x[m:]",
                  [](Given x, Given, Given m) { return square(slice_between(x, m, {}, {})); },
                  [](const Plain& p) { return map_of(part(p.x, p.m, p.size()), taylor::square); }});
  expect_program({"x[m::-1]",
                  [](Given x, Given, Given m) {
                    return slice_between(x, m, {}, Tensor(int64_t{-1})) * reduce_sum(x);
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (int64_t i = std::min(p.m, p.size() - 1); i >= 0; --i)
                      out.push_back(p.x[at(i)] * sum_of(p.x));
                    return out;
                  }});
  expect_program({"x[1:-m:2]",
                  [](Given x, Given, Given m) {
                    return slice_between(exp(x), Tensor(int64_t{1}), -m, Tensor(int64_t{2}));
                  },
                  [](const Plain& p) {
                    Rows out;  // -0 is the beginning
                    for (int64_t i = 1; i < (p.m ? p.size() - p.m : 0); i += 2)
                      out.push_back(exp(p.x[at(i)]));
                    return out;
                  }});
  expect_program({"a slice of two axes",
                  [](Given x, Given, Given m) {
                    const Size n = to_size(m);
                    return slice(column(x) * expand_dims(x, 0), {0, 0}, {n, n});
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (int64_t i = 0; i < p.m; ++i)
                      for (int64_t j = 0; j < p.m; ++j) out.push_back(p.x[at(i)] * p.x[at(j)]);
                    return Array({p.m, p.m}, out);
                  }});
  expect_program({"split in two",
                  [](Given x, Given, Given m) {
                    const std::vector<Tensor> parts = split(x, {to_size(m), -1});
                    return concat({parts[1] * reduce_sum(parts[0]), parts[0]}, 0);
                  },
                  [](const Plain& p) {
                    const Rows a = part(p.x, 0, p.m), b = part(p.x, p.m, p.size());
                    return joined(map_of(b, [&](const Series& v) { return v * sum_of(a); }), a);
                  }});
  expect_program({"split in three",
                  [](Given x, Given, Given m) {
                    const Size n = to_size(m), half = n / 2;
                    const std::vector<Tensor> parts =
                        split(x, std::vector<Size>{half, n - half, x.shape()[0] - n});
                    return stack({reduce_sum(parts[0]), reduce_sum(sin(parts[1])),
                                  reduce_sum(square(parts[2]))});
                  },
                  [](const Plain& p) {
                    const auto sine = [](const Series& v) { return sin(v); };
                    return Rows{sum_of(part(p.x, 0, p.m / 2)),
                                sum_of(map_of(part(p.x, p.m / 2, p.m), sine)),
                                sum_of(map_of(part(p.x, p.m, p.size()), taylor::square))};
                  }});
  expect_program({"a window that moves",
                  [](Given x, Given, Given m) {
                    const Tensor longer = concat({x, x}, 0);
                    return slice(longer, {to_size(m)}, {x.shape()[0]}) * x;
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (int64_t i = 0; i < p.size(); ++i)
                      out.push_back(p.x[at((i + p.m) % p.size())] * p.x[at(i)]);
                    return out;
                  }});
}

TEST(FoundSizePrograms, NumbersThatBecomeSizes) {
  expect_program({"range(m)",
                  [](Given x, Given, Given m) { return doubles(range(m)) * reduce_sum(x * x); },
                  [](const Plain& p) {
                    Rows out;
                    for (int64_t i = 0; i < p.m; ++i) out.emplace_back(static_cast<double>(i));
                    return times_square_sum(p, out);
                  }});
  expect_program({"range(m, 3 m + 1, 2)",
                  [](Given x, Given, Given m) {
                    return doubles(range(m, m * 3 + 1, Tensor(int64_t{2}))) * reduce_sum(x * x);
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (int64_t i = p.m; i < 3 * p.m + 1; i += 2)
                      out.emplace_back(static_cast<double>(i));
                    return times_square_sum(p, out);
                  }});
  expect_program({"linspace",
                  [](Given x, Given, Given m) {
                    return linspace(reduce_sum(x), reduce_sum(x * x), to_size(m) + 2);
                  },
                  [](const Plain& p) {
                    const Series a = sum_of(p.x), b = sum_of(map_of(p.x, taylor::square));
                    Rows out;
                    for (int64_t i = 0; i < p.m + 2; ++i)
                      out.push_back(a + (b - a) * (static_cast<long double>(i) /
                                                   static_cast<long double>(p.m + 1)));
                    return out;
                  }});
  expect_program({"repeat each", [](Given x, Given k, Given) { return repeat_each(x, k, 0); },
                  [](const Plain& p) {
                    Rows out;
                    for (std::size_t i = 0; i < p.x.size(); ++i)
                      out.insert(out.end(), at(p.k[i]), p.x[i]);
                    return out;
                  }});
  expect_program({"repeat all",
                  [](Given x, Given, Given m) { return repeat(sin(x), to_size(m), 0); },
                  [](const Plain& p) {
                    Rows out;
                    for (const Series& v : p.x) out.insert(out.end(), at(p.m), sin(v));
                    return out;
                  }});
  expect_program({"tile",
                  [](Given x, Given, Given m) {
                    return tile(three_columns(x), {to_size(m), 1});
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (int64_t turn = 0; turn < p.m; ++turn)
                      for (const Series& v : p.x)
                        for (const double c : kThree) out.push_back(v * c);
                    return Array({p.m * p.size(), 3}, out);
                  }});
  expect_program({"one_hot",
                  [](Given x, Given k, Given) {
                    const Tensor table =
                        one_hot(k, to_size(largest(k) + 1), Tensor(1.0), Tensor(0.0));
                    return matmul(table, column(x), {.transpose_a = true});
                  },
                  [](const Plain& p) {
                    Rows out(at(largest(p.k) + 1));
                    for (std::size_t i = 0; i < p.x.size(); ++i) out[at(p.k[i])] += p.x[i];
                    return Array({static_cast<int64_t>(out.size()), 1}, out);
                  }});
  expect_program({"pad",
                  [](Given x, Given k, Given m) {
                    return pad(three_columns(x), {{to_size(m), to_size(largest(k))}, {0, 1}},
                               PadMode::constant, 0.25);
                  },
                  [](const Plain& p) {
                    const int64_t rows = p.size() + p.m + largest(p.k);
                    Rows out(at(rows * 4), Series(0.25L));
                    for (int64_t i = 0; i < p.size(); ++i)
                      for (std::size_t j = 0; j < 3; ++j)
                        out[at((i + p.m) * 4) + j] = p.x[at(i)] * kThree[j];
                    return Array({rows, 4}, out);
                  }});
  expect_program({"ones and fill",
                  [](Given x, Given, Given m) {
                    const Size n = to_size(m);
                    return concat({ones({n, 2}, float64) * reduce_sum(x * x),
                                   fill({n, 1}, Tensor(3.0)), zeros({n, 1}, float64)},
                                  1);
                  },
                  [](const Plain& p) {
                    Rows out;
                    const Series sum = sum_of(map_of(p.x, taylor::square));
                    for (int64_t i = 0; i < p.m; ++i)
                      out = joined(out, {sum, sum, Series(3), Series(0)});
                    return Array({p.m, 4}, out);
                  }});
  expect_program({"broadcast",
                  [](Given x, Given, Given m) {
                    return broadcast_to(expand_dims(tanh(x), 0), {to_size(m) + 1, x.shape()[0]});
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (int64_t turn = 0; turn <= p.m; ++turn)
                      for (const Series& v : p.x) out.push_back(tanh(v));
                    return Array({p.m + 1, p.size()}, out);
                  }});
  expect_program(
      {"eye",
       [](Given x, Given, Given m) { return eye(to_size(m), -1, {}, float64) * reduce_sum(x * x); },
       [](const Plain& p) {
         Rows out(at(p.m * p.m));
         for (int64_t i = 0; i < p.m; ++i) out[at(i * p.m + i)] = 1;
         return Array({p.m, p.m}, times_square_sum(p, out));
       }});
  expect_program({"roll", [](Given x, Given, Given m) { return roll_by(x, m, 0) * x; },
                  [](const Plain& p) {
                    Rows out;
                    for (int64_t i = 0; i < p.size(); ++i)
                      out.push_back(p.x[at((i + p.size() - p.m) % p.size())] * p.x[at(i)]);
                    return out;
                  }});
  expect_program({"the m largest",
                  [](Given x, Given, Given m) {
                    const TopK best = top_k(x, to_size(m));
                    return best.values * sin(gather(x, best.indices));
                  },
                  [](const Plain& p) {
                    Rows all = p.x;
                    std::sort(all.begin(), all.end(), [](const Series& a, const Series& b) {
                      return a.value() > b.value();
                    });
                    return map_of(part(all, 0, p.m), [](const Series& v) { return v * sin(v); });
                  }});
}

TEST(FoundSizePrograms, Reshapes) {
  expect_program(
      {"flattened",
       [](Given x, Given, Given) { return reshape(boolean_mask(three_columns(x), x > 0), {-1}); },
       [](const Plain& p) {
         Rows out;
         for (const Series& v : positive(p.x))
           for (const double c : kThree) out.push_back(v * c);
         return out;
       }});
  expect_program({"pairs of neighbours",
                  [](Given x, Given, Given) {
                    const Tensor some = boolean_mask(x, x > 0);
                    const Size pairs = some.shape()[0] / 2;
                    const Tensor table = reshape(slice(some, {0}, {pairs * 2}), {-1, 2});
                    return reduce_sum(table * table, {1}) - reduce_prod(table, {1});
                  },
                  [](const Plain& p) {
                    const Rows some = positive(p.x);
                    Rows out;
                    for (std::size_t i = 0; i + 1 < some.size(); i += 2) {
                      const Series &a = some[i], &b = some[i + 1];
                      out.push_back(a * a + b * b - a * b);
                    }
                    return out;
                  }});
  expect_program({"transposed and flattened",
                  [](Given x, Given, Given m) {
                    const Tensor rows = slice_between(three_columns(x), {}, m, {});
                    return reshape(transpose(rows), {3 * rows.shape()[0]});
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (const double c : kThree)
                      for (const Series& v : part(p.x, 0, p.m)) out.push_back(v * c);
                    return out;
                  }});
  expect_program({"with an axis of one",
                  [](Given x, Given, Given) {
                    const Tensor some = boolean_mask(x, x > 0);
                    return squeeze(reshape(some, {1, -1, 1}), {0}) * expand_dims(some, 0);
                  },
                  [](const Plain& p) {
                    const Rows some = positive(p.x);
                    Rows out;
                    for (const Series& a : some)
                      for (const Series& b : some) out.push_back(a * b);
                    const auto n = static_cast<int64_t>(some.size());
                    return Array({n, n}, out);
                  }});
  expect_program({"meshgrid",
                  [](Given x, Given, Given m) {
                    const std::vector<Tensor> grid =
                        meshgrid({boolean_mask(x, x > 0), slice_between(x, {}, m, {})}, "ij");
                    return grid[0] * sin(grid[1]);
                  },
                  [](const Plain& p) {
                    const Rows a = positive(p.x), b = part(p.x, 0, p.m);
                    Rows out;
                    for (const Series& u : a)
                      for (const Series& v : b) out.push_back(u * sin(v));
                    return Array({static_cast<int64_t>(a.size()), p.m}, out);
                  }});
}

}  // namespace
}  // namespace gradus::sized
