"""Branches over tensors. On a traced tensor all of them are traced, and the program chooses."""
import functools
import sys

from . import _core, nest
from ._effects import Assert, own_effects
from ._tensor_array import TensorArray

__all__ = ["case", "cond", "switch_case"]


def _tf():
    return sys.modules["gradus"]


class _Again(Exception):
    """Now it is known what the rows of an array are like: trace the branches once more."""


def _choose(index, branches):
    """The results of the branch that the program will choose. Arrays of tensors are results like others."""
    rows, arrays, like = {}, {}, []  # by position of the leaf: a row that some branch wrote, and an array

    @own_effects
    def run(number):
        result = branches[number]()
        leaves = nest.flatten(result)
        if not any(isinstance(leaf, TensorArray) for leaf in leaves):
            return result
        missing = False
        like[:] = [result]
        for i, leaf in enumerate(leaves):
            if not isinstance(leaf, TensorArray):
                continue
            leaf = leaf._joined()
            tensors = leaf._tensors()
            if tensors and i not in rows:
                rows[i] = leaf._kind()
                missing = missing or number > 0
            if not tensors and i in rows:
                leaf = leaf._begun(rows[i])
                tensors = leaf._tensors()
            missing = missing or (not tensors and i in rows)
            arrays[i] = leaf if i not in arrays or arrays[i]._rows is None else arrays[i]
            leaves[i] = tensors or [_tf().constant(0)]
        if missing and number == len(branches) - 1:
            raise _Again
        return leaves

    while True:
        try:
            result = _core._choose(index, tuple(functools.partial(run, i) for i in range(len(branches))))
        except _Again:
            continue
        if not arrays:
            return result
        for i, array in arrays.items():
            result[i] = array._with_tensors(result[i] if i in rows else [])
        return nest.pack_sequence_as(like[0], result)


def cond(pred, true_fn=None, false_fn=None, name=None):
    """true_fn() if pred holds, else false_fn()."""
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if not _core._has_value(pred):
        return _choose(pred, (false_fn, true_fn))
    return true_fn() if pred else false_fn()


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The first function whose predicate holds, called."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    if any(not _core._has_value(pred) for pred, _ in pairs):
        return _traced_case(pairs, default, exclusive)
    chosen = [fn for pred, fn in pairs if pred]
    if exclusive and len(chosen) > 1:
        raise _tf().errors.InvalidArgumentError(None, None, "[case] more than one condition holds, but exclusive=True")
    if chosen:
        return chosen[0]()
    if default is None:
        raise _tf().errors.InvalidArgumentError(None, None, "[case] None of the conditions evaluated as True")
    return default()


def _traced_case(pairs, default, exclusive):
    tf = _tf()
    preds = tf.stack([tf.convert_to_tensor(pred) for pred, _ in pairs])
    functions = [fn for _, fn in pairs]
    if exclusive:
        Assert(tf.reduce_sum(tf.cast(preds, tf.int32)) <= 1, ["[case] more than one condition holds, but exclusive=True"])
    if default is None:
        Assert(tf.reduce_any(preds), ["[case] None of the conditions evaluated as True"])
        default = functions[-1]
    numbers = tf.where(preds, tf.range(len(functions)), len(functions))
    return _choose(tf.reduce_min(numbers), (*functions, default))


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """The function with the given number, called; the last one if there is none and no default."""
    if isinstance(branch_fns, dict):
        branches = dict(branch_fns)
    else:
        branches = dict(b if isinstance(b, tuple) else (i, b) for i, b in enumerate(branch_fns))
    if sorted(branches) != list(range(len(branches))):
        raise ValueError(f"branch indices (keys) must form contiguous range of [0 to {len(branches)}) but found "
                         "{" + ",".join(str(k) for k in sorted(branches)) + "}")
    if not _core._has_value(branch_index):
        functions = [branches[i] for i in range(len(branches))]
        return _choose(branch_index, (*functions, default if default is not None else functions[-1]))
    fallback = branches[max(branches)] if default is None else default
    return branches.get(int(branch_index), fallback)()
