"""Files of images: every line of image_file_cases.py gives what TensorFlow gave, to the bit; damage and functions."""
import json
import pathlib

import numpy as np
import pytest

import answers
import gradus as tf
import image_file_cases
from test_reference import check

REFERENCE = {}
for _line in (pathlib.Path(__file__).parent / "image_files.json").read_text().splitlines():
    REFERENCE.update(json.loads(_line))


@pytest.mark.parametrize("line", image_file_cases.LINES)
def test_as_tensorflow(line):
    assert line in REFERENCE, "run tools/make_reference.py"
    check(answers.answer(line, tf, np, image_file_cases.namespace), REFERENCE[line])


def test_a_frame_smaller_than_the_canvas_is_drawn_on_black():
    frames = tf.io.decode_gif(image_file_cases.gif(9, 7, [(2, 3, 4, 2, None, 0)])).numpy()
    assert frames.shape == (1, 7, 9, 3)
    assert frames[0, :3].sum() == 0 and frames[0, 3:5, 2:6].sum() > 0 and frames[0, 5:].sum() == 0


def test_added_alpha_is_opaque_at_any_depth():
    for bits in (1, 2, 4, 8):
        image = tf.io.decode_png(image_file_cases.png(9, 4, bits, 0), channels=4).numpy()
        assert (image[..., 3] == 255).all()


def test_what_is_missing_at_the_end_is_gray_if_asked_for():
    image = np.random.default_rng(0).integers(0, 255, (64, 64, 3)).astype(np.uint8)
    whole = tf.io.encode_jpeg(image).numpy()
    with pytest.raises(tf.errors.InvalidArgumentError, match="damaged or end early"):
        tf.io.decode_jpeg(whole[:len(whole) * 3 // 4])
    part = tf.io.decode_jpeg(whole[:len(whole) * 3 // 4], try_recover_truncated=True, acceptable_fraction=0.4).numpy()
    np.testing.assert_array_equal(part[:30], tf.io.decode_jpeg(whole).numpy()[:30])
    with pytest.raises(tf.errors.InvalidArgumentError, match="damaged or end early"):
        tf.io.decode_jpeg(whole[:len(whole) // 3], try_recover_truncated=True, acceptable_fraction=0.5)


def test_flipped_bits_give_an_image_or_an_error():
    names = image_file_cases.namespace(tf, np)
    files = [names["jpeg"], names["progressive"], image_file_cases.png(9, 4, 8, 3, colours=200),
             image_file_cases.gif(20, 15, [(0, 0, 20, 15, None, 0), (5, 6, 10, 8, 2, 1)]), image_file_cases.bmp(5, 4, 24)]
    refused = 0
    for file in files:
        for at in range(0, len(file), max(1, len(file) // 150)):
            damaged = bytearray(file)
            damaged[at] ^= 1 << at % 8
            try:
                tf.io.decode_image(bytes(damaged))
            except tf.errors.InvalidArgumentError:
                refused += 1
    assert refused > 50


@pytest.mark.parametrize("file", [
    b"\xff\xd8\xff\xc0\x00\x0b\x08\xff\xff\xff\xff\x01\x01\x11\x00\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x00",
    image_file_cases.png(9, 4, 8, 2)[:16] + b"\x00\x0f\x00\x00\x00\x0f\x00\x00" + image_file_cases.png(9, 4, 8, 2)[24:],
    b"GIF89a\xff\xff\xff\xff\x80\x00\x00" + bytes(6) + b"\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00\x3b",
    image_file_cases.bmp(5, 4, 24)[:18] + b"\xff\xff\xff\x7f\xff\xff\xff\x7f" + image_file_cases.bmp(5, 4, 24)[26:],
])
def test_sizes_that_the_bytes_cannot_hold_are_refused(file):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_image(file)


def test_files_are_read_and_decoded_in_datasets_and_functions(tmp_path):
    image = image_file_cases.namespace(tf, np)["picture"](6, 8, 3)
    for i in range(3):
        tf.io.write_file(str(tmp_path / f"{i}.png"), tf.io.encode_png(image + np.uint8(i)))

    def load(path):
        return tf.image.resize(tf.io.decode_png(tf.io.read_file(path), channels=3), [3, 4]) / 255.0

    paths = sorted(str(p) for p in tmp_path.glob("*.png"))
    batch, = tf.data.Dataset.from_tensor_slices(paths).map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(3)
    assert batch.shape == (3, 3, 4, 3)
    np.testing.assert_array_equal(tf.function(load)(tf.constant(paths[1])), batch[1])

    @tf.function
    def size(x):
        return tf.strings.length(tf.io.encode_jpeg(x))

    assert size(image).numpy() == len(tf.io.encode_jpeg(image).numpy())


def test_floats_are_not_written_as_black_images():
    with pytest.raises(tf.errors.InvalidArgumentError, match="got an image of float32; uint8 or uint16"):
        tf.io.encode_png(np.full((2, 2, 3), 0.5, np.float32))
