"""Programs of tests/agree as Python reads and runs them: calls of the public functions of the module.

programs.txt begins with a description of the language. tests/agree/program.h (C++) and tools/agree_reference.py read
the same files and share no code with this.
"""
import dataclasses
import pathlib

import gradus as tf
import numpy as np

FOLDER = pathlib.Path(__file__).parents[1] / "agree"


@dataclasses.dataclass
class Input:
    name: str
    dtype: object
    sizes: list  # "B" is the size that differs from call to call
    kind: str
    numbers: list
    differentiable: bool


@dataclasses.dataclass
class Line:
    results: list
    function: str
    operands: list
    attributes: dict


@dataclasses.dataclass
class Block:
    name: str
    parameters: list
    lines: list = dataclasses.field(default_factory=list)
    results: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Program:
    name: str
    flags: set
    seed: int
    inputs: list = dataclasses.field(default_factory=list)
    body: Block = None

    def has(self, *flags):
        return any(f in self.flags for f in flags)

    def sources(self):
        return [i for i, x in enumerate(self.inputs) if x.differentiable]

    def has_batch(self):
        return any("B" in x.sizes for x in self.inputs)


def read_programs(path):
    programs, blocks = [], []
    for text in path.read_text(encoding="utf-8").splitlines():
        words = text.split("#")[0].split()
        if not words:
            continue
        first, rest = words[0], words[1:]
        if first == "program":
            seed = [int(w[5:]) for w in rest if w.startswith("seed=")]
            program = Program(rest[0], set(rest[1:]), *(seed or [0]))
            program.body = Block("", [])
            programs.append(program)
            blocks = [program.body]
        elif first in ("in", "data"):
            sizes = [s if s == "B" else int(s) for s in rest[2][1:-1].split(",") if s]
            program.inputs.append(Input(rest[0], getattr(tf, rest[1]), sizes, rest[3], [float(w) for w in rest[4:]],
                                        first == "in"))
            program.body.parameters.append(rest[0])
        elif first == "fn":
            block = Block(rest[0], rest[1:])
            blocks[-1].lines.append(block)
            blocks.append(block)
        elif first in ("ret", "out"):
            blocks.pop().results = rest
        else:
            equals = words.index("=")
            attributes = dict(w.split("=", 1) for w in words[equals + 2:] if "=" in w)
            operands = [w for w in words[equals + 2:] if "=" not in w]
            blocks[-1].lines.append(Line(words[:equals], words[equals + 1], operands, attributes))
    return programs


# ---------------------------------------------------------------------------------------------- numbers
def hashed(count, seed):
    """Numbers in [0, 1), multiples of 2^-24, as C++ makes them."""
    mask = np.uint64(0xFFFFFFFF)
    h = (np.arange(count, dtype=np.uint64) * np.uint64(2654435761) + np.uint64(seed * 40503 + 12345)) & mask
    for _ in range(2):
        h ^= h >> np.uint64(16)
        h = (h * np.uint64(0x45D9F3B)) & mask
    h ^= h >> np.uint64(16)
    return (h >> np.uint64(8)).astype(np.float64) / 2**24


def uniform(dtype, shape, seed, low, high):
    count = int(np.prod(shape, dtype=np.int64))
    real = (low + (high - low) * hashed(count, seed)).reshape(shape)
    if dtype.is_complex:
        real = real + 1j * (low + (high - low) * hashed(count, seed + 500)).reshape(shape)
    return tf.cast(tf.constant(real), dtype)


def inputs_of(program, batch, variant):
    tensors = []
    for number, x in enumerate(program.inputs):
        shape = [batch if s == "B" else s for s in x.sizes]
        count = int(np.prod(shape, dtype=np.int64))
        seed = program.seed + 7919 * number + 104729 * variant
        if x.kind == "uniform":
            tensors.append(uniform(x.dtype, shape, seed, *x.numbers))
            continue
        if x.kind == "integers":
            values = x.numbers[0] + np.floor(hashed(count, seed) * (x.numbers[1] - x.numbers[0]))
        elif x.kind == "bools":
            values = (hashed(count, seed) < 0.5).astype(np.float64)
        else:
            values = np.resize(np.array(x.numbers), count) if count else np.zeros(0)
        tensors.append(tf.cast(tf.constant(values.reshape(shape)), x.dtype))
    return tensors


# ---------------------------------------------------------------------------------------------- calls
def _value(key, text):
    """An attribute as Python writes it."""
    if key in ("dtype", "out_type", "output_type", "out_idx", "type"):
        return getattr(tf, text)
    if key in ("at", "equation"):
        return text
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("["):
        return [int(part) for part in text[1:-1].split(",") if part]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _index(x, at):
    def part(text):
        if text == "...":
            return ...
        if text == "new":
            return tf.newaxis
        if ":" not in text:
            return int(text)
        return slice(*[int(end) if end else None for end in text.split(":")])
    return x[tuple(part(text) for text in at.split(","))]


def _pad(x, *constant, paddings, mode="CONSTANT"):
    pairs = [paddings[i:i + 2] for i in range(0, len(paddings), 2)]
    return tf.pad(x, pairs, mode, **({"constant_values": constant[0]} if constant else {}))


def _convolution(f):
    def call(*operands, strides=(1, 1), padding="VALID", dilations=(1, 1), explicit=None, **more):
        if explicit:
            padding = [[0, 0], list(explicit[:2]), list(explicit[2:]), [0, 0]]
        four = [1, *strides, 1] if f in (tf.nn.depthwise_conv2d, tf.nn.separable_conv2d) else list(strides)
        return f(*operands, strides=four, padding=padding, dilations=list(dilations), **more)
    return call


def _transpose_convolution(x, filters, output_shape, strides=(1, 1), padding="VALID", dilations=(1, 1)):
    return tf.nn.conv2d_transpose(x, filters, output_shape, list(strides), padding, dilations=list(dilations))


def _loss_object(name):
    classes = {"log_cosh": "LogCosh", "kl_divergence": "KLDivergence", "ctc": "CTC"}
    kind = getattr(tf.keras.losses, classes.get(name) or "".join(w.capitalize() for w in name.split("_")))
    return lambda targets, predictions, **attributes: kind(**attributes)(targets, predictions)


def _optimizer(w, g, name, steps=3, rate=0.1, **attributes):
    optimizer = getattr(tf.keras.optimizers, name)(learning_rate=rate, **attributes)
    variable = tf.Variable(w)
    for step in range(1, steps + 1):
        optimizer.apply_gradients([(g * step, variable)])
    return variable.value()


def _scatter(w, indices, updates, how):
    variable = tf.Variable(w)
    getattr(variable, f"scatter_{how}")(tf.IndexedSlices(updates, indices))
    return variable.value()


def _jacobian(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)[0]
    return tape.jacobian(y, x, unconnected_gradients="zero")


def _grad(f, *x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(f(*x)[0])
    return [tf.convert_to_tensor(g) for g in tape.gradient(y, list(x), unconnected_gradients="zero")]


def _jvp(f, *both):
    half = len(both) // 2
    return tf.jvp(lambda *x: f(*x), both[:half], both[half:])[1]


def _hvp(f, *both):
    half = len(both) // 2
    return tf.hvp(lambda *x: tf.reduce_sum(f(*x)[0]), both[:half], both[half:])


def _custom_gradient(f, back, *x):
    @tf.custom_gradient
    def both(*arguments):
        def grad(dy):
            gradients = back(dy, *arguments)
            return gradients if len(arguments) > 1 else gradients[0]
        return f(*arguments)[0], grad
    return both(*x)


def _while(test, body, *variables, maximum_iterations=None):
    return tf.while_loop(lambda *x: test(*x)[0], lambda *x: body(*x), list(variables),
                         maximum_iterations=maximum_iterations)


def _pool(f):
    def call(x, ksize, strides, padding="VALID"):
        return f(x, ksize, strides, padding)
    return call


# Where Python's name or form is another one.
SPECIAL = {
    "divide": lambda x, y: tf.truncatediv(x, y) if x.dtype.is_integer else tf.divide(x, y),
    "div_no_nan": tf.math.divide_no_nan, "floordiv": tf.math.floordiv, "fill": lambda value, dims: tf.fill(dims, value),
    "index": _index, "pad": _pad, "where_true": lambda x: tf.where(x),
    "linspace": lambda a, b, num, axis=0: tf.linspace(a, b, num, axis=axis),
    "zeros": tf.zeros, "eye": lambda **a: tf.eye(**a), "meshgrid": lambda axes, **a: tf.meshgrid(*axes, **a),
    "one_hot": lambda x, *values, depth, axis=-1: tf.one_hot(x, depth, *values, axis=axis),
    "unique": lambda x, **a: tf.unique_with_counts(x, **a),
    "einsum": lambda parts, equation: tf.einsum(equation, *parts),
    "tensordot": lambda a, b, axes=1, axes_a=None, axes_b=None: tf.tensordot(a, b, axes if axes_a is None else [axes_a, axes_b]),
    "norm": lambda x, ord=2, axis=None, keepdims=False: tf.norm(
        x, np.inf if ord == "inf" else ord, axis[0] if isinstance(axis, list) and len(axis) == 1 else axis, keepdims),
    "moments": tf.nn.moments, "top_k": tf.math.top_k, "cross": tf.linalg.cross, "global_norm": tf.linalg.global_norm,
    "clip_by_global_norm": lambda parts, clip_norm: [*(r := tf.clip_by_global_norm(parts, clip_norm))[0], r[1]],
    "reverse_sequence": lambda x, lengths, seq_axis=1, batch_axis=0: tf.reverse_sequence(x, lengths, seq_axis, batch_axis),
    "bincount": lambda x, weights=None, **a: tf.math.bincount(x, weights, **a),
    "confusion_matrix": lambda x, y, weights=None, **a: tf.math.confusion_matrix(x, y, weights=weights, **a),
    "bessel_i0": tf.math.bessel_i0, "signal.fft": lambda x, axes=1: [tf.signal.fft, tf.signal.fft2d][axes - 1](x),
    "signal.ifft": lambda x, axes=1: [tf.signal.ifft, tf.signal.ifft2d][axes - 1](x),
    "signal.rfft": lambda x, fft_length: [tf.signal.rfft, tf.signal.rfft2d][len(fft_length) - 1](x, fft_length),
    "signal.irfft": lambda x, fft_length: [tf.signal.irfft, tf.signal.irfft2d][len(fft_length) - 1](x, fft_length),
    "nn.log_poisson_loss": lambda t, x, **a: tf.nn.log_poisson_loss(t, x, **a),
    "nn.softmax_cross_entropy_with_logits": lambda y, x: tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x),
    "nn.sparse_softmax_cross_entropy_with_logits":
        lambda y, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x),
    "nn.sigmoid_cross_entropy_with_logits": lambda y, x: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x),
    "nn.conv2d": _convolution(tf.nn.conv2d), "nn.depthwise_conv2d": _convolution(tf.nn.depthwise_conv2d),
    "nn.separable_conv2d": _convolution(tf.nn.separable_conv2d), "nn.conv2d_transpose": _transpose_convolution,
    "nn.conv1d": lambda x, w, stride=1, padding="VALID", dilations=1: tf.nn.conv1d(x, w, stride, padding, dilations=dilations),
    "nn.batch_normalization": lambda *x, epsilon=1e-3: tf.nn.batch_normalization(*x, epsilon),
    "nn.mish": tf.keras.activations.mish, "nn.hard_sigmoid": tf.keras.activations.hard_sigmoid,
    "random.stateless_uniform": lambda seed, shape, **a: tf.random.stateless_uniform(shape, seed, **a),
    "random.stateless_normal": lambda seed, shape, **a: tf.random.stateless_normal(shape, seed, **a),
    "random.stateless_truncated_normal": lambda seed, shape, **a: tf.random.stateless_truncated_normal(shape, seed, **a),
    "random.stateless_categorical": lambda x, seed, num_samples: tf.random.stateless_categorical(x, num_samples, seed),
    "keras.per_sample.ctc": lambda y, x, m, n, blank=0: tf.nn.ctc_loss(
        y, x, m, n, logits_time_major=False, blank_index=blank),
    "optimizer": _optimizer, "variable_scatter": _scatter,
    "cond": lambda p, yes, no: tf.cond(p, yes, no),
    "switch_case": lambda index, *branches: tf.switch_case(index, list(branches)),
    "while_loop": _while,
    "scan": lambda f, init, rows, **a: tf.scan(lambda carry, row: f(carry, row)[0], rows, init, **a),
    "vmap": lambda f, *x: tf.vectorized_map(lambda row: f(*row), list(x)),
    "grad": _grad, "jvp": _jvp, "hvp": _hvp, "jacobian": _jacobian, "custom_gradient": _custom_gradient,
    "recompute_grad": lambda f, *x: tf.recompute_grad(lambda *y: f(*y))(*x),
    "function": lambda f, *x: tf.function(lambda *y: f(*y))(*x),
}
for _name in ("max_pool", "avg_pool"):
    for _rank in ("1d", "2d"):
        SPECIAL[f"nn.{_name}{_rank}"] = _pool(getattr(tf.nn, _name + _rank))


def function_of(name):
    """The function of the module that is called `name` in C++."""
    if name in SPECIAL:
        return SPECIAL[name]
    path = name.split(".")
    if path[:2] == ["keras", "per_sample"]:
        return getattr(tf.keras.losses, path[2])
    if path[0] == "keras":
        return _loss_object(path[1])
    for prefix in ([], ["math"]):
        place = tf
        for part in prefix + path:
            place = getattr(place, part, None)
        if callable(place):
            return place
    raise LookupError(f"there is no {name} in Python")


def _run_block(block, arguments, names):
    names = dict(names, **dict(zip(block.parameters, arguments)))

    def operand(word):
        if word.startswith("("):
            return [operand(part) for part in word[1:-1].split(",")]
        if word.startswith("@"):
            return names[word]
        if word in names:
            return names[word]
        return float(word) if any(c in word for c in ".e") else int(word)

    for line in block.lines:
        if isinstance(line, Block):
            names["@" + line.name] = lambda *x, block=line, here=dict(names): _run_block(block, x, here)
            continue
        attributes = {k: _value(k, v) for k, v in line.attributes.items()}
        results = function_of(line.function)(*[operand(word) for word in line.operands], **attributes)
        if not isinstance(results, (list, tuple)):
            results = [results]
        names.update(zip(line.results, results))
    return [tf.convert_to_tensor(names[name]) for name in block.results]


def run(program, inputs):
    return _run_block(program.body, inputs, {})
