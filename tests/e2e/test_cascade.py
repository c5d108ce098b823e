"""--precision with a list: each level sweeps with its own wall and starts the next; the last one decides."""

import h5py
import numpy as np
import pytest

from conftest import torus

ROWS = 4800


def sweep(path):
    with h5py.File(path) as file:
        names = [name.decode() for name in file["sweep"]["precision"][:]]
        columns = {name: file["sweep"][name][:] for name in ("n", "beta", "perron_gap", "passes")}
        return names, columns, file.attrs["beta"], file["eigenvalues"][:], file["residuals"][:], file["psi"].dtype


@pytest.fixture
def table(program):
    np.save(program.folder / "points.npy", torus(ROWS))
    return program.folder / "points.npy"


@pytest.mark.parametrize("cascade,tolerance", [("bf16,fp32", 1e-5), ("tf32,fp32", 1e-5), ("fp32,fp64", 1e-9)])
def test_levels_follow_one_another_and_the_last_decides(program, table, cascade, tolerance):
    first, last = cascade.split(",")
    program("fit", "points.npy", "-k", 3, "--precision", cascade, "--tolerance", tolerance, "-o", "both.h5")
    program("fit", "points.npy", "-k", 3, "--precision", last, "--tolerance", tolerance, "-o", "alone.h5")
    names, columns, beta, values, residuals, kind = sweep(program.folder / "both.h5")
    _, alone, beta_alone, *_ = sweep(program.folder / "alone.h5")
    # the first level comes first and never touches all rows; the last ends on them
    change = names.index(last)
    assert set(names[:change]) == {first} and set(names[change:]) == {last} and change > 0
    assert np.all(columns["n"][:change] < ROWS) and columns["n"][-1] == ROWS
    assert beta == pytest.approx(beta_alone, rel=0.03)
    assert kind == (np.float64 if last == "fp64" else np.float32)
    assert np.all(residuals <= tolerance)
    # the first probe of the last level starts from the vectors of the level before; alone its first probe starts from nothing
    assert columns["passes"][change] < alone["passes"][0]
    # at the same bandwidth the last level alone says the same
    program("fit", "points.npy", "-k", 3, "--beta", repr(float(beta)), "--precision", last, "--tolerance", tolerance, "-o", "same.h5")
    values_same = sweep(program.folder / "same.h5")[3]
    np.testing.assert_allclose(values, values_same, rtol=1e-11 if last == "fp64" else 1e-6)


def test_the_wall_of_each_level_is_its_own(program, table):
    program("fit", "points.npy", "-k", 3, "--precision", "bf16,fp32", "-o", "m.h5", "--select", "paper", "--beta0-cap", "none")
    names, columns, *_ = sweep(program.folder / "m.h5")
    with h5py.File(program.folder / "m.h5") as file:
        resolved = np.array([text == b"resolved" for text in file["sweep"]["outcome"][:]])
    coarse = np.array([name == "bf16" for name in names])
    assert coarse.any() and not coarse.all()
    # ten times the arithmetic's eta: 8e-2 in bf16, far less in fp32, where the sweep goes on past it
    assert np.all(columns["perron_gap"][coarse & resolved] > 8e-2)
    assert columns["beta"][~coarse].max() > columns["beta"][coarse & resolved].max()
