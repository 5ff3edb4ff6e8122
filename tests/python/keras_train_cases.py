"""Losses, metrics, schedules and optimizers whose values real Keras has told us (keras_train.json, made by
tools/make_keras_train_reference.py). Each line is evaluated with the names of namespace()."""


def namespace(keras, tf, np):
    def numbers(*shape, low=-1.0, high=1.0, seed=0):
        """Numbers that look random and are the same everywhere."""
        count = int(np.prod(shape)) if shape else 1
        raw = np.modf(np.abs(np.sin(np.arange(1, count + 1) * 12.9898 + seed * 78.233) * 43758.5453))[0]
        return (low + (high - low) * raw).reshape(shape).astype("float32")

    def one_hot(*labels, classes=3):
        return np.eye(classes, dtype="float32")[list(labels)]

    def probabilities(*shape, seed=0):
        raw = np.exp(numbers(*shape, seed=seed))
        return (raw / raw.sum(-1, keepdims=True)).astype("float32")

    def masked(values, mask):
        """A tensor with a mask, and the mask itself, to keep it alive."""
        tensor = tf.constant(values)
        try:
            tensor._keras_mask = tf.constant(mask)
        except AttributeError:
            from gradus.keras import _state
            _state.set_mask(tensor, tf.constant(mask))
        return tensor

    def measured(metric, *batches):
        """The state and the result after some batches."""
        for batch in batches:
            metric.update_state(*batch[:2], **(batch[2] if len(batch) > 2 else {}))
        return {"result": metric.result(), "state": [v.numpy() for v in metric.variables]}

    def gradient_of(loss, y_true, y_pred):
        y_pred = tf.constant(y_pred)
        with tf.GradientTape() as tape:
            tape.watch(y_pred)
            value = loss(y_true, y_pred)
        return tape.gradient(value, y_pred)

    def scheduled(schedule):
        return [float(schedule(step)) for step in (0, 1, 2, 5, 9, 10, 11, 15, 20, 35, 50, 99, 100, 101, 150, 1000)]

    def error(make):
        try:
            make()
        except Exception as e:  # noqa: BLE001
            return [type(e).__name__, str(e)]
        return None

    return {name: value for name, value in locals().items()} | {"losses": keras.losses, "metrics": keras.metrics,
                                                                 "optimizers": keras.optimizers,
                                                                 "schedules": keras.optimizers.schedules}


_PLAIN = ("MeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredLogarithmicError Huber LogCosh "
          "KLDivergence Poisson CosineSimilarity Hinge SquaredHinge CategoricalHinge BinaryCrossentropy "
          "CategoricalCrossentropy BinaryFocalCrossentropy CategoricalFocalCrossentropy Dice Tversky").split()
_TWO = "probabilities(4, 3), probabilities(4, 3, seed=1)"
_HOT = "one_hot(0, 2, 1, 1), probabilities(4, 3, seed=2)"

LOSSES = [f"losses.{name}()({args})" for name in _PLAIN for args in (_TWO, _HOT)]
LOSSES += [f"gradient_of(losses.{name}(), {_HOT})" for name in _PLAIN]
LOSSES += [f"losses.{name}(reduction='none')({_HOT})" for name in _PLAIN]
LOSSES += [f"losses.{name}()({_HOT}, sample_weight=np.array([1.0, 0.0, 2.0, 0.5]))" for name in _PLAIN[:16]]
LOSSES += [f"losses.MeanSquaredError(reduction={r!r})({_TWO}, sample_weight=np.array([1.0, 0.0, 2.0, 0.5]))"
           for r in ("sum", "mean", "none", "sum_over_batch_size", "mean_with_sample_weight")]
LOSSES += [f"losses.{name}().get_config()" for name in _PLAIN + ["SparseCategoricalCrossentropy"]]
LOSSES += [f"losses.serialize(losses.{name}())" for name in _PLAIN]
LOSSES += [f"losses.get({name!r}).__name__" for name in (
    "mse MSE mae MAE mape MAPE msle MSLE bce BCE kld KLD mean_squared_error binary_crossentropy categorical_crossentropy "
    "sparse_categorical_crossentropy huber log_cosh kl_divergence poisson cosine_similarity hinge squared_hinge "
    "categorical_hinge dice tversky").split()]
LOSSES += """losses.mean_squared_error(numbers(2, 3, 4), numbers(2, 3, 4, seed=1))
losses.mean_squared_error(np.array([[1, 2], [3, 4]]), numbers(2, 2))
losses.MeanSquaredError()(numbers(4), numbers(4, 1, seed=1))
losses.MeanSquaredError()(numbers(4, 1), numbers(4, seed=1))
losses.MeanSquaredError()(numbers(2, 3, 4), numbers(2, 3, 4, seed=1), sample_weight=numbers(2, 3, low=0))
losses.MeanSquaredError()(numbers(2, 3, 4), numbers(2, 3, 4, seed=1), sample_weight=np.array([[1.0], [2.0]]))
losses.MeanSquaredError()(numbers(3, 2), numbers(3, 2, seed=1), sample_weight=2.0)
losses.MeanSquaredError(dtype="float64")(numbers(3, 2), numbers(3, 2, seed=1))
losses.MeanSquaredError()(numbers(2, 3, 1), masked(numbers(2, 3, 1, seed=1), [[True, False, True], [True, True, False]]))
losses.MeanSquaredError(reduction="sum")(numbers(2, 3, 1), masked(numbers(2, 3, 1, seed=1), [[True, False, True], [True, True, False]]))
losses.MeanSquaredError(reduction="none")(numbers(2, 3, 1), masked(numbers(2, 3, 1, seed=1), [[True, False, True], [True, True, False]]))
losses.MeanSquaredError()(numbers(2, 3, 1), masked(numbers(2, 3, 1, seed=1), [[True, False, True], [True, True, False]]), sample_weight=numbers(2, 3, low=0))
losses.Huber(0.3)(numbers(5, 2), numbers(5, 2, seed=1))
losses.Huber(0.3).get_config()
losses.CosineSimilarity(axis=0)(numbers(5, 2), numbers(5, 2, seed=1))
losses.CosineSimilarity(axis=0).get_config()
losses.Hinge()(np.sign(numbers(4, 3)), numbers(4, 3, seed=1))
losses.BinaryCrossentropy(from_logits=True)(np.array([[0, 1], [1, 1]]), numbers(2, 2) * 5)
losses.BinaryCrossentropy(from_logits=True, label_smoothing=0.2)(np.array([[0, 1], [1, 1]]), numbers(2, 2) * 5)
losses.BinaryCrossentropy(label_smoothing=0.1)(np.array([[0, 1], [1, 1]]), numbers(2, 2, low=0.01, high=0.99))
losses.BinaryCrossentropy(axis=0, reduction="none")(np.array([[0, 1], [1, 1]]), numbers(2, 2, low=0.01, high=0.99))
losses.BinaryCrossentropy()(np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]], "float32"))
losses.BinaryCrossentropy()(np.array([0, 1, 1]), numbers(3, low=0.01, high=0.99))
losses.BinaryFocalCrossentropy(apply_class_balancing=True, gamma=1.5, alpha=0.4)(np.array([[0, 1], [1, 1]]), numbers(2, 2, low=0.01, high=0.99))
losses.BinaryFocalCrossentropy(from_logits=True, label_smoothing=0.1)(np.array([[0, 1], [1, 1]]), numbers(2, 2) * 3)
losses.CategoricalCrossentropy(from_logits=True)(one_hot(0, 2), numbers(2, 3) * 5)
losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)(one_hot(0, 2), numbers(2, 3) * 5)
losses.CategoricalCrossentropy(label_smoothing=0.1)(one_hot(0, 2), probabilities(2, 3))
losses.CategoricalCrossentropy()(one_hot(0, 2), numbers(2, 3, low=0.1, high=4))
losses.CategoricalCrossentropy()(np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]], "float32"))
losses.CategoricalCrossentropy(axis=1)(numbers(2, 3, 2, low=0), probabilities(2, 3, 2))
losses.CategoricalFocalCrossentropy(from_logits=True, gamma=1.5, alpha=0.4)(one_hot(0, 2), numbers(2, 3) * 2)
losses.SparseCategoricalCrossentropy()(np.array([0, 2]), probabilities(2, 3))
losses.SparseCategoricalCrossentropy()(np.array([[0], [2]]), probabilities(2, 3))
losses.SparseCategoricalCrossentropy()(np.array([1]), np.array([[1.0, 0.0]], "float32"))
losses.SparseCategoricalCrossentropy(from_logits=True)(np.array([0, 2]), numbers(2, 3) * 5)
losses.SparseCategoricalCrossentropy(from_logits=True)(np.array([[0, 2], [1, 1]]), numbers(2, 2, 3) * 5)
losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-1)(np.array([0, -1, 2]), numbers(3, 3))
losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=2, reduction="none")(np.array([0, 1, 2]), numbers(3, 3))
losses.SparseCategoricalCrossentropy(ignore_class=1)(np.array([0, 1, 2]), probabilities(3, 3))
losses.SparseCategoricalCrossentropy(from_logits=True)(np.array([0.0, 2.0]), numbers(2, 3))
losses.SparseCategoricalCrossentropy()(np.array([0, 2]), keras.activations.softmax(tf.constant([[100.0, -100.0, 0.0]] * 2)))
losses.CategoricalCrossentropy()(one_hot(0, 2), keras.activations.softmax(tf.constant([[100.0, -100.0, 0.0]] * 2)))
losses.BinaryCrossentropy()(np.array([[0.0, 1.0]]), keras.activations.sigmoid(tf.constant([[100.0, -100.0]])))
losses.categorical_crossentropy(one_hot(0, 2), keras.activations.softmax(tf.constant([[100.0, -100.0, 0.0]] * 2)))
losses.Dice(axis=(1, 2))(numbers(2, 3, 2, low=0), numbers(2, 3, 2, low=0, seed=1))
losses.Tversky(alpha=0.3, beta=0.7)(numbers(2, 3, low=0), numbers(2, 3, low=0, seed=1))
losses.CategoricalGeneralizedCrossEntropy(0.3)(np.array([0, 2, 1, 1]), probabilities(4, 3, seed=2))
losses.CategoricalGeneralizedCrossEntropy(0.3).get_config()
losses.get({"class_name": "Huber", "config": {"delta": 0.5}})(numbers(3, 2), numbers(3, 2, seed=1))
losses.deserialize(losses.serialize(losses.BinaryCrossentropy(label_smoothing=0.25))).get_config()
losses.CTC()(np.array([[1, 2, 0], [2, 2, 1]]), numbers(2, 6, 4))
losses.CTC(reduction="none")(np.array([[1, 2, 0], [2, 2, 1]]), numbers(2, 6, 4))
gradient_of(losses.CTC(), np.array([[1, 2, 0], [2, 2, 1]]), numbers(2, 6, 4))
losses.CTC().get_config()
losses.Circle()(np.array([0, 1, 0, 1]), numbers(4, 3, low=0))
losses.Circle(gamma=20.0, margin=0.2, reduction="none")(np.array([0, 1, 0, 1]), numbers(4, 3, low=0))
losses.Circle().get_config()
losses.get(None)
error(lambda: losses.get("foo"))
error(lambda: losses.get(3))
error(lambda: losses.sparse_categorical_crossentropy(np.array([0, 1, 2]), probabilities(2, 2)))
error(lambda: losses.categorical_crossentropy(np.array([0, 1]), probabilities(2, 2)))""".splitlines()

_SCORES = "numbers(6, low=0, seed=3)"
_LABELS = "np.array([0, 1, 1, 0, 1, 0])"
_SECOND = "(np.array([1, 1, 0, 0, 1, 1]), numbers(6, low=0, seed=4), {'sample_weight': np.array([1.0, 2.0, 0.5, 1.0, 0.0, 3.0])})"
_BINARY = ["AUC()", "AUC(20, curve='PR')", "AUC(20, summation_method='minoring')", "AUC(20, summation_method='majoring')",
           "AUC(20, curve='PR', summation_method='majoring')", "AUC(num_thresholds=5)", "AUC(thresholds=[0.2, 0.7])",
           "AUC(20, from_logits=True)", "Precision()", "Recall()", "Precision(thresholds=[0.3, 0.6])", "Recall(thresholds=0.3)",
           "TruePositives()", "TrueNegatives()", "FalsePositives(thresholds=[0.3, 0.6])", "FalseNegatives()",
           "SensitivityAtSpecificity(0.5, 20)", "SpecificityAtSensitivity(0.5, 20)", "PrecisionAtRecall(0.6, 20)",
           "RecallAtPrecision(0.6, 20)", "BinaryAccuracy()", "BinaryAccuracy(threshold=0.3)"]
_BATCHES = ("(one_hot(0, 2, 1, 1), probabilities(4, 3, seed=2))",
            "(one_hot(2, 2, 0), probabilities(3, 3, seed=5), {'sample_weight': np.array([1.0, 0.5, 2.0])})")
_MANY = ["CategoricalAccuracy()", "TopKCategoricalAccuracy(k=2)", "MeanSquaredError()", "MeanAbsoluteError()",
         "MeanAbsolutePercentageError()", "MeanSquaredLogarithmicError()", "RootMeanSquaredError()", "CosineSimilarity()",
         "LogCoshError()", "KLDivergence()", "Poisson()", "Hinge()", "SquaredHinge()", "CategoricalHinge()",
         "BinaryCrossentropy()", "CategoricalCrossentropy()", "CategoricalCrossentropy(label_smoothing=0.1)", "F1Score()",
         "F1Score(average='macro', threshold=0.4)", "F1Score(average='weighted')", "FBetaScore(average='micro', beta=2.0)",
         "R2Score()", "R2Score(class_aggregation=None)", "R2Score(class_aggregation='variance_weighted_average')",
         "R2Score(num_regressors=1)", "PearsonCorrelation()", "ConcordanceCorrelation()", "OneHotIoU(3, [0, 2])",
         "OneHotMeanIoU(3)", "Precision(top_k=1)", "Recall(top_k=2, class_id=1)", "Precision(class_id=0)",
         "AUC(10, multi_label=True)", "AUC(10, multi_label=True, label_weights=[0.2, 0.3, 0.5])", "AUC(num_thresholds=10)",
         "MeanMetricWrapper(losses.mean_squared_error)", "Accuracy()"]
_SPARSE = ["SparseCategoricalAccuracy()", "SparseTopKCategoricalAccuracy(k=2)", "SparseCategoricalCrossentropy()",
           "SparseCategoricalCrossentropy(ignore_class=1)"]

METRICS = [f"measured(metrics.{m}, ({_LABELS}, {_SCORES}), {_SECOND})" for m in _BINARY]
METRICS += [f"measured(metrics.{m}, {_BATCHES[0]}, {_BATCHES[1]})" for m in _MANY]
METRICS += [f"measured(metrics.{m}, (np.array([0, 2, 1, 1]), probabilities(4, 3, seed=2)), (np.array([[2], [2], [0]]), "
            "probabilities(3, 3, seed=5)))" for m in _SPARSE]
METRICS += [f"{{k: v for k, v in metrics.{m}.get_config().items() if k != 'name'}}" for m in _BINARY + _MANY + _SPARSE]
METRICS += [f"type(metrics.get({n!r})).__name__" for n in (
    "accuracy Accuracy binary_accuracy BinaryAccuracy mse MSE mae mape msle bce auc AUC mean precision recall Precision "
    "cosine_similarity kl_divergence hinge sparse_categorical_accuracy categorical_crossentropy RootMeanSquaredError "
    "root_mean_squared_error top_k_categorical_accuracy f1_score F1Score mean_squared_error").split()]
METRICS += """measured(metrics.Mean(), ([1.0, 3.0, 5.0], None), ([[1.0, 2.0], [3.0, 5.0]], None))
measured(metrics.Mean(), ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [1.0, 2.0]))
measured(metrics.Mean(), ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]))
measured(metrics.Mean(), ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 2.0))
measured(metrics.Mean(), (3.0, 2.0), (1.0, None))
measured(metrics.Sum(), ([1.0, 3.0, 5.0], None), ([[1.0, 2.0], [3.0, 5.0]], [1.0, 2.0]))
measured(metrics.MeanIoU(3), ([0, 1, 2, 2], [0, 2, 2, 1]), ([0, 1], [0, 0], {"sample_weight": [2, 1]}))
measured(metrics.IoU(3, [0, 1]), ([0, 1, 2, 2], [0, 2, 2, 1]))
measured(metrics.MeanIoU(3, ignore_class=1), ([0, 1, 2, 2], [0, 2, 2, 1]))
measured(metrics.BinaryIoU(threshold=0.4), ([0, 1, 0, 1], [0.1, 0.6, 0.45, 0.3]))
measured(metrics.MeanIoU(4), ([0, 1, 2, 2], [0, 2, 2, 1]))
measured(metrics.Accuracy(), ([1, 2, 3], [1, 0, 3]), ([[1], [2]], [[1], [1]], {"sample_weight": [1.0, 3.0]}))
measured(metrics.MeanSquaredError(), (numbers(2, 3, 4), numbers(2, 3, 4, seed=1), {"sample_weight": numbers(2, 3, low=0)}))
measured(metrics.MeanSquaredError(), (numbers(2, 3, 1), masked(numbers(2, 3, 1, seed=1), [[True, False, True], [True, True, False]])))
measured(metrics.SparseCategoricalAccuracy(), (np.array([[0, 1], [2, 1]]), probabilities(2, 2, 3)))
measured(metrics.BinaryAccuracy(), (np.array([[0], [1]]), np.array([[0.2], [0.7]])), (np.array([0, 1]), np.array([[0.2], [0.3]])))
measured(metrics.Precision(), (np.array([0, 0]), np.array([0.1, 0.2])))
metrics.Mean()([1.0, 2.0])
metrics.Mean().result()
metrics.AUC().result()
[v.path for v in metrics.AUC(name="a").variables]
[v.path for v in metrics.Mean(name="m").variables]
[v.path for v in metrics.MeanIoU(2, name="i").variables]
metrics.serialize(metrics.AUC(name="a"))
metrics.deserialize(metrics.serialize(metrics.Precision(name="p", thresholds=0.3))).get_config()
metrics.binary_accuracy(np.array([[0, 1], [1, 1]]), np.array([[0.2, 0.7], [0.4, 0.6]]))
metrics.categorical_accuracy(one_hot(0, 2), probabilities(2, 3))
metrics.sparse_categorical_accuracy(np.array([0, 2]), probabilities(2, 3))
metrics.sparse_top_k_categorical_accuracy(np.array([0, 2]), np.array([[1, 0, 2], [0, 1, 2]]), k=2, from_sorted_ids=True)
error(lambda: metrics.get("foo"))
error(lambda: metrics.AUC(curve="x"))
error(lambda: metrics.Precision(thresholds=2.0))""".splitlines()

SCHEDULES = [f"scheduled(schedules.{s})" for s in (
    "ExponentialDecay(0.1, 10, 0.5)", "ExponentialDecay(0.1, 10, 0.5, staircase=True)", "InverseTimeDecay(0.1, 10, 0.5)",
    "InverseTimeDecay(0.1, 10, 0.5, staircase=True)", "PiecewiseConstantDecay([10, 50, 100], [0.1, 0.05, 0.02, 0.01])",
    "PiecewiseConstantDecay([10.5], [1.0, 0.5])", "PolynomialDecay(0.1, 50)", "PolynomialDecay(0.1, 50, 0.01, power=2.0)",
    "PolynomialDecay(0.1, 20, 0.01, power=0.5, cycle=True)", "CosineDecay(0.1, 50)", "CosineDecay(0.1, 50, alpha=0.1)",
    "CosineDecay(0.01, 50, alpha=0.1, warmup_target=0.1, warmup_steps=10)", "CosineDecayRestarts(0.1, 10)",
    "CosineDecayRestarts(0.1, 10, t_mul=1.0, m_mul=0.9, alpha=0.05)", "CosineDecayRestarts(0.1, 10, t_mul=1.5, m_mul=0.8)")]
SCHEDULES += ["schedules.serialize(schedules.CosineDecay(0.1, 50))", "schedules.PolynomialDecay(0.1, 5).get_config()",
              "schedules.CosineDecayRestarts(0.1, 5).get_config()", "schedules.PiecewiseConstantDecay([1], [2.0, 1.0]).get_config()",
              "error(lambda: schedules.ExponentialDecay(0.1, 0, 0.5))",
              "error(lambda: schedules.PiecewiseConstantDecay([1, 2], [0.1, 0.2]))"]

LINES = LOSSES + METRICS + SCHEDULES

# Optimizers: ten steps each, by themselves with all their settings and with the options of all.
ALGORITHMS = {
    "SGD": ["learning_rate=0.05"], "momentum": ["learning_rate=0.05, momentum=0.9"],
    "nesterov": ["learning_rate=0.05, momentum=0.9, nesterov=True"],
    "Adam": ["learning_rate=0.05", "learning_rate=0.05, amsgrad=True", "learning_rate=0.02, beta_1=0.7, beta_2=0.8, epsilon=1e-3"],
    "AdamW": ["learning_rate=0.05", "learning_rate=0.05, weight_decay=0.1, amsgrad=True"],
    "RMSprop": ["learning_rate=0.02", "learning_rate=0.02, momentum=0.8", "learning_rate=0.02, centered=True",
                "learning_rate=0.02, centered=True, momentum=0.8, rho=0.7, epsilon=1e-3"],
    "Adagrad": ["learning_rate=0.1", "learning_rate=0.1, initial_accumulator_value=0.5, epsilon=0.01"],
    "Adadelta": ["learning_rate=1.0", "learning_rate=1.0, rho=0.7, epsilon=1e-3"],
    "Adamax": ["learning_rate=0.05"], "Nadam": ["learning_rate=0.05", "learning_rate=0.02, beta_1=0.7, beta_2=0.8"],
    "Ftrl": ["learning_rate=0.1", "learning_rate=0.1, l1_regularization_strength=0.02, l2_regularization_strength=0.1",
             "learning_rate=0.1, l2_shrinkage_regularization_strength=0.1, beta=0.2, learning_rate_power=-0.3"],
    "Lion": ["learning_rate=0.02"], "Lamb": ["learning_rate=0.05"],
    "Muon": ["learning_rate=0.05", "learning_rate=0.05, nesterov=False, rms_rate=None, adam_lr_ratio=0.5, ns_steps=3"],
    "Adafactor": ["learning_rate=0.1", "learning_rate=0.1, relative_step=False, clip_threshold=0.5"],
}
OPTIONS = ["weight_decay=0.1", "clipnorm=0.5", "global_clipnorm=0.5", "clipvalue=0.2", "loss_scale_factor=4.0",
           "use_ema=True, ema_momentum=0.8", "use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=3",
           "gradient_accumulation_steps=3", "gradient_accumulation_steps=2, use_ema=True, clipnorm=0.5, weight_decay=0.1"]
_CLASS = {"momentum": "SGD", "nesterov": "SGD"}
OPTIMIZERS, DETAILED = [], set()  # DETAILED: of which config and names are compared as well
for _name, _settings in ALGORITHMS.items():
    _made = _CLASS.get(_name, _name)
    OPTIMIZERS += [f"optimizers.{_made}({s})" for s in _settings]
    DETAILED |= set(OPTIMIZERS[-len(_settings):])
    OPTIMIZERS += [f"optimizers.{_made}({_settings[0]}, {option})" for option in OPTIONS]
OPTIMIZERS += ["optimizers.SGD(schedules.ExponentialDecay(0.1, 3, 0.5), momentum=0.5)",
               "optimizers.Adam(schedules.CosineDecay(0.05, 8, warmup_target=0.1, warmup_steps=3))",
               "optimizers.Adam(schedules.ExponentialDecay(0.1, 2, 0.5), gradient_accumulation_steps=2)",
               "optimizers.LossScaleOptimizer(optimizers.Adam(0.05), initial_scale=64.0, dynamic_growth_steps=3)",
               "optimizers.LossScaleOptimizer(optimizers.SGD(0.05, momentum=0.9), initial_scale=64.0, dynamic_growth_steps=3)"]


def trajectory(make, np, kind, apply, variable):
    """The variables after some steps, and the state at the end. The gradients depend on the variables; `kind` says
    whether all rows have one or only some, of which one is named twice. apply(optimizer, gradients, variables) takes
    the gradient of the table as (rows, values) then."""
    table = variable(np.linspace(-1.0, 1.0, 12).reshape(4, 3).astype("float32"), "table")
    bias = variable(np.array([0.5, -0.5, 0.0], "float32"), "bias")
    optimizer, seen = make(), []
    scale = float(getattr(optimizer, "initial_scale", 1.0))
    for step in range(10):
        w, b = np.asarray(table.numpy()), np.asarray(bias.numpy())
        if hasattr(optimizer, "dynamic_scale"):
            scale = float(optimizer.dynamic_scale.numpy())
        wave = np.cos(np.arange(12) * 0.7 + step).reshape(4, 3)
        g = ((w * 0.6 + wave) * scale).astype("float32")
        g_bias = ((b + np.sin(step + np.arange(3))) * scale).astype("float32")
        if hasattr(optimizer, "initial_scale") and step == 5:
            g_bias[0] = np.inf
        if kind == "dense":
            apply(optimizer, g, g_bias, table, bias)
        else:
            rows = np.array([2, 0, 2])
            apply(optimizer, (rows, g[[1, 0, 2]]), g_bias, table, bias)
        if step in (0, 9):
            seen.append([table.numpy(), bias.numpy()])
    optimizer.finalize_variable_values([table, bias])
    seen.append([table.numpy(), bias.numpy()])
    counts = [optimizer.iterations]
    if hasattr(optimizer, "initial_scale"):
        counts += [optimizer.dynamic_scale, optimizer.step_counter]
    return {"seen": [[part.reshape(-1).tolist() for part in both] for both in seen],
            "counts": [float(np.asarray(c)) for c in counts], "config": {
                k: v for k, v in optimizer.get_config().items() if k not in ("name", "inner_optimizer")},
            "names": [v.path.split("/", 1)[-1] for v in optimizer.variables]}
