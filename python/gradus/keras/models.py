"""Models: layers with training, saving and a summary."""
import json
import warnings

import gradus as _tf

from .. import _core, nest
from . import _state
from ._functional import Graph, Input, InputLayer, input_specs, standardized_inputs
from ._layer import Layer
from ._operation import KerasTensor, _plain_shape
from ._serialization import deserialize_keras_object, serialize_keras_object
from ._trainer import Trainer


class Model(Trainer, Layer):
    """Layers as one object with fit, evaluate and predict.

    Model(inputs, outputs) makes one of symbolic tensors; a subclass makes its layers in __init__ and uses them in
    `call`.
    """

    def __new__(cls, *args, **kwargs):
        if cls is Model and (len(args) == 2 or "inputs" in kwargs or (len(args) == 1 and "outputs" in kwargs)):
            return Layer.__new__(Functional)
        return Layer.__new__(cls, *args, **kwargs)

    def __init__(self, *args, **kwargs):
        if type(self) is not Functional and _is_functional_call(args, kwargs):
            self._become_functional(args, kwargs)
            return
        Trainer.__init__(self)
        Layer.__init__(self, *args, **kwargs)

    def _become_functional(self, args, kwargs):
        """A subclass that calls super().__init__(inputs, outputs) runs a graph, with its own train_step."""
        cls = type(self)
        self.__class__ = type(cls.__name__, (cls, Functional), {"__module__": cls.__module__,
                                                                "__qualname__": cls.__qualname__})
        Functional.__init__(self, *args, **kwargs)

    def call(self, *args, **kwargs):
        raise NotImplementedError(f"Model {type(self).__name__} does not have a `call()` method implemented.")

    @property
    def layers(self):
        """The layers directly in this model."""
        return [layer for layer in self._layers if not _is_metric(layer)]

    @layers.setter
    def layers(self, _):
        raise AttributeError("`Model.layers` attribute is reserved and should not be used. Please use another name.")

    def get_layer(self, name=None, index=None):
        """A layer by its name or its number."""
        if index is not None and name is not None:
            raise ValueError(f"Provide only a layer name or a layer index. Received: index={index}, name={name}.")
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError(f"Was asked to retrieve layer at index {index} but model only has {len(self.layers)} "
                                 "layers.")
            return self.layers[index]
        if name is not None:
            for layer in self.layers:
                if layer.name == name:
                    return layer
            raise ValueError(f"No such layer: {name}. Existing layers are: {[layer.name for layer in self.layers]}.")
        raise ValueError("Provide either a layer name or layer index at `get_layer`.")

    def summary(self, line_length=None, positions=None, print_fn=None, expand_nested=False, show_trainable=False,
                layer_range=None):
        """Prints the layers, their output shapes and numbers of parameters."""
        from ._summary import print_summary
        print_summary(self, line_length, positions, print_fn, expand_nested, show_trainable, layer_range)

    def build_from_config(self, config):
        """Builds the model as one that gave this get_build_config."""
        if not config:
            return
        shape = config.get("input_shape")
        if shape is not None and not self.built:
            try:
                self._build_for_shape(shape)
            except Exception:  # noqa: BLE001
                warnings.warn(f"Model '{self.name}' could not be built from its config; call it on data before "
                              "loading weights.",
                              stacklevel=2)

    def build(self, input_shape=None):
        """Makes the weights for inputs of a shape, by tracing the model."""
        self._build_for_shape(input_shape)

    build._is_default = True

    def _maybe_build(self, arguments, spec):
        super()._maybe_build(arguments, spec)
        if self._build_shapes_dict is None and getattr(type(self).build, "_is_default", False):
            from ._layer import _Sizes
            first = next(iter(arguments.values()), None)
            leaves = nest.flatten(first)
            if leaves and all(hasattr(x, "shape")
                              for x in leaves):  # for whoever saves a model that was built by a call
                shapes = nest.map_structure(tuple, nest.map_structure(lambda x: _Sizes(x.shape), first))
                object.__setattr__(self, "_build_shapes_dict", {"input_shape": shapes})

    def _build_for_shape(self, shape):
        if self.built:
            return
        from ._layer import _as_shapes, _keras_tensors_of
        if shape is None:
            raise ValueError("build() needs the shape of the inputs, with the batch: model.build((None, 32))")
        inputs = _keras_tensors_of(_as_shapes(shape), self.compute_dtype)
        arguments = {_first_argument(type(self)): inputs}
        self._maybe_build(arguments, None)
        if any(not layer.built for layer in self._flatten_layers(include_self=False)):
            warnings.warn(f"Model '{self.name}' has layers that the shape {shape} did not build; call it on data.",
                          stacklevel=3)
        object.__setattr__(self, "_build_shapes_dict", {"input_shape": shape})

    def to_json(self, **kwargs):
        """The config as JSON."""
        return json.dumps(serialize_keras_object(self), **kwargs)

    def save(self, filepath, overwrite=True, zipped=None, **kwargs):
        """Writes the model to a .keras file."""
        from . import saving
        return saving.save_model(self, filepath, overwrite=overwrite, **({} if zipped is None else {"zipped": zipped}),
                                 **kwargs)

    def save_weights(self, filepath, overwrite=True, **kwargs):
        """Writes the weights to a .weights.h5 file."""
        from . import saving
        return saving.save_weights(self, filepath, overwrite=overwrite, **kwargs)

    def load_weights(self, filepath, skip_mismatch=False, **kwargs):
        """Reads the weights from a file that save_weights or save wrote."""
        from . import saving
        saving.load_weights(self, filepath, skip_mismatch=skip_mismatch, **kwargs)

    def __reduce__(self):
        optimizer = self._optimizer if self.compiled and getattr(self._optimizer, "built", False) else None
        return _restored, (self.to_json(), self.get_weights(),
                           [v.numpy() for v in optimizer.variables] if optimizer is not None else [])

    def __deepcopy__(self, memo):
        make, arguments = self.__reduce__()
        memo[id(self)] = made = make(*arguments)
        return made

    def export(self, filepath, format="tf_saved_model", verbose=None, input_signature=None, **kwargs):
        """Writes the forward pass, without training, to a folder for tf.saved_model.load: its function `serve`."""
        from ..saved_model._export import export
        if kwargs:
            raise TypeError(f"export() got unexpected keyword arguments: {sorted(kwargs)}")
        export(self, filepath, format, verbose, input_signature)

    def get_state_tree(self, value_format="backend_tensor"):
        """The values of all variables as dicts of dicts by path."""
        def tree(variables):
            found = {}
            for v in variables:
                *folders, name = v.path.split("/")
                place = found
                for folder in folders:
                    place = place.setdefault(folder, {})
                if name in place:
                    raise ValueError(f"The path {v.path} is not unique: give the layers names of their own")
                place[name] = v.numpy() if value_format == "numpy_array" else v.read_value()
            return found
        optimizer = self._optimizer.variables if self._optimizer is not None else []
        return {"trainable_variables": tree(self.trainable_variables),
                "non_trainable_variables": tree(self.non_trainable_variables),
                "optimizer_variables": tree(optimizer), "metrics_variables": tree(self.metrics_variables)}

    def set_state_tree(self, state_tree):
        """Gives the variables the values of such dicts."""
        optimizer = self._optimizer.variables if self._optimizer is not None else []
        for key, variables in (("trainable_variables", self.trainable_variables),
                               ("non_trainable_variables", self.non_trainable_variables),
                               ("optimizer_variables", optimizer), ("metrics_variables", self.metrics_variables)):
            if key not in state_tree:
                continue
            for v in variables:
                place = state_tree[key]
                for part in v.path.split("/"):
                    place = place[part]
                v.assign(place)

    @property
    def stateful(self):
        return any(getattr(layer, "stateful", False) for layer in self.layers)

    def reset_states(self):
        """Forgets the states of stateful recurrent layers."""
        for layer in self._flatten_layers(include_self=False):
            if hasattr(layer, "reset_state"):
                layer.reset_state()
            elif hasattr(layer, "reset_states"):
                layer.reset_states()


    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A model like the one that gave the config."""
        config = dict(config)
        if cls in (Model, Functional) or {"layers", "input_layers", "output_layers"} <= set(config):
            return _functional_from_config(cls if issubclass(cls, Functional) else Functional, config, custom_objects)
        if isinstance(config.get("dtype"), dict):
            config["dtype"] = deserialize_keras_object(config["dtype"])
        try:
            return cls(**config)
        except TypeError as error:
            raise TypeError("Unable to revive model from config. When overriding the `get_config()` method, make sure "
                            "that the returned config contains all items used as arguments in the  constructor to "
                            f"{cls}, which is the default behavior. You can override this default behavior by defining "
                            "a `from_config(cls, config)` class method to specify how to create an instance of "
                            f"{cls.__name__} from its config.\n"
                            f"\nReceived config={config}\n"
                            f"\nError encountered during deserialization: {error}") from None


def _is_metric(layer):
    return False


def _first_argument(cls):
    from ._layer import _call_spec
    return _call_spec(cls).first or "inputs"


def _is_functional_call(args, kwargs):
    return (len(args) == 2 and not isinstance(args[1], str)) or ("outputs" in kwargs and (args or "inputs" in kwargs))


class Functional(Model):
    """A model that runs the operations between symbolic inputs and outputs."""

    def __init__(self, inputs, outputs, name=None, trainable=True, **kwargs):
        Trainer.__init__(self)
        if name is None:
            name = _state.auto_name("functional" if type(self) is Functional else type(self).__name__)
        Layer.__init__(self, name=name, **kwargs)
        inputs, outputs = _with_inputs_of_its_own(inputs, outputs)
        self._set_graph(Graph(inputs, outputs, name))
        for layer in self.layers:
            if not any(own is layer for own in self._layers):
                self._layers.append(layer)
        _state.note_change()
        self.built = True
        self._is_locked = False
        if not trainable:
            self.trainable = False

    def _set_graph(self, graph):
        object.__setattr__(self, "_graph", graph)
        _state.note_change()
        object.__setattr__(self, "_input_spec_made", None)

    @property
    def layers(self):
        return [operation for operation in self._graph.operations if isinstance(operation, Layer)]

    @property
    def operations(self):
        return list(self._graph.operations)

    @property
    def inputs(self):
        """The symbolic inputs, a flat list."""
        return list(self._graph.inputs)

    @property
    def outputs(self):
        """The symbolic outputs, a flat list."""
        return list(self._graph.outputs)

    @property
    def input(self):
        """The symbolic inputs as they were given."""
        return self._graph.inputs_struct

    @property
    def output(self):
        """The symbolic outputs as they were given."""
        return self._graph.outputs_struct

    @property
    def input_names(self):
        return [x._keras_history[0].name for x in self._graph.inputs]

    @property
    def output_names(self):
        return [y._keras_history[0].name for y in self._graph.outputs]

    @property
    def input_shape(self):
        """The shape of the input, or a list of them."""
        shapes = [x.shape for x in self._graph.inputs]
        return shapes[0] if len(shapes) == 1 else shapes

    @property
    def output_shape(self):
        """The shape of the output, or a list of them."""
        shapes = [y.shape for y in self._graph.outputs]
        return shapes[0] if len(shapes) == 1 else shapes

    @property
    def input_spec(self):
        if self._input_spec is None and self._input_spec_made is None:
            object.__setattr__(self, "_input_spec_made", input_specs(self._graph))
        return self._input_spec if self._input_spec is not None else self._input_spec_made

    @input_spec.setter
    def input_spec(self, value):
        self._input_spec = value

    def call(self, inputs, training=None, mask=None):
        graph = self._graph
        if type(inputs) is _core.Tensor and graph.fits(inputs):
            if mask is None:
                return graph.run([inputs])
            values = [inputs]
        else:
            values = standardized_inputs(graph, inputs, self.name)
        if mask is not None:
            for x, m in zip(values, nest.flatten(mask)):
                if m is not None:
                    _state.set_mask(x, m)
        return graph.run(values)

    def _check_inputs(self, inputs):
        from ._input_spec import check_input
        if isinstance(inputs, dict):
            struct = self._graph.inputs_struct
            names = list(struct) if isinstance(struct, dict) else self.input_names
            if all(n in inputs for n in names):
                inputs = [inputs[s.name] for s in self.input_spec]
            else:
                return
        check_input(self.input_spec, inputs, self.name)

    def compute_output_spec(self, inputs, training=None, mask=None):
        shapes_known = all(tuple(x.shape) == y.shape for x, y in zip(nest.flatten(inputs), self._graph.inputs))
        if shapes_known:
            return nest.map_structure(lambda y: KerasTensor(y.shape, y.dtype), self._graph.results_struct)
        return super().compute_output_spec(inputs)

    def compute_output_shape(self, input_shape):
        return nest.map_structure(lambda y: y.shape, self.compute_output_spec(
            _keras_inputs(input_shape, self._graph)))

    compute_output_shape._is_default = True

    def build(self, input_shape=None):
        """Nothing to do: the layers of a functional model are built when it is described."""
        self.built = True

    def get_build_config(self):
        return {"input_shape": None}

    def build_from_config(self, config):
        pass

    def get_config(self):
        if type(self).__init__ is not Functional.__init__ and not issubclass(type(self).__mro__[1], Functional):
            return Layer.get_config(self)
        from ._functional_config import functional_config
        return functional_config(self)


def _functional_from_config(cls, config, custom_objects):
    from ._functional_config import functional_from_config
    return functional_from_config(cls, config, custom_objects)


def _keras_inputs(shape, graph):
    flat = [shape] if len(graph.inputs) == 1 and not isinstance(shape, dict) else (
        [shape[k] for k in sorted(shape)] if isinstance(shape, dict) else list(shape))
    return nest.pack_sequence_as(graph.inputs_struct, [KerasTensor(s, x.dtype) for s, x in zip(flat, graph.inputs)])


def _with_inputs_of_its_own(inputs, outputs):
    """Inputs that another operation made become inputs of this model: a model cut out of another one."""
    flat = nest.flatten(inputs)
    if all(isinstance(x, KerasTensor) and x._keras_history[0]._inbound_nodes[x._keras_history[1]].is_input
           for x in flat):
        return inputs, outputs
    for x in flat:
        if not isinstance(x, KerasTensor):
            raise ValueError(f"All `inputs` values must be KerasTensors. Received: inputs={inputs} including invalid "
                             f"value {x} of type {type(x)}")
    graph = Graph(inputs, outputs, "model")
    fresh = [x if x._keras_history[0]._inbound_nodes[x._keras_history[1]].is_input
             else Input(batch_shape=x.shape, dtype=x.dtype, name=x.name) for x in flat]
    return nest.pack_sequence_as(inputs, fresh), graph.run(fresh)


class Sequential(Model):
    """Layers one after the other."""

    def __new__(cls, *args, **kwargs):
        return Layer.__new__(cls, *args, **kwargs)

    def __init__(self, layers=None, trainable=True, name=None):
        Trainer.__init__(self)
        Layer.__init__(self, trainable=trainable, name=name)
        object.__setattr__(self, "_functional", None)
        if layers:
            for layer in layers:
                self.add(layer, rebuild=False)
            self._maybe_rebuild()

    def add(self, layer, rebuild=True):
        """Puts a layer at the end."""
        if isinstance(layer, KerasTensor) and isinstance(layer._keras_history[0], InputLayer):
            layer = layer._keras_history[0]
        if not isinstance(layer, Layer):
            if hasattr(layer, "__gradus_layer__"):
                layer = layer.__gradus_layer__()
            else:
                raise ValueError("Only instances of `keras.Layer` can be added to a Sequential model. "
                                 f"Received: {layer} (of type {type(layer)})")
        own = self._layers
        if any(other.name == layer.name for other in own):
            raise ValueError(f"All layers added to a Sequential model should have unique names. Name '{layer.name}' is "
                             "already the name of a layer in this model. Update the `name` argument to pass a unique "
                             "name.")
        if isinstance(layer, InputLayer) and own and isinstance(own[0], InputLayer):
            raise ValueError(f"Sequential model '{self.name}' has already been configured to use input shape "
                             f"{own[0].batch_shape}. You cannot add a different Input layer to it.")
        if not own and not isinstance(layer, InputLayer):
            shape = layer.__dict__.get("_input_shape_arg")
            if shape is not None:
                own.append(InputLayer(batch_shape=shape, dtype=None if layer.compute_dtype is None else "float32"))
            elif isinstance(layer, Functional) and len(layer.inputs) == 1:
                own.append(InputLayer(batch_shape=layer.input_shape, dtype=layer.inputs[0].dtype))
            elif isinstance(layer, Sequential) and layer._functional is not None:
                own.append(InputLayer(batch_shape=layer.input_shape, dtype=layer.inputs[0].dtype))
        own.append(layer)
        _state.note_change()
        if rebuild:
            self._maybe_rebuild()
        else:
            self.built = False
            object.__setattr__(self, "_functional", None)

    def pop(self, rebuild=True):
        """Takes the last layer away."""
        layer = self._layers.pop()
        _state.note_change()
        self.built = False
        object.__setattr__(self, "_functional", None)
        if rebuild:
            self._maybe_rebuild()
        return layer

    def _maybe_rebuild(self):
        self.built = False
        object.__setattr__(self, "_functional", None)
        object.__setattr__(self, "_quick", None)
        if self._layers and isinstance(self._layers[0], InputLayer) and len(self._layers) > 1:
            self.build(self._layers[0].batch_shape)

    def build(self, input_shape=None):
        """Makes the weights of all layers for inputs of this shape."""
        if self._layers and isinstance(self._layers[0], InputLayer):
            if len(self._layers) == 1 and input_shape is None:
                raise ValueError(f"Sequential model {self.name} cannot be built because it has no layers. "
                                 "Call `model.add(layer)`.")
        elif not self._layers:
            if input_shape is None:
                return
            raise ValueError(f"Sequential model {self.name} cannot be built because it has no layers. "
                             "Call `model.add(layer)`.")
        if isinstance(self._layers[0], InputLayer):
            start = self._layers[0]
            if input_shape is not None and not _compatible(start.batch_shape, input_shape):
                raise ValueError(f"Sequential model '{self.name}' has already been configured to use input shape "
                                 f"{start.batch_shape}. You cannot build it with input_shape {input_shape}")
        else:
            if input_shape is None:
                raise ValueError("You must provide an `input_shape` argument.")
            start = InputLayer(batch_shape=_plain_shape(input_shape), dtype=self._input_dtype_of_first())
            self._layers.insert(0, start)
            _state.note_change()
        x = start.output
        for layer in self._layers[1:]:
            try:
                x = layer(x)
            except NotImplementedError:
                return  # a layer that cannot be described: it will be built when called
            except TypeError as error:
                if "argument" in str(error) and "call()" in str(error):
                    raise ValueError("Layers added to a Sequential model can only have a single positional argument, "
                                     f"the input tensor. Layer {type(layer).__name__} has multiple positional "
                                     "arguments.") from error
                raise
        object.__setattr__(self, "_functional", Functional(start.output, x))

    def _input_dtype_of_first(self):
        return self.__dict__.get("_first_dtype")

    def _maybe_build(self, arguments, spec):
        inputs = arguments.get("inputs")
        if not _tf.is_tensor(inputs) and not isinstance(inputs, KerasTensor):
            return
        if not (self._layers and isinstance(self._layers[0], InputLayer)):
            kind = inputs.dtype if isinstance(inputs, KerasTensor) else inputs.dtype.name
            object.__setattr__(self, "_first_dtype", kind)
        self.build(tuple(inputs.shape))

    def call(self, inputs, training=None, mask=None, **kwargs):
        if self._functional is not None and not kwargs:
            return self._functional.call(inputs, training, mask)
        if mask is not None:
            _state.set_mask(inputs, mask)
        x = inputs
        for layer in self.layers:
            x = layer(x, **{k: v for k, v in kwargs.items()})
        return x

    @property
    def layers(self):
        own = self._layers
        return list(own[1:]) if own and isinstance(own[0], InputLayer) else list(own)

    def compute_output_spec(self, inputs, training=None, mask=None, **kwargs):
        if self._functional is not None:
            return self._functional.compute_output_spec(inputs)
        x = inputs
        for layer in self.layers:
            x = layer.compute_output_spec(x)
        return x

    def compute_output_shape(self, input_shape):
        if self._functional is not None:
            return self._functional.compute_output_shape(input_shape)
        shape = input_shape
        for layer in self.layers:
            shape = layer.compute_output_shape(shape)
        return shape

    compute_output_shape._is_default = True

    def _need_functional(self, what):
        if self._functional is None:
            raise AttributeError(f"Sequential model '{self.name}' has no defined {what} yet.")
        return self._functional

    input_shape = property(lambda self: self._need_functional("input shape").input_shape)
    output_shape = property(lambda self: self._need_functional("output shape").output_shape)
    inputs = property(lambda self: self._need_functional("inputs").inputs)
    outputs = property(lambda self: self._need_functional("outputs").outputs)
    input = property(lambda self: self._need_functional("input").input)
    output = property(lambda self: self._need_functional("output").output)
    output_names = property(lambda self: self._need_functional("output names").output_names)

    @property
    def input_dtype(self):
        own = self._layers
        if own and isinstance(own[0], InputLayer):
            return own[0].dtype
        return super().input_dtype

    def get_build_config(self):
        return {"input_shape": self.input_shape} if self._functional is not None else None

    def build_from_config(self, config):
        if config and config.get("input_shape") is not None and self._functional is None:
            self.build(tuple(config["input_shape"]))

    def get_config(self):
        from . import dtype_policies
        config = {"name": self.name, "trainable": self.trainable, "dtype": dtype_policies.serialize(self._dtype_policy),
                  "layers": [serialize_keras_object(layer) for layer in self._layers]}
        if self._functional is not None:
            config["build_input_shape"] = self._layers[0].batch_shape
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        shape = config.pop("build_input_shape", None)
        layers = config.pop("layers", [])
        model = cls(name=config.get("name"), trainable=config.get("trainable", True))
        if isinstance(config.get("dtype"), dict):
            model._dtype_policy = deserialize_keras_object(config["dtype"])
        for layer in layers:
            model.add(deserialize_keras_object(layer, custom_objects) if isinstance(layer, dict) else layer,
                      rebuild=False)
        model._maybe_rebuild()
        if model._functional is None and shape and model.layers:
            model.build(tuple(shape))
        return model


def _compatible(a, b):
    return len(a) == len(b) and all(x is None or y is None or x == y for x, y in zip(a, b))


def _restored(text, weights, optimizer_values):
    """A model that was pickled or copied."""
    model = model_from_json(text)
    if weights:
        model.set_weights(weights)
    if optimizer_values and model.compiled:
        if not model.optimizer.built:
            model.optimizer.build(model.trainable_variables)
        for variable, value in zip(model.optimizer.variables, optimizer_values):
            variable.assign(value)
    return model


def model_from_json(json_string, custom_objects=None):
    """The model of which to_json() was written."""
    return deserialize_keras_object(json.loads(json_string), custom_objects=custom_objects)


def clone_model(model, input_tensors=None, clone_function=None, call_function=None, recursive=False, **kwargs):
    """A model like this one, with weights of its own."""
    from ._functional_config import cloned
    if kwargs:
        raise ValueError(f"Unexpected keyword argument(s): {list(kwargs)}")
    return cloned(model, input_tensors, clone_function, call_function, recursive)


def load_model(filepath, custom_objects=None, compile=True, safe_mode=True):  # noqa: A002
    """The model in a .keras file."""
    from . import saving
    return saving.load_model(filepath, custom_objects=custom_objects, compile=compile, safe_mode=safe_mode)


def save_model(model, filepath, overwrite=True, zipped=None, **kwargs):
    """Writes a model to a .keras file."""
    return model.save(filepath, overwrite=overwrite, zipped=zipped, **kwargs)
