#!/usr/bin/env python3
"""Makes the pictures of docs/ from reports of made-up data: needs NumPy, Selenium and Chromium (`make setup`).

    tools/doc_pictures.py [PROGRAM]     PROGRAM: build/flashdiffusion
"""

import base64
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

HERE = Path(__file__).resolve().parent.parent
PROGRAM = str(Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "build" / "flashdiffusion").resolve())
CASES = {"cells": ("cells.csv", "cell-types.csv"), "frames": ("frames.npy", "states.csv"), "images": ("images.npy", "angles.csv")}


def browser():
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(flag)
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def picture(driver, selector, path, hide=".exports"):
    """The part of the page that an element covers, as PNG."""
    box = driver.execute_script(
        """document.querySelectorAll(arguments[1]).forEach(e => e.style.visibility = 'hidden');
        const b = document.querySelector(arguments[0]).getBoundingClientRect();
        return [b.left + window.scrollX, b.top + window.scrollY, b.width, b.height]""",
        selector,
        hide,
    )
    clip = dict(zip(("x", "y", "width", "height"), box), scale=1)
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    path.write_bytes(base64.b64decode(shot["data"]))


def worked_example(work, path):
    """The plot of docs/python.md's worked example, drawn by the code that stands there: needs the package in build/venv (`make python`)."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (HERE / "docs" / "python.md").read_text(encoding="utf-8"), re.M | re.S)
    (block,) = [block for block in blocks if "positions.npy" in block]
    code = block.replace("examples/", "").replace("model.plot_embedding(", "drawn = model.plot_embedding(")
    command = [HERE / "build" / "venv" / "bin" / "python", "-c", f"{code}\ndrawn.figure.savefig({str(path)!r}, dpi=100)"]
    subprocess.run(command, cwd=work, check=True)


def main():
    pictures = HERE / "docs" / "pictures"
    pictures.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        subprocess.run([sys.executable, HERE / "tools" / "make_examples.py", work], check=True)
        driver = browser()
        driver.set_window_size(980, 900)
        for name, (points, labels) in CASES.items():
            subprocess.run([PROGRAM, "fit", work / points, "-k", "8", "-o", work / f"{name}.h5", "--quiet"], check=True)
            subprocess.run([PROGRAM, "report", work / f"{name}.h5", "--color", work / labels, "-o", work / f"{name}.html", "--quiet"], check=True)
            driver.get((work / f"{name}.html").as_uri())
            driver.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")
            picture(driver, ".maps", pictures / f"{name}.png")
            if name == "cells":
                picture(driver, "#plot-flow", pictures / "flow.png")
                picture(driver, "#plot-spectrum", pictures / "spectrum.png")
        driver.quit()
        worked_example(work, pictures / "torsion.png")


main()
