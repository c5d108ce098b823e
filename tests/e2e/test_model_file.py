"""Model files and other HDF5: damage, edits and failing disks are errors; what is written is whole or not there."""

import os
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import PROGRAM

FIT = ("fit", "points.npy", "--beta", 3, "-k", 4, "--threads", 1, "--quiet")


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(folder, *arguments, environment=None, before=None):
    """The result, and the processor time of it all: a busy machine or disk is no fault of the program."""
    start = processor_seconds()
    result = subprocess.run(
        [PROGRAM, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=120,
        env={**os.environ, **(environment or {})}, preexec_fn=before,
    )
    return result, processor_seconds() - start


def annotated(path, points):
    """A file as AnnData writes them: compressed chunks, strings of variable length, groups with attributes."""
    with h5py.File(path, "w") as file:
        file.attrs["encoding-type"] = "anndata"
        file.create_dataset("obsm/X_pca", data=points.astype(np.float32), chunks=(64, 4), compression="gzip")
        file.create_dataset("X", data=points.astype(np.float32), chunks=(100, 2))
        names = file.create_dataset("obs/_index", data=[f"cell {i}" for i in range(len(points))], dtype=h5py.string_dtype())
        names.attrs["encoding-type"] = "string-array"
        file["obs"].attrs["_index"] = "_index"


def flipped(content, rng, flips=1):
    content = bytearray(content)
    for _ in range(flips):
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
    return bytes(content)


def check_ending(result, seconds, allowed=(0, 1, 2, 3)):
    assert result.returncode in allowed, f"exit status {result.returncode}: {result.stderr}"
    assert seconds < 10, seconds
    assert "infinite loop" not in result.stderr and len(result.stderr.splitlines()) <= 12, result.stderr


def test_flipped_bits_of_a_model(program, points):
    """Data sections too: transform refuses every changed bit; info reads headers only, and ends cleanly."""
    program(*FIT, "-o", "model.h5")
    content, rng = (program.folder / "model.h5").read_bytes(), np.random.default_rng(3)
    np.save(program.folder / "fresh.npy", points[:5])
    for _ in range(int(os.environ.get("FD_FLIPS", 25))):
        (program.folder / "flip.h5").write_bytes(flipped(content[: content.rfind(b"\nflashdiffusion seal")], rng)
                                                 + content[content.rfind(b"\nflashdiffusion seal"):])
        result, seconds = run(program.folder, "transform", "flip.h5", "fresh.npy", "-o", "c.npy")
        check_ending(result, seconds, allowed=(2,))
        assert "damaged" in result.stderr
        check_ending(*run(program.folder, "info", "flip.h5"))


def test_flipped_bits_without_a_seal(program, points):
    """An edited model has no seal: HDF5 meets every bit, in a child."""
    program(*FIT, "-o", "model.h5")
    with h5py.File(program.folder / "model.h5", "a") as file:
        file.attrs["comment"] = "edited"  # of variable length, as h5py writes it
    content, rng = (program.folder / "model.h5").read_bytes(), np.random.default_rng(4)
    assert b"flashdiffusion seal" not in content
    np.save(program.folder / "fresh.npy", points[:5])
    headers = 3000  # where damage hurts most
    for i in range(int(os.environ.get("FD_FLIPS", 25))):
        bad = flipped(content, rng) if i % 2 else flipped(content[-headers:], rng, 3)
        (program.folder / "flip.h5").write_bytes(bad if i % 2 else content[:-headers] + bad)
        check_ending(*run(program.folder, "transform", "flip.h5", "fresh.npy", "-o", "c.npy"))
        check_ending(*run(program.folder, "info", "flip.h5"))


def test_flipped_bits_of_annotated_data(program, points):
    annotated(program.folder / "cells.h5ad", points)
    content, rng = (program.folder / "cells.h5ad").read_bytes(), np.random.default_rng(5)
    for _ in range(int(os.environ.get("FD_FLIPS", 25))):
        (program.folder / "flip.h5ad").write_bytes(flipped(content, rng, 1 + rng.integers(4)))
        check_ending(*run(program.folder, "info", "flip.h5ad"))
        check_ending(*run(program.folder, "fit", "flip.h5ad:/obsm/X_pca", "--beta", 3, "-k", 2, "--quiet", "-o", "m.h5"))


@pytest.mark.parametrize("arguments", [(*FIT, "-o", "out.h5"), ("transform", "model.h5", "points.npy", "-o", "out.npy")])
def test_every_write_may_fail(program, points, failing_writes, arguments):
    program(*FIT, "-o", "model.h5")
    output, calls = program.folder / arguments[-1], program.folder / "calls"
    result, _ = run(program.folder, *arguments, environment={**failing_writes, "FAIL_AT": "0", "FAIL_COUNT": str(calls)})
    assert result.returncode == 0, result.stderr
    count = int(calls.read_text())
    calls.unlink()
    assert count >= 3  # the writes, a flush and a rename
    for at in range(1, count + 1, max(1, count // 30)):
        output.write_bytes(b"what was there before")
        result, seconds = run(program.folder, *arguments, environment={**failing_writes, "FAIL_AT": str(at)})
        check_ending(result, seconds)
        left = sorted(path.name for path in program.folder.iterdir())
        assert left == sorted({"model.h5", "points.npy", output.name}), (at, left)
        if output.read_bytes() == b"what was there before":
            assert result.returncode == 3 and output.name in result.stderr, (at, result.returncode, result.stderr)
        else:  # the flush of the folder, after the rename
            assert result.returncode == 0, (at, result.stderr)
            (h5py.File if output.suffix == ".h5" else np.load)(output)


def test_no_free_descriptor_is_no_damage(program, points):
    program(*FIT, "-o", "model.h5")
    for limit in (4, 5):
        command = f'ulimit -n {limit}; exec "{PROGRAM}" info model.h5'
        result = subprocess.run(["sh", "-c", command], cwd=program.folder, capture_output=True, text=True, timeout=60)
        assert result.returncode == 3 and "Too many open files" in result.stderr and "damaged" not in result.stderr


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("arguments", [
    (*FIT, "-o", "out.h5"),
    ("transform", "model.h5", "points.npy", "-o", "out.csv"),
    ("decode", "model.h5", "points.npy", "-o", "out.csv"),
    ("report", "model.h5", "-o", "out.html"),
], ids=lambda arguments: arguments[0])
def test_signals_while_writing(program, points, failing_writes, arguments, number):
    """Whole or nothing, no temporary file, and nobody says that nothing was written where it was."""
    program(*FIT, "-o", "model.h5")
    output = program.folder / arguments[-1]
    for at in (1, 2, 3, 5, 20):
        environment = {**failing_writes, "FAIL_AT": str(at), "FAIL_SIGNAL": str(int(number))}
        result, _ = run(program.folder, *arguments, environment=environment)
        assert result.returncode in (0, 130), result.stderr
        assert [path.name for path in program.folder.glob(".*")] == []
        assert output.exists() != ("nothing was written" in result.stderr), result.stderr
        if output.exists():
            if output.suffix == ".h5":
                program("info", "out.h5")
            output.unlink()


def test_the_end_of_the_session(program):
    np.save(program.folder / "points.npy", np.random.default_rng(0).normal(size=(20000, 8)))
    arguments = [PROGRAM, "fit", "points.npy", "--beta", "1", "-k", "8", "--precision", "fp64", "-o", "m.h5"]
    for ignored, status in ((False, 130), (True, -signal.SIGKILL)):
        before = (lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) if ignored else None
        process = subprocess.Popen(arguments, cwd=program.folder, stderr=subprocess.PIPE, preexec_fn=before)
        time.sleep(1)
        process.send_signal(signal.SIGHUP)
        if ignored:  # under nohup it goes on
            time.sleep(1)
            assert process.poll() is None
            process.kill()
        assert process.wait(timeout=30) == status
        process.stderr.close()
        assert [path.name for path in program.folder.iterdir()] == ["points.npy"]


def test_limits_on_file_sizes(program, points):
    for size in (0, 100, 5000, 20000):
        result, _ = run(program.folder, *FIT, "-o", "m.h5", before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
        assert result.returncode == 3 and "m.h5" in result.stderr, (size, result.returncode, result.stderr)
        assert program.files() == [("points.npy", (program.folder / "points.npy").stat().st_size)]


def test_modes_and_links_are_kept(program, points):
    (program.folder / "real").mkdir()
    (program.folder / "model.h5").symlink_to("real/model.h5")
    for _ in range(2):  # the link leads nowhere, then to a file
        program(*FIT, "-o", "model.h5")
        assert (program.folder / "model.h5").is_symlink() and (program.folder / "real/model.h5").is_file()
        (program.folder / "real/model.h5").chmod(0o640)
    program(*FIT, "-o", "model.h5")
    assert (program.folder / "real/model.h5").stat().st_mode & 0o777 == 0o640


def test_a_file_cut_during_the_fit(program):
    x = np.random.default_rng(0).normal(size=(8000, 8))
    with h5py.File(program.folder / "x.h5", "w") as file:
        file["x"] = x
    arguments = [PROGRAM, "fit", "x.h5", "--beta", "1", "-k", "8", "--precision", "fp64", "--threads", "1", "-o", "m.h5"]
    process = subprocess.Popen(arguments, cwd=program.folder, stderr=subprocess.PIPE, text=True)
    time.sleep(0.7)
    assert process.poll() is None, "the fit was too short for this test"
    os.truncate(program.folder / "x.h5", 100000)
    error = process.communicate(timeout=100)[1]
    assert process.returncode == 3 and "x.h5" in error, error
    assert [path.name for path in program.folder.iterdir()] == ["x.h5"]


def test_arrays_that_are_claimed_only(program, points):
    """Sparse claims cost neither memory nor time."""
    program(*FIT, "-o", "model.h5")
    with h5py.File(program.folder / "model.h5", "a") as file:
        del file["q"]
        file.create_dataset("q", shape=(300_000_000,), dtype="f8")
    limit = 1 << 30
    result, _ = run(program.folder, "transform", "model.h5", "points.npy", "-o", "c.npy",
                    before=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    assert result.returncode == 2 and "/q" in result.stderr and "damaged" in result.stderr, result.stderr


def test_values_that_no_fit_gives(program, points):
    """An edited model has no seal; what would lead to NaN or infinity is damage."""
    program(*FIT, "-o", "whole.h5")
    for name, entries, value in [("q", 17, 1e-90), ("psi", slice(None), 1e38), ("psi", 3, 1e30), ("residuals", 1, np.nan), ("residuals", 1, -1)]:
        shutil.copy(program.folder / "whole.h5", program.folder / "model.h5")
        with h5py.File(program.folder / "model.h5", "a") as file:
            file[name][entries] = value
        program.refused("transform", "model.h5", "points.npy", "-o", "c.npy", words=["model.h5 is damaged", name.rstrip("s")])


def test_links_to_other_files_are_refused(program, points):
    program(*FIT, "-o", "model.h5")
    shutil.copy(program.folder / "model.h5", program.folder / "other.h5")
    for name in ("psi", "sweep", "provenance"):
        shutil.copy(program.folder / "other.h5", program.folder / "model.h5")
        with h5py.File(program.folder / "model.h5", "a") as file:
            del file[name]
            file[name] = h5py.ExternalLink("other.h5", "/" + name)
        program.refused("transform", "model.h5", "points.npy", "-o", "c.npy", words=["model.h5", f"/{name} is a link to another file"])


def test_the_model_is_there_where_the_report_is_not(program, points):
    size = 200_000  # room for the model, not for the page
    result, _ = run(program.folder, *FIT, "-o", "model.h5", "--report", "report.html",
                    before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
    assert result.returncode == 3 and "report.html" in result.stderr and "the model was written to model.h5" in result.stderr, result.stderr
    assert (program.folder / "model.h5").exists() and not (program.folder / "report.html").exists()


def test_info_of_broken_points_speaks_of_points(program, points):
    annotated(program.folder / "cells.h5ad", points)
    content = (program.folder / "cells.h5ad").read_bytes()
    (program.folder / "cells.h5ad").write_bytes(content[: len(content) // 2])
    assert "repeat the fit" not in program.refused("info", "cells.h5ad", words=["cells.h5ad", "cut short"]).stderr
