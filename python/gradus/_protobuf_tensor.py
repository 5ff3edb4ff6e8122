"""Tensors as protocol buffers (TensorProto): tf.io.serialize_tensor, parse_tensor, tf.make_tensor_proto."""
import sys

import numpy as np

from . import _protobuf as pb


def _tf():
    return sys.modules["gradus"]


class TensorProto:
    """A tensor as bytes; SerializeToString gives them."""

    def __init__(self, array, dtype):
        self._array, self.dtype = array, dtype.as_datatype_enum
        self._name = dtype.name

    def SerializeToString(self):  # noqa: N802
        """The bytes of the message."""
        shape = b"".join(pb.message(2, pb.integer(1, size)) for size in self._array.shape)
        made = pb.integer(1, self.dtype) + pb.message(2, shape)
        if self._name == "string":
            return made + b"".join(pb.message(8, value) for value in self._array.ravel())
        return made + pb.message(4, np.ascontiguousarray(self._array).tobytes())


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """A TensorProto of values. A shape with more elements repeats the last one."""
    tensor = _tf().constant(values, dtype)
    array = np.asarray(tensor.numpy(), object if tensor.dtype.name == "string" else None)
    if shape is not None:
        sizes = tuple(int(s) for s in shape)
        count = int(np.prod(sizes))
        if verify_shape and array.shape != sizes:
            raise TypeError(f"Expected Tensor's shape: {sizes}, but got {array.shape}.")
        if allow_broadcast and array.shape not in ((), (1,)) and array.size != count:
            raise TypeError(f"Expected Tensor's shape: {sizes}, but got {array.shape}.")
        if array.size > count or (array.size == 0 and count):
            raise ValueError(f"Elements do not fit the shape: {array.size} for {sizes}")
        array = np.concatenate([array.ravel(), np.repeat(array.ravel()[-1:], count - array.size)]).reshape(sizes)
    return TensorProto(array, tensor.dtype)


def make_ndarray(tensor):
    """The NumPy array of a TensorProto."""
    return tensor._array


def serialize_tensor(tensor, name=None):
    """A tensor as a string, which parse_tensor reads."""
    from ._strings import StringTensor
    return StringTensor(make_tensor_proto(tensor).SerializeToString())


def _name_of(number):
    """The name of the dtype that a TensorProto has this number for."""
    tf = _tf()
    names = ("bool", "int32", "int64", "uint8", "float16", "float32", "float64", "string")
    return next((name for name in names if getattr(tf, name).as_datatype_enum == number), f"number {number}")


def parse_tensor(serialized, out_type, name=None):
    """The tensor of a string that serialize_tensor made."""
    tf = _tf()
    data = serialized.numpy() if hasattr(serialized, "numpy") else serialized
    kinds, sizes, content, strings = 0, [], b"", []
    for field, _, value in pb.fields(data):
        if field == 1:
            kinds = value
        elif field == 2:
            for number, _, dim in pb.fields(value):
                if number == 2:
                    sizes.append(next((v for n, _, v in pb.fields(dim) if n == 1), 0))
        elif field == 4:
            content = value
        elif field == 8:
            strings.append(bytes(value))
    out_type = tf.as_dtype(out_type)
    if kinds != out_type.as_datatype_enum:
        raise tf.errors.InvalidArgumentError(
            None, None, f"Type mismatch between parsed tensor ({_name_of(kinds)}) and dtype ({out_type.name})")
    if out_type.name == "string":
        array = np.empty(len(strings), object)
        array[:] = strings
        return tf.constant(array.reshape(sizes))
    return tf.constant(np.frombuffer(content, out_type.as_numpy_dtype).reshape(sizes))
