"""Functions that the cases use, as real Keras and Gradus see them."""
import contextlib
import io
import os
import re
import tempfile

import numpy as np


def bound(keras, tf):
    def called(layer, *args, **kwargs):
        """What a layer gives, with the weights that it was made with."""
        return layer(*args, **kwargs)

    def made(layer, *args, **kwargs):
        """The weights as the initializers made them."""
        layer(*args, **kwargs)
        return [np.asarray(w) for w in layer.weights]

    def trained(layer, *args, **kwargs):
        """Losses of regularizers, and all weights after a step that constraints see."""
        layer(*args, **kwargs)
        optimizer = keras.optimizers.SGD(0.5)
        optimizer.build(layer.trainable_variables)
        with tf.GradientTape() as tape:
            outputs = layer(*args, **kwargs)
            outputs = outputs[0] if isinstance(outputs, (list, tuple)) else outputs
            extra = list(layer.losses)
            size = int(np.prod(outputs.shape))
            loss = tf.reduce_sum(outputs * np.linspace(-1, 1, size).reshape(outputs.shape).astype("float32"))
            loss = loss + sum(extra)
        values = [getattr(v, "value", v) if hasattr(v, "_value") else v for v in layer.trainable_variables]
        optimizer.apply_gradients(zip(tape.gradient(loss, values), layer.trainable_variables))
        return [float(e) for e in extra] + [np.asarray(w) for w in layer.weights]

    def raised(function):
        """The class of the error."""
        try:
            function()
        except Exception as error:  # noqa: BLE001
            return type(error).__name__
        return "nothing"

    def adapted(layer, data, inputs):
        layer.adapt(data)
        return layer(inputs)

    def described(tensor):
        return [list(tensor.shape), str(tensor.dtype), bool(getattr(tensor, "sparse", False)), tensor.name == "n"]

    def refused(spec, data):
        """Whether a layer with this spec takes the data."""
        layer = keras.layers.Identity()
        layer.input_spec = spec
        try:
            layer(data)
        except ValueError:
            return True
        return False

    def typed(layer, *args):
        """Dtypes, names and what is trained."""
        outputs = layer(*args)
        return [layer.compute_dtype, layer.variable_dtype, layer.name, layer.dtype_policy.name, layer.trainable,
            str(outputs.dtype.name),
                [str(w.dtype) for w in layer.weights], len(layer.trainable_weights), tf.cast(outputs, "float32")]

    def updated(metric, *calls):
        """The results of a metric after each call, then after it was reset and called once more."""
        found = []
        for call in calls:
            call = call if isinstance(call, tuple) else (call,)
            metric.update_state(*call)
            found.append(np.asarray(metric.result()))
        metric.reset_state()
        found.append(np.asarray(metric.result()))
        return found + [metric.name, np.asarray(found[-1]).dtype.name]

    def stepped(optimizer, steps=4, rows=False):
        """Two variables after each of some steps; `rows`: of rows that were gathered, one twice ("dense": multiplied)."""
        a = keras.Variable(np.array([[1.0, -2.0], [0.5, 3.0], [-1.5, 0.25]], "float32"), name="a")
        b = keras.Variable(np.array([0.5, -0.25], "float32"), name="b")
        found = []
        for step in range(steps):
            with tf.GradientTape() as tape:
                table = tf.convert_to_tensor(a.value) if not rows else (
                    tf.gather(a.value, [0, 2, 0]) if rows is True else tf.matmul(np.eye(3, dtype="float32")[[0, 2,
                        0]], a.value))
                loss = tf.reduce_sum(tf.sin(table) * (1.0 + 0.1 * step)) + tf.reduce_sum(table * b.value) ** 2
            sources = [v.value if hasattr(v, "_value") else v for v in (a, b)]
            optimizer.apply(tape.gradient(loss, sources), [a, b])
            found += [np.array(a), np.array(b)]
        return found + [np.array(v) for v in optimizer.variables if "seed" not in v.path]

    def at(schedule, *steps):
        return [float(schedule(step)) for step in steps]

    def model_of(seed=3):
        """A small model, always the same."""
        random = np.random.RandomState(seed)
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, "tanh", name="one"),
                                  keras.layers.Dense(1, name="two")])
        for w in model.weights:
            w.assign(random.uniform(-0.5, 0.5, w.shape))
        return model

    def rows_of(n=8):
        random = np.random.RandomState(5)
        x = random.uniform(-1, 1, (n, 3)).astype("float32")
        return x, (x.sum(1, keepdims=True) ** 2).astype("float32")

    def fitted(*callbacks, compiled=None, epochs=4, **options):
        """History and weights of a small model."""
        model = model_of()
        x, y = rows_of()
        model.compile(**{"optimizer": keras.optimizers.SGD(0.1), "loss": "mse", **(compiled or {})})
        validation = options.pop("validation_data", (x[:3] * 0.5, y[:3]))
        history = model.fit(x, y, epochs=epochs, batch_size=options.pop("batch_size", 4), verbose=0, shuffle=False,
                            validation_data=validation, callbacks=list(callbacks), **options)
        rate = float(np.asarray(model.optimizer.learning_rate))
        return {"history": {k: [float(v) for v in vs] for k, vs in history.history.items()},
                "weights": [np.asarray(w) for w in model.get_weights()], "rate": rate, "epochs": history.epoch}

    def functional_of():
        inputs = keras.Input((3,))
        return keras.Model(inputs, keras.layers.Dense(2)(inputs))

    def nested_of():
        inputs = keras.Input((3,), name="outer")
        return keras.Model(inputs, keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)], name="inner")(inputs))

    def logged(name, make, twice):
        """The lines of a file that a callback writes."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, name)
            for _ in range(2 if twice else 1):
                fitted(make(path), epochs=2)
            with open(path) as file:
                lines = file.read().split()
        return [[float(v) if v[:1].isdigit() else v for v in line.replace(";", ",").split(",")]
            for line in lines] + [";" in lines[0]]

    def kept(name, make, **options):
        """Which files a callback leaves."""
        with tempfile.TemporaryDirectory() as folder:
            fitted(make(os.path.join(folder, name) if name else folder), **options)
            return sorted(os.listdir(folder)) if os.path.isdir(folder) else "gone"

    def noted(make):
        notes = []
        fitted(make(lambda *what: notes.append(list(what))), epochs=2)
        return notes

    def saved(save, name):
        """Which parts a file has, and what the model that comes back gives."""
        with tempfile.TemporaryDirectory() as folder:
            path, model = os.path.join(folder, name), model_of()
            save(model, path)
            again = keras.saving.load_model(path)
            return [os.path.isfile(path), again(np.ones((1, 3), "float32")) - model(np.ones((1, 3), "float32"))]

    def restored(save, load):
        with tempfile.TemporaryDirectory() as folder:
            path, other = os.path.join(folder, "w.weights.h5"), model_of(seed=9)
            save(model_of(), path)
            load(other, path)
            return other.get_weights()

    def set_and_back(get, change, value, function):
        before = get()
        change(value)
        try:
            return [get(), function()]
        finally:
            change(before)

    def limited(change, count):
        change(count)
        try:
            return [len(v) for v in fitted(epochs=4)["history"].values()] + [fitted(epochs=4)["epochs"]]
        finally:
            change(None)

    def printed(function):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            function()
        text = re.sub(r"\d+[mu]?s(/[a-z]+)?", "TIME", text.getvalue()).replace("\x08", "")
        return re.sub(r" +(?=[\r\n]|$)", "", text)  # how many blanks cover an older line hangs on the times in it

    def drawn(bar):
        for i in range(1, 5):
            bar.update(i, [("a", 0.5 * i)], finalize=i == 4)

    return {k: v for k, v in locals().items() if callable(v) and k not in ("keras", "tf")}
