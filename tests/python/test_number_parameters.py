"""A number that a function takes may be a tensor. If a tape watches it and the result depends on it, there is a gradient
or an error: never none without a word. Every call of the argument table is tried, each of its real numbers in turn."""
import ast
import copy

import numpy as np

import argument_cases
import gradus as tf
from gradus import keras
from test_arguments import CALLS

# Numbers that a result depends on without a derivative, as in TensorFlow.
NONE = {
    ("tf.range", "start"): "the first of two numbers, or the only one: it decides how many there are",
    ("tf.range", "limit"): "it decides how many there are",
    ("tf.image.non_max_suppression_with_scores", "soft_nms_sigma"): "TensorFlow's kernel has no gradient",
    ("averaged", "decay"): "averages are variables, which are assigned to",
}


def number_of(node):
    """The real number that a literal is; none for others."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    return sign * node.value if isinstance(node, ast.Constant) and isinstance(node.value, float) else None


def places():
    for line in CALLS:
        call = ast.parse(line, mode="eval").body
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            if number_of(keyword.value) is not None:
                yield line, keyword.arg


def total(result):
    parts = [p for p in tf.nest.flatten(result) if tf.is_tensor(p) and (p.dtype.is_floating or p.dtype.is_complex)]
    return sum((tf.reduce_sum(tf.cast(tf.math.real(p), tf.float64)) for p in parts), tf.constant(0.0, tf.float64))


def evaluated(line, parameter, value):
    call = copy.deepcopy(ast.parse(line, mode="eval"))
    for keyword in call.body.keywords:
        if keyword.arg == parameter:
            keyword.value = ast.Name("_number", ast.Load())
    code = compile(ast.fix_missing_locations(call), line, "eval")
    tf.random.set_seed(7)
    return total(eval(code, {**argument_cases.namespace(tf, np), "_number": value}))  # noqa: S307


def silent(line, parameter):
    """Whether the result depends on the number and a gradient is none all the same."""
    value = next(number_of(k.value) for k in ast.parse(line, mode="eval").body.keywords if k.arg == parameter)
    number = tf.constant(value)
    try:
        with tf.GradientTape() as tape:
            tape.watch(number)
            result = evaluated(line, parameter, number)
        if tape.gradient(result, number) is not None:
            return False
        step = 1e-2 * max(1.0, abs(value))
        low, high = (float(evaluated(line, parameter, value + s)) for s in (-step, step))
    except Exception:  # noqa: BLE001  (a clear error, here or where the function refuses the call)
        return False
    return np.isfinite([low, high]).all() and abs(high - low) > 1e-6 * max(abs(high), abs(low), 1e-3)


def test_no_number_loses_its_gradient():
    found = {(line.split("(")[0], parameter) for line, parameter in places() if silent(line, parameter)}
    assert found <= set(NONE), "these are cut without a word"


def gradient(f, at):
    x = tf.constant(at)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return float(tape.gradient(y, x))


def test_numbers_that_were_cut():
    """The gradients are TensorFlow's (2.21); of extrapolation_value, which it refuses, the number of pixels outside."""
    def mel(**edge):
        weights = tf.signal.linear_to_mel_weight_matrix(3, 9, 8000, **{"lower_edge_hertz": 200.0, "upper_edge_hertz": 2000.0,
                                                                       **edge})
        return tf.reduce_sum(weights * tf.reshape(tf.range(27.0), [9, 3]))
    image = tf.ones([1, 2, 2, 1])
    x = tf.constant([1.0, 4.0, 2.0, 8.0, 16.0])
    found = {
        "kaiser_window": gradient(lambda b: tf.signal.kaiser_window(6, b), 3.0),
        "keras.ops.kaiser": gradient(lambda b: keras.ops.kaiser(6, b), 3.0),
        "logspace": gradient(lambda b: keras.ops.logspace(0.0, 2.0, 3, base=b), 3.0),
        "quantile": gradient(lambda q: keras.ops.quantile(x, q), 0.3),
        "percentile": gradient(lambda q: keras.ops.percentile(x, q), 30.0),
        "nanquantile": gradient(lambda q: keras.ops.nanquantile(x, q), 0.3),
        "lower_edge_hertz": gradient(lambda v: mel(lower_edge_hertz=v), 200.0),
        "upper_edge_hertz": gradient(lambda v: mel(upper_edge_hertz=v), 2000.0),
        "extrapolation_value": gradient(lambda v: tf.image.crop_and_resize(
            image, [[0.0, 0.0, 2.0, 2.0]], [0], [3, 3], extrapolation_value=v), 2.0),
    }
    wanted = {"kaiser_window": -0.63033485, "keras.ops.kaiser": -0.63033485, "logspace": 7.0, "quantile": 8.0,
              "percentile": 0.08, "nanquantile": 8.0, "lower_edge_hertz": 0.0036057301331311464,
              "upper_edge_hertz": 0.010934609919786453, "extrapolation_value": 5.0}
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, err_msg=name)


def test_the_table_is_read():
    assert len(set(places())) > 200
