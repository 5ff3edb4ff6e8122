"""Rows of argument_cases.py: tf.nn and tf.random."""


def _made():
    for name in "relu relu6 elu selu softsign".split():
        yield f"nn.{name} | features=F | "
    for name in ("max_pool", "avg_pool"):
        yield f"nn.{name}1d | input=X1, ksize=2, strides=2, padding='VALID' | padding='SAME' ; @ input=tf.transpose(X1, [0, 2, 1]), data_format='NCW' ; ksize=3 ; strides=1 ; data_format='NWC' ; data_format='NHWC' ; padding='FULL'"
        yield f"nn.{name}2d | input=X2, ksize=2, strides=2, padding='VALID' | padding='SAME' ; @ ksize=[3, 2], strides=[1, 2], padding='SAME' ; @ input=tf.transpose(X2, [0, 3, 1, 2]), data_format='NCHW' ; @ ksize=[1, 2, 1, 1], strides=[1, 2, 1, 1] ; data_format='NWC' ; padding='FULL' ; ksize=[1, 1, 2, 1]"
        yield f"nn.{name}3d | input=X3, ksize=2, strides=2, padding='VALID' | padding='SAME' ; @ ksize=[1, 2, 2], strides=[2, 1, 1], padding='SAME' ; @ input=tf.transpose(X3, [0, 4, 1, 2, 3]), data_format='NCDHW' ; data_format='NHWC'"
        yield f"nn.{name} | input=X2, ksize=2, strides=2, padding='VALID' | @ input=X1, ksize=2 ; @ input=X3 ; data_format='NHWC' ; @ input=tf.transpose(X2, [0, 3, 1, 2]), data_format='NCHW' ; @ input=X1, data_format='NWC' ; @ input=tf.transpose(X1, [0, 2, 1]), data_format='NCW' ; @ padding='SAME', ksize=3"


ROWS = "\n".join(_made()) + """
nn.max_pool2d | input=X2, ksize=2, strides=2, padding='VALID' | padding=[[0, 0], [1, 1], [1, 0], [0, 0]] ; @ input=tf.transpose(X2, [0, 3, 1, 2]), data_format='NCHW', padding=[[0, 0], [0, 0], [1, 1], [1, 0]]
nn.max_pool | input=X2, ksize=2, strides=2, padding='VALID' | padding=[[0, 0], [1, 1], [1, 0], [0, 0]]
nn.max_pool_with_argmax | input=X2, ksize=2, strides=2, padding='VALID' | padding='SAME' ; output_dtype=tf.int32 ; include_batch_in_index=True ; data_format='NCHW' ; @ ksize=[1, 3, 2, 1], strides=[1, 1, 2, 1], padding='SAME' ; data_format='NHWC'
nn.pool | input=X2, window_shape=[2, 2], pooling_type='MAX' | pooling_type='AVG' ; strides=[2, 1] ; padding='SAME' ; @ data_format='NCHW', input=tf.transpose(X2, [0, 3, 1, 2]) ; dilations=[2, 1] ; @ dilations=[1, 2], pooling_type='AVG' ; data_format='NHWC' ; pooling_type='MIN' ; @ dilations=[2, 2], strides=[2, 2] ; @ dilations=[2, 1], padding='SAME'
nn.pool | input=X1, window_shape=[2], pooling_type='AVG' | strides=[2] ; dilations=[2] ; @ data_format='NCW', input=tf.transpose(X1, [0, 2, 1])
nn.conv1d | input=X1, filters=W1, stride=1, padding='VALID' | stride=2 ; padding='SAME' ; dilations=2 ; @ input=tf.transpose(X1, [0, 2, 1]), data_format='NCW' ; @ input=tf.transpose(X1, [0, 2, 1]), data_format='NCW', stride=2, padding='SAME' ; data_format='NWC' ; stride=[2] ; data_format='NHWC' ; dilations=[1] ; @ padding='SAME', dilations=[2] ; stride=[1, 2, 1] ; padding='FULL'
nn.conv2d | input=X2, filters=W2, strides=1, padding='VALID' | strides=[1, 2] ; strides=[1, 2, 1, 1] ; padding='SAME' ; padding=[[0, 0], [1, 1], [0, 2], [0, 0]] ; @ padding='SAME', dilations=2 ; @ padding='SAME', dilations=[1, 2, 1, 1] ; @ input=tf.transpose(X2, [0, 3, 1, 2]), data_format='NCHW' ; @ input=tf.transpose(X2, [0, 3, 1, 2]), data_format='NCHW', strides=[1, 1, 2, 1], padding='SAME' ; data_format='NHWC' ; data_format='NWC' ; @ input=tf.transpose(X2, [0, 3, 1, 2]), data_format='NCHW', padding=[[0, 0], [0, 0], [1, 1], [0, 2]] ; strides=[2, 1, 1, 1]
nn.conv2d | input=X2[..., :1], filters=W2[:, :, :1], strides=1, padding='SAME' | @ dilations=[2, 1]
nn.conv3d | input=X3, filters=W3, strides=[1, 1, 1, 1, 1], padding='VALID' | strides=[1, 2, 1, 2, 1] ; padding='SAME' ; @ data_format='NCDHW', input=tf.transpose(X3, [0, 4, 1, 2, 3]) ; dilations=[1, 1, 1, 1, 1] ; dilations=[1, 2, 2, 2, 1] ; data_format='NDHWC'
nn.convolution | input=X2, filters=W2 | strides=[1, 2] ; padding='SAME' ; dilations=[1, 1] ; @ padding='SAME', dilations=[2, 1] ; @ data_format='NCHW', input=tf.transpose(X2, [0, 3, 1, 2]) ; data_format='NHWC' ; strides=2
nn.convolution | input=X1, filters=W1 | strides=2 ; padding='SAME' ; dilations=2 ; @ data_format='NCW', input=tf.transpose(X1, [0, 2, 1])
nn.conv1d_transpose | input=X1, filters=W1, output_shape=[2, 6, 2], strides=1 | @ strides=2, output_shape=[2, 12, 2] ; @ padding='VALID', output_shape=[2, 8, 2] ; @ data_format='NCW', input=tf.transpose(X1, [0, 2, 1]), output_shape=[2, 2, 6] ; dilations=1 ; output_shape=[2, 7, 2]
nn.conv2d_transpose | input=X2, filters=W2, output_shape=[2, 4, 4, 2], strides=1 | @ strides=2, output_shape=[2, 8, 8, 2] ; @ strides=[1, 2], output_shape=[2, 4, 8, 2] ; @ padding='VALID', output_shape=[2, 6, 6, 2] ; @ data_format='NCHW', input=tf.transpose(X2, [0, 3, 1, 2]), output_shape=[2, 2, 4, 4] ; dilations=1 ; data_format='NHWC' ; output_shape=[2, 5, 4, 2] ; @ strides=[1, 2, 2, 1], output_shape=[2, 8, 8, 2]
nn.conv3d_transpose | input=X3, filters=W3, output_shape=[1, 4, 4, 4, 2], strides=1 | @ strides=2, output_shape=[1, 8, 8, 8, 2] ; @ padding='VALID', output_shape=[1, 5, 5, 5, 2] ; @ data_format='NCDHW', input=tf.transpose(X3, [0, 4, 1, 2, 3]), output_shape=[1, 2, 4, 4, 4] ; dilations=1
nn.conv_transpose | input=X2, filters=W2, output_shape=[2, 4, 4, 2], strides=1 | padding='SAME' ; @ padding='VALID', output_shape=[2, 6, 6, 2] ; @ data_format='NCHW', input=tf.transpose(X2, [0, 3, 1, 2]), output_shape=[2, 2, 4, 4] ; dilations=1 ; @ strides=2, output_shape=[2, 8, 8, 2]
nn.depthwise_conv2d | input=X2, filter=W2, strides=[1, 1, 1, 1], padding='VALID' | strides=[1, 2, 2, 1] ; padding='SAME' ; @ padding='SAME', dilations=[2, 2] ; data_format='NHWC' ; padding=[[0, 0], [1, 1], [0, 2], [0, 0]] ; @ input=tf.transpose(X2, [0, 3, 1, 2]), data_format='NCHW' ; @ padding='SAME', dilations=[1, 2]
nn.separable_conv2d | input=X2, depthwise_filter=W2, pointwise_filter=tf.reshape(tf.range(12.0) - 5.0, [1, 1, 4, 3]), strides=[1, 1, 1, 1], padding='VALID' | strides=[1, 2, 2, 1] ; padding='SAME' ; @ padding='SAME', dilations=[2, 2] ; data_format='NHWC' ; @ input=tf.transpose(X2, [0, 3, 1, 2]), data_format='NCHW'
nn.atrous_conv2d | value=X2, filters=W2, rate=1, padding='VALID' | padding='SAME' ; @ rate=2, padding='SAME'
nn.atrous_conv2d_transpose | value=X2, filters=W2, output_shape=[2, 4, 4, 2], rate=1, padding='SAME' | @ rate=2 ; @ output_shape=[2, 6, 6, 2], padding='VALID' ; @ rate=2, output_shape=[2, 8, 8, 2], padding='VALID'
nn.space_to_depth | input=X2, block_size=2 | data_format='NHWC' ; @ data_format='NCHW', input=tf.transpose(X2, [0, 3, 1, 2]) ; block_size=4 ; block_size=3 ; data_format='NCHW_VECT_C' ; data_format='NHCW'
nn.depth_to_space | input=tf.concat([X2, X2 + 10.0], 3), block_size=2 | data_format='NHWC' ; @ data_format='NCHW', input=tf.transpose(tf.concat([X2, X2 + 10.0], 3), [0, 3, 1, 2]) ; block_size=3 ; data_format='NHCW'
nn.bias_add | value=X2, bias=[10.0, 20.0] | data_format='NHWC' ; data_format='N..C' ; @ data_format='NCHW', bias=[1.0, 2.0, 3.0, 4.0] ; @ data_format='NC..', bias=[1.0, 2.0, 3.0, 4.0] ; bias=[1.0] ; data_format='CHWN' ; @ value=F, bias=V ; @ value=F, bias=[1.0, 2.0], data_format='NC..'
nn.leaky_relu | features=F | alpha=0.5 ; alpha=tf.constant(0.1)
nn.gelu | features=F |
nn.silu | features=F | beta=2.0 ; beta=tf.constant(0.5)
nn.crelu | features=F | axis=0 ; axis=1
nn.softmax | logits=F | axis=0 ; axis=1 ; axis=-2 ; axis=2
nn.log_softmax | logits=F | axis=0 ; axis=1 ; axis=-2
nn.softmax_cross_entropy_with_logits | labels=U, logits=F | axis=0 ; axis=1 ; axis=-2
nn.sparse_softmax_cross_entropy_with_logits | labels=[0, 2], logits=F | labels=tf.constant([1, 1], tf.int64)
nn.sigmoid_cross_entropy_with_logits | labels=U, logits=F | labels=F
nn.weighted_cross_entropy_with_logits | labels=U, logits=F, pos_weight=2.0 | pos_weight=V
nn.l2_loss | t=F |
nn.dropout | x=F, rate=0.5 | seed=3 ; @ seed=3, noise_shape=[2, 1] ; @ seed=3, noise_shape=[None, 1] ; @ seed=3, noise_shape=tf.constant([1, 3]) ; rate=0.0 ; rate=1.0 ; rate=-0.5 ; @ seed=3, rate=tf.constant(0.25)
nn.moments | x=F, axes=[0] | axes=[0, 1] ; shift=1.0 ; shift=V ; keepdims=True ; axes=[1] ; @ axes=[1], keepdims=True
nn.weighted_moments | x=F, axes=[0], frequency_weights=U | axes=[0, 1] ; keepdims=True ; frequency_weights=[[1.0], [3.0]]
nn.sufficient_statistics | x=F, axes=[0] | shift=1.0 ; shift=V ; keepdims=True ; axes=[0, 1]
nn.normalize_moments | counts=4.0, mean_ss=[2.0, 8.0], variance_ss=[6.0, 20.0], shift=None | shift=[1.0, 2.0]
nn.batch_normalization | x=F, mean=V, variance=V, offset=None, scale=None, variance_epsilon=0.001 | offset=V ; scale=V ; @ offset=V, scale=V ; variance_epsilon=1.0
nn.local_response_normalization | input=X2 | depth_radius=1 ; bias=2.0 ; alpha=0.5 ; beta=0.75 ; @ depth_radius=0, bias=3.0, alpha=2.0, beta=1.0
nn.log_poisson_loss | targets=[[1.0, 2.5, 3.0], [0.0, 4.0, 1.5]], log_input=F | compute_full_loss=True ; @ targets=tf.constant([[1.0, 2.5, 3.0], [0.0, 4.0, 1.5]]), compute_full_loss=True
nn.compute_average_loss | per_example_loss=V | sample_weight=[1.0, 2.0, 0.0] ; global_batch_size=6 ; @ sample_weight=[1.0, 2.0, 0.0], global_batch_size=2 ; sample_weight=2.0
nn.scale_regularization_loss | regularization_loss=[1.0, 2.0] |
nn.embedding_lookup | params=F, ids=[1, 0] | max_norm=2.0 ; ids=[[1], [1]] ; max_norm=100.0 ; params=[F, G] ; @ params=[F[:1], F[1:]], ids=[0, 1]
nn.embedding_lookup_sparse | params=F, sp_ids=tf.sparse.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 0, 1], tf.int64), [2, 2]), sp_weights=None | combiner='sum' ; combiner='mean' ; combiner='sqrtn' ; max_norm=1.0 ; @ combiner='sum', sp_weights=tf.sparse.SparseTensor([[0, 0], [0, 1], [1, 0]], [0.5, 2.0, 3.0], [2, 2]) ; @ combiner='sqrtn', sp_weights=tf.sparse.SparseTensor([[0, 0], [0, 1], [1, 0]], [0.5, 2.0, 3.0], [2, 2]) ; combiner='max'
nn.safe_embedding_lookup_sparse | embedding_weights=F, sparse_ids=tf.sparse.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 0, 1], tf.int64), [3, 2]) | combiner='sum' ; combiner='sqrtn' ; default_id=1 ; max_norm=1.0 ; sparse_weights=tf.sparse.SparseTensor([[0, 0], [0, 1], [2, 0]], [0.5, 2.0, -1.0], [3, 2]) ; @ default_id=0, combiner='sum'
nn.compute_accidental_hits | true_classes=[[1, 2], [3, 4]], sampled_candidates=[2, 3, 7], num_true=2 | num_true=1 ; seed=5
nn.ctc_greedy_decoder | inputs=tf.reshape(tf.cast(tf.range(24) * 7 % 5, tf.float32), [4, 2, 3]), sequence_length=[4, 3] | merge_repeated=False ; blank_index=0 ; @ blank_index=1, merge_repeated=False ; blank_index=-1
nn.ctc_beam_search_decoder | inputs=tf.reshape(tf.cast(tf.range(24) * 7 % 5, tf.float32), [4, 2, 3]), sequence_length=[4, 3] | beam_width=2 ; top_paths=2 ; @ beam_width=5, top_paths=3
nn.ctc_loss | labels=[[1, 2], [2, 1]], logits=tf.reshape(tf.cast(tf.range(24) * 7 % 5, tf.float32), [4, 2, 3]), label_length=[2, 1], logit_length=[4, 3] | logits_time_major=True ; @ logits_time_major=False, logits=tf.reshape(tf.cast(tf.range(24) * 7 % 5, tf.float32), [2, 4, 3]) ; blank_index=0 ; @ blank_index=2, labels=[[1, 0], [0, 1]] ; unique=tf.nn.ctc_unique_labels([[1, 2], [2, 1]]) ; @ blank_index=-1, labels=[[1, 0], [0, 1]]
nn.ctc_unique_labels | labels=[[1, 2, 1], [2, 2, 0]] |
nn.sampled_softmax_loss | weights=M, biases=V, labels=tf.constant([[1], [0]], tf.int64), inputs=F, num_sampled=2, num_classes=3, sampled_values=(tf.constant([0, 2], tf.int64), tf.constant([[0.5], [0.75]]), tf.constant([0.25, 0.5])) | remove_accidental_hits=False ; @ num_true=2, labels=tf.constant([[1, 0], [0, 2]], tf.int64), sampled_values=(tf.constant([0, 2], tf.int64), tf.constant([[0.5, 0.25], [0.75, 0.5]]), tf.constant([0.25, 0.5]))
nn.nce_loss | weights=M, biases=V, labels=tf.constant([[1], [0]], tf.int64), inputs=F, num_sampled=2, num_classes=3, sampled_values=(tf.constant([0, 2], tf.int64), tf.constant([[0.5], [0.75]]), tf.constant([0.25, 0.5])) | remove_accidental_hits=True ; @ num_true=2, labels=tf.constant([[1, 0], [0, 2]], tf.int64), sampled_values=(tf.constant([0, 2], tf.int64), tf.constant([[0.5, 0.25], [0.75, 0.5]]), tf.constant([0.25, 0.5]))
random.uniform | shape=[3], seed=4 | minval=-1 ; maxval=5.0 ; @ minval=2, maxval=9, dtype=tf.int32 ; dtype=tf.float64 ; dtype=tf.float16 ; dtype=tf.int32 ; seed=9 ; @ minval=0, maxval=100, dtype=tf.int64
random.normal | shape=[3], seed=4 | mean=10.0 ; stddev=3.0 ; dtype=tf.float64 ; dtype=tf.float16 ; seed=9 ; mean=[1.0, 2.0, 3.0] ; dtype=tf.int32
random.truncated_normal | shape=[3], seed=4 | mean=10.0 ; stddev=3.0 ; dtype=tf.float64 ; seed=9
random.shuffle | value=[1, 2, 3, 4, 5] | seed=4 ; @ value=M, seed=2
random.categorical | logits=F, num_samples=4, seed=4 | dtype=tf.int32 ; num_samples=2 ; seed=9
random.stateless_uniform | shape=[3], seed=[1, 2] | minval=-1 ; maxval=5.0 ; @ minval=2, maxval=9, dtype=tf.int32 ; dtype=tf.float64 ; alg='philox' ; alg='threefry' ; alg='none' ; seed=[3, 4] ; @ minval=None, maxval=None, dtype=tf.int32
random.stateless_normal | shape=[3], seed=[1, 2] | mean=10.0 ; stddev=3.0 ; dtype=tf.float64 ; alg='philox' ; alg='threefry' ; seed=[3, 4]
random.stateless_truncated_normal | shape=[3], seed=[1, 2] | mean=10.0 ; stddev=3.0 ; dtype=tf.float64 ; alg='philox' ; alg='threefry'
random.stateless_categorical | logits=F, num_samples=4, seed=[1, 2] | dtype=tf.int32 ; num_samples=2
random.split | seed=[1, 2] | num=3 ; alg='philox' ; alg='threefry'
random.fold_in | seed=[1, 2], data=5 | data=6 ; alg='philox' ; alg='threefry'
random.stateless_gamma | shape=[2, 2], seed=[1, 2], alpha=[1.5, 3.0] | beta=2.0 ; dtype=tf.float64
random.stateless_poisson | shape=[2, 2], seed=[1, 2], lam=[2.0, 20.0] | dtype=tf.int64 ; dtype=tf.float32
random.Generator.normal: tf.random.Generator.from_seed(5) | shape=[2] | mean=10.0 ; stddev=3.0 ; dtype=tf.float64
random.Generator.truncated_normal: tf.random.Generator.from_seed(5) | shape=[2] | mean=10.0 ; stddev=3.0 ; dtype=tf.float64
random.Generator.uniform: tf.random.Generator.from_seed(5) | shape=[2] | minval=-3.0 ; maxval=7.0 ; dtype=tf.float64 ; @ minval=0, maxval=10, dtype=tf.int32
random.Generator.make_seeds: tf.random.Generator.from_seed(5) | | count=2
random.create_rng_state | seed=3, alg='philox' | seed=[1, 2, 3] ; alg=1 ; alg='threefry' ; alg='none'
"""
