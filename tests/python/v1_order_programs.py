"""Programs about when variables of TensorFlow 1 are looked at: those of the reference kind by each op that uses them, when
it runs, and by gradients once more; those of the resource kind where they were read.

Each is asked of both kinds. Control edges say the whole order, so that TensorFlow's answer is the same every time.
"""

PROGRAMS = {}
KINDS = {"reference": False, "resource": True}


def program(function):
    for kind, use_resource in KINDS.items():
        def run(tf, np, function=function, use_resource=use_resource):
            return function(tf, np, lambda value, **options: tf.Variable(value, use_resource=use_resource, **options))
        PROGRAMS[f"{function.__name__}_{kind}"] = run
    return function


def fetched(tf, fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches), session.run(tf.global_variables())


@program
def gradient_after_an_assignment(tf, np, variable):
    x = variable(2.0)
    y = x**3
    update = tf.assign(x, x + 1)
    with tf.control_dependencies([update]):
        g = tf.gradients(y, x)[0]
    return fetched(tf, [y, g])


@program
def rules_that_use_results_or_operands(tf, np, variable):
    """A gradient looks at an operand again; what the op gave is kept. Left out are tanh, sigmoid, asinh, tan and c / x,
    whose rules here read the other of the two (docs/design/013)."""
    found = []
    for f in (tf.exp, tf.sqrt, tf.rsqrt, tf.nn.relu, tf.nn.elu, tf.reciprocal, tf.log, tf.sin, tf.cos, tf.square,
              tf.nn.softplus, tf.nn.softsign, tf.atan, tf.log1p, tf.expm1, tf.erf, tf.abs, tf.sinh, tf.cosh, tf.asin,
              tf.acos, tf.atanh, tf.digamma, tf.lgamma, tf.nn.l2_loss, tf.nn.selu, tf.nn.leaky_relu, tf.nn.relu6,
              lambda x: tf.acosh(x + 1.0), lambda x: x / 3.0, lambda x: x**2.5, lambda x: 2.0**x,
              lambda x: tf.maximum(x, 0.5), lambda x: tf.squared_difference(x, 0.5),
              lambda x: tf.nn.softmax(tf.stack([x, 2 * x]))[0], lambda x: tf.nn.log_softmax(tf.stack([x, 2 * x]))[0]):
        x = variable(0.25)
        y = f(x)
        with tf.control_dependencies([y]):
            update = tf.assign(x, 0.75)
        with tf.control_dependencies([update]):
            g = tf.gradients(y, x)[0]
        found.append(fetched(tf, [y, g])[0])
    return found


@program
def products_of_matrices(tf, np, variable):
    w = variable([[1.0, 2.0], [3.0, 4.0]])
    x = tf.constant([[1.0, -1.0]])
    y = tf.matmul(tf.matmul(x, w), w)
    with tf.control_dependencies([y]):
        update = tf.assign(w, 2.0 * w)
    with tf.control_dependencies([update]):
        g = tf.gradients(y, w)[0]
    return fetched(tf, [y, g])


@program
def values_that_were_read(tf, np, variable):
    """read_value, value, identity and reshape before a write, used behind it."""
    x = variable([2.0, 3.0])
    held = [x.read_value(), x.value(), tf.identity(x), tf.reshape(x, [2, 1]), tf.identity(tf.identity(x)),
            tf.stop_gradient(x), tf.expand_dims(x, 0), tf.squeeze(tf.expand_dims(x, 0)), x + 0.5, x * 1.0]
    with tf.control_dependencies(held):
        update = tf.assign(x, [10.0, 20.0])
    with tf.control_dependencies([update]):
        used = [h * 2.0 for h in held]
    return fetched(tf, used)


@program
def fetched_beside_a_write(tf, np, variable):
    x = variable(2.0)
    a, b = tf.identity(x), x * 1.5
    with tf.control_dependencies([a, b]):
        update = tf.assign_add(x, 1.0)
    return fetched(tf, [b, update])


@program
def chains_of_assignments(tf, np, variable):
    x = variable(1.0)
    a = tf.assign(x, x + 1.0)
    with tf.control_dependencies([a]):
        b = tf.assign_add(x, 10.0)
    with tf.control_dependencies([b]):
        c = a * 2.0
    with tf.control_dependencies([c]):
        d = tf.assign_sub(x, 3.0)
    with tf.control_dependencies([d]):
        e = a + b + c
    return fetched(tf, [c, e])


@program
def several_updates(tf, np, variable):
    """What comes back of an update is the variable, or the value at that time."""
    x = variable(1.0)
    a = x.assign_add(1.0)
    with tf.control_dependencies([a]):
        b = x.assign_add(10.0)
    with tf.control_dependencies([b]):
        both = [a + 0.5, b + 0.5]
    return fetched(tf, both)


@program
def two_variables(tf, np, variable):
    x, z = variable(2.0), variable(5.0)
    y = x * z
    with tf.control_dependencies([y]):
        update = tf.group(tf.assign(x, 3.0), tf.assign(z, 7.0))
    with tf.control_dependencies([update]):
        gx, gz = tf.gradients(y, [x, z])
    return fetched(tf, [y, gx, gz])


@program
def steps_within_one_run(tf, np, variable):
    """Two steps of gradient descent, the second after the first, from one loss."""
    x = variable(1.0)
    loss = tf.square(x - 4.0)
    g = tf.gradients(loss, x)[0]
    first = tf.assign_sub(x, 0.25 * g)
    with tf.control_dependencies([first]):
        again = 2.0 * (x - 4.0)
        second = tf.assign_sub(x, 0.25 * again)
    return fetched(tf, [second])


@program
def second_order(tf, np, variable):
    x = variable(2.0)
    y = x**3
    g = tf.gradients(y, x)[0]
    with tf.control_dependencies([g]):
        update = tf.assign(x, 5.0)
    with tf.control_dependencies([update]):
        h = tf.gradients(g, x)[0]
    return fetched(tf, [y, g, h])


@program
def branches(tf, np, variable):
    x = variable(2.0)
    with tf.control_dependencies([tf.assign(x, 3.0)]):
        y = tf.cond(tf.constant(True), lambda: x * 10.0, lambda: x * 100.0)
        z = tf.cond(x > 2.5, lambda: x * 10.0, lambda: x * 100.0)
    return fetched(tf, [y, z])


@program
def loops(tf, np, variable):
    x = variable(2.0)
    held = tf.identity(x)
    with tf.control_dependencies([held]):
        update = tf.assign(x, 3.0)
    with tf.control_dependencies([update]):
        y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + x + 10.0 * held),
                          [tf.constant(0), tf.constant(0.0)])[1]
    return fetched(tf, [y])


@program
def rows_of_a_table(tf, np, variable):
    table = variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    rows = tf.gather(table, [0, 2])
    loss = tf.reduce_sum(tf.square(rows))
    with tf.control_dependencies([loss]):
        update = tf.scatter_update(table, [0], [[10.0, 20.0]])
    with tf.control_dependencies([update]):
        g = tf.convert_to_tensor(tf.gradients(loss, table)[0])
        again = tf.gather(table, [0, 2])
    return fetched(tf, [rows, g, again])


@program
def moving_averages(tf, np, variable):
    x = variable(4.0)
    average = tf.train.ExponentialMovingAverage(0.5)
    step = tf.train.GradientDescentOptimizer(0.25).minimize(tf.square(x), var_list=[x])
    with tf.control_dependencies([step]):
        keep = average.apply([x])
    with tf.control_dependencies([keep]):
        seen = average.average(x) + 0.0
    return fetched(tf, [seen])


@program
def optimizers_and_losses(tf, np, variable):
    """The loss is that of before the step, what is computed after the step that of after."""
    w, b = variable(1.0), variable(0.5)
    x = tf.constant([1.0, 2.0, 3.0])
    loss = tf.reduce_mean(tf.square(w * x + b - 2.0 * x))
    step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, var_list=[w, b])
    with tf.control_dependencies([step]):
        after = tf.reduce_mean(tf.square(w * x + b - 2.0 * x))
    return fetched(tf, [after])


@program
def swapped(tf, np, variable):
    """Values held with a sum are swapped; held by identity they are not."""
    a, b = variable(1.0), variable(2.0)
    kept_a, kept_b = a + 0.5, b + 0.5
    with tf.control_dependencies([kept_a, kept_b]):
        first = tf.assign(a, kept_b)
        second = tf.assign(b, kept_a)
    with tf.control_dependencies([first, second]):
        seen = [a * 1.0, b * 1.0]
    return fetched(tf, seen)
