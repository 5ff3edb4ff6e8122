"""Datasets of files of comma-separated values."""
import collections
import csv

from .. import errors
from ..io._csv import column_of, tensor_of, value_of
from . import _structure
from ._dataset import UNKNOWN, Dataset
from ._files import _names, _opened


def _rows(name, compression, delim, quotes):
    with _opened(name, compression) as file:
        lines = (line.decode() for line in file)
        yield from csv.reader(lines, delimiter=delim, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)


class CsvDataset(Dataset):
    """Tuples of the fields of each line of files."""

    def __init__(self, filenames, record_defaults, compression_type=None, buffer_size=None, header=False, field_delim=",",
                 use_quote_delim=True, na_value="", select_cols=None, exclude_cols=None):
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("Either select_cols or exclude_cols should be provided, not both")
        self._filenames, self._columns = filenames, [column_of(d) for d in record_defaults]
        self._compression, self._header, self._delim, self._quotes = compression_type, header, field_delim, use_quote_delim
        self._na_value, self._select, self._exclude = na_value, select_cols, exclude_cols

    def _iterate(self):
        for name in _names(self._filenames):
            rows = _rows(name, self._compression, self._delim, self._quotes)
            if self._header:
                next(rows, None)
            for row in rows:
                yield self._element(row)

    def _element(self, row):
        if self._select is not None:
            row = [row[i] for i in self._select]
        elif self._exclude is not None:
            row = [text for i, text in enumerate(row) if i not in self._exclude]
        if len(row) != len(self._columns):
            raise errors.InvalidArgumentError(None, None, f"Expect {len(self._columns)} fields but have {len(row)} in record")
        return tuple(tensor_of([value_of(text, dtype, default, i, self._na_value)], dtype, [])
                     for i, (text, (dtype, default)) in enumerate(zip(row, self._columns)))

    def _spec(self):
        import gradus as tf
        return tuple(_structure.StringSpec([]) if dtype.name == "string" else tf.TensorSpec([], dtype)
                     for dtype, _ in self._columns)

    def _cardinality(self):
        return UNKNOWN


def _guessed(texts, na_value):
    """The dtype that all of some fields can be read as."""
    import gradus as tf
    for dtype, read in ((tf.int32, int), (tf.float32, float)):
        try:
            for text in texts:
                if text not in ("", na_value):
                    number = read(text)
                    if dtype == tf.int32 and not -2 ** 31 <= number < 2 ** 31:
                        raise ValueError
            return dtype
        except ValueError:
            continue
    return tf.string


def make_csv_dataset(file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None, select_columns=None,
                     field_delim=",", use_quote_delim=True, na_value="", header=True, num_epochs=None, shuffle=True,
                     shuffle_buffer_size=10000, shuffle_seed=None, prefetch_buffer_size=None, num_parallel_reads=None,
                     sloppy=False, num_rows_for_inference=100, compression_type=None, ignore_errors=False,
                     encoding="utf-8"):
    """Batches of dicts, a tensor for each column; with label_name, pairs of a dict and the label."""
    import itertools

    import gradus as tf
    if encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        raise ValueError(f"[make_csv_dataset] got encoding {encoding!r}; expected 'utf-8'; write the files in that encoding")
    names = sorted(n for pattern in _names(file_pattern) for n in (tf.io.gfile.glob(pattern) or [pattern]))
    rows = list(itertools.islice(_rows(names[0], compression_type, field_delim, use_quote_delim),
                                 (num_rows_for_inference or 10 ** 9) + 1))
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments to be provided.")
        column_names = rows[0]
    if len(column_names) != len(set(column_names)):
        raise ValueError("Cannot have duplicate column names.")
    body = rows[1:] if header else rows
    places = list(range(len(column_names)))
    if select_columns is not None:
        places = sorted(column_names.index(c) if isinstance(c, str) else int(c) for c in select_columns)
    chosen = [column_names[i] for i in places]
    if label_name is not None and label_name not in chosen:
        raise ValueError(f"`label_name` provided must be one of the columns. Received: {label_name}, expected one of {chosen}")
    if column_defaults is None:
        kinds = [_guessed([row[i] for row in body], na_value) for i in places]
        column_defaults = [tf.constant([b"" if kind == tf.string else 0], kind) for kind in kinds]
    dataset = CsvDataset(names, column_defaults, compression_type, None, header, field_delim, use_quote_delim, na_value, places)

    def named(*fields):
        columns = collections.OrderedDict(zip(chosen, fields))
        return columns if label_name is None else (columns, columns.pop(label_name))
    if ignore_errors:
        dataset = dataset.ignore_errors()
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(named)
    return dataset.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)
