"""Programs of TensorFlow 1, whole: functions of the module and NumPy that give numbers.

tools/make_v1_reference.py runs them with TensorFlow and writes its answers to v1_reference.json; test_compat_v1.py runs
them with gradus.compat.v1 and compares.
"""
import collections
import os
import tempfile

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


@program
def linear_regression_with_unknown_shapes(tf, np):
    """Fed one point at a time, then all points: the placeholders have no shape."""
    train_x = np.array([3.3, 4.4, 5.5, 6.71, 6.93, 4.168, 9.779, 6.182, 7.59, 2.167], np.float32)
    train_y = np.array([1.7, 2.76, 2.09, 3.19, 1.694, 1.573, 3.366, 2.596, 2.53, 1.221], np.float32)
    n = train_x.shape[0]
    x, y = tf.placeholder("float"), tf.placeholder("float")
    w, b = tf.Variable(0.3, name="weight"), tf.Variable(-0.1, name="bias")
    pred = tf.add(tf.multiply(x, w), b)
    cost = tf.reduce_sum(tf.pow(pred - y, 2)) / (2 * n)
    optimizer = tf.train.GradientDescentOptimizer(0.01).minimize(cost)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(20):
            for (px, py) in zip(train_x, train_y):
                sess.run(optimizer, feed_dict={x: px, y: py})
        return [sess.run(cost, feed_dict={x: train_x, y: train_y}), sess.run(w), sess.run(b),
                sess.run(pred, {x: [[1.0, 2.0]]})]


@program
def mlp(tf, np):
    """Two layers, softmax, accuracy; batches of different sizes."""
    r = np.random.RandomState(0)
    images, labels = r.rand(40, 12).astype(np.float32), r.randint(0, 3, 40)
    x = tf.placeholder(tf.float32, [None, 12], name="x")
    y = tf.placeholder(tf.int64, [None], name="y")
    w1 = tf.Variable(r.randn(12, 8).astype(np.float32) * 0.3)
    b1 = tf.Variable(tf.zeros([8]))
    w2 = tf.Variable(r.randn(8, 3).astype(np.float32) * 0.3)
    b2 = tf.Variable(tf.zeros([3]))
    hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
    logits = tf.matmul(hidden, w2) + b2
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
    out = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(30):
            part = slice(0, 40) if step % 3 == 0 else slice(step % 7, step % 7 + 16)
            _, value = sess.run([train, loss], feed_dict={x: images[part], y: labels[part]})
            out.append(value)
        out += [sess.run(accuracy, {x: images, y: labels}), sess.run(w2)]
    return out


@program
def one_hot_labels_and_dropout_off(tf, np):
    r = np.random.RandomState(1)
    x = tf.placeholder(tf.float32, [None, 5])
    y_ = tf.placeholder(tf.float32, [None, 4])
    keep_prob = tf.placeholder(tf.float32)
    w = tf.Variable(r.randn(5, 4).astype(np.float32))
    b = tf.Variable(tf.constant(0.1, shape=[4]))
    h = tf.nn.dropout(tf.nn.tanh(tf.matmul(x, w) + b), keep_prob)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y_, logits=h))
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    data, labels = r.rand(6, 5).astype(np.float32), np.eye(4, dtype=np.float32)[[0, 1, 2, 3, 1, 2]]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        feeds = {x: data, y_: labels, keep_prob: 1.0}
        losses = [sess.run([train, loss], feeds)[1] for _ in range(10)]
        return [losses, sess.run(tf.nn.softmax(h), feeds), sess.run(b)]


def _optimizer(make):
    def run(tf, np):
        r = np.random.RandomState(2)
        a, y = r.rand(6, 3).astype(np.float32), r.rand(6, 1).astype(np.float32)
        w = tf.Variable(r.rand(3, 1).astype(np.float32), name="w")
        b = tf.Variable(np.zeros(1, np.float32), name="b")
        loss = tf.reduce_mean(tf.square(tf.matmul(tf.constant(a), w) + b - y))
        step = tf.Variable(0, trainable=False, name="step")
        optimizer = make(tf)
        train = optimizer.minimize(loss, global_step=step)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            losses = []
            for _ in range(8):
                losses.append(sess.run([train, loss])[1])
            slots = [sess.run(optimizer.get_slot(w, n)) for n in optimizer.get_slot_names()]
            return [losses, sess.run([w, b, step]), slots, sorted(v.name for v in tf.global_variables()), train.name]
    return run


for _name, _make in {
        "gradient_descent": lambda tf: tf.train.GradientDescentOptimizer(0.1),
        "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
        "nesterov": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        "adam": lambda tf: tf.train.AdamOptimizer(0.1),
        "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1),
        "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.05),
        "rmsprop_centered": lambda tf: tf.train.RMSPropOptimizer(0.05, momentum=0.5, centered=True),
        "adadelta": lambda tf: tf.train.AdadeltaOptimizer(1.0),
        "ftrl": lambda tf: tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.01,
                                                  l2_regularization_strength=0.02),
        "proximal": lambda tf: tf.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.02),
        "proximal_adagrad": lambda tf: tf.train.ProximalAdagradOptimizer(0.1, 0.1, 0.01, 0.02)}.items():
    PROGRAMS["optimizer_" + _name] = _optimizer(_make)


def _sparse(make):
    def run(tf, np):
        table = tf.Variable(np.arange(12, dtype=np.float32).reshape(6, 2) / 10)
        ids = tf.placeholder(tf.int32, [None])
        loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ids)))
        train = make(tf).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for chosen in ([1, 3, 3], [0, 1], [5, 5, 5, 2]):
                sess.run(train, {ids: chosen})
            return sess.run(table)
    return run


for _name, _make in {"gradient_descent": lambda tf: tf.train.GradientDescentOptimizer(0.1),
                     "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9),
                     "adam": lambda tf: tf.train.AdamOptimizer(0.1),
                     "adagrad": lambda tf: tf.train.AdagradOptimizer(0.1),
                     "rmsprop": lambda tf: tf.train.RMSPropOptimizer(0.05)}.items():
    PROGRAMS["sparse_" + _name] = _sparse(_make)


@program
def gradients_of_many_kinds(tf, np):
    x = tf.placeholder(tf.float32, [2, 2])
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    a = tf.matmul(x, w)
    b = tf.sin(a) * a
    other = tf.Variable(1.0)
    out = [tf.gradients(b, x)[0], tf.gradients([a, b], [x, w])[1], tf.gradients(b, a)[0],
           tf.gradients(b, w, grad_ys=2 * b)[0], tf.gradients(tf.gradients(b, x)[0], [x, w])[1],
           tf.gradients(a + b, [x, a], stop_gradients=[a])[1],
           tf.gradients(b, other, unconnected_gradients="zero")[0],
           tf.gradients(tf.reduce_sum(w * w) + tf.reduce_sum(w), w)[0]]
    missing = [tf.gradients(b, other)[0] is None, tf.gradients(a, x, stop_gradients=[a])[0] is None]
    h = tf.hessians(tf.reduce_sum(w ** 3) + w[0, 0] * w[1, 1], w)[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(out, {x: [[0.5, -1.0], [2.0, 0.1]]}), missing, sess.run(h)]


@program
def clipped_gradients(tf, np):
    w = tf.Variable([3.0, -4.0])
    v = tf.Variable([[1.0], [2.0]])
    loss = tf.reduce_sum(w ** 2) + tf.reduce_sum(v * 5)
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.1)
    pairs = optimizer.compute_gradients(loss)
    clipped = [(tf.clip_by_value(g, -1.0, 1.0), var) for g, var in pairs]
    train = optimizer.apply_gradients(clipped)
    grads, norm = tf.clip_by_global_norm([g for g, _ in pairs], 1.0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run([grads, norm])
        sess.run(train)
        return [before, sess.run([w, v])]


@program
def control_dependencies(tf, np):
    n = tf.Variable(0, name="n")
    more = tf.assign_add(n, 1)
    with tf.control_dependencies([more]):
        after = tf.identity(n) * 10
    x = tf.Variable(1.0, use_resource=True)
    with tf.control_dependencies([x.assign(5.0)]):
        y = x + 1
        with tf.control_dependencies([y]):
            last = x.assign_add(10.0)
    both = tf.group(more, last)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out = [sess.run(after), sess.run(after), sess.run([more, n])]
        out += [sess.run(y), sess.run(last), sess.run(both) is None, sess.run([n, x])]
        return out


@program
def fetching_a_variable_that_is_written(tf, np):
    ref, res = tf.Variable(1.0, use_resource=False), tf.Variable(1.0, use_resource=True)
    add_ref, add_res = tf.assign_add(ref, 1.0), tf.assign_add(res, 1.0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run([add_ref, ref]), sess.run([add_res, res]), sess.run([ref, res])]


@program
def gradient_after_a_write(tf, np):
    w = tf.Variable(3.0, use_resource=True)
    y = w * w
    with tf.control_dependencies([y]):
        write = tf.assign_add(w, 1.0)
    with tf.control_dependencies([write]):
        g = tf.gradients(y, w)[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run([g, y, write]), sess.run([g, y, write])]


Point = collections.namedtuple("Point", ("x", "y"))


@program
def fetches_of_any_structure(tf, np):
    a, b = tf.constant(1.0, name="a"), tf.constant([2, 3], name="b")
    v = tf.Variable([7.0], name="v")
    init = tf.global_variables_initializer()
    with tf.Session() as sess:
        sess.run(init)
        got = sess.run({"p": Point(a, [b, (a + 1, init)]), "q": {"r": "a:0"}, "v": v})
        return [got["p"].x, got["p"].y[0], got["p"].y[1][0], got["p"].y[1][1] is None, got["q"]["r"], got["v"],
                type(got["p"]).__name__, sess.run("b:0"), sess.run("v:0"), sess.run(["a:0", b], {"a:0": 5.0}),
                sess.run([]), a.eval(), sess.run(a + 1, {a: 10}), sess.run((a, b))[0]]


@program
def names(tf, np):
    x = tf.placeholder(tf.float32, [None, 2], name="input")
    with tf.name_scope("layer"):
        w = tf.Variable(tf.ones([2, 2]), name="w")
        y = tf.matmul(x, w, name="y")
        z = tf.nn.relu(y)
    with tf.name_scope("layer"):
        again = tf.identity(z, name="out")
    with tf.variable_scope("scope"):
        v = tf.get_variable("v", [3], initializer=tf.zeros_initializer())
        u = tf.add(v, 1.0, name="u")
    with tf.variable_scope("scope", reuse=True):
        same = tf.get_variable("v", [3]) is v
    graph = tf.get_default_graph()
    return [x.name, w.name, y.name, z.name, again.name, v.name, u.name, same, x.op.name, w.op.name, y.op.type,
            graph.get_tensor_by_name("layer/y:0").name, graph.get_operation_by_name("layer/y").name,
            tf.constant(1.0).name, tf.constant(2.0).name, tf.reduce_sum(x).name, tf.reduce_mean(x).name,
            str(x), repr(z), repr(w), x.shape.as_list(), x.get_shape()[1].value, int(x.shape[1]),
            x.shape[0].value, [v.name for v in tf.trainable_variables()],
            [v.name for v in tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="scope")]]


def _message(tf, function, *classes):
    try:
        function()
    except classes as error:
        return [type(error).__name__, str(getattr(error, "message", None) or error)]
    return "no error"


@program
def errors_of_sessions(tf, np):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.Variable(1.0, name="w")
    total, scaled = tf.reduce_sum(x), w * 2
    out = []
    with tf.Session() as sess:
        for function, part in (
                (lambda: sess.run(total), "You must feed a value for placeholder tensor 'x' with dtype float and shape "
                                          "[?,3]"),
                (lambda: sess.run(scaled), "Attempting to use uninitialized value w"),
                (lambda: sess.run(total, {x: np.zeros(3)}), "Cannot feed value of shape (3,) for Tensor x:0, which has "
                                                            "shape (?, 3)"),
                (lambda: sess.run(total, {"nope:0": 1}), "Cannot interpret feed_dict key as Tensor"),
                (lambda: sess.run("nope:0"), "cannot be interpreted as a Tensor"),
                (lambda: sess.run(None), "has invalid type"),
                (lambda: sess.run(3), "has invalid type"),
                (lambda: tf.get_default_graph().get_tensor_by_name("q:0"), "refers to a Tensor which does not exist"),
                (lambda: tf.get_variable("v"), "must be specified"),
                (lambda: total.eval(session=None) if False else tf.get_default_graph().get_operation_by_name("zz"),
                 "refers to an Operation not in the graph")):
            kind, message = _message(tf, function, Exception)
            out.append([kind, part in message or message])
    return out


@program
def reuse_errors(tf, np):
    with tf.variable_scope("s"):
        tf.get_variable("v", [2])
    out = []
    for reuse, name in ((None, "v"), (True, "other"), (tf.AUTO_REUSE, "v"), (tf.AUTO_REUSE, "third")):
        try:
            with tf.variable_scope("s", reuse=reuse):
                out.append(tf.get_variable(name, [2]).name)
        except ValueError as error:
            out.append(str(error).split(" Originally")[0].split("Did you")[0].strip())
    return out


@program
def conditions(tf, np):
    x = tf.placeholder(tf.float32, [])
    v = tf.Variable(1.0)
    y = tf.cond(x > 0, lambda: x * v, lambda: -x)
    z = tf.case([(x < -1, lambda: tf.constant(1.0)), (x < 1, lambda: tf.constant(2.0))],
                default=lambda: tf.constant(3.0))
    write = tf.cond(x > 5, lambda: v.assign_add(x), lambda: v.assign(0.5))
    g = tf.gradients(y, [x])[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out = [sess.run([y, z, g], {x: value}) for value in (-2.0, 0.5, 3.0)]
        for value in (10.0, 1.0, 6.0):
            sess.run(write, {x: value})
            out.append(sess.run(v))
        return out


@program
def while_loops(tf, np):
    n = tf.placeholder(tf.int32, [])
    i, total = tf.constant(0), tf.constant(0.0)
    x = tf.Variable(1.5)
    loop = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s * x + 1), [i, total])
    one = tf.while_loop(lambda i: tf.less(i, 10), lambda i: tf.add(i, 3), [tf.constant(0)])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(loop, {n: 5}), sess.run(loop[1], {n: 0}), sess.run(one)]


@program
def gradient_of_a_while_loop(tf, np):
    x = tf.Variable(1.5)
    loop = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * x + 1), [tf.constant(0), tf.constant(0.0)])
    g = tf.gradients(loop[1], x)[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(g)


@program
def rnn_by_hand(tf, np):
    r = np.random.RandomState(3)
    batch, steps, size = 4, 5, 6
    inputs = tf.placeholder(tf.float32, [None, steps, 2])
    targets = tf.placeholder(tf.float32, [None, 1])
    wx, wh = (tf.Variable(r.randn(2, size).astype(np.float32) * 0.4), tf.Variable(r.randn(size, size).astype(np.float32) * 0.4))
    wo, b = tf.Variable(r.randn(size, 1).astype(np.float32)), tf.Variable(tf.zeros([size]))
    state = tf.zeros([tf.shape(inputs)[0], size])
    for x in tf.unstack(inputs, axis=1):
        state = tf.tanh(tf.matmul(x, wx) + tf.matmul(state, wh) + b)
    loss = tf.losses.mean_squared_error(targets, tf.matmul(state, wo))
    train = tf.train.AdagradOptimizer(0.1).minimize(loss)
    data, wanted = r.rand(batch, steps, 2).astype(np.float32), r.rand(batch, 1).astype(np.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run([loss, train], {inputs: data, targets: wanted})[0] for _ in range(6)] + [sess.run(wh)]


@program
def convolutions(tf, np):
    r = np.random.RandomState(4)
    x = tf.placeholder(tf.float32, [None, 8, 8, 1])
    y = tf.placeholder(tf.int32, [None])
    k = tf.get_variable("k", initializer=r.randn(3, 3, 1, 4).astype(np.float32) * 0.3)
    conv = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, k, strides=[1, 1, 1, 1], padding="SAME"), tf.zeros([4])))
    pool = tf.nn.max_pool(conv, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    flat = tf.reshape(pool, [-1, 4 * 4 * 4])
    w = tf.get_variable("w", initializer=r.randn(64, 3).astype(np.float32) * 0.1)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.matmul(flat, w)))
    loss += 0.01 * tf.nn.l2_loss(w)
    train = tf.train.RMSPropOptimizer(0.01).minimize(loss)
    data, labels = r.rand(5, 8, 8, 1).astype(np.float32), r.randint(0, 3, 5)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run([loss, train], {x: data, y: labels})[0] for _ in range(5)] + [sess.run(k)]


@program
def saver_round_trip(tf, np):
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3, name="w")
    change = tf.group(v.assign_add([1.0, 1.0]), w.assign_add(1))
    saver = tf.train.Saver(max_to_keep=2)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(4):
                sess.run(change)
                saved = saver.save(sess, path, global_step=step)
        latest = tf.train.latest_checkpoint(folder)
        kept = [os.path.basename(p) for p in saver.last_checkpoints]
        with tf.Session() as sess:
            saver.restore(sess, latest)
            restored = sess.run([v, w])
            saver.restore(sess, path + "-2")
            older = sess.run([v, w])
            some = tf.train.Saver({"v": v})
            some.restore(sess, latest)
            mixed = sess.run([v, w])
        gone = tf.train.checkpoint_exists(path + "-0")
        return [os.path.basename(saved), os.path.basename(latest), kept, restored, older, mixed, bool(gone)]


@program
def rates_and_averages(tf, np):
    step = tf.Variable(0, trainable=False)
    rates = [tf.train.exponential_decay(0.1, step, 10, 0.5), tf.train.exponential_decay(0.1, step, 10, 0.5, staircase=True),
             tf.train.piecewise_constant(step, [3, 12], [1.0, 0.5, 0.1]),
             tf.train.polynomial_decay(0.1, step, 20, 0.01, power=2.0),
             tf.train.inverse_time_decay(0.1, step, 10, 0.5), tf.train.natural_exp_decay(0.1, step, 10, 0.5)]
    more = step.assign_add(1)
    w = tf.Variable(1.0)
    ema = tf.train.ExponentialMovingAverage(0.9)
    change = w.assign_add(1.0)
    with tf.control_dependencies([change]):
        update = ema.apply([w])
    out = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(15):
            out.append(sess.run(rates))
            sess.run(more)
        for _ in range(3):
            sess.run(update)
            out.append(sess.run([w, ema.average(w)]))
    return out + [ema.average(w).name]


@program
def rate_that_decays_in_training(tf, np):
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.1, step, 2, 0.5, staircase=True)
    w = tf.Variable(4.0)
    train = tf.train.GradientDescentOptimizer(rate).minimize(w * w, global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out = []
        for _ in range(5):
            sess.run(train)
            out.append(sess.run([w, rate, step]))
        return out + [step.name, tf.train.global_step(sess, step)]


@program
def old_argument_names(tf, np):
    x = tf.constant([[1.0, 5.0, 2.0], [4.0, 3.0, 9.0]])
    with tf.Session() as sess:
        return sess.run([tf.reduce_sum(x, reduction_indices=1), tf.reduce_mean(x, axis=1, keep_dims=True),
                         tf.argmax(x, dimension=1), tf.expand_dims(x, dim=0), tf.nn.softmax(x, dim=0),
                         tf.squeeze(tf.ones([1, 2, 1]), squeeze_dims=[0]), tf.to_float(tf.constant([1, 2])),
                         tf.to_int32(x), tf.div(x, 2.0), tf.log(x), tf.nn.l2_normalize(x, dim=1),
                         tf.where([True, False], x, -x), tf.nn.xw_plus_b(x, tf.ones([3, 2]), [1.0, 2.0]),
                         tf.reduce_logsumexp(x, 1), tf.split(x, 3, axis=1)[1], tf.concat([x, x], 1),
                         tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones([2, 3]), logits=x),
                         tf.matrix_inverse([[2.0, 0.0], [0.0, 4.0]]), tf.mod(7, 3), tf.floordiv(7, 2),
                         tf.batch_gather(x, [[0], [2]]) if hasattr(tf, "batch_gather") else x[:, :1],
                         tf.reduce_max(x), tf.one_hot([0, 2], 3), tf.is_nan(x), tf.squared_difference(x, 1.0)])


@program
def random_numbers_with_seeds(tf, np):
    out = [tf.random_normal([3], seed=1), tf.random_uniform([2, 2], -1, 1, seed=2), tf.truncated_normal([3], seed=3),
           tf.random_uniform([4], 0, 10, dtype=tf.int32, seed=4)]
    w = tf.get_variable("w", [3, 2], initializer=tf.glorot_uniform_initializer(seed=5))
    v = tf.get_variable("v", [3, 2], initializer=tf.variance_scaling_initializer(scale=2.0, seed=6))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(out), sess.run(out), sess.run([w, v])]


@program
def random_numbers_with_a_graph_seed(tf, np):
    tf.set_random_seed(42)
    x = tf.random_normal([3], seed=1)
    with tf.Session() as sess:
        first = sess.run(x), sess.run(x)
    with tf.Session() as sess:
        return [first, sess.run(x)]


@program
def losses(tf, np):
    labels, logits = tf.constant([[1.0, 0.0], [0.0, 1.0]]), tf.constant([[2.0, -1.0], [0.5, 0.7]])
    weights = tf.constant([[1.0], [0.0]])
    parts = [tf.losses.mean_squared_error(labels, logits), tf.losses.absolute_difference(labels, logits),
             tf.losses.softmax_cross_entropy(labels, logits), tf.losses.sigmoid_cross_entropy(labels, logits),
             tf.losses.sparse_softmax_cross_entropy([0, 1], logits), tf.losses.huber_loss(labels, logits),
             tf.losses.log_loss(labels, tf.sigmoid(logits)), tf.losses.hinge_loss(labels, logits),
             tf.losses.mean_squared_error(labels, logits, weights=weights),
             tf.losses.mean_squared_error(labels, logits, reduction=tf.losses.Reduction.SUM),
             tf.losses.softmax_cross_entropy(labels, logits, label_smoothing=0.1)]
    with tf.Session() as sess:
        return [sess.run(parts), len(tf.losses.get_losses()), sess.run(tf.losses.get_total_loss())]


@program
def scatters(tf, np):
    v = tf.Variable(np.zeros((4, 2), np.float32))
    ops = [tf.scatter_update(v, [0, 2], [[1.0, 2.0], [3.0, 4.0]]), tf.scatter_add(v, [2, 2], [[1.0, 1.0], [1.0, 1.0]]),
           tf.scatter_sub(v, [1], [[5.0, 5.0]])]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(op) for op in ops]


@program
def registered_gradients(tf, np):
    @tf.RegisterGradient("Twice" + str(id(tf)))
    def twice(op, grad):
        return 2 * grad * tf.cast(op.inputs[0] > -1, tf.float32)
    x = tf.constant([-2.0, -0.5, 3.0])
    with tf.get_default_graph().gradient_override_map({"Relu": "Twice" + str(id(tf))}):
        y = tf.nn.relu(x)
    z = tf.nn.relu(x)
    with tf.Session() as sess:
        return sess.run([y, tf.gradients(y, x)[0], tf.gradients(z, x)[0]])


@program
def python_functions(tf, np):
    x = tf.placeholder(tf.float32, [3])
    y = tf.py_func(lambda a: (np.sort(a), np.int64(len(a))), [x * 2], [tf.float32, tf.int64])
    z = tf.reduce_sum(y[0]) + tf.cast(y[1], tf.float32)
    with tf.Session() as sess:
        return [sess.run(y, {x: [3.0, 1.0, 2.0]}), sess.run(z, {x: [3.0, 1.0, 2.0]})]


@program
def two_graphs_and_two_sessions(tf, np):
    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        a = tf.Variable(1.0, name="v")
        init_a = tf.global_variables_initializer()
    with second.as_default():
        b = tf.Variable(2.0, name="v")
        init_b, change = tf.global_variables_initializer(), b.assign(b * 3)
    s1, s2, s3 = tf.Session(graph=first), tf.Session(graph=second), tf.Session(graph=second)
    s1.run(init_a)
    s2.run(init_b)
    s3.run(init_b)
    s2.run(change)
    out = [s1.run(a), s2.run(b), s3.run(b), a.graph is first, b.graph is second, a.name, b.name]
    try:
        s1.run(b)
    except ValueError as error:
        out.append("not an element of this graph" in str(error))
    return out


@program
def interactive(tf, np):
    sess = tf.InteractiveSession()
    x = tf.placeholder(tf.float32, [2])
    v = tf.Variable([1.0, 2.0])
    tf.global_variables_initializer().run()
    y = x * v
    out = [y.eval({x: [3.0, 4.0]}), v.eval()]
    tf.assign(v, [5.0, 6.0]).op.run()
    out.append(v.eval())
    v.load([7.0, 8.0])
    out.append(v.eval())
    sess.close()
    return out


@program
def placeholders_with_defaults(tf, np):
    x = tf.placeholder_with_default(2.0, [])
    y = x * 3
    with tf.Session() as sess:
        return [sess.run(y), sess.run(y, {x: 5.0})]


@program
def finalized(tf, np):
    x = tf.constant(1.0)
    tf.get_default_graph().finalize()
    try:
        tf.constant(2.0)
    except RuntimeError as error:
        return [str(error)]
    return [x]


@program
def gan_step(tf, np):
    """Two optimizers on two lists of variables in one run."""
    r = np.random.RandomState(5)
    z, real = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])

    def generator(z):
        with tf.variable_scope("G"):
            w = tf.get_variable("w", initializer=np.full((2, 1), 0.3, np.float32))
            return tf.matmul(z, w)

    def discriminator(x):
        with tf.variable_scope("D", reuse=tf.AUTO_REUSE):
            w = tf.get_variable("w", initializer=np.full((1, 1), 0.7, np.float32))
            return tf.matmul(x, w)
    fake = generator(z)
    d_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones_like(real), logits=discriminator(real)))
    d_loss += tf.reduce_mean(tf.nn.softplus(discriminator(fake)))
    g_loss = tf.reduce_mean(tf.nn.softplus(-discriminator(fake)))
    g_vars = [v for v in tf.trainable_variables() if v.name.startswith("G")]
    d_vars = [v for v in tf.trainable_variables() if v.name.startswith("D")]
    d_train = tf.train.AdamOptimizer(0.01).minimize(d_loss, var_list=d_vars)
    g_train = tf.train.AdamOptimizer(0.01).minimize(g_loss, var_list=g_vars)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out = []
        for _ in range(5):
            feeds = {z: r.rand(4, 2), real: r.rand(4, 1)}
            sess.run(d_train, feeds)
            out.append(sess.run([g_train, d_loss, g_loss], feeds)[1:])
        return [out, sess.run(g_vars + d_vars)]


@program
def line_search_by_feeding_variables(tf, np):
    """Any tensor can be fed, also one in the middle."""
    x = tf.placeholder(tf.float32, [])
    a = x * 2
    b = a + 1
    with tf.Session() as sess:
        return [sess.run(b, {x: 3.0}), sess.run(b, {a: 100.0}), sess.run([a, b], {a: 5.0})]


@program
def local_variables_and_collections(tf, np):
    v = tf.Variable(1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="local", trainable=False)
    w = tf.Variable(2.0, name="global")
    tf.add_to_collection("mine", w)
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        out = [sess.run(v), [x.name for x in tf.global_variables()], [x.name for x in tf.local_variables()],
               [x.name for x in tf.trainable_variables()], [x.name for x in tf.get_collection("mine")]]
        kind, _ = _message(tf, lambda: sess.run(w), Exception)
        return out + [kind]


@program
def regularizers(tf, np):
    with tf.variable_scope("s", regularizer=lambda w: 0.1 * tf.reduce_sum(w ** 2),
                           initializer=tf.constant_initializer(2.0)):
        v = tf.get_variable("v", [3])
    total = tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(total)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(total)
        sess.run(train)
        return [before, sess.run(v)]


@program
def datasets(tf, np):
    data = tf.data.Dataset.from_tensor_slices((np.arange(6, dtype=np.float32), np.arange(6) * 10)).batch(4)
    x, y = tf.data.make_one_shot_iterator(data).get_next()
    total, products = tf.reduce_sum(x), x * tf.to_float(y)
    out = []
    with tf.Session() as sess:
        while True:
            try:
                out.append(sess.run([total, products]))
            except tf.errors.OutOfRangeError:
                break
    return out


@program
def initializable_iterators(tf, np):
    data = tf.data.Dataset.range(3).map(lambda n: tf.cast(n, tf.float32) * 2).repeat(2)
    iterator = tf.data.make_initializable_iterator(data)
    element = iterator.get_next()
    double = element * 10
    with tf.Session() as sess:
        kind, _ = _message(tf, lambda: sess.run(double), Exception)
        sess.run(iterator.initializer)
        first = [sess.run([element, double]) for _ in range(4)]
        sess.run(iterator.initializer)
        return [kind, first, sess.run(element)]


@program
def loops_with_arrays(tf, np):
    """A dynamic RNN as it was written with TensorArrays."""
    r = np.random.RandomState(6)
    x = tf.placeholder(tf.float32, [None, 4, 2])
    w, u = tf.Variable(r.randn(2, 3).astype(np.float32)), tf.Variable(r.randn(3, 3).astype(np.float32))
    inputs = tf.TensorArray(tf.float32, 4).unstack(tf.transpose(x, [1, 0, 2]))
    outputs = tf.TensorArray(tf.float32, 4)

    def body(t, h, outputs):
        h = tf.tanh(tf.matmul(inputs.read(t), w) + tf.matmul(h, u))
        return t + 1, h, outputs.write(t, h)
    start = tf.zeros([tf.shape(x)[0], 3])
    _, last, outputs = tf.while_loop(lambda t, h, o: t < 4, body, [0, start, outputs])
    stacked = outputs.stack()
    grads = tf.gradients(tf.reduce_sum(last ** 2), [w, u])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run([last, stacked, grads], {x: r.rand(2, 4, 2)})


@program
def maps_and_scans(tf, np):
    x = tf.placeholder(tf.float32, [4])
    with tf.Session() as sess:
        return sess.run([tf.map_fn(lambda v: v * v, x), tf.scan(lambda a, v: a + v, x),
                         tf.foldl(lambda a, v: a * 2 + v, x)], {x: [1, 2, 3, 4]})


@program
def softmax_regression_by_hand(tf, np):
    """As in the first tutorial: the cross entropy is written out."""
    r = np.random.RandomState(7)
    x, y_ = tf.placeholder("float", shape=[None, 6]), tf.placeholder("float", shape=[None, 3])
    w, b = tf.Variable(tf.zeros([6, 3])), tf.Variable(tf.zeros([3]))
    y = tf.nn.softmax(tf.matmul(x, w) + b)
    cross_entropy = -tf.reduce_sum(y_ * tf.log(y))
    step = tf.train.GradientDescentOptimizer(0.01).minimize(cross_entropy)
    correct = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, "float"))
    images, labels = r.rand(20, 6), np.eye(3)[r.randint(0, 3, 20)]
    sess = tf.InteractiveSession()
    sess.run(tf.initialize_all_variables())
    for i in range(20):
        step.run(feed_dict={x: images[i % 5::5], y_: labels[i % 5::5]})
    out = [accuracy.eval(feed_dict={x: images, y_: labels}), w.eval(), cross_entropy.eval({x: images, y_: labels})]
    sess.close()
    return out


@program
def autoencoder(tf, np):
    r = np.random.RandomState(8)
    sizes = {"encoder_h1": (6, 4), "encoder_h2": (4, 2), "decoder_h1": (2, 4), "decoder_h2": (4, 6)}
    weights = {k: tf.Variable(r.randn(*s).astype(np.float32) * 0.5) for k, s in sizes.items()}
    biases = {k: tf.Variable(tf.zeros([s[1]])) for k, s in sizes.items()}
    x = tf.placeholder("float", [None, 6])
    h = x
    for k in sizes:
        h = tf.nn.sigmoid(tf.add(tf.matmul(h, weights[k]), biases[k]))
    loss = tf.reduce_mean(tf.pow(x - h, 2))
    train = tf.train.RMSPropOptimizer(0.01).minimize(loss)
    data = r.rand(8, 6)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run([train, loss], feed_dict={x: data})[1] for _ in range(10)]


@program
def word_vectors(tf, np):
    """Negative sampling by hand: rows of two tables."""
    r = np.random.RandomState(9)
    center, context = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
    labels = tf.placeholder(tf.float32, [None])
    a = tf.Variable(r.randn(10, 4).astype(np.float32))
    b = tf.Variable(tf.zeros([10, 4]))
    logits = tf.reduce_sum(tf.nn.embedding_lookup(a, center) * tf.nn.embedding_lookup(b, context), axis=1)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
    train = tf.train.AdagradOptimizer(0.5).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out = []
        for i in range(6):
            feeds = {center: r.randint(0, 10, 5), context: r.randint(0, 10, 5), labels: r.randint(0, 2, 5)}
            out.append(sess.run([loss, train], feeds)[0])
        return out + [sess.run(b)]


@program
def policy_gradient_step(tf, np):
    r = np.random.RandomState(10)
    states, actions, advantages = (tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None]),
                                   tf.placeholder(tf.float32, [None]))
    with tf.variable_scope("policy"):
        w = tf.get_variable("w", initializer=r.randn(3, 2).astype(np.float32))
    logits = tf.matmul(states, w)
    log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
    loss = -tf.reduce_sum(log_prob * advantages)
    entropy = -tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits))
    train = tf.train.AdamOptimizer(0.05).minimize(loss - 0.01 * entropy)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(4):
            sess.run(train, {states: r.rand(4, 3), actions: [0, 1, 1, 0], advantages: r.randn(4)})
        return sess.run([w, tf.nn.softmax(logits)], {states: [[1.0, 0.0, -1.0]]})


@program
def target_network(tf, np):
    """Copies of variables by assign operations, as deep Q-learning does."""
    def net(scope, value):
        with tf.variable_scope(scope):
            return tf.get_variable("w", [2], initializer=tf.constant_initializer(value))
    online, target = net("online", 1.0), net("target", 5.0)
    sources = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="online")
    targets = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="target")
    soft = [tf.assign(t, 0.5 * s + 0.5 * t) for t, s in zip(targets, sources)]
    hard = tf.group(*[t.assign(s) for t, s in zip(targets, sources)])
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(online - target)), var_list=[online])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        out = []
        for op in (train, soft, hard, train):
            sess.run(op)
            out.append(sess.run([online, target]))
        return out


@program
def metrics_over_batches(tf, np):
    """Each metric before, during and after two batches; the names of what counts."""
    labels, scores = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    guesses = scores > 0.5
    metrics = [tf.metrics.accuracy(tf.cast(labels, tf.int32), tf.cast(guesses, tf.int32)), tf.metrics.mean(scores),
               tf.metrics.mean(scores, weights=labels), tf.metrics.precision(labels, guesses),
               tf.metrics.recall(labels, guesses), tf.metrics.mean_squared_error(labels, scores),
               tf.metrics.root_mean_squared_error(labels, scores), tf.metrics.mean_absolute_error(labels, scores),
               tf.metrics.true_positives(labels, guesses), tf.metrics.false_negatives(labels, guesses),
               tf.metrics.auc(labels, scores), tf.metrics.percentage_below(scores, 0.4)]
    values, updates = [m[0] for m in metrics], [m[1] for m in metrics]
    out = [[v.name for v in tf.local_variables()][:9]]
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        out.append(sess.run(values))
        out.append(sess.run(updates, {labels: [1, 0, 1, 1], scores: [0.9, 0.2, 0.3, 0.6]}))
        out.append(sess.run(updates, {labels: [0, 0, 1], scores: [0.9, 0.2, 0.8]}))
        out.append(sess.run(values))
    return out


@program
def monitored_training_with_hooks(tf, np):
    """A hook hears everything in order; training stops at a step and goes on from its checkpoint."""
    out = []
    folder = tempfile.mkdtemp()
    for last in (3, 5):
        with tf.Graph().as_default():
            step = tf.train.get_or_create_global_step()
            w = tf.Variable(1.0)
            train = tf.train.GradientDescentOptimizer(0.1).minimize(w * w, global_step=step)

            class Hook(tf.train.SessionRunHook):
                def begin(self):
                    out.append("begin")

                def after_create_session(self, session, coord):
                    out.append("created")

                def before_run(self, run_context):
                    return tf.train.SessionRunArgs({"step": step, "w": w})

                def after_run(self, run_context, run_values):
                    out.append(int(run_values.results["step"]))

                def end(self, session):
                    out.append("end")
            hooks = [tf.train.StopAtStepHook(last_step=last), Hook()]
            with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks) as sess:
                while not sess.should_stop():
                    sess.run(train)
            out.append(os.path.basename(tf.train.latest_checkpoint(folder)))
    return out


@program
def monitored_session_ends_with_the_data(tf, np):
    """Without an error; a loss that is not a number is one."""
    element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
    out = []
    with tf.train.MonitoredSession() as sess:
        while not sess.should_stop():
            out.append(sess.run(element))
    with tf.Graph().as_default():
        loss = tf.placeholder(tf.float32, [])
        try:
            with tf.train.MonitoredSession(hooks=[tf.train.NanTensorHook(loss)]) as sess:
                sess.run(loss, {loss: 1.0})
                sess.run(loss, {loss: float("nan")})
        except tf.train.NanLossDuringTrainingError as error:
            out.append(str(error))
    with tf.Graph().as_default():
        try:
            tf.Session().run([])
        except RuntimeError as error:
            out.append(str(error))
    return out


@program
def a_graph_as_data(tf, np):
    """Operations with their operands."""
    a = tf.placeholder(tf.float32, [], name="a")
    b = tf.constant(2.0, name="b")
    with tf.control_dependencies([b]):
        c = tf.multiply(a, b, name="c")
    _ = c * c - a
    return [[n.name, n.op, list(n.input)] for n in tf.get_default_graph().as_graph_def().node]
