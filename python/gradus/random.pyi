# Made by tools/api_pages.py; do not edit.
from typing import Any as _Any, Sequence as _Sequence, Union as _Union

_Axis = _Union[int, _Sequence[int], _Any]
_DTypeLike = _Any

from . import *
from . import DType, Tensor

def categorical(logits: _Any, num_samples: _Any, dtype: _DTypeLike | None = None, seed: _Any = None, name: str | None = None) -> Tensor:
    """Class numbers with probabilities softmax(logits), num_samples per row."""
def normal(shape: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _DTypeLike | None = ..., seed: _Any = None, name: str | None = None) -> Tensor:
    """Normally distributed numbers."""
def set_seed(seed: _Any) -> _Any:
    """Restarts the sequence of random numbers."""
def shuffle(value: _Any, seed: _Any = None, name: str | None = None) -> Tensor:
    """The rows in random order."""
def stateless_categorical(logits: _Any, num_samples: _Any, seed: _Any, dtype: _DTypeLike | None = ..., name: str | None = None) -> Tensor:
    """The same as a function of the seed, two integers."""
def stateless_normal(shape: _Any, seed: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _DTypeLike | None = ..., name: str | None = None, alg: str = 'auto_select') -> Tensor:
    """Normal numbers that are a function of the seed, two integers."""
def stateless_truncated_normal(shape: _Any, seed: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _DTypeLike | None = ..., name: str | None = None, alg: str = 'auto_select') -> Tensor:
    """Truncated normal numbers that are a function of the seed, two integers."""
def stateless_uniform(shape: _Any, seed: _Any, minval: _Any = 0, maxval: _Any = None, dtype: _DTypeLike | None = ..., name: str | None = None, alg: str = 'auto_select') -> Tensor:
    """Uniform numbers that are a function of the seed, two integers."""
def truncated_normal(shape: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _DTypeLike | None = ..., seed: _Any = None, name: str | None = None) -> Tensor:
    """Normally distributed numbers within two standard deviations."""
def uniform(shape: _Any, minval: _Any = 0, maxval: _Any = None, dtype: _DTypeLike | None = ..., seed: _Any = None, name: str | None = None) -> Tensor:
    """Uniform numbers between minval and maxval, which is never drawn."""
