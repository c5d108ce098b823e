"""support: what a graph of nearest neighbours keeps of the kernel, against numpy."""

import json

import numpy as np
import pytest


def plain(x, beta, ks, taus):
    kernel = np.exp(-beta * ((x[:, None] - x[None]) ** 2).sum(-1))
    ordered = -np.sort(-kernel, axis=1)
    return [(ordered[:, :k].sum(1) / kernel.sum(1)).mean() for k in ks], [(kernel >= tau).sum(1).mean() for tau in taus]


def test_figures_are_those_of_the_kernel(program, points):
    found = json.loads(program("support", "points.npy", "--beta", 5, "--rows", "all", "--json").stdout)
    ks = [15, 32, 64, 128, 256, 512, 1024]
    assert [mass["k"] for mass in found["masses"]] == ks and found["rows"] == found["n"] == 400
    shares, counts = plain(points, 5, ks, [1e-7, 1e-15])
    np.testing.assert_allclose([mass["retained"]["mean"] for mass in found["masses"]], shares, rtol=1e-12)
    np.testing.assert_allclose([count["k_star"]["mean"] for count in found["support"]], counts, rtol=1e-12)
    np.testing.assert_allclose([count["rho"] for count in found["support"]], np.array(counts) / 400, rtol=1e-12)
    c2 = found["c2"]
    off = lambda c: sum((s - 1 + np.exp(-c * k)) ** 2 for s, k in zip(shares, ks))
    assert off(c2) <= min(off(0.99 * c2), off(1.01 * c2))


def test_a_sample_is_near_the_whole_and_the_same_for_any_threads(program, points):
    arguments = ["support", "points.npy", "--sigma", 0.3, "--neighbours", "10,40", "--tau", "1e-3", "--rows", 100]
    text = program(*arguments, "--threads", 1).stdout
    assert text == program(*arguments, "--threads", 2).stdout
    found = json.loads(program(*arguments, "--json").stdout)
    assert found["beta"] == pytest.approx(1 / (2 * 0.3**2)) and found["rows"] == 100
    shares, counts = plain(points, found["beta"], [10, 40], [1e-3])
    for mass, share in zip(found["masses"], shares):
        assert abs(mass["retained"]["mean"] - share) < 4 * mass["retained"]["error"]
    assert "k*" in text and "rho" in text and "c2" in text


def test_of_one_row_no_error_is_known(program, points):
    assert "nan" not in program("support", "points.npy", "--beta", 1, "--rows", 1).stdout


def test_bad_input_is_refused(program, points):
    program.refused("support", "points.npy", words=["--beta"])
    program.refused("support", "points.npy", "--beta", -1, words=["--beta -1"])
    program.refused("support", "points.npy", "--beta", 1, "--tau", 2, words=["tau"])
    program.refused("support", "points.npy", "--beta", 1, "--rows", "some", words=["--rows", "all"])
    program.refused("support", "points.npy", "--beta", 1, "--neighbours", 2**63, words=["neighbours", "65536"])
    wrong = program.refused("support", "points.npy", "--beta", 1, "--neighbours", "0", words=["--neighbours", "one or more"])
    assert len(wrong.stderr) < 300  # not the range of a double in digits
    assert "leave" not in program.refused("support", "points.npy", "--beta", 0, words=["--beta 0", "fit chooses one"]).stderr
    bad = points.copy()
    bad[6, 1] = np.nan
    np.save(program.folder / "bad.npy", bad)
    program.refused("support", "bad.npy", "--beta", 1, words=["NaN", "row 7, column 2"])
