"""Writes the seeds of the fuzz targets to tests/fuzz/corpus: small files of every kind a target reads.

    python3 tests/fuzz/make_corpus.py build/flashdiffusion     the program makes the model files

Seeds that stand for a mended fault are kept beside these and are not made here; their names start with "fault-".
"""

import gzip
import io
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

corpus = Path(__file__).parent / "corpus"
x = np.arange(12, dtype=np.float64).reshape(4, 3) / 7


def put(target, name, content):
    folder = corpus / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def saved(function, *arguments, **keywords):
    stream = io.BytesIO()
    function(stream, *arguments, **keywords)
    return stream.getvalue()


def hdf5(fill):
    stream = io.BytesIO()
    with h5py.File(stream, "w", libver=("earliest", "v108")) as file:
        fill(file)
    return stream.getvalue()


def npy():
    for kind in ["<f8", ">f4", "<f2", "|i1", ">u2", "<i8", "|b1"]:
        put("npy", f"{kind[1:]}.npy", saved(np.save, (x * 7).astype(kind)))
    put("npy", "fortran.npy", saved(np.save, np.asfortranarray(x)))
    put("npy", "record.npy", saved(np.save, np.zeros(2, dtype=[("a", "f4"), ("b", "i2")])))
    put("npy", "version2.npy", saved(np.lib.format.write_array, x, version=(2, 0)))


def npz():
    put("npz", "one.npz", saved(np.savez, x))
    put("npz", "deflated.npz", saved(np.savez_compressed, points=x))
    put("npz", "two.npz", saved(np.savez, a=x, b=x[:, 0]))


def text():
    put("text", "plain.csv", "1,2,3\n4,5,6\n")
    put("text", "header.csv", 'cell,"gene a",b\nx1,1e3,-2.5\nx2,nan,inf\n')
    put("text", "semicolon.csv", "1,5;2,5\n3,5;4\n")
    put("text", "blanks.txt", "# made by hand\r\n 1  2\r\n3\t4 # end\r\n")
    put("text", "mark.tsv", "\ufeffa\tb\n1\t2\n\n3\t\n")
    put("text", "zipped.csv.gz", gzip.compress(b"1,2\n3,4\n", mtime=0))


def tables():
    """The first byte is no part of the file: it says how that is called (hdf5_fuzz.cpp)."""
    plain, anndata = b"\0", b"\1"
    put("hdf5", "table.h5", plain + hdf5(lambda f: f.create_dataset("x", data=x)))
    put("hdf5", "chunks.h5",
        plain + hdf5(lambda f: f.create_dataset("a/b", data=x.astype("f4"), chunks=(2, 3), compression="gzip")))
    put("hdf5", "two.h5", plain + hdf5(lambda f: (f.create_dataset("a", data=x), f.create_dataset("b", data=x.astype("i2")))))

    def annotated(file, by="csr", pca=False, names=None):
        file.attrs["encoding-type"] = "anndata"
        if pca:
            file.create_dataset("obsm/X_pca", data=x.astype("f4"))
        group = file.create_group("X")
        group.attrs["encoding-type"] = f"{by}_matrix"
        group.attrs["shape"] = [4, 3]
        lines = [0, 1, 2, 3, 4] if by == "csr" else [0, 1, 2, 4]
        for name, values in {"data": x[:, 0], "indices": [0, 1, 2, 0], "indptr": lines}.items():
            group.create_dataset(name, data=values)
        if names:
            obs = file.create_group("obs")
            obs.attrs["_index"] = "_index"
            names(obs)

    def categories(obs):
        group = obs.create_group("_index")
        group.create_dataset("codes", data=np.array([0, 1, -1, 0], dtype="i1"))
        group.create_dataset("categories", data=np.array([b"a", b"bc"]))

    put("hdf5", "annotated.h5ad", anndata + hdf5(lambda f: annotated(f, pca=True)))
    put("hdf5", "rows.h5ad", anndata + hdf5(lambda f: annotated(f, names=lambda obs: obs.create_dataset("_index", data=[b"a", b"b", b"c", b"d"]))))
    put("hdf5", "columns.h5ad", anndata + hdf5(lambda f: annotated(f, "csc", names=categories)))
    put("hdf5", "numbered.h5ad", anndata + hdf5(lambda f: annotated(f, names=lambda obs: obs.create_dataset("_index", data=[4, 3, 2, 1]))))


def without_origin(path, copy):
    """Everything but where and when it was made."""
    with h5py.File(path) as model:
        for name, value in model.attrs.items():
            copy.attrs[name] = value
        for name in model:
            if name != "provenance":
                model.copy(name, copy)
        origin = copy.create_dataset("provenance", data=np.bytes_("{}"))
        for name, value in model["provenance"].attrs.items():
            origin.attrs[name] = value


def models(program):
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/x.npy", np.random.default_rng(1).normal(size=(12, 2)))
        for name, more in {"model.h5": [], "bare.h5": ["--no-points"]}.items():
            subprocess.run([program, "fit", "x.npy", "-k", "2", "--beta", "0.5", "-o", name, "--quiet", *more], cwd=folder, check=True)
            put("model", name, hdf5(lambda file: without_origin(f"{folder}/{name}", file)))


def command_lines():
    for number, line in enumerate(
        [
            "fit points.npy -k 8 -o model.h5",
            "fit a.npz:x b.csv --beta 0.5 --precision bf16,fp32 --threads 2 --json --quiet -o m.h5",
            "fit x --epsilon 1e-3 --epsilon-convention pydiffmap --memory 1.5GiB --trim auto",
            "fit x --select paper --no-ladder --beta0 1 --beta0-cap none --beta-max 4 --components 2 --seed 7",
            "transform model.h5 new.csv -o out.npy --time 0.5",
            "info model.h5 --json",
            "estimate points.npy -k 8 --precision fp64",
            "completions bash",
            "--version",
            "fit --help",
            "fti x",
            "fit x --modse 3",
        ]
    ):
        put("command_line", f"line-{number}", line.replace(" ", "\0"))


def histories():
    rng = np.random.default_rng(3)
    for number in range(6):
        put("flow", f"history-{number}", rng.integers(0, 250, size=400, dtype=np.uint8).tobytes())


npy()
npz()
text()
tables()
models(str(Path(sys.argv[1]).resolve()))
command_lines()
histories()
