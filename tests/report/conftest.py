"""What tests of the report page share: models made by the program, and a Chromium that loads their pages and remembers what they asked for."""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

PROGRAM = os.environ.get("FLASHDIFFUSION", "flashdiffusion")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

# The pixels d of a canvas, read from a copy: reading the page's own again and again is something the browser warns of.
PIXELS = """const c = document.querySelector(arguments[0]), copy = document.createElement('canvas');
copy.width = c.width; copy.height = c.height;
const g = copy.getContext('2d', {willReadFrequently: true});
g.drawImage(c, 0, 0);
const d = g.getImageData(0, 0, c.width, c.height).data; """


def run(*arguments, folder, status=0):
    result = subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=120)
    assert result.returncode == status, f"exit status {result.returncode}, wanted {status}:\n{result.stdout}{result.stderr}"
    return result


class Page:
    """A page in a browser: scripts to ask it, gestures, files it downloads, and everything it said or asked for."""

    def __init__(self, driver, downloads):
        self.driver, self.downloads = driver, downloads

    def open(self, path, width=1200, height=900):
        self.driver.set_window_size(width, height)
        self.driver.get_log("browser"), self.driver.get_log("performance")  # of the page before
        self.driver.get(Path(path).resolve().as_uri())
        self.settle()
        return self

    def __call__(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def settle(self):
        """Two frames, so that whatever was asked for has been drawn."""
        self.driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));")

    def click(self, selector):
        self("document.querySelector(arguments[0]).click()", selector)
        self.settle()

    def choose(self, selector, value):
        self("const e = document.querySelector(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event(e.type === 'range' ? 'input' : 'change'))", selector, value)
        self.settle()

    def mouse(self, kind, x, y, **more):
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "x": float(x), "y": float(y), "button": "left" if kind != "mouseMoved" or more.get("buttons") else "none", "clickCount": 1, **more})

    def drag(self, path, modifiers=0):
        (x, y), *rest = path
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, modifiers=modifiers)
        for x, y in rest:
            self.mouse("mouseMoved", x, y, buttons=1, modifiers=modifiers)
        self.mouse("mouseReleased", x, y, modifiers=modifiers)
        self.settle()

    def box(self, selector):
        """left, top, width, height in the window, scrolled into view."""
        return self("const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center', behavior: 'instant'}); const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]", selector)

    def inked(self, selector):
        """How many pixels of a canvas are not empty."""
        return self(PIXELS + "let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n", selector)

    def hash_of(self, selector):
        return self(PIXELS + "let h = 0; for (let i = 0; i < d.length; ++i) h = (h * 31 + d[i]) | 0; return h", selector)

    def downloaded(self, name, seconds=10):
        path, end = self.downloads / name, time.monotonic() + seconds
        while time.monotonic() < end:
            if path.exists() and path.stat().st_size:
                content = path.read_bytes()
                path.unlink()
                return content
            time.sleep(0.05)
        raise AssertionError(f"{name} was not downloaded: {list(self.downloads.iterdir())}")

    def complaints(self):
        """Console errors and warnings, and requests that left the page."""
        found = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                if not url.startswith(("file:", "data:", "blob:")):
                    found.append(url)
        return found


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed (Debian: python3-selenium)")
    if not CHROMIUM or not DRIVER:
        pytest.skip("no chromium and chromedriver (Debian: chromium chromium-driver)")
    from selenium.webdriver.chrome.service import Service

    downloads = tmp_path_factory.mktemp("downloads")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars", "--disable-component-update", "--no-first-run"):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(DRIVER), options=options)
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    yield Page(driver, downloads)
    driver.quit()


@pytest.fixture(scope="session")
def apart(tmp_path_factory):
    """A folder with models of what is out of the ordinary: rows set aside and named, modes on single rows, a fit that was forecast."""
    folder = tmp_path_factory.mktemp("apart")
    rng = np.random.default_rng(7)
    rows = np.vstack([rng.normal(size=(300, 3)), [[40, 0, 0], [0, -50, 0], [0, 0, 60]]])
    (folder / "named.csv").write_text("name,x,y,z\n" + "".join(f"\"it's <b>{i}</b>\",{x},{y},{z}\n" for i, (x, y, z) in enumerate(rows)))
    run("fit", "named.csv", "--trim", "0.01", "-k", "4", "-o", "aside.h5", "--report", "aside.html", folder=folder)
    run("fit", "named.csv", "--trim", "0", "--beta", "2", "-k", "8", "-o", "localised.h5", "--report", "localised.html", folder=folder)
    np.save(folder / "many.npy", rng.normal(size=(10000, 2)).astype(np.float32))
    run("fit", "many.npy", "--beta", "1", "-k", "2", "--tolerance", "1e-3", "-o", "many.h5", folder=folder)
    (folder / "words.csv").write_text("word\n" + "".join(f"{i} </script><img src=x onerror=alert({i})>\n" for i in range(10000)))
    run("report", "many.h5", "--color", "words.csv", "-o", "many.html", folder=folder)
    return folder


@pytest.fixture(scope="session")
def roll(tmp_path_factory):
    """A folder with the demo: points, model and report, and labels of every kind."""
    folder = tmp_path_factory.mktemp("roll")
    run("demo", folder=folder)
    n = len(np.load(folder / "demo.npy"))
    rng = np.random.default_rng(5)
    lines = ["kind,score,many,partly,nanoseconds,odd,huge,none"]
    for i in range(n):
        lines.append(f'{["left", "right", "</script><img src=x onerror=alert(1)>"][i % 3]},{rng.normal():.6f},word {i},{"NaN" if i % 4 == 0 else i / 7},{1700000000000000000 + 65536 * i},{1700000000000000001 + 3 * i},{(-1) ** i * 1e308 * ((i + 1) / n)},NaN')
    (folder / "labels.csv").write_text("\n".join(lines) + "\n")
    run("report", "demo-model.h5", "--color", "labels.csv", "-o", "labelled.html", folder=folder)
    return folder
