"""tf.train.Saver: variables by name, in files of the same format as tf.train.Checkpoint's (train/_checkpoint.py)."""
import os

import numpy as np

import gradus as tf

from ...train._checkpoint import file_of, read_file, write_file
from ...train._reader import CheckpointReader, checkpoint_exists, list_variables, load_variable  # noqa: F401
from ...train._state_file import CheckpointState, get_checkpoint_state, latest_checkpoint  # noqa: F401
from ...train._state_file import update_checkpoint_state as _write_state
from ._variables import global_variables, local_variables


class Saver:
    """Saves and restores the values of variables."""

    def __init__(self, var_list=None, reshape=False, sharded=False, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0,
                 name=None, restore_sequentially=False, saver_def=None, builder=None, defer_build=False,
                 allow_empty=False, write_version=2, pad_step_number=False, save_relative_paths=False, filename=None):
        for option, given in (("saver_def", saver_def), ("builder", builder), ("filename", filename),
                              ("pad_step_number", pad_step_number)):
            if given:
                raise NotImplementedError(f"Saver({option}=...) is not covered")
        if var_list is None:
            var_list = global_variables() + [v for v in local_variables() if v not in global_variables()]
            if not var_list and not allow_empty:
                raise ValueError("No variables to save")
        if isinstance(var_list, dict):
            self._variables = dict(var_list)
        else:
            self._variables = {v.op.name: v for v in var_list}
            if len(self._variables) != len(list(var_list)):
                raise ValueError("At least two variables have the same name")
        self._keep = max_to_keep or 0
        self._saved = []
        self._reshape = reshape

    @property
    def last_checkpoints(self):
        """The checkpoints that are kept, the oldest first."""
        return list(self._saved)

    def set_last_checkpoints(self, last_checkpoints):
        self._saved = list(last_checkpoints)

    def recover_last_checkpoints(self, checkpoint_paths):
        self._saved = [p for p in checkpoint_paths if checkpoint_exists(p)]

    def save(self, sess, save_path, global_step=None, latest_filename=None, meta_graph_suffix="meta",
             write_meta_graph=True, write_state=True, strip_default_attrs=False, save_debug_info=False):
        """Writes the values in a session; returns the name to restore from."""
        path = save_path
        if global_step is not None:
            step = global_step if isinstance(global_step, (int, np.integer)) else sess.run(global_step)
            path = f"{save_path}-{int(step)}"
        folder = os.path.dirname(path)
        if folder and not os.path.isdir(folder):
            raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.")
        values = {name: sess._value(v) for name, v in self._variables.items()}
        names = sorted(values)
        nodes = [{"children": {name: i + 1 for i, name in enumerate(names)}}]
        write_file(path, values, nodes + [{"children": {}, "value": name} for name in names])
        self._saved = [p for p in self._saved if p != path] + [path]
        while self._keep and len(self._saved) > self._keep:
            old = self._saved.pop(0)
            if checkpoint_exists(old):
                os.remove(file_of(old))
        if write_state:
            update_checkpoint_state(folder or ".", path, self._saved, latest_filename)
        return path

    def restore(self, sess, save_path):
        """Sets the variables in a session to what was saved."""
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        if not checkpoint_exists(save_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        (stored, _), values = read_file(save_path), []
        for name, variable in self._variables.items():
            if name not in stored:
                raise tf.errors.NotFoundError(None, None, f"Key {name} not found in checkpoint")
            value = stored[name].numpy()
            if value.shape != tuple(variable.shape.as_list()):
                if not self._reshape:
                    raise tf.errors.InvalidArgumentError(
                        None, None, f"Assign requires shapes of both tensors to match. lhs shape= "
                        f"{variable.shape.as_list()} rhs shape= {list(value.shape)}: {name}")
                value = value.reshape(variable.shape.as_list())
            values.append((variable, value))
        for variable, value in values:  # all of them fit
            sess._set(variable, value)

    def export_meta_graph(self, *args, **kwargs):
        raise NotImplementedError("Graphs are not saved: keep the program that builds them, and restore its variables")


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None):
    """Writes down which checkpoint is the latest."""
    paths = list(all_model_checkpoint_paths or ())
    if model_checkpoint_path not in paths:
        paths.append(model_checkpoint_path)
    _write_state(save_dir, model_checkpoint_path, paths, name=latest_filename or "checkpoint")


NewCheckpointReader = CheckpointReader


def import_meta_graph(*args, **kwargs):
    """Not covered: graphs are not saved."""
    raise NotImplementedError("Graphs are not saved: build the graph again with its program and restore the variables")
