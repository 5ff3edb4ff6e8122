"""tf.train: checkpoints, and the records of TFRecord files."""
from ._checkpoint import Checkpoint
from ._average import ExponentialMovingAverage
from ._example import (BytesList, Example, Feature, FeatureList, FeatureLists, Features, FloatList, Int64List,
                       SequenceExample)
from ._manager import CheckpointManager
from ._reader import (CheckpointReader, checkpoint_exists, checkpoints_iterator, list_variables, load_checkpoint,
                      load_variable)
from ._state_file import CheckpointState, get_checkpoint_state, latest_checkpoint

__all__ = ["BytesList", "Example", "ExponentialMovingAverage", "Feature", "FeatureList", "FeatureLists", "Features",
           "SequenceExample", "FloatList", "Int64List", "Checkpoint", "CheckpointManager",
           "CheckpointReader", "CheckpointState", "checkpoint_exists",
           "checkpoints_iterator", "get_checkpoint_state", "latest_checkpoint", "list_variables", "load_checkpoint",
           "load_variable"]
