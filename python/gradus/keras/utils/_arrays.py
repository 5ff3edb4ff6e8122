"""Arrays for training: classes as rows, sequences of one length, norms, splits."""
import numpy as np


def to_categorical(x, num_classes=None):
    """Class numbers as rows with a single 1."""
    import gradus as tf
    if tf.is_tensor(x):
        shape = list(x.shape)
        if shape and shape[-1] == 1 and len(shape) > 1:
            x = tf.squeeze(x, -1)
        if num_classes is None:
            num_classes = int(tf.reduce_max(x)) + 1
        return tf.one_hot(tf.cast(x, "int32"), num_classes)
    x = np.array(x, dtype="int64")
    shape = x.shape
    if shape and shape[-1] == 1 and len(shape) > 1:
        shape = shape[:-1]
    x = x.reshape(-1)
    if not num_classes:
        num_classes = int(np.max(x)) + 1
    rows = np.zeros((x.shape[0], num_classes))
    rows[np.arange(x.shape[0]), x] = 1
    return rows.reshape(shape + (num_classes,))


def normalize(x, axis=-1, order=2):
    """Divides by the norm along an axis."""
    import gradus as tf
    if tf.is_tensor(x):
        from ..ops.linalg import norm as norm_of
        norm = norm_of(x, order, axis, keepdims=True)
        return x / tf.where(tf.equal(norm, 0), tf.ones_like(norm), norm)
    norm = np.atleast_1d(np.linalg.norm(np.asarray(x), order, axis))
    norm[norm == 0] = 1
    return np.asarray(x) / np.expand_dims(norm, axis)


def pad_sequences(sequences, maxlen=None, dtype="int32", padding="pre", truncating="pre", value=0.0):
    """Sequences cut or filled to one length, as rows of an array."""
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    lengths, sample_shape = [], ()
    for sequence in sequences:
        try:
            lengths.append(len(sequence))
        except TypeError:
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {sequence}") from None
        if not sample_shape and len(sequence):
            sample_shape = np.asarray(sequence).shape[1:]
    if maxlen is None:
        maxlen = max(lengths, default=0)
    is_text = np.issubdtype(dtype, np.str_) or np.issubdtype(dtype, np.bytes_)
    if isinstance(value, str) and dtype is not object and not is_text:
        raise ValueError(f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\n"
                         "You should set `dtype=object` for variable length strings.")
    result = np.full((len(lengths), maxlen) + sample_shape, value, dtype=dtype)
    for i, sequence in enumerate(sequences):
        if not len(sequence):
            continue
        if truncating == "pre":
            cut = sequence[-maxlen:] if maxlen else sequence[:0]
        elif truncating == "post":
            cut = sequence[:maxlen]
        else:
            raise ValueError(f'Truncating type "{truncating}" not understood')
        cut = np.asarray(cut, dtype=dtype)
        if cut.shape[1:] != sample_shape:
            raise ValueError(f"Shape of sample {cut.shape[1:]} of sequence at position {i} is different from expected "
                             f"shape {sample_shape}")
        if padding == "post":
            result[i, :len(cut)] = cut
        elif padding == "pre":
            if len(cut):
                result[i, -len(cut):] = cut
        else:
            raise ValueError(f'Padding type "{padding}" not understood')
    return result


def split_dataset(dataset, left_size=None, right_size=None, shuffle=False, seed=None, preferred_backend=None):
    """Two tf.data.Datasets of the first and the last elements."""
    import gradus as tf
    if preferred_backend not in (None, "tensorflow"):
        raise NotImplementedError(f"split_dataset(preferred_backend='{preferred_backend}') is not covered; datasets are "
                                  "tf.data's")
    if isinstance(dataset, (np.ndarray, list, tuple)):
        dataset = tf.data.Dataset.from_tensor_slices(dataset if not isinstance(dataset, list) else np.asarray(dataset))
    count = int(dataset.cardinality())
    if count < 0:
        count = sum(1 for _ in dataset)
    as_number = lambda size: int(round(size * count)) if isinstance(size, float) else size  # noqa: E731
    left, right = as_number(left_size), as_number(right_size)
    if left is None and right is None:
        raise ValueError("At least one of the `left_size` or `right_size` must be specified. Received: left_size=None "
                         "and right_size=None")
    left = count - right if left is None else left
    right = count - left if right is None else right
    if shuffle:
        dataset = dataset.shuffle(count, seed=seed, reshuffle_each_iteration=False)
    if left + right > count:
        raise ValueError(f"The sum of `left_size` and `right_size` is larger than the {count} elements of the dataset. "
                         f"Received: left_size={left_size}, right_size={right_size}")
    return dataset.take(left), dataset.skip(count - right)
