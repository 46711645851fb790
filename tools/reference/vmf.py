#!/usr/bin/env python3
"""Reference values of the von Mises-Fisher law: normaliser, moments of the
cosine to the mean direction, and the divergence between two laws with its
derivatives, from their definitions and quadrature (cosine_law.py). Writes
vmf_log_normaliser.csv, vmf_moments.csv and vmf_kl.csv.
"""

import math

from mpmath import mp, mpf

import reference_table
from cosine_law import AGREED_DIGITS, cosine_law, log_partition
from reference_table import single

DIMENSIONS = [2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 784, 1000, 10**4, 10**5,
              10**6]
ROOT10 = math.sqrt(10)


def log_normaliser(m, kappa):
    return -mpf(m) / 2 * mp.log(2 * mp.pi) - log_partition(m, kappa)


def normaliser_rows():
    for m in DIMENSIONS:
        for share in (0, 1e-3, 0.1, 1 / ROOT10, 1, ROOT10, 10, 100):
            kappa = single(share * m)
            yield m, kappa, log_normaliser(m, kappa)


def moments(m, kappa):
    if kappa == 0:
        return mpf(0), mpf(1) / m, mpf(0), mpf(1), mpf(1) / m
    law = cosine_law(m, kappa)
    return (law.mean, law.variance, law.third, law.one_minus_mean,
            law.mean / mpf(kappa))


def moment_rows():
    for m in DIMENSIONS:
        kappas = [single(share * m) for share in (
            0, 1e-6, 1e-3, 0.1, 1 / ROOT10, 1, ROOT10, 10, 100, 1000)] + [1e7]
        # Both sides of the distances sqrt((m/2-1)^2 + kappa^2) at which
        # implementations change method.
        for radius in (24, 36, 110, 190, 2600):
            rest = radius**2 - (m / 2 - 1) ** 2
            if rest > 0:
                kappas += [single(math.sqrt(rest) * f) for f in (0.97, 1.03)]
        for kappa in kappas:
            yield m, kappa, *moments(m, kappa)


def divergence_inputs(m):
    """Pairs of concentrations with a cosine, near and far from each other."""
    k = float(m)
    yield k, 0.0, 1.0
    yield 0.1 * k, k, 1.0
    yield k, k, 0.5
    yield k, 0.5 * k, 1.0
    yield 10 * k, k, -1.0
    for change in (1e-3, 1e-5, -3e-7, 0.05, 0.3, -0.3, -0.48, 0.8, 2.5):
        yield k, (1 + change) * k, 1.0
    yield 30 * k, 45 * k, 1.0
    yield 30 * k, 46 * k, 0.75
    yield 0.0, k, 0.25
    yield 1e-3 * k, 2e-3 * k, 0.0
    yield 50 * k, 60 * k, 0.999
    yield 1.0, 0.0, 1.0
    yield 1e-3, 1e3, 1.0
    yield 1e5, 1e-2, 1.0
    # Where small kappas are far apart, but not by much.
    yield 32.0, 16.5, 1.0
    yield 34.75, 8.25, 1.0
    yield 21.25, 32.25, 0.875
    yield 0.015625, 9.5, 1.0


def divergence(m, kappa_q, kappa_p, cosine):
    """The divergence and its derivatives with respect to kappa_q, the cosine
    and kappa_p."""
    mean_q, variance_q = moments(m, kappa_q)[:2]
    mean_p = moments(m, kappa_p)[0]
    k_q, k_p, c = mpf(kappa_q), mpf(kappa_p), mpf(cosine)
    value = ((k_q - k_p * c) * mean_q + log_normaliser(m, kappa_q) -
             log_normaliser(m, kappa_p))
    return (value, (k_q - k_p * c) * variance_q, -k_p * mean_q,
            mean_p - c * mean_q)


def divergence_rows():
    for m in DIMENSIONS:
        for inputs in divergence_inputs(m):
            inputs = [single(x) for x in inputs]
            yield m, *inputs, *divergence(m, *inputs)


def main():
    for name, columns, rows in (
            ("vmf_log_normaliser", ["m", "kappa", "log_c"], normaliser_rows()),
            ("vmf_moments", ["m", "kappa", "E_omega", "Var_omega", "d2A",
                             "one_minus_A", "A_over_kappa"], moment_rows()),
            ("vmf_kl", ["m", "kappa_q", "kappa_p", "cos", "kl", "dkl_dkappa_q",
                        "dkl_dcos", "dkl_dkappa_p"], divergence_rows())):
        reference_table.write(name, columns, rows, "vmf.py", AGREED_DIGITS)


if __name__ == "__main__":
    main()
