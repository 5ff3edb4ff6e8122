"""What is asked of an expression over Keras, of the real one and of Gradus alike: its value, and the gradient of a sum of
it with respect to all numbers that went in. Cases are texts: keras_parameters/*.py.
"""
import warnings

import numpy as np

from keras_layer_cases import Data


class Inputs(Data):
    """Numbers for a case, the same everywhere; those that are differentiated are tensors and remembered."""

    def __init__(self, text, tf):
        super().__init__(text)
        self._tf, self.given = tf, []

    def _watched(self, array):
        tensor = self._tf.constant(array.astype("float32"))
        self.given.append(tensor)
        return tensor

    def x(self, *shape):
        return self._watched(self.random.uniform(-1, 1, shape))

    def positive(self, *shape):
        return self._watched(self.random.uniform(0.5, 1.5, shape))

    def unit(self, *shape):
        return self._watched(self.random.uniform(0.05, 0.95, shape))

    def spd(self, n):
        """A symmetric positive matrix."""
        a = self.random.uniform(-1, 1, (n, n))
        return self._watched(a @ a.T + n * np.eye(n))

    def nans(self, *shape):
        array = self.random.uniform(-1, 1, shape).astype("float32")
        array[self.random.rand(*shape) < 0.3] = np.nan
        array.ravel()[0] = array.ravel()[-1] = 0.25
        array[:, 1] = -0.75
        array[1] = np.arange(shape[1]) / 7
        return array

    def one_hot(self, n, *shape):
        return np.eye(n, dtype="float32")[self.random.randint(0, n, shape)]


def leaves(value):
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def plain(leaf, tf):
    """A leaf as JSON has it: [dtype, numbers], or a text."""
    if leaf is None or isinstance(leaf, (bool, int, float, str)):
        return leaf
    if isinstance(leaf, bytes):
        return leaf.decode()
    if hasattr(leaf, "to_list") and not hasattr(leaf, "numpy"):
        return leaf.to_list()
    if type(leaf).__name__ == "SparseTensor":
        leaf = tf.sparse.to_dense(leaf)
    array = np.asarray(leaf.numpy() if hasattr(leaf, "numpy") else leaf)
    if array.dtype.kind in "OSU":
        return [s.decode() if isinstance(s, bytes) else str(s) for s in array.ravel().tolist()]
    name = getattr(leaf, "dtype", array.dtype)
    name = getattr(name, "name", str(name))
    if array.dtype.kind == "c":
        return [name, [array.real.tolist(), array.imag.tolist()]]
    return [name, (array if array.dtype.kind in "biuf" else array.astype("float32")).tolist()]


def _part_of_loss(leaf, tf):
    if type(leaf).__name__ != "EagerTensor" and type(leaf) is not tf.Tensor or not (
            leaf.dtype.is_floating or leaf.dtype.is_complex):
        return None
    if leaf.dtype.is_complex:
        leaf = tf.math.real(leaf) + 0.5 * tf.math.imag(leaf)
    weights = np.linspace(0.5, 1.5, int(np.prod(leaf.shape))).reshape(leaf.shape)
    return tf.reduce_sum(tf.cast(leaf, "float64") * weights)


def scope(keras, tf, inputs):
    names = "activations callbacks constraints initializers layers losses metrics ops optimizers random regularizers utils"
    makers = "x positive unit spd nans ints mask lengths one_hot"
    from keras_parameters import helpers
    return {"np": np, "keras": keras, "tf": tf, "schedules": keras.optimizers.schedules,
            **{n: getattr(keras, n) for n in names.split()}, **{n: getattr(inputs, n) for n in makers.split()},
            **helpers.bound(keras, tf)}


def answer(text, keras, tf):
    """{"values": [...], "gradients": [...]} of an expression, or {"error": its class}."""
    keras.utils.clear_session(free_memory=False)
    keras.utils.set_random_seed(7)
    inputs = Inputs(text, tf)
    try:
        with warnings.catch_warnings(), tf.GradientTape() as tape:
            warnings.simplefilter("ignore")
            names = scope(keras, tf, inputs)
            given = inputs.given
            watch = given.append
            inputs.given = type("Watched", (list,), {"append": lambda self, t: (tape.watch(t), watch(t))})()
            values = leaves(eval(text, names))  # noqa: S307
            parts = [p for p in (_part_of_loss(v, tf) for v in values) if p is not None]
            loss = sum(parts) if parts else None
        gradients = []
        if given and loss is not None:
            gradients = [None if g is None else np.asarray(tf.convert_to_tensor(g)).tolist()
                         for g in tape.gradient(loss, given)]
        if all(g is None or not np.any(g) for g in gradients):
            gradients = []  # nothing depends on them: None and zeros say the same
        gradients = [0.0 if g is None or not np.any(g) else g for g in gradients]
        return {"values": [plain(v, tf) for v in values], "gradients": gradients}
    except Exception as error:  # noqa: BLE001
        return {"error": f"{type(error).__name__}: {error}"}
