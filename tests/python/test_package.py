"""The package itself: what importing it loads, its names, its examples, its neighbours in one process."""

import doctest
import importlib
import subprocess
import sys

import pytest

import flashdiffusion

MODULES = ["", ".diffusion_map", ".kernel_product", ".operators", ".forecast", ".decoder", ".distances", ".conventions", ".md", ".warnings"]


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_importing_it_loads_nothing_heavy():
    """What scikit-learn and SciPy need a second for is loaded when it is used."""
    heavy = "sorted({'sklearn', 'scipy', 'pandas', 'matplotlib', 'h5py', 'tqdm'} & set(sys.modules))"
    assert run(f"import sys; from flashdiffusion import DiffusionMap; print({heavy})").stdout == "[]\n"


def test_every_public_name_is_there():
    for name in flashdiffusion.__all__:
        assert getattr(flashdiffusion, name) is not None
        assert name in dir(flashdiffusion)
    assert flashdiffusion.__version__ == flashdiffusion._native.version
    with pytest.raises(AttributeError):
        flashdiffusion.nonsense


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module("flashdiffusion" + name)
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted > 0 or name == ""


def test_it_is_typed():
    from pathlib import Path

    folder = Path(flashdiffusion.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "__init__.pyi").exists()
    assert "def fit" in (folder / "_native.pyi").read_text()


@pytest.mark.parametrize("other", ["numpy", "h5py", "torch", "pykeops", "MDAnalysis"])
@pytest.mark.parametrize("first", [True, False])
def test_neighbours_in_one_process(tmp_path, other, first):
    """Libraries that carry their own HDF5, Highway or threads, imported and used before and after ours."""
    if importlib.util.find_spec(other) is None:
        pytest.skip(f"{other} is not installed")
    imports = [f"import {other}", "from flashdiffusion import DiffusionMap"]
    use = {
        "numpy": "big = np.resize(x, (800, 800)); assert np.isfinite(big @ big).all() and (np.diff(np.sort(x[:, 0])) >= 0).all()",
        "h5py": "f = h5py.File('a.h5', 'w'); f['x'] = x; f.close(); m.save('m.h5'); assert (h5py.File('m.h5')['psi'][:] == m.psi_).all()",
        "torch": "t = torch.from_numpy(x); assert torch.isfinite(t @ t.T).all()",
    }.get(other, "pass")
    code = f"""
import os; os.chdir({str(tmp_path)!r})
{chr(10).join(imports if first else imports[::-1])}
import numpy as np
x = np.random.default_rng(0).normal(size=(500, 3))
m = DiffusionMap(3, beta=0.5).fit(x)
{use}
y = DiffusionMap(3, beta=0.5).fit(x)
assert (y.psi_ == m.psi_).all()
m.save("again.h5"); assert (DiffusionMap.load("again.h5").psi_ == m.psi_).all()
print("fine")
"""
    result = run(code)
    assert result.stdout.endswith("fine\n"), result.stdout + result.stderr  # KeOps prints when it is imported
