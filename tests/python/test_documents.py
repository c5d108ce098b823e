"""The Python code that the documents show, run as it stands, one namespace a document; and the docstrings' examples of what needs a peer."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import torus

ROOT = Path(__file__).resolve().parents[2]


def blocks(document):
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / document).read_text(encoding="utf-8"), re.M | re.S)


def run(document, namespace, needs=lambda block: True):
    ran = 0
    for block in filter(needs, blocks(document)):
        exec(compile(block, document, "exec"), namespace)
        ran += 1
    return ran


@pytest.fixture
def here(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_readme(here):
    assert run("README.md", {"X": torus(500)}) == 1
    assert (here / "map.png").stat().st_size > 10000
    assert "</html>" in (here / "report.html").read_text(encoding="utf-8")


def test_the_page_on_python(here):
    pytest.importorskip("scipy")
    subprocess.run([sys.executable, ROOT / "tools" / "make_examples.py", "examples"], check=True)
    mine = lambda block: "mdtraj" not in block and "scanpy" not in block
    namespace = {"X": torus(500), "W": np.ones((500, 2))}
    assert run("docs/python.md", namespace, mine) == 4
    assert (here / "map.png").exists()
    # the worked example: what the page says it prints
    assert np.degrees(namespace["decoder"].error_[0]) == pytest.approx(float(re.search(r"error_.*# ([\d.]+) degrees", (ROOT / "docs/python.md").read_text()).group(1)), abs=0.1)


def test_the_page_on_python_with_annotated_data(here):
    anndata, scanpy = pytest.importorskip("anndata", reason="anndata is not installed"), pytest.importorskip("scanpy", reason="scanpy is not installed")
    adata = anndata.AnnData(np.zeros((300, 2), dtype=np.float32))
    adata.obsm["X_pca"] = torus(300).astype(np.float32)
    scanpy.settings.figdir = here
    assert run("docs/python.md", {"adata": adata, "sc": scanpy}, lambda block: "scanpy" in block) == 1
    assert adata.obs["dpt_pseudotime"].iloc[0] == 0


def test_the_page_on_python_with_a_trajectory(here):
    mdtraj = pytest.importorskip("mdtraj", reason="mdtraj is not installed")
    topology = mdtraj.Topology()
    residue = topology.add_residue("MOL", topology.add_chain())
    for i in range(22):  # as many atoms as alanine dipeptide, whose dihedrals the page names
        topology.add_atom(f"C{i}", mdtraj.element.carbon, residue)
    rng = np.random.default_rng(1)
    trajectory = mdtraj.Trajectory((rng.normal(size=(22, 3)) + 0.1 * rng.normal(size=(300, 22, 3))).astype(np.float32), topology)
    trajectory[0].save_pdb("topology.pdb")
    trajectory.save_xtc("trajectory.xtc")
    assert run("docs/python.md", {"trajectory": trajectory}, lambda block: "mdtraj" in block) == 1
