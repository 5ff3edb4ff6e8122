# Made by tools/api_pages.py; do not edit.
from typing import Any as _Any, Sequence as _Sequence, Union as _Union

_Axis = _Union[int, _Sequence[int], _Any]
_DTypeLike = _Any

from . import *
from . import DType, Tensor

def assert_same_structure(nest1: _Any, nest2: _Any, check_types: bool = True, expand_composites: bool = False) -> _Any:
    """Raises an error if two structures differ in more than their leaves."""
def flatten(structure: _Any, expand_composites: bool = False) -> _Any:
    """The leaves of a structure as a list; mappings by sorted keys."""
def is_nested(seq: _Any) -> _Any:
    """Whether it is a list, a tuple or a mapping."""
def map_structure(func: _Any, *structure: _Any, **kwargs: _Any) -> _Any:
    """Calls func on corresponding leaves; the results in the same structure."""
def pack_sequence_as(structure: _Any, flat_sequence: _Any, expand_composites: bool = False) -> _Any:
    """The structure with its leaves replaced, in the order of flatten."""
