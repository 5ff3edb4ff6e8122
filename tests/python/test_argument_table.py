"""The table of argument_cases.py is complete: every parameter of every public function has a case, or a reason."""
import fnmatch
import inspect
import pathlib
import types

import argument_cases
import argument_plain
import gradus as tf
from test_arguments import SIGNATURES, parameters_of

NAMESPACES = """audio autodiff autograph bitwise config data debugging dtypes experimental image io linalg lookup math nest nn
quantization ragged random saved_model sets signal sparse strings summary sysconfig test train""".split()


def public():
    """{name: function} of the functions, and of the methods of classes, of TensorFlow's namespaces. A function with several
    names has the first one."""
    found, seen = {}, set()

    def walk(path, module):
        names = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
        for name in sorted(names):
            value = getattr(module, name)
            whole = f"{path}.{name}".lstrip(".")
            if isinstance(value, types.ModuleType) or id(value) in seen:
                continue
            home = getattr(value, "__module__", None) or ""
            if inspect.isclass(value) and home.startswith("gradus") and not issubclass(value, BaseException):
                seen.add(id(value))
                found[whole] = value
                for key, method in vars(value).items():
                    of_v1 = str(getattr(method, "__module__", "")).startswith("gradus.compat")  # there once it is imported
                    if not key.startswith("_") and callable(getattr(value, key)) and not inspect.isclass(method) and not of_v1:
                        found[f"{whole}.{key}"] = getattr(value, key)
            elif callable(value) and home.startswith("gradus"):
                seen.add(id(value))
                found[whole] = value
    for name in NAMESPACES:
        if hasattr(tf, name):
            walk(name, getattr(tf, name))
    walk("", tf)
    return found


def parameters(function):
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p for p in found if p.name not in ("self", "cls", "/")]


def given():
    """The parameters for which there are calls, by the function that is called."""
    made = {}
    for row in argument_cases.rows():
        try:
            function = row.function
            target = tf
            for part in function.split("."):
                target = getattr(target, part)
        except AttributeError:
            target = None
        names = set().union(*(g for _, g in row.lines(parameters_of(row.function))))
        if any(isinstance(n, int) for n in names) and target is not None:
            order = [p.name for p in parameters(target)]
            names |= {order[n] for n in names if isinstance(n, int) and n < len(order)}
        made.setdefault(row.function, set()).update(names)
        if target is not None:
            made.setdefault(id(target), set()).update(names)
    return made


OURS = "it is Gradus's own, beyond TensorFlow"
ELSEWHERE = "calls with this are in tests/python/"
# Parameters without a call in the table, by "function.parameter", and why.
WITHOUT = {
    "*.layout": "there is one device, which holds a tensor whole; test_parameters.py has it",
    "strided_slice.var": "the row of the function declares it unused",
    "*.kwargs": "the names in it are cases of their own",
    # Gradus's own
    **{f"{name}.*": OURS for name in """grad hessian hvp jacobian jvp linearize recompute_loops value_and_grad vjp io.load_safetensors
       io.save_safetensors GradientTape.explain train.CheckpointReader train.CheckpointState""".split()},
    "GradientTape.gradient.into": OURS,
    "function.memory_limit": OURS,
    # asked elsewhere
    **{f"{name}.*": ELSEWHERE + file for file, names in {
        "test_autograph.py": "autograph.do_not_convert autograph.to_code autograph.to_graph autograph.set_verbosity",
        "test_function.py": "config.run_functions_eagerly TensorSpec type_spec_from_value",
        "test_data.py": "data.Options",
        "image_file_cases.py": "image.decode_and_crop_jpeg image.decode_gif image.decode_jpeg image.adjust_jpeg_quality",
        "test_checkpoint.py": "train.Checkpoint train.CheckpointManager train.get_checkpoint_state train.latest_checkpoint "
                              "train.list_variables train.load_checkpoint train.load_variable Module",
        "test_saved_model.py": "saved_model.contains_saved_model saved_model.load saved_model.save",
        "test_summary.py": "summary.create_file_writer summary.histogram summary.image summary.record_if summary.scalar "
                           "summary.text summary.write",
        "test_image_files.py": "io.read_file io.write_file",
        "test_programs.py": "train.ExponentialMovingAverage train.FeatureList train.FeatureLists train.SequenceExample "
                            "random.gamma random.poisson random.log_uniform_candidate_sampler random.uniform_candidate_sampler "
                            "name_scope",
        "test_random_streams.py": "random.set_seed",
        "test_graph_gradients.py": "gradients hessians",
        "v1_programs.py": "Operation control_dependencies group train.checkpoint_exists",
        "test_compat_v1.py": "device",
        "argument_rows_data.py": "io.FixedLenFeature io.FixedLenSequenceFeature io.TFRecordWriter io.VarLenFeature train.BytesList "
                                 "train.Example train.Feature train.Features train.FloatList train.Int64List "
                                 "data.Dataset.list_files autodiff.ForwardAccumulator",
        "argument_rows_kinds.py": "lookup.KeyValueTensorInitializer lookup.StaticHashTable lookup.StaticVocabularyTable "
                                  "RaggedTensor",
        "argument_rows_arrays.py": "constant_initializer random_normal_initializer random_uniform_initializer",
        "argument_rows_objects.py": "GradientTape.watch TensorArray.grad random.Generator saved_model.LoadOptions "
                                    "saved_model.SaveOptions image.random_jpeg_quality grad_pass_through test.TestCase "
                                    "train.checkpoints_iterator test.is_gpu_available",
        "test_tape.py": "custom_gradient recompute_grad",
        "kind_cases.py": "RaggedTensorSpec SparseTensorSpec sparse.SparseTensor",
    }.items() for name in names.split()},
    "data.DatasetSpec.*": "datasets make it, programs do not",
    "data.Iterator.*": "datasets make it, programs do not",
    "data.NumpyIterator.*": "datasets make it, programs do not",
    "summary.SummaryWriter.*": "create_file_writer makes it",
    "summary.flush.*": "what is written is in the file at once",
    "summary.graph.*": "programs are shown by function.html(), not by TensorBoard",
    "summary.trace_*": "programs are shown by function.html(), not by TensorBoard",
    "test.main.*": "it runs the tests of a program",
    "TensorArray.close.*": "it does nothing, in TensorFlow as well",
    "random.Algorithm.*": "an enumeration of Python's",
    "random.set_global_generator.*": "it is a variable of the module",
    # nothing to ask
    "config.*": "there is one device, the CPU",
    "debugging.set_log_device_placement.*": "there is one device, the CPU",
    "debugging.enable_check_numerics.*": "it always raises an error",
    "dtypes.DType.*": "it is asked of all dtypes in test_tensor.py",
    "signal.inverse_stft_window_fn.*": "inverse_stft has calls with it",
    "UnconnectedGradients.*": "an enumeration of Python's",
    "VariableAggregation.*": "an enumeration of Python's",
    "VariableSynchronization.*": "an enumeration of Python's",
    "*.name": "it names ops of graphs; these functions make none",
    "Variable.variable_def": "it always raises an error",
    "Variable.import_scope": "it is for names in TensorFlow's graphs",
    "Variable.count_up_to.*": "it always raises an error",
    "TensorArray.handle": "it always raises an error",
    "TensorArray.flow": "it always raises an error",
    "function.experimental_*": "words for TensorFlow's own passes over graphs",
    "print.*": "every call has it",
    "image.encode_jpeg.image": "every call has it",
    "io.parse_single_sequence_example.serialized": "every call has it",
    "lookup.TextFileInitializer.filename": "every call has it",
    "timestamp.*": "time passes",
    "type_spec_from_value.*": "it is asked in a helper",
}


def test_every_parameter_has_a_case():
    made, lacking, used = given(), [], set()
    for name, function in public().items():
        have = made.get(name, set()) | made.get(id(function), set())
        for parameter in parameters(function):
            if parameter.name in have or parameter.name == "args":
                continue
            whole = f"{name}.{parameter.name}"
            rules = [rule for rule in WITHOUT if fnmatch.fnmatchcase(whole, rule)]
            used.update(rules)
            if not rules:
                lacking.append(whole)
    for rule, reason in WITHOUT.items():  # what is said to be elsewhere is there
        if reason.startswith(ELSEWHERE):
            file = reason.removeprefix(ELSEWHERE).split(",")[0]
            text = (pathlib.Path(__file__).parent / file).read_text()
            assert rule.removesuffix(".*").rpartition(".")[2] in text, f"{rule} is not in {file}"
    assert not lacking, f"no call of the table gives these: {lacking}"
    assert set(WITHOUT) == used, f"nothing needs these entries any more: {sorted(set(WITHOUT) - used)}"


# Where a signature is not TensorFlow's: more parameters at its end, or a reason.
SIGNATURE = {
    "Variable": "TensorFlow takes it as *args, **kwargs",
    "print": "TensorFlow takes it as **kwargs",
    "RaggedTensorSpec": "specs have a name, and no spec of flat values",
    "SparseTensorSpec": "specs have a name",
    "lookup.StaticHashTable": "TensorFlow takes it as *args, **kwargs",
}


def test_signatures_are_tensorflows():
    """Names and places of all parameters, and their defaults where these are plain."""
    functions, wrong = public(), []
    for name, theirs in sorted(SIGNATURES.items()):
        if theirs is None or name not in functions and not _found(name):
            continue
        ours = [({"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(p.kind.name, "") + p.name,
                 None if p.default is p.empty else argument_plain.default(p.default)) for p in parameters(_found(name))]
        theirs = [tuple(t) for t in theirs]
        if [n for n, _ in ours][:len(theirs)] != [n for n, _ in theirs]:
            if name not in SIGNATURE:
                wrong.append(f"{name}{tuple(n for n, _ in ours)}, TensorFlow has {tuple(n for n, _ in theirs)}")
            continue
        for (n, mine), (_, their) in zip(ours, theirs):
            if (mine is None) != (their is None) or (_plain(mine) and _plain(their) and mine != their):
                wrong.append(f"{name}: {n}={mine}, TensorFlow has {their}")
    assert not wrong, "\n".join(wrong)


def _plain(text):
    return text in ("True", "False", "None") or (text or "x")[0] in "'-0123456789"


def _found(name):
    value = tf
    for part in name.split("."):
        value = getattr(value, part, None)
    return value
