"""Bandwidths, operators and eigenvectors of other packages, each against the package itself where it is installed."""

import re
from pathlib import Path

import numpy as np
import pytest
from conftest import subspace_distance, torus

from flashdiffusion import DiffusionMap, bandwidth
from flashdiffusion.conventions import epsilon, symmetric_eigenvectors


def exact(k, **how):
    return DiffusionMap(k, precision="fp64", tolerance=1e-10, **how)


def test_bandwidths():
    assert bandwidth(beta=3) == 3 and bandwidth(gamma=3) == 3
    assert bandwidth(sigma=2) == 1 / 8
    for convention, factor in (("pydiffmap", 4), ("datafold", 2), ("mdanalysis", 1)):
        assert bandwidth(epsilon=0.5, convention=convention) == 1 / (factor * 0.5)
        assert epsilon(bandwidth(epsilon=0.3, convention=convention), convention) == pytest.approx(0.3, rel=1e-15)


@pytest.mark.parametrize(
    "wrong, words",
    [
        (dict(), "none"),
        (dict(beta=1, sigma=1), "beta, sigma"),
        (dict(epsilon=1), "convention"),
        (dict(epsilon=1, convention="mine"), "pydiffmap"),
        (dict(sigma=1, convention="datafold"), "no epsilon"),
        (dict(beta=0), "above zero"),
        (dict(gamma=float("nan")), "above zero"),
        (dict(sigma="1"), "sigma = '1' is not a number"),
        (dict(sigma=1e-200), "beta of inf"),
        (dict(sigma=1e200), "beta of 0"),
    ],
)
def test_bandwidth_refusals(wrong, words):
    with pytest.raises(ValueError, match=words):
        bandwidth(**wrong)


def test_epsilon_refusals():
    for wrong in (0, -1, None):
        with pytest.raises(ValueError, match="beta = "):
            epsilon(wrong, "datafold")
    for wrong in ("mine", None, ["datafold"]):
        with pytest.raises(ValueError, match="convention"):
            epsilon(1, wrong)
    for tiny in (1e-310, 1e-320):
        with pytest.raises(ValueError, match="makes an epsilon of inf"):
            epsilon(tiny, "mdanalysis")


def test_scikit_learn_spectral_embedding(points):
    """Its Laplacian takes the kernel's diagonal as 0 and knows no alpha; it returns v / sqrt(d), the trivial one dropped."""
    manifold = pytest.importorskip("sklearn.manifold")
    from scipy.sparse.csgraph import laplacian
    from scipy.sparse.linalg import eigsh

    from flashdiffusion import DiffusionOperator

    x = points.astype(np.float64)
    gamma, k = 1.5, 4
    theirs = manifold.SpectralEmbedding(k, affinity="rbf", gamma=gamma, eigen_solver="arpack", random_state=0).fit(x)
    operator = DiffusionOperator(x, beta=bandwidth(gamma=gamma), alpha=0, diagonal=False, precision="fp64")
    values, vectors = eigsh(operator, k=k + 1)
    of_laplacian = np.linalg.eigvalsh(laplacian(theirs.affinity_matrix_, normed=True))[: k + 1]
    np.testing.assert_allclose(np.sort(1 - values), of_laplacian, atol=1e-10)
    nontrivial = vectors[:, np.argsort(-values)[1:]] / np.sqrt(operator.degree)[:, None]
    assert subspace_distance(nontrivial, theirs.embedding_) <= 1e-5
    # with the diagonal it is our map of alpha 0, of the same kernel
    ours = exact(k, beta=gamma, alpha=0).fit(x)
    np.testing.assert_allclose(theirs.affinity_matrix_.sum(1), ours.degree_, rtol=1e-10)


@pytest.mark.parametrize("table", ["torus", "pairs"])
def test_the_recipe_for_scikit_learn(table):
    """As docs/conventions.md has it: of rows in pairs the operator without its diagonal has as many eigenvalues near -1 as near 1."""
    manifold = pytest.importorskip("sklearn.manifold")
    from scipy.sparse.linalg import eigsh

    from flashdiffusion import DiffusionOperator

    rng, gamma = np.random.default_rng(0), 1.0
    X = torus(300) if table == "torus" else np.repeat(3 * rng.normal(size=(40, 2)), 2, axis=0) + 0.01 * rng.normal(size=(80, 2))
    theirs = manifold.SpectralEmbedding(4, affinity="rbf", gamma=gamma, eigen_solver="arpack", random_state=0).fit(X)
    text = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text(encoding="utf-8")
    values, vectors = eval(re.search(r"`(eigsh\(.*?\))`", text).group(1), {"eigsh": eigsh, "DiffusionOperator": DiffusionOperator, "X": X, "gamma": gamma})
    op = DiffusionOperator(X, beta=gamma, alpha=0, diagonal=False, precision="fp64")
    dense = np.sort(np.linalg.eigvalsh(op @ np.eye(len(X))))[::-1]
    np.testing.assert_allclose(np.sort(values)[::-1], dense[:5], atol=1e-10)
    embedding = eval(re.search(r"`(vectors / .*?)`", text).group(1), {"vectors": vectors, "np": np, "op": op})
    assert subspace_distance(embedding, np.column_stack([np.ones(len(X)), theirs.embedding_])) <= 1e-5


def test_pydiffmap():
    peer = pytest.importorskip("pydiffmap.diffusion_map", reason="pydiffmap is not installed")
    x, k, eps = torus(300), 4, 0.2
    theirs = peer.DiffusionMap.from_sklearn(n_evecs=k, epsilon=eps, alpha=0.5, k=300, neighbor_params={"algorithm": "brute"}).fit(x)
    ours = exact(k, beta=bandwidth(epsilon=eps, convention="pydiffmap"), alpha=0.5).fit(x)
    # its eigenvalues are those of the generator, (lambda - 1) / epsilon
    np.testing.assert_allclose(1 + eps * np.sort(np.real(theirs.evals))[::-1], ours.eigenvalues_, atol=1e-5)
    assert subspace_distance(ours.psi_, np.real(theirs.evecs)) <= 1e-5


def test_mdanalysis():
    diffusionmap = pytest.importorskip("MDAnalysis.analysis.diffusionmap", reason="MDAnalysis is not installed")
    x = torus(120)
    distances = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))

    class Distances(diffusionmap.DistanceMatrix):
        """Frames are rows here: nothing is aligned, and nothing is run."""

        def __init__(self):
            self._calculated = True
            self.n_frames = len(x)

            class Results:
                dist_matrix = distances

            self.results = Results()

    eps = 0.4
    theirs = diffusionmap.DiffusionMap(Distances(), epsilon=eps)
    theirs.run()
    ours = exact(5, beta=bandwidth(epsilon=eps, convention="mdanalysis"), alpha=0).fit(x)
    np.testing.assert_allclose(theirs.eigenvalues[1:6], ours.eigenvalues_, atol=1e-5)
    # its eigenvectors come in the order of np.linalg.eig (2.11 sorts their rows): compare with its matrix
    assert np.abs(theirs._diff @ ours.psi_ - ours.eigenvalues_ * ours.psi_).max() <= 1e-8


def test_datafold():
    pcm = pytest.importorskip("datafold.pcfold", reason="datafold is not installed")
    dynfold = pytest.importorskip("datafold.dynfold", reason="datafold is not installed")
    x, eps, k = torus(300), 0.3, 4
    theirs = dynfold.DiffusionMaps(kernel=pcm.GaussianKernel(epsilon=eps), n_eigenpairs=k + 1, alpha=1).fit(x)
    ours = exact(k, beta=bandwidth(epsilon=eps, convention="datafold"), alpha=1).fit(x)
    np.testing.assert_allclose(np.sort(theirs.eigenvalues_)[::-1][1:], ours.eigenvalues_, atol=1e-5)
    order = np.argsort(theirs.eigenvalues_)[::-1][1:]
    assert subspace_distance(ours.psi_, theirs.eigenvectors_[:, order]) <= 1e-5


def test_symmetric_eigenvectors_are_orthonormal_and_start_with_the_trivial_one(points):
    model = exact(4, beta=1.5).fit(points)
    vectors = symmetric_eigenvectors(model)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-7)
    np.testing.assert_allclose(vectors[:, 0] ** 2, model.degree_ / model.degree_.sum(), rtol=1e-12)
