"""What a fit says its numbers are worth: pieces, noise, missing pairs, multiplicity; always an end, always the same answer."""
import json

import h5py
import numpy as np
import pytest


def clusters(seed, rows, count, apart, dimension=3):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, dimension))
    centres = apart * np.eye(count, dimension) if count <= dimension else apart * random.normal(size=(count, dimension))
    return x + centres[np.arange(rows) % count]


def dense(x, beta, aside=(), alpha=0.5):
    square = ((x[:, None, :] - x[None]) ** 2).sum(-1)
    kernel = np.exp(-beta * square)
    weight = kernel.sum(1) ** -alpha
    takes_part = np.setdiff1d(np.arange(len(x)), aside)  # rows set aside count in the mass only
    kernel, weight = kernel[np.ix_(takes_part, takes_part)], weight[takes_part]
    degree = weight * (kernel @ weight)
    scale = weight / np.sqrt(degree)
    return np.sort(np.linalg.eigvalsh(scale[:, None] * kernel * scale))[::-1][1:]


def fit(program, x, *options, status=0):
    np.save(program.folder / "x.npy", x)
    return json.loads(program("fit", "x.npy", *options, "--json", "--quiet", "-o", "m.h5", status=status).stdout)


# Tables on which the basis cannot grow to k, or half of the wanted eigenvalues are noise: an end, and one answer.
@pytest.mark.parametrize("name, k, status", [("five values", 50, 1), ("two clusters", 24, 0), ("three clusters", 75, 0),
                                             ("duplicates", 120, 0), ("17 rows", 16, 0)])
def test_an_end_and_one_answer(program, name, k, status):
    random = np.random.default_rng(0)
    half = random.normal(size=(100, 5))
    x = {"five values": random.integers(0, 5, (300, 1)).astype(float),
         "two clusters": clusters(1, 400, 2, 1e3),
         "three clusters": clusters(2, 300, 3, 1e4),
         "duplicates": np.concatenate([half, half]),
         "17 rows": random.normal(size=(17, 4))}[name]
    options = ["-k", str(k)] + (["--precision", "fp32,fp64"] if name == "17 rows" else [])
    answers = []
    for threads in ("1", "2", "2"):
        fit(program, x, *options, "--threads", threads, status=status)
        with h5py.File(program.folder / "m.h5") as m:
            assert np.isfinite(m["psi"][:]).all() and np.isfinite(m["residuals"][:]).all()
            values = dense(x, m.attrs["beta"], np.flatnonzero(m["d"][:] == 0))[: len(m["eigenvalues"])]
            assert (np.abs(m["eigenvalues"][:] - values) <= m["residuals"][:] + 4e-6).all()
            answers.append((m.attrs["beta"], m["psi"][:].tobytes(), m["eigenvalues"][:].tobytes()))
    assert answers[0] == answers[1] == answers[2]


def test_fewer_passes_than_pairs_need(program):
    x = np.random.default_rng(3).normal(size=(1000, 6))
    model = fit(program, x, "--beta", "0.5", "-k", "60", "--max-passes", "1", status=1)
    assert 0 < len(model["eigenvalues"]) == len(model["residuals"]) < 60
    assert model["outcome"].startswith(f"only {len(model['eigenvalues'])} of 60 modes were found")
    assert np.max(model["eigenvalues"]) <= 1 and not model["converged"]


def test_a_kernel_that_is_the_identity(program):
    x = np.random.default_rng(4).normal(size=(200, 3))
    model = fit(program, x, "--beta", "1e9", "-k", "3", status=1)
    assert "the rows fall apart" in model["outcome"] and not model["converged"]


def test_eigenvalues_below_the_tolerance(program):
    x = np.random.default_rng(5).integers(0, 5, (300, 1)).astype(float)
    model = fit(program, x, "--beta", "1", "-k", "10")
    assert "eigenvalues 5 to 10 are within the tolerance of zero" in model["outcome"]


# More copies of 1 than a block has vectors, beside values that are not quite 1.
@pytest.mark.parametrize("seed, status", [(7, 1), (8, 1), (20, 0)])  # 1: all 48 are copies, an arbitrary choice
def test_copies_beyond_the_block(program, seed, status):
    random = np.random.default_rng(seed)
    count, spread, apart = random.integers(40, 60), 10 ** random.uniform(1, 3), 10 ** random.uniform(3.2, 5)
    centres = random.normal(size=(count, 3)) * apart
    x = centres[np.r_[np.arange(count), random.integers(0, count, 97 - count)]] + random.normal(size=(97, 3)) * spread
    model = fit(program, x, "-k", "48", "--beta", "5.26e-6", status=status)
    assert np.abs(np.array(model["eigenvalues"]) - dense(x, 5.26e-6)[:48]).max() <= 2e-5


# The unit vectors have one eigenvalue, repeated: a right answer is not "at the floor", however many copies there are.
@pytest.mark.parametrize("k", [4, 16, 40])
def test_one_eigenvalue_repeated(program, k):
    model = fit(program, np.eye(128), "--beta", "0.5", "-k", str(k))
    assert model["converged"] and model["outcome"].startswith(f"all {k} residuals are below")


@pytest.mark.parametrize("rows", [3, 5, 12, 20])
def test_few_rows_have_a_bandwidth(program, rows):
    """Every mode of a small table lives on a few rows: that says nothing against it."""
    np.save(program.folder / "few.npy", np.random.default_rng(rows).normal(size=(rows, 3)))
    model = json.loads(program("fit", "few.npy", "-o", "m.h5", "--json").stdout)
    assert model["converged"] and model["aside"] == [] and model["eigenvalues"][0] > 0.01
