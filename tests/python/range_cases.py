"""Random calls of tf.range, made from a seed: only the counts and the last numbers of TensorFlow are kept."""
import struct

SEED, COUNT = 5, 2400
KINDS = ("float32", "float64", "float16", "bfloat16", "int32", "int64")


def arguments(np):
    """(dtype, start, limit, delta) of each call: round decimals, where sizes are near to integers, and any numbers."""
    rng = np.random.default_rng(SEED)
    for i in range(COUNT):
        kind = KINDS[i % len(KINDS)]
        if kind.startswith("int"):
            start, limit = (int(v) for v in rng.integers(-50, 50, 2))
            delta = int(rng.integers(1, 9)) * (1 if limit >= start else -1)
        else:
            step = int(rng.integers(1, 100)) / float(rng.choice([1.0, 3.0, 7.0, 10.0, 64.0, 100.0]))
            most = 40 if kind in ("float16", "bfloat16") else 200
            start = int(rng.integers(-30, 30)) * float(rng.choice([0.1, 0.25, 1.0 / 3.0]))
            steps = int(rng.integers(0, most)) if i // len(KINDS) % 3 else float(rng.uniform(0, most))
            delta = step if rng.random() < 0.7 else -step
            limit = start + steps * delta
        yield kind, start, limit, delta


def counts(tf, np):
    """The number of elements of each, and the last one as its bits."""
    found = []
    for kind, start, limit, delta in arguments(np):
        r = tf.range(start, limit, delta, dtype=kind)
        last = float(tf.cast(r[-1], tf.float64)) if r.shape[0] else 0.0
        found.append([r.shape[0], struct.pack(">d", last).hex()])
    return found
