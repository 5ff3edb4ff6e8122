#!/usr/bin/env python3
"""Times the Python module beside TensorFlow, PyTorch and JAX, and prints one table.

    python bench/python/run.py                       # with a Python that has gradus
    GRADUS_TF=<python with tensorflow> GRADUS_TORCH=<python with torch> GRADUS_JAX=<python with jax> python bench/python/run.py

Each library runs in a process of its own; for each workload they are asked in turn, several rounds, and the best time of
each is kept. One thread means one pinned core. Peers that are not there leave their columns empty. A value that differs
from ours by more than 2 % is marked with '!': then it is not the same work.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = [("gradus", "eager"), ("gradus", "compiled"), ("tf", "eager"), ("tf", "compiled"), ("torch", "eager"),
           ("jax", "compiled")]
DIFFERENT = {"conv_net_32", "lstm_32x50x64"}  # peers draw their own weights there


class Worker:
    """A library in a process of its own."""

    def __init__(self, python, script, threads, *more):
        pin = ["taskset", "-c", ",".join(str(c) for c in sorted(os.sched_getaffinity(0))[-threads:])]
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "GRADUS_THREADS": str(threads)}
        self.process = subprocess.Popen([*pin, python, str(HERE / script), str(threads), *more], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        line = self.process.stdout.readline()
        self.version = json.loads(line)["version"] if line else None

    def ask(self, work, mode, seconds):
        try:
            print(json.dumps({"work": work, "mode": mode, "seconds": seconds}), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except OSError:
            line = ""
        return json.loads(line) if line else {"error": "the process ended"}

    def stop(self):
        self.process.kill()
        self.process.wait()


def start(threads):
    workers = {"gradus": Worker(sys.executable, "work_tf.py", threads, "gradus")}
    for name, script, *more in (("tf", "work_tf.py", "tensorflow"), ("torch", "work_torch.py"), ("jax", "work_jax.py")):
        python = os.environ.get("GRADUS_" + name.upper())
        if python:
            workers[name] = Worker(python, script, threads, *more)
    return {name: worker for name, worker in workers.items() if worker.version}


def measure(workers, work, seconds, rounds):
    best, values, problems = {}, {}, {}
    for turn in range(rounds):
        for column in COLUMNS:
            if column[0] not in workers or column in problems:
                continue
            answer = workers[column[0]].ask(work, column[1], seconds)
            if "error" in answer:
                problems[column] = answer["error"]
                continue
            best[column] = min(best.get(column, float("inf")), answer["us"])
            if turn == 0 and answer["value"] is not None:
                values[column] = answer["value"]
    return best, values, problems


def cell(us):
    return "" if us is None else f"{us:.2f}" if us < 10 else f"{us:.0f}"


def row(work, best, values):
    ours = values.get(("gradus", "eager"), values.get(("gradus", "compiled")))
    cells = []
    for column in COLUMNS:
        value = values.get(column)
        differs = (work not in DIFFERENT and None not in (ours, value)
                   and abs(value - ours) > 0.02 * max(abs(value), abs(ours), 1e-6))
        cells.append(cell(best.get(column)) + ("!" if differs else ""))

    def ratio(ours_, theirs):
        times = [best[c] for c in theirs if c in best]
        return f"{min(times) / best[ours_]:.1f}x" if times and ours_ in best else ""
    eager, compiled = ("gradus", "eager"), ("gradus", "compiled")
    cells += [ratio(eager, [("tf", "eager")]), ratio(eager, [("torch", "eager")]),
              ratio(compiled, [c for c in COLUMNS if c[0] != "gradus"])]
    return [work, *cells]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", help="names of workloads, with commas between")
    parser.add_argument("--seconds", type=float, default=0.15, help="per cell and round")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    source = (HERE / "work_tf.py").read_text()
    names = [part.split("(")[0] for part in source.split("@workload\ndef ")[1:]]
    if options.only:
        names = [name for name in names if name in options.only.split(",")]
    workers = start(options.threads)
    if "gradus" not in workers:
        sys.exit("this Python has no gradus: pip install . first, or set PYTHONPATH=build/release/python")
    print(", ".join(f"{name} {worker.version}" for name, worker in workers.items()),
          f"| threads: {options.threads} | microseconds, best of {options.rounds} rounds")
    head = ["workload", "gradus", "compiled", "tf", "tf xla", "torch", "jax jit", "/tf", "/torch", "compiled/best"]
    widths = [24, 10, 10, 10, 10, 10, 10, 8, 8, 14]
    print("".join(h.ljust(w) if i == 0 else h.rjust(w) for i, (h, w) in enumerate(zip(head, widths))))
    try:
        for work in names:
            best, values, problems = measure(workers, work, options.seconds, options.rounds)
            print("".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row(work, best, values), widths))),
                  flush=True)
            for column, why in problems.items():
                if why != "not there":
                    print(f"    {' '.join(column)}: {why}")
    finally:
        for worker in workers.values():
            worker.stop()


if __name__ == "__main__":
    main()
