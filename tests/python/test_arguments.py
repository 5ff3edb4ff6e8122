"""Every parameter of every function means what it means to TensorFlow (argument_cases.py says how that is asked)."""
import fnmatch
import json
import math
import pathlib
import warnings

import numpy as np
import pytest

import argument_cases
import argument_plain
import gradus as tf
import range_cases

HERE = pathlib.Path(__file__).parent
SIGNATURES, CALLS, GRADIENTS, FACTS = {}, {}, {}, {}
for _line in (HERE / "argument_answers.json").read_text().splitlines():
    _entry = json.loads(_line)
    SIGNATURES.update(_entry.get("signatures", {}))
    CALLS.update(_entry.get("call", {}))
    GRADIENTS.update(_entry.get("gradient", {}))
    FACTS.update({k: v for k, v in _entry.items() if k in ("tensorflow", "ranges")})

TOLERANCE = {"float16": 3e-3, "bfloat16": 2e-2, "float64": 1e-9, "complex128": 1e-9}


def near(got, want, tolerance, scale):
    if isinstance(want, float) and isinstance(got, (float, int)) and not isinstance(got, bool):
        return math.isclose(got, want, rel_tol=tolerance, abs_tol=tolerance * scale)
    if isinstance(want, dict) and "re" in want:
        return isinstance(got, dict) and all(math.isclose(got[k], want[k], rel_tol=tolerance, abs_tol=tolerance * scale)
                                             for k in ("re", "im"))
    return got == want


def same(got, want):
    if isinstance(want, dict) and "values" in want and "shape" in want:
        if not isinstance(got, dict) or (got.get("dtype"), got.get("shape")) != (want["dtype"], want["shape"]):
            return False
        tolerance = TOLERANCE.get(want["dtype"], 2e-5)
        size = [abs(v) if isinstance(v, float) else max(abs(v["re"]), abs(v["im"])) for v in want["values"]
                if isinstance(v, float) or (isinstance(v, dict) and "re" in v)]
        scale = max(size, default=0.0)
        return (len(got["values"]) == len(want["values"])
                and all(near(g, w, tolerance, scale) for g, w in zip(got["values"], want["values"]))
                and near(got.get("sum"), want.get("sum"), 10 * tolerance, scale))
    if isinstance(want, dict):
        return isinstance(got, dict) and got.keys() == want.keys() and all(same(got[k], want[k]) for k in want)
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(same, got, want))
    return near(got, want, 2e-5, 1e-30)


def difference(line):
    """How the answer to a call differs from TensorFlow's, in words; None if it does not."""
    want, got = CALLS[line], argument_plain.answer(line, tf, np)
    if isinstance(want, dict) and "error" in want:
        if not (isinstance(got, dict) and "error" in got):
            return f"TensorFlow raises {want['error'][0]}, got {got}"
        return None if want["error"][0] in got["error"] else f"TensorFlow raises {want['error'][0]}, got {got['error']}"
    return None if same(got, want) else f"TensorFlow gives {want}, got {got}"


# What TensorFlow raises where it has no kernel: an answer is welcome.
NO_KERNEL = ("NotFoundError", "UnimplementedError", "InternalError", "AbortedError", "UnboundLocalError")

# Calls that TensorFlow refuses and Gradus answers, by pattern. What is given has one meaning, which is the answer.
WIDER = {
    "tf.pow(x=tf.cast(J, tf.uint8)*": "powers of small integers are integers",
    "tf.math.polygamma(*x=VH)": "special functions have all dtypes of floats",
    "tf.math.polyval(*x=V[DH])": "lists of numbers take the dtype of the tensor that they meet",
    "tf.math.in_top_k(*predictions=F[DH]*": "predictions may have any dtype of floats",
    "tf.clip_by_global_norm(*use_norm=10.0)": "the norm may be a number",
    "tf.linalg.matvec(a=C, b=[[]1 + 1j*": "lists of numbers take the dtype of the tensor that they meet",
    "tf.one_hot(*dtype=tf.bool)": "on and off are True and False",
    "tf.map_fn(fn=lambda x: tf.cast(x, tf.int32), elems=V)": "the dtype of the results is seen",
    "tf.nn.max_pool2d(*padding=[[]*data_format='NCHW')": "explicit padding for both formats",
    "tf.nn.leaky_relu(*alpha=tf.constant*": "a slope may be a tensor",
    "tf.nn.softmax_cross_entropy_with_logits(*axis=-2)": "axes count from the end, too",
    "tf.nn.log_poisson_loss(*log_input=F[DH])": "lists of numbers take the dtype of the tensor that they meet",
    "tf.nn.sampled_softmax_loss(weights=M[DH]*": "the sampled counts take the dtype of the weights",
    "tf.nn.nce_loss(weights=M[DH]*": "the sampled counts take the dtype of the weights",
    "tf.ragged.constant(*inner_shape=[[]2])": "inner_shape may be a list",
    "taped(*jacobian*parallel_iterations=1)": "TensorFlow takes it in graphs only; the numbers are the same",
}

# Calls that Gradus refuses, with an error, and TensorFlow answers.
REFUSED = {
    "tf.random.create_rng_state(*alg='threefry')": "Philox is the one algorithm, and says so",
    "tf.linalg.triangular_solve(matrix=C*": "solvers are for real matrices",
    "tf.linalg.solve(matrix=C*": "solvers are for real matrices",
    "tf.linalg.inv(input=C*": "solvers are for real matrices",
    "tf.linalg.inv(input=NH)": "solvers are for float32 and float64",
    "tf.linalg.det(input=C)": "solvers are for real matrices",
    "jpeg(xmp_metadata='some words')": "pictures are written without such words",
    "(tf.TensorArray(tf.float32, 2)).unstack(*": "an array holds its own dtype; TensorFlow's holds another one by then",
    "tf.as_dtype(type_value=1)": "dtypes have names, not numbers",
    "tf.case(*, exclusive=True)": "exclusive is checked in eager calls, too; TensorFlow checks only in graphs",
}

# Where both answer, and not the same.
DIFFERENT = {
    "tf.math.top_k(*sorted=False)": "without sorted any order is right",
    "tf.histogram_fixed_width_bins(*dtype=tf.int64)": "TensorFlow takes dtype and ignores it",
    "tf.linalg.svd(tensor=F*": "the signs of singular vectors are a convention",
    "tf.nn.gelu(features=FD)": "TensorFlow's float64 has a constant of float32: its error is 4e-9",
    "tf.nn.leaky_relu(features=FD)": "TensorFlow keeps the slope in float32: 0.2 is 0.200000003",
    "tf.random.stateless_gamma(*": "the numbers are those of another algorithm",
    "tf.random.stateless_poisson(*": "the numbers are those of another algorithm",
    "tf.strings.split(input=T[[]0], maxsplit=1)": "as Python splits; TensorFlow adds an empty string to single words",
    "tf.ragged.stack(values=[[]V, [[]1.0]])": "row splits are int64 unless int32 is asked for",
}
# Errors of another class: TensorFlow's is TypeError, where the dtype of a tensor is wrong.
OTHER_CLASS = {
    "tf.complex(real=FH*": "a dtype that is not covered is InvalidArgumentError",
    "tf.signal.*FH)": "a dtype that is not covered is InvalidArgumentError",
    "(tf.TensorArray(tf.float32, 2)).write(*": "strings where numbers belong are TypeError, as for all functions",
    "(tf.TensorArray(tf.float32, 3)).scatter(*": "a value of another dtype is ValueError, as for all tensors",
    "tf.random.normal(*dtype=tf.int32)": "a dtype that is not covered is InvalidArgumentError",
}


def _listed(line):
    return [(kind, pattern) for kind, table in
            (("wider", WIDER), ("refused", REFUSED), ("different", DIFFERENT), ("class", OTHER_CLASS))
            for pattern in table if fnmatch.fnmatchcase(line, pattern)]


def judged(line, used):
    """What is wrong with the answer to a call, in words."""
    want, wrong = CALLS[line], difference(line)
    if wrong is None or (isinstance(want, dict) and "error" in want and want["error"][0] in NO_KERNEL):
        return None
    raised = "got {'error'" in wrong or (wrong.startswith("TensorFlow raises") and "got [" in wrong and "Exception" in wrong)
    kind = "wider" if wrong.startswith("TensorFlow raises") and not raised else "class" if wrong.startswith(
        "TensorFlow raises") else "refused" if raised else "different"
    reasons = [entry for entry in _listed(line) if entry[0] == kind]
    used.update(reasons)
    return None if reasons else f"{line}\n    {wrong}"


@pytest.mark.parametrize("table", argument_cases.TABLES, ids=lambda t: t.__name__.removeprefix("argument_rows_"))
def test_every_call_is_as_tensorflow(table):
    used = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = [line for row in argument_cases.rows(table) for line, _ in row.lines(parameters_of(row.function))]
        unknown = [line for line in lines if line not in CALLS]
        assert not unknown, f"run tools/argument_answers.py: {unknown[:5]}"
        wrong = [w for w in (judged(line, used) for line in dict.fromkeys(lines)) if w]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(lines)}:", *wrong])
    meant = {entry for line in lines for entry in _listed(line)}
    assert meant == used, f"nothing needs these entries any more: {sorted(meant - used)}"


def parameters_of(function):
    """Parameters of TensorFlow's with defaults, as text."""
    return {name: default for name, default in SIGNATURES.get(function) or [] if not name.startswith("*")}


def test_there_are_many_calls():
    rows = list(argument_cases.rows())
    cases = {(row.function, name) for row in rows for name in
             set().union(*(given for _, given in row.lines(parameters_of(row.function)))) if isinstance(name, str)}
    assert len(CALLS) > 3000 and len(cases) > 1500


def test_ranges():
    """2400 ranges of all dtypes, with signs and fractions: counts and last elements are TensorFlow's."""
    got = range_cases.counts(tf, np)
    wrong = [(call, g, w) for call, g, w in zip(range_cases.arguments(np), got, FACTS["ranges"]) if g != w]
    assert len(got) == len(FACTS["ranges"]) and not wrong, wrong[:10]


# Gradients that are not TensorFlow's, by pattern of the call.
OTHER_GRADIENT = {
    "tf.sign(*": "no dependence is None, not zeros",
    "tf.math.betainc(*": "a has a derivative; TensorFlow has none for it",
    "tf.random.shuffle(*": "rows in another order have a derivative; TensorFlow has none",
    "tf.image.hsv_to_rgb(*": "it has a derivative; TensorFlow has none",
    "tf.image.rgb_to_hsv(*": "TensorFlow's leaves out the saturation where a channel is 0: d/dr of h^2 + s^2 + v^2 at "
                             "(0, 5/64, 10/64) is -12.18, not 0.62",
    "tf.image.adjust_gamma(*gamma=0.5*": "at 0 the power has no derivative: 0 here, NaN in TensorFlow",
    "tf.linalg.eigvalsh(*": "the gradient in a symmetric matrix is symmetric; TensorFlow's has the lower half only",
    "tf.nn.max_pool3d(*": "which of equal numbers gets the gradient is a convention",
    "tf.nn.softmax_cross_entropy_with_logits(*": "of labels that do not sum to 1: TensorFlow takes the sum for 1",
    "tf.case(*, exclusive=True)": "exclusive is checked in eager calls, too",
    "*back_prop=False)": "it stops derivatives, as documented; TensorFlow's eager loops let them through",
}


def same_gradient(got, want):
    """Sums over squares cancel, so what is near is measured by 1 and by the largest element."""
    if got is None or want is None or got == "error":
        return got == want
    if (got["dtype"], got["shape"]) != (want["dtype"], want["shape"]):
        return False
    scale = max([1.0] + [abs(v) for v in want["values"] if isinstance(v, float)])
    return all(near(g, w, 3e-4, 0.02 * scale) for g, w in zip(got["values"], want["values"]))


def test_every_gradient_is_as_tensorflow():
    assert len(GRADIENTS) > 1000
    wrong, used = [], set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line, want in GRADIENTS.items():
            got = argument_plain.gradient(line, tf, np)
            if isinstance(got, dict) and all(same_gradient(got[k], want[k]) for k in want):
                continue
            rules = [rule for rule in OTHER_GRADIENT if fnmatch.fnmatchcase(line, rule)]
            used.update(rules)
            if not rules:
                wrong.append(f"{line}\n    TensorFlow gives {want}\n    got {got}")
    assert not wrong, "\n".join([f"{len(wrong)} of {len(GRADIENTS)}:", *wrong])
    assert used == set(OTHER_GRADIENT), f"nothing needs these entries any more: {sorted(set(OTHER_GRADIENT) - used)}"


# Calls that are about what a traced tensor does not have: a value, a variable of its own, a result that is no tensor.
ONLY_EAGER = ("(tf.Variable(*", "(tf.TensorArray(*", "(tf.TensorSpec(*", "tf.data.*", "tf.io.*", "tf.test.*", "asserted(*",
              "tf.get_static_value(*", "tf.is_tensor(*", "tf.debugging.*", "tf.IndexedSlices(*", "tf.math.scalar_mul(*Indexed*",
              "tf.numpy_function(*", "tf.where(condition=F)", "*random*", "*dropout*", "taped(*")


def test_compiled_calls_give_the_same():
    """The tensors of a call as arguments of a function that is traced, compiled and run."""
    wrong, count = [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in GRADIENTS:
            if any(fnmatch.fnmatchcase(line, pattern) for pattern in ONLY_EAGER) or _listed(line):
                continue
            got, count = argument_plain.compiled(line, tf, np), count + 1
            if not same(got, CALLS[line]):
                wrong.append(f"{line}\n    TensorFlow gives {CALLS[line]}\n    got {got}")
    assert count > 1000 and not wrong, "\n".join([f"{len(wrong)} of {count}:", *wrong])
