"""`report` and `fit --report`, from file to file: what is written, what is refused. What the page shows is tests/report's."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import PROGRAM


@pytest.fixture
def model(program, points):
    program("fit", "points.npy", "--beta", "2", "-k", "4", "-o", "model.h5")
    return points


def document_of(path):
    text = path.read_text(encoding="utf-8")
    start = text.index('id="document">') + len('id="document">')
    return json.loads(text[start : text.index("</script>", start)])


def test_a_page_is_one_file_that_names_no_other(program, model):
    said = json.loads(program("report", "model.h5", "-o", "report.html", "--json").stdout)
    page = (program.folder / "report.html").read_text(encoding="utf-8")
    assert said["bytes"] == len(page.encode()) and said["rows"] == said["rows_shown"] == 400
    body = page[: page.index("<script>")]
    assert not re.search(r"(src|href)=[\"'](?!#)", body)
    assert "default-src 'none'" in page and "unsafe" not in page[: page.index("</head>")].split("<style>")[0]
    info = json.loads(program("info", "model.h5", "--json").stdout)
    assert [mode["eigenvalue"] for mode in document_of(program.folder / "report.html")["modes"]] == info["eigenvalues"]


def test_two_pages_of_one_model_are_the_same_bytes(program, model):
    program("report", "model.h5", "-o", "a.html")
    program("report", "model.h5", "-o", "b.html", environment={"FLASHDIFFUSION_THREADS": "1"})
    assert (program.folder / "a.html").read_bytes() == (program.folder / "b.html").read_bytes()


def test_fit_writes_the_page_too(program, points):
    said = program("fit", "points.npy", "--beta", "2", "-k", "4", "-o", "model.h5", "--report", "page.html").stdout
    assert "page.html" in said
    program("report", "model.h5", "-o", "again.html")
    assert (program.folder / "page.html").read_bytes() == (program.folder / "again.html").read_bytes()
    program.refused("fit", "points.npy", "-o", "model.h5", "--report", "model.h5", words=["--report", "model.h5"])
    program.refused("fit", "points.npy", "-o", "new.h5", "--report", "nowhere/page.html", status=3, words=["nowhere"])
    program.refused("fit", "points.npy", "-o", "new.h5", "--report", "points.npy", words=["points.npy"])


def test_retained_mass_is_that_of_the_kernel(program, model):
    program("report", "model.h5", "-o", "report.html")
    retained = document_of(program.folder / "report.html")["retained"]
    square = ((model[:, None, :] - model[None, :, :]) ** 2).sum(-1)
    kernel = -np.sort(-np.exp(-2 * square), axis=1)
    share = kernel.cumsum(1) / kernel.sum(1, keepdims=True)
    assert retained["rows"] == 256
    for mass in retained["masses"]:
        column = share[:, min(mass["neighbours"], 400) - 1]
        # the mean of 256 of 400 rows: four standard errors
        assert abs(mass["mean"] - column.mean()) <= 4 * column.std() * np.sqrt((1 - 256 / 400) / 256) + 1e-6


def test_labels(program, model):
    rows = 400
    (program.folder / "names.csv").write_text("kind\n" + "".join(f"label {i}\n" for i in range(rows)))
    (program.folder / "holes.csv").write_text("value\n" + "".join("NaN\n" if i % 2 else f"{i / 3}\n" for i in range(rows)))
    np.save(program.folder / "numbers.npy", np.arange(2.0 * rows).reshape(rows, 2))
    program("report", "model.h5", "--color", "names.csv", "holes.csv", "numbers.npy", "-o", "report.html")
    columns = document_of(program.folder / "report.html")["columns"][5:]
    assert [(c["name"], c["kind"]) for c in columns] == [("kind", "word"), ("value", "number"), ("column 1", "number"), ("column 2", "number")]
    assert len(columns[0]["words"]) == rows


def test_clusters_are_the_same_from_every_file(program, model):
    import h5py

    clusters = np.arange(400) % 3
    np.save(program.folder / "c.npy", clusters)
    np.savetxt(program.folder / "c.csv", clusters, fmt="%d")
    with h5py.File(program.folder / "c.h5", "w") as file:
        file["clusters"] = clusters
    program("report", "model.h5", "--color", "c.npy", "c.csv", "c.h5", "-o", "report.html")
    assert [(c["kind"], c["words"]) for c in document_of(program.folder / "report.html")["columns"][5:]] == 3 * [("word", ["0", "1", "2"])]


def test_whole_numbers_that_no_double_holds_stay_apart(program, model):
    import h5py

    for kinds in (3, 30):
        ids = 76561198000000001 + np.arange(400) % kinds
        np.save(program.folder / "c.npy", ids)
        np.savetxt(program.folder / "c.csv", ids, fmt="%d", header="owner", comments="")
        with h5py.File(program.folder / "c.h5", "w") as file:
            file["ids"] = (ids.astype(np.uint64) + np.uint64(2**63)).astype(">u8") if kinds == 3 else ids
        program("report", "model.h5", "--color", "c.npy", "c.csv", "c.h5", "-o", "report.html")
        columns = document_of(program.folder / "report.html")["columns"][5:]
        higher = [int(i) + 2**63 if kinds == 3 else int(i) for i in ids]
        assert [sorted(c["words"]) for c in columns] == [sorted(set(map(str, i))) for i in (ids, ids, higher)]


def test_labels_that_do_not_fit_are_refused(program, model):
    """Rather than shifted by a row: a header and one label too few, an empty line, one label too many, names that do not all fit."""
    rng = np.random.default_rng(3)
    words, numbers = [f"c{k}" for k in rng.integers(0, 4, 401)], [f"{x:.5f}" for x in rng.normal(size=401)]

    def refused(lines, *said, verb=("report", "-o", "r.html", "--color")):
        (program.folder / "l.csv").write_text("\n".join(lines) + "\n")
        program.refused(verb[0], "model.h5", *verb[1:], "l.csv", words=["l.csv", *said])

    for labels, heading in ((words, "cluster"), (words, "odd"), (numbers, "score")):
        refused([heading, *labels[:399]], "399 labels for 400 rows", "400 lines", heading)
        refused([heading, *labels[:200], "", *labels[200:400]], "401 labels for 400 rows")
        refused(labels[:401], "401 labels for 400 rows")
        refused([heading, *labels[:300]], "300 labels for 400 rows")
    refused(["y", *numbers[:399]], "399 targets for 400 rows", verb=("decode",))
    refused(numbers[:401], "401 targets for 400 rows", verb=("decode",))
    assert not (program.folder / "r.html").exists()
    (program.folder / "l.csv").write_text("\n".join(["cluster", *words[:199], "", *words[200:400]]) + "\n\n\n")
    said = program("report", "model.h5", "--color", "l.csv", "-o", "r.html").stderr
    assert "header" in said and "cluster" in said


def test_labels_are_placed_by_all_names_or_refused(program, model):
    names, order = [f"cell{i}" for i in range(400)], np.random.default_rng(3).permutation(400)
    (program.folder / "named.csv").write_text("".join(f"{name},{','.join(map(str, row))}\n" for name, row in zip(names, model)))
    program("fit", "named.csv", "--beta", "2", "-k", "4", "-o", "named.h5")
    lines = [f"{names[i]},{i}.5" for i in order]
    put = lambda lines: (program.folder / "l.csv").write_text("cell,score\n" + "\n".join(lines) + "\n")
    put([line.replace("cell7,", "cel7,") for line in lines])
    program.refused("report", "named.h5", "--color", "l.csv", "-o", "r.html", words=['"cell7" has no line', '"cel7"'])
    put([*lines[:10], lines[3], *lines[11:]])
    program.refused("decode", "named.h5", "l.csv", words=["more than one line", lines[3].split(",")[0]])
    put([*lines, "stranger,1.5", "guest,2.5"])
    said = program("report", "named.h5", "--color", "l.csv", "-o", "r.html").stderr
    assert "row names" in said and "2 lines are left out" in said and "stranger" in said
    column = document_of(program.folder / "r.html")["columns"][5]
    assert column["name"] == "score" and column["form"] == "decimal" and (column["low"], column["decimals"]) == (5, 1)
    assert program("report", "named.h5", "--color", "l.csv", "-o", "r.html", "--quiet").stderr == ""
    # as pandas writes a table: an index before the names
    (program.folder / "l.csv").write_text(",cell,score\n" + "".join(f"{k},{line}\n" for k, line in enumerate(lines)))
    assert "row names in column 2" in program("report", "named.h5", "--color", "l.csv", "-o", "again.html").stderr
    assert [c["name"] for c in document_of(program.folder / "again.html")["columns"][5:]] == ["column 1", "score"]
    # without that column the user has to say what the order is
    (program.folder / "l.csv").write_text("kind,score\n" + "".join(f"a,{i}.5\n" for i in range(400)))
    program.refused("report", "named.h5", "--color", "l.csv", "-o", "r.html", words=["no column holds the names", "--in-order"])
    program("report", "named.h5", "--color", "l.csv", "-o", "order.html", "--in-order")
    program.refused("report", "named.h5", "--color", "l.csv", "-o", "r.html", "--by-name", words=["no column holds the names"])
    program.refused("report", "named.h5", "--color", "l.csv", "-o", "r.html", "--by-name", "--in-order", words=["--in-order"])
    (program.folder / "l.csv").write_text(",score\n" + "".join(f"{i},{i}.5\n" for i in order))
    (program.folder / "counted.csv").write_text(",x,y,z\n" + "".join(f"{i},{','.join(map(str, row))}\n" for i, row in enumerate(model)))
    program("fit", "counted.csv", "--beta", "2", "-k", "4", "-o", "counted.h5")
    program.refused("report", "counted.h5", "--color", "l.csv", "-o", "r.html", words=["index or a rank", "--in-order", "--by-name"])
    program("report", "counted.h5", "--color", "l.csv", "-o", "placed.html", "--by-name")
    program.refused("decode", "counted.h5", "l.csv", words=["index or a rank"])
    program("decode", "counted.h5", "l.csv", "--by-name")
    low = lambda file: document_of(program.folder / file)["columns"][5]
    assert low("placed.html")["low"] == 5 and low("placed.html")["name"] == "score"
    codes = lambda file, j: re.search(rf'id="column-{j}">([^<]*)<', (program.folder / file).read_text()).group(1)
    assert codes("again.html", 6) == codes("r.html", 5)


def test_a_page_on_standard_output(program, model):
    page = program("report", "model.h5", "-o", "-").stdout
    program("report", "model.h5", "-o", "r.html")
    assert page == (program.folder / "r.html").read_text(encoding="utf-8") and not (program.folder / "-").exists()
    program.refused("report", "model.h5", "-o", "-", "--json", words=["standard output"])
    program.refused("fit", "points.npy", "-o", "new.h5", "--report", "-", words=["--report -"])
    assert "a sample of 1 row)" in program("report", "model.h5", "--rows", "1", "-o", "r.html").stdout


def test_fit_names_its_remarks_for_programs(program, model):
    """Those of the page: a name, a sentence, a thing to do."""
    result = program("fit", "points.npy", "--beta", "5", "-k", "6", "--max-passes", "1", "-o", "cut.h5", "--report", "cut.html", "--json", status=1)
    remarks = json.loads(result.stdout)["remarks"]
    assert remarks[0]["name"] == "not-converged" and remarks[0]["weight"] == "serious"
    page = (program.folder / "cut.html").read_text(encoding="utf-8")
    for remark in remarks:
        assert all(remark.values()) and f"<code>{remark['name']}</code>" in page


def test_what_is_refused_leaves_nothing(program, model):
    program.refused("report", "model.h5", words=["-o"])
    program.refused("report", "nowhere.h5", "-o", "r.html", status=3, words=["nowhere.h5"])
    program.refused("report", "points.npy", "-o", "r.html", words=["points.npy"])
    program.refused("report", "model.h5", "-o", "model.h5", words=["model.h5"])
    program.refused("report", "model.h5", "-o", "nowhere/r.html", status=3, words=["nowhere"])
    program.refused("report", "model.h5", "-o", "r.html", "--rows", "0", words=["0 points"])
    (program.folder / "short.csv").write_text("a\nb\nc\n")
    program.refused("report", "model.h5", "--color", "short.csv", "-o", "r.html", words=["short.csv", "3 labels for 400 rows"])
    program.refused("report", "model.h5", "--color", "none.csv", "-o", "r.html", status=3, words=["none.csv"])
    damaged = bytearray((program.folder / "model.h5").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (program.folder / "damaged.h5").write_bytes(damaged)
    program.refused("report", "damaged.h5", "-o", "r.html", words=["damaged"])


def test_a_folder_that_cannot_be_written_to(program, model):
    """Root may write anywhere but to what the kernel itself keeps."""
    closed = program.folder / "closed"
    if os.geteuid() == 0:
        closed = Path("/proc/self")
    else:
        closed.mkdir(mode=0o500)
    program.refused("report", "model.h5", "-o", f"{closed}/r.html", status=3, words=[str(closed)])


def test_a_fit_that_was_stopped_leaves_nothing_to_report(program):
    np.save(program.folder / "long.npy", np.random.default_rng(4).normal(size=(60000, 3)))
    command = [PROGRAM, "fit", "long.npy", "--beta", "30", "-k", "64", "-o", "long.h5", "--report", "long.html", "--json-progress"]
    with subprocess.Popen(command, cwd=program.folder, stderr=subprocess.PIPE, text=True) as process:
        process.stderr.readline()  # it is at work
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
    assert process.returncode == 130
    assert not (program.folder / "long.h5").exists() and not (program.folder / "long.html").exists()
    program.refused("report", "long.h5", "-o", "r.html", status=3, words=["long.h5"])


def test_a_page_is_replaced_whole_or_not_at_all(program, model):
    program("report", "model.h5", "-o", "r.html")
    before = (program.folder / "r.html").read_bytes()
    (program.folder / "short.csv").write_text("a\n")
    program("report", "model.h5", "--color", "short.csv", "-o", "r.html", status=2)
    assert (program.folder / "r.html").read_bytes() == before


def test_what_was_forecast_is_kept(program):
    np.save(program.folder / "many.npy", np.random.default_rng(4).normal(size=(8192, 2)).astype(np.float32))
    program("fit", "many.npy", "--beta", "1", "-k", "2", "-o", "many.h5", "--report", "many.html")
    document, info = document_of(program.folder / "many.html"), json.loads(program("info", "many.h5", "--json").stdout)
    assert info["forecast_seconds"] > 0 and info["forecast_passes"] > 0
    assert document["forecast_seconds"] == info["forecast_seconds"] and document["forecast_passes"] == info["forecast_passes"]
    # the machine's limit: two rows of 8192² pairs at some ten times 10^9 multiply-adds a second are milliseconds, and not more than was taken
    assert 1e-4 < info["least_seconds"] < info["seconds"] and document["least_seconds"] == info["least_seconds"]
