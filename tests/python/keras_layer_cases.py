"""Layers to be compared with real Keras: how they are made, on what they are called.

Each case is (name, layer, positional arguments, keyword arguments), expressions over `layers`, `keras` and the makers
of data below. tools/make_keras_layers_reference.py asks real Keras and test_keras_layers.py asks Gradus; both give the
weights the same values.
"""
import numpy as np


class Data:
    """Arrays that are the same everywhere: one sequence of random numbers per case."""

    def __init__(self, name):
        self.random = np.random.RandomState(sum(map(ord, name)) % 1000)

    def x(self, *shape):
        return self.random.uniform(-1, 1, shape).astype("float32")

    def positive(self, *shape):
        return self.random.uniform(0.5, 1.5, shape).astype("float32")

    def ints(self, below, *shape):
        return self.random.randint(0, below, shape).astype("int32")

    def mask(self, *shape):
        return self.random.rand(*shape) < 0.6

    def lengths(self, batch, time):
        """A mask of sequences of several lengths."""
        return np.arange(time)[None, :] < self.random.randint(1, time + 1, (batch, 1))

    def weights(self, shapes, names):
        """Values for weights: variances and deviations are positive."""
        return [self.positive(*s) if "variance" in n else self.x(*s) * 0.8 for s, n in zip(shapes, names)]


CASES = [
    ("dense", "layers.Dense(3)", "x(2, 4)", ""),
    ("dense_3d_relu", "layers.Dense(3, activation='relu')", "x(2, 3, 4)", ""),
    ("dense_softmax_no_bias", "layers.Dense(3, activation='softmax', use_bias=False)", "x(2, 4)", ""),
    ("dense_parts", "layers.Dense(2, 'gelu', kernel_initializer='he_normal', kernel_regularizer='l2', "
     "bias_constraint='non_neg', bias_regularizer=keras.regularizers.L1(0.1), "
     "kernel_constraint=keras.constraints.MaxNorm(1.5))", "x(2, 3)", ""),
    ("dense_integers", "layers.Dense(2)", "ints(5, 2, 3)", ""),
    ("einsum_dense", "layers.EinsumDense('abc,cde->abde', output_shape=(None, 2, 3), bias_axes='de')", "x(2, 3, 4)",
     ""),
    ("einsum_dense_ellipsis", "layers.EinsumDense('...x,xy->...y', output_shape=3, bias_axes='y', activation='tanh')",
     "x(2, 3, 4)", ""),
    ("einsum_dense_no_bias", "layers.EinsumDense('ab,bc->ac', output_shape=3)", "x(2, 4)", ""),
    ("embedding", "layers.Embedding(6, 3)", "ints(6, 2, 4)", ""),
    ("embedding_masked", "layers.Embedding(6, 2, mask_zero=True, embeddings_initializer='normal')", "ints(6, 2, 4)",
     ""),
    ("activation", "layers.Activation('selu')", "x(2, 3)", ""),
    ("relu", "layers.ReLU(max_value=0.5, negative_slope=0.2, threshold=0.1)", "x(3, 4)", ""),
    ("relu_plain", "layers.ReLU()", "x(3, 4)", ""),
    ("leaky_relu", "layers.LeakyReLU(negative_slope=0.1)", "x(3, 4)", ""),
    ("prelu", "layers.PReLU(shared_axes=[1])", "x(2, 3, 2)", ""),
    ("elu", "layers.ELU(alpha=0.5)", "x(3, 4)", ""),
    ("softmax", "layers.Softmax(axis=1)", "x(2, 3, 2)", ""),
    ("softmax_masked", "layers.Softmax()", "x(2, 3)", "mask=mask(2, 3)"),
    ("identity", "layers.Identity()", "x(2, 3)", ""),
    ("masking", "layers.Masking(mask_value=0.0)", "x(2, 3, 2) * mask(2, 3, 1)", ""),
    ("conv1d_causal", "layers.Conv1D(3, 2, padding='causal', dilation_rate=2)", "x(2, 6, 2)", ""),
    ("conv1d_strided", "layers.Conv1D(2, 3, strides=2, padding='same', activation='relu')", "x(2, 7, 2)", ""),
    ("conv1d_groups", "layers.Conv1D(4, 2, groups=2)", "x(1, 5, 4)", ""),
    ("conv2d", "layers.Conv2D(3, 3)", "x(2, 5, 4, 2)", ""),
    ("conv2d_same_strided", "layers.Conv2D(2, (3, 2), strides=2, padding='same', use_bias=False)", "x(1, 5, 6, 2)", ""),
    ("conv2d_dilated_groups", "layers.Conv2D(4, 2, dilation_rate=2, groups=2)", "x(1, 5, 5, 2)", ""),
    ("conv3d", "layers.Conv3D(2, 2)", "x(1, 3, 4, 3, 2)", ""),
    ("conv3d_same_strided", "layers.Conv3D(2, (2, 3, 2), strides=2, padding='same')", "x(1, 5, 4, 3, 1)", ""),
    ("conv1d_transpose", "layers.Conv1DTranspose(2, 3, strides=2, padding='same')", "x(2, 3, 2)", ""),
    ("conv2d_transpose", "layers.Conv2DTranspose(2, 3, strides=2)", "x(1, 3, 2, 3)", ""),
    ("conv2d_transpose_same", "layers.Conv2DTranspose(2, 3, strides=2, padding='same')", "x(1, 2, 3, 2)", ""),
    ("conv2d_transpose_padded", "layers.Conv2DTranspose(2, 3, strides=2, padding='same', output_padding=1)",
     "x(1, 2, 3, 2)", ""),
    ("depthwise_conv2d", "layers.DepthwiseConv2D(2, depth_multiplier=2)", "x(1, 4, 3, 2)", ""),
    ("depthwise_conv1d", "layers.DepthwiseConv1D(3, padding='same')", "x(1, 4, 2)", ""),
    ("separable_conv2d", "layers.SeparableConv2D(3, 2, padding='same', depth_multiplier=2)", "x(1, 3, 4, 2)", ""),
    ("separable_conv1d", "layers.SeparableConv1D(2, 2)", "x(1, 4, 3)", ""),
    ("max_pooling1d", "layers.MaxPooling1D(2)", "x(2, 5, 2)", ""),
    ("max_pooling2d", "layers.MaxPooling2D((2, 3), strides=2, padding='same')", "x(1, 5, 6, 2)", ""),
    ("max_pooling3d", "layers.MaxPooling3D(2)", "x(1, 4, 4, 2, 2)", ""),
    ("average_pooling1d", "layers.AveragePooling1D(3, strides=1, padding='same')", "x(2, 5, 2)", ""),
    ("average_pooling2d", "layers.AveragePooling2D(2)", "x(1, 4, 5, 2)", ""),
    ("average_pooling3d", "layers.AveragePooling3D(2, strides=1, padding='same')", "x(1, 3, 2, 2, 1)", ""),
    ("global_average_pooling1d", "layers.GlobalAveragePooling1D()", "x(2, 3, 2)", "mask=lengths(2, 3)"),
    ("global_average_pooling2d", "layers.GlobalAveragePooling2D(keepdims=True)", "x(2, 3, 2, 2)", ""),
    ("global_max_pooling1d", "layers.GlobalMaxPooling1D()", "x(2, 3, 2)", ""),
    ("global_max_pooling2d", "layers.GlobalMaxPooling2D()", "x(2, 3, 2, 2)", ""),
    ("batch_normalization", "layers.BatchNormalization()", "x(4, 3)", ""),
    ("batch_normalization_training", "layers.BatchNormalization(momentum=0.9)", "x(3, 2, 2, 3)", "training=True"),
    ("batch_normalization_axis", "layers.BatchNormalization(axis=1, scale=False)", "x(3, 2, 4)", "training=True"),
    ("batch_normalization_masked", "layers.BatchNormalization()", "x(2, 4, 2)", "mask=lengths(2, 4), training=True"),
    ("layer_normalization", "layers.LayerNormalization()", "x(2, 3, 4)", ""),
    ("layer_normalization_axes", "layers.LayerNormalization(axis=[1, 2], epsilon=1e-2)", "x(2, 3, 4)", ""),
    ("layer_normalization_axis1", "layers.LayerNormalization(axis=1, center=False)", "x(2, 3, 4)", ""),
    ("layer_normalization_plain", "layers.LayerNormalization(center=False, scale=False)", "x(2, 4)", ""),
    ("rms_normalization", "layers.RMSNormalization()", "x(2, 3, 4)", ""),
    ("group_normalization", "layers.GroupNormalization(groups=2)", "x(2, 3, 4)", ""),
    ("unit_normalization", "layers.UnitNormalization(axis=1)", "x(2, 3, 4)", ""),
    ("dropout", "layers.Dropout(0.4, seed=3)", "x(3, 5)", "training=True"),
    ("dropout_inference", "layers.Dropout(0.4, seed=3)", "x(2, 3)", ""),
    ("dropout_noise_shape", "layers.Dropout(0.5, noise_shape=(None, 1), seed=4)", "x(4, 3)", "training=True"),
    ("spatial_dropout1d", "layers.SpatialDropout1D(0.5, seed=5)", "x(2, 3, 4)", "training=True"),
    ("spatial_dropout2d", "layers.SpatialDropout2D(0.5, seed=5)", "x(2, 2, 2, 4)", "training=True"),
    ("gaussian_noise", "layers.GaussianNoise(0.3, seed=6)", "x(2, 4)", "training=True"),
    ("gaussian_dropout", "layers.GaussianDropout(0.3, seed=6)", "x(2, 4)", "training=True"),
    ("alpha_dropout", "layers.AlphaDropout(0.3, seed=6)", "x(3, 4)", "training=True"),
    ("activity_regularization", "layers.ActivityRegularization(l1=0.1, l2=0.2)", "x(2, 3)", ""),
    ("lstm", "layers.LSTM(3)", "x(2, 4, 2)", ""),
    ("lstm_sequences", "layers.LSTM(2, return_sequences=True, return_state=True, unit_forget_bias=False)", "x(2, 3, 2)",
     "initial_state=[x(2, 2), x(2, 2)]"),
    ("lstm_masked", "layers.LSTM(3, return_sequences=True)", "x(3, 4, 2)", "mask=mask(3, 4)"),
    ("lstm_masked_states", "layers.LSTM(2, return_sequences=True, return_state=True)", "x(3, 3, 2)",
     "mask=mask(3, 3), initial_state=[x(3, 2), x(3, 2)]"),
    ("lstm_backwards", "layers.LSTM(2, go_backwards=True, return_sequences=True, use_bias=False)", "x(2, 3, 2)",
     "mask=lengths(2, 3)"),
    ("lstm_zero_output", "layers.LSTM(2, return_sequences=True, zero_output_for_mask=True)", "x(2, 4, 2)",
     "mask=mask(2, 4)"),
    ("lstm_relu", "layers.LSTM(2, activation='relu', recurrent_activation='hard_sigmoid')", "x(2, 3, 2)",
     "mask=lengths(2, 3)"),
    ("lstm_dropout", "layers.LSTM(3, dropout=0.4, seed=2)", "x(2, 3, 4)", "training=True"),
    ("lstm_recurrent_dropout", "layers.LSTM(3, dropout=0.3, recurrent_dropout=0.4, seed=2)", "x(2, 3, 4)",
     "training=True"),
    ("lstm_stateful", "layers.LSTM(2, stateful=True)", "x(2, 3, 2)", ""),
    ("gru", "layers.GRU(3)", "x(2, 4, 2)", ""),
    ("gru_sequences", "layers.GRU(2, return_sequences=True, return_state=True)", "x(2, 3, 2)", "initial_state=x(2, 2)"),
    ("gru_masked", "layers.GRU(3, return_sequences=True)", "x(3, 4, 2)", "mask=mask(3, 4)"),
    ("gru_masked_states", "layers.GRU(2, return_sequences=True, return_state=True)", "x(3, 3, 2)",
     "mask=mask(3, 3), initial_state=x(3, 2)"),
    ("gru_backwards", "layers.GRU(2, go_backwards=True, use_bias=False)", "x(2, 3, 2)", ""),
    ("gru_reset_before", "layers.GRU(2, reset_after=False, return_sequences=True)", "x(2, 3, 2)", ""),
    ("gru_dropout", "layers.GRU(3, dropout=0.4, recurrent_dropout=0.3, seed=2)", "x(2, 3, 4)", "training=True"),
    ("simple_rnn", "layers.SimpleRNN(3, return_sequences=True)", "x(2, 4, 2)", "mask=lengths(2, 4)"),
    ("simple_rnn_dropout", "layers.SimpleRNN(3, dropout=0.4, recurrent_dropout=0.3, seed=2)", "x(2, 3, 4)",
     "training=True"),
    ("lstm_cell", "layers.LSTMCell(2)", "x(2, 3), [x(2, 2), x(2, 2)]", ""),
    ("gru_cell", "layers.GRUCell(2)", "x(2, 3), [x(2, 2)]", ""),
    ("simple_rnn_cell", "layers.SimpleRNNCell(2, activation='relu')", "x(2, 3), [x(2, 2)]", ""),
    ("rnn_stacked", "layers.RNN([layers.LSTMCell(2), layers.GRUCell(3)], return_state=True)", "x(2, 3, 2)", ""),
    ("rnn_cell_masked", "layers.RNN(layers.LSTMCell(2), return_sequences=True)", "x(2, 3, 2)", "mask=mask(2, 3)"),
    ("bidirectional", "layers.Bidirectional(layers.LSTM(2, return_sequences=True))", "x(2, 3, 2)",
     "mask=lengths(2, 3)"),
    ("bidirectional_sum_states", "layers.Bidirectional(layers.GRU(2, return_state=True), merge_mode='sum')",
     "x(2, 3, 2)", ""),
    ("time_distributed", "layers.TimeDistributed(layers.Dense(2, activation='tanh'))", "x(2, 3, 2)", ""),
    ("multi_head_attention", "layers.MultiHeadAttention(2, 3)", "x(2, 3, 4), x(2, 2, 3)", ""),
    ("multi_head_attention_causal", "layers.MultiHeadAttention(2, 2, value_dim=3, output_shape=5, use_bias=False)",
     "x(1, 3, 4), x(1, 3, 4)", "use_causal_mask=True, return_attention_scores=True"),
    ("multi_head_attention_masked", "layers.MultiHeadAttention(2, 2)", "x(2, 3, 4), x(2, 3, 4)",
     "attention_mask=mask(2, 3, 3), return_attention_scores=True"),
    ("multi_head_attention_axes", "layers.MultiHeadAttention(2, 2, attention_axes=(1, 2))", "x(1, 2, 2, 3), x(1, 2, "
                                                                                            "2, 3)",
     ""),
    ("group_query_attention", "layers.GroupQueryAttention(2, 4, 2)", "x(1, 3, 3), x(1, 2, 3)", ""),
    ("attention", "layers.Attention(use_scale=True)", "[x(2, 3, 2), x(2, 4, 2)]",
     "mask=[lengths(2, 3), lengths(2, 4)]"),
    ("attention_concat", "layers.Attention(score_mode='concat')", "[x(2, 3, 2), x(2, 3, 2), x(2, 3, 2)]",
     "use_causal_mask=True"),
    ("additive_attention", "layers.AdditiveAttention()", "[x(2, 3, 2), x(2, 4, 2)]", ""),
    ("flatten", "layers.Flatten()", "x(2, 3, 2)", ""),
    ("reshape", "layers.Reshape((-1, 2))", "x(2, 3, 4)", ""),
    ("permute", "layers.Permute((2, 1))", "x(2, 3, 4)", ""),
    ("repeat_vector", "layers.RepeatVector(3)", "x(2, 2)", ""),
    ("zero_padding1d", "layers.ZeroPadding1D((1, 2))", "x(1, 2, 2)", ""),
    ("zero_padding2d", "layers.ZeroPadding2D(((1, 0), (2, 1)))", "x(1, 2, 2, 1)", ""),
    ("cropping1d", "layers.Cropping1D(1)", "x(1, 4, 2)", ""),
    ("cropping2d", "layers.Cropping2D(((1, 0), (1, 2)))", "x(1, 3, 5, 1)", ""),
    ("up_sampling1d", "layers.UpSampling1D(3)", "x(1, 2, 2)", ""),
    ("up_sampling2d", "layers.UpSampling2D((2, 3))", "x(1, 2, 2, 1)", ""),
    ("up_sampling2d_bilinear", "layers.UpSampling2D(2, interpolation='bilinear')", "x(1, 2, 3, 1)", ""),
    ("add", "layers.Add()", "[x(2, 3), x(2, 3), x(2, 1)]", ""),
    ("subtract", "layers.Subtract()", "[x(2, 3), x(2, 3)]", ""),
    ("multiply", "layers.Multiply()", "[x(2, 3), x(2, 3)]", ""),
    ("average", "layers.Average()", "[x(2, 3), x(2, 3), x(2, 3)]", ""),
    ("maximum", "layers.Maximum()", "[x(2, 3), x(2, 3)]", ""),
    ("minimum", "layers.Minimum()", "[x(2, 3), x(2, 3)]", ""),
    ("concatenate", "layers.Concatenate(axis=1)", "[x(2, 3, 2), x(2, 1, 2)]", ""),
    ("dot", "layers.Dot(axes=1)", "[x(2, 3), x(2, 3)]", ""),
    ("dot_normalized", "layers.Dot(axes=(2, 1), normalize=True)", "[x(2, 3, 4), x(2, 4, 2)]", ""),
    ("rescaling", "layers.Rescaling(2.0, offset=-1.0)", "x(2, 3)", ""),
    ("normalization", "layers.Normalization(mean=[1.0, 2.0], variance=[3.0, 4.0])", "x(3, 2)", ""),
    ("normalization_inverted", "layers.Normalization(axis=None, mean=1.0, variance=3.0, invert=True)", "x(3, 2)", ""),
    ("resizing", "layers.Resizing(3, 7)", "x(1, 4, 5, 1)", ""),
    ("resizing_nearest", "layers.Resizing(3, 7, interpolation='nearest')", "x(1, 4, 5, 1)", ""),
    ("center_crop", "layers.CenterCrop(2, 3)", "x(1, 4, 6, 1)", ""),
    ("category_one_hot", "layers.CategoryEncoding(4, output_mode='one_hot')", "ints(4, 3)", ""),
    ("category_multi_hot", "layers.CategoryEncoding(4)", "ints(4, 2, 3)", ""),
    ("category_count", "layers.CategoryEncoding(4, output_mode='count')", "ints(4, 2, 3)", ""),
    ("discretization", "layers.Discretization([-0.5, 0.0, 0.5])", "x(2, 4)", ""),
    ("random_flip", "layers.RandomFlip('horizontal', seed=1)", "x(3, 2, 3, 1)", "training=True"),
    ("random_rotation", "layers.RandomRotation(0.2, seed=3)", "x(2, 3, 4, 1)", "training=True"),
    ("random_zoom", "layers.RandomZoom(0.3, (-0.2, 0.1), seed=3, fill_mode='constant')", "x(2, 3, 4, 1)",
     "training=True"),
    ("random_translation", "layers.RandomTranslation(0.3, 0.2, seed=3, fill_mode='wrap')", "x(2, 3, 4, 2)",
     "training=True"),
    ("random_contrast", "layers.RandomContrast(0.4, seed=3)", "positive(2, 3, 4, 1)", "training=True"),
    ("random_brightness", "layers.RandomBrightness(0.1, seed=3)", "positive(2, 3, 4, 1) * 100", "training=True"),
    ("spectral_normalization", "layers.SpectralNormalization(layers.Dense(3))", "x(2, 4)", "training=True"),
    ("conv_lstm1d", "layers.ConvLSTM1D(2, 2, return_sequences=True)", "x(2, 3, 4, 2)", ""),
    ("conv_lstm2d", "layers.ConvLSTM2D(2, 2, padding='same', return_state=True)", "x(2, 3, 3, 4, 1)", ""),
    ("conv_lstm2d_strided", "layers.ConvLSTM2D(1, (2, 3), strides=2, go_backwards=True, use_bias=False)", "x(1, 2, 5, 6, 2)", ""),
    ("conv_lstm2d_masked", "layers.ConvLSTM2D(2, 2, return_sequences=True)", "x(2, 3, 3, 3, 1)", "mask=mask(2, 3)"),
    ("conv_lstm3d", "layers.ConvLSTM3D(1, 2)", "x(1, 2, 3, 3, 2, 1)", ""),
    ("conv3d_transpose", "layers.Conv3DTranspose(2, 2)", "x(1, 2, 3, 2, 2)", ""),
    ("conv3d_transpose_same", "layers.Conv3DTranspose(2, 3, strides=2, padding='same', activation='relu')", "x(1, 2, 3, 2, 1)",
     ""),
    ("conv3d_transpose_wide", "layers.Conv3DTranspose(1, (1, 2, 2), strides=(3, 1, 2))", "x(1, 2, 2, 2, 1)", ""),
    ("auto_contrast", "layers.AutoContrast()", "positive(2, 3, 4, 3) * 100", ""),
    ("random_grayscale", "layers.RandomGrayscale(1.0)", "positive(2, 3, 4, 3)", "training=True"),
    ("einsum_dense_fans", "layers.EinsumDense('ab,bcd->acd', output_shape=(2, 3), bias_axes='cd')", "x(2, 4)", ""),
]

# Layers whose first weights are compared after keras.utils.set_random_seed(3), with the shape they are called on.
STARTS = [
    ("layers.Dense(2)", (2, 3)), ("layers.Embedding(5, 2)", (2, 3)), ("layers.LSTM(2)", (2, 4, 3)), ("layers.GRU(2)",
                                                                                                     (2, 4, 3)),
    ("layers.SimpleRNN(2)", (2, 4, 3)), ("layers.Bidirectional(layers.LSTM(2))", (2, 4, 3)), ("layers.Conv2D(2, 2)",
                                                                                              (2, 4, 4, 3)),
    ("layers.SeparableConv2D(2, 2)", (2, 4, 4, 3)), ("layers.MultiHeadAttention(2, 2, dropout=0.1)", (2, 4, 3)),
    ("layers.GroupQueryAttention(2, 2, 1)", (2, 4, 3)), ("layers.RNN([layers.LSTMCell(2), layers.GRUCell(2)])", (2, 4,
                                                                                                                 3)),
    ("layers.TimeDistributed(layers.Dense(2))", (2, 4, 3)), ("layers.Dropout(0.1)", (2, 3)),
    ("layers.ConvLSTM2D(2, 2)", (2, 3, 4, 4, 2)), ("layers.Conv3DTranspose(2, 2)", (2, 2, 2, 2, 3)),
    ("layers.EinsumDense('ab,bcd->acd', output_shape=(2, 3))", (2, 4)),
    ("keras.Sequential([layers.Dense(3), layers.Dropout(0.2), layers.Dense(2)])", (2, 3)),
]

FUNCTIONS = [
    "keras.ops.ctc_loss(ints(3, 2, 3) + 1, x(2, 8, 5), ints(1, 2) + 2, ints(1, 2) + 8)",
    "keras.ops.ctc_loss(ints(3, 2, 3), x(2, 8, 5), ints(1, 2) + 3, ints(2, 2) + 7, mask_index=4)",
    "keras.ops.ctc_decode(x(2, 6, 4), ints(2, 2) + 5)",
    "keras.ops.adaptive_average_pool(keras.ops.convert_to_tensor(x(2, 5, 7, 2)), (3, 2))",
    "keras.ops.adaptive_max_pool(keras.ops.convert_to_tensor(x(2, 5, 2)), 3)",
    "keras.ops.unfold(x(1, 2, 4, 5), (2, 3), stride=(2, 1), padding=1)",
    "keras.ops.psnr(x(2, 3), x(2, 3) * 0.9, 1.0)", "keras.ops.kaiser(7, 4.0)", "keras.ops.i0(x(2, 3) * 4)",
    "keras.ops.gcd(ints(40, 6), ints(30, 6))", "keras.ops.lcm(ints(9, 6), ints(9, 6))", "keras.ops.signbit(x(2, 3))",
    "keras.ops.ldexp(x(3), ints(4, 3))", "keras.ops.nextafter(x(3), 0.0)", "keras.ops.isreal(x(3))",
    "keras.ops.corrcoef(x(3, 5))", "keras.ops.correlate(x(5), x(3), mode='full')", "keras.ops.correlate(x(5), x(3), mode='same')",
    "keras.ops.histogram(x(12), bins=4)", "keras.ops.nanmedian(x(3, 4), axis=1)", "keras.ops.nanargmax(x(3, 4), axis=1)",
    "keras.ops.nancumsum(x(2, 3), axis=1)", "keras.ops.nanquantile(x(3, 4), 0.3, axis=0)",
    "keras.ops.unique(ints(4, 9), return_counts=True)", "keras.ops.geomspace(1.0, 100.0, 5)", "keras.ops.view_as_real(keras.ops.polar(positive(3), x(3)))",
    "keras.ops.view_as_real(keras.ops.view_as_complex(x(3, 2)))",
    "keras.layers.AdaptiveMaxPooling2D((2, 3))(x(1, 5, 4, 1))",
    *(f"keras.activations.{name}(x(3, 5) * 4)" for name in
      "relu leaky_relu relu6 softmax celu elu selu softplus softsign squareplus soft_shrink sparse_plus silu gelu tanh "
      "tanh_shrink sigmoid sparse_sigmoid exponential hard_sigmoid hard_silu hard_tanh hard_shrink linear mish "
      "log_softmax "
      "log_sigmoid".split()),
    "keras.activations.glu(x(2, 4))", "keras.activations.threshold(x(2, 4), 0.1, 7.0)",
    "keras.activations.softmax(x(2, 3), axis=0)",
    "keras.activations.gelu(x(2, 3), approximate=True)", "keras.activations.elu(x(2, 3), alpha=0.3)",
    "keras.activations.relu(x(2, 5), negative_slope=0.1, max_value=0.7, threshold=0.2)",
    *(f"keras.initializers.{name}(seed=7)(({shape}))" for name in
      "GlorotUniform GlorotNormal HeUniform HeNormal LecunUniform LecunNormal RandomNormal RandomUniform "
      "TruncatedNormal "
      "VarianceScaling Orthogonal".split() for shape in ("3, 2", "2, 1, 3")),
    "keras.initializers.Orthogonal(gain=2.0, seed=1)((2, 5))", "keras.initializers.Identity(gain=2.0)((2, 3))",
    "keras.initializers.Constant(2.5)((2, 2))", "keras.initializers.VarianceScaling(0.5, 'fan_out', "
                                                "'untruncated_normal', seed=3)((4, 3))",
    "keras.initializers.get('ones')((2,))", "keras.initializers.get({'class_name': 'Constant', 'config': {'value': "
                                            "3}})((2,))",
    *(f"keras.regularizers.{r}(keras.ops.convert_to_tensor(x(3, 4)))" for r in ("L1(0.1)", "L2(0.3)", "L1L2(0.1, 0.2)",
                                                                                "OrthogonalRegularizer(0.5)",
                                                   "OrthogonalRegularizer(0.5, mode='columns')", "get('l1')",
                                                                                "get('l1l2')")),
    *(f"keras.constraints.{c}(x(3, 4) * 3)" for c in ("MaxNorm(1.0)", "MaxNorm(1.0, axis=1)", "NonNeg()", "UnitNorm()",
                                                     "MinMaxNorm(0.5, 1.0, rate=0.7)", "get('max_norm')")),
    "keras.random.normal((2, 3), seed=5)", "keras.random.uniform((2, 3), 1.0, 2.0, seed=5)",
    "keras.random.truncated_normal((2, 3), seed=5)", "keras.random.randint((5,), 0, 10, seed=5)",
    "keras.random.dropout(x(3, 4), 0.5, seed=5)", "keras.random.categorical(x(2, 3), 4, seed=5)",
    "keras.random.dropout(x(3, 4), 0.5, noise_shape=(3, 1), seed=5)",
    *(f"keras.ops.{f}" for f in (
        "add(ints(5, 3), x(3))", "divide(ints(5, 3), 2)", "subtract(x(2, 3), 1)", "power(positive(3), 2)",
        "mean(ints(9, 2, 3), axis=1)",
        "sum(mask(2, 3))", "max(x(2, 3), axis=0)", "argmax(x(2, 3), axis=-1)", "std(x(2, 3))", "var(x(2, 3), axis=0)",
        "median(x(3, 4), axis=1)", "quantile(x(3, 4), 0.3)", "cumsum(x(2, 3), axis=1)", "clip(x(2, 3), -0.5, 0.5)",
        "where(mask(2, 3), x(2, 3), 0)", "concatenate([x(2, 3), ints(3, 2, 3)], axis=1)", "stack([x(3), x(3)], axis=1)",
        "split(x(2, 5), [1, 3], axis=1)", "reshape(x(2, 3), (3, 2))", "transpose(x(2, 3, 2), (2, 0, 1))",
        "expand_dims(x(2, 3), (0, 2))",
        "squeeze(x(2, 1, 3), 1)", "moveaxis(x(2, 3, 4), 0, -1)", "swapaxes(x(2, 3, 4), 0, 2)", "tile(x(2, 3), (2, 1))",
        "repeat(x(2, 3), 2, axis=1)", "flip(x(2, 3), axis=1)", "roll(x(2, 3), 1, axis=1)", "pad(x(2, 2), ((1, 0), (0, "
                                                                                           "2)))",
        "take(x(4, 2), ints(4, 3), axis=0)", "take_along_axis(x(2, 4), ints(4, 2, 2), axis=1)",
        "one_hot(ints(4, 3), 4)",
        "matmul(x(2, 3), x(3, 2))", "matmul(x(2, 3), x(3))", "dot(x(2, 3), x(3, 2))", "einsum('ij,jk->ik', x(2, 3), "
                                                                                      "x(3, 2))",
        "tensordot(x(2, 3), x(3, 2), axes=1)", "outer(x(2), x(3))", "norm(x(2, 3), axis=1)", "tril(x(3, 3))",
        "triu(x(3, 3), 1)",
        "diag(x(3))", "trace(x(3, 3))", "sort(x(2, 4))", "argsort(x(2, 4))", "top_k(x(2, 4), 2)[0]", "arange(5)",
        "arange(1, 2, 0.25)",
        "linspace(0, 1, 5)", "eye(2, 3, k=1)", "full((2, 2), 3)", "logsumexp(x(2, 3), axis=1)", "log2(positive(3))",
        "isclose(x(2), x(2))", "nan_to_num(np.array([1.0, np.nan, np.inf], 'float32'))", "segment_sum(x(4, 2), "
                                                                                         "np.array([0, 0, 1, 2]))",
        "softmax(x(2, 3))", "relu(x(2, 3))", "conv(x(1, 4, 4, 2), x(2, 2, 2, 3), strides=2, padding='same')",
        "max_pool(x(1, 4, 4, 1), 2)", "binary_crossentropy(mask(2, 3).astype('float32'), positive(2, 3) * 0.5)",
        "categorical_crossentropy(np.eye(3, dtype='float32')[:2], positive(2, 3))",
        "sparse_categorical_crossentropy(ints(3, 4), x(4, 3), from_logits=True)", "scatter_update(x(4), "
                                                                                  "np.array([[1], [3]]), x(2))",
        "slice_update(x(3, 3), [1, 0], x(2, 2))", "slice(x(3, 3), [1, 0], [2, 2])", "normalize(x(2, 3))", "erf(x(3))",
        "count_nonzero(ints(3, 5))",
        "meshgrid(x(2), x(3))[0]", "average(x(2, 3), axis=1, weights=positive(3))", "cond(True, lambda: x(2), lambda: "
                                                                                    "x(3))",
        "image.resize(x(1, 2, 3, 1), (4, 5))", "image.extract_patches(x(1, 4, 4, 2), 2)",
        "image.affine_transform(x(1, 3, 4, 1), np.array([[0.9, 0.1, 0.3, -0.1, 1.1, -0.4, 0, 0]], 'float32'), "
        "'nearest', 'reflect')", "dot_product_attention(x(1, 2, 2, 3), x(1, 3, 2, 3), x(1, 3, 2, 3))",
        "moments(x(3, 2), axes=[0])[1]", "floor_divide(ints(9, 3), 2)", "mod(x(3), 0.3)", "hypot(x(3), x(3))",
        "round(x(3) * 10, 1)",
        "logical_and(mask(3), mask(3))", "equal(ints(3, 4), 1)",
        "digitize(x(4), np.array([-0.5, 0.0, 0.5], 'float32'))", "diff(x(2, 4))",
        "fmod(x(4) * 5, 2.0)", "fmax(np.array([1.0, np.nan], 'float32'), np.array([np.nan, 2.0], 'float32'))",
        "heaviside(x(3), 0.5)",
        "logaddexp2(x(3), x(3))", "sinc(x(4))", "isin(ints(5, 4), np.array([1, 2], 'int32'))", "ptp(x(2, 3), axis=1)",
        "percentile(x(3, 4), 30)",
        "nansum(np.array([1.0, np.nan], 'float32'))", "nanmean(np.array([[1.0, np.nan], [2.0, 3.0]], 'float32'), "
                                                      "axis=0)",
        "nanvar(np.array([[1.0, np.nan], [2.0, 3.0]], 'float32'), axis=1)",
        "nanmax(np.array([1.0, np.nan], 'float32'))", "rot90(x(2, 3))",
        "array_split(x(5), 2)", "hsplit(x(2, 4), 2)", "dstack([x(2, 2), x(2, 2)])", "diagflat(x(3))", "kron(x(2, 2), "
                                                                                                      "x(2, 1))",
        "vander(x(3))", "trapezoid(x(2, 4), dx=0.5)", "logspace(0, 2, 4)", "hanning(5)", "hamming(4)", "blackman(5)",
        "bartlett(5)",
        "cbrt(x(4))", "psnr(x(2, 3), x(2, 3), 2.0)", "fliplr(x(2, 3))", "bitwise_not(ints(5, 3))",
        "isposinf(np.array([np.inf, -np.inf], 'float32'))",
        "select([mask(3), mask(3)], [x(3), x(3)], 7.0)")),
]
