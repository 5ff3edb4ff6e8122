"""tf.train.Example: records of named lists of bytes, floats or integers, as TFRecord files hold them."""
import struct

import numpy as np

from .. import _protobuf as pb
from .. import errors


class _List:
    """Values of one kind."""

    def __init__(self, value=()):
        self.value = [self._checked(v) for v in (value.ravel().tolist() if isinstance(value, np.ndarray) else value)]

    def __eq__(self, other):
        return type(self) is type(other) and self.value == other.value

    __hash__ = None

    def __repr__(self):
        return "".join(f"value: {v!r}\n" for v in self.value)


class BytesList(_List):
    @staticmethod
    def _checked(value):
        value = value.numpy() if hasattr(value, "numpy") else value
        if not isinstance(value, bytes):
            raise TypeError(f"{value!r} has type {type(value).__name__}, but expected one of: bytes")
        return value

    def _written(self):
        return b"".join(pb.message(1, v) for v in self.value)

    @classmethod
    def _read(cls, data):
        return cls([value for number, kind, value in pb.fields(data) if number == 1 and kind == pb.BYTES])


class FloatList(_List):
    _checked = staticmethod(float)

    def _written(self):
        return pb.message(1, np.asarray(self.value, "<f4").tobytes()) if self.value else b""

    @classmethod
    def _read(cls, data):
        made = cls()
        for number, kind, value in pb.fields(data):
            if number == 1 and kind == pb.BYTES and len(value) % 4 == 0:
                made.value += np.frombuffer(value, "<f4").tolist()
            elif number == 1 and kind == pb.FIXED32:
                made.value.append(struct.unpack("<f", value)[0])
        return made


class Int64List(_List):
    @staticmethod
    def _checked(value):
        if isinstance(value, float):
            raise TypeError(f"{value!r} has type float, but expected one of: int")
        return int(value)

    def _written(self):
        return pb.message(1, b"".join(map(pb.varint, self.value))) if self.value else b""

    @classmethod
    def _read(cls, data):
        made = cls()
        for number, kind, value in pb.fields(data):
            if number != 1:
                continue
            numbers = [value] if kind == pb.VARINT else []
            at = 0
            while kind == pb.BYTES and at < len(value):
                one, at = pb.read_varint(value, at)
                numbers.append(one)
            made.value += [n - 2 ** 64 if n >= 2 ** 63 else n for n in numbers]
        return made


_KINDS = {"bytes_list": (1, BytesList), "float_list": (2, FloatList), "int64_list": (3, Int64List)}


class Feature:
    """One of the three lists."""

    def __init__(self, bytes_list=None, float_list=None, int64_list=None):
        given = {"bytes_list": bytes_list, "float_list": float_list, "int64_list": int64_list}
        self._kind = next((name for name, value in given.items() if value is not None), None)
        self._list = given.get(self._kind)

    bytes_list = property(lambda self: self._of("bytes_list"))
    float_list = property(lambda self: self._of("float_list"))
    int64_list = property(lambda self: self._of("int64_list"))

    def _of(self, name):
        return self._list if self._kind == name else _KINDS[name][1]()

    def WhichOneof(self, _="kind"):  # noqa: N802
        return self._kind

    def _written(self):
        return b"" if self._kind is None else pb.message(_KINDS[self._kind][0], self._list._written())

    @classmethod
    def _read(cls, data):
        made = cls()
        for number, _, value in pb.fields(data):
            for name, (own, kind) in _KINDS.items():
                if number == own:
                    made._kind, made._list = name, kind._read(value)
        return made

    def __eq__(self, other):
        return isinstance(other, Feature) and (self._kind, self._list) == (other._kind, other._list)

    __hash__ = None


class Features:
    """Features by name."""

    def __init__(self, feature=None):
        self.feature = dict(feature or {})


class Example:
    """A record."""

    def __init__(self, features=None):
        self.features = features or Features()

    def SerializeToString(self, deterministic=True):  # noqa: N802
        """The bytes of the record."""
        entries = (pb.message(1, pb.message(1, name) + pb.message(2, feature._written()))
                   for name, feature in sorted(self.features.feature.items()))
        return pb.message(1, b"".join(entries))

    @classmethod
    def FromString(cls, data):  # noqa: N802
        """The record of some bytes; DataLossError if they are none."""
        try:
            return cls._read(data)
        except (TypeError, AttributeError, ValueError, struct.error) as error:
            raise errors.DataLossError(None, None, f"Error parsing message as an Example: {error}") from None

    @classmethod
    def _read(cls, data):
        made = cls()
        for number, _, content in pb.fields(data):
            if number != 1:
                continue
            for inner, _, entry in pb.fields(content):
                if inner == 1:
                    parts = {n: v for n, _, v in pb.fields(entry)}
                    made.features.feature[parts.get(1, b"").decode()] = Feature._read(parts.get(2, b""))
        return made

    def ParseFromString(self, data):  # noqa: N802
        """Takes what the bytes say."""
        self.features = Example.FromString(data).features
        return len(data)
