"""Control flow over tensors, run at once: conditions, loops, maps and arrays of tensors."""
import sys

from . import _core, nest

__all__ = ["TensorArray", "Assert", "case", "cond", "foldl", "foldr", "map_fn", "scan", "switch_case", "vectorized_map",
           "while_loop"]


def _tf():
    return sys.modules["gradus"]


def cond(pred, true_fn=None, false_fn=None, name=None):
    """true_fn() if pred holds, else false_fn()."""
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if _core._traced_name(pred) is not None:
        return _core._choose(pred, (false_fn, true_fn))
    return true_fn() if pred else false_fn()


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The first function whose predicate holds, called."""
    chosen = [fn for pred, fn in pred_fn_pairs if pred]
    if exclusive and len(chosen) > 1:
        raise _tf().errors.InvalidArgumentError(None, None, "[case] more than one condition holds, but exclusive=True")
    if chosen:
        return chosen[0]()
    if default is None:
        raise _tf().errors.InvalidArgumentError(None, None, "[case] None of the conditions evaluated as True")
    return default()


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """The function with the given number, called; the last one if there is none and no default."""
    if isinstance(branch_fns, dict):
        branches = dict(branch_fns)
    else:
        branches = dict(b if isinstance(b, tuple) else (i, b) for i, b in enumerate(branch_fns))
    fallback = branches[max(branches)] if default is None else default
    return branches.get(int(branch_index), fallback)()


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True,
               swap_memory=False, maximum_iterations=None, name=None):
    """Calls loop_vars = body(*loop_vars) while cond(*loop_vars) holds."""
    if not callable(cond) or not callable(body):
        raise TypeError("'cond' and 'body' must be callable.")
    tf = _tf()
    convert = lambda v: v if isinstance(v, TensorArray) else tf.convert_to_tensor(v)  # noqa: E731
    loop_vars = nest.map_structure(convert, list(loop_vars))
    single = len(loop_vars) == 1
    count = 0
    while (maximum_iterations is None or count < int(maximum_iterations)) and cond(*loop_vars):
        result = body(*loop_vars)
        if single and not (isinstance(result, (list, tuple)) and len(result) == 1):
            result = [result]
        if not isinstance(result, (list, tuple)):
            raise ValueError("The body of a while_loop with several loop_vars must return as many")
        nest.assert_same_structure(loop_vars, list(result))
        loop_vars = nest.map_structure(convert, list(result))
        count += 1
    return loop_vars


def _first_size(leaves, name):
    if not leaves:
        raise ValueError(f"{name}: elems must have at least one tensor")
    sizes = {int(t.shape[0]) if t.shape.rank else None for t in leaves}
    if None in sizes:
        raise ValueError(f"{name}: elements must be at least one-dimensional, not scalar")
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
    if size == 0:
        signature = fn_output_signature if fn_output_signature is not None else dtype
        if signature is None:
            return elems
        return nest.map_structure(lambda d: tf.zeros([0], getattr(d, "dtype", d)), signature)
    columns = [tf.unstack(t) for t in leaves]
    rows = (nest.pack_sequence_as(elems, list(row)) for row in zip(*columns))
    return _stacked([nest.map_structure(tf.convert_to_tensor, fn(row)) for row in rows])


def _fold_rows(elems, reverse, name):
    tf = _tf()
    elems = nest.map_structure(tf.convert_to_tensor, elems)
    leaves = nest.flatten(elems)
    _first_size(leaves, name)
    rows = [nest.pack_sequence_as(elems, list(row)) for row in zip(*[tf.unstack(t) for t in leaves])]
    return rows[::-1] if reverse else rows


def _fold(fn, elems, initializer, reverse, name):
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
    return _fold(fn, elems, initializer, False, "foldl")


def foldr(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
    """The same from the last element on."""
    return _fold(fn, elems, initializer, True, "foldr")


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None):
    """All partial results of foldl, stacked."""
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
    return _stacked(results[::-1] if reverse else results)


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """fn of each slice along axis 0, all of them at once."""
    tf = _tf()
    elems = nest.map_structure(tf.convert_to_tensor, elems)
    leaves = nest.flatten(elems)
    _first_size(leaves, "vectorized_map")
    mapping = _core._mapping(len(leaves))
    row = nest.pack_sequence_as(elems, [_core._mapping_split(mapping, i, t) for i, t in enumerate(leaves)])
    return nest.map_structure(lambda t: _core._mapping_join(mapping, tf.convert_to_tensor(t)), fn(row))


def Assert(condition, data, summarize=None, name=None):  # noqa: N802
    """Raises InvalidArgumentError, with the data, unless the condition holds."""
    tf = _tf()
    if not tf.reduce_all(condition):
        shown = "\n".join(str(tf.convert_to_tensor(d).numpy()) if not isinstance(d, str) else d for d in data)
        raise tf.errors.InvalidArgumentError(
            None, None, f"Expected '{condition}' to be true. Summarized data: {shown}")


class TensorArray:
    """A list of tensors that are written and read by number."""

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):
        tf = _tf()
        self._dtype = tf.as_dtype(dtype)
        self._dynamic = bool(dynamic_size)
        self._element_shape = tf.TensorShape(element_shape)
        self._clear = True if clear_after_read is None else clear_after_read
        self._items = [None] * (0 if size is None else int(size))

    dtype = property(lambda self: self._dtype)
    dynamic_size = property(lambda self: self._dynamic)
    element_shape = property(lambda self: self._element_shape)
    flow = property(lambda self: _tf().constant(0.0))
    handle = property(lambda self: None)

    def size(self, name=None):
        """The number of elements, a tensor."""
        return _tf().constant(len(self._items))

    def __len__(self):
        return len(self._items)

    def write(self, index, value, name=None):
        """Puts a tensor at a position; returns the array, to be used from then on."""
        tf = _tf()
        index = int(index)
        if index < 0:
            raise tf.errors.OutOfRangeError(None, None, f"Writing to negative indices (index {index}) is not allowed.")
        if index >= len(self._items):
            if not self._dynamic:
                raise tf.errors.OutOfRangeError(
                    None, None, f"Tried to write to index {index} but array is not resizeable and size is: "
                    f"{len(self._items)}")
            self._items.extend([None] * (index + 1 - len(self._items)))
        value = tf.convert_to_tensor(value, self._dtype)
        self._element_shape.assert_is_compatible_with(value.shape)
        self._items[index] = value
        return self

    def read(self, index, name=None):
        """The tensor at a position."""
        tf, index = _tf(), int(index)
        if not 0 <= index < len(self._items):
            raise tf.errors.OutOfRangeError(
                None, None, f"Tried to read from index {index} but array size is: {len(self._items)}")
        value = self._items[index]
        if value is None:
            if self._element_shape.is_fully_defined():
                return tf.zeros(self._element_shape, self._dtype)
            raise tf.errors.InvalidArgumentError(
                None, None, f"Could not read index {index} twice because it was cleared after a previous read (perhaps "
                "try setting clear_after_read = false?) or was never written")
        if self._clear:
            self._items[index] = None
        return value

    def _filled(self):
        tf = _tf()
        like = next((t for t in self._items if t is not None), None)
        if like is None and self._items and not self._element_shape.is_fully_defined():
            raise tf.errors.InvalidArgumentError(None, None, "TensorArray has nothing to stack: no element was written")
        return [tf.zeros(like.shape if like is not None else self._element_shape, self._dtype) if t is None else t
                for t in self._items]

    def stack(self, name=None):
        """All tensors along a new first axis."""
        tf = _tf()
        if not self._items:
            sizes = self._element_shape.as_list() if self._element_shape.is_fully_defined() else []
            return tf.zeros([0] + sizes, self._dtype)
        return tf.stack(self._filled())

    def concat(self, name=None):
        """All tensors along their first axis."""
        return _tf().concat(self._filled(), 0)

    def gather(self, indices, name=None):
        """Some tensors, stacked."""
        items = self._filled()
        return _tf().stack([items[int(i)] for i in indices])

    def unstack(self, value, name=None):
        """Fills the array with the slices of a tensor."""
        self._items = list(_tf().unstack(_tf().convert_to_tensor(value, self._dtype)))
        return self

    def scatter(self, indices, value, name=None):
        """Puts the slices of a tensor at positions."""
        for i, item in zip(indices, _tf().unstack(value)):
            self.write(i, item)
        return self

    def split(self, value, lengths, name=None):
        """Fills the array with parts of a tensor."""
        self._items = list(_tf().split(value, lengths))
        return self

    def identity(self):
        return self

    def grad(self, source, flow=None, name=None):
        raise NotImplementedError("Use a GradientTape")

    def close(self, name=None):
        self._items = []
