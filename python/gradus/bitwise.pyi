# Made by tools/api_pages.py; do not edit.
from typing import Any as _Any, Sequence as _Sequence, Union as _Union

_Axis = _Union[int, _Sequence[int], _Any]
_DTypeLike = _Any

from . import *
from . import DType, Tensor

def bitwise_and(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """The bits that both have."""
def bitwise_or(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """The bits that either has."""
def bitwise_xor(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """The bits that differ."""
def invert(x: _Any, name: str | None = None) -> Tensor:
    """The other bits."""
def left_shift(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x 2^y."""
def right_shift(x: _Any, y: _Any, name: str | None = None) -> Tensor:
    """x / 2^y."""
