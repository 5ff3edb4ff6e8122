"""Texts as lists of word numbers: what imdb and reuters share."""
import json

import numpy as np

from . import _files


def word_index(path):
    with open(_files.hosted(path), encoding="utf-8") as file:
        return json.load(file)


def shifted(sequences, start_char, index_from):
    """Numbers moved up to make room for special ones, with a start in front."""
    if start_char is not None:
        return [[start_char] + [w + index_from for w in x] for x in sequences]
    return [[w + index_from for w in x] for x in sequences] if index_from else [list(x) for x in sequences]


def shortened(maxlen, sequences, labels):
    """Without the sequences that are longer."""
    kept = [(x, y) for x, y in zip(sequences, labels) if len(x) < maxlen]
    if not kept:
        raise ValueError(f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept. Increase "
                         "maxlen.")
    return [x for x, _ in kept], [y for _, y in kept]


def limited(sequences, num_words, skip_top, oov_char):
    """Rare and very frequent words as oov_char, or left out."""
    if not num_words:
        num_words = max(max(x) for x in sequences)  # so that the highest one is left out, as in Keras
    if oov_char is not None:
        return [[w if skip_top <= w < num_words else oov_char for w in x] for x in sequences]
    return [[w for w in x if skip_top <= w < num_words] for x in sequences]


def objects(sequences):
    made = np.empty(len(sequences), object)
    made[:] = sequences
    return made


def shuffled(seed, *pairs):
    """Each (sequences, labels) in a random order, by one generator."""
    rng = np.random.RandomState(seed)
    for x, y in pairs:
        order = np.arange(len(x))
        rng.shuffle(order)
        yield x[order], y[order]
