"""kernel_matmul: one product with the Gaussian kernel, which is never stored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._options import machine_options, positive
from ._points import as_points, as_values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def native_kernel(X, Y, beta, options):
    """The library's operator, of which the second table is called Z."""
    X, Y = as_points(X), None if Y is None else as_points(Y, "Y")
    if Y is not None and Y.shape[1] != X.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns, Y has {Y.shape[1]}; both hold the same columns in the same order")
    try:
        return _native.KernelOperator(X, Y, positive("beta", beta), options)
    except ValueError as error:
        raise ValueError(re.sub(r"\bZ\b", "Y", str(error))) from None


def as_weights(W):
    """W as a C-contiguous table of floats, or a vector of them."""
    if np.iscomplexobj(W):
        raise ValueError("complex weights are not supported; take real and imaginary part one after the other")
    return as_values(W, "W")


def kernel_matmul(
    X: Any,
    W: ArrayLike,
    *,
    beta: float,
    Y: Any = None,
    precision: str | Sequence[str] = "fp32",
    backend: str = "auto",
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """K(X, Y) @ W for K_ij = exp(-beta |x_i - y_j|^2), without storing K. Without Y it is K(X, X).

    >>> import numpy as np
    >>> X, W = np.random.default_rng(0).normal(size=(100, 3)), np.ones(100)
    >>> dense = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1))
    >>> bool(np.allclose(kernel_matmul(X, W, beta=0.5), dense @ W, rtol=1e-5))
    True
    """
    kernel = native_kernel(X, Y, beta, machine_options(precision, backend, n_jobs, memory_bytes=0))  # there is no second product to keep tiles for
    weights = as_weights(W)
    if weights.ndim == 1:
        return kernel.apply(weights[:, None])[:, 0]
    return kernel.apply(weights)
