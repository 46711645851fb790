"""log Gamma, its derivatives and its half step, Stirling's remainder: gamma.csv."""

from mpmath import log, loggamma, mp, mpf, pi, psi

from reference_table import log_grid, single, write

mp.dps = 100


def grid():
    points = log_grid(-30, 30, 4) + [k / 16 for k in range(1, 240)]
    for zero in (1, 2, 1.4616321449683623413, 1.1865):
        for k in range(1, 21):
            points += [single(zero - 2.0**-k), single(zero + 2.0**-k)]
    for branch in (0.5, 1.5, 2.5, 9.5, 10):
        points += [branch * (1 - 2.0**-20), branch, branch * (1 + 2.0**-20)]
    return sorted(set(points))


def values(x):
    x = mpf(x)
    half = x + mpf(1) / 2
    stirling = (x - mpf(1) / 2) * log(x) - x + log(2 * pi) / 2
    return (loggamma(x), psi(0, x), psi(1, x), loggamma(half) - loggamma(x),
            psi(0, half) - psi(0, x), loggamma(x) - stirling)


write("gamma",
      ["x", "log_gamma", "digamma", "trigamma", "log_gamma_half_step",
       "digamma_half_step", "stirling_remainder"],
      [(x,) + values(x) for x in grid()], "gamma.py", mp.dps)
