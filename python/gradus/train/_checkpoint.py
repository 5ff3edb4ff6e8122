"""tf.train.Checkpoint: the state of objects in one file, `prefix.index`.

The file is a safetensors file (which see) with one entry per variable and the graph of objects, as JSON, in its
metadata. It appears whole or not at all, and is checked before any variable is touched.
"""
import json
import os

from .. import errors
from .._files import text_of
from .._safetensors import load_with_metadata, save_safetensors
from .._variable import Variable
from . import _deferred, _graph
from ._state_file import update_checkpoint_state

_FORMAT = "gradus.checkpoint.1"


def file_of(prefix):
    """The file of a checkpoint."""
    return text_of(prefix) + ".index"


def write_file(prefix, tensors, nodes):
    """Writes tensors by key and the graph whose nodes name them."""
    save_safetensors(file_of(prefix), tensors, {"format": _FORMAT, "objects": json.dumps(nodes)})


def read_file(prefix):
    """(tensors by key, nodes of the graph) of a checkpoint."""
    path = file_of(prefix)
    if not os.path.exists(path):
        raise errors.NotFoundError(None, None, "Unsuccessful TensorSliceReader constructor: Failed to find any "
                                               f"matching files for {text_of(prefix)}")
    tensors, metadata = load_with_metadata(path, must_have_checksum=True)
    try:
        if metadata.get("format") != _FORMAT:
            raise ValueError("another format")
        nodes = json.loads(metadata["objects"])
        count = len(nodes)
        for node in nodes:
            outside = any(not 0 <= int(n) < count for n in node["children"].values())
            if outside or "value" in node and node["value"] not in tensors:
                raise ValueError("a node without its value")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise errors.DataLossError(None, None, f"'{path}' is no checkpoint of Gradus, or is damaged: {error}. "
                                               "Checkpoints of TensorFlow are not read: save the weights as "
                                               ".weights.h5 there") from None
    return tensors, nodes


class Checkpoint:
    """Objects whose variables are saved and restored together.

        checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step)
        path = checkpoint.save("folder/ckpt")
        checkpoint.restore(path).assert_consumed()

    Variables that are created later get their values then.
    """

    def __init__(self, root=None, **kwargs):
        for name, value in kwargs.items():
            if not _graph.is_trackable(value):
                raise ValueError(f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from "
                                 f"`Trackable`), got {value}. Variables, modules, layers, models, optimizers and lists "
                                 "or dicts of them can be saved.")
            setattr(self, name, value)
        if root is not None and not _graph.is_trackable(root):
            raise ValueError(f"Expected a trackable object for `root`, got {root}")
        self._root = root
        self._save_counter = None

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        if not name.startswith("_"):
            _deferred.look()

    def _trackable_children(self):
        found = {} if self._root is None else dict(_graph.children(self._root))
        found.update({k: v for k, v in vars(self).items() if not k.startswith("_") and _graph.is_trackable(v)})
        if self._save_counter is not None:
            found["save_counter"] = self._save_counter
        return found

    @property
    def save_counter(self):
        """How often save() was called, a variable."""
        if self._save_counter is None:
            import gradus
            with gradus.init_scope():
                self._save_counter = Variable(gradus.constant(0, gradus.int64), trainable=False, name="save_counter")
            _deferred.look()
        return self._save_counter

    def write(self, file_prefix, options=None):
        """Writes the checkpoint under this name; gives the name."""
        import gradus
        prefix = text_of(file_prefix)
        with gradus.init_scope():
            nodes, variables = _graph.described(self)
            folder = os.path.dirname(prefix)
            if folder:
                os.makedirs(folder, exist_ok=True)
            write_file(prefix, {key: v.read_value() for key, v in variables.items()}, nodes)
        return prefix

    def save(self, file_prefix, options=None):
        """Writes the checkpoint under the name with a number behind it, and notes it as the latest of its folder."""
        number = int(self.save_counter.assign_add(1))
        path = self.write(f"{text_of(file_prefix)}-{number}")
        update_checkpoint_state(os.path.dirname(path) or ".", path, [path])
        return path

    def read(self, save_path, options=None):
        """Gives the objects what a checkpoint holds, at once or when they get their variables."""
        import gradus
        tensors, nodes = read_file(save_path)
        status = LoadStatus(self, tensors, nodes, text_of(save_path))
        with gradus.init_scope():
            status.retry()
        return status

    def restore(self, save_path, options=None):
        """As read; None means that there is nothing to restore."""
        if save_path is None:
            return InitializationOnlyStatus()
        import gradus
        with gradus.init_scope():
            self.save_counter  # noqa: B018 - made, so that it is restored
        return self.read(save_path)


class LoadStatus:
    """What became of a checkpoint that was restored."""

    def __init__(self, checkpoint, tensors, nodes, path):
        self._checkpoint, self._tensors, self._nodes, self._path = checkpoint, tensors, nodes, path
        self._given, self._kept = set(), []

    def retry(self):
        """Gives values to variables that have appeared."""
        import gradus
        pairs, missing, _ = _graph.matched(self._checkpoint, self._nodes)
        fresh = [(v, key) for v, key in pairs if id(v) not in self._given]
        for variable, key in fresh:
            value = self._tensors[key]
            if list(variable.shape) != list(value.shape):
                raise ValueError(f"Received incompatible tensor with shape {value.shape} when attempting to restore "
                                 f"variable with shape {variable.shape} and name {variable.name}.")
            wanted = gradus.as_dtype(variable.dtype)
            if wanted != value.dtype:
                raise errors.InvalidArgumentError(None, None, f"tensor_name = {key}; expected dtype {wanted.name} does "
                                                  f"not equal original dtype {value.dtype.name}")
        with gradus.init_scope():
            for variable, key in fresh:
                variable.assign(self._tensors[key])
                self._given.add(id(variable))
                self._kept.append(variable)
        if missing:
            _deferred.wait(self, [self._checkpoint, *_graph.children(self._checkpoint).values()])
        else:
            _deferred.done(self)

    def _matched(self):
        self.retry()
        return _graph.matched(self._checkpoint, self._nodes)

    def assert_consumed(self):
        """All saved values were given to variables, and all variables got one."""
        pairs, missing, unsaved = self._matched()
        if missing:
            names = [self._nodes[n]["value"] for n in sorted(missing)]
            raise AssertionError(f"Unresolved object in checkpoint '{self._path}': {', '.join(names[:5])}"
                                 + (f" and {len(names) - 5} more" if len(names) > 5 else ""))
        self._assert_saved(unsaved)
        return self

    @staticmethod
    def _assert_saved(unsaved):
        for name, value in unsaved:
            if name != "save_counter" and _graph.described(value)[1]:
                raise AssertionError(f"Object not assigned a value from checkpoint: {name} ({type(value).__name__})")

    def assert_existing_objects_matched(self):
        """All variables that exist got a value."""
        pairs, _, unsaved = self._matched()
        if not pairs:
            raise AssertionError(f"No objects of the program were matched with the checkpoint '{self._path}'")
        self._assert_saved(unsaved)
        return self

    def assert_nontrivial_match(self):
        """Something besides the root matched."""
        if not self._matched()[0]:
            raise AssertionError(f"Nothing except the root object matched a checkpointed value in '{self._path}'")
        return self

    def expect_partial(self):
        """Nothing is said about what is left over."""
        return self

    def run_restore_ops(self, session=None):
        """Everything was restored at once."""

    def initialize_or_restore(self, session=None):
        """Everything was restored at once."""


class InitializationOnlyStatus:
    """Of a restore without a checkpoint."""

    def assert_consumed(self):
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def expect_partial(self):
        return self

    def run_restore_ops(self, session=None):
        """Nothing to do."""

    initialize_or_restore = run_restore_ops
