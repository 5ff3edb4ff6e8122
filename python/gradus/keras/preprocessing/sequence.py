"""Sequences: of one length, as windows of a series, and as pairs of neighbouring words."""
import random

import numpy as np

from ..utils import PyDataset, pad_sequences  # noqa: F401


_EULER = 0.577  # as Keras rounds it


class TimeseriesGenerator(PyDataset):
    """Batches of windows of a series, each with the target that follows it."""

    def __init__(self, data, targets, length, sampling_rate=1, stride=1, start_index=0, end_index=None, shuffle=False,
                 reverse=False, batch_size=128, **kwargs):
        super().__init__(**kwargs)
        if len(data) != len(targets):
            raise ValueError("Data and targets have to be of same length. "
                             f"Data length is {len(data)} while target length is {len(targets)}")
        self.data, self.targets, self.length = data, targets, length
        self.sampling_rate, self.stride, self.batch_size = sampling_rate, stride, batch_size
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle, self.reverse = shuffle, reverse
        if self.start_index > self.end_index:
            raise ValueError(f"`start_index+length={self.start_index} > end_index={self.end_index}` is disallowed, as "
                             "no part of the sequence would be left to be used as current step.")

    def __len__(self):
        return -(-(self.end_index - self.start_index + 1) // (self.batch_size * self.stride))

    def __getitem__(self, index):
        if self.shuffle:
            ends = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            first = self.start_index + self.batch_size * self.stride * index
            ends = np.arange(first, min(first + self.batch_size * self.stride, self.end_index + 1), self.stride)
        samples = np.array([self.data[end - self.length:end:self.sampling_rate] for end in ends])
        return samples[:, ::-1, ...] if self.reverse else samples, np.array([self.targets[end] for end in ends])


def make_sampling_table(size, sampling_factor=1e-5):
    """How probably the word of each rank is kept, if frequencies follow Zipf's law."""
    rank = np.arange(size)
    rank[:1] = 1
    inverse = rank * (np.log(rank) + _EULER) + 0.5 - 1.0 / (12.0 * rank)
    frequency = sampling_factor * inverse
    return np.minimum(1.0, frequency / np.sqrt(frequency))


def skipgrams(sequence, vocabulary_size, window_size=4, negative_samples=1.0, shuffle=True, categorical=False,
              sampling_table=None, seed=None):
    """Pairs (word, word near it) with label 1, and pairs with words drawn at random with label 0."""
    pairs, labels = [], []
    yes, no = ([0, 1], [1, 0]) if categorical else (1, 0)
    for i, word in enumerate(sequence):
        if not word or sampling_table is not None and sampling_table[word] < random.random():
            continue
        for j in range(max(0, i - window_size), min(len(sequence), i + window_size + 1)):
            if j != i and sequence[j]:
                pairs.append([word, sequence[j]])
                labels.append(yes)
    if negative_samples > 0:
        count = int(len(labels) * negative_samples)
        words = [pair[0] for pair in pairs]
        random.shuffle(words)
        pairs += [[words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)]
        labels += [no] * count
    if shuffle:
        seed = random.randint(0, 10 ** 7) if seed is None else seed
        for values in (pairs, labels):
            random.seed(seed)
            random.shuffle(values)
    return pairs, labels
