"""Functional models as configs and back, and copies of models."""
from .. import nest
from ._functional import InputLayer
from ._layer import Layer, _call_spec
from ._operation import KerasTensor, Operation
from ._serialization import deserialize_keras_object, serialize_keras_object


def _node_numbers(graph):
    """For each node of the graph: its number among those nodes of its operation that belong to the graph."""
    numbers, belongs = {}, set(graph.nodes)
    for operation in graph.operations:
        count = 0
        for node in operation._inbound_nodes:
            if node in belongs:
                numbers[node] = count
                count += 1
    return numbers


def functional_config(model):
    """The get_config of a functional model."""
    graph = model._graph
    numbers = _node_numbers(graph)

    def history(x):
        operation, node, tensor = x._keras_history
        return [operation.name, numbers[operation._inbound_nodes[node]], tensor]

    def written(value):
        if isinstance(value, KerasTensor):
            return {"class_name": "__keras_tensor__",
                    "config": {"shape": value.shape, "dtype": value.dtype, "keras_history": history(value)}}
        return serialize_slices(value)

    layers = []
    for operation in graph.operations:
        entry = serialize_keras_object(operation)
        entry["name"] = operation.name
        entry["inbound_nodes"] = [
            {"args": nest_map(written, node.args), "kwargs": nest_map(written, _noted_arguments(node))}
            for node in operation._inbound_nodes if node in numbers and not node.is_input]
        layers.append(entry)
    return {"name": model.name, "trainable": model.trainable, "layers": layers,
            "input_layers": nest_map(history, graph.inputs_struct), "output_layers": nest_map(history,
                                                                                              graph.outputs_struct)}


_NOT_TRAINING = ("AlphaDropout ConvLSTM1D ConvLSTM2D ConvLSTM3D Dropout GRU GaussianDropout GaussianNoise LSTM RNN "
                 "SimpleRNN SpatialDropout1D SpatialDropout2D SpatialDropout3D SpectralNormalization").split()


def _noted_arguments(node):
    """The keyword arguments of a call, with those defaults that Keras writes down."""
    operation, kwargs = node.operation, node.kwargs
    if isinstance(operation, Layer) and len(node.args) == 1 and isinstance(node.args[0], KerasTensor):
        given = [name for name in kwargs if name != "mask"]
        if _call_spec(type(operation)).has_mask and (not given or hasattr(operation, "_graph")):
            kwargs = {"mask": None, **kwargs}
        if not given and type(operation).__name__ in _NOT_TRAINING:
            kwargs = {"training": False, **kwargs}
    return kwargs


def nest_map(function, value):
    """Like nest.map_structure, but slices are leaves and every dict keeps its order."""
    if isinstance(value, dict):
        return {k: nest_map(function, v) for k, v in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(nest_map(function, v) for v in value) if type(value) in (list, tuple) else [
            nest_map(function, v) for v in value]
    return function(value)


def serialize_slices(value):
    """Parts of a[...]: slices and Ellipsis have no JSON of their own."""
    if isinstance(value, slice):
        return {"class_name": "__slice__", "config": {"start": value.start, "stop": value.stop, "step": value.step}}
    if value is Ellipsis:
        return {"class_name": "__ellipsis__", "config": {}}
    return serialize_keras_object(value)


def functional_from_config(cls, config, custom_objects=None):
    """The model that a config describes."""
    made, waiting = {}, []
    for entry in config["layers"]:
        if "module" not in entry and "class_name" in entry:
            entry = {**entry, "module": "keras.layers", "registered_name": None}
        layer = deserialize_keras_object({k: v for k, v in entry.items() if k not in ("inbound_nodes", "name")},
                                         custom_objects)
        if not isinstance(layer, Operation):
            raise ValueError(f"Unexpected object from deserialization, expected a layer or operation, got a "
                             f"{type(layer)}")
        if "name" in entry:
            layer.name = entry["name"]
        made[layer.name] = layer
        waiting.append((layer, list(entry.get("inbound_nodes", []))))

    starts = {name: len(layer._inbound_nodes) - (1 if isinstance(layer, InputLayer) else 0) for name,
              layer in made.items()}

    def tensor_of(history):
        name, node, tensor = history[:3]
        layer = made[name]
        place = starts[name] + node
        if place >= len(layer._inbound_nodes):
            raise _NotYet()
        return layer._inbound_nodes[place].outputs[tensor]

    def read(value):
        if isinstance(value, dict):
            if value.get("class_name") == "__keras_tensor__":
                return tensor_of(value["config"]["keras_history"])
            if "class_name" in value and "config" in value:
                return deserialize_keras_object(value, custom_objects)
            return {k: read(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(read(v) for v in value)
        return value

    while waiting:
        still, made_one = [], False
        for layer, nodes in waiting:
            while nodes:
                try:
                    args, kwargs = read(tuple(nodes[0]["args"])), read(nodes[0]["kwargs"])
                except _NotYet:
                    still.append((layer, nodes))
                    break
                layer(*args, **kwargs)
                nodes.pop(0)
                made_one = True
        if still and not made_one:
            raise ValueError("The config of the model is not connected: " + ", ".join(layer.name for layer, _ in still))
        waiting = still

    def ends(value):
        if isinstance(value, (list, tuple)) and len(value) == 3 and isinstance(value[0], str):
            try:
                return tensor_of(value)
            except _NotYet:  # Keras counts the calls of models among the outputs from 1
                return tensor_of([value[0], value[1] - 1, value[2]])
        if isinstance(value, dict):
            return {k: ends(v) for k, v in value.items()}
        return [ends(v) for v in value]

    return cls(ends(config["input_layers"]), ends(config["output_layers"]), name=config.get("name"),
               trainable=config.get("trainable", True))


class _NotYet(Exception):
    pass


def cloned(model, input_tensors=None, clone_function=None, call_function=None, recursive=False):
    """A copy of the model's structure."""
    from .models import Functional, Sequential

    def copy_of(layer):
        if recursive and isinstance(layer, (Functional, Sequential)):
            return cloned(layer, clone_function=clone_function, recursive=True)
        if clone_function is not None and not isinstance(layer, InputLayer):
            return clone_function(layer)
        return type(layer).from_config(layer.get_config())

    if isinstance(model, Sequential):
        copy = Sequential(name=model.name, trainable=model.trainable)
        for layer in model._layers:
            copy.add(copy_of(layer), rebuild=False)
        copy._maybe_rebuild()
        return copy
    if not isinstance(model, Functional):
        if clone_function is not None or input_tensors is not None:
            raise ValueError("Arguments clone_function and input_tensors are only supported for Sequential models or "
                             f"Functional models. Received model of type '{type(model).__name__}'")
        return type(model).from_config(model.get_config())
    copies = {}

    def call(operation, args, kwargs):
        if id(operation) not in copies:
            copies[id(operation)] = copy_of(operation) if not _is_plain(operation) else type(operation)()
        fresh = copies[id(operation)]
        if call_function is not None:
            return call_function(fresh, *args, **kwargs)
        return fresh(*args, **kwargs)

    graph = model._graph
    if input_tensors is not None:
        starts = nest.flatten(input_tensors)
    else:
        starts = [type(x._keras_history[0]).from_config(x._keras_history[0].get_config()).output for x in graph.inputs]
    outputs = graph.run(starts, call)
    return Functional(nest.pack_sequence_as(graph.inputs_struct, starts), outputs, name=model.name,
                      trainable=model.trainable)


def _is_plain(operation):
    from ._layer import Layer
    return not isinstance(operation, Layer)
