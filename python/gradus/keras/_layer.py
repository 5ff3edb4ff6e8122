"""Layer: state with a name, and a computation on it.

A call has two ways. The whole one converts arguments, finds the training flag and the masks, builds the layer if this
is the first call, checks the shapes and, given KerasTensors, notes a node. A call that is like one that went well
before (one tensor of the same dtype and rank, nothing that needs care) goes straight to `call`: QuickCall, in C++.
"""
import functools
import inspect
import warnings
import weakref

import gradus as _tf

from .. import _core, nest
from ..autograph._convert import while_traced
from . import _scopes, _state
from ._input_spec import InputSpec, check_input  # noqa: F401
from ._layer_state import LayerState, _size  # noqa: F401
from ._operation import KerasTensor, Node, Operation, compute_output_spec
from ._variable import standardize_dtype

Tensor = _core.Tensor
_context = _scopes.context
_masks = _state.masks
_core._share_with_layers(_context, _masks)


_known_parameters, _call_specs = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()  # by function


def _parameters(method):
    """The parameters of a method of a class, without self."""
    found = _known_parameters.get(method)
    if found is None:
        found = _known_parameters[method] = list(inspect.signature(method).parameters.values())[1:]
    return found


class _CallSpec:
    """What is asked of the signature of `call`, once per class."""

    def __init__(self, function):
        parameters = _parameters(function)
        self.names = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        self.positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        self.takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self.has_training = "training" in self.names
        self.has_mask = "mask" in self.names
        self.first = self.positional[0] if self.positional else None
        self.signature = inspect.Signature(parameters)


def _call_spec(cls):
    spec = _call_specs.get(cls.call)
    if spec is None:
        spec = _call_specs[cls.call] = _CallSpec(cls.call)
    return spec


def _is_default(method):
    return getattr(method, "_is_default", False)


def _wrapped_build(build):
    @functools.wraps(build)
    def outer(self, *args, **kwargs):
        if self.__dict__.get("_is_building"):
            return build(self, *args, **kwargs)
        object.__setattr__(self, "_is_building", True)
        try:
            with _scopes.name_scope(self.name, caller=self):
                if _core._is_tracing():
                    with _tf.init_scope():
                        build(self, *args, **kwargs)
                else:
                    build(self, *args, **kwargs)
        finally:
            object.__setattr__(self, "_is_building", False)
        self._note_build_shapes(build, args, kwargs)
        self.built = True
        self._post_build()
        self._is_locked = True
    outer._is_wrapped = True
    return outer


class Layer(_core.QuickCall, LayerState):
    """The base of layers and models.

    A layer of one's own makes its weights in `build(input_shape)` with `add_weight` and computes in `call(inputs)`.
    """

    _quick = None
    _compute = None  # the compute dtype of the policy, as tensors have it
    _is_building = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        build = cls.__dict__.get("build")
        if build is not None and not getattr(build, "_is_wrapped", False) and not _is_default(build):
            cls.build = _wrapped_build(build)

    def __init__(self, *, activity_regularizer=None, trainable=True, dtype=None, autocast=True, name=None, **kwargs):
        put = functools.partial(object.__setattr__, self)
        for kind in ("_trainable_variables", "_non_trainable_variables", "_layers", "_metrics", "_seed_generators",
                     "_losses"):
            put(kind, [])
        put("_tracks", True)
        put("built", False)
        super().__init__(name=name)
        shape = self._given_shape(kwargs)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}")
        if shape is not None:
            self._input_shape_arg = shape
        if activity_regularizer is not None:
            from . import regularizers
            activity_regularizer = regularizers.get(activity_regularizer)
        self.activity_regularizer = activity_regularizer
        self._set_policy(dtype)
        self._trainable, self.autocast = bool(trainable), autocast
        self._input_spec = None
        self._called = False
        self._supports_jit = True
        self._build_shapes_dict = None
        self._convert_input_args = True
        self._allow_non_tensor_positional_args = False
        self.supports_masking = False
        if _context.remats:
            _scopes.rematerialize(self)

    @staticmethod
    def _given_shape(kwargs):
        shape = None
        if "input_shape" in kwargs or "batch_input_shape" in kwargs or "batch_shape" in kwargs or "input_dim" in kwargs:
            warnings.warn("Do not pass an `input_shape`/`input_dim` argument to a layer. When using Sequential "
                          "models, prefer using an `Input(shape)` object as the first layer in the model "
                          "instead.", stacklevel=4)
            size = kwargs.pop("batch_size", None)
            if "input_dim" in kwargs:
                shape = (size, kwargs.pop("input_dim"))
            if "input_shape" in kwargs:
                given = kwargs.pop("input_shape")
                shape = (size,) + (tuple(given) if isinstance(given, (list, tuple)) else (given,))
            for key in ("batch_input_shape", "batch_shape"):
                if key in kwargs:
                    shape = tuple(kwargs.pop(key))
        kwargs.pop("input_dtype", None)
        return shape

    # ------------------------------------------------------------------ dtypes

    @property
    def dtype_policy(self):
        return self._dtype_policy

    @dtype_policy.setter
    def dtype_policy(self, value):
        self._set_policy(value)
        self._quick = None

    def _set_policy(self, value):
        self._dtype_policy = policy = _policy(value)
        object.__setattr__(self, "_compute", policy._compute_kind)

    @property
    def dtype(self):
        """The dtype of the weights."""
        return self.variable_dtype

    @property
    def variable_dtype(self):
        return self._dtype_policy.variable_dtype

    @property
    def compute_dtype(self):
        return self._dtype_policy.compute_dtype

    @property
    def input_dtype(self):
        """The dtype to which floating inputs are cast."""
        return self._dtype_policy.compute_dtype

    @property
    def path(self):
        """Where the layer stands, if it was built."""
        return self.__dict__.get("_path")

    @property
    def input_spec(self):
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value):
        self._input_spec = value
        self._quick = None

    @property
    def supports_jit(self):
        return self._supports_jit

    @property
    def quantization_mode(self):
        return getattr(self._dtype_policy, "quantization_mode", None)

    # ------------------------------------------------------------------ losses

    def add_loss(self, loss):
        """Adds to what training makes small; to be called in `call`."""
        for one in nest.flatten(loss):
            if one is None:
                continue
            if not hasattr(one, "dtype") and not isinstance(one, (int, float)):
                raise ValueError("`add_loss()` can only be called from inside `build()` or `call()`, on a tensor "
                                 f"input. Received invalid value: {one}")
            self._losses.append(_tf.convert_to_tensor(one) if not isinstance(one, KerasTensor) else one)
        Layer._any_losses = True

    _any_losses = False

    @property
    def losses(self):
        """What add_loss, activity regularizers and regularizers of weights ask for, in that order."""
        found = [loss for layer in self._flatten_layers() for loss in layer._losses]
        if found and not _core._is_tracing():  # what a trace added has no value outside of it
            found = [loss for loss in found if _core._traced_name(loss) is None]
        for v in self.trainable_weights:
            if getattr(v, "regularizer", None) is not None:
                found.append(v.regularizer(v))
        return found

    def _clear_losses(self):
        for layer in self._flatten_layers():
            layer._losses.clear()

    # ------------------------------------------------------------------ building

    def build(self, input_shape):
        """Makes the weights; called before the first call with the shapes of the inputs."""
        self._check_super_called()
        if self._might_have_unbuilt_state():
            warnings.warn(f"`build()` was called on layer '{self.name}', however the layer does not have a `build()` "
                          "method implemented and it looks like it has unbuilt state. This will cause the layer to be "
                          "marked as built, despite not being actually built, which may cause failures down the line. "
                          "Make sure to implement a proper `build()` method.", stacklevel=2)
        self.built = True

    def _post_build(self):
        self._path = _scopes.current_path() + "/" + self.name if _scopes.context.scopes else self.name

    def _might_have_unbuilt_state(self):
        return any(not layer.built for layer in self._layers)

    def _note_build_shapes(self, build, args, kwargs):
        shapes = dict(zip((p.name for p in _parameters(build)), args), **kwargs)
        object.__setattr__(self, "_build_shapes_dict", shapes)

    def get_build_config(self):
        """The shapes with which the layer was built."""
        shapes = self._build_shapes_dict
        if shapes is None:
            return None
        if len(shapes) == 1:
            return {"input_shape": tuple(shapes.values())[0]}
        return {"shapes_dict": dict(shapes)}

    def build_from_config(self, config):
        """Builds the layer as one that gave this get_build_config."""
        if config:
            if "input_shape" in config:
                self.build(_as_shapes(config["input_shape"]))
            elif "shapes_dict" in config:
                self.build(**{k: _as_shapes(v) for k, v in config["shapes_dict"].items()})
        self.built = True

    def _maybe_build(self, arguments, spec):
        shapes = {}
        for name, value in arguments.items():
            if name.endswith("mask") or value is None:
                continue
            leaves = nest.flatten(value)
            if leaves and all(_is_tensor_like(x) for x in leaves):
                shapes[f"{name}_shape"] = nest.map_structure(lambda x: _Sizes(x.shape), value)
        shapes = {k: nest.map_structure(tuple, v) for k, v in shapes.items()}
        method = type(self).build
        if _is_default(method):
            with _scopes.name_scope(self.name, caller=self):
                if self._might_have_unbuilt_state():
                    self._build_by_run(arguments)
                else:
                    object.__setattr__(self, "_build_shapes_dict", shapes)
            self.built = True
            self._post_build()
            self._is_locked = True
            return
        parameters = _parameters(method)
        names = [p.name for p in parameters]
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
        if len(names) == 1 and not takes_all:
            if not shapes:
                raise ValueError(f"Layer '{self.name}' was called without tensors before it was built: call build() "
                                 "first.")
            self.build(next(iter(shapes.values())))
            return
        fitting = shapes if takes_all else {k: v for k, v in shapes.items() if k in names}
        missing = [p.name for p in parameters if p.name not in fitting and p.default is p.empty]
        if missing and not takes_all and len(shapes) >= 1:
            first = names[0]
            if first in missing:
                fitting[first] = next(iter(shapes.values()))
                missing.remove(first)
        if missing and not takes_all:
            raise ValueError("For a `build()` method with more than one argument, all arguments should have a "
                             "`_shape` suffix and match an argument from `call()`. E.g. `build(self, foo_shape, "
                             f"bar_shape)`.  Received `build()` signature with arguments {names} while `call()` was "
                             f"given {list(arguments)}.")
        self.build(**fitting)

    def _build_by_run(self, arguments):
        """Builds the layers within by tracing `call`; if that fails, the call itself will build them or say why not."""
        symbolic = nest.map_structure(
            lambda x: KerasTensor(x.shape, standardize_dtype(x.dtype)) if _is_tensor_like(x) else x, arguments)
        entry, training = _context.entry, _context.training
        _context.entry = _context.entry or self
        try:
            with _tf.init_scope():
                compute_output_spec(lambda a: self.call(**a), symbolic)
        except Exception:  # noqa: BLE001
            pass
        finally:
            _context.entry, _context.training = entry, training
            if Layer._any_losses:
                self._clear_losses()

    # ------------------------------------------------------------------ calling

    def call(self, *args, **kwargs):
        """What the layer computes; to be written by subclasses."""
        raise NotImplementedError(f"Layer {type(self).__name__} does not have a `call()` method implemented.")

    @property
    def _call_has_training_arg(self):
        return _call_spec(type(self)).has_training

    def _call_container(self, x, training, has_training):
        """The quick way of a layer with layers or losses within: they need to know where they are."""
        entry, before = _context.entry, _context.training
        if entry is None:
            _context.entry = self
            if Layer._any_losses:
                self._clear_losses()
        _context.training = training
        call = while_traced(self.call) if _core._is_tracing() else self.call
        try:
            if training is not None and has_training:
                return call(x, training=training)
            return call(x)
        except Exception as error:
            self._check_inputs(x)
            self._explain(error, (x,), {})
            raise
        finally:
            _context.entry, _context.training = entry, before

    def _converted(self, value):
        if value is None or isinstance(value, (KerasTensor, bool, int, float, str)):
            return value
        kind = self.input_dtype
        if _tf.is_tensor(value):
            if self.autocast and _is_float(value) and standardize_dtype(value.dtype) != kind:
                mask = _state.get_mask(value)
                value = _tf.cast(value, kind)
                if mask is not None:
                    _state.set_mask(value, mask)
            return value
        if hasattr(value, "__array__"):
            value = _tf.convert_to_tensor(value)
            if self.autocast and value.dtype.is_floating and value.dtype.name != kind:
                value = _tf.cast(value, kind)
        return value

    def _call_in_full(self, args, kwargs):
        self._check_super_called()
        cls = type(self)
        spec = _call_spec(cls)
        if self._convert_input_args:
            args = nest.map_structure(self._converted, args)
            kwargs = {k: nest.map_structure(self._converted, v) for k, v in kwargs.items()}
        if not self._allow_non_tensor_positional_args:
            for arg in nest.flatten(args):
                if arg is not None and not _is_tensor_like(arg):
                    raise ValueError("Only input tensors may be passed as positional arguments. The following argument "
                                     f"value should be passed as a keyword argument: {arg} (of type {type(arg)})")
        arguments = self._bound(spec, args, kwargs)
        tensor_arguments = {k: v for k, v in arguments.items() if _holds_tensors(v) and not k.endswith("mask")}
        first_name = next(iter(tensor_arguments), None)
        first = arguments.get(first_name)

        entry, before = _context.entry, _context.training
        is_entry = entry is None
        training = arguments.get("training")
        if training is None:
            training = before
        if spec.has_training:
            if training is not None:
                kwargs["training"] = arguments["training"] = training
            else:  # not passed on: a functional model would take it for what the user asked for
                training = None if "training" in kwargs else spec.defaults.get("training")
        elif "training" in kwargs:
            kwargs.pop("training")
            arguments.pop("training", None)

        if _masks or any(getattr(x, "_keras_mask", None) is not None for x in nest.flatten((args, kwargs))
                         if isinstance(x, KerasTensor)):
            self._find_masks(spec, tensor_arguments, arguments, kwargs)
        previous_mask = nest.map_structure(_state.get_mask, first) if first_name else None

        _context.entry = entry or self
        _context.training = training
        if is_entry and Layer._any_losses:
            self._clear_losses()
        try:
            if not self.built:
                if first_name is not None:
                    self._check_inputs(first)
                self._maybe_build(arguments, spec)
            if first_name is not None:
                self._check_inputs(first)
            self._called = True
            if any(isinstance(x, KerasTensor) for x in nest.flatten((args, kwargs))):
                outputs = self.symbolic_call(*args, **kwargs)
                if Layer._any_losses:
                    self._clear_losses()
            else:
                try:
                    outputs = self._computed(args, kwargs)
                except Exception as error:
                    self._explain(error, args, kwargs)
                    raise
                if self.activity_regularizer is not None:
                    for output in nest.flatten(outputs):
                        if _tf.is_tensor(output):
                            loss = self.activity_regularizer(output)
                            self.add_loss(loss / _tf.cast(_tf.shape(output)[0], loss.dtype))
            self._pass_masks_on(first, outputs, previous_mask)
        finally:
            _context.entry, _context.training = entry, before
        if self._quick is None:
            self._find_quick_way(spec, args)
        return outputs

    def _quick_call_failed(self, error, args, kwargs):
        """Asks the input spec, whose words come first, and says in the error where it happened; QuickCall raises it."""
        self._check_inputs(args[0])
        self._explain(error, args, kwargs)

    def _explain(self, error, args, kwargs):
        from ._call_errors import explain
        explain(error, self, args, kwargs)

    def _check_inputs(self, inputs):
        if self._input_spec is not None:
            check_input(self._input_spec, inputs, self.name)

    def _computed(self, args, kwargs):
        policy = self._dtype_policy
        compute = policy.compute_dtype
        wanted = compute if self.autocast and compute and compute != policy.variable_dtype else None
        if not self.autocast:
            return self._run(args, kwargs)
        before = _core._cast_variables_to(wanted)
        try:
            return self._run(args, kwargs)
        finally:
            _core._cast_variables_to(before)

    def _run(self, args, kwargs):
        if _context.scopes or self._layers and self._might_have_unbuilt_state():
            with _scopes.name_scope(self.name, caller=self):
                return while_traced(self.call)(*args, **kwargs)
        return while_traced(self.call)(*args, **kwargs)

    def _bound(self, spec, args, kwargs):
        if len(args) > len(spec.positional) or spec.takes_all:
            try:
                bound = spec.signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{type(self).__name__}.call(): {error}") from None
            found = dict(bound.arguments)
            for p in bound.signature.parameters.values():
                if p.kind is p.VAR_KEYWORD:
                    found.update(found.pop(p.name, {}))
            return found
        arguments = dict(zip(spec.positional, args))
        for name, value in kwargs.items():
            if name in arguments:
                raise TypeError(f"{type(self).__name__}.call() got multiple values for argument '{name}'")
            if name not in spec.names and name != "training":
                raise TypeError(f"{type(self).__name__}.call() got an unexpected keyword argument '{name}'")
            arguments[name] = value
        return arguments

    def _find_masks(self, spec, tensor_arguments, arguments, kwargs):
        if len(tensor_arguments) == 1:
            if spec.has_mask and arguments.get("mask") is None:
                value = next(iter(tensor_arguments.values()))
                mask = nest.map_structure(_state.get_mask, value)
                if any(m is not None for m in nest.flatten(mask)):
                    kwargs["mask"] = arguments["mask"] = mask
            return
        for name, value in tensor_arguments.items():
            own = f"{name}_mask"
            if own in spec.names and arguments.get(own) is None:
                mask = nest.map_structure(_state.get_mask, value)
                if any(m is not None for m in nest.flatten(mask)):
                    kwargs[own] = arguments[own] = mask

    def compute_mask(self, inputs, previous_mask):
        """The masks of the outputs."""
        return previous_mask

    compute_mask._is_default = True

    def _pass_masks_on(self, inputs, outputs, previous_mask):
        has_mask = previous_mask is not None and any(m is not None for m in nest.flatten(previous_mask))
        if not self.supports_masking:
            if has_mask:
                warnings.warn(f"Layer '{self.name}' (of type {type(self).__name__}) was passed an input with a mask "
                              "attached to it. However, this layer does not support masking and will therefore "
                              "destroy the mask information. Downstream layers will not see the mask.", stacklevel=4)
            return
        if not has_mask and _is_default(type(self).compute_mask):
            return
        flat = nest.flatten(outputs)
        if any(isinstance(x, KerasTensor) for x in flat) or all(_state.get_mask(x) is not None for x in flat):
            return
        masks = self.compute_mask(inputs, previous_mask)
        if masks is None:
            return
        for x, mask in zip(flat, nest.flatten(masks)):
            if mask is not None and _tf.is_tensor(x):
                _state.set_mask(x, mask)

    def _find_quick_way(self, spec, args):
        """Whether calls like this one may go straight to `call`, and for which tensors."""
        cls = type(self)
        policy = self._dtype_policy
        if (len(args) != 1 or type(args[0]) is not Tensor or not self.built or self.activity_regularizer is not None
                or policy.compute_dtype != policy.variable_dtype or not self.autocast
                or (self.supports_masking and not _is_default(cls.compute_mask) and not self._passes_masks())
                or spec.defaults.get("training") is not None
                or any(not layer.built for layer in self._flatten_layers())
                or (self._input_spec is not None and not cls.__module__.startswith("gradus.keras."))):
            return
        x = args[0]
        if x.dtype.is_floating and x.dtype.name != policy.compute_dtype:
            return
        contains = bool(self._layers) or not cls.__module__.startswith("gradus.keras.layers")
        object.__setattr__(self, "_quick", (x.dtype, x.ndim, spec.has_training, contains))

    def _passes_masks(self):
        """Whether compute_mask gives None where the inputs have no mask; a layer that makes masks says False."""
        return bool(self._layers)

    def stateless_call(self, trainable_variables, non_trainable_variables, *args, return_losses=False, **kwargs):
        """(outputs, non-trainable variables) of a call with these values; the layer's own variables stay as they
        are."""
        if not self.built:
            raise ValueError(f"To call stateless_call, {type(self).__name__} must be built (i.e. its variables must "
                             "have been already created). You can build it by calling it on some data.")
        own = self.trainable_variables + self.non_trainable_variables
        given = list(trainable_variables) + list(non_trainable_variables)
        if len(own) != len(given):
            raise ValueError(f"stateless_call: got {len(given)} values for {len(own)} variables")
        before = [v.read_value() for v in own]
        for v, value in zip(own, given):
            v.assign(value)
        try:
            outputs = self(*args, **kwargs)
            after = [v.read_value() for v in self.non_trainable_variables]
            losses = self.losses if return_losses else None
        finally:
            for v, value in zip(own, before):
                v.assign(value)
        return (outputs, after, losses) if return_losses else (outputs, after)

    def add_metric(self, *_, **__):
        raise NotImplementedError("add_metric is gone from Keras: make the metric in __init__ and update it in `call`")

    # ------------------------------------------------------------------ symbolic

    def symbolic_call(self, *args, **kwargs):
        outputs = self.compute_output_spec(*args, **kwargs)
        Node(self, args, kwargs, outputs)
        return outputs

    def compute_output_shape(self, *args, **kwargs):
        """The shape of the output for a shape of the input."""
        return nest.map_structure(lambda t: t.shape, self.compute_output_spec(
            *[_as_keras_tensors(a, self.compute_dtype) for a in args],
            **{k.removesuffix("_shape"): _as_keras_tensors(v, self.compute_dtype) for k, v in kwargs.items()}))

    compute_output_shape._is_default = True

    def compute_output_spec(self, *args, **kwargs):
        """KerasTensors like the outputs."""
        if _is_default(type(self).compute_output_shape):
            try:
                return compute_output_spec(self._computed_with, *args, **kwargs)
            except Exception as error:
                self._explain(error, args, kwargs)
                raise
        arguments = self._bound(_call_spec(type(self)), args, kwargs)
        shapes = {k: nest.map_structure(lambda x: _Sizes(x.shape), v) for k, v in arguments.items()
                  if not k.endswith("mask") and _holds_tensors(v)}
        shapes = {k: nest.map_structure(tuple, v) for k, v in shapes.items()}
        names = [p.name for p in _parameters(type(self).compute_output_shape)]
        if len(names) == 1 or len(shapes) == 1:
            shape = self.compute_output_shape(next(iter(shapes.values())))
        else:
            shape = self.compute_output_shape(**{k + "_shape": v for k, v in shapes.items() if k + "_shape" in names})
        return _keras_tensors_of(shape, self.compute_dtype)

    def _computed_with(self, *args, **kwargs):
        return self._computed(args, kwargs)

    # ------------------------------------------------------------------ configs and files

    def get_config(self):
        """What from_config needs to make a layer like this one."""
        self._check_super_called()
        from . import dtype_policies
        base = {"name": self.name, "trainable": self.trainable, "dtype": dtype_policies.serialize(self._dtype_policy)}
        if self.activity_regularizer is not None:
            from . import regularizers
            base["activity_regularizer"] = regularizers.serialize(self.activity_regularizer)
        if type(self).get_config is not Layer.get_config:
            return base
        if type(self).__init__ is Layer.__init__:
            return {"name": self.name, "activity_regularizer": base.get("activity_regularizer"),
                    "trainable": self.trainable,
                    "dtype": base["dtype"], "autocast": self.autocast}
        automatic = Operation.get_config(self)
        parameters = inspect.signature(type(self).__init__).parameters
        if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            return {k: v for k, v in automatic.items() if k in parameters}
        return {**base, **automatic}

    def save_own_variables(self, store):
        """Puts the layer's own variables into a dict-like store, by number."""
        for i, v in enumerate(self._trainable_variables + self._non_trainable_variables):
            store[f"{i}"] = v

    def load_own_variables(self, store):
        """Takes them from there again."""
        own = self._trainable_variables + self._non_trainable_variables
        if len(store.keys()) != len(own):
            if len(own) == 0 and not self.built:
                raise ValueError(f"Layer '{self.name}' was never built and thus it doesn't have any variables. However "
                                 f"the weights file lists {len(store.keys())} variables for this layer.\n"
                                 "In most cases, this error indicates that either:\n"
                                 "\n1. The layer is owned by a parent layer that implements a `build()` method, but "
                                 "calling the parent's `build()` method did NOT create the state of the child layer "
                                 f"'{self.name}'. A `build()` method must create ALL state for a layer, including the "
                                 "state of any children layers.\n"
                                 "\n2. You need to implement the `def build_from_config(self, config)` method on layer "
                                 f"'{self.name}', to specify how to rebuild it during loading. In this case, you might "
                                 "also want to implement the method that generates the build config at saving time, "
                                 "`def get_build_config(self)`. The method `build_from_config()` is meant to create "
                                 "the state of the layer (i.e. its variables) upon deserialization.")
            raise ValueError(f"Layer '{self.name}' expected {len(own)} variables, but received {len(store.keys())} "
                             f"variables during loading. Expected: {[v.name for v in own]}")
        for i, v in enumerate(own):
            v.assign(store[f"{i}"])

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"

    __str__ = __repr__


Layer.build._is_default = True


class _Sizes:
    """A shape as one leaf of a structure."""

    def __init__(self, shape):
        self._shape = shape

    def __iter__(self):
        return iter([None if s is None else int(s) for s in self._shape])


def _is_tensor_like(x):
    return isinstance(x, KerasTensor) or _tf.is_tensor(x)


def _holds_tensors(value):
    if _is_tensor_like(value):
        return True
    if isinstance(value, (list, tuple, dict)):
        leaves = nest.flatten(value)
        return bool(leaves) and all(x is None or _is_tensor_like(x) for x in leaves) and any(x is not None
                                                                                             for x in leaves)
    return False


def _is_float(x):
    return x.dtype.is_floating if type(x) is Tensor else "float" in standardize_dtype(x.dtype)


def _is_shape(value):
    return isinstance(value, _tf.TensorShape) or (
        isinstance(value, (tuple, list)) and all(s is None or isinstance(s, int) for s in value))


def _keras_tensors_of(shape, dtype):
    if _is_shape(shape):
        return KerasTensor(shape, dtype)
    if isinstance(shape, dict):
        return {k: _keras_tensors_of(v, dtype) for k, v in shape.items()}
    if isinstance(shape, (list, tuple)):
        return type(shape)(_keras_tensors_of(v, dtype) for v in shape)
    raise ValueError(f"compute_output_shape() gave {shape!r}, which is not a shape")


def _as_keras_tensors(shape, dtype):
    return _keras_tensors_of(shape, dtype)


def _as_shapes(value):
    if isinstance(value, dict):
        return {k: _as_shapes(v) for k, v in value.items()}
    if _is_shape(value):
        return tuple(value)
    if isinstance(value, (list, tuple)):
        return [_as_shapes(v) for v in value]
    return value


def _policy(dtype):
    from . import dtype_policies
    return dtype_policies.get(dtype)
