"""What the tests of the Python package share: points and a dense fp64 diffusion map to compare with."""

import numpy as np
import pytest


def torus(n=400, seed=1):
    """Two circles of different radius, unevenly sampled: four columns, a spectrum with gaps."""
    rng = np.random.default_rng(seed)
    a, b = 2 * np.pi * rng.random(n), 2 * np.pi * rng.random(n) ** 1.5
    return np.stack([np.cos(a), np.sin(a), 0.6 * np.cos(b), 0.6 * np.sin(b)], axis=1)


@pytest.fixture
def points():
    """400 points that float32 holds exactly."""
    return torus().astype(np.float32)


def dense_kernel(x, beta, z=None):
    x = np.asarray(x, dtype=np.float64)
    z = x if z is None else np.asarray(z, dtype=np.float64)
    return np.exp(-beta * ((x[:, None, :] - z[None, :, :]) ** 2).sum(-1))


def dense_map(x, beta, alpha=0.5, k=8):
    """q, d, nontrivial eigenvalues and right eigenvectors of P, by a dense eigendecomposition in fp64."""
    kernel = dense_kernel(x, beta)
    q = kernel.sum(1)
    kernel /= np.outer(q**alpha, q**alpha)
    d = kernel.sum(1)
    values, vectors = np.linalg.eigh(kernel / np.sqrt(np.outer(d, d)))
    order = np.argsort(-values)[1 : k + 1]
    psi = vectors[:, order] / np.sqrt(d)[:, None]
    psi /= np.sqrt((d[:, None] / d.sum() * psi**2).sum(0))
    return q, d, values[order], psi


def subspace_distance(a, b):
    """Largest sine between two spans of as many columns."""
    a, b = np.linalg.qr(np.asarray(a, dtype=np.float64))[0], np.linalg.qr(np.asarray(b, dtype=np.float64))[0]
    return float(np.linalg.norm(a - b @ (b.T @ a), 2))
