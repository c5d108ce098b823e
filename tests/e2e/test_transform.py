"""transform: training points come back, new points follow the Nystroem formula, models without points are served."""

import json

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


def test_columns_in_another_order_are_refused(program, points):
    def table(name, columns, order):
        np.savetxt(program.folder / name, points[:50][:, order], delimiter=",", header=columns, comments="")

    table("x.csv", "a,b,c,d", [0, 1, 2, 3])
    table("swapped.csv", "b,a,c,d", [1, 0, 2, 3])
    table("other.csv", "a,b,c,e", [0, 1, 2, 3])
    table("capital.csv", "A,b,c,d", [0, 1, 2, 3])
    np.savetxt(program.folder / "bare.csv", points[:50], delimiter=",")
    program("fit", "x.csv", "--beta", 3, "-k", 3, "-o", "model.h5")
    with h5py.File(program.folder / "model.h5") as file:
        assert json.loads(file["provenance"][()])["feature_names"] == list("abcd")  # where the Python package looks
    program("report", "model.h5", "-o", "page.html")
    assert "feature_names" not in (program.folder / "page.html").read_text()
    program.refused("fit", "x.csv", "swapped.csv", "--beta", 3, "-o", "m.h5", words=["another order", "swapped.csv"])
    program.refused("transform", "model.h5", "swapped.csv", "-o", "c.csv", words=["another order", "model.h5", '"b"'])
    for first in ("capital.csv", "bare.csv"):  # whatever stands above, the file that is wrong is named
        program.refused("transform", "model.h5", first, "swapped.csv", "-o", "c.csv", words=["swapped.csv has columns of model.h5 in another order"])
    assert "names differ" in program("transform", "model.h5", "other.csv", "-o", "c.csv").stderr
    assert "differ" not in program("transform", "model.h5", "x.csv", "-o", "c.csv").stderr
    np.save(program.folder / "x.npy", points)
    assert "differ" not in program("transform", "model.h5", "x.npy", "-o", "c.csv").stderr


def test_columns_are_known_however_they_are_headed(program, points):
    def write_annotated(name, genes):
        with h5py.File(program.folder / name, "w") as file:
            file["X"] = points[:50]
            file.create_group("var").attrs["_index"] = "gene"
            file["var/gene"] = np.array(genes, dtype=h5py.string_dtype())

    def write_text(name, header, comments=""):
        np.savetxt(program.folder / name, points[:50], delimiter=",", header=header, comments=comments, fmt="%.6g")

    for kind, right, swapped in [(".csv", "0,1,2,3", "2,1,0,3"), (".csv", "a,b,c,c", "b,a,c,c"), (".csv", "a,b,,d", "b,a,,d"), (".txt", "a,b,c,d", "b,x,a,d"), (".h5ad", "a,b,c,d", "b,a,c,d")]:
        for name, header in [("right", right), ("swapped", swapped)]:
            if kind == ".h5ad":
                write_annotated(name + kind, header.split(","))
            else:
                write_text(name + kind, header, "# " if kind == ".txt" else "")
        program("fit", "right" + kind, "--beta", 3, "-k", 3, "-o", "model.h5")
        assert "differ" not in program("transform", "model.h5", "right" + kind, "-o", "c.csv").stderr
        program.refused("transform", "model.h5", "swapped" + kind, "-o", "c.csv", words=["another order", "model.h5", '"b"' if right[0] == "a" else '"2"'])


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
    program.refused("transform", "model.h5", "bad.npy", "-o", "c.npy", words=["NaN", "row 5", "column 3"])


def test_points_that_are_not_the_fitted_ones_are_refused(program, points):
    fit(program, "--no-points")
    program("transform", "model.h5", "points.npy", "--points", "points.npy", "-o", "c.npy")
    np.savetxt(program.folder / "same.csv", points, delimiter=",", fmt="%.17g")
    program("transform", "model.h5", "points.npy", "--points", "same.csv", "-o", "d.npy")
    assert (program.folder / "c.npy").read_bytes() == (program.folder / "d.npy").read_bytes()
    other = points.copy()
    other[17, 2] = np.nextafter(other[17, 2], 9)
    for name, x in [("reversed.npy", points[::-1]), ("other.npy", torus(400, seed=5)), ("nearly.npy", other)]:
        np.save(program.folder / name, x)
        program.refused("transform", "model.h5", "points.npy", "--points", name, "-o", "e.npy", words=["--points", name, "order"])


def test_models_of_earlier_versions_know_the_file_only(program, points):
    fit(program, "--no-points")
    with h5py.File(program.folder / "model.h5", "a") as file:
        del file.attrs["points_checksum"]
    result = program("transform", "model.h5", "points.npy", "--points", "points.npy", "-o", "c.npy")
    assert "not checked" not in result.stderr
    np.save(program.folder / "reversed.npy", points[::-1])
    result = program("transform", "model.h5", "points.npy", "--points", "reversed.npy", "-o", "c.npy")
    assert "not checked" in result.stderr


def test_rows_out_of_reach_are_placed_and_listed(program, points):
    """Where the extension tends: with the nearest fitted rows. Sentences count rows from 1, JSON from 0."""
    values, psi = fit(program)
    fresh = torus(40, seed=9)
    fresh[6] = 1e4 * points[17] / np.linalg.norm(points[17])
    fresh[30, 1] = -1e33
    np.save(program.folder / "fresh.npy", fresh)
    result = program("transform", "model.h5", "fresh.npy", "-o", "c.npy", "--json")
    assert json.loads(result.stdout)["beyond_reach"] == [6, 30]
    assert "2 of 40 rows" in result.stderr and "rows 7, 31, counted from 1" in result.stderr
    coordinates = np.load(program.folder / "c.npy")
    for row, direction in ((6, points[17]), (30, np.array([0, -1, 0, 0]))):
        nearest = np.argmax(points @ direction)  # the rows are far away: the farthest in their direction
        np.testing.assert_allclose(coordinates[row], psi[nearest], atol=1e-5)
    np.save(program.folder / "near.npy", np.delete(fresh, [6, 30], 0))
    program("transform", "model.h5", "near.npy", "-o", "near_c.npy")
    np.testing.assert_allclose(np.delete(coordinates, [6, 30], 0), np.load(program.folder / "near_c.npy"), atol=1e-6)
    np.save(program.folder / "far.npy", fresh[[6, 30]])
    result = program("transform", "model.h5", "far.npy", "-o", "d.npy", status=1)
    assert "every row" in result.stderr and "scaled" in result.stderr
    np.testing.assert_array_equal(np.load(program.folder / "d.npy"), coordinates[[6, 30]])


def test_rows_set_aside_are_where_the_fit_put_them(program, points):
    far = np.vstack([points, [[300, 0, 0, 0]], [[0, -9e3, 0, 0]]])
    np.save(program.folder / "points.npy", far)
    program("fit", "points.npy", "--trim", "0.005", "-k", "4", "-o", "model.h5", "--coordinates", "fitted.npy")
    info = json.loads(program("info", "model.h5", "--json").stdout)
    assert info["aside"] == [400, 401] and "rows 401, 402" in info["outcome"]
    program("transform", "model.h5", "points.npy", "-o", "again.npy")
    fitted, again = np.load(program.folder / "fitted.npy"), np.load(program.folder / "again.npy")
    np.testing.assert_allclose(again, fitted, atol=2e-4)
    with h5py.File(program.folder / "model.h5") as file:
        assert list(file["aside"]) == info["aside"]


def test_one_value_that_dwarfs_the_others(program, points):
    """It moves the mean of its column; the other rows must be found again all the same."""
    points[100, 1] = 1e9
    np.save(program.folder / "points.npy", points)
    values, psi = fit(program)
    program("transform", "model.h5", "points.npy", "-o", "c.npy")
    np.testing.assert_allclose(np.load(program.folder / "c.npy"), values * psi, atol=1e-5 * np.abs(psi).max())


def test_eigenvalues_below_zero(program, points):
    values, _ = fit(program)
    with h5py.File(program.folder / "model.h5", "a") as file:
        file["eigenvalues"][5] = -1e-9
    result = program("transform", "model.h5", "points.npy", "--time", 0.5, "-o", "c.npy")
    assert "1 of 6 eigenvalues" in result.stderr
    coordinates = np.load(program.folder / "c.npy")
    assert (coordinates[:, 5] == 0).all() and np.isfinite(coordinates).all()
    result = program("transform", "model.h5", "points.npy", "--time", 2, "-o", "c.npy")
    assert "eigenvalues" not in result.stderr and np.isfinite(np.load(program.folder / "c.npy")).all()
    program.refused("transform", "model.h5", "points.npy", "-o", "d.npy", "--time", "-1", words=["--time"])
