"""tf.experimental: exchange of tensors with other libraries."""
from . import dlpack

__all__ = ["dlpack"]
