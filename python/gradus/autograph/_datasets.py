"""for x in dataset, and next(iterator), inside a program: calls of Python fetch the elements (gradus/host_call.h)."""
import itertools

from .. import _core, nest
from ._branches import tf


def is_dataset(value):
    """Whether it says what its elements are like and makes iterators."""
    return hasattr(value, "element_spec") and hasattr(value, "__iter__")


def _leaf_specs(value):
    """What the program fetches. Elements of various sizes (batch without drop_remainder) make it run as Python."""
    specs = nest.flatten(value.element_spec)
    for spec in specs:
        shape = getattr(spec, "shape", None)
        if shape is None or not shape.is_fully_defined():
            from .._function import MustRunEagerly
            raise MustRunEagerly(f"a loop inside a program needs elements of known sizes, but there is {spec!r}")
    return specs


class Elements:
    """The elements of a dataset, from the first on at each run of the program."""

    _numbers = itertools.count()

    def __init__(self, dataset):
        self._dataset, self._specs, self._open = dataset, _leaf_specs(dataset), {}

    def begin(self):
        """(a handle, whether there is an element, its tensors)"""
        handle, = _core._host_call("dataset", self._begin, [], [(tf().int64, [])], None, True, False)
        return [handle, *self.next(handle)]

    def next(self, handle):
        results = [(tf().bool, [])] + [(s.dtype, s.shape) for s in self._specs]
        return _core._host_call("next element", self._next, [handle], results, None, True, False)

    def end(self, handle):
        """Forgets an iterator that a break left behind."""
        def forget(tensors):
            self._open.pop(int(tensors[0]), None)
            return []
        _core._host_call("end of dataset", forget, [handle], [], None, True)

    def packed(self, leaves):
        return nest.pack_sequence_as(self._dataset.element_spec, list(leaves))

    def _begin(self, _):
        number = next(self._numbers)
        self._open[number] = iter(self._dataset)
        return [tf().constant(number, tf().int64)]

    def _next(self, tensors):
        number = int(tensors[0])
        try:
            element = next(self._open[number])
        except StopIteration:
            del self._open[number]
            return [tf().constant(False)] + [tf().zeros(s.shape, s.dtype) for s in self._specs]
        return [tf().constant(True)] + [tf().convert_to_tensor(t) for t in nest.flatten(element)]


def next_element(iterator):
    """next(iterator) at each run; OutOfRangeError at the end."""
    specs = _leaf_specs(iterator)

    def run(_):
        try:
            element = next(iterator)
        except StopIteration:
            raise tf().errors.OutOfRangeError(None, None, "End of sequence") from None
        return [tf().convert_to_tensor(t) for t in nest.flatten(element)]
    leaves = _core._host_call("next element", run, [], [(s.dtype, s.shape) for s in specs], None, True, False)
    return nest.pack_sequence_as(iterator.element_spec, leaves)
