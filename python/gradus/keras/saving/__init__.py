"""keras.saving: models and weights in files that the real Keras reads and writes too.

    model.save("model.keras");            model = keras.saving.load_model("model.keras")
    model.save_weights("w.weights.h5");   model.load_weights("w.weights.h5")

Files appear whole or not at all. A file that is damaged, or does not fit, is refused and leaves the model as it was.
"""
from .._serialization import (CustomObjectScope, custom_object_scope, deserialize_keras_object, get_custom_objects,
                              get_registered_name, get_registered_object, register_keras_serializable,
                              serialize_keras_object)
from ._model_file import load_model, save_model
from ._weights import load_weights, save_weights

__all__ = ["CustomObjectScope", "custom_object_scope", "deserialize_keras_object", "get_custom_objects",
           "get_registered_name", "get_registered_object", "load_model", "load_weights", "register_keras_serializable",
           "save_model", "save_weights", "serialize_keras_object"]
