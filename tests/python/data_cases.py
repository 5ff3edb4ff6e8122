"""Expressions about tf.data whose values TensorFlow has told us (data_reference.json, made by tools/make_data_reference.py).

`D` is tf.data.Dataset, `L` makes a list of a dataset, `error` gives the name of the class of an exception.
"""


def namespace(tf, np):
    def plain(value):
        if isinstance(value, tf.data.Dataset):
            return L(value)
        if hasattr(value, "numpy"):
            value = value.numpy()
        if isinstance(value, bytes):
            return value.decode()
        if isinstance(value, (np.ndarray, np.generic)):
            return [str(value.dtype), value.tolist()]
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(v) for v in value]
        return value

    def L(dataset):  # noqa: N802
        return [plain(x) for x in dataset]

    def seeded(make, seed=5):
        tf.random.set_seed(seed)
        return make()

    def spec(dataset):
        return str(dataset.element_spec)

    def error(make):
        try:
            make()
        except Exception as e:
            return type(e).__name__
        return None

    def gen(*values):
        def made():
            yield from values
        return made

    x = np.arange(20, dtype=np.float32).reshape(10, 2)
    y = np.arange(10)
    return dict(tf=tf, np=np, D=tf.data.Dataset, L=L, plain=plain, seeded=seeded, spec=spec, error=error, gen=gen, x=x, y=y,
                S=tf.TensorSpec, twice=lambda d: [L(d), L(d)], E=tf.data.experimental)


LINES = """
L(D.range(5)), L(D.range(2, 9, 3)), L(D.range(5, 0, -2)), L(D.range(0)), L(D.range(3, output_type=tf.float32))
L(D.from_tensors((x, {"a": y})))
L(D.from_tensor_slices((x, {"a": y, "b": (x, y)})))
L(D.from_tensor_slices([[1, 2], [3, 4]])), L(D.from_tensor_slices(([1, 2], [3.0, 4.0])))
spec(D.from_tensor_slices({"a": y, "b": (x, [1.5] * 10)}))
spec(D.from_tensor_slices(x).batch(3)), spec(D.from_tensor_slices(x).batch(3, drop_remainder=True))
spec(D.range(3).map(lambda x: (x, 1.5, {"u": [x, x]}))), spec(D.range(3).map(lambda x: tf.cast(x, tf.float16)))
spec(D.range(3).enumerate()), spec(D.range(3).window(2)), spec(D.zip((D.range(3), D.range(4).batch(2))))
spec(D.range(3).repeat().batch(2)), spec(D.range(4).batch(2).unbatch()), spec(D.from_tensor_slices(x).map(lambda r: r[:1]))
spec(D.from_tensor_slices(x).concatenate(D.from_tensor_slices(x[:, :1])))
repr(D.range(3).batch(2)), repr(D.from_tensor_slices(x).shuffle(3)), repr(D.range(3).map(lambda x: x).prefetch(1))
error(lambda: D.from_tensor_slices((x, y[:4]))), error(lambda: D.from_tensor_slices(3))
error(lambda: D.range(3).batch(0)), error(lambda: D.range(3).shuffle(0)), error(lambda: D.range(3).shard(2, 2))
error(lambda: len(D.range(3).repeat())), error(lambda: len(D.range(3).filter(lambda x: True)))
L(D.from_tensor_slices((x, y)).batch(4)), L(D.from_tensor_slices((x, y)).batch(4, drop_remainder=True))
L(D.from_tensor_slices((x, y)).shuffle(10, seed=3).batch(4))
twice(D.from_tensor_slices((x, y)).shuffle(4, seed=3).batch(4))
twice(D.range(20).shuffle(8, seed=42))
twice(D.range(20).shuffle(20, seed=42, reshuffle_each_iteration=False))
twice(D.range(6).shuffle(8, seed=7).repeat(3))
twice(D.range(6).repeat(2).shuffle(4, seed=7))
twice(D.from_tensor_slices(y).shuffle(8, seed=7).repeat(3).batch(4))
twice(D.range(20).map(lambda x: x * 2).shuffle(7, seed=1).batch(6))
twice(D.range(12).shuffle(5, seed=1).shuffle(5, seed=2))
twice(D.from_tensor_slices(y).shuffle(5, seed=1).take(4).shuffle(3, seed=2).batch(3))
twice(D.from_tensor_slices(y).shuffle(5, seed=1).skip(2).shard(3, 1))
twice(D.range(5).shuffle(5, seed=1).cache())
seeded(lambda: twice(D.range(12).shuffle(12)))
seeded(lambda: [L(D.range(12).shuffle(12)), L(D.range(12).shuffle(12, seed=3)), plain(tf.random.uniform([2]))])
seeded(lambda: twice(D.range(12).shuffle(12, reshuffle_each_iteration=False)))
L(D.random(seed=4).take(5)), twice(D.random(seed=4).take(5))
seeded(lambda: L(D.random().take(5)))
L(D.range(10).take(3)), L(D.range(10).take(-1)), L(D.range(10).take(0)), L(D.range(10).skip(7)), L(D.range(10).skip(-1))
L(D.range(10).shard(3, 0)), L(D.range(10).shard(3, 2)), L(D.range(7).batch(3).shard(2, 1))
L(D.range(4).repeat(0)), L(D.range(4).repeat(2)), L(D.range(4).repeat().take(9)), L(D.range(0).repeat().take(9))
L(D.range(3).enumerate(5)), L(D.from_tensor_slices((x, y)).take(2).enumerate())
L(D.range(10).filter(lambda x: x % 3 == 0)), L(D.from_tensor_slices((x, y)).filter(lambda a, b: b > 7))
L(D.range(10).take_while(lambda x: x < 4)), L(D.range(4).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s * 10 + x)))
plain(D.range(5).reduce(np.int64(0), lambda s, x: s + x)), error(lambda: D.range(5).reduce(0, lambda s, x: s + x))
plain(D.from_tensor_slices((x, y)).reduce((0.0, np.int64(0)), lambda s, v: (s[0] + v[0][0], s[1] + v[1])))
L(D.zip((D.range(3), D.range(4, 9)))), L(D.zip(D.range(3), D.range(2))), L(D.zip({"a": D.range(2), "b": (D.range(3),)}))
L(D.zip((D.from_tensor_slices(x), D.from_tensor_slices((y, y)))).batch(4))
L(D.zip((D.from_tensor_slices(x), D.from_tensor_slices(y[:7]))).batch(4))
L(D.range(3).concatenate(D.range(7, 9))), L(D.range(3).flat_map(lambda x: D.range(x + 1)))
L(D.range(1, 4).interleave(lambda x: D.from_tensors(x).repeat(x + 1), cycle_length=2, block_length=2))
L(D.range(1, 6).interleave(lambda x: D.from_tensors(x).repeat(4), cycle_length=2, block_length=1))
L(D.range(1, 6).interleave(lambda x: D.range(x), cycle_length=3, block_length=2, num_parallel_calls=2))
L(D.range(7).window(3)), L(D.range(7).window(3, shift=2, stride=2, drop_remainder=True)), L(D.range(7).window(2, shift=3))
L(D.range(7).window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3)))
L(D.from_tensor_slices({"a": [1, 2, 3], "b": [4, 5, 6]}).window(2))
L(D.from_tensor_slices((x, y)).window(4, drop_remainder=True).flat_map(lambda a, b: D.zip((a.batch(4), b.batch(4)))))
L(D.range(5).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x)).padded_batch(2))
L(D.range(5).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x)).padded_batch(2, [6], tf.constant(-1, tf.int64)))
L(D.range(5).map(lambda x: (x, tf.fill([tf.cast(x, tf.int32), 2], 1.5))).padded_batch(3, ([], [None, 3]), drop_remainder=True))
error(lambda: L(D.range(5).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x)).padded_batch(2, [1])))
error(lambda: L(D.range(5).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x)).batch(2)))
L(D.from_tensor_slices((x, y)).batch(4).unbatch().batch(3)), L(D.range(7).batch(3).rebatch(2))
[int(d.cardinality()) for d in (D.range(9), D.range(9).repeat(), D.range(9).repeat(3), D.range(9).batch(2), D.range(9).take(-1))]
[int(d.cardinality()) for d in (D.range(9).skip(4), D.range(9).shard(4, 1), D.range(9).window(3, 2), D.range(9).cache())]
[int(d.cardinality()) for d in (D.range(9).flat_map(lambda x: D.range(3)), D.range(9).filter(lambda x: True), D.range(9).prefetch(3))]
[int(d.cardinality()) for d in (D.zip((D.range(9), D.range(4).repeat())), D.range(3).concatenate(D.range(4)), D.counter(), D.range(9).enumerate())]
[int(d.cardinality()) for d in (D.range(9).batch(2, drop_remainder=True), D.range(9).window(3, 2, drop_remainder=True), D.range(0).repeat())]
L(D.range(10).group_by_window(key_func=lambda x: x % 2, reduce_func=lambda k, d: d.batch(2), window_size=3))
L(D.range(12).map(lambda x: tf.range(x % 5 + 1)).bucket_by_sequence_length(lambda e: tf.shape(e)[0], [2, 4], [2, 3, 2]))
seeded(lambda: L(D.sample_from_datasets([D.range(3), D.range(10, 16)], weights=[0.3, 0.7], seed=3)))
seeded(lambda: L(D.sample_from_datasets([D.range(3), D.range(10, 16), D.range(20, 22)], seed=9, stop_on_empty_dataset=True)))
L(D.choose_from_datasets([D.range(3), D.range(10, 16)], D.from_tensor_slices(np.array([0, 1, 1, 0, 1, 0, 0, 0]))))
L(D.range(4).map(lambda x: {"u": x, "v": [x, x]}).batch(3)), L(D.range(6).map(lambda x: x + 1, num_parallel_calls=3))
L(D.range(9).map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE))
L(D.from_generator(gen(1, 2, 3), output_signature=S((), tf.int32)))
L(D.from_generator(gen((1, [1.0, 2.0]), (2, [3.0])), output_signature=(S((), tf.int32), S((None,), tf.float32))))
L(D.from_generator(gen({"a": 1, "b": [2, 3]}), output_signature={"a": S((), tf.int64), "b": S((2,), tf.float64)}))
L(D.from_generator(lambda n: iter(range(n)), output_types=tf.float32, args=[3]))
spec(D.from_generator(gen(1), output_types=tf.int32)), spec(D.from_generator(gen((1, 2)), (tf.int32, tf.int64), ((), [None])))
error(lambda: L(D.from_generator(gen([1, 2, 3]), output_signature=S((2,), tf.int32))))
error(lambda: L(D.from_generator(gen("x"), output_signature=S((), tf.int32))))
error(lambda: L(D.from_generator(gen((1, 2)), output_signature=S((), tf.int32))))
error(lambda: L(D.from_generator(gen(1), output_signature=(S((), tf.int32), S((), tf.int32)))))
error(lambda: L(D.from_generator(3, output_signature=S((), tf.int32)))), error(lambda: D.from_generator(gen(1)))
error(lambda: iter(D.range(0)).get_next()), error(lambda: next(iter(D.range(0))))
bool(iter(D.range(1)).get_next_as_optional().has_value()), bool(iter(D.range(0)).get_next_as_optional().has_value())
plain(list(D.range(2).as_numpy_iterator())), [type(v).__name__ for v in D.from_tensors((1, 2.0)).as_numpy_iterator().next()]
L(D.range(3).apply(lambda d: d.repeat(2))), plain(D.range(1).get_single_element()), error(lambda: D.range(2).get_single_element())
L(D.range(3).apply(E.assert_cardinality(3))), error(lambda: L(D.range(3).apply(E.assert_cardinality(4))))
L(D.from_tensor_slices([1.0, 2.0, 0.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x, "bad")).ignore_errors())
L(D.from_tensor_slices([3, 1, 3, 2, 1]).unique()), L(D.counter(3, 2).take(3))
L(D.from_tensor_slices(["ab", "c"]).batch(2)), spec(D.from_tensor_slices(["ab", "c"]))
bool(D.range(0)), len(D.range(7).batch(2)), int(D.range(7).options().deterministic is None)
""".strip().splitlines()
