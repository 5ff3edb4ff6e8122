"""Rows of argument_cases.py: elementwise functions, reductions, scans, segments, matrices."""

_UNARY = """abs cos cosh exp floor negative round sigmoid sign sin sinh sqrt square tan tanh atan asinh
math.ceil math.digamma math.erf math.erfc math.expm1 math.is_finite math.is_inf math.is_nan math.lgamma math.log math.log1p
math.log_sigmoid math.reciprocal math.reciprocal_no_nan math.rint math.rsqrt math.bessel_i0 math.bessel_i0e math.bessel_i1
math.bessel_i1e math.conj math.real math.imag math.angle math.is_non_decreasing math.is_strictly_increasing"""
_BELOW_ONE = "acos asin atanh math.erfinv math.erfcinv math.ndtri"
_BINARY = """add subtract multiply divide truediv maximum minimum pow equal not_equal less less_equal greater greater_equal
math.floordiv math.floormod math.mod math.divide_no_nan math.multiply_no_nan math.squared_difference math.xdivy math.xlog1py
math.xlogy realdiv"""
_REDUCE = "reduce_sum reduce_mean reduce_prod reduce_max reduce_min reduce_logsumexp math.reduce_euclidean_norm " \
          "math.reduce_std math.reduce_variance"
_OF_INPUT = ("math.real", "math.imag", "math.angle")


def _made():
    for name in _UNARY.split():
        yield f"{name} | {'input' if name in _OF_INPUT else 'x'}=U | "
    yield "acosh | x=[1.0, 1.5, 30.0] | "
    for name in _BELOW_ONE.split():
        yield f"{name} | x=U | "
    for name in _BINARY.split():
        yield f"{name} | x=U, y=G | y=2.0 ; x=V ; y=V"
    for name in "math.floordiv math.floormod truncatediv truncatemod bitwise.bitwise_and bitwise.bitwise_or " \
                "bitwise.bitwise_xor bitwise.left_shift bitwise.right_shift add pow equal".split():
        yield f"{name} | x=I, y=J | x=tf.cast(J, tf.uint8), y=tf.cast(I, tf.uint8)".replace(", y=tf", ", y=tf", 1) \
            .replace("| x=tf.cast(J, tf.uint8), ", "| @ x=tf.cast(J, tf.uint8), ")
    for name in _REDUCE.split():
        yield f"{name} | input_tensor=U | axis=1 ; axis=[0, 1] ; axis=[] ; axis=-2 ; axis=2 ; @ axis=0, keepdims=True"
        yield f"{name} | input_tensor=P | axis=[0, 2] ; @ axis=[-1], keepdims=True"
    for name in ("reduce_any", "reduce_all"):
        yield f"{name} | input_tensor=B | axis=1 ; axis=[0, 1] ; axis=-2 ; @ axis=0, keepdims=True"
    for name in ("cumsum", "math.cumprod", "math.cumulative_logsumexp"):
        yield f"{name} | x=U | axis=1 ; axis=-2 ; exclusive=True ; reverse=True ; @ exclusive=True, reverse=True, axis=1 ; axis=2"
    for name in "sum mean prod max min".split():
        yield f"math.segment_{name} | data=[[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]], segment_ids=[0, 0, 2] | " \
              "data=[[1, 2], [3, 4], [5, 6]] ; segment_ids=tf.constant([0, 1, 1], tf.int64)"
    for name in "sum mean prod max min sqrt_n".split():
        yield f"math.unsorted_segment_{name} | data=[[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]], segment_ids=[2, 0, 2], " \
              "num_segments=4 | num_segments=3 ; segment_ids=[-1, 0, 1] ; num_segments=tf.constant(3)"


ROWS = "\n".join(_made()) + """
atan2 | y=F, x=G | x=2.0
math.polygamma | a=[1.0, 2.0, 3.0], x=V |
math.zeta | x=[2.0, 3.0], q=[1.0, 2.5] |
math.igamma | a=V, x=[0.5, 2.0, 1.0] |
math.igammac | a=V, x=[0.5, 2.0, 1.0] |
math.betainc | a=V, b=[1.0, 2.0, 0.5], x=[0.25, 0.5, 0.75] |
math.nextafter | x1=VD, x2=[4.0, 0.0, 2.0] | x1=[1.0, 2.0, 3.0]
math.polyval | coeffs=[2.0, 1.0, -1.0], x=V | coeffs=[] ; coeffs=(1.0, 2.0)
math.lbeta | x=U |
math.logical_xor | x=B, y=[True, True, False] |
logical_and | x=B, y=[True, True, False] |
logical_or | x=B, y=[True, True, False] |
logical_not | x=B |
bitwise.invert | x=I | x=tf.constant([1, 200], tf.uint8)
complex | real=F, imag=G | imag=1.0
math.softplus | features=F |
math.scalar_mul | scalar=2.0, x=F | scalar=tf.constant(3.0) ; scalar=V ; x=tf.IndexedSlices(F, [0, 2])
math.add_n | inputs=[F, G] | inputs=[I, J, I] ; inputs=F
math.accumulate_n | inputs=[F, G] | shape=[2, 3] ; tensor_dtype=tf.float32 ; tensor_dtype=tf.int32 ; shape=[3, 2]
math.invert_permutation | x=[2, 0, 1] | x=tf.constant([1, 0], tf.int64)
math.zero_fraction | value=[0.0, 1.0, 0.0, 2.0] | value=I
math.top_k | input=F | k=2 ; k=3 ; k=0 ; @ k=2, sorted=False ; index_type=tf.int16 ; @ k=2, index_type=tf.int64 ; k=4
math.in_top_k | targets=[1, 2], predictions=F, k=1 | k=2 ; targets=tf.constant([0, 1], tf.int64)
math.confusion_matrix | labels=[1, 2, 1], predictions=[2, 2, 1] | num_classes=4 ; weights=[1.0, 2.0, 3.0] ; dtype=tf.int64 ; @ weights=[1.0, 2.0, 3.0], dtype=tf.float32 ; @ weights=[1, 2, 3], num_classes=5 ; num_classes=2
math.bincount | arr=[1, 3, 3, 0] | weights=[1.0, 2.0, 3.0, 4.0] ; minlength=7 ; maxlength=2 ; dtype=tf.int64 ; dtype=tf.float32 ; axis=0 ; axis=-1 ; @ axis=0, binary_output=True ; binary_output=True ; @ axis=-1, minlength=6 ; @ axis=-1, maxlength=2 ; @ axis=-1, weights=[1, 2, 3, 4]
math.bincount | arr=[[1, 3, 3], [0, 2, 2]] | axis=-1 ; axis=0 ; axis=1 ; @ axis=-1, binary_output=True ; @ axis=-1, weights=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] ; @ axis=-1, minlength=6 ; @ axis=-1, maxlength=3 ; @ axis=-1, dtype=tf.int64 ; @ axis=-1, minlength=2, maxlength=3 ; axis=2 ; weights=[[1, 2, 3], [4, 5, 6]]
math.count_nonzero | input=[[0.0, 1.0], [2.0, 3.0]] | axis=0 ; axis=[0, 1] ; @ axis=1, keepdims=True ; dtype=tf.int32 ; dtype=tf.float32
argmax | input=F | axis=1 ; axis=-1 ; output_type=tf.int32 ; output_type=tf.int16 ; axis=2
argmin | input=F | axis=1 ; axis=-1 ; output_type=tf.int32
sort | values=F | axis=0 ; axis=1 ; direction='DESCENDING' ; @ axis=0, direction='DESCENDING' ; direction='UP' ; axis=2
argsort | values=F | axis=0 ; axis=1 ; direction='DESCENDING' ; stable=True ; @ direction='DESCENDING', stable=True ; direction='UP'
argsort | values=[2, 1, 2, 1] | @ direction='DESCENDING', stable=True ; stable=True
searchsorted | sorted_sequence=[1.0, 2.0, 2.0, 5.0], values=[2.0, 0.0, 9.0] | side='right' ; out_type=tf.int64 ; side='middle'
searchsorted | sorted_sequence=[[1, 3], [2, 4]], values=[[3, 0, 5], [2, 3, 9]] | side='right'
clip_by_value | t=F, clip_value_min=-1.0, clip_value_max=2.0 | clip_value_min=V ; t=I ; @ t=I, clip_value_min=1, clip_value_max=2
clip_by_norm | t=F, clip_norm=2.0 | axes=[1] ; axes=[0] ; axes=0 ; clip_norm=100.0 ; clip_norm=[[1.0], [2.0]]
clip_by_global_norm | t_list=[F, V], clip_norm=2.0 | use_norm=10.0 ; clip_norm=100.0 ; use_norm=tf.constant(1.0) ; t_list=[F, None]
cast | x=F, dtype=tf.int32 | dtype=tf.float64 ; dtype=tf.bool ; dtype='int64' ; dtype=tf.complex64 ; dtype=tf.uint8 ; x=C ; x=B
dtypes.saturate_cast | value=[300.0, -5.0, 7.5], dtype=tf.uint8 | dtype=tf.int8 ; dtype=tf.float16 ; value=[1, 70000, -70000] ; @ value=[1, 70000], dtype=tf.int16
where | condition=B | @ x=F, y=G ; @ x=F, y=0.0 ; @ x=1, y=2 ; x=F ; condition=F
histogram_fixed_width | values=[-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], value_range=[0.0, 5.0] | nbins=5 ; @ nbins=5, dtype=tf.int64 ; dtype=tf.int64
histogram_fixed_width_bins | values=[-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], value_range=[0.0, 5.0] | nbins=5 ; @ nbins=5, dtype=tf.int64 ; dtype=tf.int64
matmul | a=M, b=N | transpose_a=True ; transpose_b=True ; adjoint_a=True ; adjoint_b=True ; @ transpose_a=True, adjoint_a=True ; a_is_sparse=True ; b_is_sparse=True ; output_type=tf.float32 ; output_type=tf.float64 ; grad_a=True ; grad_b=True ; @ a=F, transpose_b=True ; b=G
matmul | a=C, b=CB | transpose_a=True ; transpose_b=True ; adjoint_a=True ; adjoint_b=True ; @ transpose_a=True, adjoint_a=True ; output_type=tf.complex64
matmul | a=tf.constant([[1, 100], [-100, 3]], tf.int8), b=tf.constant([[2, 100], [100, 1]], tf.int8) | output_type=tf.int32 ; @ output_type=tf.int32, transpose_b=True ; @ output_type=tf.int32, adjoint_a=True ; output_type=tf.int64
matmul | a=P, b=M | b=P ; @ b=P, transpose_b=True
linalg.matvec | a=M, b=V | transpose_a=True ; adjoint_a=True ; a_is_sparse=True ; b_is_sparse=True ; @ transpose_a=True, adjoint_a=True ; a=P
linalg.matvec | a=C, b=[1 + 1j, 2 - 1j] | transpose_a=True ; adjoint_a=True ; @ b=CB[0] ; @ b=CB[0], adjoint_a=True ; @ b=CB[0], transpose_a=True
linalg.matrix_transpose | a=P | conjugate=True ; a=C ; @ a=C, conjugate=True
linalg.adjoint | matrix=C | matrix=F
linalg.diag | diagonal=F | padding_value=9.0 ; k=1 ; k=-1 ; num_rows=5 ; num_cols=4 ; @ num_rows=4, num_cols=5, padding_value=7.0 ; @ k=(0, 1), padding_value=9.0 ; @ k=(0, 1), align='LEFT_LEFT', padding_value=9.0 ; @ k=(-1, 0), align='LEFT_RIGHT' ; @ k=(-1, 0), align='RIGHT_RIGHT' ; k=(-1, 1) ; @ k=1, num_rows=4 ; @ k=-1, num_cols=4, padding_value=2.0 ; align='LEFT_LEFT' ; align='MIDDLE' ; num_rows=2
linalg.diag | diagonal=P | @ k=(-1, 0) ; @ k=(0, 1), align='LEFT_RIGHT', padding_value=1.0 ; @ k=(-1, 0), num_rows=4, num_cols=3
linalg.diag | diagonal=[1, 2, 3] | padding_value=9 ; @ k=2, padding_value=-1
linalg.diag_part | input=M | padding_value=9.0 ; k=1 ; k=-2 ; @ k=(-1, 1), padding_value=9.0 ; @ k=(-1, 1), align='LEFT_RIGHT', padding_value=9.0 ; @ k=(-2, -1), align='LEFT_LEFT' ; @ k=(0, 2), align='RIGHT_RIGHT', padding_value=5.0 ; k=3 ; k=[-1, 2] ; align='LEFT_LEFT' ; k=(1, 0)
linalg.diag_part | input=P | k=1 ; @ k=(-1, 1), padding_value=9.0 ; @ k=(-1, 2), align='LEFT_LEFT', padding_value=9.0 ; @ k=2 ; k=(0, 0)
linalg.set_diag | input=M, diagonal=V | @ k=1, diagonal=[8.0, 9.0] ; @ k=-2, diagonal=[7.0] ; @ k=(0, 1), diagonal=F ; @ k=(0, 1), diagonal=F, align='LEFT_LEFT' ; @ k=(-1, 0), diagonal=F, align='RIGHT_LEFT' ; @ k=(-1, 0), diagonal=F, align='LEFT_RIGHT' ; diagonal=[1.0, 2.0] ; align='RIGHT_RIGHT'
linalg.set_diag | input=P, diagonal=[[1.0, 2.0], [3.0, 4.0]] | k=1
linalg.band_part | input=M, num_lower=1, num_upper=0 | num_lower=-1 ; num_upper=-1 ; input=P ; @ num_lower=0, num_upper=1
linalg.tensor_diag | diagonal=V | diagonal=F
linalg.tensor_diag_part | input=M | input=tf.reshape(tf.range(16.0), [2, 2, 2, 2])
linalg.trace | x=M | x=P
linalg.cholesky | input=M |
linalg.cholesky_solve | chol=tf.linalg.cholesky(M), rhs=[[1.0], [2.0], [3.0]] |
linalg.triangular_solve | matrix=M, rhs=[[1.0], [2.0], [3.0]] | lower=False ; adjoint=True ; @ lower=False, adjoint=True
linalg.triangular_solve | matrix=C, rhs=CB | lower=False ; adjoint=True ; @ lower=False, adjoint=True
linalg.solve | matrix=N, rhs=[[1.0], [2.0], [3.0]] | adjoint=True
linalg.solve | matrix=C, rhs=CB | adjoint=True
linalg.inv | input=N | adjoint=True ; input=C ; @ input=C, adjoint=True
linalg.pinv | a=F | rcond=0.5 ; validate_args=True ; rcond=[0.1]
linalg.matrix_rank | a=[[1.0, 2.0], [2.0, 4.0]] | tol=10.0 ; tol=0.0 ; validate_args=True
linalg.lstsq | matrix=[[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], rhs=[[1.0], [2.0], [4.0]] | l2_regularizer=0.5 ; fast=False ; @ matrix=F, rhs=[[1.0], [2.0]]
linalg.det | input=N | input=C
linalg.logdet | matrix=M |
linalg.slogdet | input=N |
linalg.eigvalsh | tensor=M |
linalg.eigh | tensor=[[2.0, 0.0], [0.0, 3.0]] |
linalg.eigvals | tensor=M |
linalg.svd | tensor=F | compute_uv=False ; @ compute_uv=False, full_matrices=True
linalg.qr | input=[[2.0, 0.0], [0.0, 3.0], [0.0, 0.0]] | full_matrices=True
linalg.expm | input=U[:, :2] |
linalg.cross | a=F, b=G |
linalg.global_norm | t_list=[F, V] | t_list=[F, None]
linalg.norm | tensor=F | ord=1 ; ord=2 ; ord=3.0 ; ord=np.inf ; ord='fro' ; axis=0 ; axis=[0, 1] ; keepdims=True ; @ ord=1, axis=[0, 1] ; @ ord=np.inf, axis=[-2, -1], keepdims=True ; @ ord=2, axis=(0, 1) ; @ ord='fro', axis=[0, 1], keepdims=True ; ord=0 ; ord='nuc' ; @ axis=1, keepdims=True, ord=1.5 ; axis=[1, 1]
linalg.normalize | tensor=F | ord=1 ; axis=1 ; @ ord=np.inf, axis=0 ; ord=3
linalg.l2_normalize | x=F | axis=1 ; axis=[0, 1] ; epsilon=10.0 ; @ axis=0, epsilon=1.0 ; dim=1
tensordot | a=F, b=M, axes=1 | axes=[[1], [0]] ; axes=[[1], [1]] ; axes=0 ; @ b=F, axes=2 ; @ b=G, axes=[[0, 1], [0, 1]] ; axes=(1, 0) ; axes=3
einsum | 'ij,jk->ik', F, M | optimize='greedy' ; optimize='optimal' ; name='given' ; other=1
einsum | 'ij->ji', F |
einsum | '...ij,jk', P, M |
linalg.eye | num_rows=2 | num_columns=3 ; batch_shape=[2] ; dtype=tf.int32 ; @ num_columns=1, batch_shape=[1, 2], dtype=tf.float64
signal.fft | input=C |
signal.ifft | input=C |
signal.fft2d | input=C |
signal.ifft2d | input=C |
signal.fft3d | input=tf.reshape(C, [1, 2, 2]) |
signal.ifft3d | input=tf.reshape(C, [1, 2, 2]) |
signal.rfft | input_tensor=F | fft_length=[4] ; fft_length=[2]
signal.irfft | input_tensor=C | fft_length=[4] ; fft_length=[3]
signal.rfft2d | input_tensor=F | fft_length=[2, 4] ; fft_length=[4, 2]
signal.irfft2d | input_tensor=C | fft_length=[2, 3] ; fft_length=[2, 2]
signal.rfft3d | input_tensor=P | fft_length=[2, 2, 4]
signal.irfft3d | input_tensor=tf.reshape(C, [1, 2, 2]) | fft_length=[1, 2, 3]
signal.fftshift | x=F | axes=0 ; axes=[1] ; axes=[0, 1]
signal.ifftshift | x=F | axes=0 ; axes=[1] ; axes=[0, 1]
signal.dct | input=F | type=1 ; type=2 ; type=3 ; type=4 ; n=2 ; n=5 ; axis=-1 ; norm='ortho' ; @ type=3, norm='ortho' ; type=5 ; norm='backward' ; axis=0 ; @ type=4, norm='ortho', n=4 ; @ type=1, norm='ortho'
signal.idct | input=F | type=1 ; type=2 ; type=3 ; type=4 ; n=2 ; n=5 ; axis=-1 ; norm='ortho' ; @ type=3, norm='ortho' ; type=5 ; axis=0
signal.frame | signal=tf.range(10.0), frame_length=4, frame_step=3 | pad_end=True ; @ pad_end=True, pad_value=9.0 ; axis=0 ; frame_step=5 ; @ signal=tf.reshape(tf.range(20.0), [10, 2]), axis=0 ; frame_length=11
signal.overlap_and_add | signal=F, frame_step=2 | frame_step=1 ; frame_step=3 ; frame_step=4
signal.stft | signals=tf.range(16.0), frame_length=8, frame_step=4 | fft_length=16 ; window_fn=None ; pad_end=True ; window_fn=tf.signal.hamming_window ; @ pad_end=True, fft_length=8
signal.inverse_stft | stfts=tf.signal.stft(tf.range(16.0), 8, 4), frame_length=8, frame_step=4 | fft_length=8 ; window_fn=None ; window_fn=tf.signal.inverse_stft_window_fn(4)
signal.hann_window | window_length=6 | periodic=False ; dtype=tf.float64 ; window_length=5 ; @ window_length=5, periodic=True ; @ window_length=1
signal.hamming_window | window_length=6 | periodic=False ; dtype=tf.float64 ; window_length=5 ; @ window_length=1
signal.kaiser_window | window_length=6 | beta=4.0 ; dtype=tf.float64
signal.vorbis_window | window_length=6 | dtype=tf.float64
signal.linear_to_mel_weight_matrix | num_mel_bins=3, num_spectrogram_bins=9 | sample_rate=4000 ; lower_edge_hertz=200.0 ; upper_edge_hertz=2000.0 ; dtype=tf.float64 ; num_mel_bins=5
signal.mfccs_from_log_mel_spectrograms | log_mel_spectrograms=F |
audio.decode_wav | contents=tf.audio.encode_wav([[0.5, -0.5], [0.25, 0.125]], 8000) | desired_channels=1 ; desired_channels=2 ; desired_samples=1 ; desired_samples=4
audio.encode_wav | audio=[[0.5], [-0.25]], sample_rate=8000 | sample_rate=44100
"""
