"""Fits by several ranks: threads of the program, and processes of an MPI job."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import PROGRAM, torus

KILL_AND_RESUME = Path(__file__).parents[1] / "crash" / "kill_and_resume.py"
LIBRARY = [folder / "libflashdiffusion-mpi.so" for folder in (Path(PROGRAM).resolve().parent, Path(PROGRAM).resolve().parent.parent)]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]

with_mpi = pytest.mark.skipif(
    shutil.which("mpirun") is None or not any(path.exists() for path in LIBRARY), reason="no MPI (libopenmpi-dev, openmpi-bin)"
)


def on_ranks(program, ranks, *arguments, status=0):
    result = subprocess.run(
        [*MPIRUN, "-np", str(ranks), PROGRAM, *map(str, arguments)], cwd=program.folder, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == status, result.stdout + result.stderr
    return result


def arrays(path):
    with h5py.File(path) as file:
        return {name: file[name][()] for name in ("eigenvalues", "psi", "q", "d", "residuals")} | {"beta": file.attrs["beta"]}


def same(one, other):
    return all(np.array_equal(one[name], other[name]) for name in one)


@with_mpi
def test_processes_give_the_bits_of_threads_and_one_rank_those_of_none(program):
    np.save(program.folder / "x.npy", torus(1500))
    fit = ["fit", "x.npy", "-k", 4, "--rows-a-rank", 100, "--quiet", "-o"]
    program(*fit, "alone.h5")
    alone = arrays(program.folder / "alone.h5")
    on_ranks(program, 1, *fit, "one.h5")
    assert same(arrays(program.folder / "one.h5"), alone)
    for ranks in (2, 3):
        program(*fit, "threads.h5", "--ranks", ranks)
        on_ranks(program, ranks, *fit, "processes.h5")
        threads = arrays(program.folder / "threads.h5")
        assert same(arrays(program.folder / "processes.h5"), threads)
        assert np.allclose(threads["eigenvalues"], alone["eigenvalues"], atol=1e-6, rtol=0)
        assert abs(threads["beta"] / alone["beta"] - 1) < 1e-6


@with_mpi
def test_visitors_in_parts_give_the_bits_of_threads(program):
    np.save(program.folder / "x.npy", torus(16600))  # two ranks of two parts each
    fit = ["fit", "x.npy", "-k", 3, "--beta", 1, "--quiet", "-o"]
    program(*fit, "threads.h5", "--ranks", 2)
    on_ranks(program, 2, *fit, "processes.h5")
    assert same(arrays(program.folder / "processes.h5"), arrays(program.folder / "threads.h5"))


@with_mpi
def test_errors_are_said_once_and_end_all_ranks(program):
    np.save(program.folder / "x.npy", torus(300))
    bad = torus(300)
    bad[299, 1] = np.nan
    np.save(program.folder / "bad.npy", bad)
    for arguments, status, words in [
        (["fit", "missing.npy", "-o", "m.h5"], 3, "cannot read missing.npy"),
        (["fit", "bad.npy", "-o", "m.h5", "--rows-a-rank", 10], 2, "row 300"),
        (["fit", "x.npy", "-o", "m.h5", "-k", 0], 2, "modes"),
    ]:
        result = on_ranks(program, 3, *arguments, status=status)
        assert result.stderr.count("flashdiffusion: ") == 1 and words in result.stderr, result.stderr
    assert [name for name, _ in program.files()] == ["bad.npy", "x.npy"]


@with_mpi
def test_other_verbs_speak_once(program):
    assert on_ranks(program, 3, "--version").stdout.count("flashdiffusion ") == 1


# a tolerance that is never reached
ENDLESS = ["fit", "x.npy", "--beta", "0.5", "-k", "24", "--precision", "fp64", "--tolerance", "1e-16", "--max-passes", "5000"]


def children(pid):
    return [int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in task.read_text().split()]


@with_mpi
@pytest.mark.parametrize("victim", [0, 1])
def test_a_rank_that_is_killed_ends_all(program, victim):
    np.save(program.folder / "x.npy", torus(30000))
    process = subprocess.Popen(
        [*MPIRUN, "-np", "2", PROGRAM, *ENDLESS, "-o", "m.h5"], cwd=program.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(3)
    ranks = [pid for pid in children(process.pid) if "flashdiffusion" in Path(f"/proc/{pid}/cmdline").read_text()]
    assert len(ranks) == 2
    os.kill(sorted(ranks)[victim], signal.SIGKILL)
    started = time.monotonic()
    process.communicate(timeout=30)
    assert process.returncode != 0 and time.monotonic() - started < 10
    assert [name for name, _ in program.files()] == ["x.npy"]


@with_mpi
def test_a_stop_keeps_what_was_found(program):
    np.save(program.folder / "x.npy", torus(16000))
    fit = [*ENDLESS, "--checkpoint", "state", "--checkpoint-every", "0", "-o", "m.h5"]
    process = subprocess.Popen([*MPIRUN, "-np", "2", PROGRAM, *fit], cwd=program.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (program.folder / "state").exists():
        assert process.poll() is None, "the fit was over before it was stopped"
        time.sleep(0.02)
    process.send_signal(signal.SIGUSR1)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130 and "state holds what was found so far" in said, said
    assert [name for name, _ in program.files()] == ["state", "x.npy"]


@pytest.mark.parametrize("ranks", [["--ranks", "3"], pytest.param(["--mpi", "2"], marks=with_mpi)])
def test_killed_and_gone_on_with(ranks):
    result = subprocess.run([sys.executable, KILL_AND_RESUME, PROGRAM, "--kills", "4", *ranks], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_cluster_is_forecast(program):
    text = program("estimate", 4000000, 32, "-k", 8, "--ranks", 16, "--link", 12.5).stdout
    assert "16 machines like this one, 12.5 GB/s apart" in text
    program.refused("fit", "x.npy", "--ranks", 0, "-o", "m.h5", words=["ranks"])
