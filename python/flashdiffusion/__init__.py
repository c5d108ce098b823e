"""Exact diffusion maps of large tables, without the N x N kernel.

>>> import numpy as np
>>> from flashdiffusion import DiffusionMap
>>> angle = np.linspace(0, 2 * np.pi, 300, endpoint=False)
>>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
>>> DiffusionMap(n_components=2).fit_transform(circle).shape
(300, 2)

``DiffusionMap`` is an estimator with scikit-learn's contract. ``kernel_matmul``, ``KernelOperator`` and ``DiffusionOperator`` are the
pieces it is made of; ``estimate`` says what a fit will take; ``Decoder`` goes from modes to any target; ``flashdiffusion.scanpy`` and
``flashdiffusion.md`` are for AnnData objects and for molecular dynamics. Names are imported when they are first used.
"""

from importlib import import_module

_HOME = {
    "DiffusionMap": "diffusion_map",
    "kernel_matmul": "kernel_product",
    "KernelOperator": "operators",
    "DiffusionOperator": "operators",
    "estimate": "forecast",
    "Decoder": "decoder",
    "diffusion_distances": "distances",
    "pseudotime": "distances",
    "bandwidth": "conventions",
    "FlashDiffusionWarning": "warnings",
    "ConvergenceWarning": "warnings",
    "DataWarning": "warnings",
}
_SUBMODULES = ("scanpy", "md", "plot", "conventions")

__all__ = [*_HOME, "__version__"]


def __getattr__(name):
    if name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name in _SUBMODULES:
        value = import_module(f"{__name__}.{name}")
    elif name == "__version__":
        value = import_module(f"{__name__}._native").version
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__, *_SUBMODULES})
