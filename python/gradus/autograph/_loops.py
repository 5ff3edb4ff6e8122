"""while and for: loops of Python, or loops of the program where a tensor decides or is gone over."""
from .. import _core, nest
from .._effects import waiting_effects
from .._tensor_array import TensorArray
from ._branches import (as_test, check_test, if_stmt, is_tensor_like, is_traced, no_value, placeholder, same_value, tf,
                        undefined)
from ._builtins import stream_of
from ._datasets import Elements, is_dataset
from ._expressions import and_


def options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None):
    """What tf.autograph.experimental.set_loop_options was given."""
    return {"maximum_iterations": maximum_iterations, "shape_invariants": shape_invariants or ()}


def while_stmt(test, body, get, put, names, hard, soft, given=None):
    """Repeats body() while test() holds."""
    while True:
        with waiting_effects() as effects:
            answer = as_test(test())
        if isinstance(answer, _core.Tensor) and _core._is_tracing():
            check_test(answer, "while loop")
            _Loop(get, put, names, hard, soft, given or {}).run(test, body)
            return
        effects.happen()
        if not answer:
            return
        body()


def for_stmt(iterable, body, go_on, get, put, names, hard, soft, given=None):
    """body(item) for each item, as long as go_on() holds."""
    if _core._is_tracing():
        stream = stream_of(iterable)
        if stream is not None:
            _Loop(get, put, names, hard, soft, given or {}).run_stream(stream, body, go_on)
            return
        if is_dataset(iterable):
            _Loop(get, put, names, hard, soft, given or {}).run_elements(Elements(iterable), body, go_on)
            return
    for item in iterable:
        more = True if go_on is None else go_on()
        if is_traced(more):  # a tensor decides whether this turn happens
            if_stmt(more, lambda: body(item), lambda: None, get, put, names, hard, soft, True)  # noqa: B023
            continue
        if not more:
            break
        body(item)


def _and(go_on, more):
    return more if go_on is None else and_(as_test(go_on()), lambda: more)


def _is_missing(value):
    return value is undefined or value is no_value or value is None


class _Probed(Exception):
    """One turn was traced, to see what it gives to variables that have no value before the loop."""


class _Loop:
    """A loop of the program: the variables that it carries, taken apart into tensors."""

    def __init__(self, get, put, names, hard, soft, given):
        self.get, self.put, self.names, self.given = get, put, names, given
        self.before = get()
        self.initial = list(self.before)
        self.kept = hard + soft
        kept = [i for i in range(self.kept) if i < hard or self.before[i] is not undefined]
        self.late = [i for i in kept if _is_missing(self.before[i])]
        self.carried = [i for i in kept if i not in self.late]

    def run(self, test, body):
        self._loop(lambda _: as_test(test()), lambda _: body())

    def run_stream(self, stream, body, go_on):
        self._loop(lambda i: _and(go_on, i < stream.size), lambda i: body(stream.item(i)))

    def run_elements(self, elements, body, go_on):
        def turn(_, handle, more, *leaves):
            body(elements.packed(leaves))
            return handle, *elements.next(handle)
        handle, *_ = self._loop(lambda _, handle, more, *leaves: _and(go_on, more), turn, elements.begin())
        elements.end(handle)

    def _loop(self, test, body, own=()):
        """test(i, *own) and body(i, *own) with the number of the turn and tensors that the loop itself carries, of
        which body returns the next; the variables are put in place around them."""
        try:
            self._take_apart()
            if self.late:
                self._probe(body, own)
                self._take_apart()
            count = 1 + len(own)

            def loop_test(*tensors):
                self._enter(tensors[count:])
                return test(*tensors[:count])

            def loop_body(*tensors):
                self._enter(tensors[count:])
                following = body(*tensors[:count])
                return [tensors[0] + 1, *(following or ()), *self._leave()]

            state = [tf().constant(0), *own, *self.tensors]
            turns, *tensors = tf().while_loop(loop_test, loop_body, state, self._invariants(own),
                                              maximum_iterations=self.given.get("maximum_iterations"))
            self._finish(turns, tensors[count - 1:])
            return tensors[:count - 1]
        except BaseException:
            self.put(self.before)
            raise

    def _invariants(self, own):
        """The shapes that set_loop_options allows, by tensor; the others keep theirs."""
        if not self.given.get("shape_invariants"):
            return None
        shapes = [tf().TensorShape([]), *(t.shape for t in own)]
        for t in self.tensors:
            given = [shape for value, shape in self.given["shape_invariants"] if value is t]
            kept = None if isinstance(t, TensorArray) else t.shape
            shapes.append(tf().TensorShape(given[0] if given else kept))
        return shapes

    def _take_apart(self):
        self.places, self.tensors = {}, []
        for i in self.carried:
            self.places[i] = []
            for leaf in nest.flatten(self.initial[i]):
                at = None
                if is_tensor_like(leaf) or isinstance(leaf, TensorArray):
                    at = len(self.tensors)
                    self.tensors.append(leaf if isinstance(leaf, TensorArray) else tf().convert_to_tensor(leaf))
                self.places[i].append(at)

    def _probe(self, body, own):
        """Late variables begin as zeros of the kind that one turn gives them; who gets nothing is not carried."""
        found = []

        def once(*tensors):
            self._enter(tensors[1 + len(own):])
            body(*tensors[:1 + len(own)])
            found.extend(self.get())
            raise _Probed
        try:
            tf().while_loop(lambda *_: tf().constant(True), once, [tf().constant(0), *own, *self.tensors])
        except _Probed:
            pass
        late, self.late = self.late, []
        for i in late:
            if _is_missing(found[i]):
                continue
            self.late.append(i)
            self.initial[i] = placeholder(found[i])
        self.carried = sorted(self.carried + self.late)

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
            value = state[i]
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
                    raise TypeError(f"{name} is {before!r} before the loop and {after!r} after one iteration; a loop "
                                    "of the program carries tensors")
        return out

    def _checked(self, name, before, after):
        if isinstance(before, TensorArray) and isinstance(after, TensorArray):
            return after
        if not is_tensor_like(after):
            raise TypeError(f"{name} is a tensor before the loop and {after!r} after one iteration")
        after = tf().convert_to_tensor(after)
        if before.dtype != after.dtype:
            raise TypeError(f"{name} has dtype {before.dtype.name} before the loop, but dtype {after.dtype.name} after "
                            "one iteration")
        if not before.shape.is_compatible_with(after.shape) and not self.given.get("shape_invariants"):
            raise ValueError(f"{name} has shape {before.shape} before the loop, but shape {after.shape} after one "
                             "iteration. Use tf.autograph.experimental.set_loop_options to set shape invariants.")
        return after

    def _finish(self, turns, tensors):
        self._enter(tensors)
        state = list(self.get())
        for i in range(self.kept, len(state)):  # what belongs to one turn
            state[i] = undefined
        self.put(tuple(state))
        missed = [self.names[i] for i in self.late if self.names[i] != "ag__value"]
        if missed:
            tf().Assert(turns > 0, [f"loop must iterate at least once to initialize {', '.join(missed)}"])
