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


# `make` as the documents use it, in a folder that is not a clone: what it builds is there already.
MAKE = """#!/bin/sh
case $1 in
  demo) build/flashdiffusion demo --output build ;;
  *) grep -q "^[a-z ]*\\b$1\\b.*:" {root}/Makefile ;;
esac
"""


def blocks(document, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / document).read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture
def folder(program, points):
    """What the documents speak of: a program on the path and in build/, make, tools/, points.npy, points.csv, model.h5, labels.csv."""
    for place in ("bin", "build"):
        (program.folder / place).mkdir()
        (program.folder / place / "flashdiffusion").symlink_to(Path(PROGRAM).resolve())
    (program.folder / "bin" / "python3").symlink_to(sys.executable)
    (program.folder / "bin" / "make").write_text(MAKE.format(root=ROOT))
    (program.folder / "bin" / "make").chmod(0o755)
    (program.folder / "tools").symlink_to(ROOT / "tools")
    np.savetxt(program.folder / "points.csv", points, delimiter=",")
    program("fit", "points.npy", "--beta", "2", "-k", "4", "-o", "model.h5")
    (program.folder / "labels.csv").write_text("kind\n" + "".join(f"{i % 3}\n" for i in range(len(points))))
    return program.folder


@pytest.mark.parametrize("document", ["README.md", "docs/quickstart.md", "docs/report.md"])
def test_commands_run_as_they_stand(folder, document):
    commands = blocks(document, "sh")
    assert commands
    for block in commands:
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        result = subprocess.run(["sh", "-e", "-c", block], cwd=folder, capture_output=True, text=True, timeout=300, env={**os.environ, "PATH": path})
        assert result.returncode == 0, block + result.stdout + result.stderr
    pages = list(folder.glob("*.html"))
    assert pages
    for page in pages:
        assert "</html>" in page.read_text(encoding="utf-8")
    if document == "README.md":
        assert (folder / "build" / "demo-report.html").exists()
    if document == "docs/quickstart.md":
        assert np.load(folder / "features.npy").shape == (1200, 8)


def test_python_that_needs_no_package_of_ours(folder):
    for block in blocks("docs/points.md", "python"):
        subprocess.run([sys.executable, "-c", block], cwd=folder, check=True, timeout=60)


def test_lines_of_cpp_are_those_of_a_program_that_is_compiled():
    compiled = (ROOT / "tests" / "install" / "consumer" / "main.cpp").read_text(encoding="utf-8")
    lines = [line for block in blocks("docs/cpp.md", "cpp") for line in block.splitlines() if line]
    assert len(lines) > 5
    assert [line for line in lines if line not in compiled] == []


def test_the_readme_is_one_screen():
    """What it is, how to get a picture of one's own data, where to read on: no more than fits."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60 and max(map(len, text.splitlines())) <= 200


def test_figures_are_those_of_the_script():
    """Each section that the script measures is on the page, in its order, with its machine."""
    names = subprocess.run([sys.executable, ROOT / "tools" / "figures.py", "--list"], capture_output=True, text=True, check=True).stdout.split()
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    assert re.findall(r"^<!-- (\w+) -->$", page, re.M) == [*names, "end"]
    for section in re.findall(r"<!-- \w+ -->\n(## .*?)(?=<!-- )", page, re.S):
        assert re.search(r"^\*.*cores of .*\*$", section, re.M), section


def test_links_and_pictures_are_there():
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "bench" / "README.md"]:
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
    for verb in ("FIT", "TRANSFORM", "REPORT", "DECODE", "SUPPORT", "INFO", "ESTIMATE", "DEMO", "REPRODUCE", "SELFTEST", "COMPLETIONS"):
        assert f".SH {name} {verb}\n" in page
    assert not re.search(r"^[.'](?!TH|SH|B |I |nf|fi)", page, re.M)
