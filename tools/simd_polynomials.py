#!/usr/bin/env python3
"""Prints the polynomials of src/kernels/simd_math.h, and kMills of
src/kernels/draw_sums.isa.cpp.

Each interpolates its function at the Chebyshev nodes of the interval, which is
within a small factor of the best polynomial of that degree; the error is that
of the elementary function it serves, relative to it.
"""

import mpmath
from mpmath import atanh, cos, expm1, log, mp, mpf, pi, sin, sqrt

mp.dps = 50


def log_part(z):
    s = sqrt(z)
    return (2 * atanh(s) / s - 2) / z


def exp_part(r):
    return (expm1(r) - r) / r**2 if abs(r) > 1e-9 else mpf(1) / 2 + r / 6


def sin_part(z):
    f = sqrt(z)
    return sin(pi / 2 * f) / f


def cos_part(z):
    return (cos(pi / 2 * sqrt(z)) - 1) / z


def mills_part(t):
    """(z + 3/2) Phi(-z) / phi(z), t = (z - 4) / (z + 4)."""
    z = 4 * (1 + t) / (1 - t)
    return (z + mpf(3) / 2) * mpmath.erfc(z / sqrt(2)) / 2 * sqrt(2 * pi) * mpmath.exp(z * z / 2)


S = sqrt(2) - 1  # largest |s| of log is S^2
R = log(2) / 2
# name, function, interval, terms (float, double), derivative of the relative
# error of the elementary function with respect to the polynomial
FITS = [
    ("kLog", log_part, 0, S**4, (3, 7), lambda z: z / 2),
    ("kExp", exp_part, -R, R, (5, 10), lambda r: abs(r)),
    ("kSin", sin_part, 0, mpf(1) / 4, (4, 7), lambda z: 1 / sin_part(z)),
    ("kCos", cos_part, 0, mpf(1) / 4, (4, 7), lambda z: z / cos(pi / 2 * sqrt(z))),
    ("kMills", mills_part, -1, 1, (10, 22), lambda t: 1 / mills_part(t)),
]


def nodes(low, high, count):
    return [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * count))
            for k in range(count)]


def interpolate(function, low, high, terms):
    """Coefficients, lowest power first."""
    x = nodes(low, high, terms)
    powers = mpmath.matrix([[v**j for j in range(terms)] for v in x])
    return list(mpmath.lu_solve(powers, mpmath.matrix([function(v) for v in x])))


def main():
    for name, function, low, high, terms, relative in FITS:
        for count, digits in zip(terms, (9, 17)):
            c = interpolate(function, low, high, count)
            worst = max(abs(mpmath.polyval(c[::-1], x) - function(x)) * relative(x)
                        for x in nodes(low, high, 1000))
            print(f"{name}: error 2^{mpmath.nstr(log(worst, 2), 3)}:",
                  ", ".join(mpmath.nstr(v, digits) for v in c))


if __name__ == "__main__":
    main()
