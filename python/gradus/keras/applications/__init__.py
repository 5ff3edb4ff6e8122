"""Well known networks for images, with random weights or those of files in ~/.keras/models."""
import importlib as _importlib

_HOMES = {
    "densenet": "DenseNet121 DenseNet169 DenseNet201",
    "efficientnet": " ".join(f"EfficientNetB{i}" for i in range(8)),
    "inception_v3": "InceptionV3",
    "mobilenet": "MobileNet",
    "mobilenet_v2": "MobileNetV2",
    "resnet": "ResNet50 ResNet101 ResNet152",
    "resnet_v2": "ResNet50V2 ResNet101V2 ResNet152V2",
    "vgg16": "VGG16",
    "vgg19": "VGG19",
    "xception": "Xception",
    "resnet50": "",
    "imagenet_utils": "",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name):
    if name in _HOMES:
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _HOME_OF:
        return getattr(_importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    raise AttributeError(f"keras.applications.{name} is not covered. docs/api-coverage.md lists what is there.")


def __dir__():
    return sorted({*_HOMES, *_HOME_OF})
