"""Training: compile, fit, evaluate and predict.

A step (forward, gradient, update, metrics) is one tf.function, made once by make_train_function; fit only fetches
batches and calls it. Callbacks that do nothing for batches cost nothing: numbers are read from the step when somebody
wants them.
"""
import inspect
import warnings

import numpy as np

import gradus as _tf

from .. import nest
from ..autograph._convert import while_traced
from . import _state, config
from ._compile import CompileLoss, CompileMetrics
from ._data import (ArrayData, PyDatasetData, as_tensors, class_weights_of, data_source, pack_x_y_sample_weight, split_rows,
                    unpack_x_y_sample_weight, warn_out_of_data)
from ._operation import KerasTensor, compute_output_spec
from ._variable import standardize_dtype


def _as_number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return value.numpy() if hasattr(value, "numpy") else value


def as_numbers(logs):
    """Logs with Python numbers, sorted by name."""
    result = {}
    for key, value in sorted((logs or {}).items()):
        if isinstance(value, dict):
            result.update(as_numbers(value))
        else:
            result[key] = _as_number(value)
    return result


def _has_no_call(model):
    from .models import Model
    return type(model).call is Model.call


class Trainer:
    """The part of a model that trains it."""

    def __init__(self):
        put = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        for name in ("_optimizer", "_compile_loss", "_compile_metrics", "_loss_tracker", "train_function",
                     "test_function", "predict_function", "_compile_arguments", "_prepared"):
            put(name, None)
        put("compiled", False)
        put("stop_training", False)
        put("steps_per_execution", 1)
        put("_run_eagerly", False)
        put("_jit_compile", None)
        put("loss", None)
        put("history", None)

    # ------------------------------------------------------------------ compile

    def compile(self, optimizer="rmsprop", loss=None, loss_weights=None, metrics=None, weighted_metrics=None,
                run_eagerly=False, steps_per_execution=1, jit_compile="auto", auto_scale_loss=True):
        """Says how the model is to be trained."""
        from . import metrics as metrics_module
        from . import optimizers
        put = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        optimizer = optimizers.get(optimizer)
        policy = getattr(self, "_dtype_policy", None)
        if (auto_scale_loss and policy is not None and getattr(policy, "name", "") == "mixed_float16"
                and not isinstance(optimizer, optimizers.LossScaleOptimizer)):
            optimizer = optimizers.LossScaleOptimizer(optimizer, name="loss_scale_optimizer")
        put("_optimizer", optimizer)
        names = getattr(self, "output_names", None) if "_functional" not in self.__dict__ or self._functional else None
        if loss is not None:  # what is not given anew stays, as in Keras
            put("_compile_loss", CompileLoss(loss, loss_weights, names))
            put("loss", loss)
        if metrics is not None or weighted_metrics is not None:
            put("_compile_metrics", CompileMetrics(metrics, weighted_metrics, names))
        put("_loss_tracker", metrics_module.Mean(name="loss"))
        put("_run_eagerly", bool(run_eagerly))
        put("steps_per_execution", int(steps_per_execution))
        put("_jit_compile", jit_compile)
        put("stop_training", False)
        put("_compile_arguments", {
            "optimizer": optimizer, "loss": loss, "loss_weights": loss_weights, "metrics": metrics,
            "weighted_metrics": weighted_metrics, "run_eagerly": bool(run_eagerly),
            "steps_per_execution": steps_per_execution,
            "jit_compile": False if jit_compile == "auto" else jit_compile})
        for name in ("train_function", "test_function", "predict_function", "_prepared"):
            put(name, None)
        put("compiled", True)

    def get_compile_config(self):
        """What compile_from_config needs to compile a model in the same way; empty if it was not compiled."""
        if self.compiled and self._compile_arguments is not None:
            from ._serialization import serialize_keras_object
            return {k: serialize_keras_object(v) for k, v in self._compile_arguments.items()}
        return {}

    def compile_from_config(self, config):
        """Compiles the model as one that gave this get_compile_config."""
        from ._serialization import deserialize_keras_object
        config = {k: deserialize_keras_object(v) for k, v in config.items()}
        self.compile(**config)
        if self.built and self._optimizer is not None and hasattr(self._optimizer, "build"):
            self._optimizer.build(self.trainable_variables)

    @property
    def optimizer(self):
        return self._optimizer

    @optimizer.setter
    def optimizer(self, value):
        object.__setattr__(self, "_optimizer", value)
        object.__setattr__(self, "_prepared", None)

    @property
    def run_eagerly(self):
        return self._run_eagerly

    @run_eagerly.setter
    def run_eagerly(self, value):
        object.__setattr__(self, "_run_eagerly", bool(value))

    @property
    def jit_compile(self):
        return self._jit_compile

    @jit_compile.setter
    def jit_compile(self, value):
        object.__setattr__(self, "_jit_compile", value)

    @property
    def metrics(self):
        """The loss, the metrics of the model and its layers, and those given to compile."""
        found = [self._loss_tracker] if self._loss_tracker is not None else []
        if self._compile_metrics is not None:
            found.append(self._compile_metrics)
        if self._compile_loss is not None:
            found += self._compile_loss.metrics
        found += self._remembered("metrics", lambda: [m for layer in self._flatten_layers() for m in layer._metrics])
        return list(dict.fromkeys(found))

    @property
    def metrics_names(self):
        return [metric.name for metric in self.metrics]

    def reset_metrics(self):
        """All metrics start again."""
        for metric in self.metrics:
            metric.reset_state()

    def _check_compiled(self, needed=True):
        if not self.compiled and needed:
            raise ValueError("You must call `compile()` before using the model.")

    def compiled_loss(self, y, y_pred, sample_weight=None, regularization_losses=None):
        loss = self._compile_loss(y, y_pred, sample_weight)
        return loss if not regularization_losses else loss + sum(regularization_losses)

    # ------------------------------------------------------------------ one step

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The loss of a batch: that of compile() and those of the layers."""
        parts = []
        if self._compile_loss is not None:
            loss = self._compile_loss(y, y_pred, sample_weight)
            if loss is not None:
                parts.append(loss)
        for loss in self.losses:
            parts.append(_tf.reduce_sum(_tf.cast(loss, "float32")))
        if not parts:
            warnings.warn("The model cannot be trained: it has no loss. Pass `loss` to `compile()`, or use "
                          "`add_loss()`.",
                          stacklevel=2)
            return _tf.constant(0.0)
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """Updates the metrics with a batch and gives their results."""
        if self._compile_metrics is not None:
            self._compile_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def get_metrics_result(self):
        """The results of all metrics by name."""
        results = {}
        for metric in self.metrics:
            value = metric.result()
            if isinstance(value, dict):
                results.update(value)
            else:
                results[metric.name] = value
        return results

    def stateless_compute_loss(self, *_, **__):
        raise NotImplementedError("Stateless training is not covered: variables can be assigned in compiled functions")

    def _track_loss(self, loss, x):
        first = next((leaf for leaf in nest.flatten(x) if leaf is not None and leaf.ndim > 0), None)
        self._loss_tracker.update_state(loss, sample_weight=1 if first is None else _tf.shape(first)[0])

    def train_step(self, data):
        """Forward, gradient, update and metrics of one batch."""
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        with _tf.GradientTape() as tape:
            y_pred = self(x, training=True) if self._call_has_training_arg else self(x)
            loss = self._loss_of(x, y, y_pred, sample_weight, True)
            tracked = loss
            optimizer = self._optimizer
            if optimizer is not None and hasattr(optimizer, "scale_loss"):
                loss = optimizer.scale_loss(loss)
        if self._loss_tracker is not None:
            self._track_loss(tracked, x)
        variables = self.trainable_weights
        if variables:
            gradients = tape.gradient(loss, variables)
            optimizer.apply_gradients(zip(gradients, variables))
        else:
            warnings.warn("The model does not have any trainable weights.", stacklevel=2)
        return while_traced(self.compute_metrics)(x, y, y_pred, sample_weight=sample_weight)

    def _loss_of(self, x, y, y_pred, sample_weight, training):
        more = {"training": training} if "training" in inspect.signature(self.compute_loss).parameters else {}
        return while_traced(self.compute_loss)(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, **more)

    def test_step(self, data):
        """Loss and metrics of one batch."""
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        y_pred = self(x, training=False) if self._call_has_training_arg else self(x)
        loss = self._loss_of(x, y, y_pred, sample_weight, False)
        if self._loss_tracker is not None:
            self._track_loss(loss, x)
        return while_traced(self.compute_metrics)(x, y, y_pred, sample_weight=sample_weight)

    def predict_step(self, data):
        """The outputs for one batch."""
        x, _, _ = unpack_x_y_sample_weight(data)
        return self(x, training=False) if self._call_has_training_arg else self(x)

    def _made_function(self, step):
        if self._run_eagerly or _tf.config.functions_run_eagerly():
            return step
        return _tf.function(step)

    def make_train_function(self, force=False):
        """The compiled step of training; a subclass may replace it."""
        if self.train_function is None or force:
            object.__setattr__(self, "train_function", self._made_function(lambda data: self.train_step(data)))
        return self.train_function

    def make_test_function(self, force=False):
        """The compiled step of evaluation."""
        if self.test_function is None or force:
            object.__setattr__(self, "test_function", self._made_function(lambda data: self.test_step(data)))
        return self.test_function

    def make_predict_function(self, force=False):
        """The compiled step of prediction."""
        if self.predict_function is None or force:
            object.__setattr__(self, "predict_function", self._made_function(lambda data: self.predict_step(data)))
        return self.predict_function

    def _prepare(self, batch, for_training):
        """Builds what is not built yet (layers, losses, metrics, the optimizer), so that a trace finds it made."""
        if self._prepared == (_state.version(), for_training):
            return
        self._make_parts(batch, for_training)
        object.__setattr__(self, "_prepared", (_state.version(), for_training))

    def _make_parts(self, batch, for_training):
        loss, metrics, optimizer = self._compile_loss, self._compile_metrics, self._optimizer
        if (self.built and all(layer.built for layer in self._remembered("layers", self._flatten_layers))
                and (loss is None or loss.built) and (metrics is None or metrics.built)
                and (not for_training or optimizer is None or getattr(optimizer, "built", True))):
            return
        x, y, _ = unpack_x_y_sample_weight(batch)
        own_step = (type(self).train_step is not Trainer.train_step if for_training
                    else type(self).test_step is not Trainer.test_step)
        if own_step and for_training:
            # What the user's own step computes is not known: losses, metrics and optimizers are built as it uses them.
            if not self.built and not _has_no_call(self):
                self._build_from(x)
            return
        try:
            y_pred = self._output_spec_for(x)
        except Exception:
            if not own_step:
                raise
            return  # the step uses the model in a way of its own, and will say what is wrong
        if y is not None or metrics is None:
            if loss is not None and not loss.built:
                loss.build(y, y_pred)
            if metrics is not None and not metrics.built:
                metrics.build(y, y_pred)
        if for_training and optimizer is not None and not getattr(optimizer, "built", True):
            optimizer.build(self.trainable_variables)

    def _output_spec_for(self, x):
        """What the model would give for a batch like x; builds the model."""
        run = lambda inputs: self(inputs, training=False) if self._call_has_training_arg else self(inputs)  # noqa: E731
        if not self.built:
            self._build_from(x)
        try:
            return compute_output_spec(run, nest.map_structure(_with_any_batch, x))
        except Exception as error:
            if _is_input_error(error):
                raise
            return run(x)

    def _build_from(self, x):
        """Builds the model with the kind of input that training will give it."""
        from ._layer import _call_spec
        first = _call_spec(type(self)).first
        if first is not None:
            inputs = nest.map_structure(self._converted, x) if self._convert_input_args else x
            self._maybe_build({first: nest.map_structure(_with_any_batch, inputs)}, None)

    # ------------------------------------------------------------------ fit

    def fit(self, x=None, y=None, batch_size=None, epochs=1, verbose="auto", callbacks=None, validation_split=0.0,
            validation_data=None, shuffle=True, class_weight=None, sample_weight=None, initial_epoch=0,
            steps_per_epoch=None,
            validation_steps=None, validation_batch_size=None, validation_freq=1):
        """Trains the model for some passes over the data; gives a History."""
        self._check_compiled()
        epochs, steps_per_epoch = _limited(epochs, config.max_epochs()), _limited(steps_per_epoch,
                                                                                  config.max_steps_per_epoch())
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = split_rows((x, y, sample_weight), validation_split)
        if validation_data is not None and isinstance(validation_data, (tuple, list)):
            val_x, val_y, val_w = unpack_x_y_sample_weight(validation_data)
        else:
            val_x, val_y, val_w = validation_data, None, None
        source = data_source(x, y, sample_weight, batch_size, shuffle, class_weight, steps_per_epoch)
        if steps_per_epoch is not None and isinstance(source, (ArrayData, PyDatasetData)):
            source = _Continued(source)
        steps = steps_per_epoch if steps_per_epoch is not None else source.count
        callbacks = self._callback_list(callbacks, True, verbose, epochs, steps)
        object.__setattr__(self, "stop_training", False)
        object.__setattr__(self, "_initial_epoch", None)  # BackupAndRestore sets it
        source.peek()
        source.on_epoch_end()  # Keras's order of hooks
        callbacks.on_train_begin()
        initial_epoch = self._initial_epoch or initial_epoch
        logs, validation = {}, None
        train = None
        for epoch in range(initial_epoch, epochs):
            self.reset_metrics()
            callbacks.on_epoch_begin(epoch)
            source.on_epoch_begin()
            batch_logs, done, train = self._train_epoch(source, steps_per_epoch, callbacks, train)
            source.on_epoch_end()
            logs = self._epoch_logs(batch_logs)
            if val_x is not None and _is_due(epoch, validation_freq):
                if validation is None:
                    validation = data_source(val_x, val_y, val_w, validation_batch_size or batch_size, False, None,
                                             validation_steps)
                    validation.peek()
                validation.on_epoch_end()
                values = self._evaluate(validation, validation_steps, callbacks)
                logs.update({f"val_{key}": value for key, value in values.items()})
            callbacks.on_epoch_end(epoch, logs)
            if self.stop_training:
                break
        if hasattr(self._optimizer, "finalize_variable_values") and epochs > 0 and self._optimizer is not None:
            self._optimizer.finalize_variable_values(self.trainable_weights)
        callbacks.on_train_end(logs)
        return self.history

    def _callback_list(self, callbacks, training, verbose, epochs, steps):
        from .callbacks import CallbackList
        if isinstance(callbacks, CallbackList):
            return callbacks
        return CallbackList(callbacks, add_history=training, add_progbar=verbose != 0, verbose=verbose, epochs=epochs,
                            steps=steps, model=self)

    def _epoch_logs(self, batch_logs):
        """What the metrics say at the end of an epoch; what the last step gave if it is not what the metrics give."""
        if batch_logs is None:
            return {}
        if isinstance(batch_logs, dict) and not self._steps_are_ours():
            results = self.get_metrics_result()
            if set(results) == set(batch_logs):
                return as_numbers(results)
        return as_numbers(batch_logs)

    def _steps_are_ours(self):
        """Whether the last step's logs are what the metrics say."""
        cls = type(self)
        return cls.train_step is Trainer.train_step and cls.test_step is Trainer.test_step and (
            cls.compute_metrics is Trainer.compute_metrics)

    def _train_epoch(self, source, steps, callbacks, train):
        batch_logs, step = None, 0
        hooks, group = callbacks.wants_train_batches, self.steps_per_execution
        limit = steps if steps is not None else float("inf")
        batches = source.batches()
        try:
            while step < limit:
                batch = next(batches, None)
                if batch is None:
                    if steps is not None or step == 0:
                        warn_out_of_data()
                    break
                if train is None:
                    self._prepare(batch, True)
                    train = self.make_train_function()
                if hooks:
                    callbacks.on_train_batch_begin(step)
                batch_logs, done = train(batch), 1
                while done < group and step + done < limit and (further := next(batches, None)) is not None:
                    batch_logs = train(further)
                    done += 1
                if hooks:
                    callbacks.on_train_batch_end(step + group - 1, batch_logs)
                step += done
                if self.stop_training:
                    break
        finally:
            if steps is None:
                batches.close()
        return batch_logs, step, train

    # ------------------------------------------------------------------ evaluate and predict

    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None, steps=None, callbacks=None,
                 return_dict=False, **kwargs):
        """The loss and the metrics over the data."""
        self._check_compiled()
        kwargs.pop("_use_cached_eval_dataset", None)
        if kwargs:
            raise ValueError(f"Arguments not recognized: {kwargs}")
        source = data_source(x, y, sample_weight, batch_size, False, None, steps)
        if steps is not None and isinstance(source, ArrayData):
            source = _Continued(source)
        callbacks = self._callback_list(callbacks, False, verbose, 1, steps if steps is not None else source.count)
        source.peek()
        source.on_epoch_end()
        logs = self._evaluate(source, steps, callbacks)
        return logs if return_dict else self._listed(logs)

    def _listed(self, logs):
        """The values of logs in the order of the metrics, or the only one."""
        names = [name for metric in self.metrics for name in (
            metric.names if isinstance(metric, CompileMetrics) else [metric.name])]
        ordered = [logs[name] for name in names if name in logs] + [logs[name] for name in sorted(logs)
                                                                    if name not in names]
        return ordered[0] if len(ordered) == 1 else ordered

    def _evaluate(self, source, steps, callbacks):
        callbacks.on_test_begin()
        self.reset_metrics()
        logs, step, test = None, 0, None
        limit = steps if steps is not None else float("inf")
        source.on_epoch_begin()
        batches = source.batches()
        object.__setattr__(self, "stop_evaluating", False)
        while step < limit:
            batch = next(batches, None)
            if batch is None:
                if steps is not None:
                    warn_out_of_data()
                break
            if test is None:
                self._prepare(batch, False)
                test = self.make_test_function()
            if callbacks.wants_test_batches:
                callbacks.on_test_batch_begin(step)
            logs = test(batch)
            if callbacks.wants_test_batches:
                callbacks.on_test_batch_end(step, logs)
            step += 1
            if self.stop_evaluating:
                break
        source.on_epoch_end()
        logs = self._epoch_logs(logs)
        callbacks.on_test_end(logs)
        return logs

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        """The outputs for the data, as NumPy arrays."""
        source = data_source(x, None, None, batch_size, False, None, steps)
        callbacks = self._callback_list(callbacks, False, verbose, 1, steps if steps is not None else source.count)
        callbacks.on_predict_begin()
        predict, parts, structure, step = None, None, None, 0
        limit = steps if steps is not None else float("inf")
        source.peek()
        source.on_epoch_begin()
        batches = source.batches()
        object.__setattr__(self, "stop_predicting", False)
        while step < limit:
            batch = next(batches, None)
            if batch is None:
                break
            if predict is None:
                if not self.built:
                    self._build_from(unpack_x_y_sample_weight(batch)[0])
                predict = self.make_predict_function()
            callbacks.on_predict_batch_begin(step)
            outputs = predict(batch)
            if parts is None:
                structure, parts = outputs, [[] for _ in nest.flatten(outputs)]
            for part, value in zip(parts, nest.flatten(outputs)):
                part.append(value.numpy() if hasattr(value, "numpy") else np.asarray(value))
            if callbacks.wants_predict_batches:
                arrays = nest.pack_sequence_as(structure, [part[-1] for part in parts])
                callbacks.on_predict_batch_end(step, {"outputs": arrays})
            step += 1
            if self.stop_predicting:
                break
        source.on_epoch_end()
        callbacks.on_predict_end()
        if parts is None:
            raise ValueError("predict() was given no data")
        return nest.pack_sequence_as(structure, [np.concatenate(part) if len(part) > 1 else part[0] for part in parts])

    # ------------------------------------------------------------------ single batches

    def _on_batch(self, function, data, return_dict):
        logs = function(data)
        logs = as_numbers(logs if isinstance(logs, dict) else {"loss": logs})
        return logs if return_dict else self._listed(logs)

    def _batch(self, x, y, sample_weight, class_weight=None):
        if class_weight is not None:
            if sample_weight is not None:
                raise ValueError("Arguments `sample_weight` and `class_weight` cannot be specified at the same time. "
                                 f"Received: sample_weight={sample_weight}, class_weight={class_weight}")
            sample_weight = class_weights_of(y, class_weight)
        return pack_x_y_sample_weight(as_tensors(x), as_tensors(y), as_tensors(sample_weight))

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, return_dict=False):
        """One step on one batch."""
        self._check_compiled()
        self.reset_metrics()
        batch = self._batch(x, y, sample_weight, class_weight)
        self._prepare(batch, True)
        return self._on_batch(self.make_train_function(), batch, return_dict)

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        """Loss and metrics of one batch."""
        self._check_compiled()
        self.reset_metrics()
        batch = self._batch(x, y, sample_weight)
        self._prepare(batch, False)
        return self._on_batch(self.make_test_function(), batch, return_dict)

    def predict_on_batch(self, x):
        """The outputs for one batch."""
        batch = self._batch(x, None, None)
        if not self.built:
            self._build_from(batch[0])
        outputs = self.make_predict_function()(batch)
        return nest.map_structure(lambda t: t.numpy() if hasattr(t, "numpy") else t, outputs)


class _Continued:
    """Batches of arrays or a PyDataset that go on where the last epoch stopped, as fit with steps_per_epoch has them."""

    def __init__(self, source):
        self._source, self._batches, self._seen = source, None, 0
        self.count, self.batch_size = source.count, source.batch_size
        self.peek, self.on_epoch_begin, self.on_epoch_end = source.peek, source.on_epoch_begin, source.on_epoch_end

    def batches(self):
        if self._batches is None or self.count is not None and self._seen >= self.count:  # all were seen: from the start
            self._batches, self._seen = self._source.batches(), 0
        while True:
            batch = next(self._batches, None)
            if batch is None:
                self._batches = None
                return
            self._seen += 1
            yield batch


def _with_any_batch(x):
    """A symbolic tensor like x, for any number of rows."""
    if x is None or not hasattr(x, "shape"):
        return x
    return KerasTensor((None,) + tuple(x.shape[1:]) if len(x.shape) else (), standardize_dtype(x.dtype))


def _limited(count, limit):
    return count if limit is None else limit if count is None else min(count, limit)


def _is_due(epoch, frequency):
    return epoch + 1 in frequency if isinstance(frequency, (list, tuple, set)) else (epoch + 1) % frequency == 0


def _is_input_error(error):
    return isinstance(error, ValueError) and "incompatible with the layer" in str(error)


