"""tf.nn.rnn_cell and the functions that run cells over time."""
import collections

import gradus as tf

from ._functions import in_graph
from ._initializers import constant_initializer, zeros_initializer
from ._variables import get_variable, variable_scope

LSTMStateTuple = collections.namedtuple("LSTMStateTuple", ("c", "h"))


class RNNCell:
    """A function of an input and a state, with variables."""

    _kind = "rnn_cell"

    def __init__(self, name=None, reuse=None):
        self._name, self._reuse, self._scope = name, reuse, None

    def __call__(self, inputs, state, scope=None):
        if scope is None and self._scope is not None:
            with variable_scope(self._scope, reuse=True):
                return self.call(inputs, state)
        with variable_scope(scope or self._name, self._kind, reuse=self._reuse) as made:
            self._scope = made
            return self.call(inputs, state)

    def zero_state(self, batch_size, dtype):
        """Zeros for a batch."""
        def zeros(size):
            return in_graph(lambda: tf.zeros([batch_size, size], dtype), "zeros")()
        size = self.state_size
        if isinstance(size, tuple):
            made = [s if not isinstance(s, int) else zeros(s) for s in size]
            return type(size)(*made) if hasattr(size, "_fields") else tuple(made)
        return zeros(size)

    @property
    def variables(self):
        return self._scope.global_variables()

    trainable_variables = variables


def _refuse(kwargs, cell):
    kwargs.pop("trainable", None)
    if kwargs:
        raise TypeError(f"{cell}() got unexpected keyword arguments: {sorted(kwargs)}")


class BasicRNNCell(RNNCell):
    """activation([input, state] . kernel + bias)."""

    _kind = "basic_rnn_cell"

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(name, reuse)
        _refuse(kwargs, "BasicRNNCell")
        self._units, self._activation, self._dtype = num_units, activation or tf.tanh, dtype

    state_size = output_size = property(lambda self: self._units)

    def call(self, inputs, state):
        kernel = get_variable("kernel", [inputs.shape.as_list()[-1] + self._units, self._units], self._dtype)
        bias = get_variable("bias", [self._units], self._dtype, initializer=zeros_initializer())
        run = in_graph(lambda x, h, k, b: self._activation(tf.matmul(tf.concat([x, h], 1), k) + b), self._kind)
        output = run(inputs, state, kernel, bias)
        return output, output


class BasicLSTMCell(RNNCell):
    """A cell with input, forget and output gates."""

    _kind = "basic_lstm_cell"

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None,
                 dtype=None, initializer=None, **kwargs):
        super().__init__(name, reuse)
        _refuse(kwargs, type(self).__name__)
        self._dtype = dtype
        self._units, self._forget, self._activation = num_units, forget_bias, activation or tf.tanh
        self._tuple, self._initializer = state_is_tuple, initializer

    output_size = property(lambda self: self._units)
    state_size = property(lambda self: LSTMStateTuple(self._units, self._units) if self._tuple else 2 * self._units)

    def call(self, inputs, state):
        n = self._units
        kernel = get_variable("kernel", [inputs.shape.as_list()[-1] + n, 4 * n], self._dtype, initializer=self._initializer)
        bias = get_variable("bias", [4 * n], self._dtype, initializer=zeros_initializer())

        def run(x, c, h, kernel, bias):
            i, j, f, o = tf.split(tf.matmul(tf.concat([x, h], 1), kernel) + bias, 4, axis=1)
            new_c = c * tf.sigmoid(f + self._forget) + tf.sigmoid(i) * self._activation(j)
            return new_c, self._activation(new_c) * tf.sigmoid(o)
        c, h = state if self._tuple else in_graph(lambda s: tf.split(s, 2, axis=1), "split")(state)
        new_c, new_h = in_graph(run, self._kind)(inputs, c, h, kernel, bias)
        new = LSTMStateTuple(new_c, new_h) if self._tuple else in_graph(lambda *p: tf.concat(p, 1), "concat")(new_c, new_h)
        return new_h, new


class LSTMCell(BasicLSTMCell):
    """BasicLSTMCell under another name."""

    _kind = "lstm_cell"

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None,
                 num_unit_shards=None, num_proj_shards=None, forget_bias=1.0, state_is_tuple=True, activation=None,
                 reuse=None, name=None, dtype=None, **kwargs):
        if use_peepholes or cell_clip is not None or num_proj is not None or proj_clip is not None:
            raise NotImplementedError("peepholes, clipping and projections are not covered")
        if num_unit_shards is not None or num_proj_shards is not None:
            raise NotImplementedError("variables in shards are not covered; leave out num_unit_shards and num_proj_shards")
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name, dtype, initializer, **kwargs)


class GRUCell(RNNCell):
    """A cell with reset and update gates."""

    _kind = "gru_cell"

    def __init__(self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None, name=None,
                 dtype=None, **kwargs):
        super().__init__(name, reuse)
        _refuse(kwargs, "GRUCell")
        self._units, self._activation, self._dtype = num_units, activation or tf.tanh, dtype
        self._kernel, self._bias = kernel_initializer, bias_initializer

    state_size = output_size = property(lambda self: self._units)

    def call(self, inputs, state):
        n, size = self._units, inputs.shape.as_list()[-1]
        with variable_scope("gates", auxiliary_name_scope=False):
            gk = get_variable("kernel", [size + n, 2 * n], self._dtype, initializer=self._kernel)
            gb = get_variable("bias", [2 * n], self._dtype, initializer=self._bias or constant_initializer(1.0))
        with variable_scope("candidate", auxiliary_name_scope=False):
            ck = get_variable("kernel", [size + n, n], self._dtype, initializer=self._kernel)
            cb = get_variable("bias", [n], self._dtype, initializer=self._bias or zeros_initializer())

        def run(x, h, gk, gb, ck, cb):
            r, u = tf.split(tf.sigmoid(tf.matmul(tf.concat([x, h], 1), gk) + gb), 2, axis=1)
            candidate = self._activation(tf.matmul(tf.concat([x, r * h], 1), ck) + cb)
            return u * h + (1 - u) * candidate
        new = in_graph(run, self._kind)(inputs, state, gk, gb, ck, cb)
        return new, new


class MultiRNNCell(RNNCell):
    """Cells one above the other."""

    _kind = "multi_rnn_cell"

    def __init__(self, cells, state_is_tuple=True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not state_is_tuple:
            raise NotImplementedError("MultiRNNCell(state_is_tuple=False) is not covered; states are tuples")
        self._cells = list(cells)

    output_size = property(lambda self: self._cells[-1].output_size)
    state_size = property(lambda self: tuple(c.state_size for c in self._cells))

    def zero_state(self, batch_size, dtype):
        return tuple(c.zero_state(batch_size, dtype) for c in self._cells)

    def call(self, inputs, state):
        new = []
        for i, (cell, s) in enumerate(zip(self._cells, state)):
            with variable_scope(f"cell_{i}", auxiliary_name_scope=False):
                inputs, s = cell(inputs, s)
            new.append(s)
        return inputs, tuple(new)


class DropoutWrapper(RNNCell):
    """A cell with dropout on its inputs, its outputs and the states it hands on (but not the c of an LSTM)."""

    def __init__(self, cell, input_keep_prob=1.0, output_keep_prob=1.0, state_keep_prob=1.0, seed=None, **kwargs):
        super().__init__()
        if any(kwargs.values()):
            raise NotImplementedError(f"DropoutWrapper with {sorted(kwargs)} is not covered")
        self._cell, self._input, self._output, self._seed = cell, input_keep_prob, output_keep_prob, seed
        self._state = state_keep_prob

    output_size = property(lambda self: self._cell.output_size)
    state_size = property(lambda self: self._cell.state_size)

    def zero_state(self, batch_size, dtype):
        return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs, state, scope=None):
        from ._nn import dropout

        def dropped(x, keep):
            certain = isinstance(keep, (int, float)) and keep == 1
            return x if certain else in_graph(dropout, "dropout")(x, keep, None, self._seed)
        def dropped_state(s):
            if isinstance(s, LSTMStateTuple):
                return LSTMStateTuple(s.c, dropped(s.h, self._state))
            return tuple(map(dropped_state, s)) if isinstance(s, tuple) else dropped(s, self._state)
        output, new = self._cell(dropped(inputs, self._input), state, scope)
        return dropped(output, self._output), dropped_state(new)


def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    """Runs a cell over a list of inputs; its outputs and its last state."""
    if sequence_length is not None:
        raise NotImplementedError("sequence_length is not covered; mask the outputs")
    with variable_scope(scope, "rnn"):
        state = initial_state
        if state is None:
            batch = in_graph(lambda x: tf.shape(x)[0], "batch")(inputs[0]) if inputs[0].shape.as_list()[0] is None else \
                inputs[0].shape.as_list()[0]
            state = cell.zero_state(batch, dtype or tf.float32)
        outputs = []
        for x in inputs:
            y, state = cell(x, state)
            outputs.append(y)
        return outputs, state


def dynamic_rnn(cell, inputs, sequence_length=None, initial_state=None, dtype=None, parallel_iterations=None,
                swap_memory=False, time_major=False, scope=None):
    """The same over an axis of known size; outputs as one tensor. Past the end of a sequence states stay."""
    axis = 0 if time_major else 1
    steps = inputs.shape.as_list()[axis]
    if steps is None:
        raise ValueError("dynamic_rnn needs a known number of steps; use tf.while_loop")
    parts = in_graph(lambda x: tf.unstack(x, axis=axis), "unstack")(inputs)
    with variable_scope(scope, "rnn"):
        state = initial_state
        if state is None:
            batch = inputs.shape.as_list()[1 - axis]
            if batch is None:
                batch = in_graph(lambda x: tf.shape(x)[1 - axis], "batch")(inputs)
            state = cell.zero_state(batch, dtype or tf.float32)
        outputs = []
        for i, x in enumerate(parts):
            y, new = cell(x, state)
            if sequence_length is not None:
                y = _kept(i, sequence_length, y, None)
                new = tf.nest.map_structure(lambda n, s, i=i: _kept(i, sequence_length, n, s), new, state)
            outputs.append(y)
            state = new
        return in_graph(lambda *ys: tf.stack(list(ys), axis=axis), "stack")(*outputs), state


def _kept(i, lengths, new, old):
    def run(lengths, new, old):
        on = tf.reshape(tf.cast(lengths, tf.int32) > i, [-1, 1])
        return tf.where(on, new, tf.zeros_like(new) if old is None else old)
    return in_graph(run, "Select")(lengths, new, old)


def publish(nn, module):
    """Puts these classes and functions into tf.nn."""
    cells = module("nn.rnn_cell")
    for c in (RNNCell, BasicRNNCell, BasicLSTMCell, LSTMCell, GRUCell, MultiRNNCell, DropoutWrapper, LSTMStateTuple):
        setattr(cells, c.__name__, c)
    nn.rnn_cell, nn.static_rnn, nn.dynamic_rnn = cells, static_rnn, dynamic_rnn


