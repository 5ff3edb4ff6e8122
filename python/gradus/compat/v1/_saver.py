"""tf.train.Saver: variables in one file, a NumPy .npz, that is written aside and renamed."""
import os
import re
import time

import numpy as np

import gradus as tf

from ..._files import written_aside
from ._variables import global_variables, local_variables

_SUFFIX = ".npz"


class Saver:
    """Saves and restores the values of variables."""

    def __init__(self, var_list=None, reshape=False, sharded=False, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0,
                 name=None, restore_sequentially=False, saver_def=None, builder=None, defer_build=False,
                 allow_empty=False, write_version=2, pad_step_number=False, save_relative_paths=False, filename=None):
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
        write(path + _SUFFIX, values)
        self._saved = [p for p in self._saved if p != path] + [path]
        while self._keep and len(self._saved) > self._keep:
            old = self._saved.pop(0)
            if os.path.exists(old + _SUFFIX):
                os.remove(old + _SUFFIX)
        if write_state:
            update_checkpoint_state(folder or ".", path, self._saved, latest_filename)
        return path

    def restore(self, sess, save_path):
        """Sets the variables in a session to what was saved."""
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        if not checkpoint_exists(save_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        stored, values = read(save_path), []
        for name, variable in self._variables.items():
            if name not in stored:
                raise tf.errors.NotFoundError(None, None, f"Key {name} not found in checkpoint")
            value = stored[name]
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


def write(path, values):
    """A file of named arrays, complete or not there."""
    with written_aside(path) as file:
        np.savez(file, **{f"v:{name}": value for name, value in values.items()})


def read(prefix):
    """The named arrays of a checkpoint."""
    with np.load(prefix + _SUFFIX, allow_pickle=False) as stored:
        return {name[2:]: stored[name] for name in stored.files}


def checkpoint_exists(checkpoint_prefix):
    """Whether there is a checkpoint of that name."""
    return os.path.exists(str(checkpoint_prefix) + _SUFFIX)


class CheckpointState:
    """Which checkpoints a folder has."""

    def __init__(self, model_checkpoint_path="", all_model_checkpoint_paths=()):
        self.model_checkpoint_path = model_checkpoint_path
        self.all_model_checkpoint_paths = list(all_model_checkpoint_paths)
        self.last_preserved_timestamp = time.time()


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None):
    """Writes down which checkpoint is the latest."""
    def local(path):
        relative = os.path.relpath(path, save_dir)
        return path if os.path.isabs(path) and relative.startswith("..") else relative
    paths = list(all_model_checkpoint_paths or ())
    if model_checkpoint_path not in paths:
        paths.append(model_checkpoint_path)
    lines = [f'model_checkpoint_path: "{local(model_checkpoint_path)}"\n']
    lines += [f'all_model_checkpoint_paths: "{local(p)}"\n' for p in paths]
    with written_aside(os.path.join(save_dir, latest_filename or "checkpoint")) as file:
        file.write("".join(lines).encode())


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """What the folder's `checkpoint` file says, or None."""
    path = os.path.join(checkpoint_dir, latest_filename or "checkpoint")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        found = re.findall(r'^(\w+): "(.*)"$', file.read(), re.MULTILINE)
    paths = [p if os.path.isabs(p) else os.path.join(checkpoint_dir, p) for _, p in found]
    return CheckpointState(paths[0], paths[1:]) if paths else None


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The name of the latest checkpoint in a folder, or None."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    return state.model_checkpoint_path if state and checkpoint_exists(state.model_checkpoint_path) else None


def list_variables(ckpt_dir_or_file):
    """(name, shape) of each variable in a checkpoint."""
    prefix = latest_checkpoint(ckpt_dir_or_file) if os.path.isdir(ckpt_dir_or_file) else ckpt_dir_or_file
    return [(name, list(value.shape)) for name, value in sorted(read(prefix).items())]


def load_variable(ckpt_dir_or_file, name):
    """One value of a checkpoint."""
    prefix = latest_checkpoint(ckpt_dir_or_file) if os.path.isdir(ckpt_dir_or_file) else ckpt_dir_or_file
    return read(prefix)[name]


class CheckpointReader:
    """What a checkpoint holds."""

    def __init__(self, prefix):
        self._values = read(prefix)

    def get_variable_to_shape_map(self):
        return {name: list(value.shape) for name, value in self._values.items()}

    def get_variable_to_dtype_map(self):
        return {name: tf.as_dtype(value.dtype) for name, value in self._values.items()}

    def has_tensor(self, name):
        return name in self._values

    def get_tensor(self, name):
        return self._values[name]


NewCheckpointReader = CheckpointReader


def import_meta_graph(*args, **kwargs):
    """Not covered: graphs are not saved."""
    raise NotImplementedError("Graphs are not saved: build the graph again with its program and restore the variables")
