"""The commands that the documents show, run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import PROGRAM

ROOT = Path(__file__).resolve().parents[2]


def blocks(document, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / "docs" / document).read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture
def folder(program, points):
    """What the documents speak of: a program on the path, tools/, points.npy, model.h5, labels.csv."""
    (program.folder / "bin").mkdir()
    (program.folder / "bin" / "flashdiffusion").symlink_to(Path(PROGRAM).resolve())
    (program.folder / "bin" / "python3").symlink_to(sys.executable)
    (program.folder / "tools").symlink_to(ROOT / "tools")
    program("fit", "points.npy", "--beta", "2", "-k", "4", "-o", "model.h5")
    (program.folder / "labels.csv").write_text("kind\n" + "".join(f"{i % 3}\n" for i in range(len(points))))
    return program.folder


@pytest.mark.parametrize("document", ["quickstart.md", "report.md"])
def test_commands_run_as_they_stand(folder, document):
    commands = blocks(document, "sh")
    assert commands
    for block in commands:
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        result = subprocess.run(["sh", "-e", "-c", block], cwd=folder, capture_output=True, text=True, timeout=300, env={**os.environ, "PATH": path})
        assert result.returncode == 0, block + result.stdout + result.stderr
    for page in folder.glob("*.html"):
        assert "</html>" in page.read_text(encoding="utf-8")
    if document == "quickstart.md":
        assert np.load(folder / "features.npy").shape == (1200, 8)


def test_links_and_pictures_are_there():
    for document in (ROOT / "docs").glob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_the_remarks_of_the_report_are_all_explained():
    source = (ROOT / "src" / "report" / "remarks.cpp").read_text(encoding="utf-8")
    named = set(re.findall(r'push_back\(\s*\{"([a-z-]+)"', source))
    explained = set(re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "docs" / "report.md").read_text(encoding="utf-8"), re.M))
    assert named and named == explained


def test_the_manual_page_names_every_command(program):
    page = subprocess.run([ROOT / "tools" / "man_page", PROGRAM], capture_output=True, text=True, check=True).stdout
    name = Path(PROGRAM).name.upper()
    for verb in ("FIT", "TRANSFORM", "REPORT", "DECODE", "SUPPORT", "INFO", "ESTIMATE", "DEMO", "SELFTEST", "COMPLETIONS"):
        assert f".SH {name} {verb}\n" in page
    assert not re.search(r"^[.'](?!TH|SH|B |I |nf|fi)", page, re.M)
