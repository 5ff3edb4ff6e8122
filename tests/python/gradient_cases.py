"""The gradients of the public functions of tf, tf.math, tf.linalg, tf.nn and tf.signal in each of their inputs, and what
these functions give at special values, as in cases.py (gradients.json, made by tools/make_reference.py)."""
import cases

# f(inputs): what is written before the colon is a function of the tensors behind it.
_M = "[[2.0, 0.3, 0.1], [0.2, 1.5, -0.4], [0.5, 0.1, 3.0]]"
_P = "[[2.0, 0.3, 0.1], [0.3, 1.5, -0.4], [0.1, -0.4, 3.0]]"
_X = "[0.3, 0.8, 0.5]"
_B = "[[1.0, 2.0], [-1.0, 0.5], [0.3, 0.7]]"
_I = "np.linspace(-1, 1, 32).astype('float32').reshape([1, 4, 4, 2])"
_K = "np.linspace(-1, 1, 24).astype('float32').reshape([2, 2, 2, 3])"

FUNCTIONS = []


def _add(names, *inputs):
    FUNCTIONS.extend((name.strip(), inputs) for name in names.split(";") if name.strip())


_add("tf.abs; tf.math.asin; tf.math.asinh; tf.math.atan; tf.math.atanh; tf.math.acos; tf.cos; tf.cosh; tf.math.digamma; tf.math.erf;"
     "tf.math.erfc; tf.math.erfcinv; tf.math.erfinv; tf.exp; tf.math.expm1; tf.math.lgamma; tf.math.log; tf.math.log1p;"
     "tf.math.log_sigmoid; tf.math.ndtri; tf.negative; tf.math.reciprocal; tf.math.reciprocal_no_nan; tf.math.rsqrt; tf.sigmoid;"
     "tf.sin; tf.sinh; tf.math.softplus; tf.math.softsign; tf.sqrt; tf.square; tf.tan; tf.tanh; tf.math.bessel_i0;"
     "tf.math.bessel_i0e; tf.math.bessel_i1; tf.math.bessel_i1e; lambda x: tf.math.l2_normalize(x) * x; tf.math.cumsum; tf.math.cumprod;"
     "tf.math.cumulative_logsumexp; lambda x: tf.nn.softmax(x) * x; tf.nn.log_softmax; tf.nn.elu; tf.nn.gelu; tf.nn.leaky_relu; tf.nn.relu;"
     "tf.nn.relu6; tf.nn.selu; tf.nn.silu; tf.nn.crelu; tf.nn.l2_loss; tf.reduce_sum; tf.reduce_mean; tf.reduce_max; tf.reduce_min;"
     "tf.reduce_prod; tf.reduce_logsumexp; tf.math.reduce_std; tf.math.reduce_variance; tf.math.reduce_euclidean_norm; tf.norm;"
     "tf.math.lbeta; tf.sort; tf.identity; tf.stop_gradient; tf.round; tf.floor; tf.math.ceil; tf.math.rint; tf.sign;"
     "tf.zeros_like; tf.ones_like; tf.shape; tf.size; tf.rank; tf.argsort; tf.argmax; tf.math.zero_fraction; tf.math.count_nonzero;"
     "lambda x: tf.unique(x)[0]; lambda x: tf.unique_with_counts(x)[0]; lambda x: tf.math.top_k(x, 2)[0]; lambda x: tf.cast(x, tf.float64);"
     "lambda x: tf.saturate_cast(x, tf.float64); lambda x: tf.cast(tf.cast(x, tf.complex64), tf.float32); lambda x: tf.bitcast(x, tf.int32);"
     "lambda x: tf.reverse(x, [0]); lambda x: tf.roll(x, 1, 0); lambda x: tf.tile(x, [2]); lambda x: tf.repeat(x, 2);"
     "lambda x: tf.pad(x, [[1, 2]]); lambda x: tf.pad(x, [[1, 2]], 'REFLECT'); lambda x: tf.pad(x, [[1, 2]], 'SYMMETRIC');"
     "lambda x: tf.expand_dims(x, 0); lambda x: tf.broadcast_to(x, [2, 3]); lambda x: tf.gather(x, [0, 0, 2]); lambda x: x[1:];"
     "lambda x: tf.slice(x, [1], [2]); lambda x: tf.strided_slice(x, [0], [3], [2]); lambda x: tf.boolean_mask(x, [True, False, True]);"
     "lambda x: tf.unstack(x)[1]; lambda x: tf.split(x, [1, 2])[1]; lambda x: tf.stack([x, x]); lambda x: tf.concat([x, x], 0);"
     "lambda x: tf.meshgrid(x, x)[0]; lambda x: tf.one_hot([0, 1], 2, x[0], x[1]); lambda x: tf.fill([2], x[0]);"
     "lambda x: tf.linspace(x[0], x[1], 4); lambda x: tf.range(x[0], 2.0, x[2]); lambda x: tf.ensure_shape(x, [3]);"
     "lambda x: tf.tuple([x, x])[0]; lambda x: tf.identity_n([x, x])[1]; lambda x: tf.math.accumulate_n([x, x]); lambda x: tf.add_n([x, x]);"
     "lambda x: tf.math.scalar_mul(x[0], x); lambda x: tf.math.polyval([x[0], x[1]], x[2]); lambda x: tf.math.segment_sum(x, [0, 0, 1]);"
     "lambda x: tf.math.segment_mean(x, [0, 0, 1]); lambda x: tf.math.segment_max(x, [0, 0, 1]); lambda x: tf.math.segment_min(x, [0, 0, 1]);"
     "lambda x: tf.math.segment_prod(x, [0, 0, 1]); lambda x: tf.math.unsorted_segment_sum(x, [1, 0, 1], 2);"
     "lambda x: tf.math.unsorted_segment_mean(x, [1, 0, 1], 2); lambda x: tf.math.unsorted_segment_max(x, [1, 0, 1], 2);"
     "lambda x: tf.math.unsorted_segment_min(x, [1, 0, 1], 2); lambda x: tf.math.unsorted_segment_prod(x, [1, 0, 1], 2);"
     "lambda x: tf.math.unsorted_segment_sqrt_n(x, [1, 0, 1], 2); lambda x: tf.reverse_sequence(x[None], [2], 1);"
     "lambda x: tf.map_fn(lambda y: y * y, x); lambda x: tf.scan(lambda a, y: a * y, x); lambda x: tf.foldl(lambda a, y: a * y, x);"
     "lambda x: tf.foldr(lambda a, y: a * y + 1.0, x); lambda x: tf.vectorized_map(lambda y: y * y, x); lambda x: tf.clip_by_norm(x, 0.5);"
     "lambda x: tf.clip_by_global_norm([x, 2 * x], 0.5)[0][1]; lambda x: tf.clip_by_global_norm([x, 2 * x], 0.5)[1];"
     "lambda x: tf.linalg.global_norm([x, x]); lambda x: tf.linalg.normalize(x)[0]; lambda x: tf.linalg.diag(x); lambda x: tf.linalg.tensor_diag(x);"
     "lambda x: tf.nn.moments(x, 0); lambda x: tf.nn.dropout(x, 0.5, seed=1); lambda x: tf.nn.dropout(x, tf.constant(0.5), seed=1); lambda x: tf.random.shuffle(x, seed=1); lambda x: tf.searchsorted(x, [0.4]);"
     "lambda x: tf.histogram_fixed_width(x, [0.0, 1.0], 3); lambda x: tf.math.bincount([0, 1, 1], x); "
     "lambda x: tf.numpy_function(np.sin, [x], tf.float32); lambda x: tf.py_function(tf.sin, [x], tf.float32); lambda x: tf.grad_pass_through(tf.round)(x);"
     "lambda x: tf.recompute_grad(tf.sin)(x); lambda x: tf.where(x > 0.4); lambda x: tf.where(x > 0.4, x, x * x); lambda x: tf.cond(x[0] > 0, lambda: x, lambda: 2 * x);"
     "lambda x: tf.switch_case(1, [lambda: x, lambda: x * x]); lambda x: tf.case([(x[0] > 1, lambda: x)], lambda: x * x);"
     "lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * y), (0, x))[1]; lambda x: tf.math.nextafter(x, x + 1);"
     "lambda x: tf.signal.dct(x); lambda x: tf.signal.idct(x); lambda x: tf.signal.dct(x, 1); lambda x: tf.signal.dct(x, 3);"
     "lambda x: tf.abs(tf.signal.rfft(x)); lambda x: tf.signal.irfft(tf.cast(x, tf.complex64)); lambda x: tf.abs(tf.signal.fft(tf.cast(x, tf.complex64)));"
     "lambda x: tf.abs(tf.signal.ifft(tf.cast(x, tf.complex64))); lambda x: tf.signal.fftshift(x); lambda x: tf.signal.ifftshift(x);"
     "lambda x: tf.signal.frame(x, 2, 1); lambda x: tf.abs(tf.signal.stft(x, 2, 1)); lambda x: tf.signal.overlap_and_add(x[None], 1);"
     "lambda x: tf.math.real(tf.cast(x, tf.complex64)); lambda x: tf.math.imag(tf.complex(x, x)); lambda x: tf.abs(tf.complex(x, 2 * x));"
     "lambda x: tf.math.angle(tf.complex(x, 2 * x)); lambda x: tf.math.real(tf.math.conj(tf.complex(x, x))); lambda x: tf.math.angle(x);"
     "lambda x: tf.dynamic_partition(x, [0, 1, 0], 2)[0]; lambda x: tf.dynamic_stitch([[0, 2], [1]], [x[:2], x[2:]]);"
     "lambda x: tf.scatter_nd([[1], [1], [0]], x, [3]); lambda x: tf.gather_nd(x, [[0], [2]]); lambda x: tf.linalg.eye(3) * x;"
     "lambda x: tf.nn.scale_regularization_loss(x); lambda x: tf.nn.compute_average_loss(x); lambda x: tf.reshape(x, [3, 1]); lambda x: tf.squeeze(x[None]);"
     "lambda x: tf.transpose(x[None]); lambda x: tf.convert_to_tensor(x); lambda x: tf.math.softmax(x) ** 2; lambda x: tf.nn.sufficient_statistics(x, [0])[1];"
     "lambda x: tf.nn.normalize_moments(3.0, x, x * x, None)[1]; lambda x: tf.math.is_nan(x); lambda x: tf.Variable(x) * 1.0;"
     "lambda x: tf.nn.lrn(x[None, None, None]); lambda x: tf.nn.ctc_loss([[1, 2]], x[None, None] * tf.ones([4, 1, 1]), [2], [4])", _X)
_add("tf.math.acosh", "[1.3, 2.0]")
_add("tf.add; tf.subtract; tf.multiply; tf.divide; tf.math.divide_no_nan; tf.math.multiply_no_nan; tf.pow; tf.maximum; tf.minimum; tf.atan2;"
     "tf.math.squared_difference; tf.math.xlogy; tf.math.xlog1py; tf.math.xdivy; tf.math.floormod; tf.math.floordiv; tf.truncatemod;"
     "tf.math.truediv; tf.math.igamma; tf.math.igammac; tf.complex; tf.realdiv; tf.math.mod; tf.equal; tf.less; tf.math.nextafter;"
     "lambda x, y: tf.where([True, False, True], x, y); lambda x, y: tf.stack([x, y]); lambda x, y: tf.concat([x, y], 0);"
     "lambda x, y: tf.nn.sigmoid_cross_entropy_with_logits(x, y); lambda x, y: tf.nn.softmax_cross_entropy_with_logits(x, y);"
     "lambda x, y: tf.nn.weighted_cross_entropy_with_logits(x, y, 1.5); lambda x, y: tf.nn.log_poisson_loss(x, y);"
     "lambda x, y: tf.nn.log_poisson_loss(x, y, True); lambda x, y: tf.nn.weighted_moments(x, 0, y); lambda x, y: tf.linalg.cross(x, y);"
     "lambda x, y: tf.tensor_scatter_nd_add(x, [[1], [1], [0]], y); lambda x, y: tf.tensor_scatter_nd_update(x, [[1], [0]], y[:2]);"
     "lambda x, y: tf.tensor_scatter_nd_max(x, [[1], [0]], y[:2]); lambda x, y: tf.tensor_scatter_nd_min(x, [[1], [0]], y[:2]);"
     "lambda x, y: tf.tensor_scatter_nd_sub(x, [[1], [0]], y[:2]); lambda x, y: tf.tensordot(x, y, 1); lambda x, y: tf.einsum('i,j->ij', x, y);"
     "lambda x, y: tf.clip_by_value(x, 0.4, y); lambda x, y: tf.clip_by_value(x, y, 2.0); lambda x, y: tf.clip_by_norm(x, y[0]);"
     "lambda x, y: tf.pad(x, [[1, 1]], constant_values=y[0]); lambda x, y: tf.nn.leaky_relu(-x, y[0]); lambda x, y: tf.nn.bias_add(x[None], y);"
     "lambda x, y: tf.nn.batch_normalization(x, y, y * y, x, y, 1e-3); lambda x, y: tf.nn.dropout(x, y[1] * 0.5, seed=1);"
     "lambda x, y: tf.math.zeta(y + 1.0, x); lambda x, y: tf.math.polygamma(tf.constant(1.0), x) * y; lambda x, y: tf.histogram_fixed_width(x, y[:2], 3);"
     "lambda x, y: tf.linspace(x, y, 3); lambda x, y: tf.fill([2], x[0] * y[0]); lambda x, y: tf.one_hot([0, 1], 2, x[0], y[0]); lambda x, y: tf.linalg.set_diag(tf.ones([3, 3]) * x, y);"
     "lambda x, y: tf.clip_by_global_norm([x], y[0])[0][0]; lambda x, y: tf.clip_by_global_norm([x], 0.1, y[0])[0][0]; lambda x, y: tf.math.l2_normalize(x, epsilon=10.0) * y;"
     "lambda x, y: tf.dynamic_stitch([[0, 1, 2], [1, 3, 4]], [x, y]); lambda x, y: tf.searchsorted(x, y); lambda x, y: tf.range(x[0], y[0], 0.1); lambda x, y: tf.meshgrid(x, y)[1]",
     _X, "[1.5, 0.7, 0.9]")
_add("tf.math.betainc", _X, "[1.5, 0.7, 0.9]", "[0.2, 0.3, 0.4]")
_add("tf.linalg.det; tf.linalg.inv; lambda x: tf.linalg.slogdet(x)[1]; lambda x: tf.linalg.slogdet(x)[0]; tf.linalg.expm; tf.linalg.trace; tf.linalg.diag_part;"
     "tf.linalg.adjoint; tf.linalg.matrix_transpose; lambda x: tf.linalg.band_part(x, 0, 1); tf.linalg.tensor_diag_part; tf.linalg.pinv; tf.linalg.matrix_rank;"
     "lambda x: tf.linalg.qr(x).q; lambda x: tf.linalg.qr(x).r; lambda x: tf.linalg.svd(x, compute_uv=False); lambda x: tf.abs(tf.linalg.svd(x)[1]);"
     "lambda x: tf.abs(tf.linalg.svd(x)[2]); lambda x: tf.norm(x, 1, [0, 1]); lambda x: tf.norm(x, 2, [0, 1]); lambda x: tf.norm(x, np.inf, [0, 1]); lambda x: tf.norm(x, 'fro', [0, 1]);"
     "lambda x: tf.norm(x, 3, 1); lambda x: tf.abs(tf.linalg.eigvals(x)); lambda x: tf.abs(tf.linalg.eig(x)[1]); lambda x: tf.linalg.matvec(x, x[0]); lambda x: tf.matmul(x, x);"
     "lambda x: tf.linalg.eigvalsh(x + tf.transpose(x)); lambda x: tf.linalg.lstsq(x, tf.square(x)); lambda x: tf.linalg.logdet(x + tf.transpose(x)); lambda x: tf.linalg.normalize(x)[1];"
     "lambda x: tf.nn.softmax(x, 0) * x; lambda x: tf.math.reduce_variance(x, 0); lambda x: tf.sort(x, 0, 'DESCENDING'); lambda x: tf.math.top_k(x, 2)[0]; lambda x: tf.reduce_max(x, 1);"
     "lambda x: tf.nn.moments(x, [0, 1]); lambda x: tf.linalg.cholesky(tf.matmul(x, x, transpose_a=True)); lambda x: tf.nn.in_top_k([0, 1, 2], x, 1);"
     "lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1, 2], x); lambda x: tf.nn.embedding_lookup(x, [0, 0]);"
     "lambda x: tf.nn.embedding_lookup_sparse(x, tf.sparse.from_dense([[1, 2], [0, 1]]), None, combiner='sum')", _M)
_add("tf.linalg.cholesky; lambda x: tf.linalg.eigh(x)[0]; lambda x: tf.abs(tf.linalg.eigh(x)[1]); tf.linalg.logdet", _P)
_add("tf.linalg.solve; tf.linalg.triangular_solve; tf.linalg.cholesky_solve; tf.matmul; lambda x, y: tf.linalg.lstsq(x, y); lambda x, y: tf.linalg.lstsq(x, y, 0.3);"
     "lambda x, y: tf.linalg.matvec(x, y[:, 0]); lambda x, y: tf.einsum('ij,jk->ki', x, y); lambda x, y: tf.linalg.solve(x, y, adjoint=True)", _M, _B)
_add("lambda x, k: tf.nn.conv2d(x, k, 1, 'SAME'); lambda x, k: tf.nn.convolution(x, k); lambda x, k: tf.nn.depthwise_conv2d(x, k, [1, 1, 1, 1], 'VALID');"
     "lambda x, k: tf.nn.atrous_conv2d(x, k, 2, 'SAME'); lambda x, k: tf.nn.conv2d_transpose(x, tf.transpose(k, [0, 1, 3, 2]), [1, 4, 4, 3], 1);"
     "lambda x, k: tf.nn.separable_conv2d(x, k, tf.reshape(k, [1, 1, 6, 4]), [1, 1, 1, 1], 'VALID'); lambda x, k: tf.nn.conv1d(x[0], k[0], 1, 'SAME')", _I, _K)
_add("lambda x: tf.nn.max_pool2d(x, 2, 2, 'VALID'); lambda x: tf.nn.avg_pool2d(x, 2, 1, 'SAME'); lambda x: tf.nn.max_pool_with_argmax(x, 2, 2, 'VALID')[0];"
     "lambda x: tf.nn.pool(x, [2, 2], 'AVG'); lambda x: tf.nn.space_to_depth(x, 2); lambda x: tf.nn.depth_to_space(tf.reshape(x, [1, 2, 2, 8]), 2);"
     "lambda x: tf.nn.lrn(x); lambda x: tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]); lambda x: tf.nn.avg_pool1d(x[0], 2, 2, 'VALID'); lambda x: tf.nn.max_pool1d(x[0], 2, 2, 'VALID');"
     "lambda x: tf.image.resize(x, [3, 5]); lambda x: tf.image.resize(x, [3, 5], 'nearest'); lambda x: tf.image.adjust_contrast(x, 2.0); lambda x: tf.image.adjust_brightness(x, 0.1);"
     "lambda x: tf.image.flip_left_right(x); lambda x: tf.image.total_variation(x); lambda x: tf.image.sobel_edges(x); lambda x: tf.image.central_crop(x, 0.5);"
     "lambda x: tf.image.per_image_standardization(x) * x; lambda x: tf.abs(tf.signal.rfft2d(tf.transpose(x, [0, 3, 1, 2]))); lambda x: tf.nn.avg_pool3d(x[None], 2, 1, 'SAME');"
     "lambda x: tf.nn.max_pool3d(x[None], [1, 2, 2], 2, 'VALID'); lambda x: tf.nn.batch_normalization(x, *tf.nn.moments(x, [0, 1, 2]), None, None, 1e-3)", _I)

_add("lambda x, k: tf.nn.atrous_conv2d_transpose(x, tf.transpose(k, [0, 1, 3, 2]), [1, 4, 4, 3], 2, 'SAME');"
     "lambda x, k: tf.nn.conv1d_transpose(x[0], tf.transpose(k[0], [0, 2, 1]), [4, 4, 3], 1); lambda x, k: tf.nn.conv_transpose(x, tf.transpose(k, [0, 1, 3, 2]), [1, 4, 4, 3], 1);"
     "lambda x, k: tf.nn.conv3d(x[None], k[None], [1, 1, 1, 1, 1], 'SAME'); lambda x, k: tf.nn.conv3d_transpose(x[None], tf.transpose(k, [0, 1, 3, 2])[None], [1, 1, 4, 4, 3], 1);"
     "lambda x, k: tf.nn.sampled_softmax_loss(tf.reshape(k, [8, 3]), tf.zeros([8]), tf.constant([[1], [2]], tf.int64), tf.reshape(x, [-1])[:6][None] * tf.ones([2, 1]) @ tf.eye(6, 3), 2, 8, "
     "sampled_values=(tf.constant([0, 3], tf.int64), tf.ones([2, 1]), tf.ones([2])));"
     "lambda x, k: tf.nn.nce_loss(tf.reshape(k, [8, 3]), tf.zeros([8]), tf.constant([[1], [2]], tf.int64), tf.reshape(x, [-1])[:6][None] * tf.ones([2, 1]) @ tf.eye(6, 3), 2, 8, "
     "sampled_values=(tf.constant([0, 3], tf.int64), tf.ones([2, 1]), tf.ones([2])))", _I, _K)
_add("lambda x: tf.nn.avg_pool(x, 2, 1, 'SAME'); lambda x: tf.nn.max_pool(x, 2, 1, 'SAME'); lambda x: tf.nn.local_response_normalization(x); lambda x: tf.nn.swish(x);"
     "lambda x: tf.batch_to_space(tf.reshape(x, [4, 2, 4, 1]), [2, 2], [[0, 0], [0, 0]]); lambda x: tf.space_to_batch_nd(x, [2, 2], [[0, 0], [0, 0]]);"
     "lambda x: tf.abs(tf.signal.fft2d(tf.cast(x, tf.complex64))); lambda x: tf.abs(tf.signal.ifft2d(tf.cast(x, tf.complex64))); lambda x: tf.abs(tf.signal.fft3d(tf.cast(x, tf.complex64)));"
     "lambda x: tf.abs(tf.signal.ifft3d(tf.cast(x, tf.complex64))); lambda x: tf.abs(tf.signal.rfft3d(x)); lambda x: tf.signal.irfft2d(tf.cast(x, tf.complex64)) ** 2;"
     "lambda x: tf.signal.irfft3d(tf.cast(x, tf.complex64)) ** 2; lambda x: tf.signal.inverse_stft(tf.cast(tf.reshape(x, [-1])[:15], tf.complex64)[None][:, None] * tf.ones([1, 3, 1], tf.complex64)[..., :1], 28, 14) ** 2;"
     "lambda x: tf.signal.mfccs_from_log_mel_spectrograms(x) ** 2", _I)
_add("lambda x: tf.nn.safe_embedding_lookup_sparse(x, tf.sparse.from_dense([[1, 2], [0, 1]]), combiner='mean')", _M)

# Functions at special values: [value, gradients].
UNARY = ("tf.abs tf.acos tf.acosh tf.asin tf.asinh tf.atan tf.atanh tf.cos tf.cosh tf.math.digamma tf.math.erf tf.math.erfc tf.math.erfcinv "
         "tf.math.erfinv tf.exp tf.math.expm1 tf.math.lgamma tf.math.log tf.math.log1p tf.math.log_sigmoid tf.math.ndtri tf.negative "
         "tf.math.reciprocal tf.math.reciprocal_no_nan tf.math.rsqrt tf.sigmoid tf.sin tf.sinh tf.math.softplus tf.math.softsign tf.sqrt "
         "tf.square tf.tan tf.tanh tf.math.bessel_i0 tf.math.bessel_i0e tf.math.bessel_i1 tf.math.bessel_i1e tf.nn.elu tf.nn.gelu "
         "tf.nn.leaky_relu tf.nn.relu tf.nn.relu6 tf.nn.selu tf.nn.silu tf.math.angle").split()
VALUES = ("tf.sign tf.round tf.floor tf.math.ceil tf.math.rint tf.math.is_nan tf.math.is_inf tf.math.is_finite").split()  # no gradient
BINARY = ("tf.add tf.subtract tf.multiply tf.divide tf.math.divide_no_nan tf.math.multiply_no_nan tf.pow tf.maximum tf.minimum tf.atan2 "
          "tf.math.squared_difference tf.math.xlogy tf.math.xlog1py tf.math.xdivy tf.math.floormod tf.math.floordiv tf.truncatemod "
          "tf.math.igamma tf.math.igammac tf.math.nextafter").split()
REDUCTIONS = ("tf.reduce_sum tf.reduce_mean tf.reduce_max tf.reduce_min tf.reduce_prod tf.reduce_logsumexp tf.math.reduce_std "
              "tf.math.reduce_variance tf.math.reduce_euclidean_norm tf.norm tf.nn.l2_loss tf.math.cumsum tf.math.cumprod "
              "tf.math.cumulative_logsumexp tf.nn.softmax tf.nn.log_softmax tf.math.l2_normalize tf.sort tf.argmax tf.argmin "
              "tf.math.zero_fraction tf.math.count_nonzero").split()


def namespace(tf, np):
    def watched(f, *args):
        """The gradient of sum(f(*args)) in each, as it comes: a tensor, rows or None."""
        args = [tf.constant(np.asarray(a, "float32")) for a in args]
        with tf.GradientTape() as tape:
            tape.watch(args)
            y = f(*args)
        return tape.gradient(y, args)

    def values(f, *args):
        return f(*[tf.constant(np.asarray(a, "float32")) for a in args])

    def unary(f):
        x = [-np.inf, -7.5, -1.0, -0.5, -0.0, 0.0, 1e-30, 0.5, 1.0, 2.0, 1e30, np.inf, np.nan]
        return [values(f, x), *watched(f, x)]

    def binary(f):
        x, y = np.meshgrid([-np.inf, -1.5, -0.0, 0.0, 0.5, 2.0, np.inf, np.nan], [-np.inf, -2.0, -0.0, 0.0, 0.5, 3.0, np.inf, np.nan])
        return [values(f, x, y), *watched(f, x, y)]

    def reduced(f):
        out = []
        for x in ([], [-0.0], [2.0], [2.0, 2.0, 1.0], [0.0, 0.0], [1.0, np.nan, 3.0], [np.inf, np.inf, 1.0], [-np.inf, -np.inf], [0.0, 3.0, 4.0],
                  [0.0, 3.0, 0.0], [-np.inf, 1.0, np.inf]):
            try:
                out.append([values(f, x), *watched(f, x)])
            except Exception as error:  # noqa: BLE001
                out.append(type(error).__name__)
        return out
    return {**cases.namespace(tf, np), "watched": watched, "unary": unary, "binary": binary, "reduced": reduced, "values": values}


GRADIENTS = [f"watched({name}, {', '.join(inputs)})" for name, inputs in FUNCTIONS]
SPECIAL = ([f"unary({f})" for f in UNARY] + [f"unary(lambda x: tf.cast({f}(x), tf.float32))" for f in VALUES]
           + [f"binary({f})" for f in BINARY] + [f"reduced({f})" for f in REDUCTIONS])
LINES = GRADIENTS + SPECIAL
