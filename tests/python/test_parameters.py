"""No function of the module takes a parameter and ignores it (parameters.py says what counts)."""
import ast
import pathlib

import pytest

import gradus as tf
import parameters


@pytest.mark.parametrize("text, ignored", [
    ("def f(a, b): return a", {"b"}),
    ("def f(a, *b, c=1, **d): return a", {"b", "c", "d"}),
    ("def f(a, b):\n  del b\n  return a", {"b"}),
    ("def f(a, b, c):\n  _ = b\n  _ = (b, c)\n  return a", {"b", "c"}),
    ("def f(a, b):\n  b\n  return a", {"b"}),
    ("def f(a, b):\n  b = b\n  return a", {"b"}),
    ("def f(a, b):\n  if b:\n    pass\n  return a", {"b"}),
    ("def f(a, b):\n  b = 3\n  return a + b", {"b"}),
    ("def f(a, b):\n  def g(b): return b\n  return g(a)", {"b"}),
    ("def f(a, b):\n  return lambda b: a + b", {"b"}),
    ("def f(a, b):\n  def g(): return b\n  return g(), a", set()),
    ("def f(a, b):\n  b = b or 3\n  return a + b", set()),
    ("def f(a, b):\n  if a:\n    b = 3\n  return b", set()),
    ("def f(a, b):\n  b += a\n  return 1", set()),
    ("def f(a, b):\n  _ = check(b)\n  return a", set()),
    ("def f(a, b=None, **c): return g(a, b, **c)", set()),
    ("def f(a, b): raise TypeError('no')", set()),
    ("def f(a, b): return locals()", set()),
    ("def f(self, a):\n  '''Text.'''", {"a"}),
])
def test_what_counts_as_read(text, ignored):
    assert parameters.unread_of(ast.parse(text).body[0]) == ignored


def test_reasons_are_asked_for_and_kept_true(tmp_path):
    (tmp_path / "a.py").write_text("class C:\n  def f(self, x, name=None): return 1\ndef g(y, name=None): return y\n")
    allowed = {"*.name": "names are for graphs", "a.py:C.*.x": "there is one answer only"}
    assert parameters.check(tmp_path, allowed) == []
    assert "a.py:C.f.x is taken" in parameters.check(tmp_path, {"*.name": "names are for graphs"})[0]
    assert "nothing needs" in parameters.check(tmp_path, {**allowed, "a.py:g.y": "it is read now"})[0]
    assert "reason" in parameters.check(tmp_path, {**allowed, "*.name": ""})[0]


PACKAGE = pathlib.Path(tf.__file__).parent  # keras and compat have lists of their own

# Parameters that a function takes and has no use for, by "file.py:function.parameter", and why a user loses nothing.
ONE_DEVICE = "there is one device, the CPU, which has all of it"
ALL_RUN = "operations run when they are called, in the order of the program"
ANY_ORDER = "it allows other orders than the one that is kept"
ONE_REPLICA = "there is one replica: what is over replicas is its own value"
PROTOCOL = "Python's protocol hands it over; the answer does not depend on it"
UNUSED = {
    "*.name": "it is for graphs, and results have no names",
    # speed, never the result
    "*.parallel_iterations": "turns follow each other; the results are the same",
    "*.swap_memory": "memory is managed by itself",
    "*.use_locking": "an update is never seen half done",
    "*.num_parallel_calls": "it says how fast, and the order is kept",
    "*.buffer_size": "files are read in pieces of the system's size",
    "data/*.deterministic": ANY_ORDER,
    "data/_dataset.py:Dataset.map.synchronous": "results are the same in a thread of their own",
    "data/_dataset.py:Dataset.map.use_unbounded_threadpool": "results are the same in few threads",
    "data/_csv.py:make_csv_dataset.sloppy": ANY_ORDER,
    "data/_csv.py:make_csv_dataset.num_parallel_reads": "files are read one after the other",
    "data/experimental.py:map_and_batch.num_parallel_batches": "it says how fast, and the order is kept",
    "_embedding.py:*.allow_fast_lookup": "it allows another algorithm with the same result",
    "_ctc.py:ctc_loss.unique": "it saves a computation that is not made here",
    "_function.py:function.jit_compile": "every function is compiled",
    "_function.py:function.experimental_compile": "every function is compiled",
    "_function.py:function.reduce_retracing": "sizes that change become symbols by themselves",
    "_function.py:function.experimental_relax_shapes": "sizes that change become symbols by themselves",
    "_function.py:function.experimental_*": "words for TensorFlow's own passes over graphs",
    "_graph_gradients.py:*.aggregation_method": "how sums are made, not which",
    "_graph_gradients.py:*.gate_gradients": ALL_RUN,
    "io/__init__.py:TFRecordOptions.__init__.*": "how hard bytes are packed, not which",
    "_loops.py:vectorized_map.fallback_to_while_loop": "every op has a rule for batches, so nothing falls back",
    "_loops.py:vectorized_map.warn": "it warns of falling back, which never happens",
    "_loops.py:*.infer_shape": "shapes are seen, not inferred",
    "summary/__init__.py:SummaryWriter.__init__.flush_millis": "what is written is flushed with each event",
    # checks that are always made
    "*.validate_indices": "indices are always checked",
    "_linalg.py:*.validate_args": "arguments are always checked",
    "_variable.py:Variable.__init__.validate_shape": "shapes are always known",
    "_control.py:case.strict": "results of all branches must have one structure",
    # one device, one replica, no graph
    "_compositions.py:control_dependencies.control_inputs": ALL_RUN,
    "_compositions.py:group.inputs": ALL_RUN,
    "_compositions.py:tuple.control_inputs": ALL_RUN,
    "_compositions.py:get_static_value.partial": "values are known as a whole or not at all",
    "_tensor_array.py:TensorArray.__init__.*": ONE_DEVICE,
    "_variable.py:Variable.__init__.caching_device": ONE_DEVICE,
    "_variable.py:Variable.__init__.import_scope": "it is for names in TensorFlow's graphs",
    "_variable.py:Variable.__init__.experimental_enable_variable_lifting": "variables are kept by whoever made them",
    "config.py:*": ONE_DEVICE,
    "debugging.py:set_log_device_placement.enabled": ONE_DEVICE,
    "test.py:is_gpu_available.*": "there is none, of whatever kind",
    "data/experimental.py:prefetch_to_device.device": ONE_DEVICE,
    "data/experimental.py:copy_to_device.*": ONE_DEVICE,
    "distribute.py:*": ONE_REPLICA,
    "lookup.py:*.experimental_is_anonymous": "tables are shared by no name",
    "lookup.py:MutableHashTable.__init__.checkpoint": "a table is saved where an object holds it",
    "train/_*.py:*.options": "files are written by this process, whole",
    "train/_checkpoint.py:*.session": "there are no sessions",
    "train/_example.py:*.deterministic": "messages are always written in one order",
    "saved_model/__init__.py:*.__init__.*": "they are about devices, graphs and servers; what is saved is whole",
    "saved_model/_load.py:load.options": "they are about devices, graphs and servers",
    "saved_model/_save.py:save.options": "they are about devices, graphs and servers",
    "summary/__init__.py:create_file_writer.experimental_*": ONE_DEVICE,
    "summary/__init__.py:write.metadata": "events carry the tensor and its tag",
    "summary/__init__.py:graph.graph_data": "programs are shown by function.html(), not by TensorBoard",
    "summary/__init__.py:trace_*": "programs are shown by function.html(), not by TensorBoard",
    "_candidates.py:compute_accidental_hits.seed": "nothing is drawn",
    "io/_examples.py:*.example_name*": "it is for words of errors, which name the feature",
    # how Python and the package call them
    "_scope.py:name_scope.__exit__.args": PROTOCOL,
    "*.__array__.copy": "a new array is made each time",
    "*.__deepcopy__.memo": PROTOCOL,
    "*.__dlpack__.kwargs": "the capsule is made already",
    "_compositions.py:TensorSpec.__new__.shape": "__init__ reads it",
    "_sparse.py:SparseTensorSpec.__new__.*": "__init__ reads it",
    "ragged.py:RaggedTensorSpec.__new__.*": "__init__ reads it",
    "data/_structure.py:StringSpec.__init__.dtype": "it is string",
    "data/_dataset.py:Optional.empty.element_spec": "an empty value has no element to describe",
    "_function.py:*.verbose": "signatures are one line",
    "_variable.py:Variable.__i*__.value": "these operators always raise an error",
    "_strings.py:_constant.dtype_hint": "strings are strings",
    "_strings.py:_as_dtype.type_value": "strings are strings",
    "_strings.py:_transpose.conjugate": "strings are not complex",
    "_strings.py:*.layout": ONE_DEVICE,
    "_strings.py:_zeros.dtype": "strings are strings",
    "_ragged_functions.py:_convert.dtype_hint": "a ragged tensor has a dtype",
    "autograph/__init__.py:to_*.recursive": "called functions are rewritten when they are called",
    "autograph/__init__.py:to_*.experimental_optional_features": "all features are on",
    "autograph/__init__.py:set_verbosity.*": "nothing is logged",
    "autograph/experimental.py:set_loop_options.*": "the rewriting of a loop reads the call; it does nothing by itself",
    "autograph/_*": "visitors and hooks of the rewriting, which share signatures",
}


def test_no_python_function_ignores_a_parameter():
    wrong = parameters.check(PACKAGE, UNUSED, skip=("keras", "compat"))
    assert not wrong, "\n".join(wrong)


# --------------------------------------------------------------------------------------------------- the tables in C++

def test_an_argument_that_nothing_reads_is_an_error():
    """conftest.py turns that check on; a row may declare parameters unused, with a reason."""
    assert tf.gather([1, 2], [0], validate_indices=True).numpy().tolist() == [1]
    assert tf.nn.moments([1.0, 3.0], [0], shift=2.0)[0] == 2.0
    assert tf.add(1, 2, name="given") == 3
    with pytest.raises(AssertionError, match="epsilon=1e-07, which nothing read"):
        tf._core._unread_for_tests(1, 1e-7)
    assert tf._core._unread_for_tests(1) == 1  # not given
    assert tf._core._unread_for_tests(1, None) == 1  # given as it is by default
    tf._core._check_arguments(False)
    try:
        assert tf._core._unread_for_tests(1, 1e-7) == 1
    finally:
        tf._core._check_arguments(True)


def test_a_signature_has_a_slot_for_every_parameter():
    with pytest.raises(SystemError, match="more than 20 parameters"):
        tf._core._signature_for_tests(", ".join(f"a{i}" for i in range(21)), "")
    with pytest.raises(SystemError, match="no parameter 'b'"):
        tf._core._signature_for_tests("a, c", "b: it is not there")
    with pytest.raises(SystemError, match="no reason"):
        tf._core._signature_for_tests("a, b", "b")
    assert tf._core._signature_for_tests(", ".join(f"a{i}" for i in range(20)), "a0: a reason; a3: another") == 20
