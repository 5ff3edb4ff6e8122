// Programs whose sizes the data decide, beside the same computation as plain loops over vectors:
// values, first and second derivatives, and how often the program was traced.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "gradus/gradus.h"
#include "unit/taylor_util.h"

namespace gradus::sized {

using std::int64_t;
using taylor::Series;
using Given = const Tensor&;
using Rows = std::vector<Series>;
using Integers = std::vector<int64_t>;

// Numbers that are followed, as many integers from 0 to 3, and a number from 0 to the size.
struct Plain {
  Rows x;
  Integers k;
  int64_t m;

  int64_t size() const { return static_cast<int64_t>(x.size()); }
};
struct Array {
  Integers shape;
  Rows values;

  Array(const Rows& rows) : shape{static_cast<int64_t>(rows.size())}, values(rows) {}  // NOLINT
  Array(Integers sizes, Rows all) : shape(std::move(sizes)), values(std::move(all)) {}
};

struct Program {
  std::string name;
  std::function<Tensor(const Tensor& x, const Tensor& k, const Tensor& m)> f;
  std::function<Array(const Plain&)> plain;
};

// --- small words of these programs ---

inline Tensor doubles(const Tensor& t) { return cast(t, float64); }
inline Tensor column(const Tensor& x) { return expand_dims(x, 1); }
inline Tensor three_columns(const Tensor& x) { return column(x) * Tensor({{1.0, 0.5, -2.0}}); }
inline constexpr double kThree[] = {1.0, 0.5, -2.0};
inline Tensor largest(const Tensor& k) { return reduce_max(concat({k, zeros({1}, int64)}, 0)); }
inline int64_t largest(const Integers& k) {
  return k.empty() ? 0 : *std::max_element(k.begin(), k.end());
}
inline std::size_t at(int64_t i) { return static_cast<std::size_t>(i); }
inline Tensor length(const Tensor& y) { return dynamic_size(y.shape()[0]); }
inline Tensor one_row(const Tensor& scalar) { return reshape(scalar, {1}); }
inline Tensor whole(int64_t number) { return Tensor(number); }

// --- plain vectors ---

inline Series sum_of(const Rows& x) {
  Series sum;
  for (const Series& v : x) sum += v;
  return sum;
}
template <class F>
Rows map_of(const Rows& x, F f) {
  Rows out;
  for (const Series& v : x) out.push_back(f(v));
  return out;
}
template <class F>
Rows kept(const Rows& x, F keep) {
  Rows out;
  for (const Series& v : x)
    if (keep(v)) out.push_back(v);
  return out;
}
inline Rows positive(const Rows& x) {
  return kept(x, [](const Series& v) { return v.value() > 0; });
}
inline Rows joined(Rows a, const Rows& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
inline Rows scaled(const Rows& x, const Series& by) {
  return map_of(x, [&](const Series& v) { return v * by; });
}
inline bool is_above(const Series& a, const Series& b) { return a.value() > b.value(); }
// x[from:to], cut to what there is.
inline Rows part(const Rows& x, int64_t from, int64_t to) {
  Rows out;
  for (int64_t i = from; i < to && i < static_cast<int64_t>(x.size()); ++i)
    out.push_back(x[static_cast<std::size_t>(i)]);
  return out;
}
inline Rows softmax_of(const Rows& x) {
  const Rows powers = map_of(x, [](const Series& v) { return exp(v); });
  const Series sum = sum_of(powers);
  return map_of(powers, [&](const Series& v) { return v / sum; });
}

// --- the comparison ---

// A number for a whole result in which every element counts in its own way, twice differentiable
// with derivatives that do not vanish.
inline Tensor total(const Tensor& y) {
  const Tensor flat = reshape(y, {-1});
  return reduce_sum(sin(flat + 0.7 * cast(iota(flat.shape()[0]), float64)));
}
inline Series total(const Array& y) {
  Series sum;
  for (std::size_t i = 0; i < y.values.size(); ++i)
    sum += sin(y.values[i] + Series(0.7 * static_cast<double>(i)));
  return sum;
}

struct Call {
  std::vector<double> x;
  Integers k;
  int64_t m;

  Tensor numbers() const { return Tensor::from(x); }
  Tensor integers() const { return Tensor::from(k); }
  // The plain input, moved along a direction.
  Plain along(const std::vector<double>& v) const {
    Plain p{{}, k, m};
    for (std::size_t i = 0; i < x.size(); ++i) p.x.emplace_back(x[i], v[i]);
    return p;
  }
};

// Two ordinary sizes first, then 0, 1 and others; thresholds at multiples of 1/4 are not near.
inline std::vector<Call> calls(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Call> all;
  for (const int n : {6, 4, 0, 1, 9, 2, 1, 5, 0, 7}) {
    Call call{{}, {}, n ? static_cast<int64_t>(random() % static_cast<unsigned>(n + 1)) : 0};
    for (int i = 0; i < n; ++i) {
      const auto quarter = static_cast<double>(random() % 16) * 0.25 - 2;
      call.x.push_back(quarter + 0.02 + static_cast<double>(random() % 1000) * 0.0002);
      call.k.push_back(all.size() == 5 ? 0 : static_cast<int64_t>(random() % 4));
    }
    all.push_back(call);
  }
  return all;
}

inline std::vector<double> unit(std::size_t size, std::size_t i) {
  std::vector<double> v(size);
  v[i] = 1;
  return v;
}

inline void expect_close(const Tensor& got, const std::vector<long double>& want,
                         const std::string& what) {
  ASSERT_EQ(got.num_elements(), static_cast<int64_t>(want.size())) << what;
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got.data<double>()[i], static_cast<double>(want[i]),
                1e-10 * (1 + std::abs(static_cast<double>(want[i]))))
        << what << ", element " << i;
}

// What the plain loops say at one call: the result, its gradient, and the Hessian of its total
// times the direction that second_gradient() takes.
struct Expected {
  Array value{Rows{}};
  std::vector<long double> gradient, hessian_product;
};
inline Expected expected(const Program& p, const Call& call) {
  const std::size_t n = call.x.size();
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = std::cos(static_cast<double>(i));
  Expected e;
  e.value = p.plain(call.along(std::vector<double>(n)));
  const auto second = [&](const std::vector<double>& w) {
    return total(p.plain(call.along(w)))[2];
  };
  const long double of_v = second(v);
  for (std::size_t i = 0; i < n; ++i) {
    e.gradient.push_back(total(p.plain(call.along(unit(n, i))))[1]);
    // From the squares (v + e) H (v + e) / 2 and so on, what is v H e.
    std::vector<double> sum = v;
    sum[i] += 1;
    e.hessian_product.push_back(second(sum) - of_v - second(unit(n, i)));
  }
  return e;
}

inline Tensor gradient(const Program& p, const Tensor& x, const Tensor& k, const Tensor& m) {
  return grad([&](const Tensor& at) { return total(p.f(at, k, m)); })(x);
}
inline Tensor second_gradient(const Program& p, const Tensor& x, const Tensor& k, const Tensor& m) {
  return grad([&](const Tensor& at) {
    return reduce_sum(gradient(p, at, k, m) * cos(cast(iota(at.shape()[0]), float64)));
  })(x);
}

inline void expect_value(const Tensor& got, const Array& want, const std::string& what) {
  ASSERT_EQ(to_string(got.shape()), to_string(Shape(std::span(want.shape)))) << what;
  std::vector<long double> values;
  for (const Series& v : want.values) values.push_back(v.value());
  expect_close(got, values, what);
}

// A program, its gradient and its second gradient, compiled, with a count of how often C++ ran.
class Compiled {
 public:
  explicit Compiled(const Program& program) : program_(program) {
    counted_.f = [this](const Tensor& x, const Tensor& k, const Tensor& m) {
      ++runs_;
      return program_.f(x, k, m);
    };
  }
  Compiled(const Compiled&) = delete;

  void expect(const Call& call, const Expected& want) const {
    const Tensor x = call.numbers(), k = call.integers(), m = Tensor(call.m);
    expect_value(value_(x, k, m), want.value, "compiled");
    expect_close(first_(x, k, m), want.gradient, "compiled gradient");
    expect_close(second_(x, k, m), want.hessian_product, "compiled second gradient");
  }
  void expect_traces(int most) const {
    EXPECT_LE(value_.trace_count(), most) << value_.explain();
    EXPECT_LE(first_.trace_count(), most) << first_.explain();
    EXPECT_LE(second_.trace_count(), most) << second_.explain();
    EXPECT_EQ(runs_, value_.trace_count() + first_.trace_count() + second_.trace_count());
  }

 private:
  using Function = std::function<Tensor(const Tensor&, const Tensor&, const Tensor&)>;
  const Program& program_;
  int runs_ = 0;
  Program counted_;
  CompiledFunction<Function> value_{
      [this](Given x, Given k, Given m) { return counted_.f(x, k, m); }};
  CompiledFunction<Function> first_{
      [this](Given x, Given k, Given m) { return gradient(counted_, x, k, m); }};
  CompiledFunction<Function> second_{
      [this](Given x, Given k, Given m) { return second_gradient(counted_, x, k, m); }};
};

// As plain loops, eagerly and compiled, with both gradients. Compiled, all sizes are served by the
// program for known sizes and the one for unknown ones: C++ does not run again. Whichever sizes
// come first, the numbers are the same.
inline void expect_program(const Program& p, int most_traces = 2) {
  SCOPED_TRACE(p.name);
  const std::vector<Call> all = calls(static_cast<unsigned>(std::hash<std::string>()(p.name)));
  const Compiled in_order(p), empty_first(p), one_first(p);
  const auto expect_from = [&](const Compiled& compiled, std::size_t first) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Call& call = all[(i + first) % all.size()];
      SCOPED_TRACE("size " + std::to_string(call.x.size()) + ", m " + std::to_string(call.m) +
                   ", from call " + std::to_string(first) + " on");
      compiled.expect(call, expected(p, call));
    }
  };
  for (const Call& call : all) {
    SCOPED_TRACE("size " + std::to_string(call.x.size()) + ", m " + std::to_string(call.m));
    const Tensor x = call.numbers(), k = call.integers(), m = Tensor(call.m);
    const Expected want = expected(p, call);
    expect_value(p.f(x, k, m), want.value, "eager");
    expect_close(gradient(p, x, k, m), want.gradient, "eager gradient");
    expect_close(second_gradient(p, x, k, m), want.hessian_product, "eager second gradient");
  }
  expect_from(in_order, 0);
  in_order.expect_traces(most_traces);
  expect_from(empty_first, 2);
  empty_first.expect_traces(most_traces + 2);
  expect_from(one_first, 3);
  one_first.expect_traces(most_traces + 2);
}

}  // namespace gradus::sized
