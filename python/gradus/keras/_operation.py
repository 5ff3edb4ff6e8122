"""Symbolic tensors and the nodes that connect operations: the graph of a functional model.

An operation called with KerasTensors computes nothing: it works out the shapes and dtypes of what would come out and
notes a Node. Shapes are worked out by tracing the operation with unknown sizes as symbols.
"""
import collections
import inspect

import gradus as _tf

from .. import nest
from . import _state
from ._variable import standardize_dtype

_spec = _tf.TensorSpec


def _plain_shape(shape):
    if isinstance(shape, int):
        shape = (shape,)
    return tuple(None if s is None else int(s) for s in shape)


class KerasTensor:
    """A tensor of a model that is being described: a shape, a dtype, and which operation makes it."""

    __array_priority__ = 200

    def __init__(self, shape, dtype="float32", sparse=False, ragged=False, record_history=True, name=None, **_):
        if sparse and ragged:
            raise ValueError("KerasTensor cannot have `sparse=True` and `ragged=True` at the same time.")
        self._shape, self._dtype = _plain_shape(shape), standardize_dtype(dtype)
        self.name = name or _state.auto_name(type(self).__name__)
        self.sparse, self.ragged = bool(sparse), bool(ragged)
        self.record_history = record_history
        self._keras_mask = None

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)

    @property
    def ndim(self):
        return len(self._shape)

    def get_shape(self):
        return _tf.TensorShape(self._shape)

    def __gradus_tensor__(self):
        raise ValueError(
            "A KerasTensor cannot be used as input to a TensorFlow function. A KerasTensor is a symbolic placeholder "
            "for a "
            "shape and dtype, used when constructing Keras Functional models or Keras Functions. You can only use it "
            "as "
            "input to a Keras layer or a Keras operation (from the namespaces `keras.layers` and `keras.ops`). You are "
            "likely doing something like:\n\n```\nx = Input(...)\n...\ntf_fn(x)  # Invalid.\n```\n\nWhat you should do "
            "instead is wrap `tf_fn` in a layer:\n\n```\nclass MyLayer(Layer):\n    def call(self, x):\n"
            "        return tf_fn(x)\n\nx = MyLayer()(x)\n```\n")

    def __array__(self, *_, **__):
        raise ValueError("A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. It doesn't have any "
                         "actual numerical value. You cannot convert it to a NumPy array.")

    def __bool__(self):
        raise TypeError("A symbolic KerasTensor cannot be used as a boolean.")

    def __iter__(self):
        raise NotImplementedError("Iterating over a symbolic KerasTensor is not supported.")

    def __int__(self):
        raise ValueError("A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. It doesn't have any "
                         "actual numerical value. You cannot convert it to an int.")

    __index__ = __int__

    def __float__(self):
        raise ValueError("A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. It doesn't have any "
                         "actual numerical value. You cannot convert it to a float.")

    def __repr__(self):
        return (f"<KerasTensor shape={self._shape}, dtype={self._dtype}, sparse={self.sparse}, ragged={self.ragged}, "
                f"name={self.name}>")

    def __getitem__(self, key):
        return apply_symbolically(_get_item, self, key, class_name="GetItem")

    def reshape(self, newshape):
        return _operator_function("Reshape", _tf.reshape)(self, newshape)

    def squeeze(self, axis=None):
        return _operator_function("Squeeze", _tf.squeeze)(self, axis)


def _get_item(x, key):
    return x[key]


def _meet(a, b):
    """Both operands with one dtype: that of the tensor among them, the wider float of two."""
    if not _tf.is_tensor(a):
        return _tf.convert_to_tensor(a, b.dtype), b
    if not _tf.is_tensor(b):
        return a, _tf.convert_to_tensor(b, a.dtype)
    if a.dtype == b.dtype:
        return a, b
    from gradus.keras import backend
    kind = backend.result_type(a.dtype, b.dtype)
    return _tf.cast(a, kind), _tf.cast(b, kind)


def _operator_function(class_name, function):
    return lambda *args: apply_symbolically(function, *args, class_name=class_name)


def _binary(class_name, compute, swapped):
    def run(a, b):
        a, b = _meet(a, b)
        return compute(a, b)
    run.__name__ = class_name.lower()
    if swapped:
        return lambda self, other: apply_symbolically(run, other, self, class_name=class_name)
    return lambda self, other: apply_symbolically(run, self, other, class_name=class_name)


def _install_operators():
    import operator
    table = {"add": "Add", "sub": "Subtract", "mul": "Multiply", "truediv": "TrueDivide", "floordiv": "FloorDivide",
             "mod": "Mod", "pow": "Power", "matmul": "Matmul", "and": "LogicalAnd", "or": "LogicalOr",
             "xor": "LogicalXor"}
    for own, class_name in table.items():
        compute = getattr(operator, own + "_" if own in ("and", "or") else own)
        setattr(KerasTensor, f"__{own}__", _binary(class_name, compute, False))
        setattr(KerasTensor, f"__r{own}__", _binary(class_name, compute, True))
    for own, class_name in {"lt": "Less", "le": "LessEqual", "gt": "Greater", "ge": "GreaterEqual",
                            "ne": "NotEqual"}.items():
        setattr(KerasTensor, f"__{own}__", _binary(class_name, getattr(operator, own), False))
    for own, class_name in {"neg": "Negative", "abs": "Absolute", "invert": "LogicalNot"}.items():
        setattr(KerasTensor, f"__{own}__", lambda self, f=getattr(operator, own), c=class_name:
                apply_symbolically(f, self, class_name=c))


_install_operators()


def is_keras_tensor(x):
    """Whether x is a KerasTensor."""
    return isinstance(x, KerasTensor)


def any_symbolic_tensors(args=None, kwargs=None):
    """Whether a KerasTensor is anywhere in the arguments."""
    for part in (args or (), kwargs or ()):
        for leaf in nest.flatten(part):
            if isinstance(leaf, KerasTensor):
                return True
    return False


def compute_output_spec(function, *args, **kwargs):
    """The KerasTensors that function(*args, **kwargs) would give; it is traced with sizes that are None as symbols."""
    leaves = nest.flatten((args, kwargs))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, KerasTensor)]

    def run(*tensors):
        full = list(leaves)
        for i, tensor in zip(places, tensors):
            full[i] = tensor
        again_args, again_kwargs = nest.pack_sequence_as((args, kwargs), full)
        return function(*again_args, **again_kwargs)

    def traced(stand_in):
        return _tf.function(run)._prepare(*[_spec([stand_in if s is None else s for s in leaves[i].shape],
                                                  leaves[i].dtype)
                                            for i in places])
    try:
        result = traced(None)
    except Exception as error:
        if all(None not in leaves[i].shape for i in places):
            raise
        for pair in _STAND_INS:
            try:
                result = _in_common(*map(traced, pair))
                break
            except Exception:  # noqa: BLE001, S112
                continue
        else:
            raise error from None
    return nest.map_structure(lambda s: KerasTensor(s.shape, s.dtype.name) if isinstance(s, _spec) else s, result)


# Pairs of sizes for those that are unknown: what differs between their traces is unknown. Some layers want large ones,
# others have a largest one.
_STAND_INS = ((83, 89), (13, 11), (5, 7), (2, 3))


def _in_common(a, b):
    def one(x, y):
        if not isinstance(x, _spec):
            return x
        return _spec([m if m == n else None for m, n in zip(x.shape.as_list(), y.shape.as_list())], x.dtype)
    return nest.map_structure(one, a, b)


History = collections.namedtuple("History", "operation node_index tensor_index")


class Node:
    """One call of an operation on KerasTensors."""

    def __init__(self, operation, args, kwargs, outputs):
        self.operation, self.args, self.kwargs = operation, args, kwargs
        self.inputs = [leaf for leaf in nest.flatten((args, kwargs)) if isinstance(leaf, KerasTensor)]
        self.outputs = nest.flatten(outputs)
        self.is_input = not self.inputs
        self.index = len(operation._inbound_nodes)
        operation._inbound_nodes.append(self)
        for x in self.inputs:
            if not hasattr(x, "_keras_history"):
                raise ValueError(f"Not all the inputs of operation {operation.name} are in the graph: {x}")
            x._keras_history[0]._outbound_nodes.append(self)
        for i, y in enumerate(self.outputs):
            if isinstance(y, KerasTensor):
                y._keras_history = History(operation, self.index, i)

    @property
    def parent_nodes(self):
        """The nodes that make the inputs."""
        return [x._keras_history[0]._inbound_nodes[x._keras_history[1]] for x in self.inputs]


class Operation:
    """What can be a part of a functional model."""

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls)
        object.__setattr__(self, "_given", (args, kwargs))
        return self

    def __init__(self, name=None):
        if name is None:
            name = _state.auto_name(type(self).__name__)
        if not isinstance(name, str) or "/" in name:
            raise ValueError("Argument `name` must be a string and cannot contain character `/`. Received: "
                             f"name={name} (of type {type(name)})")
        self.name = name
        self._inbound_nodes, self._outbound_nodes = [], []

    def __call__(self, *args, **kwargs):
        if any_symbolic_tensors(args, kwargs):
            return self.symbolic_call(*args, **kwargs)
        return self.call(*args, **kwargs)

    def symbolic_call(self, *args, **kwargs):
        """Notes a node and gives its outputs."""
        outputs = self.compute_output_spec(*args, **kwargs)
        Node(self, args, kwargs, outputs)
        return outputs

    def call(self, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no method call()")

    def compute_output_spec(self, *args, **kwargs):
        """KerasTensors like what call would give."""
        return compute_output_spec(self.call, *args, **kwargs)

    def get_config(self):
        """What from_config needs to make an operation like this one: the arguments of its making, if they are
        simple."""
        args, kwargs = self._given
        config = _auto_config(type(self), args, kwargs)
        if config is None:
            raise NotImplementedError(
                f"\nObject {type(self).__name__} was created by passing\nnon-serializable argument values in "
                f"`__init__()`,\nand therefore the object must override `get_config()` in\norder to be serializable. "
                f"Please implement `get_config()`.\n\nExample:\n\nclass CustomLayer(keras.layers.Layer):\n"
                f"    def __init__(self, arg1, arg2, **kwargs):\n        super().__init__(**kwargs)\n"
                f"        self.arg1 = arg1\n        self.arg2 = arg2\n\n    def get_config(self):\n"
                f"        config = super().get_config()\n        config.update({{\n            \"arg1\": self.arg1,\n"
                f"            \"arg2\": self.arg2,\n        }})\n        return config\n")
        config.setdefault("name", self.name)
        return config

    @classmethod
    def from_config(cls, config):
        """An operation like the one that gave the config."""
        config = dict(config)
        if isinstance(config.get("dtype"), dict):
            from . import dtype_policies
            config["dtype"] = dtype_policies.deserialize(config["dtype"])
        try:
            return cls(**config)
        except Exception as error:
            raise TypeError(f"Error when deserializing class '{cls.__name__}' using config={config}.\n\n"
                            f"Exception encountered: {error}") from error

    def _symbolic(self, what):
        if not self._inbound_nodes:
            raise AttributeError(f"The layer {self.name} has never been called and thus has no defined {what}.")
        node = self._inbound_nodes[0]
        found = node.inputs if what == "input" else node.outputs
        return found[0] if len(found) == 1 else list(found)

    @property
    def input(self):
        """The symbolic input of the first call."""
        return self._symbolic("input")

    @property
    def output(self):
        """The symbolic output of the first call."""
        return self._symbolic("output")


def _auto_config(cls, args, kwargs):
    try:
        bound = inspect.signature(cls.__init__).bind(None, *args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    config = {}
    for (name, value), parameter in zip(list(bound.arguments.items())[1:],
                                        [bound.signature.parameters[n] for n in list(bound.arguments)[1:]]):
        if parameter.kind is parameter.VAR_KEYWORD:
            config.update(value)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            if value:
                return None
        else:
            config[name] = value
    if all(_is_simple(v) for v in config.values()):
        return config
    return None


def _is_simple(value):
    if isinstance(value, (list, tuple)):
        return all(map(_is_simple, value))
    if isinstance(value, dict):
        return all(map(_is_simple, value.values()))
    return value is None or isinstance(value, (bool, int, float, str))


# Parameters of functions that take tensors, or numbers in their place. The others are settings of an operation, as in Keras:
# mean(x, axis=1) is the operation Mean(axis=1) on x.
_TENSORS = frozenset("x x1 x2 y a b v xs inputs indices condition values data target output key mask constant_values updates "
                     "args operands query value bias start_indices".split())


def _signature(function):
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _without_settings(function, args, kwargs):
    """(args, kwargs, settings): what goes through the graph, and what belongs to the operation."""
    parameters = _signature(function)
    names = [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    rest = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
    if not names or len(args) > len(names) and not rest or any(n not in parameters for n in kwargs):
        return args, kwargs, {}
    kept, settings = [], {}
    for i, value in enumerate(args):
        if i < len(names) and names[i] not in _TENSORS and not any_symbolic_tensors((value,)):
            settings[names[i]] = value
        elif i < len(names) and settings and not rest:
            return args, kwargs, {}  # a tensor behind a setting: left as it is
        else:
            kept.append(value)
    for name in [n for n in kwargs if n not in _TENSORS and not any_symbolic_tensors((kwargs[n],))]:
        settings[name] = kwargs[name]
    return tuple(kept), {n: v for n, v in kwargs.items() if n not in settings}, settings


class FunctionOperation(Operation):
    """A function of tensors as an operation."""

    _function = None

    def __init__(self, name=None, **settings):
        super().__init__(name)
        self._settings = settings

    def call(self, *args, **kwargs):
        function = type(self)._function
        leading, left = [], dict(self._settings)
        for name in _signature(function):  # settings that stand before the tensors, as in einsum
            if name not in left:
                break
            leading.append(left.pop(name))
        return function(*leading, *args, **left, **kwargs)

    def get_config(self):
        return {"name": self.name, **self._settings}


_function_classes = {}


def operation_class(function, class_name=None):
    """The class of operations that apply the function; its name is the function's in camel case."""
    key = (function, class_name)
    if key not in _function_classes:
        name = class_name or "".join(part.capitalize() for part in function.__name__.split("_"))
        _function_classes[key] = type(name, (FunctionOperation,), {"_function": staticmethod(function),
                                                                   "__module__": "gradus.keras.ops"})
    return _function_classes[key]


def apply_symbolically(function, *args, class_name=None, **kwargs):
    """function(*args, **kwargs), also on KerasTensors, where it becomes a node of the model.

    keras.ops are made with it: `if any_symbolic_tensors(args): return apply_symbolically(f, *args)`.
    """
    if any_symbolic_tensors(args, kwargs):
        args, kwargs, settings = _without_settings(function, args, kwargs)
        return operation_class(function, class_name)(**settings).symbolic_call(*args, **kwargs)
    return function(*args, **kwargs)


def operation_named(class_name):
    """The class of an operation that a config names, of those that keras.ops or the operators make; None if unknown."""
    for (_, _), cls in _function_classes.items():
        if cls.__name__ == class_name:
            return cls
    from . import ops
    name = _state.to_snake_case(class_name)
    function = getattr(ops, name, None)
    return None if function is None else operation_class(function, class_name)
