"""Layers, activations, initializers, regularizers, constraints and keras.ops against real Keras 3."""
import json
import pathlib

import gradus as tf
import numpy as np
import pytest
from gradus import keras
from keras_layer_answers import answers, evaluated, made, start
from keras_layer_cases import CASES, FUNCTIONS, STARTS, Data

REFERENCE = json.loads((pathlib.Path(__file__).parent / "keras_layers.json").read_text())
BY_NAME = {case[0]: case for case in CASES}
NAMES = list(BY_NAME)


def near(found, expected, what):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, what
    if found.dtype == bool or expected.dtype == bool:
        np.testing.assert_array_equal(found, expected, err_msg=what)
    else:
        np.testing.assert_allclose(found, expected, rtol=3e-4, atol=3e-5, err_msg=what)


def plain(config, leave_out=()):
    """As JSON has it, with rounded numbers."""
    if isinstance(config, dict):
        return {k: plain(v, leave_out) for k, v in config.items() if k not in leave_out}
    if isinstance(config, (list, tuple)):
        return [plain(v, leave_out) for v in config]
    return float(f"{config:.6g}") if isinstance(config, float) else config


@pytest.fixture(autouse=True)
def names_start_again():
    keras.utils.clear_session()


@pytest.mark.parametrize("name", NAMES)
def test_layer_is_as_in_keras(name):
    expected, found = REFERENCE["layers"][name], answers(BY_NAME[name], keras, tf)
    assert found["weights"] == expected["weights"]
    assert found["dtypes"] == expected["dtypes"]
    for part in ("outputs", "state", "losses"):
        assert len(found[part]) == len(expected[part]), part
        for a, b in zip(found[part], expected[part]):
            near(a, b, part)
    if name in ("random_rotation", "random_zoom", "random_translation"):
        return  # TensorFlow's gradient is the image under the inverse map; ours is the derivative
    assert len(found.get("gradients", ())) == len(expected.get("gradients", ()))
    for i, (a, b) in enumerate(zip(found.get("gradients", ()), expected.get("gradients", ()))):
        assert (a is None) == (b is None), f"gradient {i}"
        if a is not None:
            near(a, b, f"gradient {i}")


@pytest.mark.parametrize("name", NAMES)
def test_config_is_kerass_and_makes_the_layer_again(name):
    layer, _, _, _ = made(BY_NAME[name], keras)
    config = layer.get_config()
    assert plain(config) == REFERENCE["layers"][name]["config"]
    again = type(layer).from_config(config)
    built = ("build_config",)  # the layers within are not built yet
    assert plain(again.get_config(), built) == plain(config, built)


@pytest.mark.parametrize("name", NAMES)
def test_compiled_gives_the_same(name):
    expected, found = REFERENCE["layers"][name], answers(BY_NAME[name], keras, tf, compiled=True)
    for part in ("outputs", "state"):
        for a, b in zip(found[part], expected[part]):
            near(a, b, part)


@pytest.mark.parametrize("name", [n for n in NAMES if "symbolic" in REFERENCE["layers"][n]])
def test_symbolic_shapes(name):
    layer, args, kwargs, _ = made(BY_NAME[name], keras)
    inputs = tf.nest.map_structure(lambda a: keras.Input(a.shape[1:], dtype=a.dtype.name), args)
    kwargs = {k: v for k, v in kwargs.items() if k in ("training", "use_causal_mask", "return_attention_scores")}
    outputs = layer(*inputs, **kwargs)
    assert [list(t.shape) for t in tf.nest.flatten(outputs)] == REFERENCE["layers"][name]["symbolic"]


@pytest.mark.parametrize("text", FUNCTIONS)
def test_function_is_as_in_keras(text):
    value = evaluated(text, Data(text), keras=keras)
    arrays = [np.asarray(v) for v in (value if isinstance(value, (list, tuple)) else [value])]
    expected = REFERENCE["functions"][text]
    assert len(arrays) == len(expected)
    for found, (dtype, numbers) in zip(arrays, expected):
        assert found.dtype.name == dtype
        near(found, numbers, text)


def pair(layer, **kwargs):
    """Two layers with the same weights, the second with other arguments."""
    return layer, type(layer).from_config({**layer.get_config(), **kwargs})


def copy_weights(source, target):
    target.set_weights(source.get_weights())


@pytest.mark.parametrize("expression", [
    "layers.Dense(3, activation='relu')", "layers.Dense(3, activation='softmax')", "layers.LayerNormalization()",
    "layers.BatchNormalization()", "layers.LSTM(3)", "layers.GRU(3)", "layers.SimpleRNN(3)", "layers.Conv1D(2, 2)",
    "layers.Conv1DTranspose(2, 2)", "layers.MaxPooling1D(2)", "layers.AveragePooling1D(2)",
    "layers.GroupNormalization(2)",
    "layers.Dropout(0.5)", "layers.Bidirectional(layers.LSTM(2))", "layers.Softmax()", "layers.UnitNormalization()",
    "layers.SeparableConv1D(2, 2)", "layers.EinsumDense('abc,cd->abd', (None, 2), bias_axes='d')", "layers.PReLU()"])
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float16", "float64"])
def test_policies(expression, policy):
    layers = keras.layers
    x = Data(expression).x(2, 4, 4)
    plain_layer = eval(expression, {"layers": layers})
    expected = plain_layer(x).numpy()
    keras.utils.clear_session()
    previous = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        layer = eval(expression, {"layers": layers})
        y = layer(x)
        copy_weights(plain_layer, layer)
        with tf.GradientTape() as tape:
            y = layer(x)
            loss = tf.reduce_sum(tf.cast(y, "float32") ** 2)
        compute = policy.split("_")[-1]
        assert y.dtype.name == compute
        assert all(v.dtype == ("float32" if policy.startswith("mixed") else compute) for v in layer.weights)
        near_enough = {"float16": 1e-2, "bfloat16": 8e-2, "float64": 1e-5}[compute]
        np.testing.assert_allclose(tf.cast(y, "float64").numpy(), expected, atol=near_enough, rtol=near_enough)
        gradients = tape.gradient(loss, layer.trainable_weights)
        assert all(g is not None and g.dtype.name == v.dtype for g, v in zip(gradients, layer.trainable_weights))
    finally:
        keras.config.set_dtype_policy(previous)


@pytest.mark.parametrize("expression,shape", [
    ("layers.Conv2D(3, 3, padding='same')", (2, 5, 4, 2)), ("layers.Conv1D(3, 2)", (2, 5, 2)),
    ("layers.Conv2DTranspose(3, 2, strides=2)", (1, 3, 2, 2)), ("layers.DepthwiseConv2D(2)", (1, 3, 4, 2)),
    ("layers.MaxPooling2D(2)", (1, 4, 4, 2)), ("layers.AveragePooling1D(2)", (2, 4, 3)),
    ("layers.GlobalAveragePooling2D()", (2, 3, 2, 4)), ("layers.GlobalMaxPooling1D()", (2, 3, 4)),
    ("layers.ZeroPadding2D(1)", (1, 2, 2, 3)), ("layers.Cropping2D(1)", (1, 4, 4, 2)), ("layers.UpSampling2D(2)", (1,
                                                                                                                   2,
                                                                                                                   3,
                                                                                                                   2)),
    ("layers.SeparableConv2D(2, 2)", (1, 3, 4, 2)), ("layers.Conv3D(2, 2)", (1, 3, 3, 2, 2))])
def test_channels_first(expression, shape):
    x = Data(expression).x(*shape)
    last = eval(expression, {"layers": keras.layers})
    first = type(last).from_config({**last.get_config(), "data_format": "channels_first"})
    expected = last(x).numpy()
    turned = np.moveaxis(x, -1, 1)
    first(turned)
    copy_weights(last, first)
    found = first(turned).numpy()
    np.testing.assert_allclose(found if found.ndim == 2 else np.moveaxis(found, 1, -1), expected, rtol=1e-5, atol=1e-6)
    assert first.compute_output_shape((None, *turned.shape[1:]))[1:] == found.shape[1:]


def test_embedding_gradient_stays_rows():
    layer = keras.layers.Embedding(1000, 4)
    layer.build()
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(layer(np.array([[3, 5, 3]])))
    gradient = tape.gradient(y, layer.embeddings)
    assert isinstance(gradient, tf.IndexedSlices)
    np.testing.assert_array_equal(gradient.indices.numpy(), [3, 5, 3])


def test_mask_goes_from_embedding_to_lstm():
    tokens = np.array([[1, 2, 0, 0], [3, 0, 0, 0], [1, 2, 3, 4]])
    embedding, lstm = keras.layers.Embedding(5, 3, mask_zero=True), keras.layers.LSTM(2)
    found = lstm(embedding(tokens)).numpy()
    vectors = tf.gather(embedding.embeddings, tokens)
    for row, length in enumerate([2, 1, 4]):
        alone = lstm(vectors[row:row + 1, :length]).numpy()[0]
        np.testing.assert_allclose(found[row], alone, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_sequences_of_any_length_in_one_program(kind):
    layer = getattr(keras.layers, kind)(3, return_sequences=True)
    layer.build((None, None, 2))
    traces = []

    @tf.function
    def step(x, mask):
        traces.append(1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x, mask=mask) ** 2)
        return loss, tape.gradient(loss, layer.trainable_weights)

    for time in (4, 5, 3, 7, 6):
        data = Data(str(time))
        x, mask = tf.constant(data.x(2, time, 2)), tf.constant(data.mask(2, time))
        loss, gradients = step(x, mask)
        with tf.GradientTape() as tape:
            expected = tf.reduce_sum(layer(x, mask=mask) ** 2)
        near(loss, expected, "loss")
        for a, b in zip(gradients, tape.gradient(expected, layer.trainable_weights)):
            near(a, b, "gradient")
    assert len(traces) <= 3


@pytest.mark.parametrize("kind,dense_bias", [("LSTM", True), ("LSTM", False), ("GRU", True), ("GRU", False)])
def test_fused_and_single_steps_agree(kind, dense_bias):
    data = Data(kind)
    x, mask = tf.constant(data.x(3, 5, 2)), tf.constant(data.mask(3, 5))
    fused = getattr(keras.layers, kind)(4, return_sequences=True, use_bias=dense_bias)
    cell = getattr(keras.layers, kind + "Cell")(4, use_bias=dense_bias)
    looped = keras.layers.RNN(cell, return_sequences=True)
    fused(x), looped(x)
    copy_weights(fused, looped)
    results = []
    for layer in (fused, looped):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, mask=mask)
            loss = tf.reduce_sum(y * data.x(*y.shape) * 0 + y ** 2)
        results.append([y, *tape.gradient(loss, [x, *layer.trainable_weights])])
    for a, b in zip(*results):
        near(a, b, kind)


def test_stateful_layers_go_on_where_they_were():
    data = Data("stateful")
    x = data.x(2, 6, 3)
    whole, parts = pair(keras.layers.LSTM(4), stateful=True)
    expected = whole(x).numpy()
    parts(x[:, :2])
    copy_weights(whole, parts)
    parts.reset_states()
    for i in (0, 2):
        parts(x[:, i:i + 2])
    near(parts(x[:, 4:]), expected, "three calls")
    parts.reset_states()
    near(parts(x), expected, "one call")
    with pytest.raises(AttributeError):
        whole.reset_states()


def test_dropout_draws_the_same_compiled():
    x = tf.ones((4, 5))
    eager, traced = pair(keras.layers.Dropout(0.5, seed=8))
    run = tf.function(lambda: traced(x, training=True))
    for _ in range(4):
        np.testing.assert_array_equal(eager(x, training=True).numpy(), run().numpy())
    assert eager.seed_generator.state.numpy().tolist() == traced.seed_generator.state.numpy().tolist() == [8, 4]


def test_normalization_adapts():
    data = Data("adapt").x(50, 3) * 4 + 2
    layer = keras.layers.Normalization()
    layer.adapt(data)
    y = layer(data).numpy()
    np.testing.assert_allclose(y.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(y.var(0), 1, atol=1e-4)
    batches = keras.layers.Normalization()
    batches.adapt([data[:20], data[20:]])
    np.testing.assert_allclose(batches(data).numpy(), y, atol=1e-4)
    bins = keras.layers.Discretization(num_bins=3)
    bins.adapt(np.arange(10.0))
    assert bins(np.arange(10.0)).numpy().tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]


def test_lambda_and_functional_merges():
    a, b = keras.Input((3,)), keras.Input((3,))
    y = keras.layers.Lambda(lambda t: t * 2.0)(keras.layers.add([a, b]))
    y = keras.layers.concatenate([y, keras.ops.exp(a), keras.activations.relu(b)])
    model = keras.Model([a, b], keras.ops.sum(y, axis=1))
    x1, x2 = Data("lambda").x(4, 3), Data("functional").x(4, 3)
    expected = np.concatenate([(x1 + x2) * 2, np.exp(x1), np.maximum(x2, 0)], 1).sum(1)
    near(model([x1, x2]), expected, "model")
    for function, numpy_function in (("subtract", np.subtract), ("multiply", np.multiply), ("maximum", np.maximum),
                                     ("minimum", np.minimum)):
        near(getattr(keras.layers, function)([tf.constant(x1), tf.constant(x2)]), numpy_function(x1, x2), function)


def test_names_dicts_and_objects():
    for module, name, attribute in (("initializers", "he_normal", "seed"), ("regularizers", "l2", "l2"),
                                    ("constraints", "max_norm", "max_value")):
        part = getattr(keras, module)
        made_by_name = part.get(name)
        written = part.serialize(made_by_name)
        assert written["module"] == f"keras.{module}"
        assert getattr(part.deserialize(written), attribute) is not None
        assert part.get(made_by_name) is not None and part.get(None) is None
        assert isinstance(part.get(type(made_by_name)), type(made_by_name))
        with pytest.raises(ValueError, match="Could not interpret"):
            part.get("nope")
    assert keras.activations.get(None) is keras.activations.linear
    assert keras.activations.serialize(keras.activations.get("swish")) == "silu"
    with pytest.raises(ValueError, match="Could not interpret activation"):
        keras.activations.get("nope")


@pytest.mark.parametrize("layer,shape", STARTS)
def test_random_seed_gives_the_weights_of_keras(layer, shape):
    expected, found = REFERENCE["starts"][layer], start(layer, shape, keras)
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        near(a, b, layer)


def test_seeds():
    keras.utils.set_random_seed(3)
    first = keras.layers.Dense(4)(np.ones((1, 3), "float32")).numpy()
    keras.utils.set_random_seed(3)
    np.testing.assert_array_equal(keras.layers.Dense(4)(np.ones((1, 3), "float32")).numpy(), first)
    initializer = keras.initializers.GlorotUniform()
    np.testing.assert_array_equal(initializer((2, 3)).numpy(), initializer((2, 3)).numpy())
    generator = keras.random.SeedGenerator(7)
    a, b = keras.random.normal((3,), seed=generator), keras.random.normal((3,), seed=generator)
    assert not np.allclose(a, b)
    near(a, keras.random.normal((3,), seed=7), "the first draw is that of the integer")


def test_sparsemax_is_a_distribution():
    x = tf.constant(Data("sparsemax").x(3, 5) * 4)
    y = keras.activations.sparsemax(x).numpy()
    np.testing.assert_allclose(y.sum(1), 1, rtol=1e-5)
    assert (y >= 0).all() and (y == 0).any()


@pytest.mark.parametrize("expression,message", [
    ("layers.Dense(-1)", "units"), ("layers.Conv2D(3, 2, groups=2)", "divisible"), ("layers.Conv2D(2, 2, "
                                                                                    "padding='causal')", "padding"),
    ("layers.Dropout(1.5)", "rate"), ("layers.Conv2D(2, 2, strides=2, dilation_rate=2)", "dilation_rate"),
    ("layers.MaxPooling2D(2, padding='other')", "padding"), ("layers.Permute((1, 3))", "dims"),
    ("layers.Attention(score_mode='x')", "score_mode"),
    ("layers.Dot('a')", "axes"), ("layers.Bidirectional(3)", "Bidirectional"), ("layers.RNN(3)", "cell"),
    ("layers.Add()(np.ones((2, 2)))", "list"),
    ("layers.Dense(2)(np.ones(3, 'float32'))", "min_ndim"), ("layers.Reshape((7,))(np.ones((2, 3), 'float32'))",
                                                             "unchanged"),
    ("layers.Concatenate()([np.ones((2, 3), 'f'), np.ones((3, 3), 'f')])", "matching"),
    ("layers.Flatten(data_format='x')", "data_format"), ("layers.LSTM(0)", "units")])
def test_mistakes_are_explained(expression, message):
    with pytest.raises((ValueError, TypeError), match=message):
        eval(expression, {"layers": keras.layers, "np": np})


def test_lookups():  # the answers are Keras's
    layers = keras.layers
    lookup = layers.StringLookup(vocabulary=["a", "b", "c"])
    assert lookup(np.array([["a", "z"], ["c", "b"]])).numpy().tolist() == [[1, 0], [3, 2]]
    assert lookup.get_vocabulary() == ["[UNK]", "a", "b", "c"] and lookup.vocabulary_size() == 4
    masked = layers.StringLookup(vocabulary=["a", "b", "c"], mask_token="", num_oov_indices=0)
    assert masked(["a", "", "c"]).numpy().tolist() == [1, 0, 3]
    hot = layers.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot")
    assert hot([["a", "a"], ["z", "b"]]).numpy().tolist() == [[0, 1, 0], [1, 0, 1]]
    back = layers.StringLookup(vocabulary=["a", "b", "c"], invert=True)
    assert back(np.array([[1, 0], [3, 2]])).numpy().tolist() == [[b"a", b"[UNK]"], [b"c", b"b"]]
    learned = layers.StringLookup(max_tokens=3)
    learned.adapt(np.array(["x", "y", "x", "z", "y", "w"]))
    assert learned.get_vocabulary() == ["[UNK]", "y", "x"]
    assert type(learned).from_config(lookup.get_config()).get_vocabulary() == lookup.get_vocabulary()
    integers = layers.IntegerLookup(vocabulary=[12, 36], num_oov_indices=2)
    assert integers(np.array([12, 36, 7, 8])).numpy().tolist() == [2, 3, 1, 0]
    assert layers.IntegerLookup(vocabulary=[12, 36], invert=True)(np.array([1, 2, 0])).numpy().tolist() == [12, 36, -1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="OOV"):
        layers.StringLookup(vocabulary=["a"], num_oov_indices=0)(["q"])


def test_text_vectorization():
    make = keras.layers.TextVectorization
    text = make()
    text.adapt(["The cat sat.", "the dog, the cat!"])
    assert text.get_vocabulary() == ["", "[UNK]", "the", "cat", "sat", "dog"]
    assert text(["the bird sat", "cat"]).numpy().tolist() == [[2, 1, 4], [3, 0, 0]]
    assert text("the dog").numpy().tolist() == [2, 5]
    assert make(output_sequence_length=3, vocabulary=["the", "cat"])([["the bird sat on"],
                                                                      ["cat"]]).numpy().tolist() == [
        [2, 1, 1], [3, 0, 0]]
    assert make(output_mode="count", vocabulary=["the", "cat"])(["the cat the", "dog"]).numpy().tolist() == [
        [0, 2, 1], [1, 0, 0]]
    assert make(ngrams=2, vocabulary=["the cat", "cat", "the"])(["the cat the", "dog"]).numpy().tolist() == [
        [4, 3, 4, 2, 1], [1, 0, 0, 0, 0]]
    weighted = make(output_mode="tf_idf")
    weighted.adapt(["the cat", "the dog", "the the bird"])
    near(weighted(["the cat the"]), [[0.0, 1.1192315, 0.0, 0.91629076, 0.0]], "tf-idf")


def test_attention_takes_the_masks_of_its_inputs():
    tokens = np.array([[1, 2, 0], [3, 0, 0]])
    embedding, attention = keras.layers.Embedding(5, 4, mask_zero=True), keras.layers.MultiHeadAttention(2, 2)
    masked = embedding(tokens)
    found = attention(masked, masked)
    plain_rows = tf.gather(embedding.embeddings, tokens)
    near(found, attention(plain_rows, plain_rows, query_mask=tokens != 0, value_mask=tokens != 0), "masks as arguments")
    shorter = attention(plain_rows[:1, :2], plain_rows[:1, :2])
    near(found[:1, :2], shorter, "what is masked is not seen")
    after = keras.layers.GlobalAveragePooling1D()(found)  # the mask goes on
    near(after[:1], tf.reduce_mean(shorter, 1), "mean over what counts")


def test_cells_of_ones_own():
    class Minimal(keras.layers.Layer):
        def __init__(self, units, **kwargs):
            super().__init__(**kwargs)
            self.units = self.state_size = units

        def build(self, input_shape):
            self.kernel = self.add_weight(shape=(input_shape[-1], self.units), initializer="ones", name="kernel")
            self.recurrent = self.add_weight(shape=(self.units, self.units), initializer="ones", name="recurrent")

        def call(self, inputs, states):
            output = keras.ops.matmul(inputs, self.kernel) * 0.1 + keras.ops.matmul(states[0], self.recurrent) * 0.1
            return output, [output]

    layer = keras.layers.RNN(Minimal(2), return_sequences=True, return_state=True, name="rnn")
    outputs, state = layer(np.ones((1, 3, 2), "float32"))
    near(outputs, [[[0.2, 0.2], [0.24, 0.24], [0.248, 0.248]]], "outputs")
    near(state, [[0.248, 0.248]], "state")
    assert [v.path for v in layer.weights] == ["rnn/minimal/kernel", "rnn/minimal/recurrent"]
    stacked = keras.layers.RNN([Minimal(2), Minimal(3)])
    near(stacked(np.ones((1, 3, 2), "float32")), [[0.0676, 0.0676, 0.0676]], "two cells")


def test_stacked_recurrent_layers_say_what_is_missing():
    from gradus import keras
    with pytest.raises(ValueError, match="expected ndim=3, found ndim=2"):
        keras.layers.LSTM(2)(keras.layers.GRU(2)(keras.Input((4, 3))))


@pytest.mark.parametrize("layer, shape", [("Conv1D", (1, 4, 1)), ("Conv2D", (1, 4, 4, 1)), ("Conv3D", (1, 4, 4, 4, 1))])
def test_a_kernel_beyond_its_input(layer, shape):
    with pytest.raises(ValueError, match="zero or negative"):
        getattr(keras.layers, layer)(2, 5)(tf.ones(shape))
    assert 0 in getattr(keras.layers, layer)(2, 3)(tf.ones((0, *shape[1:]))).shape
