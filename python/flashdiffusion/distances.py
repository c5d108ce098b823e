"""Diffusion distances and pseudo-time: lengths in the map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._points import as_points

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def diffusion_distances(A: ArrayLike, B: ArrayLike | None = None) -> NDArray[Any]:
    """Distances between rows of diffusion coordinates: with coordinates eigenvalue**t psi these are the diffusion distances at time t.

    >>> import numpy as np
    >>> diffusion_distances(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[0., 5.],
           [5., 0.]])
    """
    A = as_points(A, "A").astype(np.float64, copy=False)
    B = A if B is None else as_points(B, "B").astype(np.float64, copy=False)
    if A.shape[1] != B.shape[1]:
        raise ValueError(f"A has {A.shape[1]} columns, but B has {B.shape[1]}: distances are between rows of the same map")
    # Differences, and not |a|^2 + |b|^2 - 2 a.b, which cancels; some rows of A at a time, so that the differences fit in the cache.
    made = np.empty((len(A), len(B)))
    some = max(1, 2**17 // B.size)
    for first in range(0, len(A), some):
        part = A[first : first + some, None] - B[None]
        made[first : first + some] = np.sqrt(np.einsum("ijk,ijk->ij", part, part))
    return made


# Eigenvalues closer to 1 than their pair is accurate may be 1, but not where that is this far off: a walker that leaves once in so many steps
# leaves. (The library judges groups of rows by the same bound.)
_FARTHEST_FROM_ONE = 1e-4
_JOINS = 1.0  # half of the least distance between two components, see _component
_JUMP = 10.0  # times the length of a walker's step in a mode: more than neighbours are apart, see _places
_LEAST_JUMP = 0.01  # of a mode's size: what it may vary by its own error
_CONSTANT = 0.1  # of a mode's size: what it may vary within a component on which it is constant
_NOTHING = 0.01  # of a mode's size: a mode that varies less does not live there


def pseudotime(
    eigenvalues: ArrayLike, vectors: ArrayLike, root: int, *, residuals: ArrayLike | None = None, trivial: ArrayLike | None = None
) -> NDArray[Any]:
    """Diffusion pseudo-time of all rows from the row ``root``, scaled to [0, 1].

    The distance sums over all times at once: mode by mode, eigenvalue / (1 - eigenvalue) times the difference of the eigenvector
    (Haghverdi et al. 2016). Rows of other components than the root's are at infinite distance, and the root's own component is scaled to
    [0, 1]: components are what the modes tell apart whose eigenvalue cannot be told from 1, and these modes are then left out.
    Modes that are too few to tell components apart, all of them next to 1, are refused.

    vectors: right eigenvectors of P, a column each; or those of the symmetric operator, with its trivial one as ``trivial``.
    residuals: of the eigenpairs: an eigenvalue cannot be told from 1 within its residual. 1e-5, the tolerance of a fit, where none are given.

    >>> import numpy as np
    >>> pseudotime(np.array([0.5]), np.array([[0.0], [1.0], [4.0]]), root=0)
    array([0.  , 0.25, 1.  ])
    >>> pseudotime(np.array([1.0, 0.5]), np.array([[1, 0.0], [1, 1], [1, 4], [-3, 0]]), root=0)
    array([0.  , 0.25, 1.  ,  inf])
    """
    vectors = np.asarray(vectors)
    if trivial is None:
        return _pseudotime(eigenvalues, vectors, vectors, root, residuals, np.ones(len(vectors), dtype=bool))
    trivial = np.asarray(trivial, dtype=np.float64)
    if trivial.shape != vectors.shape[:1]:
        raise ValueError(f"trivial has shape {trivial.shape}: one value is needed for each of the {len(vectors)} rows")
    weighed = trivial != 0  # rows set aside have no weight: nothing is known of them here
    psi = vectors / np.where(weighed, trivial, 1.0)[:, None]
    if not weighed[_row(root, len(vectors))]:
        raise ValueError(f"root = {root!r} was set aside in the fit: its place in the map is not known")
    return np.where(weighed, _pseudotime(eigenvalues, vectors, psi, root, residuals, weighed), np.nan)


def _row(root, rows):
    if isinstance(root, (bool, np.bool_)) or not isinstance(root, (int, np.integer)) or not -rows <= root < rows:
        raise ValueError(f"root = {root!r} is not a row of a table with {rows} rows")
    return int(root) % rows


def _pseudotime(eigenvalues, vectors, psi, root, residuals, fitted):
    """psi: the right eigenvectors, of which components are read; vectors: those of which lengths are made. fitted: rows that took part."""
    accuracy = 16 * max(np.finfo(np.asarray(a).dtype).eps if np.asarray(a).dtype.kind == "f" else 0.0 for a in (vectors, eigenvalues))
    eigenvalues, vectors, psi = (np.asarray(a, dtype=np.float64) for a in (eigenvalues, vectors, psi))
    if vectors.ndim != 2 or eigenvalues.shape != vectors.shape[1:]:
        raise ValueError(f"{eigenvalues.shape} eigenvalues do not belong to vectors of shape {vectors.shape}: one is needed for each column")
    root = _row(root, len(vectors))
    residuals = np.broadcast_to(1e-5 if residuals is None else np.asarray(residuals, dtype=np.float64), eigenvalues.shape)
    gap = 1 - eigenvalues
    # Within its residual of 1 an eigenvalue may be 1. There a mode's own error, of the size of the residual, times 1 / (1 - eigenvalue) is as large
    # as the distances within a component: taken as a length, such a mode would bury them.
    next_to_one = gap <= np.minimum(residuals + accuracy, _FARTHEST_FROM_ONE)
    own = _component(psi[:, next_to_one], root, fitted)
    size = np.sqrt((psi[fitted] ** 2).mean(0))
    size = np.where(size > 0, size, 1.0)
    varies = psi[own & fitted].std(0) / size
    # Next to 1 and yet not constant on the component: a slow mode along it, as of a long curve.
    lengths = ~next_to_one | (varies > _CONSTANT)
    crowded = next_to_one.all() and own.sum() > 1
    places = _places((psi / size)[fitted], gap) if crowded else np.zeros(fitted.sum(), dtype=int)
    if crowded and (np.ptp(places[own[fitted]]) or not lengths.any()):
        least = max(places.max() + 1, len(eigenvalues) + 1)
        raise ValueError(
            f"the eigenvalues of all {len(eigenvalues)} modes in use are next to 1: the rows are in {least} components or more, which these modes do not "
            f"tell apart, or within which they do not vary; use {least} modes or more (n_components of a fit, n_comps and n_dcs of flashdiffusion.scanpy)"
        )
    if own.sum() > 1 and not (varies[lengths] > _NOTHING).any():
        raise ValueError(
            f"none of the {len(eigenvalues)} modes varies among the {own.sum()} rows of the root's component: nothing is known of the distances "
            "there; use more modes (n_components of a fit, n_comps and n_dcs of flashdiffusion.scanpy), or fit this component alone"
        )
    weight = np.where(lengths, eigenvalues / np.maximum(gap, max(accuracy, np.finfo(np.float64).eps)), 0.0)
    distance = np.full(len(vectors), np.inf)
    distance[own] = np.sqrt(((weight * (vectors[own] - vectors[root])) ** 2).sum(1))
    longest = distance[own].max()
    return distance / longest if longest > 0 else distance


def _places(modes, gap):
    """Rows numbered by the place where modes, all of eigenvalues next to 1, put them.

    With more components than such modes and the constant one, the components' points are anywhere (see _component), and may be close to each other.
    Yet a walker does not cross from one to another: the mean square of its steps in a mode of unit size is 2 (1 - eigenvalue), so that values of a mode
    between which there is a gap of many such steps belong to rows that it does not join.
    """
    apart = max(_LEAST_JUMP, _JUMP * np.sqrt(2 * max(0.0, gap.max())))  # of all modes, which may be mixed
    order = np.argsort(modes, axis=0)
    jumps = np.diff(np.take_along_axis(modes, order, 0), axis=0) > apart
    parts = np.zeros(modes.shape, dtype=int)
    np.put_along_axis(parts, order[1:], np.cumsum(jumps, axis=0), 0)
    return np.unique(parts, axis=0, return_inverse=True)[1].reshape(-1)


def _component(modes, root, fitted):
    """Rows in the component of the root, as right eigenvectors of eigenvalue 1 tell.

    They are constant on each component, alone or mixed. In a basis of their span that is orthonormal over the n rows, 1 included, component a of
    n_a rows is a point of squared norm n / n_a, orthogonal to the others: two of them are sqrt(n / n_a + n / n_b) >= 2 apart, and rows of one
    differ by rounding. Slow modes make a curve of the point, without jumps: a jump is a cut that a walker does not cross, since the mean of
    P_ij (psi_i - psi_j)^2 is 2 (1 - eigenvalue). So the component is what is reached in short steps. Rows that took no part are mixtures of their
    neighbours and may lie between components: they are joined, and lead nowhere.
    """
    own = np.ones(len(modes), dtype=bool)
    size = np.sqrt((modes[fitted] ** 2).mean(0))
    modes = modes[:, size > 0] / size[size > 0]
    modes = modes - modes[fitted].mean(0)
    squares, turn = np.linalg.eigh(modes[fitted].T @ modes[fitted] / max(1, fitted.sum()))
    clear = squares > 1e-8  # the rest is rounding: a mode that is constant, or is there twice
    if not clear.any():
        return own
    place = modes @ (turn[:, clear] / np.sqrt(squares[clear]))
    own[:] = False
    own[root] = True
    at = root if fitted[root] else int(np.argmin(np.where(fitted, ((place - place[root]) ** 2).sum(1), np.inf)))
    left = fitted.copy()
    while True:
        away = ((place - place[at]) ** 2).sum(1)
        own |= away <= _JOINS**2
        left &= away > (_JOINS / 2) ** 2  # what is as close to one of the rest has been joined already
        waiting = own & left
        if not waiting.any():
            return own
        at = int(np.argmax(waiting))
