"""Contexts: name scopes, from which variables take their paths, and the context of the call that is going on."""
import math
import threading


class _Context(threading.local):
    """Of one thread: the open name scopes, and the outermost layer that is being called with its training flag."""

    def __init__(self):
        self.scopes, self.remats = [], []
        self.entry, self.training = None, None


context = _Context()


class name_scope:  # noqa: N801
    """Puts a name before the names of variables that are made inside."""

    def __init__(self, name, caller=None, deduplicate=True, override_parent=None):
        if not isinstance(name, str) or "/" in name:
            raise ValueError(f"Argument `name` must be a string and cannot contain character `/`. Received: "
                             f"name={name}")
        self.name, self.caller, self.deduplicate, self.override_parent = name, caller, deduplicate, override_parent
        self._pushed = False

    def __enter__(self):
        scopes = context.scopes
        top = scopes[-1] if scopes else None
        self._pushed = not (self.deduplicate and self.caller is not None and top is not None
                            and top.caller is self.caller)
        if self._pushed:
            scopes.append(self)
        return self

    def __exit__(self, *_):
        if self._pushed:
            context.scopes.pop()


def current_path():
    """The names of the open scopes, joined with '/'."""
    names = []
    for scope in context.scopes:
        if scope.override_parent is not None:
            names = [scope.override_parent.rstrip("/")] if scope.override_parent else []
        names.append(scope.name)
    return "/".join(names)


class StatelessScope:
    """Keras's way to compute without changing variables, for backends that need it; here it has no purpose."""

    def __init__(self, *_, **__):
        raise NotImplementedError("StatelessScope is not covered: variables can be assigned anywhere, also in a "
                                  "tf.function")


class SymbolicScope:
    """Inside, shapes are worked out and nothing is computed; accepted, as KerasTensors say that by themselves."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class RematScope:
    """Layers that are made inside compute their inner values again for the gradient, instead of keeping them.

    mode: "full" all of them, "activations" those with an activation, "larger_than" those whose results have more than
    output_size_threshold elements, "list_of_layers" those named in layer_names, None no layer. Layers with a state that a
    call changes (random numbers, moving averages) keep their values in every mode: a second call would be another one.
    """

    def __init__(self, mode="full", output_size_threshold=1024, layer_names=None):
        if mode not in ("full", "activations", "larger_than", "list_of_layers", None):
            raise ValueError(f"Invalid mode '{mode}'. Supported modes are: 'full', 'activations', 'larger_than', "
                             "'list_of_layers', or  None.")
        self.mode, self.output_size_threshold, self.layer_names = mode, output_size_threshold, list(layer_names or ())

    def __enter__(self):
        context.remats.append(self)
        return self

    def __exit__(self, *_):
        context.remats.pop()

    def concerns(self, layer, args):
        """Whether this layer, called with these arguments, keeps nothing."""
        if any(not v.trainable for v in layer.variables):
            return False
        if self.mode == "list_of_layers":
            return layer.name in self.layer_names
        if self.mode == "activations":
            return getattr(layer, "activation", None) is not None
        if self.mode == "larger_than":
            shape = layer.compute_output_shape(*(tuple(a.shape) for a in args if hasattr(a, "shape")))
            shapes = [shape] if not shape or not isinstance(shape[0], (tuple, list)) else shape
            return sum(math.prod(n or 1 for n in s) for s in shapes) > self.output_size_threshold
        return self.mode == "full"


def rematerialize(layer):
    """Lets a layer that was made inside of a RematScope do what the scope says."""
    scope, plain = context.remats[-1], layer.call

    def call(*args, **kwargs):
        return (remat(plain) if scope.concerns(layer, args) else plain)(*args, **kwargs)
    object.__setattr__(layer, "call", call)


def remat(f):
    """The function with its inner values computed again for the gradient, instead of kept."""
    import gradus as tf
    return tf.recompute_grad(f)


class device(name_scope):  # noqa: N801
    """Accepted; there is one device."""

    def __init__(self, device_name):
        super().__init__("device")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass
