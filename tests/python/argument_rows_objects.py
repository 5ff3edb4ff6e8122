"""Rows of argument_cases.py: tapes, variables, arrays, shapes, specs, functions, files of records and of pictures."""
import os
import tempfile


def _named(arguments, values):
    """Strings that are names of values stand for these."""
    def one(v):
        if isinstance(v, (list, tuple)):
            return [one(w) for w in v]
        return values.get(v, v) if isinstance(v, str) else v
    return {k: one(v) for k, v in arguments.items()}


def _taped(tf, np, method, **arguments):
    """A method of a tape that has seen y = x^2 and z = x[0] * y, not w; x is a vector or a batch of them."""
    x, w = tf.constant([[3.0, 1.0], [2.0, -1.0]]), tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, w])
        y = x * x
        z = y * x[:, :1]
    return getattr(tape, method)(**_named(arguments, {"x": x, "y": y, "z": z, "w": w}))


def _tape(tf, np, **arguments):
    """What a tape with these settings sees of a variable, of a constant, and a second time."""
    v, c = tf.Variable([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape(**arguments) as tape:
        tape.watch(c)
        y = v * c * v
    first = tape.gradient(y, [v, c])
    try:
        return first, tape.gradient(y, [v, c])
    except RuntimeError as error:
        return first, type(error).__name__


def _array(tf, np, **arguments):
    """An array with these settings after two writes, and what happens to it then."""
    array = tf.TensorArray(**arguments)
    found = []
    for step in (lambda a: a.write(0, [1, 2]), lambda a: a.write(1, [3, 4]), lambda a: a.write(2, [5, 6]),
                 lambda a: a.write(1, [7, 8, 9])):
        try:
            array = step(array)
            found.append("written")
        except Exception:  # noqa: BLE001
            found.append("refused")
    for step in (lambda: array.read(0), lambda: array.read(0)):
        try:
            found.append(step())
        except Exception:  # noqa: BLE001
            found.append("refused")
    return found + [array.dtype.name, array.dynamic_size]


def _variable(tf, np, **arguments):
    v = tf.Variable(**arguments)
    return v.read_value(), v.name, v.trainable, v.dtype.name, v.shape.as_list(), str(v.synchronization), str(v.aggregation).split('.')[-1]


def _shown(tf, np, value):
    return str(value)


def _spec(tf, np, kind, **arguments):
    spec = getattr(tf, kind)(**arguments)
    return spec.shape.as_list() if spec.shape.rank is not None else None, spec.dtype.name


def _called(tf, np, **arguments):
    """A function made with these settings, called with vectors of two sizes."""
    f = tf.function(**{"func": lambda x: x * 2.0 if tf.reduce_sum(x) > 0.0 else -x, **arguments})
    return f(tf.constant([1.0, 2.0])), f(tf.constant([-1.0, -2.0, 3.0, -4.0]))


def _printed(tf, np, *values, **arguments):
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "text")
        tf.print(*values, output_stream="file://" + name, **arguments)
        with open(name) as file:
            return file.read()


def _jpeg(tf, np, **arguments):
    """What the head of an encoded picture says: progressive, channels, subsampling, density, text, and whether it is small."""
    image = tf.cast(tf.reshape(tf.range(48 * 48) * 7 % 251, [48, 48, 1]), tf.uint8)
    if arguments.get("format") != "grayscale":
        image = tf.concat([image, image // 2, image // 3], 2)
    data = tf.image.encode_jpeg(image, **arguments).numpy()
    frame = next(i for i in range(len(data) - 9) if data[i] == 0xFF and data[i + 1] in (0xC0, 0xC2) and data[i + 2] == 0)
    jfif = data.index(b"JFIF\0")
    return (data[frame + 1] == 0xC2, data[frame + 9], data[frame + 11], list(data[jfif + 7:jfif + 12]),
            b"some words" in data, len(data) < 3000)


def _recorded(tf, np, **arguments):
    """What a file of records made with these options gives back."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "records")
        options = tf.io.TFRecordOptions(**arguments)
        with tf.io.TFRecordWriter(name, options) as writer:
            for i in range(5):
                writer.write(b"record %d" % i)
        return list(tf.data.TFRecordDataset(name, options.compression_type).as_numpy_iterator())


def _file(tf, np, text):
    handle, name = tempfile.mkstemp(suffix=".txt")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    return name


def _from_file(tf, np, **arguments):
    """A table of a text file, asked for three keys."""
    initializer = tf.lookup.TextFileInitializer(_file(tf, np, "a\t1\tx\nb\t2\ty\nc\t3\tz\n"), **arguments)
    number = tf.as_dtype(arguments["key_dtype"]) != tf.string
    keys = tf.constant([1, 2, 9], tf.int64) if number else tf.constant(["a", "b", "?"])
    default = "none" if tf.as_dtype(arguments["value_dtype"]) == tf.string else -1
    return tf.lookup.StaticHashTable(initializer, default).lookup(keys)


def _cached(tf, np, filename):
    with tempfile.TemporaryDirectory() as folder:
        dataset = tf.data.Dataset.range(4).cache(filename and os.path.join(folder, filename))
        return [int(x) for x in dataset] + [int(x) for x in dataset], len(os.listdir(folder)) > 0


def _averaged(tf, np, **arguments):
    v = tf.Variable(1.0)
    average = tf.train.ExponentialMovingAverage(**arguments)
    for value in (1.0, 3.0, 5.0):
        v.assign(value)
        average.apply([v])
    return average.average(v)


def _moved(tf, np, method, **arguments):
    g = tf.random.Generator.from_seed(5)
    getattr(g, method)(**arguments)
    return g.state.numpy().tolist(), g.uniform([2])


def _sequence(tf, np, **arguments):
    """A sequence example, parsed."""
    def ints(*values):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    example = tf.train.SequenceExample(
        context=tf.train.Features(feature={"n": ints(7)}),
        feature_lists=tf.train.FeatureLists(feature_list={"s": tf.train.FeatureList(feature=[ints(1), ints(2, 3)][:1] * 2)}))
    return tf.io.parse_single_sequence_example(example.SerializeToString(), **arguments)


def _jpeg_again(tf, np, method, **arguments):
    """How far a picture that went through a JPEG is from itself."""
    image = tf.reshape(tf.cast(tf.range(48 * 48 * 3) * 7 % 64, tf.float32) / 64.0, [48, 48, 3])
    found = getattr(tf.image, method)(image, **arguments)
    return found.shape.as_list(), found.dtype.name, round(float(tf.reduce_mean(tf.abs(found - image))) * 20)


def _iterated(tf, np, **arguments):
    """How often a folder with one checkpoint gives one, before the time is over."""
    with tempfile.TemporaryDirectory() as folder:
        tf.train.Checkpoint(v=tf.Variable(1.0)).save(os.path.join(folder, "ckpt"))
        return len(list(tf.train.checkpoints_iterator(folder, **{"timeout": 0.01, **arguments})))


def _option(tf, np, kind, name, **arguments):
    return getattr(getattr(tf.saved_model, kind)(**arguments), name)


def _asserted(tf, np, method, **arguments):
    try:
        getattr(tf.test.TestCase(), method)(**arguments)
    except AssertionError as error:
        return "refused", "given words" in str(error)
    return "passed"


def _matched(tf, np, *names, **arguments):
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            open(os.path.join(folder, name), "w").close()
        found = tf.io.matching_files(os.path.join(folder, arguments.pop("pattern")), **arguments)
        return sorted(os.path.basename(n) for n in found.numpy().tolist())


def _through(tf, np):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(tf.round)(x * 1.4)
    return y, tape.gradient(y, x)


HELPERS = {name[1:]: value for name, value in list(globals().items()) if name.startswith("_") and callable(value)
           and name not in ("_named", "_made")}


def _made():
    """Methods of shapes."""
    for name in ("is_compatible_with", "merge_with", "concatenate", "is_subtype_of"):
        yield f"TensorShape.{name}: tf.TensorShape([2, None]) | other=tf.TensorShape([2, 3]) | other=[3, 3] ; other=[2] ; " \
              "other=None ; other=[None, None]"
    for name in ("with_rank", "with_rank_at_least", "with_rank_at_most", "assert_has_rank"):
        yield f"TensorShape.{name}: tf.TensorShape([2, None]) | rank=2 | rank=3 ; rank=1"
    for name in ("assert_is_compatible_with", "assert_same_rank"):
        yield f"TensorShape.{name}: tf.TensorShape([2, None]) | other=tf.TensorShape([2, 3]) | other=[3, 3] ; other=[2]"
    for method, one in (("gradient", "sources"), ("jacobian", "sources"), ("batch_jacobian", "source")):
        more = "output_gradients=tf.ones([2, 2]) * 3.0 ; " if method == "gradient" else ""
        several = f"{one}=['x', 'w'] ; " if one == "sources" else ""
        yield f"GradientTape.{method} = taped({method!r}) | target='z', {one}='x' | target='y' ; {several}{more}" \
              "unconnected_gradients=tf.UnconnectedGradients.ZERO ; unconnected_gradients='none'" + (
                  " ; parallel_iterations=1 ; experimental_use_pfor=False" if method != "gradient" else
                  f" ; @ {one}=['w'], unconnected_gradients=tf.UnconnectedGradients.ZERO ; @ {one}=['w']")


ROWS = "\n".join(_made()) + """
GradientTape = tape() | | persistent=True ; watch_accessed_variables=False ; @ persistent=True, watch_accessed_variables=False
TensorArray = array() | dtype=tf.int32, size=2 | dynamic_size=True ; clear_after_read=False ; infer_shape=False ; element_shape=[2] ; dtype=tf.int64 ; tensor_array_name='given' ; @ size=0, dynamic_size=True ; colocate_with_first_write_call=False ; size=3 ; @ dynamic_size=True, clear_after_read=False, infer_shape=False
TensorArray.write: tf.TensorArray(tf.float32, 2) | index=0, value=[1.0] | index=2 ; value=['a'] ; index=-1
TensorArray.unstack: tf.TensorArray(tf.float32, 2) | value=F | value=M ; value=I
TensorArray.scatter: tf.TensorArray(tf.float32, 3) | indices=[0, 2], value=F | indices=[0, 5]
TensorArray.split: tf.TensorArray(tf.float32, 2, infer_shape=False) | value=V, lengths=[1, 2] | lengths=[3, 0] ; lengths=[1, 1]
Variable = variable() | initial_value=[1, 2] | trainable=False ; name='given' ; dtype=tf.float32 ; constraint=lambda x: x ; synchronization=tf.VariableSynchronization.ON_READ ; aggregation=tf.VariableAggregation.MEAN ; shape=[2] ; shape=[3] ; caching_device='CPU:0' ; validate_shape=False ; initial_value=lambda: tf.constant([5.0]) ; @ initial_value=1.5, dtype=tf.int32 ; experimental_enable_variable_lifting=False
Variable.set_shape: tf.Variable(F) | shape=[2, 3] | shape=[3, 2]
Tensor.set_shape: tf.constant(F) | shape=[2, 3] | shape=[3, 2] ; shape=[None, 3]
TensorSpec = spec('TensorSpec') | shape=[2, None], dtype=tf.int32 | shape=None ; dtype=tf.string ; name='given'
RaggedTensorSpec = spec('RaggedTensorSpec') | shape=[2, None], dtype=tf.int32 | ragged_rank=1 ; row_splits_dtype=tf.int32
SparseTensorSpec = spec('SparseTensorSpec') | shape=[2, None], dtype=tf.int32 | dtype=tf.float64
TensorSpec.is_compatible_with: tf.TensorSpec([None, 3], tf.float32) | F |
TensorSpec.is_compatible_with: tf.TensorSpec([None, 3], tf.float32) | V |
TensorSpec.is_compatible_with: tf.TensorSpec([None, 3], tf.float32) | FD |
function = called() | | input_signature=[tf.TensorSpec([None], tf.float32)] ; input_signature=[tf.TensorSpec([2], tf.float32)] ; autograph=False ; jit_compile=True ; reduce_retracing=True ; experimental_implements='given' ; experimental_relax_shapes=True ; experimental_attributes={} ; experimental_follow_type_hints=True ; @ autograph=False, func=lambda x: x * 2.0
print = printed([1, 2, 3], tf.range(9)) | | summarize=1 ; summarize=-1 ; sep='|' ; end='!' ; @ sep='', end='', summarize=2
image.encode_jpeg = jpeg() | | format='grayscale' ; format='rgb' ; quality=10 ; progressive=True ; optimize_size=True ; chroma_downsampling=False ; density_unit='cm' ; x_density=72 ; y_density=150 ; xmp_metadata='some words' ; @ density_unit='cm', x_density=10, y_density=20
io.TFRecordOptions = recorded() | | compression_type='GZIP' ; compression_type='ZLIB' ; compression_type='LZ' ; @ compression_type='GZIP', compression_level=1 ; @ compression_type='ZLIB', window_bits=15, mem_level=8 ; @ compression_type='ZLIB', compression_method=8, compression_strategy=0 ; @ compression_type='ZLIB', flush_mode=0, input_buffer_size=100, output_buffer_size=100
io.parse_single_sequence_example = sequence() | context_features={'n': tf.io.FixedLenFeature([], tf.int64)}, sequence_features={'s': tf.io.FixedLenSequenceFeature([], tf.int64)} | example_name='given' ; sequence_features={'s': tf.io.VarLenFeature(tf.int64)} ; sequence_features={'t': tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)} ; context_features={'m': tf.io.FixedLenFeature([], tf.int64)} ; sequence_features={'t': tf.io.FixedLenSequenceFeature([], tf.int64)}
lookup.TextFileInitializer = from_file() | key_dtype=tf.string, key_index=0, value_dtype=tf.int64, value_index=1 | key_index=2 ; @ value_dtype=tf.string, value_index=2 ; @ key_dtype=tf.int64, key_index=1, value_dtype=tf.string, value_index=0 ; value_index=tf.lookup.TextFileIndex.LINE_NUMBER ; vocab_size=2 ; vocab_size=9 ; delimiter=' ' ; value_index_offset=5 ; @ value_index=tf.lookup.TextFileIndex.LINE_NUMBER, value_index_offset=5
lookup.StaticHashTable.export: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a'], [1]), -1) | |
data.Dataset.cache = cached() | filename='' | filename='kept'
train.ExponentialMovingAverage = averaged() | decay=0.5 | num_updates=1 ; zero_debias=True ; decay=0.9 ; name='given' ; @ num_updates=3, zero_debias=True
random.Generator.skip = moved('skip') | delta=3 | delta=4
random.Generator.reset_from_seed = moved('reset_from_seed') | seed=3 | seed=4
random.Generator.reset_from_key_counter = moved('reset_from_key_counter') | key=3, counter=[1, 2] | key=4 ; counter=[3, 4]
random.Generator.reset = moved('reset') | state=[1, 2, 3] |
sparse.SparseTensor | indices=[[0, 1]], values=[1.5], dense_shape=[2, 3] | dense_shape=[2] ; values=[1.5, 2.0] ; indices=[0, 1]
sparse.SparseTensor.with_values: S | new_values=[1.0, 2.0, 3.0] | new_values=[1.0]
IndexedSlices | values=F, indices=[0, 1] | dense_shape=[4, 3]
linalg.eig | tensor=tf.constant([[2.0, 0.0], [0.0, 3.0]]) |
type_spec_from_value = shown(tf.type_spec_from_value(F)) | |
saturate_cast | value=[300.0, -5.0, 7.5], dtype=tf.uint8 | dtype=tf.int8
image.random_jpeg_quality = jpeg_again('random_jpeg_quality') | min_jpeg_quality=20, max_jpeg_quality=21, seed=3 | @ min_jpeg_quality=90, max_jpeg_quality=91 ; min_jpeg_quality=50
image.adjust_jpeg_quality = jpeg_again('adjust_jpeg_quality') | jpeg_quality=20 | jpeg_quality=90 ; dct_method='INTEGER_FAST' ; dct_method='INTEGER_ACCURATE'
train.checkpoints_iterator = iterated() | | min_interval_secs=0 ; timeout=0.02 ; timeout_fn=lambda: True
saved_model.LoadOptions = option('LoadOptions', 'allow_partial_checkpoint') | | allow_partial_checkpoint=True ; experimental_io_device='CPU:0' ; other=1
saved_model.SaveOptions = option('SaveOptions', 'function_aliases') | | save_debug_info=True ; namespace_whitelist=['a'] ; extra_tags=['more'] ; other=1
test.TestCase.assertAllClose = asserted('assertAllClose') | a=F, b=F + 1e-5 | rtol=1e-3 ; atol=1e-3 ; @ msg='given words' ; @ a=F, b=F
test.TestCase.assertAllEqual = asserted('assertAllEqual') | a=I, b=I | b=J ; @ b=J, msg='given words'
test.compute_gradient | f=lambda x: x * x, x=[V] | delta=0.25
io.matching_files = matched('a.txt', 'b.txt', 'c.csv') | pattern='*.txt' | pattern='*' ; name='given'
grad_pass_through = through() | |
test.is_gpu_available | | cuda_only=True
"""
