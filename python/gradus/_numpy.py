"""What NumPy needs to be told."""
unsafe = "unsafe"


def __getattr__(name):
    if name == "bfloat16":
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError("NumPy has no bfloat16 of its own: cast the tensor to float32, or install ml_dtypes") from None
        return ml_dtypes.bfloat16
    raise AttributeError(name)
