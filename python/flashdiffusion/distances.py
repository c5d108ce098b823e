"""Diffusion distances and pseudo-time: lengths in the map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def diffusion_distances(A: ArrayLike, B: ArrayLike | None = None) -> NDArray[Any]:
    """Distances between rows of diffusion coordinates: with coordinates eigenvalue**t psi these are the diffusion distances at time t.

    >>> import numpy as np
    >>> diffusion_distances(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[0., 5.],
           [5., 0.]])
    """
    A = np.asarray(A, dtype=np.float64)
    B = A if B is None else np.asarray(B, dtype=np.float64)
    A = np.atleast_2d(A)
    square = (A**2).sum(1)[:, None] + (B**2).sum(1)[None] - 2 * (A @ B.T)
    return np.sqrt(np.maximum(square, 0))


def pseudotime(eigenvalues: ArrayLike, vectors: ArrayLike, root: int) -> NDArray[Any]:
    """Diffusion pseudo-time of all rows from the row ``root``, scaled to [0, 1].

    The distance sums over all times at once: mode by mode, eigenvalue / (1 - eigenvalue) times the difference of the eigenvector
    (Haghverdi et al. 2016). Modes of eigenvalue 1 (separate components) put other components at infinite distance, and are then left
    out of the scaling.

    >>> import numpy as np
    >>> pseudotime(np.array([0.5]), np.array([[0.0], [1.0], [4.0]]), root=0)
    array([0.  , 0.25, 1.  ])
    """
    eigenvalues, vectors = np.asarray(eigenvalues, dtype=np.float64), np.asarray(vectors, dtype=np.float64)
    if isinstance(root, (bool, np.bool_)) or not isinstance(root, (int, np.integer)) or not -len(vectors) <= root < len(vectors):
        raise ValueError(f"root = {root!r} is not a row of a table with {len(vectors)} rows")
    separate = eigenvalues >= 1 - 1e-9
    moves = vectors - vectors[root]
    weight = np.where(separate, 0.0, eigenvalues / np.where(separate, 1.0, 1 - eigenvalues))
    distance = np.sqrt(((weight * moves) ** 2).sum(1))
    distance[(np.abs(moves[:, separate]) > 1e-6).any(1)] = np.inf
    finite = np.isfinite(distance)
    longest = distance[finite].max()
    return distance / longest if longest > 0 else distance
