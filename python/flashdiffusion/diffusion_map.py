"""DiffusionMap: the estimator."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native, _options
from ._columns import adopt_names, column_names, refuse_other_columns
from ._estimator import Estimator, Self, not_fitted
from ._points import as_checkpoint, as_points, native_path, only_counts, refuse_not_finite, row_names
from ._progress import Progress
from .warnings import ConvergenceWarning, DataWarning, in_python, warn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class DiffusionMap(Estimator):
    """Diffusion map of a table: leading eigenvectors of the diffusion operator of the Gaussian kernel exp(-beta |x - y|^2).

    The kernel is dense and exact, and need not be stored: memory grows with the table, not with its square (what is free beyond that keeps
    parts of it). Without a bandwidth the data choose it. Results are the same bits for any number of threads, run after run.

    Parameters
    ----------
    n_components : int, default 16
        Nontrivial modes; the constant one is never counted and never returned.
    alpha : float, default 0.5
        Density normalisation: 0 keeps the density, 1 removes it (Laplace-Beltrami), 0.5 is Fokker-Planck.
    beta : float, optional
        Bandwidth. ``flashdiffusion.bandwidth`` converts sigma, gamma and the epsilon of other packages.
    select : {"robust", "minimum", "paper", "continuation"}
        How the bandwidth is chosen where none is given.
    ladder : bool, default True
        Bandwidths are tried on sub-samples first.
    precision : str, default "fp32"
        "fp64", "fp32", "tf32" or "bf16"; several, separated by commas, are a cascade.
    tolerance : float, default 1e-5
        Largest residual of an eigenpair.
    diffusion_time : float, default 1
        Coordinates are ``eigenvalue ** diffusion_time`` times the eigenvector; 0 leaves the eigenvectors as they are. Set after a fit it
        holds from then on: nothing need be fitted again.
    backend : str, default "auto"
        What computes.
    n_jobs : int, optional
        Threads; None and -1 are all cores. The result does not depend on it.
    random_state : int or NumPy generator, optional
        Start vectors and sub-samples; None is a fixed seed.
    verbose : int, default 0
        1 shows progress.
    trim : float or "auto", default "auto"
        Fraction of the rows, the sparsest, left out of the fit and placed afterwards. "auto": those that the others do not resolve, at most 2 in
        100, where that buys a finer bandwidth; 0: all rows take part.
    components : int, optional
        Separate components that the data are known to have; None: as many as the flow finds.
    drop_localised : bool, default False
        The leading modes that do not live on fewer than 8 rows, instead of the leading ones.
    max_passes : int, optional
        Sweeps over the kernel before a solve gives up.
    beta0, beta_max : float, optional
        First and largest bandwidth of the search; None: from the scale of the data, and none.
    basis : int, optional
        Vectors that the solver keeps; None: chosen.
    memory_bytes : int, optional
        Budget. A fit that needs more is refused before it starts; what is left of it keeps parts of the kernel from pass to pass, which is
        quicker and changes no bit of the result. None: what is free, half of it for the kernel; 0: nothing is kept.
    callback : callable, optional
        Called with a dict a few times a second: stage, n, beta, pass, fraction, seconds_left and more.
    checkpoint : path, optional
        A file in which the fit keeps what it has found so far. A fit that was interrupted goes on from there when it is called again with the
        same points and parameters, and ends with the same bits; when the map is made the file is removed.

    Attributes
    ----------
    embedding_ : array (n, n_components)
        Diffusion coordinates of the fitted rows, at ``diffusion_time``. What is written to it (another sign for a picture) stays for that time,
        until the map is fitted again; no other method but the plots reads it.
    eigenvalues_ : array (n_components,)
        Of the diffusion operator, descending, without the trivial 1.
    psi_ : array (n, n_components)
        Right eigenvectors, of unit size in the stationary distribution; the largest entry is positive.
    residuals_ : array (n_components,)
        Of each eigenpair, measured.
    beta_, n_eff_, intrinsic_dim_, perron_gap_ : float
        Bandwidth; effective neighbours, intrinsic dimension and spectral gap there.
    degree_, mass_ : array (n,)
        Degree and kernel mass; ``degree_ / degree_.sum()`` is the stationary distribution.
    aside_ : array
        Rows (counted from 0) that took no part in the fit and were placed by extension, as ``transform`` places them; their degree is 0.
    sweep_ : dict of arrays
        One entry a bandwidth that was tried.
    n_passes_ : int
        Sweeps over a kernel.
    converged_ : bool
    outcome_ : str
        What the numbers are worth, in a sentence.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = DiffusionMap(n_components=2, beta=5.0).fit(circle)
    >>> model.embedding_.shape
    (200, 2)
    >>> bool(np.allclose(model.transform(circle), model.embedding_, atol=1e-4))
    True
    """

    eigenvalues_: NDArray[np.float64]
    residuals_: NDArray[np.float64]
    psi_: NDArray[Any]
    degree_: NDArray[np.float64]
    mass_: NDArray[np.float64]
    aside_: NDArray[np.intp]
    sweep_: dict[str, NDArray[Any]]
    beta_: float
    n_eff_: float
    intrinsic_dim_: float
    perron_gap_: float
    n_passes_: int
    converged_: bool
    outcome_: str
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        n_components: int = 16,
        *,
        alpha: float = 0.5,
        beta: float | None = None,
        select: str = "robust",
        ladder: bool = True,
        precision: str | Sequence[str] = "fp32",
        tolerance: float = 1e-5,
        diffusion_time: float = 1.0,
        backend: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        verbose: int = 0,
        trim: float | str = "auto",
        components: int | None = None,
        drop_localised: bool = False,
        max_passes: int | None = None,
        beta0: float | None = None,
        beta_max: float | None = None,
        basis: int | None = None,
        memory_bytes: int | None = None,
        callback: Callable[[dict[str, Any]], Any] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.beta = beta
        self.select = select
        self.ladder = ladder
        self.precision = precision
        self.tolerance = tolerance
        self.diffusion_time = diffusion_time
        self.backend = backend
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.trim = trim
        self.components = components
        self.drop_localised = drop_localised
        self.max_passes = max_passes
        self.beta0 = beta0
        self.beta_max = beta_max
        self.basis = basis
        self.memory_bytes = memory_bytes
        self.callback = callback
        self.checkpoint = checkpoint

    # -- fitting

    def fit(self: Self, X: Any, y: Any = None, *, comm: Any = None) -> Self:
        """Fits the map to the rows of X; y is ignored.

        ``comm``, a communicator of mpi4py, spreads the rows over the processes of an MPI job. All of them call ``fit``; X and the parameters are rank 0's,
        the others may give None. Rank 0 has the fitted map, on the others the estimator stays as it is; what goes wrong is raised on all.
        """
        if comm is None:
            return self._fit(X, None)
        from ._mpi import Ranks

        with Ranks(comm) as ranks:
            if ranks.rank == 0:
                return self._fit(X, ranks)
            ranks.agree(None)
            _native.serve_fit(ranks)
        return self

    def _fit(self, X, ranks):
        try:
            names, rows, points, options, checkpoint, notes = self._checked(X)
        except Exception as error:
            if ranks is not None:
                ranks.agree(error)
            raise
        if ranks is not None:
            ranks.agree(None)
        with self._watched() as progress:
            model = _native.fit(points, options, progress, notes.append, checkpoint, ranks)
        model.provenance = _options.provenance(self._plain_parameters(), names)
        if rows is not None:
            model.names = rows
        self._adopt(model)
        self._rows_counted = hasattr(X, "iloc") and only_counts(X.index)
        adopt_names(self, names)
        if not self.converged_:
            warn(ConvergenceWarning(self.outcome_))
        self._warn(notes)
        if self.eigenvalues_[0] > 0.99:  # nothing below is next to 1; the remark draws the line
            for remark in self.remarks():
                if remark["name"] == "separate-pieces":
                    warn(DataWarning(f"{remark['sentence']} {remark['action']}"))
        return self

    def _checked(self, X):
        """What a fit is asked for, refused here where it is not sound."""
        names, rows, points = column_names(X), row_names(X), as_points(X)
        if len(points) < 3:
            samples = "1 sample" if len(points) == 1 else f"{len(points)} samples"
            raise ValueError(f"Found array with {samples} (shape={points.shape}): a diffusion map needs at least 3")
        options, _ = self._options(), self._time
        checkpoint = None if self.checkpoint is None else as_checkpoint(self.checkpoint)
        notes = []
        if options.modes >= len(points):
            notes.append(f"n_components = {options.modes}, but {len(points)} rows have {len(points) - 1} nontrivial modes: those are made")
            options.modes = len(points) - 1
        self._watched()  # refuses a callback that cannot be called
        return names, rows, points, options, checkpoint, notes

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fits the map and returns the coordinates of the rows of X."""
        self.fit(X, y)
        return self._output(self._model.embedding(self._time), X)  # the caller's own: embedding_ is another

    def transform(self, X: Any) -> Any:
        """Coordinates of new rows: the Nystroem extension, with the same kernel and normalisation.

        A row beyond the kernel's reach of every fitted one is placed where its nearest fitted rows are, with a ``DataWarning`` whose
        ``rows`` are such rows (counted from 0, as everywhere but in sentences).
        """
        model = self._fitted()
        points = as_points(X)
        refuse_other_columns(self, X, points)
        options = _options.machine_options(model.precision, self.backend, self.n_jobs)
        notes = []
        with self._watched() as progress:
            coordinates, beyond_reach = model.transform(points, self._time, options, progress, notes.append)
        self._warn(notes, beyond_reach)
        return self._output(coordinates, X)

    def inverse_transform(self, X: ArrayLike, *, ridge: float | None = None) -> NDArray[Any]:
        """Rows of the original table for rows of coordinates as ``transform`` makes them: a ridge regression from the modes to the columns.

        These are the model's own: where something was written to ``embedding_`` there is a ``DataWarning``, since rows of it mean others then.
        The regression is fitted to the model's own points the first time it is needed; ``ridge`` is its penalty in this call, chosen by
        cross-validation where none is given. What the modes do not carry is lost: expect a smoothed table.
        """
        from .decoder import Decoder

        model = self._fitted()
        if not len(model.points):
            raise ValueError("the model carries no points, so nothing is known of the original columns")
        points = as_points(X)
        if self._time in self._written():
            warn(
                DataWarning(
                    "embedding_ has been written to, and inverse_transform takes coordinates as transform and fit_transform make them: rows of "
                    "what was written decode to other points"
                )
            )
        if ridge is not None:
            return Decoder(ridge=ridge).fit(model.embedding(self._time), model.points).predict(points) + model.mean
        time = self._time
        if self._decoder is None or self._decoder[0] != time:
            self._decoder = (time, Decoder().fit(model.embedding(time), model.points))
        return self._decoder[1].predict(points) + model.mean

    def _options(self):
        return _options.fit_options(
            n_components=self.n_components,
            alpha=self.alpha,
            beta=self.beta,
            select=self.select,
            ladder=self.ladder,
            precision=self.precision,
            tolerance=self.tolerance,
            backend=self.backend,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            trim=self.trim,
            components=self.components,
            drop_localised=self.drop_localised,
            max_passes=self.max_passes,
            beta0=self.beta0,
            beta_max=self.beta_max,
            basis=self.basis,
            memory_bytes=self.memory_bytes,
        )

    def _plain_parameters(self):
        plain = {k: v if isinstance(v, (int, float, str, bool, type(None))) else repr(v) for k, v in self.get_params().items()}
        return plain | {"precision": ",".join(_options.precisions(self.precision))}

    def _watched(self):
        return _Watched(self.callback, self.verbose)

    @staticmethod
    def _warn(notes, beyond_reach=()):
        for note in notes:
            if not note.startswith(("expected: ", "going on from ")):  # a forecast, or a checkpoint, is no warning
                rows = beyond_reach if "beyond the kernel's reach" in note else ()
                warn(DataWarning(in_python(note), rows))

    # -- what is known after a fit

    def _adopt(self, model):
        self._model, self._embeddings, self._decoder = model, {}, None
        self._columns_unknown = self._rows_counted = False
        self.n_features_in_ = model.dimension
        self.eigenvalues_, self.residuals_ = np.array(model.eigenvalues), np.array(model.residuals)
        self.psi_, self.degree_, self.mass_ = model.psi, model.d, model.q
        self.beta_, self.converged_, self.outcome_ = model.beta, model.converged, in_python(model.outcome)
        self.n_passes_, self.aside_ = model.passes, model.aside.astype(np.intp)
        self.sweep_ = {name: np.array(column) for name, column in model.sweep.items()}
        self.n_eff_, self.intrinsic_dim_ = self._at_beta("n_eff"), self._at_beta("d_hat")
        self.perron_gap_ = self._at_beta("perron_gap")

    def _at_beta(self, name):
        """Of the last probe at the accepted bandwidth."""
        here = np.flatnonzero(np.isclose(self.sweep_["beta"], self.beta_, rtol=1e-9))
        return float(self.sweep_[name][here[-1]]) if len(here) else float("nan")

    def _fitted(self):
        if not hasattr(self, "_model"):
            raise not_fitted(self)
        return self._model

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    @property
    def embedding_(self) -> NDArray[Any]:
        if "_model" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'embedding_'")
        time = self._time
        if time not in self._embeddings:
            self._embeddings = self._written()
            self._embeddings[time] = self._model.embedding(time)
        return self._embeddings[time]  # the same array every time: what is written to it stays

    @embedding_.setter
    def embedding_(self, coordinates: ArrayLike) -> None:
        made, shape = self.embedding_, np.shape(coordinates)
        if shape != made.shape:
            raise ValueError(f"embedding_ has shape {made.shape}, and what is assigned to it {shape}")
        with np.errstate(over="ignore"):  # refused below
            written = as_points(coordinates, "embedding_").astype(made.dtype, copy=False)
        refuse_not_finite(written, "embedding_")
        made[...] = written  # as writing into it, which is what `embedding_ *= -1` comes to

    def _written(self):
        """Coordinates, by their time, that are not as they were made."""
        return {time: array for time, array in self._embeddings.items() if not np.array_equal(array, self._model.embedding(time))}

    @property
    def _time(self):
        return _options.time(self.diffusion_time)

    @property
    def _n_features_out(self):
        return len(self.eigenvalues_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """diffusionmap0, diffusionmap1, ..."""
        self._fitted()
        return np.asarray([f"{type(self).__name__.lower()}{i}" for i in range(self._n_features_out)], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags

    # -- files

    def save(self: Self, path: str | os.PathLike[str]) -> Self:
        """Writes the model file that the command line reads and writes, with the names of rows and columns where the fit had them."""
        self._fitted().save(native_path("path", path))
        return self

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str], *, diffusion_time: float = 1.0) -> Self:
        """A fitted map from a model file, whoever wrote it, with the parameters of the fit where the file tells them."""
        file = native_path("path", path)
        try:
            model = _native.load(file)
        except OSError as error:
            if os.path.lexists(file):
                raise
            raise FileNotFoundError(errno.ENOENT, str(error)) from None
        made = cls(
            n_components=len(model.eigenvalues), alpha=model.alpha, beta=model.beta, precision=model.precision, diffusion_time=diffusion_time
        )
        made.set_params(**_options.remembered(model.provenance, model.precision))
        _ = made._time  # refused here where it is none
        made._adopt(model)
        names, made._columns_unknown = _options.remembered_columns(model.provenance, model.dimension)
        adopt_names(made, names)
        return made

    def __getstate__(self):
        state = {name: value for name, value in self.__dict__.items() if name not in ("_model", "psi_", "degree_", "mass_", "_embeddings", "_decoder")}
        if "_model" in self.__dict__:
            if written := self._written():  # it is nowhere else
                state["_embeddings"] = written
            with _model_file() as path:
                self._model.save(os.fsencode(path))
                with open(path, "rb") as file:
                    state["_model_file"] = file.read()
        return state

    def __setstate__(self, state):
        state = dict(state)
        content = state.pop("_model_file", None)
        if content is not None:
            with _model_file() as path:
                with open(path, "wb") as file:
                    file.write(content)
                self._adopt(_native.load(os.fsencode(path)))
        self.__dict__.update(state)  # last, so that what was changed by hand stays so

    # -- looking at it

    def diffusion_distances(self, rows: ArrayLike, others: ArrayLike | None = None) -> NDArray[Any]:
        """Distances of these fitted rows to others (all of them), at the map's diffusion time.

        rows, others: lists of rows, counted from 0.
        """
        from .distances import diffusion_distances

        coordinates = self._fitted().embedding(self._time)

        def chosen(name, which):
            try:
                some = coordinates[which]
            except IndexError as error:
                raise ValueError(f"{name} = {which!r} are not rows of a map with {len(coordinates)}: {error}") from None
            if some.ndim != 2 or not len(some):
                raise ValueError(f"{name} = {which!r} is no list of rows: give one or more, counted from 0, such as [0] or [0, 5]")
            return some

        return diffusion_distances(chosen("rows", rows), coordinates if others is None else chosen("others", others))

    def pseudotime(self, root: int) -> NDArray[Any]:
        """Diffusion pseudo-time of all fitted rows from the row ``root``: 0 there, 1 at the farthest row of its component, infinite in others."""
        from .distances import _pseudotime

        model = self._fitted()
        fitted = np.ones(len(self.psi_), dtype=bool)
        fitted[self.aside_] = False
        # of the trivial pair the eigenvalue is known: its residual is the arithmetic's
        return _pseudotime(self.eigenvalues_, self.psi_, self.psi_, root, self.residuals_ + model.perron_residual, fitted)

    def remarks(self) -> list[dict[str, str]]:
        """What to know before the map is used, heaviest first: name, weight ("serious", "care" or "note"), sentence and action of each.

        The names are those of the report: "not-converged", "separate-pieces", "localised-modes", "rows-aside" and more.
        """
        self._fitted()
        return [
            {"name": r.name, "weight": r.weight, "sentence": in_python(r.sentence), "action": in_python(r.action)} for r in _native.remarks(self._model)
        ]

    def plot_embedding(self, **how: Any) -> Any:
        """Coordinates as a scatter plot; see ``flashdiffusion.plot.embedding``."""
        from . import plot

        self._fitted()
        return plot.embedding(self, **how)

    def plot_spectrum(self, **how: Any) -> Any:
        """Eigenvalues and residuals; see ``flashdiffusion.plot.spectrum``."""
        from . import plot

        self._fitted()
        return plot.spectrum(self, **how)

    def plot_flow(self, **how: Any) -> Any:
        """The resolution potential over the bandwidths that were tried; see ``flashdiffusion.plot.flow``."""
        from . import plot

        self._fitted()
        return plot.flow(self, **how)

    def report(self, path: str | os.PathLike[str] | None = None, labels: Any = None, title: str | None = None) -> Any:
        """One page that shows what the fit found, with everything inside it; returned, or written to ``path``, whole or not at all.

        ``labels``, one a row, colour the map: words or numbers, or several by name (a dict, a data frame). A pandas Series or frame whose
        index holds the names of the map's rows is laid out by name, whatever its order; names of other rows are left out, and an index that
        names some of the rows is refused. Rows of a frame whose index only counted them are called by their numbers. Where the rows have no names
        (X was an array), and without an index, labels are taken in the order of the rows; an index that counts in another order is refused.
        """
        from ._report import page, write_whole

        self._fitted()
        text = page(self, labels, title)
        if path is None:
            return text
        write_whole(text, path)
        return self

    def _repr_html_(self) -> str:
        from ._report import summary

        return summary(self)


@contextmanager
def _model_file():
    """A path for a model file that is on its way into a pickle, or out of it."""
    import tempfile  # not needed before

    with tempfile.TemporaryDirectory() as folder:
        yield os.path.join(folder, "model.h5")


class _Watched:
    """A run of the library: gives the progress callable (the user's own, a display, or none)."""

    def __init__(self, callback, verbose):
        if callback is not None and not callable(callback):
            raise ValueError(f"callback = {callback!r} cannot be called")
        self._display = Progress() if verbose and callback is None else None
        self._callback = callback if callback is not None else self._display

    def __enter__(self):
        return self._callback

    def __exit__(self, *_):
        if self._display is not None:
            self._display.close()
