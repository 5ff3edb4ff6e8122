# Made by tools/api_pages.py; do not edit.
from typing import Any as _Any, Sequence as _Sequence, Union as _Union

_Axis = _Union[int, _Sequence[int], _Any]
_DTypeLike = _Any

from . import *
from . import DType, Tensor

class ForwardAccumulator:
    """Computes Jacobian-vector products while the program runs, in forward mode."""
    def __enter__(self, *args: _Any, **kwargs: _Any) -> _Any: ...
    def __exit__(self, *args: _Any, **kwargs: _Any) -> _Any: ...
    def jvp(self, *args: _Any, **kwargs: _Any) -> _Any: ...
    def __init__(self, *args: _Any, **kwargs: _Any) -> None: ...
