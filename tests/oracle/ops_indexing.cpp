// Ops that pick by index, put back, sort, and reduce over groups.
#include <map>

#include "oracle/program.h"

namespace oracle {
namespace {

constexpr Real kGap = 1e-3L;  // between elements that are compared

int like(Maker& m, int x, const Dims& dims) {
  return m.fitted(m.any([&](const Value& v) { return is_complex(v) == is_complex(m.value(x)); }),
                  dims);
}
Dims random_indices(Maker& m, Size n, Size below) {
  Dims all;
  for (Size i = 0; i < n; ++i) all.push_back(m.between(0, below - 1));
  return all;
}

void add_gathers(Table& t) {
  // ints: axis, indices
  t.push_back({"gather",
               [](Maker& m, Node& n) {
                 const int x = m.any();
                 n.in = {m.dims(x).empty() ? m.fitted(x, {3}) : x};
                 const Size axis = static_cast<Size>(m.below(m.dims(n.in[0]).size()));
                 n.ints = random_indices(m, 3, m.dims(n.in[0])[index(axis)]);
                 n.ints.insert(n.ints.begin(), axis);
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 return gd::gather(in[0], indices({3}, Dims(n.ints.begin() + 1, n.ints.end())),
                                   static_cast<int>(n.ints[0]));
               },
               with_one_kind([](const Node& n, const auto& in) {
                 Dims dims = in[0].dims;
                 dims[index(n.ints[0])] = 3;
                 return moved(in[0], dims, [&](const Dims& position) {
                   Dims at = position;
                   Size& i = at[index(n.ints[0])];
                   i = n.ints[index(i + 1)];
                   return flat(in[0].dims, at);
                 });
               })});
  t.push_back({"gather_batch",
               [](Maker& m, Node& n) {
                 n.in = {m.of({2, 3})};
                 n.ints = random_indices(m, 4, 3);
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 return gd::gather(in[0], indices({2, 2}, n.ints), 1, 1);
               },
               with_one_kind([](const Node& n, const auto& in) {
                 return moved(in[0], {2, 2}, [&](const Dims& at) {
                   return at[0] * 3 + n.ints[index(at[0] * 2 + at[1])];
                 });
               })});
  t.push_back({"gather_nd",
               [](Maker& m, Node& n) {
                 n.in = {m.of({2, 3, 2})};
                 for (int i = 0; i < 3; ++i) {
                   n.ints.push_back(m.between(0, 1));
                   n.ints.push_back(m.between(0, 2));
                 }
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 return gd::gather_nd(in[0], indices({3, 2}, n.ints));
               },
               with_one_kind([](const Node& n, const auto& in) {
                 return moved(in[0], {3, 2}, [&](const Dims& at) {
                   return (n.ints[index(2 * at[0])] * 3 + n.ints[index(2 * at[0] + 1)]) * 2 + at[1];
                 });
               })});
  t.push_back({"boolean_pick",
               [](Maker& m, Node& n) {
                 n.in = {m.of({4, 2})};
                 return true;
               },
               [](const Node&, const Tensors& in) {
                 return gd::boolean_mask(in[0], gd::Tensor{true, false, true, true});
               },
               with_one_kind([](const Node&, const auto& in) {
                 return moved(in[0], {3, 2},
                              [&](const Dims& at) { return (at[0] ? at[0] + 1 : 0) * 2 + at[1]; });
               })});
}

// Three rows of two elements each, put to rows of an array of four; ints: where to.
bool make_scatter(Maker& m, Node& n, bool distinct) {
  const int x = m.any();
  n.in = {m.fitted(x, {4, 2}), like(m, x, {3, 2})};
  n.ints = distinct ? Dims{3, 0, 2} : random_indices(m, 3, 4);
  return true;
}
gd::Tensor rows_of(const Node& n) { return indices({3, 1}, n.ints); }

template <class F>
auto scattered(F f) {
  return with_one_kind([f](const Node& n, const auto& in) {
    auto out = in[0];
    for (Size i = 0; i < 3; ++i)
      for (Size k = 0; k < 2; ++k) f(out[n.ints[index(i)] * 2 + k], in[1][i * 2 + k]);
    return out;
  });
}

void add_scatters(Table& t) {
  const auto repeated = [](Maker& m, Node& n) { return make_scatter(m, n, false); };
  const auto distinct = [](Maker& m, Node& n) { return make_scatter(m, n, true); };
  t.push_back({"tensor_scatter_nd_add", repeated,
               [](const Node& n, const Tensors& in) {
                 return gd::tensor_scatter_nd_add(in[0], rows_of(n), in[1]);
               },
               scattered([](auto& to, const auto& from) { to += from; })});
  t.push_back({"tensor_scatter_nd_sub", repeated,
               [](const Node& n, const Tensors& in) {
                 return gd::tensor_scatter_nd_sub(in[0], rows_of(n), in[1]);
               },
               scattered([](auto& to, const auto& from) { to -= from; })});
  t.push_back({"tensor_scatter_nd_update", distinct,
               [](const Node& n, const Tensors& in) {
                 return gd::tensor_scatter_nd_update(in[0], rows_of(n), in[1]);
               },
               scattered([](auto& to, const auto& from) { to = from; })});
  const auto extreme = [&](const char* name, gd::Tensor (*engine)(gd::In, gd::In, gd::In),
                           int sign) {
    t.push_back(
        {name,
         [](Maker& m, Node& n) {
           n.in = {m.real_of({4, 2}), m.real_of({3, 2})};
           n.ints = random_indices(m, 3, 4);
           return true;
         },
         [engine](const Node& n, const Tensors& in) { return engine(in[0], rows_of(n), in[1]); },
         with_reals([sign](const Node& n, const auto& in) {
           Reals out = in[0];
           for (Size i = 0; i < 3; ++i) {
             for (Size k = 0; k < 2; ++k) {
               Nil& to = out[n.ints[index(i)] * 2 + k];
               const Nil& from = in[1][i * 2 + k];
               require(std::abs(to.base() - from.base()) > kGap, "a tie");
               if (sign * from.base() > sign * to.base()) to = from;
             }
           }
           return out;
         })});
  };
  extreme("tensor_scatter_nd_max", gd::tensor_scatter_nd_max, 1);
  extreme("tensor_scatter_nd_min", gd::tensor_scatter_nd_min, -1);
  const auto rows = with_one_kind([](const Node& n, const auto& in) {
    auto out = std::remove_cvref_t<decltype(in[0])>({4, 2});
    for (Size i = 0; i < 3; ++i)
      for (Size k = 0; k < 2; ++k) out[n.ints[index(i)] * 2 + k] += in[0][i * 2 + k];
    return out;
  });
  const auto make_rows = [](Maker& m, Node& n) {
    n.in = {m.of({3, 2})};
    n.ints = random_indices(m, 3, 4);
    return true;
  };
  t.push_back({"scatter_nd", make_rows,
               [](const Node& n, const Tensors& in) {
                 return gd::scatter_nd(rows_of(n), in[0], {4, 2});
               },
               rows});
  t.push_back({"scatter_rows", make_rows,
               [](const Node& n, const Tensors& in) {
                 return gd::scatter_rows(indices({3}, n.ints), in[0], {4, 2});
               },
               rows});
  t.push_back({"unsorted_segment_sum", make_rows,
               [](const Node& n, const Tensors& in) {
                 return gd::unsorted_segment_sum(in[0], indices({3}, n.ints), 4);
               },
               rows});
}

void add_rows(Table& t) {
  const auto make = [](Maker& m, Node& n) {
    const int x = m.any();
    n.in = {m.fitted(x, {3, 2}), like(m, x, {2})};
    n.ints = {m.between(0, 2)};
    return true;
  };
  const auto oracle = [](bool adds) {
    return with_one_kind([adds](const Node& n, const auto& in) {
      auto out = in[0];
      for (Size k = 0; k < 2; ++k) {
        auto& to = out[n.ints[0] * 2 + k];
        to = adds ? to + in[1][k] : in[1][k];
      }
      return out;
    });
  };
  t.push_back({"set_row", make,
               [](const Node& n, const Tensors& in) {
                 return gd::set_row(in[0], gd::Tensor(n.ints[0]), in[1]);
               },
               oracle(false)});
  t.push_back({"add_row", make,
               [](const Node& n, const Tensors& in) {
                 return gd::add_row(in[0], gd::Tensor(n.ints[0]), in[1]);
               },
               oracle(true)});
  t.push_back({"one_hot",
               [](Maker& m, Node& n) {
                 const int x = m.any();
                 n.in = {m.fitted(x, {}), like(m, x, {})};
                 n.ints = random_indices(m, 2, 4);
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 return gd::one_hot(indices({2}, n.ints), 3, in[0], in[1]);
               },
               with_one_kind([](const Node& n, const auto& in) {
                 auto out = std::remove_cvref_t<decltype(in[0])>({2, 3}, in[1][0]);
                 for (Size i = 0; i < 2; ++i)
                   if (n.ints[index(i)] < 3) out[i * 3 + n.ints[index(i)]] = in[0][0];
                 return out;
               })});
}

// Groups of rows; ints: the group of each of the four rows, -1 for none.
template <class F>
void segment(Table& t, const char* name, gd::Tensor (*engine)(gd::In, gd::In, gd::Size), F f,
             double empty = 0) {
  t.push_back({name,
               [](Maker& m, Node& n) {
                 n.in = {m.real_of({4, 2})};
                 n.ints = {0, 1, m.between(0, 1), m.between(-1, 1)};
                 return true;
               },
               [engine](const Node& n, const Tensors& in) {
                 return engine(in[0], indices({4}, n.ints), 2);
               },
               with_reals([f, empty](const Node& n, const auto& in) {
                 Reals out({2, 2}, Nil(empty));
                 for (Size g = 0; g < 2; ++g) {
                   for (Size k = 0; k < 2; ++k) {
                     std::vector<Nil> group;
                     for (Size i = 0; i < 4; ++i)
                       if (n.ints[index(i)] == g) group.push_back(in[0][i * 2 + k]);
                     out[g * 2 + k] = f(group);
                   }
                 }
                 return out;
               })});
}

Nil sum_of(const std::vector<Nil>& group) {
  return std::accumulate(group.begin(), group.end(), Nil(0));
}
Nil extreme_of(std::vector<Nil> group, int sign) {
  std::sort(group.begin(), group.end(),
            [&](const Nil& a, const Nil& b) { return sign * a.base() > sign * b.base(); });
  for (std::size_t i = 1; i < group.size(); ++i)
    require(std::abs(group[i].base() - group[i - 1].base()) > kGap, "a tie");
  return group[0];
}

void add_segments(Table& t) {
  segment(t, "unsorted_segment_mean", gd::unsorted_segment_mean,
          [](const auto& g) { return sum_of(g) / Nil(static_cast<Real>(g.size())); });
  segment(t, "unsorted_segment_sqrt_n", gd::unsorted_segment_sqrt_n,
          [](const auto& g) { return sum_of(g) / Nil(std::sqrt(static_cast<Real>(g.size()))); });
  segment(t, "unsorted_segment_prod", gd::unsorted_segment_prod, [](const auto& g) {
    return std::accumulate(g.begin(), g.end(), Nil(1), std::multiplies<>());
  });
  segment(t, "unsorted_segment_max", gd::unsorted_segment_max,
          [](const auto& g) { return extreme_of(g, 1); });
  segment(t, "unsorted_segment_min", gd::unsorted_segment_min,
          [](const auto& g) { return extreme_of(g, -1); });
}

// Along an axis of real numbers, which are well apart.
template <class S>
std::vector<S> in_order(std::vector<S> row, int sign) {
  std::stable_sort(row.begin(), row.end(),
                   [&](const S& a, const S& b) { return sign * a.base() < sign * b.base(); });
  for (std::size_t i = 1; i < row.size(); ++i)
    require(std::abs(row[i].base() - row[i - 1].base()) > kGap, "a tie");
  return row;
}

void add_sorting(Table& t) {
  t.push_back({"sort",
               [](Maker& m, Node& n) {
                 const int x = m.any_real();
                 n.in = {m.dims(x).empty() ? m.fitted(x, {2, 2}) : x};
                 n.ints = {static_cast<Size>(m.below(m.dims(n.in[0]).size())), m.coin()};
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 return gd::sort(in[0], static_cast<int>(n.ints[0]),
                                 n.ints[1] ? gd::Direction::descending : gd::Direction::ascending);
               },
               with_reals([](const Node& n, const auto& in) {
                 return along(in[0], n.ints[0], in[0].dims[index(n.ints[0])],
                              [&](const auto& row) { return in_order(row, n.ints[1] ? -1 : 1); });
               })});
  t.push_back({"top_k",
               [](Maker& m, Node& n) {
                 const int x = m.any_real();
                 n.in = {m.dims(x).empty() ? m.fitted(x, {3}) : x};
                 n.ints = {m.between(1, m.dims(n.in[0]).back())};
                 return true;
               },
               [](const Node& n, const Tensors& in) { return gd::top_k(in[0], n.ints[0]).values; },
               with_reals([](const Node& n, const auto& in) {
                 return along(in[0], in[0].rank() - 1, n.ints[0], [&](const auto& row) {
                   auto sorted = in_order(row, -1);
                   sorted.resize(index(n.ints[0]));
                   return sorted;
                 });
               })});
}

}  // namespace

void add_indexing(Table& table) {
  add_gathers(table);
  add_scatters(table);
  add_rows(table);
  add_segments(table);
  add_sorting(table);
}

}  // namespace oracle
