"""Ctrl-C stops long work at once; other threads run meanwhile."""
import signal
import subprocess
import sys
import threading
import time

import pytest

import gradus as tf


def test_ctrl_c_stops_a_long_kernel():
    code = """
import threading, time, os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job is born without it
import gradus as tf
a = tf.ones([3000, 3000])
threading.Timer(0.3, lambda: (stamp.append(time.perf_counter()), os.kill(os.getpid(), signal.SIGINT))).start()
stamp = []
try:
    while True:
        tf.einsum("ij,jk->ik", a, a)
except KeyboardInterrupt:
    print(time.perf_counter() - stamp[0])
assert float(tf.reduce_sum(tf.ones([100000]))) == 100000.0  # and everything works afterwards
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert out.returncode == 0, out.stderr
    assert float(out.stdout) < 2.0


def test_other_threads_run_during_long_kernels():
    counts, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counts[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    a = tf.ones([1500, 1500])
    for _ in range(5):
        before = counts[0]
        tf.matmul(a, a)
        if counts[0] > before:
            break
    done.set()
    thread.join()
    assert counts[0] > before


def test_the_handler_is_still_pythons():
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_DFL


LONG_WORK = """
import signal, sys, time
import gradus as tf

normal = lambda *shape: tf.random.normal(shape, seed=1)
turn = lambda f: lambda x: tf.while_loop(lambda i, y: i < 10 ** 9, lambda i, y: (i + 1, f(y)), (0, x))
WORK = {
    "loop": (turn(lambda y: tf.sin(y) + 1.0), [tf.ones([1000])]),
    "loop of products": (turn(lambda y: tf.linalg.matmul(y, y) * 1e-3), [tf.ones([700, 700])]),
    "matmul": (tf.linalg.matmul, [tf.ones([5000, 5000])] * 2),
    "svd": (tf.linalg.svd, [normal(1500, 1500)]),
    "eigh": (lambda x: tf.linalg.eigh(x + tf.transpose(x)), [normal(1500, 1500)]),
    "qr": (tf.linalg.qr, [normal(2500, 2500)]),
    "cholesky": (lambda x: tf.linalg.cholesky(tf.linalg.matmul(x, x, transpose_b=True)), [normal(5000, 5000)]),
    "solve": (tf.linalg.solve, [normal(5000, 5000)] * 2),
    "sort": (tf.sort, [tf.random.uniform([20_000_000], seed=1)]),
    "fft": (tf.signal.fft, [tf.complex(tf.ones([10_000_019]), tf.ones([10_000_019]))]),
    "conv": (lambda x, k: tf.nn.conv2d(x, k, 1, "SAME"), [tf.ones([32, 200, 200, 32]), tf.ones([7, 7, 32, 64])]),
    "reduction": (tf.reduce_logsumexp, [tf.ones([10000, 10000])]),
    "cumsum": (tf.cumsum, [tf.ones([100_000_000])]),
}

name, compiled = sys.argv[1], sys.argv[2] == "True"
work, operands = WORK[name]
if compiled:
    work = tf.function(work)
signal.signal(signal.SIGINT, signal.default_int_handler)  # after the import: ours is replaced
print("begins", flush=True)
try:
    while True:
        work(*operands)
except KeyboardInterrupt:
    print(time.perf_counter())
assert float(tf.reduce_sum(tf.ones([100000]))) == 100000.0
"""


def stopped_after(name, compiled, after=0.5):
    """Seconds from the signal to the exception."""
    child = subprocess.Popen([sys.executable, "-c", LONG_WORK, name, str(compiled)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begins\n"
    time.sleep(after)
    sent = time.perf_counter()
    child.send_signal(signal.SIGINT)
    try:
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 0, (name, err)
    return float(out) - sent


@pytest.mark.parametrize("name", ["loop", "loop of products"])
@pytest.mark.parametrize("compiled", [False, True])
def test_ctrl_c_stops_a_loop_after_the_handler_was_set_again(name, compiled):
    assert stopped_after(name, compiled) < 5.0  # the loop would run for hours


KERNELS = ["matmul", "svd", "eigh", "qr", "cholesky", "solve", "sort", "fft", "conv", "reduction", "cumsum"]


@pytest.mark.parametrize("name, compiled", [(name, False) for name in KERNELS] + [("matmul", True), ("fft", True)])
def test_ctrl_c_stops_inside_a_kernel(name, compiled):
    assert stopped_after(name, compiled) < 5.0


DAEMONS = """
import os, sys, threading, time
import gradus as tf

f = tf.function(lambda x: tf.reduce_sum(tf.linalg.matmul(x, x)))
x = tf.ones([150, 150])
f(x)
big = tf.ones([1 << 15])


def call():
    while True:
        f(x)
        tf.sin(big)
        tf.reduce_sum(tf.sin(tf.ones([3])))


for _ in range(4):
    threading.Thread(target=call, daemon=True).start()
time.sleep(0.05)
if sys.argv[1] == "fork":
    child = os.fork()
    if child == 0:
        f(x)
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


@pytest.mark.parametrize("how", ["plain", "plain", "fork"])
def test_a_program_ends_while_daemon_threads_work(how):
    done = subprocess.run([sys.executable, "-c", DAEMONS, how], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
