"""The Gaussian kernel and the diffusion operator as SciPy LinearOperators."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._options import flag, machine_options, real
from ._points import as_points, unmasked
from .kernel_product import as_weights, native_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

try:
    from scipy.sparse.linalg import LinearOperator
except ImportError:

    class LinearOperator:  # type: ignore[no-redef]
        """In its place where there is no SciPy: the names of this module are there, and say what they need when they are called."""

        def __new__(cls, *_, **__):
            raise ImportError(f"{cls.__name__} is a LinearOperator of SciPy: pip install scipy")


class _Operator(LinearOperator):
    def dot(self, x):
        """The product, in which masked values count as missing: SciPy would take what is behind the mask."""
        return super().dot(unmasked(x))

    def __rmul__(self, x):  # also of x @ operator
        return super().__rmul__(unmasked(x))


class _Adjoint(_Operator):
    """As SciPy's own, but for masks."""

    def __init__(self, of):
        self._of = of
        super().__init__(of.dtype, of.shape[::-1])

    def _matmat(self, W):
        return self._of._rmatmat(W)

    def _matvec(self, w):
        return self._of._rmatvec(w)

    def _adjoint(self):
        return self._of

    _transpose = _adjoint


def _checksum(points):
    """The library has its own copy of the points; these are the caller's, for operators that are made anew."""
    return tuple(None if table is None else zlib.crc32(table) for table in points)


class KernelOperator(_Operator):
    """K(X, Y) as a SciPy LinearOperator: the points are loaded once, products are as many as wanted. Symmetric without Y.

    Parameters are those of ``kernel_matmul``; ``diagonal=False`` leaves K_ii = 1 out (without Y). From product to product it keeps as much of the
    kernel as fits into ``memory_bytes`` (None: half of what is free, 0: nothing); results are the same bits.
    The operator's type is float64 for precision "fp64", else float32. It can be copied, pickled and sent to other processes as long as X and Y,
    of which it keeps no copy but the one it computes with, are not written to. Masked weights are refused; sums, multiples and products of operators
    are SciPy's, which take what is behind a mask.

    >>> import numpy as np
    >>> from scipy.sparse.linalg import eigsh
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> eigsh(KernelOperator(X, beta=0.5, precision="fp64"), k=3, return_eigenvectors=False).shape
    (3,)
    """

    def __init__(
        self,
        X: Any,
        Y: Any = None,
        *,
        beta: float,
        diagonal: bool = True,
        precision: str | Sequence[str] = "fp32",
        backend: str = "auto",
        n_jobs: int | None = None,
        memory_bytes: int | None = None,
    ) -> None:
        diagonal = flag("diagonal", diagonal)
        if not diagonal and Y is not None:
            raise ValueError("diagonal=False leaves out the kernel of a row with itself; between X and Y there is none")
        options = machine_options(precision, backend, n_jobs, memory_bytes)
        self._symmetric, self._diagonal = Y is None, diagonal
        self._points = (as_points(X), None if Y is None else as_points(Y, "Y"))
        self._kernel = native_kernel(*self._points, beta, options)
        self._checksum, self._machine = _checksum(self._points), (precision, backend, n_jobs, memory_bytes)
        dtype = np.dtype(np.float64 if options.precision[-1] == "fp64" else np.float32)
        super().__init__(dtype, (self._kernel.rows, self._kernel.columns))

    def __getstate__(self):
        if _checksum(self._points) != self._checksum:
            raise ValueError(
                "the array that this operator was made of has been written to since, so the operator cannot be pickled or copied: make it of a copy"
            )
        return {name: value for name, value in self.__dict__.items() if name != "_kernel"} | {"_beta": self.beta}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._kernel = native_kernel(*self._points, self.__dict__.pop("_beta"), machine_options(*self._machine))

    @property
    def beta(self) -> float:
        return self._kernel.beta

    def _matmat(self, W):
        return self._kernel.apply(as_weights(W), self._diagonal)

    def _rmatmat(self, W):
        return self._matmat(W) if self._symmetric else self._kernel.apply_transposed(as_weights(W))

    def _matvec(self, w):
        return self._matmat(np.reshape(w, (-1, 1)))

    def _rmatvec(self, w):
        return self._rmatmat(np.reshape(w, (-1, 1)))

    def _adjoint(self):
        return self if self._symmetric else _Adjoint(self)

    _transpose = _adjoint


class DiffusionOperator(_Operator):
    """The symmetric diffusion operator M = diag(s) K diag(s), s = q^-alpha d^-1/2, as a SciPy LinearOperator.

    With q = K 1 and d = q^-alpha K q^-alpha. Its eigenvalues are those of the Markov matrix P = diag(d)^-1/2 M diag(d)^1/2, whose right
    eigenvectors are v / sqrt(d); the largest is 1, with v = sqrt(d). ``memory_bytes`` as of ``KernelOperator``. ``mass`` is q, ``degree`` is d. ``diagonal=False`` takes K_ii as 0: with
    alpha 0 that is 1 minus the Laplacian of scikit-learn's SpectralEmbedding.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> M = DiffusionOperator(X, beta=0.5, precision="fp64")
    >>> bool(np.allclose(M @ np.sqrt(M.degree), np.sqrt(M.degree)))
    True
    """

    mass: NDArray[np.float64]
    degree: NDArray[np.float64]

    def __init__(
        self,
        X: Any,
        *,
        beta: float,
        alpha: float = 0.5,
        diagonal: bool = True,
        precision: str | Sequence[str] = "fp32",
        backend: str = "auto",
        n_jobs: int | None = None,
        memory_bytes: int | None = None,
    ) -> None:
        self.alpha = real("alpha", alpha)
        if not 0 <= self.alpha <= 1:
            raise ValueError(f"alpha = {alpha!r} is outside [0, 1]; 0, 0.5 and 1 are usual")
        self._kernel = KernelOperator(
            X, beta=beta, diagonal=diagonal, precision=precision, backend=backend, n_jobs=n_jobs, memory_bytes=memory_bytes
        )
        n = self._kernel.shape[0]
        self.mass = self._kernel.matvec(np.ones(n)).astype(np.float64)
        self._refuse(self.mass <= 0)
        weight = self.mass**-self.alpha
        self._refuse(weight > self._largest_weight)
        self.degree = weight * self._kernel.matvec(weight).astype(np.float64) if self.alpha else self.mass.copy()
        self._refuse(self.degree <= 0)
        self._scale = (weight / np.sqrt(self.degree))[:, None]
        self._refuse(self._scale[:, 0] > self._largest_weight)
        super().__init__(self._kernel.dtype, self._kernel.shape)

    @property
    def _largest_weight(self):
        """Of a product: beyond it sums may overflow."""
        most = 2.0**-32 * np.finfo(np.float32).max if self._kernel.dtype == np.float32 else 2.0**-257 * np.finfo(np.float64).max
        return float(most) / self._kernel.shape[0]

    def _refuse(self, isolated):
        """Rows whose kernel with all others is nothing, or next to nothing, in this arithmetic: they have no place among the others."""
        rows = np.flatnonzero(isolated)
        if not len(rows):
            return
        some = ", ".join(str(row + 1) for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
        finer = "" if self._kernel.dtype == np.float64 else ", use precision='fp64', which reaches farther"
        raise ValueError(
            f"{len(rows)} of {len(isolated)} rows ({'row' if len(rows) == 1 else 'rows'} {some}, counted from 1) "
            f"{'is' if len(rows) == 1 else 'are'} isolated: at beta = {self.beta:g} the kernel with all other rows is too small for "
            f"{'fp64' if not finer else 'fp32'}; use a smaller beta{finer}, leave such rows out, or keep the diagonal"
        )

    @property
    def beta(self) -> float:
        return self._kernel.beta

    def _matmat(self, V):
        # the scale in fp64: rounding it would move the eigenvalues
        return (self._scale * self._kernel.matmat(self._scale * as_weights(V))).astype(self.dtype)

    def _matvec(self, v):
        return self._matmat(np.reshape(v, (-1, 1)))

    def _adjoint(self):
        return self

    _transpose = _adjoint
