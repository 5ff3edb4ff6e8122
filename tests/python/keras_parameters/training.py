"""Losses, metrics, optimizers, schedules, initializers, regularizers, constraints, activations, random numbers,
callbacks: every parameter with values that are not its default."""

_REDUCTIONS = "'sum' 'none' 'mean' 'mean_with_sample_weight' None".split()
_PLAIN_LOSSES = ("CategoricalHinge Hinge KLDivergence LogCosh MeanAbsoluteError MeanAbsolutePercentageError "
                 "MeanSquaredError MeanSquaredLogarithmicError Poisson SquaredHinge").split()
_CLASS_LOSSES = "BinaryCrossentropy BinaryFocalCrossentropy CategoricalCrossentropy CategoricalFocalCrossentropy".split()
_ALL_LOSSES = [*_PLAIN_LOSSES, *_CLASS_LOSSES, "CosineSimilarity", "Huber", "Dice", "Tversky"]

LOSSES = [
    *(f"losses.{name}(reduction={r})(unit(3, 4), unit(3, 4))" for name in _ALL_LOSSES for r in _REDUCTIONS[:2]),
    *(f"losses.MeanSquaredError(reduction={r})(x(3, 4), x(3, 4), sample_weight=positive(3))" for r in _REDUCTIONS),
    *(f"losses.CategoricalCrossentropy(reduction={r})(unit(3, 4), unit(3, 4), sample_weight=positive(3, 1))"
      for r in _REDUCTIONS),
    *(f"losses.{name}()(unit(3, 4), unit(3, 4), sample_weight=positive(3))" for name in _ALL_LOSSES
      if name not in ("Dice", "Tversky")),
    *(f"losses.{name}(name='other', dtype='float64')(unit(2, 4), unit(2, 4))" for name in _ALL_LOSSES),
    *(f"losses.{name}(from_logits=True)(ops.softmax(x(3, 4)), x(3, 4) * 3)" for name in _CLASS_LOSSES),
    *(f"losses.{name}(label_smoothing=0.3)(unit(3, 4), unit(3, 4))" for name in _CLASS_LOSSES),
    *(f"losses.{name}(axis=1)(unit(3, 4, 2), unit(3, 4, 2))" for name in [*_CLASS_LOSSES, "CosineSimilarity"]),
    *(f"losses.{name}(axis=1, from_logits=True, label_smoothing=0.1)(ops.softmax(x(3, 4, 2), axis=1), x(3, 4, 2))"
    for name in _CLASS_LOSSES),
    "losses.BinaryFocalCrossentropy(apply_class_balancing=True, alpha=0.7)(unit(3, 4), unit(3, 4))",
    "losses.BinaryFocalCrossentropy(gamma=3.0)(unit(3, 4), unit(3, 4))",
    "losses.CategoricalFocalCrossentropy(alpha=0.6, gamma=1.0)(unit(3, 4), unit(3, 4))",
    "losses.CategoricalFocalCrossentropy(alpha=[0.1, 0.2, 0.3, 0.4])(unit(3, 4), unit(3, 4))",
    "losses.CategoricalGeneralizedCrossEntropy(q=0.3)(ints(4, 3), unit(3, 4))",
    *(f"losses.CategoricalGeneralizedCrossEntropy(reduction={r})(ints(4, 3), unit(3, 4))" for r in _REDUCTIONS[:2]),
    "losses.CategoricalGeneralizedCrossEntropy(name='q', dtype='float64')(ints(4, 3), unit(3, 4))",
    *(f"losses.Circle({p})(np.array([0, 1, 0, 2, 1, 0]), ops.normalize(x(6, 3)))" for p in (
        "", "gamma=2.0", "margin=0.1", "remove_diagonal=False", "gamma=4.0, margin=0.25, remove_diagonal=False",
        "reduction='sum', gamma=1.0", "reduction='none'", "name='c', dtype='float64'")),
    "losses.Circle(gamma=2.0)(np.array([0, 1, 0, 2, 1, 0]), ops.normalize(x(6, 3)), sample_weight=positive(6))",
    "losses.Circle(gamma=2.0)(np.array([[0], [1], [0], [2]]), ops.normalize(x(4, 3)))",
    "losses.Circle(gamma=1.0)(np.array([0, 0, 0, 0]), ops.normalize(x(4, 3)))",
    "losses.Circle(gamma=1.0)(np.array([0, 1, 2, 3]), ops.normalize(x(4, 3)))",
    "losses.CosineSimilarity(axis=0)(x(3, 4), x(3, 4))", "losses.Huber(delta=0.3)(x(3, 4), x(3, 4))",
    "losses.Dice(axis=(1, 2))(unit(2, 3, 2), unit(2, 3, 2))",
    "losses.Dice(axis=1, reduction='none')(unit(2, 3), unit(2, 3))",
    "losses.Tversky(alpha=0.2, beta=0.9)(unit(2, 3), unit(2, 3))", "losses.Tversky(axis=(1,))(unit(2, 3), unit(2, 3))",
    *(f"losses.SparseCategoricalCrossentropy({p})(ints(4, 3), unit(3, 4))" for p in (
        "", "reduction='sum'", "reduction='none'", "ignore_class=2", "name='s', dtype='float64'",
        "ignore_class=2, reduction='none'",
        "from_logits=True")),
    *(f"losses.{name}(reduction={r})(unit(3, 3, 4), unit(3, 3, 4), sample_weight=positive({w}))" for name in (
        "MeanSquaredError", "CategoricalCrossentropy") for r in _REDUCTIONS for w in ("3", "3, 1", "1, 3", "3, 3, 1")),
    "losses.SparseCategoricalCrossentropy(ignore_class=-1)(np.array([0, -1, 2]), unit(3, 4))",
    "losses.SparseCategoricalCrossentropy(ignore_class=0)(ints(3, 2, 5), unit(2, 5, 3), sample_weight=positive(2, 5))",
    "raised(lambda: losses.SparseCategoricalCrossentropy(axis=1)(ints(4, 3, 2), unit(3, 4, 2)))",
    "raised(lambda: losses.SparseCategoricalCrossentropy(axis=1, from_logits=True)(ints(4, 3, 2), x(3, 4, 2)))",
    "raised(lambda: losses.SparseCategoricalCrossentropy(axis=0, reduction='none')(ints(3, 2), unit(3, 2)))",
    "losses.SparseCategoricalCrossentropy(axis=2)(ints(2, 3, 2), unit(3, 2, 2))",
    *(f"losses.CTC({p})(np.array([[1, 2, 0], [2, 2, 1]]), x(2, 7, 4))" for p in ("", "reduction='sum'",
    "reduction='none'",
                                                                              "name='c', dtype='float64'")),
    "losses.CTC()(np.array([[1, 0, 2], [2, 1, 0]]), x(2, 7, 4))",
    "losses.ctc(np.array([[1, 0, 2], [2, 1, 0]]), x(2, 7, 4))",
    "losses.CTC(reduction='none')(np.array([[0, 1, 0, 3], [0, 0, 0, 0]]), x(2, 7, 4))",
    "losses.CTC()(np.array([[1, 2, 3]]), x(1, 6, 5))",
    *(f"losses.{name}({data})" for name in ("categorical_hinge", "hinge", "kl_divergence", "log_cosh",
    "mean_absolute_error",
                                          "mean_absolute_percentage_error", "mean_squared_error", "poisson",
                                          "mean_squared_logarithmic_error", "squared_hinge", "cosine_similarity",
                                          "huber")
      for data in ("unit(2, 3, 4), unit(2, 3, 4)", "ints(3, 2, 4), unit(2, 4)")),
    *(f"losses.{name}(ops.softmax(x(3, 4, 2), axis={axis}), {data}, from_logits={logits}, label_smoothing={s}, axis={axis})"
      for name in ("binary_crossentropy", "categorical_crossentropy", "binary_focal_crossentropy",
                   "categorical_focal_crossentropy")
      for data, logits, s, axis in (("unit(3, 4, 2)", False, 0.2, 1), ("x(3, 4, 2)", True, 0.0, 1),
                                    ("x(3, 4, 2)", True, 0.1, -1))),
    "losses.binary_focal_crossentropy(unit(3, 4), unit(3, 4), apply_class_balancing=True, alpha=0.6, gamma=1.5)",
    "losses.categorical_focal_crossentropy(unit(3, 4), unit(3, 4), alpha=0.6, gamma=1.5)",
    "losses.categorical_generalized_cross_entropy(ints(4, 3), unit(3, 4), q=0.4)",
    "losses.huber(x(3), x(3), delta=0.2)",
    "losses.circle(np.array([0, 1, 0]), ops.normalize(x(3, 2)), gamma=2, margin=0.2, remove_diagonal=False)",
    "losses.circle(np.array([0, 1, 0]), ops.normalize(x(3, 2)), ref_labels=np.array([0, 1, 1, 2]), "
    "ref_embeddings=ops.normalize(x(4, 2)), remove_diagonal=False, gamma=3)",
    "losses.circle(np.array([0, 1, 0, 1]), ops.normalize(x(4, 2)), ref_labels=np.array([0, 1, 1, 2]), "
    "ref_embeddings=ops.normalize(x(4, 2)), gamma=3)",
    "losses.cosine_similarity(x(3, 4), x(3, 4), axis=0)", "losses.dice(unit(2, 3), unit(2, 3), axis=1)",
    "losses.tversky(unit(2, 3), unit(2, 3), alpha=0.3, beta=0.8, axis=1)", "losses.dice(unit(2, 3), unit(2, 3))",
    "losses.sparse_categorical_crossentropy(ints(4, 3), x(3, 4), from_logits=True, ignore_class=1)",
    "raised(lambda: losses.sparse_categorical_crossentropy(ints(4, 3, 2), unit(3, 4, 2), axis=1))",
    "losses.get('mse')(x(2, 3), x(2, 3))",
    "losses.get({'class_name': 'Huber', 'config': {'delta': 0.2}})(x(2, 3), x(2, 3))",
    "losses.deserialize({'class_name': 'Huber', 'config': {'delta': 0.2, 'name': 'h', 'reduction': 'sum'}})(x(3), x(3))",
    "losses.deserialize('one', custom_objects={'one': lambda y, p: y + p})(x(3), x(3))",
    "losses.serialize(losses.Huber(delta=0.5))['config']",
]

_PAIR = "(ints(2, 6), unit(6)), (ints(2, 6), unit(6), positive(6))"
_CLASSES = "(one_hot(3, 5), unit(5, 3)), (one_hot(3, 5), unit(5, 3), positive(5))"
_SPARSE = "(ints(3, 5), unit(5, 3)), (ints(3, 5), unit(5, 3), positive(5))"
_REALS = "(unit(5, 3), unit(5, 3)), (unit(5, 3), unit(5, 3), positive(5))"
_THRESHOLDED = "Precision Recall".split()
_COUNTED = "FalseNegatives FalsePositives TrueNegatives TruePositives".split()

METRICS = [
    *(f"updated(metrics.AUC({p}), {_PAIR})" for p in (
        "num_thresholds=5", "curve='PR'", "summation_method='minoring'", "summation_method='majoring'",
        "thresholds=[0.3, 0.6]", "name='a', dtype='float64'", "curve='PR', summation_method='majoring'",
        "from_logits=True",
        "curve='PR', summation_method='minoring', num_thresholds=7")),
    *(f"updated(metrics.AUC({p}), (one_hot(3, 5), unit(5, 3)), (one_hot(3, 5), unit(5, 3)))" for p in (
        "multi_label=True", "multi_label=True, num_labels=3, label_weights=[0.2, 0.5, 0.3]",
        "multi_label=True, curve='PR'")),
    "updated(metrics.AUC(multi_label=True, num_labels=3), (one_hot(3, 5), unit(5, 3), positive(5, 1)))",
    "updated(metrics.AUC(from_logits=True), (ints(2, 6), x(6) * 3))",
    *(f"updated(metrics.Accuracy({p}), (ints(3, 5), ints(3, 5)), (ints(3, 5), ints(3, 5), positive(5)))"
      for p in ("", "name='a', dtype='float64'")),
    *(f"updated(metrics.BinaryAccuracy({p}), {_PAIR})" for p in ("threshold=0.3", "name='a', dtype='float64'")),
    *(f"updated(metrics.BinaryCrossentropy({p}), {_REALS})" for p in ("", "from_logits=True", "label_smoothing=0.2",
                                                                    "name='a', dtype='float64'")),
    *(f"updated(metrics.BinaryIoU({p}), {_PAIR})" for p in ("target_class_ids=(1,)", "threshold=0.3",
    "name='a', dtype='float64'",
                                                          "target_class_ids=[0]")),
    *(f"updated(metrics.{name}({p}), {_CLASSES})" for name in ("CategoricalAccuracy", "CategoricalHinge",
    "KLDivergence",
                                                             "Hinge", "SquaredHinge", "LogCoshError", "Poisson",
                                                             "MeanAbsoluteError", "MeanAbsolutePercentageError",
                                                             "MeanSquaredError", "MeanSquaredLogarithmicError",
                                                             "RootMeanSquaredError")
      for p in ("", "name='a', dtype='float64'")),
    *(f"updated(metrics.CategoricalCrossentropy({p}), {_CLASSES})" for p in (
        "", "from_logits=True", "label_smoothing=0.2", "name='a', dtype='float64'")),
    "updated(metrics.CategoricalCrossentropy(axis=0), (ops.softmax(x(5, 3), axis=0), unit(5, 3)))",
    *(f"updated(metrics.{name}({p}), {_REALS})" for name in ("ConcordanceCorrelation", "PearsonCorrelation",
    "CosineSimilarity")
      for p in ("", "axis=0", "name='a', dtype='float64'") if not (name != "CosineSimilarity" and p == "axis=0")
      and p != "axis=0"),
    *(f"updated(metrics.{name}(axis=0), (unit(5, 3), unit(5, 3)))" for name in ("ConcordanceCorrelation",
    "PearsonCorrelation",
                                                                                        "CosineSimilarity")),
    *(f"updated(metrics.{name}({p}), (one_hot(3, 6), unit(6, 3)), (one_hot(3, 6), unit(6, 3), positive(6)))"
      for name in ("F1Score", "FBetaScore") for p in ("average='micro'", "average='macro'", "average='weighted'",
      "average=None",
                                                    "threshold=0.5", "name='a', dtype='float64'")),
    "updated(metrics.FBetaScore(beta=2.0, average='macro'), (one_hot(3, 6), unit(6, 3)))",
    *(f"updated(metrics.{name}({p}), {_PAIR})" for name in _COUNTED for p in ("thresholds=0.3", "thresholds=[0.2, 0.7]",
                                                                           "name='a', dtype='float64'")),
    *(f"updated(metrics.{name}({p}), {_PAIR})" for name in _THRESHOLDED for p in ("thresholds=0.3",
    "thresholds=[0.2, 0.7]",
                                                                               "name='a', dtype='float64'")),
    *(f"updated(metrics.{name}({p}), {_CLASSES})" for name in _THRESHOLDED for p in ("top_k=2", "class_id=1",
    "top_k=1, class_id=2",
                                                                                  "thresholds=0.4, class_id=0")),
    *(f"updated(metrics.{name}(0.5, {p}), {_PAIR})" for name in ("PrecisionAtRecall", "RecallAtPrecision",
                                                                "SensitivityAtSpecificity", "SpecificityAtSensitivity")
      for p in ("", "num_thresholds=6", "name='a', dtype='float64'")),
    *(f"updated(metrics.{name}(0.6, class_id=1), {_CLASSES})" for name in ("PrecisionAtRecall", "RecallAtPrecision",
                                                                          "SensitivityAtSpecificity",
                                                                          "SpecificityAtSensitivity")),
    *(f"updated(metrics.PrecisionAtRecall(recall={v}), {_PAIR})" for v in (0.2, 0.9)),
    "updated(metrics.RecallAtPrecision(precision=0.2), " + _PAIR + ")",
    "updated(metrics.SensitivityAtSpecificity(specificity=0.2), "
    + _PAIR + ")", "updated(metrics.SpecificityAtSensitivity(sensitivity=0.2), " + _PAIR + ")",
    *(f"updated(metrics.IoU(num_classes=3, target_class_ids=[0, 2], {p}), (ints(3, 6), ints(3, 6)), "
      "(ints(3, 6), ints(3, 6), positive(6)))" for p in ("", "ignore_class=1", "name='a', dtype='float64'",
      "ignore_class=0")),
    *(f"updated(metrics.IoU(num_classes=3, target_class_ids=[0, 2], sparse_y_true={t}, sparse_y_pred={p}, axis={a}), ({y}, {q}))"
      for t, p, a, y, q in ((False, True, -1, "one_hot(3, 6)", "ints(3, 6)"), (True, False, -1, "ints(3, 6)",
      "unit(6, 3)"),
                            (False, False, 0, "np.transpose(one_hot(3, 6))", "unit(3, 6)"))),
    *(f"updated(metrics.MeanIoU(num_classes=3, {p}), (ints(3, 6), ints(3, 6)), (ints(3, 6), ints(3, 6), positive(6)))"
      for p in ("", "ignore_class=1", "name='a', dtype='float64'")),
    *(f"updated(metrics.MeanIoU(num_classes=3, sparse_y_true={t}, sparse_y_pred={p}, axis={a}), ({y}, {q}))"
      for t, p, a, y, q in ((False, True, -1, "one_hot(3, 6)", "ints(3, 6)"), (True, False, -1, "ints(3, 6)",
      "unit(6, 3)"),
                            (False, False, 0, "np.transpose(one_hot(3, 6))", "unit(3, 6)"))),
    *(f"updated(metrics.OneHotIoU(num_classes=3, target_class_ids=[1], {p}), ({y}, {q}))" for p, y, q in (
        ("", "one_hot(3, 6)", "unit(6, 3)"), ("ignore_class=0", "one_hot(3, 6)", "unit(6, 3)"),
        ("sparse_y_pred=True", "one_hot(3, 6)", "ints(3, 6)"), ("axis=0", "np.transpose(one_hot(3, 6))", "unit(3, 6)"),
        ("name='a', dtype='float64'", "one_hot(3, 6)", "unit(6, 3)"))),
    *(f"updated(metrics.OneHotMeanIoU(num_classes=3, {p}), ({y}, {q}))" for p, y, q in (
        ("", "one_hot(3, 6)", "unit(6, 3)"), ("ignore_class=0", "one_hot(3, 6)", "unit(6, 3)"),
        ("sparse_y_pred=True", "one_hot(3, 6)", "ints(3, 6)"), ("axis=0", "np.transpose(one_hot(3, 6))", "unit(3, 6)"),
        ("name='a', dtype='float64'", "one_hot(3, 6)", "unit(6, 3)"))),
    *(f"updated(metrics.{name}(dtype='float64', name='m'), x(4), (x(4), positive(4)))" for name in ("Mean", "Sum")),
    *(f"updated(metrics.{name}(), x(4), (x(2, 3), positive(2)), (x(3), mask(3)))" for name in ("Mean", "Sum")),
    "updated(metrics.MeanMetricWrapper(lambda y, p: y * p, name='w', dtype='float64'), (x(4), x(4)), (x(4), x(4), positive(4)))",
    "updated(metrics.MeanMetricWrapper(fn=lambda y, p, scale: y * p * scale, scale=3.0), (x(4), x(4)))",
    *(f"updated(metrics.R2Score({p}), (x(6, 2), x(6, 2)), (x(6, 2), x(6, 2), positive(6)))" for p in (
        "", "class_aggregation=None", "class_aggregation='variance_weighted_average'", "num_regressors=2",
        "name='a', dtype='float64'")),
    *(f"updated(metrics.SparseCategoricalAccuracy({p}), {_SPARSE})" for p in ("", "name='a', dtype='float64'")),
    *(f"updated(metrics.SparseCategoricalCrossentropy({p}), {_SPARSE})" for p in ("", "from_logits=True",
    "ignore_class=1",
                                                                               "name='a', dtype='float64'")),
    "updated(metrics.SparseCategoricalCrossentropy(axis=2), (ints(2, 3, 4), unit(3, 4, 2)))",
    *(f"updated(metrics.SparseTopKCategoricalAccuracy({p}), {_SPARSE})" for p in ("k=2",
    "k=1, name='a', dtype='float64'")),
    "updated(metrics.SparseTopKCategoricalAccuracy(k=2, from_sorted_ids=True), (ints(3, 5), np.array([[0, 1, 2]] * 5)))",
    *(f"updated(metrics.TopKCategoricalAccuracy({p}), {_CLASSES})" for p in ("k=2", "k=1, name='a', dtype='float64'")),
    *(f"updated(metrics.{name}(), (unit({s}), unit({s}), positive({w})))" for name in (
        "MeanSquaredError", "BinaryCrossentropy", "CategoricalAccuracy", "CosineSimilarity")
      for s, w in (("3, 4", "1"), ("3, 3, 4", "3"), ("2, 3, 4", "2"), ("3, 3, 4", "3, 1"), ("2, 3, 4", "1, 3"))),
    "updated(metrics.Mean(), (x(3, 3), positive(1, 3)), (x(3), positive(1)))",
    "metrics.binary_accuracy(ints(2, 6), unit(6), threshold=0.3)",
    "metrics.top_k_categorical_accuracy(one_hot(4, 5), unit(5, 4), k=2)",
    "metrics.sparse_top_k_categorical_accuracy(ints(4, 5), unit(5, 4), k=2)",
    "metrics.sparse_top_k_categorical_accuracy(ints(4, 5), np.array([[3, 1, 0, 2]] * 5), k=2, from_sorted_ids=True)",
    "metrics.categorical_accuracy(one_hot(4, 5), unit(5, 4))",
    "metrics.sparse_categorical_accuracy(ints(4, 5), unit(5, 4))",
    "metrics.pearson_correlation(x(3, 4), x(3, 4), axis=0)",
    "metrics.concordance_correlation(x(3, 4), x(3, 4), axis=0)",
    "metrics.get('auc').name",
    "metrics.deserialize({'class_name': 'AUC', 'config': {'num_thresholds': 7}}).num_thresholds",
    "metrics.serialize(metrics.AUC(num_thresholds=9))['config']['num_thresholds']",
    "updated(metrics.deserialize({'class_name': 'One', 'config': {}}, custom_objects={'One': type('One', (metrics.Mean,), {})}), x(3))",
]

_COMMON = ("weight_decay=0.1", "clipnorm=0.5", "clipvalue=0.3", "global_clipnorm=0.7", "use_ema=True, ema_momentum=0.6",
           "use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2", "loss_scale_factor=4.0",
           "gradient_accumulation_steps=2", "gradient_accumulation_steps=3, clipnorm=0.4",
           "learning_rate=schedules.ExponentialDecay(0.2, 2, 0.5)", "name='other'")
_OWN = {
    "Adadelta": ("learning_rate=0.5", "rho=0.7", "epsilon=0.1"),
    "Adafactor": ("learning_rate=0.5", "beta_2_decay=-0.5", "epsilon_1=0.1", "epsilon_2=0.1", "clip_threshold=0.5",
    "relative_step=False"),
    "Adagrad": ("learning_rate=0.5", "initial_accumulator_value=0.5", "epsilon=0.1"),
    "Adam": ("learning_rate=0.5", "beta_1=0.5", "beta_2=0.7", "epsilon=0.1", "amsgrad=True"),
    "AdamW": ("learning_rate=0.5", "beta_1=0.5", "beta_2=0.7", "epsilon=0.1", "amsgrad=True"),
    "Adamax": ("learning_rate=0.5", "beta_1=0.5", "beta_2=0.7", "epsilon=0.1"),
    "Ftrl": ("learning_rate=0.5", "learning_rate_power=-0.3", "initial_accumulator_value=0.5",
    "l1_regularization_strength=0.2",
             "l2_regularization_strength=0.2", "l2_shrinkage_regularization_strength=0.2", "beta=0.5"),
    "Lamb": ("learning_rate=0.5", "beta_1=0.5", "beta_2=0.7", "epsilon=0.1"),
    "Lion": ("learning_rate=0.5", "beta_1=0.5", "beta_2=0.7"),
    "Muon": ("learning_rate=0.5", "adam_beta_1=0.5", "adam_beta_2=0.7", "adam_weight_decay=0.3", "epsilon=0.1",
    "exclude_layers=['a']",
             "exclude_embeddings=False", "muon_a=3.0", "muon_b=-4.0", "muon_c=1.5", "adam_lr_ratio=0.3",
             "momentum=0.5", "ns_steps=2",
             "nesterov=False", "rms_rate=0.5", "rms_rate=None"),
    "Nadam": ("learning_rate=0.5", "beta_1=0.5", "beta_2=0.7", "epsilon=0.1"),
    "RMSprop": ("learning_rate=0.5", "rho=0.5", "momentum=0.6", "epsilon=0.1", "centered=True"),
    "SGD": ("learning_rate=0.5", "momentum=0.7", "momentum=0.7, nesterov=True"),
}
_GRADIENTS = "[ops.array([0.5, -2.0]), ops.array([[1.0]])]"

OPTIMIZERS = [
    *(f"stepped(optimizers.{name}({p}))" for name, own in _OWN.items() for p in ("", *own, *_COMMON)),
    *(f"stepped(optimizers.{name}(0.1), rows={r})" for name in _OWN for r in (True, "'dense'")),
    *(f"stepped(optimizers.{name}(0.1, {p}), rows={r})" for name in ("SGD", "Adam", "Adagrad") for p in _COMMON[:6]
      for r in (True, "'dense'")),
    *(f"stepped(optimizers.{text}, rows={r})" for text in ("SGD(0.1, momentum=0.9, nesterov=True)",
                                                          "RMSprop(0.1, momentum=0.5, centered=True)",
                                                          "Adam(0.1, amsgrad=True)")
      for r in (True, "'dense'")),
    "stepped(optimizers.LossScaleOptimizer(optimizers.SGD(0.1), initial_scale=8.0))",
    "stepped(optimizers.LossScaleOptimizer(inner_optimizer=optimizers.Adam(0.1), dynamic_growth_steps=2))",
    "stepped(optimizers.LossScaleOptimizer(optimizers.SGD(0.1), initial_scale=4.0, dynamic_growth_steps=1, name='l'))",
    "optimizers.get('adam').name",
    "optimizers.deserialize({'class_name': 'SGD', 'config': {'momentum': 0.5}}).momentum",
    "optimizers.serialize(optimizers.SGD(0.25))['config']",
    "stepped(optimizers.get({'class_name': 'SGD', 'config': {'learning_rate': 0.2}}))",
    "at(schedules.CosineDecay(0.5, 10, alpha=0.2), 0, 3, 9, 12)",
    "at(schedules.CosineDecay(initial_learning_rate=0.1, decay_steps=10, warmup_target=0.5, warmup_steps=4, name='c'), 0, 2, 4, 9, 20)",
    "at(schedules.CosineDecayRestarts(0.5, 4, t_mul=1.5, m_mul=0.7, alpha=0.1, name='r'), 0, 3, 5, 9, 20)",
    "at(schedules.CosineDecayRestarts(initial_learning_rate=0.5, first_decay_steps=4, t_mul=1.0), 0, 3, 5, 9, 20)",
    "at(schedules.ExponentialDecay(initial_learning_rate=0.5, decay_steps=3, decay_rate=0.5, staircase=True, name='e'), 0, 2, 3, 7)",
    "at(schedules.ExponentialDecay(0.5, 3, 0.5), 0, 2, 3, 7)",
    "at(schedules.InverseTimeDecay(initial_learning_rate=0.5, decay_steps=3, decay_rate=0.5, staircase=True, name='i'), 0, 2, 3, 7)",
    "at(schedules.InverseTimeDecay(0.5, 3, 0.5), 0, 2, 3, 7)",
    "at(schedules.PiecewiseConstantDecay(boundaries=[2, 5], values=[0.3, 0.2, 0.1], name='p'), 0, 2, 3, 5, 6)",
    "at(schedules.PolynomialDecay(0.5, 6, end_learning_rate=0.1, power=2.0, name='p'), 0, 3, 6, 9)",
    "at(schedules.PolynomialDecay(initial_learning_rate=0.5, decay_steps=6, cycle=True), 0, 3, 6, 9, 13)",
    "at(schedules.deserialize({'class_name': 'ExponentialDecay', 'config': {'initial_learning_rate': 0.5, 'decay_steps': 3, "
    "'decay_rate': 0.5}}), 2)", "schedules.serialize(schedules.PolynomialDecay(0.5, 6))['config']",
]

_SCALED = "GlorotNormal GlorotUniform HeNormal HeUniform LecunNormal LecunUniform".split()
INITIALIZERS = [
    *(f"initializers.{name}(seed=3)((3, 4), dtype='float64')" for name in _SCALED),
    *(f"initializers.{name}(seed=3, input_axes={i}, output_axes={o})((2, 3, 4))" for name in [*_SCALED,
    "VarianceScaling"]
      for i, o in (("(0,)", "(1, 2)"), ("(0, 1)", "(2,)"), ("[1]", "[-1]"))),
    *(f"initializers.VarianceScaling({p}, seed=5)((3, 4))" for p in (
        "scale=2.0", "mode='fan_out'", "mode='fan_avg'", "distribution='uniform'", "distribution='untruncated_normal'",
        "distribution='truncated_normal', mode='fan_avg', scale=0.3")),
    "initializers.RandomNormal(mean=1.0, stddev=0.2, seed=4)((3, 2))",
    "initializers.RandomUniform(minval=1.0, maxval=2.0, seed=4)((3, 2))",
    "initializers.RandomUniform(minval=1, maxval=9, seed=4)((3, 2), dtype='int32')",
    "initializers.TruncatedNormal(mean=1.0, stddev=0.2, seed=4)((3, 2))",
    "initializers.Constant(value=2)((2,), dtype='int32')",
    "initializers.Constant([1.0, 2.0])((3, 2))", "initializers.Identity(gain=2.0)((3, 3))",
    "initializers.Ones()((2,), dtype='int32')",
    "initializers.Zeros()((2,), dtype='bool')", "ops.abs(initializers.Orthogonal(gain=0.5, seed=2)((3, 3)))",
    "initializers.get('he_normal').seed is None",
    "initializers.deserialize({'class_name': 'Constant', 'config': {'value': 2.5}})((2,))",
    "initializers.serialize(initializers.RandomNormal(stddev=0.3, seed=1))['config']",
    "initializers.get(lambda shape, dtype=None: ops.ones(shape) * 3)((2,))",
    "regularizers.L1(l1=0.2)(x(3))", "regularizers.L2(l2=0.2)(x(3))", "regularizers.L1L2(l1=0.2, l2=0.3)(x(3))",
    "regularizers.OrthogonalRegularizer(factor=0.5, mode='columns')(x(3, 4))",
    "regularizers.OrthogonalRegularizer(factor=0.5)(x(3, 4))",
    "regularizers.l1_l2(l1=0.2, l2=0.3)(x(3))", "regularizers.get('l2')(x(3))",
    "regularizers.deserialize({'class_name': 'L2', 'config': {'l2': 0.5}})(x(3))",
    "regularizers.serialize(regularizers.L1(0.3))['config']",
    "constraints.MaxNorm(max_value=0.5, axis=1)(x(3, 4))", "constraints.MaxNorm(0.7, axis=[0, 1])(x(3, 4))",
    "constraints.UnitNorm(axis=1)(x(3, 4))",
    "constraints.MinMaxNorm(min_value=0.5, max_value=0.8, rate=0.4, axis=1)(x(3, 4))",
    "constraints.MinMaxNorm(min_value=1.5, max_value=2.0)(x(3, 4))",
    "constraints.NonNeg()(x(3, 4))", "constraints.get('unit_norm')(x(3, 4))",
    "constraints.deserialize({'class_name': 'MaxNorm', "
    "'config': {'max_value': 0.3}})(x(3, 4))", "constraints.serialize(constraints.MaxNorm(0.3))['config']",
    *(f"activations.{text}" for text in (
        "celu(x(3, 4), alpha=0.5)", "elu(x(3, 4), alpha=0.5)", "gelu(x(3, 4), approximate=True)", "gelu(x(3, 4))",
        "glu(x(4, 3), axis=0)",
        "hard_shrink(x(3, 4), threshold=0.2)", "soft_shrink(x(3, 4), threshold=0.2)",
        "leaky_relu(x(3, 4), negative_slope=0.5)",
        "log_softmax(x(3, 4), axis=0)", "softmax(x(3, 4), axis=0)", "softmax(x(2, 3, 2), axis=(1, 2))",
        "squareplus(x(3, 4), b=1)",
        "relu(x(3, 4), negative_slope=0.3, max_value=0.5, threshold=0.1)", "relu(x(3, 4), threshold=-0.2)",
        "relu(x(3, 4), max_value=0.4)",
        "threshold(x(3, 4), threshold=0.2, default_value=5.0)", "hard_swish(x(3, 4))", "swish(x(3, 4))",
        "mish(x(3, 4))",
        "deserialize({'class_name': 'relu', 'config': 'relu', 'registered_name': 'relu', 'module': 'builtins'})(x(3))",
        "deserialize('one', custom_objects={'one': lambda v: v * 3.0})(x(3))", "get('elu')(x(3))",
        "serialize(keras.activations.relu)")),
    "random.beta((3,), alpha=0.5, beta=0.7, dtype='float64', seed=3).dtype.name",
    "random.binomial((4,), counts=10.0, probabilities=0.4, seed=3).dtype.name",
    "random.binomial((4,), 10, 1.0, dtype='int32', seed=3)",
    "random.categorical(x(2, 3), num_samples=4, dtype='int64', seed=3)",
    "random.dropout(x(3, 4), rate=0.4, noise_shape=(None, 4), seed=3)",
    "ops.shape(random.gamma((3,), alpha=0.5, dtype='float64', seed=3))",
    "random.normal((3,), mean=2.0, stddev=0.5, dtype='float64', seed=3)",
    "random.randint((5,), minval=2, maxval=5, dtype='int64', seed=3)",
    "random.normal((3,), mean=2.0, stddev=0.5, seed=3)",
    "ops.sort(random.shuffle(ops.arange(5), axis=0, seed=3))",
    "ops.sort(random.shuffle(ops.reshape(ops.arange(6), (2, 3)), axis=1, seed=3), axis=1)",
    "random.truncated_normal((3,), mean=2.0, stddev=0.5, dtype='float64', seed=3)",
    "random.truncated_normal((3,), mean=2.0, stddev=0.5, seed=3)",
    "random.uniform((3,), minval=2.0, maxval=5.0, dtype='float64', seed=3)",
    "random.uniform((3,), minval=2, maxval=5, seed=3)",
    "random.normal((2,), seed=random.SeedGenerator(seed=5, name='g'))",
    "[random.normal((2,), seed=g) for g in [random.SeedGenerator(5)] * 2]",
]

CALLBACKS = [
    *(f"fitted(callbacks.EarlyStopping({p}), epochs=7)" for p in (
        "monitor='loss', patience=1", "min_delta=0.05", "patience=2, min_delta=0.2", "mode='max'",
        "mode='max', patience=2",
        "baseline=0.01, patience=1", "restore_best_weights=True, mode='max', patience=2",
        "start_from_epoch=3, min_delta=1.0",
        "min_delta=1.0, patience=2, restore_best_weights=True", "mode='min', min_delta=0.1, verbose=0")),
    "fitted(callbacks.LearningRateScheduler(lambda e: 0.1 / (e + 1)))",
    "fitted(callbacks.LearningRateScheduler(schedule=lambda e, lr: lr * 0.5, verbose=0))",
    *(f"fitted(callbacks.ReduceLROnPlateau({p}), epochs=7)" for p in (
        "monitor='loss', patience=1, min_delta=0.5", "patience=1, min_delta=1.0, factor=0.5", "patience=1, mode='max'",
        "patience=1, min_delta=1.0, cooldown=2", "patience=1, min_delta=1.0, min_lr=0.05",
        "patience=2, min_delta=0.3, factor=0.3, verbose=0")),
    "fitted(callbacks.SwapEMAWeights(swap_on_epoch=True), compiled={'optimizer': optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5)})",
    "fitted(callbacks.SwapEMAWeights(), compiled={'optimizer': optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5)})",
    "fitted(callbacks.TerminateOnNaN(), compiled={'optimizer': optimizers.SGD(1e20)}, epochs=3)['epochs']",
    *(f"fitted(compiled={{{c}}}, {p})" for c, p in (
        ("'loss': 'mae', 'metrics': ['mse']", "epochs=3"), ("'loss_weights': 3.0", "epochs=2"),
        ("'metrics': ['mse'], 'weighted_metrics': ['mae']",
                                                                                           "sample_weight=np.arange(8.0)"),
        ("'run_eagerly': True", "epochs=2"), ("'jit_compile': False", "epochs=2"),
        ("'auto_scale_loss': False", "epochs=2"), ("'optimizer': 'adam'", "epochs=3, initial_epoch=1"), ("",
        "epochs=2, batch_size=3"),
        ("", "epochs=2, validation_data=None, validation_split=0.25"), ("", "epochs=2, steps_per_epoch=1"),
        ("", "epochs=3, validation_freq=2"), ("", "epochs=4, validation_freq=[1, 4]"), ("",
        "epochs=2, validation_batch_size=1"),
        ("", "epochs=2, validation_steps=1, validation_batch_size=2"), ("", "epochs=2, sample_weight=np.arange(8.0)"),
        ("'loss': 'binary_crossentropy'", "epochs=2, class_weight={0: 1.0, 1: 2.0}, validation_data=None"))),
]

VALUES = [*LOSSES, *METRICS, *OPTIMIZERS, *INITIALIZERS, *CALLBACKS]

_ROWS = ("Keras squares the slices of a row that was gathered twice before it adds them; ours adds them first, so that the step "
         "is that of the whole gradient (see test_repeated_rows_step_as_the_whole_gradient)")
_CTC = ("TensorFlow's gradient, where labels have the number of the blank among them, is not the derivative of its value; ours is "
        "(see test_gradient_of_ctc_with_blanks_among_the_labels)")
DIFFERENT = {
    **{text: _ROWS for text in VALUES if "rows=True" in text and ("clip" in text or not any(n in text for n in ("SGD",
    "Muon", "Lion", "Adamax")))},
    **{text: "Keras multiplies by weights of samples along the time where there are as many, and fails where there are not; ours weights "
       "samples always" for text in LOSSES if "(unit(3, 3, 4), unit(3, 3, 4), sample_weight=positive(3))" in text},
    **{text: _CTC for text in LOSSES if ("losses.CTC" in text or "losses.ctc" in text) and ("[1, 0, 2]" in text
    or "[0, 1, 0, 3]" in text)},
    "losses.CategoricalCrossentropy(axis=1, from_logits=True, label_smoothing=0.1)(ops.softmax(x(3, 4, 2), axis=1), x(3, 4, 2))":
        "Keras smooths by the size of the last axis, so labels do not add up to 1, as TensorFlow's gradient takes them to; ours is the "
        "derivative",
    "losses.serialize(losses.Huber(delta=0.5))['config']": "Keras forgets delta in the config; ours keeps it",
    **{text: "Keras computes these in float32, whatever dtype says" for text in METRICS if "dtype='float64'" in text
       and any(f"metrics.{n}(" in text for n in (*_COUNTED, *_THRESHOLDED, "AUC", "R2Score", "PrecisionAtRecall",
           "RecallAtPrecision",
                                                "SensitivityAtSpecificity", "SpecificityAtSensitivity"))},
}
