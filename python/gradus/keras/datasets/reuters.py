"""News as word numbers, and their 46 topics."""
import numpy as np

from . import _files, _text

_LABELS = """cocoa grain veg-oil earn acq wheat copper housing money-supply coffee sugar trade reserves ship cotton
carcass crude nat-gas cpi money-fx interest gnp meal-feed alum oilseed gold tin strategic-metal livestock retail ipi
iron-steel rubber heat jobs lei bop zinc orange pet-chem dlr gas silver wpi hog lead"""


def load_data(path="reuters.npz", num_words=None, skip_top=0, maxlen=None, test_split=0.2, seed=113, start_char=1,
              oov_char=2, index_from=3):
    """((x_train, y_train), (x_test, y_test)); x are lists of numbers."""
    data = _files.arrays(_files.hosted(path))
    (x, y), = _text.shuffled(seed, (data["x"], data["y"]))
    x = _text.shifted(x, start_char, index_from)
    if maxlen:
        x, labels = _text.shortened(maxlen, x, y)
        y = np.array(labels)
    x = _text.objects(_text.limited(x, num_words, skip_top, oov_char))
    count = int(len(x) * (1 - test_split))
    return (x[:count], y[:count]), (x[count:], y[count:])


def get_word_index(path="reuters_word_index.json"):
    """{word: number}."""
    return _text.word_index(path)


def get_label_names():
    """The names of the topics."""
    return tuple(_LABELS.split())
