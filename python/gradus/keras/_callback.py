"""The base of callbacks."""


class Callback:
    """The base of callbacks; `model` is the model that is trained and `params` has verbose, epochs and steps."""

    def __init__(self):
        self.params = None
        self._model = None

    @property
    def model(self):
        return self._model

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self._model = model

    def on_batch_begin(self, batch, logs=None):
        """Another name of on_train_batch_begin."""

    def on_batch_end(self, batch, logs=None):
        """Another name of on_train_batch_end."""

    def on_epoch_begin(self, epoch, logs=None):
        """Before an epoch."""

    def on_epoch_end(self, epoch, logs=None):
        """After an epoch, with its metrics."""

    def on_train_batch_begin(self, batch, logs=None):
        """Before a step of training."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch, logs=None):
        """After a step of training, with the metrics so far."""
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch, logs=None):
        """Before a step of evaluation."""

    def on_test_batch_end(self, batch, logs=None):
        """After a step of evaluation."""

    def on_predict_batch_begin(self, batch, logs=None):
        """Before a step of prediction."""

    def on_predict_batch_end(self, batch, logs=None):
        """After a step of prediction, with its outputs."""

    def on_train_begin(self, logs=None):
        """At the start of fit."""

    def on_train_end(self, logs=None):
        """At the end of fit."""

    def on_test_begin(self, logs=None):
        """At the start of evaluation or validation."""

    def on_test_end(self, logs=None):
        """At the end of evaluation or validation."""

    def on_predict_begin(self, logs=None):
        """At the start of predict."""

    def on_predict_end(self, logs=None):
        """At the end of predict."""
