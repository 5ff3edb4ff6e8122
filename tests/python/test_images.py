"""tf.image: every line of image_cases.py gives what TensorFlow gave, and functions of images compile."""
import json
import pathlib

import numpy as np
import pytest

import answers
import gradus as tf
import image_cases
from test_reference import check

REFERENCE = {}
for _line in (pathlib.Path(__file__).parent / "images.json").read_text().splitlines():
    REFERENCE.update(json.loads(_line))


@pytest.mark.parametrize("line", image_cases.LINES)
def test_as_tensorflow(line):
    assert line in REFERENCE, "run tools/make_reference.py"
    check(answers.answer(line, tf, np, image_cases.namespace), REFERENCE[line])


def test_resize_compiles_with_its_gradient():
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.square(tf.image.resize(x, [5, 7])))
        return tape.gradient(loss, x)

    for batch, height in ((2, 4), (3, 4), (3, 6)):
        x = tf.random.normal([batch, height, 5, 2], seed=1)
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.square(tf.image.resize(x, [5, 7])))
        np.testing.assert_allclose(slope(x), tape.gradient(loss, x), rtol=1e-5, atol=1e-6)


def test_random_images_differ_from_call_to_call_in_a_function():
    change = tf.function(lambda x: tf.image.random_brightness(x, 0.5))
    x = tf.zeros([2, 2, 3])
    assert float(change(x)[0, 0, 0]) != float(change(x)[0, 0, 0])


def test_no_pixels_and_no_boxes():
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-zero"):
        tf.image.resize(tf.ones([1, 0, 4, 1]), [2, 2], preserve_aspect_ratio=True)
    chosen, scores = tf.image.non_max_suppression_with_scores(tf.zeros([0, 4]), tf.zeros([0]), 3, soft_nms_sigma=0.5)
    assert chosen.shape == [0] and scores.shape == [0]
