"""Five blocks of convolutions and a maximum, then three dense layers (Simonyan and Zisserman 2014)."""
from ..layers import Conv2D, Dense, Flatten, MaxPooling2D
from ._common import check_activation, check_weights, image_input, network, pooled, shape_of_input


def _vgg(depths, include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation, name):
    check_weights(weights, include_top, classes)
    shape = shape_of_input(input_shape, 224, 32, include_top, weights)
    x = inputs = image_input(input_tensor, shape)
    for block, (depth, filters) in enumerate(zip(depths, (64, 128, 256, 512, 512)), 1):
        for i in range(1, depth + 1):
            x = Conv2D(filters, (3, 3), activation="relu", padding="same", name=f"block{block}_conv{i}")(x)
        x = MaxPooling2D((2, 2), strides=(2, 2), name=f"block{block}_pool")(x)
    if include_top:
        check_activation(classifier_activation, weights)
        x = Flatten(name="flatten")(x)
        x = Dense(4096, activation="relu", name="fc1")(x)
        x = Dense(4096, activation="relu", name="fc2")(x)
        x = Dense(classes, activation=classifier_activation, name="predictions")(x)
    else:
        x = pooled(x, pooling, named=False)
    kind = f"vgg{sum(depths) + 3}_weights_tf_dim_ordering_tf_kernels"
    return network(x, inputs, input_tensor, name, weights, kind + ("" if include_top else "_notop") + ".h5")


def VGG16(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
          classifier_activation="softmax", name="vgg16"):
    """The network with 13 convolutions."""
    return _vgg((2, 2, 3, 3, 3), include_top, weights, input_tensor, input_shape, pooling, classes,
                classifier_activation, name)


def VGG19(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
          classifier_activation="softmax", name="vgg19"):
    """The network with 16 convolutions."""
    return _vgg((2, 2, 4, 4, 4), include_top, weights, input_tensor, input_shape, pooling, classes,
                classifier_activation, name)
