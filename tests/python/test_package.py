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


def test_names_are_there_without_scipy():
    code = """
import inspect, pydoc, sys
sys.modules["scipy"] = None  # as if it were not installed
from flashdiffusion import *
import flashdiffusion
assert hasattr(flashdiffusion, "KernelOperator") and inspect.getmembers(flashdiffusion) and pydoc.render_doc(flashdiffusion)
for operator in (KernelOperator, DiffusionOperator):
    try:
        operator([[0.0], [1.0]], beta=1.0)
    except ImportError as error:
        print(error)
"""
    result = run(code)
    assert result.stdout == "".join(f"{name} is a LinearOperator of SciPy: pip install scipy\n" for name in ("KernelOperator", "DiffusionOperator")), result.stderr


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


TYPED = """
import numpy as np
from numpy.typing import NDArray

import flashdiffusion.scanpy as fds
from flashdiffusion import (
    DataWarning, Decoder, DiffusionMap, DiffusionOperator, KernelOperator, bandwidth, conventions, diffusion_distances, estimate, kernel_matmul,
    md, plot, pseudotime,
)

X: NDArray[np.float32] = np.zeros((50, 3), dtype=np.float32)
model: DiffusionMap = DiffusionMap(4, beta=bandwidth(sigma=0.5), precision=["tf32", "fp32"]).set_params(n_jobs=2).set_output(transform="pandas").fit(X)
reach: float = model.beta_ + model.n_eff_ + model.intrinsic_dim_
count: int = model.n_passes_ + model.n_features_in_
table: NDArray[np.float64] = model.eigenvalues_ + model.sweep_["beta"]
kept: bool = model.converged_ and model.aside_.size == 0
again: DiffusionMap = DiffusionMap.load("model.h5").save("other.h5").report("report.html")
rows: list[int] = DataWarning("far", [3]).rows
seconds: float = estimate((1000, 3), n_components=4).seconds
product: NDArray[np.float64] = kernel_matmul(X, np.ones(50), beta=0.5)
M, K = DiffusionOperator(X, beta=0.5), KernelOperator(X, beta=0.5)
degree: NDArray[np.float64] = M.degree
decoder: Decoder = Decoder(period=360.0).fit(model.embedding_, np.zeros(50))
error: NDArray[np.float64] = decoder.error_
distances: NDArray[np.float64] = diffusion_distances(model.embedding_)
time: NDArray[np.float64] = pseudotime(model.eigenvalues_, model.psi_, root=0)
frames: NDArray[np.float32] = md.distances(np.zeros((5, 4, 3)), anchors=2)
axes = plot.embedding(model, modes=(0, 1, 2), colour=time)
class Mine(DiffusionMap):
    pass


mine: Mine = Mine(4, checkpoint="fit.checkpoint").fit(X).save("mine.h5")
loaded: Mine = Mine.load("mine.h5")
epsilon: float = conventions.epsilon(model.beta_, "pydiffmap")
"""
MISTAKES = ['DiffusionMap(n_component=4)', 'DiffusionMap("four")', 'kernel_matmul(X, X)', 'model.betas_', 'bandwidth(sigma="wide")', 'estimate(X).second', 'md.distances(X, 8, chunk="many")']


def test_a_program_of_a_user_is_checked(tmp_path):
    """By mypy, strictly: what is right passes, and mistakes are found line by line."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "program.py").write_text(TYPED + "\n".join(MISTAKES) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--follow-imports=silent", "--cache-dir", str(tmp_path / "cache"), "program.py"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300).stdout
    first = TYPED.count("\n") + 1
    found = {int(line.split(":")[1]) for line in said.splitlines() if ": error:" in line}
    assert found == set(range(first, first + len(MISTAKES))), said


@pytest.mark.parametrize("other", ["numpy", "h5py", "torch", "imagecodecs", "pykeops", "MDAnalysis"])
@pytest.mark.parametrize("first", [True, False])
def test_neighbours_in_one_process(tmp_path, other, first):
    """Libraries that carry their own HDF5, Highway or threads, imported and used before and after ours."""
    if importlib.util.find_spec(other) is None:
        pytest.skip(f"{other} is not installed")
    imports = [f"import {other}", "from flashdiffusion import DiffusionMap"]
    use = {
        "numpy": "big = np.resize(x, (800, 800)); assert meanwhile(lambda: big @ big) and (np.diff(np.sort(x[:, 0])) >= 0).all()",
        "h5py": "f = h5py.File('a.h5', 'w'); f['x'] = x; f.close(); m.save('m.h5'); assert (h5py.File('m.h5')['psi'][:] == m.psi_).all()",
        "imagecodecs": "i = (255 * np.resize(x, (300, 300)).clip(0, 1)).astype(np.uint8); assert meanwhile(lambda: np.frombuffer(imagecodecs.jpegxl_encode(i), np.uint8))",  # Highway
        "torch": "t = torch.from_numpy(np.resize(x, (800, 800))); assert meanwhile(lambda: (t @ t.T).numpy())",
    }.get(other, "pass")
    code = f"""
import os; os.chdir({str(tmp_path)!r})
{chr(10).join(imports if first else imports[::-1])}
import numpy as np
x = np.random.default_rng(0).normal(size=(500, 3))
m = DiffusionMap(3, beta=0.5).fit(x)
def meanwhile(theirs):
    # their threads and ours at work at the same time, neither changing the other's result
    import threading
    before, ours = theirs().copy(), []
    thread = threading.Thread(target=lambda: ours.extend(DiffusionMap(3, beta=0.5).fit(x).psi_ for _ in range(5)))
    thread.start()
    same = all(np.array_equal(theirs(), before) for _ in range(5))
    thread.join()
    return same and np.isfinite(before).all() and len(ours) == 5 and all(np.array_equal(psi, m.psi_) for psi in ours)
{use}
y = DiffusionMap(3, beta=0.5).fit(x)
assert (y.psi_ == m.psi_).all()
m.save("again.h5"); assert (DiffusionMap.load("again.h5").psi_ == m.psi_).all()
print("fine")
"""
    result = run(code)
    assert result.stdout.endswith("fine\n"), result.stdout + result.stderr  # KeOps prints when it is imported
