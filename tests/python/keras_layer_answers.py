"""What is asked of a layer, of real Keras and of Gradus alike: outputs, shapes, weights, gradients, config."""
import numpy as np

from keras_layer_cases import Data


def flat(value):
    """Nested outputs as a list."""
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in flat(part)]
    return [value]


def evaluated(text, data, **names):
    scope = {name: getattr(data, name) for name in ("x", "positive", "ints", "mask", "lengths")}
    return eval(text, {"np": np, **scope, **names})


def made(case, keras):
    """The layer with its weights set, the arguments of its call, and what was left of the random numbers."""
    name, layer, args, kwargs = case
    data = Data(name)
    layer = evaluated(layer, data, layers=keras.layers, keras=keras)
    args = evaluated(f"({args},)", data)
    kwargs = evaluated(f"dict({kwargs})", data)
    layer(*args, **kwargs)
    for state in getattr(layer, "states", None) or ():
        state.assign(np.zeros(state.shape, "float32"))
    for v in layer.variables:  # the random numbers start again
        if "seed_generator_state" in v.path:
            v.assign(np.array([np.asarray(v.numpy())[0], 0]))
    # Keras 3 gives non-trainable weights their place among the others, so values go by path.
    ordered = sorted(layer.weights, key=lambda v: v.path.split("/", 1)[-1])
    values = data.weights([tuple(v.shape) for v in ordered], [v.name for v in ordered])
    for v, value in zip(ordered, values):
        if v.dtype == "float32":
            v.assign(value)
    return layer, args, kwargs, data


def own_path(variable):
    """The path below the layer, without the counters of names within."""
    return variable.path.split("/", 1)[-1]


def start(layer, shape, keras):
    """The variables of a layer as the random seed leaves them."""
    keras.utils.set_random_seed(3)
    made_layer = eval(layer, {"layers": keras.layers, "keras": keras})
    x = np.ones(shape, "int32" if "Embedding" in layer else "float32")
    made_layer(*[x] * (2 if "Attention" in layer else 1))
    return [np.asarray(v.numpy()).tolist() for v in made_layer.variables]


def answers(case, keras, tf, compiled=False):
    """All that is compared, as plain lists."""
    layer, args, kwargs, data = made(case, keras)
    tensors = tf.nest.map_structure(tf.constant, args)
    floats = [t for t in tf.nest.flatten(tensors) if t.dtype.is_floating]
    run = tf.function(lambda *a: layer(*a, **kwargs)) if compiled else lambda *a: layer(*a, **kwargs)
    with tf.GradientTape() as tape:
        tape.watch(floats)
        outputs = flat(run(*tensors))
        loss = 0.0
        for y in outputs:
            if y.dtype.is_floating:
                loss = loss + tf.reduce_sum(y * data.x(*y.shape))
    result = {"outputs": [np.asarray(y).tolist() for y in outputs], "dtypes": [y.dtype.name for y in outputs],
              "weights": [[own_path(v), list(v.shape), bool(v.trainable)] for v in layer.weights]}
    if not compiled:
        result["losses"] = [float(loss) for loss in layer.losses]
    trained = layer.trainable_weights
    if tf.is_tensor(loss) and not compiled:
        gradients = tape.gradient(loss, [getattr(v, "value", v) if hasattr(v,
                                                                           "_value") else v for v in trained] + floats)
        result["gradients"] = [None if g is None else np.asarray(tf.convert_to_tensor(g)).tolist() for g in gradients]
    result["state"] = [v.numpy().tolist() for v in layer.weights if not v.trainable]
    result["config"] = layer.get_config()
    return result
