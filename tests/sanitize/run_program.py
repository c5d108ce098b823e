"""Runs a program that was built with sanitizers from file to file on small tables of many kinds: estimate, fit with the flow on, info,
transform; and every other verb once. What the numbers are worth is judged elsewhere; here every run must end by itself, with a status the help names, and
without a report.

    python3 tests/sanitize/run_program.py PROGRAM [--short]

--short: a third of the tables and the verbs that take no time, for the tests; all of them otherwise.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py
import numpy as np

rng = np.random.default_rng(11)


def clusters(n, d, apart):
    return rng.normal(size=(n, d)) + apart * rng.integers(0, 3, size=(n, 1))


def one_hot(n, d):
    return np.eye(d)[rng.integers(0, d, size=n)]


def outlier(n, d):
    x = rng.normal(size=(n, d))
    x[0, 0] = 1e6
    return x


# name, points, more options of fit. Small: a sanitizer is slow, and most of its time goes into starting the program.
tables = [
    ("normal", rng.normal(size=(150, 3)), ["-k", "4"]),
    ("line", rng.random(size=(97, 1)), ["-k", "5", "--precision", "bf16,fp32"]),
    ("clusters", clusters(90, 3, 1e3), ["-k", "24"]),
    ("one_hot", one_hot(120, 6), ["-k", "8"]),
    ("duplicates", np.repeat(rng.normal(size=(5, 2)), 30, axis=0), ["-k", "50"]),
    ("outlier", outlier(80, 4), ["-k", "3", "--trim", "auto"]),
    ("few", rng.normal(size=(5, 2)), ["-k", "3"]),
    ("wide", rng.normal(size=(40, 300)), ["-k", "4", "--precision", "tf32"]),
    ("ladder", rng.normal(size=(2300, 2)), ["-k", "3"]),
    ("double", rng.normal(size=(60, 3)), ["-k", "6", "--precision", "fp64", "--select", "paper"]),
    ("fixed", rng.normal(size=(60, 3)), ["-k", "59", "--beta", "0.5"]),
    ("continued", rng.normal(size=(100, 2)), ["-k", "3", "--select", "continuation", "--no-points"]),
    ("stopped", rng.normal(size=(200, 5)), ["-k", "20", "--beta", "2", "--max-passes", "2"]),
    ("ranks", rng.normal(size=(131, 4)), ["-k", "4", "--ranks", "3", "--rows-a-rank", "1"]),
    ("ranks_low", rng.normal(size=(97, 3)), ["-k", "3", "--ranks", "2", "--rows-a-rank", "1", "--precision", "bf16,fp32", "--trim", "0"]),
    ("constant", np.ones((20, 3)), ["-k", "2"]),
    ("nan", np.full((20, 3), np.nan), ["-k", "2"]),
]


def write(folder, name, x):
    """Every format in turn."""
    kind = ["npy", "csv", "npz", "h5"][[t[0] for t in tables].index(name) % 4]
    path = f"{folder}/{name}.{kind}"
    if kind == "npy":
        np.save(path, x.astype(np.float32))
    elif kind == "csv":
        np.savetxt(path, x, delimiter=",")
    elif kind == "npz":
        np.savez_compressed(path, x=x)
    else:
        with h5py.File(path, "w") as file:
            file.create_dataset("x", data=x)
    return path


def run(program, *arguments, **keywords):
    result = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=600, **keywords)
    command = " ".join(map(str, arguments))
    if result.returncode not in (0, 1, 2, 3) or any(w in result.stderr for w in ("Sanitizer", "runtime error:", "Assertion")):
        return f"== {command}: status {result.returncode}\n{result.stderr[-6000:]}"
    return None


def whole(program, folder, name, x, options):
    points = write(folder, name, x)
    model, out = f"{folder}/{name}-model.h5", f"{folder}/{name}-out.csv"
    report = run(program, "fit", points, "-o", model, "--quiet", "--threads", "3", *options)
    if report is None and Path(model).exists():
        fitted = ["--points", points] if "--no-points" in options else []
        report = run(program, "info", model, "--json") or run(program, "transform", model, points, "-o", out, "--time", "2", *fitted)
        report = report or run(program, "report", model, "-o", f"{folder}/{name}.html", "--color", points)
    return report or run(program, "info", points) or run(program, "estimate", points, "-k", "3")


def other_verbs(program, folder, short):
    quick = [["--version"], ["--help"], ["fit", "--help"], ["completions", "bash"], ["completions", "zsh"], ["completions", "fish"], ["fti"], []]
    slow = [["selftest"], ["demo", "--output", folder, "--quiet"], ["estimate", "5000", "8"]]
    reports = [run(program, *words) for words in quick + ([] if short else slow)]
    text = "".join(f"{a},{b}\n" for a, b in tables[0][1][:, :2])
    reports.append(run(program, "fit", "-", "-k", "2", "-o", f"{folder}/piped.h5", input=text))
    return "".join(filter(None, reports)) or None


def main():
    program = str(Path(sys.argv[1]).resolve())
    os.environ.setdefault("ASAN_OPTIONS", "detect_stack_use_after_return=1")
    os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    os.environ.setdefault("TSAN_OPTIONS", "halt_on_error=1")
    short = "--short" in sys.argv
    chosen = tables[::3] + [t for t in tables if t[0] in ("ladder", "ranks")] if short else tables
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        verbs = pool.submit(other_verbs, program, folder, short)
        reports = [*pool.map(lambda table: whole(program, folder, *table), chosen), verbs.result()]
    for report in filter(None, reports):
        print(report)
    print(f"{len(chosen)} tables and the other verbs, {sum(r is not None for r in reports)} with a report")
    return 1 if any(reports) else 0


sys.exit(main())
