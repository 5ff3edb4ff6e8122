"""Programs as people write them with Keras: that they learn, eager and compiled."""
import numpy as np
import pytest

import gradus as tf
from gradus import keras

L = keras.layers
both_ways = pytest.mark.parametrize("eager", [False, True], ids=["compiled", "eager"])


@pytest.fixture(autouse=True)
def seeded():
    keras.utils.set_random_seed(7)


def learned(history, factor=0.9, key="loss"):
    losses = history.history[key]
    assert np.isfinite(losses).all() and losses[-1] < factor * losses[0], losses
    return losses


def rng():
    return np.random.default_rng(5)


@both_ways
def test_conv_net(eager):
    x = rng().random((48, 8, 8, 1), dtype=np.float32)
    y = (x[:, :4].sum((1, 2, 3)) > x[:, 4:].sum((1, 2, 3))).astype(int)
    model = keras.Sequential([keras.Input((8, 8, 1)), L.Conv2D(8, 3, activation="relu", padding="same"), L.MaxPooling2D(),
                              L.BatchNormalization(), L.Flatten(), L.Dropout(0.1), L.Dense(2, activation="softmax")])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"], run_eagerly=eager)
    history = model.fit(x, y, epochs=8, verbose=0, batch_size=20)
    learned(history)
    assert history.history["accuracy"][-1] > 0.6


@both_ways
def test_recurrent_nets_on_padded_text(eager):
    x = rng().integers(1, 20, (48, 10))
    y = (x[:, 0] > 10).astype("float32")
    for i in range(len(x)):
        x[i, 3 + i % 7:] = 0
    for recurrent in (L.Bidirectional(L.LSTM(6)), L.GRU(8)):
        model = keras.Sequential([L.Embedding(20, 6, mask_zero=True), recurrent, L.Dense(1, activation="sigmoid")])
        model.compile(keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy"], run_eagerly=eager)
        learned(model.fit(x, y, epochs=12 if not eager else 6, verbose=0), 0.95)


class Block(L.Layer):
    def __init__(self, size, heads, **kwargs):
        super().__init__(**kwargs)
        self.attention = L.MultiHeadAttention(num_heads=heads, key_dim=size)
        self.dense = keras.Sequential([L.Dense(2 * size, activation="relu"), L.Dense(size)])
        self.norms = [L.LayerNormalization(epsilon=1e-6), L.LayerNormalization(epsilon=1e-6)]
        self.dropout = L.Dropout(0.1)

    def call(self, x, training=None):
        x = self.norms[0](x + self.dropout(self.attention(x, x), training=training))
        return self.norms[1](x + self.dense(x))


class TokensAndPositions(L.Layer):
    def __init__(self, length, words, size):
        super().__init__()
        self.tokens, self.positions = L.Embedding(words, size), L.Embedding(length, size)

    def call(self, x):
        return self.tokens(x) + self.positions(tf.range(tf.shape(x)[-1]))


@both_ways
def test_transformer_on_text(eager):
    start = keras.Input((8,))
    x = Block(8, 2)(TokensAndPositions(8, 20, 8)(start))
    model = keras.Model(start, L.Dense(2, activation="softmax")(L.GlobalAveragePooling1D()(x)))
    words = rng().integers(0, 20, (64, 8))
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", run_eagerly=eager)
    learned(model.fit(words, (words.sum(1) > 76).astype(int), epochs=10 if not eager else 5, verbose=0, batch_size=30))


def test_autoencoder():
    x = rng().random((40, 3), dtype=np.float32) @ rng().random((3, 12), dtype=np.float32)
    start = keras.Input((12,))
    code = L.Dense(3, name="code")(start)
    model = keras.Model(start, L.Dense(12)(code))
    model.compile(keras.optimizers.Adam(0.02), "mse")
    learned(model.fit(x, x, epochs=30, verbose=0), 0.3)
    assert keras.Model(start, code).predict(x, verbose=0).shape == (40, 3)


class Sampling(L.Layer):
    def call(self, inputs):
        mean, log_variance = inputs
        return mean + tf.exp(0.5 * log_variance) * tf.random.normal(tf.shape(mean))


class Vae(keras.Model):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.total = keras.metrics.Mean(name="total")

    @property
    def metrics(self):
        return [self.total]

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_variance, z = self.encoder(x)
            difference = tf.reduce_mean(tf.reduce_sum((x - self.decoder(z)) ** 2, axis=1))
            divergence = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + log_variance - mean ** 2 - tf.exp(log_variance), axis=1))
            loss = difference + 0.1 * divergence
        gradients = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights))
        self.total.update_state(loss)
        return {"total": self.total.result(), "divergence": divergence}


@both_ways
def test_variational_autoencoder(eager):
    start = keras.Input((10,))
    hidden = L.Dense(8, activation="relu")(start)
    mean, log_variance = L.Dense(2)(hidden), L.Dense(2)(hidden)
    encoder = keras.Model(start, [mean, log_variance, Sampling()([mean, log_variance])])
    decoder = keras.Sequential([keras.Input((2,)), L.Dense(8, activation="relu"), L.Dense(10)])
    model = Vae(encoder, decoder)
    model.compile(optimizer=keras.optimizers.Adam(0.02), run_eagerly=eager)
    learned(model.fit(rng().random((60, 10), dtype=np.float32), epochs=6, batch_size=25, verbose=0), key="total")


class Gan(keras.Model):
    """With a gradient penalty: a derivative of a derivative in the step."""

    def __init__(self, discriminator, generator):
        super().__init__()
        self.discriminator, self.generator = discriminator, generator

    def compile(self, d_optimizer, g_optimizer, **kwargs):
        super().compile(**kwargs)
        self.d_optimizer, self.g_optimizer = d_optimizer, g_optimizer

    def penalty(self, real, fake):
        between = real + tf.random.uniform([tf.shape(real)[0], 1]) * (fake - real)
        with tf.GradientTape() as tape:
            tape.watch(between)
            scores = self.discriminator(between, training=True)
        slopes = tape.gradient(scores, between)
        return tf.reduce_mean((tf.sqrt(tf.reduce_sum(slopes ** 2, axis=1) + 1e-12) - 1.0) ** 2)

    def train_step(self, real):
        noise = tf.random.normal([tf.shape(real)[0], 2])
        with tf.GradientTape() as tape:
            fake = self.generator(noise, training=True)
            d_loss = (tf.reduce_mean(self.discriminator(fake)) - tf.reduce_mean(self.discriminator(real))
                      + 10.0 * self.penalty(real, fake))
        variables = self.discriminator.trainable_variables
        self.d_optimizer.apply_gradients(zip(tape.gradient(d_loss, variables), variables))
        with tf.GradientTape() as tape:
            g_loss = -tf.reduce_mean(self.discriminator(self.generator(noise, training=True)))
        variables = self.generator.trainable_variables
        self.g_optimizer.apply_gradients(zip(tape.gradient(g_loss, variables), variables))
        return {"d_loss": d_loss, "g_loss": g_loss}


@both_ways
def test_gan_with_gradient_penalty(eager):
    model = Gan(keras.Sequential([keras.Input((3,)), L.Dense(12, activation="tanh"), L.Dense(1)]),
                keras.Sequential([keras.Input((2,)), L.Dense(12, activation="relu"), L.Dense(3)]))
    model.compile(keras.optimizers.Adam(0.01), keras.optimizers.Adam(0.01), run_eagerly=eager)
    before = model.discriminator.get_weights()[0].copy()
    history = model.fit(rng().standard_normal((60, 3)).astype("float32") + 2.0, epochs=4, batch_size=25, verbose=0).history
    assert set(history) == {"d_loss", "g_loss"} and np.isfinite(history["d_loss"]).all()
    assert np.abs(before - model.discriminator.get_weights()[0]).max() > 0


def test_adversarial_example():
    x, y = rng().random((40, 6), dtype=np.float32), rng().integers(0, 2, 40)
    model = keras.Sequential([keras.Input((6,)), L.Dense(8, activation="relu"), L.Dense(2)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss)
    model.fit(x, y, epochs=3, verbose=0)
    image = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(image)
        value = loss(y, model(image))
    worse = image + 0.1 * tf.sign(tape.gradient(value, image))
    assert float(loss(y, model(worse))) > float(value)


def test_grad_cam():
    start = keras.Input((8, 8, 1))
    features = L.Conv2D(4, 3, name="conv")(start)
    model = keras.Model(start, L.Dense(2)(L.GlobalAveragePooling2D()(features)))
    looked_into = keras.Model(model.inputs, [model.get_layer("conv").output, model.output])
    with tf.GradientTape() as tape:
        maps, scores = looked_into(rng().random((1, 8, 8, 1), dtype=np.float32))
        score = scores[:, 1]
    weights = tf.reduce_mean(tape.gradient(score, maps), axis=(0, 1, 2))
    heat = tf.reduce_sum(maps[0] * weights, -1)
    np.testing.assert_allclose(weights * 36.0, model.layers[-1].kernel.numpy()[:, 1], rtol=1e-5)
    assert heat.shape == (6, 6)


def test_matrix_factorisation_with_rows_as_gradients():
    user, item = keras.Input((1,), name="user"), keras.Input((1,), name="item")
    score = L.Flatten()(L.Dot(2)([L.Embedding(12, 4)(user), L.Embedding(15, 4)(item)]))
    model = keras.Model([user, item], score)
    users, items = rng().integers(0, 12, 200), rng().integers(0, 15, 200)
    ratings = ((users % 3) * (items % 2)).astype("float32")
    model.compile(keras.optimizers.Adagrad(0.5), "mse")
    learned(model.fit([users, items], ratings, epochs=12, verbose=0), 0.5)
    assert model.predict({"user": users[:3], "item": items[:3]}, verbose=0).shape == (3, 1)


def test_several_inputs_and_outputs():
    title, tags = keras.Input((None,), name="title"), keras.Input((3,), name="tags")
    x = L.concatenate([L.LSTM(6)(L.Embedding(30, 6)(title)), tags])
    model = keras.Model([title, tags], {"urgent": L.Dense(1, name="urgent")(x), "kind": L.Dense(4, name="kind")(x)})
    losses = {"urgent": keras.losses.BinaryCrossentropy(from_logits=True),
              "kind": keras.losses.CategoricalCrossentropy(from_logits=True)}
    model.compile(keras.optimizers.Adam(0.02), losses, loss_weights={"urgent": 1.0, "kind": 0.2})
    r = rng()
    data = {"title": r.integers(0, 30, (40, 7)), "tags": r.random((40, 3))}
    targets = {"urgent": (data["tags"][:, :1] > 0.5) * 1, "kind": np.eye(4)[r.integers(0, 4, 40)]}
    history = model.fit(data, targets, epochs=15, batch_size=16, verbose=0)
    learned(history, key="urgent_loss", factor=0.95)
    assert set(history.history) == {"loss", "urgent_loss", "kind_loss"}


def test_a_layer_with_control_flow_of_its_own():
    class Signed(L.Layer):
        def call(self, x):
            if tf.reduce_sum(x) > 0.0:
                return 2.0 * x
            return -x

    start = keras.Input((3,))
    model = keras.Model(start, L.Dense(1)(Signed()(start)))
    model.compile("sgd", "mse")
    x = np.ones((6, 3), "float32")
    model(tf.constant(x))
    learned(model.fit(x, np.ones((6, 1)), epochs=5, verbose=0, batch_size=4))
    np.testing.assert_allclose(model.predict(x, verbose=0), model(x), rtol=1e-6)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_half_precision(policy, capfd):
    model = keras.Sequential([keras.Input((6,)), L.Dense(16, activation="relu", dtype=policy),
                              L.Dense(1, dtype="float32")])
    model.compile(keras.optimizers.Adam(0.02), "mse")
    x = rng().random((64, 6), dtype=np.float32)
    learned(model.fit(x, x.sum(1), epochs=15, verbose=0, batch_size=16), 0.3)
    assert {v.dtype for v in model.weights} == {"float32"}


@both_ways
def test_own_loop_with_accumulation(eager):
    model = keras.Sequential([keras.Input((4,)), L.Dense(8, activation="relu"), L.Dense(1)])
    optimizer = keras.optimizers.SGD(0.05, gradient_accumulation_steps=4)
    x = rng().random((32, 4), dtype=np.float32)
    y = x.sum(1, keepdims=True)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    step = step if eager else tf.function(step)
    first = float(tf.reduce_mean((model(x) - y) ** 2))
    before = model.get_weights()
    for i in range(3):
        step(x[8 * i:8 * i + 8], y[8 * i:8 * i + 8])
    assert all(np.array_equal(a, b) for a, b in zip(before, model.get_weights()))
    for i in range(3, 80):
        step(x[8 * (i % 4):8 * (i % 4) + 8], y[8 * (i % 4):8 * (i % 4) + 8])
    assert float(tf.reduce_mean((model(x) - y) ** 2)) < 0.5 * first


def test_transfer_of_a_frozen_base():
    base = keras.Sequential([keras.Input((4,)), L.Dense(6, activation="relu"), L.BatchNormalization()])
    base.trainable = False
    start = keras.Input((4,))
    model = keras.Model(start, L.Dense(1)(base(start, training=False)))
    kept = [w.copy() for w in base.get_weights()]
    x = rng().random((32, 4), dtype=np.float32)
    model.compile(keras.optimizers.Adam(0.05), "mse")
    learned(model.fit(x, x.sum(1), epochs=10, verbose=0))
    assert all(np.array_equal(a, b) for a, b in zip(kept, base.get_weights()))
    base.trainable = True
    model.compile(keras.optimizers.Adam(0.001), "mse")
    model.fit(x, x.sum(1), epochs=1, verbose=0)
    assert not np.array_equal(kept[0], base.get_weights()[0])


def test_early_stopping_gives_the_best_weights_back():
    model = keras.Sequential([keras.Input((2,)), L.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    x = rng().random((20, 2))
    seen = []

    class Worse(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            seen.append(self.model.get_weights()[0].copy())
            logs["val_loss"] = float(abs(epoch - 3))

    stop = keras.callbacks.EarlyStopping(patience=2, restore_best_weights=True)
    history = model.fit(x, x.sum(1), epochs=20, verbose=0, callbacks=[Worse(), stop])
    assert history.epoch == [0, 1, 2, 3, 4, 5] and stop.best == 0.0
    np.testing.assert_array_equal(model.get_weights()[0], seen[3])
