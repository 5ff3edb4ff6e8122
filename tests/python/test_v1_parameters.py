"""Parameters of gradus.compat.v1 with values that are not their defaults, against TensorFlow's answers (v1_parameters.json):
values, and gradients with respect to all inputs. A parameter of a function of ours that no case and no program names, and
that has no reason below, fails a test; so does one that a Python function takes and never reads.
"""
import ast
import fnmatch
import json
import pathlib

import parameters
import pytest
from test_keras_parameters import _same
from v1_parameter_cases import DIFFERENT, VALUES, answer

import gradus.compat.v1 as tf

FOLDER = pathlib.Path(__file__).parent
REFERENCE = json.loads((FOLDER / "v1_parameters.json").read_text())
CASES = REFERENCE["cases"]


@pytest.fixture(autouse=True, scope="module")
def fresh_graph():
    yield
    tf.reset_default_graph()


def _difference(text):
    wanted, found = CASES[text], answer(text, tf)
    if "error" in found:
        return "refused: " + found["error"]
    for part in ("values", "gradients"):
        if not _same(found[part], wanted[part]):
            return f"{part} {found[part]}\n  of TensorFlow {wanted[part]}"
    return None


@pytest.mark.parametrize("text", [t for t in VALUES if t not in DIFFERENT])
def test_as_tensorflow(text):
    assert _difference(text) is None


@pytest.mark.parametrize("text", DIFFERENT)
def test_reasons_are_still_needed(text):
    found = _difference(text)
    assert found is not None and found.startswith("refused") == DIFFERENT[text].startswith("refused"), found


def test_every_case_has_an_answer():
    assert sorted(CASES) == sorted(VALUES)


def _ours():
    """{names: [parameter of TensorFlow, ...]} of the functions that compat.v1 defines itself."""
    found = {}
    for full, names in REFERENCE["signatures"].items():
        value = tf
        for part in full.split("."):
            value = getattr(value, part, None)
        if callable(value) and (getattr(value, "__module__", None) or "").startswith("gradus.compat"):
            found.setdefault(id(value), (value, [], names))[1].append(full)
    return {tuple(full): names for _, full, names in found.values()}


def _calls(tree, found):
    by_name = {}
    for full, names in REFERENCE["signatures"].items():
        by_name.setdefault(full.rpartition(".")[2], []).append(names)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        given = found.setdefault(name, set())
        given.update(k.arg for k in node.keywords)
        for names in by_name.get(name, ()):
            given.update(names[:len(node.args)])
    return found


_ONE = "there is one device"
_PROGRAMS = "a session, hook, scope or list: tested by whole programs, not parameter by parameter"
REASONS = {
    "*.name": "names of nodes are compared in test_compat_v1.py, once for all functions", "*.colocate*": _ONE,
    "*.caching_device": _ONE,
    "*.synchronization": _ONE, "*.aggregation": _ONE, "*.partitioner": "refused: NotImplementedError",
    "Dimension.*": _PROGRAMS,
    "InteractiveSession.*": "as of Session", "Session.target": _ONE, "NoGradient.op_type": _PROGRAMS,
    "Print.*": "what is printed, not computed",
    "TensorArray.*": "as of tf.TensorArray, of which test_arguments.py has the cases",
    "VariableScope.*": "variable_scope makes it",
    "add_to_collections.*": _PROGRAMS,
    "assert_*": "all have the parameters of assert_equal and assert_positive, which have cases",
    "container.*": _ONE, "colocate_with.*": _ONE,
    "data.*": "test_data.py runs datasets; names of iterators are not shared",
    "enable_eager_execution.*": "refused by the signature", "foldr.*": "as of foldl", "scan.*": "as of foldl",
    "map_fn.*": "as of foldl",
    "get_collection_ref.key": _PROGRAMS, "get_local_variable.*": "as of get_variable",
    "get_seed.op_seed": "test_random_streams.py",
    "hessians.aggregation_method": "how sums are made",
    "initializers.orthogonal.*": "as of keras.initializers.Orthogonal",
    "is_variable_initialized.variable": _PROGRAMS, "*_variables.scope": _PROGRAMS, "name_scope.*": _PROGRAMS,
    "op_scope.*": _PROGRAMS,
    "nn.*_pool.data_format": "test_arguments.py has the cases of tf.nn",
    "nn.avg_pool.input": "TensorFlow refuses it without value",
    "nn.conv2d_transpose.dilations": "refused unless 1",
    "nn.*_rnn.*": "TensorFlow's cells are Keras 2's, which it no longer has",
    "nn.softmax_cross_entropy_with_logits.axis": "TensorFlow refuses it", "no_regularizer._": "nothing is added",
    "report_uninitialized_variables.var_list": _PROGRAMS,
    "scatter_nd_*": "TensorFlow's own kernel fails on the CPU here", "summary.*": "test_summary.py reads the files",
    "to_bfloat16.x": _PROGRAMS, "*.use_own_namescope_for_non_slot_vars": "refused by the signature",
    "train.*Session*": _PROGRAMS, "train.*Hook.*": _PROGRAMS, "train.Coordinator.*": "test_coordinator_raises_again",
    "train.Optimizer.*": "the base class",
    "train.Saver.*": "test_saver in test_compat_v1.py; formats of files are ours",
    "train.Scaffold.*": _PROGRAMS, "train.*global_step.graph": _PROGRAMS,
    "train.import_meta_graph.*": "refused: NotImplementedError",
    "train.start_queue_runners.*": "there are no queues", "train.update_checkpoint_state.*": _PROGRAMS,
    "tuple.control_inputs": _PROGRAMS, "variable_op_scope.*": "as of variable_scope",
}


def test_every_parameter_has_a_case_or_a_reason():
    covered = {}
    for text in VALUES:
        _calls(ast.parse(text), covered)
    for name in ("v1_programs.py", "v1_order_programs.py", "test_compat_v1.py", "test_graph_gradients.py",
    "v1_parameter_cases.py"):
        _calls(ast.parse((FOLDER / name).read_text()), covered)
    missing, used = [], set()
    for names, wanted in _ours().items():
        given = set().union(*(covered.get(name.rpartition(".")[2], set()) for name in names))
        for parameter in wanted:
            if parameter in given:
                continue
            rules = [r for r in REASONS if any(fnmatch.fnmatchcase(f"{n}.{parameter}", r) for n in names)]
            used.update(rules)
            if not rules:
                missing.append(f"{names[0]}.{parameter}")
    assert not missing
    assert not [r for r in REASONS if r not in used], "nothing needs these any more"


UNREAD = {
    "*.name": "in_graph gives nodes their names", "*.validate_indices": "indices are always checked",
    "*.swap_memory": "how fast, not what",
    "*.parallel_iterations": "how fast, not what", "*.aggregation_method": "how sums are made",
    "*.colocate_gradients_with_ops": _ONE,
    "*.gate_gradients": "all gradients are computed before variables are written", "*.use_cudnn_on_gpu": _ONE,
    "*.use_locking": _ONE,
    "*.partition_info": "variables are whole", "*.__exit__.*": "what the context does does not depend on it",
    "*.ignore_existing": _ONE,
    "__init__.py:_accepted.*": "for switches that change nothing here",
    "__init__.py:name_scope.__init__.values": "only checked in TensorFlow",
    "__init__.py:op_scope.values": "only checked in TensorFlow", "_contrib.py:l?_regularizer.scope": "a name for nodes",
    "_control.py:_map_fn.back_prop": "taken by what is around it",
    "_control.py:_map_fn.infer_shape": "shapes are known",
    "_control.py:while_loop.shape_invariants": "shapes that change are refused by the loop",
    "_data.py:*": "there is one kind of iterator",
    "_graph.py:Graph._place_name.node": "one signature for all",
    "_graph.py:Graph.as_graph_def.*": "shapes are not in it",
    "_graph.py:Graph.*": "there is one device, and all tensors can be fed and fetched",
    "_graph.py:UnknownDimension.*": "all that is known",
    "_monitored.py:*.coord": "there are no threads", "_monitored.py:*.run_*": "hooks are told more than they need",
    "_monitored.py:SessionRunHook.*": "the base does nothing",
    "_monitored.py:*Session*": "summaries and counts of steps are not written; " + _ONE,
    "_monitored.py:CheckpointSaverHook.__init__.save_graph_def": "graphs are not saved",
    "_nn.py:moments.shift": "a hint for rounding in TensorFlow",
    "_program.py:FileWriter.*": "graphs are not drawn, and events are written at once",
    "_program.py:_Flags.__call__.known_only": "others are left",
    "_python.py:py_func.stateful": "it runs in each run that needs it",
    "_saver.py:Saver.*": "formats of files are ours",
    "_session.py:BaseSession.*": _ONE, "_session.py:Session.reset.*": _ONE,
    "_train.py:Optimizer._create_slots.variables": "the base has none",
    "_train.py:start_queue_runners.*": "there are no queues",
    "_variables.py:Variable.__deepcopy__.memo": "it is the same variable",
    "_variables.py:Variable.__init__.caching_device": _ONE,
    "_variables.py:Variable.__init__.import_scope": "names are not imported",
    "_variables.py:Variable.__init__.validate_shape": "other shapes are refused when they are assigned",
    "_variables.py:Variable.assign*.read_value": "what comes back can be run either way",
    "_variables.py:_get_full.*": _ONE,
    "_variables.py:variable_scope.__init__.*": "only checked in TensorFlow; " + _ONE,
}


def test_coordinator_raises_again():
    coordinator = tf.train.Coordinator()
    coordinator.request_stop(tf.errors.OutOfRangeError(None, None, "the end"))
    coordinator.join()
    other = tf.train.Coordinator(clean_stop_exception_types=(KeyError,))
    other.request_stop(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        other.join()


def test_states_are_dropped_but_not_the_memory_of_an_lstm():
    x = tf.ones([64, 3])
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.BasicLSTMCell(4), state_keep_prob=0.5, seed=3)
    output, state = cell(x, cell.zero_state(64, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        plain, c, h = session.run([output, state.c, state.h])
    assert 0.3 < (h == 0).mean() < 0.7 and (c != 0).all() and (plain != 0).all()
    kept = h != 0
    assert abs(h[kept] / plain[kept] - 2).max() < 1e-6


@pytest.mark.parametrize("make", [
    lambda: tf.layers.batch_normalization(tf.ones([2, 3]), renorm=True),
        lambda: tf.layers.batch_normalization(tf.ones([2, 3]), adjustment=abs),
    lambda: tf.nn.rnn_cell.LSTMCell(2, num_unit_shards=2),
        lambda: tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(2)], state_is_tuple=False),
    lambda: tf.get_variable("v", [2], partitioner=lambda **k: [1]), lambda: tf.train.Saver([], allow_empty=True,
        pad_step_number=True),
    lambda: tf.train.Scaffold(summary_op=tf.no_op())])
def test_what_is_not_covered_is_refused(make):
    with pytest.raises(NotImplementedError):
        make()


def test_flatten_takes_channels_first():
    x = tf.reshape(tf.range(12.0), [1, 3, 2, 2])
    with tf.Session() as session:
        last = session.run(tf.layers.flatten(tf.transpose(x, [0, 2, 3, 1])))
        assert (session.run(tf.layers.flatten(x, data_format="channels_first")) == last).all()


def test_every_parameter_is_read():
    assert not parameters.check(pathlib.Path(tf.__file__).resolve().parent, UNREAD)
