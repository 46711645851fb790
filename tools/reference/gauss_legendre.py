"""Gauss-Legendre rules on [0, 1]: gauss_legendre.csv."""

from mpmath import cos, legendre, mp, mpf, pi

from reference_table import write

mp.dps = 60


def slope(n, x):
    """The derivative of the Legendre polynomial P_n."""
    return n * (x * legendre(n, x) - legendre(n - 1, x)) / (x * x - 1)


def rule(n):
    """Nodes by Newton's method on P_n from Tricomi's estimate."""
    for i in range(n):
        x = -cos(pi * (i + mpf(3) / 4) / (n + mpf(1) / 2))
        for _ in range(8):
            x -= legendre(n, x) / slope(n, x)
        yield n, i, (1 + x) / 2, 1 / ((1 - x * x) * slope(n, x) ** 2)


write("gauss_legendre", ["n", "i", "node", "weight"],
      [row for n in (10, 16, 24) for row in rule(n)], "gauss_legendre.py",
      mp.dps)
