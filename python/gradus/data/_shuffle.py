"""The order of shuffled elements: TensorFlow's, number for number, for the same seeds.

A buffer is filled; each step gives a random one of its elements and puts the next of the input into its place. The
random numbers are those of Philox, of which whole blocks are computed at once.
"""
import functools
import itertools
import threading

import numpy as np

from .. import _core

_FACTORS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def philox(seed, seed2, first, count):
    """`count` blocks of four 32-bit numbers from block `first` on, as one array of uint64."""
    seed, seed2 = seed % 2 ** 64, seed2 % 2 ** 64
    counter = np.arange(first, first + count, dtype=np.uint64)
    a, b = counter & _LOW, counter >> _HALF
    c, d = np.full(count, seed2 & 0xFFFFFFFF, np.uint64), np.full(count, seed2 >> 32, np.uint64)
    key0, key1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        p, q = _FACTORS[0] * a, _FACTORS[1] * c
        a, b, c, d = (q >> _HALF) ^ b ^ np.uint64(key0), q & _LOW, (p >> _HALF) ^ d ^ np.uint64(key1), p & _LOW
        key0, key1 = (key0 + _KEY_STEPS[0]) & 0xFFFFFFFF, (key1 + _KEY_STEPS[1]) & 0xFFFFFFFF
    return np.stack([a, b, c, d], axis=1).ravel()


def random_numbers(seed, seed2):
    """All numbers of a generator, as Python integers."""
    first, count = 0, 16
    while True:
        yield from philox(seed, seed2, first, count).tolist()
        first += count
        count = min(2 * count, 4096)


@functools.lru_cache(maxsize=4)
def order(seed, seed2, count):
    """The order of rows that a new tf.random.shuffle with these seeds gives."""
    words = philox(seed, seed2, 0, (count + 3) // 4)[:max(count - 1, 0)]
    rows = list(range(count))
    for i, step in enumerate((words % (count - np.arange(len(words), dtype=np.uint64))).tolist()):
        rows[i], rows[i + step] = rows[i + step], rows[i]
    return np.array(rows, dtype=np.int64)


def op_seeds(seed):
    """The pair of seeds of a dataset, as TensorFlow derives it from the global seed and the given one."""
    return tuple(int(n) for n in _core._op_seeds(None if seed is None else int(seed)).numpy())


class Seeds:
    """Pairs of seeds, one per iteration: new ones each time, or always the same."""

    def __init__(self, seed, fresh):
        self._pair, self._fresh, self._used, self._lock = op_seeds(seed), fresh, 0, threading.Lock()

    def next(self):
        if not self._fresh:
            return self._pair
        with self._lock:
            at = self._used
            if not probing():
                self._used += 2
        return tuple(int(n) for n in philox(*self._pair, at // 4, 1)[at % 4:at % 4 + 2])


def shuffled(elements, buffer_size, randoms):
    """The elements in another order; buffer_size None keeps all of them first."""
    buffer = list(itertools.islice(elements, buffer_size))
    size, at = len(buffer), 0
    if size == buffer_size:
        for incoming, number in zip(elements, randoms):
            chosen = at + number % size
            if chosen >= size:
                chosen -= size
            result = buffer[chosen]
            buffer[chosen] = buffer[at]
            buffer[at] = incoming
            at = at + 1 if at + 1 < size else 0
            yield result
    yield from drained(buffer[at:] + buffer[:at], randoms)


def drained(buffer, randoms):
    """What remains in the buffer, in random order."""
    result, end = [], len(buffer)
    for start, number in zip(range(end), randoms):
        chosen = start + number % (end - start)
        result.append(buffer[chosen])
        buffer[chosen] = buffer[start]
    return result


class _Probe(threading.local):
    active = False


_probe = _Probe()


def probing():
    """Whether a dataset is iterated only to see what its elements are, which must leave no trace."""
    return _probe.active


class probe:  # noqa: N801
    """A context in which iterating a dataset does not use up random numbers."""

    def __enter__(self):
        self._before, _probe.active = _probe.active, True

    def __exit__(self, *_):
        _probe.active = self._before
