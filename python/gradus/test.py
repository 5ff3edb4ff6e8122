"""A little of tf.test."""
import unittest as _unittest

from . import config as _config


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """False: there is only the CPU."""
    return bool(_config.list_physical_devices("GPU"))


def gpu_device_name():
    return ""


def is_built_with_cuda():
    return False


is_built_with_gpu_support = is_built_with_rocm = is_built_with_xla = is_built_with_cuda


class TestCase(_unittest.TestCase):
    """unittest's, with comparisons of arrays."""

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):  # noqa: N802
        import numpy as np
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol, atol, err_msg=msg or "")

    def assertAllEqual(self, a, b, msg=None):  # noqa: N802
        import numpy as np
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b), err_msg=msg or "")


def main(argv=None):
    _unittest.main(argv=argv)


def compute_gradient(f, x, delta=None):
    """The Jacobians of f at x by the tape and by differences: (theoretical, numerical), for each argument."""
    import numpy as np
    import gradus as tf
    x = [tf.convert_to_tensor(v) for v in x]
    theoretical, numerical = [], []
    for i, xi in enumerate(x):
        with tf.GradientTape() as tape:
            tape.watch(xi)
            y = f(*x)
        jacobian = tape.jacobian(y, xi, unconnected_gradients="zero")
        theoretical.append(tf.reshape(jacobian, [tf.size(y).numpy(), tf.size(xi).numpy()]).numpy())
        step = 1.0 / 1024 if delta is None else delta  # TensorFlow's, a power of two: no digits are lost in x + step
        base = xi.numpy().reshape(-1) if xi.ndim else np.array([xi.numpy()])
        columns = []
        for k in range(base.size):
            values = []
            for sign in (1, -1):
                moved = base.copy()
                moved[k] += sign * step
                arguments = list(x)
                arguments[i] = tf.constant(moved.reshape(tuple(xi.shape)))
                values.append(f(*arguments).numpy().reshape(-1) if y.ndim else np.array([f(*arguments).numpy()]))
            columns.append((values[0] - values[1]) / (2 * step))
        numerical.append(np.stack(columns, 1))
    return theoretical, numerical
