"""The tree of a function, found from its own lines, is the one that the tree of its file has."""
import argparse
import ast
import collections
import dataclasses
import functools
import linecache
import subprocess
import sys
import textwrap
import types

import numpy as np
import pytest

import gradus as tf
from gradus.autograph import _source


def codes_of(code):
    """The codes of all functions in a code."""
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield inner
            yield from codes_of(inner)


def is_function(code):
    return bool(code.co_flags & 2 and (code.co_name == "<lambda>" or not code.co_name.startswith("<")))


@pytest.mark.parametrize("module", [argparse, collections, dataclasses, functools, linecache, textwrap, np.lib.format],
                         ids=lambda m: m.__name__)
def test_own_lines_give_the_tree_of_the_file(module):
    with open(module.__file__, encoding="utf-8") as f:
        lines = f.readlines()
    tree, alone, several = ast.parse("".join(lines)), 0, 0
    for code in filter(is_function, codes_of(compile("".join(lines), module.__file__, "exec"))):
        positions = _source._positions(code) if code.co_name == "<lambda>" else []
        if code.co_name == "<lambda>" and not positions:
            continue
        several += 1
        found = _source._only_one(_source._parsed(_source._own_lines(lines, code.co_firstlineno)), code, positions)
        if found is not None:
            alone += 1
            wanted = _source._only_one(tree, code, positions)
            assert ast.dump(found, include_attributes=True) == ast.dump(wanted, include_attributes=True)
    assert alone >= 0.9 * several


TEXT = '''
import gradus as tf


def decorate(*_):
    return lambda f: f


def signature_on_many_lines(
    x,
):
    """Reaches
to the left."""
    # so does

# this
    return x + 1.0 if x > 0.0 else x


@decorate(
    "a",
    lambda x: x,
)
# a comment
@decorate("def f():")
def decorated(x):
    if x > 0.0:
        return x
    return -x

pair = [
    lambda x: x
    if x > 0.0 else -x, lambda x: 2.0 * x,
    lambda x: (-x
) if x > 0.0 else x]


class Outer:
    __factor = 2.0

    class _Inner:
        __factor = 3.0

        def call(self, x):
            def scale(y):
                return self.__factor * y if y > 0.0 else y
            return scale(x)

    def call(self, x): return self.__factor * x if x > 0.0 else x

if True:
\tdef tabs(x):
\t\twhile x < 10.0:
\t\t\tx = x * 2.0
\t\treturn x
else: other = lambda x: x
'''


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A module with that text."""
    (tmp_path / "oddly_written.py").write_text(TEXT)
    monkeypatch.syspath_prepend(str(tmp_path))
    import oddly_written
    yield oddly_written
    del sys.modules["oddly_written"]


@pytest.mark.parametrize("get, positive, negative", [
    (lambda m: m.signature_on_many_lines, 3.0, -2.0),
    (lambda m: m.decorated, 2.0, 2.0),
    (lambda m: m.pair[0], 2.0, 2.0),
    (lambda m: m.pair[1], 4.0, -4.0),
    (lambda m: m.pair[2], -2.0, -2.0),
    (lambda m: m.Outer().call, 4.0, -2.0),
    (lambda m: m.Outer._Inner().call, 6.0, -2.0),
    (lambda m: m.tabs, 16.0, None),
], ids=["signature", "decorated", "lambda 1", "lambda 2", "lambda 3", "class", "inner class", "tabs"])
def test_odd_texts(written, get, positive, negative):
    function = tf.function(get(written))
    assert float(function(tf.constant(2.0))) == positive
    if negative is not None:
        assert float(function(tf.constant(-2.0))) == negative


def test_only_the_function_is_parsed(written, monkeypatch):
    """The first step must not wait for the parser to read a long program."""
    def refused(file, text):
        raise AssertionError("the whole file was parsed")
    monkeypatch.setattr(_source, "_whole_file", refused)
    for function in (written.decorated, written.Outer().call, written.tabs):
        assert tf.autograph.to_code(function)
    with pytest.raises(AssertionError, match="the whole file"):
        tf.autograph.to_code(written.signature_on_many_lines)  # its text reaches to the left


def test_import_loads_little():
    code = "import gradus, sys; print(*(m for m in 'numpy inspect ast re threading tokenize'.split() if m in sys.modules))"
    shown = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True,
                           env={"PYTHONPATH": ":".join(filter(None, sys.path))}).stdout
    assert shown.split() == []


def test_parameters_as_inspect_says_them():
    from gradus._function import _parameters

    def hidden(function):
        return functools.partial(function)  # not a plain function: inspect is asked

    def a(x, y=2, *, z, w=4):
        pass

    def b(x, /, y):
        pass

    def c(*rest):
        pass

    def d(x=1, **more):
        pass
    assert _parameters(a, False) == _parameters(hidden(a), False)
    assert _parameters(a, True) == (("y", False, 2), ("z", True, ...), ("w", True, 4))
    assert _parameters(b, False) == _parameters(hidden(b), False) == (("x", False, ...), ("y", False, ...))
    assert _parameters(c, False) is _parameters(d, False) is None
    assert _parameters(functools.wraps(a)(lambda *args, **kwargs: a(*args, **kwargs)), False) == _parameters(a, False)
