"""Which functions are converted. What converts them is loaded with the first one."""
import functools
import os
import sys
import types
import weakref

from .. import _core
from ..errors import UnimplementedError

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PYTHON = os.path.dirname(os.path.abspath(functools.__file__)) + os.sep
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)

_converted = weakref.WeakKeyDictionary()  # code -> code, or the reason why not


class Converted:
    """Marks on functions, kept in their __dict__."""
    DONE, NEVER = "__gradus_converted__", "__gradus_do_not_convert__"


def mark(function):
    """A function that was written inside a converted one, and converted with it."""
    setattr(function, Converted.DONE, True)
    return function


def do_not_convert(func=None):
    """A decorator: the function is called as it is, also while a function is traced."""
    if func is None:
        return do_not_convert
    try:
        setattr(func, Converted.NEVER, True)
        return func
    except (AttributeError, TypeError):
        pass

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        return func(*args, **kwargs)
    setattr(wrapper, Converted.NEVER, True)
    return wrapper


def _is_users(function):
    """Python's own modules and Gradus are left alone, and installed ones that do not use Gradus."""
    file = os.path.abspath(function.__code__.co_filename)
    if file.startswith(_OWN):
        return False
    if any(part in file for part in _INSTALLED):
        return any(isinstance(v, types.ModuleType) and v.__name__.partition(".")[0] == "gradus"
                   for v in list(function.__globals__.values()))
    return not file.startswith(_PYTHON)


def code_of(function):
    """The converted code of a function, or the reason why there is none."""
    code = function.__code__
    made = _converted.get(code)
    if made is None:
        from ._compile import compiled
        made = _converted[code] = compiled(function)
    return made


def converted_function(function):
    """The function, converted, whatever module it is from; itself if that is not possible."""
    marks = function.__dict__
    if Converted.DONE in marks or Converted.NEVER in marks:
        return function
    code = code_of(function)
    if isinstance(code, str):
        return function
    from . import _operators
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells["ag__"] = types.CellType(_operators)
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__,
                              tuple(cells[n] for n in code.co_freevars))
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__, made.__doc__ = function.__qualname__, function.__module__, function.__doc__
    made.__annotations__ = function.__annotations__
    made.__dict__.update(marks)
    return mark(made)


def converted(f, requested=False):
    """What to call instead of f; f itself if it is not the user's, cannot be converted or must not be."""
    kind = type(f)
    if kind is types.FunctionType:
        return converted_function(f) if requested or _is_users_cached(f) else f
    if kind is types.MethodType:
        inner = converted(f.__func__, requested)
        return f if inner is f.__func__ else types.MethodType(inner, f.__self__)
    if kind is functools.partial:
        inner = converted(f.func, requested)
        return f if inner is f.func else functools.partial(inner, *f.args, **f.keywords)
    if kind is types.BuiltinFunctionType or isinstance(f, (type, _core.Function)):
        return f
    call = getattr(kind, "__call__", None)  # noqa: B004
    if type(call) is not types.FunctionType:
        return f
    inner = converted(call, requested)
    return f if inner is call else types.MethodType(inner, f)


def while_traced(f):
    """A function that the user gave to the library: converted while a function is traced, else as it is."""
    return converted(f) if _core._is_tracing() else f


_users = weakref.WeakKeyDictionary()


def _is_users_cached(function):
    known = _users.get(function.__code__)
    if known is None:
        known = _users[function.__code__] = _is_users(function)
    return known


class Traced:
    """What tf.function traces: the function, converted as long as something is traced."""

    __slots__ = ("function", "arguments", "_converted", "__weakref__")

    def __init__(self, function):
        self.function, self._converted = function, None
        self.arguments = []  # their kinds, of each trace, for tf.saved_model

    def __call__(self, *args, **kwargs):
        if not _core._is_tracing():
            return self.function(*args, **kwargs)
        if self._converted is None:
            self._converted = converted(self.function, True)
        from .._function import kinds_of
        kinds = kinds_of(args)
        if kinds not in self.arguments:
            self.arguments.append(kinds)
        try:
            return self._converted(*args, **kwargs)
        except UnimplementedError as e:  # no program can do it, Python can
            from .._function import MustRunEagerly
            raise MustRunEagerly(str(e)) from e
        except Exception as e:
            raise e.with_traceback(without_own_frames(e.__traceback__))  # noqa: B904

    def __repr__(self):
        return repr(self.function)


def without_own_frames(trace):
    """A traceback without the frames of this package; as it is if nothing else would be left."""
    kept = []
    at = trace
    while at is not None:
        if not at.tb_frame.f_code.co_filename.startswith(_OWN):
            kept.append(at)
        at = at.tb_next
    if not kept:
        return trace
    result = None
    for at in reversed(kept):
        result = types.TracebackType(result, at.tb_frame, at.tb_lasti, at.tb_lineno)
    return result


def refusal(what):
    """Why Python cannot have a traced tensor's value: what is special about the function that asked for it."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    text = f"{what} is not allowed: it has no value while the function is traced."
    if frame is None:
        return text
    code = frame.f_code
    name, reason = code.co_name, _converted.get(code)
    if "ag__" in code.co_freevars:
        why = "AutoGraph did convert it, but not this use"
    elif isinstance(reason, str):
        why = f"AutoGraph could not convert it: {reason}"
    else:
        why = "AutoGraph did not convert it: it is switched off for it, or its module is left alone"
    return (f"{text} The line is in {name}. {why}. Use tf.cond, tf.where or tf.while_loop, or decorate it with "
            "@tf.function.")

