"""Loops over tensors. While a function is traced, the body is traced once and the program repeats it."""
import contextlib
import sys

from . import _core, nest
from ._effects import own_effects
from ._tensor_array import CannotMeasure, TensorArray

__all__ = ["foldl", "foldr", "map_fn", "recompute_loops", "scan", "vectorized_map", "while_loop"]


def _tf():
    return sys.modules["gradus"]


def _convert(value):
    if isinstance(value, TensorArray):
        return value
    if value is None:
        raise ValueError("None values not supported.")
    return _tf().convert_to_tensor(value)


def _as_vars(result, count):
    """What a body returned, as the list of its loop variables."""
    if count == 1 and not (isinstance(result, (list, tuple)) and len(result) == 1):
        return [result]
    if count == 0 and result is None:
        return []
    if not isinstance(result, (list, tuple)):
        raise ValueError("The body of a while_loop with several loop_vars must return as many")
    return list(result)


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True,
               swap_memory=False, maximum_iterations=None, name=None):
    """Calls loop_vars = body(*loop_vars) while cond(*loop_vars) holds."""
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    packed = tuple if isinstance(loop_vars, tuple) else list
    loop_vars = nest.map_structure(_convert, list(loop_vars))
    if _core._is_tracing():
        return packed(_cut(_TracedLoop(cond, body, loop_vars, maximum_iterations, shape_invariants).run(), back_prop))
    count = 0
    while maximum_iterations is None or count < int(maximum_iterations):
        more = cond(*loop_vars)
        left = None if maximum_iterations is None else int(maximum_iterations) - count
        if isinstance(more, _core.Tensor) and _core._is_example(more):
            return packed(_cut(_run_examples(cond, body, loop_vars, more, left), back_prop))
        if _core._traced_name(more) is not None:  # of a graph program
            return packed(_cut(_TracedLoop(cond, body, loop_vars, left, shape_invariants).run(), back_prop))
        if not more:
            break
        result = body(*loop_vars)
        packed = type(result) if type(result) in (list, tuple) else packed
        result = _as_vars(result, len(loop_vars))
        nest.assert_same_structure(loop_vars, result)
        loop_vars = nest.map_structure(_convert, result)
        count += 1
    return packed(_cut(loop_vars, back_prop))


def _cut(results, back_prop):
    """The results, through which no derivative goes unless back_prop."""
    if back_prop:
        return results
    tf = _tf()
    return nest.map_structure(lambda t: tf.stop_gradient(t) if isinstance(t, _core.Tensor) else t, results)


def _run_examples(cond, body, loop_vars, active, left):
    """Examples of a vectorized_map stop at different times: until all have; who has keeps what it has. For these the
    body runs on what they had before they stopped, where it has derivatives."""
    tf = _tf()
    going = loop_vars
    while (left is None or left > 0) and _core._is_true_for_any(active):
        going = nest.map_structure(lambda now, old: tf.where(active, now, tf.stop_gradient(old)), loop_vars, going)
        result = nest.map_structure(_convert, _as_vars(body(*going), len(loop_vars)))
        nest.assert_same_structure(loop_vars, result)
        loop_vars = nest.map_structure(lambda new, old: tf.where(active, new, old), result, loop_vars)
        active = tf.logical_and(active, cond(*loop_vars))
        left = None if left is None else left - 1
    return loop_vars


@contextlib.contextmanager
def recompute_loops(max_bytes):
    """Loops that are traced inside keep at most about so many bytes each for their gradients, and compute the rest
    again; the gradients have the same bits. Also a decorator. Without it, a quarter of the machine's memory."""
    if not isinstance(max_bytes, int) or max_bytes <= 0:
        raise ValueError(f"recompute_loops: max_bytes is a positive number of bytes, got {max_bytes!r}")
    before = _core._exchange_loop_memory_limit(max_bytes)
    try:
        yield
    finally:
        _core._exchange_loop_memory_limit(before)


class _Again(Exception):
    """Now it is known what the rows of an array are like: trace the body once more."""


class _TracedLoop:
    """A loop of the program. Arrays of tensors are carried as one tensor each."""

    def __init__(self, cond, body, loop_vars, maximum_iterations, shape_invariants):
        self._cond, self._body, self._vars = cond, body, loop_vars
        self._leaves = nest.flatten(loop_vars)
        self._invariants = self._shapes(shape_invariants)
        self._limit, self._traced_limit = -1, None
        if maximum_iterations is not None:
            if _core._traced_name(maximum_iterations) is None:
                self._limit = max(int(maximum_iterations), 0)
            else:
                self._traced_limit = maximum_iterations

    def _shapes(self, invariants):
        """The shape that each leaf has in every turn, with None where a size may change."""
        if invariants is None:
            return [None] * len(self._leaves)
        nest.assert_same_structure(self._vars, list(invariants), check_types=False)
        shapes = []
        for i, (leaf, given) in enumerate(zip(self._leaves, nest.flatten(list(invariants)))):
            shape = _tf().TensorShape(getattr(given, "shape", given))
            if isinstance(leaf, TensorArray):
                shape = None
            elif not shape.is_compatible_with(leaf.shape):
                raise ValueError(f"The shape invariant specified for loop variable {i}, {shape}, is not compatible with "
                                 f"its initial shape {leaf.shape}.")
            shapes.append(shape)
        return shapes

    def _varying(self):
        """By tensor of the loop: which of its axes may change."""
        varying = []
        for leaf, shape in zip(self._leaves, self._invariants):
            if isinstance(leaf, TensorArray):
                varying += [(False,) * t.shape.rank for t in leaf._tensors()]
            elif shape is None or shape.rank is None:
                varying.append((shape is not None,) * leaf.shape.rank)
            else:
                varying.append(tuple(size is None for size in shape.as_list()))
        return varying

    def _make_room(self):
        """Arrays that grow in the loop get the size that they will have, if that can be known."""
        growing = {i: a for i, a in enumerate(self._leaves) if isinstance(a, TensorArray) and a._may_grow()}
        for i, array in growing.items():
            self._leaves[i] = array._measuring()
        found = None
        while growing and found is None:
            start = self._flat(self._leaves)
            try:
                found = _core._known_results(self._test, self._step, start, self._limit)
            except _Again:
                continue
            except CannotMeasure:
                found = [None] * len(start)
        at = 0
        for i, leaf in enumerate(self._leaves):
            if i in growing:
                if (not leaf._seen or found[at] is None or self._traced_limit is not None
                        or leaf._may_differ(leaf._seen[0])):
                    self._leaves[i] = growing[i]  # nothing was written, or it gets longer with each turn
                else:
                    self._leaves[i] = growing[i]._with_room(int(found[at][0]), leaf._seen[0])
            at += len(leaf._tensors()) if isinstance(leaf, TensorArray) else 1

    def run(self):
        tf = _tf()
        self._make_room()
        while True:
            start = self._flat(self._leaves)
            try:
                if self._traced_limit is None:
                    found = _core._loop(self._test, self._step, start, self._limit, tuple(self._varying()))
                else:  # counts by itself
                    limit = tf.cast(self._traced_limit, tf.int64)
                    found = _core._loop(
                        lambda n, *flat: tf.logical_and(n < limit, self._test(*flat)),
                        lambda n, *flat: [n + 1, *self._step(*flat)], [tf.constant(0, tf.int64), *start], -1,
                        ((), *self._varying()))[1:]
            except _Again:
                continue
            return self._nested(found)

    @own_effects
    def _test(self, *flat):
        return self._cond(*self._nested(flat))

    @own_effects
    def _step(self, *flat):
        result = _as_vars(self._body(*self._nested(flat)), len(self._vars))
        nest.assert_same_structure(self._vars, result, check_types=False)
        after = [_convert(leaf) for leaf in nest.flatten(result)]
        again = False
        for i, (was, now) in enumerate(zip(self._leaves, after)):
            if isinstance(was, TensorArray) != isinstance(now, TensorArray):
                raise TypeError(f"while_loop: loop variable {i} is a TensorArray only before or only after the body")
            if isinstance(was, TensorArray):
                if not was._tensors() and now._tensors():
                    self._leaves[i] = (was, now._kind())
                    again = True
                elif now._is_in_parts() and not was._is_in_parts():
                    self._leaves[i] = (was, None)
                    again = True
            else:
                self._check(i, was, now)
        if again:
            raise _Again
        return self._flat(after)

    def _check(self, i, was, now):
        name = f"Loop variable {i}"
        if was.dtype != now.dtype:
            raise TypeError(f"{name} enters the loop with type {was.dtype!r} but has type {now.dtype!r} after 1 iteration. "
                            "Its type should remain constant.")
        invariant = self._invariants[i]
        if invariant is not None:
            if was.shape.rank != now.shape.rank:
                raise ValueError(f"{name} enters the loop with shape {was.shape} and has shape {now.shape} after one "
                                 "iteration; sizes may change in a compiled loop, the number of axes must stay.")
            if not invariant.is_compatible_with(now.shape):
                raise ValueError(f"{name} enters the loop with shape {was.shape} and has shape {now.shape} after one "
                                 f"iteration, which the shape invariant {invariant} does not allow.")
        elif not was.shape.is_compatible_with(now.shape):
            raise ValueError(
                f"{name} enters the loop with shape {was.shape}, but has shape {now.shape} after one iteration. To allow "
                "the shape to vary across iterations, use the `shape_invariants` argument of tf.while_loop to specify a "
                "less-specific shape.")

    def _flat(self, leaves):
        flat = []
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, tuple):  # an array, and what the body wrote into it
                array, kind = leaf
                leaf = leaves[i] = array._in_parts() if kind is None else array._begun(kind)
            flat.extend(leaf._tensors() if isinstance(leaf, TensorArray) else [leaf])
        return flat

    def _nested(self, flat):
        flat, leaves = list(flat), []
        for leaf in self._leaves:
            if isinstance(leaf, TensorArray):
                count = len(leaf._tensors())
                leaves.append(leaf._with_tensors(flat[:count]))
                del flat[:count]
            else:
                leaves.append(flat.pop(0))
        return nest.pack_sequence_as(self._vars, leaves)


def _first_size(leaves, name):
    """How many slices the tensors have; None if only the program will know."""
    if not leaves:
        raise ValueError(f"{name}: elems must have at least one tensor")
    if any(t.shape.rank == 0 for t in leaves):
        raise ValueError(f"{name}: elements must be at least one-dimensional, not scalar")
    sizes = {t.shape.as_list()[0] for t in leaves}  # numbers or None, also of a graph's placeholders
    if None in sizes:
        return None
    if len(sizes) > 1:
        raise _tf().errors.InvalidArgumentError(None, None, f"[{name}] elems have different first sizes: {sorted(sizes)}")
    return sizes.pop()


def _stacked(results):
    tf = _tf()
    leaves = [nest.flatten(r) for r in results]
    return nest.pack_sequence_as(results[0], [tf.stack(column) for column in zip(*leaves)])


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
           name=None, fn_output_signature=None):
    """fn of each slice along axis 0, stacked. vectorized_map is faster where it applies."""
    tf = _tf()
    elems = nest.map_structure(tf.convert_to_tensor, elems)
    leaves = nest.flatten(elems)
    size = _first_size(leaves, "map_fn")
    signature = fn_output_signature if fn_output_signature is not None else dtype
    if _as_loop(size):
        return _cut(_map_loop(fn, elems, leaves, signature), back_prop)
    if size == 0:
        if signature is None:
            return elems
        return nest.map_structure(lambda d: tf.zeros([0], getattr(d, "dtype", d)), signature)
    columns = [tf.unstack(t) for t in leaves]
    rows = (nest.pack_sequence_as(elems, list(row)) for row in zip(*columns))
    results = [nest.map_structure(tf.convert_to_tensor, fn(row)) for row in rows]
    ragged = signature is None and hasattr(elems, "row_splits") or hasattr(signature, "ragged_rank")
    return _cut(tf.ragged.stack(results) if ragged else _stacked(results), back_prop)


def _as_loop(size):
    """Whether a map or fold becomes a loop of the program: how often it runs is not known, or often."""
    return _core._is_tracing() and (size is None or size > _MOST_UNROLLED)


_MOST_UNROLLED = 16


def _map_loop(fn, elems, leaves, signature):
    """map_fn as a loop of the program."""
    tf = _tf()
    kinds = nest.map_structure(lambda d: tf.as_dtype(getattr(d, "dtype", d)), elems if signature is None else signature)

    @own_effects
    def body(*rows):
        result = fn(nest.pack_sequence_as(elems, list(rows)))
        nest.assert_same_structure(kinds, result, check_types=False)
        return nest.flatten(nest.map_structure(tf.convert_to_tensor, result))
    return nest.pack_sequence_as(kinds, list(_core._scan_rows(body, [], leaves, False)))


def _fold_loop(fn, elems, leaves, initializer, reverse, every):
    """A fold as a loop of the program: the last state, or all of them stacked."""
    tf = _tf()
    state, rest = initializer, leaves
    if initializer is None:
        state = nest.pack_sequence_as(elems, [t[-1] if reverse else t[0] for t in leaves])
        rest = [t[:-1] if reverse else t[1:] for t in leaves]
    state = nest.map_structure(tf.convert_to_tensor, state)
    first = nest.flatten(state)

    @own_effects
    def body(*tensors):
        flat, rows = list(tensors[:len(first)]), list(tensors[len(first):])
        after = fn(nest.pack_sequence_as(state, flat), nest.pack_sequence_as(elems, rows))
        nest.assert_same_structure(state, after, check_types=False)
        after = nest.flatten(nest.map_structure(tf.convert_to_tensor, after))
        return after + after if every else after
    found = _core._scan_rows(body, first, rest, reverse)
    if not every:
        return nest.pack_sequence_as(state, list(found))
    stacks = found[len(first):]
    if initializer is None:
        edges = [tf.expand_dims(t, 0) for t in first]
        stacks = [tf.concat([s, e] if reverse else [e, s], 0) for s, e in zip(stacks, edges)]
    return nest.pack_sequence_as(state, list(stacks))


def _fold_rows(elems, reverse, name):
    tf = _tf()
    elems = nest.map_structure(tf.convert_to_tensor, elems)
    leaves = nest.flatten(elems)
    _first_size(leaves, name)
    rows = [nest.pack_sequence_as(elems, list(row)) for row in zip(*[tf.unstack(t) for t in leaves])]
    return rows[::-1] if reverse else rows


def _loop_elements(elems, name):
    """The elements and their leaves if the fold over them becomes a loop of the program, else None."""
    elems = nest.map_structure(_tf().convert_to_tensor, elems)
    leaves = nest.flatten(elems)
    return (elems, leaves) if _as_loop(_first_size(leaves, name)) else None


def _fold(fn, elems, initializer, reverse, name):
    in_program = _loop_elements(elems, name)
    if in_program:
        return _fold_loop(fn, *in_program, initializer, reverse, False)
    rows = _fold_rows(elems, reverse, name)
    if initializer is None:
        if not rows:
            raise ValueError(f"{name}: there are no elements and no initializer")
        total, rows = rows[0], rows[1:]
    else:
        total = nest.map_structure(_tf().convert_to_tensor, initializer)
    for row in rows:
        total = fn(total, row)
    return total


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """fn(fn(fn(initializer, elems[0]), elems[1]), ...)."""
    return _cut(_fold(fn, elems, initializer, False, "foldl"), back_prop)


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """The same from the last element on."""
    return _cut(_fold(fn, elems, initializer, True, "foldr"), back_prop)


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None):
    """All partial results of foldl, stacked."""
    in_program = _loop_elements(elems, "scan")
    if in_program:
        return _cut(_fold_loop(fn, *in_program, initializer, reverse, True), back_prop)
    rows = _fold_rows(elems, reverse, "scan")
    tf = _tf()
    results = []
    if initializer is None:
        if not rows:
            raise ValueError("scan: there are no elements and no initializer")
        state, rows = rows[0], rows[1:]
        results.append(state)
    else:
        state = nest.map_structure(tf.convert_to_tensor, initializer)
    for row in rows:
        state = nest.map_structure(tf.convert_to_tensor, fn(state, row))
        results.append(state)
    if not results:
        return nest.map_structure(lambda t: tf.zeros([0] + t.shape.as_list(), t.dtype), state)
    return _cut(_stacked(results[::-1] if reverse else results), back_prop)


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """fn of each slice along axis 0, all of them at once."""
    tf = _tf()
    elems = nest.map_structure(tf.convert_to_tensor, elems)
    leaves = nest.flatten(elems)
    _first_size(leaves, "vectorized_map")
    mapping = _core._mapping(len(leaves))
    row = nest.pack_sequence_as(elems, [_core._mapping_split(mapping, i, t) for i, t in enumerate(leaves)])
    return nest.map_structure(lambda t: _core._mapping_join(mapping, tf.convert_to_tensor(t)), fn(row))
