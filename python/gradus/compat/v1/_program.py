"""What belongs to programs rather than to graphs: flags, main functions, messages, summaries, configuration."""
import argparse
import logging as _logging
import sys
import types

from ... import summary as _summaries
from ._functions import to_tensor
from ._graph import get_default_graph
from ._variables import GraphKeys

# -------------------------------------------------------------------- tf.app, tf.flags


class _Flags:
    """The values of flags; the command line is read when the first one is asked for."""

    def __init__(self):
        object.__setattr__(self, "_parser", argparse.ArgumentParser(allow_abbrev=False, add_help=False))
        object.__setattr__(self, "_values", None)
        object.__setattr__(self, "_set", {})
        object.__setattr__(self, "_booleans", set())

    def _parse(self, arguments=None):
        arguments = sys.argv[1:] if arguments is None else arguments
        found, rest = self._parser.parse_known_args([self._with_value(a) for a in arguments])
        object.__setattr__(self, "_values", found)
        return rest

    def _with_value(self, argument):
        """--flag and --noflag are --flag=true and --flag=false."""
        name = argument.lstrip("-")
        if argument.startswith("-") and name in self._booleans:
            return f"--{name}=true"
        if argument.startswith("-") and name.startswith("no") and name[2:] in self._booleans:
            return f"--{name[2:]}=false"
        return argument

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._set:
            return self._set[name]
        if self._values is None or not hasattr(self._values, name):
            self._parse()
        if not hasattr(self._values, name):
            raise AttributeError(f"Unknown command line flag '{name}'")
        return getattr(self._values, name)

    def __setattr__(self, name, value):
        self._set[name] = value

    def __call__(self, argv, known_only=False):
        return [argv[0]] + self._parse(argv[1:])

    def flag_values_dict(self):
        if self._values is None:
            self._parse()
        return {**vars(self._values), **self._set}


FLAGS = _Flags()


def _boolean(text):
    if str(text).lower() in ("true", "t", "1", "yes"):
        return True
    if str(text).lower() in ("false", "f", "0", "no"):
        return False
    raise argparse.ArgumentTypeError(f"{text!r} is not a boolean")


def _define(kind, **options):
    def define(name, default, help="", **others):  # noqa: A002
        _refuse(others)
        FLAGS._parser.add_argument("--" + name, dest=name, default=default, type=kind, help=help, **options)
        object.__setattr__(FLAGS, "_values", None)
    return define


DEFINE_string, DEFINE_integer, DEFINE_float = _define(str), _define(int), _define(float)


def _refuse(others):
    given = sorted(name for name, value in others.items() if value is not None and name not in ("flag_values", "module_name"))
    if given:
        raise NotImplementedError(f"flags with {given} are not covered")


def DEFINE_boolean(name, default, help="", **others):  # noqa: A002, N802
    """--name, --noname or --name=true."""
    _refuse(others)
    FLAGS._parser.add_argument("--" + name, dest=name, default=default, type=_boolean, help=help)
    FLAGS._booleans.add(name)
    object.__setattr__(FLAGS, "_values", None)


DEFINE_bool = DEFINE_boolean


def DEFINE_enum(name, default, enum_values, help="", **others):  # noqa: A002, N802
    """One of several words."""
    _refuse(others)
    FLAGS._parser.add_argument("--" + name, dest=name, default=default, choices=enum_values, help=help)
    object.__setattr__(FLAGS, "_values", None)


def DEFINE_list(name, default, help="", **others):  # noqa: A002, N802
    """Words with commas between them."""
    _refuse(others)
    words = default.split(",") if isinstance(default, str) else default
    FLAGS._parser.add_argument("--" + name, dest=name, default=words, type=lambda text: text.split(","), help=help)
    object.__setattr__(FLAGS, "_values", None)


def run(main=None, argv=None):
    """Calls main with the arguments that are not flags, and exits with what it returns."""
    argv = sys.argv if argv is None else argv
    rest = FLAGS._parse(argv[1:])
    main = main or sys.modules["__main__"].main
    sys.exit(main([argv[0]] + rest))


flags = types.SimpleNamespace(FLAGS=FLAGS, DEFINE_string=DEFINE_string, DEFINE_integer=DEFINE_integer,
                              DEFINE_float=DEFINE_float, DEFINE_boolean=DEFINE_boolean, DEFINE_bool=DEFINE_bool,
                              DEFINE_enum=DEFINE_enum, DEFINE_list=DEFINE_list,
                              mark_flag_as_required=lambda *a, **k: None)
app = types.SimpleNamespace(run=run, flags=flags)

# -------------------------------------------------------------------- tf.logging

_logger = _logging.getLogger("gradus")
_logging.addLevelName(_logging.WARNING, "WARN")


def _log(level):
    return lambda message, *args, **kwargs: _logger.log(level, message, *args, **kwargs)


logging = types.SimpleNamespace(
    DEBUG=10, INFO=20, WARN=30, WARNING=30, ERROR=40, FATAL=50, debug=_log(10), info=_log(20), warn=_log(30),
    warning=_log(30), error=_log(40), fatal=_log(50), log=_logger.log, set_verbosity=_logger.setLevel,
    get_verbosity=_logger.getEffectiveLevel, get_logger=lambda: _logger, flush=lambda: None,
    log_first_n=lambda level, message, n, *args: _logger.log(level, message, *args))

# -------------------------------------------------------------------- tf.summary


class _Summary:
    """What merge_all and scalar give: to be fetched, and then given to a FileWriter."""

    def __init__(self, parts):
        self.parts = parts  # (tag, kind, tensor)

    def __gradus_fetch__(self):
        return _SummaryFetch((tag, kind, tensor) for tag, kind, tensor in self.parts)


class _SummaryFetch(dict):
    def __init__(self, parts):
        super().__init__()
        for item in parts:
            if isinstance(item[0], tuple):  # what is built again from fetched values
                (tag, kind), value = item
            else:
                tag, kind, value = item
            self[tag, kind] = value


def _summary(kind):
    def make(name, tensor, *args, collections=None, family=None, **kwargs):
        graph = get_default_graph()
        found = _Summary([(graph._scope + name, kind, to_tensor(tensor))])
        graph.add_to_collections(collections or [GraphKeys.SUMMARIES], found)
        return found
    make.__name__ = kind
    make.__doc__ = f"A {kind} to be fetched and written."
    return make


def merge(inputs, collections=None, name=None):
    """Several summaries as one."""
    made = _Summary([p for s in inputs for p in s.parts])
    for key in collections or ():
        get_default_graph().add_to_collection(key, made)
    return made


def merge_all(key=GraphKeys.SUMMARIES, scope=None, name=None):
    """All summaries of the graph as one, or None."""
    found = get_default_graph().get_collection(key)
    if scope is not None:
        found = [_Summary(kept) for kept in ([p for p in s.parts if str(p[0]).startswith(scope)] for s in found) if kept]
    return merge(found) if found else None


class FileWriter:
    """Writes what was fetched to event files that TensorBoard reads (gradus.summary)."""

    def __init__(self, logdir, graph=None, max_queue=10, flush_secs=120, graph_def=None, filename_suffix=None,
                 session=None):
        self._logdir = logdir
        self._writer = _summaries.create_file_writer(logdir, max_queue, filename_suffix=filename_suffix)

    def get_logdir(self):
        return self._logdir

    def add_summary(self, summary, global_step=None):
        """Writes the value of a fetched summary."""
        step = 0 if global_step is None else int(global_step)
        with self._writer.as_default():
            for (tag, kind), value in dict(summary).items():
                getattr(_summaries, kind)(tag, value, step)

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Accepted: Session.explain says what a run is."""

    add_session_log = add_meta_graph = add_run_metadata = add_event = add_graph

    def flush(self):
        self._writer.flush()

    def close(self):
        self._writer.close()

    reopen = flush

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def _no_text(*args, **kwargs):
    raise NotImplementedError("summaries of text and sound are not covered here: use gradus.summary outside of the graph")


summary = types.SimpleNamespace(scalar=_summary("scalar"), histogram=_summary("histogram"), image=_summary("image"),
                                audio=_no_text, text=_no_text, merge=merge, merge_all=merge_all,
                                FileWriter=FileWriter)

# -------------------------------------------------------------------- configuration


class _Options(types.SimpleNamespace):
    """Settings of devices and threads: kept, not used."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = _Options()
        setattr(self, name, value)
        return value


class ConfigProto(_Options):
    """Settings of a session. Threads are set as in gradus.config."""


class GPUOptions(_Options):
    """Accepted: there is one device, the CPU."""


class RunOptions(_Options):
    """Settings of a run: kept, not used."""

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = range(4)


class RunMetadata(_Options):
    """What a run tells of itself: nothing. Use gradus's profile and Session.explain."""


class OptimizerOptions(_Options):
    """Settings of TensorFlow's compiler: kept, not used."""
    L0, L1, OFF, ON_1, ON_2 = -1, 0, -1, 1, 2


class GraphOptions(_Options):
    """Kept, not used."""


def set_random_seed(seed):
    """The seed of the default graph: where the streams of random ops start."""
    get_default_graph().seed = seed


def get_seed(op_seed):
    """(graph seed, op seed) of an op."""
    seed = get_default_graph().seed
    if seed is None:
        return (None, None) if op_seed is None else (87654321, op_seed)
    return seed, get_default_graph().version if op_seed is None else op_seed


