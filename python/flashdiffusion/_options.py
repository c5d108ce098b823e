"""Parameters as Python has them -> the library's options. Each is checked here, so that a refusal names the parameter."""

import math
import numbers

import numpy as np

from . import _native

DEFAULT_SEED = 42  # the library's own: a fit without random_state is repeatable too


def _whole(name, value, least):
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name} = {value!r} is not a whole number of at least {least}")
    return int(value)


def _real(name, value):
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise ValueError(f"{name} = {value!r} is not a number")
    return float(value)


def threads(n_jobs):
    """Threads for an ``n_jobs``: None and -1 are all cores, -2 all but one, and so on."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if isinstance(n_jobs, numbers.Integral) and n_jobs < 0:
        import os

        return max(1, len(os.sched_getaffinity(0)) + 1 + int(n_jobs))
    return _whole("n_jobs", n_jobs, 1)


def seed(random_state):
    """A seed for a ``random_state``: None is the library's own, a generator is asked for a number."""
    if random_state is None:
        return DEFAULT_SEED
    if isinstance(random_state, numbers.Integral):
        return _whole("random_state", random_state, 0)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    raise ValueError(f"random_state = {random_state!r} is neither None, a whole number nor a generator of NumPy")


def precisions(precision):
    """A name, names separated by commas, or a list of names: a cascade, of which the last decides."""
    names = [name.strip() for name in precision.split(",")] if isinstance(precision, str) else list(precision)
    if not names:
        raise ValueError("precision = [] holds no name; use 'fp32'")
    return names


def time(diffusion_time):
    value = _real("diffusion_time", diffusion_time)
    if not (value >= 0 and math.isfinite(value)):
        raise ValueError(f"diffusion_time = {diffusion_time!r} is not a finite number of at least 0")
    return value


def machine_options(precision="fp32", backend="auto", n_jobs=None):
    """What a product needs to know: arithmetic, back-end, threads."""
    options = _native.Options()
    options.precision = precisions(precision)
    options.backend = str(backend)
    options.threads = threads(n_jobs)
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
    options = machine_options(precision, backend, n_jobs)
    options.modes = _whole("n_components", n_components, 1)
    options.alpha = _real("alpha", alpha)
    options.beta = None if beta is None else _real("beta", beta)
    options.select = str(select)
    options.ladder = bool(ladder)
    options.tolerance = _real("tolerance", tolerance)
    options.seed = seed(random_state)
    options.components = None if components is None else _whole("components", components, 1)
    options.drop_localised = bool(drop_localised)
    options.max_passes = 0 if max_passes is None else _whole("max_passes", max_passes, 1)
    options.beta0 = None if beta0 is None else _real("beta0", beta0)
    options.beta_max = None if beta_max is None else _real("beta_max", beta_max)
    options.basis = 0 if basis is None else _whole("basis", basis, 1)
    options.memory_bytes = None if memory_bytes is None else _whole("memory_bytes", memory_bytes, 0)
    if isinstance(trim, str) and trim != "auto":
        raise ValueError(f"trim = {trim!r} is neither 'auto' nor a fraction below 0.5")
    options.trim = None if trim in ("auto", None) else _real("trim", trim)
    return options
