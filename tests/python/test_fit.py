"""The estimator against a dense map, against the command line, and against itself by other ways."""

import copy
import json
import os
import pickle
import re
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import dense_map, subspace_distance, torus

import flashdiffusion
from flashdiffusion import DiffusionMap, _options
from flashdiffusion.warnings import in_python

PROGRAM = os.environ.get("FLASHDIFFUSION")


def test_it_is_the_dense_map(points):
    q, d, values, psi = dense_map(points, beta=1.5, k=6)
    model = DiffusionMap(6, beta=1.5, precision="fp64", tolerance=1e-9).fit(points)
    assert model.converged_
    np.testing.assert_allclose(model.eigenvalues_, values, atol=1e-10)
    np.testing.assert_allclose(model.mass_, q, rtol=1e-10)
    np.testing.assert_allclose(model.degree_, d, rtol=1e-10)
    assert subspace_distance(model.psi_, psi) <= 1e-6
    np.testing.assert_allclose(model.embedding_, values * model.psi_, atol=1e-8)
    assert (model.residuals_ <= 1e-9).all()


@pytest.mark.skipif(PROGRAM is None, reason="FLASHDIFFUSION does not name the program")
@pytest.mark.parametrize("how", [dict(beta=1.5), dict(), dict(precision="fp64", alpha=1.0, random_state=7), dict(beta=12.0, drop_localised=True)])
def test_the_command_line_gives_the_same_bits(points, tmp_path, how):
    np.save(tmp_path / "points.npy", points)
    names = {"random_state": "seed", "drop_localised": "drop-localised"}
    arguments = [f"--{names.get(name, name)}" + ("" if value is True else f"={value}") for name, value in how.items()]
    subprocess.run([PROGRAM, "fit", "points.npy", "-k", "5", "-o", "model.h5", "--quiet", *arguments], cwd=tmp_path, check=True, timeout=120)
    ours, theirs = DiffusionMap(5, **how).fit(points), DiffusionMap.load(tmp_path / "model.h5")
    assert ours.beta_ == theirs.beta_
    for name in ("eigenvalues_", "residuals_", "psi_", "degree_", "mass_", "embedding_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
    fresh = torus(50, seed=2)
    np.save(tmp_path / "fresh.npy", fresh)
    command = [PROGRAM, "transform", "model.h5", "fresh.npy", "-o", "out.npy", "--quiet"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    np.testing.assert_array_equal(ours.transform(fresh), np.load(tmp_path / "out.npy"))


def test_threads_files_and_pickles_change_no_bit(points, tmp_path):
    fresh = torus(60, seed=3)
    one = DiffusionMap(4, n_jobs=1).fit(points)
    one.save(tmp_path / "model.h5")
    others = {
        "two threads": DiffusionMap(4, n_jobs=2).fit(points),
        "saved and loaded": DiffusionMap.load(tmp_path / "model.h5"),
        "pickled": pickle.loads(pickle.dumps(one)),
    }
    for name, other in others.items():
        assert other.beta_ == one.beta_, name
        for attribute in ("eigenvalues_", "psi_", "embedding_", "mass_", "degree_", "residuals_"):
            np.testing.assert_array_equal(getattr(other, attribute), getattr(one, attribute), err_msg=name)
        np.testing.assert_array_equal(other.transform(fresh), one.transform(fresh), err_msg=name)


def test_a_loaded_map_knows_how_it_was_fitted(points, tmp_path):
    how = dict(select="minimum", tolerance=1e-3, random_state=7, components=2, trim=0.01, max_passes=99)
    chosen = DiffusionMap(4, n_jobs=1, **how).fit(points)
    chosen.save(tmp_path / "chosen.h5")
    loaded = DiffusionMap.load(tmp_path / "chosen.h5")
    assert {name: loaded.get_params()[name] for name in how} == how
    assert loaded.beta is None and loaded.n_components == 4 and loaded.n_jobs is None
    assert f"{loaded.beta_:.5g} (chosen, minimum)" in loaded._repr_html_()
    DiffusionMap(4, beta=1.5).fit(points).save(tmp_path / "given.h5")
    assert "1.5 (given)" in DiffusionMap.load(tmp_path / "given.h5")._repr_html_()
    if PROGRAM is not None:
        np.save(tmp_path / "points.npy", points)
        subprocess.run([PROGRAM, "fit", "points.npy", "-k", "3", "-o", "model.h5", "--quiet", "--tolerance=1e-3", "--seed=7"], cwd=tmp_path, check=True, timeout=120)
        loaded = DiffusionMap.load(tmp_path / "model.h5")
        assert (loaded.beta, loaded.tolerance, loaded.random_state, loaded.max_passes, loaded.components) == (None, 1e-3, 7, None, None)


@pytest.mark.parametrize("cascade", ["bf16,fp32", ("tf32", "fp32")])
def test_a_loaded_map_knows_its_cascade(points, tmp_path, cascade):
    names = "bf16,fp32" if isinstance(cascade, str) else "tf32,fp32"
    model = DiffusionMap(3, precision=cascade).fit(points)
    model.save(tmp_path / "model.h5")
    files = ["model.h5"]
    if PROGRAM is not None:
        np.save(tmp_path / "points.npy", points)
        subprocess.run([PROGRAM, "fit", "points.npy", "-k", "3", "-o", "program.h5", "--quiet", "--precision", names], cwd=tmp_path, check=True, timeout=120)
        files.append("program.h5")
    for file in files:
        loaded = DiffusionMap.load(tmp_path / file)
        assert loaded.precision == names
        assert np.array_equal(loaded.fit(points).psi_, model.psi_)


def test_an_interrupted_fit_goes_on_from_its_checkpoint(tmp_path):
    x, file = torus(9000), tmp_path / "fit.checkpoint"

    class Enough(Exception):
        pass

    def callback(record):
        if record["stage"] == "solve":
            raise Enough

    whole = DiffusionMap(8).fit(x)
    model = DiffusionMap(8, checkpoint=file, callback=callback)
    with pytest.raises(Enough):
        model.fit(x)
    assert file.exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(callback=None).fit(x)
    assert not file.exists()
    np.testing.assert_array_equal(model.psi_, whole.psi_)
    np.testing.assert_array_equal(model.eigenvalues_, whole.eigenvalues_)
    with pytest.raises(TypeError, match="checkpoint = 3"):
        DiffusionMap(8, checkpoint=3).fit(x)


def test_an_unfitted_map_can_be_pickled():
    assert pickle.loads(pickle.dumps(DiffusionMap(7, beta=2.0))).get_params() == DiffusionMap(7, beta=2.0).get_params()


def test_rows_that_were_fitted_are_placed_where_they_were(points):
    model = DiffusionMap(4, beta=1.5, diffusion_time=2.5).fit(points)
    np.testing.assert_allclose(model.transform(points), model.embedding_, atol=2e-4)
    np.testing.assert_allclose(model.embedding_, model.eigenvalues_**2.5 * model.psi_, rtol=1e-5, atol=1e-6)


def test_inverse_transform_gives_the_table_back(points):
    model = DiffusionMap(12, beta=1.5).fit(points)
    back = model.inverse_transform(model.embedding_)
    assert back.shape == points.shape
    # circles are linear in the modes of a torus up to the sampling: most of the variance is there
    assert ((back - points) ** 2).sum() <= 0.1 * ((points - points.mean(0)) ** 2).sum()
    assert not np.array_equal(model.inverse_transform(model.embedding_, ridge=100.0), back)
    np.testing.assert_array_equal(model.inverse_transform(model.embedding_), back)  # a penalty is that of its call


def test_attributes_of_the_choice(points):
    model = DiffusionMap(3).fit(points)
    assert {"n", "beta", "v", "n_eff", "d_hat", "perron_gap", "outcome"} <= set(model.sweep_)
    assert model.beta_ in model.sweep_["beta"]
    assert 1 < model.n_eff_ < 400
    assert 1 < model.intrinsic_dim_ < 3.5
    assert model.perron_gap_ == pytest.approx(1 - model.eigenvalues_[0], rel=1e-3)
    assert model.n_passes_ > 0 and model.n_features_in_ == 4


def test_what_did_not_converge_is_a_warning_with_the_sentence(points):
    with pytest.warns(flashdiffusion.ConvergenceWarning) as caught:
        model = DiffusionMap(4, beta=1.5, tolerance=1e-14).fit(points)
    assert not model.converged_
    assert model.outcome_ in [str(warning.message) for warning in caught]
    assert "--" not in model.outcome_


def test_separate_components_are_a_warning(points):
    apart = np.concatenate([points, points + 1000])
    with pytest.warns(flashdiffusion.DataWarning, match="the rows fall into about 2 pieces") as caught:
        DiffusionMap(4, beta=1.5).fit_transform(apart)
    assert [warning.filename for warning in caught] == [__file__]  # the line of the user's, also through fit_transform


def test_a_good_fit_warns_of_nothing(points):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DiffusionMap(4, beta=1.5).fit(points)


def test_more_components_than_there_are_is_a_warning(points):
    with pytest.warns(flashdiffusion.DataWarning, match="9 nontrivial"):
        assert DiffusionMap(beta=1.5).fit_transform(points[:10]).shape == (10, 9)


@pytest.mark.parametrize(
    "wrong, words",
    [
        (dict(n_components=0), "n_components"),
        (dict(n_components=2.5), "n_components"),
        (dict(alpha=1.5), "alpha"),
        (dict(alpha="much"), "alpha"),
        (dict(beta=-1.0), "beta"),
        (dict(beta=float("nan")), "beta"),
        (dict(select="best"), "robust"),
        (dict(precision="fp31"), "fp32"),
        (dict(precision=[]), "precision"),
        (dict(tolerance=0.0), "tolerance"),
        (dict(diffusion_time=-1), "diffusion_time"),
        (dict(n_jobs=0), "n_jobs"),
        (dict(random_state="x"), "random_state"),
        (dict(trim=0.7), "trim"),
        (dict(trim="some"), "trim"),
        (dict(components=0), "components"),
        (dict(beta0=-1.0), "beta0"),
        (dict(beta0=2.0, beta_max=1.0), "beta_max"),
        (dict(basis=0), "basis"),
        (dict(memory_bytes=1.5), "memory_bytes"),
        (dict(callback=3), "callback"),
        (dict(precision=None), "precision = None"),
        (dict(precision=[32]), "precision"),
        (dict(ladder="no"), "ladder"),
        (dict(drop_localised="no"), "drop_localised"),
        (dict(n_components=2**70), "n_components"),
        (dict(n_jobs=2**40), "n_jobs"),
        (dict(n_jobs=True), "n_jobs"),
        (dict(random_state=2**64), "random_state"),
        (dict(memory_bytes=2**64), "memory_bytes"),
        (dict(max_passes=2**70), "max_passes"),
        (dict(basis=2**70), "basis"),
    ],
)
def test_a_wrong_parameter_is_named(points, wrong, words):
    with pytest.raises(ValueError, match=words):
        DiffusionMap(**wrong).fit(points)


def test_values_whose_squares_underflow_are_refused(points):
    """And not the bandwidth that cannot be made of them."""
    wide = points.astype(np.float64)
    for how in (dict(), dict(select="paper"), dict(precision="fp64")):
        with pytest.raises(ValueError, match="squares of the distances between rows underflow.*rescale the table"):
            DiffusionMap(2, **how).fit(wide * 1e-200)
    small, model = DiffusionMap(2).fit(wide * 1e-150), DiffusionMap(2).fit(wide)
    np.testing.assert_allclose(small.eigenvalues_, model.eigenvalues_, atol=1e-5)


def test_sentences_name_parameters_that_exist():
    """What the library's remarks and refusals name in backticks can be given to DiffusionMap by that name."""
    source, named = Path(__file__).parents[2] / "src", set()
    for path in [*source.glob("fit/*.cpp"), *source.glob("flow/*.cpp"), *source.glob("base/*.[ch]pp"), *source.glob("report/*.cpp")]:
        for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', path.read_text(encoding="utf-8")):
            named |= set(re.findall(r"`([a-z][a-z0-9_]*)(?: = [^`]*)?`", in_python(literal)))
            assert not re.search(r"(?<![\w-])-[a-z]\b", in_python(literal))  # a flag of the program
    named -= {"block", "devices", "ranks", "rows_a_rank", "link_bytes_per_second"}  # only refused where given, and they cannot be given here
    assert {"n_components", "beta0", "memory_bytes"} <= named <= set(DiffusionMap().get_params())


def test_the_search_keeps_to_its_bounds_and_a_fit_to_its_memory(points):
    free = DiffusionMap(3).fit(points)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", flashdiffusion.ConvergenceWarning)
        bounded = DiffusionMap(3, beta_max=free.beta_ / 4).fit(points)
    assert bounded.sweep_["beta"].max() <= free.beta_ / 4
    assert DiffusionMap(3, beta0=free.beta_).fit(points).sweep_["beta"][0] == pytest.approx(free.beta_)
    assert DiffusionMap(3, beta=1.5, basis=200).fit(points).converged_
    np.testing.assert_array_equal(DiffusionMap(3, memory_bytes=0).fit(points).psi_, free.psi_)
    with pytest.raises(MemoryError, match="memory_bytes"):
        DiffusionMap(3, memory_bytes=1000).fit(points)


def test_bad_data_are_refused_with_their_place(points):
    broken = points.copy()
    broken[4, 2] = np.nan
    with pytest.raises(ValueError, match=r"NaN in row 5, column 3.*isfinite\(X\)"):
        DiffusionMap(3).fit(broken)
    model = DiffusionMap(3, beta=1.5).fit(points)
    with pytest.raises(ValueError, match=r"NaN in row 5, column 3.*isfinite\(X\)"):
        model.transform(broken)
    with pytest.raises(ValueError, match="equal"):
        DiffusionMap(1).fit(np.ones((10, 2)))



def test_rows_out_of_reach_are_placed_and_named(points):
    model = DiffusionMap(3, beta=1.5).fit(points)
    with pytest.warns(flashdiffusion.DataWarning, match=r"1 of 2 rows is beyond the kernel's reach .*\(row 2, counted from 1\)") as caught:
        placed = model.transform(points[:2] + np.array([[0], [1e4]]))
    assert caught[0].message.rows == [1]
    assert pickle.loads(pickle.dumps(caught[0].message)).rows == [1]
    np.testing.assert_allclose(placed[0], model.transform(points[:1])[0], atol=1e-6)
    np.testing.assert_allclose(placed[1], model.psi_[np.argmax(points.sum(1))], atol=1e-5)


def test_files_that_cannot_be_used_are_os_errors(points, tmp_path):
    model = DiffusionMap(3, beta=1.5).fit(points)
    with pytest.raises(OSError):
        model.save(tmp_path / "nowhere" / "model.h5")
    with pytest.raises(OSError):
        DiffusionMap.load(tmp_path / "absent.h5")
    with pytest.raises(TypeError, match="path = 3"):
        model.save(3)
    name = os.fsencode(tmp_path / "bytes.h5")
    assert DiffusionMap.load(model.save(name) and name).beta_ == 1.5
    (tmp_path / "text.h5").write_text("not a model")
    with pytest.raises((OSError, ValueError), match="text.h5"):
        DiffusionMap.load(tmp_path / "text.h5")


def test_rows_set_aside_are_named_and_placed(points):
    far = np.concatenate([points, [[9.0, 9.0, 9.0, 9.0]]]).astype(np.float32)
    model = DiffusionMap(3, beta=0.05, trim=0.003).fit(far)
    assert model.aside_.tolist() == [400] and model.degree_[400] == 0
    # also where no fitted row is near, the fit and transform put a row in the same place
    beyond = np.concatenate([points, [[900.0, 0, 0, 0]]]).astype(np.float32)
    reached = DiffusionMap(3, beta=1.5, trim=0.003).fit(beyond)
    assert "(row 401)" in reached.outcome_ and "counted from 1" in reached.outcome_
    for one, table in ((model, far), (reached, beyond)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", flashdiffusion.DataWarning)
            np.testing.assert_allclose(one.transform(table), one.embedding_, atol=2e-4)
    assert DiffusionMap(3, beta=0.05, trim=0).fit(far).aside_.tolist() == []


def test_remarks_have_a_name_a_sentence_and_a_thing_to_do(points):
    assert DiffusionMap(3, beta=1.5).fit(points).remarks() == []
    with pytest.warns(flashdiffusion.ConvergenceWarning):
        cut = DiffusionMap(6, beta=5.0, max_passes=1).fit(points)
    first = cut.remarks()[0]
    assert first["name"] == "not-converged" and first["weight"] == "serious" and "max_passes" in first["sentence"] + first["action"]
    assert all(set(remark) == {"name", "weight", "sentence", "action"} and all(remark.values()) for remark in cut.remarks())


def test_summary_for_notebooks(points):
    model = DiffusionMap(3, beta=1.5)
    assert "not fitted" in model._repr_html_()
    text = model.fit(points)._repr_html_()
    assert "400 rows" in text and "1.5 (given)" in text


def test_a_time_set_after_the_fit_holds(points):
    model = DiffusionMap(3, beta=1.5).fit(points)
    later = model.set_params(diffusion_time=4).transform(points)
    np.testing.assert_allclose(later, model.psi_ * model.eigenvalues_**4, atol=1e-5)
    np.testing.assert_allclose(model.embedding_, model.psi_ * model.eigenvalues_**4, rtol=1e-6)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.embedding_, model.embedding_)
    there = DiffusionMap(3, beta=1.5, diffusion_time=4).fit(points)
    assert np.array_equal(model.inverse_transform(later), there.inverse_transform(later))
    model.set_params(diffusion_time=0).inverse_transform(model.psi_)  # keeps a decoder, of this time
    assert np.array_equal(model.set_params(diffusion_time=4).inverse_transform(later), there.inverse_transform(later))
    with pytest.raises(ValueError, match="diffusion_time = -1"):
        model.set_params(diffusion_time=-1).transform(points)


def test_what_is_written_to_the_embedding_stays(points):
    model = DiffusionMap(2, beta=1.5)
    made = model.fit_transform(points)
    model.embedding_ *= -1  # which also assigns
    model.embedding_ = -model.embedding_
    assert np.array_equal(model.embedding_, made)
    with pytest.raises(ValueError):
        model.embedding_ = made[:-1]
    model.embedding_[:, 0] *= -1  # another sign for a picture
    assert np.array_equal(model.embedding_[:, 0], -made[:, 0]) and np.array_equal(model.embedding_[:, 1], made[:, 1])
    made[:] = 0  # the caller's own
    assert model.embedding_.any()
    assert model.fit(points[:300]).embedding_.shape == (300, 2)


def test_what_is_written_to_the_embedding_belongs_to_its_time(points):
    model = DiffusionMap(2, beta=1.5).fit(points)
    model.embedding_[:, 0] *= -1
    written = model.embedding_.copy()
    for look in (True, False):
        model.set_params(diffusion_time=2)
        if look:
            np.testing.assert_array_equal(model.embedding_, model._model.embedding(2.0))
        again = pickle.loads(pickle.dumps(model)).set_params(diffusion_time=1)
        model.set_params(diffusion_time=1)
        np.testing.assert_array_equal(model.embedding_, written)
        np.testing.assert_array_equal(again.embedding_, written)
    for time in (3, 4, 5):  # what was not written to is not kept
        assert model.set_params(diffusion_time=time).embedding_.shape == (400, 2)
    assert len(model._embeddings) == 2
    assert model.set_params(diffusion_time=1).fit(points).embedding_[0, 0] == -written[0, 0]


def test_inverse_transform_warns_where_the_embedding_was_written_to(points):
    model = DiffusionMap(6, beta=1.5).fit(points)
    own = model.transform(points)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wanted = model.inverse_transform(own)
    model.embedding_[:, 0] *= -1
    for ridge in (None, 0.1):
        with pytest.warns(flashdiffusion.DataWarning, match="embedding_ has been written to"):
            model.inverse_transform(model.embedding_, ridge=ridge)
    with pytest.warns(flashdiffusion.DataWarning):
        np.testing.assert_array_equal(model.inverse_transform(own), wanted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(diffusion_time=2).inverse_transform(own)


def test_what_is_written_to_the_embedding_is_pickled(points, tmp_path):
    model = DiffusionMap(2, beta=1.5).fit(points)
    plain = len(pickle.dumps(model))
    assert model.embedding_ is not None and len(pickle.dumps(model)) == plain  # as it was made, it is made again
    model.embedding_[:, 0] *= -1
    model.eigenvalues_[0] = 0.5
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(again.embedding_, model.embedding_)
        np.testing.assert_array_equal(again.psi_, model.psi_)
        assert again.eigenvalues_[0] == 0.5
        again.set_params(diffusion_time=2)
        np.testing.assert_array_equal(again.embedding_, model._model.embedding(2.0))


@pytest.mark.parametrize("where, error", [("missing/fit.checkpoint", FileNotFoundError), ("", ValueError)])
def test_a_checkpoint_that_has_no_place_is_refused_before_the_fit(points, tmp_path, where, error):
    seen = []
    with pytest.raises(error, match="checkpoint"):
        DiffusionMap(2, beta=1.5, checkpoint=str(tmp_path / where) if where else where, callback=seen.append).fit(points)
    assert not seen


def test_what_is_not_fitted_says_so(points):
    from flashdiffusion import conventions
    from flashdiffusion._estimator import NotFittedError

    try:
        from sklearn.exceptions import NotFittedError as theirs
    except ImportError:
        theirs = NotFittedError
    for call in (lambda m: m.diffusion_distances([0]), conventions.symmetric_eigenvectors):
        with pytest.raises((NotFittedError, theirs), match="not fitted yet"):
            call(DiffusionMap())


def test_a_loaded_map_computes_with_the_back_end_of_its_fit(points, tmp_path):
    """So that it gives the same bits; but for a device, which the machine may not have."""
    model = DiffusionMap(2, beta=1.5, backend="reference").fit(points[:300])
    loaded = DiffusionMap.load(model.save(tmp_path / "m.h5") and tmp_path / "m.h5")
    assert loaded.backend == "reference"
    np.testing.assert_array_equal(loaded.transform(points[300:]), model.transform(points[300:]))
    for told in ({"parameters": {"backend": "cuda"}}, {"options": {"backend": "cuda"}}, {"parameters": {"backend": 3}}):
        assert _options.remembered(json.dumps(told), "fp32") == {}
    assert _options.remembered(json.dumps({"options": {"backend": "cpu"}}), "fp32") == {"backend": "cpu"}
