"""scikit-learn's contract, asked by scikit-learn itself."""

import datetime
import os
import pickle
import subprocess
import warnings

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn", "1.6", reason="scikit-learn 1.6 or newer is not installed")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.linear_model import LinearRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import estimator_checks_generator  # noqa: E402

from flashdiffusion import Decoder, DiffusionMap  # noqa: E402

# In fp64 every check holds. In fp32 two of them ask for more than fp32 promises, and may fail: a row's coordinates agree to 1e-9 whatever rows stand
# beside it. (Sums are made panel by panel, and panels hold other rows then.)
FP32 = {
    "check_methods_sample_order_invariance": "asks for 1e-9, fp32 gives 1e-6",
    "check_methods_subset_invariance": "asks for 1e-7, fp32 gives 1e-6",
}


def checks():
    for precision in ("fp64", "fp32"):
        for estimator, check in estimator_checks_generator(DiffusionMap(precision=precision)):
            name = getattr(check, "func", check).__name__
            marks = [pytest.mark.skip(reason=FP32[name])] if precision == "fp32" and name in FP32 else []
            yield pytest.param(estimator, check, id=f"{precision}-{name}", marks=marks)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator, check", list(checks()))
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator, check",
    [
        pytest.param(*pair, id=f"{period}-{getattr(pair[1], 'func', pair[1]).__name__}")
        for period in (None, 360)
        for pair in estimator_checks_generator(Decoder(period=period))
    ],
)
def test_check_estimator_on_a_decoder(estimator, check):
    check(estimator)


def test_clone_keeps_parameters_and_nothing_else(points):
    model = DiffusionMap(3, beta=1.5, n_jobs=1).fit(points)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "embedding_")
    with pytest.raises(NotFittedError):
        copy.transform(points)


def test_unknown_parameters_are_refused():
    with pytest.raises(ValueError, match="bandwidth"):
        DiffusionMap().set_params(bandwidth=3)


def test_in_a_pipeline_and_a_search(points):
    angle = np.arctan2(points[:, 1], points[:, 0])
    pipeline = make_pipeline(StandardScaler(), DiffusionMap(3, beta=0.8), LinearRegression())
    search = GridSearchCV(pipeline, {"diffusionmap__n_components": [1, 6]}, cv=2).fit(points, np.cos(angle))
    assert search.best_params_ == {"diffusionmap__n_components": 6}
    assert search.best_score_ >= 0.9


def test_joblib_workers(points):
    joblib = pytest.importorskip("joblib")
    model = DiffusionMap(3, beta=1.5).fit(points)
    parts = joblib.Parallel(n_jobs=2)(joblib.delayed(model.transform)(part) for part in (points[:200], points[200:]))
    np.testing.assert_allclose(np.concatenate(parts), model.transform(points), atol=1e-5)


def test_pandas_in_pandas_out(points):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(points, columns=list("abcd"), index=[f"row{i}" for i in range(len(points))])
    model = DiffusionMap(2, beta=1.5).set_output(transform="pandas")
    out = model.fit_transform(frame)
    assert list(out.columns) == ["diffusionmap0", "diffusionmap1"] == list(model.get_feature_names_out())
    assert (out.index == frame.index).all()
    np.testing.assert_array_equal(out.to_numpy(), model.embedding_)
    assert list(model.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(model.embedding_, DiffusionMap(2, beta=1.5).fit_transform(points))
    with pytest.raises(ValueError, match="same order"):
        model.transform(frame[list("bacd")])
    with pytest.raises(ValueError, match="unseen"):
        model.transform(frame.rename(columns={"a": "z"}))
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(DiffusionMap(2, beta=1.5).fit_transform(points), pandas.DataFrame)
    assert isinstance(clone(model).set_output(transform="default").fit_transform(frame), np.ndarray)


def test_names_of_columns_are_in_the_file(points, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(points, columns=["a", "b", "", "\u00e9 \U0001f600"])
    file = tmp_path / "model.h5"
    loaded = DiffusionMap.load(DiffusionMap(2, beta=1.5).fit(frame).save(file) and file)
    assert list(loaded.feature_names_in_) == list(frame.columns)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded.transform(frame)
    with pytest.raises(ValueError, match="same order"):
        loaded.transform(frame[frame.columns[::-1]])
    with pytest.warns(UserWarning, match="fitted with feature names"):
        loaded.transform(points)
    assert list(DiffusionMap.load(loaded.save(file) and file).feature_names_in_) == list(frame.columns)
    nameless = DiffusionMap.load(DiffusionMap(2, beta=1.5).fit(points).save(file) and file)
    assert not hasattr(nameless, "feature_names_in_")
    with pytest.warns(UserWarning, match="fitted without feature names"):
        nameless.transform(frame)
    assert not hasattr(loaded.fit(points), "feature_names_in_")


NO_STRINGS = {"counted": range(4), "numbers": [10, 20, 30, 40], "fractions": [0.5, 1.5, 2.5, 3.5], "tuples": [("a", 1), ("a", 2), ("b", 1), ("b", 2)]}


@pytest.mark.parametrize("names", NO_STRINGS.values(), ids=NO_STRINGS)
def test_names_that_are_no_strings_are_compared_too(points, names, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(points)
    frame.columns = pandas.Index(names) if isinstance(names, (range, list)) and not isinstance(names[0], tuple) else pandas.MultiIndex.from_tuples(names)
    file = tmp_path / "model.h5"
    fitted = DiffusionMap(2, beta=1.5).fit(frame)
    fitted.save(file)
    for model in (fitted, DiffusionMap.load(file), pickle.loads(pickle.dumps(fitted))):
        assert not hasattr(model, "feature_names_in_")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(model.transform(frame), model.transform(points))
        with pytest.raises(ValueError, match="another order: column 1 was"):
            model.transform(frame[frame.columns[::-1]])
        with pytest.warns(UserWarning, match="fitted without feature names"):
            model.transform(pandas.DataFrame(points, columns=list("abcd")))


DAYS = [datetime.date(2020, 1, 1 + i) for i in range(4)]
SAME_NAMES = {
    "ints and floats": ([400, 450, 500, 550], [400.0, 450.0, 500.0, 550.0]),
    "numbers and text": ([400, 450, 500, 550], ["4e2", "450.0", "500", "+550"]),
    "fractions and text": ([0.1, 0.5, 1.5, 1e22], ["0.10", "0.5", "1.50", "1e22"]),
    "beyond 2^53": ([2**53 + i for i in range(4)], [str(2**53 + i) for i in range(4)]),
    "truth values": ([True, False, 2, 3], [1.0, 0.0, 2.0, 3.0]),
    "truth values and text": ([True, False, 2, 3], ["True", "FALSE", "2", "3"]),
    "days and text": (DAYS, [str(day) for day in DAYS]),
    "days and moments": (DAYS, [f"{day} 00:00:00" for day in DAYS]),
    "moments": ([datetime.datetime(2020, 1, 1, i, 30) for i in range(4)], [f"2020-01-01T0{i}:30" for i in range(4)]),
    "letters": ([("a", 1), ("B", 1), ("a", 2), ("b, c", 1)], ["A, 1", "b, 1.0", "a, 2", '"B, C", 1']),
}


@pytest.mark.parametrize("names, others", SAME_NAMES.values(), ids=SAME_NAMES)
def test_names_are_compared_by_what_they_mean(points, names, others, tmp_path):
    """Of whatever type they are, before and after a file: what pandas calls equal is."""
    pandas = pytest.importorskip("pandas")
    file = tmp_path / "model.h5"
    for names, others in ((names, others), (others, names)):
        fitted = DiffusionMap(2, beta=1.5).fit(pandas.DataFrame(points, columns=pandas.Index(names)))
        fitted.save(file)
        for model in (fitted, DiffusionMap.load(file)):
            for given in (names, others):
                frame = pandas.DataFrame(points, columns=pandas.Index(given))
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    model.transform(frame)
                with pytest.raises(ValueError, match="another order: column 1 was|same order"):
                    model.transform(frame.iloc[:, ::-1])


def test_names_of_several_parts_are_told_apart(points):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(points, columns=pandas.MultiIndex.from_tuples([("a, b", "c"), ("a", "b, c"), ("d", "e"), ("f", "g")]))
    with pytest.raises(ValueError, match="another order: column 1 was"):
        DiffusionMap(2, beta=1.5).fit(frame).transform(frame[frame.columns[[1, 0, 2, 3]]])


def test_names_go_through_csv(points, tmp_path):
    """Also those that pandas writes otherwise than it shows them."""
    pandas = pytest.importorskip("pandas")
    for names in (pandas.date_range("2020", periods=4), pandas.date_range("2020", periods=4, freq="6h", tz="UTC"), pandas.to_timedelta(range(4), "D"), pandas.period_range("2020", periods=4)):
        frame = pandas.DataFrame(points, columns=names)
        frame.to_csv(tmp_path / "points.csv", index=False)
        model, read = DiffusionMap(2, beta=1.5).fit(frame), pandas.read_csv(tmp_path / "points.csv")
        model.transform(read)
        assert model._columns.texts == list(read.columns)  # as the model file tells the program
        with pytest.raises(ValueError, match="another order: column 1 was"):
            model.transform(read[read.columns[::-1]])


@pytest.mark.skipif("FLASHDIFFUSION" not in os.environ, reason="FLASHDIFFUSION does not name the program")
@pytest.mark.parametrize("names", [list("abcd"), [0, 1, 2, 3], [10.0, 20.0, 30.0, 40.0], DAYS], ids=["letters", "counted", "numbers", "days"])
def test_names_of_columns_go_between_the_program_and_the_package(points, names, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(points, columns=pandas.DatetimeIndex(names) if names is DAYS else names)
    turned = frame[frame.columns[::-1]]
    for name, table in (("points", frame), ("turned", turned)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)

    def program(*arguments):
        return subprocess.run([os.environ["FLASHDIFFUSION"], *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=120)

    assert program("fit", "points.csv", "--header", "yes", "--beta", "1.5", "-k", "2", "-o", "model.h5", "--quiet").returncode == 0
    loaded = DiffusionMap.load(tmp_path / "model.h5")
    loaded.transform(frame)
    with pytest.raises(ValueError, match="same order|another order"):
        loaded.transform(turned)
    DiffusionMap(2, beta=1.5).fit(frame).save(tmp_path / "model.h5")
    assert program("transform", "model.h5", "points.csv", "-o", "placed.csv").returncode == 0
    refused = program("transform", "model.h5", "turned.csv", "-o", "placed.csv")
    assert refused.returncode == 2 and "another order" in refused.stderr, refused.stderr


def test_polars(points):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(points, schema=list("abcd"))
    model = DiffusionMap(2, beta=1.5).set_output(transform="polars")
    out = model.fit_transform(frame)
    assert isinstance(out, polars.DataFrame) and out.columns == ["diffusionmap0", "diffusionmap1"]
    assert list(model.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(model.embedding_, DiffusionMap(2, beta=1.5).fit_transform(points))


def test_sparse_tables_are_refused(points):
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="toarray"):
        DiffusionMap(2).fit(sparse.csr_matrix(points))
