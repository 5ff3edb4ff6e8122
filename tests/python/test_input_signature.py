"""input_signature of functions with all kinds of parameters; what TensorFlow 2.21 says of the same calls."""
import gradus as tf
import pytest

V, W = tf.constant([1.0, 2.0]), tf.ones([3, 2])
ROW, ROWS = tf.TensorSpec([None], tf.float32), tf.TensorSpec([None, 2], tf.float32)


def numbers(results):
    return [t.numpy().tolist() if tf.is_tensor(t) else t for t in tf.nest.flatten(results)]


def many(*args):
    return [len(args), *(2 * a for a in args)]


def one_and_many(x, *args):
    return [len(args), 2 * x, *(3 * a for a in args)]


def named(x, **kwargs):
    return [2 * x, len(kwargs)]


def only_by_name(x, *, k=2.0):
    return x * k


def with_default(x, y=2.0):
    return x * y


def nested(d, *args):
    return [d["a"] + d["b"][0], *(a["q"] for a in args)]


def everything(x, y=1.0, *args, k=2.0, **kwargs):
    return [x * y * k, *args, len(kwargs)]


WORKS = [
    (many, [ROW, ROWS], (V, W), {}, [2, [2.0, 4.0], [[2.0, 2.0]] * 3]),
    (many, [], (), {}, [0]),
    (one_and_many, [ROW, ROWS], (V, W), {}, [1, [2.0, 4.0], [[3.0, 3.0]] * 3]),
    (one_and_many, [ROW], (V,), {}, [0, [2.0, 4.0]]),
    (named, [ROW], (V,), {}, [[2.0, 4.0], 0]),
    (named, [ROW], (), {"x": V}, [[2.0, 4.0], 0]),
    (only_by_name, [ROW], (V,), {}, [[2.0, 4.0]]),
    (with_default, [ROW], (V,), {}, [[2.0, 4.0]]),
    (with_default, [ROW, ROW], (V,), {"y": V}, [[1.0, 4.0]]),
    (with_default, [ROW, tf.TensorSpec([], tf.float32)], (V,), {}, [[2.0, 4.0]]),
    (nested, [{"a": ROW, "b": [ROW]}, {"q": ROWS}], ({"a": V, "b": [V]}, {"q": W}), {}, [[2.0, 4.0], [[1.0, 1.0]] * 3]),
]


@pytest.mark.parametrize("case", WORKS, ids=lambda c: f"{c[0].__name__}_{len(c[1])}_{len(c[2])}_{len(c[3])}")
def test_what_works_in_tensorflow(case, tmp_path):
    function, signature, args, kwargs, want = case
    f = tf.function(function, input_signature=signature)
    assert numbers(f(*args, **kwargs)) == want
    module = tf.Module()
    module.f = f
    tf.saved_model.save(module, str(tmp_path / "saved"))
    assert numbers(tf.saved_model.load(str(tmp_path / "saved")).f(*args, **kwargs)) == want


def test_lists_become_tensors():
    f = tf.function(many, input_signature=[ROW, ROWS])
    assert numbers(f([1.0, 2.0], [[1.0, 1.0]])) == [2, [2.0, 4.0], [[2.0, 2.0]]]


def test_everything_at_once():
    f = tf.function(everything, input_signature=[ROW, ROW, ROWS])
    assert numbers(f(V, V, W)) == [[2.0, 8.0], [[1.0, 1.0]] * 3, 0]
    assert numbers(f(V, V, W, k=3.0)) == [[3.0, 12.0], [[1.0, 1.0]] * 3, 0]


FAILS = [
    (many, [ROW, ROWS], (V,), {}, "missing a required argument: 'args_1'"),
    (many, [ROW, ROWS], (V, W, V), {}, "too many positional arguments"),
    (many, [ROW, ROWS], (W, V), {}, "Can not cast"),
    (many, [], (V,), {}, "too many positional arguments"),
    (one_and_many, [ROW], (V, W), {}, "too many positional arguments"),
    (one_and_many, [ROW, ROWS], (V,), {}, "missing a required argument: 'args_0'"),
    (named, [ROW], (V,), {"y": W}, "unexpected keyword argument 'y'"),
    (with_default, [ROW, ROW], (V,), {}, "Can not cast"),
    (nested, [{"a": ROW, "b": [ROW]}, {"q": ROWS}], ({"a": V}, {"q": W}), {}, "structure"),
]


@pytest.mark.parametrize("case", FAILS, ids=lambda c: f"{c[0].__name__}_{len(c[1])}_{len(c[2])}_{len(c[3])}")
def test_what_fails_in_tensorflow(case):
    function, signature, args, kwargs, words = case
    f = tf.function(function, input_signature=signature)
    with pytest.raises(TypeError, match=words):
        f(*args, **kwargs)


def test_signatures_that_do_not_fit():
    with pytest.raises(TypeError, match="1 extra type constraints"):
        tf.function(named, input_signature=[ROW, ROWS])
    with pytest.raises(TypeError, match="keyword-only parameter `k` of .* must have a default value"):
        tf.function(lambda x, *, k: x * k, input_signature=[ROW])


def test_methods(tmp_path):
    class Two(tf.Module):
        @tf.function(input_signature=[ROW, ROWS])
        def f(self, *args):
            return many(*args)

        @tf.function(input_signature=[ROW])
        def g(self, x, **kwargs):
            return named(x, **kwargs)

    two = Two()
    tf.saved_model.save(two, str(tmp_path / "saved"))
    for module in (two, tf.saved_model.load(str(tmp_path / "saved"))):
        assert numbers(module.f(V, W)) == [2, [2.0, 4.0], [[2.0, 2.0]] * 3]
        assert numbers(module.g(V)) == [[2.0, 4.0], 0]
        with pytest.raises(TypeError):
            module.g(V, q=V)
        with pytest.raises((TypeError, ValueError)):
            module.f(V)


def test_one_program_for_all_sizes():
    traces = []

    @tf.function(input_signature=[ROW, ROW])
    def f(*args):
        traces.append(args)
        return args[0] * 2, args[1] * 3
    for n in (2, 3, 5):
        assert [t.shape for t in f(tf.ones([n]), tf.ones([n]))] == [(n,), (n,)]
    assert len(traces) == 1
