"""Every parameter of Keras that we take, with values that are not its default, against the real Keras's answers
(keras_parameters.json): values, gradients with respect to all inputs, weights after a step, states, dtypes.

A parameter of a public function or class that no case names, and that has no reason below, fails a test; so does one that
a Python function of ours takes and never reads.
"""
import ast
import fnmatch
import inspect
import json
import math
import pathlib

import numpy as np
import parameters
import pytest
from keras_parameter_answers import answer
from keras_parameters import DIFFERENT, VALUES

import gradus as tf
from gradus import keras

FOLDER = pathlib.Path(__file__).parent
REFERENCE = json.loads((FOLDER / "keras_parameters.json").read_text())
CASES = REFERENCE["cases"]


def _same(found, wanted, loose=False):
    if isinstance(wanted, str) and wanted in ("nan", "inf", "-inf") and not isinstance(found, str):
        return str(float(found)) == wanted
    if isinstance(wanted, (list, tuple)):
        return isinstance(found, (list, tuple)) and len(found) == len(wanted) and all(
            _same(a, b, loose) for a, b in zip(found, wanted))
    if isinstance(wanted, bool) or isinstance(wanted, str) or wanted is None:
        return type(found) is type(wanted) and found == wanted
    if isinstance(found, (str, bool, list)) or found is None:
        return False
    small, relative = (2e-2, 2e-2) if loose else (3e-5, 3e-4)
    return math.isclose(found, wanted, rel_tol=relative, abs_tol=small)


def _difference(text):
    """What is not as in Keras, in words; None if all is."""
    wanted, found = CASES[text], answer(text, keras, tf)
    if "error" in found:
        return found["error"]
    loose = "mixed_" in text
    for part in ("values", "gradients"):
        if not _same(found[part], wanted[part], loose):
            return f"{part} {found[part]}\n  of Keras {wanted[part]}"
    return None


@pytest.mark.parametrize("text", [t for t in VALUES if t not in DIFFERENT])
def test_as_keras(text):
    assert _difference(text) is None


@pytest.mark.parametrize("text", DIFFERENT)
def test_reasons_are_still_needed(text):
    """A case that is said to differ does, and what is refused is refused with an error of that kind."""
    found = _difference(text)
    assert found is not None
    assert ("NotImplementedError" in found) == DIFFERENT[text].startswith("refused"), found


def test_every_case_has_an_answer():
    assert sorted(CASES) == sorted(VALUES)


def test_repeated_rows_step_as_the_whole_gradient():
    """A row that was gathered twice steps by the sum of its slices: the answer of Keras for the gradient as a matrix."""
    texts = [t for t in VALUES if "rows=True" in t]
    assert len(texts) > 30
    for text in texts:
        wanted = CASES[text.replace("rows=True", "rows='dense'")]
        assert _same(answer(text, keras, tf)["values"], wanted["values"]), text


# ---------------------------------------------------------------- every parameter has a case


def _namespaces():
    namespaces = sorted({name.rpartition(".")[0] for name in REFERENCE["signatures"]})
    for namespace in namespaces:
        module = keras
        for part in namespace.split("."):
            module = getattr(module, part, None)
        if module is not None:
            yield namespace, module


def _ours():
    """{name: [parameter, ...]} of what we have of Keras; a thing with several names has one entry, under all its names."""
    found = {}
    for namespace, module in _namespaces():
        for name in dir(module):
            full, value = f"{namespace}.{name}", getattr(module, name)
            if full in REFERENCE["signatures"] and callable(value):
                found.setdefault(id(value), (value, []))[1].append(full)
    return {tuple(names): REFERENCE["signatures"][names[0]] for _, names in found.values()}


def _calls(tree, found):
    """Notes which parameters calls in a tree give, by the last name of what is called; texts in it are code too."""
    by_name = {}
    for full, names in REFERENCE["signatures"].items():
        by_name.setdefault(full.rpartition(".")[2], []).append(names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "(" in node.value:
            try:
                _calls(ast.parse(node.value), found)
            except SyntaxError:
                continue
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        given = found.setdefault(name, set())
        given.update(k.arg for k in node.keywords)
        for names in by_name.get(name, ()):
            given.update(names[:len(node.args)])
    return found


def _covered():
    found = {}
    for path in FOLDER.glob("keras_*cases.py"):
        _calls(ast.parse(path.read_text()), found)
    for path in [*FOLDER.glob("test_keras_*.py"), *FOLDER.glob("test_saving.py"),
    *(FOLDER / "keras_programs").glob("*.py")]:
        _calls(ast.parse(path.read_text()), found)
    for text in VALUES:
        _calls(ast.parse(text), found)
    return found


# (name, parameter) as patterns, and why there is no case.
_FILES = "files are compared in test_keras_images.py and test_image_files.py"
REASONS = {
    "backend.set_*": "set by keras.config, of which the cases are",
    "config.set_backend.backend": "there is one backend",
    "config.set_max_steps_per_epoch.*": "handed to `limited`, which calls it",
    "callbacks.RemoteMonitor.*": "refused: nothing is sent over the network",
    "callbacks.TensorBoard.*": "test_callbacks_that_write_files and test_summary.py look into the files",
    "layers.*.quantization_config": "refused: quantization is not covered",
    "layers.*.gptq_*": "refused: quantization is not covered",
    "layers.Input*.*tensor": "Keras takes a KerasTensor there, which test_keras_core.py does",
    "layers.*Lookup.salt": "refused: NotImplementedError", "layers.TFSMLayer.*": "test_saved_model.py loads one",
    "ops.vectorize.*": "Keras on TensorFlow refuses every call", "preprocessing.image.array_to_img.*": _FILES,
    "preprocessing.image.load_img.*": _FILES, "preprocessing.image.save_img.*": _FILES,
    "saving.save_weights.max_shard_size": "refused: NotImplementedError",
    "utils.Progbar.stateless_metrics": "refused by the signature", "utils.PyDataset.*": "how many threads make batches",
    "utils.model_to_dot.*": "what is drawn is Graphviz's text, ours and not Keras's", "utils.plot_model.*": "the same",
    "utils.split_dataset.preferred_backend": "refused unless it is tensorflow",
}


def test_every_parameter_has_a_case_or_a_reason():
    covered, missing, used = _covered(), [], set()
    for names, parameters_of in _ours().items():
        given = set().union(*(covered.get(name.rpartition(".")[2], set()) for name in names))
        for parameter in parameters_of:
            if parameter in given:
                continue
            rules = [r for r in REASONS if any(fnmatch.fnmatchcase(f"{n}.{parameter}", r) for n in names)]
            used.update(rules)
            if not rules:
                missing.append(f"{names[0]}.{parameter}")
    assert not missing
    assert not [r for r in REASONS if r not in used], "nothing needs these any more"


def test_signatures_have_kerass_parameters():
    """What Keras takes, we take, or say that we do not."""
    missing = []
    for names, wanted in _ours().items():
        value = keras
        for part in names[0].split("."):
            value = getattr(value, part)
        try:
            signature = inspect.signature(value)
        except (TypeError, ValueError):
            continue
        takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in signature.parameters.values())
        missing += [f"{names[0]}.{p}" for p in wanted if p not in signature.parameters and not takes_any]
    assert not [m for m in missing if m not in NOT_TAKEN]
    assert not [m for m in NOT_TAKEN if m not in missing]


NOT_TAKEN = {"utils.Progbar.stateless_metrics"}


# ---------------------------------------------------------------- every parameter is read

_PROTOCOL = "Keras calls it so; this one does not depend on that"
UNREAD = {
    "*callback*.py:*.on_*": "hooks are told more than they need", "*.compute_mask.*": _PROTOCOL, "*.build.*": _PROTOCOL,
    "*.compute_output_shape.*": _PROTOCOL, "*.compute_output_spec.*": _PROTOCOL,
    "*.from_config.custom_objects": _PROTOCOL,
    "*._maybe_build.spec": _PROTOCOL,
    "models.py:Functional.build_from_config.config": "a functional model is built already",
    "*.call.training": "the same in training",
    "layers/rnn.py:StackedRNNCells.call.kwargs": "cells take inputs, states and training",
    "_compile.py:CompileMetrics._groups.y_pred": _PROTOCOL,
    "_data.py:ArrayData.__init__.steps": "fit looks at the steps",
    "_functional.py:standardized_inputs.model_name": "the message names the layer",
    "*.name": "nodes have no names in eager programs",
    "_scopes.py:device.__init__.device_name": "there is one device",
    "_state.py:clear_session.free_memory": "nothing is held back",
    "_trainer.py:Trainer.compute_*.*": "for those who override it",
    "_variable.py:Variable.__init__.kwargs": "Keras's backends take more",
    "applications/efficientnet.py:preprocess_input.data_format": "images stay as they are",
    "layers/_common.py:SeveralInputs._call_in_training.training": _PROTOCOL,
    "layers/convolution.py:BaseConv._out_channels.input_shape": _PROTOCOL,
    "layers/lookup.py:*.adapt.batch_size": "all is looked at once",
    "layers/recurrent.py:_Recurrent.__init__.use_cudnn": "there is one kernel, whose numbers are those of both",
    "layers/rnn.py:RNN._*.training": _PROTOCOL, "metrics/_kinds.py:_values_of_*": "one signature for all kinds",
    "*.add_variable.aggregation": "there is one device", "*.add_variable.layout": "there is one device",
    "models.py:_is_metric.layer": _PROTOCOL, "ops/core.py:scan.unroll": "how fast, not what",
    "ops/math.py:segment_*.sorted": "how fast, not what",
    "ops/more.py:argpartition.kth": "all elements are in order, so those around the k-th are",
    "ops/more.py:isin.assume_unique": "how fast, not what", "ops/nn.py:moments.synchronized": "there is one device",
    "optimizers/*": "one signature for all optimizers",
    "preprocessing/_image_moves.py:apply_channel_shift.channel_axis":
    "the bounds are those of the whole image", "random.py:SeedGenerator.next.ordered": "calls come in order",
    "regularizers.py:Regularizer.__call__.x": "the base adds nothing",
    "utils/_images.py:Image.__array__.copy": "always a copy",
    "utils/_images.py:smart_resize.backend_module": "there is one backend",
}


def test_every_parameter_is_read():
    assert not parameters.check(pathlib.Path(keras.__file__).resolve().parent, UNREAD)


def test_rematerialized_layers_have_the_same_gradients():
    class Counted(keras.layers.Dense):
        calls = 0

        def call(self, x):
            Counted.calls += 1
            return super().call(x)

    x, found = tf.ones((2, 3)), {}
    for options in ({"mode": None}, {"mode": "full"}, {"mode": "activations"}, {"mode": "larger_than",
    "output_size_threshold": 7},
                    {"mode": "larger_than", "output_size_threshold": 8}, {"mode": "list_of_layers",
                        "layer_names": ["one"]},
                    {"mode": "list_of_layers", "layer_names": ["other"]}):
        keras.utils.set_random_seed(1)
        with keras.RematScope(**options):
            layer = Counted(4, activation="tanh", name="one")
        layer(x)
        Counted.calls = 0
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x) ** 2)
        gradient = tape.gradient(loss, layer.kernel).numpy()
        found.setdefault("gradient", gradient)
        assert np.array_equal(gradient, found["gradient"])
        found[str(options)] = Counted.calls
    assert list(found.values())[1:] == [1, 2, 2, 2, 1, 2, 1]


@pytest.mark.parametrize("compiled", [False, True])
def test_layers_with_a_state_are_not_computed_again(compiled):
    """Else the gradient would be that of other random numbers, and moving averages would move twice."""
    x, found = tf.reshape(tf.range(100.0), (2, 50)), []
    for mode in (None, "full"):
        with keras.RematScope(mode):
            inner = [keras.layers.Dropout(0.5, seed=1), keras.layers.BatchNormalization(momentum=0.5)]
            layer = keras.Sequential(inner)
        layer(x)

        def step(value, layer=layer):
            with tf.GradientTape() as tape:
                tape.watch(value)
                loss = tf.reduce_sum(layer(value, training=True) ** 3)
            return tape.gradient(loss, value)
        gradient = (tf.function(step) if compiled else step)(x)
        found.append([gradient.numpy(), *(np.asarray(v) for v in layer.variables)])
    for plain, again in zip(*found):
        assert np.array_equal(plain, again)


def test_gradient_of_ctc_with_blanks_among_the_labels():
    """By differences: TensorFlow's own gradient is not that of its value there."""
    labels = tf.constant([[1, 0, 2]])
    logits = np.random.RandomState(1).uniform(-1, 1, (1, 6, 4))

    def loss(values):
        return keras.ops.ctc_loss(labels, tf.constant(values), [3], [6])[0]
    values = tf.constant(logits)
    with tf.GradientTape() as tape:
        tape.watch(values)
        found = keras.ops.ctc_loss(labels, values, [3], [6])[0]
    gradient = tape.gradient(found, values).numpy()
    for place in np.ndindex(logits.shape):
        step = np.zeros_like(logits)
        step[place] = 1e-5
        difference = (loss(logits + step).numpy() - loss(logits - step).numpy()) / 2e-5
        assert math.isclose(gradient[place], difference, rel_tol=1e-6, abs_tol=1e-8)
