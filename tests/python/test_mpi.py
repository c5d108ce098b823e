"""Fits over the processes of an MPI job, by mpi4py."""

import shutil
import subprocess
import sys

import pytest

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
if shutil.which("mpirun") is None:
    pytest.skip("no mpirun (openmpi-bin)", allow_module_level=True)

START = """
import sys
import numpy as np
from mpi4py import MPI
from flashdiffusion import DiffusionMap
comm = MPI.COMM_WORLD
x = np.random.default_rng(3).standard_normal((7000, 3)).astype(np.float32)
mine = x if comm.rank == 0 else None
"""


def on_ranks(ranks, script, status=0):
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks), sys.executable, "-c", START + script]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (result.returncode == 0) == (status == 0), result.stdout + result.stderr
    return result.stdout + result.stderr


def test_ranks_agree_with_one_and_rank_zero_has_the_map():
    said = on_ranks(
        3,
        """
model = DiffusionMap(4, beta=0.5, n_jobs=1).fit(mine, comm=comm)
if comm.rank == 0:
    alone = DiffusionMap(4, beta=0.5, n_jobs=1).fit(x)
    assert np.allclose(model.eigenvalues_, alone.eigenvalues_, atol=1e-6, rtol=0), (model.eigenvalues_, alone.eigenvalues_)
    assert model.n_passes_ == alone.n_passes_ and model.psi_.shape == (7000, 4)
    again = DiffusionMap(4, beta=0.5, n_jobs=2).fit(mine, comm=comm)
    assert np.array_equal(again.psi_, model.psi_)
else:
    assert not hasattr(model, "psi_")
    DiffusionMap(4).fit(None, comm=comm)
print("rank", comm.rank, "done")
""",
    )
    assert all(f"rank {rank} done" in said for rank in range(3)), said


def test_one_rank_gives_the_bits_of_none():
    on_ranks(
        1,
        """
shared, alone = DiffusionMap(3, beta=0.5).fit(x, comm=comm), DiffusionMap(3, beta=0.5).fit(x)
assert np.array_equal(shared.psi_, alone.psi_) and np.array_equal(shared.eigenvalues_, alone.eigenvalues_)
""",
    )


def test_ranks_of_a_part_of_the_job():
    said = on_ranks(
        3,
        """
pair = comm.Split(color=0 if comm.rank < 2 else 1)
model = DiffusionMap(3, beta=0.5).fit(x if pair.rank == 0 else None, comm=pair)
print("fitted" if pair.rank == 0 and len(model.psi_) == 7000 else "served")
""",
    )
    assert said.count("fitted") == 2 and said.count("served") == 1, said


@pytest.mark.parametrize(
    "wrong, error, words",
    [
        ("x[6999, 1] = np.nan", "ValueError", "row 7000"),  # found by the fit, in the last rank's rows
        ("mine = x[:2] if comm.rank == 0 else None", "ValueError", "at least 3"),  # before it
    ],
)
def test_what_goes_wrong_is_raised_on_all(wrong, error, words):
    said = on_ranks(
        3,
        f"""
{wrong}
try:
    DiffusionMap(3, beta=0.5).fit(mine, comm=comm)
except {error} as error:
    assert {words!r} in str(error), error
    print("raised on", comm.rank)
""",
    )
    assert all(f"raised on {rank}" in said for rank in range(3)), said


def test_an_exception_of_the_callback_ends_all():
    said = on_ranks(
        2,
        """
class Enough(Exception):
    pass
def callback(record):
    if record["pass"] > 1:
        raise Enough
try:
    DiffusionMap(8, beta=0.5, tolerance=1e-12, precision="fp64", callback=callback).fit(mine, comm=comm)
except (Enough, KeyboardInterrupt) as error:
    print("rank", comm.rank, type(error).__name__)
""",
    )
    assert "rank 0 Enough" in said and "rank 1 KeyboardInterrupt" in said, said


def test_anything_else_than_a_communicator_is_refused():
    assert "is not an intracommunicator" in on_ranks(1, "DiffusionMap(3).fit(x, comm=3)", status=1)
