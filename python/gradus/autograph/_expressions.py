"""and, or, not, x if c else y and assert: Python's own, unless the value is known only to the program."""
from ._branches import as_test, check_test, if_stmt, is_traced, tf


def and_(first, *rest):
    """first and rest[0]() and ...: later ones are computed only if they are needed."""
    for i, other in enumerate(rest):
        first = as_test(first)
        if is_traced(first):
            check_test(first, "logical and")
            return _decide(first, lambda: and_(other(), *rest[i + 1:]), lambda: _constant(False))
        if not first:
            return first
        first = other()
    return first


def or_(first, *rest):
    """first or rest[0]() or ..."""
    for i, other in enumerate(rest):
        first = as_test(first)
        if is_traced(first):
            check_test(first, "logical or")
            return _decide(first, lambda: _constant(True), lambda: or_(other(), *rest[i + 1:]))
        if first:
            return first
        first = other()
    return first


def _constant(value):
    return tf().constant(value)


def _decide(test, yes, no):
    return _choice("the operand", test, yes, no)


def not_(value):
    value = as_test(value)
    return tf().logical_not(value) if is_traced(value) else not value


def if_exp(test, yes, no):
    """yes() if test else no()."""
    test = as_test(test)
    if not is_traced(test):
        return yes() if test else no()
    return _choice("the conditional expression", test, yes, no)


def _choice(what, test, yes, no):
    value = None

    def take(branch):
        def run():
            nonlocal value
            value = branch()
        return run

    def put(state):
        nonlocal value
        value, = state

    if_stmt(test, take(yes), take(no), lambda: (value,), put, (what,), 1, 0)
    return value


def assert_stmt(test, message):
    """assert test, message(): at each run of the program, if the test is a traced tensor."""
    test = as_test(test)
    if is_traced(test):
        text = message()
        tf().Assert(test, [] if text is None else [text])
    elif not test:
        text = message()
        raise AssertionError(*([] if text is None else [text]))
