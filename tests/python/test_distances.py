"""Distances and pseudo-time, in one piece and in several."""

import re
import warnings

import numpy as np
import pytest
from conftest import dense_kernel, dense_map

from flashdiffusion import DiffusionMap, diffusion_distances, pseudotime
from flashdiffusion.conventions import symmetric_eigenvectors


def test_diffusion_distances_are_those_of_the_walk(points):
    """All modes: the distance of two rows of P^t in the norm weighed with the inverse stationary distribution."""
    x, t = points[:60].astype(np.float64), 2
    kernel = dense_kernel(x, 1.5)
    q = kernel.sum(1)
    kernel /= np.sqrt(np.outer(q, q))
    d = kernel.sum(1)
    walk = np.linalg.matrix_power(kernel / d[:, None], t)
    difference = walk[:, None] - walk[None]
    wanted = np.sqrt((difference**2 / (d / d.sum())).sum(-1))
    model = DiffusionMap(59, beta=1.5, precision="fp64", diffusion_time=t, tolerance=1e-10).fit(x)
    np.testing.assert_allclose(diffusion_distances(model.embedding_), wanted, atol=1e-6)
    np.testing.assert_allclose(model.diffusion_distances([3], [5, 6]), wanted[[3]][:, [5, 6]], atol=1e-6)


def test_pseudotime_follows_a_curve():
    t = np.sort(np.random.default_rng(0).random(300))
    model = DiffusionMap(5, beta=200.0).fit(np.column_stack([t, 0.3 * np.sin(4 * t)]))
    found = model.pseudotime(0)
    assert found[0] == 0 and found.max() == 1
    order = np.argsort(found)
    assert np.corrcoef(np.argsort(order), np.arange(300))[0, 1] >= 0.99


def test_pseudotime_beyond_the_component_is_infinite():
    vectors = np.array([[1.0, 0.0], [1.0, 2.0], [-1.0, 0.0]])
    np.testing.assert_array_equal(pseudotime([1.0, 0.5], vectors, 0), [0, 1, np.inf])
    for root in (3, -4, 1.5, True):
        with pytest.raises(ValueError, match="root"):
            pseudotime([0.5], vectors[:, 1:], root)


def test_distances_do_not_cancel():
    """|a|^2 + |b|^2 - 2 a.b leaves 4e-8 on the diagonal, and nothing of points 1 apart at 1e8."""
    rng = np.random.default_rng(0)
    for place in (0.0, 1e8):
        a, b = rng.normal(size=(70, 3)) + place, rng.normal(size=(50, 3)) + place
        np.testing.assert_allclose(diffusion_distances(a, b), np.linalg.norm(a[:, None] - b[None], axis=2), rtol=1e-14)
        assert (np.diag(diffusion_distances(a)) == 0).all()
    wide = rng.normal(size=(3, 2**18))  # a row of it is more than is taken at a time
    np.testing.assert_allclose(diffusion_distances(wide)[0, 1:], np.linalg.norm(wide[0] - wide[1:], axis=1), rtol=1e-12)


@pytest.mark.parametrize("a, b, words", [(np.zeros(3), None, "^A: Expected 2D"), (np.zeros((2, 3)), np.zeros(3), "^B: Expected 2D"), (np.zeros((2, 3)), np.zeros((2, 2)), "columns")])
def test_distances_refuse_other_shapes(a, b, words):
    with pytest.raises(ValueError, match=words):
        diffusion_distances(a, b)


def test_rows_that_are_no_list_are_refused_by_name(points):
    model = DiffusionMap(3, beta=1.5).fit(points)
    for wrong in (0, np.int64(3), [[0]], []):
        with pytest.raises(ValueError, match=r"^rows = .*no list of rows: give one or more, counted from 0, such as \[0\]"):
            model.diffusion_distances(wrong)
        with pytest.raises(ValueError, match="^others = .*no list of rows"):
            model.diffusion_distances([0], wrong)
    wanted = diffusion_distances(model.embedding_)
    np.testing.assert_array_equal(model.diffusion_distances([0]), wanted[:1])
    np.testing.assert_array_equal(model.diffusion_distances(slice(2), np.arange(400) < 3), wanted[:2, :3])


def clouds(sizes, gap, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.vstack([rng.normal(size=(size, 3)) + gap * np.eye(3)[i % 3] * (i + 1) for i, size in enumerate(sizes)])
    return rows, np.repeat(np.arange(len(sizes)), sizes)


def alone(rows, beta, smallest):
    """Pseudo-time of all rows from the first, from a dense map of these rows: of their modes with eigenvalues of at least `smallest`."""
    _, _, values, psi = dense_map(rows, beta, k=len(rows) - 1)
    weight = np.where(values >= smallest, values / (1 - values), 0)
    distance = np.sqrt(((weight * (psi - psi[0])) ** 2).sum(1))
    return distance / distance.max()


@pytest.mark.parametrize("sizes", [(100, 100), (150, 20), (40, 60, 80), (30, 30, 60, 30, 90)])
@pytest.mark.parametrize("precision, tolerance, close", [("fp32", 1e-5, 1e-3), ("fp64", 1e-5, 1e-3), ("fp64", 1e-11, 1e-9)])
def test_a_piece_is_timed_as_if_it_were_alone(sizes, precision, tolerance, close):
    """Separate pieces do not change each other's modes; whatever eigenvalue 1, and its mixed modes, come out as."""
    for gap, seed in ((50, 0), (500, 0), (1000, 1)):
        x, piece = clouds(sizes, gap, seed)
        model = DiffusionMap(8 * len(sizes), beta=0.7, precision=precision, tolerance=tolerance, trim=0.0).fit(x)
        for one in range(len(sizes)):
            own = np.flatnonzero(piece == one)
            time = model.pseudotime(int(own[0]))
            assert np.isinf(time[piece != one]).all()
            np.testing.assert_allclose(time[own], alone(x[own], 0.7, model.eigenvalues_[-1] * (1 - 1e-6)), atol=close)


def test_the_bandwidth_of_the_flow_and_rows_set_aside():
    x, piece = clouds((1000, 1000), 60)
    x = np.vstack([x, [[30.0, 60.0, 0.0]]])  # between the clouds: a mixture, and no bridge
    model = DiffusionMap(6).fit(x)
    assert 2000 in model.aside_
    for root in (0, 1000, int(model.aside_[0])):
        time = model.pseudotime(root)[:2000]
        assert np.isinf(time[piece != piece[root]]).all() and np.isfinite(time[piece == piece[root]]).all()


def test_a_slow_mode_is_no_component():
    """The modes of a long curve have eigenvalues next to 1, within the residuals here, and are not constant anywhere."""
    n = 1000
    place = np.cos(np.outer((np.arange(n) + 0.5) / n * np.pi, [1, 2, 3])) * np.sqrt(2)
    values = 1 - 1e-6 * np.arange(1, 4) ** 2
    time = pseudotime(values, place, 0, residuals=np.full(3, 1e-5))
    assert time[0] == 0 and time[-1] == 1 and (np.diff(time) > 0).all()
    # two such curves, beside each other: the mode of eigenvalue 1 tells them apart, mixed with a slow one or not
    two = np.zeros((2 * n, 4))
    two[:n, 0], two[n:, 0] = 1, -1
    two[:n, 1:] = np.sqrt(2) * place
    for turned in (two, two @ np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]):
        time = pseudotime([1, *values], turned, 0)
        assert np.isfinite(time[:n]).all() and time[:n].max() == 1 and np.isinf(time[n:]).all()


def test_what_no_mode_tells_is_refused():
    """Twenty rows alone, and fewer modes than that: nothing is known within the cloud."""
    x = np.vstack([np.random.default_rng(0).normal(size=(300, 2)), 100 + 100 * np.arange(20)[:, None] * np.ones(2)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few, enough = (DiffusionMap(k, beta=0.5, trim=0.0).fit(x) for k in (16, 25))
    with pytest.raises(ValueError, match="n_components"):
        few.pseudotime(0)
    time = enough.pseudotime(0)
    assert np.isinf(time[300:]).all() and np.isfinite(time[:300]).all()
    np.testing.assert_array_equal(enough.pseudotime(310), np.where(np.arange(320) == 310, 0, np.inf))  # a row alone


def islands(count, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(20, 60, size=count)
    rows = [np.column_stack([3 * rng.normal(size=(size, 1)), 0.3 * rng.normal(size=(size, count - 1))]) + 200 * np.eye(count)[i] for i, size in enumerate(sizes)]
    return np.concatenate(rows), np.repeat(np.arange(count), sizes)


@pytest.mark.parametrize("count, k", [(6, 2), (10, 3), (10, 9), (10, 30)])
@pytest.mark.parametrize("precision", ["fp32", "fp64"])
def test_too_few_modes_for_the_components_are_refused(count, k, precision):
    """With fewer modes than it takes to tell components apart their places are anywhere, also close to each other."""
    few = 0
    for seed in range(6):
        x, piece = islands(count, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = DiffusionMap(k, beta=0.6, trim=0.0, precision=precision).fit(x)
        try:
            time = model.pseudotime(0)
        except ValueError as error:
            few += 1
            if k < count - 1:
                assert "next to 1" in str(error) and int(re.search(r"use (\d+) modes or more", str(error)).group(1)) > k
            vectors = symmetric_eigenvectors(model)
            with pytest.raises(ValueError, match="modes"):
                pseudotime(model.eigenvalues_, vectors[:, 1:], 0, residuals=model.residuals_, trivial=vectors[:, 0])
        else:
            assert np.isinf(time[piece != 0]).all() and np.isfinite(time[piece == 0]).all()
    assert few == 0 if k == 30 else few >= 5


def test_symmetric_eigenvectors_and_other_scales():
    """Components are read of the right eigenvectors, whatever the vectors' scale; a trivial column among them does no harm."""
    x, piece = clouds((100, 60), 500)
    model = DiffusionMap(12, beta=0.7).fit(x)
    wanted = model.pseudotime(0)
    np.testing.assert_allclose(pseudotime(model.eigenvalues_, 1e-3 * model.psi_, 0), wanted, atol=1e-6)
    trivial = np.column_stack([np.ones(160), model.psi_])
    np.testing.assert_allclose(pseudotime([1, *model.eigenvalues_], trivial, 0), wanted, atol=1e-6)
    root = np.sqrt(model.degree_ / model.degree_.sum())
    time = pseudotime(model.eigenvalues_, root[:, None] * model.psi_, 0, trivial=root)
    assert np.isfinite(time[piece == 0]).all() and time[piece == 0].max() == 1 and np.isinf(time[piece == 1]).all()
    for wrong in (dict(eigenvalues=[0.5]), dict(eigenvalues=0.5)):
        with pytest.raises(ValueError, match="eigenvalues"):
            pseudotime(vectors=np.zeros((5, 2)), root=0, **wrong)
    with pytest.raises(ValueError, match="trivial"):
        pseudotime([0.5, 0.4], np.zeros((5, 2)), 0, trivial=np.ones(4))
