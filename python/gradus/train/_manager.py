"""tf.train.CheckpointManager: the last few checkpoints of a folder."""
import contextlib
import os
import time

from .._files import text_of
from ._state_file import get_checkpoint_state, update_checkpoint_state


class CheckpointManager:
    """Saves under numbered names and deletes all but the last max_to_keep checkpoints."""

    def __init__(self, checkpoint, directory, max_to_keep, keep_checkpoint_every_n_hours=None, checkpoint_name="ckpt",
                 step_counter=None, checkpoint_interval=None, init_fn=None, last_checkpoint_step=None):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self._checkpoint, self._directory, self._name = checkpoint, text_of(directory), checkpoint_name
        self._max_to_keep, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        self._step_counter, self._interval, self._init = step_counter, checkpoint_interval, init_fn
        self._last_step = last_checkpoint_step
        state = get_checkpoint_state(self._directory)
        paths = state.all_model_checkpoint_paths if state else []
        times = state.all_model_checkpoint_timestamps if state else []
        if len(times) != len(paths):
            times = [time.time()] * len(paths)
        self._kept = [(p, t) for p, t in zip(paths, times) if os.path.exists(p + ".index")]
        self._preserved = self._kept[0][1] - 1e9 if self._kept else time.time()

    directory = property(lambda self: self._directory)
    checkpoint = property(lambda self: self._checkpoint)
    checkpoint_interval = property(lambda self: self._interval)

    @property
    def checkpoints(self):
        """The names of the checkpoints that are kept, the latest one last."""
        return [path for path, _ in self._kept]

    @property
    def latest_checkpoint(self):
        """The name of the latest one, or None."""
        return self._kept[-1][0] if self._kept else None

    def save(self, checkpoint_number=None, check_interval=True, options=None):
        """Saves, unless it is too early by checkpoint_interval; gives the name, or None."""
        step = None if self._step_counter is None else int(self._step_counter)
        if (self._interval is not None and check_interval and self._last_step is not None
                and step - self._last_step < self._interval):
            return None
        if checkpoint_number is None:
            number = int(self._checkpoint.save_counter.assign_add(1))
        else:
            number = int(checkpoint_number)
            self._checkpoint.save_counter.assign_add(1)
        path = self._checkpoint.write(os.path.join(self._directory, f"{self._name}-{number}"))
        self._last_step = step
        self._kept = [(p, t) for p, t in self._kept if p != path] + [(path, time.time())]
        dropped = self._too_many()
        update_checkpoint_state(self._directory, path, self.checkpoints, [t for _, t in self._kept])
        for old in dropped:  # only when nothing refers to them any more
            with contextlib.suppress(OSError):
                os.unlink(old + ".index")
        return path

    def _too_many(self):
        dropped = []
        while self._max_to_keep is not None and len(self._kept) > self._max_to_keep:
            path, when = self._kept.pop(0)
            if self._hours is not None and when - self._preserved >= 3600 * self._hours:
                self._preserved = when
                continue
            dropped.append(path)
        return dropped

    def restore_or_initialize(self):
        """Restores the latest checkpoint, or calls init_fn; gives the name, or None."""
        latest = self.latest_checkpoint
        if latest is not None:
            self._checkpoint.restore(latest)
            if self._step_counter is not None:
                self._last_step = int(self._step_counter)
            return latest
        if self._init is not None:
            self._init()
        return None
