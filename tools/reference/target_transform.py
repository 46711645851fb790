#!/usr/bin/env python3
"""Moments of a number whose transform is normal: likelihood::TargetTransform,
the logarithm of 1 + y / offset from 0 to `end` with straight lines beyond.

By quadrature between the bends and multiples of the deviation.
Writes tests/data/reference/target_transform.csv.
"""

from mpmath import exp, linspace, log1p, mp, mpf, pi, quad, sqrt

import reference_table

DIGITS = 40
# offset, end
TRANSFORMS = [(0.25, 120.0), (1.0, 8.0)]
LOCATIONS = [-3.0, -0.125, 0.0, 1.0, 2.0, 5.875, 30.0]
DEVIATIONS = [2.0**-11, 0.125, 1.0, 4.0]


def number(z, offset, end):
    top = log1p(end / offset)
    if z <= 0:
        return offset * z
    if z <= top:
        return offset * (exp(z) - 1)
    return end + (z - top) * (offset + end)


def rows():
    for offset, end in TRANSFORMS:
        for location in LOCATIONS:
            for deviation in DEVIATIONS:
                o, e, m, s = map(mpf, (offset, end, location, deviation))
                reach = 16 * s
                bends = [b for b in (mpf(0), log1p(e / o)) if abs(b - m) < reach]
                points = sorted(set(linspace(m - reach, m + reach, 17) + bends))

                def density(z):
                    return exp(-(((z - m) / s) ** 2) / 2) / (s * sqrt(2 * pi))

                mean = quad(lambda z: number(z, o, e) * density(z), points)
                variance = quad(
                    lambda z: (number(z, o, e) - mean) ** 2 * density(z), points
                )
                yield offset, end, location, deviation, mean, variance


if __name__ == "__main__":
    mp.dps = DIGITS
    reference_table.write(
        "target_transform",
        ["offset", "end", "location", "deviation", "mean", "variance"],
        rows(),
        "target_transform.py",
        DIGITS,
    )
