"""Functions that transform functions: TensorFlow's custom_gradient and recompute_grad, and Gradus's own.

In grad, jvp, vjp, linearize, hvp, jacobian and hessian, `x` is the argument of f: any structure of tensors. A
tuple stands for several arguments, f(*x). Derivatives have the structure of what they belong to.
"""
import functools
import sys

from . import _core, nest

__all__ = ["custom_gradient", "grad", "grad_pass_through", "hessian", "hvp", "jacobian", "jvp", "linearize",
           "recompute_grad", "value_and_grad", "vjp"]


def _tf():
    return sys.modules["gradus"]


def _tensors(structure):
    return [_tf().convert_to_tensor(leaf) for leaf in nest.flatten(structure)]


def _takes_variables(function):
    import inspect
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)


def custom_gradient(f=None):
    """A decorator for functions that return their value and a function for the gradient.

    The gradient function takes one cotangent per result and returns one gradient per argument (None where
    there is none). If f reads variables, it must also take `variables=` and return a pair: the gradients of
    the arguments and a list of those of the variables.
    """
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        result = []

        def forward(tensors):
            value, grad_fn = f(*nest.pack_sequence_as(args, tensors), **kwargs)
            result.append(value)
            takes_variables = _takes_variables(grad_fn)

            def backward(cotangents, variables):
                if variables:
                    gradients, of_variables = grad_fn(*cotangents, variables=variables)
                else:
                    gradients, of_variables = grad_fn(*cotangents), []
                gradients = list(gradients) if isinstance(gradients, (list, tuple)) else [gradients]
                flat = nest.flatten(gradients)
                if len(flat) != len(tensors):
                    raise ValueError(f"custom_gradient function expected to return {len(tensors)} gradients, but "
                                     f"returned {len(flat)} instead.")
                return flat + list(of_variables)

            return _tensors(value), backward, takes_variables

        values = _core._call_custom_gradient(forward, _tensors(args))
        return nest.pack_sequence_as(result[0], values)

    return decorated


def recompute_grad(f):
    """f, of which a tape keeps only the arguments: it runs again when its gradient is computed."""

    @functools.wraps(f)
    def decorated(*args, **kwargs):
        result = []

        def again(tensors):
            value = f(*nest.pack_sequence_as(args, tensors), **kwargs)
            if not result:
                result.append(value)
            return _tensors(value)

        values = _core._call_recomputed(again, _tensors(args))
        return nest.pack_sequence_as(result[0], values)

    return decorated


def grad_pass_through(f):
    """f in the forward pass, the identity in the backward pass."""

    @custom_gradient
    def decorated(*args, **kwargs):
        return f(*args, **kwargs), lambda *cotangents, **ignored: cotangents
    return decorated


class _Flat:
    """f as a function of flat lists; remembers the structure of its last result."""

    def __init__(self, f, x):
        self.f, self.x, self.result = f, x, None

    def __call__(self, tensors):
        x = nest.pack_sequence_as(self.x, tensors)
        self.result = self.f(*x) if isinstance(self.x, tuple) else self.f(x)
        return _tensors(self.result)

    def pack(self, tensors):
        return nest.pack_sequence_as(self.result, tensors)


def value_and_grad(f, argnums=0):
    """A function that gives f's value and its gradient with respect to the arguments argnums."""

    def both(*args, **kwargs):
        which = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        chosen = tuple(args[i] for i in which)

        def of_chosen(*values):
            changed = list(args)
            for i, value in zip(which, values):
                changed[i] = value
            return f(*changed, **kwargs)

        flat = _Flat(of_chosen, chosen)
        gradients = nest.pack_sequence_as(chosen, _core._gradient(flat, _tensors(chosen)))
        return flat.result, gradients[0] if isinstance(argnums, int) else gradients
    return both


def grad(f, argnums=0):
    """A function that gives the gradient of f, which gives a scalar."""
    both = value_and_grad(f, argnums)
    return lambda *args, **kwargs: both(*args, **kwargs)[1]


def jvp(f, x, v):
    """f(x) and its derivative along v."""
    flat = _Flat(f, x)
    value, tangent = _core._jvp(flat, _tensors(x), _tensors(v))
    return flat.pack(value), flat.pack(tangent)


def vjp(f, x):
    """f(x), and a function from a cotangent of the result to one of x, to be called as often as wanted."""
    flat = _Flat(f, x)
    value, handle = _core._linearize(flat, _tensors(x))
    return flat.pack(value), lambda w: nest.pack_sequence_as(x, _core._pull(handle, _tensors(w)))


def linearize(f, x):
    """f(x), and the linear map v -> J v, which does not run f again."""
    flat = _Flat(f, x)
    value, handle = _core._linearize(flat, _tensors(x))
    return flat.pack(value), lambda v: flat.pack(_core._push(handle, _tensors(v)))


def hvp(f, x, v):
    """The Hessian of a scalar function times v, forward over reverse."""
    gradient = lambda *at: _core._gradient(_Flat(f, x), _tensors(at[0]))  # noqa: E731
    _, tangent = _core._jvp(lambda tensors: gradient(nest.pack_sequence_as(x, tensors)), _tensors(x), _tensors(v))
    return nest.pack_sequence_as(x, tangent)


def jacobian(f, x, mode="automatic", chunk=0, report=False):
    """The Jacobian of f, which gives one tensor: shape f(x).shape + x.shape, for each tensor of x.

    The mode is chosen by what it costs unless it is said; report=True gives the reasons as well.
    """
    blocks, why = _core._jacobian(_Flat(f, x), _tensors(x), mode, chunk)
    result = nest.pack_sequence_as(x, blocks)
    return (result, why) if report else result


def hessian(f, x, mode="automatic", chunk=0, report=False):
    """The Hessian of f: for one tensor x a tensor, for several a list of lists of blocks."""
    blocks, why = _core._hessian(_Flat(f, x), _tensors(x), mode, chunk)
    count = len(nest.flatten(x))
    result = [blocks[i * count:(i + 1) * count] for i in range(count)] if nest.is_nested(x) else blocks[0]
    return (result, why) if report else result
