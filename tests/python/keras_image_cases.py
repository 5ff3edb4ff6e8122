"""Expressions about keras.utils' images and ImageDataGenerator, as in cases.py (keras_images.json, made by
tools/make_reference.py with a TensorFlow that has Pillow and SciPy beside it)."""
import os
import tempfile

import cases


def namespace(tf, np):
    utils, image = tf.keras.utils, tf.keras.preprocessing.image
    folder = tempfile.mkdtemp()
    numbers = np.random.RandomState(0)
    for name, count in (("cats", 5), ("dogs", 4)):
        os.makedirs(os.path.join(folder, name))
        for i in range(count):
            pixels = numbers.randint(0, 255, (10 + i, 12, 3)).astype(np.uint8)
            tf.io.write_file(os.path.join(folder, name, f"{i}.png"), tf.io.encode_png(pixels))

    def loaded(**settings):
        return utils.img_to_array(utils.load_img(os.path.join(folder, "cats", "2.png"), **settings))

    def first(**settings):
        dataset = utils.image_dataset_from_directory(
            folder, **{"image_size": (4, 5), "batch_size": 3, "verbose": False, "shuffle": False, **settings})
        return list(tf.nest.flatten(next(iter(dataset))))

    def files(**settings):
        dataset = utils.image_dataset_from_directory(folder, verbose=False, image_size=(4, 5), **settings)
        return [os.path.relpath(path, folder) for path in dataset.file_paths]

    X = np.random.RandomState(1).randint(0, 255, (6, 7, 8, 3)).astype("float32")

    def moved(**settings):
        return image.ImageDataGenerator(**settings).random_transform(X[0], seed=3)

    def flowed(batches, **settings):
        batches_of = image.ImageDataGenerator(**settings).flow(X, np.arange(6), batch_size=4, seed=7)
        return [v for _ in range(batches) for v in next(batches_of)][-2:]

    def from_folder(settings, **more):
        batches = image.ImageDataGenerator(**settings).flow_from_directory(
            folder, **{"target_size": (3, 4), "batch_size": 4, "seed": 2, **more})
        return list(tf.nest.flatten(next(batches))) + [batches.classes, batches.image_shape, len(batches)]

    return {**cases.namespace(tf, np), "keras": tf.keras, "utils": utils, "image": image, "folder": folder, "X": X,
            "loaded": loaded, "first": first, "files": files, "moved": moved, "flowed": flowed,
            "from_folder": from_folder, "D": (np.arange(24) * 7 % 11 - 5.0).reshape(2, 4, 3)}


LINES = """
loaded()
loaded(target_size=(6, 7))
loaded(target_size=(20, 5), interpolation="bilinear")
loaded(target_size=(20, 5), interpolation="bicubic")
loaded(target_size=(15, 5), interpolation="lanczos")
loaded(target_size=(5, 5), interpolation="box")
loaded(target_size=(5, 5), interpolation="hamming")
loaded(target_size=(5, 9), keep_aspect_ratio=True)
loaded(color_mode="grayscale")
loaded(color_mode="rgba")
loaded(color_mode="cmyk")
loaded(target_size=(3, 3), interpolation="cubic")
utils.load_img("/no/such/file.png")
np.asarray(utils.array_to_img(D))
np.asarray(utils.array_to_img(D[..., :1] * 1000, scale=False))
utils.array_to_img(D).size
utils.array_to_img(D[0])
utils.array_to_img(D[..., :2])
utils.img_to_array(D[..., 0])
utils.img_to_array(D, data_format="channels_first")
utils.img_to_array(D, dtype="uint8")
utils.img_to_array(D[None])
utils.img_to_array(D, data_format="no")
image.smart_resize(X[0], (4, 3))
image.smart_resize(X, (3, 5), interpolation="nearest")
first()
first(label_mode="categorical")
first(label_mode="binary")
first(label_mode=None)
first(labels=None)
first(labels=[0, 1, 2] * 3)
first(color_mode="grayscale")
first(color_mode="rgba")
first(crop_to_aspect_ratio=True)
first(pad_to_aspect_ratio=True)
first(interpolation="nearest")
first(data_format="channels_first")
first(batch_size=None)
first(class_names=["dogs", "cats"])
first(validation_split=0.3, subset="validation")
files(seed=1)
files(seed=4, validation_split=0.3, subset="training")
files(seed=4, validation_split=0.3, subset="validation")
first(label_mode="some")
first(validation_split=0.3)
first(validation_split=0.3, subset="training", shuffle=True)
first(class_names=["cows"])
first(interpolation="best")
first(color_mode="cmyk")
first(labels=[1, 2])
first(labels=None, class_names=["cats"])
first(image_size=(3,))
moved(rotation_range=30)
moved(width_shift_range=0.3, fill_mode="constant", cval=9.0)
moved(height_shift_range=2, fill_mode="reflect")
moved(width_shift_range=[-3, 1, 2], fill_mode="wrap")
moved(shear_range=20.0)
moved(zoom_range=0.3, interpolation_order=0)
moved(zoom_range=[0.5, 0.9])
moved(channel_shift_range=50.0)
moved(brightness_range=(0.4, 1.7))
moved(horizontal_flip=True, vertical_flip=True)
flowed(1, horizontal_flip=True, rescale=1 / 255.0)
flowed(2, rotation_range=20, width_shift_range=0.2, zoom_range=0.2)
flowed(3, samplewise_center=True, samplewise_std_normalization=True)
from_folder({})
from_folder({}, class_mode="binary", color_mode="grayscale")
from_folder({"rescale": 0.5}, class_mode="sparse", shuffle=False)
from_folder({}, class_mode="input", interpolation="bilinear")
from_folder({"validation_split": 0.4}, subset="validation", classes=["dogs", "cats"])
image.ImageDataGenerator(zoom_range=[1])
image.ImageDataGenerator(validation_split=2)
image.ImageDataGenerator().flow(X, np.arange(5))
image.ImageDataGenerator().flow(X[0])
image.ImageDataGenerator(validation_split=0.5).flow(X, np.arange(6), subset="training")
image.ImageDataGenerator().fit(X[0])
image.random_rotation(X[0], 0.0, 0, 1, 2)
image.apply_brightness_shift(X[0] * 2, 0.5, False)
image.apply_channel_shift(X[0], 10.0)
""".strip().splitlines()
