"""Tables as users have them -> C-contiguous float32 or float64 arrays, without a copy where that is possible.

Refusals are worded as scikit-learn words them. Values that are not finite are found later, by the library, which names row and column.
"""

import datetime
import errno
import os

import numpy as np


def as_path(name, path):
    """A path as text, with Python's stand-ins for bytes that are none; os.fsencode gives the bytes, which the library takes."""
    try:
        text = os.fsdecode(path)
    except TypeError:
        raise TypeError(f"{name} = {path!r} is not a path") from None
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError:
        raise ValueError(f"{name} = {path!r} holds characters that no name of a file can have") from None
    if b"\0" in encoded:
        raise ValueError(f"{name} = {path!r} holds a NUL character, where the system would end the name")
    return text


def native_path(name, path):
    """A path as the library takes it."""
    return os.fsencode(as_path(name, path))


def as_checkpoint(path):
    """A path as the library takes it that a file can have: a fit that cannot keep anything there would find out only when it has something to keep."""
    text = as_path("checkpoint", path)
    folder = os.path.dirname(os.path.abspath(text))
    if not text:
        raise ValueError("checkpoint = '' names no file")
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder for the checkpoint", folder)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "the checkpoint cannot be written in this folder", folder)
    return os.fsencode(text)


def is_sparse(table):
    return hasattr(table, "tocsr") or type(table).__module__.startswith("scipy.sparse")


def refuse_lazy(table, name="X"):
    """Of polars: asked for its columns it would work them out, with a warning."""
    if callable(getattr(type(table), "collect", None)) and not hasattr(type(table), "to_numpy"):
        raise TypeError(f"{name} is a lazy frame: call .collect() first")


def refuse_annotated(table, name, instead):
    if hasattr(table, "obsm") and hasattr(table, "obs_names"):
        raise TypeError(f"{name} is annotated data ({type(table).__name__}): give {instead}")


def row_names(table):
    """Names of the rows of a frame of pandas: its index as text, where that does more than count them from 0; else None."""
    if not hasattr(table, "iloc") or only_counts(table.index):
        return None
    names = index_names(table.index)
    for name in names:
        if "\0" in name:
            raise ValueError(f"the row name {name!r} in the index of X holds a NUL character, at which a model file would cut it: rename the row")
        if any("\ud800" <= character <= "\udfff" for character in name):
            raise ValueError(f"the row name {name!r} in the index of X holds a surrogate, which is no character: rename the row")
    return names


def only_counts(index):
    return getattr(index, "start", None) == 0 and getattr(index, "step", None) == 1


def index_names(index):
    """Entries of an index as text, one by one, so that a name is the same whatever names stand beside it."""
    return [", ".join(map(_part, entry)) if isinstance(entry, tuple) else str(entry) for entry in index.tolist()]


def _part(entry):
    """Of a name of several parts, in quotes, as in CSV, where it could be taken for two."""
    text = str(entry)
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


def as_points(table, name="X"):
    """The rows as an array: float32 and float64 in C order as they are, the rest converted (float16 to float32, others to float64)."""
    refuse_annotated(
        table, name, "a table of its cells, such as adata.obsm['X_pca'] or adata.to_df(), or use flashdiffusion.scanpy.diffmap(adata)"
    )
    if is_sparse(table):
        raise TypeError(
            f"Sparse data was passed for {name}, but dense data is required. Use '.toarray()' to convert to a dense numpy array, or "
            "reduce it first (PCA)."
        )
    refuse_lazy(table, name)
    if hasattr(table, "to_numpy") and hasattr(table, "columns"):
        table = _values(table, name)
    table = unmasked(table)
    array = table if type(table) is np.ndarray else np.asarray(table)
    if array.dtype == object and array.ndim == 0:
        raise TypeError(f"{name} is a {type(table).__name__}, which is no table: give an array, a frame or a list of rows")
    if np.iscomplexobj(array):
        raise ValueError(f"Complex data not supported\n{array}\n")
    if array.dtype not in (np.float32, np.float64) or not array.dtype.isnative:
        if array.dtype.kind not in "fiubO":
            raise ValueError(f"{name}: values of type {array.dtype} are not numbers; convert them first")
        columns = range(1, array.shape[1] + 1) if array.ndim == 2 else ()
        if array.dtype == object and array.ndim == 2:
            array = _without_missing(array, columns, name)
        try:
            array = array.astype(np.float32 if array.dtype == np.float16 else np.float64)
        except OverflowError as error:  # whole numbers of Python
            raise ValueError(f"{name}: {error}; rescale the column") from None
        except (TypeError, ValueError):
            _refuse_no_number(array, columns, name)
            raise
    of = "" if name == "X" else f"{name}: "
    if array.ndim != 2:
        hint = (
            "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it "
            "contains a single sample."
            if array.ndim < 2
            else "Make each sample one row."
        )
        raise ValueError(f"{of}Expected 2D array, got {array.ndim}D array instead. {hint}")
    if array.shape[0] < 1:
        raise ValueError(f"{of}Found array with 0 sample(s) (shape={array.shape}) while a minimum of 1 is required.")
    if array.shape[1] < 1:
        raise ValueError(f"{of}Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required.")
    return np.ascontiguousarray(array)


def as_values(table, name):
    """A value, or a row of values, for each point, held to the rules of ``as_points``."""
    refuse_annotated(table, name, "values of its cells, such as adata.obs['total_counts'] or adata.obsm['X_pca']")
    if is_sparse(table):
        raise TypeError(f"{name} is sparse, but a dense array is required: use '.toarray()'")
    refuse_lazy(table, name)
    if hasattr(table, "columns"):
        return as_points(table, name)
    values = np.asanyarray(table)
    if values.ndim == 1:
        return as_points(values[:, None], name)[:, 0]
    if values.ndim != 2:
        raise ValueError(f"{name} has shape {values.shape}: a value, or a row of values, is needed for each point")
    return as_points(values, name)


def refuse_not_finite(X, name="X"):
    """Of coordinates, with the place of the first that is not."""
    where = np.argwhere(~np.isfinite(X))
    if len(where):
        row, column = where[0]
        what = "NaN" if np.isnan(X[row, column]) else "infinity"
        raise ValueError(f"{what} in row {row + 1}, column {column + 1} of {name} (counted from 1): coordinates must be finite")


def unmasked(array):
    """What is masked is missing: NaN, which is refused as such."""
    if not np.ma.isMaskedArray(array):
        return array
    if array.dtype.kind in "fiub":
        array = np.ma.masked_array(array, dtype=np.result_type(array.dtype, np.float32))
    return array.filled(np.nan) if array.dtype.kind in "fcO" else array


def _values(frame, name):
    """A frame's values; where columns of several or nullable types would make objects of them, as float64 with NaN for what is missing."""
    _refuse_times([str(column) for column, kind in zip(frame.columns, frame.dtypes) if _is_time(kind)], name)
    array = frame.to_numpy()
    if array.dtype.kind not in "OUST":
        return array
    array = _without_missing(array, map(str, frame.columns), name)
    try:
        return array.astype(np.float64)
    except OverflowError:
        return array  # refused with others
    except (TypeError, ValueError):
        words = [(str(column), value) for i, column in enumerate(frame.columns) if (value := _no_number(array[:, i])) is not None]
        if not words:
            _refuse_no_number(array, map(str, frame.columns), name)
            raise
        many = len(words) > 1
        raise ValueError(
            f"{name}: {'columns' if many else 'column'} {', '.join(repr(column) for column, _ in words[:5])}{', ...' if len(words) > 5 else ''} "
            f"{'hold' if many else 'holds'} words, such as {words[0][1]!r}: could not convert string to float; leave "
            f"{'them' if many else 'it'} out, or make names of rows the index"
        ) from None


def _without_missing(objects, columns, name):
    """A table of objects with NaN for what is missing, which is then refused by row and column as anywhere else; dates are refused here.

    (NumPy makes numbers of its own dates, of NaT too.)
    """
    kinds = set(map(type, objects.ravel().tolist()))
    if all(issubclass(kind, (int, float, str, np.number, np.bool_)) and not issubclass(kind, np.timedelta64) for kind in kinds):
        return objects
    table = np.array([[np.nan if missing(value) else value for value in row] for row in objects.tolist()], dtype=object).reshape(objects.shape)
    places = []
    for column, values in zip(columns, table.T):
        row = next((i for i, value in enumerate(values) if isinstance(value, _TIMES)), None)
        if row is not None:
            places.append((column, f" (row {row + 1}, counted from 1)"))
    _refuse_times([column for column, _ in places], name, *(place for _, place in places[:1]))
    return table


_TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def missing(value):
    """None, NaN, NaT, and pandas' NA, which is neither equal to itself nor not."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def _refuse_times(columns, name, place=""):
    if not columns:
        return
    many = len(columns) > 1
    raise ValueError(
        f"{name}: {'columns' if many else 'column'} {', '.join(repr(column) for column in columns[:5])}{', ...' if len(columns) > 5 else ''} "
        f"{'hold' if many else 'holds'} dates or times{place}, which have no unit that distances could be in; convert them to numbers (days, "
        "seconds) or leave them out"
    )


def _no_number(column):
    """The first word of a column that is no number, or None."""
    for value in column.tolist():
        if isinstance(value, (str, bytes)):
            try:
                float(value)
            except ValueError:
                return value
    return None


class _NoNumber(ValueError, TypeError):
    """scikit-learn wants a TypeError of what float() takes for one."""


def _refuse_no_number(objects, columns, name):
    """Of a table of objects the first that float() does not take, by row and column."""
    for column, values in zip(columns, objects.T):
        for row, value in enumerate(values):
            try:
                if isinstance(value, np.ndarray):
                    raise TypeError("float() argument must be a string or a real number, not an array")
                float(value)
            except (TypeError, ValueError) as error:
                raise _NoNumber(f"{name}: {repr(value)[:80]} in row {row + 1}, column {column!r} (rows are counted from 1) is no number: {error}") from None


def _is_time(kind):
    """Dates, times and durations, as pandas (also with Arrow's types) and polars name the types of their columns."""
    temporal = getattr(kind, "is_temporal", None)
    if callable(temporal):
        return temporal()
    return getattr(kind, "kind", None) in ("M", "m") or str(kind).startswith(("period", "date", "time"))
