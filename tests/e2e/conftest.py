"""What all end-to-end tests share: the program, points, and a dense fp64 diffusion map to compare with."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

PROGRAM = os.environ.get("FLASHDIFFUSION", "flashdiffusion")
BENCH = os.environ.get("FLASHDIFFUSION_BENCH", PROGRAM + "-bench")  # beside the program, unless named


class Program:
    """Runs the program in a folder of its own and remembers which files were there before."""

    def __init__(self, folder: Path, path=PROGRAM):
        self.folder = folder
        self.path = path

    def __call__(self, *arguments, status=0, stdin=None, environment=None):
        result = subprocess.run(
            [self.path, *map(str, arguments)],
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, **(environment or {})},
        )
        assert result.returncode == status, f"exit status {result.returncode}, wanted {status}:\n{result.stdout}{result.stderr}"
        return result

    def refused(self, *arguments, status=2, words=(), stdin=None):
        """The program must end with this status, say these words in one to three lines, and leave the folder as it was."""
        before = self.files()
        result = self(*arguments, status=status, stdin=stdin)
        assert result.stdout == ""
        assert result.stderr.startswith(Path(self.path).name + ": ")
        assert 1 <= len(result.stderr.strip().splitlines()) <= 3, result.stderr
        for word in words:
            assert str(word).lower() in result.stderr.lower(), f"'{word}' is not in: {result.stderr}"
        assert self.files() == before
        return result

    def files(self):
        return sorted((str(p.relative_to(self.folder)), p.stat().st_size) for p in self.folder.rglob("*") if p.is_file())


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


@pytest.fixture
def bench(tmp_path):
    return Program(tmp_path, BENCH)


@pytest.fixture(scope="session")
def failing_writes(tmp_path_factory):
    """The library that makes writes fail."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    library = tmp_path_factory.mktemp("failing") / "failing_writes.so"
    source = Path(__file__).parent / "failing_writes.c"
    if compiler is None or subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]).returncode != 0:
        pytest.skip("no C compiler for a library that makes writes fail")
    return {"LD_PRELOAD": str(library)}


def torus(n=400, seed=1):
    """Two circles of different radius, unevenly sampled: four columns, a spectrum with gaps."""
    rng = np.random.default_rng(seed)
    a, b = 2 * np.pi * rng.random(n), 2 * np.pi * rng.random(n) ** 1.5
    return np.stack([np.cos(a), np.sin(a), 0.6 * np.cos(b), 0.6 * np.sin(b)], axis=1)


@pytest.fixture
def points(tmp_path):
    """400 points that float32 holds exactly, in points.npy."""
    x = torus().astype(np.float32).astype(np.float64)
    np.save(tmp_path / "points.npy", x)
    return x


def dense_map(x, beta, alpha=0.5, k=8):
    """q, d, nontrivial eigenvalues and right eigenvectors of P, by a dense eigendecomposition in fp64."""
    square = ((x[:, None, :] - x[None, :, :]) ** 2).sum(-1)
    kernel = np.exp(-beta * square)
    q = kernel.sum(1)
    kernel /= np.outer(q**alpha, q**alpha)
    d = kernel.sum(1)
    symmetric = kernel / np.sqrt(np.outer(d, d))
    values, vectors = np.linalg.eigh(symmetric)
    order = np.argsort(-values)[1 : k + 1]
    psi = vectors[:, order] / np.sqrt(d)[:, None]
    psi /= np.sqrt((d[:, None] / d.sum() * psi**2).sum(0))
    return q, d, values[order], psi
