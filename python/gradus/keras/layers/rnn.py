"""Recurrent layers: RNN over any cell, and the cells.

LSTM and GRU with their usual functions are one op of the engine over the whole sequence (recurrent.py); everything else
is a loop over the cell, one step at a time.
"""

from .. import random as _random
from .._variable import Variable
from ._common import (Layer, activations, in_compute_dtype, parts, parts_config, tf)

CELL_PARTS = ("kernel_initializer recurrent_initializer bias_initializer", "kernel_regularizer recurrent_regularizer "
              "bias_regularizer", "kernel_constraint recurrent_constraint bias_constraint")


def _is_nested(states):
    """Whether these are several states, or sizes of states: a tuple of numbers is one size."""
    return isinstance(states, list) or isinstance(states, tuple) and not all(isinstance(n, int) for n in states)


def flat(states):
    """Nested lists of states as one list."""
    if _is_nested(states):
        return [leaf for part in states for leaf in flat(part)]
    return [states]


def _packed(structure, leaves):
    """The leaves, an iterator, in the nesting of the structure."""
    if _is_nested(structure):
        return [_packed(part, leaves) for part in structure]
    return next(leaves)


def _zeros(batch_size, size, dtype):
    size = tuple(size) if isinstance(size, tuple) else (size,)
    return tf.zeros((batch_size, *size), dtype)


def batch_size_of(x):
    """The first size, a tensor if it is not known."""
    return tf.shape(x)[0] if x.shape[0] is None else x.shape[0]


class _Cell(Layer):
    """What the three cells have: weights with their parts, and dropout masks that stay the same for a sequence."""

    def __init__(self, units, activation="tanh", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None, recurrent_constraint=None,
                 bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, seed=None, recurrent_activation=None,
                 **kwargs):
        if units <= 0:
            raise ValueError(f"Received an invalid value for argument `units`, expected a positive integer, got "
                             f"{units}.")
        kwargs.pop("implementation", None)
        super().__init__(**kwargs)
        self.units, self.use_bias, self.seed = units, use_bias, seed
        if self._seed_first:  # Keras draws default seeds in this order
            self.seed_generator = _random.SeedGenerator(seed)
        self.activation = activations.get(activation)
        if recurrent_activation is not None:
            self.recurrent_activation = activations.get(recurrent_activation)
        parts(self, kernel_initializer=kernel_initializer, recurrent_initializer=recurrent_initializer,
              bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
              recurrent_regularizer=recurrent_regularizer, bias_regularizer=bias_regularizer,
              kernel_constraint=kernel_constraint, recurrent_constraint=recurrent_constraint,
              bias_constraint=bias_constraint)
        self.dropout = min(1.0, max(0.0, dropout or 0.0))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout or 0.0))
        if not self._seed_first:
            self.seed_generator = _random.SeedGenerator(seed)
        self.state_size, self.output_size = units, units
        self.bias = None
        self._masks = {}

    gates, _seed_first = 1, True

    def build(self, input_shape):
        width = self.gates * self.units
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1], width),
                                      initializer=self.kernel_initializer,
                                      regularizer=self.kernel_regularizer, constraint=self.kernel_constraint)
        self.recurrent_kernel = self.add_weight(
            name="recurrent_kernel", shape=(self.units, width), initializer=self.recurrent_initializer,
            regularizer=self.recurrent_regularizer, constraint=self.recurrent_constraint)
        if self.use_bias:
            self.bias = self.add_weight(name="bias", shape=self._bias_shape(), initializer=self._first_bias(),
                                        regularizer=self.bias_regularizer, constraint=self.bias_constraint)
        self.built = True

    def _bias_shape(self):
        return (self.gates * self.units,)

    def _first_bias(self):
        return self.bias_initializer

    def _mask(self, which, rate, like):
        if rate <= 0:
            return None
        mask = self._masks.get(which)
        if mask is None:
            ones = tf.ones_like(like)
            if self.recurrent_dropout and self.gates > 1:  # as Keras does, each gate has its own
                mask = [_random.dropout(ones, rate, seed=self.seed_generator) for _ in range(self.gates)]
            else:
                mask = _random.dropout(ones, rate, seed=self.seed_generator)
            self._masks[which] = mask
        return mask

    def get_dropout_mask(self, step_input):
        """What the inputs are multiplied with in training, the same for all times; None without dropout."""
        return self._mask("input", self.dropout, step_input)

    def get_recurrent_dropout_mask(self, step_input):
        """The same for the states."""
        return self._mask("state", self.recurrent_dropout, step_input)

    def reset_dropout_mask(self):
        self._masks.pop("input", None)

    def reset_recurrent_dropout_mask(self):
        self._masks.pop("state", None)

    def _shares(self, inputs, state, training):
        """What the inputs, with the bias of one gate each, and the state bring to the gates; and the state's masks."""
        inputs, masks = in_compute_dtype(self, inputs), (None, None)
        if training:
            masks = self.get_dropout_mask(inputs), self.get_recurrent_dropout_mask(state)
        return (_product(inputs, masks[0], self.kernel, self.gates),
                _product(state, masks[1], self.recurrent_kernel, self.gates), masks[1])

    def get_initial_state(self, batch_size=None):
        """Zeros."""
        sizes = self.state_size if isinstance(self.state_size, (list, tuple)) else [self.state_size]
        return [_zeros(batch_size, size, self.compute_dtype) for size in sizes]

    def _own_config(self):
        return {}

    def get_config(self):
        config = {**super().get_config(), "units": self.units, "activation": activations.serialize(self.activation)}
        if hasattr(self, "recurrent_activation"):
            config["recurrent_activation"] = activations.serialize(self.recurrent_activation)
        return {**config, "use_bias": self.use_bias, **self._own_config(),
                **parts_config(self, " ".join(CELL_PARTS)), "dropout": self.dropout,
                "recurrent_dropout": self.recurrent_dropout, "seed": self.seed}


def _product(x, mask, kernel, gates):
    """x @ kernel with x masked, for all gates alike or for each by itself."""
    if isinstance(mask, list):
        return tf.concat([tf.matmul(x * m, k) for m, k in zip(mask, tf.split(kernel, gates, 1))], 1)
    return tf.matmul(x if mask is None else x * mask, kernel)


class SimpleRNNCell(_Cell):
    """h = activation(x W + h U + b)."""

    def call(self, sequence, states, training=None):
        before = states[0] if isinstance(states, (list, tuple)) else states
        x, s, _ = self._shares(sequence, before, training)
        if self.bias is not None:
            x = x + self.bias
        h = self.activation(x + s)
        return h, [h] if isinstance(states, (list, tuple)) else h


class LSTMCell(_Cell):
    """A long short-term memory step; gates i, f, c, o."""
    gates, _seed_first = 4, False

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, **kwargs):
        super().__init__(units, activation, use_bias, kernel_initializer, recurrent_initializer, bias_initializer,
                         recurrent_activation=recurrent_activation, **kwargs)
        self.unit_forget_bias = unit_forget_bias
        self.state_size = [units, units]

    def _first_bias(self):
        if not self.unit_forget_bias:
            return self.bias_initializer
        first, units = self.bias_initializer, self.units

        def forget_gate_open(shape, dtype=None):
            return tf.concat([first((units,), dtype=dtype), tf.ones([units], dtype), first((2 * units,), dtype=dtype)],
                             0)
        return forget_gate_open

    def call(self, inputs, states, training=None):
        before, carry = states
        x, s, _ = self._shares(inputs, before, training)
        z = x + s
        if self.bias is not None:
            z = z + self.bias
        i, f, g, o = tf.split(z, 4, 1)
        gate, act = self.recurrent_activation, self.activation
        carry = gate(f) * carry + gate(i) * act(g)
        h = gate(o) * act(carry)
        return h, [h, carry]

    def _own_config(self):
        return {"unit_forget_bias": self.unit_forget_bias}


class GRUCell(_Cell):
    """A step of gated recurrent units; gates z, r, h."""
    gates, _seed_first = 3, False

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, reset_after=True,
                 seed=None, **kwargs):
        super().__init__(units, activation, use_bias, kernel_initializer, recurrent_initializer, bias_initializer,
                         kernel_regularizer, recurrent_regularizer, bias_regularizer, kernel_constraint,
                         recurrent_constraint, bias_constraint, dropout, recurrent_dropout, seed,
                         recurrent_activation, **kwargs)
        self.reset_after = reset_after

    def _bias_shape(self):
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def call(self, inputs, states, training=None):
        before = states[0] if isinstance(states, (list, tuple)) else states
        x, s, masks = self._shares(inputs, before, training)
        bias = self.bias
        if bias is not None:
            x = x + (bias[0] if self.reset_after else bias)
        xz, xr, xh = tf.split(x, 3, 1)
        gate, units = self.recurrent_activation, self.units
        if self.reset_after:
            if bias is not None:
                s = s + bias[1]
            sz, sr, sh = tf.split(s, 3, 1)
            z, r = gate(xz + sz), gate(xr + sr)
            g = self.activation(xh + r * sh)
        else:
            sz, sr, _ = tf.split(s, 3, 1)
            z, r = gate(xz + sz), gate(xr + sr)
            state = before * masks[2] if isinstance(masks, list) else before
            g = self.activation(xh + tf.matmul(r * state, self.recurrent_kernel[:, 2 * units:]))
        h = z * before + (1 - z) * g
        return h, [h] if isinstance(states, (list, tuple)) else h

    def get_config(self):
        config = super().get_config()
        seed = config.pop("seed")
        return {**config, "reset_after": self.reset_after, "seed": seed}


class StackedRNNCells(Layer):
    """Cells one after the other, as one cell."""

    def __init__(self, cells, **kwargs):
        super().__init__(**kwargs)
        for cell in cells:
            if not hasattr(cell, "call"):
                raise ValueError(f"All cells must have a `call` method. Received cell without a `call` method: {cell}")
            if not hasattr(cell, "state_size"):
                raise ValueError(f"All cells must have a `state_size` attribute. Received cell without a "
                                 f"`state_size`: {cell}")
        self.cells = list(cells)

    @property
    def state_size(self):
        return [list(c.state_size) if isinstance(c.state_size, (list, tuple)) else c.state_size for c in self.cells]

    @property
    def output_size(self):
        last = self.cells[-1]
        size = getattr(last, "output_size", None)
        if size is not None:
            return size
        return last.state_size[0] if isinstance(last.state_size, (list, tuple)) else last.state_size

    def get_initial_state(self, batch_size=None):
        return [initial_state_of(cell, batch_size, self.compute_dtype) for cell in self.cells]

    def build(self, input_shape):
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(input_shape)
            size = getattr(cell, "output_size", None)
            if size is None:
                size = cell.state_size[0] if isinstance(cell.state_size, (list, tuple)) else cell.state_size
            input_shape = (input_shape[0], *(size if isinstance(size, tuple) else (size,)))
        self.built = True

    def call(self, inputs, states, training=False, **kwargs):
        new_states = []
        for cell, own in zip(self.cells, states):
            given = own if isinstance(own, (list, tuple)) else [own]
            inputs, new = step(cell, inputs, list(given), training)
            new_states.append(new)
        return inputs, new_states

    def reset_dropout_mask(self):
        for cell in self.cells:
            forget_masks(cell)

    reset_recurrent_dropout_mask = reset_dropout_mask

    def get_config(self):
        from .. import _serialization as saving
        return {**super().get_config(), "cells": [saving.serialize_keras_object(cell) for cell in self.cells]}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        from .. import _serialization as saving
        config = dict(config)
        cells = [saving.deserialize_keras_object(c, custom_objects=custom_objects) for c in config.pop("cells")]
        return cls(cells, **config)


def step(cell, x, states, training):
    """One call of a cell: its output and its states as a list."""
    own = isinstance(cell, (_Cell, StackedRNNCells))
    if own:
        out, new = cell.call(x, states, training=training)
    else:
        if not hasattr(cell, "_takes_training"):
            import inspect
            takes = "training" in inspect.signature(cell.call).parameters
            object.__setattr__(cell, "_takes_training", takes)
        alone = not isinstance(cell.state_size, (list, tuple)) and len(states) == 1
        given = states[0] if alone and getattr(cell, "_single_state", False) else states
        out, new = cell(x, given, training=training) if cell._takes_training else cell(x, given)
    return out, list(new) if isinstance(new, (list, tuple)) else [new]


def forget_masks(cell):
    """Lets the next sequence have dropout masks of its own."""
    for name in ("reset_dropout_mask", "reset_recurrent_dropout_mask"):
        if hasattr(cell, name):
            getattr(cell, name)()


def initial_state_of(cell, batch_size, dtype):
    """Zeros, or what the cell says, as a list."""
    if getattr(cell, "get_initial_state", None):
        state = cell.get_initial_state(batch_size=batch_size)
        return list(state) if isinstance(state, (list, tuple)) else [state]
    sizes = cell.state_size if isinstance(cell.state_size, (list, tuple)) else [cell.state_size]
    return [_zeros(batch_size, size, dtype) for size in sizes]


class RNN(Layer):
    """A cell over sequences [batch, time, ...]."""

    def __init__(self, cell, return_sequences=False, return_state=False, go_backwards=False, stateful=False,
                 unroll=False,
                 zero_output_for_mask=False, **kwargs):
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if "call" not in dir(cell):
            raise ValueError(f"Argument `cell` should have a `call` method. Received: cell={cell}")
        if "state_size" not in dir(cell):
            raise ValueError("The RNN cell should have a `state_size` attribute (single integer or list of integers, "
                             f"one integer per RNN state). Received: cell={cell}")
        kwargs.pop("implementation", None)
        kwargs.pop("time_major", None)
        super().__init__(**kwargs)
        self.cell = cell
        self.return_sequences, self.return_state, self.go_backwards = return_sequences, return_state, go_backwards
        self.stateful, self.unroll, self.zero_output_for_mask = stateful, unroll, zero_output_for_mask
        self.supports_masking = True
        self.input_spec = None
        object.__setattr__(self, "states", None)  # variables, if stateful; they are no weights

    @property
    def state_size(self):
        """The sizes of the states, as a list."""
        size = self.cell.state_size
        return list(size) if isinstance(size, (list, tuple)) else [size]

    def build(self, sequences_shape, initial_state_shape=None):
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build((sequences_shape[0], *sequences_shape[2:]))
        if self.stateful:
            self._create_states(sequences_shape[0])
        self.built = True

    def _create_states(self, batch_size):
        if self.states is not None:
            return
        if batch_size is None:
            raise ValueError("When using `stateful=True` in a RNN, the batch size must be static. Found dynamic batch "
                             "size: sequence.shape=(None, ...)")
        first = flat(initial_state_of(self.cell, batch_size, self.compute_dtype))
        made = [Variable(value, trainable=False, dtype=self.variable_dtype, name="rnn_state") for value in first]
        object.__setattr__(self, "states", made)

    def get_initial_state(self, batch_size):
        """Zeros, or what the cell says."""
        return initial_state_of(self.cell, batch_size, self.compute_dtype)

    def reset_states(self, states=None):
        """Gives the states of a stateful layer their first values, or given ones."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        for i, variable in enumerate(self.states or ()):
            variable.assign(tf.zeros(variable.shape, variable.dtype) if states is None else states[i])

    reset_state = reset_states

    def call(self, sequences, initial_state=None, mask=None, training=None):
        sequences = in_compute_dtype(self, sequences)
        if mask is not None or initial_state is not None or self.stateful:
            initial_state, mask = self._states_and_mask(initial_state, mask)
        if self._is_one_form(training):
            return self._whole(sequences, initial_state, mask, training)
        if self.go_backwards:
            sequences = tf.reverse(sequences, [1])
            mask = None if mask is None else tf.reverse(mask, [1])
        outputs, last, states = self._recur(sequences, initial_state, mask, training)
        self._keep(states)
        result = outputs if self.return_sequences else last
        return (result, *states) if self.return_state else result

    def _states_and_mask(self, initial_state, mask):
        """The states, a list or None for zeros, and the mask [batch, time] or None."""
        if isinstance(mask, (list, tuple)):
            mask = mask[0]
        if mask is not None and len(mask.shape) == 3:
            mask = tf.squeeze(mask, -1)
        if initial_state is not None:
            initial_state = list(initial_state) if isinstance(initial_state, (list, tuple)) else [initial_state]
            if len(flat(initial_state)) != len(flat(self.state_size)):
                raise ValueError(f"Layer {self.name} expected {len(flat(self.state_size))} state(s), but was passed "
                                 f"{len(flat(initial_state))} initial state(s). Received: "
                                 f"initial_state={initial_state}")
        elif self.stateful:
            initial_state = _packed(self.state_size, iter([tf.cast(v, self.compute_dtype) for v in self.states]))
        return initial_state, mask

    def _keep(self, states):
        if self.stateful:
            for variable, value in zip(self.states, flat(states)):
                variable.assign(tf.cast(value, variable.dtype))

    def _is_one_form(self, training):
        """Whether C++ has a form that computes just this; then `_whole` calls it."""
        return False

    def _check_steps(self, sequences):
        if sequences.shape[1] is None:
            raise ValueError(f"Layer {self.name} runs its cell step by step, so the number of steps must be known. "
                             "Inside a tf.function give sequences of one length, or use LSTM or GRU with their usual "
                             "functions.")

    def _recur(self, sequences, states, mask, training):
        """All outputs (None if nobody asks for them), the last one, and the last states."""
        self._check_steps(sequences)
        if states is None:
            states = self._zero_states(sequences)
        forget_masks(self.cell)
        self._draw_masks(sequences, states)
        steps = self._steps(sequences, training)
        masks = None if mask is None else tf.unstack(tf.expand_dims(mask, -1), axis=1)
        outputs, output = [], None
        for t, x in enumerate(steps):
            new_output, new_states = self._step(x, states, training)
            if masks is None:
                output, states = new_output, new_states
            else:
                kept = masks[t]
                nothing = tf.zeros_like(new_output)
                before = nothing if output is None or self.zero_output_for_mask else output
                output = tf.where(_spread(kept, new_output), new_output, before)
                pairs = [tf.where(_spread(kept, new), new, old) for new, old in zip(flat(new_states), flat(states))]
                states = _packed(new_states, iter(pairs))
            if self.return_sequences:
                outputs.append(output)
        forget_masks(self.cell)
        return tf.stack(outputs, 1) if self.return_sequences else None, output, states

    def _draw_masks(self, sequences, states):
        """Draws the masks of dropout for a sequence: in every call, as Keras does, also if they are not used."""
        cell = self.cell
        if isinstance(cell, _Cell):
            cell.get_dropout_mask(sequences[:, 0])
            if cell.recurrent_dropout:
                cell.get_recurrent_dropout_mask((self._zero_states(sequences) if states is None else states)[0])

    def _zero_states(self, sequences):
        cell = self.cell
        if isinstance(cell, _Cell) and type(cell).get_initial_state is _Cell.get_initial_state:
            row = tf.zeros_like(sequences[:, 0, :1])  # of an unknown batch, too
            return [row + tf.zeros([1, n], row.dtype) for n in self.state_size]
        return initial_state_of(cell, batch_size_of(sequences), self.compute_dtype)

    def _steps(self, sequences, training):
        return tf.unstack(sequences, axis=1)

    def _step(self, x, states, training):
        return step(self.cell, x, states, training)

    def _passes_masks(self):
        return True

    def compute_mask(self, inputs, previous_mask=None, **kwargs):
        mask = previous_mask[0] if isinstance(previous_mask, (list, tuple)) else previous_mask
        mask = mask if self.return_sequences else None
        return [mask] + [None] * len(self.state_size) if self.return_state else mask

    def compute_output_shape(self, sequences_shape, initial_state_shape=None):
        batch, time = sequences_shape[0], sequences_shape[1]
        size = getattr(self.cell, "output_size", None)
        if size is None:
            size = self.state_size[0]
        size = size if isinstance(size, tuple) else (size,)
        output = (batch, time, *size) if self.return_sequences else (batch, *size)
        if not self.return_state:
            return output

        def shapes(sizes):
            if isinstance(sizes, list):
                return [shapes(s) for s in sizes]
            return (batch, *sizes) if isinstance(sizes, tuple) else (batch, sizes)
        return (output, *(shapes(list(s) if isinstance(s, list) else s) for s in self.state_size))

    def _run_config(self):
        return {name: getattr(self, name) for name in ("return_sequences", "return_state", "go_backwards", "stateful",
                                                       "unroll", "zero_output_for_mask")}

    def get_config(self):
        from .. import _serialization as saving
        return {**super().get_config(), **self._run_config(), "cell": saving.serialize_keras_object(self.cell)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        from .. import _serialization as saving
        config = dict(config)
        if isinstance(config.get("cell"), dict):
            config["cell"] = saving.deserialize_keras_object(config["cell"], custom_objects=custom_objects)
        return cls(**config)


def _spread(mask, like):
    """[batch, 1] as [batch, 1, 1...] for a tensor of more axes."""
    while len(mask.shape) < len(like.shape):
        mask = tf.expand_dims(mask, -1)
    return mask
