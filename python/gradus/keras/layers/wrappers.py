"""Layers around a layer: TimeDistributed and Bidirectional."""
from ... import _core
from ._common import Layer, tf


def _saving():
    from .. import _serialization as saving
    return saving


class Wrapper(Layer):
    """A layer that has a layer."""

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise TypeError(f"Layer {layer} supplied to Wrapper isn't a supported layer type. Please ensure wrapped "
                            "layer is a valid Keras layer.")
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape=None):
        if not self.layer.built:
            self.layer.build(input_shape)
        self.built = True

    def get_config(self):
        return {**super().get_config(), "layer": _saving().serialize_keras_object(self.layer)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        layer = _saving().deserialize_keras_object(config.pop("layer"), custom_objects=custom_objects)
        return cls(layer, **config)


class TimeDistributed(Wrapper):
    """The layer on each time of sequences [batch, time, ...], as one batch."""

    def __init__(self, layer, **kwargs):
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    def _inner(self, shape):
        if len(shape) < 3:
            raise ValueError("`TimeDistributed` Layer should be passed an `input_shape` with at least 3 dimensions, "
                             f"received: {shape}")
        return (shape[0], *shape[2:])

    def build(self, input_shape):
        inner = self._inner(tuple(input_shape))
        if not self.layer.built:
            self.layer.build(inner)
        self.built = True

    def call(self, inputs, training=None, mask=None):
        from .._layer import _call_spec
        spec = _call_spec(type(self.layer))
        kwargs = {"training": training} if spec.has_training else {}
        shape = tuple(inputs.shape)
        if mask is not None:
            sizes = tuple(mask.shape)
            if len(sizes) < 2 or any(m is not None and n is not None and m != n for m, n in zip(sizes[:2], shape)):
                raise ValueError("The first two dimensions of the `mask` passed to the `TimeDistributed` layer (batch size "
                                 f"and timesteps) must match the input's. Received: mask of shape {sizes}, input of shape "
                                 f"{shape}")
            if spec.has_mask and len(sizes) > 2:
                kwargs["mask"] = tf.reshape(mask, [-1, *sizes[2:]])
        batch, time = (tf.shape(inputs)[i] if shape[i] is None else shape[i] for i in (0, 1))
        outputs = self.layer(tf.reshape(inputs, [-1, *shape[2:]]), **kwargs)
        rest = tuple(outputs.shape)[1:]
        return tf.reshape(outputs, [-1 if shape[0] is None else batch, time, *rest])

    def compute_output_shape(self, input_shape):
        input_shape = tuple(input_shape)
        inner = self.layer.compute_output_shape((input_shape[0], *input_shape[2:]))
        return (inner[0], input_shape[1], *inner[1:])


class Bidirectional(Layer):
    """A recurrent layer forwards and backwards in time."""

    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(f"Please initialize `Bidirectional` layer with a `keras.layers.Layer` instance. "
                             f"Received: {layer}")
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError("`backward_layer` need to be a `keras.layers.Layer` instance. Received: "
                             f"backward_layer={backward_layer}")
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError(f"Invalid merge mode. Received: {merge_mode}. Merge mode should be one of {{\"sum\", "
                             "\"mul\", \"ave\", \"concat\", None}")
        super().__init__(**kwargs)
        config = layer.get_config()
        config["name"] = "forward_" + layer.name
        self.forward_layer = type(layer).from_config(config)
        if backward_layer is None:
            config = layer.get_config()
            config.update(name="backward_" + layer.name, go_backwards=not layer.go_backwards)
            self.backward_layer = type(layer).from_config(config)
        else:
            self.backward_layer = backward_layer
        forward, backward = self.forward_layer, self.backward_layer
        # What one direction says about a masked time must not be there when the other is put beside it.
        if hasattr(forward, "zero_output_for_mask"):
            forward.zero_output_for_mask = backward.zero_output_for_mask = forward.return_sequences
        if forward.go_backwards == backward.go_backwards:
            raise ValueError("Forward layer and backward layer should have different `go_backwards` value. Received: "
                             f"forward_layer.go_backwards {forward.go_backwards}, backward_layer.go_backwards="
                             f"{backward.go_backwards}")
        for name in ("stateful", "return_sequences", "return_state"):
            if getattr(forward, name) != getattr(backward, name):
                raise ValueError("Forward layer and backward layer are expected to have the same value for attribute "
                                 f"\"{name}\", got \"{getattr(forward, name)}\" for forward layer and "
                                 f"\"{getattr(backward, name)}\" for backward layer")
        self.merge_mode = merge_mode
        self.stateful, self.return_sequences = layer.stateful, layer.return_sequences
        self.return_state = layer.return_state
        self.supports_masking = True
        self._first_weights = weights
        self.input_spec = layer.input_spec

    @property
    def layer(self):
        return self.forward_layer

    def build(self, sequences_shape, initial_state_shape=None):
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                layer.build(sequences_shape)
        if self._first_weights is not None:
            half = len(self._first_weights) // 2
            self.forward_layer.set_weights(self._first_weights[:half])
            self.backward_layer.set_weights(self._first_weights[half:])
        self.built = True

    def call(self, sequences, initial_state=None, mask=None, training=None):
        given = {"mask": mask} if mask is not None else {}
        if training is not None:
            given["training"] = training
        ahead, back = given, dict(given)
        if initial_state is not None:
            half = len(initial_state) // 2
            ahead["initial_state"], back["initial_state"] = initial_state[:half], initial_state[half:]
        forward, backward = self.forward_layer(sequences, **ahead), self.backward_layer(sequences, **back)
        states = ()
        if self.return_state:
            states = (*forward[1:], *backward[1:])
            forward, backward = forward[0], backward[0]
        if self.merge_mode is None:
            return (forward, tf.reverse(backward, [1]) if self.return_sequences else backward, *states)
        merged = _core._both_directions(forward, backward, self.merge_mode, self.return_sequences)
        return (merged, *states) if self.return_state else merged

    def reset_states(self):
        """Gives the states of both layers their first values."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    reset_state = reset_states

    @property
    def states(self):
        ahead, back = self.forward_layer.states, self.backward_layer.states
        return None if ahead is None else (*ahead, *back)

    def _passes_masks(self):
        return True

    def compute_mask(self, inputs, mask=None):
        mask = mask[0] if isinstance(mask, (list, tuple)) else mask
        out = mask if self.return_sequences else None
        out = (out, out) if self.merge_mode is None else out
        if self.return_state:
            states = (None,) * (2 * len(self.forward_layer.state_size))
            return (*out, *states) if isinstance(out, tuple) else (out, *states)
        return out

    def compute_output_shape(self, sequences_shape, initial_state_shape=None):
        shape = self.forward_layer.compute_output_shape(sequences_shape)
        states = ()
        if self.return_state:
            shape, states = shape[0], tuple(shape[1:])
        if self.merge_mode == "concat":
            merged = (*shape[:-1], 2 * shape[-1])
        else:
            merged = (tuple(shape), tuple(shape)) if self.merge_mode is None else tuple(shape)
        if not self.return_state:
            return merged
        return (*merged, *states, *states) if self.merge_mode is None else (merged, *states, *states)

    def get_config(self):
        saving = _saving()
        layer = saving.serialize_keras_object(self.forward_layer)
        return {**super().get_config(), "merge_mode": self.merge_mode, "layer": layer,
                "backward_layer": saving.serialize_keras_object(self.backward_layer)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        saving = _saving()
        config = dict(config)
        for name in ("layer", "backward_layer"):
            if isinstance(config.get(name), dict):
                config[name] = saving.deserialize_keras_object(config[name], custom_objects=custom_objects)
        made = cls(**config)
        for layer, name in ((made.forward_layer, "layer"), (made.backward_layer, "backward_layer")):
            if config.get(name) is not None:
                layer.name = config[name].name
        return made
