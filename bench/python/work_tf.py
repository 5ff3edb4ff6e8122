"""The workloads in TensorFlow's names: python work_tf.py THREADS gradus|tensorflow."""
import importlib
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
import numpy as np  # noqa: E402

from worker import THREADS, arrays, mlp_batch, mlp_weights, serve, workload  # noqa: E402

tf = importlib.import_module(sys.argv[2])
keras = tf.keras
tf.config.threading.set_intra_op_parallelism_threads(THREADS)
tf.config.threading.set_inter_op_parallelism_threads(THREADS)


def made(f, mode, *inputs, xla=True):
    if mode == "compiled":
        f = tf.function(f, jit_compile=xla)
    inputs = [tf.constant(x) for x in inputs]

    def step():
        out = f(*inputs)
        return (out[0] if isinstance(out, (tuple, list)) else out).numpy()
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


@workload
def trivial_call(mode):
    return made(lambda x: x + 1.0, mode, np.float32(1)) if mode == "compiled" else None


def mlp_model():
    model = keras.Sequential([keras.Input((784,)), keras.layers.Dense(128, activation="relu"), keras.layers.Dense(10)])
    model.set_weights(mlp_weights())
    return model, keras.losses.SparseCategoricalCrossentropy(from_logits=True), keras.optimizers.Adam(1e-3)


def mlp(mode, n):
    model, loss_of, adam = mlp_model()
    variables = model.trainable_variables
    adam.build(variables)

    def f(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        adam.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss
    return made(f, mode, *mlp_batch(n))


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
def fit_32_steps_of_32(mode):
    if mode != "compiled":
        return None
    model, loss_of, adam = mlp_model()
    model.compile(adam, loss_of)
    x, y = mlp_batch(1024)
    return lambda: model.fit(x, y, batch_size=32, epochs=1, shuffle=False, verbose=0).history["loss"][0]


@workload
def conv_net_32(mode):
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((28, 28, 1)), layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(10)])
    weights = arrays(*[v.shape for v in model.weights], seed=3, scale=0.05)
    model.set_weights(weights)
    loss_of, sgd = keras.losses.SparseCategoricalCrossentropy(from_logits=True), keras.optimizers.SGD(1e-3)
    variables = model.trainable_variables
    sgd.build(variables)

    def f(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        sgd.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss
    return made(f, mode, arrays((32, 28, 28, 1), seed=4)[0], np.arange(32) % 10)


@workload
def lstm_32x50x64(mode):
    layer = keras.layers.LSTM(128)
    layer.build((32, 50, 64))
    layer.set_weights(arrays((64, 512), (128, 512), (512,), seed=5, scale=0.1))

    def f(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(layer(x)))
        return (loss, *tape.gradient(loss, layer.trainable_variables))
    return made(f, mode, arrays((32, 50, 64), seed=6)[0])


@workload
def embedding_rows_sgd(mode):
    table = tf.Variable(arrays((100000, 64), seed=7)[0])
    ids = np.random.RandomState(8).randint(0, 100000, 512).astype(np.int32)

    def f(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.gather(table, ids)))
        rows = tape.gradient(loss, table)
        table.scatter_sub(tf.IndexedSlices(0.1 * rows.values, rows.indices))
        return loss
    return made(f, mode, ids)


@workload
def layer_norm_512x768(mode):
    layer = keras.layers.LayerNormalization(epsilon=1e-5)
    layer.build((512, 768))

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.square(layer(x)))
        return (loss, *tape.gradient(loss, [x, *layer.trainable_variables]))
    return made(f, mode, arrays((512, 768), seed=9)[0])


@workload
def softmax_xent_512x1000(mode):
    def f(x, y):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x))
        return loss, tape.gradient(loss, x)
    return made(f, mode, arrays((512, 1000), seed=10)[0], np.arange(512) % 1000)


def chain_of_elements(mode, n):
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.tanh(x * 1.5 + 0.5) + x)
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
def jacobian_256(mode):
    w, = arrays((256, 256), seed=12, scale=0.05)

    def f(x, w):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.tanh(tf.linalg.matvec(w, x))
        return tape.jacobian(y, x)
    return made(f, mode, arrays((256,), seed=13)[0], w)


@workload
def hessian_vector(mode):
    model, loss_of, _ = mlp_model()
    variables = model.trainable_variables
    directions = [tf.ones_like(v) for v in variables]

    def f(x, y):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = loss_of(y, model(x))
            gradients = inner.gradient(loss, variables)
        return (loss, *outer.gradient(gradients, variables, output_gradients=directions))
    return made(f, mode, *mlp_batch(32))


@workload
def loop_of_1000(mode):
    if mode != "compiled":
        return None

    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 0.999 + tf.sin(y) * 0.001), (0, x))
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, x)
    # XLA has no gradient of a loop whose length it does not know.
    return made(f, mode, arrays((16,), seed=14)[0], np.int32(1000), xla=False)


serve(tf.__version__)
