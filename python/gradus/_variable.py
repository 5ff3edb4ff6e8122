"""Variables: what of them is not in C."""
import enum

from . import _core
from ._scope import current_scope
from ._types import IndexedSlices, TensorShape


class VariableSynchronization(enum.Enum):
    AUTO, NONE, ON_WRITE, ON_READ = range(4)


class VariableAggregation(enum.Enum):
    NONE, SUM, MEAN, ONLY_FIRST_REPLICA = range(4)


class Variable(_core.Variable):
    """A tensor that can be assigned to."""

    def __init__(self, initial_value=None, trainable=None, validate_shape=True, caching_device=None, name=None,
                 variable_def=None, dtype=None, import_scope=None, constraint=None,
                 synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE, shape=None,
                 experimental_enable_variable_lifting=True):
        if variable_def is not None:
            raise NotImplementedError("[Variable] got variable_def, a message of TensorFlow's graphs; expected initial_value")
        if initial_value is None:
            raise ValueError("The `initial_value` arg to `tf.Variable` must be specified except when you are not "
                             "providing a `variable_def`.")
        read_by_replicas = synchronization == VariableSynchronization.ON_READ
        if trainable and read_by_replicas:
            raise ValueError("Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable "
                             "variables. You have specified trainable=True and synchronization=VariableSynchronization.ON_READ.")
        trainable = not read_by_replicas if trainable is None else trainable
        value = _outside_of_traces(initial_value) if callable(initial_value) else initial_value
        if isinstance(value, Variable):
            value = value.read_value()
        if dtype is not None:
            value = (_functions.cast if _functions.is_tensor(value) and value.dtype != dtype
                     else _functions.convert_to_tensor)(value, dtype)
        value = _functions.convert_to_tensor(value)
        if shape is not None and not TensorShape(shape).is_compatible_with(value.shape):
            raise ValueError(f"In this `tf.Variable` creation, the initial value's shape ({value.shape}) is not "
                             f"compatible with the explicitly supplied `shape` argument ({shape}).")
        self._set(value, current_scope() + ("Variable" if name is None else str(name)), trainable)
        self._constraint = constraint
        self._synchronization, self._aggregation = synchronization, aggregation

    @property
    def name(self):
        """The name, with TensorFlow's ':0' behind it."""
        return self._name + ":0"

    @property
    def _shared_name(self):
        return self._name

    @property
    def device(self):
        return "/job:localhost/replica:0/task:0/device:CPU:0"

    @property
    def constraint(self):
        return self._constraint

    @property
    def synchronization(self):
        return self._synchronization

    @property
    def aggregation(self):
        return self._aggregation

    @property
    def initial_value(self):
        raise RuntimeError("This property is not supported when eager execution is enabled.")

    def get_shape(self):
        """The shape, a TensorShape."""
        return self.shape

    def initialized_value(self):
        return self.read_value()

    def is_initialized(self, name=None):
        return _functions.constant(True)

    def set_shape(self, shape):
        self.shape.assert_is_compatible_with(shape)

    def ref(self):
        """A hashable reference to this variable."""
        from ._reference import Reference
        return Reference(self)

    experimental_ref = ref

    def sparse_read(self, indices, name=None):
        """Rows by number."""
        return _functions.gather(self, indices)

    def gather_nd(self, indices, name=None):
        return _functions.gather_nd(self, indices)

    def count_up_to(self, limit):
        raise NotImplementedError("count_up_to belongs to TensorFlow 1; use assign_add")

    def _rows(self, how, slices):
        if not isinstance(slices, IndexedSlices):
            raise TypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {slices}")
        return self._scatter(how, slices.indices, slices.values)

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        """Adds rows; repeated ones all count."""
        return self._rows("add", sparse_delta)

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        """Subtracts rows; repeated ones all count."""
        return self._rows("sub", sparse_delta)

    def scatter_mul(self, sparse_delta, use_locking=False, name=None):
        """Multiplies rows; repeated ones all count."""
        return self._rows("mul", sparse_delta)

    def scatter_div(self, sparse_delta, use_locking=False, name=None):
        """Divides rows; repeated ones all count."""
        return self._rows("div", sparse_delta)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Replaces rows."""
        return self._rows("update", sparse_delta)

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Replaces rows of each entry of a batch: indices are [batch..., rows]."""
        tf, indices = _functions, _functions.convert_to_tensor(sparse_delta.indices)
        sizes = indices.shape.as_list()
        numbers = tf.meshgrid(*(tf.range(s, dtype=indices.dtype) for s in sizes), indexing="ij")[:-1]
        places = tf.stack([*numbers, indices], -1)
        return self.scatter_nd_update(places, sparse_delta.values)

    def scatter_nd_add(self, indices, updates, name=None):
        """Adds at coordinates."""
        return self.assign(_functions.tensor_scatter_nd_add(self.read_value(), indices, updates))

    def scatter_nd_sub(self, indices, updates, name=None):
        """Subtracts at coordinates."""
        return self.assign(_functions.tensor_scatter_nd_sub(self.read_value(), indices, updates))

    def scatter_nd_update(self, indices, updates, name=None):
        """Replaces at coordinates."""
        return self.assign(_functions.tensor_scatter_nd_update(self.read_value(), indices, updates))

    def _changed(self, change, delta):
        rows = _functions.expand_dims(delta.indices, -1)
        return self.assign(change(self.read_value(), rows, delta.values))

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        """Raises rows to at least the given ones."""
        return self._changed(_functions.tensor_scatter_nd_max, sparse_delta)

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        """Lowers rows to at most the given ones."""
        return self._changed(_functions.tensor_scatter_nd_min, sparse_delta)

    def __iadd__(self, value):
        _refuse("variable", "+", "variable.assign_add(value)")

    def __isub__(self, value):
        _refuse("variable", "-", "variable.assign_sub(value)")

    def __imul__(self, value):
        _refuse("var", "*", "var.assign(var * value)")

    def __itruediv__(self, value):
        _refuse("var", "/", "var.assign(var / value)")

    def __ipow__(self, value):
        _refuse("var", "**", "var.assign(var ** value)")

    def __copy__(self):
        return self.__deepcopy__({})

    def __deepcopy__(self, memo):
        copy = Variable(self.read_value(), trainable=self.trainable, name=self._name, constraint=self._constraint,
                        synchronization=self._synchronization, aggregation=self._aggregation)
        memo[id(self)] = copy
        return copy

    def __reduce__(self):
        return _restored, (self.read_value(), self.trainable, self._name)


def _outside_of_traces(make):
    with _functions.init_scope():
        return make()


class SliceAssign:
    """The `assign` of variable[key]."""

    def __init__(self, variable_and_key):
        self._variable, self._key = variable_and_key

    def __call__(self, value, name=None):
        """Replaces the elements of the slice; a smaller value is repeated. Gives the variable."""
        variable, tf = self._variable, _functions
        positions = tf.reshape(tf.range(variable.shape.num_elements(), dtype=tf.int64), variable.shape)[self._key]
        value = tf.broadcast_to(tf.convert_to_tensor(value, variable.dtype), positions.shape)
        changed = tf.tensor_scatter_nd_update(tf.reshape(variable.read_value(), [-1]), tf.reshape(positions, [-1, 1]),
                                              tf.reshape(value, [-1]))
        return variable.assign(tf.reshape(changed, variable.shape))


def _refuse(name, operator, instead):
    """In-place operators, which would bind the name to a tensor and leave the variable as it was."""
    raise RuntimeError(f"`{name} {operator}= value` with `tf.Variable`s is not supported. Use `{instead}` to modify "
                       f"the variable, or `out = {name} {operator} value` if you need to get a new output Tensor.")


def _restored(value, trainable, name):
    return Variable(value, trainable=trainable, name=name)


_functions = None  # the module gradus, set by its __init__
