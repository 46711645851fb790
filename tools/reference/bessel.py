#!/usr/bin/env python3
"""Reference values of I_nu(z)/I_{nu-1}(z) and log I_nu(z).

The ratio is the mean cosine of a von Mises-Fisher law in dimension 2 nu and
the logarithm comes from its normalising integral, both by quadrature
(cosine_law.py). Writes bessel_ratio.csv and log_bessel.csv.
"""

import math
import random

from mpmath import mp, mpf

import reference_table
from cosine_law import AGREED_DIGITS, cosine_law, log_partition
from reference_table import single

ORDERS = [1, 1.5, 2, 5, 10, 50, 100, 500, 1000, 5000, 1e4, 1e5, 1e6]
ARGUMENTS = [single(z) for z in (
    1e-6, 1e-4, 1e-2, 0.1, 1, math.sqrt(10), 10, math.sqrt(1000), 100,
    math.sqrt(1e5), 1000, 1e4, 1e5, 1e6, 1e7)]
# Distances sqrt(nu^2 + z^2) at which implementations change method.
RADII = [24, 36, 110, 190, 2600]


def ratio(nu, z):
    if nu == 0.5:
        return mp.tanh(mpf(z))
    return cosine_law(2 * nu, z).mean


def log_bessel(nu, z):
    return log_partition(2 * nu + 2, z) + nu * mp.log(mpf(z))


def near_radii():
    """Both sides of every radius, along four directions."""
    for radius in RADII:
        for z_share in (0.1, 0.5, 0.9, 0.99):
            nu = round(2 * radius * math.sqrt(1 - z_share**2)) / 2
            z = math.sqrt(max(radius**2 - nu**2, 1e-4))
            for factor in (0.97, 1.03):
                yield nu, single(z * factor)


def scattered(count):
    """Orders and arguments spread evenly in the logarithm."""
    generator = random.Random(20190517)
    for _ in range(count):
        nu = round(2 * 10 ** generator.uniform(0, 6)) / 2
        yield nu, single(10 ** generator.uniform(-6, 7))


def main():
    grid = [(nu, z) for nu in ORDERS for z in ARGUMENTS]
    grid += [(nu, z) for nu in (1, 3.5, 12, 27, 27.5, 54.5, 55, 56)
             for z in (5.0, 20.0, 54.0, 55.0, 56.0)]
    grid += [*near_radii(), *scattered(60)]
    grid = [(float(nu), z) for nu, z in grid]
    lowest = [(0.5, z) for z in ARGUMENTS]
    zero_order = [(0.0, z) for z in ARGUMENTS]
    reference_table.write(
        "bessel_ratio", ["nu", "z", "ratio"],
        [(nu, z, ratio(nu, z)) for nu, z in lowest + grid],
        "bessel.py", AGREED_DIGITS)
    reference_table.write(
        "log_bessel", ["nu", "z", "log_i"],
        [(nu, z, log_bessel(nu, z)) for nu, z in zero_order + lowest + grid],
        "bessel.py", AGREED_DIGITS)


if __name__ == "__main__":
    main()
