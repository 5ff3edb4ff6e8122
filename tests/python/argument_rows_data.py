"""Rows of argument_cases.py: tf.data, tf.io and what is left."""
import os
import tempfile


def _texts(tf, np, *texts, compression=None):
    """Files with these texts."""
    import gzip
    import zlib
    names = []
    for text in texts:
        packed = {"GZIP": gzip.compress, "ZLIB": zlib.compress}.get(compression, bytes)(text.encode())
        handle, name = tempfile.mkstemp(suffix=".csv", text=False)
        with os.fdopen(handle, "wb") as file:
            file.write(packed)
        names.append(name)
    return names


def _records(tf, np, *records, options=None):
    """A file with these records."""
    handle, name = tempfile.mkstemp(suffix=".tfrecord")
    os.close(handle)
    with tf.io.TFRecordWriter(name, options) as writer:
        for record in records:
            writer.write(record)
    return name


def _example(tf, np, **features):
    """A serialized Example: bytes, floats or integers by name."""
    def feature(values):
        if isinstance(values[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
        if isinstance(values[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=values))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    return tf.train.Example(features=tf.train.Features(
        feature={k: feature(v) for k, v in features.items()})).SerializeToString()


def _optional(tf, np, dataset):
    return [None if not o.has_value() else o.get_value() for o in [iter(dataset).get_next_as_optional()]]


def _names_in(tf, np, *names, **arguments):
    """The names of files that a pattern lists, without their folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            open(os.path.join(folder, name), "w").close()
        found = [os.path.basename(n.numpy().decode()) for n in tf.data.Dataset.list_files(folder + "/*.txt", **arguments)]
    return found


def _pushed(tf, np, **arguments):
    """The derivative of a square along a direction."""
    x = tf.constant([3.0, 1.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 2.0])) as accumulator:
        y = x * x
    return accumulator.jvp(**{"primals": y, **arguments})


HELPERS = {"pushed": _pushed, "names_in": _names_in, "texts": _texts, "records": _records, "example": _example, "optional": _optional}

_WORDS = "tf.data.Dataset.from_tensor_slices(['a', 'bb', 'ccc'])"
_ROWS_OF = "tf.data.Dataset.from_tensor_slices(([[1, 2], [3, 4], [5, 6]], [0.5, 1.5, 2.5]))"
_GROWING = "tf.data.Dataset.range(1, 6).map(lambda x: tf.fill([x], x))"

ROWS = f"""
data.Dataset.batch: DS | batch_size=3 | drop_remainder=True ; num_parallel_calls=2 ; deterministic=False ; batch_size=0 ; @ num_parallel_calls=2, deterministic=True
data.Dataset.batch: {_ROWS_OF} | batch_size=2 | drop_remainder=True
data.Dataset.padded_batch: {_GROWING} | batch_size=2 | padded_shapes=[6] ; @ padding_values=tf.constant(9, tf.int64) ; drop_remainder=True ; padded_shapes=[None] ; padded_shapes=[2]
data.Dataset.ragged_batch: {_GROWING} | batch_size=2 | drop_remainder=True ; row_splits_dtype=tf.int32
data.Dataset.bucket_by_sequence_length: {_GROWING} | element_length_func=lambda x: tf.shape(x)[0], bucket_boundaries=[3, 5], bucket_batch_sizes=[2, 2, 2] | padded_shapes=[8] ; padding_values=tf.constant(9, tf.int64) ; pad_to_bucket_boundary=True ; drop_remainder=True ; no_padding=True
data.Dataset.cache: DS | |
data.Dataset.cardinality: DS | |
data.Dataset.concatenate: DS | dataset=tf.data.Dataset.range(2) |
data.Dataset.counter | | start=3 ; step=2 ; dtype=tf.int32
data.Dataset.enumerate: {_WORDS} | | start=5
data.Dataset.filter: DS | predicate=lambda x: x % 2 == 0 |
data.Dataset.flat_map: DS | map_func=lambda x: tf.data.Dataset.range(x) |
data.Dataset.from_tensor_slices | tensors=F | tensors={{'a': [1, 2], 'b': ['x', 'y']}}
data.Dataset.from_tensors | tensors=F | tensors=(1, 'a')
data.Dataset.from_generator | generator=lambda: iter([1, 2, 3]), output_types=tf.int64 | output_shapes=[] ; @ output_types=None, output_signature=tf.TensorSpec([], tf.int32) ; @ generator=lambda n: iter(range(n)), args=(4,) ; output_shapes=[2] ; output_types=tf.float32
data.Dataset.get_single_element: tf.data.Dataset.range(1) | |
data.Dataset.get_single_element: DS | |
data.Dataset.group_by_window: DS | key_func=lambda x: x % 2, reduce_func=lambda k, d: d.batch(2), window_size=2 | window_size=3 ; @ window_size=None, window_size_func=lambda k: k + 2
data.Dataset.ignore_errors: DS.map(lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x, tf.float32), 'x')) | | log_warning=True
data.Dataset.interleave: DS.take(3) | map_func=lambda x: tf.data.Dataset.from_tensors(x).repeat(3) | cycle_length=2 ; @ cycle_length=2, block_length=2 ; @ cycle_length=2, num_parallel_calls=2 ; @ cycle_length=2, num_parallel_calls=2, deterministic=True ; block_length=3 ; @ cycle_length=1, block_length=2
data.Dataset.map: DS | map_func=lambda x: x * 2 | num_parallel_calls=2 ; num_parallel_calls=tf.data.AUTOTUNE ; @ num_parallel_calls=2, deterministic=True ; deterministic=False ; synchronous=True ; use_unbounded_threadpool=True
data.Dataset.prefetch: DS | buffer_size=2 | buffer_size=tf.data.AUTOTUNE
data.Dataset.range | 5 | output_type=tf.int32 ; name='given' ; output_type=tf.float32
data.Dataset.range | 2, 9, 3 |
data.Dataset.random | seed=4 | seed=5 ; rerandomize_each_iteration=True ; rerandomize_each_iteration=False
data.Dataset.rebatch: DS.batch(3) | batch_size=2 | drop_remainder=True ; batch_size=[1, 2]
data.Dataset.reduce: DS | initial_state=tf.constant(1, tf.int64), reduce_func=lambda s, x: s + x |
data.Dataset.repeat: DS.take(2) | count=2 | count=0 ; count=1
data.Dataset.scan: DS | initial_state=tf.constant(1, tf.int64), scan_func=lambda s, x: (s + x, s * x) |
data.Dataset.shard: DS | num_shards=3, index=1 | index=0 ; index=3 ; num_shards=2
data.Dataset.shuffle: DS | buffer_size=4, seed=3 | seed=9 ; reshuffle_each_iteration=False ; buffer_size=7 ; buffer_size=1
data.Dataset.skip: DS | count=3 | count=-1 ; count=9
data.Dataset.take: DS | count=3 | count=-1 ; count=9
data.Dataset.take_while: DS | predicate=lambda x: x < 3 |
data.Dataset.unbatch: DS.batch(3) | |
data.Dataset.unique: tf.data.Dataset.from_tensor_slices([1, 2, 1, 3]) | |
data.Dataset.window: DS | size=3 | shift=1 ; stride=2 ; drop_remainder=True ; @ shift=2, stride=2, drop_remainder=True
data.Dataset.with_options: DS | options=tf.data.Options() |
data.Dataset.zip | DS, DS.skip(2) | name='given'
data.Dataset.zip | datasets=(DS, DS.skip(2)) |
data.Dataset.choose_from_datasets | datasets=[DS, DS.skip(5)], choice_dataset=tf.data.Dataset.from_tensor_slices(tf.constant([1, 1, 0, 1, 0], tf.int64)) | stop_on_empty_dataset=False ; stop_on_empty_dataset=True
data.Dataset.sample_from_datasets | datasets=[DS, DS.skip(5)], seed=4 | weights=[0.25, 0.75] ; stop_on_empty_dataset=True ; weights=[1.0, 0.0] ; seed=5 ; rerandomize_each_iteration=True ; weights=[0.5]
data.Dataset.apply: DS | transformation_func=lambda d: d.take(2) |
data.Dataset.list_files = names_in('a.txt', 'b.txt', 'c.txt', 'd.csv') | shuffle=False | @ shuffle=True, seed=3 ; @ shuffle=None, seed=4
data.TextLineDataset | filenames=texts('a\\nb\\nc', 'd\\n') | buffer_size=3 ; num_parallel_reads=2 ; @ filenames=texts('a\\nb', compression='GZIP'), compression_type='GZIP' ; @ filenames=texts('a\\nb', compression='ZLIB'), compression_type='ZLIB' ; compression_type='' ; compression_type='LZ'
data.TFRecordDataset | filenames=records(b'a', b'bc') | buffer_size=3 ; num_parallel_reads=2 ; @ filenames=records(b'a', options='GZIP'), compression_type='GZIP' ; @ filenames=records(b'a', options=tf.io.TFRecordOptions('ZLIB', compression_level=1)), compression_type='ZLIB' ; filenames=[records(b'a'), records(b'b')]
data.FixedLengthRecordDataset | filenames=texts('abcdefgh'), record_bytes=2 | header_bytes=2 ; footer_bytes=2 ; @ header_bytes=1, footer_bytes=1, record_bytes=3 ; buffer_size=4 ; num_parallel_reads=2 ; @ filenames=texts('abcd', compression='GZIP'), compression_type='GZIP' ; record_bytes=3
data.experimental.CsvDataset | filenames=texts('a,1,2.5\\nb,,3\\n'), record_defaults=[tf.string, tf.constant([7], tf.int32), tf.float32] | header=True ; @ filenames=texts('a;1;2.5\\n'), field_delim=';' ; na_value='1' ; @ select_cols=[0, 2], record_defaults=[tf.string, tf.float32] ; buffer_size=10 ; @ filenames=texts('"a,b",1,2.5\\n') ; @ filenames=texts('"a",1,2.5\\n'), use_quote_delim=False ; @ exclude_cols=[1], record_defaults=[tf.string, tf.float32] ; @ filenames=texts('a,1,2.5\\n', compression='GZIP'), compression_type='GZIP'
data.experimental.make_csv_dataset | file_pattern=texts('x,y\\n1,2.5\\n3,4.5\\n5,6.5\\n'), batch_size=2, shuffle=False, num_epochs=1 | label_name='y' ; column_names=['p', 'q'] ; @ column_names=['p', 'q'], header=False ; select_columns=['y'] ; column_defaults=[tf.float32, tf.float64] ; num_rows_for_inference=1 ; prefetch_buffer_size=1 ; num_parallel_reads=1 ; sloppy=True ; @ file_pattern=texts('x;y\\n1;2.5\\n'), field_delim=';' ; na_value='3' ; ignore_errors=True ; use_quote_delim=False ; @ file_pattern=texts('x,y\\n1,2.5\\n', compression='GZIP'), compression_type='GZIP' ; num_epochs=2 ; encoding='utf-8'
data.experimental.Counter | | start=3 ; step=2 ; dtype=tf.int32
io.decode_raw | input_bytes=[b'abcd', b'efgh'], out_type=tf.uint8 | out_type=tf.int16 ; @ out_type=tf.int16, little_endian=False ; fixed_length=6 ; fixed_length=2 ; @ out_type=tf.int16, fixed_length=6 ; @ input_bytes=[b'ab', b'cdef'], fixed_length=4 ; @ input_bytes=[b'ab', b'cdef'] ; @ out_type=tf.int16, fixed_length=4, little_endian=False ; @ out_type=tf.int32, fixed_length=2 ; fixed_length=0 ; @ input_bytes=b'abcd', fixed_length=2 ; @ out_type=tf.int32, little_endian=False ; @ out_type=tf.float32
io.decode_base64 | input=['YWI', 'YQ'] | input=['!']
io.encode_base64 | input=['ab', 'a'] | pad=True
io.decode_csv | records=['1,2.5,x', '3,,"y,z"'], record_defaults=[[0], [9.5], ['']] | @ records=['1;2.5;x'], field_delim=';' ; na_value='1' ; @ select_cols=[0, 2], record_defaults=[[0], ['']] ; @ records=['1,2.5,"x"'], use_quote_delim=False ; record_defaults=[tf.constant([], tf.int32), tf.constant([], tf.float32), [''] ] ; @ records=['NA,2.5,x'], na_value='NA'
io.parse_tensor | serialized=tf.io.serialize_tensor(F), out_type=tf.float32 | out_type=tf.int32
io.serialize_tensor | tensor=F | tensor=T
io.parse_example | serialized=[example(a=[1], b=[0.5, 1.5], c=[b'x']), example(a=[2], b=[2.5, 3.5])], features={{'a': tf.io.FixedLenFeature([], tf.int64), 'b': tf.io.FixedLenFeature([2], tf.float32)}} | features={{'c': tf.io.FixedLenFeature([], tf.string, default_value='none')}} ; features={{'c': tf.io.VarLenFeature(tf.string)}} ; features={{'b': tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)}} ; features={{'b': tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True, default_value=9.0), 'c': tf.io.FixedLenFeature([1], tf.string, b'd')}} ; features={{'c': tf.io.FixedLenFeature([], tf.string)}} ; features={{'a': tf.io.FixedLenFeature([], tf.float32)}} ; example_names=['p', 'q'] ; features={{'b': tf.io.FixedLenSequenceFeature([], tf.float32)}}
io.parse_single_example | serialized=example(a=[1], b=[0.5, 1.5]), features={{'a': tf.io.FixedLenFeature([], tf.int64)}} | features={{'c': tf.io.FixedLenFeature([2], tf.int64, default_value=[7, 8])}} ; example_names='p' ; features={{'b': tf.io.VarLenFeature(tf.float32)}}
io.gfile.join | 'a', 'b' |
io.gfile.exists | path='no/such/file' |
io.gfile.isdir | path='no/such/file' |
autodiff.ForwardAccumulator.jvp = pushed() | | primals=V ; @ primals=V, unconnected_gradients=tf.UnconnectedGradients.ZERO ; unconnected_gradients='none'
Variable.assign: tf.Variable(F) | value=G | use_locking=True ; read_value=False ; name='given'
Variable.assign_add: tf.Variable(F) | delta=G | use_locking=True ; name='given'
Variable.assign_sub: tf.Variable(F) | delta=G | use_locking=True ; name='given'
Variable.scatter_add: tf.Variable(F) | sparse_delta=tf.IndexedSlices([V], [1]) | use_locking=True
Variable.scatter_sub: tf.Variable(F) | sparse_delta=tf.IndexedSlices([V], [1]) | use_locking=True
Variable.scatter_mul: tf.Variable(F) | sparse_delta=tf.IndexedSlices([V], [1]) | use_locking=True
Variable.scatter_div: tf.Variable(F) | sparse_delta=tf.IndexedSlices([V], [1]) | use_locking=True
Variable.scatter_update: tf.Variable(F) | sparse_delta=tf.IndexedSlices([V], [1]) | use_locking=True
Variable.scatter_max: tf.Variable(F) | sparse_delta=tf.IndexedSlices([V], [1]) | use_locking=True
Variable.scatter_min: tf.Variable(F) | sparse_delta=tf.IndexedSlices([V], [1]) | use_locking=True
Variable.scatter_nd_add: tf.Variable(V) | indices=[[1]], updates=[5.0] |
Variable.scatter_nd_sub: tf.Variable(V) | indices=[[1]], updates=[5.0] |
Variable.scatter_nd_update: tf.Variable(V) | indices=[[1]], updates=[5.0] |
Variable.batch_scatter_update: tf.Variable(F) | sparse_delta=tf.IndexedSlices(tf.constant([[9.0], [8.0]]), [[1], [2]]) | use_locking=True
Variable.gather_nd: tf.Variable(F) | indices=[[1, 2]] |
Variable.sparse_read: tf.Variable(F) | indices=[1] |
Variable.value: tf.Variable(F) | |
Variable.read_value: tf.Variable(F) | |
TensorArray.stack: tf.TensorArray(tf.float32, 2).unstack(F) | |
TensorArray.gather: tf.TensorArray(tf.float32, 2).unstack(F) | indices=[1] |
TensorArray.read: tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(F) | index=1 | index=2
TensorArray.concat: tf.TensorArray(tf.float32, 2).unstack(F) | |
TensorArray.size: tf.TensorArray(tf.float32, 2, dynamic_size=True, infer_shape=False).unstack(F) | |
"""
