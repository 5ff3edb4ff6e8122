"""Small programs whose control flow depends on tensors; asked of TensorFlow by tools/make_autograph_reference.py.

`tf` is TensorFlow or Gradus: who runs the programs sets it. Numbers, bools and lists among the arguments become
tensors, those in Py(...) stay as they are.
"""
import contextlib
import functools

import numpy as np

tf = None
PROGRAMS = {}


class Py:
    """An argument that stays a Python value."""

    def __init__(self, value):
        self.value = value


def program(*calls):
    def add(f):
        PROGRAMS[f.__name__] = (f, calls)
        return f
    return add


# ------------------------------------------------------------------------------------------------------------- if

@program((1.0,), (-1.0,))
def if_else(x):
    if x > 0:
        y = x * 2
    else:
        y = -x
    return y


@program((1.0,), (-1.0,))
def if_only(x):
    y = x
    if x > 0:
        y = y + 10.0
    return y


@program((1.0,), (-1.0,), (0.0,))
def if_elif_else(x):
    if x > 0:
        y = 1
    elif x < 0:
        y = -1
    else:
        y = 0
    return y


@program((3.0, 1.0), (3.0, -1.0), (-3.0, 1.0))
def if_nested(x, y):
    z = x
    if x > 0:
        if y > 0:
            z = x * y
        else:
            w = x - y
            z = w * 2
    return z


@program((1.0,), (-1.0,))
def if_temporary(x):
    if x > 0:
        t = tf.stack([x, x])
        y = tf.reduce_sum(t)
    else:
        y = x
    return y


@program((1.0,), (-1.0,))
def if_temporary_of_other_shape(x):
    if x > 0:
        t = tf.stack([x, x])
        y = tf.reduce_sum(t)
    else:
        t = tf.stack([x, x, x])
        y = tf.reduce_sum(t)
    return y


@program((1.0,), (-1.0,))
def if_undefined_in_one(x):
    if x > 0:
        y = x
    return y


@program((1.0,), (-1.0,))
def if_undefined_in_else(x):
    if x > 0:
        z = x
    else:
        y = x
        z = x
    return y + z


@program((1.0,), (-1.0,))
def if_int_and_float(x):
    if x > 0:
        y = 1
    else:
        y = 2.5
    return y


@program((1.0,), (-1.0,))
def if_dtypes_differ(x):
    if x > 0:
        y = x
    else:
        y = tf.constant(1)
    return y


@program((1.0,), (-1.0,))
def if_number_and_tensor(x):
    if x > 0:
        y = x
    else:
        y = 1
    return y


@program((1.0,), (-1.0,))
def if_none_in_one(x):
    y = None
    if x > 0:
        y = x
    return y


@program((1.0,), (-1.0,))
def if_lists(x):
    if x > 0:
        y = [x, x + 1]
    else:
        y = [x - 1, x - 2]
    return y[0] * y[1]


@program((1.0,), (-1.0,))
def if_lists_of_other_length(x):
    if x > 0:
        y = [x, x + 1]
    else:
        y = [x]
    return y[0]


@program((1.0,), (-1.0,))
def if_dicts(x):
    if x > 0:
        y = {"a": x, "b": (x, 1)}
    else:
        y = {"a": -x, "b": (x, 2)}
    return y["a"] + tf.cast(y["b"][1], tf.float32)


@program((1.0,), (-1.0,))
def if_strings(x):
    if x > 0:
        y = "up"
    else:
        y = "up"
    return x if y == "up" else -x


@program(([1.0, -1.0],))
def if_of_a_vector(x):
    if x > 0:
        y = x
    else:
        y = -x
    return y


@program((3,), (0,))
def if_of_an_integer(n):
    if n:
        y = n * 2
    else:
        y = n - 1
    return y


@program((1.0, Py(True)), (1.0, Py(False)), (-1.0, Py(True)))
def if_python_and_tensor(x, flag):
    if flag:
        x = x + 1
    if x > 0:
        x = x * 2
    return x


@program((1.0,), (-1.0,))
def if_with_pass(x):
    if x > 0:
        pass
    else:
        x = -x
    return x


@program((1.0,), (-1.0,))
def if_inside_with(x):
    with contextlib.nullcontext():
        if x > 0:
            y = x
        else:
            y = -x
    return y


@program((1.0,), (-1.0,))
def if_inside_try(x):
    try:
        if x > 0:
            y = x
        else:
            y = -x
    except KeyError:
        y = x
    finally:
        y = y + 1
    return y


@program((1.0,), (-1.0,))
def if_with_tape(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        if x > 0:
            y = x * x * x
        else:
            y = x * x
    return tape.gradient(y, x)


@program((1.0,), (-1.0,))
def if_assigns_two(x):
    a, b = x, x
    if x > 0:
        a, b = b + 1, a + 2
    return a, b


@program((1.0,), (-1.0,))
def if_augmented(x):
    total = 0.0
    if x > 0:
        total += x
    total -= 1.0
    return total


# ---------------------------------------------------------------------------------------------------------- return

@program((1.0,), (-1.0,))
def return_in_both(x):
    if x > 0:
        return x * 2
    else:
        return x * 3


@program((1.0,), (-1.0,))
def return_early(x):
    if x > 0:
        return x * 2
    return x * 3


@program((1.0,), (-1.0,))
def return_in_one_only(x):
    if x > 0:
        return x * 2


@program((1.0,), (-1.0,), (-5.0,))
def return_at_three_places(x):
    if x > 0:
        return x
    y = x * 2
    if y < -4:
        return y
    z = y - 1
    return z


@program((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))
def return_nested(x, y):
    if x > 0:
        if y > 0:
            return x + y
        z = x
    else:
        z = y
    z = z * 10
    return z


@program((1.0,), (-1.0,))
def return_tuple(x):
    if x > 0:
        return x, 1
    return -x, 2


@program((1.0,), (-1.0,))
def return_structures_differ(x):
    if x > 0:
        return x, x
    return x


@program((1.0,), (-1.0,))
def return_none_in_one(x):
    if x > 0:
        return x
    return None


@program((1.0,), (-1.0,))
def return_none_in_both(x):
    if x > 0:
        return None
    return None


@program((1.0,), (-1.0,))
def return_nothing(x):
    if x > 0:
        y = x
    else:
        y = -x
    y = y + 1


@program((5,), (0,), (100,))
def return_in_while(n):
    i = 0
    while i < n:
        if i * i > 10:
            return i
        i += 1
    return -1


@program((5,), (0,), (100,))
def return_in_for(n):
    for i in tf.range(n):
        if i * i > 10:
            return i
    return -1


@program((3.0,), (-3.0,))
def return_in_python_loop(x):
    for i in range(5):
        if x > 10:
            return x
        x = x * 2
    return -x


@program((1.0, Py(True)), (1.0, Py(False)))
def return_python(x, flag):
    if flag:
        return x
    return -x


@program((1.0,), (-1.0,))
def return_in_try(x):
    try:
        if x > 0:
            return x
        return x * 2
    finally:
        x = x * 5


@program((1.0,), (-1.0,))
def return_in_with(x):
    with contextlib.nullcontext():
        if x > 0:
            return x
    return x * 2


# ----------------------------------------------------------------------------------------------------------- while

@program((10,), (0,))
def while_count(n):
    i = 0
    s = 0
    while i < n:
        s += i
        i += 1
    return s


@program((10.0,), (0.5,))
def while_tensor(x):
    n = tf.constant(0)
    while x > 1.0:
        x = x / 2.0
        n = n + 1
    return x, n


@program((10,), (3,))
def while_break(n):
    i = 0
    while i < n:
        if i > 5:
            break
        i += 1
    return i


@program((10,), (3,))
def while_continue(n):
    i = 0
    s = 0
    while i < n:
        i += 1
        if i % 2 == 0:
            continue
        s += i
    return s


@program((10,), (3,))
def while_true(n):
    i = 0
    while True:
        if i >= n:
            break
        i += 1
    return i


@program((10,), (3,))
def while_else(n):
    i = 0
    while i < n:
        i += 1
        if i > 5:
            break
    else:
        i = -i
    return i


@program((6,), (0,))
def while_nested(n):
    i = 0
    s = 0
    while i < n:
        j = 0
        while j < i:
            s += j
            j += 1
        i += 1
    return s


@program((5,), (0,))
def while_temporary(n):
    i = 0
    s = 0.0
    while i < n:
        t = tf.cast(i, tf.float32) * 2.0
        s += t
        i += 1
    return s


@program((5,),)
def while_undefined_before(n):
    i = 0
    while i < n:
        t = i * 2
        i += 1
    return t


@program((0,),)
def while_undefined_before_and_no_iteration(n):
    i = 0
    while i < n:
        t = i * 2
        i += 1
    return t


@program((5,),)
def while_dtype_changes(n):
    i = 0
    x = 1
    while i < n:
        x = x * 0.5
        i += 1
    return x


@program((5,),)
def while_shape_changes(n):
    i = 0
    x = tf.constant([1.0])
    while i < n:
        x = tf.concat([x, x], 0)
        i += 1
    return x


@program((5,),)
def while_structure_changes(n):
    i = 0
    x = (1, 2)
    while i < n:
        x = 5
        i += 1
    return x


@program((5,),)
def while_none_becomes_tensor(n):
    i = 0
    x = None
    while i < n:
        x = i
        i += 1
    return x


@program((5,),)
def while_tuples(n):
    i = 0
    ab = (0, 1)
    while i < n:
        ab = (ab[1], ab[0] + ab[1])
        i += 1
    return ab[0]


@program((Py(5), 1.0))
def while_python(n, x):
    while n > 0:
        x = x * 2
        n -= 1
    return x


@program((4,), (9,))
def while_and(n):
    i = 0
    while i < n and i * i < 20:
        i += 1
    return i


@program((7,), (27,))
def while_collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@program((0.5,), (3.0,))
def while_with_tape(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        i = 0
        while i < 3:
            y = y * x
            i += 1
    return y, tape.gradient(y, x)


@program((0.5,), (3.0,))
def while_gradient_of_tensor_loop(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        while y < 100.0:
            y = y * (x + 1.0)
    return y, tape.gradient(y, x)


# ------------------------------------------------------------------------------------------------------------- for

@program((5,), (0,))
def for_range(n):
    s = 0
    for i in range(n):
        s += i * i
    return s


@program((5,), (0,))
def for_tf_range(n):
    s = 0
    for i in tf.range(n):
        s += i * i
    return s


@program(([1.0, 2.0, 3.0],), ([],))
def for_tensor(xs):
    s = 0.0
    for x in xs:
        s += x * x
    return s


@program(([[1.0, 2.0], [3.0, 4.0]],))
def for_rows(m):
    s = tf.zeros([2])
    for row in m:
        s = s * 2 + row
    return s


@program(([3, 1, 2, 5, 4],))
def for_break(xs):
    best = 0
    for x in xs:
        if x > 4:
            break
        best = tf.maximum(best, x)
    return best


@program(([3, 1, 2, 5, 4],))
def for_continue(xs):
    s = 0
    for x in xs:
        if x % 2 == 0:
            continue
        s += x
    return s


@program(([3, 1, 2],), ([3, 7, 2],))
def for_else(xs):
    found = -1
    for x in xs:
        if x > 5:
            found = x
            break
    else:
        found = 100
    return found


@program((1.0,),)
def for_python_list(x):
    outs = []
    for k in [1, 2, 3]:
        outs.append(x * k)
    return tf.stack(outs)


@program((1.0, 3.0), (1.0, -3.0))
def for_python_list_with_tensor_if(x, y):
    s = 0.0
    for k in [1.0, 2.0, 3.0]:
        if x * k > y:
            s += k
    return s


@program((1.0,),)
def for_zip_and_enumerate(x):
    s = x
    for i, (a, b) in enumerate(zip([1.0, 2.0], [3.0, 4.0])):
        s += a * b * i
    return s


@program((4,),)
def for_loop_variable_afterwards(n):
    i = -1
    for i in tf.range(n):
        pass
    return i


@program((4,),)
def for_loop_variable_undefined_before(n):
    for i in tf.range(n):
        pass
    return i


@program((3, 4),)
def for_nested(n, m):
    s = 0
    for i in tf.range(n):
        for j in tf.range(m):
            if i == j:
                continue
            s += i * j
    return s


@program((10,),)
def for_range_with_start_and_step(n):
    s = 0
    for i in tf.range(2, n, 3):
        s = s * 10 + i
    return s


@program((5,),)
def for_tensor_array(n):
    ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in tf.range(n):
        ta = ta.write(i, i * i)
    return ta.stack()


@program(([1.0, 2.0, 3.0],))
def for_tensor_array_of_known_size(xs):
    ta = tf.TensorArray(tf.float32, size=3)
    s = 0.0
    for i in tf.range(3):
        s += xs[i]
        ta = ta.write(i, s)
    return ta.stack()


@program(([1.0, 2.0, 3.0],))
def for_with_tape(xs):
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = 1.0
        for x in xs:
            y = y * x
    return tape.gradient(y, xs)


@program((5,),)
def for_tuple_target(n):
    a = 0
    for a, b in ((1, 2), (3, 4)):
        n = n + a * b
    return n + a


@program(([1, 2, 3],))
def for_list_append_in_tensor_loop(xs):
    out = []
    for x in xs:
        out.append(x)
    return out[0]


# ------------------------------------------------------------------------------------------------- and, or, not, x if c

@program((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0))
def logical_and(x, y):
    if x > 0 and y > 0:
        return 1
    return 0


@program((1.0, 1.0), (1.0, -1.0), (-1.0, -1.0))
def logical_or(x, y):
    if x > 0 or y > 0:
        return 1
    return 0


@program((1.0,), (-1.0,))
def logical_not(x):
    if not x > 0:
        return 1
    return 0


@program((1.0, 2.0, 3.0), (1.0, -2.0, 3.0), (1.0, 2.0, -3.0))
def logical_mixed(x, y, z):
    return x > 0 and (not y < 0 or z > 5) and z > 0


@program((1.0, Py(None)), (1.0, Py(2.0)))
def logical_python(x, scale):
    scale = scale or 10.0
    return x * scale


@program((2,), (7,))
def logical_and_is_lazy(i):
    xs = tf.constant([1, 2, 3, 4])
    if i < 4 and xs[i] > 2:
        return 1
    return 0


@program((1.0,), (-1.0,))
def ternary(x):
    return x * 2 if x > 0 else x * 3


@program((1.0,), (-1.0,), (-9.0,))
def ternary_nested(x):
    return 1.0 if x > 0 else 2.0 if x > -5 else 3.0


@program((1.0,), (5.0,), (-3.0,))
def compare_chained(x):
    if 0 < x < 3:
        return 1
    return 0


@program(([1.0, 2.0],), ([1.0, -2.0],))
def compare_reduced(x):
    if tf.reduce_all(x > 0):
        return tf.reduce_sum(x)
    return tf.constant(0.0)


@program((1.0, 1.0), (1.0, 2.0))
def compare_equal(x, y):
    if x == y:
        return 1
    return 0


@program((1.0, 1.0), (1.0, 2.0))
def compare_not_equal(x, y):
    return 1 if x != y else 2


@program((1.0,),)
def compare_is(x):
    y = None
    if y is None:
        y = x
    return y if x is not None else -y


# ------------------------------------------------------------------------------------------------------------ calls

def helper_abs(x):
    if x > 0:
        return x
    return -x


@program((1.0,), (-2.0,))
def call_function(x):
    return helper_abs(x) * 2


@program((1.0,), (-2.0,))
def call_lambda(x):
    f = lambda v: v if v > 0 else v * 10  # noqa: E731
    return f(x)


@program((1.0,), (-2.0,))
def call_inner_function(x):
    def inner(v, k=3.0):
        if v > 0:
            return v * k
        return v
    return inner(x) + inner(x, k=1.0)


class Box:
    scale = 2.0

    def __init__(self, value):
        self.value = value

    def sign(self, x):
        if x > self.value:
            return x * self.scale
        return -x

    @staticmethod
    def double(x):
        if x > 0:
            x = x * 2
        return x

    @classmethod
    def scaled(cls, x):
        if x > 0:
            return x * cls.scale
        return x

    @property
    def number(self):
        return self.value

    def __call__(self, x):
        return self.sign(x) + self.number


class Derived(Box):
    def __init__(self, value):
        super().__init__(value)
        self.__hidden = 5.0

    def sign(self, x):
        if x > 100:
            return x
        return super().sign(x) + self.__hidden


@program((1.0,), (-2.0,))
def call_method(x):
    return Box(0.0).sign(x)


@program((1.0,), (-2.0,), (200.0,))
def call_method_with_super(x):
    return Derived(0.0).sign(x)


@program((1.0,), (-2.0,))
def call_object(x):
    return Box(0.5)(x)


@program((1.0,), (-2.0,))
def call_static_and_class_methods(x):
    return Box.double(x) + Box.scaled(x)


@program((1.0,), (-2.0,))
def call_partial(x):
    return functools.partial(helper_pick, limit=0.5)(x)


def helper_pick(x, limit):
    return x if x > limit else limit


def keeps_name(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs) + 1
    return wrapper


@keeps_name
def helper_decorated(x, *rest, **options):
    if x > 0:
        return x + rest[0]
    return x - options["b"]


@program((1.0,), (-2.0,))
def call_decorated(x):
    return helper_decorated(x, 10.0, b=20.0)


@program((1.0,), (-2.0,))
def call_star_arguments(x):
    args, kwargs = (100.0,), {"b": 3.0}
    return helper_decorated(x, *args, **kwargs)


def helper_recursive(x, depth):
    if depth == 0:
        return x
    return helper_recursive(x * 2 if x > 0 else x * 3, depth - 1)


@program((1.0,), (-2.0,))
def call_recursive(x):
    return helper_recursive(x, 3)


def helper_generator(n):
    for i in range(n):
        if i != 1:
            yield i


@program((1.0,), (-2.0,))
def call_generator(x):
    for k in helper_generator(4):
        x = x + k
    return x


@program((1.0,), (-2.0,))
def call_map(x):
    return tf.stack(list(map(helper_abs, [x, -x])))


@program(([1.0, -2.0, 3.0],))
def call_map_fn(xs):
    return tf.map_fn(lambda v: v * 2 if v > 0 else v * 10, xs)


@program((1.0,), (-2.0,))
def call_tf_cond(x):
    def yes():
        if x > 0.5:
            return x
        return x * 7
    return tf.cond(x > 0, yes, lambda: x * 3)


@program(([1.0, -2.0, 3.0],))
def call_in_comprehension(xs):
    return tf.stack([helper_abs(xs[i]) for i in range(3) if i != 1])


@program((3.7,),)
def call_builtins(x):
    return int(x), float(tf.cast(x, tf.int32)), abs(-x), len(tf.stack([x, x]))


@program((1.0,), (-1.0,))
def call_nonlocal(x):
    n = 0.0

    def add():
        nonlocal n
        if x > 0:
            n += 1.0
        else:
            n += 10.0
    add()
    add()
    return n


COUNTER = [0]
TOTAL = 0.0


@program((1.0,), (-1.0,))
def call_global(x):
    global TOTAL
    TOTAL = 0.0
    if x > 0:
        TOTAL = x * 2
    result = TOTAL
    TOTAL = 0.0
    return result


class Holder:
    pass


@program((1.0,), (-1.0,))
def assign_attribute(x):
    h = Holder()
    h.y = x
    if x > 0:
        h.y = x * 10
    return h.y


@program((1.0,), (-1.0,))
def assign_item(x):
    d = {"a": x}
    if x > 0:
        d["a"] = x * 10
    return d["a"]


@program((1.0,), (-1.0,))
def assign_slice_of_list(x):
    d = [x, x]
    if x > 0:
        d[0] = x * 10
    return d[0] + d[1]


@program((4,),)
def assign_attribute_in_loop(n):
    h = Holder()
    h.total = 0
    for i in tf.range(n):
        h.total += i
    return h.total


@program((1.0,), (-1.0,))
def walrus(x):
    if (y := x * 2) > 0:
        return y
    return y * 5


@program((1.0,), (-1.0,))
def local_import(x):
    import math
    if x > 0:
        return x * math.floor(2.5)
    return x


@program((1.0,),)
def python_only(x):
    items = {k: v for k, v in zip("abc", range(3))}
    total = 0
    for key in sorted(items):
        if key == "b":
            continue
        total += items[key]
    else:
        total += 100
    while total > 50:
        total -= 30
        if total < 60:
            break
    return x * total


@program((2.0,), (-2.0,))
def numpy_inside(x):
    a = np.arange(3, dtype=np.float32)
    if x > 0:
        return tf.reduce_sum(x * a)
    return x * a[1]


@program((1.0,), (-1.0,))
def assert_statement(x):
    assert x > 0, "x must be positive"
    return x * 2


@program((1.0,), (-1.0,))
def tf_assert(x):
    tf.debugging.assert_greater(x, 0.0, message="too small")
    return x * 2


@program((1.0,), (-1.0,))
def tf_assert_in_branch(x):
    if x < 0:
        tf.debugging.Assert(x > -0.5, [x])
    return x * 2


@program((1.0,), (-1.0,))
def raise_in_branch(x):
    if x > 0:
        y = x
    else:
        raise ValueError("no")
    return y


@program((1.0, Py(True)), (1.0, Py(False)))
def raise_in_python_branch(x, flag):
    if flag:
        raise KeyError("mine")
    return x


@program((2.0,), (-2.0,))
def variable_in_branch(x):
    v = VARIABLES(1.0)
    if x > 0:
        v.assign_add(x)
    else:
        v.assign(5.0)
        x = v * 2
    return x + v, v.read_value()


@program((3,),)
def variable_in_loop(n):
    v = VARIABLES(1.0)
    for i in tf.range(n):
        v.assign_add(tf.cast(i, tf.float32))
        if v > 2:
            v.assign(v * 10)
    return v.read_value()


_kept = {}


def VARIABLES(value):  # noqa: N802
    """One variable per program: a function may not make another at its second call."""
    import sys
    name = sys._getframe(1).f_code.co_name
    with tf.init_scope():
        if name not in _kept:
            _kept[name] = tf.Variable(value)
    _kept[name].assign(value)
    return _kept[name]


@program((1.0,), (-1.0,))
def py_function(x):
    def f(v):
        return v * 2 if v > 0 else v * 3
    y = tf.py_function(f, [x], tf.float32)
    y = tf.ensure_shape(y, [])
    return y + 1


@program((1.0,), (-1.0,))
def py_function_gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda v: v * v * v, [x], tf.float32)
    return tape.gradient(y, x)


@program(([3.0, 1.0, 2.0],))
def numpy_function(x):
    return tf.numpy_function(lambda v: np.sort(v) * 2, [x], tf.float32)


@program((1.0,), (-1.0,))
def set_loop_options(x):
    i = tf.constant(0)
    y = tf.stack([x])
    while i < 3:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None]))])
        y = tf.concat([y, y], 0)
        i += 1
    return tf.reduce_sum(y)


@program((5,),)
def maximum_iterations(n):
    i = 0
    while i < n:
        tf.autograph.experimental.set_loop_options(maximum_iterations=2)
        i += 1
    return i


# ------------------------------------------------------------------------------------------------------ whole programs

@program((9.0,), (2.0,))
def newton(a):
    x = a
    while tf.abs(x * x - a) > 1e-4 * a:
        x = 0.5 * (x + a / x)
    return x


@program((10,),)
def fibonacci(n):
    a, b = 0, 1
    for _ in tf.range(n):
        a, b = b, a + b
    return a


@program((48, 18), (17, 5))
def gcd(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@program((30,),)
def primes_count(n):
    count = 0
    for k in tf.range(2, n):
        is_prime = True
        d = 2
        while d * d <= k:
            if k % d == 0:
                is_prime = False
                break
            d += 1
        if is_prime:
            count += 1
    return count


@program(([5, 3, 8, 1, 9, 2],))
def bubble_sort(xs):
    n = 6
    for i in range(n):
        for j in range(n - 1 - i):
            a, b = xs[j], xs[j + 1]
            if a > b:
                xs = tf.tensor_scatter_nd_update(xs, [[j], [j + 1]], [b, a])
    return xs


@program(([1, 3, 5, 7, 9, 11], 7), ([1, 3, 5, 7, 9, 11], 4))
def binary_search(xs, wanted):
    low, high = 0, 5
    while low <= high:
        mid = (low + high) // 2
        value = xs[mid]
        if value == wanted:
            return mid
        elif value < wanted:
            low = mid + 1
        else:
            high = mid - 1
    return -1


@program((0.3, 0.5), (2.0, 2.0))
def mandelbrot(re, im):
    x, y = 0.0, 0.0
    n = 0
    while x * x + y * y < 4.0 and n < 50:
        x, y = x * x - y * y + re, 2.0 * x * y + im
        n += 1
    return n


@program(([1.0, 2.0, 4.0], [2.0, 1.0, 1.0]),)
def recurrent(xs, ws):
    h = tf.constant(0.0)
    outs = tf.TensorArray(tf.float32, size=3)
    with tf.GradientTape() as tape:
        tape.watch(ws)
        for i in tf.range(3):
            h = tf.tanh(h * ws[0] + xs[i] * ws[1])
            outs = outs.write(i, h)
        loss = tf.reduce_sum(outs.stack() ** 2)
    return loss, tape.gradient(loss, ws)
