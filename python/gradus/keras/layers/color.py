"""Random and fixed changes of the colors of images. The draws are not Keras's; what is done with them is."""
from ._common import tf
from .augmentation import _Augmentation, _bounds

_LUMINANCE = (0.2989, 0.587, 0.114)


def _gray(x):
    """The luminance of each pixel, in all channels."""
    weights = tf.constant(_LUMINANCE, x.dtype)
    return tf.zeros_like(x) + tf.reduce_sum(x * weights, -1, keepdims=True)


class _Color(_Augmentation):
    """A change of colors with settings that are written down by their names."""
    _settings = ()

    def get_config(self):
        return {**super().get_config(), **{name: getattr(self, name) for name in self._settings},
                "data_format": self.data_format}

    def _per_image(self, x, low, high):
        return tf.cast(tf.reshape(self._drawn(x, low, high), [-1, 1, 1, 1]), x.dtype)

    def _sometimes(self, x, changed, probability):
        return tf.where(self._per_image(x, 0.0, 1.0) < probability, changed, x)

    def _clipped(self, x):
        return tf.clip_by_value(x, *(float(v) for v in self.value_range))


class _WithFactor(_Color):
    """One whose strength is drawn between two factors."""
    _settings = ("factor", "value_range", "seed")

    def __init__(self, factor, value_range=(0, 255), data_format=None, seed=None, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        self.factor, self.value_range = _bounds(factor, "factor", 0.0), value_range


class RandomGrayscale(_Color):
    """Some images without their colors."""
    _settings = ("factor",)

    def __init__(self, factor=0.5, data_format=None, seed=None, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        if not 0 <= factor <= 1:
            raise ValueError(f"`factor` should be between 0 and 1. Received: factor={factor}")
        self.factor = factor

    def _changed(self, x):
        return self._sometimes(x, _gray(x), self.factor)


class RandomInvert(_Color):
    """Some images as their negatives, with a probability between two factors."""
    _settings = ("factor", "value_range", "seed")

    def __init__(self, factor=1.0, value_range=(0, 255), seed=None, data_format=None, **kwargs):
        super().__init__(seed, data_format, **kwargs)
        self.factor, self.value_range = _bounds(factor, "factor", 0.0), value_range

    def _changed(self, x):
        low, high = self.value_range
        return self._sometimes(x, low + high - x, self._per_image(x, *self.factor))


class RandomColorDegeneration(_WithFactor):
    """Images mixed with their grayscale."""

    def _changed(self, x):
        share = self._per_image(x, *self.factor)
        return self._clipped(x * (1.0 - share) + _gray(x) * share)


class RandomSaturation(_WithFactor):
    """Stronger or weaker colors: 0.5 leaves them, 0 takes them away, 1 makes them as strong as can be."""

    def _changed(self, x):
        low, high = (float(v) for v in self.value_range)
        share = self._per_image(x, *self.factor)
        scale = share / tf.maximum(1.0 - share, 1e-7)
        hsv = tf.image.rgb_to_hsv((x - low) / (high - low))
        hue, saturation, value = tf.split(hsv, 3, -1)
        hsv = tf.concat([hue, tf.clip_by_value(saturation * scale, 0.0, 1.0), value], -1)
        return self._clipped(tf.image.hsv_to_rgb(hsv) * (high - low) + low)


class RandomHue(_WithFactor):
    """Colors turned around the circle of hues."""

    def _changed(self, x):
        low, high = (float(v) for v in self.value_range)
        back = self._per_image(x, 0.0, 1.0) > 0.5
        turn = self._per_image(x, *self.factor) * 0.5
        turn = tf.where(back, -turn, turn)
        hue, saturation, value = tf.split(tf.image.rgb_to_hsv((x - low) / (high - low)), 3, -1)
        hsv = tf.concat([tf.math.floormod(hue + turn, 1.0), saturation, value], -1)
        return self._clipped(tf.image.hsv_to_rgb(hsv) * (high - low) + low)


class Solarization(_Color):
    """Pixels above a random threshold as in a negative, after a random number was added."""
    _settings = ("addition_factor", "threshold_factor", "value_range", "seed")

    def __init__(self, addition_factor=0.0, threshold_factor=0.0, value_range=(0, 255), seed=None, **kwargs):
        super().__init__(seed, **kwargs)
        for factor in (addition_factor, threshold_factor):
            if not all(0 <= f <= 1 for f in (factor if isinstance(factor, (tuple, list)) else [factor])):
                raise ValueError("The `addition_factor` and `threshold_factor` arguments should be a number (or a list of two "
                                 f"numbers) in the range [0, 1]. Received: {factor}")
        self.addition_factor = _bounds(addition_factor, "addition_factor", 0.0)
        self.threshold_factor, self.value_range = _bounds(threshold_factor, "threshold_factor", 0.0), value_range

    def _changed(self, x):
        low, high = (float(v) for v in self.value_range)
        more, threshold = (self._per_image(x, bounds[0], bounds[1] * 255.0)  # Keras draws from the factor below
                           for bounds in (self.addition_factor, self.threshold_factor))
        x = tf.clip_by_value((x - low) * (255.0 / (high - low)) + more, 0.0, 255.0)
        return tf.where(x < threshold, x, 255.0 - x) * ((high - low) / 255.0) + low


class AutoContrast(_Color):
    """The darkest and the brightest pixel of each channel at the ends of the value range."""
    _settings = ("value_range",)

    def __init__(self, value_range=(0, 255), **kwargs):
        super().__init__(**kwargs)
        self.value_range = value_range

    def call(self, inputs):
        x = tf.cast(inputs, self.compute_dtype)
        low, high = (float(v) for v in self.value_range)
        axes = [-3, -2] if self.data_format == "channels_last" else [-2, -1]
        darkest, brightest = tf.reduce_min(x, axes, keepdims=True), tf.reduce_max(x, axes, keepdims=True)
        spread = tf.where(brightest > darkest, brightest - darkest, 1.0)
        return self._clipped(tf.where(brightest > darkest, (x - darkest) / spread * (high - low) + low, x))
