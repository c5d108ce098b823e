"""The report page in a real browser: every plot is there and not empty, every control does what it says, nothing leaves the page."""

import csv
import io
import json
import time

import numpy as np
import pytest
from conftest import PIXELS, run

PLOTS = ["spectrum", "flow", "neighbours", "dimension", "residuals", "work", "retained"]


BROKEN = "return [...document.querySelectorAll('svg *')].filter(e => [...e.attributes].some(a => /NaN|Infinity|undefined/.test(a.value))).map(e => e.outerHTML)"
TICKS = "return [...document.querySelectorAll('svg g.axis')].map(g => [...g.querySelectorAll('text')].map(t => t.textContent).filter(t => t))"


@pytest.fixture
def page(browser, roll):
    """The labelled page, fresh; what it complained about is asked for at the end of each test."""
    browser.open(roll / "labelled.html")
    yield browser
    assert browser.complaints() == []


def middle(box):
    return box[0] + box[2] / 2, box[1] + box[3] / 2


def ring(box, share=0.45, points=24):
    """A ring around the middle of a box, as mouse positions."""
    x, y = middle(box)
    return [(x + share * box[2] * np.cos(a), y + share * box[3] * np.sin(a)) for a in np.linspace(0, 2 * np.pi, points)]


def test_every_plot_is_drawn(page):
    for name in PLOTS:
        marks = page("return document.querySelectorAll(`#plot-${arguments[0]} svg path[d], #plot-${arguments[0]} svg rect:not(.catch)`).length", name)
        assert marks > 3, name
        broken = page("return [...document.querySelectorAll(`#plot-${arguments[0]} svg *`)].filter(e => [...e.attributes].some(a => /NaN|Infinity|undefined/.test(a.value))).map(e => e.outerHTML)", name)
        assert broken == [], name
    for panel in ("map-main", "map-side"):
        assert page.inked(f"#{panel} canvas") > 2000, panel
    assert page("return document.querySelectorAll('#plot-spectrum path:not(.domain)').length") == 8
    assert "β =" in page("return document.getElementById('answer').textContent")
    for table, rows in {"table-modes": 8, "table-provenance": 10}.items():
        assert page("return document.querySelectorAll(`#${arguments[0]} tbody tr`).length", table) >= rows
    assert page("return document.querySelector('#repeat code').textContent").endswith("demo")


def test_hover_names_the_row(page):
    left, top, width, height = page.box("#map-main .catch")
    found = ""
    for x in np.linspace(left + 20, left + width - 20, 40):
        for y in np.linspace(top + 20, top + height - 20, 12):
            page.mouse("mouseMoved", x, y)
            found = page("const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent")
            if found:
                break
        if found:
            break
    assert found.startswith("row ") and "mode 1:" in found and "kind:" in found


def test_hover_has_the_label_of_the_colours_first(browser, roll):
    rows = len(np.load(roll / "demo.npy"))
    (roll / "wide.csv").write_text(",".join(f"label {k}" for k in range(20)) + "\n" + (",".join(["left", "right"] * 10) + "\n") * rows)
    run("report", "demo-model.h5", "--color", "wide.csv", "-o", "wide.html", folder=roll)
    page = browser.open(roll / "wide.html")
    heads = page("return JSON.parse(document.getElementById('document').textContent).columns.map(c => c.name)")
    page.choose("#colour", str(heads.index("label 17")))
    page("const map = document.getElementById('map-main'); map.focus(); map.dispatchEvent(new KeyboardEvent('keydown', {key: 'n'}))")
    lines = page("return document.getElementById('tip').textContent").split("\n")
    assert lines[0].startswith("row ") and lines[1] == "label 17: right" and lines[2].startswith("mode ") and len(lines) == 12


def test_bars_say_what_the_text_says(page):
    said = page("return document.getElementById('retained').textContent")
    bars = page("return [...document.querySelectorAll('#plot-retained text')].map(t => t.textContent).filter(t => /^[0-9.]+ %$/.test(t))")
    assert len(bars) == 3 and all(f" {bar} (k = " in said for bar in bars)


def test_zoom_is_shared_and_reset(page):
    ticks = "return [...document.querySelectorAll(`#${arguments[0]} .axis text`)].map(t => t.textContent).join()"
    before, side = page(ticks, "map-main"), page.hash_of("#map-side canvas")
    x, y = middle(page.box("#map-main .catch"))
    page.mouse("mousePressed", x, y)
    page.mouse("mouseReleased", x, y)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-400)
    page.settle()
    assert page(ticks, "map-main") != before
    assert page.hash_of("#map-side canvas") != side
    page.click("#reset")
    assert page(ticks, "map-main") == before
    assert page.hash_of("#map-side canvas") == side


def test_the_wheel_scrolls_until_a_plot_has_the_focus(page):
    ticks = "return [...document.querySelectorAll('#plot-flow .axis text')].map(t => t.textContent).join()"
    before = page(ticks)
    x, y = middle(page.box("#plot-flow .catch"))
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-400)
    page.settle()
    assert page(ticks) == before


def test_zoom_of_the_bandwidth_is_linked(page):
    curve = "return document.querySelector(`#${arguments[0]} path.curve[d]`).getAttribute('d')"
    before = page(curve, "plot-dimension")
    page("document.getElementById('plot-flow').focus()")
    for _ in range(3):
        page("document.getElementById('plot-flow').dispatchEvent(new KeyboardEvent('keydown', {key: '+'}))")
    page.settle()
    zoomed = page(curve, "plot-dimension")
    assert zoomed != before
    page("document.getElementById('plot-neighbours').dispatchEvent(new KeyboardEvent('keydown', {key: '0'}))")
    page.settle()
    assert page(curve, "plot-dimension") == before


def test_dragging_moves_and_turns(page):
    before = page.hash_of("#map-main canvas")
    x, y = middle(page.box("#map-main .catch"))
    page.drag([(x, y), (x + 30, y + 10), (x + 60, y + 20)])
    moved = page.hash_of("#map-main canvas")
    assert moved != before
    page.click("#reset")
    page.click("#turn")
    flat = page.hash_of("#map-main canvas")
    page.drag([(x, y), (x + 40, y + 20), (x + 80, y + 40)])
    assert page.hash_of("#map-main canvas") not in (flat, before)
    assert page("return document.querySelectorAll('#map-main svg line').length") >= 3


def test_lasso_selects_and_exports(page, roll):
    page.choose("#axis-y", "2")
    page.click("input[value=lasso]")
    page.drag(ring(page.box("#map-main .catch"), share=0.2))
    text = page("return document.getElementById('selected').textContent")
    chosen = int(text.split()[0].replace(",", ""))
    assert 0 < chosen < 2000
    page.click("#selected-csv")
    rows = list(csv.DictReader(io.StringIO(page.downloaded("selected-rows.csv").decode())))
    assert len(rows) == chosen
    # The rows are those inside, and their coordinates are lambda psi of the model.
    import h5py

    with h5py.File(roll / "demo-model.h5") as model:
        coordinates = model["psi"][:] * model["eigenvalues"][:]
    numbers = np.array([int(row["row"]) - 1 for row in rows])
    written = np.array([[float(row[f"dc{j + 1}"]) for j in range(8)] for row in rows])
    spread = np.ptp(coordinates, axis=0)
    assert np.all(np.abs(written - coordinates[numbers]) <= 1e-5 * np.abs(written) + spread / 65000)
    here = coordinates[:, [0, 2]]
    x, y = here[numbers].T
    assert np.ptp(x) <= 0.5 * spread[0] and np.ptp(y) <= 0.5 * spread[2]
    assert {row["kind"] for row in rows} <= {"left", "right", "</script><img src=x onerror=alert(1)>"}
    page.click("#selected-clear")
    assert page("return document.getElementById('selected').textContent") == "No rows selected."


def test_labels_are_exported_as_they_were_given(page, roll):
    given = list(csv.DictReader(io.StringIO((roll / "labels.csv").read_text())))
    page.choose("#time", "0.5")
    page.drag(ring(page.box("#map-main .catch"), share=0.48), modifiers=8)
    page.click("#selected-csv")
    rows = list(csv.DictReader(io.StringIO(page.downloaded("selected-rows.csv").decode())))
    assert len(rows) > 300
    for row in rows:
        label = given[int(row["row"]) - 1]
        assert row["kind"] == label["kind"] and row["many"] == label["many"] and row["none"] == ""
        assert row["nanoseconds"] == label["nanoseconds"] and row["odd"] == label["odd"]
        assert row["partly"] == ("" if label["partly"] == "NaN" else row["partly"])
        for name in ("score", "nanoseconds", "huge") + (() if label["partly"] == "NaN" else ("partly",)):
            assert float(row[name]) == float(label[name]), name
    time = float(page("return document.getElementById('time-value').textContent"))
    names = [name for name in rows[0] if name.startswith("dc1 t=")]
    assert len(names) == 1 and float(names[0][6:]) == pytest.approx(time, rel=1e-3)


def test_missing_and_huge_labels_are_drawn(page):
    heads = page("return JSON.parse(document.getElementById('document').textContent).columns.map(c => c.name)")
    inked = page.inked("#map-main canvas")
    grey = PIXELS + "let n = 0; for (let i = 0; i < d.length; i += 4) n += d[i + 3] > 0 && Math.abs(d[i] - 138) < 3 && d[i] === d[i + 2]; return n"
    page.choose("#colour", str(heads.index("none")))
    assert page.inked("#map-main canvas") == inked == page(grey, "#map-main canvas")
    assert "no numbers" in page("return document.getElementById('legend').textContent")
    for name in ("huge", "none", "nanoseconds"):
        page.choose("#axis-y", str(heads.index(name)))
        page.choose("#colour", str(heads.index(name)))
        assert page(BROKEN) == [], name
    page.choose("#axis-y", str(heads.index("huge")))
    assert page.inked("#map-main canvas") > inked / 4


def test_zoom_has_limits_and_time_keeps_it(page):
    spread = "return [...document.querySelectorAll('#map-main .axis')].map(g => [...g.querySelectorAll('text')].map(t => parseFloat(t.textContent.replace('−', '-')))).map(v => Math.max(...v) - Math.min(...v))"
    key = "document.getElementById(arguments[0]).dispatchEvent(new KeyboardEvent('keydown', {key: arguments[1]}))"
    before, inked = page(spread), page.inked("#map-main canvas")
    for _ in range(200):
        page(key, "map-main", "-")
        page(key, "plot-flow", "-")
    page.settle()
    assert page(BROKEN) == [] and page(spread)[0] < 40 * before[0]
    x, y = middle(page.box("#map-main .catch"))
    page.mouse("mousePressed", x, y)
    page.mouse("mouseReleased", x, y)
    for _ in range(60):
        page.mouse("mouseWheel", x, y, deltaX=0, deltaY=400)
    page.settle()
    assert page(spread)[0] < 40 * before[0]
    page.click("#reset")
    assert page.inked("#map-main canvas") == inked
    for _ in range(6):
        page(key, "map-main", "+")
    page.settle()
    zoomed = page.hash_of("#map-main canvas")
    page.choose("#time", "0.4")
    assert page.hash_of("#map-main canvas") == zoomed or page.inked("#map-main canvas") > 0
    weights = page("return JSON.parse(document.getElementById('document').textContent).modes[0].eigenvalue")
    assert page(spread)[0] < 0.6 * before[0] * max(1, 1 / weights)


def test_a_saved_map_has_its_key(page):
    heads = page("return JSON.parse(document.getElementById('document').textContent).columns.map(c => c.name)")
    for name, words in (("kind", ["colour: kind", "left (667)", "right (667)"]), ("partly", ["colour: partly", "linearGradient", "missing (500)"])):
        page.choose("#colour", str(heads.index(name)))
        page.click("#map-main .exports button:nth-child(1)")
        svg = page.downloaded("map.svg").decode()
        assert all(word in svg for word in words), name
        assert page("return document.querySelector('#map-main svg').textContent.includes('colour: ')") is False


def luminance(colour):
    parts = [c / 255 for c in colour]
    return sum(w * (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4) for w, c in zip((0.2126, 0.7152, 0.0722), parts))


@pytest.mark.parametrize("theme, ground", [("light", (255, 255, 255)), ("dark", (0x14, 0x18, 0x1D))])
def test_every_colour_of_the_ramp_is_seen(browser, roll, theme, ground):
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
    try:
        browser.open(roll / "labelled.html")
        browser.choose("#colour", "0")
        stops = browser("return [...document.querySelectorAll('#legend stop')].map(s => { const c = d3.rgb(s.getAttribute('stop-color')); return [c.r, c.g, c.b]; })")
        assert len(stops) == 10
        for stop in stops:
            low, high = sorted((luminance(stop), luminance(ground)))
            assert (high + 0.05) / (low + 0.05) >= 2, stop
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_finger_scrolls_the_page_until_the_map_is_zoomed(browser, roll):
    driver = browser.driver
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True})
    driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def still():  # a swipe goes on by itself for a while
        place, same = None, 0
        while same < 5:
            now = browser("return window.scrollY")
            place, same = now, same + 1 if now == place else 0
            time.sleep(0.03)
        return place

    def swipe(selector):
        still()
        x, y = middle(browser.box(selector))
        before = still()  # the box was scrolled to
        driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        for k in range(1, 13):
            driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y - 10 * k}]})
        driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        browser.settle()
        return still() - before

    try:
        browser.open(roll / "labelled.html", width=500)
        for selector in ("#map-main .catch", "#plot-spectrum .catch", "#plot-flow .catch"):
            assert swipe(selector) > 40, selector
        browser("const f = document.getElementById('map-main'); f.focus(); f.dispatchEvent(new KeyboardEvent('keydown', {key: '+'}))")
        browser.settle()
        before = browser.hash_of("#map-main canvas")
        assert abs(swipe("#map-main .catch")) < 5 and browser.hash_of("#map-main canvas") != before
        assert browser.complaints() == []
    finally:
        driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_pieces_open_on_the_modes_within_them(browser, tmp_path):
    rng = np.random.default_rng(2)
    np.save(tmp_path / "points.npy", np.vstack([rng.normal(size=(150, 2)) + [60 * k, 0] for k in range(3)]))
    run("fit", "points.npy", "--beta", "0.5", "-k", "6", "-o", "model.h5", "--report", "report.html", folder=tmp_path)
    browser.open(tmp_path / "report.html")
    assert browser("return JSON.parse(document.getElementById('document').textContent).pieces") == 2
    assert int(browser("return document.getElementById('axis-x').value")) >= 2
    assert "Look at modes 3 and on" in browser("return document.getElementById('remarks').textContent")
    run("fit", "points.npy", "--beta", "0.5", "-k", "2", "-o", "two.h5", "--report", "two.html", folder=tmp_path, status=1)
    browser.open(tmp_path / "two.html")
    assert "Ask for more modes" in browser("return document.getElementById('remarks').textContent") and browser.inked("#map-main canvas") > 0
    assert browser.complaints() == []


def test_shift_drag_selects_too(page):
    page.drag(ring(page.box("#map-main .catch")), modifiers=8)
    assert "selected" in page("return document.getElementById('selected').textContent") and not page("return document.getElementById('selected-csv').disabled")


def test_colours(page):
    heads = page("return JSON.parse(document.getElementById('document').textContent).columns.map(c => c.name)")
    seen = set()
    for name in ("mode 1", "log density", "kind", "score", "many", "partly"):
        page.choose("#colour", str(heads.index(name)))
        seen.add(page.hash_of("#map-main canvas"))
        legend = page("return document.getElementById('legend').textContent")
        assert {"kind": "left (667)", "many": "1,993 other words", "partly": "missing (500)", "score": "score", "mode 1": "mode 1", "log density": "log density"}[name] in legend
    assert len(seen) == 6
    assert page("return document.querySelectorAll('img').length") == 0  # labels are text


def test_diffusion_time(page):
    top = "return [...document.querySelectorAll('#plot-spectrum g.mode path')].map(p => p.getAttribute('transform')).join()"
    before, kept = page(top), page("return document.getElementById('kept-at-time').textContent")
    page.choose("#time", "0.95")
    assert page(top) != before
    assert page("return document.getElementById('kept-at-time').textContent") != kept
    assert float(page("return document.getElementById('time-value').textContent")) > 1


@pytest.mark.parametrize("plot", ["map-main", "plot-spectrum", "plot-flow", "plot-retained"])
def test_plots_export(page, plot):
    name = page("return document.getElementById(arguments[0]).dataset.name", plot)
    page.click(f"#{plot} .exports button:nth-child(1)")
    svg = page.downloaded(name + ".svg").decode()
    assert svg.startswith("<svg") and "<text" in svg and 'font-size="12px"' in svg and "class=" not in svg  # styles are in the elements
    assert ("<image" in svg) == plot.startswith("map")
    page.click(f"#{plot} .exports button:nth-child(2)")
    png = page.downloaded(name + ".png")
    assert png.startswith(b"\x89PNG") and len(png) > 4000


def test_tables_export(page):
    page("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.click("#table-modes button.csv")
    rows = list(csv.DictReader(io.StringIO(page.downloaded("modes.csv").decode())))
    modes = page("return JSON.parse(document.getElementById('document').textContent).modes")
    assert [float(row["eigenvalue"]) for row in rows] == [mode["eigenvalue"] for mode in modes]
    page.click("#table-probes button.csv")
    assert len(page.downloaded("probes.csv").decode().strip().splitlines()) > 3


def test_keyboard(page):
    """Everything that can be used can be reached by Tab, and the map answers to keys."""
    unreachable = page("return [...document.querySelectorAll('button, select, input, summary, figure.plot')].filter(e => e.tabIndex < 0).length")
    assert unreachable == 0
    before = page.hash_of("#map-main canvas")
    page("const f = document.getElementById('map-main'); f.focus(); f.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}))")
    page.settle()
    assert page.hash_of("#map-main canvas") != before
    press = lambda key: page(f"const f = document.getElementById('map-main'); f.focus(); f.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}'}}))")
    rows = []
    for key in "nnp":
        press(key)
        rows.append(page("return document.getElementById('tip').textContent.split('\\n')[0]"))
    assert rows[0] == rows[2] != rows[1] and all(row.startswith("row ") for row in rows)
    assert page("return getComputedStyle(document.querySelector('#map-main .mark')).display") != "none"
    assert page("const s = getComputedStyle(document.querySelector('#map-main .mark')); return [s.fill, s.stroke === getComputedStyle(document.body).color]") == ["none", True]
    press("0"), press("s"), page.settle()
    everything = page("return document.getElementById('selected').textContent")
    press("+"), press("+"), press("s"), page.settle()
    fewer = page("return document.getElementById('selected').textContent")
    number = lambda text: int("".join(c for c in text.split(" row")[0] if c.isdigit()) or 0)
    assert 0 < number(fewer) < number(everything)
    assert page("return document.getElementById('tip').hidden")
    press("Escape"), press("0"), page.settle()
    assert page("return document.getElementById('selected-csv').disabled")


@pytest.mark.parametrize("width", [360, 320])
def test_notes_and_tips_stay_inside_a_phone(browser, roll, tmp_path, width):
    n = len(np.load(roll / "demo.npy"))
    (tmp_path / "long.csv").write_text("word,row,dc1\n" + "".join(f"{'long ' * 198}{i % 3},{i % 2},{i / 7}\n" for i in range(n)))
    run("report", roll / "demo-model.h5", "--color", tmp_path / "long.csv", "-o", tmp_path / "long.html", folder=tmp_path)
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 500, "deviceScaleFactor": 1, "mobile": False})
    try:
        browser.open(tmp_path / "long.html", width=500, height=500)
        for plot in ("plot-flow", "plot-neighbours", "plot-dimension"):
            left, right, low, high = browser("const n = document.querySelector(`#${arguments[0]} text.note`).getBoundingClientRect(), f = document.querySelector(`#${arguments[0]} .catch`).getBoundingClientRect(); return [n.left, n.right, f.left - 0.5, f.right + 0.5]", plot)
            assert low <= left and right <= high, plot
        browser("document.getElementById('map-main').scrollIntoView({behavior: 'instant'}); const f = document.getElementById('map-main'); f.focus(); f.dispatchEvent(new KeyboardEvent('keydown', {key: 'n'}))")
        top, bottom, left, right = browser("const b = document.getElementById('tip').getBoundingClientRect(); return [b.top, b.bottom, b.left, b.right]")
        assert 0 <= top < bottom <= 500 and 0 <= left < right <= width
        browser("const f = document.getElementById('map-main'); f.dispatchEvent(new KeyboardEvent('keydown', {key: 's'}))")
        browser.click("#selected-csv")
        heads = browser.downloaded("selected-rows.csv").decode().splitlines()[0].split(",")
        assert len(set(heads)) == len(heads) and heads[0] == "row" and {"row (2)", "dc1 (2)"} <= set(heads)
        assert browser.complaints() == []
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_policy_forbids_the_network_and_strange_scripts(browser, roll):
    browser.open(roll / "labelled.html")
    refused = browser.driver.execute_async_script(
        """const done = arguments[0], said = [];
        document.addEventListener('securitypolicyviolation', e => said.push(e.effectiveDirective));
        fetch('http://127.0.0.1:9/').catch(() => {});
        const image = new Image(); image.src = 'http://127.0.0.1:9/x.png';
        const script = document.createElement('script'); script.textContent = 'window.strange = 1'; document.body.append(script);
        const box = document.createElement('div'); box.innerHTML = '<img src=x onerror="window.strange = 2">'; document.body.append(box);
        setTimeout(() => done([said.sort(), window.strange === undefined]), 300);"""
    )
    assert refused[1] and {"connect-src", "img-src", "script-src-elem"} <= set(refused[0])
    browser.complaints()


@pytest.mark.parametrize("width", [360, 768, 1600])
def test_no_width_scrolls_sideways(browser, roll, width):
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
    try:
        browser.open(roll / "labelled.html", width=max(width, 500))
        assert browser("return document.documentElement.scrollWidth") <= width
        assert browser("return [...document.querySelectorAll('figure.plot')].every(f => f.clientWidth > 200)")
        # The legend is whole and inside: the rung and the three terms.
        outside = browser("const box = document.querySelector('#plot-flow').getBoundingClientRect(); return [...document.querySelectorAll('#plot-flow .entry')].map(e => e.getBoundingClientRect()).map(b => b.left < box.left || b.right > box.right || b.top < box.top)")
        assert outside == [False] * 4
        assert browser.complaints() == []
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("rows, options", [(3, []), (3, ["--beta", "1", "-k", "1"]), (40, ["--beta", "1e-6", "-k", "3"]), (60, ["--max-passes", "1", "--beta", "5", "-k", "6"]), (50, ["--no-points", "-k", "2"]), (12, ["-k", "11"])])
def test_odd_models_have_pages(browser, tmp_path, rows, options):
    """Few rows, one mode, a kernel so broad that nothing is left, a solve cut short, no points, as many modes as there are."""
    np.save(tmp_path / "points.npy", np.random.default_rng(3).normal(size=(rows, 2)))
    import subprocess

    from conftest import PROGRAM

    fit = subprocess.run([PROGRAM, "fit", "points.npy", "-o", "model.h5", "--report", "report.html", *options], cwd=tmp_path, capture_output=True, text=True)
    assert fit.returncode in (0, 1), fit.stderr
    browser.open(tmp_path / "report.html")
    assert browser.inked("#map-main canvas") > 0
    broken = browser("return [...document.querySelectorAll('svg *')].filter(e => [...e.attributes].some(a => /NaN|Infinity|undefined/.test(a.value))).map(e => e.outerHTML)")
    assert broken == []
    for texts in browser(TICKS):
        assert len(set(texts)) == len(texts), texts
    assert browser.complaints() == []


def test_rows_set_aside_are_listed_by_row_and_name(browser, apart):
    browser.open(apart / "aside.html")
    assert browser("return document.querySelector('#table-aside .rows').textContent") == "301 (it's <b>300</b>), 302 (it's <b>301</b>), 303 (it's <b>302</b>)"
    browser.click("#table-aside button.csv")
    assert list(csv.reader(io.StringIO(browser.downloaded("rows-aside.csv").decode()))) == [["row", "name"], *([str(i + 1), f"it's <b>{i}</b>"] for i in (300, 301, 302))]
    assert browser(BROKEN) == [] and browser.complaints() == []


def test_localised_modes_are_listed_and_the_map_starts_with_others(browser, apart):
    browser.open(apart / "localised.html")
    modes = browser("return JSON.parse(document.getElementById('document').textContent).modes")
    broad = [j for j, mode in enumerate(modes) if not mode["localised"]]
    assert 0 < len(broad) < 8
    if len(broad) > 1:
        assert [int(browser("return document.getElementById(arguments[0]).value", f"axis-{axis}")) for axis in "xy"] == broad[:2]
    rows = browser("return [...document.querySelectorAll('#table-localised tbody tr')].map(r => [...r.children].map(c => c.textContent))")
    assert len(rows) == 8 - len(broad) and all("%" in row[3] and " 0%" not in row[3] for row in rows)
    assert browser.complaints() == []


def test_infinite_labels_are_not_missing(browser, roll, tmp_path):
    n = len(np.load(roll / "demo.npy"))
    (tmp_path / "far.csv").write_text("far\n" + "".join(f"{'inf' if i < 3 else '-inf' if i < 5 else 'NaN' if i == 5 else i / 7}\n" for i in range(n)))
    run("report", roll / "demo-model.h5", "--color", "far.csv", "-o", "far.html", folder=tmp_path)
    browser.open(tmp_path / "far.html")
    heads = browser("return JSON.parse(document.getElementById('document').textContent).columns.map(c => c.name)")
    browser.choose("#colour", str(heads.index("far")))
    legend = browser("return document.getElementById('legend').textContent")
    assert "infinite (5)" in legend and "missing (1)" in legend
    assert browser.complaints() == []


def test_time_is_held_against_the_forecast_and_the_machine(browser, apart):
    browser.open(apart / "many.html")
    bars = browser("return [...document.querySelectorAll('#plot-work text')].map(t => t.textContent)")
    assert any(text.startswith("whole fit as forecast: ") for text in bars) and any(text.startswith("its passes at the machine's limit: ") for text in bars)
    assert "times that" in browser("return document.getElementById('work-text').textContent")
    # ten thousand different words, each of them an attack
    assert "9,993 other words" in browser("return document.getElementById('legend').textContent")
    assert browser("return document.querySelectorAll('img').length") == 0
    assert browser(BROKEN) == [] and browser.complaints() == []


@pytest.mark.parametrize("beta", ["1.45", "3.5"])
def test_axes_of_a_single_probe_have_numbers(browser, roll, tmp_path, beta):
    """A bandwidth that was given: axes of much less than a decade, in which there may be no 1, 2 or 5."""
    run("fit", roll / "demo.npy", "--beta", beta, "-k", "4", "--quiet", "-o", "m.h5", "--report", "one.html", folder=tmp_path)
    browser.open(tmp_path / "one.html")
    for plot in ("plot-flow", "plot-neighbours", "plot-dimension"):
        for axis in browser("return [...document.querySelectorAll('#' + arguments[0] + ' g.axis')].map(a => [...a.querySelectorAll('text')].map(t => t.textContent).filter(t => t))", plot):
            assert len(axis) >= 2 and len(set(axis)) == len(axis), (plot, axis)
    assert browser.complaints() == []


def test_terms_are_of_the_largest_rung_that_has_a_curve(browser, roll, tmp_path):
    """The page of a fit with three rungs, made of one with one."""
    text = (roll / "labelled.html").read_text(encoding="utf-8")
    head, rest = text.split('id="document">')
    document, tail = rest.split("</script>", 1)
    found = json.loads(document)
    probes = found["sweep"]
    found["sweep"] = [{**p, "n": p["n"] // 4, "v": 2 * p["v"]} for p in probes] + probes + [{**probes[0], "n": 4 * probes[0]["n"]}]
    found["exponent_reading"] = "It grows as n^0.25."
    (tmp_path / "rungs.html").write_text(head + 'id="document">' + json.dumps(found).replace("<", "\\u003c") + "</script>" + tail, encoding="utf-8")
    page = browser.open(tmp_path / "rungs.html")
    terms = "return document.querySelectorAll('#plot-flow path.curve')[0].getAttribute('d')"
    assert page("return document.getElementById('rung').value") == "1" and page("return document.querySelectorAll('#rung option').length") == 3
    assert "V, terms of n = 2,000" in page("return document.querySelector('#plot-flow svg').textContent")
    before = page(terms)
    page.choose("#rung", "2")  # one probe: no curve
    assert "V, terms of n = 8,000" in page("return document.querySelector('#plot-flow svg').textContent") and page(terms) != before
    # what stands at the chosen bandwidth lies over the curves that pass there
    for plot in ("plot-flow", "plot-neighbours", "plot-dimension"):
        assert page("return document.querySelector(`#${arguments[0]} g[clip-path]`).lastChild.className.baseVal", plot) == "note"
    assert page("return document.querySelector('#exponent sup').textContent") == "0.25"
    assert browser(BROKEN) == [] and browser.complaints() == []


def test_paper_is_light(browser, roll):
    """Marks have their colours as attributes: for print those of the light theme, whatever the screen's."""
    stroke = "return document.querySelector('#plot-flow .curve').getAttribute('stroke')"
    ground = "return getComputedStyle(document.documentElement).getPropertyValue('--ground').trim()"
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    try:
        browser.open(roll / "labelled.html")
        dark = browser(stroke), browser(ground)
        browser("window.dispatchEvent(new Event('beforeprint'))")
        light = browser(stroke), browser(ground)
        assert light[1] == "#fff" and dark[1] != "#fff" and light[0] != dark[0]
        browser("window.dispatchEvent(new Event('afterprint'))")
        assert (browser(stroke), browser(ground)) == dark
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_sample_is_shown_and_said(browser, roll):
    run("report", "demo-model.h5", "--rows", "500", "-o", "sample.html", folder=roll)
    browser.open(roll / "sample.html")
    assert "a random sample of 500 of the 2000 rows" in browser("return document.body.textContent")
    browser.drag(ring(browser.box("#map-main .catch"), share=0.5), modifiers=8)
    browser.click("#selected-csv")
    rows = [int(row["row"]) for row in csv.DictReader(io.StringIO(browser.downloaded("selected-rows.csv").decode()))]
    assert len(rows) > 100 and max(rows) > 600 and len(set(rows)) == len(rows)
    assert browser.complaints() == []


def test_the_document_is_json_whatever_labels_say(roll):
    """Without a browser: no label can end the script it is in."""
    text = (roll / "labelled.html").read_text()
    start = text.index('id="document">') + len('id="document">')
    document = json.loads(text[start : text.index("</script>", start)])
    kinds = next(c for c in document["columns"] if c["name"] == "kind")["words"]
    assert "</script><img src=x onerror=alert(1)>" in kinds
