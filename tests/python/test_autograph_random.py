"""Random programs with every kind of jump compute, converted, what Python computes: on numbers and traced tensors."""
import linecache
import random

import pytest

import gradus as tf

NAMES = "abcd"


class Writer:
    """Writes one function of two numbers. All variables have values from the start, and no loop is endless."""

    def __init__(self, seed, tensors):
        self.random, self.lines, self.count, self.tensors = random.Random(seed), [], 0, tensors

    def expression(self, depth=0):
        r = self.random
        kind = r.randrange(8 if depth < 2 else 3)
        if kind < 2:
            return r.choice(NAMES)
        if kind == 2:
            return str(r.randrange(-4, 9))
        a, b = self.expression(depth + 1), self.expression(depth + 1)
        if kind < 6:
            return f"(({a}) {r.choice('+-*')} ({b})) % 97"
        if kind == 6:
            return f"({a}) if {self.test(depth + 1)} else ({b})"
        return f"choose({a}, {b})"

    def test(self, depth=0):
        r = self.random
        kind = r.randrange(7 if depth < 2 else 3)
        a, b = self.expression(2), self.expression(2)
        if kind < 3:
            return f"({a}) {r.choice(['<', '<=', '>', '>=', '==', '!='])} ({b})"
        if kind == 3:
            return f"({self.test(depth + 1)}) {r.choice(['and', 'or'])} ({self.test(depth + 1)})"
        if kind == 4:
            return f"not ({self.test(depth + 1)})"
        if kind == 5:
            return f"{a} < {b} <= {self.expression(2)}"
        return f"({self.test(depth + 1)}) and ({self.test(depth + 1)}) or ({self.test(depth + 1)})"

    def block(self, indent, depth, in_loop):
        for _ in range(self.random.randrange(1, 4)):
            if self.statement(indent, depth, in_loop):
                return

    def write(self, indent, text):
        self.lines.append("    " * indent + text)

    def statement(self, indent, depth, in_loop):
        """Writes one statement; whether it is a jump."""
        r = self.random
        kind = r.randrange(14 if depth < 3 else 4)
        if kind < 3:
            self.write(indent, f"{r.choice(NAMES)} = {self.expression()}")
        elif kind == 3:
            self.write(indent, f"{r.choice(NAMES)} {r.choice(['+', '-'])}= {self.expression(2)}")
        elif kind < 8:
            self.write(indent, f"if {self.test()}:")
            self.block(indent + 1, depth + 1, in_loop)
            if r.random() < 0.3:
                self.write(indent, f"elif {self.test()}:")
                self.block(indent + 1, depth + 1, in_loop)
            if r.random() < 0.5:
                self.write(indent, "else:")
                self.block(indent + 1, depth + 1, in_loop)
        elif kind < 10:
            self.count += 1
            name = f"i{self.count}"
            kinds = ["range({})", "tf.range({})"] if self.tensors else ["range({})"]
            self.write(indent, f"for {name} in {r.choice(kinds).format(r.randrange(4))}:")
            self.write(indent + 1, f"{r.choice(NAMES)} = {name} + {self.expression(2)}")
            self.block(indent + 1, depth + 1, True)
            self._otherwise(indent, depth, in_loop)
        elif kind == 10:
            self.count += 1
            name = f"n{self.count}"
            self.write(indent, f"{name} = {self.random.choice(['0', 'a - a'])}")
            self.write(indent, f"while {name} < {r.randrange(1, 4)} and ({self.test()}):")
            self.write(indent + 1, f"{name} += 1")
            self.block(indent + 1, depth + 1, True)
            self._otherwise(indent, depth, in_loop)
        elif kind == 11:
            self.write(indent, "try:" if not self.tensors else "with nothing():")
            self.block(indent + 1, depth + 1, in_loop)
            if not self.tensors:
                self.write(indent, "finally:")
                self.write(indent + 1, f"{r.choice(NAMES)} = {self.expression()}")
        elif in_loop and r.random() < 0.7:
            self.write(indent, r.choice(["break", "continue"]))
            return True
        else:
            self.write(indent, f"return {self.expression()}")
            return True
        return False

    def _otherwise(self, indent, depth, in_loop):
        if self.random.random() < 0.3:
            self.write(indent, "else:")
            self.block(indent + 1, depth + 1, in_loop)


def program(seed, tensors):
    """A function of random text, with its source where Python looks for it."""
    writer = Writer(seed, tensors)
    writer.write(0, "def f(a, b):")
    writer.write(1, "c, d = b - a, a + 2 * b")
    for _ in range(4):
        if writer.statement(1, 0, False):
            break
    writer.write(1, "return ((a * 7 + b) * 11 + c) * 3 + d")
    text = "\n".join(writer.lines) + "\n"
    name = f"<random program {seed} {tensors}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"choose": choose, "nothing": nothing, "tf": PlainRange}
    exec(compile(text, name, "exec"), space)  # noqa: S102
    return space["f"], text, space


def choose(x, y):
    if x < y:
        return x + 1
    return y - 1


class nothing:  # noqa: N801
    def __enter__(self):
        return self

    def __exit__(self, *args):
        return False


class PlainRange:
    range = range


ARGUMENTS = [(0, 0), (3, -2), (-5, 7), (11, 4)]


@pytest.mark.parametrize("seed", [*range(80), 1313])  # one that was wrong
def test_on_numbers(seed):
    f, text, _ = program(seed, False)
    converted = tf.autograph.to_graph(f)
    assert converted is not f
    for a, b in ARGUMENTS:
        assert converted(a, b) == f(a, b), text


@pytest.mark.parametrize("seed", [*range(20), 1238, 1313])
def test_on_traced_tensors(seed):
    f, text, space = program(seed, True)
    wanted = [f(a, b) for a, b in ARGUMENTS]
    space["tf"] = tf
    traced = tf.function(f)
    for (a, b), want in zip(ARGUMENTS, wanted):
        assert traced(tf.constant(a), tf.constant(b)).numpy() == want, text
