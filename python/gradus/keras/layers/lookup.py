"""Words and numbers as indices: IntegerLookup, StringLookup, TextVectorization and Hashing.

Text comes as string tensors, dense or ragged, Python strings, lists of them or NumPy arrays, and is looked up at once; the
results are tensors. A compiled function that has such a layer in it runs as plain Python.
"""
import collections
import itertools
import os
import re

import numpy as np

from ..._fingerprint import fingerprint64
from ..._ragged_functions import RaggedTensor
from ..._strings import StringTensor, numbers_of
from .._operation import KerasTensor
from ._common import Layer, tf
from .preprocessing import encode

_PUNCTUATION = re.compile(r"""[!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']""")


def _texts(data):
    """Strings as an array of str; bytes are decoded."""
    array = np.asarray(data)
    if array.dtype.kind in "SO":
        array = np.array([v.decode() if isinstance(v, bytes) else str(v) for v in array.reshape(-1)],
                         dtype=str).reshape(array.shape)
    return array


def _documents(data, as_array, steps=None):
    """The rows of data, or of all batches of a dataset, as lists of tokens."""
    whole = hasattr(data, "shape") or isinstance(data, (list, tuple))
    arrays = [as_array(batch) for batch in ([data] if whole else itertools.islice(data, steps))]
    return [row for a in arrays for row in (a.reshape(len(a), -1) if a.ndim else a.reshape(1, 1)).tolist()]


class _Lookup(Layer):
    """What the three have: a vocabulary behind special tokens, and what indices become."""

    def __init__(self, max_tokens, num_oov_indices, mask_token, oov_token, vocabulary, idf_weights, invert, output_mode,
                 sparse, pad_to_max_tokens, **kwargs):
        super().__init__(**kwargs)
        if max_tokens is not None and max_tokens <= 1:
            raise ValueError(f"If set, `max_tokens` must be greater than 1. Received: max_tokens={max_tokens}")
        if output_mode not in ("int", "one_hot", "multi_hot", "count", "tf_idf"):
            raise ValueError(f"Invalid argument for output_mode: {output_mode}")
        if sparse and output_mode == "int":
            raise ValueError(f"`sparse` may only be true if `output_mode` is `'one_hot'`, `'multi_hot'`, `'count'` or "
                             f"`'tf_idf'`. Received: sparse={sparse} and output_mode={output_mode}")
        if invert and output_mode != "int":
            raise ValueError(f"`output_mode` must be 'int' when `invert` is true. Received: output_mode={output_mode}")
        self.max_tokens, self.num_oov_indices = max_tokens, num_oov_indices
        self.mask_token, self.oov_token = mask_token, oov_token
        self.invert, self.output_mode, self.pad_to_max_tokens = invert, output_mode, pad_to_max_tokens
        self.sparse, self.input_vocabulary = sparse, None
        self._tokens, self._idf, self.built = [], None, True
        self._convert_input_args, self._allow_non_tensor_positional_args = False, True
        if vocabulary is not None:
            self.set_vocabulary(self._read(vocabulary), idf_weights)
            self.input_vocabulary = list(self._tokens)
        self._fresh()

    def _read(self, vocabulary):
        if isinstance(vocabulary, str):
            with open(vocabulary, encoding="utf-8") as file:
                return [self._token(line) for line in file.read().splitlines()]
        return [self._token(v) for v in np.asarray(vocabulary).reshape(-1).tolist()]

    def _special(self):
        shown = [] if self.mask_token is None or self.output_mode != "int" else [self.mask_token]
        return shown + [self.oov_token] * self.num_oov_indices

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Takes tokens in the order of their indices."""
        tokens = self._read(vocabulary)
        special = self._special()
        if tokens[:len(special)] == special:
            tokens = tokens[len(special):]
        if len(set(tokens)) != len(tokens):
            repeated = sorted(str(t) for t, n in collections.Counter(tokens).items() if n > 1)
            raise ValueError("The passed vocabulary has at least one repeated term. The repeated terms are: "
                             f"{repeated}")
        if self.max_tokens is not None and len(tokens) + len(special) > self.max_tokens:
            raise ValueError("Attempted to set a vocabulary larger than the maximum vocab size. Passed vocab size is "
                             f"{len(tokens) + len(special)}, max vocab size is {self.max_tokens}.")
        self._tokens = tokens
        if idf_weights is not None:
            weights = np.asarray(idf_weights, "float32")
            self._idf = np.concatenate([np.full(len(special), weights.mean(), "float32"), weights])
        self._fresh()

    def _fresh(self):
        start = len(self._special())
        self._index = {token: i + start for i, token in enumerate(self._tokens)}

    def get_vocabulary(self, include_special_tokens=True):
        """The tokens in the order of their indices."""
        return (self._special() if include_special_tokens else []) + list(self._tokens)

    def save_assets(self, dir_path):
        """Writes what was adapted to, into a folder."""
        if self.input_vocabulary is None:
            with open(os.path.join(dir_path, "vocabulary.txt"), "w", encoding="utf-8", newline="\n") as file:
                file.write("\n".join(str(token) for token in self.get_vocabulary()))

    def load_assets(self, dir_path):
        """Reads it again."""
        path = os.path.join(dir_path, "vocabulary.txt")
        if self.input_vocabulary is None and os.path.exists(path):
            with open(path, encoding="utf-8", newline="\n") as file:
                self.set_vocabulary([self._token(line) for line in file.read().split("\n")])

    def vocabulary_size(self):
        """How many indices there are."""
        return len(self._special()) + len(self._tokens)

    def _learn(self, documents):
        """The vocabulary from lists of tokens: frequent ones first, among equals the later in order."""
        counts, containing, total = collections.Counter(), collections.Counter(), 0
        for tokens in documents:
            total += 1
            counts.update(tokens)
            containing.update(set(tokens))
        special = self._special()
        for token in {*special, self.mask_token, self.oov_token}:
            counts.pop(token, None)
        ordered = sorted(counts, key=lambda token: (counts[token], token), reverse=True)
        self._tokens = ordered[:None if self.max_tokens is None else self.max_tokens - len(special)]
        if self.output_mode == "tf_idf":
            weights = np.array([np.log(1 + total / (1 + containing[t])) for t in self._tokens], "float32")
            self._idf = np.concatenate([np.full(len(special), weights.mean() if len(weights) else 0.0, "float32"),
                                        weights])
        self._fresh()

    def reset_state(self):
        """Forgets what was adapted to."""
        self._tokens, self._idf = list(self.input_vocabulary or ()), None
        self._fresh()

    def _numbers(self, tokens):
        """Indices of an array of tokens."""
        first = len(self._special()) - self.num_oov_indices
        out = np.empty(tokens.size, "int64")
        for i, token in enumerate(tokens.reshape(-1).tolist()):
            found = self._index.get(token)
            if found is None:
                if self.mask_token is not None and token == self.mask_token:
                    found = 0
                elif self.num_oov_indices == 0:
                    raise tf.errors.InvalidArgumentError(
                        None, None, f"When `num_oov_indices=0` all inputs should be in vocabulary, found OOV value: "
                                    f"{token!r}")
                else:
                    found = first + self._bucket(token)
            out[i] = found
        return out.reshape(tokens.shape)

    def _bucket(self, token):
        """Which of the indices for tokens that are not in the vocabulary."""
        return fingerprint64(token.encode()) % self.num_oov_indices if self.num_oov_indices > 1 else 0

    def _encoded(self, numbers):
        made = self._dense(numbers)
        return tf.sparse.from_dense(made) if self.sparse else made

    def _dense(self, numbers):
        if self.output_mode == "int":
            return tf.constant(numbers, "int64")
        depth = self.max_tokens if self.pad_to_max_tokens and self.max_tokens else self.vocabulary_size()
        if self.output_mode == "one_hot":
            if numbers.ndim and numbers.shape[-1] == 1:
                numbers = numbers[..., 0]
            return tf.one_hot(numbers, depth, dtype="int64")
        rows = numbers.reshape(-1, numbers.shape[-1]) if numbers.ndim else numbers.reshape(1, 1)
        counts = np.zeros((rows.shape[0], depth), "int64")
        for row, out in zip(rows, counts):
            np.add.at(out, row[row >= 0], 1)
        counts = counts.reshape(*numbers.shape[:-1], depth)
        if self.output_mode == "multi_hot":
            return tf.constant(np.minimum(counts, 1))
        if self.output_mode == "count":
            return tf.constant(counts)
        if self._idf is None:
            raise ValueError("output_mode='tf_idf' needs idf_weights, or adapt() with documents")
        weights = np.zeros(depth, "float32")
        weights[:len(self._idf)] = self._idf
        return tf.constant(counts.astype("float32") * weights)

    def compute_output_spec(self, inputs):
        kind = "string" if self.invert and isinstance(self.oov_token, str) else (
            "float32" if self.output_mode == "tf_idf" else "int64")
        return KerasTensor(super().compute_output_spec(inputs).shape, kind)

    def compute_output_shape(self, input_shape):
        if self.output_mode == "int":
            return input_shape
        depth = self.max_tokens if self.pad_to_max_tokens and self.max_tokens else self.vocabulary_size()
        return (*tuple(input_shape)[:-1], depth)

    def _lookup_config(self):
        idf = None if self._idf is None or self.input_vocabulary is None else self._idf[len(self._special()):].tolist()
        return {"invert": self.invert, "max_tokens": self.max_tokens, "num_oov_indices": self.num_oov_indices,
                "oov_token": self.oov_token, "mask_token": self.mask_token, "output_mode": self.output_mode,
                "sparse": self.sparse, "pad_to_max_tokens": self.pad_to_max_tokens, "idf_weights": idf,
                "vocabulary": self.input_vocabulary,
                "vocabulary_size": self.vocabulary_size() if self._tokens else None,
                "oov_method": "floormod", "salt": None}


def _without(kwargs, *names):
    return {k: v for k, v in kwargs.items() if k not in names}


class StringLookup(_Lookup):
    """Strings as indices, or back with invert."""

    def __init__(self, max_tokens=None, num_oov_indices=1, mask_token=None, oov_token="[UNK]", vocabulary=None,
                 idf_weights=None, invert=False, output_mode="int", pad_to_max_tokens=False, sparse=False,
                 encoding="utf-8", name=None, salt=None, **kwargs):
        super().__init__(max_tokens, num_oov_indices, mask_token, oov_token, vocabulary, idf_weights, invert,
                         output_mode,
                         sparse, pad_to_max_tokens, name=name, **_without(kwargs, "oov_method", "vocabulary_size"))
        if salt is not None:
            raise NotImplementedError("StringLookup(salt=...) is not covered; use Hashing(salt=...)")
        self.encoding = encoding

    @staticmethod
    def _token(value):
        return value.decode() if isinstance(value, bytes) else str(value)

    def adapt(self, data, batch_size=None, steps=None):
        """Takes the vocabulary from data."""
        self._learn(_documents(data, _texts, steps))

    def call(self, inputs):
        if isinstance(inputs, RaggedTensor):
            if self.output_mode != "int":
                inputs = inputs.to_tensor(self.mask_token or "")
            else:
                return inputs.with_flat_values(self.call(inputs.flat_values))
        if not self.invert:
            return self._encoded(self._numbers(_texts(inputs)))
        tokens = self.get_vocabulary()
        numbers = numbers_of(inputs)
        found = [tokens[i] if 0 <= i < len(tokens) else self.oov_token for i in numbers.reshape(-1).tolist()]
        return StringTensor(np.array(found, dtype=object).reshape(numbers.shape))

    def get_config(self):
        return {**super().get_config(), **self._lookup_config(), "encoding": self.encoding}


class IntegerLookup(_Lookup):
    """Integers as indices, or back with invert."""

    def __init__(self, max_tokens=None, num_oov_indices=1, mask_token=None, oov_token=-1, vocabulary=None,
                 vocabulary_dtype="int64", idf_weights=None, invert=False, output_mode="int", sparse=False,
                 pad_to_max_tokens=False, oov_method="floormod", salt=None, name=None, **kwargs):
        super().__init__(max_tokens, num_oov_indices, mask_token, oov_token, vocabulary, idf_weights, invert,
                         output_mode,
                         sparse, pad_to_max_tokens, name=name, **_without(kwargs, "vocabulary_size"))
        if vocabulary_dtype != "int64":
            raise ValueError("Only `vocabulary_dtype='int64'` is supported at this time. Received: "
                             f"vocabulary_dtype={vocabulary_dtype}")
        if oov_method != "floormod" or salt is not None:
            raise NotImplementedError(f"IntegerLookup with oov_method='{oov_method}' and salt={salt} is not covered; "
                                      "oov_method='floormod' without a salt is")
        self.vocabulary_dtype = vocabulary_dtype

    @staticmethod
    def _token(value):
        return int(value)

    def _bucket(self, token):
        return token % self.num_oov_indices

    def adapt(self, data, batch_size=None, steps=None):
        """Takes the vocabulary from data."""
        self._learn(_documents(data, np.asarray, steps))

    def call(self, inputs):
        if isinstance(inputs, RaggedTensor) and self.output_mode == "int":
            return inputs.with_flat_values(self.call(inputs.flat_values))
        numbers = numbers_of(inputs)
        if not self.invert:
            return self._encoded(self._numbers(numbers))
        tokens = self.get_vocabulary()
        found = [tokens[i] if 0 <= i < len(tokens) else self.oov_token for i in numbers.reshape(-1).tolist()]
        return tf.constant(np.array(found, "int64").reshape(numbers.shape))

    def get_config(self):
        config = {**super().get_config(), **self._lookup_config(), "vocabulary_dtype": self.vocabulary_dtype}
        return config


class TextVectorization(_Lookup):
    """Texts as sequences of indices, or as vectors over the vocabulary."""

    def __init__(self, max_tokens=None, standardize="lower_and_strip_punctuation", split="whitespace", ngrams=None,
                 output_mode="int", output_sequence_length=None, pad_to_max_tokens=False, vocabulary=None,
                 idf_weights=None, sparse=False, ragged=False, encoding="utf-8", name=None, **kwargs):
        if ragged and output_mode != "int":
            raise ValueError(f"`ragged` must be `False` if `output_mode` is `'{output_mode}'`.")
        if standardize not in (None, "lower_and_strip_punctuation", "lower",
                               "strip_punctuation") and not callable(standardize):
            raise ValueError(f"Invalid argument for standardize: {standardize}")
        if split not in (None, "whitespace", "character") and not callable(split):
            raise ValueError(f"Invalid argument for split: {split}")
        super().__init__(max_tokens, 1, "", "[UNK]", vocabulary, idf_weights, False, output_mode, sparse,
                         pad_to_max_tokens,
                         name=name, **_without(kwargs, "vocabulary_size"))
        self.standardize, self.split, self.output_sequence_length = standardize, split, output_sequence_length
        self.ngrams = tuple(range(1, ngrams + 1)) if isinstance(ngrams, int) else ngrams
        self.ragged, self.encoding = ragged, encoding

    _token = staticmethod(StringLookup._token)

    def _pieces(self, texts):
        """For each text of an array the list of its tokens."""
        how = self.standardize
        if callable(how):
            texts = _texts(how(StringTensor(texts)))
        texts = texts.reshape(-1).tolist()
        if how is not None and not callable(how):
            texts = [t.lower() for t in texts] if "lower" in how else texts
            texts = [_PUNCTUATION.sub("", t) for t in texts] if "strip" in how else texts
        if callable(self.split):
            made = self.split(StringTensor(np.array(texts, dtype=object)))
            rows = made.to_list() if isinstance(made, RaggedTensor) else np.asarray(made).tolist()
            pieces = [[self._token(t) for t in row] for row in rows]
        elif self.split is None:
            pieces = [[t] for t in texts]
        else:
            pieces = [t.split() if self.split == "whitespace" else list(t) for t in texts]
        if self.ngrams is None:
            return pieces
        return [[" ".join(tokens[i:i + n]) for n in self.ngrams for i in range(len(tokens) - n + 1)]
                for tokens in pieces]

    def adapt(self, data, batch_size=None, steps=None):
        """Takes the vocabulary from texts, or a dataset of batches of them."""
        texts = [text for row in _documents(data, _texts, steps) for text in row]
        self._learn(self._pieces(np.array(texts, dtype=str)))

    def call(self, inputs):
        texts = _texts(inputs)
        alone = texts.ndim == 0
        if texts.ndim > 1 and texts.shape[-1] == 1:
            texts = texts[..., 0]
        pieces = self._pieces(texts)
        if self.ragged:
            pieces = [tokens[:self.output_sequence_length] for tokens in pieces]
            flat = np.array([t for tokens in pieces for t in tokens], dtype=object)
            return RaggedTensor.from_row_lengths(tf.constant(self._numbers(flat)), [len(tokens) for tokens in pieces])
        longest = max(map(len, pieces), default=0)
        length = self.output_sequence_length if self.output_sequence_length and self.output_mode == "int" else longest
        table = np.full((len(pieces), length), -1 if self.output_mode != "int" else 0, "int64")
        for row, tokens in zip(table, pieces):
            tokens = tokens[:length]
            row[:len(tokens)] = self._numbers(np.array(tokens, dtype=object)) if tokens else 0
        if self.split is None and self.output_mode == "int":
            table = table[:, 0]
        out = self._encoded(table)
        return out[0] if alone else out

    def compute_output_shape(self, input_shape):
        if self.output_mode == "int":
            return (input_shape[0], self.output_sequence_length)
        return (input_shape[0],
                self.max_tokens if self.pad_to_max_tokens and self.max_tokens else self.vocabulary_size())

    def get_config(self):
        common = self._lookup_config()
        return {**super().get_config(), "max_tokens": self.max_tokens, "standardize": self.standardize,
                "split": self.split,
                "ngrams": self.ngrams, "output_mode": self.output_mode,
                "output_sequence_length": self.output_sequence_length, "pad_to_max_tokens": self.pad_to_max_tokens,
                "sparse": self.sparse, "ragged": self.ragged, "vocabulary": common["vocabulary"],
                "idf_weights": common["idf_weights"],
                "encoding": self.encoding, "vocabulary_size": self.vocabulary_size()}


class Hashing(Layer):
    """Strings or integers as one of num_bins numbers, by a hash that stays the same for ever."""

    def __init__(self, num_bins, mask_value=None, salt=None, output_mode="int", sparse=False, **kwargs):
        if num_bins is None or num_bins <= 0:
            raise ValueError(f"The `num_bins` for `Hashing` cannot be `None` or non-positive values. Received: "
                             f"num_bins={num_bins}.")
        if output_mode not in ("int", "one_hot", "multi_hot", "count"):
            raise ValueError(f"Invalid value for argument `output_mode`. Received: output_mode={output_mode}")
        if sparse and output_mode == "int":
            raise ValueError("`sparse` may only be true if `output_mode` is `'one_hot'`, `'multi_hot'` or `'count'`. "
                             f"Received: sparse={sparse} and output_mode={output_mode}")
        if output_mode == "int":
            kwargs.setdefault("dtype", "int64")
        super().__init__(**kwargs)
        self.num_bins, self.mask_value, self.output_mode, self.sparse = num_bins, mask_value, output_mode, sparse
        self.salt = [salt, salt] if isinstance(salt, int) else list(salt) if salt is not None else None
        self.built, self._convert_input_args, self._allow_non_tensor_positional_args = True, False, True

    def call(self, inputs):
        if isinstance(inputs, RaggedTensor) and self.output_mode == "int":
            return inputs.with_flat_values(self.call(inputs.flat_values))
        strings = tf.strings.as_string(inputs)
        bins = self.num_bins - 1 if self.mask_value is not None and self.num_bins > 1 else self.num_bins
        numbers = (tf.strings.to_hash_bucket_fast(strings, bins) if self.salt is None
                   else tf.strings.to_hash_bucket_strong(strings, bins, self.salt))
        if self.mask_value is not None:
            masked = tf.equal(strings, str(self.mask_value))
            numbers = tf.where(masked, tf.zeros_like(numbers), numbers + 1 if self.num_bins > 1 else numbers)
        return (numbers if self.output_mode == "int" else
                encode(numbers, self.output_mode, self.num_bins, dtype=self.compute_dtype, sparse=self.sparse))

    def compute_output_shape(self, input_shape):
        return input_shape if self.output_mode == "int" else (*tuple(input_shape)[:-1], self.num_bins)

    def get_config(self):
        return {**super().get_config(), "num_bins": self.num_bins, "salt": self.salt, "mask_value": self.mask_value,
                "output_mode": self.output_mode, "sparse": self.sparse}
