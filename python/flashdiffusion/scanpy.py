"""Diffusion maps of AnnData objects, in scanpy's conventions but of all cells against all: no neighbour graph is needed.

>>> import flashdiffusion.scanpy as fds                         # doctest: +SKIP
>>> fds.diffmap(adata)                                          # doctest: +SKIP
>>> adata.uns["iroot"] = 0                                      # doctest: +SKIP
>>> fds.dpt(adata)                                              # doctest: +SKIP
>>> sc.pl.diffmap(adata, color="dpt_pseudotime")                # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .conventions import symmetric_eigenvectors
from .diffusion_map import DiffusionMap
from .distances import pseudotime

if TYPE_CHECKING:
    from anndata import AnnData


def _representation(adata, use_rep):
    """The table that is meant: X_pca where there is one, as scanpy does, or X."""
    if use_rep is None:
        use_rep = "X_pca" if "X_pca" in adata.obsm else "X"
    if use_rep == "X":
        return _dense(adata.X)
    if use_rep not in adata.obsm:
        raise ValueError(f"use_rep = {use_rep!r} is not in adata.obsm, which holds {sorted(adata.obsm)}; run sc.pp.pca(adata) first, or use 'X'")
    return _dense(adata.obsm[use_rep])


def _dense(table):
    """In memory, whether it is sparse or stays in its file."""
    if hasattr(table, "to_memory"):
        table = table.to_memory()
    return np.asarray(table.toarray() if hasattr(table, "toarray") else table)


def _root(adata, root):
    """The index of a cell that is given as such, by its name, or as an array of one of these."""
    if isinstance(root, np.ndarray) and root.size == 1:
        root = root.reshape(-1)[0]
    if isinstance(root, str):
        found = np.flatnonzero(adata.obs_names == root)
        if len(found) != 1:
            raise ValueError(f"root = {root!r} is the name of {len(found) or 'no'} cell{'s' if len(found) > 1 else ''} in adata.obs_names")
        return int(found[0])
    if isinstance(root, (bool, np.bool_)) or not isinstance(root, (int, np.integer)):
        raise ValueError(f"root = {root!r} is neither the index of a cell nor its name")
    return int(root)


def diffmap(
    adata: AnnData, n_comps: int = 15, *, use_rep: str | None = "X_pca", key_added: str | None = None, copy: bool = False, **parameters: Any
) -> AnnData | None:
    """Diffusion map of the cells, as ``sc.tl.diffmap`` leaves it.

    Fills ``obsm["X_diffmap"]`` (eigenvectors of the symmetric transition matrix, of unit length; the first is the trivial one) and
    ``uns["diffmap_evals"]`` (the first is 1). With ``key_added`` these are ``obsm[key_added]`` and ``uns[key_added + "_evals"]``.
    ``parameters`` go to ``DiffusionMap``; unless given, alpha is 1, as in scanpy, and all cells take part. Returns a copy where ``copy`` is true.
    """
    if isinstance(n_comps, (bool, np.bool_)) or not isinstance(n_comps, (int, np.integer)):
        raise ValueError(f"n_comps = {n_comps!r} is not a whole number")
    if n_comps <= 2:
        raise ValueError("Provide any value greater than 2 for `n_comps`. ")
    adata = adata.copy() if copy else adata
    parameters = {"alpha": 1.0, "trim": 0.0, **parameters}
    table = _representation(adata, use_rep)
    model = DiffusionMap(n_components=min(n_comps, len(table)) - 1, **parameters).fit(table)
    vectors, values = f"{key_added}" if key_added else "X_diffmap", f"{key_added}_evals" if key_added else "diffmap_evals"
    adata.obsm[vectors] = symmetric_eigenvectors(model).astype(np.float32)
    adata.uns[values] = np.concatenate([[1.0], model.eigenvalues_]).astype(np.float32)
    adata.uns[f"{key_added or 'diffmap'}_params"] = {
        "method": "flashdiffusion",
        "use_rep": use_rep or "",
        "beta": float(model.beta_),
        "alpha": float(parameters["alpha"]),
        "n_eff": float(model.n_eff_),
        "residuals": model.residuals_,
        "residuals_of": adata.uns[values],  # scanpy's own diffmap puts other eigenvalues there, and leaves these parameters
    }
    return adata if copy else None


def dpt(
    adata: AnnData, n_dcs: int | None = None, *, key: str | None = None, root: int | str | None = None, copy: bool = False
) -> AnnData | None:
    """Diffusion pseudo-time from the cell ``adata.uns["iroot"]`` (or ``root``), its index or its name, into
    ``obs["dpt_pseudotime"]``, from what diffmap left.

    As ``sc.tl.dpt`` without branchings, from the first ``n_dcs`` components (10, or as many as there are), of which the trivial one does not take
    part. Cells of other pieces than the root's are at infinity, and components that are too few to tell the pieces apart are refused; cells that
    diffmap was asked to set aside (``trim``) have no place, and are NaN.
    """
    if n_dcs is not None and (isinstance(n_dcs, (bool, np.bool_)) or not isinstance(n_dcs, (int, np.integer)) or n_dcs < 2):
        raise ValueError(f"n_dcs = {n_dcs!r} is not a whole number of at least 2: the first component is the trivial one")
    adata = adata.copy() if copy else adata
    vectors, values = key or "X_diffmap", f"{key}_evals" if key else "diffmap_evals"
    if vectors not in adata.obsm or values not in adata.uns:
        raise ValueError(f"obsm[{vectors!r}] or uns[{values!r}] is missing: run flashdiffusion.scanpy.diffmap(adata) first")
    if root is None:
        if "iroot" not in adata.uns:
            raise ValueError("no root cell: set adata.uns['iroot'] to its index, or give root")
        root = adata.uns["iroot"]
    root = _root(adata, root)
    table, eigenvalues = np.asarray(adata.obsm[vectors]), np.asarray(adata.uns[values])
    if n_dcs is None:
        n_dcs = min(10, len(eigenvalues))
    elif n_dcs > len(eigenvalues):
        raise ValueError(f"n_dcs = {n_dcs}, but diffmap left {len(eigenvalues)} components: run diffmap with n_comps = {n_dcs}")
    left = adata.uns.get(f"{key or 'diffmap'}_params", {})
    known = "residuals" in left and np.array_equal(left.get("residuals_of"), eigenvalues)
    residuals = left["residuals"][: n_dcs - 1] if known else None
    adata.obs["dpt_pseudotime"] = pseudotime(eigenvalues[1:n_dcs], table[:, 1:n_dcs], root, residuals=residuals, trivial=table[:, 0])
    adata.uns["iroot"] = root % len(table)
    return adata if copy else None
