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
    left, top, width, height = page.box("#figure-1 path.mark.paper")
    page.mouse("mouseMoved", left + width / 2, top + height / 2)
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
