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

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULES = ["math", "nn", "linalg", "random", "bitwise", "nest", "dtypes", "autodiff", "forward_diff", "errors",
           "debugging", "config", "test"]

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

STUB_TYPES = {"dtype": "_DTypeLike | None", "name": "str | None", "axis": "_Axis | None", "keepdims": "bool | None"}


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


def coverage():
    have, lack = [], []
    for name in WANTED:
        try:
            find(name)
            have.append(name)
        except AttributeError:
            lack.append(name)
    count = sum(len(names.split()) for names, *_ in TABLE if not names.startswith("_"))
    lines = ["# What of TensorFlow's API is there", "",
             "Made by `tools/api_pages.py` from the module itself; do not edit. Signatures and one sentence on each: `help(tf.name)`.",
             "Values, printed forms and errors are compared with TensorFlow's in `tests/python/cases.py`.", "",
             f"Of the {len(WANTED)} symbols that programs use most (without Keras layers and models, tf.data, files, images, "
             f"text, distribution and serving) {len(have)} are there. {count} names of functions in all.", "",
             "## Used often and not there", "", "| name | instead |", "|---|---|"]
    for name in lack:
        head = name.split(".")[0]
        instead = _missing.INSTEAD.get(name) or _missing.INSTEAD.get(head) or "not covered yet"
        lines.append(f"| `tf.{name}` | {instead} |")
    lines += ["", "## There", ""]
    groups = {"tf": public(gradus)}
    groups.update({"tf." + m: public(find(m)) for m in sorted(MODULES)})
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
