"""tf.version: which TensorFlow's interface this is, and which Gradus."""
from . import __version__ as GRADUS_VERSION

VERSION = "2.21.0"
GIT_VERSION = "gradus-" + GRADUS_VERSION
COMPILER_VERSION = "g++"
GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER = 2404, 0, 0
