"""Errors, with the names and constructors of tf.errors."""

OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND = range(6)
ALREADY_EXISTS, PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION = range(6, 10)
ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED = range(10, 17)


class OpError(Exception):
    """The base of all errors of operations."""

    _code = UNKNOWN

    def __init__(self, node_def, op, message, error_code=None):
        super().__init__(node_def, op, message)
        self._node_def, self._op, self._message = node_def, op, message
        self._error_code = self._code if error_code is None else error_code

    @property
    def message(self):
        """What went wrong."""
        return self._message

    @property
    def op(self):
        """The operation of a graph that failed; None when eager."""
        return self._op

    @property
    def node_def(self):
        return self._node_def

    @property
    def error_code(self):
        """The number that TensorFlow gives to this kind of error."""
        return self._error_code

    @property
    def experimental_payloads(self):
        return {}

    def __str__(self):
        return self._message


class CancelledError(OpError):
    """An operation was interrupted."""
    _code = CANCELLED


class UnknownError(OpError):
    """An error of no other kind."""


class InvalidArgumentError(OpError, ValueError):
    """A shape, a dtype or a value that an operation cannot take.

    It is a ValueError as well, because TensorFlow raises the one or the other depending on where it
    notices.
    """
    _code = INVALID_ARGUMENT


class InvalidTypeError(InvalidArgumentError, TypeError):
    """Dtypes that do not go together, or a traced tensor outside of its function: TensorFlow raises InvalidArgumentError
    when eager and TypeError when it traces."""


class DeadlineExceededError(OpError):
    _code = DEADLINE_EXCEEDED


class NotFoundError(OpError):
    """A name or a file that is not there."""
    _code = NOT_FOUND


class AlreadyExistsError(OpError):
    _code = ALREADY_EXISTS


class PermissionDeniedError(OpError):
    _code = PERMISSION_DENIED


class ResourceExhaustedError(OpError):
    """Out of memory."""
    _code = RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError):
    """Something must be done first, e.g. a variable initialised."""
    _code = FAILED_PRECONDITION


class AbortedError(OpError):
    _code = ABORTED


class OutOfRangeError(OpError):
    """Past the end of something."""
    _code = OUT_OF_RANGE


class UnimplementedError(OpError, NotImplementedError):
    """Not covered."""
    _code = UNIMPLEMENTED


class InternalError(OpError):
    """A bug in Gradus."""
    _code = INTERNAL


class UnavailableError(OpError):
    _code = UNAVAILABLE


class DataLossError(OpError):
    """A damaged file."""
    _code = DATA_LOSS


class OperatorNotAllowedInGraphError(TypeError):
    """A tensor that has no value yet was used as a Python value, while a function is traced."""


class UnauthenticatedError(OpError):
    _code = UNAUTHENTICATED
