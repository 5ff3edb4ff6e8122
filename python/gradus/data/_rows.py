"""Datasets whose elements are rows of tensors in memory: they are handled by row numbers.

from_tensor_slices gives such rows, and take, skip, shard, shuffle, repeat, cache and zip keep them, so that batch()
takes a whole batch out of each tensor by one gather (or slice) instead of stacking elements. The elements and their
order are the same as without it.
"""
import itertools

import numpy as np

from .. import nest
from .._strings import StringTensor


class Rows:
    """Columns of one length, and the numbers of the rows that are meant, in blocks: ranges or arrays of int64."""

    def __init__(self, structure, columns, blocks):
        self.structure, self.columns, self.blocks = structure, columns, blocks

    def with_blocks(self, blocks):
        """The same columns, other rows."""
        return Rows(self.structure, self.columns, blocks)

    def element(self, leaves):
        return leaves[0] if self.structure is None else nest.pack_sequence_as(self.structure, leaves)

    def elements(self):
        """The rows one by one."""
        columns = self.columns
        if len(columns) == 1:
            column, = columns
            for block in self.blocks:
                for i in _numbers(block):
                    yield self.element([column[i]])
            return
        plain_tuple = type(self.structure) is tuple and not any(map(nest.is_nested, self.structure))
        for block in self.blocks:
            for i in _numbers(block):
                leaves = [column[i] for column in columns]
                yield tuple(leaves) if plain_tuple else self.element(leaves)

    def batches(self, size, drop_remainder):
        """Elements of `size` rows each."""
        for block in chunks(self.blocks, size):
            if drop_remainder and len(block) < size:
                return
            yield self.element([taken(column, block) for column in self.columns])


def _numbers(block):
    return block if type(block) is range else block.tolist()


def taken(column, block):
    """Several rows of a column."""
    if type(block) is range and block.step == 1:
        return column[block.start:block.stop]
    block = np.asarray(block, np.int64)
    if isinstance(column, StringTensor):
        return column[block]
    return _gather(column, block)


def _gather(column, block):
    import gradus
    if type(column) is gradus.SparseTensor:
        return gradus.sparse.concat(0, [column[i:i + 1] for i in block.tolist()])
    return gradus.gather(column, block)


def chunks(blocks, size):
    """The same numbers in blocks of `size`; the last one may be smaller."""
    carried = []
    missing = size
    for block in blocks:
        at = 0
        while len(block) - at >= missing:
            piece = block[at:at + missing]
            at += missing
            yield _joined(carried, piece)
            carried, missing = [], size
        if at < len(block):
            carried.append(block[at:] if at else block)
            missing -= len(block) - at
    if carried:
        yield _joined(carried[:-1], carried[-1])


def _joined(pieces, last):
    return np.concatenate([np.asarray(p, np.int64) for p in pieces] + [np.asarray(last, np.int64)]) if pieces else last


def first_of(blocks, count):
    """The first `count` numbers."""
    if count <= 0:
        return
    for block in blocks:
        yield block[:count]
        count -= len(block)
        if count <= 0:
            return


def without_first(blocks, count):
    """What comes after the first `count` numbers."""
    for block in blocks:
        if count < len(block):
            yield block[count:] if count else block
        count = max(0, count - len(block))


def every(blocks, step, start):
    """Each step-th number, from the one at `start` on."""
    for block in blocks:
        if start < len(block):
            yield block[start::step]
        start = (start - len(block)) % step if start < len(block) else start - len(block)


def numbers(blocks):
    """All numbers, one by one."""
    return itertools.chain.from_iterable(map(_numbers, blocks))


def in_blocks(iterator, size=1024):
    """Numbers as arrays."""
    while True:
        block = list(itertools.islice(iterator, size))
        if not block:
            return
        yield np.array(block, np.int64)
