"""The programs of examples/python compute what they say."""
import importlib
import linecache
import math
import pathlib
import sys

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples/python"
sys.path.insert(0, str(FOLDER))


def run(name, **kwargs):
    return importlib.import_module(name).main(**kwargs)


def test_square():
    assert run("square") == [27.0, 18.0, 54.0]


def test_linear_regression():
    w, b, loss = run("linear_regression")
    assert abs(w - 3) < 0.05 and abs(b - 2) < 0.05 and loss < 0.02


def test_softmax_regression():
    loss, accuracy = run("softmax_regression")
    assert loss < 0.15 and accuracy > 0.95


def test_mlp_adam():
    first, last = run("mlp_adam")
    assert first > 0.05 and last < 0.002


def test_preprocessing():
    inside, outside, difference = run("preprocessing")
    assert "reduce_variance" in inside or "rsqrt" in inside or "sqrt" in inside
    assert "sqrt" not in outside and difference < 1e-5


def test_variable_as_constant():
    gradient, why, other, connected = run("variable_as_constant")
    assert gradient is None and "does not depend" in why and other == 12.0 and connected.startswith("connected")


def test_physics_informed():
    residual, error = run("physics_informed")
    assert residual < 5e-3 and error < 0.05


def test_maml():
    first, last = run("maml", steps=100, tasks=4)
    assert last < 0.8 * first


def test_policy_gradient():
    probabilities = run("policy_gradient")
    assert probabilities[2] > 0.8 and math.isclose(probabilities.sum(), 1, rel_tol=1e-5)


def test_gaussian_process():
    length, noise, loss = run("gaussian_process")
    assert 0.5 < length < 4 and 0.03 < noise < 0.3 and loss < 0


def test_accumulation():
    assert max(run("accumulation")) < 1e-6


def test_custom_gradients():
    plain, own, clipped, recomputed = run("custom_gradients")
    assert plain != 1.0 and own == 1.0 and clipped == 1.0
    assert math.isclose(recomputed, math.cos(math.sin(0.5)) * math.cos(0.5), rel_tol=1e-6)


def test_control_flow():
    root, slope, steps, end, folded = run("control_flow")
    assert math.isclose(root, 3, rel_tol=1e-5) and math.isclose(slope, 1 / 6, rel_tol=1e-3)
    assert steps > 0 and end > 0 and folded == 4.25


def test_several_outputs():
    summed, apart, one_by_one, by_mode, why = run("several_outputs")
    assert summed.tolist() == [7.0, 4.0, 3.0] and apart.tolist() == [[1, 1, 1], [6, 3, 2]]
    assert [g.tolist() for g in one_by_one] == apart.tolist()
    assert all(np.array_equal(j, apart) for j in by_mode.values()) and why


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda p: p.stem)
def test_every_program_is_tested(path):
    assert f'run("{path.stem}"' in pathlib.Path(__file__).read_text()


def test_the_readme_prints_what_it_says(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text = (FOLDER.parents[1] / "README.md").read_text()
    for i, part in enumerate(text.split("```python\n")[1:]):
        program, name = part.split("```")[0], f"<README {i}>"
        linecache.cache[name] = (len(program), None, program.splitlines(True), name)  # AutoGraph reads the source
        exec(compile(program, name, "exec"), {})
    printed = capsys.readouterr().out
    assert "2 ops recorded" in printed and "tf.Tensor([2. 4. 6.], shape=(3,), dtype=float32)" in printed
    assert "tf.Tensor(3.0, shape=(), dtype=float32)" in printed


def test_autograph():
    collatz, places, loss = run("autograph")
    assert collatz == (871, 178) and places == [3, -1] and loss < 1e-6


def test_v1_regression():
    cost, slope, offset = run("v1_regression")
    assert cost < 0.12 and 0.2 < slope < 0.4 and 0 < offset < 1.2


def test_v1_digits():
    accuracy, steps = run("v1_digits")
    assert accuracy > 0.88 and steps == 440
