"""InputSpec: what a layer expects of its inputs, and how it says that they are not like that."""
from .. import nest
from ._variable import standardize_dtype


class InputSpec:
    """What a layer expects of an input; `axes` maps axes to sizes."""

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None,
                 allow_last_axis_squeeze=False,
                 name=None, optional=False):
        self.dtype = standardize_dtype(dtype) if dtype is not None else None
        self.shape = None if shape is None else tuple(shape)
        self.ndim = len(self.shape) if shape is not None else ndim
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.name, self.optional, self.allow_last_axis_squeeze = name, optional, allow_last_axis_squeeze
        try:
            self.axes = {int(k): axes[k] for k in axes or {}}
        except (ValueError, TypeError):
            raise TypeError(f"Argument `axes` must be a dict with integer keys. Received: axes={axes}") from None
        if self.axes and (self.ndim is not None or self.max_ndim is not None):
            limit = (self.ndim if self.ndim is not None else self.max_ndim) - 1
            if max(self.axes) > limit:
                raise ValueError(f"Axis {max(self.axes)} is greater than the maximum allowed value: {limit}")

    def __repr__(self):
        shown = [("dtype=" + str(self.dtype)) if self.dtype else "", ("shape=" + str(self.shape)) if self.shape else "",
                 ("ndim=" + str(self.ndim)) if self.ndim else "", ("max_ndim=" + str(self.max_ndim)) if self.max_ndim
                 else "",
                 ("min_ndim=" + str(self.min_ndim)) if self.min_ndim else "", ("axes=" + str(self.axes)) if self.axes
                 else ""]
        return f"InputSpec({', '.join(x for x in shown if x)})"

    def get_config(self):
        return {"dtype": self.dtype, "shape": self.shape, "ndim": self.ndim, "max_ndim": self.max_ndim,
                "min_ndim": self.min_ndim, "axes": self.axes}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def check_input(spec, inputs, layer_name):
    """Raises ValueError unless the inputs are as the InputSpec, or list of them, says."""
    specs = nest.flatten(spec)
    if isinstance(inputs, dict) and all(s.name is not None for s in specs):
        inputs = [inputs.get(s.name) for s in specs]
    else:
        inputs = nest.flatten(inputs)
    if len(inputs) != len(specs):
        names = [s.name for s in specs]
        if len(specs) > 1 and None not in names:
            example = ", ".join(f"'{n}': ..." for n in names)
            raise ValueError(f'Layer "{layer_name}" expects {len(specs)} named input(s) with keys {names}, but it '
                             f"received {len(inputs)} input tensors. Pass inputs as a dict, e.g. `layer({{{example}}})`.")
        raise ValueError(f'Layer "{layer_name}" expects {len(specs)} input(s), but it received {len(inputs)} input '
                         f"tensors. Inputs received: {inputs}")
    for index, (x, s) in enumerate(zip(inputs, specs)):
        if x is None and s.optional:
            continue
        if not hasattr(x, "shape"):
            raise ValueError(f"Inputs to a layer should be tensors. Got '{x}' (of type {type(x)}) as input for layer "
                             f"'{layer_name}'.")
        _check_one(s, tuple(x.shape), x, f"Input {index} with name '{s.name}' of layer '{layer_name}' is incompatible "
                                         "with the layer: ")


def _check_one(s, shape, x, start):
    ndim = len(shape)
    if s.ndim is not None and not (s.allow_last_axis_squeeze and s.ndim in (ndim - 1, ndim + 1)):
        if ndim != s.ndim:
            raise ValueError(f"{start}expected ndim={s.ndim}, found ndim={ndim}. Full shape received: {shape}")
    if s.max_ndim is not None and ndim > s.max_ndim:
        raise ValueError(f"{start}expected max_ndim={s.max_ndim}, found ndim={ndim}")
    if s.min_ndim is not None and ndim < s.min_ndim:
        raise ValueError(f"{start}expected min_ndim={s.min_ndim}, found ndim={ndim}. Full shape received: {shape}")
    if s.dtype is not None and standardize_dtype(x.dtype) != s.dtype:
        raise ValueError(f"{start}expected dtype={s.dtype}, found dtype={standardize_dtype(x.dtype)}")
    for axis, size in s.axes.items():
        if size is not None and shape[axis] not in (size, None):
            raise ValueError(f"{start}expected axis {axis} of input shape to have value {size}, but received input "
                             f"with shape {shape}")
    if s.shape is not None:
        wanted = s.shape
        if s.allow_last_axis_squeeze:
            if shape and shape[-1] == 1:
                shape = shape[:-1]
            if wanted and wanted[-1] == 1:
                wanted = wanted[:-1]
        for want, have in zip(wanted, shape):
            if want is not None and have is not None and want != have:
                raise ValueError(f"{start}expected shape={s.shape}, found shape={tuple(x.shape)}")
