# Made by tools/api_pages.py; do not edit.
from typing import Any as _Any, Sequence as _Sequence, Union as _Union

_Axis = _Union[int, _Sequence[int], _Any]
_DTypeLike = _Any

from . import *
from . import DType, Tensor

class DType:
    """The type of a tensor's elements."""
    @property
    def as_datatype_enum(self) -> _Any: ...
    @property
    def as_numpy_dtype(self) -> _Any: ...
    @property
    def base_dtype(self) -> _Any: ...
    @property
    def is_bool(self) -> _Any: ...
    def is_compatible_with(self, *args: _Any, **kwargs: _Any) -> _Any: ...
    @property
    def is_complex(self) -> _Any: ...
    @property
    def is_floating(self) -> _Any: ...
    @property
    def is_integer(self) -> _Any: ...
    @property
    def is_numpy_compatible(self) -> _Any: ...
    @property
    def is_quantized(self) -> _Any: ...
    @property
    def is_unsigned(self) -> _Any: ...
    @property
    def limits(self) -> _Any: ...
    @property
    def max(self) -> _Any: ...
    @property
    def min(self) -> _Any: ...
    @property
    def name(self) -> _Any: ...
    @property
    def real_dtype(self) -> _Any: ...
    @property
    def size(self) -> _Any: ...
    def __init__(self, *args: _Any, **kwargs: _Any) -> None: ...
def as_dtype(type_value: _Any) -> _Any:
    """The dtype of a name, a NumPy dtype or a type."""
bfloat16: DType
bool: DType
def cast(x: _Any, dtype: _DTypeLike | None, name: str | None = None) -> Tensor:
    """The value with another dtype."""
def complex(real: _Any, imag: _Any, name: str | None = None) -> Tensor:
    """real + i imag."""
complex128: DType
complex64: DType
double: DType
float16: DType
float32: DType
float64: DType
half: DType
int16: DType
int32: DType
int64: DType
int8: DType
def saturate_cast(value: _Any, dtype: _DTypeLike | None, name: str | None = None) -> Tensor:
    """The value with another dtype, kept within its range."""
uint16: DType
uint32: DType
uint64: DType
uint8: DType
