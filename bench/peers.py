#!/usr/bin/env python3
"""Diffusion maps by this package and by its peers: the same points, bandwidth and number of modes, one process each.

    bench/peers.py [--rows 4000] [--columns 2,12,24,50,784] [--modes 8] [--peers ours,numpy,...] [--json]

Prints seconds (import left out), seconds of processor time (on a busy machine the fairer figure), peak memory, and the largest error of an eigenvalue against a fit in fp64 with a tolerance of 1e-10. Peers
that are not installed are named as such: keops (pykeops, scipy), pydiffmap, datafold, sklearn, scanpy, palantir. scanpy and palantir use
their own kernels on a neighbour graph, so their eigenvalues are other numbers and no error is given. `numpy` is what one would write by hand: a
dense float32 kernel and ARPACK.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

ALPHA = 0.5


def points(rows, columns):
    """Circles of unequal radius, two columns each, in noise: a manifold in as many columns as asked for."""
    rng = np.random.default_rng(columns)
    circles = min(3, max(1, columns // 2))
    x = 0.05 * rng.normal(size=(rows, columns))
    for c in range(circles):
        angle = 2 * np.pi * rng.random(rows)
        x[:, 2 * c] += (1 + 0.3 * c) * np.cos(angle)
        if columns > 2 * c + 1:
            x[:, 2 * c + 1] += (1 + 0.3 * c) * np.sin(angle)
    return x.astype(np.float32)


def bandwidth(x):
    """One octave above the inverse mean squared distance: resolved, and the same for all."""
    return float(2 / (2 * x.var(0).sum()))


# Each peer: imports first, then a function of points, beta and modes that gives the nontrivial eigenvalues, or None.


def ours():
    from flashdiffusion import DiffusionMap

    return lambda x, beta, k: DiffusionMap(k, beta=beta, alpha=ALPHA).fit(x).eigenvalues_


def exact():
    from flashdiffusion import DiffusionMap

    return lambda x, beta, k: DiffusionMap(k, beta=beta, alpha=ALPHA, precision="fp64", tolerance=1e-10).fit(x.astype(np.float64)).eigenvalues_


def top(values, k):
    return np.sort(np.real(values))[::-1][1 : k + 1]


def numpy_arpack():
    from scipy.sparse.linalg import eigsh

    def run(x, beta, k):
        square = (x * x).sum(1)
        kernel = x @ x.T
        kernel *= 2
        kernel -= square[:, None]
        kernel -= square[None]
        kernel *= np.float32(beta)
        np.exp(kernel, out=kernel)
        weight = kernel.sum(1) ** -np.float32(ALPHA)
        kernel *= weight[:, None]
        kernel *= weight[None]
        root = kernel.sum(1) ** np.float32(-0.5)
        kernel *= root[:, None]
        kernel *= root[None]
        return top(eigsh(kernel, k + 1, tol=1e-5, return_eigenvectors=False), k)

    return run


def keops():
    from pykeops.numpy import LazyTensor
    from scipy.sparse.linalg import LinearOperator, eigsh

    def run(x, beta, k):
        kernel = (-beta * ((LazyTensor(x[:, None]) - LazyTensor(x[None])) ** 2).sum(-1)).exp()
        product = lambda v: kernel @ np.ascontiguousarray(v, dtype=np.float32).reshape(len(x), -1)
        weight = product(np.ones(len(x))) ** -ALPHA
        scale = weight / np.sqrt(weight * product(weight))
        operator = LinearOperator((len(x), len(x)), lambda v: (scale * product(scale * v.reshape(-1, 1))).ravel(), dtype=np.float32)
        return top(eigsh(operator, k + 1, tol=1e-5, return_eigenvectors=False), k)

    return run


def pydiffmap():
    from pydiffmap.diffusion_map import DiffusionMap

    def run(x, beta, k):
        epsilon = 1 / (4 * beta)
        made = DiffusionMap.from_sklearn(n_evecs=k, epsilon=epsilon, alpha=ALPHA, k=len(x), neighbor_params={"algorithm": "brute"}).fit(x)
        return np.sort(1 + epsilon * np.real(made.evals))[::-1]

    return run


def datafold():
    from datafold.dynfold import DiffusionMaps
    from datafold.pcfold import GaussianKernel

    def run(x, beta, k):
        return top(DiffusionMaps(kernel=GaussianKernel(epsilon=1 / (2 * beta)), n_eigenpairs=k + 1, alpha=ALPHA).fit(x.astype(np.float64)).eigenvalues_, k)

    return run


def sklearn():
    from sklearn.manifold import SpectralEmbedding

    def run(x, beta, k):
        SpectralEmbedding(k, affinity="rbf", gamma=beta, eigen_solver="arpack", random_state=0).fit(x)  # alpha 0, no eigenvalues

    return run


def scanpy():
    import anndata
    import scanpy as sc

    def run(x, beta, k):
        adata = anndata.AnnData(x)
        sc.pp.neighbors(adata, use_rep="X")
        sc.tl.diffmap(adata, n_comps=max(3, k + 1))

    return run


def palantir():
    import pandas
    from palantir.utils import run_diffusion_maps

    return lambda x, beta, k: run_diffusion_maps(pandas.DataFrame(x), n_components=k + 1) and None


PEERS = {
    "ours": ours,
    "numpy": numpy_arpack,
    "keops": keops,
    "pydiffmap": pydiffmap,
    "datafold": datafold,
    "sklearn": sklearn,
    "scanpy": scanpy,
    "palantir": palantir,
    "exact": exact,
}


def child(peer, rows, columns, modes):
    try:
        run = PEERS[peer]()
    except ImportError as error:
        return {"failed": f"not installed ({error.name})"}
    x = points(rows, columns)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, worked = time.perf_counter(), time.process_time()
    try:
        values = run(x, bandwidth(x), modes)
    except Exception as error:  # a peer that fails is a result
        return {"failed": f"{type(error).__name__}: {str(error).splitlines()[0][:60]}"}
    seconds, processor = time.perf_counter() - start, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    values = None if values is None else np.asarray(values, dtype=float).tolist()
    return {"seconds": seconds, "processor": processor, "megabytes": peak / 1024, "eigenvalues": values}


def measured(peer, rows, columns, modes, limit):
    command = [sys.executable, __file__, "--child", peer, "--rows", str(rows), "--columns", str(columns), "--modes", str(modes)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=limit, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    except subprocess.TimeoutExpired:
        return {"failed": f"over {limit} s"}
    lines = [line for line in result.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {"failed": (result.stderr.strip().splitlines() or [f"status {result.returncode}"])[-1][:70]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--columns", default="2,12,24,50,784")
    parser.add_argument("--modes", type=int, default=8)
    parser.add_argument("--peers", default=",".join(name for name in PEERS if name != "exact"))
    parser.add_argument("--limit", type=float, default=600, help="seconds a peer may take")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(child(arguments.child, arguments.rows, int(arguments.columns), arguments.modes)))
        return
    rows = []
    if not arguments.json:
        print(f"{arguments.rows} rows, {arguments.modes} modes, alpha {ALPHA}, {len(os.sched_getaffinity(0))} cores")
        print(f"{'columns':>7}  {'peer':<10} {'seconds':>8} {'processor':>9} {'MB':>8} {'error':>9}")
    for columns in map(int, arguments.columns.split(",")):
        reference = measured("exact", arguments.rows, columns, arguments.modes, arguments.limit).get("eigenvalues")
        for peer in arguments.peers.split(","):
            row = {"columns": columns, "peer": peer, **measured(peer, arguments.rows, columns, arguments.modes, arguments.limit)}
            values = row.pop("eigenvalues", None)
            if values is not None and reference is not None:
                row["error"] = float(np.abs(np.array(values) - reference).max())
            rows.append(row)
            if arguments.json:
                continue
            if "failed" in row:
                print(f"{columns:>7}  {peer:<10} {row['failed']}")
            else:
                error = f"{row['error']:9.1e}" if "error" in row else f"{'':>9}"
                print(f"{columns:>7}  {peer:<10} {row['seconds']:8.2f} {row['processor']:9.2f} {row['megabytes']:8.0f} {error}", flush=True)
    if arguments.json:
        print(json.dumps({"rows": arguments.rows, "modes": arguments.modes, "alpha": ALPHA, "results": rows}, indent=2))


if __name__ == "__main__":
    main()
