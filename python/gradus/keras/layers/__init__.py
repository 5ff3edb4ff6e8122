"""Layers."""
from .._functional import Input, InputLayer
from .._layer import InputSpec, Layer
from .adaptive_pooling import (AdaptiveAveragePooling1D, AdaptiveAveragePooling2D, AdaptiveAveragePooling3D,
                               AdaptiveMaxPooling1D, AdaptiveMaxPooling2D, AdaptiveMaxPooling3D)
from .attention import AdditiveAttention, Attention, GroupedQueryAttention, GroupQueryAttention, MultiHeadAttention
from .augmentation import (RandomBrightness, RandomContrast, RandomCrop, RandomRotation, RandomTranslation,
                           RandomZoom)
from .color import (AutoContrast, RandomColorDegeneration, RandomGrayscale, RandomHue, RandomInvert, RandomSaturation,
                    Solarization)
from .conv_recurrent import ConvLSTM1D, ConvLSTM2D, ConvLSTM3D
from .convolution import (Conv1D, Conv1DTranspose, Conv2D, Conv2DTranspose, Conv3D, Conv3DTranspose, Convolution1D,
                          Convolution1DTranspose, Convolution2D, Convolution2DTranspose, Convolution3D,
                          Convolution3DTranspose, DepthwiseConv1D, DepthwiseConv2D, SeparableConv1D, SeparableConv2D,
                          SeparableConvolution1D, SeparableConvolution2D)
from .core import (ELU, Activation, Dense, EinsumDense, Embedding, Identity, Lambda, LeakyReLU, Masking, PReLU, ReLU,
                   Softmax)
from .lookup import Hashing, IntegerLookup, StringLookup, TextVectorization
from .merging import (Add, Average, Concatenate, Dot, Maximum, Minimum, Multiply, Subtract, add, average, concatenate,
                      dot, maximum, minimum, multiply, subtract)
from .normalization import (BatchNormalization, GroupNormalization, LayerNormalization, RMSNormalization,
                            SpectralNormalization, UnitNormalization)
from .pooling import (AveragePooling1D, AveragePooling2D, AveragePooling3D, AvgPool1D, AvgPool2D, AvgPool3D,
                      GlobalAveragePooling1D, GlobalAveragePooling2D, GlobalAveragePooling3D, GlobalAvgPool1D,
                      GlobalAvgPool2D, GlobalAvgPool3D, GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D,
                      GlobalMaxPooling1D, GlobalMaxPooling2D, GlobalMaxPooling3D, MaxPool1D, MaxPool2D, MaxPool3D,
                      MaxPooling1D, MaxPooling2D, MaxPooling3D)
from .preprocessing import (CategoryEncoding, CenterCrop, Discretization, Normalization, RandomFlip, Rescaling,
                            Resizing)
from .recurrent import GRU, LSTM, SimpleRNN
from .regularization import (ActivityRegularization, AlphaDropout, Dropout, GaussianDropout, GaussianNoise,
                             SpatialDropout1D, SpatialDropout2D, SpatialDropout3D)
from .reshaping import (Cropping1D, Cropping2D, Cropping3D, Flatten, Permute, RepeatVector, Reshape, UpSampling1D,
                        UpSampling2D, UpSampling3D, ZeroPadding1D, ZeroPadding2D, ZeroPadding3D)
from .rnn import RNN, GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells
from .saved import TFSMLayer
from .wrappers import Bidirectional, TimeDistributed, Wrapper

_MODULES = ("adaptive_pooling", "attention", "augmentation", "color", "conv_recurrent", "convolution", "core", "lookup", "merging",
            "normalization", "pooling", "preprocessing", "recurrent", "regularization", "reshaping", "rnn", "saved",
            "wrappers")
__all__ = [name for name in dir() if not name.startswith("_") and name not in _MODULES]


def __getattr__(name):
    if name[:1].isupper():
        raise AttributeError(f"keras.layers.{name} is not covered. docs/api-coverage.md lists what is there; a "
                             "subclass of keras.layers.Layer can stand in.")
    raise AttributeError(f"module 'keras.layers' has no attribute '{name}'")


def serialize(layer):
    """The dict from which `deserialize` makes the layer again."""
    from .. import _serialization as saving
    return saving.serialize_keras_object(layer)


def deserialize(config, custom_objects=None):
    """The layer that `serialize` wrote down."""
    from .. import _serialization as saving
    return saving.deserialize_keras_object(config, custom_objects=custom_objects)
