"""All kinds of datasets under one name, for the class Dataset."""
from ._combine import (ConcatenateDataset, DirectedDataset, FlatMapDataset, GroupByWindowDataset,  # noqa: F401
                       InterleaveDataset, ZipDataset, bucketed, sample_from_datasets, zip_datasets)
from ._files import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset, list_files  # noqa: F401
from ._sources import (CounterDataset, ElementsDataset, RandomDataset, RangeDataset, TensorDataset,  # noqa: F401
                       TensorSliceDataset, generator_dataset)
from ._transforms import (BatchDataset, CacheDataset, FilterDataset, IgnoreErrorsDataset, MapDataset,  # noqa: F401
                          OptionsDataset, PaddedBatchDataset, PrefetchDataset, RaggedBatchDataset, RepeatDataset, ScanDataset,
                          ShardDataset, ShuffleDataset, SkipDataset, TakeDataset, TakeWhileDataset, TurnsDataset, UnbatchDataset,
                          UniqueDataset, WindowDataset, checked_state)
