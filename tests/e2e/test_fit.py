"""fit: the model file's layout, its numbers against a dense eigendecomposition, and every way to say the same."""

import json
import zlib

import h5py
import numpy as np
import pytest

from conftest import dense_map, torus

SWEEP = "n precision beta s_off s_off_2beta n_eff d_hat perron_gap v_bias v_stat v_mach v passes seconds outcome".split()


def eigenvalues(path):
    with h5py.File(path) as file:
        return file["eigenvalues"][:]


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def test_model_file_has_the_layout_of_the_contract(program, points):
    program("fit", "points.npy", "--beta", 3, "-k", 6, "-o", "model.h5")
    with h5py.File(program.folder / "model.h5") as file:
        attributes = file.attrs
        assert text(attributes["format"]) == "flashdiffusion-model"
        assert attributes["format_version"] >= 1
        assert text(attributes["kernel"]) == "gaussian"
        assert text(attributes["precision"]) == "fp32"
        assert attributes["beta"] == 3 and attributes["alpha"] == 0.5
        assert attributes["n"] == 400 and attributes["dimension"] == 4 and attributes["modes"] == 6
        assert bool(attributes["converged"])
        assert attributes["perron"] == pytest.approx(1, abs=1e-6)
        assert file["eigenvalues"].shape == (6,) and file["residuals"].shape == (6,)
        assert file["psi"].shape == (400, 6) and file["points"].shape == (400, 4) and file["mean"].shape == (4,)
        assert file["q"].dtype == np.float64 and file["d"].dtype == np.float64 and file["q"].shape == (400,)
        assert set(SWEEP) <= set(file["sweep"].keys())
        rows = {len(file["sweep"][name]) for name in SWEEP}
        assert len(rows) == 1
        assert np.all(np.diff(file["eigenvalues"][:]) <= 0)
        assert np.all(file["residuals"][:] <= 1e-5)
        np.testing.assert_allclose(file["points"][:] + file["mean"][:], points, atol=2e-7)


def test_provenance_names_command_options_machine_and_input(program, points):
    program("fit", "points.npy", "--beta", 3, "-k", 4, "-o", "model.h5")
    with h5py.File(program.folder / "model.h5") as file:
        value = file["provenance"][()]
    value = value[0] if isinstance(value, np.ndarray) else value
    provenance = json.loads(text(value))
    content = (program.folder / "points.npy").read_bytes()
    assert provenance["command"][1:3] == ["fit", "points.npy"]
    assert provenance["options"]["beta"] == 3 and provenance["options"]["modes"] == 4
    assert provenance["version"] and provenance["machine"]["cpu"] and provenance["machine"]["isa"] and provenance["machine"]["cores"] >= 1
    assert provenance["inputs"] == [{"path": "points.npy", "bytes": len(content), "crc32": f"{zlib.crc32(content):08x}"}]
    assert provenance["wall_seconds"] > 0 and provenance["date"].endswith("Z")


@pytest.mark.parametrize("alpha", [0, 0.5, 1])
@pytest.mark.parametrize("precision,value_error,vector_error", [("fp32", 1e-6, 1e-5), ("fp64", 1e-11, 1e-9)])
def test_numbers_agree_with_a_dense_eigendecomposition(program, points, alpha, precision, value_error, vector_error):
    k = 8
    tolerance = vector_error / 2  # of the fit's own residual; the other half is for the kernel's rounding
    program("fit", "points.npy", "--beta", 3, "--alpha", alpha, "-k", k, "--precision", precision, "--tolerance", tolerance, "-o", "m.h5")
    q, d, values, psi = dense_map(points, 3, alpha, k)
    with h5py.File(program.folder / "m.h5") as file:
        np.testing.assert_allclose(file["eigenvalues"][:], values, atol=value_error)
        np.testing.assert_allclose(file["q"][:], q, rtol=10 * value_error)
        np.testing.assert_allclose(file["d"][:], d, rtol=10 * value_error)
        assert file["psi"].dtype == (np.float64 if precision == "fp64" else np.float32)
        got, degree, found = file["psi"][:].astype(float), file["d"][:], file["eigenvalues"][:]
    weight = degree / degree.sum()
    np.testing.assert_allclose((weight[:, None] * got**2).sum(0), 1, atol=vector_error)
    largest = got[np.abs(got).argmax(0), np.arange(k)]
    assert np.all(largest > 0)
    # P psi = lambda psi with the dense P. The norm of pi makes this the residual |Mv - lambda v| of the symmetric problem.
    kernel = np.exp(-3 * ((points[:, None] - points[None]) ** 2).sum(-1)) / np.outer(q**alpha, q**alpha)
    applied = kernel @ got / d[:, None]
    error = np.sqrt((weight[:, None] * (applied - found * got) ** 2).sum(0))
    assert np.all(error < vector_error)


def test_all_spellings_of_a_bandwidth_agree(program, points):
    spellings = [
        ("--beta", 2),
        ("--gamma", 2),
        ("--sigma", 0.5),
        ("--epsilon", 0.125, "--epsilon-convention", "pydiffmap"),
        ("--epsilon", 0.25, "--epsilon-convention", "datafold"),
        ("--epsilon", 0.5, "--epsilon-convention", "mdanalysis"),
    ]
    found = []
    for number, spelling in enumerate(spellings):
        program("fit", "points.npy", *spelling, "-k", 5, "-o", f"{number}.h5", "--quiet")
        found.append(eigenvalues(program.folder / f"{number}.h5"))
    for other in found[1:]:
        assert np.array_equal(found[0], other)


def test_all_formats_give_the_same_eigenvalues(program):
    # Small integers are exact in every type, so every file holds the same numbers.
    x = np.round(torus(200) * 15)
    folder = program.folder
    np.save(folder / "float64.npy", x)
    np.save(folder / "fortran.npy", np.asfortranarray(x))
    for name in ["float16", "float32", "int8", "int16", "int32", "int64"]:
        np.save(folder / f"{name}.npy", x.astype(name))
    np.save(folder / "unsigned.npy", (x - x.min()).astype(np.uint8))  # shifted: the same geometry
    for name in [">f4", ">f8", ">i2", ">i8"]:
        np.save(folder / f"big{name[1:]}.npy", x.astype(name))
    np.save(folder / "bigfortran.npy", np.asfortranarray(x.astype(">f8")))
    np.savez(folder / "one.npz", x)
    np.savez_compressed(folder / "packed.npz", values=x)
    np.savez(folder / "two.npz", other=np.zeros(3), values=x)
    np.savetxt(folder / "plain.csv", x, delimiter=",")
    np.savetxt(folder / "header.csv", x, delimiter=",", header="a,b,c,d", comments="")
    np.savetxt(folder / "tab.tsv", x, delimiter="\t")
    np.savetxt(folder / "blank.txt", x)
    np.save(folder / "first.npy", x[:50])
    np.save(folder / "rest.npy", x[50:])
    with h5py.File(folder / "table.h5", "w") as file:
        file["group/values"] = x
        file["other"] = np.zeros((3, 3))
    with h5py.File(folder / "cells.h5ad", "w") as file:
        file["obsm/X_pca"] = x.astype(np.float32)
    arguments = [[p.name] for p in sorted(folder.glob("*.npy")) if p.stem not in ("first", "rest")]
    arguments += [["one.npz"], ["packed.npz"], ["two.npz:values"], ["plain.csv"], ["header.csv"], ["tab.tsv"], ["blank.txt"]]
    arguments += [["first.npy", "rest.npy"], ["table.h5:/group/values"], ["cells.h5ad:/obsm/X_pca"]]
    truth = dense_map(x, 0.02, k=4)[2]
    for files in arguments:
        program("fit", *files, "--beta", 0.02, "-k", 4, "-o", "m.h5", "--quiet")
        np.testing.assert_allclose(eigenvalues(folder / "m.h5"), truth, atol=1e-6, err_msg=str(files))
    program("fit", "-", "--beta", 0.02, "-k", 4, "-o", "m.h5", "--quiet", stdin=(folder / "header.csv").read_text())
    np.testing.assert_allclose(eigenvalues(folder / "m.h5"), truth, atol=1e-6)


def test_a_common_offset_changes_nothing(program, points):
    np.save(program.folder / "far.npy", points + 1e6)
    program("fit", "points.npy", "--beta", 3, "-k", 6, "-o", "near.h5", "--quiet")
    program("fit", "far.npy", "--beta", 3, "-k", 6, "-o", "far.h5", "--quiet")
    # 1e6 + x in float64 keeps x to 1.2e-10: far below what fp32 shows.
    np.testing.assert_allclose(eigenvalues(program.folder / "far.h5"), eigenvalues(program.folder / "near.h5"), atol=1e-6)


def test_constant_columns_change_nothing(program, points):
    np.save(program.folder / "padded.npy", np.hstack([np.full((400, 3), 7.5), points, np.zeros((400, 5))]))
    program("fit", "padded.npy", "--beta", 3, "-k", 6, "-o", "m.h5", "--quiet")
    np.testing.assert_allclose(eigenvalues(program.folder / "m.h5"), dense_map(points, 3, k=6)[2], atol=1e-6)
    program("transform", "m.h5", "padded.npy", "-o", "c.npy", "--quiet")
    assert np.load(program.folder / "c.npy").shape == (400, 6)


@pytest.mark.parametrize(
    "name,x,beta,k",
    [
        ("one column", np.linspace(-1, 2, 150)[:, None], 2, 4),
        ("three rows", np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.7]]), 1, 2),
        ("duplicates", np.repeat(torus(60), 3, axis=0), 2, 4),
        ("a far row", np.vstack([torus(150), [[5.0, 0, 0, 0]]]), 1, 4),
        ("more columns than rows", np.random.default_rng(3).normal(size=(20, 90)) / 9, 1, 3),
        ("all modes there are", torus(24), 1, 23),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_unusual_tables_give_the_right_answer(program, name, x, beta, k):
    np.save(program.folder / "x.npy", x)
    program("fit", "x.npy", "--beta", beta, "-k", k, "-o", "m.h5", "--quiet")
    np.testing.assert_allclose(eigenvalues(program.folder / "m.h5"), dense_map(x, beta, k=k)[2], atol=1e-6)


@pytest.mark.parametrize("distance", [1e2, 1e3, 1e4])
def test_a_row_out_of_all_reach_is_survived(program, distance):
    """Its kernel entries are all zero: an eigenvalue at one that belongs to it alone, and finite numbers everywhere."""
    x = np.vstack([torus(150), [[distance, 0, 0, 0]]])
    np.save(program.folder / "x.npy", x)
    program("fit", "x.npy", "--beta", 1, "-k", 4, "-o", "m.h5", "--quiet")
    # float32 holds x about the mean, which the far row moves by distance / n: half a unit in the last place of that, times the slope
    # 2 beta |x - y| of the exponent, with |x - y| at most 3.2 here.
    rounding = 2.0**-24 * 2 ** np.ceil(np.log2(distance / 151)) * 2 * 3.2
    np.testing.assert_allclose(eigenvalues(program.folder / "m.h5"), dense_map(x, 1, k=4)[2], atol=max(1e-6, rounding))
    with h5py.File(program.folder / "m.h5") as file:
        assert np.all(np.isfinite(file["psi"][:]))


def test_same_bits_for_any_number_of_threads(program):
    np.save(program.folder / "x.npy", torus(1500).astype(np.float32))
    contents = []
    for threads in [1, 2, 3, 8]:
        program("fit", "x.npy", "--beta", 4, "-k", 6, "--threads", threads, "-o", "m.h5", "--quiet")
        found = {}

        def keep(name, item):
            if isinstance(item, h5py.Dataset) and not name.endswith("seconds") and name != "provenance":
                value = item[()]
                found[name] = value.tobytes() if value.dtype.kind in "fiu" else list(value)

        with h5py.File(program.folder / "m.h5") as file:
            file.visititems(keep)
            found.update({f"@{name}": str(value) for name, value in file.attrs.items() if name != "seconds"})
        contents.append(found)
    for other in contents[1:]:
        assert other.keys() == contents[0].keys()
        assert [name for name in other if other[name] != contents[0][name]] == []


def test_not_converged_is_written_and_said(program, points):
    result = program("fit", "points.npy", "--beta", 30, "-k", 12, "--max-passes", 2, "--tolerance", 1e-7, "-o", "m.h5", status=1)
    assert "m.h5 was written all the same" in result.stderr
    with h5py.File(program.folder / "m.h5") as file:
        assert not file.attrs["converged"]
        assert file["residuals"][:].max() > 1e-7


def test_the_papers_rule_keeps_the_last_safe_bandwidth(program):
    """The wall comes before V rises: the probe before it is taken, also after it was solved again with many modes."""
    np.save(program.folder / "x.npy", np.random.default_rng(1).standard_normal((400, 3)))
    model = json.loads(program("fit", "x.npy", "-k", 64, "--select", "paper", "--no-ladder", "-o", "m.h5", "--json").stdout)
    walls = [beta for beta, outcome in zip(model["sweep"]["beta"], model["sweep"]["outcome"]) if outcome == "wall"]
    assert "last safe probe" in model["outcome"] and len(walls) == 1
    assert model["beta"] == pytest.approx(walls[0] / 2)
