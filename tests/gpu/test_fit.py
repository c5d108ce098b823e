"""A whole fit on the GPU, with the flow and the ladder, is the cpu's fit: the bandwidth and the eigenvalues to 1e-5. So is one by several GPUs."""
import os
import subprocess

import h5py
import numpy as np

PROGRAM = os.environ["FLASHDIFFUSION"]
ROWS = int(os.environ.get("FD_GPU_FIT_ROWS", "600"))


def fitted(folder, rows, *options, devices=1):
    """Bandwidth and eigenvalues of a fit of points on a torus."""
    angle = np.random.default_rng(7).uniform(0, 2 * np.pi, (rows, 2))
    radius = np.array([1.0, 0.6])
    np.save(folder / "points.npy", np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]).astype(np.float32))
    report = folder / "report"
    subprocess.run([PROGRAM, "fit", "points.npy", "-k", "4", "-o", "model.h5", "--seed", "3", *options], check=True, capture_output=True,
                   timeout=1500, cwd=folder, env={**os.environ, "FD_SOFTGPU_DEVICES": str(devices), "FD_SOFTGPU_REPORT": str(report)})
    assert not report.exists() or report.read_text() == ""
    with h5py.File(folder / "model.h5") as file:
        return np.append(file["eigenvalues"][()], file.attrs["beta"])


def test_a_fit_is_that_of_the_cpu(tmp_path):
    expected = fitted(tmp_path, ROWS, "--backend", "cpu")
    np.testing.assert_allclose(fitted(tmp_path, ROWS, "--backend", "cuda"), expected, rtol=1e-5)


def test_fits_of_low_precision_converge(tmp_path):
    """Passes of any width apply one operator: residuals reach a tolerance far below the precision's promise."""
    for precision in ("tf32", "bf16"):
        fitted(tmp_path, 200, "--backend", "cuda", "--beta", "3", "--precision", precision)  # status 0: all have converged


def test_bits_do_not_depend_on_how_a_pass_is_cut():
    """Memory and multiprocessors decide how many launches there are, and the seed the order of blocks: no bit of a product does."""
    found = set()
    for machine in (dict(), dict(FD_SOFTGPU_MEMORY="1M", FD_SOFTGPU_MULTIPROCESSORS="1"), dict(FD_SOFTGPU_MEMORY="700K", FD_SOFTGPU_SEED="7")):
        found.add(subprocess.run([os.environ["FD_GPU_CASES"], "--bits"], check=True, capture_output=True, text=True, timeout=600,
                                 env={**os.environ, **machine}).stdout)
    assert len(found) == 1 and len(found.pop().split()) == 2


def test_several_devices_agree(tmp_path):
    options = ["--beta", "3", "--rows-a-rank", "1"]
    expected = fitted(tmp_path, 301, "--backend", "cpu", *options)
    for devices in (2, 3, 5, 8):
        numbers = ",".join(map(str, range(devices)))
        found = fitted(tmp_path, 301, "--backend", "cuda", "--devices", numbers, *options, devices=devices)
        np.testing.assert_allclose(found, expected, rtol=1e-5, err_msg=numbers)
