"""if: one branch of Python, or both traced and joined where they differ."""
import sys

from .. import _core, nest
from .._effects import own_effects
from .._tensor_array import TensorArray


class _Mark:
    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text


undefined = _Mark("<a variable without a value>")
no_value = _Mark("<nothing returned yet>")


def tf():
    return sys.modules["gradus"]


def must_run_eagerly(reason):
    """Gives up tracing: sizes depend on values, and no program has that. The function then runs as Python."""
    from .._function import MustRunEagerly
    raise MustRunEagerly(reason)


def read(get):
    """The value of a variable, an attribute or an item, or undefined."""
    try:
        return get()
    except (NameError, AttributeError, KeyError, IndexError):
        return undefined


def is_traced(value):
    """Whether it is a tensor without a value."""
    return not _core._has_value(value)


def as_test(value):
    """A variable in a test is its value."""
    return value.read_value() if isinstance(value, _core.Variable) and _core._is_tracing() else value


def check_test(test, what):
    if test.dtype == tf().bool and test.ndim == 0:
        return
    hint = "" if test.dtype == tf().bool else "; to use as boolean Tensor, use `tf.cast`"
    raise ValueError(f"condition of {what} expected to be `tf.bool` scalar, got {test}{hint}; to check for None, use "
                     "`is not None`")


def returned(flag, value):
    """The result of a function that returns on some ways only."""
    if is_traced(flag):
        raise ValueError("the else branch must also have a return statement: a tensor decides whether the function "
                         "returns a value, so it must return one on every way.")
    return value if flag else None


def if_stmt(test, then, otherwise, get, put, names, hard, soft, lenient=False):
    """Runs a branch. The first `hard` names are read afterwards, the next `soft` ones may be; others are done with."""
    test = as_test(test)
    if not is_traced(test):
        if test:
            then()
        else:
            otherwise()
        return
    check_test(test, "if statement")
    before = get()
    results = []

    def run(branch):
        @own_effects
        def traced():
            put(before)
            branch()
            results.append(tuple(map(settled, get(), before)))
        return traced

    try:
        yes, no = _core._trace_branch(test, run(then)), _core._trace_branch(test, run(otherwise))
        joined = Joined(names, hard, soft, lenient or [_has_jumped(names, r) for r in results])
        for i in range(len(names)):
            joined.add(i, *[r[i] for r in results])
        outputs = _core._join_branches(test, (no, yes), (joined.no, joined.yes))
    except BaseException:
        put(before)
        raise
    put(joined.after(outputs))


def _has_jumped(names, values):
    """Whether a branch ends with a return, break or continue: what it left undefined will not be missed."""
    flags = ("ag__returned", "ag__broke", "ag__continued")
    return any(v is True and n.startswith(flags) for n, v in zip(names, values))


class Rows:
    """A TensorArray at the end of a branch: its rows, and what they are like, as long as they can be asked for."""

    def __init__(self, array):
        self.array = array._joined()
        self.rows, self.kind = self.array._tensors(), self.array._kind()

    def filled(self, other):
        """The rows; those of an array that was never written are zeros like the other's."""
        return self.rows or (self.array._begun(other.kind)._tensors() if other.kind is not None else [])


def settled(value, before):
    """The value of a variable with what can be found out only while the branch that made it is open."""
    if value is before:
        return value
    if not nest.is_nested(value) and not isinstance(value, TensorArray) and not hasattr(value, "__gradus_number__"):
        return value

    def one(leaf):
        if isinstance(leaf, TensorArray):
            return Rows(leaf)
        return tf().convert_to_tensor(leaf) if hasattr(leaf, "__gradus_number__") else leaf
    return nest.map_structure(one, value)


def is_tensor_like(value):
    """Whether it can be a tensor of the program. Variables are not: they stay the objects they are."""
    if isinstance(value, (bool, int, float, complex, _core.Tensor)):
        return not isinstance(value, _core.Variable)
    return hasattr(value, "__gradus_number__") or hasattr(value, "__array__") and hasattr(value, "dtype")


def same_value(a, b):
    """Whether two leaves are one Python value, which then stays one."""
    if a is b:
        return True
    return type(a) is type(b) and isinstance(a, (bool, int, float, complex, str, bytes, type)) and a == b


class Joined:
    """The variables after an if: what both branches left alone, and results of the program where they differ."""

    def __init__(self, names, hard, soft, lenient):
        self.names, self.hard, self.soft, self.lenient = names, hard, soft, lenient  # True, or for which branches
        self.yes, self.no = [], []  # tensors that the branches give
        self.values = []  # of the names: as they are, or with places of the tensors

    def add(self, i, yes, no):
        name = self.names[i]
        if yes is no:
            self.values.append(lambda _: yes)
        elif i >= self.hard + self.soft:
            self.values.append(lambda _: undefined)
        elif (yes is undefined or no is undefined) and not self._fills(yes, no):
            if i < self.hard and self.lenient is not True:
                where = "main" if yes is undefined else "else"
                raise ValueError(f"'{name}' must also be initialized in the {where} branch")
            self.values.append(lambda _: undefined)
        else:
            try:
                self._both(name, yes, no)
            except (TypeError, ValueError):
                if i < self.hard:
                    raise
                self.values.append(lambda _: undefined)

    def _fills(self, yes, no):
        return self.lenient is not True and self.lenient[0 if yes is undefined else 1]

    def _both(self, name, yes, no):
        shown = "the return value" if name == "ag__value" else f"'{name}'"
        if isinstance(yes, _Mark):
            yes = placeholder(no)
        if isinstance(no, _Mark):
            no = placeholder(yes)
        for value, other, where in ((yes, no, "main"), (no, yes, "else")):
            if value is None:
                raise ValueError(f"{shown} is None at the end of the {where} branch.")
        try:
            nest.assert_same_structure(yes, no)
        except (TypeError, ValueError) as e:
            text = f"{shown} must have the same nested structure in the main and else branches:\n\n{e}"
            raise TypeError(text) from None
        places, pairs = [], []
        for a, b in zip(nest.flatten(yes), nest.flatten(no)):
            if same_value(a, b):
                places.append(lambda out, a=a: a)
                continue
            at = len(self.yes) + len(pairs)
            if isinstance(a, (Rows, TensorArray)) and isinstance(b, (Rows, TensorArray)):
                a, b = [v if isinstance(v, Rows) else Rows(v) for v in (a, b)]
                rows = list(zip(a.filled(b), b.filled(a)))
                array = a.array if a.rows else b.array
                places.append(lambda out, array=array, at=at, n=len(rows): array._with_tensors(out[at:at + n]))
                pairs += rows
                continue
            places.append(lambda out, at=at: out[at])
            pairs.append(self._tensors(shown, a, b))
        self.yes += [a for a, _ in pairs]
        self.no += [b for _, b in pairs]
        self.values.append(lambda out: nest.pack_sequence_as(yes, [place(out) for place in places]))

    @staticmethod
    def _tensors(shown, a, b):
        if not (is_tensor_like(a) and is_tensor_like(b)):
            raise TypeError(f"{shown} is {a!r} at the end of the main branch and {b!r} at the end of the else branch; "
                            "a tensor decides between the branches, so they must give tensors, or the same value")
        a, b = tf().convert_to_tensor(a), tf().convert_to_tensor(b)
        if a.dtype != b.dtype:
            raise TypeError(f"{shown} has dtype {a.dtype.name} in the main branch, but dtype {b.dtype.name} in the "
                            "else branch")
        if a.shape.rank != b.shape.rank:
            must_run_eagerly(f"{shown} has shape {a.shape} in the main branch, but shape {b.shape} in the else branch")
        return a, b

    def after(self, outputs):
        return tuple(value(outputs) for value in self.values)


def placeholder(like):
    """Zeros in place of a value that is not there yet and that nobody will see; `like` may be of an inner trace."""
    return nest.map_structure(
        lambda leaf: _core._zero_rows(1, tf().convert_to_tensor(leaf))[0] if is_tensor_like(leaf) else leaf, like)
