#!/usr/bin/env python3
"""KeOps against `flashdiffusion-bench xgemm`: Y = K W with K_ij = exp(-beta |x_i - x_j|^2), fp32, on the CPU.

Needs pykeops and numpy (pip install pykeops numpy), a C++ compiler for KeOps, and a built flashdiffusion-bench.
"""
import argparse
import importlib.metadata
import importlib.util
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BETA = 0.5  # what `bench xgemm` uses
SLICE = 512  # rows of Y that KeOps makes in one timed call
# KeOps takes compiler options from the environment's CXXFLAGS, and puts them before its own -O3.
FLAGS = {"default": "", "tuned": "-march=native -ffast-math"}


class Failure(Exception):
    """Ends the run with one line and an exit status, the same statuses as flashdiffusion's."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


def torus(random, n, dimension):
    """The paper's T^6 turned into all columns, by the formula of torus() in apps/common/made_points.cpp."""
    import numpy

    column = numpy.arange(dimension)
    circle = column // 2 % 6
    radius = numpy.array([1.00, 1.08, 1.17, 1.27, 1.38, 1.50])[circle]
    angle = 2 * numpy.pi * random.random((n, 6))[:, circle]
    return numpy.sqrt(12 / dimension) * radius * numpy.where(column % 2 == 0, numpy.cos(angle), numpy.sin(angle))


def time_keops(case):
    """In a process of its own: KeOps reads its compiler flags, cache folder and threads once, when it is imported."""
    import numpy
    import pykeops
    from pykeops.numpy import Genred

    n, rows, dimension, block = case["n"], case["rows"], case["dimension"], case["block"]
    random = numpy.random.default_rng(42)
    if "points" in case:  # and weights: files of somebody else's, who compares the result
        x, weights = (numpy.ascontiguousarray(numpy.load(case[name]), numpy.float32) for name in ("points", "weights"))
    else:
        x = torus(random, n, dimension).astype(numpy.float32)
        weights = random.standard_normal((n, block)).astype(numpy.float32)
    beta = numpy.array([case.get("beta", BETA)], numpy.float32)
    product = Genred(
        "Exp(-beta * SqDist(x, y)) * w",
        ["beta = Pm(1)", f"x = Vi({dimension})", f"y = Vj({dimension})", f"w = Vj({block})"],
        reduction_op="Sum",
        axis=1,
    )
    product(beta, x[:64], x, weights, backend="CPU")  # compiles where the cache has nothing, and warms up
    # rows of Y are independent for KeOps: slices of them, as short as our passes, so that some are not disturbed
    parts, passes = [], []
    for first in range(0, rows, SLICE):
        slice_of_x = x[first : min(first + SLICE, rows)]
        start = time.perf_counter()
        parts.append(product(beta, slice_of_x, x, weights, backend="CPU"))
        passes.append((time.perf_counter() - start) / (len(slice_of_x) * n) * 1e9)
    result = numpy.concatenate(parts)
    if "result" in case:
        numpy.save(case["result"], result.astype(numpy.float64))

    some = numpy.linspace(0, rows - 1, min(rows, 300)).astype(int)
    points = x.astype(float)  # the rounded points: the error is that of the arithmetic alone
    squares = (points**2).sum(axis=1)
    distances = squares[some, None] + squares - 2 * points[some] @ points.T
    exact = numpy.exp(-float(beta[0]) * distances) @ weights.astype(float)
    return {
        "ns": statistics.median(passes),
        "fastest_ns": min(passes),
        "error": float(numpy.linalg.norm(result[some] - exact) / numpy.linalg.norm(exact)),
        "version": pykeops.__version__,
    }


def run(command, environment=None):
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        if "pykeops_cpp_" in lines[-1]:  # KeOps goes on after its compiler failed, and stops where it loads the result
            lines.append("KeOps could not compile its formula: it needs a C++ compiler with OpenMP, and Python's headers")
        raise Failure(f"{Path(command[0]).name} ended with status {done.returncode}: {lines[-1]}", 3)
    return done.stdout


def keops(flags, case, cache):
    environment = {
        **os.environ,
        "KEOPS_CACHE_FOLDER": str(Path(cache) / flags),
        "CXXFLAGS": FLAGS[flags],
        "OMP_NUM_THREADS": str(case["threads"]),
        "PYKEOPS_VERBOSE": "0",
    }
    answer = run([sys.executable, __file__, "--worker", json.dumps(case)], environment)
    return json.loads(answer.splitlines()[-1])  # KeOps' own messages come before it


def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def serve(cache):
    """For `flashdiffusion reproduce keops`: what is installed, then a case on each line of standard input and its answer on one of output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    print(json.dumps({name: version(name) for name in ("pykeops", "numpy")}), flush=True)
    for line in sys.stdin:
        try:
            case = json.loads(line)
            answer = keops(case.pop("flags"), case, cache)
        except Exception as error:  # whatever it is, the other side must not wait for ever
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


def flashdiffusion(program, case):
    numbers = [f"--{name}={case[name]}" for name in ("dimension", "block", "threads", "n")]
    answer = json.loads(run([program, "xgemm", "--no-blas", "--json", *numbers]))
    row = answer["rows"][0]
    return answer["machine"], {"ns": row["ns_per_pair"], "fastest_ns": row["best_ns_per_pair"], "limit_ns": row["limit_ns"]}


def median(answers, name):
    return statistics.median(answer[name] for answer in answers)


def fastest(answers):
    return min(answer["fastest_ns"] for answer in answers)


def measure(wish, progress):
    cases = [
        {"n": wish.n, "rows": wish.rows, "dimension": dimension, "block": block, "threads": threads}
        for threads in wish.threads
        for dimension in wish.dimension
        for block in wish.block
    ]
    load = os.getloadavg()[0]  # before we add to it
    samples = [{"ours": [], "default": [], "tuned": []} for _ in cases]
    with tempfile.TemporaryDirectory() as cache:
        # the formulas depend on neither N nor the threads: compiled here, so that no timing waits for a compiler
        for dimension in wish.dimension:
            for block in wish.block:
                for flags in FLAGS:
                    progress(f"compiling D={dimension} b={block} {flags}")
                    keops(flags, {"n": 64, "rows": 64, "dimension": dimension, "block": block, "threads": 1}, cache)
        for repetition in range(wish.repeats):
            for case, sample in zip(cases, samples):
                progress(f"repetition {repetition + 1}: D={case['dimension']} b={case['block']} threads={case['threads']}")
                # one after the other within seconds: what disturbs one disturbs all
                machine, ours = flashdiffusion(wish.flashdiffusion, case)
                sample["ours"].append(ours)
                for flags in FLAGS:
                    sample[flags].append(keops(flags, case, cache))
    rows = []
    for case, sample in zip(cases, samples):
        ours = sample["ours"]
        row = {**case, "flashdiffusion": {"ns": median(ours, "ns"), "fastest_ns": fastest(ours)}}
        for flags in FLAGS:
            theirs = sample[flags]
            row[flags] = {
                "ns": median(theirs, "ns"),
                "fastest_ns": fastest(theirs),
                # ratio by ratio: both sides of each were measured next to each other
                "ratio": statistics.median(their["ns"] / our["ns"] for their, our in zip(theirs, ours)),
                "fastest_ratio": fastest(theirs) / fastest(ours),
                # what the ratio would be if ours took no more than this machine's arithmetic needs
                "over_limit": fastest(theirs) / min(our["limit_ns"] for our in ours),
                "relative_error": median(theirs, "error"),
            }
        rows.append(row)
    header = {
        "machine": {**machine, "load_before": round(load, 2)},
        "keops": {"version": samples[0]["default"][0]["version"], "compiler": compiler(), "cxxflags": FLAGS},
        "beta": BETA,
        "repeats": wish.repeats,
    }
    return {**header, "rows": rows}


def compiler():
    """The one KeOps takes: CXX where it is a program, else g++ (on macOS clang++ first)."""
    first = "clang++" if sys.platform == "darwin" else "g++"
    found = next((name for name in (os.environ.get("CXX"), first, "g++") if name and shutil.which(name)), None)
    return run([found, "--version"]).splitlines()[0] if found else None


def print_table(found):
    machine, keops_facts = found["machine"], found["keops"]
    print(f"{machine['cpu']}, {machine['cores']} cores, {machine['isa']}; load {machine['load_before']} before the run")
    print(f"KeOps {keops_facts['version']}, {keops_facts['compiler']}; tuned: CXXFLAGS=\"{FLAGS['tuned']}\"")
    print(f"ns per pair, N^2 pairs; medians of {found['repeats']} repetitions. Ratio: how many times slower KeOps is;")
    print("in brackets that of the fastest passes, which other programs on the machine disturb least, and of KeOps' fastest over the")
    print("limit that `bench xgemm` finds for this machine: no program of ours could make the ratio larger.")
    first = found["rows"][0]
    if first["rows"] < first["n"]:
        print(f"KeOps made only {first['rows']} of the {first['n']} rows of Y; to it each row is the same work")
    titles = "".join(f" | {flags + ' ns':>10} {'ratio':>7} {'(fastest, limit)':>16} {'error':>8}" for flags in FLAGS)
    print(f"{'N':>7} {'D':>3} {'b':>3} {'threads':>7} {'ours ns':>8}{titles}")
    for row in found["rows"]:
        ours = row["flashdiffusion"]["ns"]
        print(f"{row['n']:>7} {row['dimension']:>3} {row['block']:>3} {row['threads']:>7} {ours:>8.3f}", end="")
        for flags in FLAGS:
            side = row[flags]
            fastest = f"({side['fastest_ratio']:.1f}, {side['over_limit']:.1f})"
            print(f" | {side['ns']:>10.2f} {side['ratio']:>7.1f} {fastest:>16} {side['relative_error']:>8.1e}", end="")
        print()


def count(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def main():
    program = Path(__file__).resolve().parent.parent / "build" / "flashdiffusion-bench"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flashdiffusion", default=str(program), metavar="PATH", help="the program (build/flashdiffusion-bench)")
    parser.add_argument("--n", type=count, default=16384, help="points (%(default)s)")
    parser.add_argument("--rows", type=count, help="rows of Y that KeOps makes, fewer to save time (all N)")
    parser.add_argument("--dimension", type=count, nargs="+", default=[12, 32], help="columns of the points (12 32)")
    parser.add_argument("--block", type=count, nargs="+", default=[1, 8], help="columns of W (1 8)")
    parser.add_argument("--threads", type=count, nargs="+", default=[1, 2], help="numbers of threads (1 2)")
    parser.add_argument("--repeats", type=count, default=3, help="repetitions, of which the median counts (%(default)s)")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of the table")
    parser.add_argument("--worker", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--serve", metavar="CACHE", help=argparse.SUPPRESS)
    wish = parser.parse_args()
    if wish.serve:
        return serve(wish.serve)
    if wish.worker:
        print(json.dumps(time_keops(wish.worker)))
        return
    wish.rows = min(wish.rows or wish.n, wish.n)
    missing = [name for name in ("pykeops", "numpy") if importlib.util.find_spec(name) is None]
    if missing:
        raise Failure(f"{' and '.join(missing)} missing; install with: pip install pykeops numpy", 2)
    if not shutil.which(wish.flashdiffusion):
        raise Failure(f"no program {wish.flashdiffusion}; build it with `make`, or name it with --flashdiffusion PATH", 2)
    found = measure(wish, lambda text: print(text, file=sys.stderr, flush=True))
    if wish.json:
        print(json.dumps(found, indent=2))
    else:
        print_table(found)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        print(f"keops.py: {failure}", file=sys.stderr)
        sys.exit(failure.status)
    except KeyboardInterrupt:
        sys.exit(130)
