#!/usr/bin/env python3
"""Is an interrupted fit, gone on with, the fit that was never interrupted? Kills fits with a checkpoint at random moments (SIGKILL, and now and then
SIGTERM or SIGUSR1), repeats the command, as often as it takes, and compares every number of the model with that of a fit left alone.

    tests/crash/kill_and_resume.py build/flashdiffusion                 # 60 kills
    tests/crash/kill_and_resume.py build/flashdiffusion --kills 6       # as the tests do
    tests/crash/kill_and_resume.py build/flashdiffusion --ranks 3       # ranks as threads
    tests/crash/kill_and_resume.py build/flashdiffusion --mpi 2         # as processes of mpirun, all of which are killed

Exit status: 0 the same bits every time, 1 not.
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

TIMES = {"seconds", "forecast_seconds", "least_seconds", "peak_rss_bytes"}


def torus(rows):
    angles = np.random.default_rng(1).random((rows, 6)) * 2 * np.pi
    radii = np.array([1, 1.08, 1.17, 1.27, 1.38, 1.5])
    return np.concatenate([radii * np.cos(angles), radii * np.sin(angles)], axis=1)


def heavy_tail(rows):
    """A sheet with a tail and a small group: rows are set aside, groups kept, searches repeated."""
    draw = np.random.default_rng(2)
    points = draw.standard_normal((rows, 8)) * ([3] + 7 * [1]) + 0.3 * draw.standard_t(2, (rows, 8))
    points[:12] += 40
    return points


CASES = {
    "torus, flow and ladder": (torus, 6000, ["-k", "6"]),
    "torus, one bandwidth, many restarts": (torus, 4500, ["-k", "24", "--beta", "0.5", "--block", "8", "--basis", "56"]),
    "heavy tail, rows set aside": (heavy_tail, 2500, ["-k", "6"]),
    "heavy tail, cascade": (heavy_tail, 1500, ["-k", "4", "--precision", "tf32,fp32,fp64"]),
    "heavy tail, localised modes dropped": (heavy_tail, 1200, ["-k", "5", "--trim", "0", "--drop-localised"]),
}


def numbers(path):
    found = {}
    with h5py.File(path) as file:
        for name, value in file.attrs.items():
            if name not in TIMES:
                found["@" + name] = value
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return {name: value for name, value in found.items() if name not in ("provenance", "sweep/seconds")}


def differences(one, other):
    names = sorted(set(one) ^ set(other))
    for name in set(one) & set(other):
        a, b = np.asarray(one[name]), np.asarray(other[name])
        if a.dtype != b.dtype or a.shape != b.shape or a.tobytes() != b.tobytes():
            names.append(name)
    return names


def with_descendants(pid):
    """The process and all that it started, as far as they are there."""
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in task.read_text().split():
                found += with_descendants(int(child))
        except OSError:
            pass
    return found


def run(command, kill_after=None, how=signal.SIGKILL):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    killed = False
    if kill_after is not None:
        try:
            process.wait(kill_after)
        except subprocess.TimeoutExpired:
            # a launcher passes on what can be caught
            for pid in with_descendants(process.pid) if how == signal.SIGKILL else [process.pid]:
                try:
                    os.kill(pid, how)
                except ProcessLookupError:
                    pass
            killed = True
    said = process.communicate()[1]
    return process.returncode, said, killed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--mpi", type=int, default=0)
    wishes = parser.parse_args()
    launcher = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(wishes.mpi)] if wishes.mpi else []
    program = [*launcher, wishes.program, "fit", "--ranks", str(wishes.ranks), "--rows-a-rank", "200"]
    draw = random.Random(wishes.seed)
    done = failures = resumed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        cases = []
        for number, (name, (make, rows, options)) in enumerate(CASES.items()):
            points, model = folder / f"{number}.npy", folder / f"{number}.h5"
            np.save(points, make(rows).astype(np.float32))
            started = time.monotonic()
            status, said, _ = run([*program, points, "-o", model, "--quiet", "--no-checkpoint", *options])
            if status not in (0, 1):
                sys.exit(f"{name}: status {status}: {said}")
            cases.append((name, points, options, numbers(model), time.monotonic() - started))
        while done < wishes.kills:
            name, points, options, alone, seconds = draw.choice(cases)
            model, state = folder / "killed.h5", folder / "state"
            command = [*program, points, "-o", model, "--quiet", "--checkpoint", state, *options]
            trail = []
            while True:
                every = draw.choice(["0", "0", "0.05"])
                threads = str(draw.choice([1, 2, 3]))
                how = draw.choice([signal.SIGKILL] * 4 + [signal.SIGTERM, signal.SIGUSR1])
                after = draw.random() * 1.2 * seconds if done < wishes.kills else None
                status, said, killed = run([*command, "--checkpoint-every", every, "--threads", threads], after, how)
                # below zero: also before the program has begun to catch signals; a launcher has a status of its own then
                if status < 0 or status == 130 or (killed and launcher and not model.exists()):
                    done += 1
                    resumed += state.exists()
                    trail.append(f"{how.name} after {after:.3f} s, {'state' if state.exists() else 'no state'}")
                    if model.exists():
                        trail.append("and yet there is a model")
                        failures += 1
                    continue
                break
            wrong = differences(alone, numbers(model)) if status in (0, 1) else [f"status {status}: {said}"]
            left = [file.name for file in folder.iterdir() if not file.name[0].isdigit() and file != model
                    and not (file.name.startswith(".") or ".tmp" in file.name)]
            if wrong or left:
                failures += 1
                print(f"{name}: {trail}: differs in {wrong}, left behind {left}")
                state.unlink(missing_ok=True)
            model.unlink(missing_ok=True)
    print(f"{done} kills, {resumed} with a state to go on from: {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
