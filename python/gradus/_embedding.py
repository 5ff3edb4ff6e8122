"""tf.nn.embedding_lookup_sparse: rows of a table, combined as a sparse tensor of row numbers says."""
import sys

__all__ = ["embedding_lookup_sparse", "safe_embedding_lookup_sparse"]


def _tf():
    return sys.modules["gradus"]


def embedding_lookup_sparse(params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None,
                            allow_fast_lookup=False):
    """For each row of sp_ids the sum, mean or sum over the root of the squared weights ("sqrtn") of rows of params."""
    tf = _tf()
    combiner = "mean" if combiner is None else combiner
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    if not isinstance(sp_ids, tf.SparseTensor):
        raise TypeError(f"sp_ids must be SparseTensor, got {sp_ids!r}")
    if sp_weights is not None and not isinstance(sp_weights, tf.SparseTensor):
        raise TypeError(f"sp_weights must be either None or SparseTensor, got {sp_weights!r}")
    if isinstance(params, (list, tuple)):
        if len(params) != 1:
            raise NotImplementedError("a table in several parts is not covered: join them with tf.concat")
        params, = params
    rows = tf.gather(params, sp_ids.values)
    if max_norm is not None:
        rows = tf.clip_by_norm(rows, max_norm, axes=list(range(1, rows.shape.rank)))
    segments = sp_ids.indices[:, 0]
    count = sp_ids.shape[0]
    shape = [-1] + [1] * (rows.shape.rank - 1)
    if sp_weights is None:
        weights = tf.ones_like(tf.reshape(rows, [rows.shape[0], -1])[:, 0])
    else:
        weights = tf.cast(sp_weights.values, rows.dtype)
        rows = rows * tf.reshape(weights, shape)
    total = tf.math.unsorted_segment_sum(rows, segments, count)
    if combiner == "sum":
        return total
    if combiner == "mean":
        divisor = tf.math.unsorted_segment_sum(weights, segments, count)
    else:
        divisor = tf.sqrt(tf.math.unsorted_segment_sum(weights * weights, segments, count))
    return tf.math.divide_no_nan(total, tf.reshape(divisor, shape))


def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None,
                                 max_norm=None, name=None, allow_fast_lookup=False):
    """The same without negative ids and weights that are not positive; empty rows are default_id, or zeros."""
    tf = _tf()
    rank = sparse_ids.shape.rank
    ids, leading = sparse_ids, sparse_ids.shape.as_list()[:-1]
    if rank > 2:
        count = 1
        for size in leading:
            count *= size
        ids = tf.sparse.reshape(ids, [count, sparse_ids.shape[-1]])
        if sparse_weights is not None:
            sparse_weights = tf.sparse.reshape(sparse_weights, [count, sparse_ids.shape[-1]])
    valid = ids.values >= 0
    if sparse_weights is not None and combiner != "sum":
        valid &= sparse_weights.values > 0
    weights = None if sparse_weights is None else tf.sparse.retain(sparse_weights, valid)
    ids = tf.sparse.retain(ids, valid)
    ids, empty = tf.sparse.fill_empty_rows(ids, default_id or 0)
    if weights is not None:
        weights, _ = tf.sparse.fill_empty_rows(weights, 1.0)
    result = embedding_lookup_sparse(embedding_weights, ids, weights, combiner, max_norm)
    if default_id is None:
        shape = [-1] + [1] * (result.shape.rank - 1)
        result = tf.where(tf.reshape(empty, shape), tf.zeros_like(result), result)
    return tf.reshape(result, leading + result.shape.as_list()[1:]) if rank > 2 else result
