"""A fitted map in HTML: the summary that notebooks show, and a page of its own."""

import errno
import html
import os
import tempfile

import numpy as np

from ._native import Labels, report_page
from ._labels import as_column, in_order, missing
from ._points import as_path, refuse_annotated, refuse_lazy

TABLE = "border-collapse:collapse;margin:.4em 0"
CELL = "text-align:left;padding:.15em 1em .15em 0;border:0;vertical-align:top"


def rows(model):
    """What is said of a map, name by name."""
    if not hasattr(model, "_model"):
        return [("", "not fitted yet")]
    leading = ", ".join(f"{value:.4f}" for value in model.eigenvalues_[:6]) + (", ..." if len(model.eigenvalues_) > 6 else "")
    return [
        ("points", f"{len(model.psi_):,} rows, {model.n_features_in_} columns"),
        ("bandwidth beta", f"{model.beta_:.5g}" + (f" (chosen, {model.select})" if np.unique(model.sweep_["beta"]).size > 1 else " (given)")),
        ("effective neighbours", f"{model.n_eff_:,.1f}"),
        ("intrinsic dimension", f"{model.intrinsic_dim_:.2f}"),
        ("eigenvalues", leading),
        ("spectral gap", f"{model.perron_gap_:.3g}"),
        ("outcome", ("" if model.converged_ else "not converged: ") + model.outcome_),
        ("passes over the kernel", f"{model.n_passes_}, {model._model.seconds:.2f} s"),
    ]


def summary(model):
    cells = "".join(
        f"<tr><th style='{CELL};font-weight:600;white-space:nowrap'>{html.escape(name)}</th><td style='{CELL}'>{html.escape(text)}</td></tr>"
        for name, text in rows(model)
    )
    return f"<div><strong>{html.escape(repr(model))}</strong><table style='{TABLE}'>{cells}</table></div>"


def page(model, labels=None, title=None):
    """The library's page; labels are a column of words or numbers, or several by name (a dict, a data frame)."""
    columns = []
    for name, values in _named(labels):
        values = as_column(in_order(f"labels {name!r}", values, model), exact=True)
        if values.shape != (len(model.psi_),):
            raise ValueError(f"labels {name!r} have shape {values.shape}: one is needed for each of the {len(model.psi_)} rows")
        column = Labels()
        column.name = str(name)
        if np.iscomplexobj(values):
            raise ValueError(f"labels {name!r} are complex numbers: give their parts or sizes")
        if values.dtype.kind == "m":
            raise ValueError(f"labels {name!r} are spans of time: give them as numbers, values / np.timedelta64(1, 's')")
        if values.dtype.kind == "M":
            column.words = _dates(values)
        elif values.dtype.kind in "fiu":
            column.numbers = values.astype(float).tolist()
        else:
            column.words = ["" if missing(value) else str(value) for value in values.tolist()]
        columns.append(column)
    return report_page(model._model, "" if title is None else str(title), columns)


def write_whole(text, path):
    """A file that appears by rename, with the permissions a new file has; a failure leaves what was there."""
    path = os.path.realpath(as_path("path", path))
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder: name a file in it")
    if not os.path.isdir(os.path.dirname(path)):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write to", os.path.dirname(path))
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=os.path.basename(path) + ".", dir=os.path.dirname(path))
    except OSError as error:  # of the file that was asked for
        raise OSError(error.errno, f"cannot be written: {error.strerror}", path) from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _dates(values):
    """Dates in words, as fine as they need: days where all are whole ones."""
    for unit in ("D", "s", "ms", "us", "ns", np.datetime_data(values.dtype)[0]):
        try:
            coarse = values.astype(f"datetime64[{unit}]")
            if np.all((coarse == values) | np.isnat(values)):
                break
        except OverflowError:  # NumPy makes no days of picoseconds
            continue
    return ["" if np.isnat(value) else str(value).replace("T", " ") for value in coarse]


def _named(labels):
    refuse_lazy(labels, "labels")
    refuse_annotated(labels, "labels", "columns of its cells, such as adata.obs or adata.obs['leiden']")
    if labels is None:
        return []
    if isinstance(labels, dict):
        return list(labels.items())
    if hasattr(labels, "columns"):  # a frame of pandas or polars
        return [(name, labels[name]) for name in labels.columns]
    return [(getattr(labels, "name", None) or "label", labels)]
