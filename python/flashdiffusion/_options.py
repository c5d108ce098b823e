"""Parameters as Python has them -> the library's options. Each is checked here, so that a refusal names the parameter."""

import json
import math
import numbers

import numpy as np

from . import _native
from ._columns import ColumnNames

MOST_THREADS = 4096  # as the library has it
DEFAULT_SEED = 42  # the library's own: a fit without random_state is repeatable too


def whole(name, value, least, most=2**31 - 1):
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name} = {value!r} is not a whole number of at least {least}")
    if value > most:
        raise ValueError(f"{name} = {value!r} is more than {most}, the most it can be")
    return int(value)


def flag(name, value):
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} = {value!r} is neither True nor False")
    return bool(value)


def real(name, value):
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise ValueError(f"{name} = {value!r} is not a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is a number beyond all that fp64 holds") from None


def positive(name, value):
    number = real(name, value)
    if not (number > 0 and math.isfinite(number)):
        raise ValueError(f"{name} = {value!r} is not a finite number above zero")
    return number


def threads(n_jobs):
    """Threads for an ``n_jobs``: None and -1 are all cores, -2 all but one, and so on."""
    if n_jobs is None:
        return 0
    if isinstance(n_jobs, numbers.Integral) and not isinstance(n_jobs, (bool, np.bool_)) and n_jobs < 0:
        import os

        return 0 if n_jobs == -1 else max(1, len(os.sched_getaffinity(0)) + 1 + int(n_jobs))
    return whole("n_jobs", n_jobs, 1, MOST_THREADS)


def seed(random_state):
    """A seed for a ``random_state``: None is the library's own, a generator is asked for a number."""
    if random_state is None:
        return DEFAULT_SEED
    if isinstance(random_state, numbers.Integral):
        return whole("random_state", random_state, 0, 2**64 - 1)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    raise ValueError(f"random_state = {random_state!r} is neither None, a whole number nor a generator of NumPy")


def precisions(precision):
    """A name, names separated by commas, or a list of names: a cascade, of which the last decides."""
    if not isinstance(precision, str) and not (isinstance(precision, (list, tuple)) and all(isinstance(name, str) for name in precision)):
        raise ValueError(f"precision = {precision!r} is neither a name, such as 'fp32', nor a list of names")
    names = [name.strip() for name in precision.split(",")] if isinstance(precision, str) else list(precision)
    if not names:
        raise ValueError("precision = [] holds no name; use 'fp32'")
    return names


def time(diffusion_time):
    value = real("diffusion_time", diffusion_time)
    if not (value >= 0 and math.isfinite(value)):
        raise ValueError(f"diffusion_time = {diffusion_time!r} is not a finite number of at least 0")
    return value


# Parameters that say what is fitted, and by which arithmetic, by the names of the library's options; the rest is about a machine or a run.
_REMEMBERED = {
    "beta": "beta",
    "select": "select",
    "ladder": "ladder",
    "tolerance": "tolerance",
    "seed": "random_state",
    "trim": "trim",
    "components": "components",
    "drop_localised": "drop_localised",
    "max_passes": "max_passes",
    "beta0": "beta0",
    "beta_max": "beta_max",
    "basis": "basis",
    "backend": "backend",
}
_EVERYWHERE = ("cpu", "reference")  # a file may come to a machine without the device that made it; "auto" takes that where it is there
_NONE = {"components": "auto", "max_passes": 0, "basis": 0}  # as the command line writes "chosen"


def provenance(parameters, columns):
    """What a model file tells of the fit."""
    told = {"interface": "python", "version": _native.version, "parameters": parameters, "feature_names": None if columns is None else columns.texts}
    if columns is not None and not columns.strings:
        told["feature_names_were"] = "no strings"
    return json.dumps(told)


def remembered_columns(provenance, count):
    """Names of the columns of the table that was fitted, or None; and whether the file says nothing of them."""
    try:
        told = json.loads(provenance)
        names = told["feature_names"]
    except (ValueError, TypeError, KeyError):
        return None, True
    if names is None:
        return None, False
    if not isinstance(names, list) or len(names) != count or not all(isinstance(name, str) for name in names):
        return None, True
    return ColumnNames(names, "feature_names_were" not in told), False


def remembered(provenance, precision):
    """Parameters of the fit that a model file tells of, whether it was made here or by the command line; of a cascade, ``precision`` is the last."""
    try:
        told = json.loads(provenance)
        ours, theirs = told.get("parameters"), told.get("options")
    except (ValueError, AttributeError):
        return {}
    found = {}
    for option, parameter in _REMEMBERED.items():
        if isinstance(ours, dict) and parameter in ours:
            value = ours[parameter]
        elif isinstance(theirs, dict) and option in theirs:
            value = None if theirs[option] == _NONE.get(option, object()) else theirs[option]
        else:
            continue
        if parameter == "backend" and value not in _EVERYWHERE:
            continue
        if isinstance(value, (int, float, type(None))) or parameter in ("select", "trim", "backend") and isinstance(value, str):
            found[parameter] = value
    for told in (ours, theirs):
        cascade = told.get("precision") if isinstance(told, dict) else None
        if isinstance(cascade, list) and all(isinstance(name, str) for name in cascade):
            cascade = ",".join(cascade)
        if isinstance(cascade, str) and precisions(cascade)[-1] == precision:
            found["precision"] = cascade
            break
    return found


def machine_options(precision="fp32", backend="auto", n_jobs=None, memory_bytes=None):
    """What a product needs to know: arithmetic, back-end, threads, memory."""
    options = _native.Options()
    options.precision = precisions(precision)
    options.backend = str(backend)
    options.threads = threads(n_jobs)
    options.memory_bytes = None if memory_bytes is None else whole("memory_bytes", memory_bytes, 0, 2**63 - 1)
    return options


def fit_options(
    *,
    n_components,
    alpha,
    beta,
    select,
    ladder,
    precision,
    tolerance,
    backend,
    n_jobs,
    random_state,
    trim,
    components,
    drop_localised,
    max_passes,
    beta0,
    beta_max,
    basis,
    memory_bytes,
):
    options = machine_options(precision, backend, n_jobs, memory_bytes)
    options.modes = whole("n_components", n_components, 1)
    options.alpha = real("alpha", alpha)
    options.beta = None if beta is None else real("beta", beta)
    options.select = str(select)
    options.ladder = flag("ladder", ladder)
    options.tolerance = real("tolerance", tolerance)
    options.seed = seed(random_state)
    options.components = None if components is None else whole("components", components, 1)
    options.drop_localised = flag("drop_localised", drop_localised)
    options.max_passes = 0 if max_passes is None else whole("max_passes", max_passes, 1)
    options.beta0 = None if beta0 is None else real("beta0", beta0)
    options.beta_max = None if beta_max is None else real("beta_max", beta_max)
    options.basis = 0 if basis is None else whole("basis", basis, 1)
    if isinstance(trim, str) and trim != "auto":
        raise ValueError(f"trim = {trim!r} is neither 'auto' nor a fraction below 0.5")
    options.trim = None if trim is None or isinstance(trim, str) else real("trim", trim)
    return options
