"""SimpleRNN, LSTM and GRU: a cell with its loop. With the usual functions the loop is the engine's."""
from ... import _core
from ._common import InputSpec, activations, parts_config, regularizers, tf
from .rnn import CELL_PARTS, RNN, GRUCell, LSTMCell, SimpleRNNCell, forget_masks


class _Recurrent(RNN):
    """A layer whose cell is made from its own arguments."""
    cell_class = cell_name = None

    def __init__(self, units, *, activity_regularizer=None, return_sequences=False, return_state=False,
                 go_backwards=False, stateful=False, unroll=False, use_cudnn="auto", zero_output_for_mask=False,
                 name=None, trainable=True, dtype=None, settings, **kwargs):
        for ignored in ("implementation", "time_major"):
            kwargs.pop(ignored, None)
        cell_dtype = {} if dtype is None else {"dtype": dtype}
        cell = self.cell_class(units, trainable=trainable, name=self.cell_name, **cell_dtype, **settings)
        super().__init__(cell, return_sequences=return_sequences, return_state=return_state, go_backwards=go_backwards,
                         stateful=stateful, unroll=unroll, zero_output_for_mask=zero_output_for_mask,
                         activity_regularizer=activity_regularizer, name=name, trainable=trainable, dtype=dtype,
                         **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def _usual(self, training):
        """Whether the engine's op computes just this."""
        cell = self.cell
        return (cell.activation is activations.tanh and cell.recurrent_activation is activations.sigmoid
                and not (training and cell.recurrent_dropout))

    def _fused(self, sequences, states, mask, training):
        """The op's outputs with what masks ask for beyond the states."""
        cell = self.cell
        if cell.dropout or cell.recurrent_dropout:
            self._draw_masks(sequences, states)
            if training and cell.dropout:
                sequences = sequences * tf.expand_dims(cell.get_dropout_mask(sequences[:, 0]), 1)
            forget_masks(cell)
        outputs, *new_states = self._op(sequences, states, mask)
        if mask is not None and self.zero_output_for_mask:
            outputs = tf.where(tf.expand_dims(mask, -1), outputs, tf.zeros([], outputs.dtype))
        elif mask is not None and states is not None:  # before the first time that counts, 0 and not the state
            seen = tf.cumsum(tf.cast(mask, "int32"), axis=1) > 0
            outputs = tf.where(tf.expand_dims(seen, -1), outputs, tf.zeros([], outputs.dtype))
        else:
            return outputs, new_states[0], new_states
        return outputs, outputs[:, -1], new_states

    def _recur(self, sequences, states, mask, training):
        if not self._usual(training):
            return super()._recur(sequences, states, mask, training)
        return self._fused(sequences, states, mask, training)

    def get_config(self):
        cell = self.cell
        config = super().get_config()
        del config["cell"]
        own = cell.get_config()
        initial, penalties, limits = CELL_PARTS
        config.update({name: own[name] for name in ("units", "activation", "recurrent_activation", "use_bias")
                       if name in own})
        config.update(parts_config(cell, initial))
        if "unit_forget_bias" in own:
            config["unit_forget_bias"] = own["unit_forget_bias"]
        config.update(parts_config(cell, penalties))
        config["activity_regularizer"] = regularizers.serialize(self.activity_regularizer)
        config.update(parts_config(cell, limits))
        config.update(dropout=cell.dropout, recurrent_dropout=cell.recurrent_dropout)
        if "reset_after" in own:
            config["reset_after"] = own["reset_after"]
        config["seed"] = own["seed"]
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


for _name in ("units activation recurrent_activation use_bias unit_forget_bias reset_after kernel_initializer "
              "recurrent_initializer bias_initializer kernel_regularizer recurrent_regularizer bias_regularizer "
              "kernel_constraint recurrent_constraint bias_constraint dropout recurrent_dropout seed").split():
    setattr(_Recurrent, _name, property(lambda self, name=_name: getattr(self.cell, name), doc=f"The cell's {_name}."))


def _settings(values, *omit):
    """The arguments of the cell out of the arguments of the layer."""
    left_out = {"self", "units", "kwargs", "__class__", *omit}
    return {name: value for name, value in values.items() if name not in left_out}


_OF_LAYER = ("activity_regularizer", "return_sequences", "return_state", "go_backwards", "stateful", "unroll",
             "use_cudnn")


class SimpleRNN(_Recurrent):
    """h = activation(x W + h U + b) over sequences."""
    cell_class, cell_name = SimpleRNNCell, "simple_rnn_cell"

    def __init__(self, units, activation="tanh", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0,
                 return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False,
                 seed=None,
                 **kwargs):
        values = dict(locals())
        super().__init__(units, settings=_settings(values, *_OF_LAYER), **{n: values[n] for n in _OF_LAYER[:-1]},
                         **kwargs)

    def _recur(self, sequences, states, mask, training):
        return RNN._recur(self, sequences, states, mask, training)

    # The inputs' share of all times is one product.
    def _steps(self, sequences, training):
        cell = self.cell
        if training and cell.dropout:
            sequences = sequences * tf.expand_dims(cell.get_dropout_mask(sequences[:, 0]), 1)
        share = tf.matmul(sequences, cell.kernel)
        if cell.bias is not None:
            share = share + cell.bias
        return tf.unstack(share, axis=1)

    def _step(self, x, states, training):
        cell, state = self.cell, states[0]
        if training and cell.recurrent_dropout:
            state = state * cell.get_recurrent_dropout_mask(state)
        h = cell.activation(x + tf.matmul(state, cell.recurrent_kernel))
        return h, [h]

    def get_config(self):
        config = super().get_config()
        del config["seed"]
        return config


class LSTM(_Recurrent):
    """A long short-term memory layer."""
    cell_class, cell_name = LSTMCell, "lstm_cell"

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, recurrent_constraint=None, bias_constraint=None,
                 dropout=0.0, recurrent_dropout=0.0, seed=None, return_sequences=False, return_state=False,
                 go_backwards=False, stateful=False, unroll=False, use_cudnn="auto", **kwargs):
        values = dict(locals())
        super().__init__(units, settings=_settings(values, *_OF_LAYER), **{n: values[n] for n in _OF_LAYER}, **kwargs)

    def _op(self, sequences, states, mask):
        cell = self.cell
        bias = tf.zeros([4 * cell.units], cell.variable_dtype) if cell.bias is None else cell.bias
        h, c = (None, None) if states is None else states
        return _core._lstm(sequences, cell.kernel, cell.recurrent_kernel, bias, h, c, mask)


class GRU(_Recurrent):
    """A layer of gated recurrent units."""
    cell_class, cell_name = GRUCell, "gru_cell"

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0,
                 recurrent_dropout=0.0, seed=None, return_sequences=False, return_state=False, go_backwards=False,
                 stateful=False, unroll=False, reset_after=True, use_cudnn="auto", **kwargs):
        values = dict(locals())
        super().__init__(units, settings=_settings(values, *_OF_LAYER), **{n: values[n] for n in _OF_LAYER}, **kwargs)

    def _usual(self, training):
        return self.cell.reset_after and super()._usual(training)

    def _op(self, sequences, states, mask):
        cell = self.cell
        bias = tf.zeros([2, 3 * cell.units], cell.variable_dtype) if cell.bias is None else cell.bias
        return _core._gru(sequences, cell.kernel, cell.recurrent_kernel, bias, None if states is None else states[0],
                          mask)
