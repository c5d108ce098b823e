"""Fits that are interrupted, and gone on with by the same command."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import PROGRAM, torus

KILL_AND_RESUME = pathlib.Path(__file__).parents[1] / "crash" / "kill_and_resume.py"


def interrupted(program, *arguments, how=signal.SIGTERM):
    """A fit with a checkpoint, stopped once there is something to keep."""
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=program.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (program.folder / "state").exists():
        assert process.poll() is None, "the fit was over before it was stopped"
        time.sleep(0.05)
    process.send_signal(how)
    _, said = process.communicate(timeout=30)
    return process.returncode, said


def test_killed_at_random_moments_and_gone_on_with():
    result = subprocess.run([sys.executable, KILL_AND_RESUME, PROGRAM, "--kills", "8"], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_leaves_a_state_and_the_same_command_goes_on(program, how):
    np.save(program.folder / "x.npy", np.random.default_rng(0).normal(size=(40000, 20)).astype(np.float32))
    fit = ["fit", "x.npy", "--beta", 0.02, "-k", 4, "-o", "m.h5", "--checkpoint", "state", "--max-passes"]
    status, said = interrupted(program, *fit, 90, "--tolerance", 1e-7, "--checkpoint-every", 0, how=how)
    assert status == 130 and "state holds what was found so far" in said and "same command" in said
    names = [name for name, _ in program.files()]
    assert names == ["state", "x.npy"]
    # another fit is refused by what differs, and nothing is touched
    program.refused(*fit, 3, "--quiet", words=["another fit", "max_passes 90 there, 3 here", "tolerance"])
    result = program(*fit, 3, "--no-checkpoint", status=2)
    assert "contradict" in result.stderr


def test_what_is_damaged_is_refused(program):
    np.save(program.folder / "x.npy", torus(300))
    (program.folder / "state").write_bytes(b"anything")
    program.refused("fit", "x.npy", "-k", 3, "-o", "m.h5", "--checkpoint", "state", words=["state", "not a whole checkpoint"])
    program.refused("fit", "x.npy", "-k", 3, "-o", "m.h5", "--checkpoint", "m.h5", words=["--checkpoint"])
    program.refused("fit", "x.npy", "-k", 3, "-o", "m.h5", "--checkpoint", "x.npy", words=["x.npy"])
    program.refused("fit", "x.npy", "-k", 3, "-o", "m.h5", "--checkpoint", "nowhere/state", status=3, words=["nowhere"])


def test_nothing_is_kept_of_a_short_fit(program):
    np.save(program.folder / "x.npy", torus(300))
    program("fit", "x.npy", "-k", 3, "-o", "m.h5")
    assert [name for name, _ in program.files()] == ["m.h5", "x.npy"]
    program("fit", "x.npy", "-k", 3, "-o", "m.h5", "--checkpoint", "state", "--checkpoint-every", 0)
    assert [name for name, _ in program.files()] == ["m.h5", "x.npy"]


def test_a_link_stays_and_a_model_is_no_checkpoint(program):
    np.save(program.folder / "x.npy", torus(300))
    (program.folder / "far").mkdir()
    (program.folder / "link").symlink_to("far/state")
    fit = ["fit", "x.npy", "-k", 3, "-o", "m.h5", "--checkpoint-every", 0, "--checkpoint"]
    program(*fit, "link")
    assert (program.folder / "link").is_symlink() and not (program.folder / "far" / "state").exists()
    program("fit", "x.npy", "-k", 3, "-o", "other.h5")
    program.refused(*fit, "other.h5", words=["other.h5", "not a checkpoint", "name another"])


def small_disk(folder, size):
    mount = shutil.which("mount")
    folder.mkdir()
    if os.geteuid() != 0 or mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder],
                                                            capture_output=True).returncode != 0:
        pytest.skip("a full disk is made with a small tmpfs, which this user may not mount")


def test_a_model_that_cannot_be_written_leaves_the_checkpoint(program):
    small_disk(program.folder / "small", "64k")
    try:
        np.save(program.folder / "x.npy", torus(3000))
        fit = ["fit", "x.npy", "-k", 3, "--checkpoint", "state", "--checkpoint-every", 0]
        program(*fit, "-o", "small/m.h5", status=3)
        assert (program.folder / "state").exists()
        result = program(*fit, "-o", "m.h5")
        assert "going on from state" in result.stderr and not (program.folder / "state").exists()
    finally:
        subprocess.run(["umount", program.folder / "small"], check=True)


def test_a_full_disk_is_remarked_on_and_the_fit_goes_on(program):
    small = program.folder / "small"
    small_disk(small, "16k")
    try:
        np.save(program.folder / "x.npy", torus(2000))
        result = program("fit", "x.npy", "-k", 3, "-o", "m.h5", "--checkpoint", "small/state", "--checkpoint-every", 0)
        assert "the checkpoint was not written" in result.stderr and "goes on" in result.stderr
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", small], check=True)
