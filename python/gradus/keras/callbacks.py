"""Callbacks: what is done during training besides training."""
import collections
import csv
import inspect
import json
import os
import re
import shutil
import time
import warnings

import numpy as np

from .. import errors
from .._files import written_aside
from ._callback import Callback
from ._trainer import as_numbers
from .utils._progbar import Progbar


_BATCH_METHODS = {"train": ("on_batch_begin", "on_batch_end", "on_train_batch_begin", "on_train_batch_end"),
                  "test": ("on_test_batch_begin", "on_test_batch_end"),
                  "predict": ("on_predict_batch_begin", "on_predict_batch_end")}


def _overrides(callback, names):
    return any(getattr(type(callback), name, None) is not getattr(Callback, name) or name in vars(callback)
               for name in names)


class CallbackList(Callback):
    """Callbacks as one; knows which of them want to hear of batches."""

    def __init__(self, callbacks=None, add_history=False, add_progbar=False, model=None, **params):
        super().__init__()
        self.callbacks = list(callbacks) if isinstance(callbacks, (list,
                                                                   tuple)) else [] if callbacks is None else [callbacks]
        history = next((c for c in self.callbacks if isinstance(c, History)), None)
        progbar = next((c for c in self.callbacks if isinstance(c, ProgbarLogger)), None)
        if add_history and history is None:
            history = History()
            self.callbacks.append(history)
        if add_progbar and progbar is None:
            self.callbacks.append(ProgbarLogger())
        self._history = history
        if model is not None:
            self.set_model(model)
        if params:
            self.set_params(params)
        self._find_wishes()

    def _find_wishes(self):
        others = [c for c in self.callbacks if type(c) is not History]
        wants = lambda what: any(_overrides(c, _BATCH_METHODS[what]) for c in others)  # noqa: E731
        self.wants_train_batches, self.wants_test_batches = wants("train"), wants("test")
        self.wants_predict_batches = wants("predict")

    def append(self, callback):
        self.callbacks.append(callback)
        self._find_wishes()

    def set_params(self, params):
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model):
        super().set_model(model)
        if self._history is not None:
            object.__setattr__(model, "history", self._history)
        for callback in self.callbacks:
            callback.set_model(model)

    def _tell(self, name, *args):
        for callback in self.callbacks:
            getattr(callback, name)(*args)

    def on_epoch_begin(self, epoch, logs=None):
        self._tell("on_epoch_begin", epoch, as_numbers(logs))

    def on_epoch_end(self, epoch, logs=None):
        logs = {} if logs is None else logs
        self._tell("on_epoch_end", epoch, logs)

    def on_train_batch_begin(self, batch, logs=None):
        self._tell("on_train_batch_begin", batch, as_numbers(logs))

    def on_train_batch_end(self, batch, logs=None):
        self._tell("on_train_batch_end", batch, as_numbers(logs))

    def on_test_batch_begin(self, batch, logs=None):
        self._tell("on_test_batch_begin", batch, as_numbers(logs))

    def on_test_batch_end(self, batch, logs=None):
        self._tell("on_test_batch_end", batch, as_numbers(logs))

    def on_predict_batch_begin(self, batch, logs=None):
        self._tell("on_predict_batch_begin", batch, {} if logs is None else logs)

    def on_predict_batch_end(self, batch, logs=None):
        self._tell("on_predict_batch_end", batch, {} if logs is None else logs)

    def on_train_begin(self, logs=None):
        self._tell("on_train_begin", as_numbers(logs))

    def on_train_end(self, logs=None):
        self._tell("on_train_end", as_numbers(logs))

    def on_test_begin(self, logs=None):
        self._tell("on_test_begin", as_numbers(logs))

    def on_test_end(self, logs=None):
        self._tell("on_test_end", as_numbers(logs))

    def on_predict_begin(self, logs=None):
        self._tell("on_predict_begin", as_numbers(logs))

    def on_predict_end(self, logs=None):
        self._tell("on_predict_end", as_numbers(logs))


class History(Callback):
    """The metrics of each epoch, in `history`, a dict of lists."""

    def __init__(self):
        super().__init__()
        self.history = {}

    def on_train_begin(self, logs=None):
        self.epoch = []

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for key, value in (logs or {}).items():
            self.history.setdefault(key, []).append(value)
        object.__setattr__(self.model, "history", self)


class ProgbarLogger(Callback):
    """Prints the progress bar."""

    def __init__(self):
        super().__init__()
        self.seen, self.progbar, self.target, self.verbose, self.epochs = 0, None, None, 1, 1
        self._in_fit = False

    def set_params(self, params):
        verbose = params["verbose"]
        self.verbose = 1 if verbose == "auto" else verbose
        self.epochs, self.target = params["epochs"], params["steps"]

    def _start(self):
        self.seen, self.progbar = 0, None

    def on_train_begin(self, logs=None):
        self._in_fit = True

    def on_test_begin(self, logs=None):
        if not self._in_fit:
            self._start()
            self._bar()

    def on_predict_begin(self, logs=None):
        self._start()
        self._bar()

    def on_epoch_begin(self, epoch, logs=None):
        self._start()
        self._bar()
        if self.verbose and self.epochs > 1:
            print(f"Epoch {epoch + 1}/{self.epochs}", flush=True)

    def _bar(self):
        if self.progbar is None:
            self.progbar = Progbar(target=self.target, verbose=self.verbose, unit_name="step")

    def on_train_batch_end(self, batch, logs=None):
        self._update(batch, logs)

    def on_test_batch_end(self, batch, logs=None):
        if not self._in_fit:
            self._update(batch, logs)

    def on_predict_batch_end(self, batch, logs=None):
        self._update(batch, None)

    def _update(self, batch, logs):
        self.seen = batch + 1
        if self.verbose == 1:
            self.progbar.update(self.seen, list((logs or {}).items()), finalize=False)

    def on_epoch_end(self, epoch, logs=None):
        self._finish(logs)

    def on_test_end(self, logs=None):
        if not self._in_fit:
            self._finish(logs)

    def on_predict_end(self, logs=None):
        self._finish(logs)

    def _finish(self, logs):
        if self.target is None:
            self.target = self.seen
            self.progbar.target = self.seen
        self.progbar.update(self.target, list((logs or {}).items()), finalize=True)


class LambdaCallback(Callback):
    """A callback made of functions."""

    def __init__(self, on_epoch_begin=None, on_epoch_end=None, on_train_begin=None, on_train_end=None,
                 on_train_batch_begin=None, on_train_batch_end=None, **kwargs):
        super().__init__()
        given = dict(on_epoch_begin=on_epoch_begin, on_epoch_end=on_epoch_end, on_train_begin=on_train_begin,
                     on_train_end=on_train_end, on_train_batch_begin=on_train_batch_begin,
                     on_train_batch_end=on_train_batch_end, **kwargs)
        for name, function in given.items():
            if function is not None:
                setattr(self, name, function)


class TerminateOnNaN(Callback):
    """Stops training when the loss is NaN or infinite; raise_error: with a RuntimeError."""

    def __init__(self, raise_error=False):
        super().__init__()
        self.raise_error = raise_error

    def on_batch_end(self, batch, logs=None):
        loss = (logs or {}).get("loss")
        if loss is not None and (np.isnan(loss) or np.isinf(loss)):
            if self.raise_error:
                raise RuntimeError(f"NaN or Inf loss encountered at batch {batch}. Loss value: {loss}. Terminating training "
                                   "immediately.")
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class _Monitoring(Callback):
    """What EarlyStopping, ModelCheckpoint and ReduceLROnPlateau share: which way of a metric is better."""

    def _set_better(self, monitor, mode):
        self.monitor, self.mode = monitor, mode
        self._better = {"min": np.less, "max": np.greater}.get(mode)

    def _guess_mode(self):
        """'min' or 'max', from the metric's own idea or its name."""
        name = self.monitor.removeprefix("val_")
        if name == "loss":
            return "min"
        for metric in self.model.metrics if hasattr(self.model, "metrics") else []:
            for own in getattr(metric, "metrics", [metric]):
                direction = getattr(own, "_direction", None)
                if (own.name == name or name.endswith("_" + own.name)) and direction in ("up", "down"):
                    return "max" if direction == "up" else "min"
        if name in ("accuracy", "acc", "auc", "precision", "recall") or re.search(
                r"(accuracy|acc|auc|precision|recall|f1_score|fbeta_score|iou|mean_io_u|r2_score|similarity)$", name):
            return "max"
        if name.endswith("loss") or re.search(
                r"(error|mse|mae|mape|msle|crossentropy|divergence|poisson|hinge|log_cosh|logcosh|rmse|perplexity|mean_squared)",
                name):
            return "min"
        return None

    def _settle_mode(self, who):
        if self._better is None:
            mode = self._guess_mode()
            if mode is None:
                raise ValueError(f"{who} callback received monitor={self.monitor}, but Keras isn't able to "
                                 "automatically determine whether that metric should be maximized or minimized. Pass "
                                 "`mode='max'` in order to monitor based on the highest metric value, or pass "
                                 "`mode='min'` in order to use the lowest value.")
            self._better = np.less if mode == "min" else np.greater


class EarlyStopping(_Monitoring):
    """Stops training when a metric does not get better any more."""

    def __init__(self, monitor="val_loss", min_delta=0, patience=0, verbose=0, mode="auto", baseline=None,
                 restore_best_weights=False, start_from_epoch=0):
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"EarlyStopping mode {mode} is unknown, fallback to auto mode.", stacklevel=2)
            mode = "auto"
        self._set_better(monitor, mode)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.min_delta = abs(min_delta)
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best, self.best_weights = None, None

    def on_train_begin(self, logs=None):
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best, self.best_weights = None, None

    def _improved(self, value, reference):
        delta = self.min_delta if self._better is np.less else -self.min_delta
        return bool(self._better(value + delta, reference))

    def on_epoch_end(self, epoch, logs=None):
        self._settle_mode("EarlyStopping")
        current = (logs or {}).get(self.monitor)
        if current is None:
            warnings.warn(f"Early stopping conditioned on metric `{self.monitor}` which is not available. Available "
                          f"metrics are: {','.join(list((logs or {}).keys()))}", stacklevel=2)
            return
        if epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if self.best is None or self._improved(current, self.best):
            self.best, self.best_epoch = current, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self._improved(current, self.baseline):
                self.wait = 0
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose > 0:
                print(f"Restoring model weights from the end of the best epoch: {self.best_epoch + 1}.")
            self.model.set_weights(self.best_weights)


class ModelCheckpoint(_Monitoring):
    """Saves the model or its weights, each time or when a metric got better."""

    def __init__(self, filepath, monitor="val_loss", verbose=0, save_best_only=False, save_weights_only=False,
                 mode="auto",
                 save_freq="epoch", initial_value_threshold=None):
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"ModelCheckpoint mode '{mode}' is unknown, fallback to auto mode.", stacklevel=2)
            mode = "auto"
        self._set_better(monitor, mode)
        self.verbose, self.filepath = verbose, os.fspath(filepath)
        self.save_best_only, self.save_weights_only, self.save_freq = save_best_only, save_weights_only, save_freq
        self.best = initial_value_threshold
        self._batches, self._last_batch, self._epoch = 0, 0, 0
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}. Expected save_freq are 'epoch' or integer values")
        if save_weights_only:
            if not self.filepath.endswith(".weights.h5"):
                raise ValueError("When using `save_weights_only=True` in `ModelCheckpoint`, the filepath provided must "
                                 f"end in `.weights.h5` (Keras weights format). Received: filepath={self.filepath}")
        elif not self.filepath.endswith((".keras", ".h5")):
            raise ValueError("The filepath provided must end in `.keras` (Keras model format). "
                             f"Received: filepath={self.filepath}")

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if self.save_freq == "epoch":
            return
        self._batches += batch + 1 - self._last_batch if batch + 1 > self._last_batch else batch + 1
        self._last_batch = batch + 1
        if self._batches >= self.save_freq:
            self._batches = 0
            self._save(self._epoch, batch, logs)

    def on_epoch_end(self, epoch, logs=None):
        if self.save_freq == "epoch":
            self._save(epoch, None, logs)

    def _save(self, epoch, batch, logs):
        logs = dict(logs or {})
        try:
            path = self.filepath.format(epoch=epoch + 1, **({} if batch is None else {"batch": batch + 1}), **logs)
        except KeyError as error:
            raise KeyError(f'Failed to format this callback filepath: "{self.filepath}". Reason: {error}') from None
        if self.save_best_only:
            current = logs.get(self.monitor)
            if current is None:
                warnings.warn(f"Can save best model only with {self.monitor} available.", stacklevel=2)
                return
            self._settle_mode("ModelCheckpoint")
            if self.best is not None and not self._better(current, self.best):
                if self.verbose > 0:
                    print(f"\nEpoch {epoch + 1}: {self.monitor} did not improve from {self.best:.5f}")
                return
            if self.verbose > 0:
                before = "None" if self.best is None else f"{self.best:.5f}"
                print(f"\nEpoch {epoch + 1}: {self.monitor} improved from {before} to {current:.5f}, saving model to "
                      f"{path}")
            self.best = current
        elif self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: saving model to {path}")
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: finished saving model to {path}")


def _learning_rate(optimizer):
    rate = optimizer.learning_rate
    return float(np.asarray(rate.numpy() if hasattr(rate, "numpy") else rate))


class ReduceLROnPlateau(_Monitoring):
    """Makes the learning rate smaller when a metric does not get better any more."""

    def __init__(self, monitor="val_loss", factor=0.1, patience=10, verbose=0, mode="auto", min_delta=1e-4, cooldown=0,
                 min_lr=0.0, **kwargs):
        super().__init__()
        if kwargs:
            raise TypeError(f"ReduceLROnPlateau() got unexpected keyword arguments: {sorted(kwargs)}")
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau does not support a factor >= 1.0. Received factor={factor}")
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"Learning rate reduction mode {mode} is unknown, fallback to auto mode.", stacklevel=2)
            mode = "auto"
        self._set_better(monitor, mode)
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.min_delta, self.cooldown, self.min_lr = min_delta, cooldown, min_lr
        self.cooldown_counter = self.wait = 0
        self.best = None

    def on_train_begin(self, logs=None):
        self.cooldown_counter = self.wait = 0
        self.best = None

    def in_cooldown(self):
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch, logs=None):
        logs = {} if logs is None else logs
        logs["learning_rate"] = _learning_rate(self.model.optimizer)
        current = logs.get(self.monitor)
        if current is None:
            warnings.warn(f"Learning rate reduction is conditioned on metric `{self.monitor}` which is not available. "
                          f"Available metrics are: {','.join(list(logs.keys()))}.", stacklevel=2)
            return
        self._settle_mode("ReduceLROnPlateau")
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        is_less = self._better is np.less
        if self.best is None or (current < self.best - self.min_delta if is_less
                                 else current > self.best + self.min_delta):
            self.best, self.wait = current, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                old = _learning_rate(self.model.optimizer)
                if old > np.float32(self.min_lr):
                    new = max(old * self.factor, self.min_lr)
                    self.model.optimizer.learning_rate = new
                    if self.verbose > 0:
                        print(f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {new}.")
                    self.cooldown_counter, self.wait = self.cooldown, 0


def _takes_two(function):
    """Whether a function can be called with two arguments."""
    try:
        inspect.signature(function).bind(0, 0.0)
    except TypeError:
        return False
    except ValueError:  # a builtin that does not tell
        return True
    return True


class LearningRateScheduler(Callback):
    """Asks a function (epoch, rate) for the learning rate of each epoch."""

    def __init__(self, schedule, verbose=0):
        super().__init__()
        self.schedule, self.verbose = schedule, verbose
        self._takes_rate = _takes_two(schedule)

    def on_epoch_begin(self, epoch, logs=None):
        if not hasattr(self.model.optimizer, "learning_rate"):
            raise ValueError('Optimizer must have a "learning_rate" attribute.')
        rate = self.schedule(epoch, *((_learning_rate(self.model.optimizer),) if self._takes_rate else ()))
        if not isinstance(rate, (float, np.float32, np.float64, np.floating)) and not hasattr(rate, "numpy"):
            raise ValueError(f"The output of the `schedule` function should be a float. Got: {rate}")
        self.model.optimizer.learning_rate = float(rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {float(rate)}.")

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs["learning_rate"] = _learning_rate(self.model.optimizer)


class CSVLogger(Callback):
    """Writes the metrics of each epoch as a line of a CSV file."""

    def __init__(self, filename, separator=",", append=False):
        super().__init__()
        self.filename, self.sep, self.append = os.fspath(filename), separator, append
        self.writer = self.keys = self._file = None
        self._with_header = True

    def on_train_begin(self, logs=None):
        if self.append and os.path.exists(self.filename):
            with open(self.filename) as file:
                self._with_header = not bool(len(file.readline()))
            self._file = open(self.filename, "a", newline="")
        else:
            self._file = open(self.filename, "w", newline="")

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        if self.keys is None:
            self.keys = sorted(logs)
            validated = {key for key in self.keys if key.startswith("val_")}
            if not validated:
                self.keys += [f"val_{key}" for key in self.keys]
        if self.writer is None:
            self.writer = csv.DictWriter(self._file, fieldnames=["epoch"] + self.keys, delimiter=self.sep,
                                         lineterminator="\n")
            if self._with_header:
                self.writer.writeheader()
        row = collections.OrderedDict({"epoch": epoch})
        row.update((key, _csv_value(logs.get(key, "NA"))) for key in self.keys)
        self.writer.writerow(row)
        self._file.flush()

    def on_train_end(self, logs=None):
        if self._file is not None:
            self._file.close()
        self.writer = self._file = self.keys = None


def _csv_value(value):
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray) and value.ndim > 0:
        return f'"[{", ".join(map(str, value))}]"'
    return value


class TensorBoard(Callback):
    """Writes losses, metrics and, if asked, histograms of weights for TensorBoard."""

    def __init__(self, log_dir="logs", histogram_freq=0, write_graph=True, write_images=False,
                 write_steps_per_second=False,
                 update_freq="epoch", profile_batch=0, embeddings_freq=0, embeddings_metadata=None):
        super().__init__()
        for name, value, usual in (("write_images", write_images, False), ("profile_batch", profile_batch, 0),
                                   ("embeddings_freq", embeddings_freq, 0),
                                   ("embeddings_metadata", embeddings_metadata, None)):
            if value != usual:
                raise NotImplementedError(f"TensorBoard({name}={value!r}) is not covered; leave it out")
        self.log_dir, self.write_graph, self.write_steps_per_second = os.fspath(log_dir), write_graph, write_steps_per_second
        self.histogram_freq, self.update_freq = histogram_freq, 1 if update_freq == "batch" else update_freq
        self._writers, self._step, self._test_step = {}, 0, 0

    def _writer(self, name):
        if name not in self._writers:
            import gradus as tf
            self._writers[name] = tf.summary.create_file_writer(os.path.join(self.log_dir, name))
        return self._writers[name]

    def _write(self, name, values, step):
        import gradus as tf
        if values:
            with self._writer(name).as_default():
                for key, value in values.items():
                    tf.summary.scalar(key, value, step=step)

    def on_train_begin(self, logs=None):
        self._step = 0

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch_start = self._step, time.time()

    def on_train_batch_end(self, batch, logs=None):
        if isinstance(self.update_freq, int) and self._step % self.update_freq == 0:
            self._write("train", {f"batch_{k}": v for k, v in (logs or {}).items()}, self._step)
        self._step += 1

    def on_test_end(self, logs=None):
        step = self._step
        self._write("validation", {f"evaluation_{k}_vs_iterations": v for k, v in (logs or {}).items()}, step)

    def on_epoch_end(self, epoch, logs=None):
        logs = dict(logs or {})
        optimizer = getattr(self.model, "optimizer", None)
        train = {f"epoch_{k}": v for k, v in logs.items() if not k.startswith("val_")}
        if optimizer is not None and hasattr(optimizer, "learning_rate"):
            train["epoch_learning_rate"] = _learning_rate(optimizer)
        if self.write_steps_per_second:
            steps, seconds = self._step - self._epoch_start[0], max(time.time() - self._epoch_start[1], 1e-9)
            train["epoch_steps_per_second"] = steps / seconds
        self._write("train", train, epoch)
        self._write("validation", {f"epoch_{k[4:]}": v for k, v in logs.items() if k.startswith("val_")}, epoch)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            import gradus as tf
            with self._writer("train").as_default():
                for layer in self.model.layers:
                    for weight in layer.weights:
                        tf.summary.histogram(weight.path.replace(":", "_") + "/histogram", weight.numpy(), step=epoch)

    def on_train_end(self, logs=None):
        for writer in self._writers.values():
            writer.close()
        self._writers = {}


_BEFORE = ".bkp"  # the ending of the checkpoint before the last one, as Keras has it


class BackupAndRestore(Callback):
    """Keeps the state of training in a folder, and goes on from it when fit is called again after an interruption."""

    def __init__(self, backup_dir, save_freq="epoch", double_checkpoint=False, delete_checkpoint=True):
        super().__init__()
        if not backup_dir:
            raise ValueError("Empty `backup_dir` argument passed")
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Invalid value for argument `save_freq`. Received: save_freq={save_freq}. Expected "
                             "either 'epoch' or an integer value.")
        self.backup_dir, self.save_freq, self.delete_checkpoint = os.fspath(backup_dir), save_freq, delete_checkpoint
        self.double_checkpoint = double_checkpoint
        self._weights_path = os.path.join(self.backup_dir, "latest.weights.h5")
        self._meta_path = os.path.join(self.backup_dir, "training_metadata.json")
        self._epoch, self._batches = 0, 0

    def on_train_begin(self, logs=None):
        try:
            self._load()
        except (OSError, ValueError, errors.DataLossError):
            if not os.path.exists(self._weights_path + _BEFORE):
                raise
            for path in (self._weights_path, self._meta_path):  # the last one is damaged: back to the one before
                shutil.copyfile(path + _BEFORE, path)
            self._load()

    def _load(self):
        if not os.path.exists(self._meta_path):
            return
        if not self.model.built:
            raise ValueError("To use the BackupAndRestore callback, you model must be built before you call `fit()`. "
                             f"Model {self.model} is unbuilt. You can build it beforehand by calling it on a batch of "
                             "data.")
        optimizer = self.model.optimizer
        if optimizer is not None and not getattr(optimizer, "built", True):
            optimizer.build(self.model.trainable_variables)
        with open(self._meta_path) as file:
            meta = json.load(file)
        self.model.load_weights(self._weights_path)
        self._epoch = meta["epoch"]
        self.model._initial_epoch = meta["epoch"]

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if self.save_freq != "epoch":
            self._batches += 1
            if self._batches % self.save_freq == 0:
                self._save(self._epoch)

    def on_epoch_end(self, epoch, logs=None):
        self._epoch = epoch + 1
        if self.save_freq == "epoch":
            self._save(epoch + 1)

    def _save(self, epoch):
        os.makedirs(self.backup_dir, exist_ok=True)
        if self.double_checkpoint and os.path.exists(self._meta_path):  # the one before stays beside the new one
            for path in (self._weights_path, self._meta_path):
                shutil.copyfile(path, path + _BEFORE)
        self.model.save_weights(self._weights_path, overwrite=True)
        with written_aside(self._meta_path) as file:
            file.write(json.dumps({"epoch": epoch, "batch": 0}).encode())

    def on_train_end(self, logs=None):
        if self.delete_checkpoint:
            for path in (self._meta_path, self._weights_path):
                for one in (path, path + _BEFORE):
                    if os.path.exists(one):
                        os.remove(one)
            if os.path.isdir(self.backup_dir) and not os.listdir(self.backup_dir):
                os.rmdir(self.backup_dir)


class SwapEMAWeights(Callback):
    """Evaluates with the moving averages of the weights that the optimizer keeps (use_ema=True)."""

    def __init__(self, swap_on_epoch=False):
        super().__init__()
        self.swap_on_epoch = swap_on_epoch
        self._swapped = False

    def _pairs(self):
        optimizer = getattr(self.model.optimizer, "inner_optimizer", self.model.optimizer)
        averages = getattr(optimizer, "_model_variables_moving_average", None)
        if not averages:
            raise ValueError("SwapEMAWeights must be used with an optimizer that has `use_ema=True`.")
        return list(zip(self.model.trainable_variables, averages))

    def _swap(self):
        for variable, average in self._pairs():
            value, other = variable.numpy(), average.numpy()
            variable.assign(other)
            average.assign(value)
        self._swapped = not self._swapped

    def on_epoch_begin(self, epoch, logs=None):
        if self.swap_on_epoch and self._swapped:
            self._swap()

    def on_epoch_end(self, epoch, logs=None):
        if self.swap_on_epoch and not self._swapped:
            self._swap()
            if epoch == self.params["epochs"] - 1:  # the averages are what training ends with
                for variable, average in self._pairs():
                    average.assign(variable)

    def on_test_begin(self, logs=None):
        if not self._swapped:
            self._swap()

    def on_test_end(self, logs=None):
        if self._swapped:
            self._swap()

    on_predict_begin, on_predict_end = on_test_begin, on_test_end


class RemoteMonitor(Callback):
    """Sending numbers over the network is not covered."""

    def __init__(self, *_, **__):
        raise NotImplementedError("RemoteMonitor is not covered: use a LambdaCallback")
