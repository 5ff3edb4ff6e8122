"""Calls of the functions of TensorFlow's namespaces with values for every parameter, as lines of Python.

A row of the tables (argument_rows_*.py) is a function, the arguments of a call, and values for further parameters:

    math.bincount | arr=[1, 3, 3, 0] | minlength=7 ; axis=-1 ; weights=[1.0, 2.0, 3.0, 4.0]

It gives the call itself and one more for each value, which takes the place of an argument or joins them; `@ a=1, b=2`
is a value for several parameters at once. For parameters that a row says nothing of, values come from their names and
defaults (BY_NAME; a bool is turned round). Where arguments are the tensors below, the call is also made with all of them
as float64 and as float16. `Class.method: object` is a method of an object, `function = helper(a)` a function that one of
the HELPERS of the table calls, with the arguments of the row behind its own.

tools/argument_answers.py asks TensorFlow and keeps its answers in argument_answers.json, with its signatures;
test_arguments.py compares.
"""
import ast
import functools
import re

import argument_rows_arrays
import argument_rows_data
import argument_rows_images
import argument_rows_kinds
import argument_rows_math
import argument_rows_nn
import argument_rows_objects

TABLES = (argument_rows_math, argument_rows_arrays, argument_rows_nn, argument_rows_kinds, argument_rows_images,
          argument_rows_data, argument_rows_objects)

# Tensors that calls use, by name. Those of floats exist as float64 and float16, too: FD, FH.
FLOATS = {
    "F": "[[1.5, -2.0, 3.0], [0.25, 4.0, -1.0]]",
    "G": "[[2.0, 0.5, -3.0], [1.0, -1.0, 2.5]]",
    "U": "[[0.125, 0.4375, 0.8125], [0.3125, 0.625, 0.9375]]",
    "V": "[3.0, 1.0, 2.0]",
    "M": "[[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 5.0]]",
    "N": "[[1.0, 2.0, -1.0], [0.5, -3.0, 2.0], [4.0, 1.0, 1.5]]",
    "P": "[[[1.0, 2.0, 3.0], [4.0, 5.5, 6.0]], [[-7.0, 8.0, 9.0], [0.5, 2.0, -1.0]]]",
}
OTHERS = {
    "I": "tf.constant([[1, 2, 0], [3, 1, 2]])",
    "J": "tf.constant([[2, 1, 3], [1, 4, 2]])",
    "B": "tf.constant([[True, False, True], [False, False, True]])",
    "C": "tf.constant([[1 + 2j, 3 - 1j], [0.5j, -2 + 1j]], tf.complex64)",
    "CB": "tf.constant([[2 - 1j, 1j], [1 + 1j, 3]], tf.complex64)",
    "X1": "tf.reshape(tf.cast(tf.range(24) % 7, tf.float32) - 2.5, [2, 6, 2])",
    "X2": "tf.reshape(tf.cast(tf.range(64) % 11, tf.float32) - 4.5, [2, 4, 4, 2])",
    "X3": "tf.reshape(tf.cast(tf.range(128) % 13, tf.float32) - 5.5, [1, 4, 4, 4, 2])",
    "W1": "tf.reshape(tf.cast(tf.range(12) % 5, tf.float32) - 1.5, [3, 2, 2])",
    "W2": "tf.reshape(tf.cast(tf.range(36) % 7, tf.float32) - 2.5, [3, 3, 2, 2])",
    "W3": "tf.reshape(tf.cast(tf.range(32) % 7, tf.float32) - 2.5, [2, 2, 2, 2, 2])",
    "IMG": "tf.reshape(tf.cast(tf.range(72) * 5 % 64, tf.float32) / 64.0, [6, 4, 3])",
    "IMGS": "tf.reshape(tf.cast(tf.range(144) * 5 % 64, tf.float32) / 64.0, [2, 6, 4, 3])",
    "BYTES": "tf.cast(tf.reshape(tf.range(72) * 7 % 251, [6, 4, 3]), tf.uint8)",
    "S": "tf.sparse.SparseTensor([[0, 1], [1, 0], [1, 2]], [1.5, -2.0, 3.0], [2, 3])",
    "S2": "tf.sparse.SparseTensor([[0, 1], [0, 2], [1, 1]], [0.5, 4.0, -1.0], [2, 3])",
    "SI": "tf.sparse.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 2, 0], tf.int64), [2, 2])",
    "R": "tf.ragged.constant([[1.5, 2.0], [], [3.0, -1.0, 4.0]])",
    "RI": "tf.ragged.constant([[3, 1], [], [2, 0, 1]])",
    "T": "tf.constant([['Hello', 'wide World'], ['\\u00e4\\u00f6', '']])",
    "DS": "tf.data.Dataset.range(7)",
}

# Values for parameters that rows say nothing of, by name.
BY_NAME = {
    "name": ["'given'"],
    "axis": ["0", "1", "-1"],
    "keepdims": ["True"],
    "dtype": ["tf.float64"],
    "out_type": ["tf.int64"],
    "output_type": ["tf.int32"],
    "out_idx": ["tf.int64"],
    "index_type": ["tf.int64"],
    "seed": ["3"],
    "message": ["'words of the caller'"],
    "summarize": ["1"],
    "num_parallel_calls": ["2", "tf.data.AUTOTUNE"],
    "deterministic": ["True", "False"],
    "parallel_iterations": ["1"],
    "layout": [],
}


def namespace(tf, np):
    """What the lines may use."""
    names = _Lazy(tf=tf, np=np)
    for name, text in FLOATS.items():
        names.later[name] = f"tf.constant({text})"
        names.later[name + "D"] = f"tf.constant({text}, tf.float64)"
        names.later[name + "H"] = f"tf.constant({text}, tf.float16)"
    names.later.update(OTHERS)
    for table in TABLES:
        names.update({k: functools.partial(v, tf, np) for k, v in getattr(table, "HELPERS", {}).items()})
    return names


class _Lazy(dict):
    """Names whose values are made when they are first used."""

    def __init__(self, **known):
        super().__init__(known)
        self.later = {}

    def __missing__(self, name):
        if name not in self.later:
            raise KeyError(name)
        self[name] = eval(self.later[name], self)  # noqa: S307
        return self[name]


class Row:
    """One row: a function, its arguments, and values for its parameters."""

    def __init__(self, text):
        fields = [f.strip() for f in re.split(r" \|(?= )", text + " ")] + ["", ""]
        self.function, _, self.helper = fields[0].partition(" = ")
        self.function, _, self.object = self.function.partition(": ")
        self.arguments = self._parsed(fields[1])
        self.values = [self._parsed(v.strip().lstrip("@")) for v in fields[2].split(" ; ") if v.strip()]

    @staticmethod
    def _parsed(text):
        """{name: text} of keyword arguments; positional ones have numbers for names."""
        call = ast.parse(f"f({text})", mode="eval").body
        return {**{i: ast.unparse(a) for i, a in enumerate(call.args)},
                **{k.arg or "**": ast.unparse(k.value) for k in call.keywords}}

    def call(self, arguments):
        parts = [a if isinstance(k, int) else f"**{a}" if k == "**" else f"{k}={a}" for k, a in arguments.items()]
        if self.helper:
            own = self.helper.rpartition(")")[0]
            return own + ", ".join(([""] if not own.endswith("(") and parts else []) + parts) + ")"
        target = f"({self.object}).{self.function.rpartition('.')[2]}" if self.object else f"tf.{self.function}"
        return f"{target}({', '.join(parts)})"

    def given(self):
        """The parameters for which the row has values."""
        return set(self.arguments).union(*self.values) if self.values else set(self.arguments)

    def lines(self, parameters):
        """(line, the names that it gives) of all calls. `parameters` are names with defaults of the function."""
        yield self.call(self.arguments), set(self.arguments)
        values = list(self.values)
        known = self.given() if "**" not in self.given() else set(parameters)
        for name, default in parameters.items():
            if name in known or default is None:  # None: no default, the row has it
                continue
            texts = {"True": ["False"], "False": ["True"]}.get(default, BY_NAME.get(name, []))
            values += [{name: text} for text in texts]
        for value in values:
            yield self.call({**self.arguments, **value}), set(self.arguments) | set(value)
        floats = [k for k, v in self.arguments.items() if v in FLOATS]
        for kind in "DH" if floats else "":
            yield self.call({k: v + kind if k in floats else v for k, v in self.arguments.items()}), set(self.arguments)


def rows(*tables):
    for table in tables or TABLES:
        for line in table.ROWS.strip().splitlines():
            if line.strip() and not line.startswith("#"):
                yield Row(line)
