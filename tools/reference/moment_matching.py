"""Moments of a normal number after a ReLU, by quadrature: relu_moments.csv."""

from mpmath import diff, exp, inf, mp, mpf, pi, quad, sqrt

from reference_table import single, write

mp.dps = 40


def raw_moment(power, mean, variance):
    """E[max(x, 0)^power]; the integrand is scaled to its size at 0."""
    deviation = sqrt(variance)
    low = -mean / deviation
    points = [low + mpf(k) for k in
              ("0", "0.03", "0.1", "0.2", "0.4", "0.7", "1", "2", "4", "10")]
    points = sorted({p for p in points + [mpf(0), mpf(8)] if p >= low}) + [inf]
    top = low * low if low > 0 else mpf(0)
    return exp(-top / 2) * quad(
        lambda t: (mean + deviation * t) ** power * exp((top - t * t) / 2),
        points) / sqrt(2 * pi)


def first(mean, variance):
    return raw_moment(1, mean, variance)


def second_central(mean, variance):
    return raw_moment(2, mean, variance) - first(mean, variance) ** 2


def row(mean, variance):
    at = (mpf(mean), mpf(variance))
    return (mean, variance, first(*at), second_central(*at),
            diff(first, at, (1, 0)), diff(first, at, (0, 1)),
            diff(second_central, at, (1, 0)), diff(second_central, at, (0, 1)))


cases = [(0.5, 0.25), (-1, 0.25), (0, 1), (0, 0.01), (3, 1), (-3, 1),
         (-1, 0.02), (1, 0.02), (-10, 1), (10, 1), (0.1, 30), (-0.1, 30),
         (-2, 0.01), (1e-3, 1e-8)]
write("relu_moments",
      ["mean", "variance", "relu_mean", "relu_variance", "mean_by_mean",
       "mean_by_variance", "variance_by_mean", "variance_by_variance"],
      [row(single(m), single(v)) for m, v in cases], "moment_matching.py",
      mp.dps)
