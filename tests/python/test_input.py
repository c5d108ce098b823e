"""What users give besides tables of numbers: names of files, text, frames of objects, arrays that change."""

import contextlib
import datetime
import os
import pickle
import re
import tempfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from flashdiffusion import DiffusionMap
from flashdiffusion._options import MOST_THREADS
from flashdiffusion.warnings import in_python


@pytest.mark.parametrize("name", [b"\xff.h5", b"d\xff/m.h5"])
def test_names_of_files_are_bytes(points, tmp_path, monkeypatch, name):
    """What is no UTF-8 is a name like any other, as bytes and as Python has them in text."""
    path = os.path.join(os.fsencode(tmp_path), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    model = DiffusionMap(2, beta=1.5).fit(points)
    for same in (path, os.fsdecode(path)):
        model.save(same)
        np.testing.assert_array_equal(DiffusionMap.load(same).psi_, model.psi_)
        os.unlink(path)
        with pytest.raises(OSError, match=r"\\xff"):
            DiffusionMap.load(same)
        seen = []
        kept = DiffusionMap(2, checkpoint=same, callback=lambda record: seen.append(os.path.exists(path))).fit(points)
        assert not os.path.exists(path) and kept.converged_
    monkeypatch.setenv("TMPDIR", os.fsdecode(os.path.dirname(path)))
    monkeypatch.setattr(tempfile, "tempdir", None)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).psi_, model.psi_)


def test_paths_that_no_file_can_have_are_refused(points, tmp_path):
    model, file = DiffusionMap(2, beta=1.5).fit(points), tmp_path / "n2.h5"
    file.write_text("precious")
    for wrong, words in ((f"{file}\0.new", "path = .*NUL"), (os.fsencode(file) + b"\0.new", "path = .*NUL"), (f"{file}\ud800", "path = .*characters")):
        for call in (model.save, DiffusionMap.load, model.report):
            with pytest.raises(ValueError, match=words):
                call(wrong)
        with pytest.raises(ValueError, match="checkpoint = "):
            DiffusionMap(2, checkpoint=wrong).fit(points)
    assert file.read_text() == "precious" and os.listdir(tmp_path) == ["n2.h5"]


def test_text_that_is_none_is_refused(points):
    model = DiffusionMap(2, beta=1.5).fit(points)
    with pytest.raises(ValueError, match="the title .* surrogate"):
        model.report(title="\ud800")
    for labels in (["\ud800"] * 400, {"\ud800": ["a"] * 400}):
        with pytest.raises(ValueError, match="label.* surrogate"):
            model.report(labels=labels)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="row name 'a\\\\x003'.*NUL"):
        model.fit(pandas.DataFrame(points, index=["a\0" * (i == 3) + str(i) for i in range(400)]))
    with pytest.raises(ValueError, match=r"row name 'a\\ud800' .*surrogate"):  # which as "a?" would be another row
        model.fit(pandas.DataFrame(points, index=["a\ud800", "a?", *map(str, range(398))]))
    model.fit(pandas.DataFrame(points, index=["a?", *map(str, range(399))]))
    with pytest.raises(ValueError, match="not found, such as 'a[?]'"):
        model.report(labels=pandas.Series(0.0, index=["a\ud800", *map(str, range(399))]))


def test_what_is_written_to_the_embedding_is_coordinates(points):
    """As many as there are; None and a single number would be taken for all of them."""
    model = DiffusionMap(2, beta=1.5).fit(points)
    before = model.embedding_.copy()
    with pytest.raises(ValueError, match=r"embedding_ has shape \(400, 2\), and what is assigned to it \(\)"):
        model.embedding_ = None
    for wrong in ([None, None], [[None, None]] * 400, 0.0, before[:, 0], before[:, :1], before[:1], before.T, before * np.nan, before.astype("M8[s]"), before.astype(np.float64) * 1e40):
        with pytest.raises(ValueError):
            model.embedding_ = wrong
    np.testing.assert_array_equal(model.embedding_, before)
    model.embedding_ = -before
    np.testing.assert_array_equal(model.embedding_, -before)


def test_numbers_that_are_none_are_refused_by_name(points):
    """Beyond fp64, or several where one is needed."""
    from flashdiffusion import Decoder, kernel_matmul

    for wrong in (10**400, np.array([0.1, 0.2])):
        for name in ("alpha", "beta", "tolerance", "diffusion_time", "trim", "beta0", "beta_max", "n_jobs"):
            with pytest.raises(ValueError, match=f"^{name} (=|is)"):
                DiffusionMap(2, **{name: wrong}).fit(points)
        with pytest.raises(ValueError, match="^beta (=|is)"):
            kernel_matmul(points, np.ones(400), beta=wrong)
        for name in ("ridge", "period"):
            with pytest.raises(ValueError, match=f"^{name} (=|is)"):
                Decoder(**{name: wrong}).fit(points, points)
    with pytest.raises(ValueError, match="^period = Decimal"):
        Decoder(period=Decimal(7)).fit(points, points)
    np.testing.assert_array_equal(Decoder(period=Fraction(7)).fit(points, points).predict(points), Decoder(period=7).fit(points, points).predict(points))


def test_what_is_no_table_is_told_what_is_wanted(points):
    for wrong in ((row for row in points), {"a": [1]}, {1, 2}, object()):
        with pytest.raises(TypeError, match="X is a .*which is no table: give an array"):
            DiffusionMap(2).fit(wrong)


def test_annotated_data_is_told_what_to_give(points):
    from flashdiffusion import Decoder, kernel_matmul

    adata = type("AnnData", (), {"obsm": {}, "obs_names": [], "obs": {}})()
    model = DiffusionMap(2, beta=1.5).fit(points)
    for name, call in (
        ("X", model.transform),
        ("W", lambda a: kernel_matmul(points, a, beta=1.0)),
        ("y", lambda a: Decoder().fit(points, a)),
        ("labels", lambda a: model.report(labels=a)),
    ):
        with pytest.raises(TypeError, match=rf"^{name} is annotated data \(AnnData\): give .*adata.obs"):
            call(adata)


def test_errors_are_of_the_kinds_that_are_promised(points, tmp_path):
    model = DiffusionMap(2, beta=1.5).fit(points)
    for wrong in ([0, 400], [-401], [1.5], ["a"], [None], [[0], [400]]):
        for call in (model.diffusion_distances, lambda others: model.diffusion_distances([0], others)):
            with pytest.raises(ValueError):
                call(wrong)
    assert model.diffusion_distances([-1]).shape == (1, 400)
    with pytest.raises(FileNotFoundError, match="nope.h5"):
        DiffusionMap.load(tmp_path / "nope.h5")
    with pytest.raises(OSError):
        DiffusionMap.load(tmp_path)
    with contextlib.suppress(RuntimeError):  # where there is no device
        DiffusionMap(2, beta=1.5, backend="cuda").fit(points)


def test_frames_of_objects(points):
    """What is missing is refused by row and column, as in columns of numbers; dates by row and column too."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(points.astype(np.float64)).rename(columns=str)
    wanted = DiffusionMap(2, beta=1.5).fit(frame).psi_
    whole = frame.assign(**{"1": frame["1"].astype(object)})
    np.testing.assert_array_equal(DiffusionMap(2, beta=1.5).fit(whole).psi_, wanted)
    for nothing in (pandas.NA, pandas.NaT, None, np.nan, np.datetime64("NaT")):
        for table in (whole.copy(), whole.astype(object)):
            table.iat[4, 1] = nothing
            for given in (table, table.to_numpy()):
                with pytest.raises(ValueError, match="NaN in row 5, column 2"):
                    DiffusionMap(2).fit(given)
    for date in (pandas.Timestamp("2020-01-01"), datetime.date(2020, 1, 1), np.datetime64("2020-01-01"), pandas.Timedelta("1s")):
        whole.iat[4, 1] = date
        with pytest.raises(ValueError, match=r"X: column '1' holds dates or times \(row 5, counted from 1\)"):
            DiffusionMap(2).fit(whole)
        with pytest.raises(ValueError, match=r"X: column 2 holds dates or times \(row 5, counted from 1\)"):
            DiffusionMap(2).fit(whole.to_numpy(dtype=object))


def test_what_is_no_number_is_refused_by_row_and_column(points):
    pandas = pytest.importorskip("pandas")
    for wrong in (pandas.Period("2020-01"), pandas.Interval(0, 1), 1 + 2j, {}, {"a": 1}, [1, 2], [1.5], np.array([1.5]), object()):
        table = points.astype(object)
        table[4, 1] = wrong
        for given, column in ((table, "2"), (pandas.DataFrame(table, columns=list("abcd")[: table.shape[1]]), "'b'")):
            with pytest.raises(ValueError, match=f"X: .* in row 5, column {column} .*is no number"):
                DiffusionMap(2).fit(given)
    table[4, 1] = "word"
    with pytest.raises(ValueError, match="'word' in row 5, column 2 "):
        DiffusionMap(2).fit(table)


def test_points_that_change_are_no_file():
    """The library's sentence about a file that is written to, in the words of arrays."""
    source = (Path(__file__).parents[2] / "src/fit/checksummed_source.hpp").read_text(encoding="utf-8")
    said = "; ".join(re.search(r'Error\(Failure::io, "(.*?)", "(.*?)"\)', source).groups())
    assert "do not write to the array during a run" in in_python(said)


def test_every_call_speaks_of_parameters(points, tmp_path):
    """Of the names they have here, whichever part of the library refuses."""
    pytest.importorskip("scipy")
    from flashdiffusion import DiffusionOperator, KernelOperator, estimate, kernel_matmul

    holed = points.copy()
    holed[3, 1] = np.nan
    model = DiffusionMap(2, beta=1.5).fit(points)
    for call in (lambda: estimate(holed), lambda: DiffusionMap(2).fit(holed), lambda: model.transform(holed)):
        with pytest.raises(ValueError, match=r"row 4, column 2.*leave their rows out: X\[np.isfinite\(X\).all\(axis=1\)\]"):
            call()
    with pytest.raises(ValueError, match="`components = 500`"):
        estimate(points, n_components=3, components=500)
    for name, wrong in (("n_jobs", 10**6), ("n_jobs", 0)):
        for call in (
            lambda **how: estimate(points, **how),
            lambda **how: DiffusionMap(2, **how).fit(points),
            lambda **how: kernel_matmul(points, np.ones(400), beta=1.0, **how),
            lambda **how: KernelOperator(points, beta=1.0, **how),
            lambda **how: DiffusionOperator(points, beta=1.0, **how),
        ):
            with pytest.raises(ValueError, match=f"^{name} = {wrong} is "):
                call(**{name: wrong})
    team = (Path(__file__).parents[2] / "src/base/team.hpp").read_text(encoding="utf-8")
    assert f"most_threads = {MOST_THREADS};" in team
    (tmp_path / "a--b.h5").write_text("no model")
    with pytest.raises(ValueError, match="a--b.h5"):
        DiffusionMap.load(tmp_path / "a--b.h5")
