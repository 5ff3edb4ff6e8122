#!/usr/bin/env python3
"""Writes what describes the Python module from the module itself: python/gradus/*.pyi and docs/api-coverage.md.

    PYTHONPATH=build/release/python .venv/bin/python tools/api_pages.py [--check]

--check writes nothing and fails if a file is not as it should be.
"""
import inspect
import pathlib
import re
import sys
import types

import gradus
from gradus import _core, _missing

for name in _missing._ELSEWHERE:  # names that the module loads when they are first used
    getattr(gradus, name)

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULES = ["math", "nn", "linalg", "random", "bitwise", "nest", "dtypes", "autodiff", "forward_diff", "errors",
           "debugging", "config", "test", "image", "lookup", "ragged", "sparse", "strings"]
KERAS_MODULES = ["keras." + m for m in ("activations", "callbacks", "constraints", "initializers", "layers", "losses",
                                        "metrics", "ops", "optimizers", "optimizers.schedules", "regularizers",
                                        "saving", "utils")]

# The symbols that programs use most, in order (counted over 1642 programs), without those about Keras, tf.data,
# files, images, text, distribution and serving.
WANTED = """GradientTape float32 cast constant reduce_mean function reduce_sum reshape Variable int32 __version__ zeros
random.uniform nn.relu random.set_seed convert_to_tensor expand_dims matmul random.normal square concat argmax shape one_hot
nn.softmax range reduce_max stack ones squeeze int64 equal transpose abs sqrt sigmoid newaxis where config.list_physical_devices
float64 zeros_like exp math.log reduce_min maximum ones_like gather clip_by_value print pow add multiply linspace Tensor
TensorSpec split tile minimum Module device math.sin unstack add_n tanh stop_gradient
nn.sparse_softmax_cross_entropy_with_logits config.list_logical_devices norm pad uint8 config.experimental.set_memory_growth
cos bool broadcast_to math.top_k size TensorArray config.LogicalDeviceConfiguration TensorShape random.truncated_normal round
identity config.set_logical_device_configuration nn.sigmoid_cross_entropy_with_logits random.shuffle fill argmin not_equal
errors.InvalidArgumentError gather_nd math.reduce_std reduce_all math.l2_normalize random.categorical nn.moments
math.logical_not subtract eye slice floor boolean_mask reduce_prod einsum py_function test.gpu_device_name
random_normal_initializer nn.leaky_relu divide nn.dropout custom_gradient autograph.to_code float16 nn.conv2d map_fn greater
executing_eagerly nn.softmax_cross_entropy_with_logits test.is_gpu_available control_dependencies clip_by_norm
nest.map_structure meshgrid group reverse sort scan while_loop cond clip_by_global_norm repeat argsort less logical_and
reduce_any math.reduce_variance nn.embedding_lookup nn.max_pool2d nn.bias_add linalg.inv linalg.diag linalg.band_part
linalg.cholesky linalg.solve linalg.det tensordot cumsum math.cumsum random.stateless_uniform random.stateless_normal
random.Generator random_uniform_initializer zeros_initializer constant_initializer ones_initializer scatter_nd
tensor_scatter_nd_update tensor_scatter_nd_add unique searchsorted sequence_mask roll bitcast vectorized_map
autodiff.ForwardAccumulator IndexedSlices UnconnectedGradients recompute_grad case switch_case foldl foldr debugging.assert_equal
debugging.check_numerics config.threading.set_intra_op_parallelism_threads nest.flatten numpy_function reduce_logsumexp
math.erf math.lgamma math.digamma math.softplus math.log1p math.expm1 math.is_nan math.is_inf math.segment_sum
math.unsorted_segment_sum math.bincount math.confusion_matrix math.in_top_k nn.gelu nn.silu nn.elu nn.selu
nn.conv2d_transpose nn.depthwise_conv2d nn.conv1d nn.avg_pool2d nn.batch_normalization nn.log_softmax nn.l2_loss
linalg.eigh linalg.svd linalg.qr linalg.expm signal.fft complex64 complex128 complex math.real math.imag string
SparseTensor sparse.to_dense RaggedTensor strings data keras compat.v1 train saved_model""".split()

# The same of Keras, tf.data, tf.train, tf.io, tf.summary and tf.image: those among the first 400 symbols.
WANTED_OF_KERAS = """keras.layers.Dense keras.Model keras.Sequential keras.optimizers.Adam keras.layers.Input keras.layers.Dropout
keras.layers.Conv2D data.Dataset.from_tensor_slices keras.layers.Flatten keras.datasets.mnist.load_data
keras.layers.Layer keras.layers.BatchNormalization keras.layers.MaxPooling2D keras.layers.Embedding
keras.optimizers.SGD keras.utils.get_file keras.losses.SparseCategoricalCrossentropy keras.models.load_model
keras.utils.to_categorical keras.callbacks.ModelCheckpoint data.AUTOTUNE keras.layers.Activation keras.layers.Reshape
image.resize keras.metrics.Mean keras.layers.GlobalAveragePooling2D keras.callbacks.EarlyStopping
keras.layers.Conv2DTranspose keras.losses.BinaryCrossentropy keras.layers.LSTM io.read_file keras.utils.plot_model
keras.optimizers.RMSprop keras.metrics.SparseCategoricalAccuracy keras.layers.Lambda
keras.losses.CategoricalCrossentropy keras.losses.MeanSquaredError keras.callbacks.Callback
keras.preprocessing.sequence.pad_sequences keras.layers.LayerNormalization keras.ops.shape keras.callbacks.TensorBoard
keras.layers.LeakyReLU keras.layers.concatenate keras.datasets.cifar10.load_data keras.layers.Rescaling
keras.layers.Concatenate keras.layers.GRU keras.ops.cast keras.utils.load_img keras.layers.Conv1D keras.layers.Add
train.Checkpoint image.decode_jpeg keras.backend.clear_session keras.layers.ReLU
keras.datasets.fashion_mnist.load_data keras.losses.sparse_categorical_crossentropy keras.layers.RandomFlip
keras.regularizers.l2 keras.utils.img_to_array keras.layers.Bidirectional keras.ops.sum keras.ops.concatenate
keras.ops.expand_dims keras.ops.reshape keras.layers.GlobalAveragePooling1D keras.losses.mean_squared_error
keras.preprocessing.image.ImageDataGenerator keras.ops.mean keras.layers.AveragePooling2D
keras.datasets.imdb.load_data keras.utils.set_random_seed keras.ops.convert_to_numpy keras.layers.MultiHeadAttention
keras.ops.matmul data.Dataset.zip keras.layers.GlobalMaxPooling1D keras.callbacks.ReduceLROnPlateau
keras.layers.UpSampling2D keras.layers.add keras.layers.ZeroPadding2D keras.optimizers.AdamW
keras.layers.TextVectorization keras.preprocessing.text.Tokenizer keras.utils.PyDataset keras.ops.convert_to_tensor
train.latest_checkpoint keras.ops.transpose keras.layers.GlobalMaxPooling2D keras.layers.RandomRotation
keras.layers.Resizing keras.callbacks.LearningRateScheduler keras.activations.softmax
keras.utils.image_dataset_from_directory keras.layers.Normalization keras.layers.StringLookup
keras.losses.categorical_crossentropy keras.backend.set_floatx keras.random.uniform keras.losses.binary_crossentropy
keras.ops.arange keras.ops.squeeze keras.metrics.CategoricalAccuracy keras.__version__ train.CheckpointManager
image.convert_image_dtype keras.mixed_precision.set_global_policy keras.layers.InputLayer data.experimental.AUTOTUNE
keras.utils.array_to_img keras.ops.square keras.backend.sum keras.backend.epsilon keras.random.normal
keras.random.SeedGenerator keras.initializers.RandomNormal keras.applications.resnet50.ResNet50 image.random_crop
keras.models.clone_model keras.ops.stack keras.backend.square keras.backend.mean summary.create_file_writer
keras.layers.RandomZoom keras.metrics.BinaryAccuracy keras.metrics.MeanAbsoluteError data.TFRecordDataset
data.TextLineDataset keras.losses.mae keras.ops.image.resize keras.losses.Loss image.random_flip_left_right
keras.ops.ones keras.initializers.get data.Dataset.from_generator io.FixedLenFeature keras.layers.LSTMCell
keras.applications.MobileNetV2 keras.backend.int_shape image.decode_png data.Dataset.list_files keras.ops.clip
keras.ops.softmax keras.activations.get keras.ops.tile keras.datasets.imdb.get_word_index
keras.optimizers.schedules.ExponentialDecay train.Example image.decode_image
keras.optimizers.schedules.LearningRateSchedule keras.ops.zeros keras.metrics.Metric keras.ops.multiply
keras.optimizers.Adagrad keras.optimizers.Nadam keras.metrics.sparse_categorical_accuracy
keras.applications.vgg16.VGG16 io.parse_single_example keras.losses.Huber keras.initializers.Constant
keras.callbacks.CSVLogger keras.ops.argmax keras.ops.array keras.layers.SimpleRNN keras.backend.cast
keras.backend.shape data.experimental.make_csv_dataset train.BytesList train.Features train.Feature summary.scalar
keras.applications.VGG19 keras.utils.text_dataset_from_directory keras.applications.EfficientNetB0 keras.ops.exp
keras.ops.eye keras.utils.save_img keras.ops.one_hot keras.regularizers.get keras.layers.RandomCrop
keras.activations.relu keras.backend.expand_dims image.crop_to_bounding_box keras.layers.Softmax io.TFRecordWriter
keras.layers.TimeDistributed keras.ops.split keras.backend.backend keras.ops.cos keras.Variable keras.ops.where
keras.applications.Xception keras.datasets.cifar100.load_data keras.backend.dot keras.Model.from_config
keras.metrics.Accuracy train.Int64List keras.initializers.Zeros keras.initializers.GlorotUniform keras.layers.RNN
keras.layers.MaxPooling1D keras.initializers.serialize keras.metrics.SparseTopKCategoricalAccuracy
keras.layers.SeparableConv2D keras.backend.exp data.Dataset image.ResizeMethod.NEAREST_NEIGHBOR image.flip_left_right
keras.layers.IntegerLookup keras.optimizers.Optimizer keras.ops.sqrt keras.ops.gelu keras.callbacks.LambdaCallback
keras.ops.take keras.ops.relu keras.applications.ResNet50V2 keras.layers.RepeatVector keras.layers.DepthwiseConv2D
keras.backend.transpose keras.backend.get_value keras.backend.random_normal data.Dataset.range
keras.losses.Reduction.NONE summary.trace_export keras.saving.register_keras_serializable summary.trace_on
train.FloatList keras.losses.MeanAbsoluteError io.gfile.makedirs keras.applications.InceptionV3
keras.applications.inception_v3.preprocess_input keras.applications.vgg19.preprocess_input keras.metrics.AUC
keras.ops.ones_like keras.ops.minimum keras.ops.maximum keras.layers.Dot
keras.optimizers.schedules.PiecewiseConstantDecay keras.backend.image_data_format keras.regularizers.l1
keras.constraints.get keras.constraints.serialize keras.regularizers.serialize
keras.applications.vgg16.preprocess_input io.gfile.GFile keras.utils.timeseries_dataset_from_array
keras.layers.CenterCrop keras.metrics.RootMeanSquaredError keras.activations.sigmoid keras.layers.RandomContrast
keras.datasets.boston_housing.load_data keras.applications.xception.preprocess_input
keras.applications.resnet50.preprocess_input keras.ops.image.extract_patches""".split()

STUB_TYPES = {**dict.fromkeys(("dtype", "out_type", "out_idx", "index_type", "output_type"), "_DTypeLike | None"), "name": "str | None", "axis": "_Axis | None", "keepdims": "bool | None"}


def find(path):
    value = gradus
    for part in path.split("."):
        value = getattr(value, part)
    return value


def annotated(signature):
    """Python's own text with the types that are clear from names and defaults."""
    parts = []
    for parameter in filter(None, (p.strip() for p in signature.split(","))):
        name, _, default = parameter.partition("=")
        kind = STUB_TYPES.get(name)
        if kind is None:
            kind = ("bool" if default in ("True", "False") else "str" if default.startswith("'") else "_Any")
        if default and not re.fullmatch(r"None|True|False|\(\)|-?[\d.e+-]+|'[^']*'", default):
            default = "..."
        parts.append(f"{name}: {kind}" + (f" = {default}" if default else ""))
    return ", ".join(parts)


def stub_of(name, value, signatures):
    if id(value) in signatures:
        signature, doc = signatures[id(value)]
        result = "_Any" if name in _RESULT_ANY else "Tensor"
        return f'def {name}({annotated(signature)}) -> {result}:\n    """{doc}"""\n'
    if inspect.isclass(value):
        return class_stub(name, value)
    if callable(value):
        try:
            parameters = [p.replace(annotation=p.empty) for p in inspect.signature(value).parameters.values()]
            shown = ", ".join(_parameter(p) for p in parameters)
        except (TypeError, ValueError):
            shown = "*args: _Any, **kwargs: _Any"
        doc = (inspect.getdoc(value) or "").split("\n")[0]
        return f"def {name}({shown}) -> _Any:\n    \"\"\"{doc}\"\"\"\n"
    kind = {gradus.DType: "DType", str: "str", type(None): "None"}.get(type(value), "_Any")
    return f"{name}: {kind}\n"


_RESULT_ANY = {"top_k", "moments", "split", "unstack", "unique", "unique_with_counts", "slogdet", "flatten", "is_nested",
               "pack_sequence_as", "assert_same_structure", "set_seed", "is_tensor", "as_dtype"}


def _parameter(p):
    text = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name + ": _Any"
    return text if p.default is p.empty else text + " = ..."


def class_stub(name, value):
    bases = [b.__name__ for b in value.__bases__ if b in (Exception, ValueError, NotImplementedError)
             or b.__module__ == "gradus.errors"]
    lines = [f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"]
    doc = (inspect.getdoc(value) or "").split("\n")[0] if value.__doc__ else ""
    if doc:
        lines.append(f'    """{doc}"""')
    for own, member in sorted({k: v for c in reversed(value.__mro__[:-1]) if c.__module__.startswith("gradus")
                               for k, v in vars(c).items()}.items()):
        if own.startswith("_") and own not in _OPERATORS:
            continue
        if isinstance(member, (property, types.GetSetDescriptorType)):
            lines.append(f"    @property\n    def {own}(self) -> _Any: ...")
        elif callable(member):
            lines.append(f"    def {own}(self, *args: _Any, **kwargs: _Any) -> _Any: ...")
        else:
            lines.append(f"    {own}: _Any")
    if value.__module__.startswith("gradus") and "__init__" not in "".join(lines):
        lines.append("    def __init__(self, *args: _Any, **kwargs: _Any) -> None: ...")
    return "\n".join(lines) + "\n"


_OPERATORS = {f"__{o}__" for o in """add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul
rmatmul and rand or ror xor rxor neg pos invert abs bool int float index len getitem iter enter exit array""".split()}

HEADER = '''# Made by tools/api_pages.py; do not edit.
from typing import Any as _Any, Sequence as _Sequence, Union as _Union
'''


def public(module):
    if hasattr(module, "__all__") and module is not gradus:
        return {k: getattr(module, k) for k in module.__all__}
    return {k: v for k, v in vars(module).items() if not k.startswith("_") and not isinstance(v, types.ModuleType)}


def stubs():
    signatures = {id(function): (signature, doc) for names, signature, doc, function in TABLE}
    pages = {}
    head = HEADER + "\n_Axis = _Union[int, _Sequence[int], _Any]\n_DTypeLike = _Any\n\n"
    own = public(gradus)
    body = "".join(f"from . import {m} as {m}\n" for m in sorted(MODULES)) + "\n__version__: str\n"
    pages["__init__.pyi"] = head + body + "".join(stub_of(k, own[k], signatures) for k in sorted(own))
    for name in MODULES:
        module = find(name)
        if getattr(module, "__file__", None) and name != "nest":
            continue  # Python sources speak for themselves
        members = public(module)
        pages[name + ".pyi"] = (head + "from . import *\nfrom . import DType, Tensor\n\n"
                                + "".join(stub_of(k, members[k], signatures) for k in sorted(members)))
    return pages


def without(names):
    """Those of the names that are not there."""
    lack = []
    for name in names:
        try:
            find(name)
        except AttributeError:
            lack.append(name)
    return lack


def coverage():
    lack, lack_of_keras = without(WANTED), without(WANTED_OF_KERAS)
    count = sum(len(names.split()) for names, *_ in TABLE if not names.startswith("_"))
    lines = ["# What of TensorFlow's API is there", "",
             "Made by `tools/api_pages.py` from the module itself; do not edit. Signatures and one sentence on each: `help(tf.name)`.",
             "Values, printed forms and errors are compared with TensorFlow's in `tests/python/cases.py`.", "",
             f"Of the {len(WANTED)} symbols that programs use most (without Keras layers and models, tf.data, files, images, "
             f"text, distribution and serving) {len(WANTED) - len(lack)} are there, and {len(WANTED_OF_KERAS) - len(lack_of_keras)} "
             f"of the {len(WANTED_OF_KERAS)} that are about those and among the 400 used most. {count} names of functions in all.", "",
             "## Used often and not there", "", "| name | instead |", "|---|---|"]
    for name in lack + lack_of_keras:
        parts = name.split(".")
        longer = [".".join(parts[:i]) for i in range(len(parts), 0, -1)]
        instead = next((_missing.INSTEAD[n] for n in longer if n in _missing.INSTEAD), "not covered yet")
        lines.append(f"| `tf.{name}` | {instead} |")
    lines += ["", "## There", ""]
    groups = {"tf": public(gradus)}
    groups.update({"tf." + m: public(find(m)) for m in sorted(MODULES)})
    groups.update({"tf." + m: public(find(m)) for m in KERAS_MODULES})
    for group, members in groups.items():
        names = sorted(k for k, v in members.items() if not isinstance(v, types.ModuleType))
        lines += [f"**{group}**: " + ", ".join(f"`{n}`" for n in names), ""]
    return "\n".join(lines).rstrip() + "\n"


TABLE = None


def main():
    global TABLE
    published = {}
    for names, signature, doc, _ in _core._functions():
        first = names.split()[0]
        if not first.startswith("_"):
            published[first] = (names, signature, doc, find(first))
    TABLE = list(published.values())
    files = {ROOT / "python/gradus" / name: text for name, text in stubs().items()}
    files[ROOT / "python/gradus/py.typed"] = ""
    files[ROOT / "docs/api-coverage.md"] = coverage()
    wrong = []
    for path, text in files.items():
        if not path.exists() or path.read_text() != text:
            wrong.append(str(path.relative_to(ROOT)))
            if "--check" not in sys.argv:
                path.write_text(text)
    if wrong and "--check" in sys.argv:
        print("not as tools/api_pages.py makes them: " + ", ".join(wrong))
        return 1
    print(f"api pages: ok ({len(files)} files)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
