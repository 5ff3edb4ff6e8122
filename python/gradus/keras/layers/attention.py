"""Attention: products of queries and keys, as probabilities over values."""
import math
import re

from ... import _core
from .. import random as _random
from ._common import Layer, SeveralInputs, parts, parts_config, regularizers, tf
from .core import EinsumDense, Softmax, masked_softmax
from .regularization import Dropout


def causal_mask(query_length, key_length):
    """[1, queries, keys]: a query sees the keys that are not later."""
    return tf.expand_dims(tf.range(query_length)[:, None] >= tf.range(key_length)[None, :], 0)


def _both(a, b):
    return b if a is None else a if b is None else tf.logical_and(a, b)


def _length(x, axis=1):
    return x.shape[axis] if x.shape[axis] is not None else tf.shape(x)[axis]


def _check_batches(query, key, value):
    """Batches are not broadcast."""
    sizes = query.shape[0], key.shape[0], value.shape[0]
    if None not in sizes and len(set(sizes)) > 1:
        raise tf.errors.InvalidArgumentError(None, None, "[attention] queries, keys and values come in batches of "
                                             f"{sizes[0]}, {sizes[1]} and {sizes[2]}; they must be of one size")


class Attention(Layer):
    """Luong's attention: inputs [query, value] or [query, value, key]."""

    def __init__(self, use_scale=False, score_mode="dot", dropout=0.0, seed=None, **kwargs):
        super().__init__(**kwargs)
        if score_mode not in ("dot", "concat"):
            raise ValueError("Invalid value for argument score_mode. Expected one of {'dot', 'concat'}. Received: "
                             f"score_mode={score_mode}")
        self.use_scale, self.score_mode, self.dropout, self.seed = use_scale, score_mode, dropout, seed
        if dropout > 0:
            self.seed_generator = _random.SeedGenerator(seed)
        self.scale = self.concat_score_weight = None
        self.supports_masking = True

    def build(self, input_shape):
        self._check(input_shape)
        if self.use_scale:
            self.scale = self.add_weight(name="scale", shape=(), initializer="ones")
        if self.score_mode == "concat":
            self.concat_score_weight = self.add_weight(name="concat_score_weight", shape=(), initializer="ones")
        self.built = True

    def _check(self, inputs):
        if not isinstance(inputs, (list, tuple)) or not 2 <= len(inputs) <= 3:
            raise ValueError(f"{type(self).__name__} layer accepts inputs list of length 2 or 3, namely [query, value] "
                             f"or [query, value, key]. Received: {inputs}")

    def _scores(self, query, key):
        if self.score_mode == "dot":
            scores = tf.matmul(query, key, transpose_b=True)
            return scores if self.scale is None else scores * tf.cast(self.scale, scores.dtype)
        total = tf.expand_dims(query, -2) + tf.expand_dims(key, -3)
        if self.scale is not None:
            total = total * tf.cast(self.scale, total.dtype)
        return tf.cast(self.concat_score_weight, total.dtype) * tf.reduce_sum(tf.tanh(total), -1)

    def call(self, inputs, mask=None, training=None, return_attention_scores=False, use_causal_mask=False):
        self._check(inputs)
        query, value = inputs[0], inputs[1]
        key = inputs[2] if len(inputs) > 2 else value
        scores = self._scores(query, key)
        query_mask, value_mask = (mask[0], mask[1]) if mask else (None, None)
        allowed = None if value_mask is None else tf.expand_dims(value_mask, -2)
        if use_causal_mask:
            allowed = _both(allowed, causal_mask(_length(scores, -2), _length(scores, -1)))
        if allowed is not None:
            lowest = 65504.0 if scores.dtype == "float16" else 1e9
            scores = scores - lowest * (1.0 - tf.cast(allowed, scores.dtype))
        weights = tf.nn.softmax(scores)
        if training and self.dropout > 0:
            weights = _random.dropout(weights, self.dropout, seed=self.seed_generator)
        result = tf.matmul(weights, value)
        if query_mask is not None:
            result = result * tf.cast(tf.expand_dims(query_mask, -1), result.dtype)
        return (result, weights) if return_attention_scores else result

    def _passes_masks(self):
        return True

    def compute_mask(self, inputs, mask=None):
        return None if mask is None or mask[0] is None else tf.convert_to_tensor(mask[0])

    def compute_output_shape(self, input_shape):
        return (*input_shape[0][:-1], input_shape[1][-1])

    def get_config(self):
        return {**super().get_config(), "use_scale": self.use_scale, "score_mode": self.score_mode,
                "dropout": self.dropout, "seed": self.seed}


class AdditiveAttention(Attention):
    """Bahdanau's attention: scores are sums of tanh(query + key)."""

    def __init__(self, use_scale=True, dropout=0.0, **kwargs):
        super().__init__(use_scale=use_scale, dropout=dropout, **kwargs)

    def build(self, input_shape):
        self._check(input_shape)
        if self.use_scale:
            self.scale = self.add_weight(name="scale", shape=(input_shape[0][-1],), initializer="glorot_uniform")
        self.built = True

    def _scores(self, query, key):
        total = tf.tanh(tf.expand_dims(query, -2) + tf.expand_dims(key, -3))
        return tf.reduce_sum(total if self.scale is None else tf.cast(self.scale, total.dtype) * total, -1)

    def get_config(self):
        config = super().get_config()
        del config["score_mode"]
        return config


_PARTS = ("kernel_initializer bias_initializer kernel_regularizer bias_regularizer",
          "kernel_constraint bias_constraint")


class _Heads(SeveralInputs):
    """Projections to several heads and back, and the masks of their inputs."""

    def _start(self, dropout, use_bias, seed, activity_regularizer, given, kwargs):
        if kwargs.pop("flash_attention", None):
            raise NotImplementedError("flash_attention=True is not covered; leave it out: the numbers are the same")
        if kwargs.pop("use_gate", False):
            raise NotImplementedError("use_gate=True is not covered")
        self._sliding_window = kwargs.pop("sliding_window", None)
        if self._sliding_window is not None and self._sliding_window < 1:
            raise ValueError(f"`sliding_window` must be a positive integer. Received: {self._sliding_window}")
        self._of_activity = activity_regularizer  # of each projection
        super().__init__(**kwargs)
        parts(self, **given)
        self.dropout, self.use_bias, self.seed = dropout, use_bias, seed
        self.supports_masking = True

    def _projection(self, equation, output_shape, bias_axes, name, summed=1):
        """An EinsumDense whose kernel has `summed` axes of inputs, then those of outputs, which its fans follow."""
        copies = {part: getattr(self, part) for part in " ".join(_PARTS).split()}
        for part in ("kernel_initializer", "bias_initializer"):
            initializer = copies[part]
            if not hasattr(initializer, "get_config"):
                continue
            config = initializer.get_config()
            if part == "kernel_initializer" and config.get("input_axes", 0) is None:
                rank = len(re.split(",|->", equation)[1])
                config = {**config, "input_axes": tuple(range(summed)), "output_axes": tuple(range(summed, rank))}
            copies[part] = type(initializer).from_config(config)
        return EinsumDense(equation, output_shape=output_shape, bias_axes=bias_axes if self.use_bias else None,
                           name=name, activity_regularizer=self._of_activity, dtype=self.dtype_policy, **copies)

    def _mask(self, query, value, query_mask, value_mask, key_mask, attention_mask, use_causal_mask):
        allowed = None
        if query_mask is not None:
            allowed = tf.cast(tf.expand_dims(query_mask, -1), "bool")
        if value_mask is not None:
            allowed = _both(allowed, tf.cast(tf.expand_dims(value_mask, -2), "bool"))
        if key_mask is not None:
            allowed = _both(allowed, tf.cast(tf.expand_dims(key_mask, -2), "bool"))
        if use_causal_mask:
            allowed = _both(allowed, causal_mask(_length(query), _length(value)))
        if self._sliding_window is not None:
            rows, columns = tf.range(_length(query))[:, None], tf.range(_length(value))[None, :]
            allowed = _both(allowed, (tf.abs(rows - columns) < self._sliding_window)[None])
        return allowed if attention_mask is None else _both(allowed, tf.cast(attention_mask, "bool"))

    def _projected(self, query, key, value):
        """The heads; as layers only where their activity is looked at, which costs more."""
        if self._of_activity is None:
            return self._query_dense.call(query), self._key_dense.call(key), self._value_dense.call(value)
        return self._query_dense(query), self._key_dense(key), self._value_dense(value)

    def _finished(self, x):
        return self._output_dense.call(x) if self._of_activity is None else self._output_dense(x)

    def _call_in_training(self, training, args):
        return self.call(*args, training=training)

    def _build_heads(self, query_shape, value_shape, key_shape, names):
        for name, shape in zip(names, (query_shape, key_shape, value_shape)):
            getattr(self, name).build(shape)

    def compute_mask(self, query, previous_mask=None, **masks):
        return previous_mask  # that of the queries

    def _shared_config(self):
        return {**parts_config(self, _PARTS[0]),
                "activity_regularizer": regularizers.serialize(regularizers.get(self._of_activity)),
                **parts_config(self, _PARTS[1]), "seed": self.seed}


class MultiHeadAttention(_Heads):
    """Attention in several heads, between projections of query, key and value and one of the result."""

    def __init__(self, num_heads, key_dim, value_dim=None, dropout=0.0, use_bias=True, output_shape=None,
                 attention_axes=None, sliding_window=None, flash_attention=None, kernel_initializer="glorot_uniform",
                 bias_initializer="zeros", kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, bias_constraint=None, use_gate=False, seed=None, **kwargs):
        given = dict(kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
                     kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
                     kernel_constraint=kernel_constraint, bias_constraint=bias_constraint)
        kwargs.update(flash_attention=flash_attention, use_gate=use_gate, sliding_window=sliding_window)
        self._start(dropout, use_bias, seed, activity_regularizer, given, kwargs)
        self.num_heads, self.key_dim, self.value_dim = num_heads, key_dim, value_dim or key_dim
        self._output_shape = (output_shape,) if isinstance(output_shape, int) else output_shape
        if isinstance(attention_axes, int):
            attention_axes = (attention_axes,)
        self.attention_axes = None if attention_axes is None else tuple(attention_axes)
        self._query_dense = self._key_dense = self._value_dense = self._output_dense = None

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        rank, heads = len(query_shape), self.num_heads
        free = "abcdefghij"[:rank - 1]
        into, bias = f"{free}x,xyz->{free}yz", "yz"
        middle = [None] * (rank - 2)
        self._query_dense = self._projection(into, (*middle, heads, self.key_dim), bias, "query")
        self._key_dense = self._projection(into, (*middle, heads, self.key_dim), bias, "key")
        self._value_dense = self._projection(into, (*middle, heads, self.value_dim), bias, "value")
        self._build_heads(query_shape, value_shape, key_shape, ("_query_dense", "_key_dense", "_value_dense"))
        self._axes = self.attention_axes = self.attention_axes or tuple(range(1, rank - 1))
        self._softmax = Softmax(tuple(range(-len(self._axes), 0)), dtype=self.dtype_policy)
        self._dropout_layer = Dropout(self.dropout, dtype=self.dtype_policy, seed=self.seed)
        out = self._output_shape or (query_shape[-1],)
        names = "uvw"[:len(out)]
        self._output_dense = self._projection(f"{free}yz,yz{names}->{free}{names}", (*middle, *out), names,
                                              "attention_output", 2)
        self._output_dense.build((*query_shape[:-1], heads, self.value_dim))
        is_plain = self._axes == (1,) and rank == 3
        self._equations = None if is_plain and self._of_activity is None else _attention_equations(rank, self._axes)
        self._is_plain = is_plain
        self.built = True

    @property
    def query_dense(self):
        return self._query_dense

    @property
    def key_dense(self):
        return self._key_dense

    @property
    def value_dense(self):
        return self._value_dense

    @property
    def output_dense(self):
        return self._output_dense

    def call(self, query, value, key=None, query_mask=None, value_mask=None, key_mask=None, attention_mask=None,
             return_attention_scores=False, training=None, use_causal_mask=False):
        key = value if key is None else key
        # The masks of the inputs are seen to here: the projections are not told of them.
        allowed = self._mask(query, value, query_mask, value_mask, key_mask, attention_mask, use_causal_mask)
        if self._equations is not None:
            return self._over_axes(query, key, value, allowed, training, return_attention_scores)
        q, k, v, out = self._query_dense, self._key_dense, self._value_dense, self._output_dense
        seed = self._dropout_layer.seed_generator.state if training and self.dropout > 0 else None
        # Keras sends queries that may see nothing to everything, but not where it shows the scores.
        return _core._multi_head_attention(
            query, key, value, (q.kernel, q.bias, k.kernel, k.bias, v.kernel, v.bias, out.kernel, out.bias), allowed,
            self.dropout, seed, not return_attention_scores and self.dropout == 0, return_attention_scores)

    def _over_axes(self, query, key, value, allowed, training, with_scores):
        """Over other axes than the second of three."""
        _check_batches(query, key, value)
        query, key, value = self._projected(query, key, value)
        scores = tf.einsum(self._equations[0], key, query * (1.0 / math.sqrt(self.key_dim)))
        if allowed is not None:
            axis = -len(self._axes) * 2 - 1
            while len(allowed.shape) < len(scores.shape):
                allowed = tf.expand_dims(allowed, axis)
        sees_all_if_nothing = self._is_plain and not with_scores and self.dropout == 0
        scores = probabilities(scores, allowed, tuple(range(-len(self._axes), 0)), sees_all_if_nothing)
        dropped = self._dropout_layer(scores, training=training) if self.dropout > 0 else scores
        output = self._finished(tf.einsum(self._equations[1], dropped, value))
        return (output, scores) if with_scores else output

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        return (*query_shape[:-1], *(self._output_shape or (query_shape[-1],)))

    def compute_output_spec(self, query, value, key=None, query_mask=None, value_mask=None, key_mask=None,
                            attention_mask=None, return_attention_scores=False, training=None, use_causal_mask=False):
        from .._operation import KerasTensor
        output = KerasTensor(self.compute_output_shape(tuple(query.shape), tuple(value.shape)),
                             dtype=self.compute_dtype)
        if not return_attention_scores:
            return output
        axes = self.attention_axes or tuple(range(1, len(query.shape) - 1))
        rest = [n for i, n in enumerate(query.shape[:-1]) if i and i not in axes]
        shape = (query.shape[0], *rest, self.num_heads, *(query.shape[a] for a in axes),
                 *(value.shape[a] for a in axes))
        return output, KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        return {**super().get_config(), "num_heads": self.num_heads, "key_dim": self.key_dim,
                "value_dim": self.value_dim,
                "dropout": self.dropout, "use_bias": self.use_bias, "use_gate": False,
                "output_shape": self._output_shape,
                "attention_axes": self.attention_axes, "sliding_window": self._sliding_window,
                **self._shared_config()}


def probabilities(scores, allowed, axes=(-1,), all_or_nothing=False):
    """softmax over the last axes, 0 where not allowed; where nothing is, 0 or (all_or_nothing) all alike."""
    axis = -1 if len(axes) == 1 else axes
    if all_or_nothing and allowed is not None:
        return tf.nn.softmax(tf.where(allowed, scores, tf.cast(scores.dtype.min, scores.dtype)))
    return tf.nn.softmax(scores) if allowed is None and axis == -1 else masked_softmax(scores, allowed, axis)


def _attention_equations(rank, axes):
    """Of scores from (key, query) and of the result from (scores, value), for attention over any axes."""
    names = "abcdefghij"[:rank - 1]  # batch and free axes; y: heads, z: features
    batch = [names[0], *(names[i] for i in range(1, rank - 1) if i not in axes)]
    query = names
    key = "".join(chr(ord("k") + i) if i in axes else name for i, name in enumerate(names))
    rows, columns = "".join(query[a] for a in axes), "".join(key[a] for a in axes)
    scores = "".join(batch) + "y" + rows + columns
    return f"{key}yz,{query}yz->{scores}", f"{scores},{key}yz->{query}yz"


class GroupedQueryAttention(_Heads):
    """Attention in which several query heads share a head of keys and values."""

    def __init__(self, head_dim, num_query_heads, num_key_value_heads, dropout=0.0, use_bias=True, sliding_window=None,
                 flash_attention=None, kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, use_gate=False, seed=None, **kwargs):
        if num_query_heads % num_key_value_heads:
            raise ValueError("`num_query_heads` must be divisible by `num_key_value_heads`.")
        given = dict(kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
                     kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
                     kernel_constraint=kernel_constraint, bias_constraint=bias_constraint)
        kwargs.update(flash_attention=flash_attention, use_gate=use_gate, sliding_window=sliding_window)
        self._start(dropout, use_bias, seed, activity_regularizer, given, kwargs)
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.head_dim, self.num_query_heads, self.num_key_value_heads = head_dim, num_query_heads, num_key_value_heads
        self.num_repeats = num_query_heads // num_key_value_heads

    def build(self, query_shape, value_shape, key_shape=None):
        key_shape = value_shape if key_shape is None else key_shape
        into = "bqm,muh->bquh"
        self._query_dense = self._projection(into, (None, self.num_query_heads, self.head_dim), "uh", "query")
        self._key_dense = self._projection(into, (None, self.num_key_value_heads, self.head_dim), "uh", "key")
        self._value_dense = self._projection(into, (None, self.num_key_value_heads, self.head_dim), "uh", "value")
        self._build_heads(query_shape, value_shape, key_shape, ("_query_dense", "_key_dense", "_value_dense"))
        self._softmax = Softmax(dtype=self.dtype_policy)
        self._dropout_layer = Dropout(self.dropout, dtype=self.dtype_policy, seed=self.seed)
        self._output_dense = self._projection("bquh,uhm->bqm", (None, query_shape[-1]), "m", "attention_output", 2)
        self._output_dense.build((query_shape[0], query_shape[1], self.num_query_heads, self.head_dim))
        self.built = True

    def call(self, query, value, key=None, query_mask=None, value_mask=None, key_mask=None, attention_mask=None,
             return_attention_scores=False, training=None, use_causal_mask=False):
        key = value if key is None else key
        allowed = self._mask(query, value, query_mask, value_mask, key_mask, attention_mask, use_causal_mask)
        query, key, value = self._projected(query, key, value)
        query = tf.transpose(query * (1.0 / math.sqrt(self.head_dim)), (0, 2, 1, 3))
        key, value = (tf.repeat(tf.transpose(t, (0, 2, 1, 3)), self.num_repeats, axis=1) for t in (key, value))
        scores = tf.matmul(query, key, transpose_b=True)
        all_or_nothing = not return_attention_scores and self.dropout == 0
        scores = probabilities(scores, None if allowed is None else tf.expand_dims(allowed, 1), (-1,), all_or_nothing)
        dropped = self._dropout_layer(scores, training=training) if self.dropout > 0 else scores
        output = self._finished(tf.transpose(tf.matmul(dropped, value), (0, 2, 1, 3)))
        return (output, scores) if return_attention_scores else output

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        return tuple(query_shape)

    def get_config(self):
        return {**super().get_config(), "head_dim": self.head_dim, "num_query_heads": self.num_query_heads,
                "num_key_value_heads": self.num_key_value_heads, "use_bias": self.use_bias, "use_gate": False,
                "sliding_window": self._sliding_window, "dropout": self.dropout, **self._shared_config()}


GroupQueryAttention = GroupedQueryAttention
