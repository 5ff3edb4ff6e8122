"""Gradus answers the questions of keras_names_cases.py as Keras does (keras_names.json)."""
import json
import os
import pathlib
import re

import keras_names_cases
import pytest

import gradus as tf
from gradus import keras

os.environ["COLUMNS"] = "80"
ANSWERS = json.loads((pathlib.Path(__file__).parent / "keras_names.json").read_text())


def _alike(got, want, at=""):
    if isinstance(want, float) or isinstance(got, float):
        assert got == pytest.approx(want, rel=2e-4, abs=2e-5), at
    elif isinstance(want, dict):
        assert sorted(got) == sorted(want), at
        for key in want:
            _alike(got[key], want[key], f"{at}/{key}")
    elif isinstance(want, list):
        assert len(got) == len(want), f"{at}: {got} {want}"
        for i, (g, w) in enumerate(zip(got, want)):
            _alike(g, w, f"{at}/{i}")
    else:
        assert got == want, at


@pytest.mark.parametrize("name", keras_names_cases.CASES)
def test_case(name):
    keras.utils.clear_session()
    keras.utils.set_random_seed(1)
    _alike(json.loads(json.dumps(keras_names_cases.CASES[name](keras, tf))), ANSWERS[name], name)


def test_weights_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=re.escape("vgg16_weights_tf_dim_ordering_tf_kernels_notop.h5' is not there")):
        keras.applications.VGG16(include_top=False)
    with pytest.raises(FileNotFoundError, match="imagenet_class_index.json"):
        keras.applications.vgg16.decode_predictions(keras.ops.zeros((1, 1000)))
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "imagenet_class_index.json").write_text(
        json.dumps({str(i): [f"n{i}", f"name{i}"] for i in range(1000)}))
    scores = keras.ops.one_hot(keras.ops.array([7]), 1000)
    assert keras.applications.resnet50.decode_predictions(scores, top=1) == [[("n7", "name7", 1.0)]]
    with pytest.raises(ValueError, match="`weights` argument should be either"):
        keras.applications.ResNet50(weights="nowhere")


def test_weights_of_a_file(tmp_path):
    build = keras.applications.MobileNetV2
    model = build(weights=None, alpha=0.35, input_shape=(32, 32, 3), include_top=False)
    model.save_weights(tmp_path / "w.weights.h5")
    again = build(weights=str(tmp_path / "w.weights.h5"), alpha=0.35, input_shape=(32, 32, 3), include_top=False)
    for a, b in zip(model.get_weights(), again.get_weights()):
        assert (a == b).all()


class Boom(keras.layers.Layer):
    def call(self, x, training=None):
        raise RuntimeError("boom")


class Around(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.inner = Boom()

    def call(self, x):
        return self.inner(x)


def test_errors_name_the_layer_that_failed_and_its_arguments():
    x = tf.ones((2, 3))
    said = ("Exception encountered when calling Boom.call().\n\n\x1b[1mboom\x1b[0m\n\nArguments received by Boom.call():\n"
            "  • x=tf.Tensor(shape=(2, 3), dtype=float32)\n  • training=None")
    for call in (Boom(), Around()):
        with pytest.raises(RuntimeError) as caught:
            call(x)
        assert str(caught.value) == said
    embedding = keras.layers.Embedding(3, 2)
    embedding(tf.constant([[1]]))
    for _ in range(2):  # also when the call goes the quick way
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"calling Embedding.call\(\)[^•]*5 is not in \[0, 3\)"):
            embedding(tf.constant([[5]]))
    with pytest.raises(ValueError, match="incompatible with the layer"):
        keras.layers.LSTM(3)(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="batches of 2, 1 and 1; they must be of one size"):
        keras.layers.MultiHeadAttention(2, 4)(tf.ones((2, 3, 4)), tf.ones((1, 3, 4)))


def test_class_numbers_of_small_dtypes():
    logits = tf.constant([[1.0, 2.0, 3.0]])
    losses = [float(keras.losses.sparse_categorical_crossentropy(tf.constant([2], dtype), logits, from_logits=True)[0])
              for dtype in ("uint8", "int16", "int64", "float32")]
    assert len(set(losses)) == 1
