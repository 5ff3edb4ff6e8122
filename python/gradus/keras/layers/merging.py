"""Layers of several inputs: sums, products, extremes, joins, and their functions."""
from ... import _core
from .. import _state
from ._common import SeveralInputs, tf


def _broadcast(shapes):
    """The shape to which all broadcast; unknown sizes stay unknown."""
    rank = max(len(s) for s in shapes)
    out = []
    for sizes in zip(*[(1,) * (rank - len(s)) + tuple(s) for s in shapes]):
        known = {n for n in sizes if n not in (None, 1)}
        if len(known) > 1:
            raise ValueError(f"Inputs have incompatible shapes. Received shapes {' and '.join(map(str, shapes))}")
        out.append(known.pop() if known else None if None in sizes else 1)
    return tuple(out)


def _alike(inputs):
    """The inputs in one dtype."""
    dtype = inputs[0].dtype
    for x in inputs:
        if x.dtype is not dtype and x.dtype != dtype:
            from ..ops._op import together
            return together(*inputs)
    return inputs


class Merge(SeveralInputs):
    """What the elementwise ones have."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, input_shape):
        if not isinstance(input_shape, list) or not input_shape or not isinstance(input_shape[0], (tuple, list)):
            raise ValueError(f"A merge layer should be called on a list of inputs. Received: input_shape={input_shape} "
                             "(not a list of shapes)")
        if len(input_shape) < 1:
            raise ValueError("A merge layer should be called on a list of at least 1 input. Received "
                             f"{len(input_shape)} inputs. Full input_shape received: {input_shape}")
        _broadcast([tuple(s)[1:] for s in input_shape])
        self.built = True

    _how = None  # the name of the form

    def _merge_function(self, inputs):
        return _core._merge(inputs, self._how)

    def call(self, inputs):
        if not isinstance(inputs, (list, tuple)):
            raise ValueError(f"A merge layer should be called on a list of inputs. Received: inputs={inputs} (not a "
                             "list of tensors)")
        return self._merge_function(_alike(inputs))

    def compute_output_shape(self, input_shape):
        batches = {tuple(s)[0] for s in input_shape} - {None}
        return (batches.pop() if len(batches) == 1 else None, *_broadcast([tuple(s)[1:] for s in input_shape]))

    def get_config(self):
        return super().get_config()

    def compute_mask(self, inputs, mask=None):
        given = [m for m in mask or () if m is not None]
        if len(given) < len(inputs):
            return None
        out = given[0]
        for m in given[1:]:
            out = tf.logical_and(out, m)
        return out


class Add(Merge):
    """The sum of the inputs."""
    _how = "sum"


class Subtract(Merge):
    """The first input minus the second."""
    _how = "difference"

    def build(self, input_shape):
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError(f"A `Subtract` layer should be called on exactly 2 inputs. Received: "
                             f"input_shape={input_shape}")


class Multiply(Merge):
    """The product of the inputs."""
    _how = "product"


class Average(Merge):
    """The mean of the inputs."""
    _how = "mean"


class Maximum(Merge):
    """The largest of the inputs, elementwise."""
    _how = "maximum"


class Minimum(Merge):
    """The smallest of the inputs, elementwise."""
    _how = "minimum"


class Concatenate(SeveralInputs):
    """The inputs one behind the other along an axis."""

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis
        self.supports_masking = True

    def build(self, input_shape):
        if len(input_shape) < 1 or not isinstance(input_shape[0], (tuple, list)):
            raise ValueError("A `Concatenate` layer should be called on a list of at least 1 input. Received: "
                             f"input_shape={input_shape}")
        rank = len(input_shape[0])
        for sizes in [list(s) for s in input_shape]:
            if len(sizes) != rank:
                raise ValueError("A `Concatenate` layer requires inputs with the same number of dimensions. Received: "
                                 f"input_shape={input_shape}")
        axis = self.axis % rank
        for i, sizes in enumerate(zip(*input_shape)):
            if i != axis and len(set(sizes) - {None}) > 1:
                raise ValueError("A `Concatenate` layer requires inputs with matching shapes except for the "
                                 f"concatenation axis. Received: input_shape={input_shape}")
        self.built = True

    def call(self, inputs):
        return tf.concat(_alike(inputs), self.axis)

    def compute_output_shape(self, input_shape):
        shape = [next((n for n in sizes if n is not None), None) for sizes in zip(*input_shape)]
        along = [s[self.axis] for s in input_shape]
        shape[self.axis] = None if None in along else sum(along)
        return tuple(shape)

    def compute_mask(self, inputs, mask=None):
        if mask is None or all(m is None for m in mask):
            return None
        filled = []
        for x, m in zip(inputs, mask):
            full = tf.ones_like(x, dtype="bool")
            if m is not None:
                while len(m.shape) < len(x.shape):
                    m = tf.expand_dims(m, -1)
                full = tf.logical_and(full, m)
            filled.append(full)
        return tf.reduce_all(tf.concat(filled, self.axis), -1)

    def get_config(self):
        return {**super().get_config(), "axis": self.axis}


class Dot(SeveralInputs):
    """Sums of products of two inputs along axes of theirs."""

    def __init__(self, axes, normalize=False, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(axes, int) and (not isinstance(axes, (list, tuple)) or len(axes) != 2):
            raise ValueError(f"Invalid type for argument `axes`: it should be a list or an int. Received: axes={axes}")
        self.axes, self.normalize = axes, normalize
        self.supports_masking = True

    def _pair(self, ranks):
        axes = (self.axes, self.axes) if isinstance(self.axes, int) else self.axes
        return [a % r for a, r in zip(axes, ranks)]

    def build(self, input_shape):
        if not isinstance(input_shape[0], (tuple, list)) or len(input_shape) != 2:
            raise ValueError(f"A `Dot` layer should be called on a list of 2 inputs. Received: "
                             f"input_shape={input_shape}")
        a, b = self._pair([len(s) for s in input_shape])
        x, y = input_shape[0][a], input_shape[1][b]
        if None not in (x, y) and x != y:
            raise ValueError(f"Incompatible input shapes: axis values {x} (at axis {a}) != {y} (at axis {b}). Full "
                             f"input shapes: {input_shape[0]}, {input_shape[1]}")
        self.built = True

    def call(self, inputs):
        x, y = inputs
        a, b = self._pair([len(x.shape), len(y.shape)])
        if self.normalize:
            x, y = tf.math.l2_normalize(x, a), tf.math.l2_normalize(y, b)
        first = ["n", *"abcdefg"[:len(x.shape) - 1]]
        second = ["n", *"opqrstu"[:len(y.shape) - 1]]
        first[a] = second[b] = "z"
        out = [c for c in first if c != "z"] + [c for c in second[1:] if c != "z"]
        z = tf.einsum(f"{''.join(first)},{''.join(second)}->{''.join(out)}", x, y)
        return tf.expand_dims(z, 1) if len(out) == 1 else z

    def compute_output_shape(self, input_shape):
        x, y = input_shape
        a, b = self._pair([len(x), len(y)])
        out = [n for i, n in enumerate(x) if i != a] + [n for i, n in enumerate(y) if i not in (0, b)]
        return (*out, 1) if len(out) == 1 else tuple(out)

    def compute_mask(self, inputs, mask=None):
        return None

    def get_config(self):
        return {**super().get_config(), "axes": self.axes, "normalize": self.normalize}


def _function(layer, doc):
    def call(inputs, **kwargs):
        return layer(**kwargs)(inputs)
    call.__name__ = call.__qualname__ = _state.to_snake_case(layer.__name__)
    call.__doc__ = doc
    return call


add = _function(Add, "The sum of the inputs, as a layer Add.")
subtract = _function(Subtract, "The first input minus the second, as a layer Subtract.")
multiply = _function(Multiply, "The product of the inputs, as a layer Multiply.")
average = _function(Average, "The mean of the inputs, as a layer Average.")
maximum = _function(Maximum, "The largest of the inputs, as a layer Maximum.")
minimum = _function(Minimum, "The smallest of the inputs, as a layer Minimum.")


def concatenate(inputs, axis=-1, **kwargs):
    """The inputs one behind the other, as a layer Concatenate."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs, axes=-1, **kwargs):
    """Sums of products of two inputs, as a layer Dot."""
    return Dot(axes=axes, **kwargs)(inputs)
