"""The program where there is no GPU, a driver that does not start, an old one, and one that fails in its n-th call: a clear line and status 3, or
the cpu back-end where nobody asked for a GPU; nothing is left behind.

FD_EVERY_CALL=1 tries every call of a fit (another number: from that one on), else some are tried."""
import os
import subprocess

import numpy as np
import pytest

PROGRAM = os.environ["FLASHDIFFUSION"]


def run(tmp_path, *arguments, backend="cuda", **environment):
    everything = dict(os.environ, FD_SOFTGPU_REPORT=str(tmp_path / "report"), **{k: str(v) for k, v in environment.items()})
    return subprocess.run([PROGRAM, *arguments, *(["--backend", backend] if backend else [])], env=everything, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def points(tmp_path_factory):
    path = tmp_path_factory.mktemp("points") / "points.npy"
    angle = np.random.default_rng(1).uniform(0, 2 * np.pi, (90, 2))
    np.save(path, np.column_stack([np.cos(angle), np.sin(angle)]).astype(np.float32))
    return path


def fit(tmp_path, points, *options, **keywords):
    return run(tmp_path, "fit", str(points), "-k", "2", "--beta", "0.5", "-o", str(tmp_path / "model.h5"), *options, **keywords)


def one_line(result, *words):
    assert result.returncode == 3, result.stderr
    first = result.stderr.splitlines()[0]
    assert first.startswith("flashdiffusion: "), result.stderr
    for word in words:
        assert word in first, result.stderr


NONE = "/nowhere/libcuda.so.1"


def test_without_a_driver(tmp_path, points):
    one_line(fit(tmp_path, points, FLASHDIFFUSION_CUDA_DRIVER=NONE), "no CUDA driver")
    assert not (tmp_path / "model.h5").exists()


def test_a_driver_that_does_not_start(tmp_path, points):
    one_line(fit(tmp_path, points, FD_SOFTGPU_INIT=100), "does not start")


def test_an_old_driver(tmp_path, points):
    one_line(fit(tmp_path, points, FD_SOFTGPU_DRIVER_VERSION=10020), "too old", "10.2")


def test_an_old_gpu(tmp_path, points):
    one_line(fit(tmp_path, points, FD_SOFTGPU_SM=75), "compute capability 7.5")


# A machine without a card says nothing; of one that is there and cannot be used one line says why.
@pytest.mark.parametrize("environment, words", [
    (dict(FLASHDIFFUSION_CUDA_DRIVER=NONE), None), (dict(FD_SOFTGPU_INIT=100), None), (dict(FD_SOFTGPU_INIT=34), None),
    (dict(FD_SOFTGPU_INIT=999), "does not start"), (dict(FD_SOFTGPU_DRIVER_VERSION=10020), "too old: it speaks CUDA 10.2"),
    (dict(FD_SOFTGPU_SM=75), "compute capability 7.5")])
def test_automatic_choice_falls_back(tmp_path, points, environment, words):
    result = fit(tmp_path, points, backend="auto", **environment)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "model.h5").exists()
    about = [line for line in result.stderr.splitlines() if "CUDA" in line or "cuda" in line or "GPU" in line]
    assert len(about) == (1 if words else 0), result.stderr
    if words:
        assert words in about[0] and about[0].endswith("cpu computes instead"), about


@pytest.mark.parametrize("backend", ["auto", "cuda"])
def test_a_device_that_was_named_is_the_one_that_computes(tmp_path, points, backend):
    result = fit(tmp_path, points, "--devices", "2", backend=backend, FD_SOFTGPU_DEVICES=3)
    assert result.returncode == 0, result.stderr
    about = run(tmp_path, "info", str(tmp_path / "model.h5"), "--json", backend=None, FD_SOFTGPU_DEVICES=3).stdout
    assert "cuda GPU 2" in about and "GPU 0" not in about, about
    one_line(fit(tmp_path, points, "--devices", "3", backend=backend, FD_SOFTGPU_DEVICES=3), "there is no GPU 3", "knows 3")
    assert fit(tmp_path, points, "--devices", "1,1", backend=backend, FD_SOFTGPU_DEVICES=3).returncode == 2


def test_little_memory_is_named(tmp_path, points):
    result = fit(tmp_path, points, FD_SOFTGPU_MEMORY=4096)
    assert result.returncode != 0
    assert "memory" in result.stderr and "GPU 0" in result.stderr, result.stderr


def check_failure(tmp_path, points, n):
    """Whether a fit whose n-th call fails says so; False where it does not need that call, and succeeds."""
    model, report = tmp_path / "model.h5", tmp_path / "report"
    model.unlink(missing_ok=True)
    report.unlink(missing_ok=True)
    result = fit(tmp_path, points, "--quiet", FD_SOFTGPU_FAIL=n)  # on a slow machine there would be lines of progress
    assert not report.exists() or "leak" not in report.read_text(), (n, report.read_text())
    if result.returncode == 0:
        assert model.exists(), n
        return False
    assert result.returncode == 3, (n, result.returncode, result.stderr)
    assert not model.exists(), n
    assert len(result.stderr.splitlines()) <= 3 and result.stderr.startswith("flashdiffusion: "), (n, result.stderr)
    return True


def test_the_nth_call_fails(tmp_path, points):
    if os.environ.get("FD_EVERY_CALL"):
        n, in_vain = int(os.environ["FD_EVERY_CALL"]), 0
        while in_vain < 40:
            in_vain = 0 if check_failure(tmp_path, points, n) else in_vain + 1
            n += 1
        print(f"the last call is {n - 41}")
        assert n > 100
    else:
        assert sum(check_failure(tmp_path, points, n) for n in [*range(1, 15, 2), 24, 41, 83, 171]) > 8
