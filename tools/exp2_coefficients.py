#!/usr/bin/env python3
"""Coefficients of the exp2 polynomials in src/kernel/gaussian.hpp: Remez exchange for the relative error of 2^f on [-1/2, 1/2], and
of 2^(m - 1) on [1, 2] for fixed point.

Needs mpmath. Prints, for each degree, the coefficients from constant to leading and the largest relative error.
"""
import mpmath as mp

mp.mp.dps = 50


def remez(degree, low=mp.mpf(-0.5), high=mp.mpf(0.5), shift=0, rounds=12):
    points = degree + 2
    nodes = [(low + high) / 2 + (high - low) / 2 * mp.cos(mp.pi * (points - 1 - i) / (points - 1)) for i in range(points)]
    for _ in range(rounds):
        # p(x_i) / 2^(x_i - shift) + (-1)^i E = 1
        system, right = mp.matrix(points), mp.matrix(points, 1)
        for i, x in enumerate(nodes):
            for j in range(degree + 1):
                system[i, j] = x**j / mp.power(2, x - shift)
            system[i, degree + 1] = (-1) ** i
            right[i] = 1
        solution = mp.lu_solve(system, right)
        coefficients = [solution[j] for j in range(degree + 1)]
        error = lambda x: mp.polyval(coefficients[::-1], x) / mp.power(2, x - shift) - 1
        grid = [low + (high - low) * mp.mpf(i) / 2000 for i in range(2001)]
        values = [error(x) for x in grid]
        extrema = [0] + [i for i in range(1, 2000) if abs(values[i]) >= abs(values[i - 1]) and abs(values[i]) > abs(values[i + 1])] + [2000]
        if len(extrema) != points:
            break
        nodes = [grid[i] for i in extrema]
    return coefficients, max(abs(v) for v in values)


def tell(what, coefficients, error):
    print(f"{what}: relative error {mp.nstr(error, 3)}")
    print("  " + ", ".join(mp.nstr(c, 20) for c in coefficients))


for degree in (3, 5, 6, 10, 11):
    tell(f"degree {degree}", *remez(degree))
for degree in (2, 3, 4):
    tell(f"fixed point, degree {degree}", *remez(degree, mp.mpf(1), mp.mpf(2), 1))
