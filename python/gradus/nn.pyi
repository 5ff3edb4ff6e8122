# Made by tools/api_pages.py; do not edit.
from typing import Any as _Any, Sequence as _Sequence, Union as _Union

_Axis = _Union[int, _Sequence[int], _Any]
_DTypeLike = _Any

from . import *
from . import DType, Tensor

def avg_pool(input: _Any, ksize: _Any, strides: _Any, padding: _Any, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """The mean of each window."""
def avg_pool2d(input: _Any, ksize: _Any, strides: _Any, padding: _Any, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """The mean of each window."""
def batch_normalization(x: _Any, mean: _Any, variance: _Any, offset: _Any, scale: _Any, variance_epsilon: _Any, name: str | None = None) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset."""
def bias_add(value: _Any, bias: _Any, data_format: _Any = None, name: str | None = None) -> Tensor:
    """value + bias."""
def conv1d(input: _Any, filters: _Any, stride: _Any, padding: _Any, data_format: str = 'NWC', dilations: _Any = None, name: str | None = None) -> Tensor:
    """Convolution of sequences."""
def conv2d(input: _Any, filters: _Any, strides: _Any, padding: _Any, data_format: str = 'NHWC', dilations: _Any = None, name: str | None = None) -> Tensor:
    """Convolution of images."""
def conv2d_transpose(input: _Any, filters: _Any, output_shape: _Any, strides: _Any, padding: str = 'SAME', data_format: str = 'NHWC', dilations: _Any = None, name: str | None = None) -> Tensor:
    """The transpose of conv2d in its input."""
def depth_to_space(input: _Any, block_size: _Any, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """Channels become blocks of pixels."""
def depthwise_conv2d(input: _Any, filter: _Any, strides: _Any, padding: _Any, data_format: _Any = None, dilations: _Any = None, name: str | None = None) -> Tensor:
    """A convolution of each channel by itself."""
def dropout(x: _Any, rate: _Any, noise_shape: _Any = None, seed: _Any = None, name: str | None = None) -> Tensor:
    """Zero with probability `rate`, else x / (1 - rate)."""
def elu(features: _Any, name: str | None = None) -> Tensor:
    """x above 0, exp(x) - 1 below."""
def embedding_lookup(params: _Any, ids: _Any, max_norm: _Any = None, name: str | None = None) -> Tensor:
    """Rows of a table, by number."""
def embedding_lookup_sparse(params: _Any, sp_ids: _Any, sp_weights: _Any, combiner: _Any = ..., max_norm: _Any = ..., name: _Any = ..., allow_fast_lookup: _Any = ...) -> _Any:
    """For each row of sp_ids the sum, mean or sum over the root of the squared weights ("sqrtn") of rows of params."""
def gelu(features: _Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """x times the normal distribution function of x."""
def in_top_k(targets: _Any, predictions: _Any, k: _Any, name: str | None = None) -> Tensor:
    """Whether the target is among the k largest predictions."""
def l2_loss(t: _Any, name: str | None = None) -> Tensor:
    """Half the sum of squares."""
def l2_normalize(x: _Any, axis: _Axis | None = None, epsilon: _Any = 1e-12, name: str | None = None) -> Tensor:
    """x divided by its norm."""
def leaky_relu(features: _Any, alpha: _Any = 0.2, name: str | None = None) -> Tensor:
    """x above 0, alpha * x below."""
def log_softmax(logits: _Any, axis: _Axis | None = None, name: str | None = None) -> Tensor:
    """log(softmax(x))."""
def max_pool(input: _Any, ksize: _Any, strides: _Any, padding: _Any, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """The maximum of each window."""
def max_pool2d(input: _Any, ksize: _Any, strides: _Any, padding: _Any, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """The maximum of each window."""
def moments(x: _Any, axes: _Any, shift: _Any = None, keepdims: bool | None = False, name: str | None = None) -> _Any:
    """Mean and variance over axes."""
def relu(features: _Any, name: str | None = None) -> Tensor:
    """max(x, 0)."""
def relu6(features: _Any, name: str | None = None) -> Tensor:
    """min(max(x, 0), 6)."""
def safe_embedding_lookup_sparse(embedding_weights: _Any, sparse_ids: _Any, sparse_weights: _Any = ..., combiner: _Any = ..., default_id: _Any = ..., max_norm: _Any = ..., name: _Any = ..., allow_fast_lookup: _Any = ...) -> _Any:
    """The same without negative ids and weights that are not positive; empty rows are default_id, or zeros."""
def selu(features: _Any, name: str | None = None) -> Tensor:
    """The self-normalising exponential linear unit."""
def sigmoid(x: _Any, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x))."""
def sigmoid_cross_entropy_with_logits(labels: _Any = None, logits: _Any = None, name: str | None = None) -> Tensor:
    """Cross entropy of independent labels and logits, elementwise."""
def silu(features: _Any, beta: _Any = 1.0) -> Tensor:
    """x * sigmoid(beta * x)."""
def softmax(logits: _Any, axis: _Axis | None = None, name: str | None = None) -> Tensor:
    """exp(x) / sum(exp(x))."""
def softmax_cross_entropy_with_logits(labels: _Any, logits: _Any, axis: _Axis | None = -1, name: str | None = None) -> Tensor:
    """Cross entropy of probabilities and logits, per row."""
def softplus(features: _Any, name: str | None = None) -> Tensor:
    """log(1 + exp(x))."""
def softsign(features: _Any, name: str | None = None) -> Tensor:
    """x / (1 + |x|)."""
def space_to_depth(input: _Any, block_size: _Any, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """Blocks of pixels become channels."""
def sparse_softmax_cross_entropy_with_logits(labels: _Any, logits: _Any, name: str | None = None) -> Tensor:
    """Cross entropy of class numbers and logits, per row."""
def swish(features: _Any, beta: _Any = 1.0) -> Tensor:
    """x * sigmoid(beta * x)."""
def tanh(x: _Any, name: str | None = None) -> Tensor:
    """The hyperbolic tangent."""
def top_k(input: _Any, k: _Any = 1, sorted: bool = True, index_type: _DTypeLike | None = 'int32', name: str | None = None) -> _Any:
    """The k largest elements along the last axis and their positions."""
def weighted_cross_entropy_with_logits(labels: _Any, logits: _Any, pos_weight: _Any, name: str | None = None) -> Tensor:
    """The same with a weight for positive labels."""
