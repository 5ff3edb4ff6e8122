"""Derivatives of factorisations where these are not determined: singular matrices, equal and zero values.

Right or NaN, never a number that is wrong. Answers are closed forms and polynomials, computed by NumPy.
"""
import itertools

import numpy as np
import pytest

import gradus as tf


def grad(f, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x).numpy()


def cofactors(a):
    """By minors; the determinant by Leibniz's formula, which divides by nothing."""
    n = len(a)

    def det(m):
        total = 0.0
        for order in itertools.permutations(range(len(m))):
            sign = (-1) ** sum(order[i] > order[j] for i in range(len(m)) for j in range(i + 1, len(m)))
            total += sign * np.prod([m[i, j] for i, j in enumerate(order)])
        return total
    return np.array([[(-1) ** (i + j) * det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(n)] for i in range(n)])


def of_rank(n, rank, seed=0):
    rng = np.random.default_rng(seed + 10 * n + rank)
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n)), rng.normal(size=(n, n))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_gradient_of_det_are_the_cofactors_at_every_rank(n):
    for rank in range(n + 1):
        a, v = of_rank(n, rank)
        want = cofactors(a)
        # Along a line the cofactors are a polynomial of degree n - 1: its derivative at 0 from values around.
        points = np.linspace(-1, 1, n + 1)
        lines = np.stack([cofactors(a + p * v).reshape(-1) for p in points])
        slope = np.linalg.solve(np.vander(points, increasing=True), lines)[1].reshape(n, n)
        scale = 1 + np.abs(want).max() + np.abs(slope).max()
        f = tf.linalg.det
        for got in (grad(f, a), tf.function(lambda x: tf.grad(f)(x))(tf.constant(a)).numpy()):
            np.testing.assert_allclose(got, want, atol=1e-12 * scale)
        x, d = tf.constant(a), tf.constant(v)
        np.testing.assert_allclose(tf.jvp(f, x, d)[1], (want * v).sum(), atol=1e-11 * scale)
        for second in (tf.hvp(f, x, d), tf.function(lambda x, d: tf.hvp(f, x, d))(x, d), tf.jvp(tf.grad(f), x, d)[1],
                       tf.grad(lambda x: tf.reduce_sum(tf.grad(f)(x) * d))(x)):
            np.testing.assert_allclose(second, slope, atol=1e-11 * scale)


def test_det_of_batches_of_single_precision_of_nothing_and_third_order():
    singular = np.arange(9.0).reshape(3, 3)
    both = np.stack([singular, np.eye(3)]).astype("float32")
    np.testing.assert_allclose(grad(tf.linalg.det, both), np.stack([cofactors(m) for m in both]), atol=1e-5)
    assert grad(tf.linalg.det, np.zeros((2, 0, 0))).shape == (2, 0, 0)
    batched = tf.vectorized_map(lambda m: tf.grad(tf.linalg.det)(m), tf.constant(both))
    np.testing.assert_allclose(batched, np.stack([cofactors(m) for m in both]), atol=1e-5)
    # The third derivative of det of a 3 x 3 matrix along one direction is 6 det of the direction, anywhere.
    v = np.random.default_rng(1).normal(size=(3, 3))

    def line(t):
        return tf.linalg.det(tf.constant(singular) + t * v)
    third = tf.grad(tf.grad(tf.grad(line)))(tf.constant(0.0, tf.float64))
    np.testing.assert_allclose(third, 6 * np.linalg.det(v), rtol=1e-11)
    # Near singular: the second order must not lose its digits either.
    near = singular + 1e-13 * np.eye(3)
    points = np.linspace(-1, 1, 4)
    slope = np.linalg.solve(np.vander(points, increasing=True),
                            np.stack([cofactors(near + p * v).reshape(-1) for p in points]))[1].reshape(3, 3)
    np.testing.assert_allclose(tf.hvp(tf.linalg.det, tf.constant(near), tf.constant(v)), slope, atol=1e-10)


def test_slogdet_of_a_singular_matrix_is_as_tensorflow_has_it():
    a = np.ones((2, 2))
    sign, log = tf.linalg.slogdet(a)
    assert sign.numpy() == 0 and log.numpy() == -np.inf
    with pytest.raises(tf.errors.InvalidArgumentError, match="singular"):
        grad(lambda x: tf.linalg.slogdet(x)[1], a)
    with pytest.raises(tf.errors.InvalidArgumentError, match="singular"):
        tf.linalg.inv(a)
    np.testing.assert_allclose(grad(lambda x: tf.linalg.slogdet(x)[1], np.diag([-2.0, 4.0])), np.diag([-0.5, 0.25]))


def with_eigenvalues(e, seed=3, dtype="float64"):
    q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(e), len(e))))[0]
    return (q * np.array(e) @ q.T).astype(dtype)


def of_whole(g):
    """V diag(g(e)) V^T."""
    def f(x):
        e, v = tf.linalg.eigh(x)
        return tf.matmul(v * g(e), v, transpose_b=True)
    return f


SYMMETRIC = {"2 I": 2 * np.eye(3), "0": np.zeros((3, 3)), "diagonal": np.diag([1.0, 1.0, 4.0]),
             "turned": with_eigenvalues([1.0, 1.0, 2.0, 5.0]), "pairs": with_eigenvalues([-2.0, -2.0, 3.0, 3.0]),
             "float32": with_eigenvalues([1.0, 1.0, 2.0, 5.0], dtype="float32")}


@pytest.mark.parametrize("name", SYMMETRIC)
def test_equal_eigenvalues_give_what_is_right_or_nan(name):
    a = SYMMETRIC[name]
    tolerance = 1e-4 if a.dtype == "float32" else 1e-11
    c = np.random.default_rng(5).normal(size=a.shape).astype(a.dtype)
    c = c + c.T

    def right(got, want):
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)

    def right_or_nan(got, want):
        assert np.isnan(got).any() or np.allclose(got, want, rtol=tolerance, atol=tolerance), (got, want)
    # Functions of the values alone: sum of exp(e) has the gradient exp(a).
    values, vectors = np.linalg.eigh(a.astype("float64"))
    exponential = vectors * np.exp(values) @ vectors.T
    right(grad(lambda x: tf.reduce_sum(tf.exp(tf.linalg.eigvalsh(x))), a), exponential)
    right(grad(lambda x: tf.reduce_sum(tf.linalg.eigvalsh(x) ** 3), a), 3 * a @ a)
    # The trace and the square of functions of the whole tell equal values not apart.
    right(grad(lambda x: tf.linalg.trace(of_whole(tf.exp)(x)), a), exponential)
    right(grad(lambda x: tf.reduce_sum(of_whole(lambda e: e)(x) ** 2), a), 2 * a)
    # A projection on what is not symmetric under turning them does: the identity written as V diag(e) V^T.
    whole = grad(lambda x: tf.reduce_sum(c * of_whole(lambda e: e)(x)), a)
    right_or_nan(whole, c)
    assert np.isnan(whole).any()
    compiled = tf.function(tf.grad(lambda x: tf.reduce_sum(c * of_whole(lambda e: e)(x))))(tf.constant(a))
    assert np.isnan(compiled).any()
    x, d = tf.constant(a), tf.constant(c)
    right_or_nan(tf.jvp(of_whole(lambda e: e), x, d)[1].numpy(), c)
    right_or_nan(tf.jvp(of_whole(tf.exp), x, tf.constant(a))[1].numpy(), a @ exponential)
    right(tf.jvp(of_whole(tf.exp), x, tf.eye(len(a), dtype=x.dtype))[1].numpy(), exponential)
    right(tf.jvp(lambda x: tf.reduce_sum(tf.linalg.eigvalsh(x) ** 3), x, d)[1], (3 * a @ a * c).sum())
    right_or_nan(tf.hvp(lambda x: tf.reduce_sum(tf.linalg.eigvalsh(x) ** 2), x, d).numpy(), 2 * c)
    right_or_nan(tf.hvp(lambda x: tf.reduce_sum(of_whole(lambda e: e)(x) ** 2), x, d).numpy(), 2 * c)
    right_or_nan(tf.jvp(lambda x: tf.jvp(of_whole(lambda e: e), x, d)[1], x, d)[1].numpy(), 0 * c)


def test_vectors_of_single_eigenvalues_do_not_mind_equal_ones_elsewhere():
    a, w = with_eigenvalues([0.0, 0.0, 0.0, 2.0, 5.0]), np.random.default_rng(6).normal(size=5)

    def leading(x):
        return tf.reduce_sum(tf.linalg.eigh(x)[1][:, -1] * w) ** 2
    e, v = np.linalg.eigh(a)
    want = np.zeros((5, 5))
    for i in range(4):  # v_4 turns towards v_i by v_i^T dA v_4 / (e_4 - e_i)
        want += 2 * (w @ v[:, 4]) * (w @ v[:, i]) / (e[4] - e[i]) * np.outer(v[:, i], v[:, 4])
    np.testing.assert_allclose(grad(leading, a), (want + want.T) / 2, atol=1e-12)
    d = np.random.default_rng(7).normal(size=(5, 5))
    np.testing.assert_allclose(tf.jvp(leading, tf.constant(a), tf.constant(d + d.T))[1], (want * (d + d.T)).sum(), rtol=1e-10)


def test_equal_and_zero_singular_values_give_what_is_right_or_nan():
    rng = np.random.default_rng(8)

    def with_values(values, rows, columns):
        u, v = (np.linalg.qr(rng.normal(size=(n, n)))[0] for n in (rows, columns))
        k = min(rows, columns)
        return u[:, :k] * np.array(values[:k]) @ v[:, :k].T

    def whole(x):
        s, u, v = tf.linalg.svd(x)
        return tf.matmul(u * s, v, transpose_b=True)
    for values in ([3.0, 2.0, 1.0, 0.5], [3.0, 2.0, 2.0, 1.0], [2.0, 2.0, 2.0, 2.0], [3.0, 2.0, 1.0, 0.0],
                   [3.0, 2.0, 0.0, 0.0], [0.0] * 4):
        for rows, columns in ((4, 4), (4, 3), (3, 4)):
            a = with_values(values, rows, columns)
            c = rng.normal(size=a.shape)
            distinct = len(set(values[:min(rows, columns)])) == min(rows, columns)
            full = min(values[:min(rows, columns)]) > 0
            got = grad(lambda x, c=c: tf.reduce_sum(c * whole(x)), a)
            pushed = tf.jvp(whole, tf.constant(a), tf.constant(c))[1].numpy()
            for g in (got, pushed):
                if distinct and (full or rows == columns):
                    np.testing.assert_allclose(g, c, atol=1e-11)
                else:
                    assert np.isnan(g).any() or np.allclose(g, c, atol=1e-11), (values, rows, columns)
            np.testing.assert_allclose(grad(lambda x: tf.reduce_sum(tf.linalg.svd(x, compute_uv=False) ** 2), a), 2 * a,
                                       atol=1e-12)


def test_qr_of_dependent_columns_has_no_derivative():
    a = np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 2.0])
    for part in (0, 1):
        assert np.isnan(grad(lambda x, part=part: tf.reduce_sum(tf.linalg.qr(x)[part]), a)).any()
    turned = with_eigenvalues([0.0, 1.0, 2.0])
    assert np.isnan(grad(lambda x: tf.reduce_sum(tf.linalg.qr(x)[0][:, 2]), turned)).any()
    assert np.isnan(tf.jvp(lambda x: tf.linalg.qr(x)[0], tf.constant(turned), tf.ones((3, 3), tf.float64))[1]).any()
    scaled = np.random.default_rng(9).normal(size=(3, 3)) * [1.0, 1e-9, 1e-18]  # small columns are columns
    np.testing.assert_allclose(grad(lambda x: tf.reduce_sum(tf.linalg.qr(x)[1] ** 2), scaled), 2 * scaled, rtol=1e-9)


def test_pinv_where_singular_vectors_are_not_determined():
    rng = np.random.default_rng(10)
    for a in (np.eye(3), rng.normal(size=(4, 3)), np.linalg.qr(rng.normal(size=(5, 3)))[0], rng.normal(size=(2, 4)),
              np.outer([1.0, 2.0, 2.0], [3.0, 4.0])):
        np.testing.assert_allclose(tf.linalg.pinv(a), np.linalg.pinv(a), atol=1e-13)
        # Directions that keep the rank: products from both sides.
        left, right = rng.normal(size=(len(a), len(a))), rng.normal(size=(a.shape[1], a.shape[1]))

        def path(t, a=a, left=left, right=right):
            return (np.eye(len(a)) + t * left) @ a @ (np.eye(a.shape[1]) + t * right)
        h = 1e-5
        slope = (np.linalg.pinv(path(h), 1e-9) - np.linalg.pinv(path(-h), 1e-9)) / (2 * h)
        d = left @ a + a @ right
        np.testing.assert_allclose(tf.jvp(tf.linalg.pinv, tf.constant(a), tf.constant(d))[1], slope, atol=1e-7)
        c = rng.normal(size=slope.shape)
        np.testing.assert_allclose((grad(lambda x, c=c: tf.reduce_sum(c * tf.linalg.pinv(x)), a) * d).sum(), (c * slope).sum(),
                                   rtol=1e-6, atol=1e-7)
    # Of a square one it is the inverse, to the second order too.
    a, v = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    x, d = tf.constant(a), tf.constant(v)
    np.testing.assert_allclose(tf.hvp(lambda x: tf.reduce_sum(tf.linalg.pinv(x)), x, d),
                               tf.hvp(lambda x: tf.reduce_sum(tf.linalg.inv(x)), x, d), rtol=1e-8)
    assert np.isnan(tf.linalg.cholesky(np.ones((2, 2)) - np.eye(2))).all()


def test_eigenvalues_of_any_matrix_have_derivatives():
    a = np.array([[1.0, 2.0, 0.5], [-1.0, 3.0, 1.0], [0.3, 0.2, -2.0]])
    v = np.random.default_rng(11).normal(size=(3, 3))
    x, d = tf.constant(a), tf.constant(v)

    def cubes(x):  # the trace of the third power
        return tf.math.real(tf.reduce_sum(tf.linalg.eigvals(x) ** 3))

    def put_together(x):
        e, v = tf.linalg.eig(x)
        return tf.math.real(tf.linalg.trace(tf.matmul(v * e[None, :] ** 3, tf.linalg.adjoint(v)))) * 0.0 + tf.math.real(
            tf.reduce_sum(e ** 3))
    for f in (cubes, put_together):
        np.testing.assert_allclose(grad(f, a), 3 * (a @ a).T, rtol=1e-9)
        np.testing.assert_allclose(tf.function(tf.grad(f))(x), 3 * (a @ a).T, rtol=1e-9)
    np.testing.assert_allclose(tf.grad(lambda x: tf.reduce_sum(tf.grad(cubes)(x) * d))(x), 3 * (a @ v + v @ a).T, rtol=1e-8)

    def leading(x):  # the vector of the largest value, free of its phase
        e, v = tf.linalg.eig(x)
        column = v[:, tf.argmax(tf.abs(e))]
        return tf.reduce_sum(tf.abs(column) ** 4)
    h = 1e-6
    slope = (leading(tf.constant(a + h * v)) - leading(tf.constant(a - h * v))) / (2 * h)
    np.testing.assert_allclose((grad(leading, a) * v).sum(), slope, rtol=1e-6)
    assert np.isnan(grad(lambda x: tf.reduce_sum(tf.math.real(tf.linalg.eig(x)[1]) * v), np.eye(3))).any()
    np.testing.assert_allclose(grad(cubes, 2 * np.eye(3)), 12 * np.eye(3))


def repeated(seed=3):
    """A matrix with eigenvalues 2, 2 and 5."""
    v = np.random.default_rng(seed).normal(size=(3, 3))
    return v @ np.diag([2.0, 2.0, 5.0]) @ np.linalg.inv(v)


DEFECTIVE = np.array([[1.0, 1.0], [0.0, 1.0]])  # has one vector for two values


@pytest.mark.parametrize("matrix", [2.0 * np.eye(2), repeated(), DEFECTIVE])
def test_functions_of_equal_eigenvalues_and_their_vectors(matrix):
    """What tells the two apart is NaN; their sum is the trace, whatever the vectors are."""
    e = np.linalg.eigvals(matrix)
    i, j = np.argsort(e)[:2]

    def of_both(x):
        values, vectors = tf.linalg.eig(x)
        weights = tf.constant(np.cos(np.arange(x.shape[0] ** 2.0)).reshape(x.shape))
        return tf.math.real(values[i] * 2.0 + values[j]) + tf.reduce_sum(tf.math.real(vectors) * weights)
    assert np.isnan(grad(of_both, matrix)).any()
    np.testing.assert_allclose(grad(lambda x: tf.math.real(tf.reduce_sum(tf.linalg.eigvals(x))), matrix), np.eye(len(matrix)),
                               atol=1e-9)


def test_eigenvalues_of_one_vector_have_no_derivative():
    assert np.isnan(grad(lambda x: tf.math.real(tf.linalg.eigvals(x)[0]), DEFECTIVE)).any()
    assert np.isnan(grad(lambda x: tf.math.real(tf.linalg.eig(x)[0][1]), DEFECTIVE)).any()


def test_eigenvalues_alone_have_a_derivative_that_nearby_matrices_have():
    found = grad(lambda x: tf.math.real(tf.linalg.eigvals(x)[0]), 2.0 * np.eye(2))
    np.testing.assert_allclose(found @ found, found, atol=1e-12)  # a projection on one direction
    assert np.trace(found) == pytest.approx(1.0)


def test_eigenvalues_that_differ_have_their_gradients_beside_equal_ones():
    a = repeated()
    e, v = np.linalg.eig(a)
    at = int(np.argmax(e))
    expected = np.outer(np.linalg.inv(v)[at], v[:, at])
    found = grad(lambda x: tf.math.real(tf.linalg.eigvals(x))[at], a)
    np.testing.assert_allclose(found, np.real(expected), rtol=1e-9)
