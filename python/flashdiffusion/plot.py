"""Pictures of a fitted map, with matplotlib. Each function takes the axes to draw on, makes its own else, and returns them."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _labels

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
    """On a logarithmic axis: as many of 1, 2, 5 and the rest of each decade as fit side by side, and exponents only where it is long."""
    from matplotlib.ticker import FuncFormatter, LogFormatterSciNotation, LogLocator, MaxNLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    decades = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    for some in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        if sum(low <= step * 10.0**decade <= high for decade in decades for step in some) >= 4:
            axis.set_major_locator(LogLocator(subs=some, numticks=8))
            break
    else:  # a small part of a decade, on which equal steps look nearly so
        axis.set_major_locator(MaxNLocator(5, steps=(1, 2, 5, 10)))
    plain = 1e-4 < low and high < 1e6
    powers = LogFormatterSciNotation(minor_thresholds=(np.inf, np.inf))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}") if plain else powers)
    axis.set_minor_formatter(NullFormatter())


_MOST_KINDS = 40  # that are told apart by colour; the rest is one


def _natural(kind):
    """Sorts "type 2" before "type 10", and numbers by size."""
    if isinstance(kind, (int, float)):
        return (0, kind, [])
    return (1, 0, [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"(\d+)", str(kind))])


def _colours(colour, n):
    """What is meant by a colour: ("one", it), ("each", n colours), ("numbers", values), ("dates", days), or ("kinds", values, kinds in order)."""
    from matplotlib.colors import is_color_like
    from matplotlib.dates import date2num

    if isinstance(colour, str) or isinstance(colour, tuple) and len(colour) in (3, 4) and len(colour) != n:
        if not is_color_like(colour):
            raise ValueError(f"colour = {colour!r} is neither the name of a colour nor a value a row")
        return "one", colour
    order = getattr(colour, "categories", None)  # of pandas, in their own order
    if order is None:
        order = getattr(getattr(colour, "cat", None), "categories", None)
    values = _labels.as_column(colour)
    if values.shape == (n, 3) or values.shape == (n, 4):
        return "each", values
    if values.shape != (n,):
        held = f"{len(values)} values" if values.ndim == 1 else f"an array of shape {values.shape}"
        raise ValueError(f"colour holds {held} for {n} rows")
    if values.dtype.kind in "fiu":
        return "numbers", values
    if values.dtype.kind == "m":
        return "numbers", np.where(np.isnat(values), np.nan, values / np.timedelta64(1, "s"))
    if values.dtype.kind == "M":
        return "dates", date2num(values)
    there = [value for value in values.tolist() if not _labels.missing(value)]
    if there and all(isinstance(value, datetime.date) for value in there):
        return "dates", np.array([np.nan if _labels.missing(value) else date2num(_of_its_day(value)) for value in values.tolist()])
    kinds = set(there)
    return "kinds", values, [kind for kind in order if kind in kinds] if order is not None else sorted(kinds, key=_natural)


def _of_its_day(date):
    """A date with a zone by its own clock, which matplotlib would set to UTC."""
    return date.replace(tzinfo=None) if isinstance(date, datetime.datetime) else date


def _draw_kinds(ax, columns, values, kinds, label, drawn, own):
    """Each kind in a colour of its own, with a legend beside the axes where it is long. ``own``: the figure was made for this."""
    import matplotlib

    values = values.tolist()
    few = kinds
    if len(kinds) > _MOST_KINDS:  # the largest
        size = Counter(values)
        largest = set(sorted(kinds, key=lambda kind: -size[kind])[:_MOST_KINDS])
        few = [kind for kind in kinds if kind in largest]
    number = {kind: i for i, kind in enumerate(few)}
    which = np.array([-2 if _labels.missing(value) else number.get(value, -1) for value in values])
    cmap = drawn.pop("cmap", None)
    for name in ("norm", "vmin", "vmax", "plotnonfinite"):  # of numbers
        drawn.pop(name, None)
    if cmap is None and len(few) <= 10:
        colours = [f"C{i}" for i in range(len(few))]
    elif cmap is None and len(few) <= 20:
        colours = [matplotlib.colormaps["tab20"](i) for i in range(len(few))]
    else:
        scale = matplotlib.colormaps[cmap or "turbo"] if isinstance(cmap or "", str) else cmap
        colours = [scale(i) for i in np.linspace(0.02, 0.98, len(few))]
    for i, text, colour in ((-2, "missing", "0.8"), (-1, f"{len(kinds) - len(few)} other kinds", "0.65")):
        if (which == i).any():
            ax.scatter(*[column[which == i] for column in columns], color=colour, label=text, **drawn)
    for i, kind in enumerate(few):
        ax.scatter(*[column[which == i] for column in columns], color=[colours[i]], label=str(kind), **drawn)
    handles, names = ax.get_legend_handles_labels()
    first = len(handles) - len(few)  # what has no name of its own comes last
    size = np.atleast_1d(np.asarray(drawn["s"], dtype=np.float64)).mean()
    how = dict(title=label, frameon=False, markerscale=max(1.0, 3 / np.sqrt(max(size, 1e-3))))
    handles, names = handles[first:] + handles[:first], names[first:] + names[:first]
    if len(names) <= 6:
        ax.legend(handles, names, loc="best", **how)
        return
    stacks = -(-len(names) // 21)
    how.update(ncols=stacks, fontsize="small")
    if own and ax.name == "3d":  # whose legend the layout does not see
        ax.figure.legend(handles, names, loc="outside right center", **how)
    else:
        ax.legend(handles, names, loc="center left", bbox_to_anchor=(1.01, 0.5), borderaxespad=0, **how)
    if own:
        longest = max(len(name) for name in names)
        ax.figure.set_figwidth(ax.figure.get_figwidth() + stacks * (0.35 + 0.075 * min(longest, 40)))


def embedding(
    model: DiffusionMap,
    modes: Sequence[int] | None = None,
    colour: Any = None,
    *,
    label: str | None = None,
    size: float | None = None,
    ax: Any = None,
    **scatter: Any,
) -> Any:
    """Two or three coordinates against each other (the first two), or one against the number of the row.

    colour: a value a row (numbers and dates are shown with a scale, which ``label`` names; words or categories with a legend; a Series is laid out
    by its index, as labels of ``report`` are), or one colour for all; the next coordinate where none is given. ``scatter`` goes to matplotlib's
    ``scatter``, where ``c`` and ``color`` are other names of colour and ``s`` of size.
    """
    coordinates = model.embedding_
    try:
        modes = tuple(range(min(2, coordinates.shape[1]))) if modes is None else tuple(modes)
    except TypeError:
        raise ValueError(f"modes = {modes!r} is no list of coordinates: give one, two or three, counted from 0, such as [0]") from None
    whole = all(isinstance(mode, (int, np.integer)) and not isinstance(mode, bool) for mode in modes)
    if len(modes) not in (1, 2, 3) or not whole or not all(0 <= mode < coordinates.shape[1] for mode in modes):
        raise ValueError(f"modes = {modes} are not one, two or three of the {coordinates.shape[1]} coordinates (counted from 0)")
    for name in ("c", "color"):
        if scatter.get(name) is not None and colour is not None:
            raise ValueError(f"{name} is another name of colour, which is given too")
        colour = scatter.pop(name, None) if colour is None else colour
    for alias in ("linewidth", "lw"):
        if alias in scatter:
            scatter["linewidths"] = scatter.pop(alias)
    own, ax = ax is None, _axes(ax, projection="3d" if len(modes) == 3 else None)
    if colour is None:
        following = max(modes) + 1
        if following < coordinates.shape[1]:
            colour, label = coordinates[:, following], label or f"coordinate {following + 1}"
    colour = _labels.in_order("values of colour", colour, model)
    n = len(coordinates)
    drawn = dict(s=size if size is not None else float(np.clip(4e4 / n, 1, 25)), linewidths=0, alpha=0.9 if n < 20000 else 0.5, rasterized=n > 5000)
    drawn.update(scatter)
    columns = [coordinates[:, mode] for mode in modes]
    if len(modes) == 1:
        columns.insert(0, np.arange(n))
    what, *values = ("one", ACCENT) if colour is None else _colours(colour, n)
    if what in ("one", "each"):
        ax.scatter(*columns, **{"color" if what == "one" else "c": values[0]}, **drawn)
    elif what == "kinds":
        _draw_kinds(ax, columns, *values, label, drawn, own)
    else:
        _draw_scale(ax, columns, values[0], what == "dates", label, drawn)
    if len(modes) == 1:
        ax.set_xlabel("row")
        ax.set_ylabel(f"coordinate {modes[0] + 1}")
        return _tidy(ax)
    for name, mode in zip("xyz", modes):
        getattr(ax, f"set_{name}label")(f"coordinate {mode + 1}")
        ax.locator_params(axis=name, nbins=5)
    return ax if len(modes) == 3 else _tidy(ax)


def _draw_scale(ax, columns, values, dates, label, drawn):
    """Numbers, or dates as numbers of days, with their scale; what is not finite is grey."""
    import matplotlib

    cmap = drawn.pop("cmap", "viridis")
    cmap = (matplotlib.colormaps[cmap] if isinstance(cmap, str) else cmap).with_extremes(bad="0.8")
    drawn.setdefault("plotnonfinite", True)
    dots = ax.scatter(*columns, c=values, cmap=cmap, **drawn)
    how = {}
    if dates:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        how["ticks"] = AutoDateLocator(minticks=3, maxticks=8)  # which some multiple of every unit meets: 4 years are too few of 5, and too many half-years of 8
        how["format"] = ConciseDateFormatter(how["ticks"])
    bar = ax.figure.colorbar(dots, ax=ax, shrink=0.8, pad=0.12 if len(columns) == 3 else 0.02, **how)
    bar.solids.set_alpha(1)
    bar.outline.set_visible(False)
    if label:
        bar.set_label(label)


def spectrum(model: DiffusionMap, *, ax: Any = None) -> Any:
    """Eigenvalues, largest first; those that did not reach the tolerance are marked."""
    ax = _axes(ax, (5.5, 3.6))
    from matplotlib.ticker import MaxNLocator

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
    ax.set_xlim(0.5, len(values) + 0.5)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
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
