"""Bad input and wrong use: the exit status, the words of the message, and nothing written."""

import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import PROGRAM

FIT = ("--beta", 3, "-k", 4, "-o", "m.h5")


def with_values(x, *values):
    x = x.copy()
    for row, column, value in values:
        x[row, column] = value
    return x


@pytest.mark.parametrize("value,word", [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "inf")])
def test_values_that_are_no_numbers(program, points, value, word):
    np.save(program.folder / "bad.npy", with_values(points, (17, 2, value), (200, 1, np.nan), (399, 0, np.inf)))
    program.refused("fit", "bad.npy", *FIT, words=[word, "bad.npy", "row 18", "column 3", "2 more"])


def test_values_that_are_no_numbers_in_text(program, points):
    np.savetxt(program.folder / "bad.csv", with_values(points, (17, 2, np.nan)), delimiter=",")
    program.refused("fit", "bad.csv", *FIT, words=["bad.csv", "nan", "row 18", "column 3"])


def test_infinite_values_can_be_left_out(program, points):
    np.savetxt(program.folder / "bad.csv", with_values(points, (17, 2, np.inf)), delimiter=",")
    program.refused("fit", "bad.csv", *FIT, "--quiet", words=["infinite value in row 18, column 3", "--missing drop-rows"])
    result = program("fit", "bad.csv", *FIT, "--missing", "drop-rows")
    assert "1 of 400 rows has infinite values and is left out (row 18)" in result.stderr


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.csv", "x.txt", "x.h5:/a"])
def test_empty_files(program, name):
    (program.folder / name.split(":")[0]).write_bytes(b"")
    program.refused("fit", name, *FIT, words=["empty" if not name.startswith("x.h5") else "x.h5", name.split(":")[0]])


def test_empty_standard_input(program):
    program.refused("fit", "-", *FIT, stdin="", words=["standard input"])


def test_truncated_array(program, points):
    content = (program.folder / "points.npy").read_bytes()
    (program.folder / "cut.npy").write_bytes(content[:-100])
    program.refused("fit", "cut.npy", *FIT, words=["cut.npy"])
    (program.folder / "cut.npy").write_bytes(content[:50])
    program.refused("fit", "cut.npy", *FIT, words=["cut.npy"])


@pytest.mark.parametrize(
    "old,new",
    [
        (b"(400, 4)", b"(999, 9)"),
        (b"(400, 4)", b"(40x, 4)"),
        (b"'<f8'", b"'<q9'"),
        (b"\x93NUMPY", b"\x93NUMPX"),
        (b"'fortran_order'", b"'fortran_0rder'"),
    ],
)
def test_lying_headers(program, points, old, new):
    content = (program.folder / "points.npy").read_bytes()
    assert old in content
    (program.folder / "lies.npy").write_bytes(content.replace(old, new))
    program.refused("fit", "lies.npy", *FIT, words=["lies.npy"])


def header_only(path, shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + b"\0" * 64)


@pytest.mark.parametrize("shape", ["(4294967296, 4294967296)", "(9223372036854775807, 2)", "(99999999999999999999999, 2)", "(-4, 4)"])
def test_shapes_that_overflow(program, shape):
    header_only(program.folder / "huge.npy", shape)
    program.refused("fit", "huge.npy", *FIT, words=["huge.npy"])


@pytest.mark.parametrize("shape", ["(0, 4)", "(4, 0)"])
def test_arrays_without_points(program, shape):
    header_only(program.folder / "none.npy", shape)
    program.refused("fit", "none.npy", *FIT, words=["none.npy"])


def test_other_element_types(program):
    np.save(program.folder / "complex.npy", np.zeros((5, 2), complex))
    program.refused("fit", "complex.npy", *FIT, words=["complex"])
    np.save(program.folder / "words.npy", np.array([["a", "b"]] * 9))
    program.refused("fit", "words.npy", *FIT, words=["words.npy"])


@pytest.mark.parametrize(
    "content,words",
    [
        ("1,2\n3,4\n5,red\n7,8\n", ["red", "line 3", "column 2"]),
        ("1,2\n3,4\n5\n7,8\n", ["line 3", "1", "2"]),
        ("1,2\n3,4\n5,6,7\n7,8\n", ["line 3", "3", "2"]),
        ("1,2\n3,\n5,6\n", ["line 2", "column 2"]),
        ("a,b\n1,2\nNA,4\n5,6\n", ["line 3", "column 1"]),
        ("a,b\n", ["table.csv"]),
        ("a,b\r1,2\r3,4\r", ["carriage return", "line feed"]),
        ("a,b\n1,True\n3,False\n", ["line 2, column 2", "1 and 0"]),
        ("a,b\n(mm),(s)\n1,2\n3,4\n", ["line 2", "belongs to the header"]),
        ("Run 7\na,b\n1,2\n3,4\n", ["line 1 is a title", "start it with #"]),
        ("My table\na,b\n1,2\n3,4\n", ["line 1 is a title", "start it with #"]),
        ("My table\n1,2\n3,4\n", ["line 2", "start it with #"]),
        ("Run of May 7, 2020\n1,2\n3,4\n", ["line 1", "start it with #"]),
        ("a|b\n1|2\n3|4\n", ["'1|2' is not a number", "separated by commas"]),
        ('a,b\n"one\ntwo",3\n', ["line 2", "a quote is not closed"]),
        ("<html><body>\nNot found\n", ["holds HTML", "CSV"]),
        ('{"a": 1}\n', ["holds JSON", "CSV"]),
        ("1\0,\0002\0\n\0", ["UTF-16"]),
    ],
    ids=["text column", "short row", "long row", "missing cell", "missing word", "header only", "old Mac", "truth values", "units", "title",
         "title over a header", "title over numbers", "title with a comma", "bars", "line end in a cell", "web page", "JSON", "UTF-16"],
)
def test_bad_text(program, content, words):
    (program.folder / "table.csv").write_text(content, newline="")
    program.refused("fit", "table.csv", "--beta", 1, "-k", 1, "-o", "m.h5", words=["table.csv", *words])


@pytest.mark.parametrize("name,word", [("x.xlsx", "spreadsheet"), ("x.xls", "spreadsheet"), ("x.zip", "unpack"), ("x.parquet", "to_csv")])
def test_files_of_other_programs(program, name, word):
    (program.folder / name).write_bytes(b"PK\x03\x04" + bytes(100))
    program.refused("fit", name, *FIT, words=[name, word])


def test_archive_with_two_arrays(program, points):
    np.savez(program.folder / "two.npz", left=points, right=points)
    program.refused("fit", "two.npz", *FIT, words=["left", "right", "two.npz:"])
    program.refused("fit", "two.npz:middle", *FIT, words=["middle", "left", "right"])
    (program.folder / "broken.npz").write_bytes((program.folder / "two.npz").read_bytes()[:3000])
    program.refused("fit", "broken.npz", *FIT, words=["broken.npz"])


def test_one_and_three_dimensional_arrays(program):
    np.save(program.folder / "line.npy", np.zeros(10))
    program.refused("fit", "line.npy", *FIT, words=["line.npy", "reshape"])
    np.save(program.folder / "cube.npy", np.zeros((4, 5, 6)))
    program.refused("fit", "cube.npy", *FIT, words=["cube.npy", "reshape"])


def test_hdf5_paths(program, points):
    with h5py.File(program.folder / "x.h5", "w") as file:
        file["group/values"] = points
        file["other"] = points
    program.refused("fit", "x.h5:/nowhere", *FIT, words=["nowhere"])
    program.refused("fit", "x.h5", *FIT, words=["group/values", "other"])


def test_stacked_files_must_agree(program, points):
    np.save(program.folder / "wide.npy", np.zeros((3, 9)))
    program.refused("fit", "points.npy", "wide.npy", *FIT, words=["4", "9", "wide.npy"])


def test_missing_and_directory_paths(program, points):
    (program.folder / "folder.npy").mkdir()
    program.refused("fit", "nowhere.npy", *FIT, status=3, words=["nowhere.npy"])
    program.refused("fit", "folder.npy", *FIT, status=3, words=["folder.npy"])
    program.refused("info", "nowhere.h5", status=3, words=["nowhere.h5"])


def test_forbidden_paths(points):
    """Root may read and write everything, so root becomes nobody for this."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        np.save(folder / "points.npy", points)
        np.save(folder / "secret.npy", points)
        (folder / "points.npy").chmod(0o444)
        (folder / "secret.npy").chmod(0)
        (folder / "locked").mkdir(mode=0o555)

        def run(*arguments):
            drop = (lambda: os.setuid(65534)) if os.geteuid() == 0 else None
            try:
                return subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=60, preexec_fn=drop)
            except (PermissionError, subprocess.SubprocessError):
                pytest.skip("another user may not run this program where it stands")

        for arguments, word in [
            (("secret.npy", "--beta", "3", "-o", "m.h5"), "secret.npy"),
            (("points.npy", "--beta", "3", "-o", "locked/m.h5"), "locked"),
        ]:
            result = run("fit", *arguments)
            assert result.returncode == 3 and word in result.stderr and "permission" in result.stderr.lower(), result.stderr
        assert sorted(p.name for p in folder.rglob("*")) == ["locked", "points.npy", "secret.npy"]


def test_modes_and_rows(program, points):
    program.refused("fit", "points.npy", "--beta", 3, "-k", 400, "-o", "m.h5", words=["400"])
    program.refused("fit", "points.npy", "--beta", 3, "-k", 0, "-o", "m.h5", words=["--modes"])
    program.refused("fit", "points.npy", "--beta", 3, "-k", -2, "-o", "m.h5", words=["--modes", "-2"])
    np.save(program.folder / "single.npy", np.zeros((1, 3)))
    program.refused("fit", "single.npy", "--beta", 3, "-k", 1, "-o", "m.h5", words=["1"])


def test_all_points_equal(program):
    np.save(program.folder / "same.npy", np.full((50, 3), 2.5))
    program.refused("fit", "same.npy", *FIT, words=["no geometry"])


@pytest.mark.parametrize(
    "arguments,words",
    [
        (("--alpha", 1.5), ["--alpha", "1.5"]),
        (("--alpha", -0.1), ["--alpha", "-0.1"]),
        (("--alpha", "nan"), ["--alpha"]),
        (("--beta", 0), ["--beta", "0"]),
        (("--beta", -1), ["--beta", "-1"]),
        (("--beta", "inf"), ["--beta", "inf"]),
        (("--beta", "nan"), ["--beta", "nan"]),
        (("--beta", "wide"), ["--beta", "wide", "number"]),
        (("--sigma", 0), ["--sigma"]),
        (("--sigma", 1e200), ["--sigma"]),
        (("--beta", 1, "--sigma", 2), ["--beta", "--sigma"]),
        (("--gamma", 1, "--epsilon", 2, "--epsilon-convention", "datafold"), ["--gamma", "--epsilon"]),
        (("--epsilon", 2), ["--epsilon-convention", "datafold"]),
        (("--epsilon-convention", "datafold"), ["--epsilon"]),
        (("--beta", 1, "--precision", "fp33"), ["fp33", "fp32"]),
        (("--beta", 1, "--precision", ""), ["--precision"]),
        (("--beta", 1, "--tolerance", 0), ["--tolerance"]),
        (("--beta", 1, "--select", "best"), ["--select", "robust"]),
        (("--beta", 1, "--backend", "abacus"), ["--backend", "cpu"]),
        (("--beta", 1, "--threads", -1), ["--threads"]),
        (("--beta", 1, "--threads", 1000000), ["--threads"]),
        (("--beta", 1, "--memory", "lots"), ["--memory", "4G"]),
        (("--beta", 1, "--memory", ""), ["--memory", "500M"]),
        (("--beta", 1, "--ranks", 0), ["--ranks 0"]),
        (("--beta", 1, "--rows-a-rank", 0), ["--rows-a-rank 0"]),
        (("--beta", 1, "--checkpoint-every", "nan"), ["--checkpoint-every", "zero or more"]),
        (("--beta", 1, "--memory", "-4G"), ["--memory -4G", "500M"]),
        (("--beta", 1e308), ["--beta 1e+308 is more than fp32 can hold", "smaller"]),
        (("--beta", 1, "--block", "99999999999999999999"), ["--block", "too large"]),
        (("--beta0", -1), ["--beta0"]),
        (("--beta0-cap", "tall"), ["--beta0-cap", "none"]),
        (("--components", 0), ["--components"]),
        (("--components", 100000), ["--components 100000", "--modes 16", "fewer components"]),
        (("--components", 6, "-k", 5), ["--components 6", "--modes 5"]),
        (("--components", 100000, "--beta", 1), ["--components 100000"]),
        (("--beta0", 5, "--beta-max", 1), ["--beta0 5", "--beta-max 1"]),
        (("--beta-max", 0), ["--beta-max 0"]),
        (("--beta", 1, "--tolerance", 2), ["--tolerance 2"]),
        (("--beta", 1, "--block", 401), ["--block 401", "400 points"]),
        (("--beta", 1, "-k", 300, "--trim", 0.4), ["300 modes", "240 points", "--trim 0.4"]),
        (("--betta", 1), ["--betta", "did you mean --beta"]),
        (("--beta",), ["--beta"]),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_bad_options(program, points, arguments, words):
    program.refused("fit", "points.npy", "-o", "m.h5", *arguments, words=words)


def test_the_default_number_of_modes_gives_way(program, points):
    np.save(program.folder / "few.npy", points[:9])
    result = program("fit", "few.npy", "--beta", 0.5, "-o", "m.h5")
    assert "note: 8 modes: 9 rows have no more" in result.stderr
    with h5py.File(program.folder / "m.h5") as model:
        assert model.attrs["modes"] == 8 and model["psi"].shape == (9, 8)
    for k in (9, 16):
        program.refused("fit", "few.npy", "--beta", 0.5, "-k", k, "-o", "n.h5", words=[f"{k} modes", "at most 8"])
        program.refused("estimate", "few.npy", "-k", k, words=[f"{k} modes", "at most 8"])
    assert "9 rows" in program("estimate", "few.npy").stdout


def test_options_without_effect_are_remarked(program, points):
    for options, words in [
        (("--beta", 3, "--beta0", 1), "--beta0 has no effect where the bandwidth is given"),
        (("--beta0", 1, "--beta0-cap", 0.2), "--beta0-cap has no effect beside --beta0"),
        (("--beta0-cap", 0.2), "--beta0-cap has no effect without --select paper or continuation"),
    ]:
        assert words in program("fit", "points.npy", "-k", 3, *options, "-o", "m.h5").stderr


def test_wishes_that_the_solver_cannot_take_are_remarked(program, points):
    for options, words in [
        (("--block", 3), "note: --block 3 is taken as 4"),
        (("--basis", 5), "note: --basis 5 is too small for 8 modes and blocks of 8"),
    ]:
        for verb in (("fit", "points.npy", "-o", "m.h5"), ("estimate", "points.npy")):
            assert words in program(*verb, "--beta", 3, "-k", 8, *options).stderr


@pytest.mark.parametrize("value", [1e37, -1e39, 1e100])
@pytest.mark.parametrize("precision", ["fp32", "tf32", "bf16,fp32"])
def test_fill_values(program, points, value, precision):
    np.save(program.folder / "filled.npy", with_values(points, (17, 2, value)))
    for bandwidth in (("--beta", 3), ()):
        program.refused("fit", "filled.npy", *bandwidth, "--precision", precision, "-k", 4, "-o", "m.h5",
                        words=["filled.npy", "row 18, column 3", f"{value:g}", "fill value"])


def test_values_whose_squares_overflow(program, points):
    np.save(program.folder / "filled.npy", with_values(points, (17, 2, 1e200)))
    program.refused("fit", "filled.npy", *FIT, "--precision", "fp64", words=["row 18, column 3", "1e+200"])


def test_a_row_that_dwarfs_the_rest_is_remarked(program, points):
    np.save(program.folder / "far.npy", with_values(points, (17, 2, 1e6)))
    words = "row 18 lies more than 30 times as far out as 95 in 100 rows (farthest: row 18, 1e+06 in column 3)"
    kept = program("fit", "far.npy", "-k", 4, "--trim", 0, "-o", "m.h5", status=1)
    assert words in kept.stderr and words in kept.stdout
    aside = program("fit", "far.npy", "-k", 4, "-o", "m.h5")
    assert words in aside.stderr and words not in aside.stdout
    assert "1 of 400 rows (row 18) that the others do not resolve is placed by extension" in aside.stdout


@pytest.mark.parametrize("threads", ["-1", "abc", "100000", "2.5"])
def test_threads_of_the_environment(program, points, threads):
    result = program("fit", "points.npy", *FIT, status=2, environment={"FLASHDIFFUSION_THREADS": threads})
    assert f"FLASHDIFFUSION_THREADS={threads} is not a number of threads" in result.stderr
    assert not (program.folder / "m.h5").exists()


@pytest.mark.parametrize("how", ["option", "environment"])
def test_threads_that_cannot_be_started(program, points, how):
    limit = 2 << 30
    result = subprocess.run(
        [PROGRAM, "fit", "points.npy", "--beta", "3", "-o", "m.h5", *(["--threads", "4000"] if how == "option" else [])],
        cwd=program.folder, capture_output=True, text=True, timeout=60,
        env={**os.environ, "FLASHDIFFUSION_THREADS": "4000"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert result.returncode == 3 and "of 4000 threads could be started" in result.stderr, result.stderr
    assert "--threads" in result.stderr and not (program.folder / "m.h5").exists()


def test_a_budget_that_cannot_hold_the_fit(program, points):
    program.refused("fit", "points.npy", *FIT, "--memory", "1M", status=3, words=["400 rows", "MB of memory", "--memory 1000000"])
    result = program("fit", "points.npy", *FIT, "--memory", "200M", "--json")
    assert json.loads(result.stdout)["peak_rss_bytes"] < 200e6


def test_more_rows_than_memory_holds_are_refused_before_they_are_read(program):
    """A sparse file of 10^9 rows: reading it would take a minute, its header takes no time."""
    header_only(program.folder / "huge.npy", "(1000000000, 20)")
    size = (program.folder / "huge.npy").stat().st_size - 64 + 8 * 20 * 10**9
    os.truncate(program.folder / "huge.npy", size)
    start = time.monotonic()
    program.refused("fit", "huge.npy", "-o", "m.h5", status=3, words=["1000000000 rows", "GB of memory", "are free"])
    assert time.monotonic() - start < 20
    assert "fit will refuse" in program("info", "huge.npy").stdout


def test_output_is_checked_before_the_fit(program, points):
    program.refused("fit", "points.npy", "--beta", 3, words=["-o model.h5"])
    program.refused("fit", "points.npy", "--beta", 3, "-o", "nowhere/m.h5", status=3, words=["nowhere"])
    program.refused("fit", "points.npy", "--beta", 3, "-o", ".", status=3, words=["."])
    program.refused("fit", "points.npy", "--beta", 3, "-o", "points.npy/m.h5", status=3, words=["points.npy"])
    shutil.copy(program.folder / "points.npy", program.folder / "points")
    program.refused("fit", "points", "--beta", 3, "-o", "points", words=["replace", "points"])
    for name in ["m.npy", "m.csv"]:
        program.refused("fit", "points.npy", "--beta", 3, "-o", name, words=["HDF5", f"--coordinates {name}"])
    # Before the fit means before the points are even opened.
    program.refused("fit", "missing.npy", "--beta", 3, "-o", "nowhere/m.h5", status=3, words=["nowhere/m.h5"])


def test_full_disk(program, points):
    small = program.folder / "small"
    small.mkdir()
    mount = shutil.which("mount")
    command = [mount, "-t", "tmpfs", "-o", "size=32k", "tmpfs", small]
    if os.geteuid() != 0 or mount is None or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("a full disk is made with a small tmpfs, which this user may not mount")
    try:
        program.refused("fit", "points.npy", "--beta", 3, "-k", 16, "-o", "small/m.h5", status=3, words=["small/m.h5"])
        (small / "m.h5").write_bytes(b"what was there before")
        program.refused("fit", "points.npy", "--beta", 3, "-k", 16, "-o", "small/m.h5", status=3, words=["small/m.h5"])
        assert (small / "m.h5").read_bytes() == b"what was there before"
    finally:
        subprocess.run(["umount", small], check=True)


def test_not_enough_memory(program):
    """An address space too small for the points: a message and a status, no crash."""
    x = np.lib.format.open_memmap(program.folder / "large.npy", mode="w+", dtype=np.float32, shape=(300_000, 128))
    x[:2000] = np.random.default_rng(0).normal(size=(2000, 128))
    x.flush()
    del x
    limit = 150 << 20
    result = subprocess.run(
        [PROGRAM, "fit", "large.npy", "--beta", "1", "-o", "m.h5", "--threads", "1"],
        cwd=program.folder, capture_output=True, text=True, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert result.returncode == 3, result.stderr
    assert "memory" in result.stderr or "allocate" in result.stderr
    assert [name for name, _ in program.files()] == ["large.npy"]


def test_what_must_be_a_file_is_not_standard_output(program, points):
    fit = ("fit", "points.npy", "--beta", 3, "-k", 2, "--quiet")
    program.refused(*fit, "-o", "-", words=["--output -", "HDF5", "name a file"])
    for option in ("--report", "--coordinates", "--checkpoint", "--log"):
        program.refused(*fit, "-o", "model.h5", option, "-", words=[option + " -", "name a file"])


def huge(path, rows, columns):
    """A table of zeros that takes no room on the disk."""
    np.lib.format.open_memmap(path, "w+", dtype=np.float32, shape=(rows, columns)).flush()


def limited(program, *arguments, memory=2 << 30):
    return subprocess.run([program.path, *map(str, arguments)], cwd=program.folder, capture_output=True, text=True, timeout=30,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)))


def test_memory_is_looked_at_before_rows_are_dropped(program):
    """Rows with missing values are found by reading all: not where the fit will be refused anyway."""
    huge(program.folder / "huge.npy", 1_000_000_000, 8)
    before = time.monotonic()
    result = limited(program, "fit", "huge.npy", "--missing", "drop-rows", "-o", "m.h5")
    assert result.returncode == 3 and "1000000000 rows" in result.stderr and "GB" in result.stderr, result.stderr
    assert time.monotonic() - before < 10


def test_support_looks_at_the_memory(program):
    huge(program.folder / "wide.npy", 3, 1_000_000_000)
    result = limited(program, "support", "wide.npy", "--beta", 1)
    assert result.returncode == 3 and "3 rows" in result.stderr and "--rows" in result.stderr, result.stderr
    assert "--no-points" not in result.stderr
