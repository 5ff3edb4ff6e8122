"""while and for: loops of Python, or loops of the program where a tensor decides or is gone over."""
from .. import _core, nest
from ._branches import (as_test, check_test, if_stmt, is_tensor_like, is_traced, no_value, same_value, settled, tf, undefined)
from ._builtins import stream_of


def options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None):
    """What tf.autograph.experimental.set_loop_options was given."""
    return {"maximum_iterations": maximum_iterations, "shape_invariants": shape_invariants or ()}


def while_stmt(test, body, get, put, names, hard, soft, given=None):
    """Repeats body() while test() holds."""
    while True:
        answer = as_test(test())
        if isinstance(answer, _core.Tensor) and _core._is_tracing():
            check_test(answer, "while loop")
            _Loop(get, put, names, hard, soft, given or {}).run(test, body)
            return
        if not answer:
            return
        body()


def for_stmt(iterable, body, go_on, get, put, names, hard, soft, given=None):
    """body(item) for each item, as long as go_on() holds."""
    stream = stream_of(iterable) if _core._is_tracing() else None
    if stream is not None:
        _Loop(get, put, names, hard, soft, given or {}).run_stream(stream, body, go_on)
        return
    for item in iterable:
        more = True if go_on is None else go_on()
        if is_traced(more):  # a tensor decides whether this turn happens
            if_stmt(more, lambda: body(item), lambda: None, get, put, names, hard, soft, True)  # noqa: B023
            continue
        if not more:
            break
        body(item)


class _Loop:
    """A loop of the program: the variables that it carries, taken apart into tensors."""

    def __init__(self, get, put, names, hard, soft, given):
        self.get, self.put, self.names, self.given = get, put, names, given
        self.before = get()
        kept = hard + soft
        self.carried = [i for i in range(kept) if i < hard or self.before[i] is not undefined]

    def run(self, test, body):
        self._prepare(body)
        maximum = self.given.get("maximum_iterations")

        def loop_test(*tensors):
            self._enter(tensors)
            return as_test(test())

        def loop_body(*tensors):
            self._enter(tensors)
            body()
            return self._leave()

        try:
            self._finish(tf().while_loop(loop_test, loop_body, self.tensors, maximum_iterations=maximum))
        except BaseException:
            self.put(self.before)
            raise

    def run_stream(self, stream, body, go_on):
        start = tf().constant(0)
        self._prepare(lambda: body(stream.item(start)))
        maximum = self.given.get("maximum_iterations")

        def loop_test(i, *tensors):
            self._enter(tensors)
            more = i < stream.size
            if go_on is None:
                return more
            from ._expressions import and_
            return and_(as_test(go_on()), lambda: more)

        def loop_body(i, *tensors):
            self._enter(tensors)
            body(stream.item(i))
            return [i + 1] + self._leave()

        try:
            self._finish(tf().while_loop(loop_test, loop_body, [start] + self.tensors, maximum_iterations=maximum)[1:])
        except BaseException:
            self.put(self.before)
            raise

    def _prepare(self, once):
        """The tensors that go around. What has no value before the loop gets one of the kind that a turn gives it."""
        self.initial = list(self.before)
        late = [i for i in self.carried if self.before[i] is undefined or self.before[i] is no_value or self.before[i] is None]
        if late:
            self._probe(late, once)
        self.places, self.tensors = {}, []
        for i in self.carried:
            leaves = nest.flatten(self.initial[i])
            self.places[i] = []
            for leaf in leaves:
                if is_tensor_like(leaf) and not isinstance(leaf, _core.Variable):
                    self.places[i].append(len(self.tensors))
                    self.tensors.append(tf().convert_to_tensor(leaf))
                else:
                    self.places[i].append(None)

    def _probe(self, late, once):
        found = []

        def run():
            self.put(self.before)
            once()
            found.append(tuple(map(settled, self.get(), self.before)))
        _core._trace_branch(tf().constant(True), run)
        self.put(self.before)
        for i in late:
            value = found[0][i]
            if value is undefined or value is no_value or value is None:
                self.carried.remove(i)
                continue
            self.initial[i] = nest.map_structure(self._zeros, value)

    @staticmethod
    def _zeros(leaf):
        if not is_tensor_like(leaf):
            return leaf
        leaf = tf().convert_to_tensor(leaf)
        return tf().zeros(leaf.shape, leaf.dtype)

    def _enter(self, tensors):
        """Puts what goes around into the variables."""
        state = list(self.before)
        for i in self.carried:
            leaves = nest.flatten(self.initial[i])
            filled = [leaf if at is None else tensors[at] for leaf, at in zip(leaves, self.places[i])]
            state[i] = nest.pack_sequence_as(self.initial[i], filled)
        self.put(tuple(state))

    def _leave(self):
        """Takes them out again, after one turn."""
        state = self.get()
        out = [None] * len(self.tensors)
        for i in self.carried:
            name = "the return value" if self.names[i] == "ag__value" else f"'{self.names[i]}'"
            value = settled(state[i], None)
            if value is undefined or value is no_value:
                raise ValueError(f"{name} must also have a value at the end of the loop's body")
            try:
                nest.assert_same_structure(self.initial[i], value)
            except (TypeError, ValueError) as e:
                raise TypeError(f"{name} does not have the same nested structure after one iteration.\n\n{e}") from None
            for before, after, at in zip(nest.flatten(self.initial[i]), nest.flatten(value), self.places[i]):
                if at is not None:
                    out[at] = self._checked(name, self.tensors[at], after)
                elif not same_value(before, after):
                    raise TypeError(f"{name} is {before!r} before the loop and {after!r} after one iteration; a loop of the "
                                    "program carries tensors")
        return out

    @staticmethod
    def _checked(name, before, after):
        if not is_tensor_like(after):
            raise TypeError(f"{name} is a tensor before the loop and {after!r} after one iteration")
        after = tf().convert_to_tensor(after)
        if before.dtype != after.dtype:
            raise TypeError(f"{name} has dtype {before.dtype.name} before the loop, but dtype {after.dtype.name} after one "
                            "iteration")
        if not before.shape.is_compatible_with(after.shape):
            raise ValueError(f"{name} has shape {before.shape} before the loop, but shape {after.shape} after one iteration. "
                             "Use tf.autograph.experimental.set_loop_options to set shape invariants.")
        return after

    def _finish(self, tensors):
        self._enter(tensors)
        state = list(self.get())
        kept = set(self.carried)
        for i in range(len(state)):
            if i not in kept:
                state[i] = undefined
        self.put(tuple(state))
