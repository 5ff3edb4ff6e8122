"""The file `checkpoint` of a folder, which names the latest checkpoint and those that are kept."""
import os
import re

from .._files import text_of, written_aside


class CheckpointState:
    """What the file says."""

    def __init__(self, model_checkpoint_path="", all_model_checkpoint_paths=(), all_model_checkpoint_timestamps=(),
                 last_preserved_timestamp=0.0):
        self.model_checkpoint_path = model_checkpoint_path
        self.all_model_checkpoint_paths = list(all_model_checkpoint_paths)
        self.all_model_checkpoint_timestamps = list(all_model_checkpoint_timestamps)
        self.last_preserved_timestamp = last_preserved_timestamp


def _quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def update_checkpoint_state(folder, latest, paths, times=(), name="checkpoint"):
    """Writes the file; paths in the folder are written relative to it, so that it can be moved."""
    def relative(path):
        inside = os.path.relpath(path, folder)
        return path if inside.startswith("..") else inside
    lines = [f"model_checkpoint_path: {_quoted(relative(latest))}"]
    lines += [f"all_model_checkpoint_paths: {_quoted(relative(p))}" for p in paths]
    lines += [f"all_model_checkpoint_timestamps: {t!r}" for t in times]
    with written_aside(os.path.join(folder, name)) as file:
        file.write("\n".join(lines + [""]).encode())


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """What the file of a folder says, or None."""
    folder = text_of(checkpoint_dir)
    try:
        with open(os.path.join(folder, latest_filename or "checkpoint"), encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return None
    state = CheckpointState()
    for key, quoted, plain in re.findall(r'^\s*(\w+):\s*(?:"((?:[^"\\]|\\.)*)"|(\S+))\s*$', text, re.M):
        value = os.path.join(folder, re.sub(r"\\(.)", r"\1", quoted)) if quoted else plain
        if key == "model_checkpoint_path":
            state.model_checkpoint_path = value
        elif key == "all_model_checkpoint_paths":
            state.all_model_checkpoint_paths.append(value)
        elif key == "all_model_checkpoint_timestamps":
            try:
                state.all_model_checkpoint_timestamps.append(float(value))
            except ValueError:
                return None
    return state if state.model_checkpoint_path else None


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The name of the latest checkpoint of a folder, or None."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not os.path.exists(state.model_checkpoint_path + ".index"):
        return None
    return state.model_checkpoint_path
