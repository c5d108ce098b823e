"""AnnData objects: what scanpy leaves, without its neighbour graph."""

import numpy as np
import pytest
from conftest import dense_map, subspace_distance, torus

anndata = pytest.importorskip("anndata", reason="anndata is not installed")
import flashdiffusion.scanpy as fds  # noqa: E402
from flashdiffusion import DiffusionMap, kernel_matmul  # noqa: E402


@pytest.fixture
def cells():
    adata = anndata.AnnData(np.zeros((300, 2), dtype=np.float32))
    adata.obsm["X_pca"] = torus(300).astype(np.float32)
    return adata


def test_it_fills_what_scanpy_fills(cells):
    assert fds.diffmap(cells, n_comps=6, beta=1.5) is None
    vectors, values = cells.obsm["X_diffmap"], cells.uns["diffmap_evals"]
    assert vectors.shape == (300, 6) and vectors.dtype == np.float32 and values.shape == (6,)
    q, d, wanted, psi = dense_map(cells.obsm["X_pca"], 1.5, alpha=1.0, k=5)
    assert values[0] == 1
    np.testing.assert_allclose(values[1:], wanted, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1, rtol=1e-5)
    np.testing.assert_allclose(vectors[:, 0] ** 2, d / d.sum(), rtol=1e-4)
    assert subspace_distance(vectors[:, 1:], np.sqrt(d)[:, None] * psi) <= 1e-3


def test_keys_copies_and_representations(cells):
    other = fds.diffmap(cells, n_comps=4, beta=1.5, key_added="mine", copy=True)
    assert "mine" in other.obsm and "mine_evals" in other.uns and not len(cells.uns) and "mine" not in cells.obsm
    del cells.obsm["X_pca"]
    cells.X = torus(300)[:, :2].astype(np.float32)
    with pytest.raises(ValueError, match="X_pca"):
        fds.diffmap(cells)
    fds.diffmap(cells, n_comps=4, use_rep="X", beta=1.5)
    with pytest.raises(ValueError, match="greater than 2"):
        fds.diffmap(cells, n_comps=2)


def test_duplicated_cells_are_no_trouble(cells):
    cells.obsm["X_pca"][150:] = cells.obsm["X_pca"][:150]
    fds.diffmap(cells, n_comps=5)
    vectors = cells.obsm["X_diffmap"]
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(vectors[150:], vectors[:150], atol=1e-5)


def test_pseudotime_of_a_curve():
    t = np.sort(np.random.default_rng(0).random(400))
    adata = anndata.AnnData(np.column_stack([t, np.sin(3 * t)]).astype(np.float32))
    fds.diffmap(adata, use_rep="X", beta=100.0)
    with pytest.raises(ValueError, match="iroot"):
        fds.dpt(adata)
    adata.uns["iroot"] = 0
    fds.dpt(adata)
    found = adata.obs["dpt_pseudotime"].to_numpy()
    assert found[0] == 0 and found.max() == 1
    assert np.corrcoef(np.argsort(np.argsort(found)), np.arange(400))[0, 1] >= 0.99
    with pytest.raises(ValueError, match="diffmap"):
        fds.dpt(anndata.AnnData(np.zeros((3, 2))))


@pytest.mark.parametrize("precision", ["fp32", "fp64"])
def test_pseudotime_of_two_populations(precision):
    rng = np.random.default_rng(0)
    for gap in (50, 1000):
        adata = anndata.AnnData(np.vstack([rng.normal(size=(100, 3)), rng.normal(size=(100, 3)) + gap]).astype(np.float32))
        fds.diffmap(adata, n_comps=8, use_rep="X", precision=precision)
        time = fds.dpt(adata, n_dcs=8, root=3, copy=True).obs["dpt_pseudotime"].to_numpy()
        assert time[3] == 0 and time[:100].max() == 1 and np.isinf(time[100:]).all()
        del adata.uns["diffmap_params"]  # as scanpy's own diffmap leaves it
        np.testing.assert_array_equal(fds.dpt(adata, n_dcs=8, root=3, copy=True).obs["dpt_pseudotime"], time)
    for wrong in (0, 1, 2.5, True):
        with pytest.raises(ValueError, match="n_dcs"):
            fds.dpt(adata, n_dcs=wrong, root=0)


def test_cells_that_were_set_aside_have_no_pseudotime(cells):
    fds.diffmap(cells, n_comps=5, beta=1.5, trim=0.02)
    aside = cells.obsm["X_diffmap"][:, 0] == 0
    time = fds.dpt(cells, root=int(np.argmin(aside)), copy=True).obs["dpt_pseudotime"].to_numpy()
    assert aside.any() and (np.isnan(time) == aside).all()
    with pytest.raises(ValueError, match="set aside"):
        fds.dpt(cells, root=int(np.argmax(aside)))


def test_scanpy_goes_on_with_it(cells):
    """scanpy's own pseudo-time and plots on our components; ours is the same pseudo-time."""
    sc = pytest.importorskip("scanpy", reason="scanpy is not installed")
    import matplotlib

    matplotlib.use("Agg")
    fds.diffmap(cells, n_comps=8, beta=1.5)
    cells.uns["iroot"] = 3
    ours = fds.dpt(cells, n_dcs=8, copy=True).obs["dpt_pseudotime"]
    sc.pp.neighbors(cells, n_neighbors=10, use_rep="X_pca")  # sc.tl.dpt insists on a graph, and reads only the components
    sc.tl.dpt(cells, n_dcs=8)
    np.testing.assert_allclose(cells.obs["dpt_pseudotime"], ours, atol=1e-4)
    axes = sc.pl.diffmap(cells, color="dpt_pseudotime", show=False)
    assert axes is not None


def test_roots_by_name_and_components_that_are_not_there(cells):
    fds.diffmap(cells, n_comps=5, beta=1.5)
    fds.dpt(cells, root=7)
    wanted = cells.obs["dpt_pseudotime"].to_numpy()
    for root in (cells.obs_names[7], np.array([7]), np.array(7), np.array([cells.obs_names[7]], dtype=object)):
        cells.uns["iroot"] = root
        fds.dpt(cells)
        np.testing.assert_array_equal(cells.obs["dpt_pseudotime"].to_numpy(), wanted)
        assert cells.uns["iroot"] == 7
    for wrong, words in ((dict(root="nobody"), "no cell"), (dict(root=1.5), "neither"), (dict(root=0, n_dcs=6), "diffmap left 5 components")):
        with pytest.raises(ValueError, match=words):
            fds.dpt(cells, **wrong)


def test_tables_that_are_sparse_or_stay_in_their_file(cells, tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    fds.diffmap(cells, n_comps=4, beta=1.5)
    wanted = cells.obsm["X_diffmap"]
    cells.obsm["sparse"] = sparse.csr_matrix(cells.obsm["X_pca"])
    fds.diffmap(cells, n_comps=4, beta=1.5, use_rep="sparse")
    np.testing.assert_array_equal(cells.obsm["X_diffmap"], wanted)
    for name, table in (("dense", cells.obsm["X_pca"]), ("sparse", sparse.csr_matrix(cells.obsm["X_pca"]))):
        anndata.AnnData(table).write_h5ad(tmp_path / f"{name}.h5ad")
        backed = anndata.read_h5ad(tmp_path / f"{name}.h5ad", backed="r")
        fds.diffmap(backed, n_comps=4, beta=1.5, use_rep="X")
        np.testing.assert_array_equal(backed.obsm["X_diffmap"], wanted)


def test_a_root_counted_from_the_end_is_kept_as_a_row(cells):
    fds.diffmap(cells)
    fds.dpt(cells, root=-1)
    assert cells.uns["iroot"] == cells.n_obs - 1 and cells.obs["dpt_pseudotime"].iloc[-1] == 0


@pytest.mark.parametrize("n_comps", [5, 15])
def test_residuals_belong_to_the_components_they_were_left_with(cells, n_comps, monkeypatch, tmp_path):
    """scanpy's diffmap after ours: other components, as many or more, and our parameters are still there."""
    seen = []
    monkeypatch.setattr(fds, "pseudotime", lambda *_, residuals, **__: seen.append(residuals) or np.zeros(300))
    cells.uns["iroot"] = 3
    fds.diffmap(cells, n_comps=n_comps, beta=1.5)
    residuals = cells.uns["diffmap_params"]["residuals"][:9]
    cells.write_h5ad(tmp_path / "cells.h5ad")
    for ours in (cells, anndata.read_h5ad(tmp_path / "cells.h5ad")):
        fds.dpt(ours)
        np.testing.assert_array_equal(seen.pop(), residuals)
    other = fds.diffmap(cells, n_comps=15, beta=0.8, copy=True)
    cells.obsm["X_diffmap"], cells.uns["diffmap_evals"] = other.obsm["X_diffmap"], other.uns["diffmap_evals"]
    fds.dpt(cells)
    assert seen == [None]


def test_scanpys_diffmap_after_ours(cells):
    sc = pytest.importorskip("scanpy", reason="scanpy is not installed")
    cells.uns["iroot"] = 3
    fds.diffmap(cells, n_comps=5, beta=1.5)
    sc.pp.neighbors(cells, n_neighbors=10, use_rep="X_pca")
    sc.tl.diffmap(cells)
    fds.dpt(cells)
    assert np.isfinite(cells.obs["dpt_pseudotime"]).all()


def test_annotated_data_is_no_table(cells):
    """scikit-learn's methods say where its tables are, and who takes it as it is."""
    model = DiffusionMap(2, beta=1.5).fit(cells.obsm["X_pca"])
    for call in (DiffusionMap().fit, DiffusionMap().fit_transform, model.transform, lambda adata: kernel_matmul(adata, np.ones(300), beta=1.0)):
        with pytest.raises(TypeError, match=r"X is annotated data.*X_pca.*to_df\(\).*flashdiffusion.scanpy.diffmap"):
            call(cells)
