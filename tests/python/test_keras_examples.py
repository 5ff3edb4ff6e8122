"""The programs of examples/python/keras learn what they say, compiled and run eagerly."""
import importlib
import pathlib
import sys

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples/python/keras"
sys.path.insert(0, str(FOLDER))
both = pytest.mark.parametrize("run_eagerly", [False, True], ids=["compiled", "eager"])


def run(name, **kwargs):
    return importlib.import_module(name).main(**kwargs)


@both
def test_mlp(run_eagerly):
    first, loss, accuracy, agreeing = run("mlp", run_eagerly=run_eagerly, epochs=8)
    assert loss < 0.5 * first and accuracy > 0.9 and abs(accuracy - agreeing) < 1e-6


@both
def test_cnn(run_eagerly):
    first, loss, accuracy = run("cnn", run_eagerly=run_eagerly, epochs=4)
    assert loss < 0.5 * first and accuracy > 0.9


@both
def test_lstm_text(run_eagerly):
    first, last, written = run("lstm_text", run_eagerly=run_eagerly, letters=10)
    assert last < 0.4 * first and written.startswith("the rain in spain")


@both
def test_gru(run_eagerly):
    first, last, longer = run("gru", run_eagerly=run_eagerly)
    assert last < 0.1 * first and longer < 0.1


@both
def test_transformer(run_eagerly):
    first, last, accuracy = run("transformer", run_eagerly=run_eagerly)
    assert last < 0.4 * first and accuracy > 0.7


@both
def test_autoencoder(run_eagerly):
    error, mean_error, difference = run("autoencoder", run_eagerly=run_eagerly)
    assert error < 0.5 * mean_error and difference < 1e-5


@both
def test_vae(run_eagerly):
    first, last, divergence, shape = run("vae", run_eagerly=run_eagerly)
    assert last < 0.85 * first and divergence > 0.5 and shape == (5, 8, 8, 1)


@both
def test_wgan_gp(run_eagerly):
    before, after, _, slope = run("wgan_gp", run_eagerly=run_eagerly)
    assert after < 0.5 * before and 0.7 < slope < 1.3


@both
def test_adversarial(run_eagerly):
    plain, fooled = run("adversarial", run_eagerly=run_eagerly)
    assert plain > 0.9 and fooled < 0.6


@both
def test_grad_cam(run_eagerly):
    maps = run("grad_cam", run_eagerly=run_eagerly, epochs=2)
    assert maps.shape == (5, 4, 4) and np.isfinite(maps).all() and maps.min() >= 0 and 0.9 < maps.max() <= 1


@both
def test_matrix_factorisation(run_eagerly):
    first, last, held_out, kind = run("matrix_factorisation", run_eagerly=run_eagerly)
    assert last < 0.05 * first and held_out < 0.2 and kind == "IndexedSlices"


@both
def test_custom_layer(run_eagerly):
    first, last, calls, same = run("custom_layer", run_eagerly=run_eagerly)
    assert last < 0.1 * first and calls == 120 and same


@both
def test_custom_optimizer(run_eagerly):
    first, last, steps = run("custom_optimizer", run_eagerly=run_eagerly)
    assert last < 0.4 * first and steps == 160


@both
def test_custom_train_step(run_eagerly):
    first, last, accuracy = run("custom_train_step", run_eagerly=run_eagerly)
    assert last < 0.6 * first and accuracy > 0.9


@both
def test_accumulation_loop(run_eagerly):
    accuracy, updates, difference = run("accumulation_loop", run_eagerly=run_eagerly)
    assert accuracy > 0.85 and updates == 33 and difference < 1e-6


@both
def test_float16_training(run_eagerly):
    results = run("float16_training", run_eagerly=run_eagerly)
    for policy, (accuracy, compute, weights, optimizer) in results.items():
        assert accuracy > 0.9 and compute == policy.replace("mixed_", "") and weights == "float32"
        assert optimizer == ("LossScaleOptimizer" if policy == "mixed_float16" else "Adam")


@both
def test_transfer(run_eagerly):
    counts, untouched, frozen, tuned = run("transfer", run_eagerly=run_eagerly)
    assert counts == (2, 8) and untouched and frozen > 0.8 and tuned > frozen


@both
def test_multi_input(run_eagerly):
    names, first, last, accuracy = run("multi_input", run_eagerly=run_eagerly)
    assert names == ["larger_accuracy", "larger_loss", "loss", "product_loss"]
    assert last < 0.1 * first and accuracy > 0.95


@both
def test_early_stopping(run_eagerly):
    epochs, best, restored, loaded, rows, difference = run("early_stopping", run_eagerly=run_eagerly)
    assert 15 < epochs < 300 and rows == epochs
    assert abs(restored - best) < 1e-5 and abs(loaded - best) < 1e-5 and difference < 1e-6


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda p: p.stem)
def test_every_program_is_tested(path):
    assert path.stem in ("digits", "text") or f'run("{path.stem}"' in pathlib.Path(__file__).read_text()
