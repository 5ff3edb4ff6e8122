"""model.export: a Keras model as an artifact with the function `serve`."""
import gradus as tf

from ._save import save, serving_function


class _Artifact:
    """What export writes: the variables, and `serve`."""

    def __init__(self, model, serve):
        self._model, self.serve = model, serve

    def _gradus_saved_parts(self):
        model = self._model
        return {"variables": list(model.variables), "trainable_variables": list(model.trainable_variables),
                "non_trainable_variables": list(model.non_trainable_variables), "serve": self.serve}


def export(model, filepath, format, verbose, input_signature):
    if format != "tf_saved_model":
        raise ValueError(f"Unrecognized format={format}. Gradus exports as 'tf_saved_model' only")
    if input_signature is None:
        serve = serving_function(model)
    else:
        serve = tf.function(lambda *inputs: model(*inputs, training=False)) if len(input_signature) > 1 else tf.function(
            lambda inputs: model(inputs, training=False), input_signature=list(input_signature))
        serve.get_concrete_function(*input_signature)
    save(_Artifact(model, serve), filepath, signatures={"serve": serve, "serving_default": serve})
    if verbose is not False and verbose != 0:
        inputs = serve._input_signature or serve._traced_arguments()[0]
        print(f"Saved artifact at '{filepath}'. The following endpoints are available:\n\n* Endpoint 'serve'\n"
              + "\n".join(f"  {spec!r}" for spec in inputs))
