"""Film reviews as word numbers, and whether they are positive."""
import numpy as np

from . import _files, _text


def load_data(path="imdb.npz", num_words=None, skip_top=0, maxlen=None, seed=113, start_char=1, oov_char=2,
              index_from=3, **kwargs):
    """((x_train, y_train), (x_test, y_test)); x are lists of numbers."""
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments: {kwargs}.")
    data = _files.arrays(_files.hosted(path))
    (x_train, y_train), (x_test, y_test) = _text.shuffled(seed, (data["x_train"], data["y_train"]),
                                                          (data["x_test"], data["y_test"]))
    count = len(x_train)
    x = _text.shifted([*x_train, *x_test], start_char, index_from)
    y = np.concatenate([y_train, y_test])
    if maxlen:
        kept_train, labels = _text.shortened(maxlen, x[:count], y[:count])
        kept_test, more = _text.shortened(maxlen, x[count:], y[count:])
        x, y, count = kept_train + kept_test, np.array(labels + more), len(kept_train)
    x = _text.objects(_text.limited(x, num_words, skip_top, oov_char))
    return (x[:count], y[:count]), (x[count:], y[count:])


def get_word_index(path="imdb_word_index.json"):
    """{word: number}."""
    return _text.word_index(path)
