"""Remarks of the library as Python warnings, with the same sentences."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterable

# Options of the program and of reading files, which arrays do not have.
_INSTEAD = {
    "`missing = drop-rows`": "X[np.isfinite(X).all(axis=1)]",
    "(-k)": "(n_components)",
    "do not write to their file during a run": "do not write to the array during a run",
    "give the points it was fitted to, less its mean: `points`": "use a model that was saved with its points",
}
# Fields of the library's options that have another name here.
_PARAMETER = {"modes": "n_components", "threads": "n_jobs", "seed": "random_state", "time": "diffusion_time"}


class FlashDiffusionWarning(UserWarning):
    """All warnings of this package."""


class ConvergenceWarning(FlashDiffusionWarning):
    """The numbers are not what was asked for; the message says what they are worth."""


class DataWarning(FlashDiffusionWarning):
    """The data are unlike what a diffusion map expects: isolated rows, separate components, rows far from all that were fitted.

    ``rows``: those the sentence is about, counted from 0, where it is about rows of the table that was given.
    """

    def __init__(self, message: str = "", rows: Iterable[int] = ()) -> None:
        super().__init__(message)
        self.rows = [int(row) for row in rows]


def warn(warning: Warning) -> None:
    """At the line of the user's that called this package, however deep inside it this is said."""
    here, level = os.path.dirname(__file__) + os.sep, 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame, level = frame.f_back, level + 1
    warnings.warn(warning, stacklevel=level)


def in_python(sentence: str) -> str:
    """The sentence with options, written as fields in backticks or as flags, named as parameters; it says how it counts rows.

    >>> in_python("`modes = 0` is too few; raise --max-passes")
    '`n_components = 0` is too few; raise max_passes'
    >>> in_python("2 of 9 rows (rows 3, 4) are alike")
    '2 of 9 rows (rows 3, 4) are alike (rows are counted from 1 here)'
    >>> in_python("cannot open runs/a--b.h5")
    'cannot open runs/a--b.h5'
    """

    def parameter(match):
        mark, name = match.groups()
        return mark.replace("--", "") + _PARAMETER.get(name, name.replace("-", "_"))

    for there, here in _INSTEAD.items():
        sentence = sentence.replace(there, here)
    if re.search(r"\brows? \d", sentence) and "counted from 1" not in sentence:
        sentence += " (rows are counted from 1 here)"
    return re.sub(r"(`|(?<![\w./-])--)([a-z][a-z0-9_-]*)", parameter, sentence)
