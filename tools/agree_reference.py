"""Makes tests/agree/reference.txt: what JAX computes of the programs of tests/agree, in float64.

    python tools/agree_reference.py            # where jax is installed; programs that have an answer keep it
    python tools/agree_reference.py --all      # all of them again
    python tools/agree_reference.py --check FILE   # nothing is written: says which programs of FILE are fit to be used

One line for each result: program, which result (v value, g gradient, h product with the Hessian), shape, how much the
program amplifies rounding errors (measured by running it with inputs that are a little off), a random projection of all elements, the
largest of them, and up to eight elements. tests/agree/compare.h and tests/python/test_agree.py read it.
The functions of the language stand in agree_functions.py.
"""
import argparse
import os
import pathlib
import sys
import zlib

os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

import agree_functions as functions

OFF = 2.0**-26
FOLDER = pathlib.Path(__file__).parents[1] / "tests" / "agree"


# ---------------------------------------------------------------------------------------------- reading
def programs_in(path):
    """(name, flags, seed, inputs, body, text) for each program; a body is (parameters, statements, results)."""
    found = []
    for chunk in ("\n" + path.read_text()).split("\nprogram ")[1:]:
        lines = [line.split("#")[0].split() for line in chunk.split("\n")]
        head, lines = lines[0], [words for words in lines[1:] if words]
        seed = next((int(word[5:]) for word in head if word.startswith("seed=")), 0)
        inputs = [words for words in lines if words[0] in ("in", "data")]
        rest = iter([words for words in lines if words[0] not in ("in", "data")])
        body = block_of(rest, [words[1] for words in inputs])
        text = " ".join(" ".join(words) for words in [head, *lines])
        found.append((head[0], set(head[1:]), seed, inputs, body, text))
    return found


def block_of(lines, parameters):
    statements = []
    for words in lines:
        if words[0] in ("ret", "out"):
            return parameters, statements, words[1:]
        if words[0] == "fn":
            statements.append((words[1], block_of(lines, words[2:])))
        else:
            statements.append(words)
    raise ValueError(f"no end: {statements}")


# ---------------------------------------------------------------------------------------------- numbers
def random_numbers(count, seed):
    def step(h):
        h = h ^ (h >> 16)
        return h * 0x45D9F3B % 2**32
    return np.array([(lambda h: ((h ^ (h >> 16)) >> 8) / 2**24)(step(step((k * 2654435761 + seed * 40503 + 12345) % 2**32)))
                     for k in range(count)], dtype=np.float64)


def uniform(dtype, shape, seed, low, high):
    count = int(np.prod(shape, dtype=int))
    x = low + (high - low) * random_numbers(count, seed)
    if dtype.startswith("complex"):
        x = x + 1j * (low + (high - low) * random_numbers(count, seed + 500))
    return x.reshape(shape)


def rounded(x, dtype):
    return np.asarray(jnp.asarray(x).astype({"bool": "bool_"}.get(dtype, dtype)))


def inputs_of(program, batch=4):
    _, _, seed, inputs, _, _ = program
    arrays = []
    for number, (_, _, dtype, sizes, kind, *numbers) in enumerate(inputs):
        shape = [batch if s == "B" else int(s) for s in sizes[1:-1].split(",") if s]
        numbers = [float(x) for x in numbers]
        count = int(np.prod(shape, dtype=int))
        if kind == "uniform":
            x = uniform(dtype, shape, seed + 7919 * number, *numbers)
        elif kind == "values":
            x = np.array([numbers[k % len(numbers)] for k in range(count)]).reshape(shape)
        else:
            u = random_numbers(count, seed + 7919 * number).reshape(shape)
            x = u < 0.5 if kind == "bools" else numbers[0] + np.floor(u * (numbers[1] - numbers[0]))
        arrays.append(rounded(x, dtype))
    return arrays


# ---------------------------------------------------------------------------------------------- running
def run_block(block, arguments, names):
    parameters, statements, results = block
    names = {**names, **dict(zip(parameters, arguments))}

    def operand(word):
        if word[0] == "(":
            return [operand(part) for part in word[1:-1].split(",")]
        if word[0] == "@" or word in names:
            return names[word]
        return float(word) if set(word) & set(".e") else int(word)

    for statement in statements:
        if isinstance(statement, tuple):
            name, inner = statement
            names["@" + name] = lambda *x, inner=inner, here=dict(names): run_block(inner, x, here)
            continue
        equals = statement.index("=")
        rest = statement[equals + 2:]
        attributes = dict(word.split("=", 1) for word in rest if "=" in word)
        f = functions.TABLE[statement[equals + 1]]
        got = f(functions.Attributes(attributes), *[operand(word) for word in rest if "=" not in word])
        names.update(zip(statement[:equals], got if isinstance(got, (list, tuple)) else [got]))
    return [names[name] for name in results]


def is_continuous(x):
    return jnp.issubdtype(x.dtype, jnp.inexact)


def widened(x):
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        return jnp.asarray(x, jnp.complex128)
    return jnp.asarray(x, jnp.float64) if is_continuous(jnp.asarray(x)) else jnp.asarray(x)


def answers_of(program):
    """The results as {"v0": array}, twice: the second time with inputs changed by about OFF times themselves."""
    given = [widened(x) for x in inputs_of(program)]
    moved = [x * (1 + OFF * (2 * random_numbers(x.size, 99).reshape(x.shape) - 1)) if words[4] == "uniform" else x
             for x, words in zip(given, program[3])]
    f = lambda *x: computed(program, list(x))
    try:
        compiled = jax.jit(f)
        return compiled(*given), compiled(*moved)
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError):  # it looks at numbers on its way: loops, say
        return f(*given), f(*moved)


def computed(program, given):
    name, flags, seed, inputs, body, _ = program
    sources = [i for i, words in enumerate(inputs) if words[0] == "in"]
    values = [jnp.asarray(y) for y in run_block(body, given, {})]
    answers = {f"v{i}": jnp.asarray(y) for i, y in enumerate(values)}
    if "nograd" in flags:
        return answers
    weights = []
    for y in (y for y in values if is_continuous(jnp.asarray(y))):
        weights.append(widened(uniform(str(y.dtype), y.shape, 1000 + len(weights), -1, 1)))

    def loss(*x):
        at = list(given)
        for i, part in zip(sources, x):
            at[i] = part
        ys = [y for y in run_block(body, at, {}) if is_continuous(jnp.asarray(y))]
        return sum(jnp.sum(jnp.real(y * jnp.conj(w))) for y, w in zip(ys, weights))

    x = [given[i] for i in sources]
    gradient = jax.grad(loss, argnums=tuple(range(len(x))))
    answers.update({f"g{i}": jnp.conj(g) for i, g in enumerate(gradient(*x))})
    if "nohvp" not in flags and (not name.startswith("random_") or int(name.split("_")[-1]) % 3 == 0):  # they take long
        v = [widened(uniform(str(a.dtype), a.shape, 2000 + i, -1, 1)) for i, a in enumerate(x)]
        h = along(gradient, x, v) if "custom_gradient" in program[5] else jax.jvp(gradient, x, v)[1]
        answers.update({f"h{i}": jnp.conj(a) for i, a in enumerate(h)})
    return answers


def along(gradient, x, v):
    """The same by reverse mode alone: rules that replace derivatives have no forward mode in JAX."""
    product = lambda *y: sum(jnp.sum(jnp.real(g * direction)) for g, direction in zip(gradient(*y), v))
    return jax.grad(product, argnums=tuple(range(len(x))))(*x)


# ---------------------------------------------------------------------------------------------- writing
def plain(x):
    x = np.asarray(x)
    if np.iscomplexobj(x):
        x = np.stack([x.real, x.imag], -1)
    return x.astype(np.float64).reshape(-1)


def projected(x):
    x = np.where(np.isnan(x), 0.5, np.where(np.isinf(x), np.copysign(0.25, x), x))
    return float(np.sum((2 * random_numbers(x.size, 77) - 1) * x))


def line_of(program, result, array, moved):
    x, y = plain(array), plain(moved)
    finite = np.isfinite(x)
    largest = float(np.max(np.abs(x[finite]), initial=0))
    if not is_continuous(array) and not np.array_equal(x, y):
        raise ValueError(f"{result} is a decision that rounding makes")
    if not np.array_equal(finite, np.isfinite(y)):
        raise ValueError(f"{result} is finite or not as rounding will")
    error = float(np.max(np.abs(x - y)[finite], initial=0))
    amplification = max(4.0, 4 * error / (OFF * largest)) if largest else 4.0
    if amplification > 1e4:
        raise ValueError(f"{result} amplifies rounding errors by {amplification:.3g}")
    samples = x if x.size <= 8 else x[[k * (x.size - 1) // 7 for k in range(8)]]
    shape = "[" + ",".join(map(str, array.shape)) + "]"
    return " ".join([program, result, shape, f"{amplification:.3g}", f"{projected(x):.16g}", f"{largest:.6g}",
                     *(f"{v:.16g}" for v in samples)])


def lines_of(program):
    exact, moved = answers_of(program)
    return [line_of(program[0], key, exact[key], moved[key]) for key in exact]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--check")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.check:
        for program in programs_in(pathlib.Path(options.check)):
            try:
                print("\n".join(lines_of(program)), flush=True)
            except Exception as error:  # noqa: BLE001
                print(f"{program[0]}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        return
    path = FOLDER / "reference.txt"
    known, marks = {}, {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("#"):
            _, name, mark = line.split()
            marks[name] = mark
        else:
            known.setdefault(line.split()[0], []).append(line)
    programs = [p for p in programs_in(FOLDER / "programs.txt") + programs_in(FOLDER / "random.txt") if "noref" not in p[1]]
    made = 0
    for name, *_, text in (programs if options.all else []):
        marks.pop(name, None)

    def write():
        out = []
        for name, *_ in programs:
            if name in known and name in marks:
                out += [f"# {name} {marks[name]}", *known[name]]
        path.write_text("\n".join(out) + "\n")

    for program in programs:
        name, *_, text = program
        mark = f"{zlib.crc32(text.encode()):08x}"
        if marks.get(name) == mark and not (options.only and options.only in name):
            continue
        try:
            known[name] = lines_of(program)
            marks[name] = mark
        except Exception as error:  # noqa: BLE001
            marks.pop(name, None)
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr, flush=True)
        made += 1
        if made % 20 == 0:
            write()
    write()


if __name__ == "__main__":
    main()
