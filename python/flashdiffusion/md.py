"""Molecular dynamics: coordinates that do not change when a molecule moves, turns or is mirrored, as tables for ``DiffusionMap``.

Positions come as an array (frames, atoms, 3), an MDAnalysis Universe, AtomGroup or (slice of a) trajectory, an mdtraj Trajectory, or any iterable of
chunks of frames (``mdtraj.iterload``), so that a trajectory larger than memory is never loaded as a whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._options import whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def frames(source: Any, atoms: Sequence[int] | None = None, chunk: int = 1000) -> Iterator[NDArray[Any]]:
    """Yields arrays (frames, atoms, 3), at most ``chunk`` frames each, from whatever holds a trajectory.

    atoms: indices; heavy atoms where the source knows its elements, all atoms else.
    """
    chunk = whole("chunk", chunk, 1)
    for part in _frames(source, None if atoms is None else _Atoms(atoms), chunk):
        if not part.shape[1]:
            raise ValueError("no atom is in use: of the atoms there, none is heavy or marked in `atoms`")
        yield part


class _Atoms:
    """Atoms as they were given; as indices from 0, each once, when a frame tells how many there are."""

    def __init__(self, given):
        try:
            self._given = np.asarray(given if hasattr(given, "dtype") else list(given))
        except TypeError:
            raise ValueError(f"atoms = {given!r} are not indices of atoms") from None
        if not self._given.size:
            raise ValueError("atoms = [] names none")
        if self._given.ndim != 1 or self._given.dtype.kind not in "iub":
            raise ValueError(f"atoms = {given!r} are not indices of atoms")

    def among(self, count):
        if self._given.dtype != bool:
            return _from_zero("atoms", self._given, count)
        if len(self._given) != count:
            raise ValueError(f"atoms are {len(self._given)} times yes or no, for {count} atoms")
        return np.flatnonzero(self._given)


class _Quadruples:
    """Four atoms each, as they were given; one after the other as indices from 0 when a frame tells how many atoms there are."""

    def __init__(self, given):
        self._given = np.asarray(given)
        if self._given.ndim != 2 or self._given.shape[1] != 4:
            raise ValueError(f"quadruples have shape {self._given.shape}; four atom indices make a dihedral angle")
        if self._given.dtype.kind not in "iu":
            raise ValueError(f"quadruples hold values of type {self._given.dtype}; they are indices of atoms")
        if not len(self._given):
            raise ValueError("quadruples = [] names no dihedral angle")

    def among(self, count):
        return np.concatenate([_from_zero(f"quadruple {tuple(four.tolist())}", four, count) for four in self._given])


def _from_zero(name, given, count):
    """Indices of atoms among ``count`` in one form (-1 is the last), so that none is there twice under two."""
    wrong = given[(given < -count) | (given >= count)]
    if len(wrong):
        raise ValueError(f"{name}: there is no atom {wrong[0]} among {count}, counted from 0")
    found = np.where(given < 0, given + count, given).astype(np.intp)
    atoms, times = np.unique(found, return_counts=True)
    if (times > 1).any():
        twice = atoms[times > 1][0]
        names = np.unique(given[found == twice])
        also = f" (as {' and as '.join(str(index) for index in names)})" if len(names) > 1 else ""
        raise ValueError(f"{name}: atom {twice} is named more than once{also}")
    return found


def _frames(source, atoms, chunk):
    if isinstance(source, (str, bytes, os.PathLike)):
        raise TypeError(f"{source!r} is a name, not positions: open the file first, with mdtraj.load, mdtraj.iterload or MDAnalysis.Universe")
    if hasattr(source, "xyz") and hasattr(source, "topology"):  # mdtraj
        if atoms is None:
            wanted = [atom.index for atom in source.topology.atoms if atom.element is None or atom.element.symbol not in ("H", "VS")]
        else:
            wanted = atoms.among(source.xyz.shape[1])
        for first in range(0, len(source.xyz), chunk):
            yield np.asarray(source.xyz[first : first + chunk, wanted], dtype=np.float64)
    elif hasattr(source, "atoms") and (hasattr(source, "trajectory") or hasattr(source, "universe")):  # MDAnalysis
        group = source.atoms
        if atoms is not None:
            group = group[atoms.among(len(group))]
        elif hasattr(group, "elements") and any(group.elements):
            group = group[[str(element).upper() not in ("H", "D") for element in group.elements]]
        trajectory = group.universe.trajectory
        yield from _some_at_a_time(trajectory, trajectory, lambda _: group.positions, chunk)
    elif hasattr(source, "n_atoms") and hasattr(source, "n_frames") or hasattr(source, "trajectory"):  # MDAnalysis' trajectory, or a slice of it
        wanted = slice(None) if atoms is None else atoms.among(getattr(source, "trajectory", source).n_atoms)
        yield from _some_at_a_time(source, getattr(source, "trajectory", source), lambda step: step.positions[wanted], chunk)
    elif hasattr(source, "shape"):
        if len(source.shape) != 3 or source.shape[2] != 3:
            raise ValueError(f"positions have shape {tuple(source.shape)}; they are frames x atoms x 3")
        if np.iscomplexobj(source):
            raise ValueError("positions are complex numbers: give their real parts")
        wanted = slice(None) if atoms is None else atoms.among(source.shape[1])
        for first in range(0, source.shape[0], chunk):
            part = source[first : first + chunk]
            if np.ma.is_masked(part):
                frame, atom = np.argwhere(np.ma.getmaskarray(part))[0][:2]
                raise ValueError(f"positions: atom {atom} of frame {first + frame} (counted from 0) is masked; leave such frames or atoms out")
            part = np.asarray(part, dtype=np.float64)
            yield part[:, wanted]
    else:
        for part in source:
            if isinstance(part, (list, tuple)) and len(part) and isinstance(part[0], (list, tuple)):
                part = np.asarray(part)
            yield from _frames(part[None] if len(getattr(part, "shape", ())) == 2 else part, atoms, chunk)  # a frame, or several


def _some_at_a_time(steps, trajectory, positions, chunk):
    """Positions of steps of an MDAnalysis trajectory in stacks of ``chunk``; it is left at the frame where it was."""
    there, held = trajectory.frame, []
    try:
        for step in steps:
            held.append(positions(step).astype(np.float64))
            if len(held) == chunk:
                yield np.stack(held)
                held = []
        if held:
            yield np.stack(held)
    finally:
        trajectory[there]


def _anchors(anchors, frame):
    """Indices of the anchors among the atoms of a frame."""
    count = len(frame)
    if isinstance(anchors, np.ndarray) and anchors.ndim == 0:
        anchors = anchors[()]
    if isinstance(anchors, (bool, np.bool_)):
        raise ValueError(f"anchors = {anchors!r} is neither a number of anchors nor their indices")
    if isinstance(anchors, (int, np.integer)):
        if anchors < 1:
            raise ValueError(f"anchors = {anchors}: at least one is needed")
        return farthest_atoms(frame, anchors)
    if isinstance(anchors, (str, bytes)) or not hasattr(anchors, "__iter__"):
        raise ValueError(f"anchors = {anchors!r} is neither a number of anchors nor their indices")
    chosen = [whole("anchors", anchor, 0) for anchor in anchors]
    if not chosen or not all(0 <= anchor < count for anchor in chosen):
        raise ValueError(f"anchors = {anchors!r} are not atoms: there are {count} in use, counted from 0")
    twice = sorted({anchor for anchor in chosen if chosen.count(anchor) > 1})
    if twice:
        raise ValueError(f"anchors = {anchors!r} name atom {twice[0]} more than once")
    return chosen


def _same_atoms(part, count):
    """In every chunk: atoms are known by their place."""
    if part.shape[1] != count:
        raise ValueError(f"positions: frames of {part.shape[1]} atoms follow frames of {count}; all frames are of the same atoms")


# Of a molecule's size: distances that differ by less are the same, and atoms that are closer are at one place. What rounding makes of positions in
# single precision when a molecule is turned about its centre is less.
_SAME = 1e-5


def _rounding(frame):
    """By how much two distances that are the same may differ in a frame, as coordinates have the digits that their distance from the origin leaves."""
    with np.errstate(over="ignore"):
        single = np.array_equal(frame.astype(np.float32), frame)  # also where they came as float64
    return 4 * np.finfo(np.float32 if single else np.float64).eps * np.abs(frame).max()  # two differences of three coordinates, half an eps each


def farthest_atoms(frame: ArrayLike, count: int) -> list[int]:
    """Indices of ``count`` atoms of one frame that are far from each other: each the farthest from those before, the first from the centre.

    Of atoms that are as far, as in a ring, it is the one of the lowest index: the choice does not change when the molecule moves, turns or is mirrored,
    as far as its coordinates have digits: what a file has rounded (XTC to 0.001 nm) may make another of such atoms the farthest. All atoms where there are no more than ``count``; refused where they are at fewer places than that.
    """
    frame, count = np.asarray(frame, dtype=np.float64), whole("count", count, 1)
    if frame.ndim != 2 or frame.shape[1] != 3 or not len(frame):
        raise ValueError(f"frame has shape {frame.shape}; a frame is atoms x 3")
    broken = np.flatnonzero(~np.isfinite(frame).all(1))
    if len(broken):
        raise ValueError(
            f"anchors are chosen in frame 0, where atom {broken[0]} of those in use (both counted from 0) has no finite position: leave such "
            "frames or atoms out, or give the indices of the anchors"
        )
    wanted = min(count, len(frame))
    rounding, frame = _rounding(frame), frame - frame[0]
    nearest = np.linalg.norm(frame - frame.mean(0), axis=1)
    same, chosen = max(_SAME * nearest.max(), rounding), []
    while len(chosen) < wanted:
        if chosen and not nearest.max() > same:
            raise ValueError(
                f"anchors = {count}: the {len(frame)} atoms of frame 0 are at {len(chosen)} place{'s' if len(chosen) > 1 else ''}, and no two anchors may be at the same; "
                "give fewer, or their indices"
            )
        farthest = int(np.argmax(nearest >= nearest.max() - same))
        away = np.linalg.norm(frame - frame[farthest], axis=1)
        nearest = np.minimum(nearest, away) if chosen else away
        chosen.append(farthest)
    return chosen


def distances(
    positions: Any, anchors: int | Sequence[int] = 8, *, atoms: Sequence[int] | None = None, chunk: int = 1000, dtype: Any = np.float32
) -> NDArray[Any]:
    """Distances of all atoms to some of them, the anchors: a row a frame, the same for a molecule that is moved, turned or mirrored.

    anchors: how many (chosen far apart in the first frame), or their indices among the atoms in use. Each pair is there once. Trajectories that go
    through one map need one choice: ``anchors = farthest_atoms(frame, 8)``, since another first frame has other atoms far apart.

    >>> import numpy as np
    >>> triangle = np.array([[[0.0, 0, 0], [3, 0, 0], [0, 4, 0]]])
    >>> np.sort(distances(triangle, anchors=3))
    array([[3., 4., 5.]], dtype=float32)
    """
    table, pairs = [], None
    for part in frames(positions, atoms, chunk):
        if pairs is None:
            count = part.shape[1]
            chosen = _anchors(anchors, part[0])
            pairs = np.array([(a, b) for i, a in enumerate(chosen) for b in range(count) if b != a and b not in chosen[:i]]).T
            if pairs.size == 0:
                raise ValueError("one atom has no distances")
        _same_atoms(part, count)
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
    table = []
    for part in _frames(positions, _Quadruples(quadruples), whole("chunk", chunk, 1)):
        a, b, c, d = np.moveaxis(part.reshape(len(part), -1, 4, 3), 2, 0)
        before, axis, after = a - b, c - b, d - c
        axis = axis / np.linalg.norm(axis, axis=2, keepdims=True)
        # what is left of the arms across the axis
        one = before - (before * axis).sum(2, keepdims=True) * axis
        two = after - (after * axis).sum(2, keepdims=True) * axis
        angle = np.arctan2((np.cross(axis, one) * two).sum(2), (one * two).sum(2))
        table.append((angle if angles else np.concatenate([np.cos(angle), np.sin(angle)], axis=1)).astype(dtype))
    if not table:
        raise ValueError("there are no frames")
    return np.concatenate(table)
