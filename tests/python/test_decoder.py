"""From modes to targets; distances and pseudo-time."""

import numpy as np
import pytest
from conftest import dense_kernel

from flashdiffusion import Decoder, DiffusionMap, diffusion_distances, pseudotime


def test_ridge_is_the_minimiser():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 3)) * [1, 10, 0.1], rng.normal(size=(80, 2))
    decoder = Decoder(ridge=0.3).fit(x, y)

    def loss(coefficients, intercept):
        return ((x @ coefficients + intercept - y) ** 2).sum() / 80 + 0.3 * ((coefficients * x.std(0)[:, None]) ** 2).sum()

    best = loss(decoder.coefficients_, decoder.intercept_)
    for _ in range(50):
        nudge = 1e-3 * rng.normal(size=(3, 2)) / x.std(0)[:, None]
        assert loss(decoder.coefficients_ + nudge, decoder.intercept_ + 1e-3 * rng.normal(size=2)) >= best


def test_cross_validation_shrinks_noise_and_keeps_signal():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 30))
    signal = x[:, 0]
    kept = Decoder().fit(x, signal + 1e-3 * rng.normal(size=200))
    shrunk = Decoder().fit(x, rng.normal(size=200))
    assert kept.ridge_ <= 1e-2 and kept.error_[0] <= 2e-3
    assert shrunk.ridge_ >= 1
    assert kept.score(x, signal) >= 0.999


def test_circular_targets_have_no_seam(points):
    angle = np.degrees(np.arctan2(points[:, 1], points[:, 0])) % 360
    model = DiffusionMap(6, beta=1.5).fit(points)
    decoder = Decoder(period=360).fit(model.embedding_, angle)
    error = (decoder.predict(model.embedding_) - angle + 180) % 360 - 180
    assert np.sqrt((error**2).mean()) <= 8
    assert decoder.error_[0] <= 10
    assert decoder.predict(model.embedding_).shape == angle.shape
    assert decoder.score(model.embedding_, angle) >= 0.99
    plain = Decoder().fit(model.embedding_, angle)
    assert plain.error_[0] >= 3 * decoder.error_[0]


@pytest.mark.parametrize("wrong", [dict(ridge=-1.0), dict(ridge=float("nan")), dict(folds=1), dict(folds=1000)])
def test_decoder_refusals(wrong):
    with pytest.raises(ValueError):
        Decoder(**wrong).fit(np.random.rand(20, 2), np.random.rand(20))


def test_decoder_refuses_nan_and_ragged():
    with pytest.raises(ValueError, match="NaN"):
        Decoder().fit(np.random.rand(20, 2), np.full(20, np.nan))
    with pytest.raises(ValueError, match="19"):
        Decoder().fit(np.random.rand(20, 2), np.zeros(19))


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
