"""The workloads in TensorFlow's names: python work_tf.py THREADS gradus|tensorflow."""
import importlib
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
import numpy as np  # noqa: E402

import worker  # noqa: E402
from worker import arrays, labels, mlp_batch, serve, workload  # noqa: E402

tf = importlib.import_module(sys.argv[2])
keras = tf.keras
tf.config.threading.set_intra_op_parallelism_threads(worker.THREADS)
tf.config.threading.set_inter_op_parallelism_threads(worker.THREADS)


def made(f, mode, *inputs):
    if mode != "eager":
        f = tf.function(f, jit_compile=mode == "xla")
    inputs = [tf.constant(x) for x in inputs]

    def step():
        out = f(*inputs)
        (out[0] if isinstance(out, (tuple, list)) else out).numpy()
        return out
    return step


@workload
def square(mode):
    x = tf.Variable(3.0)

    def f():
        with tf.GradientTape() as tape:
            y = x ** 2
        return tape.gradient(y, x)
    return made(f, mode)


@workload
def chain_of_100(mode):
    x = tf.Variable(0.5)

    def f():
        with tf.GradientTape() as tape:
            y = x * 1.0
            for _ in range(50):
                y = tf.sin(y) * 1.01
        return tape.gradient(y, x)
    return made(f, mode)


loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def training(model, optimizer):
    variables = model.trainable_variables

    def f(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, tf.cast(model(x, training=True), tf.float32))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss
    return f


def mlp_model(dtype=None):
    layers = keras.layers
    model = keras.Sequential([keras.Input((784,)), layers.Dense(128, activation="relu", dtype=dtype),
                              layers.Dense(10, dtype=dtype)])
    model.set_weights(worker.mlp_weights())
    return model


def mlp(mode, n, dtype=None):
    return made(training(mlp_model(dtype), keras.optimizers.Adam(1e-3)), mode, *mlp_batch(n))


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
    return mlp(mode, 512, "mixed_bfloat16")


@workload
def fit(mode):
    model = mlp_model()
    model.compile(keras.optimizers.Adam(1e-3), loss_of, run_eagerly=mode == "eager", jit_compile=mode == "xla")
    x, y = mlp_batch(512)

    def step():
        return np.float64(model.fit(x, y, batch_size=32, epochs=1, shuffle=False, verbose=0).history["loss"][0])
    step.per = 16
    return step


@workload
def conv_net(mode):
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((28, 28, 1)), layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(),
        layers.Dense(128, activation="relu"), layers.Dense(10)])
    model.set_weights(worker.conv_weights())
    return made(training(model, keras.optimizers.Adam(1e-3)), mode, *worker.conv_batch())


@workload
def lstm(mode):
    model = keras.Sequential([keras.Input((64, 64)), keras.layers.LSTM(128), keras.layers.Dense(10)])
    model.set_weights(worker.lstm_weights())

    def f(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        return (loss, *tape.gradient(loss, model.trainable_variables))
    return made(f, mode, *worker.lstm_batch())


@workload
def lstm_of_lengths(mode):
    """Sequences of different lengths: as many steps as the longest of the batch has, masked."""
    if mode == "xla":
        return None  # sizes that the data decide are errors there
    layer, head = keras.layers.LSTM(128), keras.layers.Dense(10)
    layer.build((None, None, 64))
    head.build((None, 128))
    weights = worker.lstm_weights()
    layer.set_weights(weights[:3])
    head.set_weights(weights[3:])

    def f(x, y, lengths):
        with tf.GradientTape() as tape:
            longest = tf.reduce_max(lengths)
            loss = loss_of(y, head(layer(x[:, :longest], mask=tf.sequence_mask(lengths, longest))))
        return (loss, *tape.gradient(loss, [*layer.trainable_variables, *head.trainable_variables]))
    return made(f, mode, *worker.lstm_batch(), worker.lstm_lengths())


def normalized(x, gain, offset):
    mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, offset, gain, 1e-5)


@workload
def transformer_block(mode, heads=4):
    weights = [tf.Variable(w) for w in worker.block_weights()]

    def block(x):
        g1, o1, qkv, qkv_offset, out, out_offset, g2, o2, wide, wide_offset, narrow, narrow_offset = weights
        batch, length, width = x.shape

        def split(u):
            return tf.transpose(tf.reshape(u, (batch, length, heads, width // heads)), (0, 2, 1, 3))
        q, k, v = map(split, tf.split(normalized(x, g1, o1) @ qkv + qkv_offset, 3, axis=-1))
        seen = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * (width // heads) ** -0.5) @ v
        x = x + tf.reshape(tf.transpose(seen, (0, 2, 1, 3)), (batch, length, width)) @ out + out_offset
        return x + tf.nn.gelu(normalized(x, g2, o2) @ wide + wide_offset, approximate=False) @ narrow + narrow_offset

    def f(x, target):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(block(x) - target))
        return (loss, *tape.gradient(loss, weights))
    return made(f, mode, *worker.block_batch())


def embedding(mode, optimizer):
    table, ids, target = worker.embedding()
    layer = keras.layers.Embedding(100000, 64)
    layer.build((1024,))
    layer.set_weights([table])

    def f(ids, target):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(layer(ids) - target)) / 1024.0
        gradients = tape.gradient(loss, layer.trainable_variables)
        optimizer.apply_gradients(zip(gradients, layer.trainable_variables))
        return loss
    return made(f, mode, ids, target)


@workload
def embedding_sgd(mode):
    return embedding(mode, keras.optimizers.SGD(0.1))


@workload
def embedding_adagrad(mode):
    return embedding(mode, keras.optimizers.Adagrad(0.1))


@workload
def jacobian_256(mode):
    w, = arrays((256, 256), seed=12, scale=0.05)

    def f(x, w):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.tanh(tf.linalg.matvec(w, x))
        return tape.jacobian(y, x)
    return made(f, mode, arrays((256,), seed=13)[0], w)


@workload
def hessian_50(mode):
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(100.0 * tf.square(x[1:] - tf.square(x[:-1])) + tf.square(1.0 - x[:-1]))
            g = inner.gradient(y, x)
        return outer.jacobian(g, x)
    return made(f, mode, arrays((50,), seed=15, scale=0.5)[0])


@workload
def hessian_vector(mode):
    weights = [tf.Variable(w) for w in worker.mlp_weights()]
    directions = [tf.ones_like(w) for w in weights]

    def f(x, y):
        with tf.autodiff.ForwardAccumulator(weights, directions) as forward:
            with tf.GradientTape() as tape:
                logits = tf.nn.relu(x @ weights[0] + weights[1]) @ weights[2] + weights[3]
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
            gradients = tape.gradient(loss, weights)
        return (loss, *forward.jvp(gradients))
    return made(f, mode, *mlp_batch(32))


@workload
def accumulate_8x32(mode):
    model, adam = mlp_model(), keras.optimizers.Adam(1e-3)
    variables = model.trainable_variables
    x, y = mlp_batch(256)

    def f(x, y):
        total, sums = 0.0, None
        for i in range(8):
            with tf.GradientTape() as tape:
                loss = loss_of(y[i], model(x[i], training=True))
            gradients = tape.gradient(loss, variables)
            sums = gradients if sums is None else [s + g for s, g in zip(sums, gradients)]
            total += loss
        adam.apply_gradients(zip([s / 8.0 for s in sums], variables))
        return total / 8.0
    return made(f, mode, x.reshape(8, 32, 784), y.reshape(8, 32))


def chain_of_elements(mode, n):
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_mean(tf.tanh(x * 1.5 + 0.5) + x)
        return loss, tape.gradient(loss, x)
    return made(f, mode, arrays((n,), seed=11)[0])


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
    def f(x, y):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x))
        return loss, tape.gradient(loss, x)
    return made(f, mode, arrays((512, 1000), seed=10)[0], labels(512, 1000))


@workload
def chosen_rows(mode):
    if mode == "xla":
        return None  # sizes that the data decide are errors there
    x, keep, kernel = worker.chosen_rows_data()
    w = tf.Variable(kernel)

    def f(x, keep):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(tf.matmul(tf.boolean_mask(x, keep), w)))
        return loss, tape.gradient(loss, w)
    return made(f, mode, x, keep)


@workload
def layer_norm(mode):
    def f(x, gain, offset, weight):
        with tf.GradientTape() as tape:
            tape.watch([x, gain, offset])
            loss = tf.reduce_sum(normalized(x, gain, offset) * weight)
        return (loss, *tape.gradient(loss, [x, gain, offset]))
    x, weight = arrays((512, 768), (512, 768), seed=9)
    return made(f, mode, x, np.ones(768, np.float32), np.zeros(768, np.float32), weight)


@workload
def loop_of_1000(mode):
    if mode == "xla":
        return None  # it has no gradient of a loop whose length it does not know

    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 0.999 + tf.sin(y) * 0.001), (0, x))
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, x)
    return made(f, mode, arrays((128,), seed=14)[0], np.int32(1000))


@workload
def growing_array(mode):
    """A list that grows as long as the data say, a thousand times, with its gradient."""
    if mode == "xla":
        return None

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[64])
            _, made = tf.while_loop(lambda v, made: tf.reduce_sum(v) < 64e3,
                                    lambda v, made: (v + tf.square(x), made.write(made.size(), tf.tanh(v))), (x * 0, made))
            loss = tf.reduce_sum(made.stack())
        return loss, tape.gradient(loss, x)
    return made(f, mode, np.ones(64, np.float32))


@workload
def many_batch_sizes(mode):
    """One step of the MLP for each of fifty batch sizes, the first time that it sees them."""
    if mode == "eager":
        return None
    weights = [tf.Variable(w) for w in worker.mlp_weights()]
    batches = [tuple(map(tf.constant, worker.mlp_batch(n))) for n in range(1, 51)]

    def f(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, tf.nn.relu(x @ weights[0] + weights[1]) @ weights[2] + weights[3])
        return (loss, *tape.gradient(loss, weights))

    def step():
        fresh = tf.function(f, jit_compile=mode == "xla")
        for batch in batches:
            out = fresh(*batch)
        return out
    return step


serve(tf.__version__, lambda t: t.numpy() if hasattr(t, "numpy") else t)
