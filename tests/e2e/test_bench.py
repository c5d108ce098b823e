"""bench: what it counts and that it says the same as a table and as JSON; times are nobody's promise."""

import json

import numpy as np

from conftest import dense_map


def solver(program, *arguments):
    document = json.loads(program("bench", "solver", "--no-peers", "--json", *arguments).stdout)
    assert document["machine"]["cpu"] and document["machine"]["isa"]
    return document["rows"]


def test_passes_of_the_solver_on_the_torus(program):
    rows = solver(program, "--case", "torus")
    assert [row["tolerance"] for row in rows] == [1e-4, 1e-6]
    for row, most in zip(rows, [10, 13]):
        assert (row["case"], row["solver"], row["start"]) == ("torus", "block Lanczos", "cold")
        assert (row["n"], row["dimension"], row["beta"], row["modes"]) == (4096, 12, 0.5, 3)
        assert row["converged"] and 0 < row["residual"] <= row["tolerance"]
        assert row["passes"] <= most and row["passes"] <= row["columns"] <= 16 * row["passes"]
        assert row["seconds"] > 0


def test_warm_starts_take_fewer_passes_than_a_cold_one(program):
    rows = solver(program, "--case", "torus-warm")
    pairs = {row["start"]: row for row in rows if "values" not in row["start"]}
    assert pairs.keys() == {"beta/1.1", "beta/2", "N/4 rows"}
    for start, most in {"beta/1.1": 4, "beta/2": 5, "N/4 rows": 7}.items():
        row = pairs[start]
        assert row["converged"] and row["residual"] <= 1e-4 and row["passes"] <= most and row["columns"] <= 60
    values = {row["start"]: row for row in rows if "values" in row["start"]}
    assert values.keys() == {"cold, values", "beta/2, values", "beta/1.1, values"}
    for start, most in {"cold, values": 5, "beta/2, values": 2, "beta/1.1, values": 1}.items():
        row = values[start]
        assert row["converged"] and row["residual"] is None and row["value_error"] <= 0.01
        assert row["passes"] <= most


def test_points_of_a_file(program, points):
    (row,) = solver(program, "--points", "points.npy", "--beta", 3, "-k", 5, "--tolerance", 1e-5)
    assert (row["case"], row["n"], row["dimension"], row["modes"]) == ("points.npy", 400, 4, 5)
    assert row["converged"] and row["residual"] <= 1e-5
    _, _, values, _ = dense_map(points, 3, k=5)
    np.testing.assert_allclose(row["last_value"], values[-1], atol=2e-6)
    table = program("bench", "solver", "--no-peers", "--points", "points.npy", "--beta", 3, "-k", 5).stdout
    assert f"{row['last_value']:.6f}" in table and "passes" in table


def test_peers_agree_where_they_are_built_in(program, points):
    document = json.loads(program("bench", "solver", "--points", "points.npy", "--beta", 3, "-k", 5, "--json").stdout)
    ours, *peers = document["rows"]
    assert [row["solver"] for row in peers] == ["ARPACK", "Spectra"]
    for row in peers:
        if row["note"]:
            assert row["note"] in ("not built in", "not installed") and row["passes"] is None and not row["converged"]
            continue
        assert row["converged"] and row["residual"] <= row["tolerance"] and row["columns"] == row["passes"] > 0
        assert abs(row["last_value"] - ours["last_value"]) < 2e-6
    short = json.loads(program("bench", "solver", "--points", "points.npy", "--beta", 3, "-k", 5, "--peer-passes", 7, "--json").stdout)
    for row in short["rows"][1:]:
        assert not row["converged"] and row["passes"] in (7, None) and row["residual"] is None


def test_wrong_use_is_named(program, points):
    program.refused("bench", "solver", "--case", "cylinder", words=["--case", "cylinder"])
    program.refused("bench", "solver", "--points", "points.npy", words=["--points", "--beta"])
    program.refused("bench", "solver", "--beta", 3, words=["--beta", "--points"])
    program.refused("bench", "solver", "--points", "points.npy", "--beta", -1, words=["--beta", "-1"])
    program.refused("bench", "solver", "--points", "points.npy", "--beta", 3, "-k", 400, words=["-k 400", "399"])
    program.refused("bench", "solver", "--points", "absent.npy", "--beta", 3, status=3, words=["absent.npy"])
    np.save(program.folder / "hole.npy", np.array([[0.0, 1.0], [np.nan, 2.0], [3.0, 3.0]]))
    program.refused("bench", "solver", "--points", "hole.npy", "--beta", 3, "-k", 1, words=["hole.npy", "row 2"])


def test_the_promise_is_kept_row_by_row(program):
    document = json.loads(program("bench", "accuracy", "--n", 3000, "--compared", 60, "--json").stdout)
    assert len(document["rows"]) == 12
    for row in document["rows"]:
        assert 0 < row["error"] <= row["promise"] == {"bf16": 8e-3, "tf32": 1e-3, "fp32": 4e-6, "fp64": 1e-13}[row["precision"]]
