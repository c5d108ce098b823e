"""decode: targets from modes, held-out errors, angles, files in and out, what is refused."""

import json

import numpy as np
import pytest



@pytest.fixture
def angles(program, points):
    """A model of the torus, and the angle on its larger circle, in radians."""
    program("fit", "points.npy", "--beta", 3, "-k", 12, "-o", "model.h5", "--quiet")
    return np.arctan2(points[:, 1], points[:, 0])


def decode(program, *arguments):
    return json.loads(program("decode", "model.h5", *arguments, "--json").stdout)


def test_an_angle_is_decoded_and_written(program, angles):
    np.save(program.folder / "angle.npy", angles)
    found = decode(program, "angle.npy", "--circular", "rad", "-o", "out.npy", "--modes", "2,12")
    assert [row["modes"] for row in found["by_modes"]] == [2, 12] and found["rows"] == 400
    decoded = np.load(program.folder / "out.npy")
    assert decoded.shape == (400, 1)
    error = np.abs(np.angle(np.exp(1j * (decoded[:, 0] - angles))))
    # The file is what the error was measured on.
    assert error.mean() == pytest.approx(found["by_modes"][1]["errors"][0]["mean_absolute_error"], rel=1e-10)
    assert np.sqrt((error**2).mean()) == pytest.approx(found["by_modes"][1]["errors"][0]["root_mean_square_error"], rel=1e-10)
    assert error.mean() < 0.05 < found["mean_only_error"][0]
    # Degrees are the same angles.
    np.savetxt(program.folder / "angle.csv", np.degrees(angles), header="phi", comments="")
    degrees = decode(program, "angle.csv", "--circular", "deg", "-o", "out.csv", "--modes", "2,12")
    assert degrees["targets"] == ["phi"]
    for a, b in zip(found["by_modes"], degrees["by_modes"]):
        assert np.radians(b["errors"][0]["mean_absolute_error"]) == pytest.approx(a["errors"][0]["mean_absolute_error"], rel=1e-6)
        assert a["ridge"] == b["ridge"] and a["condition"] == pytest.approx(b["condition"]) and a["condition"] >= 1
    assert (program.folder / "out.csv").read_text().splitlines()[0] == "phi"


def test_the_decoder_is_ridge_regression(program, angles):
    """Against numpy: the same folds, since blocks are known."""
    import h5py

    with h5py.File(program.folder / "model.h5") as file:
        psi = file["psi"][:].astype(float)
    y = np.stack([np.sin(angles) ** 2, np.cos(3 * angles)], axis=1)
    np.save(program.folder / "y.npy", y)
    found = decode(program, "y.npy", "--ridge", 1e-4, "--folds", 4, "--split", "blocks", "--modes", 7, "-o", "out.npy")
    decoded = np.load(program.folder / "out.npy")
    f, fold = psi[:, :7], np.arange(400) * 4 // 400
    for held in range(4):
        a, b = fold != held, fold == held
        centred, mean = f[a] - f[a].mean(0), y[a].mean(0)
        gram = centred.T @ centred
        weights = np.linalg.solve(gram + 1e-4 * np.trace(gram) / 7 * np.eye(7), centred.T @ (y[a] - mean))
        np.testing.assert_allclose(decoded[b], mean + (f[b] - f[a].mean(0)) @ weights, atol=1e-9)
    gram = np.cov(f.T)
    assert found["by_modes"][0]["condition"] == pytest.approx(np.linalg.cond(gram), rel=1e-6)


def test_rows_without_a_target_and_columns_by_name(program, angles):
    lines = ["name,kind,height"] + [f"r{i},{i % 3},{'NA' if i == 5 else np.sin(a)}" for i, a in enumerate(angles)]
    (program.folder / "t.csv").write_text("\n".join(lines) + "\n")
    x = np.load(program.folder / "points.npy")
    (program.folder / "named.csv").write_text("\n".join(f"r{i}," + ",".join(map(str, row)) for i, row in enumerate(x)) + "\n")
    program("fit", "named.csv", "--beta", 3, "-k", 12, "-o", "model.h5", "--quiet")
    found = decode(program, "t.csv", "--columns", "height", "-o", "out.csv")
    assert found["rows"] == 399 and found["targets"] == ["height"]
    rows = [line.split(",") for line in (program.folder / "out.csv").read_text().splitlines()]
    assert rows[0] == ["name", "height"] and rows[6][0] == "r5"
    assert float(rows[6][1]) == pytest.approx(np.sin(angles[5]), abs=0.3)
    text = program("decode", "model.h5", "t.csv", "--columns", "1,height").stdout
    assert "kind" in text and "height" in text and "held out" in text
    program.refused("decode", "model.h5", "t.csv", "--columns", "weight", words=["weight", "--columns", "1 to 2"])


def test_only_chosen_columns_have_to_be_numbers(program, angles):
    """Of a model without row names, so that the names of the table are a column like any other."""
    lines = ["cell,mass,kind"] + [f"c{i},{np.sin(a)},{'even' if i % 2 else 'odd'}" for i, a in enumerate(angles)]
    (program.folder / "t.csv").write_text("\n".join(lines) + "\n")
    assert decode(program, "t.csv", "--columns", "mass")["targets"] == ["mass"]
    assert decode(program, "t.csv", "--columns", 2)["targets"] == ["mass"]
    program.refused("decode", "model.h5", "t.csv", "--columns", "mass,kind", words=["t.csv, kind", "odd", "row 1", "not a number"])
    program.refused("decode", "model.h5", "t.csv", words=["t.csv, cell", "not a number", "--columns"])


def test_a_heading_goes_before_a_number(program, angles):
    table = np.stack([np.sin(angles), np.cos(angles), np.cos(2 * angles)], axis=1)
    np.savetxt(program.folder / "t.csv", table, delimiter=",", header="2,b,b", comments="")
    assert decode(program, "t.csv", "--columns", 2)["targets"] == ["2"]
    assert decode(program, "t.csv", "--columns", 3)["targets"] == ["b"]
    program.refused("decode", "model.h5", "t.csv", "--columns", "b", words=["--columns b", "2 columns", "number, 2 or 3"])


def test_a_target_that_does_not_vary_has_nothing_to_explain(program, angles):
    np.savetxt(program.folder / "t.csv", np.stack([np.full(400, 0.1), np.sin(angles)], axis=1), delimiter=",", header="a,b", comments="")
    found = decode(program, "t.csv")
    assert all(row["errors"][0]["unexplained"] is None and row["errors"][0]["mean_absolute_error"] < 1e-12 for row in found["by_modes"])
    alone = decode(program, "t.csv", "--columns", "b")  # and it has no say in the penalty
    assert [row["ridge"] for row in found["by_modes"]] == [row["ridge"] for row in alone["by_modes"]]
    assert "nan" not in program("decode", "model.h5", "t.csv").stdout


def test_several_files_are_stacked_and_standard_output_is_csv(program, angles):
    np.savez(program.folder / "parts.npz", arr_0=angles[:150], arr_1=angles[150:])
    np.save(program.folder / "whole.npy", angles)
    stacked = program("decode", "model.h5", "parts.npz:arr_0", "parts.npz:arr_1", "--circular", "rad", "-o", "-").stdout
    assert stacked == program("decode", "model.h5", "whole.npy", "--circular", "rad", "-o", "-").stdout
    assert len(stacked.splitlines()) == 401
    program.refused("decode", "model.h5", "parts.npz:arr_0", "parts.npz:arr_0", "--circular", "rad", words=["300", "400"])


def test_targets_with_names_find_their_rows(program, angles):
    """Coordinates of a table in another order, an AnnData file, and a table in parts: placed by name, or as the user says by position."""
    import h5py

    rng = np.random.default_rng(5)
    names, order = [f"cell {i}" for i in range(400)], rng.permutation(400)
    x = np.load(program.folder / "points.npy")
    for file, rows in (("named.csv", range(400)), ("turned.csv", order)):
        (program.folder / file).write_text("\n".join(",".join([names[i], *map(str, x[i])]) for i in rows) + "\n")
    program("fit", "named.csv", "--beta", 3, "-k", 12, "-o", "model.h5", "--quiet")
    program("transform", "model.h5", "turned.csv", "-o", "turned.h5", "--quiet")
    found = decode(program, "turned.h5", "--columns", 1)
    assert found["by_modes"][-1]["errors"][0]["unexplained"] < 1e-6
    assert decode(program, "turned.h5", "--columns", 1, "--in-order")["by_modes"][-1]["errors"][0]["unexplained"] > 0.5

    np.save(program.folder / "angle.npy", angles)
    whole = decode(program, "angle.npy", "--circular", "rad")["by_modes"]
    with h5py.File(program.folder / "angle.h5ad", "w") as file:
        file["obsm/X_t"], file["obs/t"] = angles[order][:, None], angles[order]
        file["obs/_index"] = [names[i].encode() for i in order]
        file["obs"].attrs["_index"] = "_index"
    lines = [f"{names[i]},{float(angles[i])!r}" for i in order]
    for part, some in (("1.csv", lines[:150]), ("2.csv", lines[150:])):
        (program.folder / part).write_text("\n".join(["cell,phi", *some]) + "\n")
    for targets in (["angle.h5ad:/obsm/X_t"], ["angle.h5ad:/obs/t"], ["1.csv", "2.csv"], ["1.csv", "2.csv", "--columns", "phi"]):
        assert [row["errors"][0]["mean_absolute_error"] for row in decode(program, *targets, "--circular", "rad")["by_modes"]] == [
            row["errors"][0]["mean_absolute_error"] for row in whole
        ]
    with h5py.File(program.folder / "turned.h5", "r+") as file:
        del file["names"]
        file["names"] = [f"Cell {i}".encode() for i in order]
    program.refused("decode", "model.h5", "turned.h5", words=["turned.h5", "list of names", "--in-order"])
    with h5py.File(program.folder / "part.h5", "w") as file:
        file["t"], file["names"] = angles[:150], [name.encode() for name in names[:150]]
    np.save(program.folder / "rest.npy", angles[150:, None])
    program.refused("decode", "model.h5", "part.h5:/t", "rest.npy", "--circular", "rad", words=["part.h5:/t names its rows", "--in-order"])
    assert decode(program, "part.h5:/t", "rest.npy", "--circular", "rad", "--in-order")["by_modes"] == whole


def test_the_other_unit_is_refused(program, angles):
    np.save(program.folder / "rad.npy", angles)
    np.save(program.folder / "deg.npy", np.degrees(angles))
    program.refused("decode", "model.h5", "deg.npy", "--circular", "rad", words=["deg.npy", "degrees", "--circular deg"])
    program.refused("decode", "model.h5", "rad.npy", "--circular", "deg", words=["rad.npy", "radians", "--circular rad"])


@pytest.mark.parametrize("unit, row", [("rad", 1), ("deg", 0)])
def test_a_target_or_a_file_in_the_other_unit_is_named(program, angles, unit, row):
    np.save(program.folder / "one.npy", angles[:200])
    np.save(program.folder / "two.npy", np.degrees(angles[200:]))
    np.save(program.folder / "both.npy", np.stack([angles, np.degrees(angles)], axis=1))
    say = {"words": ["other angles look like", "one unit"]}
    said = [program.refused("decode", "model.h5", *files, "--circular", unit, **say).stderr for files in (["both.npy"], ["one.npy", "two.npy"])]
    assert f'both.npy, target "column {row + 1}"' in said[0] and ["one.npy", "two.npy"][row] in said[1]
    program("decode", "model.h5", "both.npy", "--circular", unit, "--columns", 2 - row)


@pytest.mark.parametrize("unit, file", [("deg", "t2.csv"), ("rad", "t1.csv")])
def test_text_in_the_other_unit_is_named(program, angles, unit, file):
    """In order, and placed by names, which mix the lines of the files."""
    order = np.random.default_rng(8).permutation(400)
    names = [f"r{i}" for i in range(400)]
    x = np.load(program.folder / "points.npy")
    (program.folder / "named.csv").write_text("".join(f"{name},{','.join(map(str, row))}\n" for name, row in zip(names, x)))
    program("fit", "named.csv", "--beta", 3, "-k", 12, "-o", "named.h5", "--quiet")
    for rows, name in ((range(400), False), (order, True)):
        for part, some, factor in (("t1.csv", rows[:150], 180 / np.pi), ("t2.csv", rows[150:], 1)):
            lines = [(f"{names[i]}," if name else "") + repr(float(angles[i] * factor)) for i in some]
            (program.folder / part).write_text("\n".join(["cell,phi" if name else "phi", *lines]) + "\n")
        model = "named.h5" if name else "model.h5"
        other = "degrees" if unit == "rad" else "radians"
        said = program.refused("decode", model, "t1.csv", "t2.csv", "--circular", unit, words=[f"{file}:", f"look like {other}", "--trust-unit"])
        assert "other angles look like" in said.stderr
        program("decode", model, "t1.csv", "t2.csv", "--circular", unit, "--trust-unit")


def test_degrees_near_zero_are_taken_at_the_users_word(program, angles):
    """An improper torsion."""
    np.save(program.folder / "near.npy", 2 * angles)
    program.refused("decode", "model.h5", "near.npy", "--circular", "deg", words=["look like radians", "--trust-unit"])
    found = decode(program, "near.npy", "--circular", "deg", "--trust-unit")
    assert found["circular"] == "deg" and found["by_modes"][-1]["errors"][0]["mean_absolute_error"] < 2
    program.refused("decode", "model.h5", "near.npy", "--trust-unit", words=["--circular"])
    np.save(program.folder / "planar.npy", np.stack([np.degrees(angles), np.zeros(400)], axis=1))
    decode(program, "planar.npy", "--circular", "deg")  # zero is zero in either


def test_bad_input_is_refused(program, angles):
    np.save(program.folder / "short.npy", angles[:-1])
    np.save(program.folder / "y.npy", angles)
    (program.folder / "words.csv").write_text("kind\n" + "a\n" * 400)
    program.refused("decode", "model.h5", "short.npy", words=["short.npy", "399 targets for 400 rows"])
    program.refused("decode", "model.h5", "words.csv", words=["words.csv", "kind", "not a number"])
    program.refused("decode", "model.h5", "y.npy", "--modes", 13, words=["--modes 13", "12 modes"])
    program.refused("decode", "model.h5", "y.npy", "--ridge", -1, words=["--ridge"])
    program.refused("decode", "model.h5", "y.npy", "--folds", 2, words=["--folds 2"])
    program.refused("decode", "model.h5", "y.npy", "-o", "y.npy", words=["replace"])
    program.refused("decode", "model.h5", "y.npy", "-o", "out.pdf", words=["out.pdf", ".csv"])
    program.refused("decode", "points.npy", "y.npy", words=["points.npy"])


def test_what_is_decoded_is_finite_or_an_error(program, angles):
    """Sums over targets next to the largest double overflow."""
    np.save(program.folder / "huge.npy", 1.7e308 * np.sign(np.sin(angles)))
    program.refused("decode", "model.h5", "huge.npy", "--ridge", 1e-4, "-o", "out.csv", words=["finite", "too large"])
