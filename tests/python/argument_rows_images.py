"""Rows of argument_cases.py: tf.image."""
ROWS = """
image.adjust_brightness | image=IMG, delta=0.25 | image=BYTES ; delta=-0.5
image.adjust_contrast | images=IMG, contrast_factor=2.0 | images=BYTES ; contrast_factor=0.5
image.adjust_gamma | image=IMG | gamma=2.0 ; gain=3.0 ; @ gamma=0.5, gain=2.0 ; gamma=-1.0
image.adjust_hue | image=IMG, delta=0.25 | delta=-0.75
image.adjust_saturation | image=IMG, saturation_factor=2.0 | saturation_factor=0.5
image.central_crop | image=IMG, central_fraction=0.5 | central_fraction=1.0 ; central_fraction=0.0
image.convert_image_dtype | image=IMG, dtype=tf.uint8 | saturate=True ; dtype=tf.float64 ; dtype=tf.int16 ; @ image=BYTES, dtype=tf.float32 ; @ image=IMG * 3.0, saturate=True ; @ image=BYTES, dtype=tf.uint16
image.crop_and_resize | image=IMGS, boxes=[[0.0, 0.0, 1.0, 1.0], [0.25, 0.25, 1.5, 0.75]], box_indices=[0, 1], crop_size=[3, 3] | method='nearest' ; extrapolation_value=9.0 ; @ method='nearest', extrapolation_value=-1.0 ; crop_size=[2, 4] ; method='cubic'
image.crop_to_bounding_box | image=IMG, offset_height=1, offset_width=0, target_height=3, target_width=2 | offset_width=2 ; target_height=9
image.pad_to_bounding_box | image=IMG, offset_height=1, offset_width=0, target_height=8, target_width=6 | offset_width=2 ; target_height=3
image.extract_patches | images=IMGS, sizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding='VALID' | padding='SAME' ; rates=[1, 2, 2, 1] ; strides=[1, 1, 3, 1] ; sizes=[1, 3, 1, 1] ; @ padding='SAME', sizes=[1, 3, 3, 1], rates=[1, 2, 1, 1]
image.flip_left_right | image=IMG |
image.flip_up_down | image=IMG |
image.transpose | image=IMG |
image.rot90 | image=IMG | k=2 ; k=3 ; k=-1 ; k=5 ; k=0
image.grayscale_to_rgb | images=IMG[..., :1] |
image.rgb_to_grayscale | images=IMG | images=BYTES
image.hsv_to_rgb | images=IMG |
image.rgb_to_hsv | images=IMG |
image.rgb_to_yiq | images=IMG |
image.rgb_to_yuv | images=IMG |
image.yiq_to_rgb | images=IMG |
image.yuv_to_rgb | images=IMG |
image.image_gradients | image=IMGS |
image.sobel_edges | image=IMGS |
image.total_variation | images=IMGS | images=IMG
image.per_image_standardization | image=IMG | image=BYTES
image.psnr | a=IMG, b=IMG * 0.5, max_val=1.0 | max_val=2.0
image.ssim | img1=tf.tile(IMG, [3, 3, 1]), img2=tf.tile(IMG, [3, 3, 1]) * 0.5, max_val=1.0 | filter_size=5 ; filter_sigma=0.75 ; k1=0.1 ; k2=0.2 ; return_index_map=True ; max_val=2.0 ; @ filter_size=4, return_index_map=True
image.ssim_multiscale | img1=tf.tile(IMG, [8, 12, 1]), img2=tf.tile(IMG, [8, 12, 1]) * 0.5, max_val=1.0, power_factors=(0.5, 0.5) | power_factors=(0.25, 0.75) ; filter_size=5 ; filter_sigma=0.75 ; k1=0.1 ; k2=0.2
image.resize | images=IMG, size=[3, 8] | method='nearest' ; method='bicubic' ; method='area' ; method='lanczos3' ; method='lanczos5' ; method='gaussian' ; method='mitchellcubic' ; preserve_aspect_ratio=True ; antialias=True ; @ method='bicubic', antialias=True ; @ method='nearest', preserve_aspect_ratio=True ; method='linear' ; @ method='area', antialias=True ; @ images=BYTES, method='nearest' ; size=[12, 2] ; @ size=[12, 2], antialias=True
image.resize_with_crop_or_pad | image=IMG, target_height=8, target_width=2 | target_height=3 ; target_width=7
image.resize_with_pad | image=IMG, target_height=8, target_width=8 | method='nearest' ; method='bicubic' ; antialias=True ; @ target_height=3, antialias=True
image.non_max_suppression | boxes=[[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [2.0, 2.0, 3.0, 3.0]], scores=[0.9, 0.75, 0.5], max_output_size=3 | max_output_size=1 ; iou_threshold=0.9 ; score_threshold=0.6 ; iou_threshold=0.0 ; iou_threshold=2.0
image.non_max_suppression_with_scores | boxes=[[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [2.0, 2.0, 3.0, 3.0]], scores=[0.9, 0.75, 0.5], max_output_size=3 | max_output_size=1 ; iou_threshold=0.9 ; score_threshold=0.6 ; soft_nms_sigma=0.5 ; @ soft_nms_sigma=0.5, score_threshold=0.3, iou_threshold=1.0
image.non_max_suppression_overlaps | overlaps=[[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]], scores=[0.9, 0.75, 0.5], max_output_size=3 | max_output_size=1 ; overlap_threshold=0.9 ; score_threshold=0.6
image.stateless_random_brightness | image=IMG, max_delta=0.5, seed=[1, 2] | max_delta=0.125 ; seed=[3, 4]
image.stateless_random_contrast | image=IMG, lower=0.5, upper=2.0, seed=[1, 2] | lower=0.25 ; upper=3.0 ; seed=[3, 4] ; upper=0.25
image.stateless_random_crop | value=IMG, size=[2, 2, 3], seed=[1, 2] | size=[1, 3, 3] ; seed=[3, 4]
image.stateless_random_flip_left_right | image=IMG, seed=[1, 2] | seed=[3, 4] ; seed=[5, 6]
image.stateless_random_flip_up_down | image=IMG, seed=[1, 2] | seed=[3, 4] ; seed=[5, 6]
image.stateless_random_hue | image=IMG, max_delta=0.5, seed=[1, 2] | max_delta=0.125 ; seed=[3, 4]
image.stateless_random_saturation | image=IMG, lower=0.5, upper=2.0, seed=[1, 2] | lower=0.25 ; upper=3.0 ; seed=[3, 4] ; seed=None
image.random_brightness | image=IMG, max_delta=0.5, seed=4 | max_delta=0.125 ; seed=9
image.random_contrast | image=IMG, lower=0.5, upper=2.0, seed=4 | lower=0.25 ; upper=3.0 ; seed=9
image.random_crop | value=IMG, size=[2, 2, 3], seed=4 | size=[1, 3, 3] ; seed=9
image.random_flip_left_right | image=IMG, seed=4 | seed=9 ; seed=1
image.random_flip_up_down | image=IMG, seed=4 | seed=9 ; seed=1
image.random_hue | image=IMG, max_delta=0.5, seed=4 | max_delta=0.125 ; seed=9
image.random_saturation | image=IMG, lower=0.5, upper=2.0, seed=4 | lower=0.25 ; upper=3.0 ; seed=9
image.decode_png | contents=tf.image.encode_png(BYTES) | channels=1 ; channels=3 ; channels=4 ; dtype=tf.uint16 ; @ channels=1, dtype=tf.uint16 ; channels=2
image.decode_bmp | contents=b'no' | channels=3
image.decode_image | contents=tf.image.encode_png(BYTES) | channels=1 ; channels=4 ; dtype=tf.uint16 ; dtype=tf.float32 ; expand_animations=False ; channels=3
image.encode_png | image=BYTES | compression=0 ; compression=12
image.extract_jpeg_shape | contents=tf.image.encode_jpeg(BYTES) | output_type=tf.int64
image.is_jpeg | contents=tf.image.encode_jpeg(BYTES) | contents=tf.image.encode_png(BYTES)
"""
