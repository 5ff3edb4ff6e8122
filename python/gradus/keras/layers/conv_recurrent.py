"""ConvLSTM: a long short-term memory whose products are convolutions, for sequences of signals, images and volumes."""
from .. import random as _random
from ._common import InputSpec, activations, data_format_of, in_compute_dtype, numbers, parts_config, regularizers, tf
from .convolution import convolve, to_channels_first, to_channels_last, window_size
from .rnn import CELL_PARTS, RNN, LSTMCell, _zeros

_OF_CELL = ("activation recurrent_activation use_bias kernel_initializer recurrent_initializer bias_initializer "
            "unit_forget_bias kernel_regularizer recurrent_regularizer bias_regularizer kernel_constraint "
            "recurrent_constraint bias_constraint dropout recurrent_dropout seed").split()


class ConvLSTMCell(LSTMCell):
    """One step; gates i, f, c, o. The states have the shape of the outputs."""
    _seed_first = True

    def __init__(self, rank, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1,
                 **kwargs):
        super().__init__(filters, **kwargs)
        self.rank, self.filters = rank, filters
        self.kernel_size, self.strides = numbers(kernel_size, rank, "kernel_size"), numbers(strides, rank, "strides")
        self.dilation_rate = numbers(dilation_rate, rank, "dilation_rate")
        self.padding, self.data_format = padding.lower(), data_format_of(data_format)

    def output_shape_of(self, input_shape):
        """Of one example, for the shape of a batch of inputs of one time."""
        first = self.data_format == "channels_first"
        sizes = input_shape[2:] if first else input_shape[1:-1]
        sizes = [window_size(n, k, s, self.padding, d) for n, k, s, d in zip(sizes, self.kernel_size, self.strides,
                                                                            self.dilation_rate)]
        return (self.filters, *sizes) if first else (*sizes, self.filters)

    def build(self, input_shape):
        channels = input_shape[1 if self.data_format == "channels_first" else -1]
        if channels is None:
            raise ValueError("The channel dimension of the inputs (last axis) should be defined. Found None. Full "
                             f"input shape received: input_shape={input_shape}")
        self.kernel = self.add_weight(name="kernel", shape=(*self.kernel_size, channels, 4 * self.filters),
                                      initializer=self.kernel_initializer, regularizer=self.kernel_regularizer,
                                      constraint=self.kernel_constraint)
        self.recurrent_kernel = self.add_weight(
            name="recurrent_kernel", shape=(*self.kernel_size, self.filters, 4 * self.filters),
            initializer=self.recurrent_initializer, regularizer=self.recurrent_regularizer,
            constraint=self.recurrent_constraint)
        if self.use_bias:
            self.bias = self.add_weight(name="bias", shape=(4 * self.filters,), initializer=self._first_bias(),
                                        regularizer=self.bias_regularizer, constraint=self.bias_constraint)
        self.output_size = self.output_shape_of(input_shape)
        self.state_size = [self.output_size, self.output_size]
        self.built = True

    def get_initial_state(self, batch_size=None):
        return [_zeros(batch_size, size, self.compute_dtype) for size in self.state_size]

    def call(self, inputs, states, training=None):
        before, carry = states
        x, last = in_compute_dtype(self, inputs), before
        masks = self.get_dropout_mask(x) if training else None
        state_masks = self.get_recurrent_dropout_mask(last) if training else None
        first = self.data_format == "channels_first"
        one = (1,) * self.rank
        z = self._of_gates(x, masks, self.kernel, self.strides, self.padding, self.dilation_rate)
        z = z + self._of_gates(last, state_masks, self.recurrent_kernel, one, "same", one)
        if self.bias is not None:
            z = z + self.bias
        i, f, g, o = tf.split(to_channels_first(z) if first else z, 4, 1 if first else -1)
        gate, act = self.recurrent_activation, self.activation
        carry = gate(f) * carry + gate(i) * act(g)
        h = gate(o) * act(carry)
        return h, [h, carry]

    def _of_gates(self, x, masks, kernel, *how):
        """The convolutions of all gates, with the channels last; with dropout each gate has a mask of its own."""
        last = to_channels_last if self.data_format == "channels_first" else lambda t: t
        if masks is None:
            return convolve(last(x), kernel, *how)
        parts = tf.split(tf.convert_to_tensor(kernel), 4, -1)
        return tf.concat([convolve(last(x * mask), part, *how) for mask, part in zip(masks, parts)], -1)

    def _mask(self, which, rate, like):
        if rate > 0 and self._masks.get(which) is None:
            ones = tf.ones_like(like)
            self._masks[which] = [_random.dropout(ones, rate, seed=self.seed_generator) for _ in range(self.gates)]
        return self._masks.get(which) if rate > 0 else None


class ConvLSTM(RNN):
    """The layer; subclasses say how many spatial axes there are."""
    rank = None

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1,
                 activation="tanh", recurrent_activation="sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True,
                 kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0,
                 recurrent_dropout=0.0, seed=None, return_sequences=False, return_state=False, go_backwards=False,
                 stateful=False, **kwargs):
        given = locals()
        dtype = {"dtype": kwargs["dtype"]} if kwargs.get("dtype") is not None else {}
        cell = ConvLSTMCell(self.rank, filters, kernel_size, strides, padding, data_format, dilation_rate,
                            name="conv_lstm_cell", **dtype, **{name: given[name] for name in _OF_CELL})
        super().__init__(cell, return_sequences, return_state, go_backwards, stateful,
                         activity_regularizer=activity_regularizer, **kwargs)
        self.input_spec = InputSpec(ndim=self.rank + 3)

    def compute_output_shape(self, sequences_shape, initial_state_shape=None):
        batch, time = sequences_shape[:2]
        one = self.cell.output_shape_of((batch, *sequences_shape[2:]))
        output = (batch, time, *one) if self.return_sequences else (batch, *one)
        return (output, (batch, *one), (batch, *one)) if self.return_state else output

    def get_config(self):
        cell = self.cell
        config = super().get_config()
        del config["cell"]
        initial, penalties, limits = CELL_PARTS
        return {**config, "filters": cell.filters, "kernel_size": cell.kernel_size, "strides": cell.strides,
                "padding": cell.padding, "data_format": cell.data_format, "dilation_rate": cell.dilation_rate,
                "activation": activations.serialize(cell.activation),
                "recurrent_activation": activations.serialize(cell.recurrent_activation), "use_bias": cell.use_bias,
                **parts_config(cell, initial), "unit_forget_bias": cell.unit_forget_bias,
                **parts_config(cell, penalties),
                "activity_regularizer": regularizers.serialize(self.activity_regularizer), **parts_config(cell, limits),
                "dropout": cell.dropout, "recurrent_dropout": cell.recurrent_dropout, "seed": cell.seed}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


class ConvLSTM1D(ConvLSTM):
    """Of sequences of signals [batch, time, length, channels]."""
    rank = 1


class ConvLSTM2D(ConvLSTM):
    """Of sequences of images."""
    rank = 2


class ConvLSTM3D(ConvLSTM):
    """Of sequences of volumes."""
    rank = 3
