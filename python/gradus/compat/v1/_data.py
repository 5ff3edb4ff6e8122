"""tf.data in a graph: iterators whose next element is a set of tensors that each run brings.

The datasets are those of gradus.data, which compute at once. get_next() makes a placeholder for each tensor of an element; a
run that needs one takes the next element, once for all of them, and feeds it.
"""
import gradus as tf

from ... import _core, nest
from ..._effects import at_each_run
from ._graph import get_default_graph


class Iterator:
    """The elements of a dataset, one for each run that needs them."""

    def __init__(self, dataset, needs_initializer=False):
        self._dataset, self._elements = dataset, None
        self._needs_initializer, self._current = needs_initializer, (None, None)
        self._graph = get_default_graph()
        self._initializer = None

    output_types = property(lambda self: nest.map_structure(lambda s: s.dtype, self.element_spec))
    output_shapes = property(lambda self: nest.map_structure(lambda s: s.shape, self.element_spec))
    element_spec = property(lambda self: self._dataset.element_spec)

    @property
    def initializer(self):
        """The operation that goes back to the first element."""
        if not self._needs_initializer:
            raise ValueError("Iterator does not have an initializer.")
        if self._initializer is None:
            self._initializer = self.make_initializer(self._dataset)
        return self._initializer

    def make_initializer(self, dataset, name=None):
        """An operation after which the elements are those of a dataset."""
        def start():
            self._dataset, self._elements, self._current = dataset, iter(dataset), (None, None)
        graph = self._graph
        first = _core._program_size(graph._program)
        with graph.control_dependencies(None), graph.inside():
            at_each_run("MakeIterator", start, [])
        nodes = list(range(first, _core._program_size(graph._program)))
        return graph._record(graph.unique_name(name or "MakeIterator"), "MakeIterator", nodes, [])

    def get_next(self, name=None):
        """The tensors of the next element."""
        graph = get_default_graph()
        leaves = nest.flatten(self.element_spec)
        full = graph.unique_name(name or "IteratorGetNext")
        made = []
        for i, spec in enumerate(leaves):
            sizes = spec.shape.as_list() if spec.shape.rank is not None else None
            if sizes is None:
                raise NotImplementedError("elements of unknown rank are not covered")
            tensor = _core._program_placeholder(graph._program, spec.dtype, [-1 if s is None else s for s in sizes],
                                                f"{full}:{i}")
            made.append(tensor)
            graph._producers[f"{full}:{i}"] = (tensor, lambda run, i=i: self._leaf(run, i))
        graph._record(full, "IteratorGetNext", [], [_core._place(t)[1] for t in made], [])
        return nest.pack_sequence_as(self.element_spec, made)

    def _leaf(self, run, i):
        if self._current[0] is not run:
            if self._elements is None:
                if self._needs_initializer:
                    raise tf.errors.FailedPreconditionError(
                        None, None, "GetNext() failed because the iterator has not been initialized. Ensure that you have "
                        "run the initializer operation for this iterator before getting the next element.")
                self._elements = iter(self._dataset)
            try:
                element = next(self._elements)
            except StopIteration:
                raise tf.errors.OutOfRangeError(None, None, "End of sequence") from None
            self._current = (run, nest.flatten(element))
        return self._current[1][i]

    @classmethod
    def from_structure(cls, output_types, output_shapes=None, shared_name=None, output_classes=None):
        """An iterator for datasets of this kind, to be initialized with make_initializer."""
        shapes = output_shapes if output_shapes is not None else nest.map_structure(lambda _: None, output_types)
        types = nest.flatten(output_types)
        flat = list(shapes) if isinstance(output_types, (list, tuple)) else [shapes]
        specs = [tf.TensorSpec(s, t) for s, t in zip(flat, types)]

        class Kind:
            element_spec = nest.pack_sequence_as(output_types, specs)
        return cls(Kind(), True)


def make_one_shot_iterator(dataset):
    """An iterator that starts by itself."""
    return Iterator(dataset)


def make_initializable_iterator(dataset, shared_name=None):
    """An iterator whose initializer is to be run first."""
    return Iterator(dataset, True)


def publish(module):
    """Puts the iterators beside the datasets."""
    data = module("data")
    for name in dir(tf.data):
        if not name.startswith("_"):
            setattr(data, name, getattr(tf.data, name))
    data.Iterator, data.make_one_shot_iterator = Iterator, make_one_shot_iterator
    data.make_initializable_iterator = make_initializable_iterator
    tf.data.Dataset.make_one_shot_iterator = make_one_shot_iterator
    tf.data.Dataset.make_initializable_iterator = make_initializable_iterator
