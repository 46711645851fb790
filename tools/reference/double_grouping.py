"""Moments of one doubly grouped weight: hadamard_moments.csv.

The moments of a component of a vMF direction are integrals over the cosine
(cosine_law.py) and over the direction orthogonal to the mean, which is uniform.
"""

from mpmath import exp, mpf

from cosine_law import cosine_law
from recompute import recompute


def component(m, kappa, mu):
    """First and second moment of x_j = w mu_j + sqrt(1-w^2) xi_j, where xi_j has
    mean 0 and mean square (1 - mu_j^2)/(m - 1)."""
    law = cosine_law(m, kappa)
    square = law.variance + law.mean**2
    mu = mpf(mu)
    across = (1 - square) * (1 - mu**2) / (mpf(m) - 1)
    return law.mean * mu, square * mu**2 + across


def radius(location, variance):
    location, variance = mpf(location), mpf(variance)
    return (exp(location + variance / 2), exp(2 * location + 2 * variance))


def weight(m_row, kappa_row, mu_row, location_row, variance_row, m_column,
           kappa_column, mu_column, location_column, variance_column):
    factors = [component(m_row, kappa_row, mu_row),
               component(m_column, kappa_column, mu_column),
               radius(location_row, variance_row),
               radius(location_column, variance_column)]
    mean, square = mpf(1), mpf(1)
    for first, second in factors:
        mean *= first
        square *= second
    return mean, square - mean**2


recompute("hadamard_moments",
          ["m_row", "kappa_row", "mu_row_ij", "M_row", "V_row", "m_col",
           "kappa_col", "mu_col_ij", "M_col", "V_col"],
          ["mean_W", "var_W"], weight)
