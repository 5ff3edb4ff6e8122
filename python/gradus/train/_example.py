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


def _printed(value):
    """A value as protocol buffers print it: bytes in quotes, with what is not ASCII in octal."""
    if isinstance(value, float):
        return np.format_float_positional(np.float32(value), trim="0") if 1e-4 <= abs(value) < 1e7 else f"{value:g}"
    if isinstance(value, int):
        return str(value)
    known = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}
    return '"' + "".join(known.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in value) + '"'


def _written_map(entries):
    return b"".join(pb.message(1, pb.message(1, name) + pb.message(2, value._written()))
                    for name, value in sorted(entries.items()))


def _read_map(data, kind):
    """The entries, name and value, of a message that is a dict."""
    made = {}
    for number, _, entry in pb.fields(data):
        if number == 1:
            parts = {n: v for n, _, v in pb.fields(entry)}
            made[parts.get(1, b"").decode()] = kind._read(parts.get(2, b""))
    return made


class FeatureList:
    """Features one after the other, e.g. one for each time."""

    def __init__(self, feature=()):
        self.feature = list(feature)

    def _written(self):
        return b"".join(pb.message(1, feature._written()) for feature in self.feature)

    @classmethod
    def _read(cls, data):
        return cls([Feature._read(value) for number, _, value in pb.fields(data) if number == 1])


class FeatureLists:
    """Lists of features by name."""

    def __init__(self, feature_list=None):
        self.feature_list = dict(feature_list or {})


class SequenceExample:
    """A record with features of its own (context) and lists of features."""

    def __init__(self, context=None, feature_lists=None):
        self.context, self.feature_lists = context or Features(), feature_lists or FeatureLists()

    def SerializeToString(self, deterministic=True):  # noqa: N802
        """The bytes of the record."""
        return (pb.message(1, _written_map(self.context.feature))
                + pb.message(2, _written_map(self.feature_lists.feature_list)))

    @classmethod
    def FromString(cls, data):  # noqa: N802
        """The record of some bytes; DataLossError if they are none."""
        made = cls()
        for number, _, content in pb.fields(data):
            if number == 1:
                made.context.feature.update(_read_map(content, Feature))
            elif number == 2:
                made.feature_lists.feature_list.update(_read_map(content, FeatureList))
        return made


class Example:
    """A record."""

    def __init__(self, features=None):
        self.features = features or Features()

    def SerializeToString(self, deterministic=True):  # noqa: N802
        """The bytes of the record."""
        return pb.message(1, _written_map(self.features.feature))

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
            if number == 1:
                made.features.feature.update(_read_map(content, Feature))
        return made

    def __eq__(self, other):
        return isinstance(other, Example) and self.features.feature == other.features.feature

    __hash__ = None

    def __repr__(self):
        """As protocol buffers are printed, sorted by name."""
        text = "features {\n"
        for name, feature in sorted(self.features.feature.items()):
            text += f'  feature {{\n    key: "{name}"\n    value {{\n'
            if feature.WhichOneof() is not None:
                text += f"      {feature.WhichOneof()} {{\n"
                text += "".join(f"        value: {_printed(v)}\n" for v in feature._list.value)
                text += "      }\n"
            text += "    }\n  }\n"
        return text + "}\n"

    def ParseFromString(self, data):  # noqa: N802
        """Takes what the bytes say."""
        self.features = Example.FromString(data).features
        return len(data)
