# Made by tools/api_pages.py; do not edit.
from typing import Any as _Any, Sequence as _Sequence, Union as _Union

_Axis = _Union[int, _Sequence[int], _Any]
_DTypeLike = _Any

from . import *
from . import DType, Tensor

class Algorithm:
    AUTO_SELECT: _Any
    PHILOX: _Any
    THREEFRY: _Any
    def __init__(self, *args: _Any, **kwargs: _Any) -> None: ...
class Generator:
    """Philox with a state of three integers: counter, low and high, and key."""
    @property
    def algorithm(self) -> _Any: ...
    from_key_counter: _Any
    from_non_deterministic_state: _Any
    from_seed: _Any
    from_state: _Any
    @property
    def key(self) -> _Any: ...
    def make_seeds(self, *args: _Any, **kwargs: _Any) -> _Any: ...
    def normal(self, *args: _Any, **kwargs: _Any) -> _Any: ...
    def reset(self, *args: _Any, **kwargs: _Any) -> _Any: ...
    def reset_from_key_counter(self, *args: _Any, **kwargs: _Any) -> _Any: ...
    def reset_from_seed(self, *args: _Any, **kwargs: _Any) -> _Any: ...
    def skip(self, *args: _Any, **kwargs: _Any) -> _Any: ...
    def split(self, *args: _Any, **kwargs: _Any) -> _Any: ...
    @property
    def state(self) -> _Any: ...
    def truncated_normal(self, *args: _Any, **kwargs: _Any) -> _Any: ...
    def uniform(self, *args: _Any, **kwargs: _Any) -> _Any: ...
    def uniform_full_int(self, *args: _Any, **kwargs: _Any) -> _Any: ...
    def __init__(self, *args: _Any, **kwargs: _Any) -> None: ...
def categorical(logits: _Any, num_samples: _Any, dtype: _DTypeLike | None = None, seed: _Any = None, name: str | None = None) -> Tensor:
    """Class numbers with probabilities softmax(logits), num_samples per row."""
def create_rng_state(seed: _Any, alg: _Any) -> _Any:
    """The state that a generator starts with: the words of a Python integer, the low one first, or up to three integers of"""
def fold_in(seed: _Any, data: _Any, alg: _Any = ...) -> _Any:
    """A seed made of a seed and a number."""
def gamma(shape: _Any, alpha: _Any, beta: _Any = ..., dtype: _Any = ..., seed: _Any = ..., name: _Any = ...) -> _Any:
    """Gamma numbers with shapes alpha and rates beta: the shape of both behind `shape`."""
def get_global_generator() -> _Any:
    """The generator that all may use."""
def log_uniform_candidate_sampler(true_classes: _Any, num_true: _Any, num_sampled: _Any, unique: _Any, range_max: _Any, seed: _Any = ..., name: _Any = ...) -> _Any:
    """Classes drawn with probabilities that fall as 1 / (class + 1), about Zipf's law; and the expected counts."""
def normal(shape: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _DTypeLike | None = 'float32', seed: _Any = None, name: str | None = None) -> Tensor:
    """Normally distributed numbers."""
def poisson(shape: _Any, lam: _Any, dtype: _Any = ..., seed: _Any = ..., name: _Any = ...) -> _Any:
    """Poisson numbers with rates lam: the shape of lam behind `shape`."""
def set_global_generator(generator: _Any) -> _Any:
    """"""
def set_seed(seed: _Any) -> _Any:
    """Restarts the sequence of random numbers."""
def shuffle(value: _Any, seed: _Any = None, name: str | None = None) -> Tensor:
    """The rows in random order."""
def split(seed: _Any, num: _Any = ..., alg: _Any = ...) -> _Any:
    """Seeds [num, 2] made of one."""
def stateless_categorical(logits: _Any, num_samples: _Any, seed: _Any, dtype: _DTypeLike | None = 'int64', name: str | None = None) -> Tensor:
    """The same as a function of the seed, two integers."""
def stateless_gamma(shape: _Any, seed: _Any, alpha: _Any, beta: _Any = ..., dtype: _Any = ..., name: _Any = ...) -> _Any:
    """The same of this whole shape, as a function of the seed, two integers."""
def stateless_normal(shape: _Any, seed: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _DTypeLike | None = 'float32', name: str | None = None, alg: str = 'auto_select') -> Tensor:
    """Normal numbers that are a function of the seed, two integers."""
def stateless_poisson(shape: _Any, seed: _Any, lam: _Any, dtype: _Any = ..., name: _Any = ...) -> _Any:
    """The same of this whole shape, as a function of the seed, two integers."""
def stateless_truncated_normal(shape: _Any, seed: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _DTypeLike | None = 'float32', name: str | None = None, alg: str = 'auto_select') -> Tensor:
    """Truncated normal numbers that are a function of the seed, two integers."""
def stateless_uniform(shape: _Any, seed: _Any, minval: _Any = 0, maxval: _Any = None, dtype: _DTypeLike | None = 'float32', name: str | None = None, alg: str = 'auto_select') -> Tensor:
    """Uniform numbers that are a function of the seed, two integers."""
def truncated_normal(shape: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _DTypeLike | None = 'float32', seed: _Any = None, name: str | None = None) -> Tensor:
    """Normally distributed numbers within two standard deviations."""
def uniform(shape: _Any, minval: _Any = 0, maxval: _Any = None, dtype: _DTypeLike | None = 'float32', seed: _Any = None, name: str | None = None) -> Tensor:
    """Uniform numbers between minval and maxval, which is never drawn."""
def uniform_candidate_sampler(true_classes: _Any, num_true: _Any, num_sampled: _Any, unique: _Any, range_max: _Any, seed: _Any = ..., name: _Any = ...) -> _Any:
    """Classes drawn with equal probabilities, and the expected counts."""
