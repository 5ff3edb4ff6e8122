"""tf.train: checkpoints, and the records of TFRecord files."""
from ._checkpoint import Checkpoint
from ._example import BytesList, Example, Feature, Features, FloatList, Int64List
from ._manager import CheckpointManager
from ._reader import (CheckpointReader, checkpoint_exists, checkpoints_iterator, list_variables, load_checkpoint,
                      load_variable)
from ._state_file import CheckpointState, get_checkpoint_state, latest_checkpoint

__all__ = ["BytesList", "Example", "Feature", "Features", "FloatList", "Int64List", "Checkpoint", "CheckpointManager",
           "CheckpointReader", "CheckpointState", "checkpoint_exists",
           "checkpoints_iterator", "get_checkpoint_state", "latest_checkpoint", "list_variables", "load_checkpoint",
           "load_variable"]
