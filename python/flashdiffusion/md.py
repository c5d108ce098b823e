"""Molecular dynamics: coordinates that do not change when a molecule moves, turns or is mirrored, as tables for ``DiffusionMap``.

Positions come as an array (frames, atoms, 3), an MDAnalysis Universe or AtomGroup, an mdtraj Trajectory, or any iterable of chunks of
frames (``mdtraj.iterload``), so that a trajectory larger than memory is never loaded as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def frames(source: Any, atoms: Sequence[int] | None = None, chunk: int = 1000) -> Iterator[NDArray[Any]]:
    """Yields arrays (frames, atoms, 3), at most ``chunk`` frames each, from whatever holds a trajectory.

    atoms: indices; heavy atoms where the source knows its elements, all atoms else.
    """
    if hasattr(source, "xyz") and hasattr(source, "topology"):  # mdtraj
        if atoms is None:
            atoms = [atom.index for atom in source.topology.atoms if atom.element is None or atom.element.symbol not in ("H", "VS")]
        for first in range(0, len(source.xyz), chunk):
            yield np.asarray(source.xyz[first : first + chunk, atoms], dtype=np.float64)
    elif hasattr(source, "trajectory") or hasattr(source, "universe"):  # MDAnalysis
        group = source.atoms
        if atoms is not None:
            group = group[np.asarray(atoms)]
        elif hasattr(group, "elements") and any(group.elements):
            group = group[[str(element).upper() not in ("H", "D") for element in group.elements]]
        held = []
        for _ in group.universe.trajectory:
            held.append(group.positions.astype(np.float64))
            if len(held) == chunk:
                yield np.stack(held)
                held = []
        if held:
            yield np.stack(held)
    elif hasattr(source, "shape"):
        if len(source.shape) != 3 or source.shape[2] != 3:
            raise ValueError(f"positions have shape {tuple(source.shape)}; they are frames x atoms x 3")
        for first in range(0, source.shape[0], chunk):
            part = np.asarray(source[first : first + chunk], dtype=np.float64)
            yield part if atoms is None else part[:, atoms]
    else:
        for part in source:
            yield from frames(part, atoms, chunk)


def farthest_atoms(frame: ArrayLike, count: int) -> list[int]:
    """Indices of ``count`` atoms of one frame that are far from each other: each the farthest from those before, the first from the centre."""
    frame = np.asarray(frame, dtype=np.float64)
    chosen = [int(np.argmax(((frame - frame.mean(0)) ** 2).sum(1)))]
    nearest = ((frame - frame[chosen[0]]) ** 2).sum(1)
    while len(chosen) < min(count, len(frame)):
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, ((frame - frame[chosen[-1]]) ** 2).sum(1))
    return chosen


def distances(
    positions: Any, anchors: int | Sequence[int] = 8, *, atoms: Sequence[int] | None = None, chunk: int = 1000, dtype: Any = np.float32
) -> NDArray[Any]:
    """Distances of all atoms to some of them, the anchors: a row a frame, the same for a molecule that is moved, turned or mirrored.

    anchors: how many (chosen far apart in the first frame), or their indices among the atoms in use. Each pair is there once.

    >>> import numpy as np
    >>> triangle = np.array([[[0.0, 0, 0], [3, 0, 0], [0, 4, 0]]])
    >>> np.sort(distances(triangle, anchors=3))
    array([[3., 4., 5.]], dtype=float32)
    """
    table, pairs = [], None
    for part in frames(positions, atoms, chunk):
        if pairs is None:
            count = part.shape[1]
            chosen = farthest_atoms(part[0], anchors) if isinstance(anchors, (int, np.integer)) else [int(a) for a in anchors]
            if len(chosen) < 1 or not all(0 <= anchor < count for anchor in chosen):
                raise ValueError(f"anchors = {anchors!r} are not atoms: there are {count} in use, counted from 0")
            pairs = np.array([(a, b) for i, a in enumerate(chosen) for b in range(count) if b != a and b not in chosen[:i]]).T
            if pairs.size == 0:
                raise ValueError("one atom has no distances")
        table.append(np.sqrt(((part[:, pairs[0]] - part[:, pairs[1]]) ** 2).sum(2)).astype(dtype))
    if pairs is None:
        raise ValueError("there are no frames")
    return np.concatenate(table)


def dihedrals(
    positions: Any, quadruples: ArrayLike, *, chunk: int = 1000, dtype: Any = np.float32, angles: bool = False
) -> NDArray[Any]:
    """Cosine and sine of dihedral angles (two columns each, cosines first), or the angles themselves, in radians.

    quadruples: four atom indices each; the sign of an angle is that of the IUPAC. A mirror image has the opposite signs.

    >>> import numpy as np
    >>> frame = np.array([[[1.0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 1]]])
    >>> np.degrees(dihedrals(frame, [(0, 1, 2, 3)], angles=True)).round()
    array([[90.]], dtype=float32)
    """
    quadruples = np.asarray(quadruples)
    if quadruples.ndim != 2 or quadruples.shape[1] != 4:
        raise ValueError(f"quadruples have shape {quadruples.shape}; four atom indices make a dihedral angle")
    wanted, inverse = np.unique(quadruples, return_inverse=True)
    a, b, c, d = inverse.reshape(quadruples.shape).T
    table = []
    for part in frames(positions, wanted, chunk):
        before, axis, after = part[:, a] - part[:, b], part[:, c] - part[:, b], part[:, d] - part[:, c]
        axis = axis / np.linalg.norm(axis, axis=2, keepdims=True)
        # what is left of the arms across the axis
        one = before - (before * axis).sum(2, keepdims=True) * axis
        two = after - (after * axis).sum(2, keepdims=True) * axis
        angle = np.arctan2((np.cross(axis, one) * two).sum(2), (one * two).sum(2))
        table.append((angle if angles else np.concatenate([np.cos(angle), np.sin(angle)], axis=1)).astype(dtype))
    if not table:
        raise ValueError("there are no frames")
    return np.concatenate(table)
