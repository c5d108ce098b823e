"""Tables as people have them: headers, names, gaps, decimal commas, gzip, sparse AnnData; what was taken for what is said, and names come back."""

import csv
import gzip
import json
import os
import subprocess
import threading

import h5py
import numpy as np
import pytest

from conftest import PROGRAM, torus

FIT = ("--beta", 3, "-k", 4, "-o", "m.h5")


def write_csv(path, x, header=None, names=None, separator=",", opener=open, replace=()):
    """Rows as text; `replace`: (row, column, cell) put in place of numbers."""
    cells = [[repr(float(value)) for value in row] for row in x]
    for row, column, cell in replace:
        cells[row][column] = cell
    if names is not None:
        cells = [[name, *row] for name, row in zip(names, cells)]
    if header is not None:
        cells.insert(0, header)
    with opener(path, "wt") as file:
        file.writelines(separator.join(row) + "\n" for row in cells)


def model(program):
    with h5py.File(program.folder / "m.h5") as file:
        names = [name.decode() for name in file["names"][:]] if "names" in file else None
        provenance = json.loads(file["provenance"][()])
        return file["eigenvalues"][:], file["psi"][:], names, provenance


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


@pytest.fixture
def plain(program, points):
    """The model of the plain table, which every other spelling of it must give."""
    program("fit", "points.npy", *FIT, "--quiet")
    return model(program)


def same_fit(program, plain, *arguments, stdin=None):
    result = program("fit", *arguments, *FIT, stdin=stdin)
    values, psi, names, provenance = model(program)
    np.testing.assert_array_equal(values, plain[0])
    np.testing.assert_array_equal(psi, plain[1])
    return result, names, provenance


def test_a_header_of_numbers_is_no_point(program, points, plain):
    write_csv(program.folder / "x.csv", points, header=["0", "1", "2", "3"])
    result, names, provenance = same_fit(program, plain, "x.csv")
    assert "note: x.csv: separated by commas, line 1 is the header" in result.stderr and names is None
    assert any("line 1 is the header" in note for note in provenance["notes"])
    result = program("fit", "x.csv", *FIT, "--header", "no")
    assert "no header" in result.stderr
    assert json.loads(program("info", "m.h5", "--json").stdout)["n"] == 401


def test_a_slip_in_the_first_line_is_refused(program, points):
    write_csv(program.folder / "x.csv", points, replace=[(0, 1, "0.2.5")])
    program.refused("fit", "x.csv", *FIT, words=["line 1, column 2", "0.2.5", "--header yes"])


def test_numbers_of_rows_are_no_feature(program, points, plain):
    numbers = [str(i) for i in range(400)]
    for header in ["", "Unnamed: 0", "index", "id"]:
        write_csv(program.folder / "x.csv", points, header=[header, "a", "b", "c", "d"], names=numbers)
        result, names, _ = same_fit(program, plain, "x.csv")
        assert "names the rows" in result.stderr and names == numbers
    write_csv(program.folder / "x.csv", points, header=["t", "a", "b", "c", "d"], names=numbers)
    result = program("fit", "x.csv", "--beta", 0.3, "-k", 4, "-o", "m.h5")  # with it the rows are farther apart
    assert 'column 1 ("t") counts the rows and is used as a feature' in result.stderr
    _, names, _ = same_fit(program, plain, "x.csv", "--names", "t")
    assert names == numbers


def test_names_come_back_beside_the_coordinates(program, points, plain):
    names = [f"cell, {i}" if i % 2 else f"zelle-{i}-ä" for i in range(400)]
    quoted = [f'"{name}"' for name in names]
    write_csv(program.folder / "x.csv", points, header=["cell", "a", "b", "c", "d"], names=quoted)
    _, kept, _ = same_fit(program, plain, "x.csv", "--coordinates", "c.csv")
    assert kept == names
    values, psi = plain[0], plain[1].astype(np.float64)
    rows = read_csv(program.folder / "c.csv")
    assert rows[0] == ["name", "dc1", "dc2", "dc3", "dc4"]
    assert [row[0] for row in rows[1:]] == names
    written = np.array([[np.float32(cell) for cell in row[1:]] for row in rows[1:]])
    np.testing.assert_array_equal(written, (values * psi).astype(np.float32))

    program("transform", "m.h5", "x.csv", "-o", "t.csv")
    again = read_csv(program.folder / "t.csv")
    assert again[0] == rows[0] and [row[0] for row in again[1:]] == names
    program("transform", "m.h5", "x.csv", "-o", "t.h5")
    with h5py.File(program.folder / "t.h5") as file:
        assert [name.decode() for name in file["names"][:]] == names
        np.testing.assert_array_equal(file["coordinates"][:], np.array([[np.float32(c) for c in row[1:]] for row in again[1:]]))
    result = program("transform", "m.h5", "x.csv", "-o", "-")
    assert result.stdout == (program.folder / "t.csv").read_text()
    assert not (program.folder / "-").exists()
    # what was written is read again as it was meant
    read = json.loads(program("info", "t.csv", "--json").stdout)
    assert (read["n"], read["dimension"]) == (400, 4) and 'column 1 ("name") names the rows' in read["notes"][0]


def test_trimmed_rows_keep_their_names(program, points):
    names = [f"r{i}" for i in range(400)]
    write_csv(program.folder / "x.csv", np.vstack([points[:399], [[50, 50, 50, 50]]]), names=names)
    program("fit", "x.csv", "--beta", 3, "-k", 4, "-o", "m.h5", "--trim", "0.01")
    assert model(program)[2] == names


def test_coordinates_without_names(program, points):
    program("fit", "points.npy", *FIT, "--coordinates", "c.tsv", "--quiet")
    lines = (program.folder / "c.tsv").read_text().splitlines()
    assert lines[0] == "dc1\tdc2\tdc3\tdc4" and len(lines) == 401


def test_output_names_are_judged_before_the_work(program, points):
    program.refused("fit", "points.npy", *FIT, "--coordinates", "c.xls", words=["c.xls", ".csv"])
    program.refused("fit", "points.npy", *FIT, "--coordinates", "m.h5", words=["--coordinates", "m.h5"])
    program.refused("fit", "points.npy", *FIT, "--coordinates", "points.npy", words=["replace", "points.npy"])
    program("fit", "points.npy", *FIT, "--quiet")
    program.refused("transform", "m.h5", "points.npy", "-o", "c.dat", words=["c.dat", ".npy"])
    program.refused("transform", "m.h5", "points.npy", "-o", "c", words=["suffix"])
    program.refused("transform", "m.h5", "points.npy", "-o", "-", "--json", words=["standard output"])


def test_missing_values(program, points):
    gaps = [(17, 2, "NA"), (200, 0, ""), (200, 1, "NaN"), (399, 3, "nan"), (5, 1, "null")]
    write_csv(program.folder / "x.csv", points, header=["a", "b", "c", "d"], replace=gaps)
    program.refused(
        "fit", "x.csv", *FIT,
        words=["4 of 400 rows", 'row 6, column 2 ("b") (line 7', 'row 18, column 3 ("c") (line 19', "row 201", "--missing drop-rows"],
    )
    result = program("fit", "x.csv", *FIT, "--missing", "drop-rows")
    assert "4 of 400 rows have missing values and are left out (rows 6, 18, 201, 400)" in result.stderr
    kept = [i for i in range(400) if i not in (5, 17, 200, 399)]
    values, psi, names, provenance = model(program)
    assert names == [f"row {i + 1}" for i in kept]
    assert any("4 of 400 rows" in note for note in provenance["notes"])
    # numbers that count from 0 are not taken for those names, which would be a row off
    (program.folder / "labels.csv").write_text(",state\n" + "".join(f"{i},s{i}\n" for i in range(400)))
    program.refused("report", "m.h5", "--color", "labels.csv", "-o", "page.html", words=["400", "396"])
    holes = points.copy()
    holes[[5, 17, 200, 399], 1] = np.nan
    np.save(program.folder / "holes.npy", holes)
    program.refused("fit", "holes.npy", *FIT, words=["row 6, column 2", "--missing drop-rows"])
    program("fit", "holes.npy", *FIT, "--missing", "drop-rows", "--quiet")
    np.testing.assert_array_equal(model(program)[1], psi)
    np.save(program.folder / "points.npy", points[kept])
    program("fit", "points.npy", *FIT, "--quiet")
    np.testing.assert_array_equal(model(program)[1], psi)


def test_decimal_commas_and_gzip(program, points, plain):
    commas = [[repr(float(value)).replace(".", ",") for value in row] for row in points]
    text = "a;b;c;d\n" + "".join(";".join(row) + "\n" for row in commas)
    (program.folder / "x.csv").write_text(text)
    result, _, _ = same_fit(program, plain, "x.csv")
    assert "separated by semicolons, decimal commas, line 1 is the header" in result.stderr
    write_csv(program.folder / "x.tsv.gz", points, separator="\t", opener=gzip.open)
    result, _, _ = same_fit(program, plain, "x.tsv.gz")
    assert "gzip, separated by tabs" in result.stderr
    content = (program.folder / "x.tsv.gz").read_bytes()
    piped = subprocess.run([PROGRAM, "fit", "-", *map(str, FIT)], cwd=program.folder, input=content, capture_output=True, timeout=60)
    assert piped.returncode == 0 and b"standard input: gzip" in piped.stderr
    np.testing.assert_array_equal(model(program)[1], plain[1])
    (program.folder / "cut.tsv.gz").write_bytes(content[: len(content) // 2])
    program.refused("fit", "cut.tsv.gz", *FIT, words=["cut.tsv.gz", "cut short"])


def anndata(path, x, by="csr", pca=None):
    """An .h5ad as AnnData writes it, its X sparse."""
    columns = by == "csc"
    lines = x.T if columns else x
    index = [np.flatnonzero(line) for line in lines]
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"] = f"{by}_matrix"
        group.attrs["shape"] = np.array(x.shape)
        group["data"] = np.concatenate([line[i] for line, i in zip(lines, index)])
        group["indices"] = np.concatenate(index).astype(np.int32)
        group["indptr"] = np.cumsum([0] + [len(i) for i in index]).astype(np.int32)
        obs = file.create_group("obs")
        obs.attrs["_index"] = "_index"
        obs["_index"] = np.array([f"cell{i}" for i in range(len(x))], dtype=h5py.string_dtype())
        if pca is not None:
            file["obsm/X_pca"] = pca


@pytest.mark.parametrize("by", ["csr", "csc"])
def test_sparse_anndata(program, by):
    x = np.where(np.abs(torus()) > 0.4, torus(), 0).astype(np.float32)
    np.save(program.folder / "dense.npy", x)
    program("fit", "dense.npy", *FIT, "--quiet")
    plain = model(program)
    anndata(program.folder / "x.h5ad", x, by)
    result, names, _ = same_fit(program, plain, "x.h5ad")
    assert "/X was taken" in result.stderr and names[:2] == ["cell0", "cell1"]
    assert ("turned into rows in memory" in result.stderr) == (by == "csc")
    anndata(program.folder / "x.h5ad", x, by, pca=x[:, :2])
    result = program("fit", "x.h5ad", *FIT)
    assert "/obsm/X_pca was taken" in result.stderr
    same_fit(program, plain, "x.h5ad:/X")
    with h5py.File(program.folder / "x.h5ad", "a") as file:
        file["X/indices"][7] = 9999
    result = program.refused("fit", "x.h5ad:/X", *FIT, "--quiet", words=["x.h5ad:/X", "9999"])
    assert result.stderr.count("x.h5ad") == 1


def test_long_doubles_and_foreign_files(program, points, plain):
    np.save(program.folder / "long.npy", points.astype(np.longdouble))
    same_fit(program, plain, "long.npy")
    (program.folder / "x.parquet").write_bytes(b"PAR1")
    program.refused("fit", "x.parquet", *FIT, words=["x.parquet", "read_parquet"])


def test_pipes_are_read_once(program, points):
    write_csv(program.folder / "x.csv", points)
    text = (program.folder / "x.csv").read_text()
    for verb in ["info", "estimate"]:
        assert json.loads(program(verb, "-", "--json", stdin=text).stdout)["n"] == 400
    assert json.loads(program("info", "/dev/stdin", "--json", stdin=text).stdout)["n"] == 400
    pipe = program.folder / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(text))
    writer.start()
    assert json.loads(program("info", "pipe", "--json").stdout)["n"] == 400
    writer.join()


@pytest.mark.parametrize("verb", ["info", "fit"])
def test_a_device_without_end(program, verb):
    program.refused(verb, "/dev/zero", *(FIT if verb == "fit" else ()), words=["/dev/zero", "longer than"])


def test_no_raw_bytes_in_messages(program):
    def refuses(name, content, *shown):
        (program.folder / os.fsdecode(name)).write_bytes(content)
        result = subprocess.run([PROGRAM, "fit", name, *map(str, FIT)], cwd=program.folder, capture_output=True, timeout=60)
        assert result.returncode == 2 and result.stdout == b""
        text = result.stderr.decode("utf-8")  # or this fails
        assert all(c == "\n" or c.isprintable() for c in text), text
        for word in shown:
            assert word in text

    refuses(b"x.csv", b"1,2\n3,\x1b[2Jred\xff\n", "\\x1b[2Jred")
    refuses(b"y.csv", b"a,b\x1b]0;title\x07\n1,\x9b31m\n")
    refuses(b"\x1b[31mz\xfe.csv", b"1,2\n3,q\n", "\\x1b[31mz\\xfe.csv")
    refuses(b"x.npy", b"\x93NUMPY\x01\x00\x30\x00{'descr': '\x1b[31m\xff', 'fortran_order': False, 'shape': (1, 1)}")
    with h5py.File(program.folder / "x.h5", "w") as file:
        file[b"a\x1b[31m"] = np.zeros((2, 2))
        file[b"b\xff"] = np.zeros((2, 2))
    refuses(b"x.h5", (program.folder / "x.h5").read_bytes(), "\\x1b[31m")


def test_text_without_a_known_suffix(program, points):
    for name in ["x.dat", "x"]:
        np.savetxt(program.folder / name, points)
        assert json.loads(program("info", name, "--json").stdout)["n"] == 400
    (program.folder / "y.dat").write_bytes(bytes(range(64)))
    program.refused("info", "y.dat", words=["y.dat", "known suffixes"])


def test_a_separator_at_the_end_of_every_line(program):
    (program.folder / "x.csv").write_text("a,b,\n1,2,\n3,5,\n4,4,\n")
    told = json.loads(program("info", "x.csv", "--json").stdout)
    assert (told["n"], told["dimension"]) == (3, 2) and "the empty cell at the end of every line is left out" in told["notes"][0]
    (program.folder / "x.csv").write_text("a,b,\n1,2,\n3,5,7\n4,4,\n")
    program.refused("info", "x.csv", words=["missing values in 2 of 3 rows"])


def test_values_in_other_files_are_refused(program, points):
    """A source of a virtual dataset that is missing would be read as zeros; external storage may name any file."""
    with h5py.File(program.folder / "source.h5", "w") as file:
        file["x"] = points
    layout = h5py.VirtualLayout(shape=points.shape, dtype=points.dtype)
    layout[:] = h5py.VirtualSource(program.folder / "source.h5", "x", shape=points.shape)
    with h5py.File(program.folder / "virtual.h5", "w") as file:
        file.create_virtual_dataset("x", layout)
    (program.folder / "secret").write_bytes(bytes(points.nbytes))
    with h5py.File(program.folder / "external.h5", "w") as file:
        file.create_dataset("x", shape=points.shape, dtype=points.dtype, external=[(str(program.folder / "secret"), 0, h5py.h5f.UNLIMITED)])
    for name in ("virtual.h5", "external.h5"):
        program.refused("fit", name, *FIT, words=[name, "other files"])


def test_names_of_observations_of_other_kinds(program):
    """An index of categories or of numbers names the rows; of anything else it is said that it does not."""
    x = torus(40).astype(np.float32)

    def with_index(fill):
        anndata(program.folder / "x.h5ad", x, "csr")
        with h5py.File(program.folder / "x.h5ad", "a") as file:
            del file["obs/_index"]
            fill(file["obs"])
        result = program("fit", "x.h5ad", *FIT)
        with h5py.File(program.folder / "m.h5") as file:
            return result.stderr, [name.decode() for name in file["names"]] if "names" in file else None

    def categories(obs, codes=np.arange(40, dtype=np.int8) % 3 - 1):
        group = obs.create_group("_index")
        group.attrs["encoding-type"] = "categorical"
        group["codes"] = codes
        group["categories"] = np.array(["T cell", "B cell"], dtype=h5py.string_dtype())

    assert with_index(categories)[1][:4] == ["", "T cell", "B cell", ""]
    assert with_index(lambda obs: obs.create_dataset("_index", data=np.arange(40) + 7))[1][:2] == ["7", "8"]
    told, names = with_index(lambda obs: obs.create_dataset("_index", data=np.arange(40) / 2))
    assert names is None and "rows are not named" in told
    anndata(program.folder / "x.h5ad", x, "csr")
    with h5py.File(program.folder / "x.h5ad", "a") as file:
        del file["obs/_index"]
        categories(file["obs"], np.full(40, 2, dtype=np.int8))
    program.refused("fit", "x.h5ad", *FIT, words=["codes holds 2"])
