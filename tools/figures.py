#!/usr/bin/env python3
"""Measures the figures of docs/figures.md again and writes them there: needs NumPy and h5py, and the programs that `make build` leaves.

    tools/figures.py [SECTION...] [--build build] [--sizes 10-16] [--list]

Without names all sections are measured, some minutes on two cores. A section that is not named stays as it stands, with the machine it was measured on.
"Processor time" is that of all threads together: on a machine that others use too it says more than the clock, which stands beside it.
"""

import argparse
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "figures.md"
GPU_SECONDS = {10: 6.0, 11: 5.9, 12: 5.8, 13: 6.0, 14: 6.4, 15: 11.6, 16: 16.0, 17: 61.6, 18: 147.9, 20: 2225}  # the method's paper, one RTX PRO 6000


class Machine:
    """Runs the programs in a folder of its own, and knows where it is."""

    def __init__(self, build, folder):
        self.program, self.bench, self.folder = build / "flashdiffusion", build / "flashdiffusion-bench", Path(folder)

    def __call__(self, *command, program=None):
        """What it printed, its processor time and its time by the clock."""
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run([program or self.program, *map(str, command)], cwd=self.folder, capture_output=True, text=True, timeout=7200)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start

    def text(self):
        model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
        version = self("--version")[0]
        isa = re.search(r"instruction set in use (\S+)", version)
        commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
        return f"{len(os.sched_getaffinity(0))} cores of {model}{', ' + isa.group(1) if isa else ''}; load {os.getloadavg()[0]:.0f}; after commit {commit}"

    def figures_of(self, model):
        return json.loads(self("info", model, "--json")[0])


def torus(exponent):
    """T^6 of the method's paper: radii 1 to 1.5, 12 columns padded to 32."""
    angle = 2 * np.pi * np.random.default_rng(exponent).random((2**exponent, 6))
    x = np.zeros((2**exponent, 32), dtype=np.float32)
    x[:, 0:12:2], x[:, 1:12:2] = np.linspace(1, 1.5, 6) * np.cos(angle), np.linspace(1, 1.5, 6) * np.sin(angle)
    return x


def table(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


# ---- sections: title, what is said before the figures, and a function that makes them


def fits(machine, sizes):
    rows = []
    for exponent in sizes:
        np.save(machine.folder / "t6.npy", torus(exponent))
        _, processor, clock = machine("fit", "t6.npy", "-k", 3, "-o", "m.h5", "--quiet")
        info = machine.figures_of("m.h5")
        rows.append([f"2^{exponent}", f"{info['beta']:.3f}", info["full_passes"], f"{processor:.2f}", f"{clock:.2f}", f"{info['peak_rss_bytes'] / 1e6:.0f}", GPU_SECONDS.get(exponent, "")])
    return table(["N", "β", "sweeps over all N² pairs", "s of processor time", "s by the clock", "MB at the peak", "s on the paper's GPU"], rows)


def ladder(machine, sizes):
    exponent, rows = min(15, max(sizes)), []
    np.save(machine.folder / "t6.npy", torus(exponent))
    for option in ("--ladder", "--no-ladder"):
        _, processor, _ = machine("fit", "t6.npy", "-k", 3, "-o", "m.h5", "--quiet", option)
        info = machine.figures_of("m.h5")
        rows.append([f"`{option}`", f"{info['beta']:.4f}", info["passes"], info["full_passes"], f"{processor:.2f}"])
    return f"N = 2^{exponent}:\n\n" + table(["", "β", "sweeps", "over all rows", "s of processor time"], rows)


def residuals(machine, sizes):
    exponent = min(12, max(sizes))
    np.save(machine.folder / "t6.npy", torus(exponent))
    rows = []
    for precision in ("fp32", "fp64", "tf32,fp32"):
        machine("fit", "t6.npy", "-k", 3, "-o", "m.h5", "--quiet", "--precision", precision)
        with h5py.File(machine.folder / "m.h5") as model:
            x, beta, alpha = model["points"][:].astype(float), model.attrs["beta"], model.attrs["alpha"]
            values, psi, reported = model["eigenvalues"][:], model["psi"][:].astype(float), model["residuals"][:]
        square = (x * x).sum(1)
        kernel = np.exp(-beta * np.maximum(square[:, None] + square - 2 * x @ x.T, 0))
        np.fill_diagonal(kernel, 1)
        q = kernel.sum(1)
        kernel /= np.outer(q**alpha, q**alpha)
        d = kernel.sum(1)
        kernel /= np.sqrt(np.outer(d, d))
        v = np.sqrt(d)[:, None] * psi
        v /= np.linalg.norm(v, axis=0)
        dense = np.linalg.eigvalsh(kernel)[::-1][1 : len(values) + 1]
        true = np.linalg.norm(kernel @ v - v * values, axis=0)
        rows.append([precision, *(f"{t:.1e} / {r:.1e}" for t, r in zip(true, reported)), f"{np.abs(dense - values).max():.0e}"])
    return f"N = 2^{exponent}; true / reported:\n\n" + table(["precision", "mode 1", "mode 2", "mode 3", "largest error of an eigenvalue"], rows)


def report(machine, sizes):
    rows = []
    for n in (10_000, 100_000):
        rng = np.random.default_rng(n)
        angle, height = 4.5 * np.pi * np.sqrt(0.05 + 0.95 * rng.random(n)), 20 * rng.random(n)
        np.save(machine.folder / "roll.npy", np.stack([angle * np.cos(angle), angle * np.sin(angle), height], axis=1).astype(np.float32))
        machine("fit", "roll.npy", "--beta", 0.1, "-k", 16, "--max-passes", 6, "--tolerance", 0.5, "-o", "m.h5", "--quiet")
        _, processor, clock = machine("report", "m.h5", "-o", "m.html")
        rows.append([f"{n:,}", f"{processor:.2f}", f"{clock:.2f}", f"{(machine.folder / 'm.html').stat().st_size / 1e6:.1f}"])
    return table(["rows", "s of processor time", "s by the clock", "MB of the page"], rows)


def bench(*command):
    def run(machine, sizes):
        return "```\n$ flashdiffusion-bench " + " ".join(command) + "\n" + machine(*command, program=machine.bench)[0].rstrip() + "\n```"

    return run


SECTIONS = {
    "fits": ("Whole fits", "The torus T⁶ of the method's paper, radii 1 to 1.5, padded to 32 columns: `fit t6.npy -k 3 -o m.h5`, from file to model, the bandwidth chosen by the data. Beside it the time the paper gives for one RTX PRO 6000 GPU.", fits),
    "ladder": ("What the ladder of sub-samples saves", "The same points, with sub-samples first and without.", ladder),
    "residuals": ("Residuals and eigenvalues", "Recomputed with numpy from the dense fp64 matrix of the model's own points. What is reported bounds what is true, with a stated confidence where low-precision products took part.", residuals),
    "accuracy": ("Rows of the kernel product", "The largest error of a row of K W against sums in long double, near the origin and far from it.", bench("accuracy", "--n", "16384")),
    "product": ("The kernel product", "Time a pair of points, over what the machine's multiply-adds and exponentials need, and beside OpenBLAS in symmetric blocks.", bench("xgemm", "--dimension", "12,32,80", "--block", "1,8", "--threads", "1", "--n", "16384")),
    "solver": ("The eigensolver", "Passes over the kernel and seconds, beside ARPACK on the same operator where it is built in.", bench("solver")),
    "report": ("The report", "`report m.h5 -o m.html`, 16 modes. (The modes of these fits are not converged: what they hold does not matter here.)", report),
}


def kept_sections():
    """Sections of the document as it stands, by name, and what follows them."""
    text = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else ""
    found = dict(re.findall(r"<!-- (\w+) -->\n(.*?)(?=<!-- )", text, re.S))
    earlier = re.search(r"<!-- end -->\n(.*)", text, re.S)
    return found, earlier.group(1) if earlier else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; without any, all")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--sizes", default="10-16", help="exponents of two, from-to")
    parser.add_argument("--list", action="store_true", help="names the sections")
    arguments = parser.parse_args()
    if arguments.list:
        return print("\n".join(SECTIONS))
    if unknown := set(arguments.sections) - set(SECTIONS):
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    first, _, last = arguments.sizes.partition("-")
    sizes = range(int(first), int(last or first) + 1)
    sections, earlier = kept_sections()
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(arguments.build.resolve(), folder)
        for name in arguments.sections or SECTIONS:
            title, intro, measure = SECTIONS[name]
            print(name, file=sys.stderr)
            where = machine.text()
            sections[name] = f"## {title}\n\n{intro}\n\n{measure(machine, sizes)}\n\n*{where}*\n\n"
    head = "# Figures\n\nMeasured by `tools/figures.py`, which writes this page; `tools/figures.py NAME` measures one section again. Under each stands where it was measured. Comparisons with other packages: [bench/README.md](../bench/README.md).\n\n"
    body = "".join(f"<!-- {name} -->\n{sections[name]}" for name in SECTIONS if name in sections)
    DOCUMENT.write_text(head + body + "<!-- end -->\n" + earlier, encoding="utf-8")


main()
