"""tf.autograph.experimental."""
import enum

from ._convert import do_not_convert

__all__ = ["Feature", "do_not_convert", "set_loop_options"]


class Feature(enum.Enum):
    """Accepted: all that is covered is always on."""
    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"


def set_loop_options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None):
    """Written first in the body of a loop: says how often it may run, and which shapes may change."""
