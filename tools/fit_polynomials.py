#!/usr/bin/env python3
"""Fits the polynomials of src/expr/math_*.cpp and prints their coefficients.

Needs mpmath (and gmpy2 to be quick). Each row of FITS states the function, the basis in which it is
expanded, the weight that turns an error of the polynomial into a relative error of the result, and
the interval. A fit is a Remez exchange in 300 bits; coefficients are then rounded to the target
precision either all at once or one by one with the rest fitted again, whichever is better. (A few
float32 lists in the sources are slightly better neighbours of these, found by search.)

    tools/fit_polynomials.py [name ...]      # all of them take a few minutes
"""

import sys

import mpmath
from mpmath import atan, asin, asinh, cos, erf, erfc, exp, log, log1p, loggamma, lu_solve, matrix
from mpmath import mp, mpf, pi, psi, sin, sinh, sqrt, tan, tanh

mp.prec = 300
TINY = mpf(2) ** -90


def remez(values, weights, powers, iterations=20):
    """Coefficients minimising max |w (f - sum c_i b_i)| over a grid; powers[i] = all b_k(x_i)."""
    n, last = len(powers[0]), len(values) - 1
    picks = sorted({int(round((1 - float(cos(pi * (2 * k + 1) / (2 * n + 2)))) / 2 * last)) for k in range(n + 1)})
    best = None
    for _ in range(iterations):
        if len(picks) < n + 1:
            break
        a, b = matrix(n + 1, n + 1), matrix(n + 1, 1)
        for row, i in enumerate(picks):
            for k in range(n):
                a[row, k] = weights[i] * powers[i][k]
            a[row, n] = (-1) ** row
            b[row] = weights[i] * values[i]
        solution = lu_solve(a, b)
        c = [solution[k] for k in range(n)]
        errors = [w * (v - sum(x * y for x, y in zip(c, p))) for v, w, p in zip(values, weights, powers)]
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[1]:
            best = c, worst
        if worst <= abs(solution[n]) * mpf("1.001"):
            break
        picks, i = [], 0
        while i <= last:  # the largest error of each stretch of one sign
            j = top = i
            while j <= last and (errors[j] >= 0) == (errors[i] >= 0):
                top = j if abs(errors[j]) > abs(errors[top]) else top
                j += 1
            picks.append(top)
            i = j
        while len(picks) > n + 1:
            picks.pop(0 if abs(errors[picks[0]]) < abs(errors[picks[-1]]) else -1)
    return best


def rounded(c, bits):
    with mpmath.workprec(bits):
        return mpf(+c)


def fit(f, weight, low, high, n, bits):
    low, high, grid = mpf(low), mpf(high), max(400, 30 * n)
    xs = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / mpf(grid)) for i in range(grid + 1)]
    values, weights = [f(x) for x in xs], [weight(x) for x in xs]
    powers = [[x**k for k in range(n)] for x in xs]

    def deviation(c):
        return max(abs(w * (v - sum(a * b for a, b in zip(c, p)))) for v, w, p in zip(values, weights, powers))

    ideal, best = remez(values, weights, powers)
    at_once = [rounded(c, bits) for c in ideal]
    one_by_one, rest = [], list(values)
    for k in range(n):
        solution = remez(rest, weights, [p[k:] for p in powers])
        if solution is None:
            break
        one_by_one.append(rounded(solution[0][0], bits))
        rest = [r - one_by_one[k] * p[k] for r, p in zip(rest, powers)]
    choices = [c for c in (at_once, one_by_one) if len(c) == n]
    return min(choices, key=deviation), best, min(deviation(c) for c in choices)


def nonzero(x):
    return x if abs(x) > TINY else TINY


def odd(f, limit):
    """f(x) = x + x z P(z), z = x^2."""

    def p(z):
        x = sqrt(nonzero(z))
        return (f(x) / x - 1) / nonzero(z)

    return p, lambda z: nonzero(z) * sqrt(nonzero(z)) / f(sqrt(nonzero(z))), 0, limit**2


def relative(f, low, high):
    return f, lambda x: 1 / f(x), low, high


def log_series(z):
    """(log((1 + s) / (1 - s)) - 2 s) / s^3 with z = s^2."""
    s = sqrt(nonzero(z))
    return (log((1 + s) / (1 - s)) - 2 * s) / s**3


def scaled_erfc(c, low, high, scale=1):
    """e^(a^2) erfc(a) (a + c) in t = (a - c) / (a + c)."""

    def q(t):
        a = c * (1 + t) / (1 - t)
        return exp(a * a) * erfc(a) * (a + c) * scale

    return relative(q, (low - c) / (low + c), (high - c) / (high + c))


def erfinv_ratio(w):
    """erfinv(x) / x where w = -log(1 - x^2)."""
    w = max(w, mpf(10) ** -60)
    x = sqrt(-mpmath.expm1(-w))
    tail = exp(-w) / (1 + x)
    y = x * sqrt(pi) / 2 if w < mpf("0.3") else sqrt(w) * mpf("0.8")
    for _ in range(200):
        miss = erf(y) - x if w < mpf("0.3") else tail - erfc(y)
        step = miss / (2 / sqrt(pi) * exp(-y * y))
        y -= step
        if abs(step) < abs(y) * mpf(2) ** -200:
            break
    return y / x


def lgamma(x):
    return mpmath.re(loggamma(x))


def stirling(z):
    if z < mpf(10) ** -8:
        return mpf(1) / 12 - z / 360 + z * z / 1260
    x = 1 / sqrt(z)
    return (lgamma(x) - ((x - mpf(1) / 2) * log(x) - x + log(2 * pi) / 2)) * x


def stirling_weight(z):
    return sqrt(z) / (1 + abs(lgamma(1 / sqrt(max(z, mpf(10) ** -9))))) if z > 0 else mpf(0)


def digamma_series(z):
    if z < mpf(10) ** -8:
        return mpf(1) / 12 - z / 120 + z * z / 252
    x = 1 / sqrt(z)
    return (log(x) - 1 / (2 * x) - psi(0, x)) / z


def trigamma_series(z):
    if z < mpf(10) ** -8:
        return mpf(1) / 6 - z / 30 + z * z / 42
    x = 1 / sqrt(z)
    return (psi(1, x) - 1 / x - 1 / (2 * x * x)) * x**3


ROOT = mpmath.findroot(lambda x: psi(0, x), 1.46)


def digamma_factor(v):
    x = v + mpf("1.5")
    return psi(0, x) / (x - ROOT) if abs(x - ROOT) > TINY else psi(1, ROOT)


LN2, R2 = log(mpf(2)), sqrt(mpf(2))
EXP = (lambda r: (exp(nonzero(r)) - 1 - nonzero(r)) / nonzero(r) ** 2, lambda r: r * r / exp(r), -0.502 * LN2, 0.502 * LN2)
LOG = (
    lambda f: (log1p(nonzero(f)) - nonzero(f) + nonzero(f) ** 2 / 2) / nonzero(f) ** 3,
    lambda f: nonzero(f) ** 3 / log1p(nonzero(f)),
    1 / R2 - 1,
    R2 - 1,
)
SERIES_END = ((R2 - 1) / (R2 + 1)) ** 2
EIGHTH = pi / 4

# name: (function, weight, low, high), [(coefficients, bits)]
FITS = {
    "exp": (EXP, [(5, 24), (10, 53)]),
    "log": (LOG, [(8, 24)]),
    "log series": ((log_series, lambda z: z / 2, 0, SERIES_END), [(7, 53)]),
    "log pair": (
        (lambda z: (log_series(z) - mpf(2) / 3) / nonzero(z) if z > TINY else mpf(2) / 5, lambda z: z * z / 2, 0, SERIES_END),
        [(3, 24), (7, 53)],
    ),
    "log1p of fraction": (relative(lambda e: log1p(nonzero(e)) / nonzero(e), 0, 1), [(10, 24)]),
    "log1p of fraction, series": ((log_series, lambda z: z / 2, 0, mpf(1) / 9), [(10, 53)]),
    "sinh": (odd(sinh, 1), [(4, 24), (7, 53)]),
    "tanh": (odd(tanh, mpf("0.625")), [(5, 24), (11, 53)]),
    "asinh": (odd(asinh, mpf("0.53")), [(5, 24), (12, 53)]),
    "sin float32": (odd(sin, EIGHTH * mpf("1.086")), [(3, 24)]),
    "sin float64": (odd(sin, EIGHTH * mpf("1.01")), [(6, 53)]),
    "cos float32": (
        (lambda z: (cos(sqrt(nonzero(z))) - 1) / nonzero(z), lambda z: z / cos(sqrt(z)), 0, (EIGHTH * mpf("1.086")) ** 2),
        [(4, 24)],
    ),
    "cos float64": (
        (
            lambda z: (cos(sqrt(nonzero(z))) - 1 + nonzero(z) / 2) / nonzero(z) ** 2,
            lambda z: z * z / cos(sqrt(z)),
            0,
            (EIGHTH * mpf("1.01")) ** 2,
        ),
        [(6, 53)],
    ),
    "tan float32": (odd(tan, EIGHTH * mpf("1.086")), [(7, 24)]),
    "tan float64": (odd(tan, EIGHTH * mpf("1.01")), [(15, 53)]),
    "asin": (odd(asin, mpf("0.55")), [(6, 24), (13, 53)]),
    "atan of fraction": (odd(atan, mpf(1)), [(9, 24), (21, 53)]),
    "atan by octants": (odd(atan, R2 - 1), [(11, 53)]),
    "scaled erfc float32": (scaled_erfc(mpf(2), mpf("0.499"), mpf("10.2")), [(9, 24)]),
    "scaled erfc float64": (scaled_erfc(mpf("2.5"), mpf("0.499"), mpf("27.4")), [(22, 53)]),
    # In ndtr the value at a = 0 is also made exact, by a search among neighbouring coefficients.
    "ndtr float32": (scaled_erfc(mpf(2), mpf(0), mpf("10.2"), mpf("0.5")), [(10, 24)]),
    "erf small": (
        (lambda z: erf(sqrt(nonzero(z))) / sqrt(nonzero(z)) - 1, lambda z: sqrt(nonzero(z)) / erf(sqrt(nonzero(z))), 0, 1),
        [(7, 24), (13, 53)],
    ),
    "erf large": ((lambda a: -log(erfc(a)), lambda a: erfc(a) / erf(a) + mpf(10) ** -9, 1, "3.93"), [(8, 24)]),
    "erfinv center float32": (relative(lambda v: erfinv_ratio(v + mpf("2.5")), -2.5, 2.5), [(10, 24)]),
    "erfinv outer float32": (relative(lambda v: erfinv_ratio((v + 3) ** 2), sqrt(mpf(5)) - 3, "1.2"), [(10, 24)]),
    "erfinv center float64": (relative(lambda v: erfinv_ratio(v + mpf("3.125")), -3.125, 3.125), [(24, 53)]),
    "erfinv middle float64": (relative(lambda v: erfinv_ratio((v + mpf("3.25")) ** 2), -0.75, 0.75), [(20, 53)]),
    "erfinv outer float64": (relative(lambda v: erfinv_ratio((v + 5) ** 2), -1, 1.1), [(18, 53)]),
    "sine over pi": (
        (
            lambda z: (sin(pi * sqrt(nonzero(z))) / (pi * sqrt(nonzero(z))) - 1) / nonzero(z),
            lambda z: nonzero(z) * pi * sqrt(nonzero(z)) / sin(pi * sqrt(nonzero(z))),
            0,
            0.25,
        ),
        [(4, 24), (8, 53)],
    ),
    "lgamma": (relative(lambda v: lgamma(2 + nonzero(v)) / nonzero(v), -0.752, 0.502), [(10, 24), (23, 53)]),
    "stirling float32": ((stirling, stirling_weight, 0, 1 / mpf("4.5") ** 2), [(3, 24)]),
    "stirling float64": ((stirling, stirling_weight, 0, 1 / mpf("6.5") ** 2), [(7, 53)]),
    "digamma": (relative(digamma_factor, -0.5, 0.5), [(10, 24), (22, 53)]),
    "digamma series float32": ((digamma_series, lambda z: z, 0, mpf(1) / 25), [(3, 24)]),
    "digamma series float64": ((digamma_series, lambda z: z, 0, mpf(1) / 49), [(8, 53)]),
    "trigamma series float32": ((trigamma_series, lambda z: z, 0, mpf(1) / 25), [(3, 24)]),
    "trigamma series float64": ((trigamma_series, lambda z: z, 0, mpf(1) / 64), [(8, 53)]),
}


def main():
    wanted = sys.argv[1:] or list(FITS)
    for name in wanted:
        (f, weight, low, high), targets = FITS[name]
        for n, bits in targets:
            c, ideal, error = fit(f, weight, low, high, n, bits)
            print(f"{name}, {bits} bits: error 2^{float(log(error, 2)):.1f} (unrounded 2^{float(log(ideal, 2)):.1f})")
            digits = 9 if bits == 24 else 17
            print("  {" + ", ".join(mpmath.nstr(x, digits, min_fixed=0, max_fixed=0) for x in c) + "}", flush=True)


if __name__ == "__main__":
    main()
