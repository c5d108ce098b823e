"""Decoder: ridge regression from modes to any target, circular ones too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._columns import adopt_names, column_names, refuse_other_columns
from ._estimator import Estimator, Self, not_fitted
from ._options import positive, real, whole
from ._points import as_points, as_values, refuse_not_finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Decoder(Estimator):
    """Ridge regression from diffusion coordinates to targets, the penalty chosen by cross-validation.

    Parameters
    ----------
    ridge : float, optional
        Penalty on the squared coefficients, relative to the number of rows, for coordinates scaled to unit variance. None: the best of a
        grid, by ``folds``-fold cross-validation.
    folds : int, default 5
    period : float, optional
        Targets are on a circle of this circumference (2 pi for angles, 360 for degrees): cosine and sine are decoded, and turned back.

    Attributes
    ----------
    coefficients_, intercept_ : of the regression on unscaled coordinates
    ridge_ : the penalty in use
    error_ : array, root mean square error of each target on rows held out (NaN where ridge was given)

    >>> import numpy as np
    >>> angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    >>> modes = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> decoder = Decoder(period=2 * np.pi).fit(modes, angle)
    >>> bool(np.allclose(decoder.predict(modes), angle, atol=1e-3))
    True
    """

    coefficients_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    ridge_: float
    error_: NDArray[np.float64]
    n_features_in_: int

    def __init__(self, ridge: float | None = None, *, folds: int = 5, period: float | None = None) -> None:
        self.ridge = ridge
        self.folds = folds
        self.period = period

    def fit(self: Self, X: Any, y: ArrayLike) -> Self:
        """X: a row of coordinates each, y: a target or a row of targets each."""
        period, ridge = self._period, None if self.ridge is None else real("ridge", self.ridge)
        if ridge is not None and not 0 <= ridge < np.inf:
            raise ValueError(f"ridge = {self.ridge!r} is not a finite number of at least 0")
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        names, X, y = column_names(X), as_points(X).astype(np.float64), as_values(y, "y").astype(np.float64)
        self._flat, y = y.ndim == 1, y.reshape(len(y), -1)
        if len(X) < 2:
            raise ValueError("Found array with 1 sample: nothing can be learnt from a single row")
        if len(y) != len(X):
            raise ValueError(f"{len(X)} rows of coordinates, but {len(y)} targets")
        if not (np.isfinite(X).all() and np.isfinite(y).all()):
            raise ValueError("coordinates and targets must be finite: a NaN or infinite value was found")
        x_size, y_size = _size(X), _size(y, period)
        with np.errstate(over="ignore"):
            X, y, period = np.ldexp(X, -x_size), np.ldexp(y, -y_size), _scaled(period, y_size)
        if not np.isfinite(y).all():
            raise ValueError(f"targets are too large for period = {self.period!r}: no digit of their angle is left")
        varies = _difference(y, y[0], period).std(0) > _nothing(y, period)  # the same in another turn is the same
        y = _unroll(y, period)
        self.n_features_in_ = X.shape[1]
        adopt_names(self, names)
        scale = (X - X[0]).std(0)
        scale = np.where(scale > _rounding(X), scale, np.inf)  # a column that does not vary has no coefficient
        self.error_, self.ridge_ = np.full(len(varies), np.nan), ridge
        if ridge is None:
            self.ridge_, error = self._cross_validate(X / scale, y, varies, period)
            self.error_ = np.ldexp(error, y_size)
        coefficients, intercept = _solve(X / scale, y, self.ridge_)
        y_size = y_size if period is None else 0  # cosine and sine have none
        self.coefficients_, self.intercept_ = np.ldexp(coefficients / scale[:, None], y_size - x_size[:, None]), np.ldexp(intercept, y_size)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Targets for rows of coordinates."""
        if not hasattr(self, "coefficients_"):
            raise not_fitted(self)
        points = as_points(X)
        refuse_other_columns(self, X, points)
        refuse_not_finite(points)
        y = _roll(points @ self.coefficients_ + self.intercept_, self._period)
        return y[:, 0] if self._flat else y

    def score(self, X: Any, y: ArrayLike) -> float:
        """Coefficient of determination, 1 at best, the mean over several targets, as scikit-learn's regressors have it.

        On a circle 1 - mean squared angle error over the circular variance. Of a target that does not vary it is 1 or 0: met or not.
        """
        made, y = (table.reshape(len(table), -1) for table in (self.predict(X), as_values(y, "y").astype(np.float64)))
        if y.shape != made.shape:
            raise ValueError(f"targets have shape {y.shape}, but {made.shape} is what is predicted for these coordinates")
        if not np.isfinite(y).all():
            raise ValueError("targets must be finite: a NaN or infinite value was found")
        size = _size(y, self._period)
        made, y, period = np.ldexp(made, -size), np.ldexp(y, -size), _scaled(self._period, size)
        error = _difference(made, y, period)
        centre = _roll(_mean(_unroll(y, period))[None], period) if period is not None else _mean(y)
        squares, spread = (error**2).sum(0), (_difference(y, centre, period) ** 2).sum(0)
        nothing = len(y) * _nothing(y, period) ** 2
        varies = spread > nothing
        return float(np.where(varies, 1 - squares / np.where(varies, spread, 1.0), squares <= nothing).mean())

    def __sklearn_tags__(self):
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.transformer_tags, tags.regressor_tags = "regressor", None, RegressorTags()
        tags.target_tags.required = tags.target_tags.multi_output = True
        return tags

    @property
    def _period(self):
        return None if self.period is None else positive("period", self.period)

    def _cross_validate(self, X, y, varies, period):
        if not 2 <= whole("folds", self.folds, 2) <= len(X):
            raise ValueError(f"folds = {self.folds!r} is not between 2 and the {len(X)} rows")
        fold = np.random.default_rng(0).permutation(len(X)) % self.folds  # the same every time
        grid = 10.0 ** np.arange(-8, 3)
        squares = np.zeros((len(grid), len(varies)))
        for f in range(self.folds):
            kept, held = fold != f, fold == f
            for i, ridge in enumerate(grid):
                coefficients, intercept = _solve(X[kept], y[kept], ridge)
                error = _difference(_roll(X[held] @ coefficients + intercept, period), _roll(y[held], period), period)
                squares[i] += (error**2).sum(0)
        scale = squares.min(0)
        scale = np.where(varies, np.where(scale > 0, scale, 1.0), np.inf)
        best = int(np.argmin((squares / scale).sum(1)))  # targets that vary weigh alike, whatever their unit
        return float(grid[best]), np.sqrt(squares[best] / len(X))


def _size(columns, period=None):
    """Of each column the power of two that is its size, or its period's: squares of values divided by it are neither nothing nor infinite."""
    return np.frexp(np.abs(columns).max(0) if period is None else np.full(columns.shape[1], period))[1]


def _scaled(period, size):
    return None if period is None else float(np.ldexp(period, -size[0]))


# cosine and sine of a circular target stand side by side
def _unroll(y, period):
    if period is None:
        return y
    angle = 2 * np.pi / period * y
    return np.concatenate([np.cos(angle), np.sin(angle)], axis=1)


def _roll(y, period):
    if period is None:
        return y
    half = y.shape[1] // 2
    turned = (period / (2 * np.pi) * np.arctan2(y[:, half:], y[:, :half])) % period
    return np.where(turned < period, turned, 0.0)  # a little below 0 the remainder is rounded to the period


def _difference(a, b, period):
    if period is None:
        return a - b
    return (a - b + period / 2) % period - period / 2


def _nothing(y, period):
    """Of each target: a spread that is rounding of one value, or of a turn."""
    return _rounding(np.vstack([y, np.full(y.shape[1], period or 0.0)]))


def _mean(columns):
    """Of each column, to the last bit where it does not vary."""
    return columns[0] + (columns - columns[0]).mean(0)


def _rounding(columns):
    """Of each column: a spread that is rounding of one value."""
    return 8 * np.finfo(np.float64).eps * np.abs(columns).max(0)


def _solve(X, y, ridge):
    """Minimises |X c + b - y|^2 / rows + ridge |c|^2."""
    x_mean, y_mean = _mean(X), _mean(y)
    centred = X - x_mean
    gram = centred.T @ centred / len(X)
    coefficients = np.linalg.lstsq(gram + ridge * np.eye(len(gram)), centred.T @ (y - y_mean) / len(X), rcond=None)[0]
    return coefficients, y_mean - x_mean @ coefficients
