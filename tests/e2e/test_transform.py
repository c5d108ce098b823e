"""transform: training points come back, new points follow the Nystroem formula, models without points are served."""

import h5py
import numpy as np
import pytest

from conftest import dense_map, torus


def fit(program, *more):
    program("fit", "points.npy", "--beta", 3, "-k", 6, "-o", "model.h5", "--quiet", *more)
    with h5py.File(program.folder / "model.h5") as file:
        return file["eigenvalues"][:], file["psi"][:].astype(float)


def test_training_points_come_back(program, points):
    values, psi = fit(program)
    program("transform", "model.h5", "points.npy", "-o", "c.npy")
    coordinates = np.load(program.folder / "c.npy")
    assert coordinates.shape == (400, 6)
    np.testing.assert_allclose(coordinates, values * psi, atol=1e-5)


@pytest.mark.parametrize("time", [1, 2, 0.5])
def test_new_points_follow_the_formula(program, points, time):
    values, psi = fit(program)
    fresh = torus(37, seed=9) * 1.1
    np.save(program.folder / "fresh.npy", fresh)
    program("transform", "model.h5", "fresh.npy", "--time", time, "-o", "c.npy")
    q, d, _, _ = dense_map(points, 3, k=6)
    kernel = np.exp(-3 * ((fresh[:, None] - points[None]) ** 2).sum(-1)) / np.sqrt(q)
    transition = kernel / kernel.sum(1, keepdims=True)
    wanted = values ** (time - 1) * (transition @ psi)
    # The error of P psi, 1e-5 as for the training points, is multiplied by lambda^(t-1).
    np.testing.assert_allclose(np.load(program.folder / "c.npy"), wanted, atol=1e-5 * max(1, values.min() ** (time - 1)))


def test_a_model_without_points_takes_them_from_a_file(program, points):
    fit(program)
    program("transform", "model.h5", "points.npy", "-o", "with.npy")
    fit(program, "--no-points")
    with h5py.File(program.folder / "model.h5") as file:
        assert "points" not in file
    program.refused("transform", "model.h5", "points.npy", "-o", "c.npy", words=["--no-points", "--points"])
    program("transform", "model.h5", "points.npy", "--points", "points.npy", "-o", "c.npy")
    np.testing.assert_allclose(np.load(program.folder / "c.npy"), np.load(program.folder / "with.npy"), atol=1e-6)
    np.save(program.folder / "short.npy", points[:-1])
    program.refused("transform", "model.h5", "points.npy", "--points", "short.npy", "-o", "d.npy", words=["399", "400", "short.npy"])


def test_text_output(program, points):
    fit(program)
    program("transform", "model.h5", "points.npy", "-o", "c.npy")
    program("transform", "model.h5", "points.npy", "-o", "c.csv")
    rows = [line for line in (program.folder / "c.csv").read_text().splitlines() if line[0] in "-0123456789"]
    written = np.array([[float(cell) for cell in line.split(",")] for line in rows])
    np.testing.assert_allclose(written, np.load(program.folder / "c.npy"), rtol=1e-6)


def test_another_dimension_is_refused(program, points):
    fit(program)
    np.save(program.folder / "wide.npy", np.zeros((5, 7)))
    program.refused("transform", "model.h5", "wide.npy", "-o", "c.npy", words=["7", "4", "wide.npy"])


def test_broken_models_are_refused(program, points):
    fit(program)
    content = (program.folder / "model.h5").read_bytes()
    (program.folder / "half.h5").write_bytes(content[: len(content) // 2])
    for verb in [("transform", "half.h5", "points.npy", "-o", "c.npy"), ("info", "half.h5")]:
        program.refused(*verb, words=["half.h5"])
    (program.folder / "newer.h5").write_bytes(content)
    with h5py.File(program.folder / "newer.h5", "a") as file:
        file.attrs["format_version"] = file.attrs["format_version"] + 1
    for verb in [("transform", "newer.h5", "points.npy", "-o", "c.npy"), ("info", "newer.h5")]:
        program.refused(*verb, words=["newer.h5", "newer", "update"])
    program.refused("transform", "points.npy", "points.npy", "-o", "c.npy", words=["points.npy"])
    program.refused("transform", "missing.h5", "points.npy", "-o", "c.npy", status=3, words=["missing.h5"])


def test_bad_options_are_refused(program, points):
    fit(program)
    program.refused("transform", "model.h5", "points.npy", words=["-o"])
    program.refused("transform", "model.h5", "points.npy", "-o", "c.npy", "--time", "nan", words=["--time"])
    program.refused("transform", "model.h5", "points.npy", "-o", "points.npy", words=["replace", "points.npy"])
    bad = torus(10)
    bad[4, 2] = np.nan
    np.save(program.folder / "bad.npy", bad)
    program.refused("transform", "model.h5", "bad.npy", "-o", "c.npy", words=["not finite", "row 5", "column 3"])
