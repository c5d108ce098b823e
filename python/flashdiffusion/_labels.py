"""Values that belong to the rows of a fitted map, as users have them: laid out in its order."""

from collections import Counter

from ._points import index_names, only_counts


def missing(value):
    """None, NaN, NaT, and pandas' NA, which is neither equal to itself nor not."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


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
