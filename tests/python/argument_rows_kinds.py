"""Rows of argument_cases.py: strings, ragged and sparse tensors, sets and tables."""


def _table(tf, np, values, default, **extra):
    keys = tf.constant(["a", "b"])
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values, **extra), default)


HELPERS = {"table": _table}

ROWS = """
strings.bytes_split | input=T[0] |
strings.join | inputs=[['a', 'b'], ['c', 'd']] | separator='-' ; @ inputs=[['a', 'b'], 'x']
strings.length | input=T | unit='UTF8_CHAR' ; unit='BYTE' ; unit='WORD'
strings.lower | input=T | encoding='utf-8' ; encoding='latin-1'
strings.upper | input=T | encoding='utf-8' ; encoding='latin-1'
strings.ngrams | data=['a', 'b', 'c'], ngram_width=2 | separator='-' ; pad_values='_' ; pad_values=('<', '>') ; @ pad_values='_', padding_width=1, ngram_width=3 ; ngram_width=(1, 2) ; ngram_width=5 ; @ ngram_width=5, preserve_short_sequences=True ; @ ngram_width=3, pad_values='_' ; padding_width=1
strings.ngrams | data=tf.ragged.constant([['a'], ['b', 'c', 'd']]), ngram_width=2 | preserve_short_sequences=True ; pad_values='_' ; separator=''
strings.reduce_join | inputs=T | axis=0 ; axis=1 ; axis=-1 ; @ axis=0, keepdims=True ; keepdims=True ; separator='-' ; @ axis=[1, 0], separator='-' ; @ axis=1, separator='-', keepdims=True
strings.regex_full_match | input=T, pattern='H.*' | pattern='.*o' ; input='Hello'
strings.regex_replace | input=T, pattern='l', rewrite='L' | replace_global=False ; @ pattern='(.)l', rewrite='<\\\\1>' ; rewrite=''
strings.split | input=T[0] | sep='l' ; maxsplit=1 ; @ sep='l', maxsplit=1 ; input='a  b c' ; @ input='a,,b', sep=',' ; sep='' ; maxsplit=0
strings.strip | input=[' a ', 'b '] |
strings.substr | input=['Hello', 'World'], pos=1, len=2 | pos=-2 ; len=9 ; pos=7 ; @ pos=[0, 1], len=[1, 3] ; @ input=['\\u00e4\\u00f6x', '\\u00e9t\\u00e9'], unit='UTF8_CHAR' ; @ input=['\\u00e4\\u00f6x', '\\u00e9t\\u00e9'] ; unit='WORD'
strings.to_hash_bucket_fast | input=T, num_buckets=100 | num_buckets=7 ; num_buckets=0
strings.to_hash_bucket_strong | input=T, num_buckets=100, key=[1, 2] | num_buckets=7 ; key=[3, 4] ; key=[1]
strings.to_number | input=['1.5', '-3'] | out_type=tf.float64 ; @ input=['7', '-3'], out_type=tf.int32 ; out_type=tf.int64 ; input=['x'] ; @ input=['7'], out_type=tf.int64 ; out_type=tf.uint8
strings.unicode_decode | input='a\\u00e4', input_encoding='UTF-8' | @ input=b'a\\xffb' ; @ input=b'a\\xffb', errors='ignore' ; @ input=b'a\\xffb', errors='strict' ; @ input=b'a\\xffb', replacement_char=63 ; @ input='a\\x01b', replace_control_characters=True ; @ input='a\\x01b' ; @ input='a\\x01b', replace_control_characters=True, replacement_char=63 ; @ input=b'\\x00a\\x00b', input_encoding='UTF-16-BE' ; @ input=['a', 'bc'] ; errors='other' ; input_encoding='UTF-99' ; @ input=b'a\\xe4', input_encoding='US-ASCII'
strings.unicode_decode_with_offsets | input='a\\u00e4b', input_encoding='UTF-8' | @ input=b'a\\xffb' ; @ input=b'a\\xffb', errors='ignore' ; @ input=b'a\\xffb', errors='strict' ; @ input=b'a\\xffb', replacement_char=63 ; @ input='a\\x01b', replace_control_characters=True ; @ input=['a', '\\u00e4c']
strings.unicode_encode | input=[97, 228], output_encoding='UTF-8' | output_encoding='UTF-16-BE' ; output_encoding='UTF-32-BE' ; @ input=[97, 55296] ; @ input=[97, 55296], errors='ignore' ; @ input=[97, 55296], errors='strict' ; @ input=[97, 55296], replacement_char=63 ; @ input=tf.ragged.constant([[97], [98, 99]]) ; output_encoding='UTF-7' ; errors='other' ; @ input=[97, 1114112], replacement_char=63
strings.unicode_split | input='a\\u00e4', input_encoding='UTF-8' | @ input=b'a\\xffb' ; @ input=b'a\\xffb', errors='ignore' ; @ input=b'a\\xffb', errors='strict' ; @ input=b'a\\xffb', replacement_char=63 ; @ input=['a', 'bc']
strings.unicode_split_with_offsets | input='a\\u00e4b', input_encoding='UTF-8' | @ input=b'a\\xffb' ; @ input=b'a\\xffb', errors='ignore' ; @ input=b'a\\xffb', errors='strict' ; @ input=b'a\\xffb', replacement_char=63
strings.unicode_transcode | input=['a\\u00e4'], input_encoding='UTF-8', output_encoding='UTF-16-BE' | output_encoding='UTF-8' ; @ input=[b'a\\xffb'], output_encoding='UTF-8' ; @ input=[b'a\\xffb'], output_encoding='UTF-8', errors='ignore' ; @ input=[b'a\\xffb'], output_encoding='UTF-8', errors='strict' ; @ input=[b'a\\xffb'], output_encoding='UTF-8', replacement_char=63 ; @ input=['a\\x01b'], output_encoding='UTF-8', replace_control_characters=True ; @ input=['a\\x01b'], output_encoding='UTF-8', replace_control_characters=True, replacement_char=63 ; output_encoding='UTF-32-BE'
ragged.constant | pylist=[[1, 2], [], [3]] | dtype=tf.float32 ; row_splits_dtype=tf.int32 ; ragged_rank=1 ; @ pylist=[[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1 ; @ pylist=[[[1, 2]], [[3, 4], [5, 6]]], inner_shape=[2] ; inner_shape=[2] ; ragged_rank=2 ; @ pylist=[1, 2], ragged_rank=0 ; @ pylist=[['a'], []], dtype=tf.string
ragged.range | starts=[3, 5, 2] | limits=[5, 8, 4] ; @ limits=[9, 9, 9], deltas=2 ; dtype=tf.float32 ; row_splits_dtype=tf.int32 ; @ limits=[9, 9, 9], deltas=[1, 2, 3] ; @ starts=[3.0], limits=[4.0], deltas=0.25
ragged.boolean_mask | data=[[1, 2], [3, 4]], mask=[[True, False], [True, True]] | mask=[True, False] ; @ data=R, mask=R > 2.0
ragged.row_splits_to_segment_ids | splits=tf.constant([0, 2, 2, 3], tf.int64) | out_type=tf.int32 ; out_type=tf.int64
ragged.segment_ids_to_row_splits | segment_ids=tf.constant([0, 0, 2], tf.int64) | num_segments=5 ; out_type=tf.int32 ; @ num_segments=4, out_type=tf.int64
ragged.stack | values=[R, R] | axis=1 ; axis=2 ; axis=-1 ; axis=0 ; @ values=[V, [1.0]]
ragged.map_flat_values | lambda x: x + 1.0, R |
RaggedTensor.to_tensor: R | | default_value=9.0 ; shape=[4, 2] ; shape=[None, 5] ; @ default_value=-1.0, shape=[2, 4]
RaggedTensor.to_list: R | |
RaggedTensor.to_sparse: R | |
RaggedTensor.bounding_shape: R | | axis=0 ; axis=1 ; axis=[1, 0] ; out_type=tf.int32 ; out_type=tf.int64 ; @ axis=1, out_type=tf.int32
RaggedTensor.nrows: R | | out_type=tf.int32 ; out_type=tf.int64
RaggedTensor.row_lengths: R | | axis=1 ; axis=0
RaggedTensor.row_lengths: tf.ragged.constant([[[1, 2], [3]], [[4]]]) | | axis=2
RaggedTensor.row_starts: R | |
RaggedTensor.row_limits: R | |
RaggedTensor.value_rowids: R | |
RaggedTensor.nested_row_lengths: R | |
RaggedTensor.nested_value_rowids: R | |
RaggedTensor.merge_dims: tf.ragged.constant([[[1, 2], [3]], [[4]]]) | outer_axis=0, inner_axis=1 | inner_axis=2 ; @ outer_axis=1, inner_axis=2 ; @ outer_axis=-2, inner_axis=-1
RaggedTensor.with_values: R | new_values=[1, 2, 3, 4, 5] |
RaggedTensor.with_flat_values: R | new_values=[1, 2, 3, 4, 5] |
RaggedTensor.with_row_splits_dtype: R | dtype=tf.int32 | dtype=tf.int64 ; dtype=tf.float32
RaggedTensor.get_shape: R | |
RaggedTensor.numpy: RI | |
RaggedTensor.consumers: R | |
RaggedTensor.from_row_splits | values=[1, 2, 3], row_splits=[0, 2, 3] | validate=False ; row_splits=[0, 2] ; row_splits=[1, 3] ; row_splits=tf.constant([0, 1, 3], tf.int32)
RaggedTensor.from_row_lengths | values=[1, 2, 3], row_lengths=[2, 0, 1] | validate=False ; row_lengths=[2] ; row_lengths=[-1, 4]
RaggedTensor.from_row_starts | values=[1, 2, 3], row_starts=[0, 2] | validate=False ; row_starts=[1]
RaggedTensor.from_row_limits | values=[1, 2, 3], row_limits=[2, 3] | validate=False ; row_limits=[2, 1, 3] ; row_limits=[2]
RaggedTensor.from_value_rowids | values=[1, 2, 3], value_rowids=[0, 0, 2] | nrows=5 ; validate=False ; value_rowids=[1, 0, 2] ; nrows=2
RaggedTensor.from_uniform_row_length | values=[1, 2, 3, 4], uniform_row_length=2 | validate=False ; @ values=tf.zeros([0]), uniform_row_length=0, nrows=3 ; uniform_row_length=3 ; nrows=2 ; nrows=3
RaggedTensor.from_nested_row_splits | flat_values=[1, 2, 3], nested_row_splits=[[0, 1, 2], [0, 2, 3]] | validate=False ; nested_row_splits=[[0, 1, 3], [0, 2, 3]]
RaggedTensor.from_nested_row_lengths | flat_values=[1, 2, 3], nested_row_lengths=[[1, 1], [2, 1]] | validate=False
RaggedTensor.from_sparse | st_input=tf.sparse.from_dense([[1, 2], [3, 0]]) | row_splits_dtype=tf.int32
RaggedTensor.from_tensor | tensor=[[1, 2, 0], [3, 0, 0]] | padding=0 ; lengths=[1, 2] ; row_splits_dtype=tf.int32 ; @ padding=0, row_splits_dtype=tf.int32 ; ragged_rank=1 ; @ tensor=P, ragged_rank=2 ; @ lengths=[1, 2], padding=0
sparse.add | a=S, b=S2 | threshold=1.0 ; b=F
sparse.bincount | values=[1, 3, 3, 0] | weights=[1.0, 2.0, 3.0, 4.0] ; axis=0 ; axis=None ; minlength=7 ; maxlength=3 ; binary_output=True ; @ binary_output=True, minlength=6
sparse.bincount | values=[[1, 3, 3], [0, 2, 2]] | axis=-1 ; @ axis=-1, weights=[[1, 2, 3], [4, 5, 6]] ; @ axis=-1, binary_output=True ; @ axis=-1, minlength=6 ; @ axis=-1, maxlength=2 ; axis=0 ; axis=1
sparse.concat | axis=0, sp_inputs=[S, S2] | axis=1 ; axis=-1 ; @ sp_inputs=[S, tf.sparse.SparseTensor([[0, 0]], [9.0], [1, 2])], expand_nonconcat_dims=True ; @ sp_inputs=[S, tf.sparse.SparseTensor([[0, 0]], [9.0], [1, 2])]
sparse.expand_dims | sp_input=S | axis=0 ; axis=1 ; axis=-2
sparse.eye | num_rows=2 | num_columns=3 ; dtype=tf.int32
sparse.fill_empty_rows | sp_input=tf.sparse.SparseTensor([[0, 0]], [9.0], [2, 2]), default_value=-1.0 | default_value=5.0
sparse.from_dense | tensor=[[0, 1], [2, 0]] | tensor=[0.0, 2.0]
sparse.map_values | lambda x: x + 1.0, S |
sparse.mask | a=tf.IndexedSlices([[1.0], [2.0], [3.0]], [1, 3, 5]), mask_indices=[3] |
sparse.maximum | sp_a=S, sp_b=S2 |
sparse.minimum | sp_a=S, sp_b=S2 |
sparse.reduce_max | sp_input=S | axis=0 ; axis=1 ; axis=[0, 1] ; keepdims=True ; @ axis=1, keepdims=True ; @ axis=0, output_is_sparse=True ; output_is_sparse=True ; @ axis=-1, keepdims=True, output_is_sparse=True
sparse.reduce_sum | sp_input=S | axis=0 ; axis=1 ; axis=[0, 1] ; keepdims=True ; @ axis=1, keepdims=True ; @ axis=0, output_is_sparse=True ; output_is_sparse=True ; @ axis=-1, keepdims=True, output_is_sparse=True
sparse.reorder | sp_input=tf.sparse.SparseTensor([[1, 0], [0, 1]], [1.0, 2.0], [2, 2]) |
sparse.reset_shape | sp_input=S | new_shape=[4, 5] ; new_shape=[1, 1]
sparse.reshape | sp_input=S, shape=[3, 2] | shape=[-1] ; shape=[4]
sparse.retain | sp_input=S, to_retain=[True, False, True] |
sparse.segment_sum | data=F, indices=[0, 1, 1], segment_ids=[0, 0, 2] | num_segments=4 ; sparse_gradient=True ; num_segments=2
sparse.segment_mean | data=F, indices=[0, 1, 1], segment_ids=[0, 0, 2] | num_segments=4 ; sparse_gradient=True
sparse.segment_sqrt_n | data=F, indices=[0, 1, 1], segment_ids=[0, 0, 2] | num_segments=4 ; sparse_gradient=True
sparse.slice | sp_input=S, start=[0, 1], size=[2, 2] | size=[1, 1] ; start=[1, 0]
sparse.softmax | sp_input=S |
sparse.sparse_dense_matmul | sp_a=S, b=M | @ adjoint_a=True, b=F ; @ adjoint_b=True ; @ adjoint_a=True, adjoint_b=True, b=tf.transpose(F) ; @ sp_a=tf.sparse.SparseTensor([[0, 1]], [1 + 2j], [2, 2]), b=tf.cast(C, tf.complex128), adjoint_a=True ; @ sp_a=tf.sparse.SparseTensor([[0, 1]], [1 + 2j], [2, 2]), b=tf.cast(C, tf.complex128), adjoint_b=True ; @ sp_a=M, b=tf.sparse.transpose(S) ; @ sp_a=F, b=S, adjoint_b=True
sparse.split | sp_input=S, num_split=3, axis=1 | @ num_split=2, axis=0 ; num_split=2
sparse.to_dense | sp_input=S | default_value=9.0 ; validate_indices=False ; @ sp_input=tf.sparse.SparseTensor([[1, 0], [0, 1]], [1.0, 2.0], [2, 2]), validate_indices=False ; sp_input=tf.sparse.SparseTensor([[1, 0], [0, 1]], [1.0, 2.0], [2, 2])
sparse.to_indicator | sp_input=SI, vocab_size=4 | vocab_size=6
sparse.transpose | sp_input=S | perm=[0, 1] ; perm=[1, 0]
sets.difference | a=[[1, 2, 3]], b=[[2]] | aminusb=False ; validate_indices=False ; @ a=[[1]], b=[[1, 2]], aminusb=False
sets.intersection | a=[[1, 2, 3]], b=[[2, 5]] | validate_indices=False
sets.union | a=[[1, 2, 3]], b=[[2, 5]] | validate_indices=False
sets.size | a=SI | validate_indices=False
lookup.StaticHashTable.lookup: table([1, 2], -1) | keys=tf.constant(['a', 'z']) | keys=tf.constant([['b']])
lookup.StaticHashTable.size: table([1, 2], -1) | |
lookup.StaticHashTable.lookup: table([1.0, 2.0], -1.0, value_dtype=tf.float32) | keys=tf.constant(['a', 'z']) |
lookup.StaticHashTable.lookup: table(tf.constant([1, 2], tf.int64), -1, key_dtype=tf.string, value_dtype=tf.int64) | keys=tf.constant(['a', 'z']) |
lookup.StaticVocabularyTable.lookup: tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.constant([0, 1], tf.int64)), 3) | keys=tf.constant(['a', 'z', 'q', 'b']) |
lookup.StaticVocabularyTable.lookup: tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(tf.constant([5, 6], tf.int64), tf.constant([0, 1], tf.int64)), 2, lookup_key_dtype=tf.int64) | keys=tf.constant([5, 9, 10], tf.int64) |
lookup.StaticVocabularyTable.size: tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.constant([0, 1], tf.int64)), 3) | |
"""
