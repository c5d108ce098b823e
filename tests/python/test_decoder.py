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


def test_the_score_is_that_of_scikit_learn(points):
    r2_score = pytest.importorskip("sklearn.metrics").r2_score
    decoder = Decoder().fit(points[:300, :2], points[:300] * [1, 100, 1, 1])  # of different units, some of them decoded well
    made, target = decoder.predict(points[300:, :2]), points[300:] * [1, 100, 1, 1]
    assert decoder.score(points[300:, :2], target) == pytest.approx(r2_score(target, made), abs=1e-12)
    flat = Decoder().fit(points, np.ones(len(points)))
    assert flat.score(points, np.ones(len(points))) == 1 and flat.score(points, np.full(len(points), 2.0)) == 0


@pytest.mark.parametrize("target, words", [(lambda y: y[:5], "shape"), (lambda y: y[:, :2], "shape"), (lambda y: y * np.nan, "finite")])
def test_a_score_of_other_targets_is_refused(points, target, words):
    decoder = Decoder(ridge=0.1).fit(points, points)
    with pytest.raises(ValueError, match=words):
        decoder.score(points, target(points))


@pytest.mark.parametrize("folds", [2.5, "5", None])
def test_folds_are_a_whole_number(points, folds):
    with pytest.raises(ValueError, match="folds = "):
        Decoder(folds=folds).fit(points, points)


@pytest.mark.parametrize("n", [50, 200, 1000])
@pytest.mark.parametrize("constant", [0.1, 0.3, 1 / 3, 2.7, 1e6 + 0.1])
def test_a_column_that_does_not_vary_has_no_part(n, constant):
    """The mean of many 0.1 is not 0.1: what is left is no spread."""
    x = np.random.default_rng(5).normal(size=(n, 3))
    for beside in (np.full(n, constant), constant * (1 + 2.0**-52 * (np.arange(n) % 2))):
        for ridge in (None, 0.0, 1e-8):
            decoder = Decoder(ridge=ridge).fit(np.column_stack([x, beside]), x[:, 0])
            assert decoder.coefficients_[3, 0] == 0
            np.testing.assert_allclose(decoder.coefficients_[:3, 0], Decoder(ridge=ridge).fit(x, x[:, 0]).coefficients_[:, 0], atol=1e-12)
    # nor has it as a target: it is met, and has no say in the penalty
    targets = np.column_stack([x[:, 0] + 0.1 * x[:, 1] ** 2, np.full(n, constant)])
    both, one = Decoder().fit(x, targets), Decoder().fit(x, targets[:, 0])
    assert both.ridge_ == one.ridge_
    flat = Decoder().fit(x, targets[:, 1])
    assert flat.score(x, targets[:, 1]) == 1 and flat.score(x, targets[:, 1] + 1) == 0


@pytest.mark.parametrize("value", [0.0, 37.3, 180.0])
def test_an_angle_that_is_the_same_in_every_turn_has_no_say(value):
    n = 300
    x = np.random.default_rng(6).normal(size=(n, 12))
    angle = np.degrees(np.arctan2(x[:, 0] + 2 * x[:, 1] * x[:, 2], x[:, 1] + 2 * x[:, 3]))
    one = Decoder(period=360).fit(x, angle)
    for turns in (np.zeros(n), np.arange(n) % 2, np.arange(n) % 7 - 3):
        both = Decoder(period=360).fit(x, np.column_stack([angle, value - 360 * turns]))
        assert both.ridge_ == one.ridge_ and both.error_[1] < 1e-6


def test_columns_in_another_order_are_refused(points):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(points, columns=list("abcd"))
    decoder = Decoder().fit(frame, points[:, 0])
    assert list(decoder.feature_names_in_) == list("abcd")
    with pytest.raises(ValueError, match="same order"):
        decoder.predict(frame[list("dcba")])


def test_targets_are_held_to_the_rules_of_points(points):
    decoder = Decoder(ridge=0.1).fit(points, points[:, 0])
    for wrong in (np.ones((400, 2, 2)), 1.0, np.ones((2, 400, 1))):
        with pytest.raises(ValueError, match="y has shape"):
            Decoder().fit(points, wrong)
        with pytest.raises(ValueError, match="y has shape"):
            decoder.score(points, wrong)
    for wrong in (np.arange(400).astype("M8[s]"), np.arange(400).astype("m8[s]")):
        with pytest.raises(ValueError, match="y: values of type"):
            Decoder().fit(points, wrong)
        with pytest.raises(ValueError, match="y: values of type"):
            decoder.score(points, wrong)


def test_an_angle_is_below_the_period():
    """A little below 0 the remainder of a division by the period is rounded to the period."""
    x = np.linspace(-1, 1, 201)[:, None]
    for period in (360, 2 * np.pi, 1.0):
        decoder = Decoder(ridge=0.0, period=period).fit(x, 1e-3 * x[:, 0])
        decoder.intercept_[1] = 0.0
        made = decoder.predict([[-1e-20], [0.0], [1e-20]])
        assert (0 <= made).all() and (made < period).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-100, 1e100, 1e160, 1e300])
def test_no_unit_is_too_small_or_too_large(scale):
    """Squares of targets, coordinates or a period would be nothing, or infinite."""
    angle = np.linspace(0, 6, 60)
    x = np.column_stack([np.cos(angle), np.sin(angle)])
    power = 2.0 ** round(np.log2(scale))  # which changes no digit
    for how in ({}, {"period": 7.0}):
        wanted = Decoder(**how).fit(x, angle)
        other = Decoder(**{name: value * power for name, value in how.items()})
        other.fit(x, angle * power)
        assert other.ridge_ == wanted.ridge_ and other.score(x, angle * power) == pytest.approx(wanted.score(x, angle), rel=1e-12)
        np.testing.assert_allclose(other.error_ / power, wanted.error_, rtol=1e-12)
        np.testing.assert_allclose(other.predict(x) / power, wanted.predict(x), rtol=1e-12)
        other = Decoder(**how).fit(x / power, angle)
        np.testing.assert_allclose(other.predict(x / power), wanted.predict(x), rtol=1e-12)
    with pytest.raises(ValueError, match="too large for period = 1e-320"):
        Decoder(period=1e-320).fit(x, angle)
