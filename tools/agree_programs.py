"""Random programs for tests/agree.

    python tools/agree_programs.py                        # makes those of tests/agree/random.txt again, from their names
    python tools/agree_programs.py SEED COUNT > more.txt  # others: GRADUS_AGREE_FILE=more.txt agree_tests

tests/python/test_agree.py makes others too if GRADUS_AGREE_PROGRAMS says how many. Those in random.txt are some that
agree_reference.py found to be fit: whose results do not hang on rounding.

A program grows from two or three inputs: each line takes values that exist, of known shapes, and gives one more. Values
stay of moderate size (what can grow is squashed), so that rounding errors do too. Whoever adds an op writes a function
that gives a line, or None where it does not fit.
"""
import pathlib
import random
import sys

FOLDER = pathlib.Path(__file__).parents[1] / "tests" / "agree"
B = "B"


class Grower:
    def __init__(self, rng, seed, number):
        self.rng, self.seed, self.name = rng, seed, f"random_{seed}_{number}"
        self.dtype = rng.choices(["float64", "float32"], [4, 1])[0]
        self.lines, self.inputs, self.shapes, self.flags = [], [], {}, set()
        self.count = 0

    # -- values: names with shapes, of which sizes are numbers or "B"
    def new(self, shape):
        self.count += 1
        name = f"t{self.count}"
        self.shapes[name] = tuple(shape)
        return name

    def line(self, text, *shapes):
        """A line with one result for each shape; the names of the results."""
        names = [self.new(shape) for shape in shapes]
        self.lines.append(f"{' '.join(names)} = {text}")
        return names[0] if len(names) == 1 else names

    def input(self, shape, how="uniform -1 1", dtype=None, kind="in"):
        name = f"{'x' if kind == 'in' else 'd'}{len(self.inputs)}"
        sizes = ",".join(map(str, shape))
        self.inputs.append(f"{kind} {name} {dtype or self.dtype} [{sizes}] {how}")
        if kind == "in":
            self.shapes[name] = tuple(shape)
        return name

    def any(self, fits=lambda shape: True):
        """A value, rather a late one."""
        names = [n for n, s in self.shapes.items() if fits(s)]
        if not names:
            return None
        return self.rng.choice(names[-4:]) if self.rng.random() < 0.7 else self.rng.choice(names)

    def size(self):
        return self.rng.choice([1, 2, 3, 4])


def text(shape):
    return "[" + ",".join(map(str, shape)) + "]"


def broadcast(a, b):
    """The shape of both, or None."""
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b)
    if any(p != q and p != 1 and q != 1 for p, q in zip(a, b)):
        return None
    return tuple(q if p == 1 else p for p, q in zip(a, b))


BOUNDED = "sin cos tanh sigmoid atan erf nn.softsign asinh nn.hard_sigmoid bessel_i0e bessel_i1e"
GROWING = "square exp softplus sinh cosh expm1 nn.gelu nn.silu nn.elu nn.selu nn.mish negative identity log_sigmoid abs nn.relu nn.leaky_relu bessel_i0 bessel_i1"
POSITIVE = "sqrt log rsqrt reciprocal log1p lgamma digamma"  # of numbers from 0.5 on


def unary(g):
    x = g.any()
    f = g.rng.choice(BOUNDED.split() + GROWING.split())
    if f in GROWING.split():
        x = g.line(f"tanh {x}", g.shapes[x])
    return g.line(f"{f} {x}", g.shapes[x])


def of_positive(g):
    x = g.any()
    p = g.line(f"softplus {x}", g.shapes[x])
    q = g.line(f"add {p} 0.5", g.shapes[x])
    return g.line(f"{g.rng.choice(POSITIVE.split())} {q}", g.shapes[x])


def of_unit_interval(g):
    x = g.any()
    s = g.line(f"sigmoid {x}", g.shapes[x])
    m = g.line(f"multiply {s} 0.8", g.shapes[x])
    p = g.line(f"add {m} 0.1", g.shapes[x])
    return g.line(f"{g.rng.choice(['asin', 'acos', 'atanh', 'erfinv', 'ndtri', 'erfcinv', 'log'])} {p}", g.shapes[x])


def binary(g):
    x = g.any()
    y = g.any(lambda s: broadcast(g.shapes[x], s) is not None)
    shape = broadcast(g.shapes[x], g.shapes[y])
    f = g.rng.choice("add subtract multiply maximum minimum squared_difference".split())
    if f == "squared_difference":
        x = g.line(f"tanh {x}", g.shapes[x])
    return g.line(f"{f} {x} {y}", shape)


def quotient(g):
    x = g.any()
    y = g.any(lambda s: broadcast(g.shapes[x], s) is not None)
    shape = broadcast(g.shapes[x], g.shapes[y])
    e = g.line(f"tanh {y}", g.shapes[y])
    d = g.line(f"add {e} 2.0", g.shapes[y])
    f = g.rng.choice(["divide", "div_no_nan", "atan2", "pow", "xlogy", "xdivy", "xlog1py"])
    if f == "atan2":
        return g.line(f"{f} {x} {d}", shape)
    if f == "pow":
        t = g.line(f"tanh {x}", g.shapes[x])
        return g.line(f"pow {d} {t}", shape)
    return g.line(f"{f} {x} {d}", shape)


def with_number(g):
    x = g.any()
    f, n = g.rng.choice([("add", 0.5), ("multiply", -1.5), ("subtract", 2), ("divide", 4.0), ("maximum", 0.1), ("minimum", 0.25)])
    return g.line(f"{f} {x} {n}" if g.rng.random() < 0.7 or f == "divide" else f"{f} {n} {x}", g.shapes[x])


def reduction(g):
    x = g.any(lambda s: len(s) > 0)
    if x is None:
        return None
    shape = g.shapes[x]
    axes = sorted(g.rng.sample(range(len(shape)), g.rng.randint(1, len(shape))))
    f = g.rng.choice("sum mean max min prod logsumexp variance euclidean_norm variance".split())
    if f == "prod":
        x = g.line(f"tanh {x}", shape)
    if f == "euclidean_norm":  # away from 0, where it is not smooth
        x = g.line(f"add {x} 3.0", shape)
    keep = g.rng.random() < 0.4
    left = [1 if i in axes else s for i, s in enumerate(shape) if keep or i not in axes]
    named = [a - len(shape) if g.rng.random() < 0.3 else a for a in axes]
    return g.line(f"reduce_{f} {x} axis={text(named)}{' keepdims=true' if keep else ''}", left)


def scan(g):
    x = g.any(lambda s: len(s) > 0)
    if x is None:
        return None
    shape = g.shapes[x]
    f = g.rng.choice(["cumsum", "cumprod", "cumulative_logsumexp"])
    x = g.line(f"tanh {x}", shape)
    exclusive = " exclusive=true" if g.rng.random() < 0.4 and f != "cumulative_logsumexp" else ""
    reverse = " reverse=true" if g.rng.random() < 0.4 else ""
    axes = [a for a, s in enumerate(shape) if s != B or f == "cumsum"]  # products of many rows vanish
    return g.line(f"{f} {x} axis={g.rng.choice(axes)}{exclusive}{reverse}", shape) if axes else None


def matmul(g):
    x = g.any(lambda s: len(s) >= 2 and s[-1] != B)
    if x is None:
        return None
    shape = g.shapes[x]
    n = g.size()
    if g.rng.random() < 0.5:
        w = g.input((shape[-1], n))
        return g.line(f"matmul {x} {w}", (*shape[:-1], n))
    w = g.input((n, shape[-1]))
    return g.line(f"matmul {x} {w} transpose_b=true", (*shape[:-1], n))


def gram(g):
    x = g.any(lambda s: len(s) == 2 and s[1] != B)
    if x is None:
        return None
    rows, columns = g.shapes[x]
    t = g.line(f"tanh {x}", g.shapes[x])
    y = g.line(f"matmul {t} {x} transpose_a=true", (columns, columns))
    return g.line(f"tanh {y}", (columns, columns))


def solver(g):
    x = g.any(lambda s: len(s) >= 2 and s[-1] == s[-2] and s[-1] != B)
    if x is None:
        return None
    shape = g.shapes[x]
    n = shape[-1]
    t = g.line(f"tanh {x}", shape)
    a = g.line(f"linalg.matrix_transpose {t}", shape)
    p = g.line(f"matmul {t} {a}", shape)
    e = g.line(f"eye num_rows={n} dtype={g.dtype}", (n, n))
    q = g.line(f"add {p} {e}", shape)
    f = g.rng.choice(["inv", "cholesky", "det", "logdet", "solve", "trace", "logdet"])
    if f == "solve":
        return g.line(f"linalg.solve {q} {t}", shape)
    return g.line(f"linalg.{f} {q}", shape if f in ("inv", "cholesky") else shape[:-2])


def moved(g):
    x = g.any(lambda s: len(s) >= 2)
    if x is None:
        return None
    shape = g.shapes[x]
    perm = g.rng.sample(range(len(shape)), len(shape))
    return g.line(f"transpose {x} perm={text(perm)}", [shape[i] for i in perm])


def expanded(g):
    x = g.any(lambda s: len(s) < 4)
    if x is None:
        return None
    shape = list(g.shapes[x])
    axis = g.rng.randint(0, len(shape))
    return g.line(f"expand_dims {x} axis={axis}", shape[:axis] + [1] + shape[axis:])


def flattened(g):
    x = g.any(lambda s: len(s) >= 2 and s[0] == B and B not in s[1:])
    if x is None:
        return None
    n = 1
    for s in g.shapes[x][1:]:
        n *= s
    return g.line(f"reshape {x} shape=[-1,{n}]", (B, n))


def joined(g):
    x = g.any(lambda s: len(s) >= 1)
    if x is None:
        return None
    shape = g.shapes[x]
    y = g.any(lambda s: s == shape)
    if g.rng.random() < 0.5 and len(shape) < 4:
        axis = g.rng.randint(0, len(shape))
        return g.line(f"stack ({x},{y}) axis={axis}", shape[:axis] + (2,) + shape[axis:])
    axes = [i for i, s in enumerate(shape) if s != B and s <= 4]
    if not axes:
        return None
    axis = g.rng.choice(axes)
    return g.line(f"concat ({x},{y}) axis={axis}", shape[:axis] + (2 * shape[axis],) + shape[axis + 1:])


def parts(g):
    x = g.any(lambda s: any(n != B and n >= 2 for n in s))
    if x is None:
        return None
    shape = g.shapes[x]
    axis = g.rng.choice([i for i, n in enumerate(shape) if n != B and n >= 2])
    first = g.rng.randint(1, shape[axis] - 1)
    with_axis = lambda n: shape[:axis] + (n,) + shape[axis + 1:]
    a, b = g.line(f"split {x} num_or_size_splits=[{first},-1] axis={axis}", with_axis(first), with_axis(shape[axis] - first))
    return g.rng.choice([a, b])


def sliced(g):
    x = g.any(lambda s: len(s) >= 1)
    if x is None:
        return None
    shape, entries, left = g.shapes[x], [], []
    for n in shape:
        kind = g.rng.random()
        if n == B or n == 1 or kind < 0.3:
            entries.append("::-1" if g.rng.random() < 0.3 else ":")
            left.append(n)
        elif kind < 0.5:
            entries.append(str(g.rng.randint(-n, n - 1)))
        elif kind < 0.7:
            entries.append("1:")
            left.append(n - 1)
        else:
            entries.append("::2")
            left.append((n + 1) // 2)
    if g.rng.random() < 0.3 and len(left) < 4:
        entries.append("new")
        left.append(1)
    return g.line(f"index {x} at={','.join(entries)}", left)


def gathered(g):
    x = g.any(lambda s: any(n != B for n in s))
    if x is None:
        return None
    shape = g.shapes[x]
    axis = g.rng.choice([i for i, n in enumerate(shape) if n != B])
    n = g.size()
    i = g.input((n,), f"integers 0 {shape[axis]}", "int32", "data")
    return g.line(f"gather {x} {i} axis={axis}", shape[:axis] + (n,) + shape[axis + 1:])


def segmented(g):
    x = g.any(lambda s: len(s) >= 1)
    if x is None:
        return None
    shape, n = g.shapes[x], g.size()
    i = g.input((shape[0],), f"integers 0 {n}", "int32", "data")
    f = g.rng.choice(["sum", "mean", "sqrt_n", "sum"])
    return g.line(f"unsorted_segment_{f} {x} {i} num_segments={n}", (n, *shape[1:]))


def scattered(g):
    x = g.any(lambda s: len(s) >= 1 and s[0] != B)
    if x is None:
        return None
    shape, n = g.shapes[x], g.size()
    u = g.input((n, *shape[1:])) if B not in shape[1:] else None
    if u is None:
        return None
    i = g.input((n, 1), f"integers 0 {shape[0]}", "int32", "data")
    return g.line(f"tensor_scatter_nd_{g.rng.choice(['add', 'sub', 'update'])} {x} {i} {u}", shape)


def arranged(g):
    x = g.any(lambda s: len(s) >= 1)
    if x is None:
        return None
    shape = g.shapes[x]
    axis = g.rng.randrange(len(shape))
    f = g.rng.choice(["reverse", "roll", "tile", "pad", "sort", "repeat"])
    if f == "reverse":
        return g.line(f"reverse {x} axis=[{axis}]", shape)
    if f == "roll":
        return g.line(f"roll {x} shift=[{g.rng.randint(-2, 2)}] axis=[{axis}]", shape)
    if f == "sort":
        return g.line(f"sort {x} axis={axis} direction={g.rng.choice(['ASCENDING', 'DESCENDING'])}", shape)
    if shape[axis] == B or shape[axis] > 4:
        return None
    n = shape[axis]
    longer = lambda m: shape[:axis] + (m,) + shape[axis + 1:]
    if f == "tile":
        return g.line(f"tile {x} multiples={text([2 if i == axis else 1 for i in range(len(shape))])}", longer(2 * n))
    if f == "repeat":
        return g.line(f"repeat {x} repeats=2 axis={axis}", longer(2 * n))
    mode = g.rng.choice(["CONSTANT", "SYMMETRIC"])
    pads = [p for i in range(len(shape)) for p in ((1, 0) if i == axis else (0, 0))]
    return g.line(f"pad {x} paddings={text(pads)} mode={mode}", longer(n + 1))


def chosen(g):
    x = g.any()
    shape = g.shapes[x]
    y = g.any(lambda s: s == shape)
    p = g.line(f"greater {x} 0.05", shape)
    g.shapes.pop(p)  # a bool
    return g.line(f"where {p} {x} {y}", shape)


def normalised(g):
    x = g.any(lambda s: len(s) >= 1 and s[-1] != B)
    if x is None:
        return None
    shape = g.shapes[x]
    f = g.rng.choice(["nn.softmax", "nn.log_softmax", "nn.l2_normalize", "layer"])
    if f == "nn.l2_normalize":
        y = g.line(f"add {x} 3.0", shape)
        return g.line(f"nn.l2_normalize {y} axis=[-1]", shape)
    if f == "layer":
        m, v = g.line(f"moments {x} axes=[-1] keepdims=true", (*shape[:-1], 1), (*shape[:-1], 1))
        d = g.line(f"subtract {x} {m}", shape)
        e = g.line(f"add {v} 0.5", (*shape[:-1], 1))
        r = g.line(f"rsqrt {e}", (*shape[:-1], 1))
        return g.line(f"multiply {d} {r}", shape)
    return g.line(f"{f} {x}", shape)


def einsum(g):
    x = g.any(lambda s: len(s) == 2)
    if x is None:
        return None
    (a, b) = g.shapes[x]
    if b == B:
        return g.line(f"einsum ({x}) equation=ij->ji", (b, a))
    n = g.size()
    w = g.input((b, n))
    equation, shape = g.rng.choice([("ij,jk->ik", (a, n)), ("ij,jk->ki", (n, a)), ("ij,jk->k", (n,)), ("ij,jk->i", (a,))])
    return g.line(f"einsum ({x},{w}) equation={equation}", shape)


def branched(g):
    x = g.any()
    shape = g.shapes[x]
    s = g.line(f"reduce_mean {x}", ())
    p = g.line(f"less {s} 0.1", ())
    g.shapes.pop(p)
    k = g.count
    f, h = g.rng.sample(["sin", "tanh", "sigmoid", "square", "softplus", "atan"], 2)
    g.lines += [f"fn yes{k}", f"r = {f} {x}", "ret r", f"fn no{k}", f"r = {h} {x}", "ret r"]
    g.flags.add("novmap")
    return g.line(f"cond {p} @yes{k} @no{k}", shape)


def looped(g):
    x = g.any(lambda s: len(s) <= 2)
    if x is None:
        return None
    shape = g.shapes[x]
    y = g.any(lambda s: broadcast(shape, s) == shape)
    k = g.count
    body = g.rng.choice([["z = multiply b " + y, "w = tanh z"], ["z = add b " + y, "w = sin z"], ["z = sigmoid b", f"w = multiply z {y}"]])
    zero = g.line("zeros shape=[] dtype=int32", ())
    g.shapes.pop(zero)
    g.lines += [f"fn test{k} a b", f"t = less a {g.rng.randint(1, 3)}", "ret t", f"fn body{k} a b", "c = add a 1", *body, "ret c w"]
    n, r = g.line(f"while_loop @test{k} @body{k} {zero} {x}", (), shape)
    g.shapes.pop(n)
    return r


def scanned(g):
    x = g.any(lambda s: len(s) >= 2 and s[0] != B)
    if x is None:
        return None
    shape = g.shapes[x]
    h = g.any(lambda s: s == shape[1:])
    if h is None:
        h = g.line(f"reduce_mean {x} axis=[0]", shape[1:])
    k = g.count
    g.lines += [f"fn step{k} a b", "c = multiply a b", "d = add c b", "e = tanh d", "ret e"]
    reverse = " reverse=true" if g.rng.random() < 0.3 else ""
    return g.line(f"scan @step{k} {h} {x}{reverse}", shape)


def derived(g):
    x = g.any()
    shape = g.shapes[x]
    y = g.any(lambda s: s == shape)
    if y == x:  # a tape that watches x follows it wherever it is used; functional transformations do not
        y = g.line(f"sin {x}", shape)
    k = g.count
    g.lines += [f"fn f{k} a", f"b = {g.rng.choice(['sin', 'tanh', 'sigmoid', 'softplus'])} a", f"c = multiply b {y}", "d = multiply c a", "ret d"]
    f = g.rng.choice(["grad", "jvp", "recompute"])
    if f == "recompute":
        g.flags.add("nosave")
        return g.line(f"recompute_grad @f{k} {x}", shape)
    r = g.line(f"{f} @f{k} {x}" + (f" {y}" if f == "jvp" else ""), shape)
    return g.line(f"tanh {r}", shape)


def mapped(g):
    x = g.any(lambda s: len(s) >= 2 and s[-1] != B)
    if x is None:
        return None
    shape = g.shapes[x]
    k = g.count
    g.lines += [f"fn m{k} a", "b = square a", "c = reduce_sum b", "d = tanh c", "e = multiply a d", "ret e"]
    t = g.line(f"tanh {x}", shape)
    return g.line(f"vmap @m{k} {t}", shape)


def stopped(g):
    x = g.any()
    s = g.line(f"stop_gradient {x}", g.shapes[x])
    return g.line(f"multiply {s} {x}", g.shapes[x])


def spectral(g):
    x = g.any(lambda s: len(s) >= 1 and s[-1] != B and s[-1] >= 2)
    if x is None:
        return None
    shape = g.shapes[x]
    n = shape[-1]
    f = g.line(f"signal.rfft {x} fft_length=[{n}]", (*shape[:-1], n // 2 + 1))
    c = g.line(f"multiply {f} {f}", g.shapes[f])
    g.shapes.pop(f)
    g.shapes.pop(c)
    r = g.line(f"signal.irfft {c} fft_length=[{n}]", shape)
    return g.line(f"tanh {r}", shape)


def convolved(g):
    x = g.any(lambda s: len(s) == 3 and B not in s[1:] and s[1] >= 2)
    if x is None:
        return None
    n, w, c = g.shapes[x]
    k, o = g.rng.choice([1, 2]), g.size()
    f = g.input((k, c, o))
    p = g.rng.choice(["SAME", "VALID"])
    return g.line(f"nn.conv1d {x} {f} stride=1 padding={p}", (n, w if p == "SAME" else w - k + 1, o))


GROWTH = [unary, unary, unary, of_positive, of_unit_interval, binary, binary, binary, quotient, with_number, reduction, reduction, scan,
          matmul, gram, solver, moved, expanded, flattened, joined, parts, sliced, gathered, segmented, scattered, arranged,
          chosen, normalised, einsum, branched, looped, scanned, derived, mapped, stopped, spectral, convolved]

def complex_detour(g):
    x = g.any()
    shape = g.shapes[x]
    y = g.any(lambda s: s == shape)
    t = g.line(f"tanh {y}", shape)
    functions = g.rng.sample(["exp", "sin", "square", "conj", "cos", "negative", "tanh_of"], 2)
    if g.seed > 2 and functions in (["exp", "sin"], ["exp", "cos"]):
        x = g.line(f"tanh {x}", shape)  # e^(e^x) overflows soon, and then forward mode is NaN
    hidden = [g.line(f"complex {x} {t}", shape)]
    for f in functions:
        z = hidden[-1]
        if f == "tanh_of":
            hidden.append(g.line(f"multiply {z} {z}", shape))
        else:
            hidden.append(g.line(f"{f} {z}", shape))
    part = g.rng.choice(["real", "imag"])
    r = g.line(f"{part} {hidden[-1]}", shape)
    for z in hidden:
        g.shapes.pop(z)
    return g.line(f"tanh {r}", shape)


def best(g):
    x = g.any(lambda s: len(s) >= 1 and s[-1] != B)
    if x is None:
        return None
    shape = g.shapes[x]
    k = g.rng.randint(1, shape[-1])
    values, places = g.line(f"top_k {x} k={k}", (*shape[:-1], k), (*shape[:-1], k))
    g.shapes.pop(places)
    return values


def picked(g):
    """One element of each row, chosen by another row's largest."""
    x = g.any(lambda s: len(s) == 2 and s[1] != B)
    if x is None:
        return None
    n, m = g.shapes[x]
    y = g.any(lambda s: s == (n, m))
    i = g.line(f"argmax {y} axis=1", (n,))
    g.shapes.pop(i)
    return g.line(f"gather {x} {i} axis=1 batch_dims=1", (n,))


def by_coordinates(g):
    x = g.any(lambda s: len(s) >= 2 and s[0] != B and s[1] != B)
    if x is None:
        return None
    shape, n = g.shapes[x], g.size()
    i = g.input((n, 2), f"integers 0 {min(shape[:2])}", "int32", "data")
    return g.line(f"gather_nd {x} {i}", (n, *shape[2:]))


def hot(g):
    x = g.any(lambda s: len(s) == 2 and s[1] != B)
    if x is None:
        return None
    n, m = g.shapes[x]
    i = g.input((n,), f"integers 0 {m}", "int32", "data")
    o = g.line(f"one_hot {i} depth={m}", (n, m))
    c = g.line(f"cast {o} dtype={g.dtype}", (n, m))
    g.shapes.pop(o)
    p = g.line(f"multiply {c} {x}", (n, m))
    return g.line(f"reduce_sum {p} axis=[1]", (n,))


def looped_far(g):
    """A loop that carries two values, picks a row by its count and decides on its way."""
    x = g.any(lambda s: len(s) == 2 and s[0] != B and s[0] >= 2)
    if x is None:
        return None
    n, m = g.shapes[x]
    k = g.count
    first = g.line(f"reduce_mean {x} axis=[0]", (m,))
    zero = g.line("zeros shape=[] dtype=int32", ())
    g.shapes.pop(zero)
    inner = g.rng.choice([
        ["e = multiply b d", "h = add e c", "u = tanh h", "v = sin c"],
        ["p0 = floormod a 2", "p = equal p0 0", "fn yes", "r = sin b", "ret r", "fn no", "r = multiply b d", "ret r",
         "u = cond p @yes @no", "w = multiply c d", "v = tanh w"],
        ["fn f q", "r = sin q", "r2 = multiply r d", "ret r2", "g0 = grad @f b", "u = tanh g0", "v = add c u"]])
    g.lines += [f"fn test{k} a b c", f"t = less a {n}", "ret t", f"fn body{k} a b c", f"d = gather {x} a", *inner, "o = add a 1", "ret o u v"]
    i, u, v = g.line(f"while_loop @test{k} @body{k} {zero} {first} {first}", (), (m,), (m,))
    g.shapes.pop(i)
    return g.rng.choice([u, v])


def mapped_far(g):
    """Loops, derivatives and choices under a map."""
    x = g.any(lambda s: len(s) >= 2 and s[-1] != B and B not in s[1:])
    if x is None:
        return None
    shape = g.shapes[x]
    k = g.count
    inner = g.rng.choice([
        ["fn f q", "r = tanh q", "r2 = multiply r q", "ret r2", "e = grad @f a"],
        ["z = zeros shape=[] dtype=int32", "fn t i b", "p = less i 3", "ret p", "fn s i b", "j = add i 1", "c = multiply b a",
         "d = sin c", "ret j d", "i e = while_loop @t @s z a"],
        ["p = greater a 0.1", "b = exp a", "e = where p b a"],
        ["b = sort a", "c = cumsum b axis=0", "e = tanh c"],
        ["b = square a", "c = reduce_mean b", "d = add c 1.0", "h = rsqrt d", "e = multiply a h"],
        ["fn f q", "r = sin q", "ret r", "e = jvp @f a a"]])
    t = g.line(f"tanh {x}", shape)
    g.lines += [f"fn m{k} a", *inner, "ret e"]
    return g.line(f"vmap @m{k} {t}", shape)


def called(g):
    x = g.any()
    shape = g.shapes[x]
    y = g.any(lambda s: broadcast(shape, s) == shape)
    k = g.count
    g.lines += [f"fn c{k} a b", "c = multiply a b", "d = tanh c", "e = add d a", "ret e"]
    return g.line(f"function @c{k} {x} {y}", shape)


def customised(g):
    x = g.any()
    shape = g.shapes[x]
    k = g.count
    g.flags.add("nosave")
    g.lines += [f"fn c{k} a", "b = tanh a", "ret b", f"fn back{k} dy a", "b = tanh a", "c = square b", "d = subtract 1.0 c", "e = multiply dy d", "ret e"]
    return g.line(f"custom_gradient @c{k} @back{k} {x}", shape)


def second(g):
    x = g.any()
    shape = g.shapes[x]
    y = g.any(lambda s: s == shape)
    if y == x:
        y = g.line(f"sin {x}", shape)
    k = g.count
    g.lines += [f"fn f{k} a", f"b = {g.rng.choice(['sin', 'tanh', 'softplus'])} a", "c = multiply b a", "ret c"]
    r = g.line(f"hvp @f{k} {x} {y}", shape)
    return g.line(f"tanh {r}", shape)


def imaged(g):
    x = g.any(lambda s: len(s) == 4 and B not in s[1:] and s[1] >= 2 and s[2] >= 2)
    if x is None:
        return None
    n, h, w, c = g.shapes[x]
    kind = g.rng.choice(["conv", "pool", "depth"])
    p = g.rng.choice(["SAME", "VALID"])
    size = lambda m: m if p == "SAME" else m - 1
    if kind == "conv":
        f = g.input((2, 2, c, 2))
        return g.line(f"nn.conv2d {x} {f} padding={p}", (n, size(h), size(w), 2))
    if kind == "depth":
        f = g.input((2, 2, c, 1))
        return g.line(f"nn.depthwise_conv2d {x} {f} padding={p}", (n, size(h), size(w), c))
    f = g.rng.choice(["max", "avg"])
    return g.line(f"nn.{f}_pool2d {x} ksize=[2,2] strides=[1,1] padding={p}", (n, size(h), size(w), c))


def chopped(g):
    """A whole number made of a float, as an index."""
    x = g.any(lambda s: len(s) >= 1 and s[0] != B)
    if x is None:
        return None
    shape = g.shapes[x]
    s = g.line(f"reduce_mean {x}", ())
    t = g.line(f"sigmoid {s}", ())
    m = g.line(f"multiply {t} {shape[0] - 0.01}", ())
    i = g.line(f"cast {m} dtype=int32", ())
    g.shapes.pop(i)
    return g.line(f"gather {x} {i}", shape[1:])


GROWTH_LATER = [complex_detour, best, picked, by_coordinates, hot, looped_far, mapped_far, called, customised, second, imaged, chopped]



def program(seed, number):
    rng = random.Random(f"{seed}/{number}")
    g = Grower(rng, seed, number)
    for _ in range(rng.randint(1, 3)):
        shapes = [(B, 3), (B, 2, 3), (B,), (3,), (2, 3), (3, 3), (B, 3, 3), (), (1, 3), (B, 1), (B, 4)]
        shape = rng.choice(shapes if seed == 1 else shapes + [(B, 3, 3, 2), (3, B), (2, 4, 3), (4, 2)])
        g.input(shape)
    last = []
    goal = rng.randint(3, 10)
    tries = 0
    while len(last) < goal and tries < 60:
        tries += 1
        if len(g.inputs) > 6:
            break
        # Seed 1 is what random.txt began with.
        made = rng.choice(GROWTH if seed == 1 else GROWTH + 2 * GROWTH_LATER)(g)
        if made is not None:
            last.append(made)
    results = list(dict.fromkeys([last[-1], *rng.sample(last, min(2, len(last)))]))
    head = " ".join(["program", g.name, *sorted(g.flags), f"seed={rng.randrange(10**6)}"])
    return "\n".join([head, *g.inputs, *g.lines, "out " + " ".join(results)]) + "\n"


def text_of(seed, count, start=0):
    return "\n".join(program(seed, start + i) for i in range(count))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(text_of(int(sys.argv[1]), int(sys.argv[2])))
    else:
        names = [line.split()[1] for line in (FOLDER / "random.txt").read_text().splitlines() if line.startswith("program")]
        seeds = [tuple(map(int, name.split("_")[1:])) for name in names]
        (FOLDER / "random.txt").write_text("\n".join(program(*seed) for seed in seeds))
