#include "oracle/matrices.h"

namespace oracle {

Solved solve(Reals a, Reals b) {
  const Size n = a.dims[0], m = b.dims[1];
  Nil det = 1;
  for (Size c = 0; c < n; ++c) {
    Size pivot = c;
    for (Size i = c; i < n; ++i)
      if (std::abs(entry(a, i, c).base()) > std::abs(entry(a, pivot, c).base())) pivot = i;
    require(std::abs(entry(a, pivot, c).base()) > 0.1L, "nearly singular");
    if (pivot != c) {
      det = -det;
      for (Size k = 0; k < n; ++k) std::swap(entry(a, c, k), entry(a, pivot, k));
      for (Size k = 0; k < m; ++k) std::swap(entry(b, c, k), entry(b, pivot, k));
    }
    det *= entry(a, c, c);
    const Nil scale = inverse(entry(a, c, c));
    for (Size i = 0; i < n; ++i) {
      if (i == c) continue;
      const Nil factor = entry(a, i, c) * scale;
      for (Size k = c; k < n; ++k) entry(a, i, k) -= factor * entry(a, c, k);
      for (Size k = 0; k < m; ++k) entry(b, i, k) -= factor * entry(b, c, k);
    }
  }
  for (Size i = 0; i < n; ++i)
    for (Size k = 0; k < m; ++k) entry(b, i, k) /= entry(a, i, i);
  return {b, det};
}

Reals cholesky(const Reals& a) {
  const Size n = a.dims[0];
  auto l = matrix<Nil>(n, n);
  for (Size i = 0; i < n; ++i) {
    for (Size k = 0; k <= i; ++k) {
      Nil rest = entry(a, i, k);
      for (Size j = 0; j < k; ++j) rest -= entry(l, i, j) * entry(l, k, j);
      if (i == k) require(rest.base() > 0.1L, "not positive definite");
      entry(l, i, k) = i == k ? sqrt(rest) : rest / entry(l, k, k);
    }
  }
  return l;
}

Reals expm(const Reals& a) {
  Reals sum = identity<Nil>(a.dims[0]), term = sum;
  for (int k = 1; k < 60; ++k) {
    term = product(term, a);
    for (Size i = 0; i < sum.size(); ++i) {
      term[i] /= Nil(k);
      sum[i] += term[i];
    }
  }
  return sum;
}

namespace {

// Makes the element of each column that is largest at the base positive.
void fix_signs(Reals& vectors, Reals* others = nullptr) {
  for (Size k = 0; k < vectors.dims[1]; ++k) {
    Size peak = 0;
    Real first = 0, second = 0;
    for (Size i = 0; i < vectors.dims[0]; ++i) {
      const Real size = std::abs(entry(vectors, i, k).base());
      if (size > first) {
        second = first;
        first = size;
        peak = i;
      } else {
        second = std::max(second, size);
      }
    }
    require(first - second > 1e-3L, "two largest elements");
    if (entry(vectors, peak, k).base() > 0) continue;
    for (Size i = 0; i < vectors.dims[0]; ++i) entry(vectors, i, k) = -entry(vectors, i, k);
    for (Size i = 0; others && i < others->dims[0]; ++i)
      entry(*others, i, k) = -entry(*others, i, k);
  }
}

}  // namespace

// Jacobi's rotations. When the base is diagonal, each further sweep lifts what is left by at least
// one order of infinitesimals.
Eigen eigh(Reals a) {
  const Size n = a.dims[0];
  Reals v = identity<Nil>(n);
  for (int sweep = 0; sweep < 16; ++sweep) {
    for (Size p = 0; p < n; ++p) {
      for (Size q = p + 1; q < n; ++q) {
        const Nil off = entry(a, p, q), gap = entry(a, q, q) - entry(a, p, p);
        if (std::abs(gap.base()) < 1e-12L && off.base() == 0) throw Rejected("equal eigenvalues");
        // tan(2 angle) = 2 off / gap, in a form that is smooth where off is 0.
        const Nil angle = std::abs(gap.base()) > std::abs(off.base())
                              ? atan((off + off) / gap) * Nil(0.5L)
                              : Nil(kPi / 4) - atan(gap / (off + off)) * Nil(0.5L);
        const Nil c = cos(angle), s = sin(angle);
        const auto rotate = [&](Nil& x, Nil& y) {
          const Nil turned = c * x - s * y;
          y = s * x + c * y;
          x = turned;
        };
        for (Size i = 0; i < n; ++i) rotate(entry(a, i, p), entry(a, i, q));
        for (Size i = 0; i < n; ++i) rotate(entry(a, p, i), entry(a, q, i));
        for (Size i = 0; i < n; ++i) rotate(entry(v, i, p), entry(v, i, q));
      }
    }
  }
  std::vector<Size> order(index(n));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](Size x, Size y) { return entry(a, x, x).base() < entry(a, y, y).base(); });
  Eigen result{Reals({n}), matrix<Nil>(n, n)};
  for (Size k = 0; k < n; ++k) {
    result.values[k] = entry(a, order[index(k)], order[index(k)]);
    for (Size i = 0; i < n; ++i) entry(result.vectors, i, k) = entry(v, i, order[index(k)]);
    if (k > 0)
      require(result.values[k].base() - result.values[k - 1].base() > 0.3L, "close eigenvalues");
  }
  fix_signs(result.vectors);
  return result;
}

// Householder's reflections: a column u becomes -sign(u_0) |u| at its top.
Qr qr(const Reals& a) {
  const Size m = a.dims[0], n = a.dims[1];
  Reals r = a, q = identity<Nil>(m);
  for (Size j = 0; j < std::min(n, m - 1); ++j) {
    std::vector<Nil> u;
    Nil squares = 0;
    for (Size i = j; i < m; ++i) {
      u.push_back(entry(r, i, j));
      squares += u.back() * u.back();
    }
    // Nothing below the diagonal is a special case of the method, with the other sign.
    require(std::abs(u[0].base()) > 1e-3L && squares.base() - (u[0] * u[0]).base() > 1e-3L,
            "a sign");
    u[0] += u[0].base() < 0 ? -sqrt(squares) : sqrt(squares);
    Nil length = 0;
    for (const Nil& x : u) length += x * x;
    const auto reflect = [&](auto element, Size columns) {
      for (Size k = 0; k < columns; ++k) {
        Nil dot = 0;
        for (Size i = j; i < m; ++i) dot += u[index(i - j)] * element(i, k);
        dot = (dot + dot) / length;
        for (Size i = j; i < m; ++i) element(i, k) -= dot * u[index(i - j)];
      }
    };
    reflect([&](Size i, Size k) -> Nil& { return entry(r, i, k); }, n);
    reflect([&](Size i, Size k) -> Nil& { return entry(q, k, i); }, m);  // from the right
  }
  for (Size i = 0; i < std::min(m, n); ++i)
    require(std::abs(entry(r, i, i).base()) > 0.1L, "nearly dependent columns");
  Qr result{matrix<Nil>(m, std::min(m, n)), matrix<Nil>(std::min(m, n), n)};
  for (Size i = 0; i < m; ++i)
    for (Size k = 0; k < result.q.dims[1]; ++k) entry(result.q, i, k) = entry(q, i, k);
  for (Size i = 0; i < result.r.dims[0]; ++i)
    for (Size k = i; k < n; ++k) entry(result.r, i, k) = entry(r, i, k);
  return result;
}

Svd svd(const Reals& a) {
  const Eigen right = eigh(product(transposed(a), a));
  const Size m = a.dims[0], n = a.dims[1];
  Svd result{Reals({n}), matrix<Nil>(m, n), matrix<Nil>(n, n)};
  for (Size k = 0; k < n; ++k) {
    const Nil& square = right.values[n - 1 - k];
    require(square.base() > 0.1L, "a small singular value");
    result.s[k] = sqrt(square);
    for (Size i = 0; i < n; ++i) entry(result.v, i, k) = entry(right.vectors, i, n - 1 - k);
  }
  result.u = product(a, result.v);
  for (Size k = 0; k < n; ++k)
    for (Size i = 0; i < m; ++i) entry(result.u, i, k) /= result.s[k];
  fix_signs(result.u, &result.v);
  return result;
}

}  // namespace oracle
