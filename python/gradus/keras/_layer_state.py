"""What a layer holds: variables, layers, metrics and seed generators, noticed when they become attributes."""
from . import _scopes, _state
from ._operation import Operation
from ._tracking import kind_of, tracked
from ._variable import Variable, standardize_dtype


def _size(shape):
    product = 1
    for s in shape:
        product *= s
    return product


class LayerState(Operation):
    """The part of a layer that keeps its state."""

    _is_locked = False

    def __setattr__(self, name, value):
        kind = kind_of(value)
        if kind is not None:
            try:
                tracks = self.__dict__["_tracks"]
            except KeyError:
                raise RuntimeError(f"In layer '{type(self).__name__}', you forgot to call `super().__init__()` as the "
                                   "first statement in the `__init__()` method. Go add it!") from None
            if tracks:
                if name in self.__dict__:
                    old = self.__dict__[name]
                    if old is not value and kind_of(old) is not None:
                        self._untrack(old)
                value = tracked(self, value)
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        value = self.__dict__.get(name)
        if value is not None:
            self._untrack(value)
        object.__delattr__(self, name)

    def _store(self, kind, value):
        if kind == "variable":
            return self._trainable_variables if value.trainable else self._non_trainable_variables
        return {"layer": self._layers, "metric": self._metrics, "seed generator": self._seed_generators}[kind]

    def _track(self, kind, value):
        store = self._store(kind, value)
        if any(own is value for own in store):
            return
        if kind == "variable" and any(own is value
                                      for own in self._trainable_variables + self._non_trainable_variables):
            return
        if self._is_locked and kind in ("variable", "layer"):
            raise ValueError("You cannot add new elements of state (variables or sub-layers) to a layer that is "
                             "already built. All state must be created in the `__init__()` method or in the `build()` "
                             "method.")
        store.append(value)
        _state.note_change()

    def _untrack(self, value):
        kind = kind_of(value)
        if kind in ("list", "tuple", "set"):
            for part in value:
                self._untrack(part)
        elif kind == "dict":
            for part in value.values():
                self._untrack(part)
        elif kind is not None:
            stores = ([self._trainable_variables, self._non_trainable_variables] if kind == "variable"
                      else [self._store(kind, value)])
            for store in stores:
                store[:] = [own for own in store if own is not value]
            _state.note_change()

    def add_weight(self, shape=None, initializer=None, dtype=None, trainable=True, autocast=True, regularizer=None,
                   constraint=None, aggregation="none", overwrite_with_gradient=False, name=None, **kwargs):
        """Makes a variable of this layer."""
        self._check_super_called()
        if set(kwargs) - {"layout", "synchronization", "experimental_autocast"}:
            raise TypeError(f"add_weight() got unexpected keyword arguments: {sorted(kwargs)}")
        if isinstance(shape, str):
            raise ValueError(f"add_weight takes the shape first; got {shape!r}: pass the name as name=")
        shape = () if shape is None else shape
        dtype = self.variable_dtype if dtype is None else standardize_dtype(dtype)
        if initializer is None:
            initializer = "glorot_uniform" if "float" in dtype else "zeros"
        if isinstance(initializer, (str, dict, type)):
            from . import initializers
            initializer = initializers.get(initializer)
        with _scopes.name_scope(self.name, caller=self):
            variable = Variable(initializer, shape=shape, dtype=dtype, trainable=trainable, autocast=autocast,
                                aggregation=aggregation, name=name)
        variable._initializer = initializer
        variable.overwrite_with_gradient = overwrite_with_gradient
        if regularizer is not None:
            from . import regularizers
            variable.regularizer = regularizers.get(regularizer)
        if constraint is not None:
            from . import constraints
            variable.constraint = constraints.get(constraint)
        self._track("variable", variable)
        return variable

    def add_variable(self, shape, initializer, dtype=None, trainable=True, autocast=True, regularizer=None,
                     constraint=None,
                     name=None):
        """Another name of add_weight."""
        return self.add_weight(shape=shape, initializer=initializer, dtype=dtype, trainable=trainable,
                               autocast=autocast,
                               regularizer=regularizer, constraint=constraint, name=name)

    def __deepcopy__(self, memo):
        """A layer like this one with weights of its own, not connected to anything."""
        import copy
        other = type(self).__new__(type(self))
        memo[id(self)] = other
        for name, value in self.__dict__.items():
            if name in ("_inbound_nodes", "_outbound_nodes"):
                value = []
            elif name in ("_known_lists", "_quick"):
                continue
            else:
                value = copy.deepcopy(value, memo)
            object.__setattr__(other, name, value)
        return other

    def _check_super_called(self):
        if "_tracks" not in self.__dict__:
            raise RuntimeError(f"In layer '{type(self).__name__}', you forgot to call `super().__init__()` as the "
                               "first statement in the `__init__()` method. Go add it!")

    def _flatten_layers(self, include_self=True, recursive=True):
        """This layer and those within it, each once, in the order in which they were found."""
        found, seen = [], set()
        stack = [self] if include_self else list(reversed(self._layers))
        first = include_self
        while stack:
            layer = stack.pop()
            if id(layer) in seen:
                continue
            seen.add(id(layer))
            found.append(layer)
            if recursive or first:
                stack.extend(reversed(layer._layers))
            first = False
        return found

    def _remembered(self, what, find):
        """A list that stays as it is until some layer changes."""
        known = self.__dict__.get("_known_lists")
        version = _state.version()
        if known is None or known[0] != version:
            known = (version, {})
            object.__setattr__(self, "_known_lists", known)
        found = known[1].get(what)
        if found is None:
            found = known[1][what] = find()
        return list(found)

    def _collected(self, own):
        found, seen = [], set()
        for layer in self._flatten_layers():
            for v in own(layer):
                if id(v) not in seen:
                    seen.add(id(v))
                    found.append(v)
        return found

    @property
    def variables(self):
        """All variables: weights and the states of random seeds, but not those of metrics."""
        return self._remembered("variables", lambda: self._collected(
            lambda layer: layer._trainable_variables + layer._non_trainable_variables
            + [g.state for g in layer._seed_generators]))

    @property
    def weights(self):
        """All weights, trainable ones of each layer first."""
        return self._remembered("weights", lambda: self._collected(
            lambda layer: layer._trainable_variables + layer._non_trainable_variables))

    @property
    def trainable_variables(self):
        """The variables that training changes."""
        return self._remembered("trainable_variables", lambda: [v for v in self.variables if v.trainable]
                                if self.trainable else [])

    @property
    def non_trainable_variables(self):
        if not self.trainable:
            return self.variables
        return [v for v in self.variables if not v.trainable]

    @property
    def trainable_weights(self):
        """The weights that training changes."""
        return self._remembered("trainable_weights", lambda: [v for v in self.weights if v.trainable]
                                if self.trainable else [])

    @property
    def non_trainable_weights(self):
        if not self.trainable:
            return self.weights
        return [v for v in self.weights if not v.trainable]

    @property
    def metrics(self):
        """The metrics of this layer and of those within it."""
        return self._collected(lambda layer: layer._metrics)

    @property
    def metrics_variables(self):
        return [v for metric in self.metrics for v in metric.variables]

    @property
    def trainable(self):
        """Whether training changes the weights; setting it also sets it for all layers within."""
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = bool(value)
        _state.note_change()
        for v in self._trainable_variables:
            v.trainable = self._trainable
        for layer in self._layers:
            layer.trainable = self._trainable

    def get_weights(self):
        """The weights as a list of NumPy arrays."""
        return [v.numpy() for v in self.weights]

    def set_weights(self, weights):
        """Gives the weights the values of a list of arrays, in the order of get_weights."""
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(f"You called `set_weights(weights)` on layer '{self.name}' with a weight list of length "
                             f"{len(weights)}, but the layer was expecting {len(own)} weights.")
        for variable, value in zip(own, weights):
            if tuple(variable.shape) != tuple(getattr(value, "shape", ())):
                raise ValueError(f"Layer {self.name} weight shape {variable.shape} is not compatible with provided "
                                 f"weight shape {tuple(getattr(value, 'shape', ()))}.")
        for variable, value in zip(own, weights):
            variable.assign(value)

    def count_params(self):
        """The number of elements of all weights."""
        if not self.built:
            raise ValueError(f"You tried to call `count_params` on layer '{self.name}', but the layer isn't built. You "
                             "can build it manually via: `layer.build(input_shape)`.")
        return sum(_size(v.shape) for v in self.weights)
