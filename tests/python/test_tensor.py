"""Tensors and variables as Python objects."""
import copy
import gc
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest

import gradus as tf


def test_arrays_are_copied_and_views_are_read_only():
    array = np.array([1.0, 2.0], np.float32)
    t = tf.constant(array)
    array[0] = 9
    assert t.numpy().tolist() == [1.0, 2.0]
    out = t.numpy()
    out[0] = 7
    assert t.numpy().tolist() == [1.0, 2.0]
    view = np.asarray(t)
    assert not view.flags.writeable
    with pytest.raises(ValueError):
        view[0] = 1
    del t
    assert view.tolist() == [1.0, 2.0]  # the view keeps the elements


@pytest.mark.parametrize("dtype", "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
                                  "complex64 complex128".split())
def test_every_dtype_goes_to_numpy_and_back(dtype):
    array = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    for source in (array, array.T, array[:, ::-1], array[:0], np.array(array[0, 0])):
        t = tf.constant(source)
        assert t.dtype == dtype and t.dtype.as_numpy_dtype == np.dtype(dtype).type
        back = np.asarray(t)
        assert back.dtype == dtype and back.shape == source.shape
        np.testing.assert_array_equal(back, source)


def test_bfloat16_converts_through_float32():
    t = tf.cast([1.5, 2.25], tf.bfloat16)
    assert t.dtype == tf.bfloat16 and tf.cast(t, tf.float32).numpy().tolist() == [1.5, 2.25]


def test_pickle_copy_and_references():
    t = tf.constant([[1.0, 2.0]])
    again = pickle.loads(pickle.dumps(t))
    assert again.shape == [1, 2] and again.dtype == tf.float32 and again.numpy().tolist() == [[1.0, 2.0]]
    assert copy.deepcopy(t) is t
    v = tf.Variable([1.0], name="w", trainable=False)
    w = pickle.loads(pickle.dumps(v))
    assert w.name == "w:0" and not w.trainable and w.numpy().tolist() == [1.0]
    twin = copy.deepcopy(v)
    twin.assign([5.0])
    assert v.numpy().tolist() == [1.0]
    assert {t.ref(): 1}[t.ref()] == 1 and t.ref().deref() is t and t.ref() != v.ref()
    assert pickle.loads(pickle.dumps(tf.float16)) is tf.float16
    assert pickle.loads(pickle.dumps(t.shape)) == [1, 2]
    assert weakref.ref(t)() is t


def test_dlpack_both_ways():
    t = tf.constant([1.0, 2.0])
    assert np.from_dlpack(t).tolist() == [1.0, 2.0]
    assert t.__dlpack_device__() == (1, 0)
    assert np.from_dlpack(t).ctypes.data == np.asarray(t).ctypes.data == np.from_dlpack(t, copy=False).ctypes.data
    copy = np.from_dlpack(t, copy=True)
    assert copy.ctypes.data != np.asarray(t).ctypes.data and copy.tolist() == [1.0, 2.0]
    with pytest.raises(BufferError, match="dl_device"):
        t.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="stream"):
        t.__dlpack__(stream=1)
    capsule = t.__dlpack__()
    del capsule, t
    gc.collect()


def test_attributes_that_numpy_has_say_what_to_use():
    with pytest.raises(AttributeError, match="tf.cast"):
        tf.constant(1.0).astype
    with pytest.raises(AttributeError):
        tf.constant(1.0).name


def test_operators_leave_room_for_others():
    class Other:
        def __radd__(self, other):
            return "mine"

        def __eq__(self, other):
            return "equal"

    assert tf.constant(1.0) + Other() == "mine"
    assert (tf.constant(1.0) == Other()) == "equal"
    with pytest.raises(TypeError):
        tf.constant(1.0) + object()
    with pytest.raises(TypeError):
        pow(tf.constant(2), 2, 3)


def test_variables():
    v = tf.Variable([1.0, 2.0])
    before = v.value()
    assert v.assign_add([1.0, 1.0]) is v
    assert before.numpy().tolist() == [1.0, 2.0] and v.numpy().tolist() == [2.0, 3.0]
    v.extra = 5  # as Keras does
    assert v.extra == 5
    with pytest.raises(tf.errors.InvalidArgumentError):
        v + tf.constant([1, 2])
    with pytest.raises(ValueError):
        tf.Variable.__new__(tf.Variable).assign(1)
    assert [float(x) for x in v] == [2.0, 3.0] and len(v) == 2 and v[1] == 3.0
    assert np.asarray(v).tolist() == [2.0, 3.0]


def test_scalars_print_the_digits_of_their_dtype():
    t = tf.constant(0.008582206)
    assert str(t) == "tf.Tensor(0.008582206, shape=(), dtype=float32)"
    assert repr(t) == "<tf.Tensor: shape=(), dtype=float32, numpy=0.008582206442952156>"
    assert f"{t}" == "0.008582206442952156" and f"{t:.3f}" == "0.009"
    assert str(tf.constant(0.1, tf.float16)) == "tf.Tensor(0.1, shape=(), dtype=float16)"
    assert str(tf.constant(1e8)) == f"tf.Tensor({np.float32(1e8)!s}, shape=(), dtype=float32)"
    assert str(tf.constant(1e8, tf.float64)) == "tf.Tensor(100000000.0, shape=(), dtype=float64)"
    assert str(tf.constant([0.1, 0.2])) == "tf.Tensor([0.1 0.2], shape=(2,), dtype=float32)"
    assert str(tf.zeros([0, 3])) == "tf.Tensor([], shape=(0, 3), dtype=float32)"
    assert str(tf.zeros([40])).startswith("tf.Tensor(\n[0. 0.")
    assert str(tf.constant(True)) == "tf.Tensor(True, shape=(), dtype=bool)"
    assert str(tf.constant(1 + 2j)) == "tf.Tensor((1+2j), shape=(), dtype=complex128)"


def test_bfloat16_prints_without_ml_dtypes(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    scalar, row = tf.cast(0.1, tf.bfloat16), tf.cast([0.1, 2, 1e10], tf.bfloat16)
    assert str(scalar) == "tf.Tensor(0.100098, shape=(), dtype=bfloat16)"
    assert repr(scalar) == "<tf.Tensor: shape=(), dtype=bfloat16, numpy=0.10009765625>"
    assert f"{row}" == "[0.100098 2 9.99922e+09]"
    assert str(row) == "tf.Tensor([0.100098 2 9.99922e+09], shape=(3,), dtype=bfloat16)"
    table = tf.cast([[0.1, 2, np.inf], [np.nan, 1, -0.0]], tf.bfloat16)
    assert str(table) == "tf.Tensor(\n[[0.100098 2 inf]\n [nan 1 -0]], shape=(2, 3), dtype=bfloat16)"
    assert repr(table) == ("<tf.Tensor: shape=(2, 3), dtype=bfloat16, numpy=\n"
                           "array([[0.100098, 2, inf],\n       [nan, 1, -0]], dtype=bfloat16)>")
    assert "numpy=array([], dtype=bfloat16)" in repr(row[:0])
    assert "numpy=array([], shape=(0, 3), dtype=bfloat16)" in repr(table[:0])
    v = tf.Variable([0.1, 2], dtype=tf.bfloat16)
    assert repr(v) == "<tf.Variable 'Variable:0' shape=(2,) dtype=bfloat16, numpy=array([0.100098, 2], dtype=bfloat16)>"
    assert repr(tf.fill([6], scalar)).endswith("100098],\n      dtype=bfloat16)>")
    assert repr(tf.fill([7], scalar)).endswith("\n       0.100098], dtype=bfloat16)>")
    assert str(tf.fill([9], scalar)).startswith("tf.Tensor(\n[0.100098 ")


def test_in_place_operators_of_variables_are_refused():
    v = tf.Variable([1.0, 2.0])
    for statement, instead in (("v += 2", r"variable\.assign_add\(value\)"), ("v -= v", r"variable\.assign_sub\(value\)"),
                               ("v *= 2", r"var\.assign\(var \* value\)"), ("v /= 2", r"var\.assign\(var / value\)"),
                               ("v **= 2", r"var\.assign\(var \*\* value\)")):
        with pytest.raises(RuntimeError, match=instead):
            exec(statement, {"v": v})
    assert v.numpy().tolist() == [1.0, 2.0]


def test_slices_of_variables_can_be_assigned_to():
    v = tf.Variable([1.0, 2.0, 3.0])
    assert v[1].assign(9.0) is v and v.numpy().tolist() == [1.0, 9.0, 3.0]
    v[:2].assign(5.0)
    assert v.numpy().tolist() == [5.0, 5.0, 3.0]
    with pytest.raises(tf.errors.InvalidArgumentError):
        v[:2].assign([1.0, 2.0, 3.0])
    v[:0].assign(7.0)
    assert v.numpy().tolist() == [5.0, 5.0, 3.0]
    w = tf.Variable([[1, 2, 3], [4, 5, 6]])
    w[tf.newaxis, 1, ::2].assign([[7, 8]])
    assert w.numpy().tolist() == [[1, 2, 3], [7, 5, 8]]
    w[..., -1].assign([0, 1])
    w[::-1].assign(w.value())
    assert w.numpy().tolist() == [[7, 5, 1], [1, 2, 0]]
    with pytest.raises(TypeError):
        w[0].assign(2.5)
    for other in (v.value()[0], v[tf.constant([True, False, True])], v + 1.0):
        assert not hasattr(other, "assign")
    assert not hasattr(v[0], "assign_add")

    @tf.function
    def set_first(value):
        v[0].assign(value)
        return v[0] + 1.0

    assert float(set_first(tf.constant(4.0))) == 5.0 and v.numpy().tolist() == [4.0, 5.0, 3.0]


def test_errors_have_their_classes_and_say_what_to_do():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.ones([2, 3]) + tf.ones([2, 4])
    assert isinstance(caught.value, ValueError) and caught.value.error_code == 3
    assert "(2, 3)" in caught.value.message and "broadcast" in str(caught.value)
    with pytest.raises(AttributeError, match="not covered"):
        tf.feature_column
    with pytest.raises(AttributeError, match="not_there"):
        tf.not_there


def test_help_and_signatures():
    import inspect
    assert str(inspect.signature(tf.reduce_sum)) == "(input_tensor, axis=None, keepdims=False, name=None)"
    assert "sum over axes" in tf.reduce_sum.__doc__
    assert tf.math.exp is tf.exp and tf.exp.__module__ == "gradus"


def test_namespaces_are_modules():
    import gradus.math
    from gradus.nn import relu
    assert gradus.math.sin is tf.sin and relu([-1.0, 1.0]).numpy().tolist() == [0.0, 1.0]


def test_module_finds_variables_in_order():
    class Dense(tf.Module):
        def __init__(self, n):
            super().__init__()
            self.w = tf.Variable(tf.zeros([n]), name="w")
            self.b = tf.Variable(0.0, trainable=False, name="b")

    class Model(tf.Module):
        def __init__(self):
            super().__init__(name="model")
            self.layers = [Dense(1), Dense(2)]
            self.scale = tf.Variable(1.0)
            self.again = self.layers[0]

    m = Model()
    assert m.name == "model" and Dense(1).name == "dense"
    assert [v.shape.as_list() for v in m.variables] == [[], [], [1], [], [2]]
    assert len(m.trainable_variables) == 3 and len(m.submodules) == 2


def test_import_does_not_need_numpy_and_costs_no_more_than_it():
    code = ("import sys, time; start = time.process_time(); import gradus; "
            "gradus.constant([1.0]) * 2; ours = time.process_time() - start; loaded = 'numpy' in sys.modules; "
            "start = time.process_time(); import numpy; print(loaded, ours / (time.process_time() - start))")
    runs = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                           text=True).stdout.split() for _ in range(3)]
    assert all(loaded == "False" for loaded, _ in runs)
    assert min(float(ratio) for _, ratio in runs) < 2.0


def test_print(capsys):
    tf.print("x:", tf.constant([1.0, 2.0]), 3, tf.constant(4), [tf.constant(5.0)])
    assert capsys.readouterr().err == "x: [1 2] 3 4 [5]\n"


def test_a_scalar_in_a_list_takes_the_dtype_of_the_tensors_beside_it():
    """As TensorFlow: int32, though the scalar is an int64; a number that does not fit is an error."""
    x = tf.constant([1, 2])
    for joined in (tf.concat((x, [tf.constant(5, tf.int64)]), 0), tf.concat([[tf.constant(5, tf.int64)], x], 0)):
        assert joined.dtype == tf.int32 and sorted(joined.numpy().tolist()) == [1, 2, 5]
    with pytest.raises(ValueError, match="cannot hold"):
        tf.concat((x, [tf.constant(2 ** 40, tf.int64)]), 0)
