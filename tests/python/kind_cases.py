"""Expressions about sparse, string and ragged tensors, as in cases.py (kinds.json, made by tools/make_reference.py)."""
import cases


def namespace(tf, np):
    def matmul_grad(x, values, dense, **options):
        """The gradients of sum(square(x with these values times dense))."""
        values, dense = tf.constant(values), tf.constant(dense)
        with tf.GradientTape() as tape:
            tape.watch([values, dense])
            y = tf.reduce_sum(tf.square(tf.sparse.sparse_dense_matmul(x.with_values(values), dense, **options)))
        return tape.gradient(y, [values, dense])

    def parts(x):
        return [x.indices, x.values, x.dense_shape]

    def rows(x):
        return [list(x.shape), x.to_list()] if hasattr(x, "to_list") else ["dense", x.numpy().tolist()]

    def adapted(layer, data):
        layer.adapt(tf.constant(data))
        return layer

    def compiled(f, *args):
        return tf.function(f)(*args)

    def lines(dataset):
        return [x.numpy() if hasattr(x, "numpy") else x for x in dataset]

    R = tf.ragged.constant([[1.0, 2.0], [], [3.0, 4.0, 5.0]])
    return {
        **cases.namespace(tf, np), "matmul_grad": matmul_grad, "parts": parts, "rows": rows, "compiled": compiled,
        "lines": lines, "adapted": adapted,
        "EXAMPLE": b"\n\x1a\n\x0b\n\x01a\x12\x06\x1a\x04\n\x02\x01\x02\n\x0b\n\x01s\x12\x06\n\x04\n\x02xy",
        "X": tf.SparseTensor([[0, 0], [0, 2], [2, 1]], [1.5, -2.0, 3.0], [3, 4]),
        "Y": tf.SparseTensor([[0, 1], [0, 2], [1, 3]], [0.5, 4.0, 1.0], [3, 4]),
        "U": tf.SparseTensor([[2, 1], [0, 2], [0, 0]], [3.0, -2.0, 1.5], [3, 4]),
        "Z": tf.SparseTensor([[0, 1, 0], [1, 0, 1], [1, 2, 0]], [1, 2, 3], [2, 3, 2]),
        "E": tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]),
        "IDS": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], np.array([1, 3, 0], np.int64), [3, 2]),
        "W": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [2.0, 0.5, 1.0], [3, 2]),
        "S": tf.constant(["Apple pie", "", "b C", "zoë"]),
        "S2": tf.constant([["a", "bb"], ["ccc", "d"]]),
        "R": R, "R2": tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6]]]), "Q": tf.ragged.constant([[1, 2], [], [3, 4, 5]]),
        "T": tf.ragged.constant([["a", "bc"], [], ["def"]]),
    }


SPARSE = """
repr(X)
str(X)
X.shape
X.dtype.name
tf.is_tensor(X)
isinstance(X, tf.Tensor)
tf.shape(X)
tf.size(X)
tf.rank(X)
tf.SparseTensor([0], [1.0], [2])
tf.SparseTensor([[0, 1]], [1.0, 2.0], [2, 2])
tf.convert_to_tensor(X)
tf.sparse.to_dense(X)
tf.sparse.to_dense(X, default_value=9.0)
tf.sparse.to_dense(U)
tf.sparse.to_dense(U, validate_indices=False)
tf.sparse.to_dense(tf.SparseTensor([[0], [5]], [1, 2], [3]))
tf.sparse.to_dense(tf.SparseTensor([[1], [1]], [1, 2], [3]))
tf.sparse.to_dense(tf.SparseTensor([[1]], [True], [3]))
parts(tf.sparse.from_dense([[0.0, 1.0], [2.0, 0.0]]))
parts(tf.sparse.from_dense([[0, 1, 0], [0, 0, 0]]))
parts(tf.sparse.reorder(U))
tf.sparse.sparse_dense_matmul(X, E)
tf.sparse.sparse_dense_matmul(U, E)
tf.sparse.sparse_dense_matmul(X, E, adjoint_a=False, adjoint_b=False)
tf.sparse.sparse_dense_matmul(X, tf.constant([[1.0, 2.0], [0.5, -1.0], [3.0, 1.0]]), adjoint_a=True)
tf.sparse.sparse_dense_matmul(X, tf.transpose(E), adjoint_b=True)
tf.sparse.sparse_dense_matmul(tf.constant([[1.0, 2.0, 3.0]]), X)
tf.sparse.sparse_dense_matmul(X, E[:2])
tf.sparse.sparse_dense_matmul(tf.SparseTensor([[0, 9]], [1.0], [3, 4]), E)
matmul_grad(X, [1.5, -2.0, 3.0], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
matmul_grad(U, [1.5, -2.0, 3.0], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], adjoint_a=True)
tf.sparse.reduce_sum(X)
tf.sparse.reduce_sum(X, 0)
tf.sparse.reduce_sum(X, 1)
tf.sparse.reduce_sum(X, [-1], keepdims=True)
tf.sparse.reduce_sum(Z, [0, 2])
tf.sparse.reduce_max(X, 1)
parts(tf.sparse.reduce_sum(X, 1, output_is_sparse=True))
parts(tf.sparse.add(X, Y))
parts(tf.sparse.add(X, Y, threshold=2.5))
tf.sparse.add(X, tf.ones([3, 4]))
tf.sparse.add(tf.ones([3, 4]), X)
tf.sparse.add(E, E)
tf.sparse.add(X, Z)
parts(tf.sparse.slice(X, [0, 1], [3, 2]))
parts(tf.sparse.slice(X, [1, 0], [9, 9]))
parts(tf.sparse.reshape(X, [2, 6]))
parts(tf.sparse.reshape(X, [-1, 2]))
tf.sparse.reshape(X, [5, 5])
parts(tf.sparse.transpose(X))
parts(tf.sparse.transpose(Z, [2, 0, 1]))
parts(tf.sparse.concat(0, [X, Y]))
parts(tf.sparse.concat(1, [X, Y]))
tf.sparse.concat(0, [X, Z])
parts(tf.sparse.concat(0, [X, tf.sparse.eye(2)], expand_nonconcat_dims=True))
[parts(p) for p in tf.sparse.split(sp_input=X, num_split=2, axis=1)]
parts(tf.sparse.retain(X, [True, False, True]))
parts(tf.sparse.softmax(X))
parts(tf.sparse.maximum(X, Y))
parts(tf.sparse.minimum(X, Y))
parts(tf.sparse.fill_empty_rows(X, 7.0)[0])
tf.sparse.fill_empty_rows(X, 7.0)[1]
parts(tf.sparse.expand_dims(X))
parts(tf.sparse.expand_dims(X, 0))
parts(tf.sparse.expand_dims(X, -2))
parts(tf.sparse.eye(3))
parts(tf.sparse.eye(2, 3, tf.int32))
parts(tf.sparse.reset_shape(X))
parts(tf.sparse.reset_shape(X, [5, 6]))
parts(tf.sparse.map_values(tf.add, X, 10.0))
parts(tf.sparse.map_values(tf.add, X, X))
tf.sparse.map_values(tf.add, X, Y)
tf.sparse.to_indicator(tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 3, 0], [2, 2]), 5)
tf.sparse.segment_sum(E, [0, 2, 3], [0, 0, 1])
tf.sparse.segment_mean(E, [0, 2, 3], [0, 0, 1])
tf.sparse.segment_sqrt_n(E, [0, 2, 3], [0, 0, 1])
tf.sparse.segment_sum(E, [0, 2, 3], [0, 0, 2], num_segments=4)
parts(tf.sparse.bincount([1, 3, 1, 0]))
parts(tf.sparse.bincount([[1, 3, 1], [0, 0, 2]], axis=-1))
parts(X * 2.0)
parts(X * tf.constant([[2.0], [3.0], [4.0]]))
parts(X / 2.0)
parts(-X)
parts(tf.abs(X))
parts(tf.cast(X, tf.int32))
parts(X.with_values([1, 2, 3]))
tf.nn.embedding_lookup_sparse(E, IDS, None)
tf.nn.embedding_lookup_sparse(E, IDS, None, combiner="sum")
tf.nn.embedding_lookup_sparse(E, IDS, W, combiner="mean")
tf.nn.embedding_lookup_sparse(E, IDS, W, combiner="sqrtn")
tf.nn.embedding_lookup_sparse(E, IDS, W, combiner="no")
tf.nn.safe_embedding_lookup_sparse(E, IDS)
tf.nn.safe_embedding_lookup_sparse(E, IDS, W, combiner="sqrtn", default_id=2)
parts(compiled(lambda x: x * 2.0, X))
compiled(lambda x, e: tf.sparse.sparse_dense_matmul(x, e), X, E)
compiled(lambda x: tf.sparse.to_dense(x), Y)
compiled(lambda x: tf.sparse.reduce_sum(x, 1), Y)
len(tf.nest.flatten(X))
len(tf.nest.flatten(X, expand_composites=True))
tf.SparseTensorSpec([3, None], tf.float32) == tf.SparseTensorSpec([3, None], tf.float32)
repr(tf.SparseTensorSpec([3, None], tf.float32))
tf.sparse.mask(tf.IndexedSlices(E, tf.constant([5, 1, 2, 9]), [10, 2]), [1, 9]).indices
"""

STRINGS = r"""
tf.constant("a")
tf.constant(b"a")
tf.constant(["a", "b"])
tf.constant([["a", "b"], ["c", "d"]]).shape
tf.constant("é")
tf.constant([1, "a"])
tf.constant(["a", 1])
tf.constant([["a"], ["b", "c"]])
tf.constant(1, tf.string)
tf.constant("a", tf.int32)
tf.constant("a", shape=[2, 2])
repr(tf.constant("a"))
repr(S)
repr(S2)
str(tf.constant("a"))
str(S)
str(S2)
repr(tf.constant([], tf.string))
f"{S2}"
tf.constant("a").dtype.name
repr(tf.string)
str(tf.string)
tf.string == tf.as_dtype("string")
tf.string == "string"
tf.string == tf.float32
tf.float32 == tf.string
isinstance(tf.string, tf.DType)
tf.string.is_floating
isinstance(S, tf.Tensor)
tf.is_tensor(S)
S.ndim
len(S)
S.numpy().dtype.name
S[0]
S[-1]
S[1:3]
S2[0, 1]
S2[:, 0]
S2[..., tf.newaxis].shape
S[7]
[s.numpy() for s in S]
S == "b C"
S == S
S2 == tf.constant(["a", "d"])
S != "b C"
tf.equal(S2, [["a"], ["d"]])
S + "!"
"x" + S
tf.add(S2, S2)
bool(tf.constant("a"))
bool(tf.constant(""))
S * 2
S < "b"
hash(S)
tf.shape(S2)
tf.size(S2)
tf.rank(S2)
tf.reshape(S2, [4])
tf.reshape(S2, [-1, 1])
tf.reshape(S2, [3])
tf.expand_dims(S, 0)
tf.squeeze(tf.constant([["a"]]))
tf.stack(["a", "b"])
tf.stack([S, S], axis=1)
tf.unstack(S2)
tf.concat([S, ["x"]], 0)
tf.concat([S2, S2], 1)
tf.tile(S2, [1, 2])
tf.repeat(S2, 2, axis=0)
tf.gather(S, [3, 0])
tf.gather(S2, [1], axis=1)
tf.gather(S, [9])
tf.gather_nd(S2, [[0, 1], [1, 0]])
tf.boolean_mask(S, [True, False, False, True])
tf.transpose(S2)
tf.reverse(S2, [1])
tf.slice(S2, [0, 1], [2, 1])
tf.split(S, 2)
tf.broadcast_to("a", [2, 2])
tf.fill([2], "z")
tf.zeros([2], tf.string)
tf.zeros_like(S2)
tf.where([True, False], ["a", "b"], ["c", "d"])
tf.where(tf.constant([["a", ""], ["", "b"]]) != "")
tf.identity(S)
tf.cast(S, tf.string)
tf.cast(S, tf.int32)
tf.cast([1, 2], tf.string)
tf.unique(tf.constant(["b", "a", "b"]))
tf.unique_with_counts(tf.constant(["b", "a", "b"]))
tf.pad(S2, [[0, 1], [0, 0]])
tf.pad(S2, [[0, 1], [0, 0]], constant_values="-")
tf.reduce_sum(S)
tf.matmul(S2, S2)
tf.exp(S)
tf.convert_to_tensor(np.array(["a", "bc"]))
tf.convert_to_tensor(np.array([b"a", b"bc"]))
tf.convert_to_tensor(np.array(["a", b"bc"], object))
tf.strings.length(S)
tf.strings.length(S, unit="UTF8_CHAR")
tf.strings.lower(S)
tf.strings.upper(S)
tf.strings.upper(S, encoding="utf-8")
tf.strings.strip([" a b ", "\tc\n"])
tf.strings.join(["a", "b", "c"])
tf.strings.join([S2, S2], separator="-")
tf.strings.join([S2, "x"])
tf.strings.reduce_join(S2)
tf.strings.reduce_join(S2, axis=0)
tf.strings.reduce_join(S2, axis=-1, separator=" ", keepdims=True)
tf.strings.reduce_join(S2, axis=[0, 1], separator=" ")
tf.strings.substr(S, 0, 2)
tf.strings.substr("hello", [1, -2], [2, 9])
tf.strings.substr("hello", 9, 1)
tf.strings.substr("zoëx", 2, 2, unit="UTF8_CHAR")
tf.strings.regex_replace(S, "[aeiou]", "*")
tf.strings.regex_replace("abc abc", "b(c)", "[\\1]")
tf.strings.regex_replace("abc abc", "b", "<\\0>", replace_global=False)
tf.strings.regex_replace("a.b,c!", "[[:punct:]]", "")
tf.strings.regex_replace("a1b22", r"\d+", "#")
tf.strings.regex_replace("zoë é", ".", "x")
tf.strings.regex_replace("a", "(", "")
tf.strings.regex_full_match(["abc", "abcd", ""], "a.*c")
tf.strings.to_number(["1", "2.5", "-1e3", "inf"])
tf.strings.to_number(["1", "-7"], tf.int32)
tf.strings.to_number(["9999999999"], tf.int64)
tf.strings.to_number(["abc"])
tf.strings.to_number(["1.5"], tf.int32)
tf.strings.to_number(" 12 ")
tf.strings.as_string([1, -2])
tf.strings.as_string([1.5, -2.25])
tf.strings.as_string([1.5, 1e20], shortest=True)
tf.strings.as_string([1.5], precision=2)
tf.strings.as_string([1234.5], scientific=True)
tf.strings.as_string([True, False])
tf.strings.as_string([7], width=4, fill="0")
tf.strings.as_string(3.0 + 2.0j)
tf.strings.format("x {} y", tf.constant([1, 2, 3]))
tf.strings.format("{} and {}", (tf.constant(1.5), tf.constant([[1, 2], [3, 4]])))
tf.strings.format("no", tf.constant(1))
tf.strings.format("s {}", tf.constant("a"))
rows(tf.strings.split(S))
rows(tf.strings.split("a,b,,c", sep=","))
rows(tf.strings.split(["a,b", "c"], sep=","))
rows(tf.strings.split(["a b c"], maxsplit=1))
rows(tf.strings.split(S2))
repr(tf.strings.split(["hello world", "a"]))
rows(tf.strings.bytes_split(["abc", "", "d"]))
rows(tf.strings.unicode_split(["zoë", "a"], "UTF-8"))
rows(tf.strings.unicode_decode(["zoë", "a"], "UTF-8"))
tf.strings.unicode_decode("zoë", "UTF-8")
tf.strings.unicode_encode([97, 235], "UTF-8")
tf.strings.unicode_encode(tf.ragged.constant([[97, 235], [98]]), "UTF-8")
tf.strings.unicode_transcode("aë", "UTF-8", "UTF-16-BE")
[rows(x) for x in tf.strings.unicode_split_with_offsets(["zoë", "a"], "UTF-8")]
tf.strings.ngrams(["a", "b", "c", "d"], 2)
tf.strings.ngrams(["a", "b", "c"], [1, 2], separator="_")
tf.strings.to_hash_bucket_fast(["", "a", "abc", "hello", "12345678", "a longer string of twenty", "x" * 33, "y" * 64, "z" * 65, "w" * 200, "0123456789" * 13], 2 ** 40)
tf.strings.to_hash_bucket_fast(S, 10)
tf.strings.to_hash_bucket_strong(["", "a", "hello world"], 1000003, [1, 2])
tf.strings.lower(T).to_list()
tf.strings.length(T).to_list()
tf.strings.reduce_join(T, axis=-1, separator="+")
lines(tf.data.Dataset.from_tensor_slices(["a", "b"]))
lines(tf.data.Dataset.from_tensor_slices(["a b", "c"]).map(lambda s: tf.strings.upper(s)))
lines(tf.data.Dataset.from_tensor_slices(["1", "2"]).map(lambda s: tf.strings.to_number(s) * 2))
lines(tf.data.Dataset.from_tensor_slices(["a", "b", "c"]).batch(2))
repr(tf.data.Dataset.from_tensor_slices(["a", "b"]).element_spec)
lines(tf.data.Dataset.from_tensor_slices(["a", "b", "c"]).filter(lambda s: s != "b"))
compiled(lambda s: tf.strings.join([s, "!"]), tf.constant("a"))
compiled(lambda s: tf.strings.length(s) + 1, tf.constant("abc"))
compiled(lambda x: tf.strings.as_string(x), tf.constant(3))
compiled(lambda: tf.constant("hello"))
tf.debugging.assert_equal(S, S)
tf.debugging.assert_equal(S, "x")
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1).lookup(tf.constant(["b", "z"]))
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], ["x", "y"]), "?").lookup(tf.constant([2, 5]))
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1).size()
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)[tf.constant("a")]
tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), -1)
tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64)), 3).lookup(tf.constant(["b", "z", "q"]))
"""

KERAS = """
tf.keras.layers.Hashing(num_bins=3)(tf.constant([["A"], ["B"], ["C"], ["D"], ["E"]]))
tf.keras.layers.Hashing(num_bins=3, mask_value="")(tf.constant([["A"], ["B"], [""], ["C"], ["D"]]))
tf.keras.layers.Hashing(num_bins=3, salt=[133, 137])(tf.constant([["A"], ["B"], ["C"], ["D"], ["E"]]))
tf.keras.layers.Hashing(num_bins=3, salt=133)(tf.constant([["A"], ["B"], ["C"], ["D"], ["E"]]))
tf.keras.layers.Hashing(num_bins=4)(tf.constant([1, 2, 3, 40]))
tf.keras.layers.Hashing(num_bins=4, output_mode="one_hot")(tf.constant([1, 2, 3, 40]))
tf.keras.layers.Hashing(num_bins=4, output_mode="multi_hot")(tf.constant(["A", "B"]))
tf.keras.layers.Hashing(num_bins=4, salt=3, name="h").get_config()
tf.keras.layers.Hashing(num_bins=0)
tf.keras.layers.StringLookup(vocabulary=["a", "b"])(S2)
tf.keras.layers.StringLookup(vocabulary=["a", "b"], num_oov_indices=3)(tf.constant(["a", "x", "y", "z"]))
rows(tf.keras.layers.StringLookup(vocabulary=["a", "bc"])(T))
tf.keras.layers.StringLookup(vocabulary=["a", "b"], invert=True)(tf.constant([1, 2, 0]))
tf.keras.layers.StringLookup(vocabulary=["a", "d"], output_mode="multi_hot")(S2)
rows(tf.keras.layers.IntegerLookup(vocabulary=[2, 4])(Q))
adapted(tf.keras.layers.TextVectorization(standardize=lambda s: tf.strings.regex_replace(s, "o", "0")), ["foo bar", "bar"])(tf.constant(["foo bar x"]))
adapted(tf.keras.layers.TextVectorization(split=lambda s: tf.strings.split(s, "-")), ["A-b", "b"])(tf.constant(["a-b-c", "b"]))
rows(adapted(tf.keras.layers.TextVectorization(ragged=True), ["a b", "b"])(tf.constant(["a b c", "b"])))
tf.keras.layers.CategoryEncoding(num_tokens=6, output_mode="multi_hot")(Q)
tf.keras.layers.Embedding(6, 2, embeddings_initializer="ones")(Q).shape
tf.keras.Sequential([tf.keras.Input((1,), dtype=tf.string), tf.keras.layers.StringLookup(vocabulary=["a", "b"]), tf.keras.layers.Embedding(4, 2, embeddings_initializer="ones")])(tf.constant([["a"], ["c"]]))
tf.keras.Input((1,), dtype="string").dtype
tf.map_fn(lambda r: tf.reduce_sum(r), Q, fn_output_signature=tf.int32)
rows(tf.map_fn(lambda x: x + 1, Q))
tf.map_fn(tf.strings.length, S, fn_output_signature=tf.int32)
rows(tf.one_hot(tf.ragged.constant([[0, 1], [2]]), 3))
rows(tf.nn.embedding_lookup(E, tf.ragged.constant([[0, 1], [2]])))
tf.function(lambda s: tf.strings.length(s), input_signature=[tf.TensorSpec([None], tf.string)])(S)
parts(tf.function(lambda s: s * 2.0, input_signature=[tf.SparseTensorSpec([None, 4], tf.float32)])(X))
rows(tf.function(lambda s: s * 2.0, input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])(R))
[x.numpy().tolist() for x in tf.data.Dataset.from_tensor_slices(Q)]
[rows(x) for x in tf.data.Dataset.from_tensor_slices(Q).batch(2)]
[rows(x) for x in tf.data.Dataset.from_tensor_slices(["a b", "c"]).map(tf.strings.split).ragged_batch(2)]
[parts(x) for x in tf.data.Dataset.from_tensor_slices(X)]
[parts(x) for x in tf.data.Dataset.from_tensor_slices(X).batch(2)]
parts(tf.io.parse_single_example(EXAMPLE, {"a": tf.io.VarLenFeature(tf.int64)})["a"])
parts(tf.io.parse_example([EXAMPLE, EXAMPLE], {"s": tf.io.VarLenFeature(tf.string)})["s"])
tf.sparse.to_dense(tf.io.parse_example([EXAMPLE, EXAMPLE], {"s": tf.io.VarLenFeature(tf.string)})["s"])
tf.sparse.to_dense(tf.SparseTensor([[1]], ["a"], [3]), default_value="-")
parts(tf.sparse.from_dense([["a", ""], ["", "b"]]))
"""

RAGGED = """
repr(R)
repr(R2)
repr(T)
repr(Q)
repr(tf.ragged.constant([[1.5, 22.25], [3.0]]))
repr(tf.ragged.constant([[], []]))
repr(tf.ragged.constant([[True], []]))
str(Q)
R.shape
R2.shape
R.dtype.name
R.ragged_rank
R2.ragged_rank
tf.is_tensor(R)
isinstance(R, tf.Tensor)
R.values
R2.flat_values
R.row_splits
R.row_lengths()
R.row_starts()
R.row_limits()
R.value_rowids()
R.nrows()
R2.nested_row_splits
R2.row_lengths(axis=2).to_list()
R2.bounding_shape()
len(R)
R.to_list()
T.to_list()
R.to_tensor()
R.to_tensor(-1.0)
R.to_tensor(shape=[None, 2])
R.to_tensor(shape=[4, 4])
R2.to_tensor()
T.to_tensor()
T.to_tensor("-")
parts(R.to_sparse())
parts(R2.to_sparse())
rows(tf.ragged.constant([[1, 2], [3]]))
rows(tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1))
rows(tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], inner_shape=(2,)))
rows(tf.ragged.constant([1, 2]))
tf.ragged.constant([[1, [2]], [3]])
tf.ragged.constant([[1], 2])
rows(tf.ragged.constant([], ragged_rank=1))
tf.ragged.constant([["a"], []]).dtype.name
rows(tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3]))
rows(tf.RaggedTensor.from_row_lengths([1, 2, 3], [1, 0, 2]))
rows(tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2]))
rows(tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4))
rows(tf.RaggedTensor.from_row_starts([1, 2, 3], [0, 1]))
rows(tf.RaggedTensor.from_row_limits([1, 2, 3], [1, 3]))
rows(tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2))
rows(tf.RaggedTensor.from_nested_row_splits([1, 2, 3], ([0, 1, 2], [0, 2, 3])))
rows(tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], padding=0))
rows(tf.RaggedTensor.from_tensor([[1, 2, 0], [3, 0, 0]], lengths=[1, 3]))
rows(tf.RaggedTensor.from_tensor([[1, 2], [3, 4]]))
rows(tf.RaggedTensor.from_sparse(tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [3, 2])))
tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2])
tf.RaggedTensor.from_row_splits([1, 2, 3], [1, 3])
tf.RaggedTensor.from_row_lengths([1, 2, 3], [1, 1])
R[0]
R[2]
R[-1]
R[5]
R2[0].to_list()
rows(R[1:])
rows(R[::2])
rows(R[:, :2])
rows(R[:, 1:])
rows(R[:, -1:])
R[2, 1]
rows(R2[:, :, :1])
rows(R2[0, :])
R2[0, 1]
[x.numpy().tolist() for x in R]
rows(R + 1.0)
rows(1.0 + R)
rows(R * R)
rows(R - tf.constant([[1.0], [2.0], [3.0]]))
rows(R / 2.0)
rows(Q // 2)
rows(Q % 2)
rows(Q ** 2)
rows(-R)
rows(R > 2.0)
rows(R == 3.0)
rows(tf.abs(-R))
rows(tf.square(R))
rows(tf.add(R, R))
rows(tf.maximum(R, 2.5))
rows(tf.cast(R, tf.int32))
rows(tf.ones_like(R))
rows(R + tf.ragged.constant([[1.0], [2.0], [3.0]]))
rows(tf.strings.join([T, "x"]))
rows(T + "x")
tf.reduce_sum(R)
tf.reduce_sum(R, axis=0)
tf.reduce_sum(R, axis=1)
tf.reduce_sum(R, axis=1, keepdims=True)
tf.reduce_mean(R, axis=1)
tf.reduce_max(R, axis=1)
tf.reduce_min(R, axis=0)
tf.reduce_prod(R, axis=1)
tf.reduce_any(R > 2.0, axis=1)
tf.reduce_all(R > 2.0, axis=1)
rows(tf.reduce_sum(R2, axis=2))
rows(tf.reduce_sum(R2, axis=1))
tf.reduce_sum(R2, axis=[1, 2])
tf.reduce_sum(R2)
rows(tf.concat([R, R], axis=0))
rows(tf.concat([R, R], axis=1))
rows(tf.concat([R, tf.constant([[9.0], [8.0], [7.0]])], axis=1))
rows(tf.stack([R, R], axis=0))
rows(tf.ragged.stack([[1, 2], [3]]))
rows(tf.ragged.stack([Q, Q], axis=1))
rows(tf.expand_dims(R, 0))
rows(tf.expand_dims(R, 1))
rows(tf.expand_dims(R, 2))
rows(tf.gather(R, [2, 0]))
tf.gather(R, 2)
rows(tf.gather(tf.constant([10, 20, 30, 40, 50, 60]), Q))
rows(tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]]))
rows(tf.ragged.boolean_mask(R, tf.ragged.constant([[True, False], [], [True, True, False]])))
rows(tf.ragged.boolean_mask(R, [True, False, True]))
rows(tf.ragged.map_flat_values(lambda x: x * 2 + 1, R))
rows(tf.ragged.map_flat_values(tf.add, R, R))
rows(tf.ragged.range([3, 5, 2]))
rows(tf.ragged.range([0, 3], [3, 0], [1, -1]))
tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5])
tf.ragged.segment_ids_to_row_splits([0, 0, 2])
rows(tf.where(R > 2.0, R, tf.zeros_like(R)))
rows(tf.reverse(R, [1]))
rows(tf.tile(Q, [1, 2]))
rows(R.with_values([5, 4, 3, 2, 1]))
R2.merge_dims(0, 1).to_list()
rows(R2.merge_dims(1, 2))
tf.size(R)
tf.rank(R2)
bool(R)
compiled(lambda r: tf.reduce_sum(r, axis=1), R)
rows(compiled(lambda r: r * 2.0, R))
[p.numpy().tolist() for p in tf.nest.flatten(R, expand_composites=True)]
grad(lambda v: tf.reduce_sum(tf.square(tf.RaggedTensor.from_row_lengths(v, [1, 2])), axis=1), [1.0, 2.0, 3.0])
repr(tf.RaggedTensorSpec([None, None], tf.int32))
tf.RaggedTensor.from_tensor([[1, 2], [3, 4]]).uniform_row_length
[x.to_list() for x in tf.data.Dataset.from_tensor_slices(["a b", "c"]).batch(2).map(lambda s: tf.strings.split(s))]
"""

LINES = [line for block in (SPARSE, STRINGS, RAGGED, KERAS) for line in block.strip().splitlines()]
