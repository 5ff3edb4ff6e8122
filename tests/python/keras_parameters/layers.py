"""Layers: every parameter with values that are not its default. `called` compares what a layer gives and the gradient with
respect to its inputs, `trained` its regularizers and the weights after a step, so also its initializers and constraints."""

_PARTS = ("{k}_initializer=initializers.RandomNormal(seed=1), bias_initializer='ones', {k}_regularizer=regularizers.L2(0.1), "
          "bias_regularizer='l1', activity_regularizer=regularizers.L2(0.05), {k}_constraint=constraints.MaxNorm(0.4), "
          "bias_constraint='non_neg'")
_CONV = _PARTS.format(k="kernel")
_DEPTH = _PARTS.format(k="depthwise")
_SEPARABLE = (_DEPTH + ", pointwise_initializer=initializers.RandomUniform(seed=2), pointwise_regularizer='l2', "
              "pointwise_constraint='unit_norm'")
_RECURRENT = (_CONV + ", recurrent_initializer=initializers.RandomNormal(stddev=0.3, seed=2), "
              "recurrent_regularizer=regularizers.L1(0.1), recurrent_constraint=constraints.MaxNorm(0.5)")
_CELL = _RECURRENT.replace("activity_regularizer=regularizers.L2(0.05), ", "")
_NORM = ("beta_initializer='ones', gamma_initializer=initializers.Constant(0.5), beta_regularizer='l1', gamma_regularizer='l2', "
         "beta_constraint='non_neg', gamma_constraint=constraints.MaxNorm(0.3)")
_FIRST = "data_format='channels_first'"

_CONVOLUTIONS = [
    *(f"trained(layers.{name}({head}, {parts}), {data})" for name, head, parts, data in (
        ("Dense", "3", _CONV, "x(2, 4)"), ("Conv1D", "2, 3", _CONV, "x(2, 6, 2)"), ("Conv2D", "2, 3", _CONV,
        "x(1, 5, 4, 2)"),
        ("Conv3D", "2, 2", _CONV, "x(1, 3, 3, 2, 2)"), ("Conv1DTranspose", "2, 3", _CONV, "x(2, 4, 2)"),
        ("Conv2DTranspose", "2, 3", _CONV, "x(1, 3, 4, 2)"), ("Conv3DTranspose", "1, 2", _CONV, "x(1, 2, 2, 2, 2)"),
        ("DepthwiseConv1D", "3", _DEPTH, "x(2, 6, 2)"), ("DepthwiseConv2D", "3", _DEPTH, "x(1, 5, 4, 2)"),
        ("SeparableConv1D", "2, 3", _SEPARABLE, "x(2, 6, 2)"), ("SeparableConv2D", "2, 3", _SEPARABLE, "x(1, 5, 4, 2)"),
        ("EinsumDense", "'ab,bc->ac', 3, bias_axes='c'", _CONV, "x(2, 4)"), ("LSTM", "2", _RECURRENT, "x(2, 3, 2)"),
        ("GRU", "2", _RECURRENT, "x(2, 3, 2)"), ("SimpleRNN", "2", _RECURRENT, "x(2, 3, 2)"),
        ("ConvLSTM1D", "2, 2", _RECURRENT, "x(1, 3, 4, 2)"), ("ConvLSTM2D", "1, 2", _RECURRENT, "x(1, 2, 3, 3, 2)"),
        ("ConvLSTM3D", "1, 2", _RECURRENT, "x(1, 2, 2, 3, 2, 1)"), ("LSTMCell", "2", _CELL,
        "x(2, 3), [x(2, 2), x(2, 2)]"),
        ("GRUCell", "2", _CELL, "x(2, 3), [x(2, 2)]"), ("SimpleRNNCell", "2", _CELL, "x(2, 3), [x(2, 2)]"),
        ("MultiHeadAttention", "2, 3", _CONV, "x(1, 3, 4), x(1, 2, 4)"),
        ("GroupQueryAttention", "2, 4, 2", _CONV, "x(1, 3, 4), x(1, 2, 4)"))),
    *(f"called(layers.Conv1D(4, 3, {p}), x(2, {shape}))" for p, shape in (
        ("strides=2", "7, 4"), ("padding='same'", "7, 4"), ("padding='causal'", "7, 4"), (_FIRST, "4, 7"),
        ("dilation_rate=2", "7, 4"),
        ("groups=2", "7, 4"), ("activation='relu'", "7, 4"), ("use_bias=False", "7, 4"),
        (_FIRST + ", strides=2, padding='same'", "4, 7"))),
    *(f"called(layers.Conv2D(4, (3, 2), {p}), x(1, {shape}))" for p, shape in (
        ("strides=(2, 1)", "5, 6, 4"), ("padding='same'", "5, 6, 4"), (_FIRST, "4, 5, 6"), ("dilation_rate=(2, 1)",
        "5, 6, 4"),
        ("groups=2", "5, 6, 4"), ("activation='tanh'", "5, 6, 4"), ("use_bias=False", "5, 6, 4"),
        (_FIRST + ", groups=4", "4, 5, 6"),
        (_FIRST + ", strides=2, padding='same', dilation_rate=1", "4, 5, 6"))),
    *(f"called(layers.Conv3D(2, 2, {p}), x(1, {shape}))" for p, shape in (
        ("strides=(2, 1, 1)", "3, 4, 3, 2"), ("padding='same'", "3, 4, 3, 2"), (_FIRST, "2, 3, 4, 3"),
        ("dilation_rate=(1, 2, 1)", "3, 4, 3, 2"),
        ("groups=2", "3, 4, 3, 2"), ("activation='relu', use_bias=False", "3, 4, 3, 2"))),
    *(f"called(layers.Conv1DTranspose(2, 3, {p}), x(2, {shape}))" for p, shape in (
        ("strides=2", "4, 3"), ("padding='same', strides=2", "4, 3"), ("strides=2, output_padding=1", "4, 3"),
        (_FIRST, "3, 4"),
        ("dilation_rate=2", "4, 3"), ("activation='relu'", "4, 3"), ("use_bias=False", "4, 3"),
        ("strides=3, padding='same', output_padding=2", "4, 3"))),
    *(f"called(layers.Conv2DTranspose(2, 3, {p}), x(1, {shape}))" for p, shape in (
        ("strides=(2, 1)", "3, 4, 2"), ("padding='same', strides=2", "3, 4, 2"), ("strides=2, output_padding=1",
        "3, 4, 2"),
        (_FIRST, "2, 3, 4"), ("dilation_rate=2", "3, 4, 2"), ("activation='relu', use_bias=False", "3, 4, 2"),
        ("strides=(2, 3), padding='same', output_padding=(1, 2)", "3, 4, 2"))),
    *(f"called(layers.Conv3DTranspose(1, 2, {p}), x(1, {shape}))" for p, shape in (
        ("strides=2", "2, 3, 2, 2"), ("padding='same', strides=(2, 1, 1)", "2, 3, 2, 2"), (_FIRST, "2, 2, 3, 2"),
        ("activation='relu', use_bias=False", "2, 3, 2, 2"), ("strides=2, output_padding=1", "2, 3, 2, 2"))),
    *(f"called(layers.DepthwiseConv1D(3, {p}), x(2, {shape}))" for p, shape in (
        ("strides=2", "7, 2"), ("padding='same'", "7, 2"), ("depth_multiplier=3", "7, 2"), (_FIRST, "2, 7"),
        ("dilation_rate=2", "7, 2"),
        ("activation='relu', use_bias=False", "7, 2"))),
    *(f"called(layers.DepthwiseConv2D(3, {p}), x(1, {shape}))" for p, shape in (
        ("strides=2", "6, 5, 2"), ("padding='same'", "6, 5, 2"), ("depth_multiplier=2", "6, 5, 2"), (_FIRST, "2, 6, 5"),
        ("dilation_rate=2", "6, 5, 2"), ("activation='relu', use_bias=False", "6, 5, 2"))),
    *(f"called(layers.SeparableConv1D(3, 2, {p}), x(2, {shape}))" for p, shape in (
        ("strides=2", "7, 2"), ("padding='same'", "7, 2"), ("depth_multiplier=2", "7, 2"), (_FIRST, "2, 7"),
        ("dilation_rate=2", "7, 2"),
        ("activation='relu', use_bias=False", "7, 2"))),
    *(f"called(layers.SeparableConv2D(3, 2, {p}), x(1, {shape}))" for p, shape in (
        ("strides=2", "6, 5, 2"), ("padding='same'", "6, 5, 2"), ("depth_multiplier=2", "6, 5, 2"), (_FIRST, "2, 6, 5"),
        ("dilation_rate=2", "6, 5, 2"), ("activation='relu', use_bias=False", "6, 5, 2"))),
    *(f"called(layers.{kind}Pooling{n}D({p}), x(1, {shape}))" for kind in ("Max", "Average") for n, p, shape in (
        (1, "pool_size=3", "7, 2"), (1, "2, strides=1", "7, 2"), (1, "3, padding='same'", "7, 2"), (1, "2, " + _FIRST,
        "2, 7"),
        (2, "pool_size=(3, 2)", "5, 6, 2"), (2, "2, strides=(1, 2)", "5, 6, 2"), (2, "3, padding='same'", "5, 6, 2"),
        (2, "2, " + _FIRST, "2, 5, 6"), (3, "pool_size=(1, 2, 2)", "2, 4, 3, 1"), (3, "2, strides=1", "2, 4, 3, 1"),
        (3, "2, padding='same'", "2, 4, 3, 1"), (3, "2, name='p', " + _FIRST, "1, 2, 4, 3"), (2, "2, name='p'",
        "4, 4, 1"),
        (1, "2, name='p'", "4, 1"))),
    *(f"called(layers.Global{kind}Pooling{n}D({p}), x(2, {shape}))" for kind in ("Max", "Average") for n, p, shape in (
        (1, _FIRST, "3, 4"), (1, "keepdims=True", "3, 4"), (2, _FIRST, "2, 3, 4"), (2, "keepdims=True", "2, 3, 4"),
        (3, _FIRST, "2, 2, 3, 2"), (3, "keepdims=True", "2, 2, 3, 2"), (3, _FIRST + ", keepdims=True", "2, 2, 3, 2"))),
    "called(layers.GlobalAveragePooling1D(data_format='channels_first'), x(2, 3, 4), mask=mask(2, 4))",
    "called(layers.GlobalAveragePooling1D(keepdims=True), x(2, 3, 4), mask=lengths(2, 3))",
    *(f"called(layers.Adaptive{kind}Pooling{n}D({size}, {_FIRST}), x(1, {shape}))" for kind in ("Max", "Average")
    for n, size, shape in (
        (1, "3", "2, 5"), (2, "(2, 3)", "2, 5, 4"), (3, "(1, 2, 2)", "1, 2, 3, 3"))),
    *(f"called(layers.Adaptive{kind}Pooling{n}D(output_size={size}), x(1, {shape}))" for kind in ("Max", "Average")
    for n, size, shape in (
        (1, "3", "5, 2"), (2, "2", "5, 4, 2"), (3, "2", "2, 3, 3, 1"))),
]

_LAYERS = [
    "trained(layers.Dense(3, lora_rank=2), x(2, 4))", "made(layers.Dense(3, lora_rank=2, lora_alpha=5.0), x(2, 4))[-1]",
    "called(layers.Dense(3, 'relu', use_bias=False), x(2, 4))",
    "called(layers.Dense(units=3, activation='softmax'), x(2, 2, 4))",
    "made(layers.EinsumDense('ab,bc->ac', 3, lora_rank=2, lora_alpha=5.0), x(2, 4))[-1]",
    "trained(layers.EinsumDense('abc,cd->abd', (None, 3), bias_axes='d', activation='tanh', lora_rank=1), x(2, 2, 4))",
    "called(layers.EinsumDense(equation='abc,cd->abd', output_shape=(None, 3), bias_axes='d', activation='tanh'), x(2, 2, 4))",
    "called(layers.EinsumDense('ab,bc->ac', output_shape=3, activity_regularizer='l2'), x(2, 4))",
    "trained(layers.Embedding(5, 2, embeddings_initializer=initializers.RandomNormal(seed=1), embeddings_regularizer='l2', "
    "embeddings_constraint='unit_norm'), ints(5, 2, 3))",
    "called(layers.Embedding(input_dim=5, output_dim=2, mask_zero=True), ints(5, 2, 3))",
    "called(layers.Embedding(3, 2, weights=[np.arange(6.0).reshape(3, 2)]), ints(3, 2, 3))",
    "trained(layers.Embedding(5, 3, lora_rank=2), ints(5, 2, 3))",
    "made(layers.Embedding(5, 3, lora_rank=2, lora_alpha=3.0), ints(5, 2, 3))[-1]",
    "called(layers.Embedding(5, 2, mask_zero=True), ints(5, 2, 3))",
    "layers.Embedding(5, 2, mask_zero=True).compute_mask(ints(3, 2, 3))",
    *(f"trained(layers.BatchNormalization({p}), x(4, 3, 2), training=True)" for p in (
        "axis=1", "momentum=0.5", "epsilon=0.3", "center=False", "scale=False", _NORM,
        "moving_mean_initializer='ones', "
        "moving_variance_initializer=initializers.Constant(2.0)", "axis=-2, momentum=0.1", "synchronized=False")),
    *(f"trained(layers.BatchNormalization(renorm=True, {p}), x(4, 3), training=True)" for p in (
        "momentum=0.5", "renorm_momentum=0.5", "renorm_clipping={'rmax': 1.1, 'rmin': 0.9, 'dmax': 0.2}")),
    *(f"called(layers.BatchNormalization({p}), x(4, 3, 2))" for p in (
        "moving_mean_initializer='ones', moving_variance_initializer=initializers.Constant(2.0)",
        "axis=1, epsilon=0.5")),
    "called(layers.BatchNormalization(), x(2, 4, 3), training=True, mask=mask(2, 4))",
    "raised(lambda: called(layers.BatchNormalization(), x(2, 4, 3), training=True, mask=mask(2, 4, 1)))",
    "called(layers.BatchNormalization(axis=1), x(2, 4, 3), training=True, mask=mask(2, 4))",
    "raised(lambda: called(layers.BatchNormalization(), x(2, 3, 4, 2), training=True, mask=mask(2, 3)))",
    "called(layers.BatchNormalization(), x(2, 3, 4, 2), training=True, mask=mask(2, 3, 4))",
    "trained(layers.BatchNormalization(momentum=0.5), x(2, 3, 4, 2), training=True, mask=mask(2, 3, 4))",
    "trained(layers.BatchNormalization(momentum=0.5, axis=2), x(2, 3, 4, 2), training=True, mask=mask(2, 3, 4))",
    "called(layers.BatchNormalization(), x(6, 3), training=True, mask=np.array([1, 0, 1, 1, 0, 1], bool))",
    *(f"trained(layers.LayerNormalization({p}), x(2, 3, 4))" for p in ("axis=1", "axis=[1, 2]", "axis=[-1, -2]", "axis=[2, 1]",
    "epsilon=0.3", "center=False", "scale=False", _NORM)),
    *(f"trained(layers.GroupNormalization(2, {p}), x(2, 3, 4))" for p in ("axis=-1", "epsilon=0.3", "center=False",
    "scale=False", _NORM)),
    "trained(layers.GroupNormalization(groups=-1, axis=1), x(2, 4, 3))",
    "trained(layers.GroupNormalization(groups=2, axis=1), x(2, 4, 3))",
    "trained(layers.RMSNormalization(axis=2, epsilon=0.2), x(2, 3, 4))",
    "trained(layers.RMSNormalization(axis=[1, 2]), x(2, 3, 4))",
    "called(layers.UnitNormalization(axis=(1, 2)), x(2, 3, 4))",
    "called(layers.UnitNormalization(axis=-2), x(2, 3, 4))",
    "trained(layers.SpectralNormalization(layers.Dense(3), power_iterations=3), x(2, 4), training=True)",
    *(f"called(layers.LSTM(2, {p}), x(2, 4, 3))" for p in (
        "activation='relu'", "recurrent_activation='hard_sigmoid'", "use_bias=False", "unit_forget_bias=False",
        "return_sequences=True",
        "return_state=True", "go_backwards=True", "unroll=True", "use_cudnn=False", "stateful=True", "seed=3",
        "return_sequences=True, unroll=True",
        "go_backwards=True, return_sequences=True")),
    *(f"called(layers.GRU(2, {p}), x(2, 4, 3))" for p in (
        "activation='relu'", "recurrent_activation='hard_sigmoid'", "use_bias=False", "reset_after=False",
        "return_sequences=True",
        "return_state=True", "go_backwards=True", "unroll=True", "use_cudnn=False", "stateful=True", "seed=3",
        "reset_after=False, unroll=True")),
    *(f"called(layers.SimpleRNN(2, {p}), x(2, 4, 3))" for p in (
        "activation='relu'", "use_bias=False", "return_sequences=True", "return_state=True", "go_backwards=True",
        "unroll=True",
        "stateful=True", "seed=3")),
    *(f"called(layers.{name}(2, dropout=0.4, recurrent_dropout=0.3, seed=3), x(2, 4, 3), training=True)"
    for name in ("LSTM", "GRU", "SimpleRNN")),
    *(f"called(layers.{name}(2, {p}), x(2, 3), [x(2, 2)])" for name in ("GRUCell", "SimpleRNNCell") for p in (
        "activation='relu'", "use_bias=False", "seed=2")),
    "called(layers.GRUCell(2, recurrent_activation='hard_sigmoid', reset_after=False), x(2, 3), [x(2, 2)])",
    *(f"called(layers.{name}(2, dropout=0.4, recurrent_dropout=0.3, seed=3), x(2, 3), {states}, training=True)"
    for name, states in (
        ("GRUCell", "[x(2, 2)]"), ("SimpleRNNCell", "[x(2, 2)]"), ("LSTMCell", "[x(2, 2), x(2, 2)]"))),
    *(f"called(layers.LSTMCell(2, {p}), x(2, 3), [x(2, 2), x(2, 2)])" for p in (
        "activation='relu'", "recurrent_activation='hard_sigmoid'", "use_bias=False", "unit_forget_bias=False",
        "seed=1")),
    *(f"called(layers.RNN(layers.GRUCell(2), {p}), x(2, 4, 3))" for p in (
        "return_sequences=True", "return_state=True", "go_backwards=True", "unroll=True", "stateful=True")),
    "called(layers.RNN(cell=layers.GRUCell(2), return_sequences=True, zero_output_for_mask=True), x(2, 4, 3), mask=mask(2, 4))",
    "called(layers.RNN(layers.StackedRNNCells(cells=[layers.GRUCell(2), layers.LSTMCell(2)])), x(2, 4, 3))",
    *(f"called(layers.ConvLSTM{n}D(2, 2, {p}), x(1, 3, {shape}))" for n, shape, first in ((1, "5, 2", "2, 5"), (2,
    "4, 3, 2", "2, 4, 3"))
      for p in ("strides=2", "padding='same'", "activation='relu'", "recurrent_activation='hard_sigmoid'",
      "use_bias=False",
                "unit_forget_bias=False", "return_sequences=True", "return_state=True", "go_backwards=True",
                "stateful=True")),
    *(f"called(layers.ConvLSTM3D(1, 2, {p}), x(1, 2, 3, 3, 2, 1))" for p in (
        "strides=1", "padding='same'", "activation='relu'", "recurrent_activation='hard_sigmoid'", "use_bias=False",
        "unit_forget_bias=False",
        "return_sequences=True", "return_state=True", "go_backwards=True", "stateful=True", "dilation_rate=1")),
    *(f"called(layers.ConvLSTM{n}D(2, 2, {_FIRST}), x(1, 2, {first}))" for n, first in ((1, "2, 5"), (2, "2, 4, 3"),
    (3, "1, 3, 3, 2"))),
    *(f"called(layers.ConvLSTM{n}D(2, 2, dilation_rate=2), x(1, 2, {shape}))" for n, shape in ((1, "5, 2"), (2,
    "4, 3, 2"))),
    *(f"called(layers.ConvLSTM{n}D(2, 2, dropout=0.4, recurrent_dropout=0.3, seed=3), x(1, 2, {shape}), training=True)"
      for n, shape in ((1, "5, 2"), (2, "4, 3, 2"), (3, "2, 3, 3, 1"))),
    *(f"called(layers.Bidirectional(layers.LSTM(2, return_sequences=True), merge_mode={m}), x(2, 3, 2))"
    for m in ("'sum'", "'mul'", "'ave'", "None", "'concat'")),
    "called(layers.Bidirectional(layer=layers.LSTM(2), backward_layer=layers.GRU(2, go_backwards=True)), x(2, 3, 2))",
    "called(layers.TimeDistributed(layers.Dense(2)), x(2, 3, 4))",
    "called(layers.TimeDistributed(layer=layers.Conv1D(2, 2)), x(2, 3, 4, 2))",
    "called(layers.TimeDistributed(layers.LSTM(2)), x(2, 3, 4, 2), mask=mask(2, 3, 4))",
    *(f"called(layers.MultiHeadAttention(2, 3, {p}), x(1, 4, 4), x(1, 4, 4))" for p in (
        "value_dim=5", "use_bias=False", "output_shape=6", "output_shape=(2, 3)", "sliding_window=2",
        "flash_attention=False",
        "use_gate=True", "seed=3", "attention_axes=(1,)")),
    "called(layers.MultiHeadAttention(2, 3, dropout=0.4, seed=3), x(1, 4, 4), x(1, 4, 4), training=True)",
    "called(layers.MultiHeadAttention(num_heads=2, key_dim=3), x(1, 4, 4), x(1, 3, 4), x(1, 3, 4), return_attention_scores=True)",
    "called(layers.MultiHeadAttention(2, 3), x(2, 4, 4), x(2, 3, 4), query_mask=lengths(2, 4), value_mask=lengths(2, 3), key_mask=lengths(2, 3))",
    "called(layers.MultiHeadAttention(2, 3, sliding_window=1), x(1, 4, 4), x(1, 4, 4), use_causal_mask=True, return_attention_scores=True)",
    *(f"called(layers.GroupQueryAttention(2, 4, 2, {p}), x(1, 4, 4), x(1, 4, 4))" for p in (
        "use_bias=False", "sliding_window=2", "flash_attention=False", "use_gate=True", "seed=3")),
    "called(layers.GroupQueryAttention(head_dim=2, num_query_heads=4, num_key_value_heads=1, dropout=0.4, seed=3), x(1, 4, 4), x(1, 4, 4), training=True)",
    "called(layers.GroupQueryAttention(2, 4, 2), x(1, 3, 4), x(1, 3, 4), use_causal_mask=True, return_attention_scores=True)",
    "called(layers.Attention(use_scale=True, score_mode='concat'), [x(2, 3, 2), x(2, 4, 2)])",
    "called(layers.Attention(use_scale=True), [x(2, 3, 2), x(2, 4, 2)])",
    "called(layers.Attention(dropout=0.4, seed=3), [x(2, 3, 2), x(2, 4, 2)], training=True)",
    "called(layers.Attention(), [x(2, 3, 2), x(2, 4, 2)], return_attention_scores=True)",
    "called(layers.Attention(), [x(2, 3, 2), x(2, 3, 2)], use_causal_mask=True)",
    "called(layers.AdditiveAttention(use_scale=False), [x(2, 3, 2), x(2, 4, 2)])",
    "called(layers.AdditiveAttention(dropout=0.0), [x(2, 3, 2), x(2, 4, 2), x(2, 4, 2)], mask=[lengths(2, 3), lengths(2, 4)])",
    *(f"called(layers.{text}, training=True)" for text in (
        "Dropout(rate=0.4, seed=2), x(3, 4)", "Dropout(0.4, noise_shape=(3, 1), seed=2), x(3, 4)",
        "AlphaDropout(0.4, noise_shape=(3, 1), seed=2), x(3, 4)", "AlphaDropout(rate=0.3, seed=2), x(3, 4)",
        "GaussianDropout(rate=0.3, seed=2), x(3, 4)",
        "GaussianNoise(stddev=0.3, seed=2), x(3, 4)", "SpatialDropout1D(rate=0.4, seed=2, name='s'), x(2, 3, 4)",
        "SpatialDropout2D(rate=0.4, data_format='channels_first', seed=2, name='s'), x(2, 3, 2, 2)",
        "SpatialDropout2D(0.4, seed=2), x(2, 2, 2, 3)",
        "SpatialDropout3D(rate=0.4, data_format='channels_first', seed=2, name='s'), x(2, 3, 2, 1, 2)",
        "SpatialDropout3D(0.4, seed=2), x(2, 1, 2, 2, 3)",
        "SpatialDropout1D(0.4, seed=2, dtype='float64'), x(2, 3, 4)",
        "SpatialDropout2D(0.4, seed=2, dtype='float64'), x(2, 2, 2, 4)")),
    "called(layers.ActivityRegularization(l1=0.2, l2=0.3), x(2, 3))",
    "called(layers.ReLU(max_value=0.5), x(3, 4))", "called(layers.ReLU(negative_slope=0.2), x(3, 4))",
    "called(layers.ReLU(threshold=0.3), x(3, 4))",
    "called(layers.LeakyReLU(negative_slope=0.7), x(3, 4))", "called(layers.ELU(alpha=0.4), x(3, 4))",
    "called(layers.Softmax(axis=(1, 2)), x(2, 3, 2))",
    "called(layers.Softmax(axis=1), x(2, 3, 2), mask=mask(2, 3, 2))",
    "called(layers.Activation(activation='gelu'), x(3, 4))",
    "trained(layers.PReLU(alpha_initializer=initializers.Constant(0.3), alpha_regularizer='l2', alpha_constraint='non_neg', shared_axes=[1]), x(2, 3, 2))",
    "called(layers.Masking(mask_value=0.5), np.array([[[0.5, 0.5], [0.5, 1.0]]], 'float32'))",
    "called(layers.Lambda(lambda a, scale: a * scale, arguments={'scale': 3.0}), x(2, 3))",
    "layers.Lambda(lambda a: a, output_shape=(7,)).compute_output_shape((None, 3))",
    "layers.Lambda(lambda a: a, mask=lambda i, m: m).compute_mask(x(2, 3), mask(2))",
]

_SHAPES = [
    "called(layers.Flatten(data_format='channels_first'), x(2, 3, 4, 2))",
    "called(layers.Permute(dims=(3, 1, 2)), x(2, 3, 4, 2))",
    "called(layers.RepeatVector(n=4), x(2, 3))", "called(layers.Reshape(target_shape=(4, -1)), x(2, 3, 4))",
    "called(layers.Cropping1D(cropping=(2, 1)), x(1, 6, 2))",
    *(f"called(layers.Cropping2D({p}), x(1, {shape}))" for p, shape in (("cropping=1", "5, 6, 2"),
    ("cropping=((1, 2), (0, 1))", "5, 6, 2"), ("(1, 2), " + _FIRST, "2, 5, 6"))),
    *(f"called(layers.Cropping3D({p}), x(1, {shape}))" for p, shape in (("cropping=1", "3, 4, 3, 2"),
    ("((1, 1), (0, 2), (1, 0)), " + _FIRST, "2, 3, 4, 3"))),
    *(f"called(layers.ZeroPadding1D({p}), x(1, {shape}))" for p, shape in (("padding=(2, 1)", "3, 2"),
    ("2, " + _FIRST, "2, 3"))),
    *(f"called(layers.ZeroPadding2D({p}), x(1, {shape}))" for p, shape in (("padding=((1, 2), (0, 1))", "2, 3, 2"),
    ("(1, 2), " + _FIRST, "2, 2, 3"))),
    *(f"called(layers.ZeroPadding3D({p}), x(1, {shape}))" for p, shape in (("padding=1", "2, 3, 2, 2"),
    ("((1, 1), (0, 2), (1, 0)), " + _FIRST, "2, 2, 3, 2"))),
    "called(layers.UpSampling1D(size=3), x(1, 3, 2))", *(f"called(layers.UpSampling2D({p}), x(1, {shape}))" for p,
    shape in (
        ("size=(3, 2)", "2, 3, 2"), ("2, " + _FIRST, "2, 2, 3"), ("2, interpolation='bilinear'", "2, 3, 2"),
        ("(2, 3), interpolation='bicubic'", "3, 3, 1"),
        ("2, interpolation='lanczos3'", "3, 3, 1"), ("2, interpolation='lanczos5'", "3, 3, 1"),
        ("2, interpolation='bilinear', " + _FIRST, "2, 2, 3"))),
    *(f"called(layers.UpSampling3D({p}), x(1, {shape}))" for p, shape in (("size=(1, 2, 3)", "2, 2, 2, 2"),
    ("2, " + _FIRST, "2, 2, 1, 2"))),
    "called(layers.Concatenate(axis=0), [x(2, 3), x(1, 3)])",
    "called(layers.Concatenate(axis=-2), [x(2, 3, 1), x(2, 2, 1)])",
    "called(layers.Dot(axes=(1, 2), normalize=True), [x(2, 3, 4), x(2, 2, 3)])",
    "called(layers.Dot(axes=-1), [x(2, 3), x(2, 3)])", "layers.concatenate([x(2, 3), x(2, 1)], axis=1)",
    "layers.dot([x(2, 3), x(2, 3)], axes=1)", "layers.dot([x(2, 3, 4), x(2, 4, 3)], axes=(1, 2), normalize=True)",
    *(f"layers.{name}([x(2, 3), x(2, 3)])" for name in ("add", "average", "maximum", "minimum", "multiply",
    "subtract")),
    "called(layers.Rescaling(scale=2.0, offset=0.5), x(2, 3))",
    "called(layers.Rescaling([1.0, 2.0, 3.0], offset=[0.0, 1.0, 2.0]), x(2, 3))",
    *(f"called(layers.Normalization({p}), x(3, 2))" for p in ("mean=1.0, variance=4.0",
    "axis=None, mean=0.5, variance=2.0", "mean=[1.0, 2.0], variance=[4.0, 9.0], invert=True",
                                                             "axis=1, mean=[0.5, 1.0], variance=[2.0, 3.0]")),
    *(f"called(layers.Resizing(height=3, width=5, {p}), x(1, {shape}))" for p, shape in (
        ("interpolation='nearest'", "4, 6, 1"), ("interpolation='bicubic'", "4, 6, 1"), ("crop_to_aspect_ratio=True",
        "4, 4, 1"), ("pad_to_aspect_ratio=True, fill_value=2.0", "4, 4, 1"),
        ("antialias=True", "7, 9, 1"), (_FIRST, "1, 4, 6"), ("fill_mode='constant', pad_to_aspect_ratio=True",
        "2, 6, 1"), ("interpolation='lanczos3', antialias=True", "7, 9, 1"))),
    "called(layers.CenterCrop(height=2, width=3, data_format='channels_first'), x(1, 2, 4, 5))",
    "called(layers.CenterCrop(6, 3), x(1, 4, 5, 1))",
    *(f"called(layers.CategoryEncoding(num_tokens=4, output_mode='{m}'), ints(4, 2, 3))" for m in ("multi_hot",
    "count")), "called(layers.CategoryEncoding(4, output_mode='one_hot'), ints(4, 3))",
    "called(layers.CategoryEncoding(4, output_mode='count'), ints(4, 2, 3), count_weights=np.arange(6.0).reshape(2, 3))",
    "called(layers.CategoryEncoding(4, output_mode='multi_hot', sparse=True), ints(4, 2, 3))",
    "called(layers.CategoryEncoding(4, 'count', sparse=True), ints(4, 2, 3))",
    *(f"called(layers.Discretization(bin_boundaries=[-0.5, 0.0, 0.5], {p}), {data})" for p,
    data in (("output_mode='one_hot'", "x(3)"), ("output_mode='multi_hot'", "x(2, 3)"),
                                                                                                   ("output_mode='count'", "x(2, 3)"), ("name='d'", "x(2, 3)"),
                                                                                                   ("output_mode='one_hot', dtype='float64'", "x(3)"),
                                                                                                   ("output_mode='one_hot', sparse=True", "x(3, 1)"))),
    *(f"adapted(layers.Discretization({p}), np.linspace(0, 1, 50) ** 2, np.array([0.05, 0.3, 0.7], 'float32'))"
    for p in ("num_bins=4", "num_bins=4, epsilon=0.2", "num_bins=3, epsilon=0.001")),
    *(f"called(layers.Hashing(num_bins=5, {p}), np.array([[1, 2, 3], [4, 5, 0]]))" for p in ("mask_value=0", "salt=9",
    "salt=[1, 2]", "salt=3, mask_value=0",
                                                                                           "output_mode='multi_hot'",
                                                                                           "output_mode='count'",
                                                                                           "output_mode='multi_hot', sparse=True")),
    "called(layers.Hashing(num_bins=5, output_mode='one_hot'), np.array([[1], [2]]))",
    "called(layers.Hashing(3, salt=133), np.array([['a'], ['b'], ['c']]))",
    *(f"called(layers.IntegerLookup(vocabulary=[12, 36, 4], {p}), np.array([[12, 4, 99], [36, 0, 5]]))" for p in (
        "max_tokens=9", "num_oov_indices=2", "mask_token=0", "oov_token=-7", "output_mode='multi_hot'",
        "output_mode='count'", "output_mode='count', pad_to_max_tokens=True, max_tokens=8",
        "output_mode='tf_idf', idf_weights=[0.5, 0.7, 0.2]", "num_oov_indices=3",
        "name='l', vocabulary_dtype='int64'", "output_mode='multi_hot', sparse=True",
        "num_oov_indices=3, oov_method='floormod'", "mask_token=0, num_oov_indices=2")),
    "called(layers.IntegerLookup(vocabulary=[12, 36, 4], invert=True), np.array([[1, 3, 2], [0, 0, 1]]))",
    "called(layers.IntegerLookup(vocabulary=[12, 36], output_mode='one_hot'), np.array([[12], [5]]))",
    "raised(lambda: layers.IntegerLookup(vocabulary=[12, 36, 4], vocabulary_dtype='int32'))",
    *(f"called(layers.StringLookup(vocabulary=['a', 'b', 'c'], {p}), np.array([['a', 'c', 'z'], ['b', '', 'y']]))"
    for p in (
        "max_tokens=9", "num_oov_indices=2", "mask_token=''", "oov_token='?'", "output_mode='multi_hot'",
        "output_mode='count'", "output_mode='count', pad_to_max_tokens=True, max_tokens=8",
        "output_mode='tf_idf', idf_weights=[0.5, 0.7, 0.2]", "name='l'", "encoding='utf-8'",
        "output_mode='multi_hot', sparse=True", "num_oov_indices=3")),
    "called(layers.StringLookup(vocabulary=['a', 'b'], invert=True, oov_token='?'), np.array([[1, 2, 0]]))",
    "called(layers.StringLookup(vocabulary=['a', 'b'], output_mode='one_hot'), np.array([['b'], ['z']]))",
    *(f"called(layers.TextVectorization(vocabulary=['a', 'b', 'cd', 'a b'], {p}), np.array(['A b, cd', 'b z']))"
    for p in (
        "max_tokens=9", "standardize='lower'", "standardize='strip_punctuation'", "standardize=None",
        "split='character'", "split=None", "ngrams=2", "ngrams=(2,)", "output_mode='multi_hot'",
        "output_mode='count'", "output_mode='tf_idf', idf_weights=[0.5, 0.7, 0.2, 0.1]", "output_sequence_length=5",
        "output_sequence_length=2", "max_tokens=8, pad_to_max_tokens=True, output_mode='count'",
        "ragged=True", "encoding='utf-8', name='t'", "output_mode='count', sparse=True")),
]

_IMAGES = [
    *(f"called(layers.{text}, seed=3), {data}, training=True)" for text, data in (
        ("RandomBrightness(factor=(0.1, 0.3), value_range=(0, 1)", "unit(2, 3, 2, 3)"), ("RandomBrightness(0.2",
        "unit(2, 3, 2, 3) * 200"),
        ("RandomContrast(factor=0.4, value_range=(0, 1)", "unit(2, 3, 2, 3)"), ("RandomContrast((0.2, 0.5)",
        "unit(2, 3, 2, 3) * 200"),
        ("RandomFlip(mode='vertical'", "x(3, 4, 3, 1)"), ("RandomFlip('horizontal_and_vertical'", "x(3, 4, 3, 1)"),
        ("RandomFlip('horizontal', data_format='channels_first'", "x(3, 1, 4, 3)"),
        ("RandomCrop(height=2, width=2, name='c'", "x(2, 4, 3, 1)"), ("RandomCrop(2, 2, data_format='channels_first'",
        "x(2, 1, 4, 3)"),
        ("RandomRotation(factor=0.2, fill_mode='constant', fill_value=0.5", "x(2, 4, 4, 1)"),
        ("RandomRotation((0.1, 0.3), interpolation='nearest'", "x(2, 4, 4, 1)"),
        ("RandomRotation(0.2, fill_mode='nearest', data_format='channels_first'", "x(2, 1, 4, 4)"),
        ("RandomRotation(0.2, fill_mode='wrap'", "x(2, 4, 4, 1)"),
        ("RandomTranslation(height_factor=0.3, width_factor=(0.1, 0.2), fill_mode='constant', fill_value=0.5",
        "x(2, 4, 4, 1)"), ("RandomTranslation(0.3, 0.2, interpolation='nearest'", "x(2, 4, 4, 1)"),
        ("RandomTranslation(0.3, 0.2, fill_mode='nearest', data_format='channels_first'", "x(2, 1, 4, 4)"),
        ("RandomZoom(height_factor=0.3, width_factor=0.2, fill_mode='constant', fill_value=0.5", "x(2, 4, 4, 1)"),
        ("RandomZoom(0.3, interpolation='nearest'", "x(2, 4, 4, 1)"),
        ("RandomZoom((0.1, 0.3), fill_mode='wrap', data_format='channels_first'", "x(2, 1, 4, 4)"),
        ("RandomGrayscale(factor=1.0, data_format='channels_first'", "unit(2, 3, 2, 2)"),
        ("RandomInvert(factor=1.0, value_range=(0, 1)", "unit(2, 2, 2, 3)"),
        ("RandomInvert(factor=0.0, data_format='channels_last'", "unit(2, 2, 2, 3)"),
        ("Solarization(addition_factor=(0.1, 0.2), threshold_factor=(0.3, 0.7)", "unit(2, 2, 2, 3) * 255"),
        ("Solarization(addition_factor=0.0, threshold_factor=(0.5, 0.5), value_range=(0, 1)", "unit(2, 2, 2, 3)"),
        ("RandomHue(factor=(0.3, 0.3), value_range=(0, 1)", "unit(2, 2, 2, 3)"),
        ("RandomSaturation(factor=(0.2, 0.2), value_range=(0, 1)", "unit(2, 2, 2, 3)"),
        ("RandomColorDegeneration(factor=(0.4, 0.4), value_range=(0, 1)", "unit(2, 2, 2, 3)"),
        ("RandomHue(0.4, data_format='channels_first'", "unit(2, 3, 2, 2) * 255"),
        ("RandomSaturation((0.7, 0.7), data_format='channels_first'", "unit(2, 3, 2, 2) * 255"),
        ("RandomColorDegeneration((0.6, 0.6), data_format='channels_first'", "unit(2, 3, 2, 2) * 255"))),
    "called(layers.AutoContrast(value_range=(0, 1)), unit(2, 3, 2, 3))",
]

_INPUTS = [
    *(f"described(layers.Input({p}))" for p in ("shape=(3,)", "(3,), batch_size=4", "(3,), dtype='int32'",
    "batch_shape=(2, 3)", "(3,), name='n'", "(None, 3), optional=True", "(3,), sparse=True",
                                               "(None,), ragged=True")),
    *(f"described(layers.InputLayer({p}).output)" for p in ("shape=(3,)", "(3,), batch_size=4", "(3,), dtype='int32'",
    "batch_shape=(2, 3)", "(3,), name='n'", "(3,), optional=True", "(3,), sparse=True")),
    *(f"refused(layers.InputSpec({p}), {data})" for p, data in (("dtype='int32'", "x(2)"), ("shape=(None, 3)",
    "x(2, 4)"), ("ndim=2", "x(2)"), ("max_ndim=1", "x(2, 2)"), ("min_ndim=2", "x(2)"),
                                                              ("axes={-1: 3}", "x(2, 4)"),
                                                              ("shape=(None, 3), allow_last_axis_squeeze=True",
                                                              "x(2)"), ("shape=(None, 3)", "x(2, 3)"),
                                                              ("ndim=2, name='n', optional=True", "x(2, 3)"))),
]

_SAME = """layers.Dense(3)|x(2, 4);layers.Conv1D(2, 2)|x(2, 5, 2);layers.LSTM(2)|x(2, 3, 2);layers.GRU(2)|x(2, 3, 2);layers.BatchNormalization()|x(3, 2)
layers.LayerNormalization()|x(3, 2);layers.MultiHeadAttention(1, 2)|x(1, 2, 2), x(1, 2, 2);layers.EinsumDense('ab,bc->ac', 3)|x(2, 4);layers.SimpleRNN(2)|x(2, 3, 2)
layers.Conv2D(1, 2)|x(1, 3, 3, 1);layers.SeparableConv2D(1, 2)|x(1, 3, 3, 1);layers.DepthwiseConv2D(2)|x(1, 3, 3, 1);layers.PReLU()|x(2, 3);layers.RMSNormalization()|x(2, 3)
layers.GroupNormalization(1)|x(2, 3);layers.Conv2DTranspose(1, 2)|x(1, 2, 2, 1);layers.Softmax()|x(2, 3);layers.MaxPooling1D()|x(1, 4, 1);layers.Add()|[x(2), x(2)];layers.Flatten()|x(2, 2, 2)
layers.Conv3D(1, 2)|x(1, 2, 2, 2, 1);layers.Rescaling(2.0)|x(2, 3);layers.ReLU()|x(2, 3);layers.UnitNormalization()|x(2, 3);layers.Dot(1)|[x(2, 3), x(2, 3)];layers.Attention()|[x(1, 2, 2), x(1, 2, 2)]"""
_POLICIES = [f"typed({layer[:-1]}{', ' if layer[-2] != '(' else ''}dtype='{policy}', name='other', trainable=False), {data})"
             for line in _SAME.split("\n") for layer, data in (pair.split("|") for pair in line.split(";"))
             for policy in ("float64", "mixed_float16", "mixed_bfloat16")]

VALUES = [*_CONVOLUTIONS, *_LAYERS, *_SHAPES, *_IMAGES, *_INPUTS, *_POLICIES]

_MAP = "TensorFlow's gradient of an image that was moved is the image under the inverse map; ours is the derivative"
_LORA = "refused: LoRA is not covered"
DIFFERENT = {
    **{text: "Keras forgets the activity_regularizer of SimpleRNN; ours uses it" for text in VALUES
       if "trained(layers.SimpleRNN(" in text},
    **{text: _LORA for text in VALUES if "lora_rank" in text}, **{text: "refused: use_gate is not covered"
    for text in VALUES if "use_gate" in text},
    **{text: "Keras drops a query_mask that is passed; ours uses it" for text in VALUES if "query_mask" in text},
    **{text: _MAP for text in VALUES if any(f"layers.{n}(" in text for n in ("RandomRotation", "RandomTranslation",
    "RandomZoom"))
       and "0.1, 0.2), fill_mode='constant'" not in text and "RandomZoom(0.3, interpolation" not in text},
    **{text: "TensorFlow has no gradient; ours is the derivative" for text in VALUES
    if "RandomSaturation(factor" in text or "RandomHue" in text},
    **{text: "Keras lets the saturation exceed 1 where value_range is 0 to 255; ours does not" for text in VALUES
       if "RandomSaturation((" in text},
}
