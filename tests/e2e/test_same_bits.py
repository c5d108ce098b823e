"""The default command, flow and all, writes the same numbers run after run and for any number of threads.

FLASHDIFFUSION_LONG_TESTS=1 takes six kinds of tables, four numbers of modes, five runs and 1, 2, 3, 7 threads.
"""

import os
import subprocess

import h5py
import numpy as np
import pytest

LONG = "FLASHDIFFUSION_LONG_TESTS" in os.environ
ROWS = 1500 if LONG else 300
MODES = (1, 3, 24, 60) if LONG else (3, 24)
THREADS = (1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 7, 7) if LONG else (1, 2, 2, 7)


def sheet(rng, rows, columns):
    a, b = rng.random((2, rows))
    return np.stack([a, b, 0.3 * np.sin(3 * a)], 1) @ np.eye(3, columns) + 0.02 * rng.normal(size=(rows, columns))


def strays(rng):
    """Some rows so far out that the flow sets them aside."""
    x = sheet(rng, ROWS, 6)
    x[::100] = 20 * rng.random((ROWS // 100, 6)) - 10
    return x


KINDS = {
    "normal": lambda rng: rng.normal(size=(ROWS, 5)),
    "strays": strays,
    "far clusters": lambda rng: rng.normal(size=(ROWS, 3)) + 1e3 * (np.arange(ROWS) % 2)[:, None],
    "few distinct rows": lambda rng: rng.normal(size=(5, 4))[np.arange(ROWS) % 5],
    "signs": lambda rng: rng.choice([-1.0, 1.0], size=(ROWS, 12)),
    "heavy tails": lambda rng: rng.standard_t(2, size=(ROWS, 4)),
}


def numbers(path):
    """Every dataset and attribute but times, memory and provenance, as bytes."""
    found = {}

    def visit(name, node):
        for key, value in node.attrs.items():
            if key not in ("seconds", "peak_rss_bytes"):
                found[f"{name}@{key}"] = np.asarray(value).tobytes()
        if isinstance(node, h5py.Dataset) and name not in ("provenance", "sweep/seconds"):
            values = node[()]
            found[name] = repr(values.tolist()) if values.dtype == object else np.asarray(values).tobytes()

    with h5py.File(path) as file:
        visit("", file)
        file.visititems(visit)
    assert {"eigenvalues", "residuals", "psi", "q", "d", "sweep/beta", "@beta"} <= set(found)
    return found


def fitted(program, modes, threads):
    """Numbers and exit status (1: not what was asked for, which must be so in every run)."""
    command = [program.path, "fit", "points.npy", "-k", str(modes), "--threads", str(threads), "-o", "model.h5"]
    result = subprocess.run(command, cwd=program.folder, capture_output=True, text=True, timeout=600)
    assert result.returncode in (0, 1), result.stderr
    return {**numbers(program.folder / "model.h5"), "exit status": result.returncode}


@pytest.mark.parametrize("modes", MODES)
@pytest.mark.parametrize("kind", KINDS if LONG else ("strays", "far clusters", "few distinct rows"))
def test_same_bits(program, kind, modes):
    np.save(program.folder / "points.npy", KINDS[kind](np.random.default_rng(3)))
    first = fitted(program, modes, THREADS[0])
    for threads in THREADS[1:]:
        found = fitted(program, modes, threads)
        differing = [name for name in {**first, **found} if first.get(name) != found.get(name)]
        assert not differing, f"{threads} threads: {differing}"
