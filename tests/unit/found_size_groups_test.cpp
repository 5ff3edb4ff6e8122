// Groups, scatters and matrices of sizes that the data decide: each program against plain loops
// over vectors (unit/sized_programs_util.h).
#include <algorithm>
#include <map>

#include "unit/sized_programs_util.h"

namespace gradus::sized {
namespace {

// The gradient of sums over groups asks whether there is a group: one more program.
constexpr int kNoGroupsAsk = 3;

// The different integers in order of first appearance, with the sum and the number of each.
struct Group {
  int64_t id, count;
  Series sum, largest;
};
std::vector<Group> groups_of(const Plain& p) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < p.x.size(); ++i) {
    auto found =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.id == p.k[i]; });
    if (found == groups.end()) {
      groups.push_back({p.k[i], 1, p.x[i], p.x[i]});
    } else {
      ++found->count;
      found->sum += p.x[i];
      if (p.x[i].value() > found->largest.value()) found->largest = p.x[i];
    }
  }
  return groups;
}
template <class F>
Rows by_group(const Plain& p, F f) {
  Rows out;
  for (const Group& g : groups_of(p)) out.push_back(f(g));
  return out;
}

TEST(FoundSizeGroups, Groups) {
  expect_program({"unique and segment sums",
                  [](Given x, Given k, Given) {
                    const Unique u = unique(k);
                    return unsorted_segment_sum(x, u.idx, u.y.shape()[0]) * doubles(u.y + 1);
                  },
                  [](const Plain& p) {
                    return by_group(p, [](const Group& g) {
                      return g.sum * static_cast<long double>(g.id + 1);
                    });
                  }},
                 kNoGroupsAsk);
  expect_program({"unique and means",
                  [](Given x, Given k, Given) {
                    const Unique u = unique(k);
                    return unsorted_segment_sum(x, u.idx, u.y.shape()[0]) / doubles(u.count);
                  },
                  [](const Plain& p) {
                    return by_group(p, [](const Group& g) {
                      return g.sum / Series(static_cast<long double>(g.count));
                    });
                  }},
                 kNoGroupsAsk);
  expect_program(
      {"unique and largest",
       [](Given x, Given k, Given) {
         const Unique u = unique(k);
         return unsorted_segment_max(x, u.idx, u.y.shape()[0]);
       },
       [](const Plain& p) { return by_group(p, [](const Group& g) { return g.largest; }); }},
      kNoGroupsAsk);
  expect_program({"ragged pooling",
                  [](Given x, Given k, Given) {
                    const Size groups = to_size(largest(k) + 1);
                    return stack({unsorted_segment_mean(x, k, groups),
                                  unsorted_segment_sqrt_n(x, k, groups),
                                  unsorted_segment_prod(x, k, groups)});
                  },
                  [](const Plain& p) {
                    const auto n = at(largest(p.k) + 1);
                    Rows out(3 * n);
                    for (std::size_t g = 0; g < n; ++g) {
                      long double count = 0;
                      Series sum, product(1);
                      for (std::size_t i = 0; i < p.x.size(); ++i) {
                        if (at(p.k[i]) != g) continue;
                        ++count;
                        sum += p.x[i];
                        product *= p.x[i];
                      }
                      if (count > 0) out[g] = sum / Series(count);
                      if (count > 0) out[n + g] = sum / Series(std::sqrt(count));
                      out[2 * n + g] = product;
                    }
                    return Array({3, static_cast<int64_t>(n)}, out);
                  }});
  expect_program({"softmax within groups",
                  [](Given x, Given k, Given) {
                    const Unique u = unique(k);
                    const Tensor powers = exp(x);
                    const Tensor sums = unsorted_segment_sum(powers, u.idx, u.y.shape()[0]);
                    return powers / gather(sums, u.idx);
                  },
                  [](const Plain& p) {
                    std::map<int64_t, Series> sums;
                    for (std::size_t i = 0; i < p.x.size(); ++i) sums[p.k[i]] += exp(p.x[i]);
                    Rows out;
                    for (std::size_t i = 0; i < p.x.size(); ++i)
                      out.push_back(exp(p.x[i]) / sums[p.k[i]]);
                    return out;
                  }},
                 kNoGroupsAsk);
  expect_program(
      {"bincount", [](Given x, Given k, Given) { return bincount(k, {.weights = x * x}); },
       [](const Plain& p) {
         Rows out(p.x.empty() ? 0 : at(largest(p.k) + 1));
         for (std::size_t i = 0; i < p.x.size(); ++i) out[at(p.k[i])] += p.x[i] * p.x[i];
         return out;
       }},
      kNoGroupsAsk);
  expect_program({"confusion matrix",
                  [](Given x, Given k, Given) {
                    return confusion_matrix(k, floormod(k + 1, 3), -1, x, float64);
                  },
                  [](const Plain& p) {
                    int64_t n = 0;
                    for (const int64_t k : p.k) n = std::max({n, k + 1, (k + 1) % 3 + 1});
                    Rows out(at(n * n));
                    for (std::size_t i = 0; i < p.x.size(); ++i)
                      out[at(p.k[i] * n + (p.k[i] + 1) % 3)] += p.x[i];
                    return Array({n, n}, out);
                  }});
  expect_program({"values of unique floats",
                  [](Given x, Given, Given) {
                    return square(unique(concat({x, x * 2, x}, 0)).y);
                  },
                  [](const Plain& p) {
                    const Rows twice = map_of(p.x, [](const Series& v) { return v * 2; });
                    Rows out;
                    for (const Series& v : joined(p.x, twice))
                      if (std::none_of(out.begin(), out.end(),
                                       [&](const Series& w) { return w.value() == v.value(); }))
                        out.push_back(v);
                    return map_of(out, taylor::square);
                  }});
}

TEST(FoundSizeGroups, ScattersAndMasksOfLengths) {
  expect_program({"scatter_nd",
                  [](Given x, Given k, Given) {
                    return scatter_nd(column(k), sin(x), {to_size(largest(k) + 2)});
                  },
                  [](const Plain& p) {
                    Rows out(at(largest(p.k) + 2));
                    for (std::size_t i = 0; i < p.x.size(); ++i) out[at(p.k[i])] += sin(p.x[i]);
                    return out;
                  }});
  expect_program({"scatter_rows",
                  [](Given x, Given k, Given m) {
                    return scatter_rows(k, three_columns(x), {to_size(m) + 4, 3});
                  },
                  [](const Plain& p) {
                    Rows out(at(p.m + 4) * 3);
                    for (std::size_t i = 0; i < p.x.size(); ++i)
                      for (std::size_t j = 0; j < 3; ++j)
                        out[at(p.k[i]) * 3 + j] += p.x[i] * kThree[j];
                    return Array({p.m + 4, 3}, out);
                  }});
  expect_program(
      {"partition and stitch",
       [](Given x, Given, Given) {
         const Tensor up = where(x > 0), down = where(x <= 0);
         const Tensor all = tensor_scatter_nd_update(zeros_like(x), up, square(gather_nd(x, up)));
         return tensor_scatter_nd_update(all, down, sin(gather_nd(x, down)));
       },
       [](const Plain& p) {
         return map_of(p.x, [](const Series& v) { return v.value() > 0 ? v * v : sin(v); });
       }});
  expect_program({"partitions that know of each other",
                  [](Given x, Given, Given) {
                    const Tensor up = boolean_mask(x, x > 0), down = boolean_mask(x, x <= 0);
                    return concat({up * reduce_sum(down), tanh(down) + reduce_sum(up)}, 0);
                  },
                  [](const Plain& p) {
                    const Rows up = positive(p.x);
                    const Rows down = kept(p.x, [](const Series& v) { return v.value() <= 0; });
                    return joined(
                        map_of(up, [&](const Series& v) { return v * sum_of(down); }),
                        map_of(down, [&](const Series& v) { return tanh(v) + sum_of(up); }));
                  }});
  expect_program({"sequence_mask",
                  [](Given x, Given k, Given) { return sequence_mask(k, -1, float64) * column(x); },
                  [](const Plain& p) {
                    const int64_t width = largest(p.k);
                    Rows out;
                    for (std::size_t i = 0; i < p.x.size(); ++i)
                      for (int64_t j = 0; j < width; ++j)
                        out.push_back(j < p.k[i] ? p.x[i] : Series(0));
                    return Array({p.size(), width}, out);
                  }});
  expect_program({"lengths to flat values",
                  [](Given x, Given k, Given) {
                    const Tensor inside = sequence_mask(k);
                    const Tensor powers =
                        pow(column(x), doubles(expand_dims(iota(inside.shape()[1]) + 1, 0)));
                    return boolean_mask(powers, inside);
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (std::size_t i = 0; i < p.x.size(); ++i)
                      for (int j = 1; j <= p.k[i]; ++j) out.push_back(taylor::power(p.x[i], j));
                    return out;
                  }});
  expect_program({"reversed sequences",
                  [](Given x, Given k, Given) {
                    const Tensor rows = three_columns(x);
                    return boolean_mask(reverse_sequence(rows, minimum(k, 3), 1, 0), k > 0);
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (std::size_t i = 0; i < p.x.size(); ++i)
                      for (int64_t j = 0; j < 3 && p.k[i] > 0; ++j)
                        out.push_back(p.x[i] * kThree[j < p.k[i] ? p.k[i] - 1 - j : j]);
                    return Array({static_cast<int64_t>(out.size()) / 3, 3}, out);
                  }});
  expect_program(
      {"resize to the nearest",
       [](Given x, Given, Given m) {
         const Tensor from = floordiv(range(m) * dynamic_size(x.shape()[0]), maximum(m, 1));
         return gather(x, from) * x.shape()[0];
       },
       [](const Plain& p) {
         Rows out;
         for (int64_t i = 0; i < p.m; ++i)
           out.push_back(p.x[at(i * p.size() / p.m)] * static_cast<long double>(p.size()));
         return out;
       }});
  expect_program({"resize between neighbours",
                  [](Given x, Given, Given m) {
                    // As many points as wanted between the first and the last.
                    const Tensor ends = concat({x, zeros({1}, float64)}, 0);
                    const Tensor last = doubles(dynamic_size(x.shape()[0]));
                    const Tensor place = doubles(range(m)) * last / doubles(m + 1);
                    const Tensor low = cast(floor(place), int64);
                    const Tensor share = place - floor(place);
                    return gather(ends, low) * (1 - share) + gather(ends, low + 1) * share;
                  },
                  [](const Plain& p) {
                    const Rows ends = joined(p.x, {Series(0)});
                    Rows out;
                    for (int64_t i = 0; i < p.m; ++i) {
                      const double place = static_cast<double>(i) * static_cast<double>(p.size()) /
                                           static_cast<double>(p.m + 1);
                      const double share = place - std::floor(place);
                      const auto low = static_cast<std::size_t>(place);
                      out.push_back(ends[low] * (1 - share) + ends[low + 1] * share);
                    }
                    return out;
                  }});
}

TEST(FoundSizeGroups, Matrices) {
  expect_program({"a sparse matrix of what is large",
                  [](Given x, Given, Given) {
                    const Tensor table = column(x) * expand_dims(x, 0);
                    const Tensor places = where(table > 0.5);
                    return sparse_matmul(gather_nd(table, places), places, column(sin(x)),
                                         x.shape()[0]);
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (const Series& a : p.x) {
                      Series sum;
                      for (const Series& b : p.x)
                        if ((a * b).value() > 0.5L) sum += a * b * sin(b);
                      out.push_back(sum);
                    }
                    return Array({p.size(), 1}, out);
                  }});
  expect_program({"products that are sampled",
                  [](Given x, Given k, Given) {
                    const Tensor rows = three_columns(x) + 1;
                    const Tensor pairs = where(equal(column(k), expand_dims(k, 0)));
                    return sampled_matmul(rows, sin(rows), pairs);
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (std::size_t i = 0; i < p.x.size(); ++i)
                      for (std::size_t j = 0; j < p.x.size(); ++j) {
                        if (p.k[i] != p.k[j]) continue;
                        Series sum;
                        for (const double c : kThree) sum += (p.x[i] * c + 1) * sin(p.x[j] * c + 1);
                        out.push_back(sum);
                      }
                    return out;
                  }});
  expect_program({"a triangle that is solved",
                  [](Given x, Given, Given m) {
                    // L y = 1 with L = 1 below and exp(x) on the diagonal.
                    const Size n = to_size(m);
                    const Tensor diagonal = exp(slice(x, {0}, {n}));
                    const Tensor ones_below = linalg::band_part(ones({n, n}, float64), -1, 0);
                    return linalg::triangular_solve(linalg::set_diag(ones_below, diagonal),
                                                    ones({n, 1}, float64));
                  },
                  [](const Plain& p) {
                    Rows out;
                    for (int64_t i = 0; i < p.m; ++i)
                      out.push_back((Series(1) - sum_of(out)) / exp(p.x[at(i)]));
                    return Array({p.m, 1}, out);
                  }});
  expect_program(
      {"a diagonal and its determinant",
       [](Given x, Given, Given) { return linalg::det(linalg::diag(boolean_mask(x, x > 0))); },
       [](const Plain& p) {
         Series product(1);
         for (const Series& v : positive(p.x)) product *= v;
         return Array({}, {product});
       }});
  expect_program({"a filter over what is kept",
                  [](Given x, Given, Given) {
                    const Tensor some = boolean_mask(x, x > 0);
                    const Tensor padded = pad(some, {{1, 1}});
                    const Tensor kernel = reshape(Tensor({0.5, -1.0, 2.0}), {3, 1, 1});
                    return reshape(nn::conv1d(reshape(padded, {1, -1, 1}), kernel), {-1});
                  },
                  [](const Plain& p) {
                    const Rows padded = joined(joined({Series(0)}, positive(p.x)), {Series(0)});
                    Rows out;
                    for (std::size_t i = 0; i + 2 < padded.size(); ++i)
                      out.push_back(padded[i] * 0.5 - padded[i + 1] + padded[i + 2] * 2);
                    return out;
                  }});
}

}  // namespace
}  // namespace gradus::sized
