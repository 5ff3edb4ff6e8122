"""Programs whose sizes the data decide, each with what NumPy makes of the same six numbers."""
import numpy as np

import gradus as tf

F64 = np.float64


def arrays():
    """None, one, some, all elements positive."""
    return [np.array(a, F64) for a in ([-1, -2, -.5, -3, -1, -.25], [-1, -2, .5, -3, -1, -2], [1, -2, .5, -3, 2, 1],
                                       [1, 2, .5, 3, 1, .75], [-1, 1.25, .5, -3, -1, 4])]


def count(x):
    return tf.math.count_nonzero(x > 0)


def npc(x):
    return int(np.count_nonzero(x > 0))


def np_windows(x, width, stride, fill):
    """The windows of SAME padding, a row each."""
    number = -(-x.size // stride)
    total = max((number - 1) * stride + width - x.size, 0)
    x = np.pad(x, [total // 2, total - total // 2], constant_values=fill)
    return np.stack([x[i * stride:i * stride + width] for i in range(number)])


def np_segments(x, ids, n):
    out = np.zeros(n)
    np.add.at(out, ids, x)
    return out


def np_scatter(shape, at, values):
    out = np.zeros(shape)
    out[at] = values
    return out


def sparse(x, least=0):
    """What is larger than `least` of a table of the numbers."""
    table = tf.reshape(x, [2, 3])
    return tf.sparse.from_dense(tf.where(table > least, table, 0.))


def np_table(x, least=0):
    return np.where(x > least, x, 0).reshape(2, 3)


def sparse_rows(x):
    """A sparse table with as many rows as the data say."""
    return tf.sparse.from_dense(tf.boolean_mask(tf.reshape(x, [3, 2]), x[:3] > 0))


def np_rows(x):
    return x.reshape(3, 2)[x[:3] > 0]


def whole(x):
    """The positive numbers without their fractions."""
    return tf.cast(tf.maximum(x, 0.), tf.int32)


def np_whole(x):
    return np.maximum(x, 0).astype(int)


def blocks(x):
    """Two rows of 4 for each positive number, [1, 2 n, 4, 1]."""
    return tf.reshape(tf.tile(x[x > 0], [8]), [1, -1, 4, 1])


def np_blocks(x):
    return np.tile(x[x > 0], 8).reshape(2 * npc(x), 4)


def np_sets(x, choose):
    a, b = np_whole(x).reshape(2, 3), np_whole(-x).reshape(2, 3)
    return np.concatenate([sorted(choose(set(r), set(q))) for r, q in zip(a.tolist(), b.tolist())])


def np_distance(a, b):
    table = np.zeros([len(a) + 1, len(b) + 1])
    table[0], table[:, 0] = np.arange(len(b) + 1), np.arange(len(a) + 1)
    for i, j in np.ndindex(len(a), len(b)):
        table[i + 1, j + 1] = min(table[i, j + 1] + 1, table[i + 1, j] + 1, table[i, j] + (a[i] != b[j]))
    return table[-1, -1]


def corners(x):
    """A box at each number."""
    return tf.cast(tf.stack([x, x, x + 1, x + 1.5], 1), tf.float32)


def np_best(x, most, threshold=-np.inf):
    """The numbers of those boxes that remain, best first."""
    kept = []
    for i in np.argsort(-x, kind="stable"):
        near = [(1 - d) * (1.5 - d) / (3 - (1 - d) * (1.5 - d)) > .5 for d in np.abs(x[kept] - x[i]) if d < 1]
        if len(kept) < most and x[i] > threshold and not any(near):
            kept.append(i)
    return np.array(kept, int)


# name: (with tf, with NumPy)
PROGRAMS = {
    "boolean_mask": (lambda x: tf.boolean_mask(x, x > 0), lambda x: x[x > 0]),
    "x[mask]": (lambda x: x[x > 0] * 2, lambda x: x[x > 0] * 2),
    "mask of rows": (lambda x: tf.boolean_mask(tf.reshape(x, [3, 2]), tf.reshape(x, [3, 2])[:, 0] > 0),
                     lambda x: x.reshape(3, 2)[x.reshape(3, 2)[:, 0] > 0]),
    "mask of an axis": (lambda x: tf.boolean_mask(tf.reshape(x, [2, 3]), x[:3] > 0, axis=1),
                        lambda x: x.reshape(2, 3)[:, x[:3] > 0]),
    "mask of two axes": (lambda x: tf.boolean_mask(x[:, None] * x, x[:, None] * x > .3),
                         lambda x: (x[:, None] * x)[x[:, None] * x > .3]),
    "where": (lambda x: tf.cast(tf.where(x > 0), tf.float64) * tf.reduce_sum(x),
              lambda x: np.argwhere(x > 0) * x.sum()),
    "where of a table": (lambda x: tf.where(x[:, None] * x > 1.), lambda x: np.argwhere(x[:, None] * x > 1)),
    "gather by where": (lambda x: tf.gather(x * x, tf.where(x > 0)[:, 0]), lambda x: (x * x)[x > 0]),
    "gather_nd by where": (lambda x: tf.gather_nd(tf.sin(x), tf.where(x > 0)), lambda x: np.sin(x)[x > 0]),
    "sum of chosen": (lambda x: tf.reduce_sum(tf.boolean_mask(x, x > 0) ** 2), lambda x: (x[x > 0] ** 2).sum()),
    "max of chosen and 0": (lambda x: tf.reduce_max(tf.concat([x[x > 0], [0.]], 0)), lambda x: max([0, *x[x > 0]])),
    "two masks": (lambda x: tf.boolean_mask(x, x > 0) * tf.boolean_mask(tf.exp(x), x > 0),
                  lambda x: x[x > 0] * np.exp(x[x > 0])),
    "mask of a mask": (lambda x: (lambda y: y[y > .75])(x[x > 0] ** 2), lambda x: (lambda y: y[y > .75])(x[x > 0] ** 2)),
    "outer of chosen": (lambda x: (lambda y: y[:, None] * y)(x[x > 0]), lambda x: (lambda y: y[:, None] * y)(x[x > 0])),
    "matmul of chosen rows": (lambda x: tf.matmul(tf.boolean_mask(x[:, None] * tf.constant([[1., 2.]], tf.float64), x > 0),
                                                  tf.constant([[1., 3.], [2., 5.]], tf.float64)),
                              lambda x: (x[:, None] * [[1, 2]])[x > 0] @ np.array([[1., 3], [2, 5]])),
    "softmax of chosen": (lambda x: tf.nn.softmax(x[x > 0]),
                          lambda x: (lambda e: e / (e.sum() or 1))(np.exp(x[x > 0]))),
    "cumsum of chosen": (lambda x: tf.cumsum(x[x > 0]), lambda x: np.cumsum(x[x > 0])),
    "sort of chosen": (lambda x: tf.sort(x[x > 0]), lambda x: np.sort(x[x > 0])),
    "reverse of chosen": (lambda x: x[x > 0][::-1], lambda x: x[x > 0][::-1]),
    "chosen and others": (lambda x: tf.concat([x[x > 0], x[x <= 0]], 0), lambda x: np.concatenate([x[x > 0], x[x <= 0]])),
    "stack of two": (lambda x: tf.stack([x[x > 0], tf.sin(x[x > 0])]), lambda x: np.stack([x[x > 0], np.sin(x[x > 0])])),
    "pad of chosen": (lambda x: tf.pad(x[x > 0], [[1, 2]]), lambda x: np.pad(x[x > 0], [[1, 2]])),
    "tile of chosen": (lambda x: tf.tile(x[x > 0], [3]), lambda x: np.tile(x[x > 0], 3)),
    "scatter back": (lambda x: tf.scatter_nd(tf.where(x > 0), x[x > 0] ** 2, [6]), lambda x: np.where(x > 0, x ** 2, 0)),
    "tensor_scatter": (lambda x: tf.tensor_scatter_nd_update(x, tf.where(x > 0), tf.zeros_like(x[x > 0])),
                       lambda x: np.where(x > 0, 0, x)),
    "mean by size": (lambda x: tf.reduce_sum(x[x > 0]) / tf.cast(tf.maximum(tf.shape(x[x > 0])[0], 1), tf.float64),
                     lambda x: x[x > 0].sum() / max(npc(x), 1)),
    "size": (lambda x: tf.size(x[x > 0]), npc),
    "unique": (lambda x: tf.unique(tf.floor(x))[0] * tf.reduce_sum(x),
               lambda x: np.array(list(dict.fromkeys(np.floor(x)))) * x.sum()),
    "unique idx": (lambda x: tf.unique(tf.floor(x))[1],
                   lambda x: [list(dict.fromkeys(np.floor(x))).index(v) for v in np.floor(x)]),
    "unique counts": (lambda x: tf.unique_with_counts(tf.floor(x))[2],
                      lambda x: [list(np.floor(x)).count(v) for v in dict.fromkeys(np.floor(x))]),
    "sums by unique": (lambda x: (lambda u: tf.math.unsorted_segment_sum(x * x, u[1], tf.size(u[0])))(tf.unique(tf.floor(x))),
                       lambda x: [(x[np.floor(x) == v] ** 2).sum() for v in dict.fromkeys(np.floor(x))]),
    "range": (lambda x: tf.cast(tf.range(count(x)), tf.float64) * tf.reduce_sum(x), lambda x: np.arange(npc(x)) * x.sum()),
    "range from, by": (lambda x: tf.range(2, 2 + 3 * count(x), 2), lambda x: np.arange(2, 2 + 3 * npc(x), 2)),
    "range down": (lambda x: tf.range(count(x), 0, -1), lambda x: np.arange(npc(x), 0, -1)),
    "range of reals": (lambda x: tf.range(0., tf.cast(count(x), tf.float32), .5), lambda x: np.arange(0, npc(x), .5)),
    "zeros": (lambda x: tf.zeros([count(x), 2]), lambda x: np.zeros([npc(x), 2])),
    "ones": (lambda x: tf.ones([count(x)], tf.float64) * tf.reduce_sum(x * x), lambda x: np.ones(npc(x)) * (x * x).sum()),
    "fill": (lambda x: tf.fill([2, count(x)], tf.reduce_sum(x)), lambda x: np.full([2, npc(x)], x.sum())),
    "eye": (lambda x: tf.eye(count(x)), lambda x: np.eye(npc(x))),
    "linspace": (lambda x: tf.linspace(tf.reduce_sum(x), 1., count(x)), lambda x: np.linspace(x.sum(), 1, npc(x))),
    "one_hot": (lambda x: tf.one_hot([0, 2, 1], tf.cast(count(x), tf.int32)), lambda x: np.eye(9)[[0, 2, 1]][:, :npc(x)]),
    "sequence_mask": (lambda x: tf.sequence_mask(tf.stack([count(x), 1, 0])),
                      lambda x: np.arange(max(npc(x), 1)) < np.array([[npc(x)], [1], [0]])),
    "broadcast_to": (lambda x: tf.broadcast_to(x, [count(x), 6]), lambda x: np.broadcast_to(x, [npc(x), 6])),
    "reshape": (lambda x: tf.reshape(x[x > 0], [count(x), 1]), lambda x: x[x > 0].reshape(-1, 1)),
    "reshape by stack": (lambda x: tf.reshape(tf.tile(x, [2]), tf.stack([-1, tf.maximum(count(x) // 3, 1)])),
                         lambda x: np.tile(x, 2).reshape(-1, max(npc(x) // 3, 1))),
    "tile": (lambda x: tf.tile(x, [count(x)]), lambda x: np.tile(x, npc(x))),
    "repeat": (lambda x: tf.repeat(x, count(x)), lambda x: np.repeat(x, npc(x))),
    "repeat by tensor": (lambda x: tf.repeat(x, tf.cast(tf.maximum(x, 0.), tf.int32)),
                         lambda x: np.repeat(x, np.maximum(x, 0).astype(int))),
    "pad": (lambda x: tf.pad(x, [[count(x), 1]]), lambda x: np.pad(x, [[npc(x), 1]])),
    "pad by tensor": (lambda x: tf.pad(x, tf.reshape(tf.stack([1, count(x)]), [1, 2])), lambda x: np.pad(x, [[1, npc(x)]])),
    "x[:n]": (lambda x: x[:count(x)] ** 2, lambda x: x[:npc(x)] ** 2),
    "x[n:]": (lambda x: x[count(x):] ** 2, lambda x: x[npc(x):] ** 2),
    "x[-n:]": (lambda x: x[-count(x):], lambda x: x[-npc(x):]),
    "x[1:n:2]": (lambda x: x[1:count(x):2], lambda x: x[1:npc(x):2]),
    "x[n::-1]": (lambda x: x[count(x)::-1], lambda x: x[npc(x)::-1]),
    "x[::n + 1]": (lambda x: x[::count(x) + 1], lambda x: x[::npc(x) + 1]),
    "y[:, :n]": (lambda x: tf.reshape(x, [2, 3])[:, :count(x)], lambda x: x.reshape(2, 3)[:, :npc(x)]),
    "y[0, n:]": (lambda x: tf.reshape(x, [2, 3])[0, count(x):], lambda x: x.reshape(2, 3)[0, npc(x):]),
    "y[..., n:, None]": (lambda x: tf.reshape(x, [2, 3])[..., count(x):, None], lambda x: x.reshape(2, 3)[..., npc(x):, None]),
    "slice": (lambda x: tf.slice(x, [0], [count(x)]), lambda x: x[:npc(x)]),
    "slice from n": (lambda x: tf.slice(x, [count(x)], [-1]), lambda x: x[npc(x):]),
    "slice by tensors": (lambda x: tf.slice(x, tf.stack([count(x) // 2]), tf.stack([count(x) // 3])),
                         lambda x: x[npc(x) // 2:npc(x) // 2 + npc(x) // 3]),
    "strided_slice": (lambda x: tf.strided_slice(x, [0], [count(x)], [2]), lambda x: x[:npc(x):2]),
    "split": (lambda x: tf.split(x, tf.stack([count(x), 6 - count(x)]))[1] ** 2, lambda x: x[npc(x):] ** 2),
    "split by list": (lambda x: tf.split(x, [count(x), -1])[0] ** 2, lambda x: x[:npc(x)] ** 2),
    "top_k": (lambda x: tf.math.top_k(x, tf.cast(count(x), tf.int32))[0], lambda x: np.sort(x)[::-1][:npc(x)]),
    "segment_sum": (lambda x: tf.math.segment_sum(x, tf.cumsum(tf.cast(x > 0, tf.int32))),
                    lambda x: np_segments(x, np.cumsum(x > 0), npc(x) + 1)),
    "unsorted_segment_sum": (lambda x: tf.math.unsorted_segment_sum(x, tf.cast(x > 0, tf.int32), count(x) + 2),
                             lambda x: np_segments(x, (x > 0).astype(int), npc(x) + 2)),
    "bincount": (lambda x: tf.math.bincount(tf.cast(tf.maximum(x, 0.), tf.int32)),
                 lambda x: np.bincount(np.maximum(x, 0).astype(int))),
    "scatter_nd": (lambda x: tf.scatter_nd(tf.constant([[0], [1]]), x[:2], tf.stack([count(x) + 2])),
                   lambda x: np.concatenate([x[:2], np.zeros(npc(x))])),
    "dynamic_partition": (lambda x: tf.concat(tf.dynamic_partition(x * x, tf.cast(x > 0, tf.int32), 2)[::-1], 0),
                          lambda x: np.concatenate([x[x > 0] ** 2, x[x <= 0] ** 2])),
    "stitch of partition": (lambda x: tf.dynamic_stitch(tf.dynamic_partition(tf.range(6), tf.cast(x > 0, tf.int32), 2),
                                                        [y * 2 for y in tf.dynamic_partition(x, tf.cast(x > 0, tf.int32), 2)]),
                            lambda x: 2 * x),
    "random": (lambda x: tf.shape(tf.random.normal([count(x), 2])), lambda x: [npc(x), 2]),
    "random uniform": (lambda x: tf.size(tf.random.uniform([count(x)])), npc),
    "top p": (lambda x: (lambda s: s[:tf.reduce_sum(tf.cast(tf.cumsum(s) < .9, tf.int32)) + 1])(
        tf.sort(tf.nn.softmax(x), direction="DESCENDING")),
              lambda x: (lambda s: s[:int((np.cumsum(s) < .9).sum()) + 1])(np.sort(np.exp(x) / np.exp(x).sum())[::-1])),
    "while over n": (lambda x: tf.while_loop(lambda i, s: i < count(x), lambda i, s: (i + 1, s * 1.5 + x),
                                             (tf.constant(0, tf.int64), x))[1],
                     lambda x: (lambda s: [s := s * 1.5 + x for _ in range(npc(x))][-1] if npc(x) else s)(x)),
    "sum of chosen in a loop": (lambda x: tf.while_loop(
        lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.reduce_sum(tf.boolean_mask(x, x > tf.cast(i, tf.float64)) ** 2)),
        (0, tf.constant(0., tf.float64)))[1], lambda x: sum((x[x > i] ** 2).sum() for i in range(3))),
    "chosen in a branch": (lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.reduce_sum(x[x > 0] ** 2), lambda: x[0] * 3),
                           lambda x: (x[x > 0] ** 2).sum() if x.sum() > 0 else x[0] * 3),
    "found outside, used in a branch": (lambda x: (lambda y: tf.cond(tf.reduce_sum(x) > 0, lambda: y * 2, lambda: y ** 2))(x[x > 0]),
                                        lambda x: x[x > 0] * 2 if x.sum() > 0 else x[x > 0] ** 2),
    "found outside, used in a loop": (lambda x: (lambda y: tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * y + 1),
                                                                         (0, y))[1])(x[x > 0]),
                                      lambda x: (lambda y: ((y * y + 1) * y + 1) * y + 1)(x[x > 0])),
    "map over chosen": (lambda x: tf.map_fn(lambda v: v * v, x[x > 0]), lambda x: x[x > 0] ** 2),
    "vectorized_map over chosen": (lambda x: tf.vectorized_map(lambda v: v * v, x[x > 0]), lambda x: x[x > 0] ** 2),
    "scan over chosen": (lambda x: tf.scan(lambda c, v: c + v, x[x > 0], tf.constant(0., tf.float64)),
                         lambda x: np.cumsum(x[x > 0])),
    "reflect pad": (lambda x: tf.pad(x * x, [[count(x) // 2, 1]], "REFLECT"),
                    lambda x: np.pad(x * x, [[npc(x) // 2, 1]], mode="reflect")),
    "symmetric pad": (lambda x: tf.pad(x * x, [[1, count(x)]], "SYMMETRIC"),
                      lambda x: np.pad(x * x, [[1, npc(x)]], mode="symmetric")),
    "conv by strides": (lambda x: tf.nn.conv1d(tf.reshape(tf.concat([x[x > 0], x], 0), [1, -1, 1]),
                                               tf.constant([[[1.]], [[3.]], [[2.]]], tf.float64), 2, "SAME")[0, :, 0],
                        lambda x: np_windows(np.concatenate([x[x > 0], x]), 3, 2, 0) @ [1, 3, 2]),
    "max of windows": (lambda x: tf.nn.max_pool1d(tf.reshape(tf.concat([x[x > 0], x], 0), [1, -1, 1]), 3, 3, "SAME")[0, :, 0],
                       lambda x: np_windows(np.concatenate([x[x > 0], x]), 3, 3, -np.inf).max(1)),
    "rows as a table": (lambda x: tf.RaggedTensor.from_row_lengths(x * x, tf.stack([count(x), 6 - count(x)])).to_tensor(),
                        lambda x: np.stack([np.pad(r, [0, max(npc(x), 6 - npc(x)) - r.size])
                                            for r in (x[:npc(x)] ** 2, x[npc(x):] ** 2)])),
    "ranges in rows": (lambda x: tf.ragged.range(tf.stack([count(x), 2])).flat_values,
                       lambda x: np.concatenate([np.arange(npc(x)), [0, 1]])),
    "masks in rows": (lambda x: tf.ragged.boolean_mask(tf.reshape(x, [2, 3]), tf.reshape(x, [2, 3]) > 0).flat_values * 2,
                      lambda x: x[x > 0] * 2),
    "all of a part, sorted": (lambda x: tf.math.top_k(tf.split(x, [count(x), -1])[0], tf.cast(count(x), tf.int32))[0],
                              lambda x: np.sort(x[:npc(x)])[::-1]),
    "half of the best": (lambda x: (lambda y: tf.math.top_k(y, (tf.size(y) + 1) // 2)[0])(x[x > 0]),
                         lambda x: np.sort(x[x > 0])[::-1][:(npc(x) + 1) // 2]),
    "norm of chosen": (lambda x: tf.norm(tf.concat([x[x > 0], [1.]], 0)), lambda x: np.sqrt((x[x > 0] ** 2).sum() + 1)),
    "einsum of chosen": (lambda x: tf.einsum("i,j->ij", x[x > 0], x), lambda x: np.outer(x[x > 0], x)),
    "distances": (lambda x: (lambda y: tf.reduce_sum((y[:, None] - y) ** 2, axis=1))(x[x > 0]),
                  lambda x: ((x[x > 0][:, None] - x[x > 0]) ** 2).sum(1)),
    "reshape, one size open": (lambda x: tf.reshape(x[x > 0][:, None] * x[x <= 0], [tf.maximum(tf.shape(x[x > 0])[0], 1), -1]),
                               lambda x: (x[x > 0][:, None] * x[x <= 0]).reshape(max(npc(x), 1), -1)),
    "reshape, two computed and one open": (
        lambda x: tf.reshape(tf.tile(x, [4]), [tf.maximum(count(x) // 2, 1), tf.where(count(x) > 1, 2, 1), -1]),
        lambda x: np.tile(x, 4).reshape(max(npc(x) // 2, 1), 2 if npc(x) > 1 else 1, -1)),
    "parts of chosen": (lambda x: tf.split(x[x > 0], tf.stack([count(x) // 2, count(x) - count(x) // 2]))[1] ** 2,
                        lambda x: x[x > 0][npc(x) // 2:] ** 2),
    "parts by counts": (lambda x: (lambda a, b: tf.concat([b ** 2, a], 0))(*tf.split(x, tf.math.unsorted_segment_sum(
        tf.ones([6], tf.int32), tf.cast(x > 0, tf.int32), 2))),
        lambda x: np.concatenate([x[6 - npc(x):] ** 2, x[:6 - npc(x)]])),
    "space_to_depth": (lambda x: tf.nn.space_to_depth(blocks(x), 2),
                       lambda x: np_blocks(x).reshape(npc(x), 2, 2, 2).transpose(0, 2, 1, 3).reshape(1, npc(x), 2, 4)),
    "depth_to_space": (lambda x: tf.nn.depth_to_space(tf.reshape(blocks(x), [1, -1, 2, 4]), 2),
                       lambda x: np_blocks(x).reshape(npc(x), 2, 2, 2).transpose(0, 2, 1, 3).reshape(1, 2 * npc(x), 4, 1)),
    "space_to_batch": (lambda x: tf.space_to_batch(blocks(x), [2, 2], [[0, 0], [0, 0]]),
                       lambda x: np_blocks(x).reshape(npc(x), 2, 2, 2).transpose(1, 3, 0, 2).reshape(4, npc(x), 2, 1)),
    "space_to_batch by pads": (lambda x: tf.space_to_batch(x[None], [2], [[count(x), count(x)]]),
                               lambda x: np.pad(x, npc(x)).reshape(-1, 2).T),
    "batch_to_space": (lambda x: tf.batch_to_space(tf.reshape(blocks(x), [4, -1, 2, 1]), [2, 2], [[0, 0], [0, 0]]),
                       lambda x: np_blocks(x).reshape(2, 2, npc(x), 2).transpose(2, 0, 3, 1).reshape(1, 2 * npc(x), 4, 1)),
    "batch_to_space by crops": (lambda x: tf.batch_to_space(tf.reshape(x, [2, 3]), [2], [[count(x) // 2, 1]]),
                                lambda x: x.reshape(2, 3).T.reshape(1, 6)[:, npc(x) // 2:5]),
    "batch_to_space of a found batch": (lambda x: tf.batch_to_space(tf.reshape(blocks(x), [-1, 2]), [2], [[0, 0]]),
                                        lambda x: np_blocks(x).reshape(2, 2 * npc(x), 2).transpose(1, 2, 0).reshape(-1, 4)),
    "sparse.from_dense": (lambda x: sparse(x).values ** 2, lambda x: x[x > 0] ** 2),
    "sparse.to_dense": (lambda x: tf.sparse.to_dense(sparse(x)) ** 2, lambda x: np_table(x) ** 2),
    "sparse.to_dense in a found shape": (
        lambda x: tf.sparse.to_dense(tf.SparseTensor(tf.where(x > 0), x[x > 0], tf.stack([count(x) + 6]))),
        lambda x: np.pad(np.where(x > 0, x, 0), [0, npc(x)])),
    "sparse.to_dense of found rows": (lambda x: tf.sparse.to_dense(sparse_rows(x)) * 2, lambda x: np_rows(x) * 2),
    "sparse.add": (lambda x: tf.sparse.add(sparse(x), sparse(x, -1.5)).values,
                   lambda x: (np.where(x > 0, x, 0) + np.where(x > -1.5, x, 0))[x > -1.5]),
    "sparse.add of found rows": (lambda x: tf.sparse.to_dense(tf.sparse.add(sparse_rows(x), sparse_rows(x))) ** 2,
                                 lambda x: 4 * np_rows(x) ** 2),
    "sparse.add of dense": (lambda x: tf.sparse.add(sparse(x), tf.reshape(x, [2, 3])) ** 2,
                            lambda x: (np_table(x) + x.reshape(2, 3)) ** 2),
    "sparse.maximum": (lambda x: tf.sparse.to_dense(tf.sparse.maximum(sparse(x), sparse(2.1 - x))),
                       lambda x: np.maximum(np_table(x), np_table(2.1 - x))),
    "sparse.reduce_sum": (lambda x: tf.sparse.reduce_sum(sparse(x), 1) ** 2, lambda x: np_table(x).sum(1) ** 2),
    "sparse.reduce_sum of found rows": (lambda x: tf.sparse.reduce_sum(sparse_rows(x), 1, keepdims=True) ** 2,
                                        lambda x: np_rows(x).sum(1, keepdims=True) ** 2),
    "sparse.reduce_sum, sparse": (lambda x: tf.sparse.reduce_sum(sparse(x), 0, output_is_sparse=True).values ** 2,
                                  lambda x: np_table(x).sum(0)[np_table(x).any(0)] ** 2),
    "sparse.reduce_max of found rows": (lambda x: tf.sparse.reduce_max(sparse_rows(x ** 2 * tf.sign(x)), 1),
                                        lambda x: (x ** 2 * np.sign(x)).reshape(3, 2)[x[:3] > 0].max(1, initial=-9)),
    "sparse.softmax": (lambda x: tf.sparse.softmax(sparse(x)).values,
                       lambda x: (lambda e: (e / np.maximum(e.sum(1, keepdims=True), 1e-9))[e > 0])(
                           np.where(np_table(x) > 0, np.exp(np_table(x)), 0))),
    "sparse.transpose": (lambda x: tf.sparse.to_dense(tf.sparse.transpose(sparse_rows(x))) ** 2, lambda x: np_rows(x).T ** 2),
    "sparse.reshape": (lambda x: tf.sparse.to_dense(tf.sparse.reshape(sparse_rows(x), [-1])) ** 2,
                       lambda x: np_rows(x).ravel() ** 2),
    "sparse.concat": (lambda x: tf.sparse.to_dense(tf.sparse.concat(0, [sparse_rows(x), sparse_rows(-x)])) * 3,
                      lambda x: np.concatenate([np_rows(x), np_rows(-x)]) * 3),
    "sparse.split": (lambda x: tf.sparse.to_dense(tf.sparse.split(sparse_rows(x), 2, 1)[1]) * 3, lambda x: np_rows(x)[:, 1:] * 3),
    "sparse.reset_shape": (lambda x: tf.sparse.to_dense(tf.sparse.reset_shape(sparse(x))),
                           lambda x: (lambda t: t[:max(np.argwhere(t)[:, 0] + 1, default=0), :max(np.argwhere(t)[:, 1] + 1, default=0)])(
                               np_table(x))),
    "sparse.fill_empty_rows": (lambda x: tf.sparse.to_dense(tf.sparse.fill_empty_rows(sparse(x), 2.)[0]),
                               lambda x: np_table(x) + ~np_table(x).any(1)[:, None] * [2, 0, 0]),
    "sparse.eye": (lambda x: tf.sparse.to_dense(tf.sparse.eye(count(x), 3)), lambda x: np.eye(npc(x), 3)),
    "sparse.bincount": (lambda x: tf.sparse.to_dense(tf.sparse.bincount(whole(x), minlength=count(x))),
                        lambda x: np.bincount(np_whole(x), minlength=npc(x))),
    "sparse.segment_sqrt_n": (lambda x: tf.sparse.segment_sqrt_n(x, [0, 1, 2], tf.stack([0, 0, count(x)])),
                              lambda x: np_segments(x[:3], [0, 0, npc(x)], npc(x) + 1)
                              / np.sqrt(np.maximum(np_segments(np.ones(3), [0, 0, npc(x)], npc(x) + 1), 1))),
    "sets.union": (lambda x: tf.sets.union(*(tf.reshape(whole(y), [2, 3]) for y in (x, -x))).values,
                   lambda x: np_sets(x, lambda a, b: a | b)),
    "sets.intersection": (lambda x: tf.sets.intersection(*(tf.reshape(whole(y), [2, 3]) for y in (x, -x))).values,
                          lambda x: np_sets(x, lambda a, b: a & b)),
    "sets.difference": (lambda x: tf.sparse.to_dense(tf.sets.difference(*(tf.sparse.from_dense(
        tf.reshape(whole(y), [2, 3])) for y in (x, -x)))),
        lambda x: (lambda rows: np.array([r + [0] * (max(map(len, rows)) - len(r)) for r in rows]))(
            [sorted({*r} - {*q, 0}) for r, q in zip(np_whole(x).reshape(2, 3).tolist(), np_whole(-x).reshape(2, 3).tolist())])),
    "sets.size": (lambda x: tf.sets.size(tf.sparse.from_dense(tf.reshape(whole(x), [2, 3]))),
                  lambda x: [len({*r} - {0}) for r in np_whole(x).reshape(2, 3).tolist()]),
    "edit_distance": (lambda x: tf.edit_distance(*(tf.sparse.from_dense(tf.reshape(whole(y), [2, 3])) for y in (x, -x)), False),
                      lambda x: [np_distance(r[r > 0], q[q > 0])
                                 for r, q in zip(np_whole(x).reshape(2, 3), np_whole(-x).reshape(2, 3))]),
    "bincount of at least": (lambda x: tf.math.bincount(tf.cast(tf.abs(x), tf.int32), minlength=count(x) + 2, dtype=tf.float64)
                             * tf.reduce_sum(x), lambda x: np.bincount(np.abs(x).astype(int), minlength=npc(x) + 2) * x.sum()),
    "bincount of at most": (lambda x: tf.math.bincount(tf.cast(tf.abs(x), tf.int32), maxlength=count(x), dtype=tf.float64)
                            * tf.reduce_sum(x), lambda x: np.bincount(np.abs(x).astype(int), minlength=9)
                            [:min(npc(x), int(np.abs(x).max()) + 1)] * x.sum()),
    "bincount of rows": (lambda x: tf.math.bincount(tf.cast(tf.abs(tf.reshape(x, [2, 3])), tf.int32), minlength=count(x) + 5,
                                                    axis=-1, dtype=tf.float64) * tf.reduce_sum(x),
                         lambda x: np.stack([np.bincount(np.abs(r).astype(int), minlength=npc(x) + 5)
                                             for r in x.reshape(2, 3)]) * x.sum()),
    "sparse product of found rows": (lambda x: tf.sparse.sparse_dense_matmul(sparse_rows(x), tf.reshape(x, [2, 3])),
                                     lambda x: x.reshape(3, 2)[x[:3] > 0] @ x.reshape(2, 3)),
    "pad on one axis": (lambda x: tf.pad(tf.reshape(x, [2, 3]), [[0, 0], [count(x), 1]]) ** 2,
                        lambda x: np.pad(x.reshape(2, 3), [[0, 0], [npc(x), 1]]) ** 2),
    "best boxes": (lambda x: tf.gather(x, tf.image.non_max_suppression(corners(x), tf.cast(x, tf.float32), 4)) ** 2,
                   lambda x: x[np_best(x, 4)] ** 2),
    "best of positive boxes": (lambda x: tf.gather(x, tf.image.non_max_suppression(
        corners(x), tf.cast(x, tf.float32), count(x), score_threshold=0.)), lambda x: x[np_best(x, npc(x), 0)]),
    "best of chosen boxes": (lambda x: tf.image.non_max_suppression(corners(x[x > 0]), tf.cast(x[x > 0], tf.float32), 3),
                             lambda x: np_best(x[x > 0], 3)),
}
WHOLE = {"where of a table", "size", "unique idx", "unique counts", "range from, by", "range down", "range of reals", "zeros",
         "eye", "one_hot", "sequence_mask", "bincount", "random", "random uniform", "ranges in rows", "sparse.eye",
         "sparse.bincount", "sets.union", "sets.intersection", "sets.difference", "sets.size", "edit_distance",
         "best of chosen boxes"}  # no derivative to speak of


# Where differences of the test arrays do not tell: equal elements, or sizes that change with them.
JUMPS = {"best_of_each", "hardest", "until_full", "pairs_nearby", "neighbours", "adaptive_steps", "sizes_of_three", "top p",
         "clipped_tail", "half of the best", "repeat by tensor", "sum of chosen in a loop", "best boxes",
         "best of positive boxes", "by_groups", "bincount of at most"}
