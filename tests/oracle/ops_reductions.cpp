// Reductions over axes, and running ones along an axis.
#include "oracle/program.h"

namespace oracle {
namespace {

constexpr Real kGap = 1e-3L;

template <class S>
S sum_of(const std::vector<S>& group) {
  return std::accumulate(group.begin(), group.end(), S(0));
}
template <class S>
S mean_of(const std::vector<S>& group) {
  return sum_of(group) / S(static_cast<Real>(group.size()));
}
template <class S>
S product_of(const std::vector<S>& group) {
  return std::accumulate(group.begin(), group.end(), S(1), std::multiplies<>());
}
Nil variance_of(const std::vector<Nil>& group) {
  const Nil mean = mean_of(group);
  Nil sum = 0;
  for (const Nil& x : group) sum += (x - mean) * (x - mean);
  return sum / Nil(static_cast<Real>(group.size()));
}
Nil log_sum(const std::vector<Nil>& group) {
  Nil sum = 0;
  for (const Nil& x : group) sum += exp(x);
  return log(sum);
}
Nil norm_of(const std::vector<Nil>& group, double p) {
  Nil sum = 0;
  for (const Nil& x : group) {
    require(std::abs(x.base()) > kGap, "a kink");
    sum += power(abs(x), p);
  }
  return power(sum, 1 / static_cast<Real>(p));
}
Nil extreme_of(const std::vector<Nil>& group, int sign) {
  require(!group.empty(), "the largest of nothing");
  Nil best = group[0];
  for (std::size_t i = 1; i < group.size(); ++i) {
    require(std::abs(group[i].base() - best.base()) > kGap, "a tie");
    if (sign * group[i].base() > sign * best.base()) best = group[i];
  }
  return best;
}

using Reduction = gd::Tensor (*)(gd::In, const gd::Shape&, bool);

// ints: keepdims, axes
bool choose_axes(Maker& m, Node& n) {
  n.ints = {m.coin()};
  for (Size a = 0; a < static_cast<Size>(m.dims(n.in[0]).size()); ++a)
    if (m.coin()) n.ints.push_back(a);
  return true;
}
Dims axes_of(const Node& n) { return Dims(n.ints.begin() + 1, n.ints.end()); }

template <class F>
void reduction(Table& t, const char* name, Reduction engine, F f) {
  t.push_back({name,
               [](Maker& m, Node& n) {
                 n.in = {m.any()};
                 return choose_axes(m, n);
               },
               [engine](const Node& n, const Tensors& in) {
                 return engine(in[0], to_shape(axes_of(n)), n.ints[0]);
               },
               with_one_kind([f](const Node& n, const auto& in) {
                 return reduced(in[0], axes_of(n), n.ints[0], f);
               })});
}
template <class F>
void real_reduction(Table& t, const char* name, Reduction engine, F f, bool spread = false) {
  t.push_back({name,
               [spread](Maker& m, Node& n) {
                 n.in = {m.within(-3, 3)};
                 if (spread) n.in = {m.real_of({2, 3})};
                 choose_axes(m, n);
                 if (spread && n.ints.size() == 1) n.ints.push_back(1);
                 return true;
               },
               [engine](const Node& n, const Tensors& in) {
                 return engine(in[0], to_shape(axes_of(n)), n.ints[0]);
               },
               with_reals([f](const Node& n, const auto& in) {
                 return reduced(in[0], axes_of(n), n.ints[0], f);
               })});
}

void add_plain_reductions(Table& t) {
  reduction(t, "reduce_sum", gd::reduce_sum, [](const auto& g) { return sum_of(g); });
  reduction(t, "reduce_mean", gd::reduce_mean, [](const auto& g) { return mean_of(g); });
  reduction(t, "reduce_prod", gd::reduce_prod, [](const auto& g) { return product_of(g); });
  real_reduction(t, "reduce_max", gd::reduce_max, [](const auto& g) { return extreme_of(g, 1); });
  real_reduction(t, "reduce_min", gd::reduce_min, [](const auto& g) { return extreme_of(g, -1); });
  real_reduction(t, "reduce_variance", gd::reduce_variance, variance_of);
  real_reduction(t, "reduce_logsumexp", gd::reduce_logsumexp, log_sum);
  const auto spread = [](const std::vector<Nil>& g) {
    const Nil v = variance_of(g);
    require(v.base() > 0.1L, "no spread");
    return sqrt(v);
  };
  real_reduction(t, "reduce_std", gd::reduce_std, spread, true);
  const auto euclidean = [](const std::vector<Nil>& g) {
    Nil sum = 0;
    for (const Nil& x : g) sum += x * x;
    require(sum.base() > 0.1L, "near zero");
    return sqrt(sum);
  };
  real_reduction(t, "reduce_euclidean_norm", gd::reduce_euclidean_norm, euclidean, true);
  real_reduction(
      t, "moments",
      [](gd::In x, const gd::Shape& axes, bool keepdims) {
        const auto [mean, variance] = gd::moments(x, axes, keepdims);
        return mean * variance;
      },
      [](const auto& g) { return mean_of(g) * variance_of(g); });
  for (const double p : {1.0, 2.0, 3.0, 2.5}) {
    t.push_back({"norm" + std::to_string(p).substr(0, 3),
                 [](Maker& m, Node& n) {
                   n.in = {m.real_of({2, 3})};
                   n.ints = {m.coin(), m.between(0, 1)};
                   return true;
                 },
                 [p](const Node& n, const Tensors& in) {
                   return gd::norm(in[0], p, to_shape(axes_of(n)), n.ints[0]);
                 },
                 with_reals([p](const Node& n, const auto& in) {
                   return reduced(in[0], axes_of(n), n.ints[0],
                                  [&](const auto& g) { return norm_of(g, p); });
                 })});
  }
}

// Running reductions. ints: axis, exclusive, reverse
bool make_scan(Maker& m, Node& n, bool real) {
  const int x = real ? m.within(-3, 3) : m.any();
  n.in = {m.dims(x).empty() ? m.fitted(x, {3}) : x};
  n.ints = {static_cast<Size>(m.below(m.dims(n.in[0]).size())), m.coin(), m.coin()};
  return true;
}
template <class S, class F>
Array<S> scanned(const Node& n, const Array<S>& x, const S& start, F step) {
  return along(x, n.ints[0], x.dims[index(n.ints[0])], [&](std::vector<S> row) {
    if (n.ints[2]) std::reverse(row.begin(), row.end());
    S state = start;
    for (S& element : row) {
      const S next = step(state, element);
      element = n.ints[1] ? state : next;
      state = next;
    }
    if (n.ints[2]) std::reverse(row.begin(), row.end());
    return row;
  });
}

void add_scans(Table& t) {
  const auto any = [](Maker& m, Node& n) { return make_scan(m, n, false); };
  t.push_back({"cumsum", any,
               [](const Node& n, const Tensors& in) {
                 return gd::cumsum(in[0], static_cast<int>(n.ints[0]), n.ints[1], n.ints[2]);
               },
               with_one_kind([](const Node& n, const auto& in) {
                 using S = std::remove_cvref_t<decltype(in[0].data[0])>;
                 return scanned(n, in[0], S(0), [](const S& a, const S& b) { return a + b; });
               })});
  t.push_back({"cumprod", any,
               [](const Node& n, const Tensors& in) {
                 return gd::cumprod(in[0], static_cast<int>(n.ints[0]), n.ints[1], n.ints[2]);
               },
               with_one_kind([](const Node& n, const auto& in) {
                 using S = std::remove_cvref_t<decltype(in[0].data[0])>;
                 return scanned(n, in[0], S(1), [](const S& a, const S& b) { return a * b; });
               })});
  t.push_back(
      {"cumulative_logsumexp",
       [](Maker& m, Node& n) {
         make_scan(m, n, true);
         n.ints[1] = 0;
         return true;
       },
       [](const Node& n, const Tensors& in) {
         return gd::cumulative_logsumexp(in[0], static_cast<int>(n.ints[0]), false, n.ints[2]);
       },
       with_reals([](const Node& n, const auto& in) {
         return map(
             scanned(n, in[0], Nil(0), [](const Nil& a, const Nil& b) { return a + exp(b); }),
             [](const Nil& x) { return log(x); });
       })});
  // ints: axis, lag, reverse
  t.push_back({"linear_recurrence",
               [](Maker& m, Node& n) {
                 make_scan(m, n, false);
                 const int x = n.in[0];
                 n.in.push_back(m.fitted(
                     m.any([&](const Value& v) { return is_complex(v) == is_complex(m.value(x)); }),
                     m.dims(x)));
                 return true;
               },
               [](const Node& n, const Tensors& in) {
                 return gd::linear_recurrence(in[0], in[1], static_cast<int>(n.ints[0]), n.ints[2],
                                              n.ints[1]);
               },
               with_one_kind([](const Node& n, const auto& in) {
                 auto out = in[1];
                 for_each_position(out.dims, [&](const Dims& position) {
                   Dims at = position, before = position;
                   const Size size = out.dims[index(n.ints[0])], i = at[index(n.ints[0])];
                   at[index(n.ints[0])] = n.ints[2] ? size - 1 - i : i;
                   before[index(n.ints[0])] = n.ints[2] ? size - i : i - 1;
                   if (i > 0) out.at(at) += in[0].at(n.ints[1] ? before : at) * out.at(before);
                 });
                 return out;
               })});
}

}  // namespace

void add_reductions(Table& table) {
  add_plain_reductions(table);
  add_scans(table);
}

}  // namespace oracle
