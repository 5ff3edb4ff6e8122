"""What every worker shares: a table of workloads, and a loop that times one when it is told to.

A workload is a function that takes the mode and gives a step to time, or None if the library has no such mode. A step
returns what it computed, waited for; the first call is not timed, and its number is reported so that the driver can see
that all libraries do the same work.
"""
import json
import os
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


def mlp_weights():
    w1, w2 = arrays((784, 128), (128, 10), seed=1, scale=0.05)
    return [w1, np.zeros(128, np.float32), w2, np.zeros(10, np.float32)]


def mlp_batch(n):
    return arrays((n, 784), seed=2)[0], np.arange(n) % 10


def best_time(step, seconds):
    """Microseconds of the quickest sample; a sample is as many steps as take a third of a millisecond."""
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
    return 1e6 * best


def serve(version):
    """Answers lines of {"work", "mode", "seconds"} with {"us", "value"} or {"error"}."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer
    say = lambda **answer: print(json.dumps(answer), file=answers, flush=True)  # noqa: E731
    say(version=version)
    steps = {}
    for line in sys.stdin:
        ask = json.loads(line)
        key = ask["work"], ask["mode"]
        try:
            if key not in steps:
                steps[key] = WORK[key[0]](key[1]) if key[0] in WORK else None
                value = None if steps[key] is None else float(np.sum(np.asarray(steps[key](), np.float64)))
            else:
                value = None
            if steps[key] is None:
                say(error="not there")
                continue
            say(us=best_time(steps[key], ask["seconds"]), value=value)
        except Exception as problem:  # the driver shows it and goes on
            steps[key] = None
            say(error=f"{type(problem).__name__}: {problem}"[:300])
