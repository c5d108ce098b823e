"""Pictures of a fitted map, with matplotlib. Each function takes the axes to draw on, makes its own else, and returns them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .diffusion_map import DiffusionMap

ACCENT, SOFT, ALARM = "#1f5f8b", "#9fb8c9", "#c0392b"


def _axes(ax, size=(5.5, 4.5), projection=None):
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots are drawn with matplotlib: pip install matplotlib") from error
    figure = plt.figure(figsize=size, layout="constrained")
    return figure.add_subplot(projection=projection)


def _tidy(ax):
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _plain_ticks(axis):
    """On a logarithmic axis of one or two decades: 0.1, 0.2, 0.5, and no exponents."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def embedding(
    model: DiffusionMap,
    modes: Sequence[int] = (0, 1),
    colour: Any = None,
    *,
    label: str | None = None,
    size: float | None = None,
    ax: Any = None,
    **scatter: Any,
) -> Any:
    """Two or three coordinates against each other.

    colour: a value a row (numbers are shown with a scale, which ``label`` names; words or categories with a legend); the next
    coordinate where none is given.
    """
    coordinates = model.embedding_
    modes = tuple(modes)
    if len(modes) not in (2, 3) or not all(0 <= mode < coordinates.shape[1] for mode in modes):
        raise ValueError(f"modes = {modes} are not two or three of the {coordinates.shape[1]} coordinates (counted from 0)")
    ax = _axes(ax, projection="3d" if len(modes) == 3 else None)
    if colour is None:
        following = max(modes) + 1
        if following < coordinates.shape[1]:
            colour, label = coordinates[:, following], label or f"coordinate {following + 1}"
    n = len(coordinates)
    drawn = dict(s=size or float(np.clip(4e4 / n, 1, 25)), linewidths=0, alpha=0.9 if n < 20000 else 0.5, rasterized=n > 5000, **scatter)
    columns = [coordinates[:, mode] for mode in modes]
    values = None if colour is None else np.asarray(colour)
    if values is not None and len(values) != n:
        raise ValueError(f"colour holds {len(values)} values for {n} rows")
    if values is None:
        ax.scatter(*columns, color=ACCENT, **drawn)
    elif values.dtype.kind in "fiu":
        dots = ax.scatter(*columns, c=values, cmap=drawn.pop("cmap", "viridis"), **drawn)
        bar = ax.figure.colorbar(dots, ax=ax, shrink=0.8, pad=0.12 if len(modes) == 3 else 0.02)
        bar.solids.set_alpha(1)
        bar.outline.set_visible(False)
        if label:
            bar.set_label(label)
    else:
        for i, kind in enumerate(sorted(set(values.tolist()), key=str)):
            here = values == kind
            ax.scatter(*[column[here] for column in columns], color=f"C{i % 10}", label=str(kind), **drawn)
        ax.legend(title=label, frameon=False, markerscale=max(1.0, 3 / np.sqrt(drawn["s"])), loc="best")
    for name, mode in zip("xyz", modes):
        getattr(ax, f"set_{name}label")(f"coordinate {mode + 1}")
        ax.locator_params(axis=name, nbins=5)
    return ax if len(modes) == 3 else _tidy(ax)


def spectrum(model: DiffusionMap, *, ax: Any = None) -> Any:
    """Eigenvalues, largest first; those that did not reach the tolerance are marked."""
    ax = _axes(ax, (5.5, 3.6))
    values, number = model.eigenvalues_, np.arange(1, len(model.eigenvalues_) + 1)
    reached = model.residuals_ <= model.tolerance
    ax.vlines(number, 0, values, color=SOFT, linewidth=2)
    ax.plot(number[reached], values[reached], "o", color=ACCENT, markersize=5)
    if not reached.all():
        ax.plot(number[~reached], values[~reached], "o", color=ALARM, markersize=5, markerfacecolor="white", label="not converged")
        ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0)
    ax.set_xlabel("mode")
    ax.set_ylabel("eigenvalue")
    ax.set_ylim(min(0.0, values.min()), 1.02)
    ax.xaxis.get_major_locator().set_params(integer=True)
    return _tidy(ax)


def _last_search(beta):
    """Where the last search begins among probes in their order: a search starts anew where it returns to its first bandwidth or below."""
    start = 0
    for i in range(1, len(beta)):
        if beta[i] <= beta[start] * (1 + 1e-9):
            start = i
    return start


def flow(model: DiffusionMap, *, ax: Any = None) -> Any:
    """The resolution potential against the bandwidths that were tried; the accepted one is marked.

    A line a sub-sample, and another where rows were set aside, that of the last search; pale points belong to those before it. Hollow points are no candidates: modes there live on a few rows, half of the
    eigenvalues are noise, or the solve did not end. Where the rows no longer hang together there is no potential: marked at the upper edge.
    """
    ax = _axes(ax, (5.5, 4.0))
    sweep = model.sweep_
    beta, v = sweep["beta"], sweep["v"]
    finite = np.isfinite(v) & (v > 0) & (sweep["outcome"] != "wall")  # a wall may be finite, and would dwarf the rest
    candidate = finite & (sweep["outcome"] == "resolved") & (sweep["localised"] <= 1)
    rungs = sorted(set(sweep["n"][finite].tolist()))
    for n in rungs:
        shade = ACCENT if n == rungs[-1] else SOFT
        for some_aside, dashes in ((False, "o-"), (True, "o:")):
            here = np.flatnonzero(candidate & (sweep["n"] == n) & ((sweep["aside"] > 0) == some_aside))
            if some_aside:  # several searches, each with other rows aside: the last is the line
                earlier = here[: _last_search(beta[here])]
                ax.plot(beta[earlier], v[earlier], "o", color=shade, markersize=3, alpha=0.35)
                here = here[len(earlier) :]
            here = here[np.argsort(beta[here])]
            if len(here):
                label = f"{n:,} rows" + (", some set aside" if some_aside else "")
                ax.plot(beta[here], v[here], dashes, color=shade, markersize=4, label=label)
        here = finite & ~candidate & (sweep["n"] == n)
        ax.plot(beta[here], v[here], "o", color=shade, markersize=4, markerfacecolor="white", label="no candidates" if n == rungs[-1] and here.any() else None)
    walls = ~finite
    if walls.any():
        ax.plot(beta[walls], np.ones(walls.sum()), "v", color=ALARM, markersize=5, clip_on=False, transform=ax.get_xaxis_transform(), label="rows fall apart")
    ax.axvline(model.beta_, color=ALARM, linewidth=1, linestyle="--", label=f"accepted: {model.beta_:.3g}")
    if not rungs:
        ax.text(0.5, 0.5, "no potential: the bandwidth was given", transform=ax.transAxes, ha="center", color="0.4")
    ax.set_xscale("log")
    if np.ptp(beta) == 0:  # one bandwidth: in the middle
        ax.set_xlim(model.beta_ / 4, model.beta_ * 4)
        if rungs:
            ax.set_ylim(v[finite].min() / 4, v[finite].max() * 4)
    _plain_ticks(ax.xaxis)
    if rungs:
        ax.set_yscale("log")
        _plain_ticks(ax.yaxis)
    ax.set_xlabel(r"bandwidth $\beta$")
    ax.set_ylabel("resolution potential")
    ax.legend(edgecolor="none", framealpha=0.9, fontsize="small")
    return _tidy(ax)
