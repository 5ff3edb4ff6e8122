"""F-scores and intersections over unions."""
import gradus as tf

from ... import _core
from ._metric import NativeMetric


class FBetaScore(NativeMetric):
    """The mean of precision and recall, in which recall counts beta times as much; by class or averaged."""

    _state_names = ("true_positives", "false_positives", "false_negatives", "intermediate_weights")

    def __init__(self, average=None, beta=1.0, threshold=None, name="fbeta_score", dtype=None):
        super().__init__(name=name, dtype=dtype)
        if average not in (None, "micro", "macro", "weighted"):
            raise ValueError("Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', 'weighted'}. "
                             f"Received: average={average}")
        if not isinstance(beta, float) or beta <= 0:
            raise ValueError(f"Invalid `beta` argument value. It should be a Python float, > 0. Received: beta={beta}")
        if threshold is not None and (not isinstance(threshold, float) or not 0 < threshold <= 1):
            raise ValueError("Invalid `threshold` argument value. It should verify 0 < threshold <= 1. Received: "
                             f"threshold={threshold}")
        self.average, self.beta, self.threshold = average, beta, threshold
        self.axis = None if average == "micro" else 0
        self._built = False

    def _build(self, classes):
        shape = () if self.average == "micro" else (classes,)
        for name in self._state_names:
            setattr(self, name, self.add_variable(shape, "zeros", name=name))
        self._built = True

    def _make_native(self):
        return self._make(_core._metric_fbeta_score, self.average, self.beta, self.threshold)

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred)
        if y_pred.ndim != 2 or y_true.ndim != 2:
            raise ValueError("FBetaScore expects 2D inputs with shape (batch_size, output_dim), with output_dim fully defined. "
                             f"Received input shapes: y_pred.shape={tuple(y_pred.shape)} and "
                             f"y_true.shape={tuple(y_true.shape)}.")
        if not self._built:
            self._build(y_pred.shape[-1])
        super().update_state(y_true, y_pred, sample_weight)

    def reset_state(self):
        if self._built:
            super().reset_state()

    def get_config(self):
        return {**super().get_config(), "average": self.average, "beta": self.beta, "threshold": self.threshold}


class F1Score(FBetaScore):
    """The harmonic mean of precision and recall."""

    def __init__(self, average=None, threshold=None, name="f1_score", dtype=None):
        super().__init__(average, 1.0, threshold, name, dtype)

    def get_config(self):
        config = super().get_config()
        del config["beta"]
        return config


class IoU(NativeMetric):
    """Intersection over union of predicted and true classes, averaged over some classes."""

    _state_names = ("total_cm",)

    def __init__(self, num_classes, target_class_ids, name=None, dtype=None, ignore_class=None, sparse_y_true=True,
                 sparse_y_pred=True, axis=-1):
        super().__init__(name=name, dtype=dtype or "int64")
        self.num_classes, self.ignore_class = num_classes, ignore_class
        self.target_class_ids = list(target_class_ids)
        if max(self.target_class_ids) >= num_classes:
            raise ValueError(f"Target class id {max(self.target_class_ids)} is out of range, which is [0, {num_classes}).")
        self.sparse_y_true, self.sparse_y_pred, self.axis = sparse_y_true, sparse_y_pred, axis
        self.total_cm = self.add_variable((num_classes, num_classes), "zeros", name="total_confusion_matrix")

    def _make_native(self):
        return self._make(_core._metric_iou, self.num_classes, self.target_class_ids, self.ignore_class,
                          self.sparse_y_true, self.sparse_y_pred, self.axis)

    def get_config(self):
        return {**super().get_config(), "num_classes": self.num_classes, "target_class_ids": self.target_class_ids,
                "ignore_class": self.ignore_class, "sparse_y_true": self.sparse_y_true,
                "sparse_y_pred": self.sparse_y_pred, "axis": self.axis}


class MeanIoU(IoU):
    """Intersection over union, averaged over all classes."""

    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_true=True, sparse_y_pred=True,
                 axis=-1):
        super().__init__(num_classes, list(range(num_classes)), name, dtype, ignore_class, sparse_y_true, sparse_y_pred, axis)

    def get_config(self):
        config = super().get_config()
        del config["target_class_ids"]
        return config


class BinaryIoU(IoU):
    """Intersection over union of two classes that a threshold separates."""

    def __init__(self, target_class_ids=(0, 1), threshold=0.5, name=None, dtype=None):
        super().__init__(2, target_class_ids, name, dtype)
        self.threshold = threshold

    def _make_native(self):
        return self._make(_core._metric_binary_iou, self.target_class_ids, self.threshold)

    def get_config(self):
        return {"target_class_ids": self.target_class_ids, "threshold": self.threshold, "name": self.name,
                "dtype": self._dtype_policy.name}


class OneHotIoU(IoU):
    """Intersection over union of one-hot targets."""

    def __init__(self, num_classes, target_class_ids, name=None, dtype=None, ignore_class=None, sparse_y_pred=False,
                 axis=-1):
        super().__init__(num_classes, target_class_ids, name, dtype, ignore_class, False, sparse_y_pred, axis)

    def get_config(self):
        config = super().get_config()
        del config["sparse_y_true"]
        return config


class OneHotMeanIoU(MeanIoU):
    """Intersection over union of one-hot targets, averaged over all classes."""

    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_pred=False, axis=-1):
        super().__init__(num_classes, name, dtype, ignore_class, False, sparse_y_pred, axis)

    def get_config(self):
        config = super().get_config()
        del config["sparse_y_true"]
        return config
