#!/usr/bin/env python3
"""Runs the programs of Gradus and of libtorch in turn and prints one table of ratios.

    bench/run [--only mlp_b32,lstm] [--rounds 4] [--threads 1,2] [--budget 0.2] [--build DIR]
    bench/run --check        # no times: does Gradus compute what libtorch computed?

Each round starts both programs once per number of threads, so that a busy spell of the machine falls
on both; the best time of all rounds counts. One thread means one pinned core; where even its best
sample had to share that core, the processor time is shown instead, marked ~. The ratio is libtorch /
Gradus: above 1, Gradus is faster. Exits with 1 when a program computed something else than the table
of cases says.
"""
import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

# case: (target ratio, result, what is measured). The result is what libtorch 2.13 computed. A case that
# the matrix product dominates has little to win.
CASES = {
    "startup": (1, None, "process start, x * x and its gradient, exit; Gradus linked statically"),
    "add1": (10, 3, "add of two 1-element tensors, untaped, per op"),
    "chain1000": (10, 0.367700249, "1000 taped scalar multiply-adds and the gradient, per op"),
    "mlp_b1": (4, 0.109631695, "784-128-10, relu, softmax cross entropy, Adam step, batch 1"),
    "mlp_b32": (2, 1.88275468, "the same, batch 32"),
    "mlp_b512": (1.15, 2.3357141, "the same, batch 512"),
    "convnet": (1.3, 2.18925476, "28x28x1, 2 x (conv 3x3, relu, pool), dense 128, dense 10, batch 32, Adam step"),
    "lstm": (1.2, 2.43666942, "batch 32, 64 steps, 64 inputs, 128 units, dense head, gradient"),
    "embed_sgd": (4, 61.7129974, "100k x 64 table, 1024 ids, sparse gradient, SGD"),
    "embed_adagrad": (8, 61.609745, "the same, Adagrad"),
    "softmax_xent": (1.5, 8.52709014, "softmax cross entropy 512 x 1000 and its gradient"),
    "layernorm": (1.5, 736.428375, "layer norm 512 x 768 and its three gradients"),
    "tanh_1e3": (1.5, 0.0684318133, "mean of tanh(x*a+b)+x and its gradient, 1e3 elements"),
    "tanh_1e5": (1.5, 0.0514271599, "the same, 1e5 elements"),
    "tanh_1e7": (1.5, 0.0594959195, "the same, 1e7 elements"),
}
MODES = ("eager", "compiled")  # Gradus prints NAME and, where it also traces the step, NAME.compiled

# Without these, glibc gives every large buffer back to the kernel and libtorch pays for page faults.
TUNED_MALLOC = {"MALLOC_MMAP_THRESHOLD_": "4000000000", "MALLOC_TRIM_THRESHOLD_": "8000000000",
                "MALLOC_TOP_PAD_": "268435456"}


class Program:
    """A benchmark program: its name and version, and its best times so far."""

    def __init__(self, path, environment=None, startup=None):
        self.path, self.environment, self.title = path, environment or {}, ""
        self.startup = startup or [path, "--only", "startup", "--budget", "0"]
        self.best, self.cpu, self.check = {}, {}, {}

    def command(self, command, threads):
        count = str(threads)
        environment = os.environ | self.environment | {"OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count}
        cores = sorted(os.sched_getaffinity(0))
        allowed = cores[-1:] if threads == 1 else cores
        return subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE,
                              preexec_fn=lambda: os.sched_setaffinity(0, allowed))

    def round(self, threads, only, budget):
        out = self.command([self.path, "--threads", str(threads), "--budget", str(budget), "--only",
                            ",".join(f"{n},{n}.compiled" for n in only if n != "startup")], threads)
        for line in out.stdout.splitlines():
            if line.startswith("#"):
                self.title = line[1:].strip()
                continue
            name, _, best, cpu, check = line.split("\t")
            self.note((name, threads), float(best), float(cpu))
            self.check[name, threads] = float(check)

    def start(self, threads):
        for _ in range(5):
            begin, cpu = time.perf_counter(), children_seconds()
            self.command(self.startup, threads)
            self.note(("startup", threads), (time.perf_counter() - begin) * 1e6, (children_seconds() - cpu) * 1e6)

    def note(self, key, best, cpu):
        self.best[key] = min(best, self.best.get(key, best))
        self.cpu[key] = min(cpu, self.cpu.get(key, cpu))

    def disturbed(self, key):
        return key[1] == 1 and self.cpu[key] < 0.8 * self.best[key]

    def microseconds(self, key):
        return self.cpu[key] if self.disturbed(key) else self.best[key]


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def shown(program, key):
    """A time in a readable unit."""
    if not program or key not in program.best:
        return "-"
    us, busy = program.microseconds(key), "~" if program.disturbed(key) else ""
    for unit, size in (("s", 1e6), ("ms", 1e3), ("us", 1)):
        if us >= size:
            return f"{us / size:.3g} {unit}{busy}"
    return f"{us * 1e3:.3g} ns{busy}"


def differs(value, expected):
    return expected is not None and not abs(value - expected) <= 1e-3 * abs(expected)


def wrong_results(program, only, counts):
    missing = [f"{name} at {threads} threads: no result" for name in only for threads in counts
               if name != "startup" and (name, threads) not in program.check]
    return missing + [
        f"{name} at {threads} threads: {value:.9g} instead of {CASES[case][1]:.9g}"
        for (name, threads), value in program.check.items()
        if differs(value, CASES[case := name.partition(".")[0]][1])]


def table_row(name, threads, gradus, torch):
    keys = [((name if mode == "eager" else f"{name}.{mode}"), threads) for mode in MODES]
    ours = [key for key in keys if key in gradus.best]
    ratio, verdict = "-", ""
    if ours and torch and (name, threads) in torch.best:
        factor = torch.microseconds((name, threads)) / min(map(gradus.microseconds, ours))
        ratio = f"{factor:.3g}x"
        verdict = "**loss**" if factor < 1 else "below target" if factor < CASES[name][0] else "ok"
    cells = [name, threads, *(shown(gradus, key) for key in keys), shown(torch, (name, threads)), ratio,
             f"{CASES[name][0]}x", verdict]
    return "| " + " | ".join(map(str, cells)) + " |"


def instruction_set():
    flags = set(re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)[1].split())
    return "avx512" if {"avx512f", "avx512vl"} <= flags else "avx2" if {"avx2", "fma"} <= flags else "baseline"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default=",".join(CASES), help="cases, comma separated")
    parser.add_argument("--check", action="store_true", help="only compare results with the recorded ones")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--budget", type=float, default=0.2, help="seconds per case and round")
    parser.add_argument("--build", default=pathlib.Path(__file__).parent.parent / "build/bench/bench",
                        type=pathlib.Path, help="folder of the programs")
    args = parser.parse_args()
    args.only = [name for name in args.only.split(",") if name]
    if unknown := set(args.only) - set(CASES):
        parser.error(f"unknown case {', '.join(sorted(unknown))}; there are: {', '.join(CASES)}")
    return args


def print_table(args, counts, programs, gradus, torch):
    print(f"{' beside '.join(p.title for p in programs)}; {instruction_set()}, {os.cpu_count()} cores, "
          f"best of {args.rounds} rounds, load {os.getloadavg()[1]:.1f}\n")
    print("| case | threads | Gradus eager | Gradus compiled | libtorch | ratio | target | |\n"
          "|---|---|---|---|---|---|---|---|")
    for name in args.only:
        for threads in counts:
            print(table_row(name, threads, gradus, torch))
    print("\n" + "\n".join(f"- {name}: {CASES[name][2]}" for name in args.only) + "\n")


def main():
    args = arguments()
    gradus = Program(args.build / "gradus_bench", startup=[args.build / "startup_bench"])
    torch = Program(args.build / "torch_bench", TUNED_MALLOC)
    programs = [p for p in (gradus, torch) if p.path.exists()]
    counts = [int(n) for n in args.threads.split(",")]
    if args.check:
        programs, args.rounds, args.budget = [gradus], 1, 0
    for _ in range(args.rounds):
        for threads in counts:
            for program in programs:
                program.round(threads, args.only, args.budget)
                if "startup" in args.only and not args.check and os.path.exists(program.startup[0]):
                    program.start(threads)

    wrong = [f"{p.title}: {line}" for p in programs for line in wrong_results(p, args.only, counts)]
    if not args.check:
        print_table(args, counts, programs, gradus, torch if torch in programs else None)
    print("\n".join(wrong) or f"results: {len(gradus.check)} agree with libtorch's")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
