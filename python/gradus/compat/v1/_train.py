"""tf.train: optimizers whose updates are nodes, rates that decay, averages."""
import gradus as tf

from ... import _core
from ._functions import gradients, group, in_graph
from ._graph import get_default_graph
from ._unranked import Unranked, has_unranked
from ._variables import GraphKeys, Variable, get_variable, trainable_variables, variable_scope, VariableScope


class Optimizer:
    """The base of optimizers: gradients, and what is done with them."""

    GATE_NONE, GATE_OP, GATE_GRAPH = 0, 1, 2

    def __init__(self, use_locking, name):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._name, self._slots, self._shared = name, {}, {}

    def get_name(self):
        return self._name

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=1, aggregation_method=None,
                 colocate_gradients_with_ops=False, name=None, grad_loss=None):
        """An operation that makes the loss smaller by changing variables."""
        pairs = self.compute_gradients(loss, var_list, grad_loss=grad_loss)
        if all(g is None for g, _ in pairs):
            raise ValueError("No gradients provided for any variable, check your graph for ops that do not support "
                             f"gradients, between variables {[str(v) for _, v in pairs]} and loss {loss}.")
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(self, loss, var_list=None, gate_gradients=1, aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        """Pairs of a gradient, possibly None, and a variable."""
        if callable(loss) and not isinstance(loss, (_core.Tensor, Unranked)):
            loss = loss()
        variables = trainable_variables() if var_list is None else tf.nest.flatten(var_list)
        if not variables:
            raise ValueError("No variables to optimize.")
        grads = gradients(loss, variables, None if grad_loss is None else [grad_loss])
        return list(zip(grads, variables))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that changes the variables."""
        pairs = tuple(grads_and_vars)
        if not pairs:
            raise ValueError("No variables provided.")
        kept = [(g, v) for g, v in pairs if g is not None]
        if not kept:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        graph = get_default_graph()
        with graph.control_dependencies(None):
            self._create_slots([v for _, v in kept])
        with graph.name_scope(name or self._name) as scope:
            updates = [self._update(g, v) for g, v in kept]
            if global_step is None:
                train = self._finish(updates, scope)
            else:
                with graph.control_dependencies([self._finish(updates, "update")]):
                    train = global_step.assign_add(_one_like(global_step), name=scope)
        train = train if isinstance(train, Unranked) else getattr(train, "op", train)
        graph.get_collection_ref(GraphKeys.TRAIN_OP).append(train)
        return train

    def _update(self, grad, variable):
        if isinstance(grad, tf.IndexedSlices):
            done = _sparse_update(self, grad.values, grad.indices, variable)
        else:
            done = _dense_update(self, grad, variable)
        if variable.constraint is None:
            return done
        with get_default_graph().control_dependencies([done]):
            return variable.assign(in_graph(variable.constraint, "constraint")(variable))

    # What follows is what optimizers differ in.

    def _create_slots(self, variables):
        """Makes the variables that are kept for each variable."""

    def _apply(self, grad, variable):
        """New values, as a list of (variable, tensor); the variable itself last."""
        raise NotImplementedError

    def _finish(self, updates, name):
        return group(*updates, name=name)

    # Slots.

    def get_slot(self, var, name):
        """The variable of that name that is kept for a variable, or None."""
        return self._slots.get(name, {}).get(var)

    def get_slot_names(self):
        return sorted(self._slots)

    def variables(self):
        """All variables that the optimizer keeps."""
        kept = list(self._shared.values()) + [s for slots in self._slots.values() for s in slots.values()]
        return sorted(kept, key=lambda v: v.name)

    def _zeros_slot(self, variable, slot, operation):
        return self._slot(variable, slot, operation, 0.0)

    def _slot(self, variable, slot, operation, value):
        known = self._slots.setdefault(slot, {})
        if variable not in known:
            first = in_graph(tf.fill, "fill")(variable.shape.as_list(), tf.constant(value, variable.dtype))
            known[variable] = _slot_variable(variable, operation, first)
        return known[variable]

    def _shared_variable(self, name, value, dtype=tf.float32):
        if name not in self._shared:
            self._shared[name] = Variable(value, trainable=False, name=name, dtype=dtype)
        return self._shared[name]


def _slot_variable(variable, name, first):
    graph = get_default_graph()
    with graph.name_scope(None), variable_scope(VariableScope(False), auxiliary_name_scope=False):
        full = graph._unique(variable.op.name + "/" + name)
        return Variable(first, trainable=False, _full_name=full)


def _one_like(variable):
    return tf.constant(1, variable.dtype)


def _dense(optimizer, grad, variable):
    new = optimizer._apply(tf.convert_to_tensor(grad), variable)
    return [(v, tf.cast(t, v.dtype)) for v, t in new]


def _dense_update(optimizer, grad, variable):
    """Runs the optimizer's formula and writes what comes out."""
    if has_unranked((grad,)) or get_default_graph()._late_controls:
        from ._unranked import defer
        return defer(get_default_graph(), _dense_update, (optimizer, grad, variable), {}, "update_" + variable.op.name)
    graph = get_default_graph()
    with graph.name_scope("update_" + variable.op.name), graph.inside():
        new = _dense(optimizer, grad, variable)
    return _written(new)


def _sparse_update(optimizer, values, indices, variable):
    """The same, for gradients that are some rows: the others stay what they are, as their slots do."""
    if has_unranked((values, indices)) or get_default_graph()._late_controls:
        from ._unranked import defer
        return defer(get_default_graph(), _sparse_update, (optimizer, values, indices, variable), {},
                     "update_" + variable.op.name)
    graph = get_default_graph()
    direct = optimizer._apply_rows(values, indices, variable) if hasattr(optimizer, "_apply_rows") else None
    if direct is not None:
        return direct
    with graph.name_scope("update_" + variable.op.name), graph.inside():
        size = variable.shape[0]
        grad = tf.math.unsorted_segment_sum(values, indices, size)
        new = _dense(optimizer, grad, variable)
        if not optimizer.touches_all_rows:
            flat = tf.reshape(tf.cast(indices, tf.int32), [-1])
            seen = tf.math.unsorted_segment_sum(tf.ones_like(flat), flat, size) > 0
            seen = tf.reshape(seen, [size] + [1] * (variable.shape.rank - 1))
            new = [(v, tf.where(seen, t, v.value())) for v, t in new]
    return _written(new)


def _written(new):
    return group(*[v.assign(t) for v, t in new])


Optimizer.touches_all_rows = False


def _given(value):
    return value() if callable(value) and not isinstance(value, (_core.Tensor, Unranked)) else value


def _like(value, variable):
    """A parameter in the dtype of a variable."""
    if isinstance(value, (_core.Tensor, _core.Variable)):
        return tf.cast(value, variable.dtype)
    return tf.constant(value, variable.dtype)


class GradientDescentOptimizer(Optimizer):
    """variable -= rate * gradient."""

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name)
        self._rate = learning_rate

    def _update(self, grad, variable):
        if isinstance(grad, tf.IndexedSlices) or variable.constraint is not None:
            return super()._update(grad, variable)
        step = in_graph(lambda g, rate: g * _like(rate, variable), "mul")
        return variable.assign_sub(step(grad, _given(self._rate)), name="update_" + variable.op.name)

    def _apply(self, grad, variable):
        return [(variable, variable.value() - _like(_given(self._rate), variable) * grad)]

    def _apply_rows(self, values, indices, variable):
        step = in_graph(lambda v: v * _like(_given(self._rate), variable), "mul")(values)
        return variable._scatter_rows("sub", indices, step)


class MomentumOptimizer(Optimizer):
    """variable -= rate * accumulated, where accumulated = momentum * accumulated + gradient."""

    def __init__(self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False):
        super().__init__(use_locking, name)
        self._rate, self._momentum, self._nesterov = learning_rate, momentum, use_nesterov

    def _create_slots(self, variables):
        for v in variables:
            self._zeros_slot(v, "momentum", self._name)

    def _apply(self, grad, variable):
        slot = self.get_slot(variable, "momentum")
        rate, momentum = _like(_given(self._rate), variable), _like(_given(self._momentum), variable)
        new = momentum * slot + grad
        step = rate * (grad + momentum * new) if self._nesterov else rate * new
        return [(slot, new), (variable, variable - step)]


class AdagradOptimizer(Optimizer):
    """variable -= rate * gradient / sqrt(sum of squared gradients)."""

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"):
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._rate, self._first = learning_rate, initial_accumulator_value

    def _create_slots(self, variables):
        for v in variables:
            self._slot(v, "accumulator", self._name, self._first)

    def _apply(self, grad, variable):
        slot = self.get_slot(variable, "accumulator")
        new = slot + tf.square(grad)
        return [(slot, new), (variable, variable - _like(_given(self._rate), variable) * grad / tf.sqrt(new))]


class AdamOptimizer(Optimizer):
    """Steps in the direction of the mean gradient, scaled by the root of its mean square."""

    touches_all_rows = True

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"):
        super().__init__(use_locking, name)
        self._rate, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _create_slots(self, variables):
        self._shared_variable("beta1_power", _given(self._beta1))
        self._shared_variable("beta2_power", _given(self._beta2))
        for v in variables:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _get_beta_accumulators(self):
        return self._shared["beta1_power"], self._shared["beta2_power"]

    def _apply(self, grad, variable):
        m, v = self.get_slot(variable, "m"), self.get_slot(variable, "v")
        rate, beta1, beta2, epsilon = (_like(_given(p), variable) for p in (self._rate, self._beta1, self._beta2,
                                                                            self._epsilon))
        power1, power2 = (tf.cast(p, variable.dtype) for p in self._get_beta_accumulators())
        step = rate * tf.sqrt(1 - power2) / (1 - power1)
        new_m, new_v = m + (grad - m) * (1 - beta1), v + (tf.square(grad) - v) * (1 - beta2)
        return [(m, new_m), (v, new_v), (variable, variable - step * new_m / (tf.sqrt(new_v) + epsilon))]

    def _finish(self, updates, name):
        with get_default_graph().control_dependencies(updates):
            scaled = in_graph(lambda p, beta: p.value() * _like(beta, p), "mul")
            powers = [p.assign(scaled(p, _given(b))) for p, b in zip(self._get_beta_accumulators(),
                                                                     (self._beta1, self._beta2))]
        return group(*updates, *powers, name=name)


class RMSPropOptimizer(Optimizer):
    """Steps divided by the root of a running mean of squared gradients."""

    def __init__(self, learning_rate, decay=0.9, momentum=0.0, epsilon=1e-10, use_locking=False, centered=False,
                 name="RMSProp"):
        super().__init__(use_locking, name)
        self._rate, self._decay, self._momentum, self._epsilon = learning_rate, decay, momentum, epsilon
        self._centered = centered

    def _create_slots(self, variables):
        for v in variables:
            self._slot(v, "rms", self._name, 1.0)
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)

    def _apply(self, grad, variable):
        rms, mom = self.get_slot(variable, "rms"), self.get_slot(variable, "momentum")
        rate, decay, momentum, epsilon = (_like(_given(p), variable) for p in (self._rate, self._decay, self._momentum,
                                                                               self._epsilon))
        new_rms = rms + (tf.square(grad) - rms) * (1 - decay)
        new, below = [(rms, new_rms)], new_rms
        if self._centered:
            mg = self.get_slot(variable, "mg")
            new_mg = mg + (grad - mg) * (1 - decay)
            new.append((mg, new_mg))
            below = new_rms - tf.square(new_mg)
        new_mom = momentum * mom + rate * grad / tf.sqrt(below + epsilon)
        return new + [(mom, new_mom), (variable, variable - new_mom)]


class AdadeltaOptimizer(Optimizer):
    """Steps as large as the steps before."""

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"):
        super().__init__(use_locking, name)
        self._rate, self._rho, self._epsilon = learning_rate, rho, epsilon

    def _create_slots(self, variables):
        for v in variables:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)

    def _apply(self, grad, variable):
        accum, accum_update = self.get_slot(variable, "accum"), self.get_slot(variable, "accum_update")
        rate, rho, epsilon = (_like(_given(p), variable) for p in (self._rate, self._rho, self._epsilon))
        new = rho * accum + (1 - rho) * tf.square(grad)
        update = tf.sqrt(accum_update + epsilon) * tf.math.rsqrt(new + epsilon) * grad
        return [(accum, new), (accum_update, rho * accum_update + (1 - rho) * tf.square(update)),
                (variable, variable - rate * update)]


class FtrlOptimizer(Optimizer):
    """Follow the regularised leader."""

    def __init__(self, learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1,
                 l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False, name="Ftrl",
                 accum_name=None, linear_name=None, l2_shrinkage_regularization_strength=0.0, beta=None):
        super().__init__(use_locking, name)
        self._rate, self._power, self._first = learning_rate, learning_rate_power, initial_accumulator_value
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength
        self._shrinkage, self._beta = l2_shrinkage_regularization_strength, 0.0 if beta is None else beta
        self._accum_name, self._linear_name = accum_name, linear_name

    def _create_slots(self, variables):
        for v in variables:
            self._slot(v, "accum", self._accum_name or self._name, self._first)
            self._zeros_slot(v, "linear", self._linear_name or self._name)

    def _apply(self, grad, variable):
        accum, linear = self.get_slot(variable, "accum"), self.get_slot(variable, "linear")
        rate, l1, l2 = (_like(_given(p), variable) for p in (self._rate, self._l1, self._l2))
        l2 = l2 + self._beta / (2 * rate)
        shrunk = grad + 2 * self._shrinkage * variable if self._shrinkage else grad
        new = accum + tf.square(grad)
        power = _like(-self._power, variable)
        root_new, root_old = tf.pow(new, power), tf.pow(accum.value(), power)
        new_linear = linear + shrunk - (root_new - root_old) / rate * variable
        quotient = root_new / rate + 2 * l2
        moved = (tf.clip_by_value(new_linear, -l1, l1) - new_linear) / quotient
        return [(accum, new), (linear, new_linear), (variable, moved)]


class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent, then a step towards zero."""

    def __init__(self, learning_rate, l1_regularization_strength=0.0, l2_regularization_strength=0.0, use_locking=False,
                 name="ProximalGradientDescent"):
        super().__init__(use_locking, name)
        self._rate, self._l1, self._l2 = learning_rate, l1_regularization_strength, l2_regularization_strength

    def _apply(self, grad, variable):
        rate = _like(_given(self._rate), variable)
        return [(variable, _proximal(variable - rate * grad, rate, self._l1, self._l2))]


class ProximalAdagradOptimizer(AdagradOptimizer):
    """Adagrad, then a step towards zero."""

    def __init__(self, learning_rate, initial_accumulator_value=0.1, l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, use_locking=False, name="ProximalAdagrad"):
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._l1, self._l2 = l1_regularization_strength, l2_regularization_strength

    def _apply(self, grad, variable):
        slot = self.get_slot(variable, "accumulator")
        new = slot + tf.square(grad)
        rate = _like(_given(self._rate), variable) / tf.sqrt(new)
        return [(slot, new), (variable, _proximal(variable - rate * grad, rate, self._l1, self._l2))]


def _proximal(x, rate, l1, l2):
    if l1 > 0:
        x = tf.sign(x) * tf.maximum(tf.abs(x) - rate * l1, tf.zeros_like(x))
    return x / (1 + rate * l2)


# -------------------------------------------------------------------- steps and rates


def get_global_step(graph=None):
    """The variable that counts steps, or None."""
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if found:
        return found[0]
    return graph._variables.get("global_step")


def create_global_step(graph=None):
    """A variable that counts steps."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        return get_variable("global_step", shape=[], dtype=tf.int64,
                            initializer=lambda shape, dtype=None, **_: in_graph(tf.zeros)(shape, dtype), trainable=False,
                            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP])


def get_or_create_global_step(graph=None):
    """The variable that counts steps, made if there is none."""
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def global_step(sess, global_step_tensor):
    """The number of steps in a session."""
    return int(sess.run(global_step_tensor))


def _rate(function, name):
    wrapped = in_graph(function, name)
    wrapped.__name__ = name
    return wrapped


def _steps(rate, *values):
    rate = tf.convert_to_tensor(rate)
    return (rate, *[tf.cast(v, rate.dtype) for v in values])


def _exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """rate * decay_rate ** (step / decay_steps)."""
    rate, step, steps, decay = _steps(learning_rate, global_step, decay_steps, decay_rate)
    p = step / steps
    return rate * tf.pow(decay, tf.floor(p) if staircase else p)


def _piecewise_constant(x, boundaries, values, name=None):
    """values[i], where i is how many boundaries x has passed."""
    x = tf.convert_to_tensor(x)
    result = tf.convert_to_tensor(values[-1])
    for boundary, value in zip(reversed(boundaries), reversed(values[:-1])):
        result = tf.where(x <= tf.cast(boundary, x.dtype), tf.cast(value, result.dtype), result)
    return result


def _polynomial_decay(learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False,
                      name=None):
    """From the rate to end_learning_rate, along a power of what is left of decay_steps."""
    rate, step, steps, end, power = _steps(learning_rate, global_step, decay_steps, end_learning_rate, power)
    if cycle:
        steps = steps * tf.where(tf.equal(step, 0), tf.ones_like(step), tf.math.ceil(step / steps))
    else:
        step = tf.minimum(step, steps)
    return (rate - end) * tf.pow(1 - step / steps, power) + end


def _natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """rate * exp(-decay_rate * step / decay_steps)."""
    rate, step, steps, decay = _steps(learning_rate, global_step, decay_steps, decay_rate)
    p = step / steps
    return rate * tf.exp(-decay * (tf.floor(p) if staircase else p))


def _inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """rate / (1 + decay_rate * step / decay_steps)."""
    rate, step, steps, decay = _steps(learning_rate, global_step, decay_steps, decay_rate)
    p = step / steps
    return rate / (1 + decay * (tf.floor(p) if staircase else p))


def _cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None):
    """Half a cosine, from the rate down to alpha times it."""
    rate, step, steps = _steps(learning_rate, global_step, decay_steps)
    part = tf.minimum(step, steps) / steps
    return rate * ((1 - alpha) * 0.5 * (1 + tf.cos(3.141592653589793 * part)) + alpha)


exponential_decay = _rate(_exponential_decay, "exponential_decay")
piecewise_constant = piecewise_constant_decay = _rate(_piecewise_constant, "piecewise_constant")
polynomial_decay = _rate(_polynomial_decay, "polynomial_decay")
natural_exp_decay = _rate(_natural_exp_decay, "natural_exp_decay")
inverse_time_decay = _rate(_inverse_time_decay, "inverse_time_decay")
cosine_decay = _rate(_cosine_decay, "cosine_decay")


class ExponentialMovingAverage:
    """Averages of variables and tensors over steps."""

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay, self._num_updates, self._name, self._averages = decay, num_updates, name, {}
        self._debias = zero_debias

    name = property(lambda self: self._name)

    def apply(self, var_list=None):
        """An operation that brings the averages up to date."""
        graph = get_default_graph()
        items = trainable_variables() if var_list is None else list(var_list)
        for item in items:
            if item in self._averages:
                continue
            is_variable = isinstance(item, _core.Variable)
            with graph.control_dependencies(None):
                first = item.initialized_value() if is_variable else in_graph(tf.zeros_like)(item)
                full = graph._unique(item.op.name + "/" + self._name)
                self._averages[item] = Variable(first, trainable=False, _full_name=full)
            if is_variable:
                graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, item)
        with graph.name_scope(self._name):
            updates = [self._averages[i].assign_sub(self._step(self._averages[i], i)) for i in items]
            return group(*updates)

    def _step(self, average, item):
        def step(average, item):
            decay = tf.cast(self._decay, average.dtype)
            if self._num_updates is not None:
                n = tf.cast(self._num_updates, average.dtype)
                decay = tf.minimum(decay, (1 + n) / (10 + n))
            return (average - item) * (1 - decay)
        return in_graph(step, "AssignMovingAvg")(average, item)

    def average(self, var):
        """The variable that holds the average."""
        return self._averages.get(var)

    def average_name(self, var):
        found = self._averages.get(var)
        return found.op.name if found is not None else var.op.name + "/" + self._name

    def variables_to_restore(self, moving_avg_variables=None):
        """Names of averages, and others' own names, for a Saver that loads averages into the variables."""
        graph = get_default_graph()
        found = {self.average_name(v): v for v in moving_avg_variables or (
            trainable_variables() + graph.get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES))}
        averages = {id(v) for v in self._averages.values()}
        for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
            if v not in found.values() and id(v) not in averages:
                found[v.op.name] = v
        return found


class Coordinator:
    """Accepted for programs with queues: there are no threads to wait for."""

    def __init__(self, clean_stop_exception_types=None):
        self._stop, self._error = False, None
        self._clean = tuple(clean_stop_exception_types or (tf.errors.OutOfRangeError,))

    def should_stop(self):
        return self._stop

    def request_stop(self, ex=None):
        """Asks all to stop; an error is raised again by join, unless it is one of a clean stop."""
        error = ex[1] if isinstance(ex, tuple) else ex
        if error is not None and not self._stop and not isinstance(error, self._clean):
            self._error = error
        self._stop = True

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        for t in threads or ():
            t.join(stop_grace_period_secs if ignore_live_threads else None)
        if self._error is not None:
            raise self._error

    def clear_stop(self):
        self._stop = False


def start_queue_runners(sess=None, coord=None, *args, **kwargs):
    """Accepted: there are no queues."""
    return []


