"""What Keras is asked, the same for Keras and for Gradus: each function gives plain values that must be equal.

tools/make_keras_core_reference.py writes Keras's answers to keras_core.json.
"""
import contextlib
import io
import json
import os
import re
import tempfile

import numpy as np

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def data():
    x = (np.arange(40).reshape(10, 4) % 7).astype("float32") / 7
    return x, np.arange(10) % 2


def printed(function):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        function()
    return text.getvalue()


def without_times(text):
    """Durations and what depends on them taken out."""
    text = re.sub(r"\x08+", "", text)
    text = re.sub(r"\d+(s|ms|us)/step", "T/step", text)
    text = re.sub(r"\x1b\[1m[\d:]+s?\x1b\[0m T/step", "T T/step", text)
    text = re.sub(r" +(?=[\r\n]|$)", "", text)
    return re.sub(r"- \d+s - T/step", "- T - T/step", text)


def dense(keras, units, **kwargs):
    kwargs.setdefault("kernel_initializer", "ones")
    return keras.layers.Dense(units, **kwargs)


def classifier(keras):
    return keras.Sequential([keras.Input((4,)), dense(keras, 3, activation="relu"), dense(keras, 2)])


def compiled(keras, **kwargs):
    model = classifier(keras)
    kwargs.setdefault("metrics", ["accuracy"])
    model.compile(kwargs.pop("optimizer", "sgd"), keras.losses.SparseCategoricalCrossentropy(from_logits=True), **kwargs)
    return model


def two_outputs(keras):
    start = keras.Input((4,), name="a")
    return keras.Model(start, [dense(keras, 2, name="o1")(start), dense(keras, 1, name="o2")(start)])


def attempt(function):
    try:
        function()
    except Exception as error:  # noqa: BLE001
        text = re.sub(r"Exception encountered when calling .*?\n\n\x1b\[1m(.*?)\x1b\[0m\n\nArguments.*", r"\1", str(error),
                      flags=re.S)
        return [type(error).__name__, text]
    return None


@case
def summaries(keras, tf):
    L = keras.layers
    found = []
    model = keras.Sequential([keras.Input((4,)), L.Dense(3), L.Dropout(0.5), L.BatchNormalization(), L.Dense(2)])
    found.append(printed(model.summary))
    model.compile("adam", "mse")
    model.fit(np.ones((4, 4)), np.ones((4, 2)), verbose=0)
    found.append(printed(model.summary))
    model.layers[0].trainable = False
    for kwargs in ({"show_trainable": True}, {"line_length": 60}, {"line_length": 40}, {"positions": [0.3, 0.6, 1.0]},
                   {"layer_range": ("dense", "dropout")}):
        found.append(printed(lambda kw=kwargs: model.summary(**kw)))
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    shared = L.Dense(3, name="shared")
    both = L.Add()([shared(a), shared(b)])
    multi = keras.Model({"a": a, "b": b}, [both, L.Concatenate()([shared(a), both])], name="multi")
    found.append(printed(multi.summary))
    found.append(printed(lambda: multi.summary(show_trainable=True, line_length=70)))
    nested = keras.Sequential([keras.Input((4,)), keras.Model(a, shared(a)), L.Dense(1)])
    found.append(printed(lambda: nested.summary(expand_nested=True)))
    found.append(printed(keras.Sequential([L.Dense(2)]).summary))
    big = keras.Sequential([keras.Input((1000,)), L.Dense(3000), L.Dense(20, name="a_name_that_is_too_long_for_the_table")])
    found.append(printed(big.summary))
    start = keras.Input((4,))
    found.append(printed(keras.Model(start, (start + 1) * 2).summary))
    lines = []
    model.summary(print_fn=lambda text, line_break=False: lines.append(text))
    return found + lines


@case
def subclassed(keras, tf):
    L = keras.layers

    class Blocks(keras.Model):
        def __init__(self):
            super().__init__()
            self.first = L.Dense(3)
            self.rest = [L.Dense(2), {"a": L.Dense(1)}]

        def call(self, x):
            return self.rest[1]["a"](self.rest[0](self.first(x)))

    model = Blocks()
    before = printed(model.summary)
    model(np.ones((2, 4), "float32"))
    return [before, printed(model.summary), [v.path for v in model.weights], [layer.name for layer in model.layers]]


@case
def paths_and_names(keras, tf):
    L = keras.layers
    model = keras.Sequential([keras.Input((4,)), L.Dense(3), L.BatchNormalization(), L.Dense(2)])
    start = keras.Input((4,))
    functional = keras.Model(start, L.Dense(2, name="out")(L.Dense(3)(start)))
    nested = keras.Sequential([keras.Input((4,)), functional, L.Dense(1)])
    found = []
    for m in (model, functional, nested):
        found.append([m.name, [layer.name for layer in m.layers], [v.path for v in m.weights], [v.name for v in m.weights],
                      [list(v.shape) for v in m.weights], [v.path for v in m.trainable_variables],
                      [v.path for v in m.non_trainable_variables], repr(m), str(m.layers[0]), list(m.input_shape),
                      list(m.output_shape), m.count_params()])

    class Own(keras.Layer):
        def __init__(self):
            super().__init__()
            self.inner = L.Dense(2)
            self.scale = self.add_weight(shape=(), initializer="ones")
            self.state = self.add_weight(shape=(2,), initializer="zeros", trainable=False, name="state")

        def build(self, shape):
            self.inner.build(shape)
            self.offset = self.add_weight(shape=(2,), initializer="zeros", name="offset")

        def call(self, x):
            return self.inner(x) * self.scale + self.offset

    own = Own()
    own(np.ones((1, 3), "float32"))
    found.append([[v.path for v in own.weights], own.path, repr(own.scale), [v.path for v in own.trainable_weights]])
    own.trainable = False
    found.append([[v.path for v in own.non_trainable_weights], own.inner.trainable, own.scale.trainable])
    return found


@case
def configs(keras, tf):
    L = keras.layers
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    shared = L.Dense(3, name="shared")
    both = L.Add()([shared(a), shared(b)])
    multi = keras.Model({"a": a, "b": b}, [both, L.Concatenate()([shared(a), both])], name="multi")
    simple = classifier(keras)

    class Plain(keras.Layer):
        def call(self, x):
            return x

    again = keras.Model.from_config(json.loads(json.dumps(multi.get_config())))
    return [json.loads(json.dumps(x)) for x in (
        multi.get_config(), simple.get_config(), Plain().get_config(), json.loads(simple.to_json()),
        keras.saving.serialize_keras_object(Plain()), [v.path for v in again.weights], again.name,
        [layer.name for layer in keras.models.clone_model(simple).layers],
        keras.models.model_from_json(simple.to_json()).name, simple.get_build_config(), simple.layers[0].get_build_config(), compiled(keras).get_build_config())]


@case
def compile_config(keras, tf):
    return compiled(keras, weighted_metrics=["mse"]).get_compile_config()


@case
def fit_history(keras, tf):
    x, y = data()
    model = compiled(keras, weighted_metrics=["sparse_categorical_crossentropy"])
    found = []

    def fit(*args, **kwargs):
        history = model.fit(*args, batch_size=4, shuffle=False, verbose=0, **kwargs)
        found.append([history.history, list(history.history), history.epoch, history.params])

    fit(x, y, epochs=3, validation_split=0.2)
    fit(x, y, epochs=2, validation_data=(x, y), validation_freq=2)
    fit(x, y, class_weight={0: 1.0, 1: 3.0})
    fit(x, y, sample_weight=np.arange(10) / 5.0)
    fit(x, y, epochs=2, validation_data=(x, y, np.arange(10) / 10.0), initial_epoch=1)
    found.append(model.evaluate(x, y, verbose=0, batch_size=3))
    found.append(model.evaluate(x, y, verbose=0, return_dict=True))
    found.append(model.evaluate(x, y, verbose=0, sample_weight=np.arange(10) / 5.0))
    found.append([model.train_on_batch(x, y), model.train_on_batch(x, y, return_dict=True), model.test_on_batch(x, y),
                  model.train_on_batch(x, y, class_weight={0: 0.5, 1: 2.0})])
    found.append(model.predict(x, verbose=0, batch_size=3).tolist())
    found.append(model.predict_on_batch(x[:2]).tolist())
    found.append([model.metrics_names, [v.numpy().tolist() for v in model.weights]])
    return found


@case
def several_outputs(keras, tf):
    x, _ = data()
    found = []
    model = two_outputs(keras)
    model.compile("sgd", loss=["mse", "mae"], loss_weights=[1.0, 0.5], metrics=[["mae"], ["mse", "accuracy"]])
    found.append(model.fit(x, [x[:, :2], x[:, :1]], shuffle=False, batch_size=5, verbose=0).history)
    found.append(model.evaluate(x, [x[:, :2], x[:, :1]], verbose=0))
    found.append(model.metrics_names)
    model = two_outputs(keras)
    model.compile("sgd", "mse")
    found.append(model.fit(x, [x[:, :2], x[:, :1]], shuffle=False, batch_size=4, verbose=0).history)
    start = keras.Input((4,), name="a")
    named = keras.Model({"in": start}, {"p": dense(keras, 2)(start), "q": dense(keras, 1)(start)})
    named.compile("sgd", loss={"p": "mse", "q": "mae"}, metrics={"q": "mse"})
    targets = {"p": x[:, :2], "q": x[:, :1]}
    found.append(named.fit({"in": x}, targets, shuffle=False, batch_size=5, verbose=0).history)
    found.append(named.evaluate({"in": x}, targets, verbose=0))
    found.append({k: list(v.shape) for k, v in named.predict({"in": x}, verbose=0).items()})
    return found


@case
def progress(keras, tf):
    x, y = data()
    model = compiled(keras)
    found = []
    for kwargs in ({"epochs": 2, "validation_split": 0.2}, {"epochs": 1}, {"epochs": 2, "verbose": 2}, {"verbose": 0}):
        found.append(printed(lambda kw=kwargs: model.fit(x, y, batch_size=10, shuffle=False, **kw)))
    found.append(printed(lambda: model.evaluate(x, y, verbose=2)))
    found.append(printed(lambda: model.predict(x, verbose=2)))
    bar = keras.utils.Progbar(12, interval=0)
    found.append(printed(lambda: [bar.update(i + 1, [("loss", i / 3.0), ("tiny", 1e-5 * i)]) for i in range(12)]))
    bar = keras.utils.Progbar(None, interval=0)
    found.append(printed(lambda: [bar.update(i + 1, [("loss", i / 3.0)]) for i in range(2)]))
    return [without_times(text) for text in found]


@case
def callback_calls(keras, tf):
    x, _ = data()
    model = classifier(keras)
    model.compile("sgd", "mse", metrics=["mae"])
    events = []

    class Recorder(keras.callbacks.Callback):
        pass

    def recorder(name):
        def note(self, *args, **kwargs):
            logs = kwargs.get("logs") or next((a for a in args if isinstance(a, dict)), {})
            events.append([name, next((a for a in args if isinstance(a, int)), None), sorted(logs or {})])
        return note

    for name in dir(keras.callbacks.Callback):
        if name.startswith("on_") and name not in ("on_batch_begin", "on_batch_end"):
            setattr(Recorder, name, recorder(name))
    model.fit(x, x[:, :2], batch_size=5, epochs=2, verbose=0, callbacks=[Recorder()], validation_data=(x, x[:, :2]))
    model.evaluate(x, x[:, :2], verbose=0, callbacks=[Recorder()])
    model.predict(x, verbose=0, callbacks=[Recorder()])
    return events


@case
def callback_texts(keras, tf):
    x, _ = data()
    found = []

    def run(callback, epochs=5, rate=0.01, values=x):
        model = classifier(keras)
        model.compile(keras.optimizers.SGD(rate), "mse", metrics=["mae"])
        history = []
        text = printed(lambda: history.append(model.fit(values, x[:, :2], epochs=epochs, verbose=0, shuffle=False,
                                                        callbacks=[callback]).history))
        found.append([text, history[0]])
        return model

    C = keras.callbacks
    run(C.EarlyStopping(monitor="loss", patience=2, verbose=1), epochs=8, rate=0.0)
    run(C.EarlyStopping(monitor="mae", patience=1, verbose=1, restore_best_weights=True, min_delta=0.5, mode="min"), epochs=8)
    run(C.EarlyStopping(monitor="loss", baseline=0.001, patience=3, start_from_epoch=1), epochs=8)
    run(C.ReduceLROnPlateau(monitor="loss", patience=1, verbose=1, min_delta=10, factor=0.5), rate=0.1)
    run(C.ReduceLROnPlateau(monitor="loss", patience=1, verbose=1, min_delta=10, factor=0.5, cooldown=1, min_lr=0.04), rate=0.1)
    run(C.LearningRateScheduler(lambda epoch, rate: rate * 0.5, verbose=1), epochs=3)
    run(C.LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, sorted(logs))), epochs=2)
    run(C.TerminateOnNaN(), values=x * np.nan)
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "log.csv")
    run(C.CSVLogger(path), epochs=2)
    with open(path) as file:
        rows = [line.split(",") for line in file.read().splitlines()]
    found.append([rows[0]] + [[float(v) if v != "NA" else v for v in row] for row in rows[1:]])
    return found


@case
def errors(keras, tf):
    L = keras.layers
    x, y = data()
    model = classifier(keras)
    start = keras.Input((4,))
    end = L.Dense(2, name="end")(start)
    functional = keras.Model(start, end)

    class Plain(keras.Layer):
        def call(self, x):
            return x

    def fit_wrong(*args, **kwargs):
        model.compile("sgd", "mse")
        model.fit(*args, verbose=0, **kwargs)

    fresh = classifier(keras)
    return [attempt(f) for f in (
        lambda: model(np.ones((2, 5), "float32")),
        lambda: functional(np.ones((2, 5), "float32")),
        lambda: model.layers[0](np.ones((2, 5), "float32")),
        lambda: fresh.fit(x, y),
        lambda: fresh.evaluate(x, y),
        lambda: fit_wrong(np.ones((2, 5)), np.ones((2, 2))),
        lambda: fit_wrong(np.ones((3, 4)), np.ones((2, 2))),
        lambda: model.get_layer("nope"),
        lambda: model.get_layer(index=99),
        lambda: model.get_layer(),
        lambda: model.set_weights([np.ones((1,))]),
        lambda: model.layers[0].set_weights([np.ones((1,)), np.ones((3,))]),
        lambda: L.Dense(3).count_params(),
        lambda: L.Dense(3, foo=1),
        lambda: Plain()(3),
        lambda: bool(start > 0),
        lambda: tf.exp(start),
        lambda: np.exp(start),
        lambda: keras.Sequential([L.Dense(2, name="a"), L.Dense(2, name="a")]),
        lambda: keras.Model(start, L.Dense(2, name="b")(L.Dense(2, name="b")(start))),
        lambda: model.compile("nope"),
        lambda: setattr(model.layers[0], "more", L.Dense(1)),
        lambda: model.layers[0].add_weight(name="z", shape=()),
        lambda: keras.callbacks.ModelCheckpoint("/tmp/foo", save_weights_only=True),
        lambda: keras.callbacks.ModelCheckpoint("/tmp/foo"),
        lambda: keras.callbacks.ModelCheckpoint("/tmp/foo.keras", save_freq="x"),
        lambda: keras.callbacks.ReduceLROnPlateau(factor=2.0),
        lambda: keras.Sequential([]).predict(np.ones((2, 3)), verbose=0),
        lambda: keras.Input(),
        lambda: keras.Sequential([3]),
    )]


@case
def losses_of_layers(keras, tf):
    class Adds(keras.Layer):
        def call(self, x):
            self.add_loss(tf.reduce_sum(x))
            return x

    regular = dense(keras, 2, activity_regularizer="l2", kernel_regularizer="l2", bias_regularizer="l1")
    model = keras.Sequential([keras.Input((3,)), Adds(), regular])
    model(np.ones((5, 3), "float32"))
    first = [float(v) for v in model.losses]
    model(np.ones((5, 3), "float32"))
    again = [float(v) for v in model.losses]
    model.compile("sgd", "mse")
    x = np.ones((6, 3), "float32")
    return [first, again, model.fit(x, x[:, :2], verbose=0, batch_size=4, shuffle=False, epochs=2).history,
            model.evaluate(x, x[:, :2], verbose=0)]


@case
def custom_step(keras, tf):
    class Own(keras.Model):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.inner = dense(keras, 1)
            self.tracker = keras.metrics.Mean(name="own_loss")

        def call(self, x, training=None):
            return self.inner(x) + (1.0 if training else 0.0)

        def train_step(self, batch):
            x, y = batch
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
            self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
            self.tracker.update_state(loss)
            return {"own_loss": self.tracker.result()}

        def test_step(self, batch):
            x, y = batch
            self.tracker.update_state(tf.reduce_mean((self(x, training=False) - y) ** 2))
            return {"own_loss": self.tracker.result()}

        @property
        def metrics(self):
            return [self.tracker]

    x, _ = data()
    model = Own()
    model.compile(optimizer="sgd")
    history = model.fit(x, x[:, :1], batch_size=4, epochs=2, verbose=0, shuffle=False, validation_data=(x, x[:, :1])).history
    found = [history, model.evaluate(x, x[:, :1], verbose=0), model.metrics_names]

    class Scaled(keras.Model):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            return 2.0 * super().compute_loss(x, y, y_pred, sample_weight)

    start = keras.Input((4,))
    scaled = Scaled(start, dense(keras, 1)(start))
    scaled.compile("sgd", "mse", metrics=["mae"])
    found.append(scaled.fit(x, x[:, :1], batch_size=4, verbose=0, shuffle=False).history)
    return found


@case
def utilities(keras, tf):
    U = keras.utils
    return [U.to_categorical([0, 2, 1]).tolist(), U.to_categorical([[0], [2]], 4).tolist(),
            U.pad_sequences([[1], [2, 3], [4, 5, 6, 7]], maxlen=3).tolist(),
            U.pad_sequences([[1], [2, 3]], padding="post", truncating="post", value=9, dtype="float32").tolist(),
            U.normalize(np.ones((2, 2))).tolist(), attempt(lambda: U.pad_sequences([1])),
            keras.backend.result_type("int32", "float32"), keras.backend.result_type("uint8", "int8"),
            keras.backend.result_type("float16", "bfloat16"), keras.backend.result_type("int64", float),
            keras.backend.epsilon(), keras.backend.floatx(), keras.config.image_data_format()]


@case
def masks(keras, tf):
    L = keras.layers
    model = keras.Sequential([keras.Input((None,), dtype="int32"),
                              L.Embedding(6, 3, mask_zero=True, embeddings_initializer="ones"),
                              L.LSTM(2, return_sequences=True, kernel_initializer="ones", recurrent_initializer="ones"),
                              dense(keras, 2), L.GRU(2, kernel_initializer="ones", recurrent_initializer="ones")])
    short = np.array([[1, 2, 0, 0], [3, 4, 5, 0]], "int32")
    longer = np.array([[1, 2, 0, 0, 0, 0], [3, 4, 5, 0, 0, 0]], "int32")
    masking = keras.Sequential([keras.Input((3, 1)), L.Masking(), L.SimpleRNN(1, kernel_initializer="ones",
                                                                               recurrent_initializer="ones")])
    model.compile("sgd", "mse")
    return [model(short).numpy().tolist(), model(longer).numpy().tolist(), model.predict(longer, verbose=0).tolist(),
            masking(np.array([[[1.0], [0.0], [2.0]]], "float32")).numpy().tolist(),
            model.fit(short, np.ones((2, 2)), verbose=0, epochs=2).history]


@case
def sources(keras, tf):
    x, y = data()
    found = []

    def generator(endless=False):
        while True:
            for i in range(0, 8, 4):
                yield x[i:i + 4], y[i:i + 4]
            if not endless:
                return

    def dataset():
        return tf.data.Dataset.from_tensor_slices((x, y)).batch(4)

    def run(make, **kwargs):
        model = compiled(keras)
        histories = []
        text = printed(lambda: histories.append(model.fit(make(), **kwargs)))
        found.append([without_times(text).split("\r")[-1], histories[0].history, histories[0].params])

    run(lambda: generator(True), steps_per_epoch=3, epochs=2, shuffle=False, verbose=2)
    run(dataset, epochs=2, validation_data=dataset(), shuffle=False, verbose=2)
    run(dataset, steps_per_epoch=2, shuffle=False, verbose=2)
    run(lambda: dataset().repeat(), steps_per_epoch=4, validation_data=dataset().repeat(), validation_steps=2, shuffle=False,
        verbose=2)
    weighted = tf.data.Dataset.from_tensor_slices((x, y, np.arange(10) / 5.0)).batch(4)
    run(lambda: weighted, shuffle=False, verbose=0)
    model = compiled(keras)
    found.append([model.evaluate(dataset(), verbose=0), model.evaluate(dataset(), verbose=0, steps=1),
                  model.predict(dataset(), verbose=0).tolist()])

    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return x[4 * i:4 * i + 4], y[4 * i:4 * i + 4]

    run(Batches, shuffle=False, verbose=2, epochs=2, class_weight={0: 1.0, 1: 2.0})
    return found


@case
def building(keras, tf):
    found = []

    class Two(keras.Layer):
        def build(self, first_shape, second_shape):
            found.append([list(first_shape), list(second_shape)])
            self.a = self.add_weight(shape=(first_shape[-1],), initializer="ones", name="a")
            self.b = self.add_weight(shape=(second_shape[-1],), initializer="ones", name="b")

        def call(self, first, second, training=None):
            found.append(training)
            return tf.reduce_sum(first * self.a, -1) + tf.reduce_sum(second * self.b, -1)

    layer = Two()
    found.append(layer(np.ones((2, 3), "float32"), np.ones((2, 4), "float32"), training=True).numpy().tolist())
    found.append([layer.get_build_config(), [v.path for v in layer.weights], layer.built])

    class Lists(keras.Layer):
        def build(self, shapes):
            found.append([list(s) for s in shapes])

        def call(self, inputs):
            return inputs[0] + inputs[1]

    found.append(Lists()([np.ones((2, 3), "float32"), np.ones((2, 3), "float32")]).numpy().tolist())

    model = keras.Sequential(name="grows")
    found.append([model.built, len(model.weights)])
    model.add(keras.Input((4,)))
    model.add(dense(keras, 3, name="one"))
    found.append([model.built, [v.path for v in model.weights], list(model.output_shape)])
    model.add(dense(keras, 2, name="two"))
    found.append([[v.path for v in model.weights], list(model.output_shape)])
    model.pop()
    found.append([[layer.name for layer in model.layers], list(model.output_shape)])
    late = keras.Sequential([dense(keras, 3, name="three"), dense(keras, 2, name="four")])
    found.append([late.built, late(np.ones((2, 4), "float32")).numpy().tolist(), list(late.input_shape), late.built,
                  [v.path for v in late.weights]])
    shaped = keras.Sequential([dense(keras, 3), dense(keras, 2)])
    shaped.build((None, 5))
    found.append([list(shaped.input_shape), shaped.count_params(), list(shaped.compute_output_shape((7, 5)))])
    return found


@case
def training_flags(keras, tf):
    L = keras.layers
    seen = []

    class Sees(keras.Layer):
        def call(self, x, training=None):
            if not hasattr(x, "_keras_history"):
                seen.append(training)
            return x

    class Defaults(keras.Layer):
        def __init__(self):
            super().__init__()
            self.inner = Sees()

        def call(self, x, training=False):
            return self.inner(x)

    class Quiet(keras.Layer):
        def __init__(self):
            super().__init__()
            self.inner = Sees()

        def call(self, x):
            return self.inner(x)

    x = np.ones((2, 3), "float32")
    results = []
    for layer in (Sees(), Defaults(), Quiet(), keras.Sequential([Sees()]), keras.Sequential([keras.Sequential([Quiet()])])):
        layer(x)
        for kwargs in ({}, {"training": True}, {"training": False}, {"training": None}):
            seen.clear()
            layer(x, **kwargs)
            results.append(list(seen))
    start = keras.Input((3,))
    frozen = keras.Model(start, Sees()(start, training=False))
    seen.clear()
    frozen(x, training=True)
    return results + [list(seen), L.Dropout(0.5)(x).numpy().tolist(),
                      sorted(set(L.Dropout(0.5)(x, training=True).numpy().ravel().tolist()) | {0.0, 2.0})]


@case
def masks_by_hand(keras, tf):
    L = keras.layers
    found = []

    class Takes(keras.Layer):
        def __init__(self):
            super().__init__()
            self.supports_masking = True

        def call(self, x, mask=None):
            found.append(None if mask is None else np.asarray(mask).tolist())
            return x

    class Two(keras.Layer):
        def __init__(self):
            super().__init__()
            self.supports_masking = True

        def call(self, a, b, a_mask=None, b_mask=None):
            found.append([None if m is None else np.asarray(m).tolist() for m in (a_mask, b_mask)])
            return a

    embedding = L.Embedding(5, 2, mask_zero=True)
    ids = np.array([[1, 0], [2, 3]])
    masked = embedding(ids)
    Takes()(masked)
    Takes()(dense(keras, 2)(masked))
    Takes()(Takes()(masked))
    Takes()(masked, mask=np.array([[True, True], [True, True]]))
    Two()(masked, embedding(ids[::-1]))
    Takes()(L.Concatenate()([masked, masked]))
    found.append(np.asarray(embedding.compute_mask(ids)).tolist())
    Takes()(L.Masking()(np.array([[[1.0], [0.0]]], "float32")))
    return found


@case
def odd_configurations(keras, tf):
    """What programs meet beside the usual way: names, structures and orders."""
    L = keras.layers
    x, y = np.linspace(-1, 1, 30, dtype="float32").reshape(10, 3), np.arange(10.0, dtype="float32").reshape(10, 1)
    found = []

    def model(**kwargs):
        made = keras.Sequential([keras.Input((3,)), dense(keras, 2), dense(keras, 1)])
        made.compile("sgd", "mse", **kwargs)
        return made

    fitted = model(metrics=["mae", "mae"], weighted_metrics=["mae", "mse"])
    found.append(sorted(fitted.fit(x, y, verbose=0).history))
    fitted.compile("sgd", "mse")
    found.append(sorted(fitted.fit(x, y, verbose=0).history))
    seen = []
    note = keras.callbacks.LambdaCallback(on_train_batch_begin=lambda batch, logs: seen.append(["begin", batch]),
                                          on_train_batch_end=lambda batch, logs: seen.append(["end", batch]))
    model(steps_per_execution=3).fit(x, y, batch_size=2, verbose=0, callbacks=[note])
    found.append(seen)

    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return x[2 * i:2 * i + 2], y[2 * i:2 * i + 2]

    found.append(model().fit(Batches(), steps_per_epoch=2, epochs=2, shuffle=False, verbose=0).history["loss"])
    start = keras.Input((3,))
    shared = dense(keras, 2, name="shared")
    first, second = shared(start), shared(start * 2)
    listed = keras.Model([start], [first])
    found += [list(listed(x[:1]).shape), list(listed.predict(x[:2], verbose=0).shape), listed.get_config()["output_layers"]]
    found.append(list(keras.Model(start, second)(x[:1]).shape) + list(shared.output.shape))
    found.append(list(np.zeros(shared.kernel.shape).shape) + shared.kernel.shape.as_list())
    masked = L.Embedding(4, 2, mask_zero=True)(np.array([[1, 0, 2]]))
    found += [np.asarray(masked._keras_mask).tolist(), hasattr(dense(keras, 1)(x), "_keras_mask")]
    bins = L.Discretization(num_bins=3)
    bins.adapt(np.arange(9.0))
    found.append([round(float(b), 3) for b in bins.bin_boundaries])
    found.append(keras.saving.serialize_keras_object({"part": slice(1, 5), "number": np.float32(2)}))

    class Custom(keras.Model):
        def __init__(self, units=2, rate=0.5):
            super().__init__()
            self.units = units

    config = Custom().get_config()
    found.append([config["units"], config["rate"]])
    averaged = keras.Sequential([keras.Input((3,)), dense(keras, 1)])
    averaged.compile(keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5), "mse")
    averaged.fit(x, y, epochs=2, shuffle=False, verbose=0, callbacks=[keras.callbacks.SwapEMAWeights(swap_on_epoch=True)])
    found.append(np.asarray(averaged.get_weights()[0]).ravel().tolist())
    fixed = keras.Variable([1.0])
    fixed.overwrite_with_gradient = True
    keras.optimizers.SGD(1.0).apply([tf.constant([5.0])], [fixed])
    found.append(np.asarray(fixed).tolist())
    drop = L.GRU(2, dropout=0.5, seed=1)
    for training in (False, True, False):
        drop(np.ones((1, 2, 2), "float32"), training=training)
    found.append(int(np.asarray(drop.cell.seed_generator.state)[1]))
    return found
