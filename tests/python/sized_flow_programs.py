"""Branches and loops whose results have sizes that the data decide, each with what NumPy makes of the same six numbers."""
import numpy as np

import gradus as tf

F64 = tf.float64


def number(x):
    return tf.cast(tf.math.count_nonzero(x > 0), tf.int32)


def npc(x):
    return int(np.count_nonzero(x > 0))


# ------------------------------------------------------------------------------- branches
def cond_of_chosen(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: x[x > 0] ** 2, lambda: x * 2)


def cond_of_chosen_np(x):
    return x[x > 0] ** 2 if x.sum() > 0 else x * 2


def cond_of_known_sizes(x):
    return tf.cond(x[0] > 0, lambda: x[:2] * x[1], lambda: tf.sin(x))


def cond_of_known_sizes_np(x):
    return x[:2] * x[1] if x[0] > 0 else np.sin(x)


def cond_of_pairs(x):
    y, z = tf.cond(x[0] > 0, lambda: (x[x > 0], x[:3]), lambda: (x[x <= 0], x[3:] ** 2))
    return tf.concat([y * tf.reduce_sum(z), z], 0)


def cond_of_pairs_np(x):
    y, z = (x[x > 0], x[:3]) if x[0] > 0 else (x[x <= 0], x[3:] ** 2)
    return np.concatenate([y * z.sum(), z])


def cond_of_tables(x):
    t = tf.reshape(x, [2, 3])
    return tf.cond(x[2] > 0, lambda: tf.boolean_mask(t, t[:, 0] > 0), lambda: tf.boolean_mask(t, t[0] < 0, axis=1))


def cond_of_tables_np(x):
    t = x.reshape(2, 3)
    return t[t[:, 0] > 0] if x[2] > 0 else t[:, t[0] < 0]


def cond_in_cond(x):
    return tf.cond(x[0] > 0, lambda: tf.cond(x[1] > 0, lambda: x[:number(x)], lambda: x[:1] ** 3), lambda: x[::2] * x[1])


def cond_in_cond_np(x):
    return (x[:npc(x)] if x[1] > 0 else x[:1] ** 3) if x[0] > 0 else x[::2] * x[1]


def switch(x):
    return tf.switch_case(number(x) % 3, [lambda: x, lambda: x[:2] ** 2, lambda: x[x > 0] ** 3])


def switch_np(x):
    return [lambda: x, lambda: x[:2] ** 2, lambda: x[x > 0] ** 3][npc(x) % 3]()


def case(x):
    return tf.case([(x[0] > 0, lambda: x[:1]), (x[1] > 0, lambda: x[:2] ** 2)], default=lambda: x[:number(x)])


def case_np(x):
    return x[:1] if x[0] > 0 else x[:2] ** 2 if x[1] > 0 else x[:npc(x)]


def if_statement(x):
    if tf.reduce_sum(x) > 0:
        y = x[x > 0]
    else:
        y = tf.zeros([1], F64)
    return y * 2 + tf.reduce_sum(x)


def if_statement_np(x):
    return (x[x > 0] if x.sum() > 0 else np.zeros(1)) * 2 + x.sum()


def early_return(x):
    if x[0] > 0:
        return x[x > 0] ** 2
    return x


def early_return_np(x):
    return x[x > 0] ** 2 if x[0] > 0 else x


def if_without_else(x):
    y = x
    if x[0] > 0:
        y = tf.concat([y, y * y], 0)
    return y * 3


def if_without_else_np(x):
    return np.concatenate([x, x * x]) * 3 if x[0] > 0 else x * 3


def clipped_tail(x):
    y = tf.cond(tf.reduce_max(x) > 1, lambda: x[x <= 1], lambda: x)
    return tf.concat([tf.exp(y), [tf.cast(tf.size(y), F64)]], 0)


def clipped_tail_np(x):
    y = x[x <= 1] if x.max() > 1 else x
    return np.concatenate([np.exp(y), [y.size]])


# ------------------------------------------------------------------------------- loops
def grows(x):
    def body(i, y):
        return i + 1, tf.concat([y, [x[i] * x[0]]], 0)
    return tf.while_loop(lambda i, y: i < number(x), body, (0, tf.zeros([0], F64)),
                         shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))[1]


def grows_np(x):
    return x[:npc(x)] * x[0]


def grows_in_rows(x):
    def body(i, y):
        return i + 1, tf.concat([y, tf.reshape(x[i:i + 2] * 2, [1, 2])], 0)
    y = tf.while_loop(lambda i, y: i < tf.minimum(number(x), 5), body, (0, tf.reshape(x[:2] ** 2, [1, 2])),
                      shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 2])))[1]
    return tf.matmul(y, y, transpose_b=True)


def grows_in_rows_np(x):
    y = np.stack([x[:2] ** 2] + [x[i:i + 2] * 2 for i in range(min(npc(x), 5))])
    return y @ y.T


def doubles(x):
    return tf.while_loop(lambda y: tf.size(y) < 7 * number(x), lambda y: tf.concat([y, y * 1.5], 0), [x],
                         shape_invariants=[tf.TensorShape([None])])[0]


def doubles_np(x):
    y = x
    while y.size < 7 * npc(x):
        y = np.concatenate([y, y * 1.5])
    return y


def halves(x):
    return tf.while_loop(lambda y: tf.logical_and(tf.size(y) > 1, y[0] > -1.5), lambda y: y[:tf.size(y) // 2] * y[-1], [x],
                         shape_invariants=[tf.TensorShape([None])])[0]


def halves_np(x):
    y = x
    while y.size > 1 and y[0] > -1.5:
        y = y[:y.size // 2] * y[-1]
    return y


def prunes(x):
    """Keeps what is above the mean, as long as there is something to drop."""
    def body(y):
        return y[y >= tf.reduce_mean(y)] * .5
    return tf.while_loop(lambda y: tf.reduce_max(y) - tf.reduce_min(y) > .1, body, [x],
                         shape_invariants=[tf.TensorShape([None])])[0]


def prunes_np(x):
    y = x
    while y.max() - y.min() > .1:
        y = y[y >= y.mean()] * .5
    return y


def two_that_grow(x):
    def body(i, y, z):
        return i + 1, tf.concat([y, [x[i]]], 0), tf.concat([z, [x[i] ** 2, 1.]], 0)
    _, y, z = tf.while_loop(lambda i, y, z: i < number(x), body, (0, tf.zeros([0], F64), tf.zeros([0], F64)),
                            shape_invariants=(tf.TensorShape([]), tf.TensorShape([None]), tf.TensorShape([None])))
    return tf.reduce_sum(y) * z


def two_that_grow_np(x):
    y = x[:npc(x)]
    return y.sum() * np.array([v for e in y for v in (e ** 2, 1.)])


def used_as_it_grows(x):
    """Attention over all that was made so far."""
    def body(i, kept):
        weights = tf.nn.softmax(kept * x[i])
        return i + 1, tf.concat([kept, [tf.reduce_sum(weights * kept)]], 0)
    return tf.while_loop(lambda i, kept: i < number(x), body, (0, x[:2]),
                         shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))[1]


def used_as_it_grows_np(x):
    kept = x[:2]
    for i in range(npc(x)):
        e = np.exp(kept * x[i] - (kept * x[i]).max())
        kept = np.append(kept, (e / e.sum() * kept).sum())
    return kept


def branch_in_a_loop(x):
    def body(i, y):
        return i + 1, tf.cond(x[i] > 0, lambda: tf.concat([y, [x[i]]], 0), lambda: y * x[i])
    return tf.while_loop(lambda i, y: i < 6, body, (0, tf.zeros([0], F64)),
                         shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))[1]


def branch_in_a_loop_np(x):
    y = np.zeros(0)
    for v in x:
        y = np.append(y, v) if v > 0 else y * v
    return y


def loop_in_a_branch(x):
    return tf.cond(x[0] > 0, lambda: grows(x), lambda: x[:3])


def loop_in_a_branch_np(x):
    return grows_np(x) if x[0] > 0 else x[:3]


def loop_in_a_loop(x):
    def outer(i, y):
        z = tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, tf.concat([z, [x[j]]], 0)), (0, y),
                          shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))[1]
        return i + 1, z * 2
    return tf.while_loop(lambda i, y: i < number(x), outer, (0, tf.zeros([0], F64)),
                         shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))[1]


def loop_in_a_loop_np(x):
    y = np.zeros(0)
    for i in range(npc(x)):
        y = np.concatenate([y, x[:i]]) * 2
    return y


def at_most(x):
    return tf.while_loop(lambda y: True, lambda y: tf.concat([y, y[:1] * x[1]], 0), [x[:1]],
                         shape_invariants=[tf.TensorShape([None])], maximum_iterations=number(x))[0]


def at_most_np(x):
    y = x[:1]
    for _ in range(npc(x)):
        y = np.concatenate([y, y[:1] * x[1]])
    return y


def while_statement(x):
    y, i = x[:1], 0
    while tf.reduce_sum(y) < 3 and i < 6:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None]))])
        y = tf.concat([y, [x[i] * x[i]]], 0)
        i += 1
    return y


def while_statement_np(x):
    y, i = x[:1], 0
    while y.sum() < 3 and i < 6:
        y = np.append(y, x[i] * x[i])
        i += 1
    return y


def range_statement(x):
    y = tf.zeros([0], F64)
    for i in tf.range(number(x)):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None]))])
        y = tf.concat([y, [x[i] * 2]], 0)
    return y


def range_statement_np(x):
    return x[:npc(x)] * 2


def sliced_by_turns(x):
    def body(i, y):
        return i + 1, tf.concat([y[1:], y[:-1] * x[0], y[::-2]], 0)[:7]
    return tf.while_loop(lambda i, y: i < 3, body, (0, x[x > 0]),
                         shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))[1]


def sliced_by_turns_np(x):
    y = x[x > 0]
    for _ in range(3):
        y = np.concatenate([y[1:], y[:-1] * x[0], y[::-2]])[:7]
    return y


def no_turns(x):
    y = tf.while_loop(lambda i, y: tf.reduce_sum(y) > 100, lambda i, y: (i + 1, tf.concat([y, y], 0)), (0, x),
                      shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))[1]
    return tf.sin(x) * tf.reduce_sum(y)


def no_turns_np(x):
    return np.sin(x) * x.sum()


def given_back(x):
    y = tf.sin(x)

    def kept():
        tf.boolean_mask(x, x > 0)
        return x
    return tf.cond(tf.reduce_sum(x) < -100, lambda: x[:1], kept) * y


def given_back_np(x):
    return np.sin(x) * x


def late(x):
    for _ in tf.range(tf.size(x)):
        y = x[x > 0]
    return y


def late_np(x):
    return x[x > 0]


# ------------------------------------------------------------------------------- arrays that grow
def array_by_while(x):
    array = tf.TensorArray(F64, size=0, dynamic_size=True)
    return tf.while_loop(lambda i, a: i < number(x), lambda i, a: (i + 1, a.write(i, x[i] ** 2)), (0, array))[1].stack()


def array_by_while_np(x):
    return x[:npc(x)] ** 2


def array_by_for(x):
    array = tf.TensorArray(F64, size=0, dynamic_size=True, element_shape=[])
    for v in x:
        if v > 0:
            array = array.write(array.size(), v * v)
    return array.stack()


def array_by_for_np(x):
    return x[x > 0] ** 2


def array_of_rows(x):
    array = tf.TensorArray(F64, size=0, dynamic_size=True, element_shape=[2])
    for i in tf.range(number(x)):
        array = array.write(i, tf.stack([x[i], x[0]]))
    return array.concat()


def array_of_rows_np(x):
    return np.array([v for i in range(npc(x)) for v in (x[i], x[0])])


def array_of_size_n(x):
    array = tf.TensorArray(F64, size=number(x))
    for i in tf.range(number(x)):
        array = array.write(i, x[i] * x[1])
    return array.stack()


def array_of_size_n_np(x):
    return x[:npc(x)] * x[1]


def array_read_as_it_grows(x):
    array = tf.TensorArray(F64, size=1, dynamic_size=True, clear_after_read=False).write(0, x[0])
    for i in tf.range(number(x)):
        array = array.write(i + 1, array.read(i) * x[i] + 1)
    return array.stack()


def array_read_as_it_grows_np(x):
    y = [x[0]]
    for i in range(npc(x)):
        y.append(y[i] * x[i] + 1)
    return np.array(y)


def array_in_a_branch(x):
    array = tf.TensorArray(F64, size=0, dynamic_size=True, element_shape=[]).write(0, x[0])
    if x[1] > 0:
        array = array.write(1, x[1] * x[2]).write(2, x[3])
    return array.stack()


def array_in_a_branch_np(x):
    return np.array([x[0], x[1] * x[2], x[3]]) if x[1] > 0 else x[:1]


def array_stopped_by_data(x):
    array, v = tf.TensorArray(F64, size=0, dynamic_size=True), x[0]
    while v < 4 and array.size() < 5:
        array = array.write(array.size(), v)
        v = v * 1.5 + 1
    return array.stack()


def array_stopped_by_data_np(x):
    y, v = [], x[0]
    while v < 4 and len(y) < 5:
        y.append(v)
        v = v * 1.5 + 1
    return np.array(y)


# ------------------------------------------------------------------------------- longer programs
def beams(x):
    """The best half of all extensions, turn after turn."""
    def body(i, scores):
        every = tf.reshape(scores[:, None] + x[None, :2] * tf.cast(i + 1, F64), [-1])
        return i + 1, tf.math.top_k(every, (tf.size(every) + 1) // 2 + 1)[0]
    return tf.while_loop(lambda i, s: i < number(x), body, (0, x[:1]),
                         shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))[1]


def beams_np(x):
    s = x[:1]
    for i in range(npc(x)):
        every = (s[:, None] + x[None, :2] * (i + 1)).reshape(-1)
        s = np.sort(every)[::-1][:(every.size + 1) // 2 + 1]
    return s


def newton_of_active(x):
    """Steps on those elements only that are not at their root yet; they are put back where they were."""
    def body(i, y):
        at = tf.where(tf.abs(y * y - 2) > 1e-6)
        some = tf.gather_nd(y, at)
        return i + 1, tf.tensor_scatter_nd_update(y, at, some - (some * some - 2) / (2 * some))
    return tf.while_loop(lambda i, y: i < 4, body, (0, tf.abs(x) + 1))[1]


def newton_of_active_np(x):
    y = np.abs(x) + 1
    for _ in range(4):
        at = np.abs(y * y - 2) > 1e-6
        y[at] = y[at] - (y[at] * y[at] - 2) / (2 * y[at])
    return y


def buckets(x):
    """Sums of each size of step, joined."""
    y = tf.cond(number(x) > 2, lambda: tf.math.unsorted_segment_sum(x, tf.range(6) % 2, 2),
                lambda: tf.math.unsorted_segment_sum(x, tf.range(6) % 3, 3))
    return y / tf.cast(tf.size(y), F64)


def buckets_np(x):
    k = 2 if npc(x) > 2 else 3
    return np.array([x[i::k].sum() for i in range(k)]) / k


def attention_over_n(x):
    """Attention over as many keys as there are positive numbers, and one."""
    n = number(x) + 1
    keys = tf.reshape(x, [3, 2])[:n]
    return tf.linalg.matvec(keys, tf.nn.softmax(tf.linalg.matvec(keys, x[:2])), transpose_a=True)


def attention_over_n_np(x):
    keys = x.reshape(3, 2)[:npc(x) + 1]
    e = np.exp(keys @ x[:2] - (keys @ x[:2]).max())
    return keys.T @ (e / e.sum())


def hardest(x):
    """The mean of the largest losses, as many as half of the positive ones."""
    losses = x * x
    k = tf.maximum(number(x) // 2, 1)
    return tf.reduce_mean(tf.math.top_k(losses, k)[0])


def hardest_np(x):
    return np.sort(x * x)[::-1][:max(npc(x) // 2, 1)].mean()


def means_of_groups(x):
    values, group, count = tf.unique_with_counts(tf.math.floor(tf.stop_gradient(x) * .5))
    sums = tf.math.unsorted_segment_sum(x ** 2, group, tf.size(values))
    return tf.gather(sums / tf.cast(count, F64), group)


def means_of_groups_np(x):
    g = np.floor(x * .5)
    return np.array([(x[g == v] ** 2).mean() for v in g])


def runs(x):
    """The lengths of runs of one sign."""
    sign = tf.cast(x > 0, tf.int32)
    starts = tf.concat([[0], tf.cast(tf.where(sign[1:] != sign[:-1])[:, 0], tf.int32) + 1, [6]], 0)
    return tf.cast(starts[1:] - starts[:-1], F64) * tf.reduce_sum(x)


def runs_np(x):
    cuts = np.concatenate([[0], np.flatnonzero((x > 0)[1:] != (x > 0)[:-1]) + 1, [6]])
    return np.diff(cuts) * x.sum()


def packed_and_back(x):
    """Works on the chosen rows only and puts them back among zeros."""
    at = tf.where(x > 0)
    return tf.scatter_nd(at, tf.exp(tf.gather_nd(x, at)), tf.shape(x, tf.int64))


def packed_and_back_np(x):
    return np.where(x > 0, np.exp(x), 0)


def until_full(x):
    """The first elements until their squares add up to 5."""
    return x[:tf.math.count_nonzero(tf.cumsum(x * x) < 5) + 1] ** 3


def until_full_np(x):
    return x[:np.count_nonzero(np.cumsum(x * x) < 5) + 1] ** 3


def polynomial(x):
    """Powers up to the number of positive elements."""
    return tf.reduce_sum(x[:, None] ** tf.cast(tf.range(number(x) + 1), F64), 0)


def polynomial_np(x):
    return (x[:, None] ** np.arange(npc(x) + 1.)).sum(0)


def pairs_nearby(x):
    """Differences of all pairs that are close."""
    at = tf.where((tf.abs(x[:, None] - x) < 2) & (tf.range(6)[:, None] < tf.range(6)))
    return tf.gather(x, at[:, 0]) * tf.gather(x, at[:, 1])


def pairs_nearby_np(x):
    i, j = np.nonzero((np.abs(x[:, None] - x) < 2) & (np.arange(6)[:, None] < np.arange(6)))
    return x[i] * x[j]


def neighbours(x):
    """A sum over the edges of a graph that the numbers make."""
    edges = tf.where(x[:, None] * x > 1)
    return tf.math.unsorted_segment_sum(tf.gather(x ** 2, edges[:, 1]), edges[:, 0], 6)


def neighbours_np(x):
    return ((x[:, None] * x > 1) * x ** 2).sum(1)


def blocks(x):
    """Rows of so many columns as there are positive numbers, cut to what fits."""
    width = tf.maximum(number(x), 1)
    rows = 6 // width
    return tf.reduce_sum(tf.reshape(x[:rows * width], [rows, width]) ** 2, 1)


def blocks_np(x):
    width = max(npc(x), 1)
    return (x[:6 // width * width].reshape(-1, width) ** 2).sum(1)


def adaptive_steps(x):
    """Steps of Euler whose size follows from the state, all states kept."""
    states = tf.TensorArray(F64, size=0, dynamic_size=True, element_shape=[])
    t, y = tf.constant(0., F64), x[0] * .1 + 1
    while t < 1:
        h = .3 / (1 + tf.stop_gradient(tf.abs(y)))
        y, t = y - h * y * x[1] * .1, t + h
        states = states.write(states.size(), y)
    return states.stack()


def adaptive_steps_np(x):
    t, y, states = 0., x[0] * .1 + 1, []
    while t < 1:
        h = .3 / (1 + abs(y))
        y, t = y - h * y * x[1] * .1, t + h
        states.append(y)
    return np.array(states)


def merged(x):
    """Two lists of different lengths, one after the other by turns as long as both last."""
    a, b = x[x > 0], x[x <= 0]
    n = tf.minimum(tf.size(a), tf.size(b))
    return tf.concat([tf.reshape(tf.stack([a[:n], b[:n] ** 2], 1), [-1]), a[n:], b[n:]], 0)


def merged_np(x):
    a, b = x[x > 0], x[x <= 0]
    n = min(a.size, b.size)
    return np.concatenate([np.stack([a[:n], b[:n] ** 2], 1).reshape(-1), a[n:], b[n:]])


def deepest(x):
    """How often it can be halved, and what is left."""
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.concat([x, x * 2], 0), lambda: x)
    return tf.while_loop(lambda y: tf.size(y) > 3, lambda y: y[: tf.size(y) // 2] + y[-(tf.size(y) // 2):], [y],
                         shape_invariants=[tf.TensorShape([None])])[0]


def deepest_np(x):
    y = np.concatenate([x, x * 2]) if x.sum() > 0 else x
    while y.size > 3:
        y = y[:y.size // 2] + y[-(y.size // 2):]
    return y


def without_outliers(x):
    """Drops what is far from the mean until nothing is."""
    def far(y):
        return tf.abs(y - tf.reduce_mean(y)) > 1.5 * tf.sqrt(tf.reduce_mean((y - tf.reduce_mean(y)) ** 2) + 1e-9)
    y = tf.while_loop(lambda y: tf.reduce_any(far(y)), lambda y: y[~far(y)], [x], [tf.TensorShape([None])])[0]
    return y * tf.reduce_mean(y)


def without_outliers_np(x):
    def far(y):
        return np.abs(y - y.mean()) > 1.5 * np.sqrt(((y - y.mean()) ** 2).mean() + 1e-9)
    while far(x).any():
        x = x[~far(x)]
    return x * x.mean()


def sizes_of_three(x):
    """A branch in which each side finds something else, used outside."""
    a, b, c = tf.switch_case(number(x) % 2, [lambda: (x[x > 0], x[x < -1], x[:1]), lambda: (x[:2], x[2:], x[x > 1])])
    return tf.concat([a * tf.reduce_sum(b), c ** 2, [tf.cast(tf.size(b), F64)]], 0)


def sizes_of_three_np(x):
    a, b, c = (x[:2], x[2:], x[x > 1]) if npc(x) % 2 else (x[x > 0], x[x < -1], x[:1])
    return np.concatenate([a * b.sum(), c ** 2, [b.size]])


def padded_batch(x):
    """Two sequences of different lengths, padded to the longer, with a mask."""
    n, m = number(x), 6 - number(x)
    width = tf.maximum(n, m)
    table = tf.stack([tf.pad(x[:n], [[0, width - n]]), tf.pad(x[n:], [[0, width - m]])])
    mask = tf.cast(tf.sequence_mask(tf.stack([n, m]), width), F64)
    return tf.reduce_sum(tf.tanh(table) * mask, 1) / tf.cast(tf.maximum(tf.stack([n, m]), 1), F64)


def padded_batch_np(x):
    n = npc(x)
    return np.array([np.tanh(x[:n]).sum() / max(n, 1), np.tanh(x[n:]).sum() / max(6 - n, 1)])


def best_of_each(x):
    """The largest of each group, groups by sign, as many as there are."""
    groups, which = tf.unique(tf.cast(x > 0, tf.int32))
    return tf.math.unsorted_segment_max(x * 2, which, tf.size(groups))


def best_of_each_np(x):
    return np.array([x[(x > 0) == g].max() * 2 for g in dict.fromkeys(x > 0)])


# ------------------------------------------------------------------------------- arrays of elements that differ in length
def arrays_of_prefixes(x):
    array = tf.TensorArray(F64, size=3, infer_shape=False)
    for i in tf.range(3):
        array = array.write(i, x[:i + 1] * tf.cast(i, F64))
    return array.concat() ** 2


def arrays_of_prefixes_np(x):
    return np.concatenate([x[:i + 1] * i for i in range(3)]) ** 2


def arrays_of_chosen(x):
    array = tf.TensorArray(F64, size=0, dynamic_size=True, infer_shape=False, element_shape=[None])
    for i in tf.range(3):
        array = array.write(i, x[x > tf.cast(i, F64) * .6])
    return array.concat() ** 2


def arrays_of_chosen_np(x):
    return np.concatenate([x[x > i * .6] for i in range(3)]) ** 2


def arrays_read_again(x):
    array = tf.TensorArray(F64, size=4, infer_shape=False, clear_after_read=False).write(0, x[x > 0])
    for i in tf.range(3):
        array = array.write(i + 1, tf.concat([array.read(i) * 2, [1.]], 0))
    return tf.concat([array.read(3), array.read(1)], 0)


def arrays_read_again_np(x):
    parts = [x[x > 0]]
    for i in range(3):
        parts.append(np.concatenate([parts[i] * 2, [1]]))
    return np.concatenate([parts[3], parts[1]])


def arrays_begun_outside(x):
    array = tf.TensorArray(F64, size=4, infer_shape=False).write(3, x[:2])
    for i in tf.range(3):
        array = array.write(i, x[:number(x) - i])
    return array.concat() ** 3


def arrays_begun_outside_np(x):
    return np.concatenate([x[:npc(x) - i] for i in range(3)] + [x[:2]]) ** 3


def arrays_of_branches(x):
    array = tf.TensorArray(F64, size=2, infer_shape=False)
    if tf.reduce_sum(x) > 0:
        array = array.write(0, x[x > 0]).write(1, x[x > 1.1])
    else:
        array = array.write(0, x[:2]).write(1, x[2:4])
    return array.concat() ** 2


def arrays_of_branches_np(x):
    return np.concatenate([x[x > 0], x[x > 1.1]] if x.sum() > 0 else [x[:4]]) ** 2


def arrays_of_some_turns(x):
    """An element for each positive number, as long as it is far; the first is always there."""
    array = tf.TensorArray(F64, size=0, dynamic_size=True, infer_shape=False).write(0, x[:1])
    for i in tf.range(6):
        if x[i] > 0:
            array = array.write(array.size(), x[:i])
    return array.concat() ** 2


def arrays_of_some_turns_np(x):
    return np.concatenate([x[:1]] + [x[:i] for i in range(6) if x[i] > 0]) ** 2


def arrays_of_tables(x):
    array = tf.TensorArray(F64, size=number(x) + 1, infer_shape=False, element_shape=[None, 2])
    for i in tf.range(number(x) + 1):
        array = array.write(i, tf.reshape(x, [3, 2])[:i % 3 + 1])
    return array.concat() ** 2


def arrays_of_tables_np(x):
    return np.concatenate([x.reshape(3, 2)[:i % 3 + 1] for i in range(npc(x) + 1)]) ** 2


def arrays_as_rows(x):
    array = tf.TensorArray(F64, size=3, infer_shape=False)
    for i in tf.range(3):
        array = array.write(i, x[x > 0] * tf.cast(i, F64))
    return array.stack() ** 2


def arrays_as_rows_np(x):
    return np.stack([x[x > 0] * i for i in range(3)]) ** 2


def by_groups(x):
    """The largest of each group of equal integer parts."""
    found = tf.unique_with_counts(tf.sort(tf.floor(x)))
    array = tf.TensorArray(F64, size=tf.size(found.y), infer_shape=False).split(tf.sort(x), found.count)
    total = tf.constant(0., F64)
    for i in tf.range(tf.size(found.y)):
        total += tf.reduce_max(array.read(i)) ** 2
    return total


def by_groups_np(x):
    return sum(x[np.floor(x) == v].max() ** 2 for v in np.unique(np.floor(x)))


FLOWS = {name: (f, globals()[name + "_np"]) for name, f in list(globals().items())
         if callable(f) and name + "_np" in globals()}
