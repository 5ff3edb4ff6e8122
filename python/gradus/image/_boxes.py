"""Boxes in images: [y1, x1, y2, x2] from 0 to 1, or in pixels."""
import numpy as np

import gradus as tf

from .._strings import numbers_of


def _places(low, high, size, count):
    """Where `count` samples of each box lie along an axis of `size` pixels: [boxes, count]."""
    if count > 1:
        step = (high - low) * (size - 1) / (count - 1)
        return (low * (size - 1))[:, tf.newaxis] + tf.range(count, dtype=tf.float32) * step[:, tf.newaxis]
    return (0.5 * (low + high) * (size - 1))[:, tf.newaxis]


def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0, name=None):
    """Boxes of a batch of images, all in one size; outside an image is extrapolation_value."""
    if method not in ("bilinear", "nearest"):
        raise tf.errors.InvalidArgumentError(None, None, f"method must be 'bilinear' or 'nearest', got {method!r}")
    image, boxes = tf.cast(image, tf.float32), tf.convert_to_tensor(boxes, tf.float32)
    which = tf.convert_to_tensor(box_indices, tf.int32)
    rows, columns = (int(s) for s in crop_size)
    height, width = image.shape[1], image.shape[2]
    y1, x1, y2, x2 = tf.unstack(boxes, axis=1)
    y, x = _places(y1, y2, height, rows), _places(x1, x2, width, columns)
    count = boxes.shape[0]

    def pixels(down, right):
        grid = [count, rows, columns]
        places = [tf.broadcast_to(which[:, tf.newaxis, tf.newaxis], grid),
                  tf.broadcast_to(tf.cast(down, tf.int32)[:, :, tf.newaxis], grid),
                  tf.broadcast_to(tf.cast(right, tf.int32)[:, tf.newaxis], grid)]
        return tf.gather_nd(image, tf.stack(places, -1))

    def inside(at, size):
        return tf.clip_by_value(at, 0.0, size - 1.0)
    if method == "nearest":
        result = pixels(tf.floor(inside(y, height) + 0.5), tf.floor(inside(x, width) + 0.5))
    else:
        top, left = tf.floor(inside(y, height)), tf.floor(inside(x, width))
        bottom, right = tf.math.ceil(inside(y, height)), tf.math.ceil(inside(x, width))
        down, across = (y - top)[:, :, tf.newaxis, tf.newaxis], (x - left)[:, tf.newaxis, :, tf.newaxis]
        upper = pixels(top, left) + (pixels(top, right) - pixels(top, left)) * across
        lower = pixels(bottom, left) + (pixels(bottom, right) - pixels(bottom, left)) * across
        result = upper + (lower - upper) * down
    seen = ((y >= 0) & (y <= height - 1))[:, :, tf.newaxis] & ((x >= 0) & (x <= width - 1))[:, tf.newaxis]
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
    return tf.constant(np.array(kept, np.int32))


def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None):
    """The numbers of the best boxes, best first, without those that overlap a better one too much."""
    boxes, scores = numbers_of(tf.convert_to_tensor(boxes)), numbers_of(tf.convert_to_tensor(scores))
    if not 0 <= iou_threshold <= 1:
        raise tf.errors.InvalidArgumentError(None, None, "iou_threshold must be in [0, 1]")
    if boxes.ndim != 2 or boxes.shape[1] != 4 or scores.shape != boxes.shape[:1]:
        raise tf.errors.InvalidArgumentError(None, None, f"boxes must be [n, 4] and scores [n], got {boxes.shape} and "
                                             f"{scores.shape}")
    return _chosen(scores, int(max_output_size), score_threshold, lambda i, kept: _overlap(boxes[i], boxes[kept]),
                   iou_threshold)


def non_max_suppression_overlaps(overlaps, scores, max_output_size, overlap_threshold=0.5, score_threshold=float("-inf"),
                                 name=None):
    """The same with given overlaps, [n, n]."""
    overlaps, scores = numbers_of(tf.convert_to_tensor(overlaps)), numbers_of(tf.convert_to_tensor(scores))
    return _chosen(scores, int(max_output_size), score_threshold, lambda i, kept: overlaps[i][kept], overlap_threshold)


def non_max_suppression_with_scores(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                                    soft_nms_sigma=0.0, name=None):
    """Numbers and scores; with a sigma, boxes that overlap lose score instead of going."""
    if soft_nms_sigma == 0.0:
        chosen = non_max_suppression(boxes, scores, max_output_size, iou_threshold, score_threshold)
        return chosen, tf.gather(tf.convert_to_tensor(scores), chosen)
    boxes, left = numbers_of(tf.convert_to_tensor(boxes)), numbers_of(tf.convert_to_tensor(scores)).astype(np.float64)
    left, kept, found = left.copy(), [], []
    while len(kept) < min(int(max_output_size), len(left)):
        best = int(np.argmax(left))
        if not left[best] > score_threshold or left[best] == -np.inf:
            break
        kept.append(best)
        found.append(left[best])
        left[best] = -np.inf
        left *= np.exp(-0.5 / soft_nms_sigma * _overlap(boxes[best], boxes) ** 2)
    return tf.constant(np.array(kept, np.int32)), tf.constant(np.array(found, np.float32))
