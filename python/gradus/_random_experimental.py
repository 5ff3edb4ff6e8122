"""tf.random.experimental: older names of what tf.random has."""
import sys

from ._distributions import fold_in as stateless_fold_in  # noqa: F401
from ._distributions import split as stateless_split  # noqa: F401
from ._generator import Algorithm, Generator, get_global_generator, set_global_generator  # noqa: F401

experimental = sys.modules[__name__]
