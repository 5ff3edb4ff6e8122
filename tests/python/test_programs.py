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
