"""What compile() was told, made ready for the outputs of the model: losses and metrics for each of them."""
import gradus as _tf

from .. import nest
from ..autograph._convert import while_traced


def _outputs(y_pred):
    """The outputs as a list; those of a dict in its own order."""
    return list(y_pred.values()) if isinstance(y_pred, dict) else nest.flatten(y_pred)


def _output_names(y_pred, names):
    if isinstance(y_pred, dict):
        return list(y_pred)
    flat = _outputs(y_pred)
    if names and len(names) == len(flat):
        return list(names)
    return [f"output_{i}" for i in range(len(flat))] if len(flat) > 1 else [None]


def _per_output(given, y_pred, names, what):
    """A list with what each output was given; None where nothing."""
    count = len(_outputs(y_pred))
    own = _output_names(y_pred, names)
    if isinstance(given, dict):
        unknown = [k for k in given if k not in own and not (isinstance(y_pred, dict) and k in y_pred)]
        if unknown and own != [None]:
            raise ValueError(f"Expected keys {own} in {what} dict, but found {what}.keys()={list(given)}")
        if own == [None] and len(given) == 1:
            return [next(iter(given.values()))]
        return [given.get(name) for name in own]
    if isinstance(given, (list, tuple)):
        if what == "loss" and count == 1 and len(given) == 1:
            return list(given)
        return list(given) + [None] * (count - len(given))
    return [given] * count


class CompileLoss:
    """The losses of all outputs, weighted and added."""

    def __init__(self, loss, loss_weights=None, output_names=None):
        self._user_loss, self._user_weights, self._names = loss, loss_weights, output_names
        self.built = False
        self._losses, self._weights, self._trackers, self._order = [], [], [], None

    def build(self, y_true, y_pred):
        from . import losses, metrics
        given = _per_output(self._user_loss, y_pred, self._names, "loss")
        flat = _outputs(y_pred)
        if len(given) > len(flat):
            raise ValueError(f"For a model with {len(flat)} output(s), you must provide as many losses. "
                             f"Received: loss={self._user_loss}")
        self._losses = [_loss(one, losses) for one in given]
        weights = self._user_weights
        if weights is None:
            weights = [None] * len(flat)
        elif isinstance(weights, (int, float)):
            weights = [weights] * len(flat)
        else:
            weights = _per_output(weights, y_pred, self._names, "loss_weights")
        self._weights = weights
        names = _output_names(y_pred, self._names)
        present = [i for i, one in enumerate(self._losses) if one is not None]
        self._trackers = [None] * len(flat)
        if len(present) > 1:
            for i in present:
                self._trackers[i] = metrics.Mean(name=f"{names[i]}_loss")
        if isinstance(y_pred, dict):  # reported in the model's own order
            self._order = [names.index(name) for name in y_pred]
        self.built = True

    @property
    def metrics(self):
        """A mean of each loss, if there are several."""
        trackers = self._trackers if self._order is None else [self._trackers[i] for i in self._order]
        return [t for t in trackers if t is not None]

    def __call__(self, y_true, y_pred, sample_weight=None):
        if not self.built:
            self.build(y_true, y_pred)
        predicted = _outputs(y_pred)
        if len(predicted) == 1 and not isinstance(y_pred, dict):
            true = [y_true[0] if isinstance(y_true, (list, tuple)) and len(y_true) == 1 else y_true]
            if isinstance(y_true, dict):
                true = nest.flatten(y_true)
        else:
            true = _matched(y_true, y_pred, self._names, "y_true")
        weights = _matched_weights(sample_weight, y_pred, self._names)
        total = None
        for y, p, loss, scale, w, tracker in zip(true, predicted, self._losses, self._weights, weights, self._trackers):
            if loss is None:
                continue
            if y is None:
                raise ValueError("None values not supported: the loss needs targets" + (
                    "" if y_true is None else f" for each output, got {list(y_true)}"))
            value = loss(y, p, w)
            if tracker is not None:
                tracker.update_state(value)
            if scale is not None:
                value = value * _tf.cast(scale, value.dtype)
            total = value if total is None else total + value
        return total


def _matched(value, y_pred, names, what):
    count = len(_outputs(y_pred))
    if value is None:
        return [None] * count
    if isinstance(value, dict):
        own = _output_names(y_pred, names)
        return [value.get(name) for name in own]
    flat = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(flat) != count:
        raise ValueError(f"{what} and y_pred have different structures.\n{what}: {value}\ny_pred: {y_pred}\n")
    return flat


def _matched_weights(sample_weight, y_pred, names):
    count = len(_outputs(y_pred))
    if sample_weight is None:
        return [None] * count
    if isinstance(sample_weight, (list, tuple, dict)):
        return _matched(sample_weight, y_pred, names, "sample_weight")
    return [sample_weight] * count


def _loss(identifier, losses):
    if identifier is None or isinstance(identifier, losses.Loss):
        return identifier
    if isinstance(identifier, (list, tuple)) and len(identifier) == 1:
        return _loss(identifier[0], losses)
    found = losses.get(identifier)
    if isinstance(found, losses.Loss) or found is None:
        return found
    return losses.LossFunctionWrapper(found, name=getattr(found, "__name__", type(found).__name__))


def _is_one(shape):
    return len(shape) > 0 and shape[-1] == 1


def metric_for(identifier, y_true, y_pred):
    """The metric that a name, a function or a metric stands for; 'accuracy' is chosen by the shapes."""
    if identifier is None:
        return None
    from . import metrics
    if isinstance(identifier, metrics.Metric):
        return identifier
    if isinstance(identifier, str) and identifier.lower() in ("accuracy", "acc"):
        pred_shape, true_shape = tuple(y_pred.shape), tuple(y_true.shape)
        is_binary = _is_one(pred_shape)
        is_sparse = len(true_shape) < len(pred_shape) or (_is_one(true_shape) and not _is_one(pred_shape))
        cls = metrics.BinaryAccuracy if is_binary else (
            metrics.SparseCategoricalAccuracy if is_sparse else metrics.CategoricalAccuracy)
        return cls(name=identifier)
    found = metrics.get(identifier)
    if isinstance(found, metrics.Metric):
        return found
    if isinstance(identifier, str):
        name = identifier
    else:
        name = getattr(found, "__name__", type(found).__name__).strip("<>")  # a lambda's is "lambda"
    return metrics.MeanMetricWrapper(found, name=name)


class CompileMetrics:
    """The metrics of all outputs, as one metric whose result is a dict."""

    name = "compile_metrics"

    def __init__(self, metrics, weighted_metrics, output_names=None):
        self._given, self._given_weighted, self._names = metrics, weighted_metrics, output_names
        self.built = False
        self._entries = []
        self.prefixed = False  # whether results are named after the outputs

    @property
    def metrics(self):
        """The single metrics."""
        return [m for _, m, _, _ in self._entries]

    @property
    def names(self):
        """Of the results that evaluate lists in their own order; the others come sorted."""
        return [] if self.prefixed else [key for key, *_ in self._entries]

    @property
    def variables(self):
        return [v for m in self.metrics for v in m.variables]

    def build(self, y_true, y_pred):
        predicted = _outputs(y_pred)
        true = _matched(y_true, y_pred, self._names, "y_true") if len(predicted) > 1 or isinstance(y_pred, dict) else [
            nest.flatten(y_true)[0] if y_true is not None else None]
        names = _output_names(y_pred, self._names)
        prefix = self.prefixed = len(predicted) > 1 or isinstance(y_pred, dict)
        for given, weighted in ((self._given, False), (self._given_weighted, True)):
            if not given:
                continue
            for i, group in enumerate(self._groups(given, y_pred, names)):
                for identifier in group:
                    metric = metric_for(identifier, true[i], predicted[i])
                    if metric is not None:
                        name = identifier if isinstance(identifier, str) else metric.name
                        key = f"{names[i]}_{name}" if prefix and names[i] else name
                        self._entries.append((key, metric, i, weighted))
        self.built = True

    def _groups(self, given, y_pred, names):
        count = len(names)
        as_list = lambda g: list(g) if isinstance(g, (list, tuple)) else [] if g is None else [g]  # noqa: E731
        if isinstance(given, dict):
            if count == 1 and len(given) == 1:
                return [as_list(next(iter(given.values())))]
            unknown = [k for k in given if k not in names]
            if unknown:
                raise ValueError(f"In the dict argument `metrics`, key '{unknown[0]}' does not correspond to any model "
                                 "output. Received:\n"
                                 f"metrics={given}")
            return [as_list(given.get(name)) for name in names]
        given = as_list(given)
        if count == 1:
            flat = []
            for one in given:
                flat.extend(as_list(one))
            return [flat]
        if any(isinstance(one, (list, tuple)) for one in given) or len(given) == count:
            return [as_list(one) for one in given] + [[]] * (count - len(given))
        if len(given) != count:
            raise ValueError("For a model with multiple outputs, when providing the `metrics` argument as a list, it "
                             "should have as many entries as the model has outputs. Received:\n"
                             f"metrics={given}\nof length {len(given)} whereas the model has {count} outputs.")
        return [as_list(one) for one in given]

    def update_state(self, y_true, y_pred, sample_weight=None):
        if not self.built:
            self.build(y_true, y_pred)
        if not self._entries:
            return
        predicted = _outputs(y_pred)
        if len(predicted) == 1 and not isinstance(y_pred, dict):
            true = [nest.flatten(y_true)[0] if isinstance(y_true, (list, tuple, dict)) else y_true]
        else:
            true = _matched(y_true, y_pred, self._names, "y_true")
        weights = _matched_weights(sample_weight, y_pred, self._names)
        for _, metric, i, weighted in self._entries:
            if weighted and weights[i] is not None:
                while_traced(metric.update_state)(true[i], predicted[i], sample_weight=weights[i])
            else:
                while_traced(metric.update_state)(true[i], predicted[i])

    def result(self):
        """The results by name."""
        results = {}
        for key, metric, i, weighted in self._entries:
            value = metric.result()
            if isinstance(value, dict):
                results.update(value)
                continue
            if weighted and key in results:
                output = f"{self._names[i]}_" if self._names and len(self._names) > 1 else ""
                output = output if key.startswith(output) else ""
                key = f"{output}weighted_{key[len(output):]}"
            if key in results:
                count = 1
                while f"{key}_{count}" in results:
                    count += 1
                key = f"{key}_{count}"
            results[key] = value
        return results

    def reset_state(self):
        for metric in self.metrics:
            metric.reset_state()

    def get_config(self):
        return None
