#!/usr/bin/env python3
"""The diffusion map of a user with numpy and SciPy (the kernel stored in float32, ARPACK on it), or with scikit-learn: the peers of
`flashdiffusion-bench fit`, which runs this file as a process that stays warm.

A request is a line of JSON on standard input, an answer one on standard output. The first line that is written names what is installed:
    {"numpy": "1.24.2", "scipy": "1.10.1", "sklearn": null}
    {"peer": "numpy", "points": "x.npy", "beta": 0.5, "alpha": 0.5, "modes": 10, "tolerance": 1e-5}
    {"seconds": 1.95, "processor_seconds": 1.9, "peak_rss_bytes": 812345678, "eigenvalues": [0.93, ...]}, or {"error": "..."}
"""
import importlib
import json
import signal
import sys
import time


def version(name):
    try:
        return importlib.import_module(name).__version__
    except ImportError:
        return None


def peak_bytes(reset=False):
    """The largest memory of this process since the last reset, on Linux."""
    try:
        if reset:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
        with open("/proc/self/status") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return None


def with_numpy(x, beta, alpha, modes, tolerance):
    import numpy as np
    from scipy.sparse.linalg import eigsh

    x = x - x.mean(0)
    square = beta * np.einsum("ij,ij->i", x, x)
    kernel = x @ x.T
    kernel *= 2 * beta
    kernel -= square[:, None]
    kernel -= square
    np.exp(kernel, out=kernel)
    scale = kernel.sum(1) ** -alpha
    scale /= np.sqrt(scale * (kernel @ scale))
    kernel *= scale[:, None]
    kernel *= scale
    values, vectors = eigsh(kernel, modes + 1, which="LA", tol=tolerance)
    return values[::-1][1:].astype(float).tolist()


def with_sklearn(x, beta, alpha, modes, tolerance):
    """Its own normalisation (alpha = 0) and its own stopping rule: only the time can be compared."""
    from sklearn.manifold import SpectralEmbedding

    SpectralEmbedding(n_components=modes, affinity="rbf", gamma=beta, eigen_solver="arpack", random_state=0).fit_transform(x)


PEERS = {"numpy": with_numpy, "sklearn": with_sklearn}


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    installed = {name: version(name) for name in ("numpy", "scipy", "sklearn")}
    print(json.dumps(installed), flush=True)
    if not installed["numpy"]:
        return
    import numpy as np

    name, x = None, None
    for line in sys.stdin:
        try:
            request = json.loads(line)
            peer, points = PEERS[request.pop("peer")], request.pop("points")
            if points != name:
                x = None  # before the next is loaded
                x, name = np.ascontiguousarray(np.load(points), dtype=np.float32), points
            peak_bytes(reset=True)
            start, processor = time.perf_counter(), time.process_time()
            values = peer(x, **request)
            answer = {"seconds": time.perf_counter() - start, "processor_seconds": time.process_time() - processor,
                      "peak_rss_bytes": peak_bytes(), "eigenvalues": values}
        except MemoryError:
            answer = {"error": "not enough memory"}
        except Exception as error:  # whatever it is, the other side must not wait for ever
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


main()
