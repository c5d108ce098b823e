"""Plots draw what they say; whether they look well is for people to judge."""

import datetime
import json
import os
import pickle
import subprocess
import warnings

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from flashdiffusion import DiffusionMap  # noqa: E402


@pytest.fixture
def model(points):
    yield DiffusionMap(5).fit(points)
    plt.close("all")


def test_embedding(model):
    ax = model.plot_embedding(modes=(1, 3))
    np.testing.assert_allclose(ax.collections[0].get_offsets(), model.embedding_[:, [1, 3]], rtol=1e-6)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("coordinate 2", "coordinate 4")
    words = np.where(model.embedding_[:, 0] > 0, "right", "left")
    ax = model.plot_embedding(colour=words)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["left", "right"]
    assert model.plot_embedding(modes=(0, 1, 2)).name == "3d"
    for wrong in (dict(modes=()), dict(modes=0), dict(modes=(0, 9)), dict(modes=(0, -1)), dict(modes=(0.0, 1.0)), dict(colour=[1, 2]), dict(colour="nonsense"), dict(colour="red", c="blue")):
        with pytest.raises(ValueError):
            model.plot_embedding(**wrong)


def test_what_scatter_takes_is_taken(model):
    dots = model.plot_embedding(alpha=0.2, s=3, linewidth=0.5, marker="^").collections[0]
    assert dots.get_alpha() == 0.2 and dots.get_sizes().tolist() == [3] and list(dots.get_linewidths()) == [0.5]
    for how in (dict(colour="red"), dict(color="red"), dict(c="red"), dict(colour=(1.0, 0.0, 0.0))):
        assert model.plot_embedding(**how).collections[0].get_facecolor()[0].tolist()[:3] == [1, 0, 0]
    np.testing.assert_allclose(model.plot_embedding(c=np.arange(400.0), linewidths=0.1).collections[0].get_array(), np.arange(400))


def test_many_kinds_of_label(model):
    """Each has its own colour and its name in the natural order, beside the axes; of very many the largest have."""

    def legend(kinds, **how):
        ax = model.plot_embedding(colour=kinds, **how)
        ax.figure.canvas.draw()
        return ax, [text.get_text() for text in ax.get_legend().get_texts()]

    ax, names = legend([f"type {i % 25}" for i in range(400)])
    assert names == [f"type {i}" for i in range(25)]
    assert len({tuple(dots.get_facecolor()[0]) for dots in ax.collections}) == 25
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1
    assert ax.get_window_extent().width >= 0.5 * ax.figure.bbox.width
    ax, names = legend([f"type {i % 57}" for i in range(400)])
    assert len(names) == 41 and names[-1] == "17 other kinds" and names[0] == "type 0"
    ax, names = legend(np.array([None, 10.5, 9, True] * 100, dtype=object))
    assert names == ["True", "9", "10.5", "missing"]
    assert sum(len(dots.get_offsets()) for dots in ax.collections) == 400
    three = model.plot_embedding(modes=(0, 1, 2), colour=[f"kind {i % 15}" for i in range(400)]).figure
    three.canvas.draw()
    assert three.legends[0].get_window_extent().x1 <= three.bbox.x1
    pandas = pytest.importorskip("pandas")
    order = pandas.Categorical(["small", "large"] * 200, categories=["small", "large", "none"])
    for kinds in (order, pandas.Series(order)):
        assert legend(kinds)[1] == ["small", "large"]


def test_dates_and_missing_numbers_have_a_scale(model):
    days = np.datetime64("2020-01-01") + np.arange(400)
    for colour in (days, days.tolist()):
        ax = model.plot_embedding(colour=colour)
        ax.figure.canvas.draw()
        assert any("2020" in text.get_text() for text in ax.figure.axes[1].get_yticklabels())
    dots = model.plot_embedding(colour=np.where(np.arange(400) < 9, np.nan, 1.0)).collections[0]
    assert len(dots.get_offsets()) == 400  # those without a number are there, and grey


@pytest.mark.parametrize("days", [0, 1e-9, 0.003, 0.0625, 0.9, 48, 365, 1461, 1500, 1800, 9000, 300000])
def test_no_span_of_dates_warns(model, days):
    dates = np.datetime64("1999-02-28T23:59", "us") + (days * 86400e6 * np.linspace(0, 1, 400)).astype("timedelta64[us]")
    dates[3] = np.datetime64("NaT")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = model.plot_embedding(colour=dates)
        ax.figure.canvas.draw()
    assert len(ax.figure.axes[1].get_yticks()) <= 10


def test_a_map_of_one_coordinate(points):
    model = DiffusionMap(1, beta=1.5).fit(points)
    ax = model.plot_embedding()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("row", "coordinate 1")
    spectrum = model.plot_spectrum()
    low, high = spectrum.get_xlim()
    assert [tick for tick in spectrum.get_xticks() if low <= tick <= high] == [1]
    plt.close("all")


@pytest.mark.parametrize("low, high", [(1e-4, 20.0), (1e-9, 1e3), (0.5, 2.5), (0.9, 1.1), (0.1, 10.0), (1e-3, 1e2)])
def test_labels_of_the_flow_stand_apart(model, low, high):
    beta = np.geomspace(low, high, 12)
    model.sweep_ = dict(n=np.full(12, 400), beta=beta, v=1 / beta, outcome=np.array(["resolved"] * 12), localised=np.zeros(12), aside=np.zeros(12))
    model.beta_ = beta[5]
    ax = model.plot_flow()
    ax.figure.canvas.draw()
    for axis, side in ((ax.xaxis, "x"), (ax.yaxis, "y")):
        first, last = sorted(axis.get_view_interval())
        boxes = [tick.label1.get_window_extent() for tick in axis.get_major_ticks() if first <= tick.get_loc() <= last]
        assert 3 <= len(boxes) <= 9
        for one, two in zip(boxes, boxes[1:]):
            assert getattr(one, side + "1") < getattr(two, side + "0")


def test_spectrum(model):
    ax = model.plot_spectrum()
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), model.eigenvalues_)


def test_flow(model, points):
    ax = model.plot_flow()
    drawn = sum(len(line.get_xdata()) for line in ax.lines[:-1])
    assert drawn == len(model.sweep_["v"])
    given = DiffusionMap(2, beta=1.5).fit(points).plot_flow()
    assert given is not None


def test_flow_tells_candidates_from_the_others(model):
    sweep = {name: np.array(values) for name, values in dict(
        n=[200, 400, 400, 400, 400, 400, 400, 400], beta=[1.0, 1.0, 1.5, 2.5, 1.4, 3.0, 4.0, 5.0], v=[2.0, 1.0, 0.5, 0.6, 0.4, 0.1, 0.2, 5e15],
        outcome=["resolved"] * 6 + ["flat", "wall"], localised=[0, 0, 0, 0, 0, 5, 0, 0], aside=[0, 0, 3, 4, 5, 0, 0, 0],
    ).items()}
    model.sweep_, model.beta_ = sweep, 2.0
    lines = {line.get_label(): line for line in model.plot_flow().lines}
    np.testing.assert_array_equal(lines["400 rows"].get_xdata(), [1])
    np.testing.assert_array_equal(lines["400 rows, some set aside"].get_xdata(), [1.4])  # the last search; the others are pale
    assert any(list(line.get_xdata()) == [1.5, 2.5] and line.get_alpha() < 1 for line in model.plot_flow().lines)
    np.testing.assert_array_equal(lines["no candidates"].get_xdata(), [3, 4])
    np.testing.assert_array_equal(lines["rows fall apart"].get_xdata(), [5])


def test_drawing_on_given_axes(model):
    _, axes = plt.subplots(1, 3)
    assert model.plot_embedding(ax=axes[0]) is axes[0]
    assert model.plot_spectrum(ax=axes[1]) is axes[1]
    assert model.plot_flow(ax=axes[2]) is axes[2]


def test_report_is_the_page_of_the_program(model, tmp_path):
    model.report(tmp_path / "report.html", labels={"kind": ["a", None] * 200, "size": np.arange(400.0)}, title="A <b> title")
    text = (tmp_path / "report.html").read_text()
    assert text.startswith("<!DOCTYPE html>") or text.startswith("<!doctype html>")
    assert "Content-Security-Policy" in text and "A <b> title" not in text and "kind" in text and "size" in text
    assert model.report() == model.report(labels=None)
    pandas = pytest.importorskip("pandas")
    text = model.report(labels={"nullable": pandas.Series(["here", None] * 200, dtype="string"), "flag": pandas.Series([True, None] * 200, dtype="boolean"), "kinds": pandas.Categorical(["a", "b"] * 200)})
    assert '"here"' in text and "<NA>" not in text
    with pytest.raises(ValueError, match="complex"):
        model.report(labels=np.full(400, 1j))
    for wrong in ([1, 2, 3], {"kind": np.zeros((400, 2))}):
        with pytest.raises(ValueError, match="one is needed for each of the 400 rows"):
            model.report(labels=wrong)


def label_on(page, name="label"):
    start = page.index('id="document">') + len('id="document">')
    return next(column for column in json.loads(page[start : page.index("</script>", start)])["columns"] if column["name"] == name)


def test_labels_are_kept_as_they_were_given(model):
    """Whole numbers that no double holds, as whatever they come; in words they stay apart."""
    ids = [76561198000000001 + i % 30 for i in range(400)]
    for given in (ids, tuple(ids), np.array(ids), np.array(ids, dtype=np.uint64), [*ids[:-1], float("nan")], [np.int64(i) for i in ids]):
        assert sorted(label_on(model.report(labels=given))["words"]) == sorted(map(str, set(ids)))
    assert label_on(model.report(labels=[2**54] * 400))["words"] == [str(2**54)]
    assert label_on(model.report(labels=np.arange(400) * 2**54))["kind"] == "number"


def test_dates_are_labels_in_words_and_spans_of_time_are_none(model):
    pandas = pytest.importorskip("pandas")
    days = pandas.Series(pandas.date_range("2020-01-01", periods=400))
    words = label_on(model.report(labels=days))["words"]
    assert words == label_on(model.report(labels=days.to_numpy().astype("M8[D]")))["words"] and "2020-02-29" in words
    days[3] = pandas.NaT
    assert "2020-01-04" not in label_on(model.report(labels=days))["words"]
    hours = label_on(model.report(labels={"label": pandas.date_range("2020-01-01", periods=400, freq="h")}))["words"]
    assert "2020-01-01 05:00:00" in hours
    for spans in (days - days[0], (days - days[0]).to_numpy(), np.arange(400).astype("m8[s]")):
        with pytest.raises(ValueError, match="spans of time: give them as numbers"):
            model.report(labels=spans)


def names_on(page):
    start = page.index('id="document">') + len('id="document">')
    return json.loads(page[start : page.index("</script>", start)])["names"]


@pytest.fixture(params=["words", "numbers", "dates", "pairs"])
def named(request, points):
    """Points with an index that names them, and that index."""
    pandas = pytest.importorskip("pandas")
    n = len(points)
    index = {
        "words": pandas.Index([f"cell {i}" for i in range(n)], name="cell"),
        "numbers": pandas.Index(np.random.default_rng(0).permutation(5 * n)[:n]),
        "dates": pandas.date_range("2020", periods=n, freq="5h"),
        "pairs": pandas.MultiIndex.from_arrays([np.arange(n) // 2, ["left", "right"] * (n // 2)]),
    }[request.param]
    return pandas.DataFrame(points, index=index), index


def test_labels_find_the_rows_that_they_name(named, tmp_path):
    """In whatever order, of the rows that were fitted or of more; also in a model that was saved, or pickled."""
    pandas = pytest.importorskip("pandas")
    frame, index = named
    fitted = DiffusionMap(3, beta=1.5).fit(frame)
    values = np.random.default_rng(1).normal(size=len(index))
    labels = pandas.DataFrame({"size": values, "kind": np.where(values > 0, "above", "below")}, index=index)
    shuffled = labels.sample(frac=1, random_state=3)
    assert not (shuffled.index == index).all()
    stray = labels.iloc[:1].set_axis(pandas.MultiIndex.from_tuples([("none", "left")]) if index.nlevels == 2 else ["none"])
    for model in (fitted, DiffusionMap.load(fitted.save(tmp_path / "model.h5") and tmp_path / "model.h5"), pickle.loads(pickle.dumps(fitted))):
        page = model.report(labels={"size": values, "kind": labels["kind"].to_numpy()})
        assert len(set(names_on(page))) == len(index)
        assert names_on(page)[5] == (", ".join(map(str, index[5])) if index.nlevels == 2 else str(index[5]))
        for same in (labels, shuffled, pandas.concat([stray, shuffled]), {"size": shuffled["size"], "kind": labels["kind"].tolist()}):
            assert model.report(labels=same) == page
        assert model.report(labels=shuffled["size"]) == model.report(labels={"size": values})
        np.testing.assert_array_equal(model.plot_embedding(colour=shuffled["size"]).collections[0].get_array(), values)
        categories = shuffled["kind"].astype(pandas.CategoricalDtype(["below", "above", "none"]))
        kinds = model.plot_embedding(colour=categories)
        assert [text.get_text() for text in kinds.get_legend().get_texts()] == ["below", "above"]
        np.testing.assert_array_equal(kinds.collections[0].get_offsets(), model.embedding_[values <= 0, :2])
        with pytest.raises(ValueError, match=r"values of colour have an index in which 1 of the 400 rows"):
            model.plot_embedding(colour=labels["size"].iloc[1:])
        plt.close("all")
        with pytest.raises(ValueError, match=r"'size' have an index in which 1 of the 400 rows of the map are not found, such as .*to_numpy"):
            model.report(labels=labels["size"].iloc[1:])
        with pytest.raises(ValueError, match=r"several labels 'size' are named .*to_numpy"):
            model.report(labels=pandas.concat([shuffled, shuffled.iloc[:1]])["size"])


def test_labels_without_names_are_in_the_order_of_the_rows(points):
    pandas = pytest.importorskip("pandas")
    values = np.arange(400.0)
    counted = pandas.Series(values, name="size")
    plain = DiffusionMap(3, beta=1.5).fit(pandas.DataFrame(points))  # an index that only counts
    named = DiffusionMap(3, beta=1.5).fit(pandas.DataFrame(points, index=[f"cell {i}" for i in range(400)]))
    assert names_on(plain.report()) is None
    for model in (plain, named):
        assert model.report(labels=counted) == model.report(labels={"size": values})
    assert plain.report(labels=counted.sample(frac=1, random_state=3)) == plain.report(labels={"size": values})
    for stray in (counted.set_axis([f"cell {i}" for i in range(400)]), counted.set_axis(range(1, 401))):
        with pytest.raises(ValueError, match=r"of the 400 rows of the map are not found, such as .*to_numpy"):
            plain.report(labels=stray)
    # an array has no index that labels could be of: they may stand as its rows do, or not
    array = DiffusionMap(3, beta=1.5).fit(points)
    for ascending in (counted, counted.set_axis(range(7, 407))):
        assert array.report(labels=ascending) == array.report(labels={"size": values})
    with pytest.raises(ValueError, match="counts in another order than they stand"):
        array.report(labels=counted[::-1])
    with pytest.raises(ValueError, match="400 of the 400 rows"):
        named.report(labels=counted[::-1])
    # the index of a part of a table is no count of its rows
    part = DiffusionMap(3, beta=1.5).fit(pandas.DataFrame(points)[100:])
    assert part.report(labels=counted) == part.report(labels={"size": values[100:]})
    with pytest.raises(ValueError, match="100 of the 300 rows"):
        part.report(labels=counted[:300])


def test_rows_that_share_a_name_are_not_told_apart(points):
    pandas = pytest.importorskip("pandas")
    index = pandas.Index([f"cell {i % 399}" for i in range(400)])
    model, labels = DiffusionMap(3, beta=1.5).fit(pandas.DataFrame(points, index=index)), pandas.Series(np.arange(400.0), index=index, name="size")
    assert model.report(labels=labels) == model.report(labels={"size": np.arange(400.0)})  # in the same order there is nothing to tell
    with pytest.raises(ValueError, match="several rows of the map are named 'cell 0'"):
        model.report(labels=labels[::-1])


@pytest.mark.skipif("FLASHDIFFUSION" not in os.environ, reason="FLASHDIFFUSION does not name the program")
def test_labels_find_the_rows_of_a_model_of_the_program(points, tmp_path):
    pandas = pytest.importorskip("pandas")
    names = pandas.Index([f"cell {i}" for i in range(400)], name="name")
    pandas.DataFrame(points, index=names).to_csv(tmp_path / "points.csv")
    subprocess.run([os.environ["FLASHDIFFUSION"], "fit", "points.csv", "-k", "2", "-o", "model.h5", "--quiet"], cwd=tmp_path, check=True, timeout=120)
    model = DiffusionMap.load(tmp_path / "model.h5")
    labels = pandas.Series(np.arange(400.0), index=names, name="size")
    assert model.report(labels=labels[::-1]) == model.report(labels={"size": np.arange(400.0)})
    assert names_on(model.fit(pandas.DataFrame(points)).report()) is None


def test_a_report_appears_whole_or_not_at_all(model, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    with pytest.raises(ValueError):
        model.report(path, labels=[1])
    with pytest.raises(FileNotFoundError, match=r"no such folder.*nowhere'$"):
        model.report(tmp_path / "nowhere" / "report.html")
    assert path.read_text() == "before" and [entry.name for entry in tmp_path.iterdir()] == ["report.html"]
    model.report(path)
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask() and [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def _umask():
    import os

    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_size_a_row(model):
    size = np.linspace(1, 9, len(model.psi_))
    np.testing.assert_array_equal(model.plot_embedding(size=size).collections[0].get_sizes(), size)


def test_no_word_is_made_of_what_is_missing_in_a_list(model):
    words = ["a", "b", float("nan"), None] * 100
    assert model.report(labels={"kind": words}) == model.report(labels={"kind": np.array(words, dtype=object)})
    assert len(model.plot_embedding(colour=words).get_legend().get_texts()) == len(
        model.plot_embedding(colour=np.array(words, dtype=object)).get_legend().get_texts()
    )


def test_what_is_missing_changes_nothing_about_the_rest(model):
    """Of whatever kind a column is: what is missing stays so, in pages and in pictures."""
    pandas = pytest.importorskip("pandas")
    few, large = [None] + [float(i) for i in range(1, 400)], [None] + [2**60 + i for i in range(399)]
    hidden = np.arange(400) == 0
    numbers = {
        "list": few,
        "Int64": pandas.Series(few, dtype="Int64"),
        "objects": np.array(few, dtype=object),
        "masked": np.ma.masked_array(np.where(hidden, -999.0, np.arange(400)), mask=hidden),
        "masked whole": np.ma.masked_array(np.where(hidden, -999, np.arange(400)), mask=hidden),
    }
    words = {"list": large, "Int64": pandas.Series(large, dtype="Int64"), "masked": np.ma.masked_array([-999] + large[1:], mask=hidden)}
    kinds = {"masked": np.ma.masked_array(np.where(hidden, "secret", "seen"), mask=hidden)}
    days = {"masked": np.ma.masked_array(np.where(hidden, np.datetime64("1999-01-01"), np.datetime64("2020-02-29")), mask=hidden)}
    try:
        import polars
    except ImportError:
        pass
    else:
        numbers["polars"], words["polars"] = polars.Series(few).cast(polars.Int64), polars.Series(large)
    for given in numbers.values():
        assert label_on(model.report(labels=given))["kind"] == "number"
        shown = np.ma.filled(model.plot_embedding(colour=given).collections[0].get_array(), np.nan)
        np.testing.assert_array_equal(shown, [np.nan, *few[1:]])
    for given in words.values():
        page = model.report(labels=given)
        assert "-999" not in label_on(page)["words"] and str(2**60 + 1) in label_on(page)["words"]
        assert np.isnan(np.ma.filled(model.plot_embedding(colour=given).collections[0].get_array(), np.nan)[0])
    assert "seen" in label_on(model.report(labels=kinds["masked"]))["words"] and "secret" not in model.report(labels=kinds["masked"])
    names = [text.get_text() for text in model.plot_embedding(colour=kinds["masked"]).get_legend().get_texts()]
    assert names == ["seen", "missing"]
    assert "1999" not in str(label_on(model.report(labels=days["masked"]))["words"])
    assert np.isnan(np.ma.filled(model.plot_embedding(colour=days["masked"]).collections[0].get_array(), np.nan)[0])


def test_dates_with_a_zone_keep_their_day(model):
    zone = datetime.timezone(datetime.timedelta(hours=9))
    midnight = datetime.datetime(2020, 2, 29, tzinfo=zone)  # the day before in UTC
    pandas = pytest.importorskip("pandas")
    columns = [[midnight] * 400, pandas.Series([midnight] * 400)]
    try:
        import polars

        columns.append(polars.Series([datetime.datetime(2020, 2, 28, 15)] * 400).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo"))
    except ImportError:
        pass
    day = (datetime.date(2020, 2, 29) - datetime.date(1970, 1, 1)).days
    for given in columns:
        assert label_on(model.report(labels=given))["words"] == ["2020-02-29 00:00:00+09:00"]
        assert (model.plot_embedding(colour=given).collections[0].get_array() == day).all()


def test_spans_and_fine_dates(model):
    with pytest.raises(ValueError, match="spans of time"):
        model.report(labels=[datetime.timedelta(1), None] * 200)
    assert (model.plot_embedding(colour=[datetime.timedelta(1)] * 400).collections[0].get_array() == 86400).all()
    fine = label_on(model.report(labels=np.array([1, 2] * 200, dtype="M8[ps]")))["words"]
    assert fine == ["1970-01-01 00:00:00.000000000001", "1970-01-01 00:00:00.000000000002"]
