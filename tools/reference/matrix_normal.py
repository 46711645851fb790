"""Divergences of the matrix normal posterior: matrix_normal.csv and
relative_noise.csv.

The divergence from a prior with two unknown precisions is minimised over both
Gamma posteriors, four numbers, by finding the zero of its gradient.
"""

from mpmath import diff, digamma, findroot, log, loggamma, mp, mpf

from reference_table import single, write

mp.dps = 50

PRIOR_SHAPE = mpf(1)
PRIOR_RATE = mpf("0.5")


def kl_gamma(a, b):
    return ((a - PRIOR_SHAPE) * digamma(a) - loggamma(a) + loggamma(PRIOR_SHAPE)
            + PRIOR_SHAPE * (log(b) - log(PRIOR_RATE))
            + a * (PRIOR_RATE - b) / b)


def kl_unknown(count, squares, log_scales, a_r, b_r, a_c, b_c):
    mean = a_r / b_r * a_c / b_c
    mean_log = digamma(a_r) - log(b_r) + digamma(a_c) - log(b_c)
    return ((mean * squares - count - count * mean_log) / 2 - log_scales
            + kl_gamma(a_r, b_r) + kl_gamma(a_c, b_c))


def optimum(count, squares, log_scales):
    def gradient(*logs):
        def value(*x):
            return kl_unknown(count, squares, log_scales, *map(mp.exp, x))
        return [diff(value, logs, tuple(int(i == k) for i in range(4)))
                for k in range(4)]
    shape = log(1 + count / 2)
    start = (shape + mpf("0.01"), shape + log(squares + 1) / 4,
             shape - mpf("0.01"), shape + log(squares + 1) / 4 - log(count) / 4)
    return [mp.exp(x) for x in findroot(gradient, start, tol=mpf(10) ** -60)]


def row(count, squares, log_scales):
    exact = [mpf(x) for x in (count, squares, log_scales)]
    a_r, b_r, a_c, b_c = optimum(*exact)
    assert abs(a_r / a_c - 1) < mpf(10) ** -25
    assert abs(b_r / b_c - 1) < mpf(10) ** -25
    return (count, squares, log_scales,
            (exact[1] - exact[0]) / 2 - exact[2], a_r, b_r,
            kl_unknown(*exact, a_r, b_r, a_c, b_c))


def main():
    cases = [(6, 2.5, -3), (6, 9, 0), (1, 0.01, -4), (12, 100, -20),
             (650, 30, -1200), (650, 900, -40), (50, 50, 0), (400000, 4e4, -1e6)]
    write("matrix_normal",
          ["count", "squares", "log_scales", "kl_known", "shape", "rate",
           "kl_unknown"],
          [row(*(single(x) for x in case)) for case in cases],
          "matrix_normal.py", mp.dps)

    def entropy(x):
        return (log(x) / 2 + mpf("1.16145124") * x - mpf("1.50204118") * x**2
                + mpf("0.58629921") * x**3)
    alphas = [single(x) for x in (1e-8, 1e-4, 0.005, 0.05, 0.3, 0.7, 1)]
    write("relative_noise", ["alpha", "entropy", "slope"],
          [(x, entropy(mpf(x)), mpf(x) * diff(entropy, mpf(x)))
           for x in alphas], "matrix_normal.py", mp.dps)


main()
