#!/usr/bin/env python3
"""The README's picture, from the files that `flashdiffusion demo` leaves: the roll and its first two diffusion coordinates.

Needs numpy, h5py and matplotlib. Usage: plot_demo.py FOLDER OUT.png
"""
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

folder, out = sys.argv[1:3]
points = np.load(f"{folder}/demo.npy")
with h5py.File(f"{folder}/demo-model.h5") as model:
    psi, values, beta = model["psi"][:], model["eigenvalues"][:], model.attrs["beta"]
    sweep = {name: model[f"sweep/{name}"][:] for name in ("beta", "v", "v_bias", "v_stat")}

figure = plt.figure(figsize=(12, 3.6))
axes = figure.add_subplot(131, projection="3d")
axes.scatter(*points.T, c=psi[:, 0], s=4, cmap="viridis")
axes.set_title("2000 points of a Swiss roll,\ncoloured by the first diffusion coordinate", fontsize=9)
axes.set_xticklabels([]), axes.set_yticklabels([]), axes.set_zticklabels([])
axes = figure.add_subplot(132)
axes.scatter(values[0] * psi[:, 0], values[1] * psi[:, 1], c=psi[:, 0], s=4, cmap="viridis")
axes.set_xlabel(r"$\lambda_1\psi_1$"), axes.set_ylabel(r"$\lambda_2\psi_2$")
axes.set_title("its diffusion map", fontsize=9)
axes = figure.add_subplot(133)
order = np.argsort(sweep["beta"])
for name, label in (("v", "V"), ("v_bias", "bias"), ("v_stat", "sampling")):
    axes.plot(sweep["beta"][order], sweep[name][order], "o-", ms=4, label=label)
axes.axvline(beta, color="grey", lw=1, ls=":")
axes.set_xscale("log"), axes.set_yscale("log"), axes.set_xlabel(r"bandwidth $\beta$"), axes.legend(fontsize=8)
axes.set_title(rf"the resolution potential and its minimum, $\beta$ = {beta:.3g}", fontsize=9)
figure.tight_layout()
figure.savefig(out, dpi=80)
