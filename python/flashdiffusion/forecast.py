"""estimate: what a fit will take on this machine."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

from . import _native
from ._points import as_points
from .diffusion_map import DiffusionMap


@dataclass(frozen=True)
class Forecast:
    """Of one fit. Expect the time to within a factor of two."""

    seconds: float
    memory_bytes: float
    passes: int  # sweeps over a kernel
    full_passes: int  # those over all rows
    columns: int  # vectors times sweeps
    pairs_per_second: float


def estimate(X: Any, **parameters: Any) -> Forecast:
    """Time, memory and passes of ``DiffusionMap(**parameters).fit(X)``, from a fraction of a second of measurement.

    X is a table, or a shape for points that do not exist yet.

    >>> forecast = estimate((20000, 10), n_components=4)
    >>> forecast.seconds > 0 and forecast.passes > 0
    True
    """
    options = DiffusionMap(**parameters)._options()
    if isinstance(X, tuple) and len(X) == 2 and all(isinstance(number, numbers.Integral) for number in X):
        X = tuple(int(number) for number in X)
        if min(X) < 1:
            raise ValueError(f"X = {X} is no shape of a table: rows and columns, each at least 1")
        if max(X) >= 2**63:
            raise ValueError(f"X = {X} are more values than any machine holds; give the rows and columns of the table that is to be fitted")
        made = _native.estimate_shape(*X, options)
    else:
        made = _native.estimate(as_points(X), options)
    return Forecast(**{name: getattr(made, name) for name in Forecast.__dataclass_fields__})
