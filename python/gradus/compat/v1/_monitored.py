"""Sessions that initialise or restore by themselves, and hooks that are told of each of their runs."""
import collections
import os
import time

import numpy as np

from . import _saver
from ._functions import group
from ._graph import get_default_graph
from ._program import logging
from ._session import Session
from ._train import Coordinator, get_global_step
from ._variables import (global_variables, global_variables_initializer, local_variables_initializer)
from ... import errors

SessionRunValues = collections.namedtuple("SessionRunValues", "results options run_metadata")
_Args = collections.namedtuple("SessionRunArgs", "fetches feed_dict options")


class SessionRunArgs(_Args):
    """What a hook wants to be fetched and fed, too."""

    def __new__(cls, fetches, feed_dict=None, options=None):
        return super().__new__(cls, fetches, feed_dict, options)


class SessionRunContext:
    """One run, as a hook sees it."""

    def __init__(self, original_args, session):
        self.original_args, self.session, self._stop = original_args, session, False

    stop_requested = property(lambda self: self._stop)

    def request_stop(self):
        """Says that this run is to be the last one."""
        self._stop = True


class SessionRunHook:
    """What is called around the runs of a monitored session."""

    def begin(self):
        """Before the session is made; the graph can still be changed."""

    def after_create_session(self, session, coord):
        """The session is there, and its variables have values."""

    def before_run(self, run_context):
        """May return SessionRunArgs."""

    def after_run(self, run_context, run_values):
        """With what before_run asked for in run_values.results."""

    def end(self, session):
        """After the last run, unless an exception ended it."""


class _EveryN:
    """Whether it is time again: every so many steps or seconds."""

    def __init__(self, steps=None, secs=None):
        if (steps is None) == (secs is None):
            raise ValueError("exactly one of a number of steps and a number of seconds should be provided.")
        self._steps, self._secs, self._last_step, self._last_time = steps, secs, None, None

    def is_due(self, step):
        if self._last_step is None:
            return True
        if step == self._last_step:
            return False
        if self._secs is not None:
            return time.time() >= self._last_time + self._secs
        return step >= self._last_step + self._steps

    def note(self, step):
        self._last_step, self._last_time = step, time.time()


def _needed_global_step(hook):
    found = get_global_step()
    if found is None:
        raise RuntimeError(f"Global step should be created to use {type(hook).__name__}.")
    return found


class StopAtStepHook(SessionRunHook):
    """Stops after a number of steps, or at a step."""

    def __init__(self, num_steps=None, last_step=None):
        if (num_steps is None) == (last_step is None):
            raise ValueError("Exactly one of num_steps or last_step must be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self):
        self._global_step = _needed_global_step(self)

    def after_create_session(self, session, coord):
        if self._last_step is None:
            self._last_step = int(session._value(self._global_step)) + self._num_steps

    def after_run(self, run_context, run_values):
        if int(run_context.session._value(self._global_step)) >= self._last_step:
            run_context.request_stop()


class LoggingTensorHook(SessionRunHook):
    """Logs tensors every so many runs or seconds."""

    def __init__(self, tensors, every_n_iter=None, every_n_secs=None, at_end=False, formatter=None):
        named = tensors if isinstance(tensors, dict) else {getattr(t, "name", t): t for t in tensors}
        self._tensors, self._formatter, self._at_end, self._count = dict(named), formatter, at_end, 0
        at_end_only = at_end and every_n_iter is None and every_n_secs is None
        self._every = None if at_end_only else _EveryN(every_n_iter, every_n_secs)

    def before_run(self, run_context):
        self._due = self._every is not None and self._every.is_due(self._count)
        return SessionRunArgs(self._tensors) if self._due else None

    def after_run(self, run_context, run_values):
        if self._due:
            self._log(run_values.results)
            self._every.note(self._count)
        self._count += 1

    def end(self, session):
        if self._at_end:
            self._log(session.run(self._tensors))

    def _log(self, values):
        text = self._formatter(values) if self._formatter else ", ".join(f"{k} = {v}" for k, v in values.items())
        logging.info("%s", text)


class CheckpointSaverHook(SessionRunHook):
    """Saves the variables every so many steps or seconds, and at the end."""

    def __init__(self, checkpoint_dir, save_secs=None, save_steps=None, saver=None, checkpoint_basename="model.ckpt",
                 scaffold=None, listeners=None, save_graph_def=True):
        if listeners:
            raise NotImplementedError("CheckpointSaverHook(listeners=...) is not covered")
        self._folder, self._saver = checkpoint_dir, saver or (scaffold and scaffold.saver)
        self._path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._every = _EveryN(save_steps, save_secs)

    def begin(self):
        self._global_step = _needed_global_step(self)
        self._saver = self._saver or _saver.Saver()

    def after_create_session(self, session, coord):
        self._save(session)

    def after_run(self, run_context, run_values):
        if self._every.is_due(int(run_context.session._value(self._global_step))):
            self._save(run_context.session)

    def end(self, session):
        self._save(session)

    def _save(self, session):
        step = int(session._value(self._global_step))
        os.makedirs(self._folder, exist_ok=True)
        self._saver.save(session, self._path, step)
        self._every.note(step)


class NanLossDuringTrainingError(RuntimeError):
    """The loss is not a number."""

    def __str__(self):
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Stops when a loss is not a number."""

    def __init__(self, loss_tensor, fail_on_nan_loss=True):
        self._loss, self._fail = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context):
        return SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        if np.isnan(run_values.results):
            if self._fail:
                raise NanLossDuringTrainingError
            run_context.request_stop()


class FinalOpsHook(SessionRunHook):
    """Runs something at the end."""

    def __init__(self, final_ops, final_ops_feed_dict=None):
        self._ops, self._feeds, self.final_ops_values = final_ops, final_ops_feed_dict, None

    def end(self, session):
        if self._ops is not None:
            self.final_ops_values = session.run(self._ops, self._feeds)


class FeedFnHook(SessionRunHook):
    """Feeds each run what a function gives."""

    def __init__(self, feed_fn):
        self._feed_fn = feed_fn

    def before_run(self, run_context):
        return SessionRunArgs(None, self._feed_fn())


class Scaffold:
    """What is needed to bring a session to life."""

    def __init__(self, init_op=None, init_feed_dict=None, init_fn=None, ready_op=None, ready_for_local_init_op=None,
                 local_init_op=None, summary_op=None, saver=None, copy_from_scaffold=None, local_init_feed_dict=None):
        for name, given in (("ready_op", ready_op), ("ready_for_local_init_op", ready_for_local_init_op),
                            ("summary_op", summary_op), ("copy_from_scaffold", copy_from_scaffold),
                            ("local_init_feed_dict", local_init_feed_dict)):
            if given is not None:
                raise NotImplementedError(f"Scaffold({name}=...) is not covered")
        self.init_op, self.init_feed_dict, self.init_fn = init_op, init_feed_dict, init_fn
        self.local_init_op, self.saver = local_init_op, saver

    def finalize(self):
        """Makes what was not given; the graph cannot be changed any more."""
        self.init_op = self.init_op or global_variables_initializer()
        self.local_init_op = self.local_init_op or group(local_variables_initializer())
        if self.saver is None and global_variables():
            self.saver = _saver.Saver()
        get_default_graph().finalize()
        return self


class ChiefSessionCreator:
    """Makes sessions that begin with a checkpoint if there is one."""

    def __init__(self, scaffold=None, master="", config=None, checkpoint_dir=None, checkpoint_filename_with_path=None):
        self._scaffold, self._config, self._folder = scaffold or Scaffold(), config, checkpoint_dir
        self._file = checkpoint_filename_with_path

    def create_session(self):
        scaffold = self._scaffold.finalize()
        session = Session(config=self._config)
        latest = self._file or (self._folder and _saver.latest_checkpoint(self._folder))
        if latest:
            scaffold.saver.restore(session, latest)
        else:
            session.run(scaffold.init_op, scaffold.init_feed_dict)
            if scaffold.init_fn:
                scaffold.init_fn(scaffold, session)
        session.run(scaffold.local_init_op)
        return session


class MonitoredSession:
    """A session with hooks; to be used in a `with`, which ends quietly when the data do."""

    StepContext = SessionRunContext

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120):
        self._hooks = list(hooks or ())
        for hook in self._hooks:
            hook.begin()
        self._session = (session_creator or ChiefSessionCreator()).create_session()
        self._stop, coordinator = False, Coordinator()
        for hook in self._hooks:
            hook.after_create_session(self._session, coordinator)

    @property
    def graph(self):
        return None if self._session is None else self._session.graph

    def should_stop(self):
        """Whether a hook asked for the end."""
        return self._stop or self._session is None

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Runs the fetches, with those of the hooks."""
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict, options), self._session)
        feeds, asked = dict(feed_dict or {}), {}
        for hook in self._hooks:
            args = hook.before_run(context)
            if args is None:
                continue
            for key, value in (args.feed_dict or {}).items():
                if key in feeds:
                    raise RuntimeError(f"Same tensor is fed by the caller and a hook: {key}")
                feeds[key] = value
            if args.fetches is not None:
                asked[hook] = args.fetches
        found = self._session.run({"caller": fetches, "hooks": list(asked.values())}, feeds)
        of_hooks = dict(zip(asked, found["hooks"]))
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(of_hooks.get(hook), options, run_metadata))
        self._stop = self._stop or context.stop_requested
        return found["caller"]

    def run_step_fn(self, step_fn):
        """Calls a function of a context with `session` and `run_with_hooks`."""
        context = SessionRunContext(None, self._session)
        context.run_with_hooks = self.run
        result = step_fn(context)
        self._stop = self._stop or context.stop_requested
        return result

    def raw_session(self):
        """The session without hooks."""
        return self._session

    def close(self):
        """Tells the hooks that it is over."""
        self._close(True)

    def _close(self, tell):
        if self._session is None:
            return
        try:
            for hook in self._hooks if tell else ():
                hook.end(self._session)
        finally:
            self._session.close()
            self._session = None

    def __enter__(self):
        self._default = self._session.as_default()
        self._default.__enter__()
        return self

    def __exit__(self, kind, error, trace):
        over = kind is not None and issubclass(kind, (errors.OutOfRangeError, StopIteration))
        self._default.__exit__(None, None, None)
        self._close(kind is None or over)
        return over


class SingularMonitoredSession(MonitoredSession):
    """The same, from single arguments."""

    def __init__(self, hooks=None, scaffold=None, master="", config=None, checkpoint_dir=None, stop_grace_period_secs=120,
                 checkpoint_filename_with_path=None):
        super().__init__(ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path), hooks)


def MonitoredTrainingSession(master="", is_chief=True, checkpoint_dir=None, scaffold=None, hooks=None,  # noqa: N802
                             chief_only_hooks=None, save_checkpoint_secs=None, save_summaries_steps=None,
                             save_summaries_secs=None, config=None, stop_grace_period_secs=120, log_step_count_steps=100,
                             max_wait_secs=7200, save_checkpoint_steps=None, summary_dir=None, save_graph_def=True):
    """A monitored session that saves to checkpoint_dir, every ten minutes unless something else is said."""
    scaffold = scaffold or Scaffold()
    all_hooks = list(hooks or ()) + list(chief_only_hooks or ())
    if checkpoint_dir:
        if save_checkpoint_secs is None and save_checkpoint_steps is None:
            save_checkpoint_secs = 600
        if save_checkpoint_secs or save_checkpoint_steps:
            all_hooks.append(CheckpointSaverHook(checkpoint_dir, save_checkpoint_secs or None, save_checkpoint_steps,
                                                 scaffold=scaffold))
    return MonitoredSession(ChiefSessionCreator(scaffold, master, config, checkpoint_dir), all_hooks)
