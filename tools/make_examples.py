#!/usr/bin/env python3
"""Data for the quick starts of docs/quickstart.md: the same on every machine. Needs NumPy.

    tools/make_examples.py FOLDER

cells.csv, cell-types.csv   1,500 cells in 20 coordinates, named: a trunk that parts into two branches, and their types
frames.npy, states.csv      2,000 frames of a chain that turns about one bond in three wells: 15 distances, and the well of each frame;
positions.npy               the chain itself, frames × atoms × 3
images.npy, angles.csv      1,200 pictures of 16 × 16 pixels of a bar at any angle, and that angle
"""

import sys
from pathlib import Path

import numpy as np


def cells(rng, n=1500, columns=20):
    time, branch = rng.random(n), rng.integers(0, 2, n)
    after = np.clip(time - 0.45, 0, None)
    side = np.where(branch == 0, 1.0, -1.0) * after
    curve = np.stack([6 * time, 7 * side, 2.5 * np.sin(4 * time), 6 * after**2], axis=1)
    turn = np.linalg.qr(rng.normal(size=(columns, columns)))[0][:4]
    kinds = np.where(time < 0.45, "progenitor", np.where(branch == 0, "neuron", "glia"))
    return curve @ turn + 0.12 * rng.normal(size=(n, columns)), kinds


def frames(rng, n=2000):
    # Overdamped Langevin dynamics of one torsion in the potential 1.2 cos 3 phi.
    phi, angle = np.empty(n), 1.0
    for i in range(n):
        for _ in range(60):
            angle += 0.02 * 3.6 * np.sin(3 * angle) + np.sqrt(2 * 0.02) * rng.normal()
        phi[i] = angle
    chain = np.zeros((n, 6, 3))
    chain[:, :3] = [[0, 0.5, 2.0], [1.5, 0, 0], [2.0, 1.4, 0]]  # the first out of the plane: distances alone do not tell mirror images apart
    for atom, reach in ((3, 1.5), (4, 2.8), (5, 4.0)):
        chain[:, atom] = np.stack([2.0 + 0.4 * reach * np.ones(n), 1.4 + 0.6 * reach * np.cos(phi), 0.7 * reach * np.sin(phi)], axis=1)
    chain += 0.08 * rng.normal(size=chain.shape)
    first, second = np.triu_indices(6, 1)
    distances = np.linalg.norm(chain[:, first] - chain[:, second], axis=2)
    return distances, chain, np.floor(np.mod(phi, 2 * np.pi) / (2 * np.pi / 3)).astype(int)


def images(rng, n=1200, width=16):
    angles = np.pi * rng.random(n)
    y, x = np.mgrid[:width, :width] - (width - 1) / 2
    across = np.abs(x * np.sin(angles)[:, None, None] - y * np.cos(angles)[:, None, None])
    along = np.abs(x * np.cos(angles)[:, None, None] + y * np.sin(angles)[:, None, None])
    bars = np.exp(-((across / 1.6) ** 2)) * np.exp(-((along / 6) ** 4))
    return bars.reshape(n, -1) + 0.02 * rng.normal(size=(n, width * width)), np.degrees(angles)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder, rng = Path(sys.argv[1]), np.random.default_rng(2)
    folder.mkdir(parents=True, exist_ok=True)
    table, kinds = cells(rng)
    names = [f"cell-{i:04d}" for i in range(len(table))]
    head = "cell," + ",".join(f"pc{j + 1}" for j in range(table.shape[1]))
    (folder / "cells.csv").write_text("\n".join([head, *(f"{name}," + ",".join(f"{v:.4f}" for v in row) for name, row in zip(names, table))]) + "\n")
    (folder / "cell-types.csv").write_text("\n".join(["cell,type", *(f"{name},{kind}" for name, kind in zip(names, kinds))]) + "\n")
    table, positions, wells = frames(rng)
    np.save(folder / "positions.npy", positions.astype(np.float32))
    np.save(folder / "frames.npy", table.astype(np.float32))
    (folder / "states.csv").write_text("\n".join(["well", *(f"well {w + 1}" for w in wells)]) + "\n")
    table, angles = images(rng)
    np.save(folder / "images.npy", table.astype(np.float32))
    (folder / "angles.csv").write_text("\n".join(["angle", *(f"{a:.3f}" for a in angles)]) + "\n")


main()
