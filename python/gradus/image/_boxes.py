"""Boxes in images: [y1, x1, y2, x2] from 0 to 1, or in pixels."""
import numpy as np

import gradus as tf

from .._effects import found_rows
from .._kinds import is_traced, size_of
from ._resize import pair, positive
from ._shape import sizes_of


def _real(size):
    return tf.cast(size, tf.float32)


def _places(low, high, size, count):
    """Where `count` samples of each box lie along an axis of `size` pixels: [boxes, count]. One is in the middle."""
    low, high = low * (_real(size) - 1), high * (_real(size) - 1)
    first = tf.where(count > 1, low, 0.5 * (low + high))
    step = (high - low) / tf.maximum(_real(count) - 1, 1)
    return first[:, tf.newaxis] + tf.range(_real(count)) * step[:, tf.newaxis]


def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0, name=None):
    """Boxes of a batch of images, all in one size; outside an image is extrapolation_value."""
    if method not in ("bilinear", "nearest"):
        raise tf.errors.InvalidArgumentError(None, None, f"method must be 'bilinear' or 'nearest', got {method!r}")
    image, boxes = tf.cast(image, tf.float32), tf.convert_to_tensor(boxes, tf.float32)
    which = tf.convert_to_tensor(box_indices, tf.int32)
    rows, columns = pair(crop_size)
    positive(rows, columns, "crop dimensions must be positive")
    height, width = sizes_of(image)
    y1, x1, y2, x2 = tf.unstack(boxes, axis=1)
    y, x = _places(y1, y2, height, rows), _places(x1, x2, width, columns)
    count = size_of(boxes, 0)

    def pixels(down, right):
        grid = [count, rows, columns]
        places = [tf.broadcast_to(which[:, tf.newaxis, tf.newaxis], grid),
                  tf.broadcast_to(tf.cast(down, tf.int32)[:, :, tf.newaxis], grid),
                  tf.broadcast_to(tf.cast(right, tf.int32)[:, tf.newaxis], grid)]
        return tf.gather_nd(image, tf.stack(places, -1))

    def inside(at, size):
        return tf.clip_by_value(at, 0.0, _real(size) - 1)
    if method == "nearest":
        result = pixels(tf.floor(inside(y, height) + 0.5), tf.floor(inside(x, width) + 0.5))
    else:
        top, left = tf.floor(inside(y, height)), tf.floor(inside(x, width))
        bottom, right = tf.math.ceil(inside(y, height)), tf.math.ceil(inside(x, width))
        down, across = (y - top)[:, :, tf.newaxis, tf.newaxis], (x - left)[:, tf.newaxis, :, tf.newaxis]
        upper = pixels(top, left) + (pixels(top, right) - pixels(top, left)) * across
        lower = pixels(bottom, left) + (pixels(bottom, right) - pixels(bottom, left)) * across
        result = upper + (lower - upper) * down
    seen = ((y >= 0) & (y <= _real(height) - 1))[:, :, tf.newaxis] & ((x >= 0) & (x <= _real(width) - 1))[:, tf.newaxis]
    return tf.where(seen[..., tf.newaxis], result, tf.cast(extrapolation_value, tf.float32))


def _overlap(box, others):
    """The shared part of the area of one box and of others."""
    low, high = np.minimum(box[:2], box[2:]), np.maximum(box[:2], box[2:])
    lows, highs = np.minimum(others[:, :2], others[:, 2:]), np.maximum(others[:, :2], others[:, 2:])
    shared = np.prod(np.maximum(np.minimum(high, highs) - np.maximum(low, lows), 0), 1)
    total = np.prod(high - low) + np.prod(highs - lows, 1) - shared
    return np.where((np.prod(high - low) > 0) & (np.prod(highs - lows, 1) > 0), shared / np.where(total > 0, total, 1), 0)


def _chosen(scores, size, threshold, overlap_of, limit):
    order = np.argsort(-scores, kind="stable")
    kept = []
    for i in order:
        if len(kept) == size or scores[i] <= threshold:
            break
        if not kept or not (overlap_of(i, np.array(kept)) > limit).any():
            kept.append(i)
    return np.array(kept, np.int32)


def _softly_chosen(boxes, scores, size, threshold, sigma):
    left, kept, found = scores.astype(np.float64), [], []
    while len(kept) < min(size, len(left)):
        best = int(np.argmax(left))
        if not left[best] > threshold or left[best] == -np.inf:
            break
        kept.append(best)
        found.append(left[best])
        left[best] = -np.inf
        left *= np.exp(-0.5 / sigma * _overlap(boxes[best], boxes) ** 2)
    return np.array(kept, np.int32), np.array(found, np.float32)


def _found(choose, boxes, scores, max_output_size, settings, kinds):
    """What choose(boxes, scores, how many, *settings) finds, at once or in a program."""
    if not scores.shape.is_compatible_with(boxes.shape[:1]):
        raise tf.errors.InvalidArgumentError(None, None, f"boxes must be [n, 4] and scores [n], got {boxes.shape} and "
                                             f"{scores.shape}")

    def search(boxes, scores, most, *settings):
        if most < 0:
            raise tf.errors.InvalidArgumentError(None, None, "output size must be non-negative")
        return choose(boxes, scores, most, *settings)
    inputs = [boxes, scores, tf.cast(max_output_size, tf.int32), *(tf.cast(s, tf.float32) for s in settings)]
    return found_rows("non_max_suppression", search, inputs, size_of(scores, 0), kinds)


def _checked(boxes, iou_threshold):
    boxes = tf.convert_to_tensor(boxes)
    if not is_traced(iou_threshold) and not 0 <= iou_threshold <= 1:
        raise tf.errors.InvalidArgumentError(None, None, "iou_threshold must be in [0, 1]")
    if not boxes.shape.is_compatible_with([None, 4]):
        raise tf.errors.InvalidArgumentError(None, None, f"boxes must be [n, 4], got {boxes.shape}")
    return boxes


def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None):
    """The numbers of the best boxes, best first, without those that overlap a better one too much."""
    def choose(boxes, scores, most, limit, threshold):
        return [_chosen(scores, most, threshold, lambda i, kept: _overlap(boxes[i], boxes[kept]), limit)]
    return _found(choose, _checked(boxes, iou_threshold), tf.convert_to_tensor(scores), max_output_size,
                  [iou_threshold, score_threshold], [(tf.int32, [])])[0]


def non_max_suppression_overlaps(overlaps, scores, max_output_size, overlap_threshold=0.5, score_threshold=float("-inf"),
                                 name=None):
    """The same with given overlaps, [n, n]."""
    def choose(overlaps, scores, most, limit, threshold):
        return [_chosen(scores, most, threshold, lambda i, kept: overlaps[i][kept], limit)]
    return _found(choose, tf.convert_to_tensor(overlaps), tf.convert_to_tensor(scores), max_output_size,
                  [overlap_threshold, score_threshold], [(tf.int32, [])])[0]


def non_max_suppression_with_scores(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                                    soft_nms_sigma=0.0, name=None):
    """Numbers and scores; with a sigma, boxes that overlap lose score instead of going."""
    if not is_traced(soft_nms_sigma) and soft_nms_sigma == 0.0:
        chosen = non_max_suppression(boxes, scores, max_output_size, iou_threshold, score_threshold)
        return chosen, tf.gather(tf.convert_to_tensor(scores), chosen)
    found = _found(_softly_chosen, _checked(boxes, iou_threshold), tf.convert_to_tensor(scores), max_output_size,
                   [score_threshold, soft_nms_sigma], [(tf.int32, []), (tf.float32, [])])
    return found[0], found[1]
