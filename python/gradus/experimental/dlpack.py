"""tf.experimental.dlpack: tensors as capsules that other libraries read without a copy."""


def to_dlpack(tf_tensor):
    """A capsule of a tensor."""
    return tf_tensor.__dlpack__()


class _Holder:
    """What offers a capsule in the way of the newer protocol."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **kwargs):
        return self._capsule

    def __dlpack_device__(self):
        return (1, 0)


def from_dlpack(dlcapsule):
    """The tensor of a capsule."""
    import numpy as np

    import gradus
    return gradus.convert_to_tensor(np.from_dlpack(_Holder(dlcapsule)))
