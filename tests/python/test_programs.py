"""What programs written for TensorFlow 2 expect of the module as a whole: scopes, names that are loaded late, draws."""
import numpy as np
import pytest

import gradus as tf


def test_name_scopes_name_variables():
    with tf.name_scope("outer"), tf.name_scope("inner") as scope:
        assert scope == "outer/inner/"
        assert tf.get_current_name_scope() == "outer/inner"
        assert tf.Variable(1.0, name="w").name == "outer/inner/w:0"
    assert tf.Variable(1.0, name="w").name == "w:0"


def test_modules_have_scopes():
    class Dense(tf.Module):
        def __init__(self):
            super().__init__()
            with self.name_scope:
                self.w = tf.Variable(1.0, name="w")

    class Net(tf.Module):
        def __init__(self, name=None):
            super().__init__(name)
            with self.name_scope:
                self.first = Dense()

        @tf.Module.with_name_scope
        def __call__(self):
            return tf.Variable(2.0, name="made")

    net = Net("net")
    assert net.name_scope.name == "net/"
    assert [v.name for v in net.variables] == ["net/dense/w:0"]
    assert net().name == "net/made:0"


@pytest.mark.parametrize("path", ["math", "nn", "linalg", "random", "signal", "bitwise", "dtypes"])
def test_missing_names_say_where_the_list_is(path):
    with pytest.raises(AttributeError, match=rf"module 'gradus.{path}' has no attribute 'xyz'. docs/api-coverage.md"):
        getattr(tf, path).xyz
    for name in dir(getattr(tf, path)):
        getattr(getattr(tf, path), name)


def test_candidates_are_drawn_without_repetition():
    true = tf.constant([[3]], tf.int64)
    counts, share = np.zeros(50), 0.0
    for _ in range(200):
        sampled, of_true, of_sampled = tf.random.log_uniform_candidate_sampler(true, 1, 10, True, 50)
        assert len(set(sampled.numpy().tolist())) == 10
        assert of_true.shape == (1, 1) and of_sampled.shape == (10,)
        counts[sampled.numpy()] += 1
        share += float(of_true[0, 0])
    assert counts[0] > counts[10] > counts[40]
    assert abs(counts[3] - share) < 30  # the expected count is what happens on average
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be less than or equal to range_max"):
        tf.random.uniform_candidate_sampler(true, 1, 10, True, 5)


def test_word_vectors_train():
    tf.random.set_seed(1)
    table, weights = tf.Variable(tf.random.normal([30, 4])), tf.Variable(tf.random.normal([30, 4]))
    biases, ids = tf.Variable(tf.zeros([30])), tf.constant([1, 2, 3, 4])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            rows = tf.nn.embedding_lookup(table, ids)
            loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, ids[:, None] + 5, rows, 8, 30))
            loss += tf.reduce_mean(tf.nn.sampled_softmax_loss(weights, biases, ids[:, None] + 5, rows, 8, 30))
        for variable, gradient in zip([table, weights, biases], tape.gradient(loss, [table, weights, biases])):
            variable.assign_sub(0.3 * tf.convert_to_tensor(gradient))
        return loss
    losses = [float(step()) for _ in range(60)]
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:10])


def test_gamma_and_poisson_have_their_moments():
    tf.random.set_seed(3)
    drawn = tf.random.gamma([4000], [0.5, 3.0], beta=2.0)
    assert drawn.shape == (4000, 2) and drawn.dtype == tf.float32
    np.testing.assert_allclose(tf.reduce_mean(drawn, 0), [0.25, 1.5], rtol=0.1)
    counts = tf.random.poisson([4000], [1.0, 20.0])
    np.testing.assert_allclose(tf.reduce_mean(counts, 0), [1.0, 20.0], rtol=0.1)
    np.testing.assert_allclose(tf.math.reduce_variance(counts, 0), [1.0, 20.0], rtol=0.15)
    assert tf.random.split([1, 2], 3).shape == (3, 2)
    assert tf.random.fold_in([1, 2], 7)[1] == 7


def test_dlpack_and_versions():
    x = tf.constant([1.0, 2.0])
    np.testing.assert_array_equal(tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(x)), x)
    assert tf.version.VERSION.startswith("2.") and not tf.sysconfig.get_build_info()["is_cuda_build"]
    assert tf.get_logger().name == "tensorflow"
    assert isinstance(tf.Graph(), tf.compat.v1.Graph)


def test_several_results_of_unknown_shape_run_as_python():
    @tf.numpy_function(Tout=[tf.float32, tf.int32])
    def step(action):
        return np.ones(4, np.float32) * action, np.array(1, np.int32)

    @tf.function
    def play(state):
        total = tf.constant(0)
        for i in tf.range(3):
            state, reward = step(tf.cast(i, tf.float32))
            state.set_shape([4])
            total += reward
        return state, total
    state, total = play(tf.zeros([4]))
    assert state.numpy().tolist() == [2.0] * 4 and int(total) == 3


def test_sequence_examples_and_examples_print(tmp_path):
    def number(n):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[n]))
    record = tf.train.SequenceExample(
        context=tf.train.Features(feature={"size": number(2)}),
        feature_lists=tf.train.FeatureLists(feature_list={"words": tf.train.FeatureList(feature=[number(3), number(4)])}))
    context, sequences = tf.io.parse_single_sequence_example(
        record.SerializeToString(), {"size": tf.io.FixedLenFeature([], tf.int64)},
        {"words": tf.io.FixedLenSequenceFeature([], tf.int64)})
    assert int(context["size"]) == 2 and sequences["words"].numpy().tolist() == [3, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Key: other"):
        tf.io.parse_single_sequence_example(record.SerializeToString(), {},
                                            {"other": tf.io.FixedLenSequenceFeature([], tf.int64)})
    example = tf.train.Example(features=tf.train.Features(feature={
        "a": number(5), "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'x"\x01']))}))
    assert str(example) == ('features {\n  feature {\n    key: "a"\n    value {\n      int64_list {\n        value: 5\n'
                            '      }\n    }\n  }\n  feature {\n    key: "b"\n    value {\n      bytes_list {\n'
                            '        value: "x\\"\\001"\n      }\n    }\n  }\n}\n')
    assert tf.train.Example.FromString(example.SerializeToString()) == example


def test_files_of_comma_separated_values(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,label\n1,2.5,x,0\n2,3.5,y,1\n3,,z,0\n4,5.5,\"x,y\",1\n")
    lines = tf.data.TextLineDataset(str(path)).skip(1).map(lambda line: tf.io.decode_csv(line, [0, 0.0, "", 0]))
    assert [tuple(v.numpy() for v in row) for row in lines] == [
        (1, 2.5, b"x", 0), (2, 3.5, b"y", 1), (3, 0.0, b"z", 0), (4, 5.5, b"x,y", 1)]
    fields = tf.data.experimental.CsvDataset(str(path), [tf.int32, tf.constant([0.0]), tf.string], header=True,
                                             select_cols=[0, 1, 2])
    assert fields.element_spec[1] == tf.TensorSpec([], tf.float32)
    assert [v.numpy() for v in next(iter(fields))] == [1, 2.5, b"x"]
    batches = list(tf.data.experimental.make_csv_dataset(str(path), 3, label_name="label", num_epochs=1, shuffle=False))
    features, label = batches[0]
    assert list(features) == ["a", "b", "c"] and label.numpy().tolist() == [0, 1, 0] and len(batches) == 2
    assert features["b"].dtype == tf.float32 and features["c"].numpy().tolist() == [b"x", b"y", b"z"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Field 1 is required but missing in record!"):
        tf.io.decode_csv("1,", [tf.int32, tf.int32])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 2 fields but have 3 in record"):
        tf.io.decode_csv("1,2,3", [[0], [0]])


def test_moving_averages_follow():
    average, v = tf.train.ExponentialMovingAverage(decay=0.9), tf.Variable(1.0, name="v")
    average.apply([v])
    v.assign(3.0)
    average.apply([v])
    assert abs(float(average.average(v)) - 1.2) < 1e-6 and average.average(tf.Variable(1.0)) is None
    assert average.average(v).name == "v/ExponentialMovingAverage:0"


def test_input_layers_take_the_old_name_of_shape():
    model = tf.keras.Sequential([tf.keras.layers.InputLayer(input_shape=(6,)), tf.keras.layers.Dense(2)])
    assert model.output_shape == (None, 2)


def test_old_names_of_files(tmp_path):
    v1 = tf.compat.v1
    with v1.gfile.GFile(str(tmp_path / "a.txt"), "w") as file:
        file.write("text")
    assert v1.gfile.Exists(str(tmp_path / "a.txt")) and v1.gfile.ListDirectory(str(tmp_path)) == ["a.txt"]
    assert v1.python_io.TFRecordWriter is tf.io.TFRecordWriter
    assert tf.io.decode_base64(tf.io.encode_base64("hi there")).numpy() == b"hi there"
