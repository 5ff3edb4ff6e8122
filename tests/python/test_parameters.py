"""No function of the module takes a parameter and ignores it (parameters.py says what counts)."""
import ast

import pytest

import parameters


@pytest.mark.parametrize("text, ignored", [
    ("def f(a, b): return a", {"b"}),
    ("def f(a, *b, c=1, **d): return a", {"b", "c", "d"}),
    ("def f(a, b):\n  del b\n  return a", {"b"}),
    ("def f(a, b, c):\n  _ = b\n  _ = (b, c)\n  return a", {"b", "c"}),
    ("def f(a, b):\n  b\n  return a", {"b"}),
    ("def f(a, b):\n  b = b\n  return a", {"b"}),
    ("def f(a, b):\n  if b:\n    pass\n  return a", {"b"}),
    ("def f(a, b):\n  b = 3\n  return a + b", {"b"}),
    ("def f(a, b):\n  def g(b): return b\n  return g(a)", {"b"}),
    ("def f(a, b):\n  return lambda b: a + b", {"b"}),
    ("def f(a, b):\n  def g(): return b\n  return g(), a", set()),
    ("def f(a, b):\n  b = b or 3\n  return a + b", set()),
    ("def f(a, b):\n  if a:\n    b = 3\n  return b", set()),
    ("def f(a, b):\n  b += a\n  return 1", set()),
    ("def f(a, b):\n  _ = check(b)\n  return a", set()),
    ("def f(a, b=None, **c): return g(a, b, **c)", set()),
    ("def f(a, b): raise TypeError('no')", set()),
    ("def f(a, b): return locals()", set()),
    ("def f(self, a):\n  '''Text.'''", {"a"}),
])
def test_what_counts_as_read(text, ignored):
    assert parameters.unread_of(ast.parse(text).body[0]) == ignored


def test_reasons_are_asked_for_and_kept_true(tmp_path):
    (tmp_path / "a.py").write_text("class C:\n  def f(self, x, name=None): return 1\ndef g(y, name=None): return y\n")
    allowed = {"*.name": "names are for graphs", "a.py:C.*.x": "there is one answer only"}
    assert parameters.check(tmp_path, allowed) == []
    assert "a.py:C.f.x is taken" in parameters.check(tmp_path, {"*.name": "names are for graphs"})[0]
    assert "nothing needs" in parameters.check(tmp_path, {**allowed, "a.py:g.y": "it is read now"})[0]
    assert "reason" in parameters.check(tmp_path, {**allowed, "*.name": ""})[0]
