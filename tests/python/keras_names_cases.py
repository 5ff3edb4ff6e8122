"""Questions about names of Keras that are used less, put to the real Keras and to Gradus: networks, hooks, orders.

Each case is a function of (keras, tf) whose answer can be written as JSON.
"""
import hashlib
import json

import numpy as np

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def _network(keras, name, **kwargs):
    keras.backend.clear_session()
    model = getattr(keras.applications, name)(weights=None, **kwargs)
    config = model.get_config()
    config.pop("output_layers")
    text = json.dumps(config, sort_keys=True)
    return {"name": model.name, "parameters": model.count_params(), "layers": [layer.name for layer in model.layers][:3],
            "count": len(model.layers), "config": hashlib.sha256(text.encode()).hexdigest(),
            "shapes": [list(model.input_shape), list(model.output_shape)]}


@case
def networks(keras, tf):
    small = {"VGG16": {"include_top": False}, "VGG19": {"include_top": False, "pooling": "max"}}
    names = ("VGG16 VGG19 ResNet50 ResNet50V2 MobileNet MobileNetV2 DenseNet121 EfficientNetB0 InceptionV3 Xception").split()
    return {name: _network(keras, name, **small.get(name, {})) for name in names}


@case
def networks_of_other_sizes(keras, tf):
    return [_network(keras, "MobileNetV2", alpha=0.35, input_shape=(96, 96, 3), classes=5),
            _network(keras, "MobileNet", alpha=0.25, input_shape=(128, 128, 3), include_top=False, pooling="avg"),
            _network(keras, "EfficientNetB2", include_top=False, input_shape=(64, 64, 3)),
            _network(keras, "DenseNet169", include_top=False, pooling="max"),
            _network(keras, "ResNet101", include_top=False, input_shape=(64, 48, 3))]


@case
def images_for_networks(keras, tf):
    image = (np.arange(48) * 5.0).reshape(1, 4, 4, 3)
    modules = "vgg16 resnet50 mobilenet_v2 densenet efficientnet inception_v3 xception resnet_v2".split()
    found = {}
    for name in modules:
        prepare = getattr(keras.applications, name).preprocess_input
        found[name] = [np.asarray(prepare(x)).ravel()[:5].round(4).tolist()
                       for x in (image.copy(), image.astype("uint8"), tf.constant(image, "float32"))]
    return found


@case
def order_of_rows(keras, tf):
    """fit shuffles arrays by the global seed, the same way in every epoch."""
    seen = []

    class Recorder(keras.Model):
        def call(self, x):
            return x

        def train_step(self, data):
            tf.py_function(lambda x: seen.extend(x.numpy().ravel().astype(int).tolist()), [data[0]], [])
            return {"loss": tf.reduce_sum(data[0])}

    x = np.arange(7, dtype="float32")[:, None]
    for seed in (1, 5):
        keras.utils.set_random_seed(seed)
        model = Recorder()
        model.compile("sgd", "mse")
        model.fit(x, x, batch_size=3, epochs=2, verbose=0)
    return seen


@case
def hooks_of_datasets(keras, tf):
    log = []

    class Numbers(keras.utils.PyDataset):
        def __len__(self):
            return 3

        def __getitem__(self, i):
            log.append(i)
            return np.ones((2, 2), "float32"), np.ones((2, 1), "float32")

        def on_epoch_begin(self):
            log.append("begin")

        def on_epoch_end(self):
            log.append("end")

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    answers = []
    keras.utils.set_random_seed(3)
    for run in (lambda: model.fit(Numbers(), epochs=2, verbose=0),
                lambda: model.fit(Numbers(), epochs=2, shuffle=False, validation_data=Numbers(), verbose=0),
                lambda: model.evaluate(Numbers(), verbose=0), lambda: model.predict(Numbers(), verbose=0)):
        log.clear()
        run()
        answers.append(list(log))
    return answers


@case
def sequences_and_words(keras, tf):
    import random
    sequence, text = tf.keras.preprocessing.sequence, tf.keras.preprocessing.text
    random.seed(1)
    pairs = sequence.skipgrams([1, 2, 3, 4], 10, window_size=2, seed=3)
    windows = sequence.TimeseriesGenerator(np.arange(20)[:, None], np.arange(20), length=4, sampling_rate=2, stride=3,
                                           batch_size=2)
    return [pairs, sequence.make_sampling_table(6, 0.1).round(6).tolist(), len(windows),
            [part.tolist() for part in windows[1]], text.hashing_trick("one two three", 50, hash_function="md5")]


@case
def draws(keras, tf):
    x = np.arange(128, dtype="float32").reshape(2, 8, 8, 1)
    crops = []
    for seed in (1, 2, 3):
        layer = keras.layers.RandomCrop(3, 3, seed=seed)
        crops += [int(np.asarray(layer(x, training=True))[0, 0, 0, 0]) for _ in range(3)]
    return crops


@case
def defaults_in_configs(keras, tf):
    layers = keras.layers

    class Masked(layers.Layer):
        def call(self, x, mask=None, training=None):
            return x

    base_input = keras.Input((4, 5))
    base = keras.Model(base_input, layers.Dense(5)(base_input), name="base")
    found = []
    for make in (lambda i: layers.LSTM(3)(i), lambda i: layers.BatchNormalization()(i), lambda i: layers.Dropout(.1)(i),
                 lambda i: Masked()(i), lambda i: Masked()(i, training=True), lambda i: base(i, training=False),
                 lambda i: layers.BatchNormalization()(i, training=False), lambda i: layers.Dense(2)(i)):
        i = keras.Input((4, 5))
        node = keras.Model(i, make(i)).get_config()["layers"][1]["inbound_nodes"][0]
        found.append(dict(sorted(node["kwargs"].items())))
    return found


@case
def names_in_summaries(keras, tf):
    layers = keras.layers
    x = np.ones((2, 3, 4), "float32")
    attention = layers.MultiHeadAttention(2, 4)
    attention(x, x)

    class Own(layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(shape[-1], 2))

        def call(self, x):
            return x @ self.w

    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.parts = [Own(), layers.GRU(3, return_sequences=True), layers.Flatten(), layers.Dropout(.1)]

        def call(self, x):
            for part in self.parts:
                x = part(x)
            return x

    model, lines = Net(), []
    model(x)
    model.summary(print_fn=lambda line, line_break=True: lines.append(line))
    return [[layer.name for layer in attention._flatten_layers()], layers.Dropout(.1).name, "\n".join(lines)]


@case
def text_in_models(keras, tf):
    words = tf.data.Dataset.from_tensor_slices(["a b", "b c", "b", "c a b", "d"]).batch(2)
    lookup = keras.layers.StringLookup(output_mode="multi_hot")
    lookup.adapt(tf.data.Dataset.from_tensor_slices(["x", "y", "x"]).batch(2))
    vectors = keras.layers.TextVectorization(output_mode="tf_idf")
    vectors.adapt(words)
    text, number = keras.Input((1,), dtype="string", name="text"), keras.Input((1,), name="number")
    model = keras.Model([text, number], keras.layers.concatenate([lookup(text), number]))
    out = model.predict({"text": tf.constant(["x", "z"]), "number": tf.constant([1.5, 2.5])}, verbose=0)
    return [out.tolist(), np.asarray(vectors(["b b c"])).round(4).tolist(), [str(w) for w in vectors.get_vocabulary()]]


@case
def lambda_metrics(keras, tf):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", "mse", metrics=[lambda y, p: tf.reduce_max(p)])
    return model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0).history


@case
def old_backend(keras, tf):
    K = tf.keras.backend
    x = tf.constant(np.arange(24, dtype="float32").reshape(2, 3, 4) / 10)
    image = tf.constant(np.arange(32, dtype="float32").reshape(1, 4, 4, 2))
    kernel = tf.constant(np.ones((2, 2, 2, 3), "float32"))
    v = K.variable([1.0, 2.0])
    return [np.asarray(y, "float64").round(5).tolist() for y in (
        K.batch_dot(x, tf.transpose(x, (0, 2, 1))), K.batch_dot(x[:, 0], x[:, 1], axes=1),
        K.batch_dot(x, x, axes=[1, 1]), K.arange(3), K.arange(1, 7, 2), K.bias_add(x, tf.constant([1.0, 2, 3, 4])),
        K.conv2d(image, kernel, padding="same"), K.pool2d(image, (2, 2), strides=(2, 2), pool_mode="avg"),
        K.count_params(v), K.eval(v), K.eye(2), K.foldl(lambda a, b: a + b, x), K.map_fn(lambda r: r * 2, x),
        K.hard_sigmoid(x - 1), K.in_top_k(tf.constant([[.1, .9]]), tf.constant([1]), 1), K.repeat(x[:, 0], 2),
        K.repeat_elements(x, 2, 1), K.reverse(x, 1), K.resize_images(image, 2, 2, "channels_last"),
        K.temporal_padding(x), K.spatial_2d_padding(image), K.update_add(v, tf.constant([1.0, 1.0])), K.to_dense(x),
        K.moving_average_update(v, tf.constant([0.0, 0.0]), 0.5), K.random_bernoulli((2, 2), p=1.0))]


@case
def images_in_ops(keras, tf):
    image = keras.ops.image
    x = tf.constant(np.linspace(0, 1, 72, dtype="float32").reshape(1, 4, 6, 3))
    first = tf.transpose(x, (0, 3, 1, 2))
    return [np.asarray(y).round(4).tolist() for y in (
        image.rgb_to_grayscale(x), image.rgb_to_hsv(x), image.hsv_to_rgb(x),
        image.rgb_to_hsv(first, data_format="channels_first"), image.crop_images(x, 1, 2, target_height=2, target_width=3),
        image.crop_images(x, bottom_cropping=1, right_cropping=1, target_height=2, target_width=4),
        image.pad_images(x, 1, 0, 1, 2), image.pad_images(x, 1, 2, target_height=6, target_width=9))]


@case
def sparse_and_ragged_inputs(keras, tf):
    layers = keras.layers
    x = tf.SparseTensor([[0, 1], [1, 2], [2, 0]], [1.0, 2.0, 3.0], [3, 4])
    i = keras.Input((4,), sparse=True)
    dense = layers.Dense(2, activation="relu")
    model = keras.Model(i, dense(i))
    found = [i.sparse, i.ragged, model.output.sparse, np.asarray(model(x)).tolist(),
             np.asarray(model(tf.sparse.to_dense(x))).tolist(), model.predict(x, verbose=0).tolist()]
    model.compile("sgd", "mse")
    found.append(model.fit(x, np.ones((3, 2)), verbose=0).history["loss"])
    rows = tf.data.Dataset.from_tensor_slices((x, np.ones((3, 2), "float32"))).batch(2)
    found.append(model.fit(rows, verbose=0).history["loss"])
    stack = keras.Sequential([keras.Input((4,), sparse=True), layers.Dense(2), layers.Dense(1)])
    found += [list(stack(x).shape), layers.InputLayer((4,), sparse=True).get_config()["sparse"]]
    words = keras.Input((None,), ragged=True, dtype="int64")
    embedded = keras.Model(words, layers.Embedding(5, 2)(words))(tf.ragged.constant([[1, 2], [3]], dtype="int64"))
    return found + [words.ragged, embedded.to_list()]
