"""The workloads in JAX, under jit; optimizers written out, buffers donated."""
import os

import numpy as np

import worker
from worker import arrays, labels, mlp_batch, serve, workload

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if worker.THREADS > 1 else 'false'}"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402


def made(f, mode, *inputs):
    if mode != "function":
        return None  # op by op is not how JAX is used
    f, inputs = jax.jit(f), [jnp.asarray(x) for x in inputs]
    return lambda: jax.block_until_ready(f(*inputs))


@workload
def square(mode):
    return made(jax.grad(lambda x: x ** 2), mode, np.float32(3))


@workload
def chain_of_100(mode):
    def f(x):
        y = x * 1.0
        for _ in range(50):
            y = jnp.sin(y) * 1.01
        return y
    return made(jax.grad(f), mode, np.float32(0.5))


def cross_entropy(logits, y):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))


def mlp_loss(weights, x, y):
    w1, b1, w2, b2 = weights
    return cross_entropy(jax.nn.relu(x @ w1 + b1) @ w2 + b2, y)


def half_mlp_loss(weights, x, y):
    w1, b1, w2, b2 = [w.astype(jnp.bfloat16) for w in weights]
    return cross_entropy((jax.nn.relu(x.astype(jnp.bfloat16) @ w1 + b1) @ w2 + b2).astype(jnp.float32), y)


def adam(loss_and_gradients):
    """The state at first, and a step of training."""
    def update(state, x, y):
        weights, m, v, t = state
        loss, g = loss_and_gradients(weights, x, y)
        t = t + 1
        m = [0.9 * a + 0.1 * b for a, b in zip(m, g)]
        v = [0.999 * a + 0.001 * b * b for a, b in zip(v, g)]
        rate = 1e-3 * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
        weights = [w - rate * a / (jnp.sqrt(b) + 1e-7) for w, a, b in zip(weights, m, v)]
        return (weights, m, v, t), loss
    return jax.jit(update, donate_argnums=0)


def training(mode, weights, loss_and_gradients, x, y):
    if mode != "function":
        return None
    f, state = adam(loss_and_gradients), [adam_state(weights)]
    x, y = jnp.asarray(x), jnp.asarray(y)

    def step():
        state[0], loss = f(state[0], x, y)
        return jax.block_until_ready(loss)
    return step


def adam_state(weights):
    zeros = lambda: [jnp.zeros(w.shape) for w in weights]  # noqa: E731
    return [jnp.asarray(w) for w in weights], zeros(), zeros(), jnp.float32(0)


def mlp(mode, n, loss=mlp_loss):
    return training(mode, worker.mlp_weights(), jax.value_and_grad(loss), *mlp_batch(n))


@workload
def mlp_1(mode):
    return mlp(mode, 1)


@workload
def mlp_32(mode):
    return mlp(mode, 32)


@workload
def mlp_512(mode):
    return mlp(mode, 512)


@workload
def mlp_512_bfloat16(mode):
    return mlp(mode, 512, half_mlp_loss)


@workload
def fit(mode):
    if mode != "function":
        return None
    f, state = adam(jax.value_and_grad(mlp_loss)), [adam_state(worker.mlp_weights())]
    x, y = mlp_batch(512)

    def step():
        losses = []
        for i in range(0, 512, 32):
            state[0], loss = f(state[0], x[i:i + 32], y[i:i + 32])
            losses.append(loss)
        return np.mean(np.asarray(losses))
    step.per = 16
    return step


@workload
def conv_net(mode):
    def convolved(x, kernel, offset):
        x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jax.lax.reduce_window(jax.nn.relu(x + offset), -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss(weights, x, y):
        k1, b1, k2, b2, w3, b3, w4, b4 = weights
        x = convolved(convolved(x, k1, b1), k2, b2).reshape(x.shape[0], -1)
        return cross_entropy(jax.nn.relu(x @ w3 + b3) @ w4 + b4, y)
    return training(mode, worker.conv_weights(), jax.value_and_grad(loss), *worker.conv_batch())


@workload
def lstm(mode):
    def loss(weights, x, y):
        kernel, recurrent, offset, dense, dense_offset = weights

        def cell(state, x):
            h, c = state
            i, f, g, o = jnp.split(x + h @ recurrent, 4, axis=-1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None
        zero = jnp.zeros((x.shape[0], 128))
        (h, _), _ = jax.lax.scan(cell, (zero, zero), jnp.swapaxes(x @ kernel + offset, 0, 1))
        return cross_entropy(h @ dense + dense_offset, y)

    def f(x, y):
        value, gradients = jax.value_and_grad(loss)([jnp.asarray(w) for w in worker.lstm_weights()], x, y)
        return (value, *gradients)
    return made(f, mode, *worker.lstm_batch())


def normalized(x, gain, offset):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * gain + offset


@workload
def transformer_block(mode, heads=4):
    def block(weights, x):
        g1, o1, qkv, qkv_offset, out, out_offset, g2, o2, wide, wide_offset, narrow, narrow_offset = weights
        batch, length, width = x.shape
        split = lambda u: u.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)  # noqa: E731
        q, k, v = map(split, jnp.split(normalized(x, g1, o1) @ qkv + qkv_offset, 3, axis=-1))
        seen = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) * (width // heads) ** -0.5) @ v
        x = x + seen.transpose(0, 2, 1, 3).reshape(batch, length, width) @ out + out_offset
        return x + jax.nn.gelu(normalized(x, g2, o2) @ wide + wide_offset, approximate=False) @ narrow + narrow_offset

    def f(x, target, *weights):
        loss = lambda w: jnp.mean(jnp.square(block(w, x) - target))  # noqa: E731
        value, gradients = jax.value_and_grad(loss)(list(weights))
        return (value, *gradients)
    return made(f, mode, *worker.block_batch(), *worker.block_weights())


@workload
def embedding_sgd(mode):
    """Only the rows that are read change: what an expert writes, since gradients of gather are dense in JAX."""
    if mode != "function":
        return None
    table, ids, target = map(jnp.asarray, worker.embedding())

    def f(table, ids, target):
        loss, g = jax.value_and_grad(lambda rows: jnp.sum(jnp.square(rows - target)) / 1024.0)(table[ids])
        return table.at[ids].add(-0.1 * g), loss
    f, state = jax.jit(f, donate_argnums=0), [table]

    def step():
        state[0], loss = f(state[0], ids, target)
        return jax.block_until_ready(loss)
    return step


@workload
def jacobian_256(mode):
    w, = arrays((256, 256), seed=12, scale=0.05)
    return made(jax.jacrev(lambda x, w: jnp.tanh(w @ x)), mode, arrays((256,), seed=13)[0], w)


@workload
def hessian_50(mode):
    f = lambda x: jnp.sum(100.0 * jnp.square(x[1:] - jnp.square(x[:-1])) + jnp.square(1.0 - x[:-1]))  # noqa: E731
    return made(jax.hessian(f), mode, arrays((50,), seed=15, scale=0.5)[0])


@workload
def hessian_vector(mode):
    weights = [jnp.asarray(w) for w in worker.mlp_weights()]
    ones = [jnp.ones_like(w) for w in weights]

    def f(x, y):
        loss = lambda w: mlp_loss(w, x, y)  # noqa: E731
        return (loss(weights), *jax.jvp(jax.grad(loss), (weights,), (ones,))[1])
    return made(f, mode, *mlp_batch(32))


@workload
def accumulate_8x32(mode):
    def mean(weights, x, y):
        parts = [jax.value_and_grad(mlp_loss)(weights, x[i], y[i]) for i in range(8)]
        return sum(p[0] for p in parts) / 8.0, [sum(g) / 8.0 for g in zip(*(p[1] for p in parts))]
    x, y = mlp_batch(256)
    return training(mode, worker.mlp_weights(), mean, x.reshape(8, 32, 784), y.reshape(8, 32))


def chain_of_elements(mode, n):
    return made(jax.value_and_grad(lambda x: jnp.mean(jnp.tanh(x * 1.5 + 0.5) + x)), mode, arrays((n,), seed=11)[0])


@workload
def elements_1e3(mode):
    return chain_of_elements(mode, 1000)


@workload
def elements_1e5(mode):
    return chain_of_elements(mode, 100000)


@workload
def elements_1e7(mode):
    return chain_of_elements(mode, 10000000)


@workload
def softmax_xent(mode):
    return made(jax.value_and_grad(cross_entropy), mode, arrays((512, 1000), seed=10)[0], labels(512, 1000))


@workload
def layer_norm(mode):
    def f(x, gain, offset, weight):
        value, gradients = jax.value_and_grad(lambda *a: jnp.sum(normalized(*a) * weight), (0, 1, 2))(x, gain, offset)
        return (value, *gradients)
    x, weight = arrays((512, 768), (512, 768), seed=9)
    return made(f, mode, x, np.ones(768, np.float32), np.zeros(768, np.float32), weight)


@workload
def loop_of_1000(mode):
    """The number of turns is known when it is compiled: reverse mode has no other loop."""
    def f(x):
        body = lambda y, _: (y * 0.999 + jnp.sin(y) * 0.001, None)  # noqa: E731
        return jnp.sum(jax.lax.scan(body, x, None, 1000)[0])
    return made(jax.grad(f), mode, arrays((128,), seed=14)[0])


serve(jax.__version__)
