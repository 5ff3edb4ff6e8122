"""tf.image: sizes, colours and measures of images [height, width, channels], or of a batch of them.

Everything but files of images is made of ops, so it has gradients and compiles.
"""
from ._boxes import (  # noqa: F401
    crop_and_resize, non_max_suppression, non_max_suppression_overlaps, non_max_suppression_with_scores)
from ._color import (  # noqa: F401
    adjust_brightness, adjust_contrast, adjust_gamma, adjust_hue, adjust_saturation, convert_image_dtype,
    grayscale_to_rgb, hsv_to_rgb, per_image_standardization, rgb_to_grayscale, rgb_to_hsv, rgb_to_yiq, rgb_to_yuv,
    yiq_to_rgb, yuv_to_rgb)
from ._files import (  # noqa: F401
    adjust_jpeg_quality, decode_and_crop_jpeg, decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png,
    encode_jpeg, encode_png, extract_jpeg_shape, is_jpeg, random_jpeg_quality)
from ._measures import (  # noqa: F401
    extract_patches, image_gradients, psnr, sobel_edges, ssim, ssim_multiscale, total_variation)
from ._random import (  # noqa: F401
    random_brightness, random_contrast, random_crop, random_flip_left_right, random_flip_up_down, random_hue,
    random_saturation, stateless_random_brightness, stateless_random_contrast, stateless_random_crop,
    stateless_random_flip_left_right, stateless_random_flip_up_down, stateless_random_hue, stateless_random_saturation)
from ._resize import ResizeMethod, resize, resize_with_pad  # noqa: F401
from ._shape import (  # noqa: F401
    central_crop, crop_to_bounding_box, flip_left_right, flip_up_down, pad_to_bounding_box, resize_with_crop_or_pad,
    rot90, transpose)


def __getattr__(name):
    raise AttributeError(f"module 'gradus.image' has no attribute '{name}'. docs/api-coverage.md lists what is covered.")
