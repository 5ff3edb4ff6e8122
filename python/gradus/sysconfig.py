"""tf.sysconfig: how the library was built."""
import os as _os

CXX11_ABI_FLAG, CXX_VERSION, MONOLITHIC_BUILD = 1, 202002, 1


def get_build_info():
    """A dict that says which processors besides the CPU are used: none."""
    return {"cpu_compiler": "g++", "is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


def get_lib():
    """The folder of the native library."""
    return _os.path.dirname(_os.path.abspath(__file__))
