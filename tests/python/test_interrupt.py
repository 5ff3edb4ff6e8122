"""Ctrl-C stops long work at once; other threads run meanwhile."""
import signal
import subprocess
import sys
import threading
import time

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
