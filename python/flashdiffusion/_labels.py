"""Values that belong to the rows of a fitted map, as users have them: laid out in its order."""

import datetime
from collections import Counter

import numpy as np

from ._points import index_names, missing, only_counts


def as_column(values, exact=False):
    """A column as an array: of numbers (NaN where they are missing), dates, spans or words; of Python's values, None where they are missing, where that is all
    that holds them. ``exact``: so are whole numbers that no double holds: as such, different ones could become one."""
    kind = getattr(values, "dtype", None)
    if np.ma.isMaskedArray(values) and not np.ma.is_masked(values):
        values = values.data
    if np.ma.isMaskedArray(values):
        made = np.array(values.data, dtype=values.dtype if values.dtype.kind in "fMm" else object)
        made[np.ma.getmaskarray(values)] = None if made.dtype == object else "NaT" if made.dtype.kind in "Mm" else np.nan
    elif isinstance(kind, np.dtype) or hasattr(values, "columns") or not hasattr(values, "to_list") and not hasattr(values, "isna"):
        made = np.asarray(values)
        if isinstance(values, (list, tuple)) and made.ndim == 1 and made.dtype.kind in "fiuU":
            made = _objects(values)  # of which NumPy has made one type, NaN a word among words
    elif hasattr(values, "null_count") and kind.is_temporal() and getattr(kind, "time_zone", None) is None:  # of polars: finer than Python's
        made = values.to_numpy()
    else:
        made = _objects(values.tolist() if hasattr(values, "tolist") else values.to_list())
    if made.ndim != 1:
        return made
    if exact and made.dtype.kind in "iu" and made.dtype.itemsize == 8 and any(int(value) != float(value) for value in made.tolist()):
        return made.astype(object)
    if made.dtype != object:
        return made
    made = _objects([None if missing(value) else value for value in made.tolist()])
    there = [value for value in made.tolist() if value is not None]
    if there and all(isinstance(value, datetime.timedelta) for value in there):
        return made.astype("m8[us]")
    if any(isinstance(value, (complex, np.complexfloating)) for value in there):
        return made.astype(complex)
    if not there or not all(_is_number(value) for value in there):
        return made
    try:
        numbers = made.astype(np.float64)  # NaN of None
        rounded = any(isinstance(value, (int, np.integer)) and int(value) != float(value) for value in there)
    except OverflowError:
        return made
    return made if exact and rounded else numbers


def _objects(values):
    made = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):  # which may be lists themselves
        made[i] = value
    return made


def _is_number(value):
    return isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.timedelta64))


def in_order(what, values, model):
    """Values in the order of the model's rows: by name where they have an index of pandas; else as they are. ``what`` they are called, in the plural."""
    index = getattr(values, "index", None) if hasattr(values, "iloc") else None
    if index is None:
        return values
    rows = len(model.psi_)
    # rows of a frame whose index counted them are called by their numbers
    names = model._model.names or (list(map(str, range(rows))) if model._rows_counted else None)
    as_they_are = "; such as are in the order of the map's rows can be given as an array: .to_numpy()"
    if not names:
        whole = all(isinstance(entry, int) for entry in index.tolist())
        if whole and not index.is_monotonic_increasing:
            raise ValueError(f"{what} have an index that counts in another order than they stand, and the rows of the map have no names: sort them by it{as_they_are}")
        return values
    labelled = index_names(index)
    if labelled == names:
        return values
    place = {row: i for i, row in enumerate(labelled)}
    lacking = [row for row in names if row not in place]
    if len(lacking) == len(names) and only_counts(index) and len(index) == len(names):
        return values  # a count of them, and none of their names
    if lacking:
        raise ValueError(
            f"{what} have an index in which {len(lacking)} of the {len(names)} rows of the map are not found, such as {lacking[0]!r}{as_they_are}"
        )
    wanted = set(names)
    held = [row for row in labelled if row in wanted]
    if len(wanted) < len(names) or len(held) > len(wanted):
        where, named = (names, "rows of the map") if len(wanted) < len(names) else (held, what)
        twice = next(row for row, times in Counter(where).items() if times > 1)
        raise ValueError(f"several {named} are named {twice!r}, so that {what} cannot be told apart by their names{as_they_are}")
    return values.iloc[[place[row] for row in names]]
