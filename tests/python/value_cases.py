"""Expressions about values that go wrong silently, as in cases.py (values.json, made by tools/make_reference.py): sparse
gradients with repeated rows, gradients of random numbers, generators."""
import cases


def namespace(tf, np):
    def rows(shape=(3, 2)):
        """Rows out of order, one of them held twice."""
        return tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0], [10.0, 20.0]]), tf.constant([2, 0, 2]),
                                None if shape is None else tf.constant(shape))

    def watched(f, *args):
        """The gradient of sum(f(*args)) in each, as it comes: a tensor, rows or None."""
        args = [tf.constant(a) for a in args]
        with tf.GradientTape() as tape:
            tape.watch(args)
            y = f(*args)
        return tape.gradient(y, args)

    def compiled(f, *args):
        return tf.function(f)(*[tf.constant(a) for a in args])

    X = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    V = tf.constant([[0.5, -1.0], [2.0, 3.0], [-1.5, 0.25]])
    return {**cases.namespace(tf, np), "S": rows(), "U": rows(None), "X": X, "V": V, "watched": watched, "compiled": compiled}


_ROWS = """-S; -U; S * 2.0; 2.0 * S; S / 2.0; S + 1.0; S * S; S + S; S - S; S ** 2; S[0]; len(S); S < 2.0; S == S
S * X; X * S; S / X; X / S; S + X; X + S; S - X; X - S; S @ tf.transpose(X); tf.transpose(X) @ S; S * tf.constant(2.0)
tf.constant(2.0) * S; S / tf.constant(2.0); S * tf.Variable(X); tf.Variable(X) - S; X ** S; X // S; X < S; U * X; X + U
S * tf.constant([1.0, 2.0, 3.0]); S * np.float32(2)
tf.cast(S, tf.float64); tf.cast(S, tf.int32); tf.cast(S, tf.float32); tf.cast(U, tf.float64)
tf.clip_by_norm(S, 1.0); tf.clip_by_norm(S, 100.0); tf.clip_by_norm(S, 1.0, axes=[0]); tf.clip_by_norm(U, 1.0)
tf.clip_by_value(S, -2.0, 2.0); tf.clip_by_value(U, 0.0, 1.0); tf.clip_by_value(X, S, 2.0); tf.clip_by_value(X, 5.0, 2.0); tf.clip_by_value(tf.cast(X, tf.int32), 5, 2); grad(lambda x: tf.clip_by_value(x, 5.0, 2.0), X)
tf.clip_by_global_norm([S, X], 1.0); tf.clip_by_global_norm([S, None, U], 1.0); tf.linalg.global_norm([S, X])
tf.linalg.global_norm([U]); tf.convert_to_tensor(S); tf.convert_to_tensor(U); tf.constant(S); tf.identity(S); tf.identity(U)
tf.stop_gradient(S); tf.math.scalar_mul(2.0, S); tf.math.scalar_mul(tf.constant(2.0), U); tf.scalar_mul(3.0, S)
tf.reduce_sum(S); tf.reduce_mean(S, 0); tf.negative(S); tf.multiply(S, X); tf.add(S, X); tf.add_n([S, X]); tf.add_n([S, S])
tf.square(S); tf.shape(S); tf.size(S); tf.rank(S); tf.zeros_like(S); tf.ones_like(S); tf.math.accumulate_n([S, S]); tf.norm(S)
tf.nn.l2_loss(S); tf.is_tensor(S); tf.where(X > 2, S, X); tf.stack([S, X]); tf.concat([S, X], 0); tf.gather(S, [0])
tf.reshape(S, [-1]); tf.matmul(S, tf.transpose(X)); tf.maximum(S, X); tf.saturate_cast(S, tf.int8); tf.Variable(S)
tf.math.divide_no_nan(X, S); tf.math.is_finite(S); tf.transpose(S); tf.expand_dims(S, 0); tf.tile(S, [2, 1])
watched(lambda x: tf.gather(x, [2, 0, 2]), X.numpy()); watched(lambda x: 3.0 * tf.gather(x, [2, 0, 2]) + 1.0, X.numpy())
watched(lambda x: tf.gather(x, [1, 1]) + tf.gather(x, [0, 2]), X.numpy())
watched(lambda x: tf.reduce_sum(tf.gather(x, [2, 0, 2])) + tf.reduce_sum(x), X.numpy())
watched(lambda x: tf.gather(x * 2.0, [2, 0, 2]), X.numpy()); watched(lambda x: tf.gather(x, [1, 0, 1], axis=1), X.numpy())
watched(lambda x: tf.nn.embedding_lookup(x, [1, 1]), X.numpy()); watched(lambda x: tf.gather(-x, [1, 1]), X.numpy())
watched(lambda x: tf.abs(tf.signal.stft(x, 4, 2)), [1.0, -2.0, 3.0, 4.0, 0.5, 1.5]); watched(lambda x: tf.boolean_mask(x, [True, False, True]), X.numpy())
watched(lambda x: tf.signal.frame(x, 2, 1), [1.0, -2.0, 3.0]); watched(lambda x: tf.signal.frame(x, 2, 1, axis=0), X.numpy())
watched(lambda x: tf.gather_nd(x, [[0], [0]]), X.numpy()); watched(lambda x: tf.roll(x, 1, 0), X.numpy())
watched(lambda x: tf.reverse(x, [0]), X.numpy()); watched(lambda x: tf.sort(x, 0), X.numpy()); watched(lambda x: x[::2], X.numpy())
watched(lambda x: tf.repeat(x, 2, 0), X.numpy()); watched(lambda x: tf.repeat(x, [1, 0, 2], 0), X.numpy())
watched(lambda x: tf.math.top_k(x, 1)[0], X.numpy()); watched(lambda x: tf.linalg.diag_part(x), X.numpy())
watched(lambda x: tf.unstack(x)[1], X.numpy()); watched(lambda x: tf.dynamic_partition(x, [0, 1, 0], 2)[0], X.numpy())
watched(lambda x: tf.dynamic_stitch([[0, 2], [1]], [x[:2], x[2:]]), X.numpy())
watched(lambda x: tf.math.segment_sum(x, [0, 0, 1]), X.numpy()); watched(lambda x: tf.math.segment_max(x, [0, 0, 1]), X.numpy())
watched(lambda x: tf.math.unsorted_segment_sum(x, [1, 0, 1], 2), X.numpy()); watched(lambda x: tf.sparse.segment_sum(x, [0, 2, 2], [0, 0, 1]), X.numpy())
watched(lambda x: tf.math.segment_mean(x, [0, 0, 1]), X.numpy()); watched(lambda x: tf.math.unsorted_segment_prod(x, [1, 0, 1], 2), X.numpy())
watched(lambda x: tf.image.rgb_to_grayscale(tf.reshape(x, [1, 2, 3])), X.numpy()); watched(lambda x: tf.batch_to_space(tf.reshape(x, [6, 1, 1, 1]), [2, 3], [[0, 0], [0, 0]]), X.numpy())
watched(lambda x: tf.space_to_batch(tf.reshape(x, [1, 3, 2, 1]), [3, 2], [[0, 0], [0, 0]]), X.numpy())
watched(lambda x: tf.linalg.band_part(x, 0, 0), X.numpy()); watched(lambda x: tf.linalg.tensor_diag_part(x[:2]), X.numpy())
watched(lambda x: tf.scatter_nd([[1], [1]], x[:2], [3, 2]), X.numpy()); watched(lambda x, y: tf.tensor_scatter_nd_add(x, [[1], [1]], y), X.numpy(), V.numpy()[:2])
watched(lambda x, y: tf.tensor_scatter_nd_update(x, [[1], [0]], y), X.numpy(), V.numpy()[:2]); watched(lambda x, y: tf.tensor_scatter_nd_max(x, [[1], [1]], y), X.numpy(), V.numpy()[:2])"""

_RANDOM = """
watched(lambda m, s: tf.random.stateless_normal([2], [1, 2], m, s), 1.5, 2.0)
watched(lambda m, s: tf.random.stateless_normal([2, 3], [1, 2], m, s), [1.5, 2.0, 3.0], [[2.0], [1.0]])
watched(lambda m, s: tf.random.stateless_normal([2], [1, 2], m, s), [[1.5], [2.0], [3.0]], 1.0)
watched(lambda m: tf.random.stateless_normal([2], [1, 2], m), 1.5); watched(lambda s: tf.random.stateless_normal([2], [1, 2], 1.0, s), 1.5)
watched(lambda m, s: tf.random.stateless_uniform([2], [1, 2], m, s), 1.5, 2.0); watched(lambda s: tf.random.stateless_uniform([2], [1, 2], 1, s), 2.5)
watched(lambda m, s: tf.random.stateless_truncated_normal([2], [1, 2], m, s), 1.5, 2.0)
watched(lambda m, s: tf.random.normal([2], m, s, seed=3), 1.5, 2.0); watched(lambda m, s: tf.random.uniform([2], m, s, seed=3), 1.5, 2.0)
watched(lambda m, s: tf.random.truncated_normal([2], m, s, seed=3), 1.5, 2.0)
watched(lambda m, s: tf.random.Generator.from_seed(1).normal([2], m, s), 1.5, 2.0)
watched(lambda m, s: tf.random.Generator.from_seed(1).truncated_normal([2], m, s), 1.5, 2.0)
watched(lambda m, s: tf.random.Generator.from_seed(1).uniform([2], m, s), 1.5, 2.0)
watched(lambda a: tf.random.stateless_poisson([2], [1, 2], a, tf.float32), 1.5)
grad2(lambda s: tf.random.stateless_normal([2], [1, 2], 1.0, s) ** 3, 1.5); grad2(lambda s: tf.random.stateless_uniform([2], [1, 2], 1.0, s) ** 3, 2.5)
tf.random.stateless_normal([2], [1, 2], tf.constant(1.5), tf.constant([2.0, 3.0])); tf.random.stateless_normal([2], [1, 2], tf.constant(1.5, tf.float64))
tf.random.stateless_normal([2], [1, 2], np.float64(1.5), np.array([2.0, 1.0], np.float32)); tf.random.stateless_normal([2], [1, 2], 1, 2)
compiled(lambda m, s: tf.random.stateless_normal([2], [1, 2], m, s), 1.5, 2.0)
compiled(lambda m, s: tf.random.stateless_uniform([2], [1, 2], m, s), 1.5, 2.0)
compiled(lambda m, s: tf.random.stateless_truncated_normal([2], [1, 2], m, s), 1.5, [2.0, 1.0])
compiled(lambda n: tf.random.stateless_uniform([4], [1, 2], 0, n, tf.int32), 7)
compiled(lambda n: tf.random.stateless_uniform([4], [1, 2], n, 2 * n, tf.int64), np.int64(7))
tf.random.stateless_uniform([3], [1, 2], None, None, tf.int32); tf.random.stateless_uniform([3], [1, 2], None, None, tf.int64)
tf.random.stateless_uniform([3], [1, 2], None, None, tf.uint32); tf.random.stateless_uniform([3], [1, 2], None, None, tf.uint64)
tf.random.stateless_uniform([3], [1, 2], tf.constant(1), tf.constant(9), tf.int32); tf.random.stateless_uniform([3], [1, 2], [1, 2, 3], [9, 8, 7], tf.int32)
tf.random.stateless_uniform([3], [1, 2], 5, 5, tf.int32); tf.random.stateless_uniform([3], [1, 2], tf.constant(5), tf.constant(5), tf.int32)
tf.random.stateless_uniform([3], [1, 2], 0, 2 ** 63 - 1, tf.int64); tf.random.stateless_uniform([3], [1, 2], 2 ** 53 + 1, 2 ** 60 + 3, tf.int64)
tf.random.stateless_uniform([3], [1, 2], 0, None, tf.int32); tf.random.uniform([3], 0, 2 ** 40, dtype=tf.int64, seed=3); tf.random.uniform([3], dtype=tf.int32)
tf.random.Generator.from_seed(1).split(2)[0].state; tf.random.Generator.from_seed(1).split(2)[1].normal([2]); len(tf.random.Generator.from_seed(1).split())
tf.random.Generator.from_seed(1).make_seeds(3); tf.random.Generator.from_seed(1).make_seeds(); tf.random.Generator.from_seed(1).uniform_full_int([3])
tf.random.Generator.from_seed(1).uniform_full_int([3], tf.int32); tf.random.Generator.from_seed(1).uniform([3], 0, 10, tf.int32)
tf.random.Generator.from_seed(1).uniform([3], 0, 2 ** 40, tf.int64); tf.random.Generator.from_seed(1).uniform([3], tf.constant(2), tf.constant(7), tf.int32)
tf.random.Generator.from_seed(1).uniform([3], None, None, tf.int32); tf.random.Generator.from_seed(1).uniform([3], maxval=None, dtype=tf.int32)
tf.random.Generator.from_seed(2 ** 63 + 5).state; tf.random.Generator.from_seed(-3).state; tf.random.Generator.from_seed([1, 2]).state
tf.random.Generator.from_seed([1, 2, 3, 4]).state; tf.random.Generator.from_seed(tf.constant(7)).state; tf.random.Generator.from_seed(np.int64(-1)).normal([2]); tf.random.Generator.from_seed(2 ** 70 + 3).state; tf.random.Generator.from_seed(-2 ** 70).state; tf.random.Generator.from_seed(tf.constant([1, 2])).state; tf.random.Generator.from_seed(np.array(-4)).state
tf.random.Generator.from_key_counter(5, [1, 2], "philox").state; tf.random.Generator.from_key_counter(5, [1, 2], 1).normal([2])
tf.random.Generator.from_key_counter(2 ** 64 - 1, [2 ** 64 - 1, 0], 1).normal([5]); tf.random.Generator.from_state([1, 2, 3], "philox").key
tf.random.Generator.from_state([1, 2, 3], "philox").algorithm; tf.random.Generator.from_state([1, 2], "philox"); tf.random.Generator(); tf.random.Generator(state=[1, 2, 3])
tf.random.Generator(copy_from=tf.random.Generator.from_seed(4)).state; tf.random.Generator.from_seed(1).skip(3); tf.random.create_rng_state(-2, "philox")
(lambda g: [g.skip(3), g.state])(tf.random.Generator.from_seed(1)); (lambda g: [g.skip(1), g.state])(tf.random.Generator.from_state([-1, 7, 9], 1))
(lambda g: [g.skip(2 ** 55), g.state])(tf.random.Generator.from_state([-1, 7, 9], 1)); (lambda g: [g.skip(1), g.state])(tf.random.Generator.from_state([-1, -1, 9], 1))
(lambda g: [g.reset([5, 6, 7]), g.state])(tf.random.Generator.from_seed(1)); (lambda g: [g.reset_from_seed(-5), g.state])(tf.random.Generator.from_seed(1))
(lambda g: [g.reset_from_key_counter(5, [1, 2]), g.state])(tf.random.Generator.from_seed(1)); tf.random.Generator.from_seed(1).normal([2], dtype=tf.float64)
(lambda g: [g.normal([2]), g.uniform([3]), g.truncated_normal([2, 2]), g.state])(tf.random.Generator.from_seed(11))
(lambda g, f: [f(), f(), g.state, g.normal([2])])(*(lambda g: (g, tf.function(lambda: g.normal([2, 2]))))(tf.random.Generator.from_seed(12)))
(lambda g, f: [f(), f(), g.state])(*(lambda g: (g, tf.function(lambda: [g.uniform([2], 0, 9, tf.int32), g.make_seeds(2), g.skip(2 ** 54)])))(tf.random.Generator.from_seed(13)))
(lambda g, f: [f(), f(), g.state])(*(lambda g: (g, tf.function(lambda: [g.reset_from_seed(4), g.normal([2])][1])))(tf.random.Generator.from_seed(13)))
(lambda g, f: [f(3), f(4), g.state])(*(lambda g: (g, tf.function(lambda m: g.normal([2], m))))(tf.random.Generator.from_seed(12)))
"""

LINES = [line.strip() for text in (_ROWS, _RANDOM) for piece in text.strip().splitlines() for line in piece.split("; ")]
