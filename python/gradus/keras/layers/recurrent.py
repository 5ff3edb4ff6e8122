"""SimpleRNN, LSTM and GRU: a cell with its loop. With the usual functions they are forms of C++."""
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

    def _is_one_form(self, training):
        cell = self.cell
        return (cell.activation is activations.tanh and cell.recurrent_activation is activations.sigmoid
                and not (training and cell.recurrent_dropout))

    def _whole(self, sequences, states, mask, training):
        """The layer as one form, with the inputs dropped before it."""
        cell = self.cell
        if cell.dropout or cell.recurrent_dropout:
            self._draw_masks(sequences, states)
            if training and cell.dropout:
                sequences = sequences * tf.expand_dims(cell.get_dropout_mask(sequences[:, 0]), 1)
            forget_masks(cell)
        with_states = self.return_state or self.stateful
        result = self._form(sequences, cell.kernel, cell.recurrent_kernel, cell.bias, states, mask,
                            self.return_sequences, self.go_backwards, self.zero_output_for_mask, with_states)
        if not with_states:
            return result
        self._keep(list(result[1:]))
        return result if self.return_state else result[0]

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

    def _is_one_form(self, training):
        return not (training and self.cell.recurrent_dropout)

    def _form(self, sequences, *args):
        self._check_steps(sequences)
        return _core._simple_rnn(sequences, *args, self.cell.activation)

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

    _form = staticmethod(_core._lstm)


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

    _form = staticmethod(_core._gru)

    def _is_one_form(self, training):
        return self.cell.reset_after and super()._is_one_form(training)
