"""Expressions whose values TensorFlow has told us (reference.json, made by tools/make_reference.py).

Each line is evaluated with `tf` and `np`, the helpers below, and the tensors A, B, ... of namespace().
A result may be a tensor, a structure of tensors, a number, a string, or an exception.
"""


def namespace(tf, np):
    def grad(f, *args):
        """The gradients of sum(f(*args)), each argument a list or a tensor."""
        args = [tf.convert_to_tensor(a) for a in args]
        with tf.GradientTape() as tape:
            for a in args:
                tape.watch(a)
            y = f(*args)
        return tape.gradient(y, args)

    def grad2(f, x):
        """The diagonal-free second derivative: d/dx sum of d/dx sum f."""
        x = tf.convert_to_tensor(x)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
        return outer.gradient(g, x)

    def jac(f, x):
        x = tf.convert_to_tensor(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.jacobian(y, x)

    def jvp(f, x, v):
        x = tf.convert_to_tensor(x)
        with tf.autodiff.ForwardAccumulator(x, tf.convert_to_tensor(v)) as acc:
            y = f(x)
        return acc.jvp(y)

    def changed(initial, change):
        v = tf.Variable(initial)
        change(v)
        return v.value()

    return {
        "tf": tf, "np": np, "grad": grad, "grad2": grad2, "jac": jac, "jvp": jvp, "changed": changed,
        "A": tf.constant([[1.5, -2.0, 0.25], [0.5, 3.0, -1.0]]),
        "B": tf.constant([[2.0, 0.5, -1.0], [1.0, -0.5, 4.0]]),
        "P": tf.constant([[0.1, 0.7, 0.9], [0.5, 0.3, 0.2]]),
        "M": tf.constant([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]]),
        "I": tf.constant([[3, -7, 2], [5, 0, -4]]),
        "D": tf.constant([[1.5, -2.0], [0.5, 3.0]], tf.float64),
        "L": tf.constant([[True, False, True], [False, False, True]]),
    }


_UNARY = """abs sign square exp math.expm1 sin cos tan sinh cosh tanh asinh atan sigmoid math.softplus math.log_sigmoid
math.erf math.erfc math.digamma floor math.ceil round math.rint negative math.reciprocal math.reciprocal_no_nan
math.is_nan math.is_inf math.is_finite nn.relu nn.relu6 nn.elu nn.selu nn.gelu nn.silu nn.softsign nn.leaky_relu
nn.softmax nn.log_softmax reduce_sum reduce_mean reduce_max reduce_min reduce_prod reduce_logsumexp
math.reduce_variance math.reduce_std math.reduce_euclidean_norm math.cumsum math.cumprod transpose norm nn.l2_loss
nn.l2_normalize identity zeros_like ones_like shape size rank sort argsort argmax argmin math.count_nonzero""".split()
_POSITIVE = "sqrt math.rsqrt math.log math.log1p asin acos math.lgamma atanh math.erfinv".split()
_BINARY = """add subtract multiply divide truediv maximum minimum math.squared_difference math.floordiv math.floormod
equal not_equal less less_equal greater greater_equal math.divide_no_nan math.multiply_no_nan math.xdivy atan2""".split()
_SMOOTH = """abs square exp math.expm1 sin cos tan sinh cosh tanh asinh atan sigmoid math.softplus math.log_sigmoid
math.erf math.erfc math.digamma negative math.reciprocal nn.relu nn.relu6 nn.elu nn.selu nn.gelu nn.silu nn.softsign
nn.leaky_relu nn.log_softmax reduce_mean reduce_max reduce_min reduce_prod reduce_logsumexp math.reduce_variance
math.reduce_std math.reduce_euclidean_norm math.cumsum math.cumprod nn.l2_loss sort floor sign""".split()

LINES = (
    [f"tf.{f}(A)" for f in _UNARY]
    + [f"tf.{f}(P)" for f in _POSITIVE]
    + [f"tf.{f}(A, B)" for f in _BINARY]
    + [f"tf.{f}(A, 2.0)" for f in _BINARY]
    + [f"grad(tf.{f}, A)" for f in _SMOOTH]
    + [f"grad(tf.{f}, P)" for f in _POSITIVE]
    + [f"grad2(tf.{f}, P)" for f in
       "exp sin tanh math.log sqrt square sigmoid math.softplus reduce_prod math.erf nn.gelu".split()]
    + [f"grad(tf.{f}, A, B)" for f in
       "add subtract multiply divide maximum minimum math.squared_difference atan2".split()]
    + [f"tf.reduce_{f}(A, axis={axis}, keepdims={keep})" for f in ("sum", "mean", "max", "min", "prod", "logsumexp")
       for axis in (0, -1, [0, 1], []) for keep in (False, True)]
) + [line for line in r'''
A + 1
A - 0.5
2 * A
A / 4
1 / A
A // 0.75
A % 0.75
A ** 2
A ** 3
2 ** A
I + 1
I / 2
I // 2
I % 4
-I // 3
I ** 2
I ** 3
I ** -1
I * 2.5
2.5 * I
-A
abs(I)
~L
L & True
L | ~L
L ^ L
A < B
A <= 0.5
I >= 0
I == I
A == None
A != None
A == tf.constant([1.0, 2.0])
A != tf.constant([1.0, 2.0])
A < tf.constant([1.0, 2.0])
A + I
A + D
D + 1
D * np.float32(2)
A * np.array([1.0, 2.0, 3.0])
np.array([1.0, 2.0, 3.0]) * A
np.float64(2) * A
np.ones([2, 3], np.float32) - A
[1, 2, 3] * A
A @ tf.transpose(B)
A @ B
M @ M @ tf.transpose(A)
tf.Variable(A) * 2
2 - tf.Variable(A)
tf.Variable(A) + tf.Variable(B)
tf.Variable(A) @ tf.transpose(B)
tf.constant(3)
tf.constant(3.0)
tf.constant(True)
tf.constant(1 + 2j)
tf.constant([1, 2, 3])
tf.constant([1, 2.5])
tf.constant([1, True])
tf.constant([[1, 2], [3]])
tf.constant([])
tf.constant([[], []])
tf.constant(2 ** 40)
tf.constant(2 ** 70)
tf.constant(1.5, tf.int32)
tf.constant([1.5], "int64")
tf.constant(300, tf.uint8)
tf.constant(-1, tf.uint8)
tf.constant([1, 2], tf.float64)
tf.constant(5, shape=(2, 2))
tf.constant([1, 2, 3, 4], shape=[2, 2])
tf.constant([1, 2, 3], shape=(2, 2))
tf.constant(A, tf.float64)
tf.constant(np.array([1.0, 2.0]))
tf.constant(np.arange(3))
tf.constant(np.arange(6).reshape(2, 3)[:, ::-1])
tf.constant(np.float16(1.5))
tf.constant(np.array([1, 2], np.uint8))
tf.constant([A, B])
tf.constant(range(3))
tf.constant(None)
tf.constant([None])
tf.constant([1, "a"])
tf.constant({})
tf.constant(object())
tf.convert_to_tensor(A, tf.float64)
tf.convert_to_tensor(np.float64(1.0), tf.float32)
tf.convert_to_tensor([1, 2], dtype_hint=tf.float32)
tf.convert_to_tensor(1.5, dtype_hint=tf.int32)
tf.cast(A, tf.int32)
tf.cast(I, tf.float32)
tf.cast(A, tf.bool)
tf.cast(L, tf.float32)
tf.cast(3.7, tf.int32)
tf.cast(A, tf.float16)
tf.cast(300, tf.uint8)
tf.dtypes.saturate_cast([-5.0, 300.0], tf.uint8)
tf.zeros([2, 3])
tf.zeros(3)
tf.zeros([])
tf.zeros([2], tf.int64)
tf.zeros([-1])
tf.ones([2, 1], "float64")
tf.ones(tf.constant([2, 2]))
tf.zeros_like(I, dtype=tf.float32)
tf.fill([2, 2], 7)
tf.range(5)
tf.range(5.0)
tf.range(2, 10, 3)
tf.range(0, 1, 0.25)
tf.range(10, 0, -3)
tf.range(3, dtype=tf.float32)
tf.linspace(0.0, 1.0, 5)
tf.linspace(0, 4, 3)
tf.eye(3)
tf.eye(2, 3, batch_shape=[2])
tf.one_hot([0, 2, -1, 5], 3)
tf.one_hot([0, 1], 2, on_value=5, off_value=-1)
tf.one_hot([0, 1], 3, axis=0)
tf.one_hot([0, 1], 3, dtype=tf.int32)
tf.sequence_mask([1, 3, 2], 4)
tf.sequence_mask([1, 3, 2], dtype=tf.float32)
tf.meshgrid([1, 2, 3], [4, 5])
tf.meshgrid([1, 2, 3], [4, 5], indexing="ij")
tf.shape(A, out_type=tf.int64)
tf.reshape(A, [3, 2])
tf.reshape(A, [-1])
tf.reshape(A, (3, -1))
tf.reshape(A, tf.constant([6]))
tf.reshape(A, [4])
tf.reshape(A, [-1, 4])
tf.reshape(A, [-1, -1])
tf.broadcast_to([1, 2, 3], [2, 3])
tf.broadcast_to(A, [2, 2])
tf.transpose(tf.reshape(tf.range(24), [2, 3, 4]), perm=[2, 0, 1])
tf.expand_dims(A, 0).shape
tf.expand_dims(A, -1).shape
tf.expand_dims(A, 5)
tf.squeeze([[[1], [2]]])
tf.squeeze([[[1], [2]]], axis=0)
tf.squeeze([[[1], [2]]], axis=[0, 2])
tf.squeeze(A, axis=0)
tf.concat([A, B], 0)
tf.concat([A, B], axis=-1)
tf.concat([[1.0], [2]], 0)
tf.concat([[1.0], tf.constant([2])], 0)
tf.concat([A, B], 2)
tf.stack([A, B])
tf.stack([A, B], axis=-1)
tf.stack([1, 2.0])
tf.stack([tf.constant(1), 2.0])
tf.unstack(A)
tf.unstack(A, axis=1)
tf.split(A, 3, axis=1)
tf.split(A, [1, 2], 1)
tf.split(A, [1, -1], 1)
tf.split(A, 2, axis=1)
tf.tile(A, [2, 1])
tf.repeat([1, 2, 3], 2)
tf.repeat([[1, 2], [3, 4]], [2, 1], axis=0)
tf.reverse(A, [1])
tf.roll([1, 2, 3, 4], 1, 0)
tf.pad([[1, 2], [3, 4]], [[1, 0], [0, 2]])
tf.pad([[1, 2], [3, 4]], [[1, 1], [1, 1]], "REFLECT")
tf.pad([[1, 2], [3, 4]], [[1, 1], [1, 1]], mode="SYMMETRIC")
tf.pad([1.0], [[1, 1]], constant_values=9)
tf.pad([1.0], [[1, 1]], mode="x")
tf.slice(A, [0, 1], [2, 2])
tf.slice(A, [0, 1], [-1, 1])
tf.gather(A, [1, 0])
tf.gather(A, [2, 0], axis=1)
tf.gather([1, 2, 3], 1)
tf.gather([1, 2, 3], [0, 5])
tf.gather_nd(A, [[0, 1], [1, 2]])
tf.scatter_nd([[1], [3]], [9, 10], [5])
tf.tensor_scatter_nd_add([1.0, 2.0, 3.0], [[0], [2], [0]], [1.0, 1.0, 1.0])
tf.tensor_scatter_nd_update([1.0, 2.0, 3.0], [[0], [2]], [8.0, 9.0])
tf.boolean_mask([1, 2, 3], [True, False, True])
tf.boolean_mask(A, [True, False])
tf.where([True, False, True])
tf.where(A > 0, A, 0.0)
tf.where(A > 0, 1, 2)
tf.where(A > 0, 1.0, 2)
tf.where(A > 0, tf.zeros_like(A), B)
tf.unique([3, 1, 3, 2])
tf.math.top_k([1.0, 5.0, 3.0], k=2)
tf.math.top_k(A, 1)
tf.sort([3, 1, 2], direction="DESCENDING")
tf.argsort([3, 1, 2])
tf.searchsorted([1, 3, 5], [0, 3, 6])
tf.math.cumsum([1, 2, 3], exclusive=True)
tf.math.cumsum([1, 2, 3], reverse=True)
tf.math.segment_sum([1.0, 2.0, 3.0], [0, 0, 1])
tf.math.unsorted_segment_mean([1.0, 2.0, 3.0], [1, 0, 1], 3)
tf.argmax(A, axis=1)
tf.argmax(A, axis=1, output_type=tf.int32)
tf.argmax([1, 5, 2])
tf.reduce_any(L, axis=0)
tf.reduce_all(L)
tf.reduce_sum(I)
tf.reduce_mean(I)
tf.reduce_sum(I, axis=tf.constant(1))
tf.reduce_sum(A, axis=2)
tf.reduce_sum(L)
tf.math.count_nonzero(I, axis=1)
tf.clip_by_value(A, -1, 1)
tf.clip_by_value(A, -1.0, tf.constant(2.0))
tf.clip_by_norm(A, 2.0)
tf.clip_by_norm(A, 100.0)
tf.clip_by_global_norm([A, B], 2.0)
tf.linalg.global_norm([A, B])
tf.add_n([A, B, A])
tf.pow(A, 2)
tf.pow(2, 3)
tf.maximum(1, 2.0)
tf.add(A, [1, 2, 3])
tf.multiply([1, 2], [3.0, 4.0])
tf.logical_and(L, [True, True, False])
tf.exp(1)
tf.sqrt(tf.constant(4))
tf.exp(x=1.0, name="a")
tf.exp(1.0, y=3)
tf.exp()
tf.sign(-3)
tf.matmul(A, B, transpose_b=True)
tf.matmul(A, B, transpose_a=True)
tf.matmul(A, A)
tf.matmul([1.0], [1.0])
tf.linalg.matvec(M, [1.0, 2.0, 3.0])
tf.einsum("ij,kj->ik", A, B)
tf.einsum("ij->j", A)
tf.einsum("ij,ij->", A, B)
tf.tensordot(A, B, axes=[[1], [1]])
tf.tensordot([1.0, 2.0], [3.0, 4.0], 1)
tf.norm(A, axis=1)
tf.norm(A, ord=1)
tf.linalg.cholesky(M)
tf.linalg.solve(M, tf.ones([3, 1]))
tf.linalg.inv(M)
tf.linalg.det(M)
tf.linalg.slogdet(M)
tf.linalg.logdet(M)
tf.linalg.trace(M)
tf.linalg.diag([1, 2])
tf.linalg.diag_part(M)
tf.linalg.set_diag(M, [9.0, 8.0, 7.0])
tf.linalg.band_part(M, 0, -1)
tf.linalg.triangular_solve(M, tf.ones([3, 1]))
tf.linalg.cholesky_solve(tf.linalg.cholesky(M), tf.ones([3, 1]))
tf.linalg.cholesky([[1.0, 2.0], [2.0, 1.0]])
tf.linalg.adjoint(A)
tf.linalg.matrix_transpose(A)
tf.nn.softmax(A, axis=0)
tf.nn.softmax([1, 2])
tf.nn.leaky_relu(A, alpha=0.1)
tf.nn.gelu(A, approximate=True)
tf.nn.softmax_cross_entropy_with_logits(labels=P, logits=A)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=A)
tf.nn.sigmoid_cross_entropy_with_logits(labels=P, logits=A)
tf.nn.weighted_cross_entropy_with_logits(P, A, 2.0)
tf.nn.moments(A, axes=[0])
tf.nn.moments(A, [0, 1], keepdims=True)
tf.nn.embedding_lookup(A, [1, 1, 0])
tf.nn.bias_add(A, [1.0, 2.0, 3.0])
tf.nn.batch_normalization(A, 0.5, 2.0, None, None, 1e-3)
tf.nn.conv2d(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), 1, "VALID")
tf.nn.conv2d(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), tf.ones([3, 3, 1, 2]), strides=[1, 2, 2, 1], padding="SAME")
tf.nn.max_pool2d(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), 2, 2, "VALID")
tf.nn.avg_pool2d(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), 2, 2, "SAME")
tf.nn.dropout(A, 0.0)
A[0]
A[-1]
A[1, 2]
A[:, 1]
A[..., 0]
A[0, tf.newaxis, 1:]
A[:, ::-1]
A[::-1, -2:]
A[tf.constant(1)]
A[tf.constant(0):, np.int64(1)]
A[A > 0]
A[L]
A[5:]
A[2]
A[0, 0, 0]
A[1.0]
A["x"]
A[tf.constant([0, 1])]
A[None].shape
A[::0]
list(A)
len(A)
len(tf.constant(1))
list(tf.constant(1))
bool(tf.constant(0.0))
bool(tf.constant([1, 2]))
int(tf.constant(2.7))
float(tf.constant(2))
float(tf.constant([2.7]))
range(tf.constant(3))[-1]
hash(A)
f"{tf.constant(3.14159):.4f}"
f"{tf.constant(3)}"
f"{A:.2f}"
repr(A)
repr(I)
repr(L)
repr(D)
repr(tf.constant(3.0))
repr(tf.constant([]))
repr(tf.constant(1e-10))
repr(tf.constant([1e10, 1.0]))
repr(tf.range(2000))
str(A)
str(tf.constant(True))
str(tf.constant(1.5))
repr(tf.Variable(3.0))
repr(tf.Variable(A, name="w"))
repr(tf.Variable([1, 2], trainable=False))
repr(A.shape)
str(A.shape)
repr(A.dtype)
str(A.dtype)
repr(tf.TensorShape([1, None]))
str(tf.TensorShape(None))
tf.TensorShape([1, 2]) == [1, 2]
tf.TensorShape([2, 3]).num_elements()
(tf.TensorShape([1]) + [2, None]).as_list()
tf.TensorShape([1, 2])[1]
repr(tf.TensorShape([1, 2, 3])[1:])
tf.TensorShape([1, None]).is_compatible_with([1, 5])
tf.TensorShape([-2])
tf.float32.name
tf.float32 == "float32"
tf.float32 == np.float32
tf.float32.max
tf.int8.min
tf.uint8.max
tf.complex64.real_dtype.name
tf.as_dtype("foo")
tf.as_dtype(np.int16).name
tf.is_tensor(tf.Variable(1.0))
isinstance(tf.Variable(1.0), tf.Tensor)
A.shape.rank
A.ndim
A.foo
A.numpy().tolist()
A.numpy().flags.writeable
np.asarray(A).flags.writeable
np.asarray(A, np.float64).dtype.name
np.sum(A)
type(tf.constant(1.0).numpy()).__name__
tf.Variable(1.0).name
tf.Variable(1.0, name="w").name
tf.Variable(None)
tf.Variable(lambda: tf.ones([2])).value()
tf.Variable([1, 2], dtype=tf.float32).value()
tf.Variable([1, 2], shape=[3])
changed([1.0, 2.0], lambda v: v.assign([3.0, 4.0]))
changed([1.0, 2.0], lambda v: v.assign([1.0, 2.0, 3.0]))
changed([1.0, 2.0], lambda v: v.assign(5.0))
changed([1.0, 2.0], lambda v: v.assign_add([1, 1]))
changed([1.0, 2.0], lambda v: v.assign_sub([1.0, 0.5]))
changed(1, lambda v: v.assign(2.5))
changed([[1.0], [2.0], [3.0]], lambda v: v.scatter_add(tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 0]))))
changed([[1.0], [2.0], [3.0]], lambda v: v.scatter_sub(tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 2]))))
changed([1.0, 2.0, 3.0], lambda v: v.scatter_update(tf.IndexedSlices(tf.constant([9.0]), tf.constant([1]))))
changed([1.0, 2.0, 3.0], lambda v: v.scatter_nd_update([[0]], [7.0]))
grad(lambda x: x ** 2, [1.0, 2.0])
grad(lambda x: x ** 3, [1.0, -2.0])
grad(lambda x: 2.0 ** x, [1.0, 2.0])
grad(lambda x, y: x @ y, A, tf.transpose(B))
grad(lambda x: tf.gather(x, [0, 1, 0]), [1.0, 2.0])
grad(lambda x: tf.linalg.inv(x), M)
grad(lambda x: tf.linalg.det(x), M)
grad(lambda x: tf.linalg.cholesky(x), M)
grad(lambda x: tf.linalg.solve(x, tf.ones([3, 1])), M)
grad(lambda x: tf.norm(x, axis=1), A)
grad(lambda x: tf.clip_by_value(x, -1.0, 1.0), A)
grad(lambda x: tf.where(x > 0, x * x, -x), A)
grad(lambda x: tf.stop_gradient(x) * x, A)
grad(lambda x: tf.einsum("ij,kj->ik", x, x), A)
grad(lambda x: tf.nn.softmax_cross_entropy_with_logits(P / tf.reduce_sum(P, 1, True), x), A)
grad(lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([2, 0], x), A)
grad(lambda x: tf.nn.sigmoid_cross_entropy_with_logits(labels=P, logits=x), A)
grad(lambda x: tf.math.top_k(x, 1).values, A)
grad(lambda x: tf.concat([x, x * 2], 0)[1:], A)
grad(lambda x: tf.pad(x, [[1, 1], [1, 1]], "SYMMETRIC") * 2, A)
grad(lambda x: tf.nn.conv2d(tf.reshape(x, [1, 2, 3, 1]), tf.ones([2, 2, 1, 1]), 1, "SAME"), A)
grad(lambda x: tf.math.unsorted_segment_sum(x, [1, 0], 2) ** 2, A)
grad(lambda x: tf.cast(tf.cast(x, tf.float64), tf.float32) * 3, A)
grad(lambda x: tf.cast(x, tf.int32), A)
grad(lambda x: tf.argmax(x), A)
grad(lambda x: tf.round(x), A)
grad(lambda x: [x, x * 2], A)
jac(lambda x: x ** 2, [1.0, 2.0])
jac(lambda x: tf.nn.softmax(x), [1.0, 2.0, 3.0])
jac(lambda x: tf.matmul(x, x), [[1.0, 2.0], [3.0, 4.0]])
jvp(lambda x: tf.sin(x) * x, [1.0, 2.0], [1.0, -1.0])
jvp(lambda x: tf.nn.softmax(x), A, B)
tf.map_fn(lambda x: x * x, [1.0, 2.0, 3.0])
tf.map_fn(lambda x: (x[0] + x[1], x[0]), ([1, 2], [3, 4]), fn_output_signature=(tf.int32, tf.int32))
tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3]))
tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3]), initializer=10)
tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3]), reverse=True)
tf.foldl(lambda a, x: a * x, tf.constant([1, 2, 3]))
tf.foldr(lambda a, x: a - x, tf.constant([1, 2, 3]))
tf.while_loop(lambda i: i < 10, lambda i: [i + 3], [tf.constant(0)])
tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s + i), [0, 0])
tf.while_loop(lambda i: True, lambda i: [i + 1], [0], maximum_iterations=5)
tf.cond(tf.constant(True), lambda: 1, lambda: 2)
tf.switch_case(tf.constant(1), [lambda: 10, lambda: 20])
tf.case([(tf.constant(False), lambda: 1)], default=lambda: 2)
tf.vectorized_map(lambda x: tf.reduce_sum(x * x), A)
tf.nest.flatten({"b": 1, "a": [2, 3]})
tf.nest.map_structure(lambda x: x + 1, {"b": 1, "a": (2, 3)})
tf.nest.map_structure(lambda x, y: x + y, [1, 2], [3])
tf.nest.pack_sequence_as({"b": 0, "a": (0, 0)}, [1, 2, 3])
tf.nest.assert_same_structure([1, 2], (1, 2))
tf.nest.is_nested([1])
tf.debugging.assert_equal(A, A)
tf.debugging.assert_equal([1, 2], [1, 3])
tf.debugging.assert_less(1, 2)
tf.debugging.assert_positive([1.0, -1.0])
tf.debugging.assert_near(1.0, 1.0 + 1e-8)
tf.debugging.assert_rank(A, 3)
tf.debugging.assert_shapes([(A, ("N", 3)), (B, ("N", "K"))])
tf.debugging.check_numerics([1.0, float("nan")], "bad")
tf.debugging.assert_type(A, tf.int32)
tf.ensure_shape(A, [2, None]).shape
tf.ensure_shape(A, [3, None])
tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3])).as_list()
tf.TensorArray(tf.float32, size=2).write(0, 1.0).write(1, 2.0).stack()
tf.TensorArray(tf.float32, size=1).write(3, 1.0)
tf.TensorArray(tf.int32, size=0, dynamic_size=True).write(2, 7).stack()
tf.random.stateless_uniform([3], seed=[1, 2])
tf.random.stateless_normal([3], seed=[1, 2])
tf.random.stateless_uniform([3], seed=[1, 2], minval=0, maxval=10, dtype=tf.int32)
(tf.random.set_seed(5), tf.random.uniform([2]), tf.random.normal([2]))[1:]
(tf.random.set_seed(5), tf.random.uniform([2], seed=3), tf.random.shuffle([1, 2, 3, 4], seed=1))[1:]
(tf.random.set_seed(1), tf.random.truncated_normal([2]), tf.random.uniform([2], 0, 9, tf.int64))[1:]
tf.random.uniform([2], dtype=tf.int32)
(lambda g: [g.normal([3]), g.state.value(), g.uniform([5]), g.uniform([2], maxval=10, dtype=tf.int32), g.state.value()])(tf.random.Generator.from_seed(1234))
(lambda g: [g.truncated_normal([3]), g.skip(5), g.state.value(), g.normal([2], 1.0, 2.0, tf.float64)][0::2])(tf.random.Generator.from_seed(7))
tf.linalg.eigvalsh(M)
tf.linalg.eigh(M)[0]
tf.linalg.qr(M)
tf.linalg.qr(tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]], tf.float64))
tf.linalg.qr(tf.constant([[1.0, 2.0], [4.0, 5.0], [7.0, 3.0]], tf.float64), full_matrices=True)
grad(lambda x: tf.linalg.qr(x).r ** 2, tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]], tf.float64))
tf.linalg.svd(tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]], tf.float64), compute_uv=False)
[t.shape.as_list() for t in tf.linalg.svd(A, full_matrices=True)]
grad(lambda x: tf.linalg.svd(x, compute_uv=False) ** 3, D)
grad(lambda x: (lambda s, u, v: tf.reduce_sum(u ** 2 * s) + tf.reduce_sum(v ** 4))(*tf.linalg.svd(x)), D)
tf.linalg.pinv(D)
grad(tf.linalg.pinv, D)
tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
tf.linalg.lstsq(tf.constant([[1.0, 2.0], [4.0, 5.0], [7.0, 3.0]], tf.float64), tf.constant([[1.0], [2.0], [3.0]], tf.float64))
tf.linalg.lstsq(A, tf.ones([2, 1]), fast=False)
tf.linalg.lstsq(A, tf.ones([2, 1]), l2_regularizer=0.5)
tf.linalg.expm(D)
grad(tf.linalg.expm, D)
grad(tf.sort, [3.0, 1.0, 2.0])
grad(lambda x: tf.math.top_k(x, 2)[0], [3.0, 1.0, 2.0])
tf.math.bessel_i0([0.0, 0.5, -3.0, 12.0])
tf.math.bessel_i1e([0.0, 0.5, -3.0, 12.0])
grad(tf.math.bessel_i0e, tf.constant([0.0, 0.5, -3.0, 12.0], tf.float64))
grad(tf.math.bessel_i1e, tf.constant([0.0, 0.5, -3.0, 12.0], tf.float64))
tf.math.ndtri(tf.constant([0.0, 1e-8, 0.1, 0.5, 0.999, 1.0], tf.float64))
grad(tf.math.ndtri, tf.constant([1e-8, 0.1, 0.5, 0.999], tf.float64))
tf.math.erfcinv(tf.constant([0.1, 1.0, 1.9], tf.float64))
tf.math.polygamma(tf.constant([0.0, 1.0, 3.0, 0.5], tf.float64), tf.constant([1.5, 2.0, 3.0, 1.0], tf.float64))
grad(tf.math.polygamma, tf.constant([0.0, 1.0, 3.0], tf.float64), tf.constant([1.5, 2.0, 3.0], tf.float64))
tf.math.zeta(tf.constant([2.0, 3.0, 1.5], tf.float64), tf.constant([1.0, 2.0, 0.5], tf.float64))
grad(lambda q: tf.math.zeta(tf.constant([2.0, 3.0], tf.float64), q), tf.constant([1.0, 2.0], tf.float64))
tf.math.igamma(tf.constant([0.5, 1.0, 3.0, 10.0], tf.float64), tf.constant([0.1, 2.0, 1.0, 12.0], tf.float64))
tf.math.igammac(tf.constant([0.5, 1.0, 3.0, 10.0], tf.float64), tf.constant([0.1, 2.0, 1.0, 12.0], tf.float64))
tf.math.igamma([-1.0, 1.0, 1.0], [1.0, 0.0, -1.0])
grad(tf.math.igammac, tf.constant([0.5, 1.0, 3.0, 10.0], tf.float64), tf.constant([0.1, 2.0, 1.0, 12.0], tf.float64))
tf.math.betainc(tf.constant([0.5, 1.0, 3.0], tf.float64), tf.constant(2.0, tf.float64), tf.constant([0.1, 0.5, 0.99], tf.float64))
grad(lambda x: tf.math.betainc(tf.constant([0.5, 3.0], tf.float64), tf.constant([2.0, 1.0], tf.float64), x), tf.constant([0.1, 0.99], tf.float64))
grad(tf.math.tanh, tf.constant([0.5 + 0.25j, -0.75 + 1.5j], tf.complex128))
grad(tf.math.sigmoid, tf.constant([0.5 + 0.25j, -0.75 + 1.5j], tf.complex128))
grad(tf.math.asin, tf.constant([0.5 + 0.25j, -0.75 + 1.5j], tf.complex128))
grad(tf.math.acos, tf.constant([0.5 + 0.25j, -0.75 + 1.5j], tf.complex128))
grad(tf.math.asinh, tf.constant([0.5 + 0.25j, -0.75 + 1.5j], tf.complex128))
grad(lambda z: z ** tf.constant(1.5 - 0.5j, tf.complex128), tf.constant([0.5 + 0.25j, -0.75 + 1.5j], tf.complex128))
grad(lambda z: tf.constant(1.5 - 0.5j, tf.complex128) ** z, tf.constant([0.5 + 0.25j, -0.75 + 1.5j], tf.complex128))
tf.signal.fft(tf.constant([1 + 2j, 3 - 1j, 0.5 + 0j, 2j, 1 + 1j]))
tf.signal.ifft2d(tf.constant([[1 + 2j, 3 - 1j, 0.5 + 0j], [2j, 1 + 1j, 2 + 0j]]))
tf.signal.rfft(D)
tf.signal.rfft(A, [4])
tf.signal.rfft2d(A)
tf.signal.irfft(tf.constant([[1 + 2j, 3 - 1j, 0.5 + 0j]]))
tf.signal.irfft2d(tf.constant([[1 + 2j, 3 - 1j, 0.5 + 0j], [2j, 1 + 1j, 2 + 0j]]), [2, 5])
grad(lambda x: tf.abs(tf.signal.rfft(x)) ** 2, A)
grad(lambda x: tf.signal.irfft(tf.signal.rfft(x) ** 2, [3]), A)
grad(lambda z: tf.math.real(tf.signal.fft(z)) ** 3, tf.constant([1 + 2j, 3 - 1j, 0.5 + 0j]))
tf.signal.fftshift([0, 1, 2, 3, 4])
tf.signal.ifftshift([[0, 1, 2], [3, 4, 5]], axes=1)
[tf.signal.hann_window(n, periodic=p) for n in (1, 5, 8) for p in (True, False)]
tf.signal.hamming_window(6)
tf.signal.frame(tf.range(10), 4, 3, pad_end=True, pad_value=-1)
tf.signal.overlap_and_add(tf.reshape(tf.range(12.0), [3, 4]), 2)
tf.abs(tf.signal.stft(tf.sin(tf.range(30.0)), 8, 4))
tf.signal.inverse_stft(tf.signal.stft(tf.sin(tf.range(30.0)), 8, 4), 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4))
[tf.signal.dct(tf.constant([1.0, 3.0, -2.0, 0.5]), type=t) for t in (1, 2, 3)]
[tf.signal.idct(tf.constant([1.0, 3.0, -2.0, 0.5]), type=t, norm="ortho") for t in (2, 3)]
np.prod(A.shape)
tf.constant(1) + 1.5
1.5 * I
tf.constant(1.0) + True
tf.constant(1.0) + 1j
tf.constant([1, 2]) + None
tf.constant(True, tf.float32)
tf.Variable(1.0).assign_add(1.0, read_value=False)
tf.Variable([1.0, 2.0]).assign_add(1.0)
tf.concat([[1.0], tf.constant([2])], 0)
grad(lambda x: tf.gather(x, [0, 2]), [1.0, 2.0, 3.0])[0].dense_shape
tf.math.is_non_decreasing([1, 2, 2])
tf.truncatediv(I, 3)
tf.truncatemod(I, 3)
tf.bitwise.bitwise_and(I, 3)
I & 3
I | 1
I ^ 1
~I
tf.complex(1.0, 2.0)
tf.math.real(tf.constant([1 + 2j]))
tf.abs(tf.constant([3 + 4j]))
tf.math.bincount([1, 1, 3])
tf.math.confusion_matrix([0, 1, 1], [0, 1, 0])
tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1)
tf.nn.depth_to_space(tf.reshape(tf.range(4.0), [1, 1, 1, 4]), 2)
tf.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
tf.random.uniform([-1])
tf.config.list_physical_devices("GPU")
tf.executing_eagerly()
tf.saturate_cast([300.0, -3.0, 2.5], tf.uint8)
tf.saturate_cast(3e9, tf.int32)
tf.saturate_cast(tf.constant([1000, -1000]), tf.int8)
tf.scalar_mul(2.0, tf.constant([1.0, 2.0]))
tf.realdiv([1.0, 2.0], 4.0)
tf.unravel_index([22, 41, 37], [7, 6])
tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5)
tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5)
tf.identity_n([1.0, 2.0])
tf.space_to_batch(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), [2, 2], [[0, 0], [0, 0]])
tf.batch_to_space(tf.reshape(tf.range(8.0), [4, 1, 2, 1]), [2, 2], [[0, 0], [1, 0]])
tf.edit_distance(tf.SparseTensor([[0, 0]], [1], [1, 1]), tf.SparseTensor([[0, 0], [0, 1]], [1, 2], [1, 2]))
tf.math.accumulate_n([[1.0, 2.0], [3.0, 4.0]])
tf.math.invert_permutation([2, 0, 1])
tf.math.lbeta([[1.0, 2.0], [0.5, 3.0]])
tf.math.nextafter(tf.constant([1.0, 2.0]), tf.constant([2.0, 1.0]))
tf.math.polyval([1.0, 2.0, 3.0], [1.0, -2.0])
tf.math.polyval(tf.constant([1.0]), 2.0)
tf.math.zero_fraction([0.0, 1.0, 0.0, 2.0])
tf.nn.zero_fraction([0, 1, 0])
tf.nn.crelu([[1.0, -2.0]])
tf.nn.log_poisson_loss([1.0, 3.0], [0.5, 1.0], compute_full_loss=True)
tf.nn.weighted_moments([[1.0, 2.0], [3.0, 5.0]], [0], [[1.0], [3.0]])
tf.nn.sufficient_statistics([[1.0, 2.0], [3.0, 5.0]], [0])
tf.nn.normalize_moments(2.0, tf.constant([4.0, 7.0]), tf.constant([10.0, 29.0]), None)
tf.nn.compute_average_loss([1.0, 2.0, 4.0], global_batch_size=2)
tf.nn.compute_average_loss([1.0, 2.0, 4.0], sample_weight=[1.0, 0.5, 2.0])
tf.nn.scale_regularization_loss(tf.constant([1.0, 2.0]))
tf.nn.conv3d(tf.reshape(tf.range(54.0), [1, 3, 3, 3, 2]), tf.ones([2, 2, 2, 2, 1]), [1, 1, 1, 1, 1], "VALID")
tf.nn.convolution(tf.reshape(tf.range(8.0), [1, 4, 2]), tf.ones([2, 2, 1]), padding="SAME")
tf.nn.convolution(tf.reshape(tf.range(32.0), [1, 4, 4, 2]), tf.ones([2, 2, 2, 1]), strides=2)
tf.nn.conv1d_transpose(tf.reshape(tf.range(4.0), [1, 2, 2]), tf.reshape(tf.range(12.0), [3, 2, 2]), [1, 4, 2], 2)
tf.nn.conv3d_transpose(tf.ones([1, 1, 1, 1, 1]), tf.reshape(tf.range(8.0), [2, 2, 2, 1, 1]), [1, 2, 2, 2, 1], 2)
tf.nn.conv_transpose(tf.ones([1, 2, 2, 1]), tf.reshape(tf.range(9.0), [3, 3, 1, 1]), [1, 4, 4, 1], 2)
tf.nn.atrous_conv2d(tf.reshape(tf.range(25.0), [1, 5, 5, 1]), tf.ones([2, 2, 1, 1]), 2, "VALID")
tf.nn.separable_conv2d(tf.reshape(tf.range(18.0), [1, 3, 3, 2]), tf.ones([2, 2, 2, 1]), tf.ones([1, 1, 2, 1]), [1, 1, 1, 1], "SAME")
tf.nn.max_pool1d(tf.reshape(tf.range(8.0), [1, 4, 2]), 2, 2, "VALID")
tf.nn.avg_pool1d(tf.reshape(tf.range(10.0), [1, 5, 2]), 2, 2, "SAME")
tf.nn.max_pool3d(tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1]), 2, 2, "VALID")
tf.nn.avg_pool3d(tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1]), 2, 2, "VALID")
tf.nn.pool(tf.reshape(tf.range(8.0), [1, 4, 2]), [2], "AVG", strides=[2])
tf.nn.max_pool_with_argmax(tf.reshape(tf.range(18.0), [1, 3, 3, 2]), 2, 2, "SAME")
tf.nn.local_response_normalization(tf.reshape(tf.range(1.0, 7.0), [1, 1, 2, 3]), depth_radius=1, bias=1.0, alpha=0.5)
tf.nn.ctc_loss([[1, 2], [1, 1]], tf.reshape(tf.sin(tf.range(24.0)), [2, 4, 3]), [2, 1], [4, 4], logits_time_major=False)
tf.nn.ctc_greedy_decoder(tf.reshape(tf.sin(tf.range(24.0)), [4, 2, 3]), [4, 3])[1]
tf.sparse.to_dense(tf.nn.ctc_greedy_decoder(tf.reshape(tf.sin(tf.range(24.0)), [4, 2, 3]), [4, 3])[0][0])
tf.nn.ctc_beam_search_decoder(tf.reshape(tf.sin(tf.range(24.0)), [4, 2, 3]), [4, 3], 5, 2)[1]
tf.sparse.to_dense(tf.nn.ctc_beam_search_decoder(tf.reshape(tf.sin(tf.range(24.0)), [4, 2, 3]), [4, 3], 5, 2)[0][1])
tf.nn.nce_loss(tf.ones([4, 2]), tf.zeros([4]), tf.constant([[1]], tf.int64), tf.constant([[0.5, 1.0]]), 2, 4, sampled_values=(tf.constant([0, 2], tf.int64), tf.constant([[0.5]]), tf.constant([0.8, 0.3])))
tf.nn.sampled_softmax_loss(tf.ones([4, 2]), tf.zeros([4]), tf.constant([[1]], tf.int64), tf.constant([[0.5, 1.0]]), 2, 4, sampled_values=(tf.constant([1, 2], tf.int64), tf.constant([[0.5]]), tf.constant([0.8, 0.3])))
tf.linalg.eigvals(tf.constant([[0.0, 1.0], [-1.0, 0.0]]))
tf.linalg.eig(tf.constant([[2.0, 0.0], [0.0, 3.0]]))
tf.signal.linear_to_mel_weight_matrix(3, 9, 8000)
tf.signal.mfccs_from_log_mel_spectrograms([[1.0, 2.0, 4.0, 3.0]])
tf.signal.kaiser_window(5)
tf.signal.vorbis_window(6)
tf.io.parse_tensor(tf.io.serialize_tensor([[1.0, 2.0], [3.0, 4.0]]), tf.float32)
tf.io.serialize_tensor([[1, 2], [3, 4]])
tf.io.parse_tensor(tf.io.serialize_tensor([1.0]), tf.int32)
tf.make_ndarray(tf.make_tensor_proto([1, 2, 3])).tolist()
tf.sparse.to_dense(tf.sets.intersection([[1, 2, 3], [4, 5, 6]], [[3, 2, 9], [4, 4, 4]]))
tf.sparse.to_dense(tf.sets.union([[1, 2]], [[2, 5]]))
tf.sparse.to_dense(tf.sets.difference([[1, 2]], [[2, 5]]))
tf.audio.decode_wav(tf.audio.encode_wav([[0.5], [-0.25], [1.0]], 8000))[0]
tf.audio.encode_wav([[0.5, 0.1], [-0.25, 2.0]], 8000)
tf.audio.decode_wav(b"RIFFxx")
tf.numpy_function(Tout=tf.float32)(lambda x: x * 2)(tf.constant([1.0, 2.0]))
tf.py_function(Tout=tf.float32)(lambda x: x * 2)(tf.constant([1.0, 2.0]))
'''.strip().split("\n") if line]
