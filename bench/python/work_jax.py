"""The workloads in JAX, under jit."""
import os

import numpy as np

from worker import THREADS, arrays, mlp_batch, mlp_weights, serve, workload

os.environ["XLA_FLAGS"] = f"--xla_cpu_multi_thread_eigen={'true' if THREADS > 1 else 'false'}"
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402


def made(f, mode, *inputs):
    if mode != "compiled":
        return None  # op by op is not how JAX is used
    f, inputs = jax.jit(f), [jnp.asarray(x) for x in inputs]

    def step():
        out = jax.block_until_ready(f(*inputs))
        return np.asarray(out[0] if isinstance(out, (tuple, list)) else out)
    return step


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


@workload
def trivial_call(mode):
    return made(lambda x: x + 1.0, mode, np.float32(1))


def mlp_loss(weights, x, y):
    w1, b1, w2, b2 = weights
    logits = jax.nn.relu(x @ w1 + b1) @ w2 + b2
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))


def mlp(mode, n):
    if mode != "compiled":
        return None

    def adam(state, x, y):
        weights, m, v, t = state
        loss, g = jax.value_and_grad(mlp_loss)(weights, x, y)
        t = t + 1
        m = [0.9 * a + 0.1 * b for a, b in zip(m, g)]
        v = [0.999 * a + 0.001 * b * b for a, b in zip(v, g)]
        rate = 1e-3 * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
        weights = [w - rate * a / (jnp.sqrt(b) + 1e-7) for w, a, b in zip(weights, m, v)]
        return (weights, m, v, t), loss

    f = jax.jit(adam, donate_argnums=0)
    weights = [jnp.asarray(w) for w in mlp_weights()]
    state = [(weights, [jnp.zeros_like(w) for w in weights], [jnp.zeros_like(w) for w in weights], jnp.float32(0))]
    x, y = [jnp.asarray(a) for a in mlp_batch(n)]

    def step():
        state[0], loss = f(state[0], x, y)
        return np.asarray(loss)
    return step


@workload
def mlp_adam_1(mode):
    return mlp(mode, 1)


@workload
def mlp_adam_32(mode):
    return mlp(mode, 32)


@workload
def mlp_adam_512(mode):
    return mlp(mode, 512)


@workload
def embedding_rows_sgd(mode):
    if mode != "compiled":
        return None

    def f(table, ids):
        rows = table[ids]
        loss, g = jax.value_and_grad(lambda r: jnp.mean(r * r))(rows)
        return table.at[ids].add(-0.1 * g), loss

    f = jax.jit(f, donate_argnums=0)
    table = [jnp.asarray(arrays((100000, 64), seed=7)[0])]
    ids = jnp.asarray(np.random.RandomState(8).randint(0, 100000, 512))

    def step():
        table[0], loss = f(table[0], ids)
        return np.asarray(loss)
    return step


@workload
def layer_norm_512x768(mode):
    def f(x, gain, bias):
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return jnp.sum(((x - mean) * jax.lax.rsqrt(variance + 1e-5) * gain + bias) ** 2)
    return made(jax.value_and_grad(f, (0, 1, 2)), mode, arrays((512, 768), seed=9)[0], np.ones(768, np.float32),
                np.zeros(768, np.float32))


@workload
def softmax_xent_512x1000(mode):
    def f(x, y):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1))
    return made(jax.value_and_grad(f), mode, arrays((512, 1000), seed=10)[0], np.arange(512) % 1000)


def chain_of_elements(mode, n):
    return made(jax.value_and_grad(lambda x: jnp.sum(jnp.tanh(x * 1.5 + 0.5) + x)), mode, arrays((n,), seed=11)[0])


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
def jacobian_256(mode):
    w, = arrays((256, 256), seed=12, scale=0.05)
    return made(jax.jacrev(lambda x, w: jnp.tanh(w @ x)), mode, arrays((256,), seed=13)[0], w)


@workload
def hessian_vector(mode):
    weights = [jnp.asarray(w) for w in mlp_weights()]
    ones = [jnp.ones_like(w) for w in weights]

    def f(x, y):
        loss = lambda w: mlp_loss(w, x, y)  # noqa: E731
        return (loss(weights), *jax.jvp(jax.grad(loss), (weights,), (ones,))[1])
    return made(f, mode, *mlp_batch(32))


@workload
def loop_of_1000(mode):
    def f(x):
        body = lambda y, _: (y * 0.999 + jnp.sin(y) * 0.001, None)  # noqa: E731
        return jnp.sum(jax.lax.scan(body, x, None, 1000)[0])
    return made(jax.grad(f), mode, arrays((16,), seed=14)[0])


serve(jax.__version__)
