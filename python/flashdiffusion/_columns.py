"""Names of columns: whether a table has those of the fit. Columns are taken by position; the names say whether that is right."""

import csv
import io
import re
import sys
from typing import NamedTuple

import numpy as np

from ._points import index_names, refuse_lazy


class ColumnNames(NamedTuple):
    texts: list  # as a CSV file of the table has them, where one line holds them
    strings: bool  # they are: for scikit-learn others are none

    @property
    def features(self):
        return np.asarray(self.texts, dtype=object) if self.strings else None


def column_names(table):
    """Of a frame: all strings, or none of them; else None."""
    refuse_lazy(table)
    columns = getattr(table, "columns", None)
    if columns is None or not hasattr(table, "shape") or not len(columns):
        return None
    strings = [isinstance(name, str) for name in columns]
    if any(strings) and not all(strings):
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{sorted({type(name).__name__ for name in columns})} as feature name / column name types."
        )
    return ColumnNames(list(columns) if all(strings) else _written(columns), all(strings))


def _written(columns):
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(columns, pandas.Index) or columns.nlevels > 1:
        return index_names(columns)
    return next(csv.reader(io.StringIO(pandas.DataFrame(columns=columns).to_csv(index=False), newline="")))


def adopt_names(estimator, names):
    """Of the columns of the table that was fitted, or none."""
    estimator._columns = names
    if names is not None and names.strings:
        estimator.feature_names_in_ = names.features
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


_MOMENT = re.compile(r"(\d{4,}-\d\d-\d\d)[ t](\d\d:\d\d)(:\d\d)?(\.\d+)?(.*)")


def _meaning(name):
    """One text for all ways to write a number, a truth value or a date, capitals or not: what pandas calls equal, before and after a file."""
    return ", ".join(map(_meaning_of_part, name.casefold().split(", ")))


def _meaning_of_part(text):
    text = {"true": "1", "false": "0"}.get(text, text)
    moment = _MOMENT.fullmatch(text)
    if moment:
        day, minute, seconds, fraction, zone = moment.groups()
        time = minute + (seconds or ":00") + (fraction or "").rstrip("0").rstrip(".")
        return day if time == "00:00:00" and not zone else f"{day} {time}{zone}"
    if "_" in text:  # which Python takes for a separator in numbers
        return text
    try:
        return str(int(text))  # beyond 2^53 too
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else repr(number)


def _refuse_misplaced(known, given):
    """A name that another column had, which has it no more, is no matter of spelling."""
    before, now = (list(map(_meaning, names.texts)) for names in (known, given))
    lost = {name for name, other in zip(before, now) if name != other and name}  # many may have none
    for column, (name, other) in enumerate(zip(before, now)):
        if name != other and other in lost:
            raise ValueError(
                f"X has columns of the fit in another order: column {column + 1} was {known.texts[column]!r} and is {given.texts[column]!r}; "
                "columns are taken by position"
            )


def refuse_other_columns(estimator, table, array):
    """Points that are transformed have the columns of the points that were fitted."""
    known, names = getattr(estimator, "_columns", None), column_names(table)
    fitted, given = getattr(estimator, "feature_names_in_", None), None if names is None else names.features
    same = False
    if known is not None and names is not None and not (known.strings and names.strings):
        _refuse_misplaced(known, names)
        same = list(map(_meaning, known.texts)) == list(map(_meaning, names.texts))
    if fitted is not None and given is not None and list(fitted) != list(given):
        unseen, missing = sorted(set(given) - set(fitted)), sorted(set(fitted) - set(given))
        message = "The feature names should match those that were passed during fit.\n"
        for title, names in (("Feature names unseen at fit time", unseen), ("Feature names seen at fit time, yet now missing", missing)):
            if names:
                message += f"{title}:\n" + "".join(f"- {name}\n" for name in names[:5])
                message += "- ...\n" if len(names) > 5 else ""
        if not unseen and not missing:
            message += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(message)
    if fitted is not None and given is None and not same:
        _warn(f"X does not have valid feature names, but {type(estimator).__name__} was fitted with feature names")
    if fitted is None and given is not None and not same and not getattr(estimator, "_columns_unknown", False):
        _warn(f"X has feature names, but {type(estimator).__name__} was fitted without feature names")
    if array.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {array.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} features as input."
        )


def _warn(message):
    from .warnings import warn

    warn(UserWarning(message))
