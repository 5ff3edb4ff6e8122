"""Parameters of tf.compat.v1 with values that are not their defaults: texts that TensorFlow's compat.v1
(tools/make_v1_parameters_reference.py) and gradus.compat.v1 (test_v1_parameters.py) evaluate in a graph and run, with the
gradient of a sum of what comes out with respect to what goes in.

`x`, `positive`, `unit` make constants that are differentiated; `ints`, `mask` ones that are not. What else the cases call
is in `bound` below.
"""
import numpy as np

_REDUCTIONS = ("NONE", "SUM", "SUM_OVER_BATCH_SIZE", "SUM_OVER_NONZERO_WEIGHTS", "MEAN", "SUM_BY_NONZERO_WEIGHTS")
_LOSSES = {"absolute_difference": "x(3, 4), x(3, 4)", "mean_squared_error": "x(3, 4), x(3, 4)",
    "huber_loss": "x(3, 4), x(3, 4)",
           "log_loss": "unit(3, 4), unit(3, 4)", "hinge_loss": "tf.round(unit(3, 4)), x(3, 4)",
           "sigmoid_cross_entropy": "unit(3, 4), x(3, 4)", "softmax_cross_entropy": "tf.nn.softmax(x(3, 4)), x(3, 4)",
           "sparse_softmax_cross_entropy": "ints(4, 3), x(3, 4)", "compute_weighted_loss": "x(3, 4)"}
_RANK_ONE = ("softmax_cross_entropy", "sparse_softmax_cross_entropy")

LOSSES = [
    *(f"tf.losses.{name}({data}, reduction=tf.losses.Reduction.{r})" for name, data in _LOSSES.items()
    for r in _REDUCTIONS),
    *(f"tf.losses.{name}({data}, weights={w})" for name, data in _LOSSES.items()
      for w in (["positive(3)", "0.3", "tf.constant([1.0, 0.0, 2.0])"] if name in _RANK_ONE else
                ["positive(3, 1)", "positive(3, 4)", "0.3", "tf.constant([[1.0], [0.0], [2.0]])"])),
    *(f"tf.losses.{name}({data}, weights=tf.constant([[1.0], [0.0], [2.0]]), reduction=tf.losses.Reduction.{r})"
      for name, data in _LOSSES.items() if name not in _RANK_ONE for r in _REDUCTIONS[2:]),
    *(f"collected(lambda: tf.losses.{name}({data}, scope='s', loss_collection='mine'), 'mine')" for name,
    data in _LOSSES.items()),
    "tf.losses.cosine_distance(x(3, 4), x(3, 4), axis=1)",
    "tf.losses.cosine_distance(x(3, 4), x(3, 4), axis=0, weights=0.5)",
    "tf.losses.cosine_distance(x(3, 4), x(3, 4), dim=1, reduction=tf.losses.Reduction.SUM)",
    "collected(lambda: tf.losses.cosine_distance(x(3, 4), x(3, 4), 1, scope='s', loss_collection='mine'), 'mine')",
    "tf.losses.huber_loss(x(3, 4), x(3, 4), delta=0.2)", "tf.losses.log_loss(unit(3, 4), unit(3, 4), epsilon=0.1)",
    "tf.losses.sigmoid_cross_entropy(unit(3, 4), x(3, 4), label_smoothing=0.3)",
    "tf.losses.softmax_cross_entropy(one_hot(4, 3), x(3, 4), label_smoothing=0.3)",
    "totalled(lambda: tf.losses.get_total_loss(add_regularization_losses=False, name='t'))",
    "totalled(lambda: tf.losses.get_total_loss())",
    "totalled(lambda: tf.losses.get_total_loss(scope='a'))",
    "totalled(lambda: tf.losses.get_regularization_loss(scope=None, name='r'))",
    "totalled(lambda: tf.losses.get_losses(scope='a', loss_collection='losses'))",
    "totalled(lambda: tf.losses.get_regularization_losses(scope='b'))",
    "collected(lambda: tf.losses.add_loss(x(3), loss_collection='mine'), 'mine')",
]

_METRICS = {"accuracy": "ints(3, 5), ints(3, 5)", "auc": "ints(2, 6), unit(6)",
    "false_negatives": "ints(2, 6), ints(2, 6)",
            "false_positives": "ints(2, 6), ints(2, 6)", "true_negatives": "ints(2, 6), ints(2, 6)",
            "true_positives": "ints(2, 6), ints(2, 6)", "mean": "x(4)", "mean_absolute_error": "x(4), x(4)",
            "mean_squared_error": "x(4), x(4)", "root_mean_squared_error": "x(4), x(4)",
            "precision": "ints(2, 6), ints(2, 6)",
            "recall": "ints(2, 6), ints(2, 6)", "percentage_below": "x(4), 0.2"}
_SIZES = {"accuracy": 5, "mean": 4, "mean_absolute_error": 4, "mean_squared_error": 4, "root_mean_squared_error": 4,
    "percentage_below": 4}

METRICS = [
    *(f"measured(lambda: tf.metrics.{name}({data}))" for name, data in _METRICS.items()),
    *(f"measured(lambda: tf.metrics.{name}({data}, weights=positive({_SIZES.get(name, 6)})))" for name,
    data in _METRICS.items()),
    *(f"measured(lambda: tf.metrics.{name}({data}, metrics_collections=['m'], updates_collections=['u'], name='n'), ('m', 'u'))"
      for name, data in _METRICS.items()),
    *(f"measured(lambda: tf.metrics.auc(ints(2, 8), unit(8), {p}))" for p in (
        "num_thresholds=5", "curve='PR'", "summation_method='minoring'", "summation_method='majoring'",
        "thresholds=[0.2, 0.6]",
        "curve='PR', summation_method='careful_interpolation'",
        "num_thresholds=9, summation_method='careful_interpolation'")),
    "measured(lambda: tf.metrics.percentage_below(x(5), threshold=-0.3))",
]

_OPTIMIZERS = {
    "AdadeltaOptimizer": ("learning_rate=0.5", "rho=0.7", "epsilon=0.1"),
    "AdagradOptimizer": ("learning_rate=0.5", "0.5, initial_accumulator_value=0.6"),
    "AdamOptimizer": ("learning_rate=0.5", "beta1=0.5", "beta2=0.7", "epsilon=0.1"),
    "FtrlOptimizer": ("learning_rate=0.5", "0.5, learning_rate_power=-0.3", "0.5, initial_accumulator_value=0.5",
                      "0.5, l1_regularization_strength=0.2", "0.5, l2_regularization_strength=0.2", "0.5, beta=0.4",
                      "0.5, l2_shrinkage_regularization_strength=0.2", "0.5, accum_name='a', linear_name='l'"),
    "GradientDescentOptimizer": ("learning_rate=0.3",), "MomentumOptimizer": ("0.1, momentum=0.7",
    "0.1, 0.9, use_nesterov=True"),
    "ProximalAdagradOptimizer": ("0.5", "0.5, initial_accumulator_value=0.5", "0.5, l1_regularization_strength=0.2",
                                 "0.5, l2_regularization_strength=0.2"),
    "ProximalGradientDescentOptimizer": ("0.3", "0.3, l1_regularization_strength=0.2",
    "0.3, l2_regularization_strength=0.2"),
    "RMSPropOptimizer": ("learning_rate=0.3", "0.1, decay=0.5", "0.1, momentum=0.6", "0.1, epsilon=0.1",
    "0.1, centered=True"),
}
_STEP = "tf.constant(7)"
_RATES = {"cosine_decay": ("0.5, {s}, 10, alpha=0.2", "learning_rate=0.5, global_step={s}, decay_steps=5"),
          "exponential_decay": ("0.5, {s}, 3, 0.5, staircase=True",
          "0.5, {s}, decay_steps=3, decay_rate=0.5, name='e'"),
          "inverse_time_decay": ("0.5, {s}, 3, 0.5, staircase=True",
          "0.5, {s}, decay_steps=3, decay_rate=0.5, name='e'"),
          "natural_exp_decay": ("0.5, {s}, 3, 0.5, staircase=True",
          "0.5, {s}, decay_steps=3, decay_rate=0.5, name='e'"),
          "polynomial_decay": ("0.5, {s}, 10, end_learning_rate=0.1, power=2.0", "0.5, {s}, 3, cycle=True",
          "0.5, {s}, 10, name='p'"),
          "piecewise_constant": ("{s}, boundaries=[3, 9], values=[0.3, 0.2, 0.1], name='p'",)}

TRAINING = [
    *(f"stepped(tf.train.{name}({p}))" for name, ps in _OPTIMIZERS.items() for p in ps),
    *(f"stepped(tf.train.{name}({'0.1, 0.5' if 'Momentum' in name else '0.1'}, use_locking=True, name='o'))"
    for name in _OPTIMIZERS),
    *(f"stepped(tf.train.{name}({'0.1, 0.5' if 'Momentum' in name else '0.1'}), rows=True)" for name in _OPTIMIZERS),
    *(f"stepped(tf.train.GradientDescentOptimizer(0.1), {p})" for p in (
        "grad_loss=tf.constant(2.0)", "gate_gradients=tf.train.Optimizer.GATE_GRAPH",
        "colocate_gradients_with_ops=True", "name='n'")),
    *(f"tf.train.{name}({p.format(s=_STEP)})" for name, ps in _RATES.items() for p in ps),
    *(f"averaged(tf.train.ExponentialMovingAverage({p}))" for p in ("0.5", "0.9, num_updates=2",
    "0.5, zero_debias=True", "decay=0.7, name='e'")),
]

_W = "np.arange(12.0).reshape(2, 3, 2, 1).astype('f') / 12"
NN = [
    *(f"tf.nn.{name}_pool(x(1, 4, 5, 2), ksize={k}, strides={s}, padding='{p}')" for name in ("avg", "max")
      for k, s, p in (([1, 2, 2, 1], [1, 2, 1, 1], "SAME"), ([1, 3, 2, 1], [1, 1, 1, 1], "VALID"), (2, 2, "SAME"))),
    *(f"tf.nn.{name}_pool2d(x(1, 4, 5, 2), ksize=2, strides=1, padding='VALID', name='p')" for name in ("avg", "max")),
    "tf.nn.conv1d(x(1, 6, 2), x(3, 2, 2), stride=2, padding='SAME')",
    "tf.nn.conv1d(input=x(1, 6, 2), filters=x(3, 2, 2), stride=1, padding='VALID')",
    "tf.nn.conv1d(x(1, 6, 2), x(3, 2, 2), 1, 'SAME', dilations=2, use_cudnn_on_gpu=False, name='c')",
    "tf.nn.conv1d(x(1, 6, 2), x(3, 2, 2), 1, 'SAME', data_format='NWC')",
    *(f"tf.nn.conv2d(x(1, 4, 5, 2), x(2, 3, 2, 2), {p})" for p in (
        "strides=[1, 2, 1, 1], padding='SAME'", "strides=1, padding='VALID', dilations=[1, 2, 1, 1]",
        "strides=1, padding='SAME', data_format='NHWC'",
        "strides=1, padding=[[0, 0], [1, 0], [0, 2], [0, 0]]",
        "[1, 1, 1, 1], 'SAME', use_cudnn_on_gpu=False, name='c'")),
    "tf.nn.conv2d(x(1, 4, 5, 2), filters=x(2, 3, 2, 2), strides=1, padding='SAME')",
    *(f"tf.nn.conv2d_transpose({first}, x(2, 3, 2, 2), [1, {h}, {w}, 2], {p})" for first, h, w, p in (
        ("x(1, 2, 3, 2)", 4, 6, "strides=[1, 2, 2, 1], padding='SAME'"), ("value=x(1, 2, 3, 2), filter", 3, 5,
        "strides=1, padding='VALID', name='t'"))
      if "filter" not in first),
    "tf.nn.conv2d_transpose(x(1, 2, 3, 2), x(2, 3, 2, 2), output_shape=[1, 3, 5, 2], strides=1, padding='VALID', data_format='NHWC', name='t')",
    "tf.nn.conv2d_transpose(input=x(1, 2, 3, 2), filters=x(2, 3, 2, 2), output_shape=[1, 3, 5, 2], strides=1, padding='VALID')",
    "tf.nn.crelu(x(2, 3), axis=0, name='c')", "tf.nn.crelu(x(2, 3))",
    "tf.nn.depthwise_conv2d(x(1, 4, 5, 2), x(2, 2, 2, 2), [1, 2, 2, 1], 'SAME')",
    "tf.nn.depthwise_conv2d(x(1, 5, 5, 2), x(2, 2, 2, 1), [1, 1, 1, 1], 'VALID', rate=[2, 2], name='d')",
    "tf.nn.depthwise_conv2d(x(1, 5, 5, 2), x(2, 2, 2, 1), [1, 1, 1, 1], 'SAME', dilations=[2, 1], data_format='NHWC')",
    "tf.nn.dropout(x(4, 5), keep_prob=0.6, seed=3)", "tf.nn.dropout(x(4, 5), rate=0.3, seed=3, name='d')",
    "tf.nn.dropout(x(4, 5), 0.5, noise_shape=[4, 1], seed=3)",
    *(f"tf.nn.embedding_lookup({t}, ints({n}, 2, 3), {p})" for t, n, p in (
        ("x(5, 2)", 5, "max_norm=0.5"), ("x(5, 2)", 5, "name='e', validate_indices=True"), ("[x(3, 2), x(2, 2)]", 5,
        "partition_strategy='mod'"),
        ("[x(3, 2), x(2, 2)]", 5, "partition_strategy='div'"), ("[x(2, 2), x(2, 2)]", 4,
        "partition_strategy='div', max_norm=0.7"))),
    *(f"tf.nn.{name}(x(1, 2, 2, 5), depth_radius=1, bias=0.7, alpha=0.5, beta=0.8, name='l')" for name in ("lrn",
    "local_response_normalization")),
    "tf.nn.log_poisson_loss(positive(2, 3) * 3.0, x(2, 3), compute_full_loss=True)",
    "tf.nn.log_poisson_loss(targets=unit(2, 3), log_input=x(2, 3), compute_full_loss=True)",
    "tf.nn.log_poisson_loss(positive(2, 3), x(2, 3), name='l')",
    *(f"tf.nn.moments(x(2, 3), {p})" for p in ("axes=[1], keep_dims=True", "[0], keepdims=True", "[0, 1], name='m'",
    "[0], shift=tf.constant([0.5, 0.1, 0.2])")),
    "tf.nn.relu_layer(x(2, 3), x(3, 4), x(4), name='r')", "tf.nn.xw_plus_b(x(2, 3), x(3, 4), x(4), name='r')",
    "tf.nn.zero_fraction(tf.nn.relu(x(3, 4)), name='z')",
    "tf.nn.sigmoid_cross_entropy_with_logits(labels=unit(2, 3), logits=x(2, 3), name='s')",
    *(f"tf.nn.{name}(labels=tf.nn.softmax(x(2, 3), axis={a}), logits=x(2, 3), {p}={a}, name='s')" for name in
      ("softmax_cross_entropy_with_logits_v2",) for p, a in (("axis", 0), ("dim", 0), ("axis", 1))),
    "tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax(x(2, 3), axis=0), logits=x(2, 3), dim=0, name='s')",
    "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ints(3, 2), logits=x(2, 3), name='s')",
    "tf.nn.weighted_cross_entropy_with_logits(labels=unit(2, 3), logits=x(2, 3), pos_weight=2.5, name='w')",
    "tf.nn.weighted_cross_entropy_with_logits(targets=unit(2, 3), logits=x(2, 3), pos_weight=0.5)",
]

_SEEDED = "glorot_normal_initializer glorot_uniform_initializer".split()
INITIALIZERS = [
    *(f"tf.{name}(seed=3, dtype=tf.float64)([3, 4])" for name in _SEEDED),
    *(f"tf.initializers.{name}(seed=3)([3, 4])" for name in
                                                                          "he_normal he_uniform lecun_normal lecun_uniform".split()),
    "tf.constant_initializer(2, dtype=tf.int32)([2, 2])", "tf.constant_initializer([1.0, 2.0, 3.0, 4.0])([2, 2])",
    "tf.ones_initializer(dtype=tf.int32)([2])",
    "tf.constant_initializer(1.5, verify_shape=False)([2])",
    "raised(lambda: tf.constant_initializer([1.0, 2.0, 3.0], verify_shape=True)([2, 2]))",
    "tf.constant_initializer([1.0, 2.0], verify_shape=True)([2])",
    "tf.zeros_initializer(dtype=tf.int64)([2])", "tf.initializers.identity(gain=2.0)([2, 3])",
    "tf.initializers.identity(dtype=tf.float64)([2, 2])",
    "tf.random_normal_initializer(mean=1.0, stddev=0.2, seed=3)([3])",
    "tf.random_normal_initializer(seed=3, dtype=tf.float64)([3])",
    "tf.random_uniform_initializer(minval=1.0, maxval=2.0, seed=3)([3])",
    "tf.random_uniform_initializer(1, 9, seed=3, dtype=tf.int32)([3])",
    "tf.truncated_normal_initializer(mean=1.0, stddev=0.2, seed=3)([3])",
    "tf.truncated_normal_initializer(seed=3, dtype=tf.float64)([3])",
    "tf.uniform_unit_scaling_initializer(factor=2.0, seed=3)([3, 2])",
    "tf.uniform_unit_scaling_initializer(seed=3, dtype=tf.float64)([3, 2])",
    *(f"tf.variance_scaling_initializer({p}, seed=3)([3, 4])" for p in ("scale=2.0", "mode='fan_out'",
    "mode='fan_avg'", "distribution='uniform'", "distribution='untruncated_normal'",
                                                                      "dtype=tf.float64")),
]

OTHERS = [
    *(f"tf.{name}(x(3, 4), {p})" for name in ("argmax", "argmin") for p in ("axis=1", "dimension=0",
    "0, output_type=tf.int32", "axis=1, name='a'")),
    *(f"tf.{name}(x(3, 4), {p})" for name in ("arg_max", "arg_min") for p in ("dimension=1",
    "0, output_type=tf.int32, name='a'")),
    "tf.batch_gather(x(2, 3), ints(3, 2, 2), name='g')",
    "given(lambda a: tf.case([(tf.constant(False), lambda: a), (tf.constant(True), lambda: a * 3.0)], "
    "default=lambda: a + 1.0), x(2))",
    "given(lambda a: tf.case([(tf.constant(False), lambda: a)], default=lambda: a * 5.0, exclusive=True, name='c'), x(2))",
    "given(lambda a: tf.case([(tf.constant(True), lambda: [a])], default=lambda: [a * 2.0], strict=True), x(2))",
    "raised(lambda: run(tf.case([(tf.constant(True), lambda: tf.constant(1.0)), (tf.constant(True), "
    "lambda: tf.constant(2.0))], default=lambda: tf.constant(3.0), exclusive=True)))",
    "given(lambda a: tf.cond(tf.constant(True), true_fn=lambda: a, false_fn=lambda: a * 2.0, name='c'), x(2))",
    "given(lambda a: tf.cond(tf.constant(False), fn1=lambda: a, fn2=lambda: a * 2.0), x(2))",
    "given(lambda a: tf.cond(tf.constant(True), lambda: [a], lambda: [a * 2.0], strict=True), x(2))",
    "tf.constant([1, 2], dtype=tf.float32, shape=[2], name='c')", "tf.constant(3.0, shape=[2, 2])",
    "tf.constant([1.0, 2.0], shape=[3])", "raised(lambda: tf.constant([1.0, 2.0], shape=[3], verify_shape=True))",
    "tf.constant([1.0, 2.0], shape=[2], verify_shape=True)",
    "tf.convert_to_tensor([1, 2], dtype=tf.float64, name='c')",
    "tf.convert_to_tensor([1, 2], preferred_dtype=tf.float32)", "tf.convert_to_tensor([1, 2], dtype_hint=tf.float32)",
    "tf.convert_to_tensor([1.5], preferred_dtype=tf.int32)", "tf.div(ints(9, 3), 2, name='d')",
    "tf.div(x(3), positive(3))", "tf.div_no_nan(x(3), tf.constant([0.0, 1.0, 2.0]), name='d')",
    "tf.squeeze(x(1, 3, 1))", "tf.squeeze(x(1, 3, 1), axis=[2])", "tf.squeeze(x(1, 3, 1), squeeze_dims=0, name='s')",
    "tf.expand_dims(x(2, 3), axis=1)", "tf.expand_dims(x(2, 3), dim=0, name='e')",
    "tf.gather(x(3, 4), ints(4, 2), axis=1, name='g')", "tf.gather(x(3, 4), ints(3, 2), validate_indices=True)",
    "tf.gather(x(2, 3), ints(3, 2, 2), axis=1, batch_dims=1)",
    "tf.foldl(lambda a, b: a + b, x(3, 2), initializer=x(2), parallel_iterations=2, back_prop=True, swap_memory=True, name='f')",
    "tf.foldr(lambda a, b: a * 2.0 + b, x(3, 2), initializer=x(2))",
    "tf.map_fn(lambda a: a * a, x(3, 2), parallel_iterations=2, infer_shape=True, name='m')",
    "tf.map_fn(lambda a: tf.cast(a, tf.float64), x(3), dtype=tf.float64)",
    "tf.map_fn(lambda a: a * 2.0, x(3), back_prop=False)",
    "tf.scan(lambda a, b: a + b, x(3, 2), initializer=x(2), reverse=True)",
    "tf.scan(lambda a, b: a * b, x(4), infer_shape=True, name='s')",
    "tf.foldl(lambda a, b: a * b, x(4), back_prop=False)", "tf.scan(lambda a, b: a * b, x(4), back_prop=False)",
    *(f"tf.norm(x(3, 4), {p})" for p in ("ord=1, axis=1", "ord=np.inf, axis=0, keepdims=True",
    "axis=[0, 1], keep_dims=True", "ord='fro', axis=(0, 1), name='n'", "ord=2.5")),
    "tf.random_uniform([4], minval=1.0, maxval=2.0, seed=3, name='r')",
    "tf.random_uniform([4], 1, 9, dtype=tf.int32, seed=3)", "tf.random_uniform([4], dtype=tf.float64, seed=3)",
    "tf.multinomial(tf.math.log([[0.2, 0.8]]), 6, seed=3)",
    "tf.multinomial(tf.math.log([[0.2, 0.8]]), num_samples=6, seed=3, output_dtype=tf.int32, name='m')",
    "tf.random.categorical(tf.math.log([[0.2, 0.8]]), 6, dtype=tf.int32, seed=3)",
    "tf.shape(x(2, 3), out_type=tf.int64, name='s')", "tf.size(x(2, 3), out_type=tf.int64)",
    *(f"tf.to_{name}(tf.constant([1.7, 2.0]), name='t')" for name in ("double", "float", "int32", "int64",
    "complex64", "complex128")),
    "tf.tuple([x(2), x(3)], name='t')", "tf.where(mask(2, 3), x(2, 3), x(2, 3), name='w')",
    "tf.where(condition=mask(2, 3))", "tf.where(mask(2), x(2, 3), x(2, 3))",
    *(f"tf.while_loop(lambda i, a: i < 5, lambda i, a: [i + 1, a * 1.5], [tf.constant(0), tf.constant([0.5, -0.25])], {p})" for p in (
        "maximum_iterations=3", "parallel_iterations=1, swap_memory=True, name='w'",
        "back_prop=True, return_same_structure=True", "maximum_iterations=0")),
    "tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a, a], 0)), [tf.constant(0), x(1)], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])[1][:2]",
    "tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)], return_same_structure=True)",
    "tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])",
    "differentiated(lambda v: tf.gradients(v * v, v, grad_ys=tf.constant([2.0, 3.0]), name='g'))",
    "differentiated(lambda v: tf.gradients([v * v, v], v, gate_gradients=True))",
    "differentiated(lambda v: tf.gradients(v * 2.0 + stop(v), v, aggregation_method=tf.AggregationMethod.ADD_N))",
    "differentiated(lambda v: tf.gradients(tf.constant(1.0), v, unconnected_gradients=tf.UnconnectedGradients.ZERO))",
    "differentiated(lambda v: tf.hessians(tf.reduce_sum(v ** 3), v, name='h'))",
    "differentiated(lambda v: tf.hessians(tf.reduce_sum(v ** 3), v, gate_gradients=True, colocate_gradients_with_ops=True))",
    *(f"changed(lambda v: tf.{name}(v, [5.0, 6.0], {p}))" for name in ("assign", "assign_add", "assign_sub")
    for p in ("use_locking=True", "name='a'")),
    "changed(lambda v: tf.assign(v, [5.0, 6.0], validate_shape=True))",
    *(f"changed(lambda v: v.{name}([5.0, 6.0], use_locking=True, name='a', read_value=False))" for name in
                                                                       ("assign", "assign_add", "assign_sub")),
    *(f"changed(lambda v: tf.scatter_{name}(v, [1], [5.0], use_locking=True, name='s'))" for name in ("add", "sub",
    "update")),

    *(f"declared(lambda: tf.Variable([1.0, 2.0], {p}))" for p in ("trainable=False", "collections=['mine']",
    "name='n'", "dtype=tf.float64", "constraint=tf.nn.relu", "use_resource=True",
                                                                "validate_shape=True", "expected_shape=[2]",
                                                                "shape=[2]")),
    *(f"declared(lambda: tf.get_variable('n', {p}))" for p in (
        "[2], initializer=tf.ones_initializer()", "shape=[2], dtype=tf.float64, initializer=tf.zeros_initializer()",
        "[2], trainable=False, initializer=tf.ones_initializer()",
        "[2], collections=['mine'], initializer=tf.ones_initializer()",
        "[2], use_resource=True, initializer=tf.ones_initializer()", "initializer=tf.constant([3.0, 4.0])",
        "[2], regularizer=lambda v: tf.reduce_sum(v) * 0.5, initializer=tf.ones_initializer()",
        "[2], constraint=tf.nn.relu, initializer=tf.ones_initializer()",
        "[2], validate_shape=True, initializer=tf.ones_initializer()",
        "[2], custom_getter=lambda getter, *a, **k: getter(*a, **k) * 2.0, initializer=tf.ones_initializer()")),
    *(f"scoped(lambda: tf.variable_scope({p}))" for p in ("'s', initializer=tf.ones_initializer()",
    "'s', regularizer=lambda v: tf.reduce_sum(v) * 0.5, initializer=tf.ones_initializer()",
                                                        "'s', dtype=tf.float64, initializer=tf.ones_initializer()",
                                                        "'s', use_resource=True, initializer=tf.ones_initializer()",
                                                        "None, default_name='d', initializer=tf.ones_initializer()",
                                                        "'s', auxiliary_name_scope=False, initializer=tf.ones_initializer()",
                                                        "'s', reuse=tf.AUTO_REUSE, initializer=tf.ones_initializer()",
                                                        "'s', constraint=tf.nn.relu, initializer=tf.ones_initializer()",
                                                        "'s', values=[], initializer=tf.ones_initializer()",
                                                        "'s', custom_getter=lambda getter, *a, **k: getter(*a, **k) * 2.0, initializer=tf.ones_initializer()")),
    *(f"raised(lambda: run(tf.{text}))" for text in (
        "assert_equal(x(2), x(2), data=['d'], summarize=2, message='m', name='a')",
        "assert_equal([1], [1], message='m')", "assert_greater([1], [2], message='m')",
        "assert_less([1], [2], name='a')",
        "assert_greater_equal([1, 2], [1, 3])", "assert_less_equal([1, 2], [1, 3], message='m')",
        "assert_positive([1.0, -1.0], message='m')", "assert_positive([1.0], data=['d'], summarize=1)",
        "assert_rank(x(2, 3), 2, message='m')", "check_numerics(x(2) / 0.0, message='m', name='c')",
        "check_numerics(x(2), 'm')", "Assert(tf.constant(False), ['d'], summarize=1, name='a')",
        "Assert(tf.constant(True), ['d'])")),
    "raised(lambda: tf.assert_rank(x(2, 3), 1, data=['d'], message='m', name='a', summarize=1))",
    "tf.placeholder_with_default(tf.constant([1.0, 2.0]), shape=[2], name='p')",
    "tf.placeholder_with_default(tf.constant([1.0, 2.0]), shape=[None])",
    "raised(lambda: tf.placeholder_with_default(tf.constant([1.0, 2.0]), shape=[3]))",
    "tf.identity(x(2), name='i')",
    "tf.py_func(lambda a: a * 2, [tf.constant([1.0])], tf.float32, stateful=False, name='p')",
    "tf.py_func(lambda a: a * 2, [tf.constant([1.0])], [tf.float32], stateful=True)",
    "tf.numpy_function(lambda a: a * 2, [tf.constant([1.0])], tf.float32, name='p')",
    "tf.py_function(lambda a: a * 2, [tf.constant([1.0])], tf.float32, name='p')",
]

VALUES = [*LOSSES, *METRICS, *TRAINING, *NN, *INITIALIZERS, *OTHERS]

_SHAPES = "refused: shapes that depend on values are not known in a graph"
DIFFERENT = {
    **{text: "TensorFlow forgets the dtype of glorot initializers; ours uses it" for text in VALUES
       if "glorot" in text and "float64" in text},
    **{text: _SHAPES for text in VALUES if "shape_invariants" in text},
    **{text: "an op that a getter adds has a name without the scope in TensorFlow" for text in VALUES
       if text.startswith("scoped(") and "custom_getter" in text},
}


class Inputs:
    """Constants of a graph, the same everywhere; those that are differentiated are remembered."""

    def __init__(self, text, tf):
        self._random, self._tf, self.given = np.random.RandomState(sum(map(ord, text)) % 1000), tf, []

    def _known(self, array):
        tensor = self._tf.constant(array.astype("float32"))
        self.given.append(tensor)
        return tensor

    def x(self, *shape):
        return self._known(self._random.uniform(-1, 1, shape))

    def positive(self, *shape):
        return self._known(self._random.uniform(0.5, 1.5, shape))

    def unit(self, *shape):
        return self._known(self._random.uniform(0.05, 0.95, shape))

    def ints(self, below, *shape):
        return self._tf.constant(self._random.randint(0, below, shape).astype("int32"))

    def mask(self, *shape):
        return self._tf.constant(self._random.rand(*shape) < 0.6)

    def one_hot(self, n, *shape):
        return np.eye(n, dtype="float32")[self._random.randint(0, n, shape)]


def bound(tf):
    """What the cases call, besides tf."""
    def run(*fetches, times=1):
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            return [session.run(list(fetches)) for _ in range(times)][-1]

    def raised(function):
        try:
            function()
        except Exception as error:  # noqa: BLE001
            return type(error).__name__
        return "nothing"

    def collected(make, key):
        make()
        return list(tf.get_collection(key)) + [len(tf.get_collection(tf.GraphKeys.LOSSES))]

    def totalled(make):
        with tf.name_scope("a"):
            tf.losses.mean_squared_error([1.0, 2.0], [3.0, 3.0])
        with tf.name_scope("b"):
            tf.losses.absolute_difference([1.0], [3.0])
            tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(7.0, name="r"))
        return make()

    def measured(make, collections=()):
        value, update = make()
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            found = [session.run(value)] + [session.run(part) for part in (update, value, update, value)]
        return found + [len(tf.get_collection(c)) for c in collections]

    def stepped(optimizer, rows=False, **options):
        a, b = tf.Variable([[1.0, -2.0], [0.5, 3.0], [-1.5, 0.25]]), tf.Variable([0.5, -0.25])
        table = tf.gather(a, [0, 2, 0]) if rows else a
        loss = tf.reduce_sum(tf.sin(table)) + tf.reduce_sum(table * b) ** 2
        step = optimizer.minimize(loss, **options)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found = []
            for _ in range(3):
                session.run(step)
                found += session.run([a, b])
            return found + [v for name in sorted(optimizer.get_slot_names())
                for v in session.run([optimizer.get_slot(a, name)])]

    def averaged(average):
        v = tf.Variable([1.0, 2.0])
        keep = average.apply([v])
        change = tf.assign_add(v, [3.0, -1.0])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found = []
            for _ in range(3):
                session.run(change)
                session.run(keep)
                found.append(session.run(average.average(v)))
            return found

    def differentiated(make):
        v = tf.Variable([1.0, 2.0])
        return make(v)

    def given(function, *args):
        return function(*args)

    def stop(v):
        return tf.stop_gradient(v * v)

    def changed(make):
        v = tf.Variable([1.0, 2.0])
        operation = make(v)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(operation)
            return session.run(v)

    def declared(make):
        v = make()
        keys = ("mine", tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.TRAINABLE_VARIABLES,
            tf.GraphKeys.REGULARIZATION_LOSSES)
        counts = [len(tf.get_collection(k)) for k in keys]
        with tf.Session() as session:
            session.run([tf.variables_initializer(tf.get_collection("mine")), tf.global_variables_initializer()])
            value = session.run(v)
        return [v.name.split(":")[0], v.dtype.base_dtype.name, value, *counts, getattr(v, "constraint",
            None) is not None]

    def scoped(scope):
        found = []
        with scope():
            v = tf.get_variable("v", [2])
            found += [v.name, v.dtype.base_dtype.name, (v + 1.0 if v.dtype.base_dtype.name == "float32" else v).name]
        return found + [v, len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)), getattr(v, "constraint",
            None) is not None]

    return {k: v for k, v in locals().items() if k != "tf"}


def leaves(value):
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, (list, tuple)) else [value]


def plain(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    array = np.asarray(value)
    if array.dtype.kind == "c":
        return [array.dtype.name, array.real.tolist(), array.imag.tolist()]
    return [array.dtype.name, array.tolist()] if array.dtype.kind in "biuf" else [str(v)
        for v in array.ravel().tolist()]


def answer(text, tf):
    """{"values": [...], "gradients": [...]} of a text, or {"error": ...}."""
    tf.reset_default_graph()
    tf.set_random_seed(5)
    inputs = Inputs(text, tf)
    makers = {n: getattr(inputs, n) for n in ("x", "positive", "unit", "ints", "mask", "one_hot")}
    try:
        values = leaves(eval(text, {"tf": tf, "np": np, **makers, **bound(tf)}))  # noqa: S307
        is_graphs = [hasattr(v, "graph") for v in values]
        floats = [v for v, g in zip(values, is_graphs) if g and getattr(v, "dtype", None) is not None
        and v.dtype.base_dtype.is_floating]
        loss = None
        if floats and inputs.given:
            loss = tf.add_n([tf.reduce_sum(tf.cast(v, tf.float64) * 0.5) for v in floats])
        gradients = [] if loss is None else tf.gradients(loss, inputs.given)
        wanted = [tf.convert_to_tensor(g) for g in gradients if g is not None]
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            found = iter(session.run([v for v, g in zip(values, is_graphs) if g] + wanted))
            values = [plain(next(found)) if g else plain(v) for v, g in zip(values, is_graphs)]
            gradients = [0.0 if g is None else np.asarray(next(found)).tolist() for g in gradients]
        return {"values": values, "gradients": [0.0 if not np.any(g) else g for g in gradients]}
    except Exception as error:  # noqa: BLE001
        return {"error": f"{type(error).__name__}: {error}"}
