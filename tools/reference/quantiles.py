#!/usr/bin/env python3
"""Quantiles of the distributions that kernels/random.h draws from.

Roots of the cumulative distribution function; gamma has scale 1, the others
are standard and ignore `shape`. Probabilities are multiples of a power of two.
Writes tests/data/reference/quantiles.csv.
"""

import mpmath
from mpmath import mp, mpf

import reference_table

DIGITS = 30
SHAPES = [0.1, 0.5, 1.0, 2.5, 100.0, 1e5]
TAIL = [2.0**-k for k in (16, 13, 10, 7)]
PROBABILITIES = TAIL + [k / 16 for k in range(1, 16)] + [1 - p for p in TAIL[::-1]]


def gamma_quantile(shape, probability):
    """Bisects in log x between the quantiles of 1e-30 and 1 - 1e-30."""
    low = (mpmath.log(mpf(10)**-30) + mpmath.loggamma(shape + 1)) / shape
    high = mpmath.log(shape + 20 * mpmath.sqrt(shape) + 100)
    while high - low > mpf(10)**-25:
        middle = (low + high) / 2
        tail = mpmath.gammainc(shape, mpmath.exp(middle), regularized=True)
        if 1 - tail < probability:
            low = middle
        else:
            high = middle
    return mpmath.exp((low + high) / 2)


def normal_quantile(probability):
    return mpmath.sqrt(2) * mpmath.erfinv(2 * mpf(probability) - 1)


def rows():
    for p in PROBABILITIES:
        yield "uniform", 0.0, p, mpf(p)
    for p in PROBABILITIES:
        yield "normal", 0.0, p, normal_quantile(p)
    for p in PROBABILITIES:
        yield "exponential", 0.0, p, -mpmath.log1p(-mpf(p))
    for shape in map(reference_table.single, SHAPES):
        for p in PROBABILITIES:
            yield "gamma", shape, p, gamma_quantile(mpf(shape), p)


if __name__ == "__main__":
    mp.dps = DIGITS
    reference_table.write("quantiles",
                          ["distribution", "shape", "probability", "quantile"],
                          rows(), "quantiles.py", DIGITS)
