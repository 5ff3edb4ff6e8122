// The calls on which every record is tried, with arguments filled as its definition says.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "gradus/gradus.h"
#include "graph/elementwise.h"
#include "graph/op.h"

namespace gradus {

struct Case {
  const Op* op;
  std::vector<SampleArg> in;
  std::shared_ptr<void> attrs;
};

inline std::vector<Case> cases_of(const Op& op) {
  std::vector<Case> cases;
  if (op.kind == Kind::elementwise) {
    const std::vector<std::vector<Shape>> shapes = {{{2, 3}, {2, 3}, {2, 3}, {2, 3}},
                                                    {{}, {}, {}, {}},
                                                    {{4, 1}, {3}, {4, 3}, {1}},
                                                    {{17}, {}, {1}, {17}},
                                                    {{0, 2}, {2}, {1, 2}, {}}};
    for (const auto& set : shapes) {
      Case c{&op, {}, nullptr};
      for (int i = 0; i < op.elementwise->arity; ++i) {
        const bool mask = op.elementwise->bool_inputs >> i & 1;
        c.in.push_back({set[static_cast<std::size_t>(i)], op.info.low, op.info.high,
                        mask ? Fill::boolean : Fill::real});
      }
      cases.push_back(c);
    }
  } else if (op.info.samples) {
    for (const Sample& s : op.info.samples()) cases.push_back({&op, s.in, s.attrs});
  }
  return cases;
}

// Numbers inside the range that are well apart from each other where that matters (ties are tested
// by hand), and never integers, so that derivatives of floor and the like are well defined.
inline Tensor fill_argument(const SampleArg& a, DType dtype, std::mt19937_64& rng) {
  const auto n = static_cast<std::size_t>(a.shape.num_elements());
  if (a.fill == Fill::integer) {
    std::vector<int> v(n);
    for (int& x : v) {
      x = static_cast<int>(a.low) +
          static_cast<int>(rng() % static_cast<std::uint64_t>(std::max(1.0, a.high - a.low)));
    }
    return Tensor::from(v, a.shape);
  }
  if (a.fill == Fill::boolean) {
    std::vector<double> v(n);
    for (double& x : v) x = static_cast<double>(rng() & 1);
    return cast(Tensor::from(v, a.shape), bool_);
  }
  std::vector<double> v(n);
  if (a.fill == Fill::distinct) {
    for (std::size_t i = 0; i < n; ++i) {
      v[i] = a.low + (a.high - a.low) * (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    }
    std::shuffle(v.begin(), v.end(), rng);
  } else {
    std::uniform_real_distribution<double> uniform(a.low, a.high);
    for (double& x : v) x = std::round(uniform(rng) * 1024) / 1024 + 0x1p-12;
  }
  Tensor t = Tensor::from(v, a.shape);
  if (a.fill == Fill::positive_definite) {
    const std::int64_t m = a.shape.back();
    std::vector<double> eye(static_cast<std::size_t>(m * m), 0);
    for (std::int64_t i = 0; i < m; ++i)
      eye[static_cast<std::size_t>(i * m + i)] = 2.0 * static_cast<double>(m);
    t = matmul(t, t, {.transpose_b = true}) + Tensor::from(eye, {m, m});
  } else if (a.fill == Fill::triangular) {
    const std::int64_t m = a.shape.back();
    std::vector<double> mask(static_cast<std::size_t>(m * m), 0), eye(mask);
    for (std::int64_t i = 0; i < m; ++i) {
      eye[static_cast<std::size_t>(i * m + i)] = 3;
      for (std::int64_t j = 0; j <= i; ++j) mask[static_cast<std::size_t>(i * m + j)] = 1;
    }
    t = t * Tensor::from(mask, {m, m}) + Tensor::from(eye, {m, m});
  }
  return dtype == float64 ? t : cast(t, dtype);
}

inline std::vector<Tensor> arguments(const Case& c, DType dtype, std::uint64_t seed = 1) {
  std::mt19937_64 rng(seed);
  std::vector<Tensor> in;
  for (const SampleArg& a : c.in) in.push_back(fill_argument(a, dtype, rng));
  return in;
}

inline Tensors run(const Case& c, std::span<const Tensor> in) {
  return c.op->run(in, c.attrs.get());
}

inline bool is_active(const Case& c, std::size_t i) {
  return c.op->is_differentiable_in(static_cast<int>(i)) &&
         (c.in[i].fill != Fill::integer && c.in[i].fill != Fill::boolean);
}

inline double dot(const Tensor& a, const Tensor& b) {
  const Tensor x = cast(a, float64), y = cast(b, float64);
  double sum = 0;
  for (std::int64_t i = 0; i < x.num_elements(); ++i)
    sum += x.data<double>()[i] * y.data<double>()[i];
  return sum;
}

inline Tensor random_like(const Tensor& t, std::mt19937_64& rng) {
  return fill_argument({t.shape(), -1, 1, Fill::real}, t.dtype(), rng);
}

// A direction to move an argument in: symmetric matrices stay symmetric.
inline Tensor direction(const SampleArg& a, const Tensor& t, std::mt19937_64& rng) {
  const Tensor v = random_like(t, rng);
  return a.fill == Fill::positive_definite ? v + linalg::matrix_transpose(v) : v;
}

inline void expect_near(const Tensor& a, const Tensor& b, double tolerance,
                        const std::string& what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  if (is_complex(a.dtype())) {
    for (std::int64_t i = 0; i < a.num_elements(); ++i) {
      ASSERT_NEAR(0,
                  std::abs(a.data<std::complex<double>>()[i] - b.data<std::complex<double>>()[i]),
                  tolerance)
          << what;
    }
    return;
  }
  const Tensor x = cast(a, float64), y = cast(b, float64);
  for (std::int64_t i = 0; i < x.num_elements(); ++i) {
    const double p = x.data<double>()[i], q = y.data<double>()[i];
    if (std::isnan(p) && std::isnan(q)) continue;
    if (p == q) continue;
    ASSERT_NEAR(p, q, tolerance * (1 + std::abs(p) + std::abs(q))) << what << " at element " << i;
  }
}

inline bool has_derivatives(const Op& op) {
  return op.kind != Kind::not_differentiable &&
         !(op.kind == Kind::elementwise && op.elementwise->makes_bool);
}

inline std::string describe(const Case& c) {
  std::string text = c.op->name();
  for (const SampleArg& a : c.in) text += " " + to_string(a.shape);
  return text;
}

}  // namespace gradus
