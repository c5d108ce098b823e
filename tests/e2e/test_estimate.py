"""estimate: what a fit will take, from a file or from two numbers; and fit's own forecast."""

import json
import resource
import subprocess

import numpy as np
from conftest import PROGRAM, torus


def test_from_two_numbers(program):
    told = json.loads(program("estimate", 50_000, 24, "-k", 4, "--json").stdout)
    assert (told["n"], told["dimension"], told["modes"]) == (50_000, 24, 4)
    assert told["seconds"] > 0 and told["passes"] >= told["full_passes"] > 0 and told["columns"] > told["passes"]
    lean = json.loads(program("estimate", 50_000, 24, "-k", 4, "--memory", 0, "--json").stdout)
    assert 50_000 * 24 * 4 < lean["memory_bytes"] < 1e9
    assert lean["memory_bytes"] <= told["memory_bytes"] < lean["memory_bytes"] + 50_000**2 * 2.2  # half of the kernel in fp32, where there is room
    text = program("estimate", 50_000, 24, "-k", 4).stdout
    for word in ("50000 rows, 24 columns", "passes", "time", "memory"):
        assert word in text


def test_points_that_do_not_exist_take_no_memory(program):
    limit = 2 << 30
    result = subprocess.run([PROGRAM, "estimate", "1000000000", "20", "--threads", "1", "--json"], capture_output=True, text=True, timeout=60,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["n"] == 1_000_000_000


def test_from_a_file_without_reading_it_all(program):
    np.save(program.folder / "points.npy", torus(3000))
    told = json.loads(program("estimate", "points.npy", "--beta", 0.5, "-k", 3, "--json").stdout)
    assert told["n"] == 3000 and told["passes"] == told["full_passes"]
    searched = json.loads(program("estimate", "points.npy", "-k", 3, "--json").stdout)
    assert searched["passes"] > told["passes"]


def test_what_cannot_be_estimated_is_refused(program):
    program.refused("estimate", "nothing.npy", status=3, words=["nothing.npy"])
    program.refused("estimate", 100, 3, "-k", 100, words=["100 modes", "fewer"])
    program.refused("estimate", 100, 0, words=["column"])
    program.refused("estimate", 100, words=["rows and columns"])
    program.refused("estimate", 2**62, 2, words=[f"{2**62} rows and 2 columns", "more values than any machine holds"])
    program.refused("estimate", 10**12, 10**6, words=["more values than any machine holds"])
    program.refused("estimate", 1000, 10**24, words=[f"{10**24}", "any table"])


def test_a_wide_table_takes_no_longer(program):
    narrow = json.loads(program("estimate", 50_000, 1_000, "-k", 4, "--memory", 0, "--json").stdout)
    wide = json.loads(program("estimate", 50_000, 1_000_000, "-k", 4, "--memory", 0, "--json").stdout)
    assert 100 < wide["seconds"] / narrow["seconds"] < 10_000
    told = json.loads(program("estimate", 2**50, 1, "-k", 4, "--json").stdout)
    assert told["seconds"] > 1e15 and told["memory_bytes"] > 2**50


def test_a_fit_tells_what_it_expects(program):
    np.save(program.folder / "points.npy", torus(3000))
    program("fit", "points.npy", "-k", 3, "--trim", "auto", "-o", "model.h5")
    program.refused("fit", "points.npy", "--trim", 0.6, "-o", "x.h5", words=["--trim 0.6", "0.5"])
    program.refused("fit", "points.npy", "--trim", "some", "-o", "x.h5", words=["--trim some", "auto"])


def test_what_a_fit_would_refuse_is_said(program):
    np.save(program.folder / "points.npy", torus(3000))
    told = json.loads(program("estimate", "points.npy", "-k", 3, "--memory", "1M", "--json").stdout)
    assert told["fits_in_memory"] is False and told["memory_bytes"] > 1e6
    assert "fit will refuse" in program("estimate", "points.npy", "-k", 3, "--memory", "1M").stdout
    told = json.loads(program("estimate", "points.npy", "-k", 3, "--json").stdout)
    assert told["fits_in_memory"] is True


def test_what_all_rows_would_need_is_said_first(program):
    """A sample of many rows takes a while."""
    np.save(program.folder / "points.npy", torus(3000))
    result = program("estimate", "points.npy", "-k", 3, "--memory", "1M")
    assert "note: a fit of 3000 rows" in result.stderr and "--memory" in result.stderr
    assert "a fit of" not in program("estimate", "points.npy", "-k", 3).stderr
