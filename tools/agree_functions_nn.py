"""More functions of the language of tests/agree/programs.txt, with JAX: neural networks, losses, optimizers."""
import itertools

import jax
import jax.numpy as jnp
import numpy as np

from agree_functions import TABLE, add, plain

EPSILON = 1e-7  # keras.config.epsilon()

# ---------------------------------------------------------------------------------------------- activations
plain("nn.relu", jax.nn.relu)
plain("nn.relu6", jax.nn.relu6)
# TensorFlow's alpha is a float32 whatever x is, and so is ours.
TABLE["nn.leaky_relu"] = lambda a, x: jnp.where(x > 0, x, a.real("alpha", 0.2) * x)
plain("nn.elu", jax.nn.elu)
plain("nn.selu", jax.nn.selu)
TABLE["nn.gelu"] = lambda a, x: jax.nn.gelu(x, approximate=a.flag("approximate"))
plain("nn.silu", jax.nn.silu)
plain("nn.mish", lambda x: x * jnp.tanh(jax.nn.softplus(x)))
plain("nn.softsign", jax.nn.soft_sign)
plain("nn.hard_sigmoid", lambda x: jnp.where(x <= -3, 0, jnp.where(x >= 3, 1, x / 6 + 0.5)))
TABLE["nn.softmax"] = lambda a, x: jax.nn.softmax(x, a.integer("axis", -1))
TABLE["nn.log_softmax"] = lambda a, x: jax.nn.log_softmax(x, a.integer("axis", -1))

# ---------------------------------------------------------------------------------------------- entropies
plain("nn.softmax_cross_entropy_with_logits", lambda y, x: -jnp.sum(y * jax.nn.log_softmax(x), -1))


def _sparse(y, x):
    return -jnp.take_along_axis(jax.nn.log_softmax(x), y[..., None].astype(int), -1)[..., 0]


plain("nn.sparse_softmax_cross_entropy_with_logits", _sparse)


def _sigmoid(y, x):
    return -y * jax.nn.log_sigmoid(x) - (1 - y) * jax.nn.log_sigmoid(-x)


plain("nn.sigmoid_cross_entropy_with_logits", _sigmoid)
plain("nn.weighted_cross_entropy_with_logits",
      lambda y, x, w: -w * y * jax.nn.log_sigmoid(x) - (1 - y) * jax.nn.log_sigmoid(-x))


@add("nn.log_poisson_loss")
def _(a, y, x):
    loss = jnp.exp(x) - x * y
    if not a.flag("compute_full_loss"):
        return loss
    inside = (y >= 0) & (y <= 1)
    safe = jnp.where(inside, 2, y)
    return loss + jnp.where(inside, 0, safe * jnp.log(safe) - safe + 0.5 * jnp.log(2 * np.pi * safe))


plain("nn.l2_loss", lambda x: jnp.sum(x * x) / 2)


@add("nn.l2_normalize")
def _(a, x):
    total = jnp.sum(x * x, axis=a.integers("axis"), keepdims=True)
    least = a.real("epsilon", 1e-12)
    return x / jnp.sqrt(jnp.where(total < least, least, total))


# ---------------------------------------------------------------------------------------------- windows
def same_pads(size, window, stride):
    total = max((-(-size // stride) - 1) * stride + window - size, 0)
    return total // 2, total - total // 2


def pads_of(a, sizes, windows, strides):
    if "explicit" in a:
        e = a.integers("explicit")
        return [e[:2], e[2:]]
    if a.text("padding", "VALID") == "SAME":
        return [same_pads(*each) for each in zip(sizes, windows, strides)]
    return [(0, 0)] * len(sizes)


def strides_of(a, key="strides"):
    return a.integers(key) if key in a else (1, 1)


def convolve(a, x, w, strides, dilations, groups=None):
    """A sum over the places of the filter, each of which is a product over channels."""
    windows = [(k - 1) * d + 1 for k, d in zip(w.shape[:2], dilations)]
    pads = pads_of(a, x.shape[1:3], windows, strides)
    return jax.lax.conv_general_dilated(x, w, strides, pads, rhs_dilation=dilations, dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                        feature_group_count=groups or x.shape[-1] // w.shape[2])


TABLE["nn.conv2d"] = lambda a, x, w: convolve(a, x, w, strides_of(a), strides_of(a, "dilations"))
plain("nn.bias_add", lambda x, b: x + b)


def _depthwise(a, x, w):
    h, v, c, m = w.shape
    return convolve(a, x, w.reshape(h, v, 1, c * m), strides_of(a), strides_of(a, "dilations"), groups=c)


TABLE["nn.depthwise_conv2d"] = _depthwise
TABLE["nn.separable_conv2d"] = lambda a, x, w, p: jnp.einsum("bhwc,co->bhwo", _depthwise(a, x, w), p[0, 0])


@add("nn.conv1d")
def _(a, x, w):
    stride, dilation = a.integer("stride", 1), a.integer("dilations", 1)
    return convolve(a, x[:, None], w[None], (1, stride), (1, dilation))[:, 0]


@add("nn.conv2d_transpose")
def _(a, x, w):
    def forward(y):
        return convolve(a, y, w, strides_of(a), strides_of(a, "dilations"))
    like = jax.ShapeDtypeStruct(a.integers("output_shape"), x.dtype)
    return jax.linear_transpose(forward, like)(x)[0]


@add("nn.space_to_depth")
def _(a, x):
    n, h, w, c = x.shape
    b = a.integer("block_size")
    return x.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // b, w // b, b * b * c)


@add("nn.depth_to_space")
def _(a, x):
    n, h, w, c = x.shape
    b = a.integer("block_size")
    return x.reshape(n, h, w, b, b, c // (b * b)).transpose(0, 1, 3, 2, 4, 5).reshape(n, h * b, w * b, c // (b * b))


def pool(how):
    def call(a, x):
        windows, strides = a.integers("ksize"), a.integers("strides")
        if x.ndim == 3:
            return two(a, x[:, None], (1, *windows), (1, *strides))[:, 0]
        return two(a, x, windows, strides)

    def two(a, x, windows, strides):
        pads = pads_of(a, x.shape[1:3], windows, strides)
        full = [(0, 0), *pads, (0, 0)]
        inside = jnp.pad(jnp.ones_like(x), full)
        rows = (x.shape[1] + sum(pads[0]) - windows[0]) // strides[0] + 1
        columns = (x.shape[2] + sum(pads[1]) - windows[1]) // strides[1] + 1

        def parts(y):
            return jnp.stack([y[:, i:i + (rows - 1) * strides[0] + 1:strides[0], j:j + (columns - 1) * strides[1] + 1:strides[1]]
                              for i, j in itertools.product(range(windows[0]), range(windows[1]))])
        if how == "max":
            return jnp.max(parts(jnp.pad(x, full, constant_values=-np.inf)), 0)
        return parts(jnp.pad(x, full)).sum(0) / parts(inside).sum(0)
    return call


for _rank in ("1d", "2d"):
    TABLE["nn.max_pool" + _rank] = pool("max")
    TABLE["nn.avg_pool" + _rank] = pool("avg")


# ---------------------------------------------------------------------------------------------- layers
def normalized(x, axes, epsilon):
    mean = jnp.mean(x, axes, keepdims=True)
    variance = jnp.mean((x - mean) ** 2, axes, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + epsilon), mean, variance


TABLE["nn.layer_normalization"] = lambda a, x, s, o: normalized(x, -1, a.real("epsilon", 1e-3))[0] * s + o
TABLE["nn.batch_normalization"] = lambda a, x, m, v, o, s: (x - m) / jnp.sqrt(v + a.real("epsilon", 1e-3)) * s + o


@add("nn.fused_batch_norm")
def _(a, x, s, o):
    y, mean, variance = normalized(x, tuple(range(x.ndim - 1)), a.real("epsilon", 1e-3))
    return y * s + o, mean.reshape(-1), variance.reshape(-1)


@add("nn.lstm")
def _(a, x, w, u, b, h, c, mask=None):
    outputs = []
    for t in range(x.shape[1]):
        i, f, g, o = jnp.split(x[:, t] @ w + h @ u + b, 4, -1)
        next_c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        next_h = jax.nn.sigmoid(o) * jnp.tanh(next_c)
        keep = True if mask is None else mask[:, t, None]
        h, c = jnp.where(keep, next_h, h), jnp.where(keep, next_c, c)
        outputs.append(h)
    return jnp.stack(outputs, 1), h, c


@add("nn.gru")
def _(a, x, w, u, b, h, mask=None):
    outputs = []
    for t in range(x.shape[1]):
        xz, xr, xh = jnp.split(x[:, t] @ w + b[0], 3, -1)
        hz, hr, hh = jnp.split(h @ u + b[1], 3, -1)
        z, r = jax.nn.sigmoid(xz + hz), jax.nn.sigmoid(xr + hr)
        next_h = z * h + (1 - z) * jnp.tanh(xh + r * hh)
        h = next_h if mask is None else jnp.where(mask[:, t, None], next_h, h)
        outputs.append(h)
    return jnp.stack(outputs, 1), h


# ---------------------------------------------------------------------------------------------- losses
def loss(name):
    def adding(f):
        TABLE["keras.per_sample." + name] = lambda a, y, x, *more: f(a, y.astype(x.dtype) if name not in WHOLE else y, x, *more)
        TABLE["keras." + name] = lambda a, y, x, *more: jnp.mean(f(a, y.astype(x.dtype) if name not in WHOLE else y, x, *more))
        return f
    return adding


WHOLE = ("sparse_categorical_crossentropy", "categorical_generalized_cross_entropy", "circle", "ctc")


def signs(y):
    return jnp.where(jnp.all((y == 0) | (y == 1)), 2 * y - 1, y)


def at_least(x, low):
    return jnp.where(x > low, x, low)


def clipped(x, low, high):
    return jnp.where(x < low, low, jnp.where(x > high, high, x))


loss("mean_squared_error")(lambda a, y, x: jnp.mean((x - y) ** 2, -1))
loss("mean_absolute_error")(lambda a, y, x: jnp.mean(jnp.abs(x - y), -1))
loss("mean_absolute_percentage_error")(lambda a, y, x: 100 * jnp.mean(jnp.abs((y - x) / at_least(jnp.abs(y), EPSILON)), -1))
loss("mean_squared_logarithmic_error")(
    lambda a, y, x: jnp.mean((jnp.log(at_least(x, EPSILON) + 1) - jnp.log(at_least(y, EPSILON) + 1)) ** 2, -1))
loss("log_cosh")(lambda a, y, x: jnp.mean(jnp.logaddexp(x - y, y - x) - np.log(2.0), -1))
loss("poisson")(lambda a, y, x: jnp.mean(x - y * jnp.log(x + EPSILON), -1))
loss("hinge")(lambda a, y, x: jnp.mean(jax.nn.relu(1 - signs(y) * x), -1))
loss("squared_hinge")(lambda a, y, x: jnp.mean(jax.nn.relu(1 - signs(y) * x) ** 2, -1))
loss("categorical_hinge")(lambda a, y, x: jax.nn.relu(jnp.max((1 - y) * x, -1) - jnp.sum(y * x, -1) + 1))


@loss("huber")
def _(a, y, x):
    d, e = a.real("delta", 1.0), jnp.abs(x - y)
    return jnp.mean(jnp.where(e <= d, e * e / 2, d * e - d * d / 2), -1)


@loss("kl_divergence")
def _(a, y, x):
    x, y = clipped(x, EPSILON, 1), clipped(y, EPSILON, 1)
    return jnp.sum(y * jnp.log(y / x), -1)


def unit(x, axes):
    total = jnp.sum(x * x, axes, keepdims=True)
    return x / jnp.sqrt(at_least(total, 1e-12))


@loss("cosine_similarity")
def _(a, y, x):
    axes = a.integers("axis") if "axis" in a else (-1,)
    return -jnp.sum(unit(y, axes) * unit(x, axes), axes)


def smoothed(a, y, classes):
    s = a.real("label_smoothing", 0)
    return y * (1 - s) + s / classes


@loss("binary_crossentropy")
def _(a, y, x):
    y = smoothed(a, y, 2)
    if a.flag("from_logits"):
        return jnp.mean(_sigmoid(y, x), -1)
    x = clipped(x, EPSILON, 1 - EPSILON)
    return jnp.mean(-y * jnp.log(x) - (1 - y) * jnp.log(1 - x), -1)


def log_probabilities(a, x, axis=-1):
    if a.flag("from_logits"):
        return jax.nn.log_softmax(x, axis)
    return jnp.log(clipped(x / jnp.sum(x, axis, keepdims=True), EPSILON, 1 - EPSILON))


@loss("categorical_crossentropy")
def _(a, y, x):
    axis = a.integers("axis")[0] if "axis" in a else -1
    return -jnp.sum(smoothed(a, y, x.shape[axis]) * log_probabilities(a, x, axis), axis)


@loss("sparse_categorical_crossentropy")
def _(a, y, x):
    axis = a.integer("axis", -1)
    return -jnp.take_along_axis(log_probabilities(a, x, axis), jnp.expand_dims(y, axis).astype(int), axis).squeeze(axis)


@loss("binary_focal_crossentropy")
def _(a, y, x):
    y = smoothed(a, y, 2)
    p = jax.nn.sigmoid(x) if a.flag("from_logits") else x
    q = clipped(p, EPSILON, 1 - EPSILON)
    entropy = -y * jnp.log(q) - (1 - y) * jnp.log(1 - q)
    right = y * p + (1 - y) * (1 - p)
    value = (1 - right) ** a.real("gamma", 2.0) * entropy
    if a.flag("apply_class_balancing"):
        alpha = a.real("alpha", 0.25)
        value = value * (y * alpha + (1 - y) * (1 - alpha))
    return jnp.mean(value, -1)


@loss("categorical_focal_crossentropy")
def _(a, y, x):
    y = smoothed(a, y, x.shape[-1])
    p = jax.nn.softmax(x) if a.flag("from_logits") else x / jnp.sum(x, -1, keepdims=True)
    p = clipped(p, EPSILON, 1 - EPSILON)
    return jnp.sum(-y * jnp.log(p) * a.real("alpha", 0.25) * (1 - p) ** a.real("gamma", 2.0), -1)


@loss("categorical_generalized_cross_entropy")
def _(a, y, x):
    q = a.real("q", 0.5)
    x = clipped(x, EPSILON, 1 - EPSILON)
    return (1 - jnp.take_along_axis(x, y[:, None].astype(int), -1)[:, 0] ** q) / q


@loss("dice")
def _(a, y, x):
    axes = a.integers("axis") if "axis" in a else None
    both = jnp.sum(y * x, axes)
    return 1 - 2 * both / (jnp.sum(y, axes) + jnp.sum(x, axes) + EPSILON)


@loss("tversky")
def _(a, y, x):
    axes = a.integers("axis") if "axis" in a else None
    both = jnp.sum(y * x, axes)
    missed, extra = jnp.sum(y * (1 - x), axes), jnp.sum((1 - y) * x, axes)
    return 1 - both / (both + a.real("alpha", 0.5) * missed + a.real("beta", 0.5) * extra + EPSILON)


@add("keras.per_sample.ctc")
def _(a, labels, logits, label_lengths, logit_lengths):
    """The log of a sum over all ways, by the usual recursion over the labels with blanks between them."""
    blank, losses = a.integer("blank", 0), []
    for row, x, n, t in zip(np.asarray(labels), logits, np.asarray(label_lengths), np.asarray(logit_lengths)):
        wanted = [blank]
        for label in row[:n]:
            wanted += [int(label), blank]
        logs = jax.nn.log_softmax(x)
        low = jnp.asarray(-1e30, x.dtype)
        ways = [logs[0, wanted[0]]] + [logs[0, wanted[1]]] * int(n > 0) + [low] * (len(wanted) - 2)
        for time in range(1, int(t)):
            ways = [jax.scipy.special.logsumexp(jnp.stack(
                [ways[s], ways[s - 1] if s else low,
                 ways[s - 2] if s > 1 and wanted[s] != blank and wanted[s] != wanted[s - 2] else low])) + logs[time, wanted[s]]
                for s in range(len(wanted))]
        losses.append(-jnp.logaddexp(ways[-1], ways[-2]) if len(ways) > 1 else -ways[-1])
    return jnp.stack(losses)


# ---------------------------------------------------------------------------------------------- optimizers
@add("optimizer")
def _(a, w, g):
    name, rate, decay = a.text("name"), a.real("rate", 0.1), a.real("weight_decay", 0)
    b1, b2, eps, p = 0.9, 0.999, 1e-7, a.real("momentum", 0)
    m = v = u = jnp.zeros_like(w)
    accumulator, product = jnp.full_like(w, 0.1), 1.0
    for t in range(1, a.integer("steps", 3) + 1):
        d = g * t
        if a.real("clipnorm"):
            d = TABLE["clip_by_norm"](type(a)({"clip_norm": a.text("clipnorm")}), d)
        if a.real("global_clipnorm"):
            d = TABLE["clip_by_norm"](type(a)({"clip_norm": a.text("global_clipnorm")}), d)
        if a.real("clipvalue"):
            d = jnp.clip(d, -a.real("clipvalue"), a.real("clipvalue"))
        w = w - rate * (0.004 if name == "AdamW" else decay) * w
        if name == "SGD":
            m = p * m - rate * d
            w = w + (p * m - rate * d if a.flag("nesterov") else m)
        elif name == "Adagrad":
            accumulator = accumulator + d * d
            w = w - rate * d / jnp.sqrt(accumulator + eps)
        elif name in ("Adam", "AdamW"):
            m, v = m + (d - m) * (1 - b1), v + (d * d - v) * (1 - b2)
            u = jnp.maximum(u, v) if a.flag("amsgrad") else v
            w = w - rate * np.sqrt(1 - b2**t) / (1 - b1**t) * m / (jnp.sqrt(u) + eps)
        elif name == "Adamax":
            m, v = m + (d - m) * (1 - b1), jnp.maximum(b2 * v, jnp.abs(d))
            w = w - rate / (1 - b1**t) * m / (v + eps)
        elif name == "Nadam":
            now, after = b1 * (1 - 0.5 * 0.96**t), b1 * (1 - 0.5 * 0.96 ** (t + 1))
            product *= now
            m, v = m + (d - m) * (1 - b1), v + (d * d - v) * (1 - b2)
            mean = after * m / (1 - product * after) + (1 - now) * d / (1 - product)
            w = w - rate * mean / (jnp.sqrt(v / (1 - b2**t)) + eps)
        elif name == "RMSprop":
            v = 0.9 * v + 0.1 * d * d
            u = 0.9 * u + 0.1 * d if a.flag("centered") else u
            change = rate * d / jnp.sqrt(v - u * u + eps)
            m = p * m + change
            w = w - (m if p else change)
        elif name == "Adadelta":
            v = 0.95 * v + 0.05 * d * d
            change = -jnp.sqrt(u + eps) / jnp.sqrt(v + eps) * d
            u = 0.95 * u + 0.05 * change * change
            w = w + rate * change
        elif name == "Lion":
            w = w - rate * jnp.sign(m * 0.9 + d * (1 - 0.9))
            m = m * 0.99 + d * (1 - 0.99)
        elif name == "Ftrl":
            total = accumulator + d * d
            m = m + d - (jnp.sqrt(total) - jnp.sqrt(accumulator)) / rate * w
            accumulator = total
            w = -m / (jnp.sqrt(accumulator) / rate)
        elif name == "Lamb":
            m, v = m + (d - m) * (1 - b1), v + (d * d - v) * (1 - b2)
            change = m / (1 - b1**t) / (jnp.sqrt(v / (1 - b2**t)) + eps)
            w = w - rate * jnp.linalg.norm(w) / jnp.linalg.norm(change) * change
        else:
            raise ValueError(f"no optimizer {name}")
    return w
