"""A whole fit on the GPU, with the flow and the ladder, is the cpu's fit: the bandwidth and the eigenvalues to 1e-5."""
import os
import subprocess

import h5py
import numpy as np

PROGRAM = os.environ["FLASHDIFFUSION"]
ROWS = int(os.environ.get("FD_GPU_FIT_ROWS", "600"))


def test_a_fit_is_that_of_the_cpu(tmp_path):
    random = np.random.default_rng(7)
    angle = random.uniform(0, 2 * np.pi, (ROWS, 2))
    radius = np.array([1.0, 0.6])
    np.save(tmp_path / "points.npy", np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]).astype(np.float32))
    found = {}
    for backend in ("cpu", "cuda"):
        model = tmp_path / f"{backend}.h5"
        subprocess.run([PROGRAM, "fit", str(tmp_path / "points.npy"), "-k", "4", "-o", str(model), "--backend", backend, "--seed", "3"],
                       check=True, capture_output=True, timeout=1500)
        with h5py.File(model) as file:
            found[backend] = {}
            file.visititems(lambda name, item: found[backend].__setitem__(name, np.array(item)) if isinstance(item, h5py.Dataset) and item.dtype.kind == "f" and item.size < 50 else None)
            found[backend].update({f"@{k}": v for k, v in file.attrs.items() if np.isscalar(v) and isinstance(v, (float, np.floating))})
    for name in ("@beta", "eigenvalues"):
        assert name in found["cpu"], sorted(found["cpu"])
        np.testing.assert_allclose(found["cuda"][name], found["cpu"][name], rtol=1e-5, err_msg=name)
