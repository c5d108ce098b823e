"""From modes to targets."""

import numpy as np
import pytest

from flashdiffusion import Decoder, DiffusionMap


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


@pytest.mark.parametrize("wrong", [dict(ridge=-1.0), dict(ridge=float("nan")), dict(ridge=float("inf")), dict(folds=1), dict(folds=1000), dict(period=0), dict(period=-360.0), dict(period=float("inf"))])
def test_decoder_refusals(wrong):
    with pytest.raises(ValueError):
        Decoder(**wrong).fit(np.random.rand(20, 2), np.random.rand(20))


def test_decoder_refuses_nan_and_ragged():
    with pytest.raises(ValueError, match="NaN"):
        Decoder().fit(np.random.rand(20, 2), np.full(20, np.nan))
    with pytest.raises(ValueError, match="19"):
        Decoder().fit(np.random.rand(20, 2), np.zeros(19))
    masked = np.ma.masked_array(np.random.rand(20), mask=np.arange(20) == 3)
    with pytest.raises(ValueError, match="NaN"):
        Decoder().fit(np.random.rand(20, 2), masked)
    decoder = Decoder().fit(np.random.rand(20, 2), np.random.rand(20))
    with pytest.raises(ValueError, match="NaN in row 2, column 1"):
        decoder.predict([[0.0, 1.0], [np.nan, 1.0]])


def test_inverse_transform_refuses_nan(points):
    model = DiffusionMap(2, beta=1.5).fit(points)
    with pytest.raises(ValueError, match="infinity in row 1, column 2"):
        model.inverse_transform([[0.0, np.inf]])
