"""Values that could go wrong silently: sparse gradients, random numbers, special values; as TensorFlow gives them."""
import json
import pathlib

import numpy as np
import pytest

import answers
import gradus as tf
import value_cases
from test_reference import check

REFERENCE = {}
for _line in (pathlib.Path(__file__).parent / "values.json").read_text().splitlines():
    REFERENCE.update(json.loads(_line))

# Where Gradus answers differently on purpose.
_SCALED = "a number scales the rows, where TensorFlow has no operator"
DIFFERENT = {
    "S * 2.0": _SCALED, "2.0 * S": _SCALED, "S / 2.0": _SCALED, "S * np.float32(2)": _SCALED,
    "watched(lambda x: tf.gather(x, [1, 1]) + tf.gather(x, [0, 2]), X.numpy())": "the rows of the later op come first",
    "watched(lambda x: tf.gather(x * 2.0, [2, 0, 2]), X.numpy())": "rows that are scaled stay rows",
}


@pytest.mark.parametrize("line", value_cases.LINES)
def test_as_tensorflow(line):
    assert line in REFERENCE, "run tools/make_reference.py"
    answer = answers.answer(line, tf, np, value_cases.namespace)
    if line in DIFFERENT:
        with pytest.raises(AssertionError):  # a difference that is gone is to be struck off
            check(answer, REFERENCE[line])
    else:
        check(answer, REFERENCE[line])


def test_hessian_products_by_hand_through_gather():
    """reduce_sum(g * v) of a gradient that is rows, some of them twice: as gradus.hvp, and as NumPy computes them."""
    table = np.random.default_rng(3).normal(size=(4, 2))
    direction = np.random.default_rng(4).normal(size=(4, 2))
    places, weights = [2, 0, 2, 3], np.random.default_rng(5).normal(size=(4, 2))

    def f(x):
        return tf.reduce_sum(weights * tf.gather(x, places) ** 3)
    want = np.zeros_like(table)
    for row, weight in zip(places, weights):
        want[row] += 6 * weight * table[row] * direction[row]
    x, v = tf.constant(table), tf.constant(direction)

    def by_hand(x, v):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
            product = tf.reduce_sum(g * v)
        return tf.convert_to_tensor(outer.gradient(product, x))
    for got in (by_hand(x, v), tf.function(by_hand)(x, v), tf.hvp(f, x, v)):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def quantile(alpha, place):
    """The x with igamma(alpha, x) = place, by bisection."""
    low, high = 0.0, 10 * alpha + 50
    for _ in range(200):
        middle = (low + high) / 2
        if float(tf.math.igamma(tf.constant(alpha, tf.float64), tf.constant(middle, tf.float64))) < place:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def test_gamma_numbers_have_the_derivative_of_their_quantiles():
    def draw(alpha):
        return tf.random.stateless_gamma([4], [3, 5], alpha, dtype=tf.float64)
    for alpha in (0.3, 1.0, 2.5, 30.0):
        a = tf.constant(alpha, tf.float64)
        drawn = draw(a).numpy()
        slopes = tf.jacobian(draw, a).numpy()
        bends = tf.jacobian(lambda a: tf.jacobian(draw, a), a).numpy()
        h = 1e-3 * alpha
        for x, slope, bend in zip(drawn, slopes, bends):
            place = float(tf.math.igamma(a, tf.constant(x)))
            below, here, above = (quantile(alpha + k * h, place) for k in (-1, 0, 1))
            assert here == pytest.approx(x, rel=1e-9)
            assert slope == pytest.approx((above - below) / (2 * h), rel=1e-4)
            assert bend == pytest.approx((above - 2 * here + below) / h ** 2, rel=1e-3, abs=1e-6 / alpha)
    # What TensorFlow's RandomGammaGrad answers.
    a = tf.constant([0.5, 1.5, 10.0, 100.0, 0.01])
    x = tf.constant([0.3, 2.0, 9.0, 110.0, 1e-30])
    got = tf.grad(lambda a: tf.reduce_sum(tf._core._reparameterised_gamma(a, x)))(a)
    np.testing.assert_allclose(got, [1.0098021, 1.2846296, 0.96418315, 1.0501617, 6.8516676e-27], rtol=2e-6)


def test_gamma_in_every_mode():
    def loss(alpha, beta):
        return tf.reduce_sum(tf.random.stateless_gamma([3, 2], [1, 2], alpha, beta) ** 2)
    a, b = tf.constant([1.5, 0.7]), tf.constant([2.0, 3.0])
    eager = [tf.grad(lambda a: loss(a, b))(a), tf.grad(lambda b: loss(a, b))(b)]
    np.testing.assert_allclose(tf.function(lambda a: tf.grad(lambda a: loss(a, b))(a))(a), eager[0], rtol=1e-5)
    np.testing.assert_allclose(eager[1], -2 * np.sum(tf.random.stateless_gamma([3, 2], [1, 2], a, b) ** 2, 0) / b, rtol=1e-5)
    np.testing.assert_allclose(tf.jvp(lambda a: loss(a, b), a, tf.ones(2))[1], tf.reduce_sum(eager[0]), rtol=1e-5)
    each = tf.vectorized_map(lambda a: tf.grad(lambda a: loss(a, b))(a), tf.stack([a, 2.0 * a]))
    np.testing.assert_allclose(each[0], eager[0], rtol=1e-5)
    from gradus import keras
    alpha = tf.constant(1.3)
    with tf.GradientTape() as tape:
        tape.watch(alpha)
        y = keras.random.gamma([2000], alpha, seed=1)
    # The mean of gamma numbers is alpha: its derivative is 1 on average.
    assert abs(float(tape.gradient(y, alpha)) / 2000 - 1) < 0.1
    with tf.GradientTape() as tape:
        tape.watch(alpha)
        y = keras.random.beta([2000], alpha, 2.0, seed=1)
    assert abs(float(tape.gradient(y, alpha)) / 2000 - 2 / 3.3 ** 2) < 0.02


def test_random_parameters_in_every_mode():
    m, s = tf.constant([1.0, 2.0]), tf.constant(0.5)
    z = tf.random.stateless_normal([3, 2], [1, 2])

    def draw(m, s):
        return tf.random.stateless_normal([3, 2], [1, 2], m, s)
    np.testing.assert_allclose(draw(m, s), z * s + m, rtol=1e-6)
    np.testing.assert_allclose(tf.jacobian(lambda s: draw(m, s), s), z, rtol=1e-6)
    np.testing.assert_allclose(tf.jvp(lambda s: draw(m, s), s, tf.constant(1.0))[1], z, rtol=1e-6)
    np.testing.assert_allclose(tf.function(lambda m, s: tf.jacobian(lambda s: draw(m, s), s))(m, s), z, rtol=1e-6)
    np.testing.assert_allclose(tf.vectorized_map(lambda s: draw(m, s), tf.constant([0.5, 2.0])), [z * 0.5 + m, z * 2.0 + m],
                               rtol=1e-6)
    v = tf.Variable(0.5)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.random.normal([4], stddev=v) ** 2)
    np.testing.assert_allclose(tape.gradient(y, v), 2 * y / v, rtol=1e-5)

    @tf.function
    def step(low, high):
        with tf.GradientTape() as tape:
            tape.watch([low, high])
            y = tf.random.uniform([1000], low, high)
        return y, tape.gradient(y, [low, high])
    y, (low, high) = step(tf.constant(2.0), tf.constant(5.0))
    assert 2 <= np.min(y) and np.max(y) < 5 and float(low + high) == pytest.approx(1000, rel=1e-5)
    assert not np.allclose(y, step(tf.constant(2.0), tf.constant(5.0))[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="minval < maxval"):
        tf.function(lambda n: tf.random.uniform([2], 0, n, tf.int32))(tf.constant(0))


def test_a_generator_in_a_checkpoint_and_in_functions(tmp_path):
    generator = tf.random.Generator.from_seed(3)
    generator.normal([5])
    saved = tf.train.Checkpoint(generator=generator)
    path = saved.save(str(tmp_path / "state"))
    want = generator.normal([4]).numpy()
    other = tf.random.Generator.from_seed(99)
    tf.train.Checkpoint(generator=other).restore(path)
    np.testing.assert_array_equal(other.normal([4]), want)
    a, b = tf.random.Generator.from_seed(5), tf.random.Generator.from_seed(5)
    compiled = tf.function(lambda: [b.normal([3]), b.uniform([2, 2]), b.truncated_normal([3]), b.uniform([2], 0, 9, tf.int32)])
    for _ in range(3):
        for got, want in zip(compiled(), [a.normal([3]), a.uniform([2, 2]), a.truncated_normal([3]),
                                          a.uniform([2], 0, 9, tf.int32)]):
            np.testing.assert_array_equal(got, want)
    first, second = tf.random.Generator.from_non_deterministic_state(), tf.random.Generator.from_non_deterministic_state()
    assert not np.array_equal(first.normal([3]), second.normal([3]))


def test_densities_have_derivatives_where_their_exponent_is_0():
    """At a = 1 the density's x^(a - 1) is 1, and its derivative in a is log(x) all the same."""
    x = tf.constant([0.3, 0.7], tf.float64)
    one = tf.ones([2], tf.float64)

    def density(f):
        return lambda a: tf.grad(lambda x: tf.reduce_sum(f(a, x)))(x)
    euler = 0.5772156649015329
    got = tf.jvp(density(tf.math.igamma), one, one)[1]
    np.testing.assert_allclose(got, np.exp(-x) * (np.log(x) + euler), rtol=1e-12)
    got = tf.jvp(density(lambda a, x: tf.math.betainc(a, one, x)), one, one)[1]
    np.testing.assert_allclose(got, np.log(x) + 1, rtol=1e-12)
    got = tf.jvp(density(lambda b, x: tf.math.betainc(one, b, x)), one, one)[1]
    np.testing.assert_allclose(got, np.log1p(-x) + 1, rtol=1e-12)


@pytest.mark.parametrize("call", [
    lambda x, p: tf.nn.batch_normalization(x, 0.1, 0.5, None, None, p), lambda x, p: tf.math.l2_normalize(x, epsilon=p),
    lambda x, p: tf.keras.losses.huber(x, 2.0 * x, p), lambda x, p: tf.keras.activations.elu(-x, p),
    lambda x, p: tf.norm(x, p), lambda x, p: tf.keras.activations.relu(x, max_value=p)])
def test_a_number_that_is_watched_is_not_taken_for_a_constant(call):
    """Where TensorFlow takes a tensor and Gradus a number: an error, not a gradient that is None."""
    x, p, v = tf.constant([0.3, 0.8, 0.5]), tf.constant(1.5), tf.Variable(1.5)
    with tf.GradientTape() as tape:
        tape.watch(p)
        for watched in (p, v):
            with pytest.raises(TypeError, match="gradient would be lost"):
                call(x, watched)
        call(x, float(p))
    with tf.autodiff.ForwardAccumulator(p, tf.constant(1.0)), pytest.raises(TypeError, match="gradient would be lost"):
        call(x, p)
    call(x, p)  # nobody watches
