"""No function of the module takes a parameter and ignores it (parameters.py says what counts)."""
import ast

import pytest

import gradus as tf
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


# --------------------------------------------------------------------------------------------------- the tables in C++

def test_an_argument_that_nothing_reads_is_an_error():
    """conftest.py turns that check on; a row may declare parameters unused, with a reason."""
    assert tf.gather([1, 2], [0], validate_indices=True).numpy().tolist() == [1]
    assert tf.nn.moments([1.0, 3.0], [0], shift=2.0)[0] == 2.0
    assert tf.add(1, 2, name="given") == 3
    with pytest.raises(AssertionError, match="epsilon=1e-07, which nothing read"):
        tf._core._unread_for_tests(1, 1e-7)
    assert tf._core._unread_for_tests(1) == 1  # not given
    assert tf._core._unread_for_tests(1, None) == 1  # given as it is by default
    tf._core._check_arguments(False)
    try:
        assert tf._core._unread_for_tests(1, 1e-7) == 1
    finally:
        tf._core._check_arguments(True)


def test_a_signature_has_a_slot_for_every_parameter():
    with pytest.raises(SystemError, match="more than 20 parameters"):
        tf._core._signature_for_tests(", ".join(f"a{i}" for i in range(21)), "")
    with pytest.raises(SystemError, match="no parameter 'b'"):
        tf._core._signature_for_tests("a, c", "b: it is not there")
    with pytest.raises(SystemError, match="no reason"):
        tf._core._signature_for_tests("a, b", "b")
    assert tf._core._signature_for_tests(", ".join(f"a{i}" for i in range(20)), "a0: a reason; a3: another") == 20
