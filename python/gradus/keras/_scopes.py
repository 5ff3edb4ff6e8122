"""Contexts: name scopes, from which variables take their paths, and the context of the call that is going on."""
import threading


class _Context(threading.local):
    """Of one thread: the open name scopes, and the outermost layer that is being called with its training flag."""

    def __init__(self):
        self.scopes = []
        self.entry, self.training = None, None


context = _Context()


class name_scope:  # noqa: N801
    """Puts a name before the names of variables that are made inside."""

    def __init__(self, name, caller=None, deduplicate=True, override_parent=None):
        if not isinstance(name, str) or "/" in name:
            raise ValueError(f"Argument `name` must be a string and cannot contain character `/`. Received: "
                             f"name={name}")
        self.name, self.caller, self.deduplicate = name, caller, deduplicate
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
    return "/".join(scope.name for scope in context.scopes)


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


class RematScope(SymbolicScope):
    """Accepted: which values of a step are kept is decided per function, with keras.remat."""

    def __init__(self, mode="full", output_size_threshold=1024, layer_names=None):
        if mode not in ("full", "activations", "larger_than", "list_of_layers", None):
            raise ValueError(f"Invalid mode '{mode}'. Supported modes are: 'full', 'activations', 'larger_than', "
                             "'list_of_layers', or  None.")
        self.mode = mode


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
