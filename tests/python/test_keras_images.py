"""keras.utils' images, folders of images and ImageDataGenerator: as Keras with Pillow and SciPy; a model learns from a
folder."""
import io
import json
import pathlib

import numpy as np
import pytest

import answers
import gradus as tf
import keras_image_cases
from gradus import keras
from test_reference import check

REFERENCE = {}
for _line in (pathlib.Path(__file__).parent / "keras_images.json").read_text().splitlines():
    REFERENCE.update(json.loads(_line))


@pytest.mark.parametrize("line", keras_image_cases.LINES)
def test_as_keras(line):
    assert line in REFERENCE, "run tools/make_reference.py"
    check(answers.answer(line, tf, np, keras_image_cases.namespace), REFERENCE[line])


def test_saved_images_are_read_again(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 255, (5, 6, 3)).astype(np.float32)
    keras.utils.save_img(tmp_path / "a.png", pixels, scale=False)
    image = keras.utils.load_img(tmp_path / "a.png")
    np.testing.assert_array_equal(keras.utils.img_to_array(image), pixels)
    np.testing.assert_array_equal(
        keras.utils.img_to_array(keras.utils.load_img(io.BytesIO((tmp_path / "a.png").read_bytes()))), pixels)
    assert image.size == (6, 5) and image.mode == "RGB"
    with pytest.warns(UserWarning, match="does not support RGBA"):
        keras.utils.save_img(tmp_path / "b.jpg", np.ones((4, 4, 4)))
    assert keras.utils.img_to_array(keras.utils.load_img(tmp_path / "b.jpg", color_mode="grayscale")).shape == (4, 4, 1)
    with pytest.raises(TypeError, match="path should be path-like"):
        keras.utils.load_img(3)


def _bright_and_dark(folder):
    numbers = np.random.default_rng(0)
    for name, low, high in (("bright", 120, 255), ("dark", 0, 135)):
        (folder / name).mkdir()
        for i in range(12):
            keras.utils.save_img(folder / name / f"{i}.png", numbers.integers(low, high, (9, 8, 3)), scale=False)


@pytest.mark.parametrize("source", ["dataset", "generator"])
def test_a_model_learns_from_a_folder(tmp_path, source):
    _bright_and_dark(tmp_path)
    keras.utils.set_random_seed(0)
    if source == "dataset":
        data = keras.utils.image_dataset_from_directory(tmp_path, image_size=(8, 8), batch_size=8, seed=1,
                                                        label_mode="binary", verbose=False)
    else:
        generator = keras.preprocessing.image.ImageDataGenerator(rotation_range=10, horizontal_flip=True)
        data = generator.flow_from_directory(str(tmp_path), target_size=(8, 8), batch_size=8, class_mode="binary", seed=1)
    model = keras.Sequential([keras.Input((8, 8, 3)), keras.layers.Rescaling(1 / 255.0), keras.layers.Conv2D(4, 3),
                              keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(keras.optimizers.Adam(0.05), "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(data, epochs=12, verbose=0)
    assert history.history["accuracy"][-1] > 0.9
    assert model.predict(data, verbose=0).shape == (24, 1)


def test_flow_from_a_table(tmp_path):
    _bright_and_dark(tmp_path)
    table = {"filename": ["dark/0.png", "bright/1.png", "no.png", "dark/2.png"], "class": ["d", "b", "d", "d"],
             "value": [1.0, 2.0, 3.0, 4.0]}
    generator = keras.preprocessing.image.ImageDataGenerator()
    with pytest.warns(UserWarning, match="1 invalid image filename"):
        batches = generator.flow_from_dataframe(table, str(tmp_path), shuffle=False, target_size=(4, 4))
    images, classes = next(batches)
    assert images.shape == (3, 4, 4, 3) and batches.class_indices == {"b": 0, "d": 1}
    np.testing.assert_array_equal(classes, [[0, 1], [1, 0], [0, 1]])
    raw = generator.flow_from_dataframe(table, str(tmp_path), y_col="value", class_mode="raw", shuffle=False,
                                        validate_filenames=False, target_size=(4, 4), batch_size=2)
    np.testing.assert_array_equal(next(raw)[1], [1.0, 2.0])
