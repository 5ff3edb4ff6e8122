#!/usr/bin/env python3
"""Runs the programs of Gradus and of libtorch in turn and prints one table of ratios.

    bench/run [--only mlp_b32,lstm] [--rounds 4] [--threads 1,2] [--budget 0.2] [--build DIR]
    bench/run --check        # no times: does Gradus compute what libtorch computed?

Each round starts both programs once per number of threads, so that a busy spell of the machine falls
on both; the best time of all rounds counts. One thread means one pinned core; where even its best
sample had to share that core, the processor time is shown instead, marked ~. The ratio is libtorch /
Gradus: above 1, Gradus is faster. The floor is what the machine needs at least. Exits with 1 when a
program computed something else than the table of cases says.
"""
import argparse
import datetime
import os
import pathlib
import platform
import re
import resource
import subprocess
import sys
import time
import typing

K = 1e3
M = 1e6
PARAMETERS = 784 * 128 + 128 + 1280 + 10


class Case(typing.NamedTuple):
    """What is measured. `target` is the ratio to reach, `result` what libtorch 2.13 computed.

    The floor counts what no program can avoid: `flops`, multiplications and multiply-adds (2 each; 10 of
    them for an exp or tanh, which only the multiplying units do); `ops`, arithmetic instructions of any kind
    (a multiply-add is one); and `bytes`, every array that must come in or go out once, in the level of memory
    that holds them. Its time is the largest of the three at the rates that limits_bench measures."""
    target: float
    result: float | None
    about: str
    flops: float = 0
    bytes: float = 0
    level: str = "L3"
    ops: float = 0


def mlp(target, result, batch, about):
    flops = 2 * batch * (2 * 784 * 128 + 3 * 1280)
    # Adam reads and writes weights and both moments; the forward pass reads the weights once before.
    return Case(target, result, about, flops, 28 * PARAMETERS + 4 * 784 * batch)


CASES = {
    "startup": Case(0, None, "process start, x * x and its gradient, exit; Gradus linked statically"),
    "add1": Case(10, 3, "add of two 1-element tensors, untaped, per op"),
    "chain1000": Case(10, 0.367700249, "1000 taped scalar multiply-adds and the gradient, per op"),
    "mlp_b1": mlp(4, 0.109631695, 1, "784-128-10, relu, softmax cross entropy, Adam step, batch 1"),
    "mlp_b32": mlp(2, 1.88275468, 32, "the same, batch 32"),
    "mlp_b512": mlp(1.15, 2.3357141, 512, "the same, batch 512"),
    "convnet": Case(1.3, 2.18925476, "28x28x1, 2 x (conv 3x3, relu, pool), dense 128, dense 10, batch 32, Adam step",
                    493 * M, 28 * 225034),
    "lstm": Case(1.2, 2.43666942, "batch 32, 64 steps, 64 inputs, 128 units, dense head, gradient", 1074 * M),
    "block": Case(1.1, 0.0119216813, "transformer block: 4 sequences of 64, width 256, 4 heads, gelu 1024, gradient",
                  1258 * M),
    "embed_sgd": Case(4, 61.7129974, "100k x 64 table, 1024 ids, sparse gradient, SGD", 0, 3 * 256 * 1024),
    "embed_adagrad": Case(8, 61.609745, "the same, Adagrad", 0, 5 * 256 * 1024),
    # For each element: the largest, the difference to it, an exponential (10 multiply-adds, rounding and
    # the power of two), its sum and the quotient.
    "softmax_xent": Case(1.5, 8.52709014, "softmax cross entropy 512 x 1000 and its gradient",
                         2 * 11 * 512 * K, 8 * 512 * K, ops=16 * 512 * K),
    # For each element: the mean (an addition), the variance (a subtraction, a multiply-add); x normalised and
    # the gradient scaled (1 each, and again for dx: a row does not fit in registers), their two sums and
    # those of the two parameters (4), dx (2 multiply-adds). Nine of the thirteen multiply.
    "layernorm": Case(1.5, 736.428375, "layer norm 512 x 768 and its three gradients", 2 * 9 * 512 * 768,
                      12 * 512 * 768, ops=13 * 512 * 768),
    "tanh_1e3": Case(1.5, 0.0684318133, "mean of tanh(x*a+b)+x and its gradient, 1e3 elements", 20 * K, 8 * K, "L1"),
    "tanh_1e5": Case(1.5, 0.0514271599, "the same, 1e5 elements", 2 * M, 800 * K, "L3"),
    "tanh_1e7": Case(1.5, 0.0594959195, "the same, 1e7 elements", 200 * M, 80 * M, "DRAM"),
}
STARTUP_TARGET_US = 10_000
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

    @property
    def instructions(self):
        return self.title.rpartition(", ")[2] or "-"

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


def measure_limits(program, threads, budget, limits):
    """Raises limits[name, threads], GFLOP/s and GB/s, to what one more run reaches."""
    if program.exists():
        out = Program(program).command([program, "--threads", str(threads), "--budget", str(budget)], threads)
        for line in out.stdout.splitlines():
            if not line.startswith("#"):
                name, _, value = line.split("\t")
                limits[name, threads] = max(float(value), limits.get((name, threads), 0))


def floor_us(case, threads, limits):
    work = [(case.flops, "gflops"), (case.ops, "gops"), (case.bytes, case.level)]
    times = [amount / limits[name, threads] * 1e-3 for amount, name in work if amount and limits.get((name, threads))]
    return max(times, default=None)


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def readable(us, mark=""):
    if us is None:
        return "-"
    for unit, size in (("s", 1e6), ("ms", 1e3), ("us", 1)):
        if us >= size:
            return f"{us / size:.3g} {unit}{mark}"
    return f"{us * 1e3:.3g} ns{mark}"


def shown(program, key):
    if not program or key not in program.best:
        return "-"
    return readable(program.microseconds(key), "~" if program.disturbed(key) else "")


def differs(value, expected):
    return expected is not None and not abs(value - expected) <= 1e-3 * abs(expected)


def wrong_results(program, only, counts):
    missing = [f"{name} at {threads} threads: no result" for name in only for threads in counts
               if name != "startup" and (name, threads) not in program.check]
    return missing + [
        f"{name} at {threads} threads: {value:.9g} instead of {CASES[case].result:.9g}"
        for (name, threads), value in program.check.items()
        if differs(value, CASES[case := name.partition(".")[0]].result)]


def table_row(name, threads, gradus, torch, limits):
    keys = [((name if mode == "eager" else f"{name}.{mode}"), threads) for mode in MODES]
    ours = min((gradus.microseconds(key) for key in keys if key in gradus.best), default=None)
    floor = floor_us(CASES[name], threads, limits)
    ratio, verdict, target = "-", "", f"{CASES[name].target}x"
    if ours and torch and (name, threads) in torch.best:
        factor = torch.microseconds((name, threads)) / ours
        ratio = f"{factor:.3g}x"
        verdict = "**loss**" if factor < 1 else "below target" if factor < CASES[name].target else "ok"
    if name == "startup":
        target = f"< {readable(STARTUP_TARGET_US)}"
        verdict = "ok" if ours and ours < STARTUP_TARGET_US else "below target"
    cells = [name, threads, gradus.instructions, *(shown(gradus, key) for key in keys), shown(torch, (name, threads)),
             ratio, target, verdict, readable(floor), f"{ours / floor:.2g}x" if ours and floor else "-"]
    return "| " + " | ".join(map(str, cells)) + " |"


def processor():
    name = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return f"{name[1] if name else 'unknown processor'}, {os.cpu_count()} cores"


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


def print_table(args, counts, programs, gradus, torch, limits):
    print(f"{processor()}, {platform.system()} {platform.release().partition('-')[0]}, {datetime.date.today()}. "
          f"{' beside '.join(p.title for p in programs)}; best of {args.rounds} rounds, load {os.getloadavg()[1]:.1f}.")
    for threads in counts:
        rates = ", ".join(f"{level} {limits[level, threads]:.0f} GB/s" for level in ("L1", "L2", "L3", "DRAM")
                          if (level, threads) in limits)
        if rates:
            print(f"Limits with {threads} thread{'s' * (threads > 1)}: {limits['gflops', threads]:.0f} GFLOP/s; {rates}.")
    print("\n| case | threads | set | Gradus eager | Gradus compiled | libtorch | ratio | target | | floor | of floor |\n"
          "|---|---|---|---|---|---|---|---|---|---|---|")
    for name in args.only:
        for threads in counts:
            print(table_row(name, threads, gradus, torch, limits))
    print("\n" + "\n".join(f"- {name}: {CASES[name].about}" for name in args.only) + "\n")


def main():
    args = arguments()
    gradus = Program(args.build / "gradus_bench", startup=[args.build / "startup_bench"])
    torch = Program(args.build / "torch_bench", TUNED_MALLOC)
    programs = [p for p in (gradus, torch) if p.path.exists()]
    counts = [int(n) for n in args.threads.split(",")]
    if args.check:
        programs, args.rounds, args.budget = [gradus], 1, 0
    limits = {}
    for _ in range(args.rounds):
        for threads in counts:
            if not args.check:
                measure_limits(args.build / "limits_bench", threads, args.budget / 4, limits)
            for program in programs:
                program.round(threads, args.only, args.budget)
                if "startup" in args.only and not args.check and os.path.exists(program.startup[0]):
                    program.start(threads)

    wrong = [f"{p.title}: {line}" for p in programs for line in wrong_results(p, args.only, counts)]
    if not args.check:
        print_table(args, counts, programs, gradus, torch if torch in programs else None, limits)
    print("\n".join(wrong) or f"results: {len(gradus.check)} agree with libtorch's")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
