"""Objects with a config: by name, as a dict and as themselves, for initializers, regularizers and constraints."""


class Registry:
    """get, serialize and deserialize for the classes of one module of Keras."""

    def __init__(self, what, module=None):
        self._what, self._module = what, module or f"keras.{what}s"
        self._classes = {}

    def add(self, *names):
        """Makes a class known by its own name and by others."""
        def remember(cls):
            for name in (cls.__name__, *names):
                self._classes[name] = cls
            return cls
        return remember

    def add_functions(self, **functions):
        """Makes functions, or classes under further names, known."""
        self._classes.update(functions)

    def get(self, identifier):
        """The object that a name, a dict, a class or a function stands for."""
        if identifier is None:
            return None
        if isinstance(identifier, dict):
            return self.deserialize(identifier)
        if isinstance(identifier, str):
            found = self._find(identifier)
            if found is None:
                raise ValueError(f"Could not interpret {self._what} identifier: {identifier}")
            return found() if isinstance(found, type) else found
        if isinstance(identifier, type):
            return identifier()
        if callable(identifier):
            return identifier
        raise ValueError(f"Could not interpret {self._what} identifier: {identifier}")

    def serialize(self, value):
        """The dict (or, of a plain function, the name) from which `deserialize` makes the object again."""
        if value is None:
            return None
        if not hasattr(value, "get_config"):
            return self._function_config(value)
        cls = type(value)
        if self._classes.get(cls.__name__) is cls:
            return {"module": self._module, "class_name": cls.__name__, "config": value.get_config(),
                    "registered_name": None}
        return {"module": cls.__module__, "class_name": cls.__name__, "config": value.get_config(),
                "registered_name": _registered_name(cls)}

    @staticmethod
    def _function_config(function):
        return getattr(function, "__name__", function)

    def deserialize(self, config, custom_objects=None):
        """The object that `serialize` wrote down."""
        if config is None:
            return None
        if isinstance(config, dict) and config.get("class_name") == "function":
            config = config["config"]
        if isinstance(config, str):
            found = self._find(config, custom_objects)
            if found is None:
                raise ValueError(f"Unknown {self._what}: '{config}'")
            return found() if isinstance(found, type) else found
        name = config.get("class_name")
        cls = self._find(config.get("registered_name"), custom_objects) or self._find(name, custom_objects)
        if cls is None:
            raise ValueError(f"Unknown {self._what}: '{name}'. Pass it in `custom_objects` or register it with "
                             "keras.saving.register_keras_serializable.")
        settings = config.get("config") or {}
        return cls.from_config(settings) if hasattr(cls, "from_config") else cls(**settings)

    def _find(self, name, custom_objects=None):
        return registered(name, custom_objects, self._classes) if isinstance(name, str) else None


class FunctionRegistry(Registry):
    """Of losses and metrics, which may be functions: Keras writes those down as dicts."""

    @staticmethod
    def _function_config(function):
        return {"module": "builtins", "class_name": "function", "config": getattr(function, "__name__", str(function)),
                "registered_name": "function"}


def registered(name, custom_objects=None, module_objects=None):
    """What is known by the name: to the caller, to a custom_object_scope, by registration, to the module; or None."""
    from ._serialization import get_registered_object
    return get_registered_object(name, custom_objects, module_objects)


def _registered_name(cls):
    from ._serialization import get_registered_name
    return get_registered_name(cls)
