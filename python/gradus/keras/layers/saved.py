"""A layer that runs what tf.saved_model or model.export wrote."""
from ._common import Layer, tf


class TFSMLayer(Layer):
    """Calls a function of a saved model; its variables are the layer's weights."""

    def __init__(self, filepath, call_endpoint="serve", call_training_endpoint=None, trainable=True, name=None,
                 dtype=None):
        super().__init__(trainable=trainable, name=name, dtype=dtype)
        self._reloaded_obj = tf.saved_model.load(filepath)
        self.filepath, self.call_endpoint, self.call_training_endpoint = filepath, call_endpoint, call_training_endpoint
        self.call_endpoint_fn = self._endpoint(call_endpoint)
        self.call_training_endpoint_fn = self._endpoint(call_training_endpoint) if call_training_endpoint else None
        self.built = True

    def _endpoint(self, name):
        found = getattr(self._reloaded_obj, name, None) or self._reloaded_obj.signatures.get(name)
        if found is None:
            raise ValueError(f"The endpoint '{name}' is neither an attribute of the reloaded SavedModel nor an entry in "
                             f"its `signatures`. Available: {sorted(self._reloaded_obj.signatures)}")
        return found

    @property
    def variables(self):
        return list(getattr(self._reloaded_obj, "variables", ()))

    @property
    def trainable_variables(self):
        return list(getattr(self._reloaded_obj, "trainable_variables", ())) if self.trainable else []

    def call(self, inputs, training=False, **kwargs):
        chosen = self.call_training_endpoint_fn if training and self.call_training_endpoint_fn else self.call_endpoint_fn
        return chosen(inputs, **kwargs)

    def get_config(self):
        return {**super().get_config(), "filepath": self.filepath, "call_endpoint": self.call_endpoint,
                "call_training_endpoint": self.call_training_endpoint}
