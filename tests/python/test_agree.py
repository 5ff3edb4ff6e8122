"""The programs of tests/agree in Python, in all modes: against JAX's numbers, against C++ (the same bits), eager, compiled,
saved and loaded, mapped, forward and reverse, with one thread and two. See tests/agree/agree_test.cpp.

GRADUS_AGREE_PROGRAMS=N tries N random programs more, GRADUS_AGREE_SEED says which.
"""
import os
import pathlib
import re
import subprocess
import sys

import agree
import gradus as tf
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
import agree_programs

ROWS, OTHER_ROWS, MANY_ROWS = 4, 5, 700
UNITS = 40  # in the last place of the largest element
BINARY = pathlib.Path(tf.__file__).parents[2] / "tests" / "agree_results"


# ---------------------------------------------------------------------------------------------- what is computed
class Point:
    def __init__(self, inputs, weights, directions):
        self.inputs, self.weights, self.directions = list(inputs), list(weights), list(directions)

    def flat(self):
        return self.inputs + self.weights + self.directions


def split(flat, like):
    n, m = len(like.inputs), len(like.weights)
    return Point(flat[:n], flat[n:n + m], flat[n + m:])


def is_continuous(t):
    return t.dtype.is_floating or t.dtype.is_complex


def point_of(program, batch, variant):
    at = Point(agree.inputs_of(program, batch, variant), [], [])
    if not program.has("nograd"):
        for y in filter(is_continuous, agree.run(program, at.inputs)):
            at.weights.append(agree.uniform(y.dtype, y.shape.as_list(), 1000 + len(at.weights) + 31 * variant, -1, 1))
        for i in program.sources():
            x = at.inputs[i]
            at.directions.append(agree.uniform(x.dtype, x.shape.as_list(), 2000 + len(at.directions) + 31 * variant, -1, 1))
    return at


def summed(xs, ws):
    total = None
    for x, w in zip(xs, ws):
        if x.dtype.is_complex:
            term = tf.reduce_sum(tf.math.real(x * tf.math.conj(w)))
        elif x.dtype in (tf.float16, tf.bfloat16):
            term = tf.reduce_sum(tf.cast(x, tf.float32) * tf.cast(w, tf.float32))
        else:
            term = tf.reduce_sum(x * w)
        term = tf.cast(term, tf.float64)
        total = term if total is None else total + term
    return total


def loss(program, at):
    return summed(list(filter(is_continuous, agree.run(program, at.inputs))), at.weights)


def sources_of(program, at):
    return [at.inputs[i] for i in program.sources()]


def value(program, at):
    return agree.run(program, at.inputs)


def gradient(program, at):
    x = sources_of(program, at)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loss(program, at)
    return [tf.convert_to_tensor(g) for g in tape.gradient(y, x, unconnected_gradients="zero")]


def hessian_product(program, at):
    with tf.autodiff.ForwardAccumulator(sources_of(program, at), at.directions) as acc:
        g = gradient(program, at)
    return acc.jvp(g, unconnected_gradients="zero")


def hessian_product2(program, at):
    x = sources_of(program, at)
    with tf.GradientTape() as tape:
        tape.watch(x)
        along = summed(gradient(program, at), at.directions)
    return [tf.convert_to_tensor(g) for g in tape.gradient(along, x, unconnected_gradients="zero")]


# ---------------------------------------------------------------------------------------------- when two are the same
def numbers(t):
    x = tf.cast(t, tf.float32).numpy() if t.dtype == tf.bfloat16 else t.numpy()
    if t.dtype.is_complex:
        return np.stack([x.real, x.imag], -1).astype(np.float64).reshape(-1)
    return x.astype(np.float64).reshape(-1)


def bits(t):
    return (tf.bitcast(t, tf.uint16) if t.dtype == tf.bfloat16 else t).numpy()


def epsilon_of(dtype):
    bits = {tf.float16: 10, tf.bfloat16: 7, tf.float32: 23, tf.complex64: 23, tf.float64: 52, tf.complex128: 52}
    return 2.0 ** -bits[dtype] if dtype in bits else 0.0


def close(x, y, allowed):
    with np.errstate(invalid="ignore"):
        return (np.isnan(x) & np.isnan(y)) | (x == y) | (np.abs(x - y) <= allowed)


def largest_of(x):
    return np.max(np.abs(x[np.isfinite(x)]), initial=0)


def differs(got, expected, amplification, least=0):
    """What is different, or None. Errors are relative to the largest element, or to `least`."""
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        return f"is {got.dtype.name} {got.shape}, expected {expected.dtype.name} {expected.shape}"
    x, y = numbers(got), numbers(expected)
    allowed = UNITS * epsilon_of(got.dtype) * amplification * max(least, largest_of(y))
    good = close(x, y, allowed)
    if good.all():
        return None
    k = int(np.argmin(good))
    return f"element {k} is {x[k]!r}, expected {y[k]!r} (allowed {allowed:.3g})"


def differs_from_reference(got, line, amplification):
    shape, _, projection, largest, *samples = line
    if shape != str(got.shape.as_list()).replace(" ", ""):
        return f"has shape {got.shape}, expected {shape}"
    x = numbers(got)
    samples = np.array([float(s) for s in samples])
    allowed = UNITS * epsilon_of(got.dtype) * amplification * float(largest)
    places = np.arange(x.size) if x.size <= 8 else np.arange(8) * (x.size - 1) // 7
    good = close(x[places], samples, allowed)
    if not good.all():
        k = int(np.argmin(good))
        return f"element {places[k]} is {x[places[k]]!r}, expected {samples[k]!r} (allowed {allowed:.3g})"
    finite = np.where(np.isnan(x), 0.5, np.where(np.isinf(x), np.copysign(0.25, x), x))
    mine = float(np.sum((2 * agree.hashed(x.size, 77) - 1) * finite))
    if abs(mine - float(projection)) > allowed * x.size**0.5 + 1e-14 * abs(float(projection)):
        return f"has the projection {mine!r}, expected {projection}"
    return None


# ---------------------------------------------------------------------------------------------- all programs
def more_programs(folder):
    """A file of random programs, if GRADUS_AGREE_PROGRAMS asks for it."""
    count = int(os.environ.get("GRADUS_AGREE_PROGRAMS", "0"))
    path = folder / "more.txt"
    path.write_text(agree_programs.text_of(int(os.environ.get("GRADUS_AGREE_SEED", "1")), count))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return [agree.FOLDER / "programs.txt", agree.FOLDER / "random.txt", more_programs(tmp_path_factory.mktemp("agree"))]


@pytest.fixture(scope="module")
def programs(files):
    only = os.environ.get("GRADUS_AGREE_ONLY", "")
    return [p for path in files for p in agree.read_programs(path) if only in p.name]


def references():
    known = {}
    for line in (agree.FOLDER / "reference.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, result, *rest = line.split(" ")
            known[name, result] = rest
    return known


REFERENCES = references()


def amplification(program, result):
    rounds = 2.0**29 if program.has("single") else 2.0**13 if program.has("half") else 1.0
    line = REFERENCES.get((program.name, result))
    return rounds * (float(line[1]) if line else 512)


def least(program):
    """Without a reference nobody knows whether a number that is small is the rest of larger ones."""
    return 0 if (program.name, "v0") in REFERENCES else 1


class Failures(list):
    def compare(self, program, kind, got, expected, where):
        if len(got) != len(expected):
            self.append(f"{program.name}, {where}: {len(got)} results, expected {len(expected)}")
        for i, (x, y) in enumerate(zip(got, expected)):
            said = differs(x, y, 4 * amplification(program, f"{kind}{i}"), least(program))
            if said:
                self.append(f"{program.name}, {where}, {kind}{i} {said}")

    def compare_bits(self, program, kind, got, expected, where):
        for i, (x, y) in enumerate(zip(got, expected)):
            if bits(x).tobytes() != bits(y).tobytes() or x.dtype != y.dtype:
                self.append(f"{program.name}, {where}, {kind}{i} {differs(x, y, 0) or 'has other bits'}")


def for_all(programs, check, *without):
    failures, count = Failures(), 0
    for program in programs:
        if program.has("cpp", *without):
            continue
        count += 1
        try:
            check(program, failures)
        except Exception as error:  # noqa: BLE001
            failures.append(f"{program.name}: raised {type(error).__name__}: {str(error).splitlines()[0]}")
    assert count
    assert not failures, f"{len(failures)} of {count} programs:\n" + "\n".join(failures[:60])


def compare_reference(program, kind, got, failures):
    for i, x in enumerate(got):
        line = REFERENCES.get((program.name, f"{kind}{i}"))
        said = line and differs_from_reference(x, line, amplification(program, f"{kind}{i}"))
        if said:
            failures.append(f"{program.name}, {kind}{i} {said}")


def test_results_are_those_of_the_reference(programs):
    def check(program, failures):
        at = point_of(program, ROWS, 0)
        compare_reference(program, "v", value(program, at), failures)
        if not program.has("nograd"):
            g = gradient(program, at)
            compare_reference(program, "g", g, failures)
            if not program.has("nohvp"):
                h = hessian_product(program, at)
                compare_reference(program, "h", h, failures)
                failures.compare(program, "h", hessian_product2(program, at), h, "reverse over reverse")
    for_all(programs, check)


def in_cpp(*words):
    """Runs tests/agree/results.cpp; what it says of programs that fail."""
    assert BINARY.exists(), f"build the target agree_results first: {BINARY}"
    return subprocess.run([BINARY, *words], capture_output=True, text=True, check=True).stderr


def test_results_have_the_bits_of_cpp(programs, files, tmp_path):
    """Both languages run the same kernels."""
    path = tmp_path / "results.npz"
    said = in_cpp(path, *files)
    with np.load(path) as file:
        results = dict(file)

    def check(program, failures):
        at = point_of(program, ROWS, 0)
        got = {"v": value(program, at)}
        if not program.has("nograd"):
            got["g"] = gradient(program, at)
            if not program.has("nohvp"):
                got["h"] = hessian_product(program, at)
        for kind, tensors in got.items():
            for i, t in enumerate(tensors):
                other, mine = results.get(f"{program.name}/{kind}{i}"), bits(t)
                if other is None:
                    failures.append(f"{program.name}: C++ has no {kind}{i}: {said}")
                elif mine.dtype.itemsize != other.dtype.itemsize or mine.shape != other.shape or mine.tobytes() != other.tobytes():
                    failures.append(f"{program.name}, {kind}{i}: Python {mine.reshape(-1)[:4]}, C++ {other.reshape(-1)[:4]}")
    for_all(programs, check, "order")


def test_forward_mode_is_the_transpose_of_reverse_mode(programs):
    def check(program, failures):
        at = point_of(program, ROWS, 0)
        if not at.directions:
            return
        with tf.autodiff.ForwardAccumulator(sources_of(program, at), at.directions) as acc:
            y = loss(program, at)
        g = gradient(program, at)
        forward = float(acc.jvp(y, unconnected_gradients="zero"))
        backward = float(summed(g, at.directions))
        terms = least(program) + sum(float(np.sum(np.abs(numbers(x)).reshape(-1))) for x in g)
        allowed = max(epsilon_of(x.dtype) * amplification(program, f"g{i}") for i, x in enumerate(g))
        if not abs(forward - backward) <= 4 * UNITS * allowed * terms:
            failures.append(f"{program.name}: forward {forward!r}, backward {backward!r}")
    for_all(programs, check, "nograd")


# ---------------------------------------------------------------------------------------------- compiled
def compiled(program, f, like):
    return tf.function(lambda *flat: f(program, split(list(flat), like)))


def compare_compiled(program, kind, f, failures):
    at, changed = point_of(program, ROWS, 0), point_of(program, ROWS, 2)
    g = compiled(program, f, at)
    expected = f(program, at)
    failures.compare(program, kind, g(*at.flat()), expected, "first call")
    if program.has_batch() and not program.has("nosize"):
        for rows in (OTHER_ROWS, 1, 0, OTHER_ROWS + 2):
            try:
                other = point_of(program, rows, 1)
                eager = f(program, other)
            except (tf.errors.OpError, ValueError):
                if rows > 1:
                    raise
                continue  # the program needs more rows
            failures.compare(program, kind, g(*other.flat()), eager, f"{rows} rows")
    failures.compare(program, kind, g(*changed.flat()), f(program, changed), "other values")
    failures.compare(program, kind, g(*at.flat()), expected, "last call")


def test_compiled_values(programs):
    for_all(programs, lambda p, failures: compare_compiled(p, "v", value, failures), "nocompile")


def test_compiled_gradients(programs):
    for_all(programs, lambda p, failures: compare_compiled(p, "g", gradient, failures), "nocompile", "nograd")


def test_compiled_second_order(programs):
    def check(program, failures):
        at = point_of(program, ROWS, 0)
        failures.compare(program, "h", compiled(program, hessian_product, at)(*at.flat()), hessian_product(program, at), "hvp")
    for_all(programs, check, "nocompile", "nograd", "nohvp")


def test_gradients_of_compiled_functions(programs):
    def check(program, failures):
        at = point_of(program, ROWS, 0)
        f = tf.function(lambda *x: agree.run(program, x))
        x = sources_of(program, at)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = list(filter(is_continuous, f(*at.inputs)))
        got = tape.gradient(y, x, output_gradients=at.weights, unconnected_gradients="zero")
        failures.compare(program, "g", [tf.convert_to_tensor(g) for g in got], gradient(program, at), "under a tape")
    for_all(programs, check, "nocompile", "nograd")


# ---------------------------------------------------------------------------------------------- saved
def compare_saved(program, kind, f, folder, failures, any_size):
    at = point_of(program, ROWS, 0)
    flat = at.flat()
    sizes = [t.shape.as_list() for t in flat]
    more = None
    if any_size and program.has_batch() and not program.has("nosize"):  # sizes that differ are not said, and others are tried
        more = point_of(program, OTHER_ROWS, 1).flat()
        changes = [list(zip(shape, t.shape.as_list())) for shape, t in zip(sizes, more)]
        if all(pair == (ROWS, OTHER_ROWS) or pair[0] == pair[1] for pairs in changes for pair in pairs):
            sizes = [[n if n == m else None for n, m in pairs] for pairs in changes]
        else:  # first sizes that are not said are taken to be equal
            more = None
    signature = [tf.TensorSpec(shape, t.dtype) for shape, t in zip(sizes, flat)]
    module = tf.Module()
    module.f = tf.function(lambda x: f(program, split(list(x), at)), input_signature=[signature])
    tf.saved_model.save(module, folder)
    loaded = tf.saved_model.load(folder)
    if not more:
        failures.compare_bits(program, kind, loaded.f(flat), module.f(flat), "loaded")
    else:
        failures.compare(program, kind, loaded.f(flat), module.f(flat), "loaded")
        failures.compare(program, kind, loaded.f(more), f(program, split(more, at)), "loaded, other sizes")


def test_saved_and_loaded(programs, tmp_path):
    for_all(programs, lambda p, failures: compare_saved(p, "v", value, str(tmp_path / "saved"), failures, True), "nocompile", "nosave")


def test_saved_and_loaded_gradients(programs, tmp_path):
    for_all(programs, lambda p, failures: compare_saved(p, "g", gradient, str(tmp_path / "saved"), failures, True),
            "nocompile", "nosave", "nograd")


@pytest.fixture(scope="module")
def some(programs, files, tmp_path_factory):
    """A file with some of the programs that can be saved; and these. Written files wait for the disk."""
    names = [p.name for p in programs if not p.has("nocompile", "nosave", "cpp")]
    names = set(names if "GRADUS_AGREE_ONLY" in os.environ else names[::5])
    path = tmp_path_factory.mktemp("some") / "some.txt"
    texts = [path.read_text() for path in files]
    chunks = [f"program {chunk}" for text in texts for chunk in ("\n" + text).split("\nprogram ")[1:]]
    path.write_text("\n".join(chunk for chunk in chunks if chunk.split()[1] in names))
    return path, [p for p in programs if p.name in names]


def test_functions_that_cpp_saved_run_in_python(some, tmp_path):
    path, programs = some
    said = in_cpp("--save", tmp_path, path)
    assert not said, said

    def check(program, failures):
        with np.load(tmp_path / f"{program.name}.gradus") as file:
            constants = [tf.constant(file[f"c{i}"]) for i in range(len(file) - 1)]
            run = tf._core._load_program(file["program"].tobytes().decode(), constants, [])
        inputs = agree.inputs_of(program, ROWS, 0)
        failures.compare(program, "v", tf._core._call_program(run, inputs), agree.run(program, inputs), "saved by C++")
    for_all(programs, check)


def test_functions_that_python_saved_run_in_cpp(some, tmp_path):
    path, programs = some
    for program in programs:
        kinds = [(t.dtype, t.shape.as_list()) for t in agree.inputs_of(program, ROWS, 0)]
        text, constants, _ = tf._core._trace_to_save(lambda *x, p=program: agree.run(p, x), kinds, [], program.name)
        with open(tmp_path / f"{program.name}.gradus", "wb") as file:
            np.savez(file, program=np.frombuffer(text.encode(), np.uint8), **{f"c{i}": bits(c) for i, c in enumerate(constants)})
    said = in_cpp("--run", tmp_path, tmp_path / "out.npz", path)
    assert not said, said
    with np.load(tmp_path / "out.npz") as file:
        results = dict(file)

    def check(program, failures):
        for i, t in enumerate(agree.run(program, agree.inputs_of(program, ROWS, 0))):
            got = results[f"{program.name}/v{i}"]
            got = tf.bitcast(tf.constant(got.view(np.uint16)), tf.bfloat16) if t.dtype == tf.bfloat16 else tf.constant(got)
            said = differs(got, t, 4 * amplification(program, f"v{i}"), least(program))
            if said:
                failures.append(f"{program.name}, saved by Python, v{i} {said}")
    for_all(programs, check)


# ---------------------------------------------------------------------------------------------- mapped
def compare_mapped(program, kind, f, failures):
    points = [point_of(program, ROWS, variant) for variant in range(3)]
    batch = [tf.stack(parts) for parts in zip(*[at.flat() for at in points])]
    expected = [tf.stack(parts) for parts in zip(*[f(program, at) for at in points])]
    mapped = lambda *x: tf.vectorized_map(lambda flat: f(program, split(list(flat), points[0])), list(x))
    failures.compare(program, kind, mapped(*batch), expected, "mapped")
    if not program.has("nocompile"):
        failures.compare(program, kind, tf.function(mapped)(*batch), expected, "mapped and compiled")
        g = compiled(program, f, points[0])
        failures.compare(program, kind, tf.vectorized_map(lambda flat: g(*flat), batch), expected, "compiled and mapped")


def test_mapped_values(programs):
    for_all(programs, lambda p, failures: compare_mapped(p, "v", value, failures), "novmap")


def test_mapped_gradients(programs):
    for_all(programs, lambda p, failures: compare_mapped(p, "g", gradient, failures), "novmap", "nograd")


# ---------------------------------------------------------------------------------------------- threads
def test_threads_give_the_same_bits(programs):
    def check(program, failures):
        set_threads(1)
        at = point_of(program, MANY_ROWS if program.has_batch() else ROWS, 0)

        def everything():
            results = value(program, at)
            if not program.has("nograd"):
                results = results + gradient(program, at)
                if not program.has("nocompile"):
                    results = results + list(compiled(program, gradient, at)(*at.flat()))
            return results
        one = everything()
        set_threads(2)
        failures.compare_bits(program, "", everything(), one, "2 threads")

    set_threads = tf.config.threading.set_intra_op_parallelism_threads
    before = os.cpu_count()
    try:
        for_all(programs[::3], check, "nobig")  # C++ tries them all
    finally:
        set_threads(before)

# ---------------------------------------------------------------------------------------------- coverage
HEADERS = """activations bitwise control counting custom elementwise forward functional indexing jacobian linalg losses makers nn
    optimizers random reduce scan segments shaping signal sorting sparse sparse_matmul special vmap""".split()
# Public functions of C++ that Python has too and no program calls.
NOT_IN_PROGRAMS = {
    **dict.fromkeys(("random.set_seed", "random.uniform", "random.normal", "random.truncated_normal", "random.shuffle",
                     "random.categorical", "nn.dropout"), "a stream of numbers, which no two modes share: test_random_streams.py"),
    **dict.fromkeys(("value_and_grad", "linearize", "vjp", "hessian", "gauss_newton_vector_product", "batch_jacobian"),
                    "what the modes themselves are made of: grad, jvp, hvp and jacobian are in programs"),
    **dict.fromkeys(("keras.epsilon", "keras.set_epsilon"), "a setting"),
    "keras.ctc": "Keras's object takes no lengths; per_sample.ctc is in a program",
    "keras.circle": "takes embeddings; per_sample.circle is in a program",
}


def public_functions():
    """Names of the functions that C++'s headers declare, with dots for namespaces."""
    names = set()
    for header in HEADERS:
        path = agree.FOLDER.parents[1] / "include" / "gradus" / f"{header}.h"
        spaces = []
        for line in path.read_text().splitlines():
            if opened := re.match(r"namespace (?:gradus)?(?:::)?([\w:]*) \{", line):
                spaces.append(opened[1].replace("::", "."))
            elif re.match(r"\}  // namespace", line):
                spaces.pop()
            elif found := re.match(r"(?!return|inline|using)[\w:]+(?:<[^()]*>)?[&*]? (\w+)\(", line):
                names.add(".".join([*filter(None, spaces), found[1]]))
    return {name for name in names if not {"detail", "forms"} & set(name.split("."))}


def in_python(name):
    try:
        agree.function_of(name)
    except (LookupError, AttributeError):
        return False
    return True


def test_programs_call_every_public_function_that_both_languages_have(programs):
    def calls(block):
        for line in block.lines:
            if isinstance(line, agree.Block):
                yield from calls(line)
            else:
                yield line.function
    called = {name for p in programs for name in calls(p.body)}
    public = public_functions()
    assert len(public) > 300
    both = {name for name in public if in_python(name)}
    missing = sorted(both - called - set(NOT_IN_PROGRAMS))
    print(f"{len(called & public)} of {len(public)} public functions are called by {len(programs)} programs")
    assert not missing, f"no program of tests/agree calls {', '.join(missing)}"
    stale = sorted(set(NOT_IN_PROGRAMS) & called)
    assert not stale, f"programs call {', '.join(stale)}"


def test_there_are_five_hundred_programs(programs):
    names = [p.name for p in programs]
    assert len(set(names)) == len(names) >= 500
