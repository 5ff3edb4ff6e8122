"""keras.datasets: loaders for files in the cache folder (~/.keras/datasets). Nothing is downloaded; what is missing is
named."""
import importlib as _importlib

_NAMES = "boston_housing california_housing cifar10 cifar100 fashion_mnist imdb mnist reuters".split()


def __getattr__(name):
    if name in _NAMES:
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'keras.datasets' has no attribute '{name}'")


def __dir__():
    return list(_NAMES)
