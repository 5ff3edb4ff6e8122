# Made by tools/api_pages.py; do not edit.
from typing import Any as _Any, Sequence as _Sequence, Union as _Union

_Axis = _Union[int, _Sequence[int], _Any]
_DTypeLike = _Any

from . import *
from . import DType, Tensor

def atrous_conv2d(value: _Any, filters: _Any, rate: _Any, padding: _Any, name: _Any = ...) -> _Any:
    """conv2d of every rate-th element."""
def atrous_conv2d_transpose(value: _Any, filters: _Any, output_shape: _Any, rate: _Any, padding: _Any, name: _Any = ...) -> _Any:
    """The transpose of atrous_conv2d."""
def avg_pool(input: _Any, ksize: _Any, strides: _Any, padding: _Any, data_format: _Any = ..., name: _Any = ...) -> _Any:
    """The mean of each window, in one, two or three dimensions."""
def avg_pool1d(input: _Any, ksize: _Any, strides: _Any, padding: _Any, data_format: _Any = ..., name: _Any = ...) -> _Any:
    """The mean of each window of sequences."""
def avg_pool2d(input: _Any, ksize: _Any, strides: _Any, padding: _Any, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """The mean of each window."""
def avg_pool3d(input: _Any, ksize: _Any, strides: _Any, padding: _Any, data_format: _Any = ..., name: _Any = ...) -> _Any:
    """The mean of each window of volumes."""
def batch_normalization(x: _Any, mean: _Any, variance: _Any, offset: _Any, scale: _Any, variance_epsilon: _Any, name: str | None = None) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset."""
def bias_add(value: _Any, bias: _Any, data_format: _Any = None, name: str | None = None) -> Tensor:
    """value + bias."""
def compute_accidental_hits(true_classes: _Any, sampled_candidates: _Any, num_true: _Any, seed: _Any = ..., name: _Any = ...) -> _Any:
    """(rows, places, weights) of candidates that are among the true classes of a row; the weights are the lowest number."""
def compute_average_loss(per_example_loss: _Any, sample_weight: _Any = ..., global_batch_size: _Any = ...) -> _Any:
    """The sum of losses over the size of the batch of all replicas."""
def conv1d(input: _Any, filters: _Any, stride: _Any, padding: _Any, data_format: str = 'NWC', dilations: _Any = None, name: str | None = None) -> Tensor:
    """Convolution of sequences."""
def conv1d_transpose(input: _Any, filters: _Any, output_shape: _Any, strides: _Any, padding: _Any = ..., data_format: _Any = ..., dilations: _Any = ..., name: _Any = ...) -> _Any:
    """The transpose of conv1d."""
def conv2d(input: _Any, filters: _Any, strides: _Any, padding: _Any, data_format: str = 'NHWC', dilations: _Any = None, name: str | None = None) -> Tensor:
    """Convolution of images."""
def conv2d_transpose(input: _Any, filters: _Any, output_shape: _Any, strides: _Any, padding: str = 'SAME', data_format: str = 'NHWC', dilations: _Any = None, name: str | None = None) -> Tensor:
    """The transpose of conv2d in its input."""
def conv3d(input: _Any, filters: _Any, strides: _Any, padding: _Any, data_format: _Any = ..., dilations: _Any = ..., name: _Any = ...) -> _Any:
    """Convolution in three dimensions."""
def conv3d_transpose(input: _Any, filters: _Any, output_shape: _Any, strides: _Any, padding: _Any = ..., data_format: _Any = ..., dilations: _Any = ..., name: _Any = ...) -> _Any:
    """The transpose of conv3d."""
def conv_transpose(input: _Any, filters: _Any, output_shape: _Any, strides: _Any, padding: _Any = ..., data_format: _Any = ..., dilations: _Any = ..., name: _Any = ...) -> _Any:
    """The transpose of a convolution: filters are [..., channels of the output, channels of the input]."""
def convolution(input: _Any, filters: _Any, strides: _Any = ..., padding: _Any = ..., data_format: _Any = ..., dilations: _Any = ..., name: _Any = ...) -> _Any:
    """Convolution in one, two or three dimensions."""
def crelu(features: _Any, axis: _Any = ..., name: _Any = ...) -> _Any:
    """relu of x and of -x, side by side."""
def ctc_beam_search_decoder(inputs: _Any, sequence_length: _Any, beam_width: _Any = ..., top_paths: _Any = ...) -> _Any:
    """(labels of the likeliest paths, their log probabilities [batch, top_paths]); the last class is the blank."""
def ctc_greedy_decoder(inputs: _Any, sequence_length: _Any, merge_repeated: _Any = ..., blank_index: _Any = ...) -> _Any:
    """([labels], minus the sum of logits): the likeliest class of each time, without blanks and repetition."""
def ctc_loss(labels: _Any, logits: _Any, label_length: _Any, logit_length: _Any, logits_time_major: _Any = ..., unique: _Any = ..., blank_index: _Any = ..., name: _Any = ...) -> _Any:
    """Minus the log probability of each row of labels, given logits [time, batch, classes]."""
def ctc_unique_labels(labels: _Any, name: _Any = ...) -> _Any:
    """(the different labels of each row, where each label is among them)."""
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
def l2_normalize(x: _Any, axis: _Axis | None = None, epsilon: _Any = 1e-12, name: str | None = None, dim: _Any = None) -> Tensor:
    """x divided by its norm."""
def leaky_relu(features: _Any, alpha: _Any = 0.2, name: str | None = None) -> Tensor:
    """x above 0, alpha * x below."""
def local_response_normalization(input: _Any, depth_radius: _Any = ..., bias: _Any = ..., alpha: _Any = ..., beta: _Any = ..., name: _Any = ...) -> _Any:
    """Each element over a power of the sum of squares of its neighbours among the channels."""
def log_poisson_loss(targets: _Any, log_input: _Any, compute_full_loss: _Any = ..., name: _Any = ...) -> _Any:
    """Minus the log likelihood of counts of which the logarithm of the rate is given."""
def log_softmax(logits: _Any, axis: _Axis | None = None, name: str | None = None) -> Tensor:
    """log(softmax(x))."""
def lrn(input: _Any, depth_radius: _Any = ..., bias: _Any = ..., alpha: _Any = ..., beta: _Any = ..., name: _Any = ...) -> _Any:
    """Each element over a power of the sum of squares of its neighbours among the channels."""
def max_pool(input: _Any, ksize: _Any, strides: _Any, padding: _Any, data_format: _Any = ..., name: _Any = ...) -> _Any:
    """The largest of each window, in one, two or three dimensions."""
def max_pool1d(input: _Any, ksize: _Any, strides: _Any, padding: _Any, data_format: _Any = ..., name: _Any = ...) -> _Any:
    """The largest of each window of sequences."""
def max_pool2d(input: _Any, ksize: _Any, strides: _Any, padding: _Any, data_format: str = 'NHWC', name: str | None = None) -> Tensor:
    """The maximum of each window."""
def max_pool3d(input: _Any, ksize: _Any, strides: _Any, padding: _Any, data_format: _Any = ..., name: _Any = ...) -> _Any:
    """The largest of each window of volumes."""
def max_pool_with_argmax(input: _Any, ksize: _Any, strides: _Any, padding: _Any, data_format: _Any = ..., output_dtype: _Any = ..., include_batch_in_index: _Any = ..., name: _Any = ...) -> _Any:
    """(the largest of each window, its number among the elements of the image)."""
def moments(x: _Any, axes: _Any, shift: _Any = None, keepdims: bool | None = False, name: str | None = None) -> _Any:
    """Mean and variance over axes."""
def nce_loss(weights: _Any, biases: _Any, labels: _Any, inputs: _Any, num_sampled: _Any, num_classes: _Any, num_true: _Any = ..., sampled_values: _Any = ..., remove_accidental_hits: _Any = ..., name: _Any = ...) -> _Any:
    """Noise-contrastive estimation: is a class the true one, or one that was drawn?"""
def normalize_moments(counts: _Any, mean_ss: _Any, variance_ss: _Any, shift: _Any, name: _Any = ...) -> _Any:
    """(mean, variance) of sufficient statistics."""
def pool(input: _Any, window_shape: _Any, pooling_type: _Any, strides: _Any = ..., padding: _Any = ..., data_format: _Any = ..., dilations: _Any = ..., name: _Any = ...) -> _Any:
    """The largest ("MAX") or the mean ("AVG") of each window, in one, two or three dimensions."""
def relu(features: _Any, name: str | None = None) -> Tensor:
    """max(x, 0)."""
def relu6(features: _Any, name: str | None = None) -> Tensor:
    """min(max(x, 0), 6)."""
def safe_embedding_lookup_sparse(embedding_weights: _Any, sparse_ids: _Any, sparse_weights: _Any = ..., combiner: _Any = ..., default_id: _Any = ..., max_norm: _Any = ..., name: _Any = ..., allow_fast_lookup: _Any = ...) -> _Any:
    """The same without negative ids and weights that are not positive; empty rows are default_id, or zeros."""
def sampled_softmax_loss(weights: _Any, biases: _Any, labels: _Any, inputs: _Any, num_sampled: _Any, num_classes: _Any, num_true: _Any = ..., sampled_values: _Any = ..., remove_accidental_hits: _Any = ..., seed: _Any = ..., name: _Any = ...) -> _Any:
    """The softmax cross entropy over the true classes and those that were drawn."""
def scale_regularization_loss(regularization_loss: _Any) -> _Any:
    """A loss that all replicas add, over their number."""
def selu(features: _Any, name: str | None = None) -> Tensor:
    """The self-normalising exponential linear unit."""
def separable_conv2d(input: _Any, depthwise_filter: _Any, pointwise_filter: _Any, strides: _Any, padding: _Any, data_format: _Any = ..., dilations: _Any = ..., name: _Any = ...) -> _Any:
    """Convolution of each channel by itself, then a product over channels."""
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
def sufficient_statistics(x: _Any, axes: _Any, shift: _Any = ..., keepdims: _Any = ..., name: _Any = ...) -> _Any:
    """(count, sum, sum of squares, shift) over axes, of x - shift."""
def swish(features: _Any, beta: _Any = 1.0) -> Tensor:
    """x * sigmoid(beta * x)."""
def tanh(x: _Any, name: str | None = None) -> Tensor:
    """The hyperbolic tangent."""
def top_k(input: _Any, k: _Any = 1, sorted: bool = True, index_type: _DTypeLike | None = 'int32', name: str | None = None) -> _Any:
    """The k largest elements along the last axis and their positions."""
def weighted_cross_entropy_with_logits(labels: _Any, logits: _Any, pos_weight: _Any, name: str | None = None) -> Tensor:
    """The same with a weight for positive labels."""
def weighted_moments(x: _Any, axes: _Any, frequency_weights: _Any, keepdims: _Any = ..., name: _Any = ...) -> _Any:
    """(mean, variance) over axes, where each element counts as often as its weight says."""
def zero_fraction(value: _Any, name: _Any = ...) -> _Any:
    """Which part of the elements is zero."""
