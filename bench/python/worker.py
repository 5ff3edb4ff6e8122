"""What every worker shares: the inputs, a table of workloads, and a loop that times one when it is told to.

A workload is a function that takes the mode (eager, function, xla) and gives a step to time, or None if the library has
no such mode. A step waits for its results and returns them: a tensor, or a tuple whose first one is the loss. `per` of
a step is how many steps of training it makes. The first two calls are not timed; the norms of what the second returned
are reported, so that the driver can see that all libraries do the same work.
"""
import json
import os
import re
import sys
import time

import numpy as np

WORK = {}
THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1


def workload(function):
    WORK[function.__name__] = function
    return function


def arrays(*shapes, seed=0, scale=1.0):
    rng = np.random.RandomState(seed)
    return [(rng.normal(size=shape) * scale).astype(np.float32) for shape in shapes]


def labels(n, of=10):
    return (np.arange(n) % of).astype(np.int32)


def chosen_rows_data():
    """Rows, which of them are chosen, and the kernel of a layer."""
    x, w = arrays((1000000, 8), (8, 8), seed=12, scale=0.3)
    return x, np.random.RandomState(13).random_sample(len(x)) < 0.5, w


def mlp_weights():
    w1, w2 = arrays((784, 128), (128, 10), seed=1, scale=0.05)
    return [w1, np.zeros(128, np.float32), w2, np.zeros(10, np.float32)]


def mlp_batch(n):
    return arrays((n, 784), seed=2)[0], labels(n)


def conv_weights():
    """Kernels as height, width, in, out; rows of the first dense kernel as height, width, channel."""
    return arrays((3, 3, 1, 32), (32,), (3, 3, 32, 64), (64,), (1600, 128), (128,), (128, 10), (10,), seed=3, scale=0.05)


def conv_batch():
    return arrays((32, 28, 28, 1), seed=4)[0], labels(32)


def lstm_weights():
    """Gates in the order input, forget, cell, output."""
    return arrays((64, 512), (128, 512), (512,), (128, 10), (10,), seed=5, scale=0.1)


def lstm_batch():
    return arrays((32, 64, 64), seed=6)[0], labels(32)


def lstm_lengths():
    """Most sequences are short: the longest has 40 of 64 steps."""
    lengths = np.random.RandomState(15).randint(8, 40, 32).astype(np.int32)
    lengths[0] = 40
    return lengths


def block_weights(d=256):
    """Two layer norms (gain, offset), attention (in, out) and the two dense layers (kernel, offset)."""
    ones, zeros = np.ones(d, np.float32), np.zeros(d, np.float32)
    qkv, out, wide, narrow = arrays((d, 3 * d), (d, d), (d, 4 * d), (4 * d, d), seed=20, scale=0.05)
    return [ones, zeros, qkv, np.zeros(3 * d, np.float32), out, zeros, ones, zeros, wide, np.zeros(4 * d, np.float32),
            narrow, zeros]


def block_batch():
    return arrays((8, 128, 256), (8, 128, 256), seed=21)


def embedding():
    """A table, row numbers of which a quarter come often, and what the rows should be."""
    rng = np.random.RandomState(8)
    ids = np.where(rng.rand(1024) < 0.25, rng.randint(0, 50, 1024), rng.randint(0, 100000, 1024)).astype(np.int32)
    table, target = arrays((100000, 64), (1024, 64), seed=7)
    return table, ids, target


def best_time(step, seconds):
    """Seconds of the quickest sample, per step; a sample is as many calls as take a third of a millisecond."""
    count, start = 1, time.perf_counter()
    step()
    while (taken := time.perf_counter() - start) < 3e-4:
        start = time.perf_counter()
        for _ in range(count):
            step()
        count *= 2
    count = max(1, count // 2)
    best, end = taken / count if count > 1 else taken, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(count):
            step()
        best = min(best, (time.perf_counter() - start) / count)
    return best / getattr(step, "per", 1)


def first_time(step):
    """Seconds of the first call, and of the quickest later one: the difference is what tracing and compiling cost."""
    times = []
    for _ in range(6):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return dict(time=times[0], later=min(times[1:]))


def most_memory(step):
    """Megabytes that the process had at most, after some steps."""
    for _ in range(20):
        step()
    with open("/proc/self/status") as f:
        return int(re.search(r"VmHWM:\s*(\d+)", f.read()).group(1)) / 1024


def norms(results, to_numpy):
    results = results if isinstance(results, (tuple, list)) else [results]
    return [float(np.sqrt(np.sum(np.square(np.asarray(to_numpy(r), np.float64))))) for r in results]


def serve(version, to_numpy=np.asarray):
    """Answers lines of {"work", "mode", "what": steps | first | memory, "seconds"} with what was measured, or {"error"}."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer
    say = lambda **answer: print(json.dumps(answer), file=answers, flush=True)  # noqa: E731
    say(version=version)
    steps = {}
    for line in sys.stdin:
        ask = json.loads(line)
        key, what = (ask["work"], ask["mode"]), ask["what"]
        values = None
        try:
            if key not in steps:
                steps[key] = WORK[key[0]](key[1]) if key[0] in WORK else None
                if steps[key] is not None and what == "steps":
                    steps[key]()
                    values = norms(steps[key](), to_numpy)
            if steps[key] is None:
                say(error="not there")
            elif what == "steps":
                say(time=best_time(steps[key], ask["seconds"]), values=values)
            elif what == "first":
                say(**first_time(steps[key]))
            else:
                say(memory=most_memory(steps[key]))
        except Exception as problem:  # the driver shows it and goes on
            steps[key] = None
            say(error=f"{type(problem).__name__}: {problem}"[:300])
