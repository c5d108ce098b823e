"""Bandwidths and eigenvectors as other packages write them. docs/conventions.md has the table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ._options import positive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .diffusion_map import DiffusionMap


# beta = 1 / (factor epsilon)
EPSILON = {"pydiffmap": 4.0, "datafold": 2.0, "mdanalysis": 1.0}


def bandwidth(
    *,
    beta: float | None = None,
    sigma: float | None = None,
    gamma: float | None = None,
    epsilon: float | None = None,
    convention: str | None = None,
) -> float:
    """beta of exp(-beta |x - y|^2) from exactly one of these; epsilon needs a convention: "pydiffmap", "datafold" or "mdanalysis".

    >>> bandwidth(sigma=0.5)
    2.0
    >>> bandwidth(epsilon=0.5, convention="pydiffmap")
    0.5
    """
    given = {name: value for name, value in dict(beta=beta, sigma=sigma, gamma=gamma, epsilon=epsilon).items() if value is not None}
    if len(given) != 1:
        raise ValueError(f"one of beta, sigma, gamma and epsilon fixes the bandwidth, not {', '.join(given) or 'none'}")
    (name, value), = given.items()
    if convention is not None and name != "epsilon":
        raise ValueError("convention says what epsilon means, and there is no epsilon")
    if name == "epsilon" and (not isinstance(convention, str) or convention not in EPSILON):
        raise ValueError("epsilon means different things in different packages: give convention='pydiffmap', 'datafold' or 'mdanalysis'")
    made = np.float64(positive(name, value))
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        if name == "sigma":
            made = 1 / (2 * made * made)
        elif name == "epsilon":
            made = 1 / (EPSILON[str(convention)] * made)
    return _in_range(made, f"{name} = {value!r} makes a beta")


def epsilon(beta: float, convention: str) -> float:
    """The epsilon of a package for our beta: the inverse of ``bandwidth``.

    >>> epsilon(0.5, "datafold")
    1.0
    """
    if not isinstance(convention, str) or convention not in EPSILON:
        raise ValueError(f"convention = {convention!r} is not known; use one of {', '.join(EPSILON)}")
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        made = 1 / (EPSILON[convention] * np.float64(positive("beta", beta)))
    return _in_range(made, f"beta = {beta!r} makes an epsilon")


def _in_range(made: np.float64, what: str) -> float:
    if not 0 < made < math.inf:
        raise ValueError(f"{what} of {made:g}, which is no bandwidth: rescale the table")
    return float(made)


def symmetric_eigenvectors(model: DiffusionMap) -> NDArray[Any]:
    """Eigenvectors of the symmetric operator, of unit length: v = sqrt(d) psi, normalised.

    The trivial one comes first, as in scanpy; ``[:, 1:]`` leaves it out. Rows set aside have no weight, and are 0.
    """
    model._fitted()
    root = np.sqrt(model.degree_)
    vectors = np.column_stack([root, root[:, None] * model.psi_])
    return vectors / np.linalg.norm(vectors, axis=0)
