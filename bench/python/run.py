#!/usr/bin/env python3
"""Times the Python module beside TensorFlow, PyTorch and JAX, and prints one table.

    python bench/python/run.py                       # with a Python that has gradus
    GRADUS_TF=<python with tensorflow> GRADUS_TORCH=<python with torch> GRADUS_JAX=<python with jax> python bench/python/run.py
    python bench/python/run.py --only mlp_32,first_mlp --threads 2 --markdown

Each library runs in a process of its own; for each workload they are asked in turn, several rounds, and the best time of
each is kept. One thread means one pinned core. What is about the start of a program (first_*, import, memory) is measured
in fresh processes. Peers that are not there leave their columns empty. A column whose norms of losses and gradients
differ from ours by more than 2 % is marked '!' and does not count: it is not the same work.

Behind each ratio stands what we want; '<' says that it is not reached. "over the best" compares our quicker way
with the quickest of all peers.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = [("gradus", "eager"), ("gradus", "function"), ("tf", "eager"), ("tf", "function"), ("tf", "xla"),
           ("torch", "eager"), ("jax", "function")]
HEAD = ["", "eager", "function", "TF eager", "function", "XLA", "PyTorch", "JAX jit", "over TF eager", "PyTorch eager", "the best"]

# workload: what it is; how much faster than TensorFlow eager, than PyTorch eager (both eager) and than the best we want to be
STEPS = {
    "square": ("x**2 with gradient", 100, 10, 4),
    "chain_of_100": ("100 taped scalar ops with gradient", 100, 12, 1),
    "mlp_1": ("MLP step, batch 1", 40, 4, 2.5),
    "mlp_32": ("MLP step, batch 32", 40, 2, 2),
    "mlp_512": ("MLP step, batch 512", 8, 1.15, 1.25),
    "mlp_512_bfloat16": ("the same, bfloat16", None, None, None),
    "fit": ("fit, batch 32, per step", None, None, 1.7),
    "conv_net": ("conv net", None, 1.3, 1.4),
    "lstm": ("LSTM", None, 1.2, 1.3),
    "transformer_block": ("transformer block", None, 1.1, 1.2),
    "embedding_sgd": ("embedding, SGD (JAX: rows by hand)", None, 4, 1.3),
    "embedding_adagrad": ("embedding, Adagrad", None, 8, 10),
    "jacobian_256": ("Jacobian 256 x 256", 100, None, 3),
    "hessian_50": ("Hessian 50 x 50", 100, None, 4),
    "hessian_vector": ("Hessian of the MLP times a vector", None, 4, 1.5),
    "accumulate_8x32": ("accumulation 8 x 32", None, 2, 1.5),
    "elements_1e3": ("tanh(x*a+b)+x with gradient, 1e3", None, 1.5, 5),
    "elements_1e5": ("the same, 1e5", None, 1.5, 1.2),
    "elements_1e7": ("the same, 1e7", None, 1.5, 1.7),
    "softmax_xent": ("softmax cross entropy 512 x 1000", None, 1.5, 1.6),
    "layer_norm": ("layer norm of simple ops 512 x 768", None, 1.5, 2.5),
    "chosen_rows": ("half of 1e6 rows by a mask, dense layer, gradient", None, None, 3),
    "growing_array": ("an array that grows to 1000 rows by data, gradient", None, None, 2),
    "lstm_of_lengths": ("LSTM, lengths from 8 to 40", None, None, 2),
    "many_batch_sizes": ("fifty batch sizes, each for the first time", None, None, 10),
    "loop_of_1000": ("loop of 1000 steps with gradient", None, None, 1.5),
}
# the first call in a process; the line below it has the same less what a later call takes: tracing and compiling alone
FIRST = {
    "first_mlp": ("first step: MLP", "mlp_32", 50),
    "first_conv_net": ("first step: conv net", "conv_net", 50),
    "first_block": ("first step: transformer block", "transformer_block", 50),
}
OTHERS = {"import": ("import and first op", 6), "memory": ("memory of a process, MLP steps", 2)}
FIRST_OP = {
    "gradus": "import gradus as tf; (tf.constant([1.]) + tf.constant([2.])).numpy()",
    "tf": "import tensorflow as tf; (tf.constant([1.]) + tf.constant([2.])).numpy()",
    "torch": "import torch; (torch.tensor([1.]) + torch.tensor([2.])).numpy()",
    "jax": "import jax.numpy as jnp, numpy; numpy.asarray(jnp.array([1.]) + jnp.array([2.]))",
}
SCRIPTS = {"gradus": ["work_tf.py", "gradus"], "tf": ["work_tf.py", "tensorflow"], "torch": ["work_torch.py"],
           "jax": ["work_jax.py"]}


def pythons():
    """The interpreters that were named, ours among them."""
    found = {name: os.environ.get("GRADUS_" + name.upper()) for name in SCRIPTS if name != "gradus"}
    return {"gradus": sys.executable, **{name: python for name, python in found.items() if python}}


def settings(threads):
    pin = ["taskset", "-c", ",".join(str(c) for c in sorted(os.sched_getaffinity(0))[-threads:])]
    return pin, {**os.environ, "OMP_NUM_THREADS": str(threads), "GRADUS_THREADS": str(threads),
                 "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu"}


class Worker:
    """A library in a process of its own."""

    def __init__(self, name, threads):
        pin, environment = settings(threads)
        script, *more = SCRIPTS[name]
        self.process = subprocess.Popen([*pin, pythons()[name], str(HERE / script), str(threads), *more],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True, env=environment)
        line = self.process.stdout.readline()
        self.version = json.loads(line)["version"] if line else None

    def ask(self, work, mode, what="steps", seconds=0.0):
        try:
            question = {"work": work, "mode": mode, "what": what, "seconds": seconds}
            print(json.dumps(question), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except OSError:
            line = ""
        return json.loads(line) if line else {"error": "the process ended"}

    def stop(self):
        self.process.kill()
        self.process.wait()


class Row:
    """The best number of each column, and what was wrong."""

    def __init__(self):
        self.best, self.values, self.problems = {}, {}, {}

    def enter(self, column, answer, key):
        if "error" in answer:
            self.problems[column] = answer["error"]
        else:
            self.best[column] = min(self.best.get(column, float("inf")), answer[key])
            if answer.get("values") is not None:
                self.values[column] = answer["values"]

    def differs(self, column):
        ours, theirs = self.values.get(("gradus", "eager"), self.values.get(("gradus", "function"))), self.values.get(column)
        if ours is None or theirs is None:
            return False
        return len(ours) != len(theirs) or any(
            abs(a - b) > 0.02 * max(abs(a), abs(b), 1e-6) for a, b in zip(sorted(ours), sorted(theirs)))

    def over(self, columns, *ours):
        """How many times the quickest of these columns the quickest of ours is."""
        times = [self.best[c] for c in columns if c in self.best and not self.differs(c)]
        mine = [self.best[c] for c in ours if c in self.best]
        return min(times) / min(mine) if times and mine else None


def steps(workers, work, options):
    row = Row()
    for _ in range(options.rounds):
        for column in COLUMNS:
            if column[0] in workers and column not in row.problems:
                row.enter(column, workers[column[0]].ask(work, column[1], "steps", options.seconds), "time")
    return row


def fresh(names, work, what, key, options):
    """Measured in new processes, which nothing has warmed up."""
    row, later = Row(), Row()
    for _ in range(options.rounds):
        for name, mode in COLUMNS:
            if name not in names or what == "first" and mode == "eager" or (name, mode) in row.problems:
                continue
            worker = Worker(name, options.threads)
            answer = worker.ask(work, mode, what)
            worker.stop()
            row.enter((name, mode), answer, key)
            if "later" in answer:
                later.enter((name, mode), answer, "later")
    return row, later


def imports(names, options):
    row = Row()
    pin, environment = settings(options.threads)
    for _ in range(max(3, options.rounds)):
        for name in names:
            start = time.perf_counter()
            done = subprocess.run([*pin, pythons()[name], "-c", FIRST_OP[name]], env=environment, capture_output=True)
            column = (name, "function" if name == "jax" else "eager")
            answer = {"time": time.perf_counter() - start} if done.returncode == 0 else {"error": "does not start"}
            row.enter(column, answer, "time")
    return row


def time_text(seconds):
    scale, unit = next(((s, u) for s, u in ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")) if seconds >= s), (1e-9, "ns"))
    return f"{seconds / scale:.3g} {unit}" if seconds < 1000 * scale else f"{seconds / scale:.0f} {unit}"


def ratio_text(ratio, wanted):
    if ratio is None:
        return ""
    text = f"{ratio:.3g}x" if ratio < 1000 else f"{ratio:.0f}x"
    return text if wanted is None else f"{text} {'<' if ratio < wanted else 'of'} {wanted}"


def cells(label, row, text=time_text, over_tf=None, over_torch=None, over_best=None, eager_ratios=True):
    made = [label]
    for column in COLUMNS:
        made.append(text(row.best[column]) + ("!" if row.differs(column) else "") if column in row.best else "")
    eager, function = ("gradus", "eager"), ("gradus", "function")
    made.append(ratio_text(row.over([("tf", "eager")], eager), over_tf) if eager_ratios else "")
    made.append(ratio_text(row.over([("torch", "eager")], eager), over_torch) if eager_ratios else "")
    made.append(ratio_text(row.over([c for c in COLUMNS if c[0] != "gradus"], eager, function), over_best))
    return made


def rows(workers, names, options):
    """Lines of the table, as they are measured, and the row that each is from."""
    for work, (label, *wanted) in STEPS.items():
        if work in names:
            row = steps(workers, work, options)
            yield cells(label, row, time_text, *wanted), row
    for name, (label, work, wanted) in FIRST.items():
        if name in names:
            row, later = fresh(workers, work, "first", "time", options)
            yield cells(label, row, over_best=wanted), row
            added = Row()
            added.best = {column: max(best - later.best[column], 1e-6) for column, best in row.best.items()}
            yield cells("  what it adds to a step", added, over_best=wanted), added
    if "import" in names:
        row = imports(workers, options)
        yield cells(OTHERS["import"][0], row, over_best=OTHERS["import"][1], eager_ratios=False), row
    if "memory" in names:
        row, _ = fresh(workers, "mlp_32", "memory", "memory", options)
        yield cells(OTHERS["memory"][0], row, lambda mb: f"{mb:.0f} MB", over_best=OTHERS["memory"][1], eager_ratios=False), row


def show(line, markdown):
    if markdown:
        return "| " + " | ".join(line) + " |"
    return line[0].ljust(37) + "".join(c.rjust(11) for c in line[1:8]) + "".join(c.rjust(16) for c in line[8:])


def main():
    every = [*STEPS, *FIRST, *OTHERS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", help="names with commas between, of: " + " ".join(every))
    parser.add_argument("--seconds", type=float, default=0.15, help="per cell and round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else every
    if unknown := [name for name in names if name not in every]:
        sys.exit(f"there is no workload {', '.join(unknown)}")
    workers = {name: Worker(name, options.threads) for name in pythons()}
    workers = {name: worker for name, worker in workers.items() if worker.version}
    if "gradus" not in workers:
        sys.exit("this Python has no gradus: pip install . first, or set PYTHONPATH=build/release/python")
    print(", ".join(f"{name} {worker.version}" for name, worker in workers.items()),
          f"| threads: {options.threads} | best of {options.rounds} rounds\n")
    print(show(HEAD, options.markdown))
    if options.markdown:
        print("|" + "---|" * len(HEAD))
    try:
        for line, row in rows(workers, names, options):
            print(show(line, options.markdown), flush=True)
            for column, why in row.problems.items():
                if why != "not there":
                    print(f"    {' '.join(column)}: {why}", file=sys.stderr)
    finally:
        for worker in workers.values():
            worker.stop()


if __name__ == "__main__":
    main()
