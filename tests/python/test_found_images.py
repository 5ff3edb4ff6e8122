"""Images in sizes that the data decide, compiled: the numbers of plain Python, of which tests/python/test_images.py knows that
they are TensorFlow's; gradients of both orders, and one or two traces."""
import numpy as np
import pytest
from found_size_programs import arrays

import gradus as tf


def number(x):
    return tf.cast(tf.math.count_nonzero(x > 0), tf.int32)


def image(x):
    return tf.reshape(tf.concat([x, tf.sin(x)], 0), [1, 4, 3, 1])


def strip(x):
    """An image as high as there are positive numbers, and one row more."""
    return tf.reshape(tf.concat([x[x > 0], [1.]], 0), [-1, 1, 1])


BOXES = np.array([[0, 0, 1, 1], [.2, .1, .7, .9]], np.float32)
PROGRAMS = {
    f"resize, {method}{', antialias' * antialias}":
    lambda x, method=method, antialias=antialias: tf.image.resize(image(x), tf.stack([number(x) + 1, 5]), method,
                                                                  antialias=antialias)
    for method in ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
    for antialias in (False, True)}
PROGRAMS |= {
    "resize by a list": lambda x: tf.image.resize(image(x), [number(x) + 1, 2 * number(x) + 1]),
    "resize of a found image": lambda x: tf.image.resize(strip(x), [3, 2], "bicubic"),
    "resize of a found image to a found size": lambda x: tf.image.resize(strip(x), [2, number(x) + 1], antialias=True),
    "aspect ratio": lambda x: tf.image.resize(image(x), tf.stack([number(x) + 1, 5]), preserve_aspect_ratio=True),
    "resize_with_pad": lambda x: tf.image.resize_with_pad(image(x), number(x) + 2, 5),
    "resize_with_pad of a found image": lambda x: tf.image.resize_with_pad(strip(x), 9, 9),
    "resize_with_crop_or_pad": lambda x: tf.image.resize_with_crop_or_pad(image(x), number(x) + 1, 5),
    "crop_to_bounding_box": lambda x: tf.image.crop_to_bounding_box(image(x), number(x) // 3, 0, 2, number(x) // 3 + 1),
    "pad_to_bounding_box": lambda x: tf.image.pad_to_bounding_box(image(x), number(x), 1, 4 + number(x), 5 + number(x)),
    "central_crop": lambda x: tf.image.central_crop(strip(x), .5),
    "crop_and_resize": lambda x: tf.image.crop_and_resize(image(x), BOXES, [0, 0], tf.stack([number(x) + 1, 2])),
    "crop_and_resize, nearest": lambda x: tf.image.crop_and_resize(image(x), BOXES, [0, 0], [number(x) + 1, 2], "nearest"),
    "crop_and_resize of found boxes": lambda x: tf.image.crop_and_resize(
        image(x), tf.cast(x[x > 0][:, None] * [[.1, .1, .2, .2]], tf.float32), tf.zeros([number(x)], tf.int32), [2, 2]),
}


def gradient(f):
    def g(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.cast(f(x), tf.float64) ** 2)
        return tf.convert_to_tensor(tape.gradient(y, x, unconnected_gradients="zero"))
    return g


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("order", [0, 1, 2])
def test_like_plain_python(name, order):
    f = PROGRAMS[name]
    for _ in range(order):
        f = gradient(f)
    compiled = tf.function(f)
    for a in arrays() * 2:
        got, want = compiled(tf.constant(a)).numpy(), f(tf.constant(a)).numpy()
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    assert compiled.experimental_get_tracing_count() in (1, 2) and "plain Python" not in compiled.explain()


def test_the_best_of_boxes_with_their_scores():
    def f(x, sigma):
        boxes = tf.cast(tf.stack([x, x, x + 1, x + 1.5], 1), tf.float32)
        return tf.image.non_max_suppression_with_scores(boxes, tf.cast(x, tf.float32), number(x), soft_nms_sigma=sigma)
    for sigma in (0.0, 0.5):
        compiled = tf.function(lambda x, sigma=sigma: f(x, sigma))
        for a in arrays():
            for got, want in zip(compiled(tf.constant(a)), f(tf.constant(a), sigma)):
                np.testing.assert_allclose(got, want, rtol=1e-6)
        assert compiled.experimental_get_tracing_count() == 1


def test_one_program_for_images_of_all_sizes():
    f = tf.function(lambda x: tf.image.resize(x, [7, 5], "bicubic", antialias=True))
    for rows in range(1, 12):
        x = tf.constant(np.random.default_rng(rows).normal(size=[2, rows, 13 - rows, 3]), tf.float32)
        np.testing.assert_allclose(f(x), tf.image.resize(x, [7, 5], "bicubic", antialias=True), rtol=1e-4, atol=1e-5)
    assert f.experimental_get_tracing_count() <= 3, f.explain()


def test_resizing_is_saved(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: tf.image.resize(x, [7, 5]), input_signature=[tf.TensorSpec([None, None, None, 3])])
    tf.saved_model.save(module, str(tmp_path / "m"))
    again = tf.saved_model.load(str(tmp_path / "m"))
    for sizes in ([1, 4, 9], [2, 8, 3], [3, 1, 1]):
        x = tf.random.normal([*sizes, 3])
        np.testing.assert_allclose(again.f(x), tf.image.resize(x, [7, 5]), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("f", [
    lambda n: tf.image.resize(tf.ones([1, 3, 3, 1]), tf.stack([n, 2])),
    lambda n: tf.image.resize(tf.ones([n, 3, 1]), [2, 2]),
    lambda n: tf.image.resize_with_pad(tf.ones([1, 3, 3, 1]), n, 2),
    lambda n: tf.image.resize_with_crop_or_pad(tf.ones([1, 3, 3, 1]), n, 2),
    lambda n: tf.image.crop_to_bounding_box(tf.ones([1, 3, 3, 1]), n - 1, 0, 1, 1),
    lambda n: tf.image.pad_to_bounding_box(tf.ones([1, 3, 3, 1]), n - 1, 0, 5, 5),
    lambda n: tf.image.crop_and_resize(tf.ones([1, 3, 3, 1]), BOXES, [0, 0], [n, 2]),
    lambda n: tf.image.non_max_suppression(BOXES, [1., 2.], n - 1)])
def test_sizes_that_cannot_be_are_found_by_the_run(f):
    compiled = tf.function(f)
    compiled(tf.constant(2))
    with pytest.raises(tf.errors.InvalidArgumentError):
        compiled(tf.constant(0))
    compiled(tf.constant(1))
