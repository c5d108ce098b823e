"""The pages of `reproduce` in a browser: the paper's points and ours are drawn, in light, dark and on a phone, and nothing is asked of the network."""

import json

import pytest

from conftest import run


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    found = run("reproduce", "t6", "--n", "256,512,1024", "--seeds", "2", "--json", "--out", "pages", folder=folder)
    return json.loads(found.stdout), folder / "pages"


def test_every_point_of_every_figure_is_drawn(browser, pages):
    found, folder = pages
    page = browser.open(folder / "t6.html")
    for i, figure in enumerate(found["figures"]):
        for source in ("paper", "ours"):
            points = sum(len(series["points"]) for series in figure["series"] if series["source"] == source)
            assert page("return document.querySelectorAll(`#figure-${arguments[0]} path.mark.${arguments[1]}`).length", i, source) == points
        bars = sum(p[2] > 0 for series in figure["series"] for p in series["points"])
        assert page("return document.querySelectorAll(`#figure-${arguments[0]} path.bar`).length", i) == bars
        labels = page("return [...document.querySelectorAll(`#figure-${arguments[0]} .entry text`)].map(t => t.textContent)", i)
        assert labels == [series["name"] for series in figure["series"]]
    assert page("return [...document.querySelectorAll('#figure-0 .axis text')].some(t => t.textContent === '2¹²')")
    assert page.complaints() == []


def test_tables_and_verdicts_are_there(browser, pages):
    found, folder = pages
    page = browser.open(folder / "t6.html")
    assert page("return document.querySelectorAll('#table-0 tbody tr').length") == 3
    assert page("return document.querySelectorAll('.verdicts tbody tr').length") == len(found["comparisons"])
    counts = page("return [...document.querySelectorAll('.figures dd')].map(e => +e.textContent)")
    assert counts == [sum(c["verdict"] == v for c in found["comparisons"]) for v in ("agrees", "differs", "not measured")]
    page.click("#table-0 .csv")
    lines = page.downloaded("t6.csv").decode().splitlines()
    assert len(lines) == 4 and lines[1].startswith("256,2,")


def test_hover_names_the_point(browser, pages):
    page = browser.open(pages[1] / "t6.html")
    # an event of the page itself: Chromium 156 does not pass the driver's moves on to this page
    page("document.querySelector('#figure-1 path.mark.paper').dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: 5, clientY: 5}))")
    tip = page("const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent")
    assert tip.startswith("paper\nN = 1024") and "0.3694 ± 0.0399" in tip


@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_its_window_in_any_colours(browser, pages, width, scheme):
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
    try:
        page = browser.open(pages[1] / "t6.html", width=width)
        assert page("return document.documentElement.scrollWidth <= window.innerWidth")
        ground = page("return getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
        assert page.complaints() == []
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def with_figure(pages, path, figure):
    """A page whose first figure is this one."""
    head, rest = (pages[1] / "t6.html").read_text(encoding="utf-8").split('<script type="application/json" id="document">')
    document, tail = rest.split("</script>", 1)
    found = json.loads(document)
    found["figures"][0] = figure
    path.write_text(head + '<script type="application/json" id="document">' + json.dumps(found) + "</script>" + tail, encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_two_series_look_alike(browser, pages, tmp_path, scheme):
    """Four of each source have colours of their own, whatever the accent is; two that share one differ in their dashes."""
    line = {"line": True, "marks": False, "points": [[1, 1, 0], [2, 3, 0]]}
    own = [{"name": f"{source} {i}", "source": source, "colour": None, "dashed": False, **line} for source in ("ours", "paper") for i in range(4)]
    shared = [{"name": f"shared {i}", "source": "ours", "colour": i % 2, "dashed": i > 1, **line} for i in range(4)]
    axis = {"label": "x", "logarithmic": False, "low": None, "high": None}
    figure = {"name": "f", "title": "F", "caption": "", "wide": False, "x": axis, "y": axis, "marks": [], "shade": {"label": "", "low": 0, "high": 1}, "series": own + shared}
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    try:
        page = browser.open(with_figure(pages, tmp_path / "series.html", figure))
        looks = page("return [...document.querySelectorAll('#figure-0 path.curve')].map(e => [e.getAttribute('stroke'), e.getAttribute('stroke-dasharray')])")
        assert len({tuple(look) for look in looks[:8]}) == 8 and all(dash is None for _, dash in looks[:8])
        assert [look[0] for look in looks[8:]] == 2 * [looks[0][0], looks[1][0]] and [look[1] for look in looks[8:]] == [None, None, "3 3", "3 3"]
        assert page.complaints() == []
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_have_the_colours_of_their_series(browser, pages, tmp_path, scheme):
    """As they are seen: a rule of the style sheet overrides what a script gives an element as attributes."""
    axis = {"label": "x", "logarithmic": False, "low": None, "high": None}
    plain = {"line": True, "marks": True, "colour": None, "dashed": False, "points": [[1, 1, 0], [2, 3, 0]]}
    series = [{"name": source, "source": source, **plain} for source in ("ours", "paper")] + [{"name": "shaded", "source": "ours", **plain, "line": False, "points": [[1, 2, 0, 0], [2, 2, 0, 1]]}]
    figure = {"name": "f", "title": "F", "caption": "", "wide": False, "x": axis, "y": axis, "marks": [], "shade": {"label": "joint error", "low": 0, "high": 1}, "series": series}
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    try:
        page = browser.open(with_figure(pages, tmp_path / "marks.html", figure))
        seen = lambda what: page("return [...document.querySelectorAll(`#figure-0 path.${arguments[0]}`)].map(e => { const s = getComputedStyle(e); return [s.stroke, s.fill]; })", what)
        (ours, _), (paper, _) = seen("curve")
        ground = page("return getComputedStyle(document.body).backgroundColor")
        assert ours != paper
        assert seen("mark.ours")[:2] == 2 * [[ours, ours]] and seen("mark.paper") == 2 * [[paper, ground]]
        dark_end, bright_end = (fill for _, fill in seen("mark.ours")[2:])
        assert dark_end == "rgb(68, 1, 84)" and bright_end == "rgb(253, 231, 37)"  # of viridis
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_tables_fit_a_sheet_of_paper(browser, pages):
    """A4 between its margins."""
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 717, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
    try:
        page = browser.open(pages[1] / "t6.html", width=717)
        assert page("return Math.max(...[...document.querySelectorAll('#tables table, .verdicts')].map(t => t.getBoundingClientRect().right))") <= 717
        assert page("return getComputedStyle(document.querySelector('#figures .hint')).display") != "none"  # what a figure shows
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def test_heat_maps_and_shaded_points_are_drawn(browser, pages, tmp_path):
    """A figure of the other kind, put into a page in place of its first."""
    axis = {"label": "angle", "logarithmic": False, "low": -180, "high": 180}
    values = [None if i == 0 else i / 15 for i in range(16)]
    figure = {
        "name": "surface", "title": "Surface", "caption": "", "wide": False, "x": axis, "y": axis, "marks": [{"x": 0, "text": "middle"}],
        "shade": {"label": "free energy", "low": 0, "high": 1}, "heat": {"across": 4, "up": 4, "values": values},
        "series": [{"name": "held out", "source": "ours", "line": False, "marks": True, "points": [[-90, 0, 0, 0.1], [90, 45, 0, 0.9]]}],
    }
    page = browser.open(with_figure(pages, tmp_path / "heat.html", figure))
    assert page.complaints() == []
    picture = page("return document.querySelector('#figure-0 image.heat').getAttribute('href')")
    assert picture.startswith("data:image/png")
    left, top, width, height = page.box("#figure-0 image.heat")
    assert width > 200 and height > 200
    assert page("return getComputedStyle(document.querySelector('#figure-0 image.heat')).imageRendering") == "pixelated"
    left_of = "return [...document.querySelectorAll('#shade-0 text')].find(t => +t.textContent === arguments[0]).getBoundingClientRect().left"
    assert page(left_of, 1) < page(left_of, 0)  # the legend follows: its dark end is high
    colours = page("return [...document.querySelectorAll('#figure-0 path.mark')].map(e => e.getAttribute('fill'))")
    assert len(set(colours)) == 2
    pixels = browser.driver.execute_async_script(
        """const done = arguments[1], i = new Image(); i.onload = () => { const c = document.createElement('canvas'); c.width = i.width; c.height = i.height;
        const g = c.getContext('2d'); g.drawImage(i, 0, 0); done([i.width, i.height, [...g.getImageData(0, 3, 2, 1).data], [...g.getImageData(3, 0, 1, 1).data]]); }; i.src = arguments[0];""", picture)
    assert pixels[:2] == [4, 4]
    assert pixels[2][3] == 0 and pixels[2][7] == 255  # row 0 is the lowest, and what is no number is empty
    assert sum(pixels[2][4:7]) > 400 > 200 > sum(pixels[3][:3])  # low free energy is bright, and stands out on a dark ground too
    assert "middle" in page("return document.querySelector('#figure-0').textContent")
