"""Kernel products and operators against dense ones, and SciPy's solvers on them."""

import copy
import os
import pickle

import numpy as np
import pytest
from conftest import dense_kernel, dense_map, torus

from flashdiffusion import DiffusionMap, kernel_matmul


@pytest.mark.parametrize("precision, tolerance", [("fp64", 1e-12), ("fp32", 2e-6)])
def test_kernel_matmul(points, precision, tolerance):
    rng = np.random.default_rng(0)
    other, w, u = torus(150, seed=8), rng.normal(size=(400, 3)), rng.normal(size=(150, 2))
    within, across = dense_kernel(points, 0.7), dense_kernel(points, 0.7, other)
    for result, kernel, weights in (
        (kernel_matmul(points, w, beta=0.7, precision=precision), within, w),
        (kernel_matmul(points, w[:, 0], beta=0.7, precision=precision), within, w[:, 0]),
        (kernel_matmul(points, u, beta=0.7, Y=other, precision=precision), across, u),
        (kernel_matmul(points, np.arange(400), beta=0.7, precision=precision), within, np.arange(400)),
    ):
        assert result.dtype == (np.float64 if precision == "fp64" else np.float32)
        assert result.shape == (kernel @ weights).shape
        assert (np.abs(result - kernel @ weights) <= tolerance * (kernel @ np.abs(weights))).all()


def test_memory_for_the_kernel_changes_no_bits(points):
    pytest.importorskip("scipy")
    from flashdiffusion import DiffusionOperator, KernelOperator

    w = np.random.default_rng(1).normal(size=(400, 2))
    product = kernel_matmul(points, w, beta=0.7)
    for memory in (None, 0, 10**6):
        np.testing.assert_array_equal(KernelOperator(points, beta=0.7, memory_bytes=memory) @ w, product)
    same = DiffusionOperator(points, beta=0.7, memory_bytes=0) @ w
    np.testing.assert_array_equal(same, pickle.loads(pickle.dumps(DiffusionOperator(points, beta=0.7))) @ w)
    with pytest.raises(ValueError, match="memory_bytes"):
        KernelOperator(points, beta=0.7, memory_bytes=-1)


def test_refusals(points):
    with pytest.raises(ValueError, match="beta"):
        kernel_matmul(points, np.ones(400), beta=0)
    with pytest.raises(ValueError, match="399 rows"):
        kernel_matmul(points, np.ones(399), beta=1)
    with pytest.raises(ValueError, match="columns"):
        kernel_matmul(points, np.ones(10), beta=1, Y=np.zeros((10, 3)))
    with pytest.raises(ValueError, match="complex"):
        kernel_matmul(points, 1j * np.ones(400), beta=1)
    with pytest.raises(ValueError, match="shape"):
        kernel_matmul(points, np.ones((400, 2, 2)), beta=1)
    for weights in (np.ones((400, 2)), np.ones((400, 2), dtype=int)):
        with pytest.raises(ValueError, match="W, row 4, column 2"):
            kernel_matmul(points, np.ma.masked_array(weights, mask=np.arange(800).reshape(400, 2) == 7), beta=1)


def test_linear_operators(points):
    linalg = pytest.importorskip("scipy.sparse.linalg")
    from flashdiffusion import DiffusionOperator, KernelOperator

    other, rng = torus(90, seed=8), np.random.default_rng(1)
    w, u = rng.normal(size=(400, 2)), rng.normal(size=(90, 2))
    across = KernelOperator(points, other, beta=0.7, precision="fp64")
    dense = dense_kernel(points, 0.7, other)
    assert across.shape == (400, 90) and across.dtype == np.float64
    np.testing.assert_allclose(across @ u, dense @ u, atol=1e-12)
    np.testing.assert_allclose(across.T @ w, dense.T @ w, atol=1e-12)
    np.testing.assert_allclose(across.H @ w[:, 0], dense.T @ w[:, 0], atol=1e-12)
    hollow = KernelOperator(points, beta=0.7, diagonal=False, precision="fp64")
    np.testing.assert_allclose(hollow @ w, dense_kernel(points, 0.7) @ w - w, atol=1e-12)
    np.testing.assert_allclose(hollow.rmatmat(w), dense_kernel(points, 0.7) @ w - w, atol=1e-12)
    with pytest.raises(ValueError, match="diagonal"):
        KernelOperator(points, other, beta=0.7, diagonal=False)
    for operator in (KernelOperator, DiffusionOperator):
        with pytest.raises(ValueError, match="diagonal = 'no' is neither True nor False"):
            operator(points, beta=0.7, diagonal="no")
    within = KernelOperator(points, beta=0.7)
    assert within.T is within and within.dtype == np.float32
    top = linalg.eigsh(KernelOperator(points, beta=0.7, precision="fp64"), k=4, return_eigenvectors=False)
    np.testing.assert_allclose(np.sort(top), np.linalg.eigvalsh(dense_kernel(points, 0.7))[-4:], rtol=1e-9)

    q, d, values, psi = dense_map(points, beta=1.5, alpha=0.5, k=5)
    operator = DiffusionOperator(points, beta=1.5, precision="fp64")
    np.testing.assert_allclose(operator.mass, q, rtol=1e-11)
    np.testing.assert_allclose(operator.degree, d, rtol=1e-11)
    found, _ = linalg.eigsh(operator, k=6)
    np.testing.assert_allclose(np.sort(found)[::-1], [1, *values], atol=1e-9)
    start = np.column_stack([np.sqrt(d), rng.normal(size=(400, 5))])
    found, _ = linalg.lobpcg(operator, start, largest=True, maxiter=300, tol=1e-8)
    np.testing.assert_allclose(np.sort(found)[::-1][:3], [1, *values[:2]], atol=1e-7)
    single, _ = linalg.eigsh(DiffusionOperator(points, beta=1.5), k=6, tol=1e-5)
    np.testing.assert_allclose(np.sort(single)[::-1], [1, *values], atol=1e-5)


def test_the_operator_and_the_fit_agree_for_every_alpha(points):
    pytest.importorskip("scipy")
    from flashdiffusion import DiffusionOperator

    for alpha in (0, 0.5, 1):
        model = DiffusionMap(3, beta=1.5, alpha=alpha, precision="fp64", tolerance=1e-9).fit(points)
        operator = DiffusionOperator(points, beta=1.5, alpha=alpha, precision="fp64")
        np.testing.assert_allclose(operator.degree, model.degree_, rtol=1e-11)
        vectors = np.sqrt(model.degree_)[:, None] * model.psi_
        residual = operator @ vectors - model.eigenvalues_ * vectors
        assert (np.linalg.norm(residual, axis=0) <= 1e-8 * np.linalg.norm(vectors, axis=0)).all()


def test_estimate(points):
    from flashdiffusion import estimate

    for forecast in (estimate(points, n_components=4), estimate((30000, 12), beta=1.0)):
        assert forecast.seconds > 0 and forecast.memory_bytes > 0 and forecast.passes > 0 and forecast.pairs_per_second > 0
    with pytest.raises(ValueError, match="n_components"):
        estimate(points, n_components=0)
    for shape in ((2**62, 2), (10**6, 2**62), (2**64, 2), (10**12, 10**6), (2**64, 2**64)):
        with pytest.raises(ValueError, match="more values than any machine holds"):
            estimate(shape)
    assert estimate((10**6, 10**6), n_components=4).seconds > estimate((10**6, 2), n_components=4).seconds


def test_weak_neighbours_count_where_there_is_no_diagonal():
    """What is small beside 1 is all there is of a row without the diagonal."""
    pytest.importorskip("scipy")
    from flashdiffusion import DiffusionOperator, KernelOperator

    x = np.random.default_rng(0).normal(size=(600, 3))
    dense = dense_kernel(x, 60.0)
    np.fill_diagonal(dense, 0)
    kernel = KernelOperator(x, beta=60.0, diagonal=False)
    mass = dense.sum(1)
    seen = mass > 1e-30  # less may underflow
    assert mass.min() < 1e-9 < 1e-1 < mass.max()
    np.testing.assert_allclose((kernel @ np.ones(600))[seen], mass[seen], rtol=1e-4)
    some = x[mass > 1e-25]
    operator = DiffusionOperator(some, beta=60.0, diagonal=False)
    assert np.isfinite(operator @ np.ones(len(some))).all()
    np.testing.assert_allclose(operator @ np.sqrt(operator.degree), np.sqrt(operator.degree), rtol=1e-3)

    far = np.vstack([x, [[1e3, 0, 0]]])
    for precision, words in (("fp32", r"1 of 601 rows \(row 601, counted from 1\) is isolated: .* precision='fp64'"), ("fp64", "is isolated")):
        with pytest.raises(ValueError, match=words):
            DiffusionOperator(far, beta=0.7, diagonal=False, precision=precision)
    assert np.isfinite(DiffusionOperator(far, beta=0.7) @ np.ones(601)).all()


def test_operators_are_copied_pickled_and_sent_to_other_processes(points):
    """Copies give the same bits, also in processes that never saw the points."""
    pytest.importorskip("scipy")
    from flashdiffusion import DiffusionOperator, KernelOperator

    rng, other = np.random.default_rng(0), torus(90, seed=8)
    operators = [
        KernelOperator(points, beta=0.7),
        KernelOperator(points, beta=0.7, diagonal=False, precision="fp64", n_jobs=1),
        KernelOperator(points, other, beta=0.7, precision=["tf32", "fp32"]),
        KernelOperator(points, other, beta=0.7, precision="fp64").T,
        DiffusionOperator(points, beta=0.7, alpha=1, precision="fp64"),
        DiffusionOperator(points.tolist(), beta=0.7, diagonal=False),
    ]
    weights = [rng.normal(size=(operator.shape[1], 3)).astype(operator.dtype) for operator in operators]
    wanted = [operator @ w for operator, w in zip(operators, weights)]
    for how in (copy.copy, copy.deepcopy, lambda operator: pickle.loads(pickle.dumps(operator))):
        for operator, w, product in zip(operators, weights, wanted):
            again = how(how(operator))
            assert (again.shape, again.dtype) == (operator.shape, operator.dtype)
            np.testing.assert_array_equal(again @ w, product)
    again = copy.copy(operators[4])
    assert again.T is again and again.beta == 0.7 and again.alpha == 1
    np.testing.assert_array_equal(again.degree, operators[4].degree)
    joblib = pytest.importorskip("joblib")
    large = KernelOperator(np.tile(torus(400), (100, 1)), torus(10), beta=0.7)  # 1.3 MB, which joblib hands over as a file
    tasks = [*zip(operators, weights), (large, np.ones(10, dtype=np.float32))]
    products = joblib.Parallel(n_jobs=2)(joblib.delayed(_product_elsewhere)(os.getpid(), *task) for task in tasks)
    for product, mine in zip(products, [*wanted, large @ tasks[-1][1]]):
        np.testing.assert_array_equal(product, mine)


def _product_elsewhere(parent, operator, w):
    assert os.getpid() != parent
    return operator @ w


def test_an_operator_whose_points_were_overwritten_is_not_copied(points):
    """It computes with the points it was made of; a copy would be of others."""
    pytest.importorskip("scipy")
    from flashdiffusion import DiffusionOperator, KernelOperator

    given = points.copy()
    operators, before = (KernelOperator(given, beta=0.7), DiffusionOperator(given, beta=0.7)), pickle.dumps(KernelOperator(given, beta=0.7))
    product = operators[0] @ np.ones(400)
    given[7, 2] += 1
    for operator in operators:
        with pytest.raises(ValueError, match="written to since"):
            pickle.dumps(operator)
    np.testing.assert_array_equal(operators[0] @ np.ones(400), product)
    np.testing.assert_array_equal(pickle.loads(before) @ np.ones(400), product)


def test_what_is_wrong_has_the_name_it_was_given_by(points):
    from flashdiffusion import DiffusionOperator, KernelOperator, kernel_matmul

    W, nan = np.ones(len(points)), np.full((2, 4), np.nan)
    for wrong in (0, -1.0, "1", None, float("nan"), True):
        for call in (lambda b: kernel_matmul(points, W, beta=b), lambda b: KernelOperator(points, beta=b), lambda b: DiffusionOperator(points, beta=b)):
            with pytest.raises(ValueError, match="^beta = "):
                call(wrong)
    for wrong in (None, "x", float("nan"), 2):
        with pytest.raises(ValueError, match="^alpha = "):
            DiffusionOperator(points, beta=0.5, alpha=wrong)
    with pytest.raises(ValueError, match="X has 4 columns, Y has 2"):
        kernel_matmul(points, W[:5], Y=points[:5, :2], beta=0.5)
    with pytest.raises(ValueError, match="NaN in Y, row 1"):
        KernelOperator(points, nan, beta=0.5)
    with pytest.raises(TypeError, match="W is sparse"):
        kernel_matmul(points, pytest.importorskip("scipy.sparse").identity(len(points)).tocsr(), beta=0.5)
    assert np.array_equal(kernel_matmul(points, W, beta=np.array(0.5)), kernel_matmul(points, W, beta=0.5))


def test_weights_are_held_to_the_rules_of_points(points):
    """What is no number is no weight: dates would count their seconds, and NaT would be finite."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("scipy")
    from flashdiffusion import DiffusionOperator, KernelOperator

    n = len(points)
    dates, lasting = np.array(["NaT"] + ["1970-01-01"] * (n - 1), "M8[s]"), np.arange(n).astype("m8[s]")
    calls = [lambda w: kernel_matmul(points, w, beta=0.5)]
    calls += [lambda w, kind=kind: kind(points, beta=0.5) @ w for kind in (KernelOperator, DiffusionOperator)]
    for call in calls:
        for wrong, words in (
            (dates, "W: values of type datetime64"),
            (lasting, "W: values of type timedelta64"),
            (np.column_stack([dates, dates]), "W: values of type datetime64"),
            (pandas.Series(dates), "W: values of type datetime64"),
            (pandas.Series(pandas.date_range("2020", periods=n, tz="UTC")), "W: column 1 holds dates or times"),
            (dates.astype(object), "W: column 1 holds dates or times"),
            (np.array([10**400] * n, dtype=object), "W: int too large"),
            (np.array(["1"] * n), "W: values of type <U1"),
            (np.array([{}] * n), "W: .* in row 1, column 1 .*is no number"),
        ):
            with pytest.raises(ValueError, match=words):
                call(wrong)
        for masked in (np.ma.masked_equal(np.arange(n) % 7.0, 3), np.ma.masked_equal(np.arange(2 * n).reshape(n, 2) % 14, 6)):
            with pytest.raises(ValueError, match="NaN in W, row 4, column 1"):
                call(masked)
        wanted = call(np.arange(n) % 7.0)
        for same in (np.arange(n) % 7, pandas.Series(np.arange(n) % 7), pandas.Series(np.arange(n) % 7).astype("Int64"), (np.arange(n) % 7).astype(object)):
            np.testing.assert_array_equal(call(same), wanted)
    frame = pandas.DataFrame({"when": dates, "x": np.ones(n)})
    with pytest.raises(ValueError, match="W: column 'when' holds dates or times"):
        kernel_matmul(points, frame, beta=0.5)
    np.testing.assert_array_equal(kernel_matmul(points, frame[["x", "x"]], beta=0.5)[:, 1], kernel_matmul(points, np.ones(n), beta=0.5))


def test_masked_weights_are_refused_on_either_side(points):
    """Also by the adjoint of a kernel between two tables."""
    pytest.importorskip("scipy")
    from flashdiffusion import DiffusionOperator, KernelOperator

    across, n = KernelOperator(points, points[:9], beta=0.5), len(points)
    masked = np.ma.masked_equal(np.arange(n) % 7.0, 3)
    for operator in (KernelOperator(points, beta=0.5), DiffusionOperator(points, beta=0.5), across.T, across.H):
        for w, product in ((masked, operator.dot), (masked, operator.matvec), (masked[:, None], operator.dot), (masked[:, None], operator.matmat), (masked, operator)):
            with pytest.raises(ValueError, match="NaN in W, row 4, column 1"):
                product(w)
    for operator in (KernelOperator(points, beta=0.5), across):
        products = (operator.rmatvec, lambda w: operator.rmatmat(w[:, None]), lambda w: w @ operator, lambda w: w[None] @ operator)
        for product in products:
            with pytest.raises(ValueError, match="NaN in W, row 4, column 1"):
                product(masked)
            assert np.isfinite(product(np.arange(n) % 7.0)).all()
    w = np.arange(9.0)
    assert across.T.T is across and across.T.shape == (9, n)
    np.testing.assert_array_equal(across.T.rmatvec(w), across @ w)
    np.testing.assert_array_equal((2 * across) @ w, 2 * (across @ w))
