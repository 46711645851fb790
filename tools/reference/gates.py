"""Laws of gates of units: normal_jeffreys.csv, hard_concrete.csv and
truncated_log_normal.csv.

Divergences and moments are integrals over the density of a gate, not the closed
forms of the library.
"""

from mpmath import erfi, exp, log, mp, mpf, pi, quad, sqrt

from reference_table import single, write

mp.dps = 40


def normal_jeffreys(log_alpha):
    """E log(density) + E log|z| of N(1, alpha), less its limit at infinity."""
    end = sqrt(exp(-log_alpha) / 2)
    pieces = [end * i / 8 for i in range(9)]

    def dawson(x):
        return sqrt(pi) / 2 * exp(-x * x) * erfi(x)
    return 2 * quad(dawson, pieces)


def logistic(x):
    return 1 / (1 + exp(-x))


def hard_concrete(log_alpha):
    """P(z != 0), E z and E z^2, integrated over the concrete variable's
    quantile function."""
    def gate(u):
        s = logistic((log(u / (1 - u)) + log_alpha) * 3 / 2)
        return min(max(s * mpf(12) / 10 - mpf(1) / 10, mpf(0)), mpf(1))

    def quantile(s):  # the u at which the concrete variable is s
        return logistic(log(s / (1 - s)) * 2 / 3 - log_alpha)
    low, high = quantile(mpf(1) / 12), quantile(mpf(11) / 12)
    pieces = [low + (high - low) * i / 4 for i in range(5)]
    return (1 - low, quad(gate, pieces) + 1 - high,
            quad(lambda u: gate(u) ** 2, pieces) + 1 - high)


def truncated_log_normal(mu, log_sigma):
    sigma = exp(log_sigma)
    low, high = (-20 - mu) / sigma, -mu / sigma
    low, high = max(low, mpf(-14)), min(high, mpf(14))
    pieces = [low + (high - low) * i / 24 for i in range(25)]

    def mean(function):
        return quad(lambda x: function(x) * exp(-x * x / 2) / sqrt(2 * pi),
                    pieces)
    mass = mean(lambda x: mpf(1))
    entropy = -mean(lambda x: -x * x / 2 - log(2 * pi) / 2) / mass \
        + log(mass) + log_sigma
    moments = [mean(lambda x: exp(k * (mu + sigma * x))) / mass for k in (1, 2)]
    return (log(mpf(20)) - entropy, *moments)


def main():
    alphas = [single(x) for x in
              (-40, -20, -10, -6, -5, -4.75, -3, -1, -0.6875, 0, 1, 3, 10)]
    # The integral ends at e^20 for the least of them: by its asymptote there.
    rows = []
    for x in alphas:
        value = mpf(x)
        if x < -10:
            alpha = exp(value)
            kl = (-value / 2 + (mp.euler + log(mpf(2))) / 2 - alpha / 2
                  - 3 * alpha**2 / 4 - 5 * alpha**3 / 2)
            slope = -(1 + alpha + 3 * alpha**2 + 15 * alpha**3) / 2
        else:
            kl = normal_jeffreys(value)
            end = sqrt(exp(-value) / 2)
            slope = -end * sqrt(pi) / 2 * exp(-end * end) * erfi(end)
        rows.append((x, kl, slope))
    write("normal_jeffreys", ["log_alpha", "kl", "slope"], rows, "gates.py",
          mp.dps)

    write("hard_concrete", ["log_alpha", "open", "mean", "square"],
          [(x, *hard_concrete(mpf(x)))
           for x in (single(y) for y in (-4.5, -2.5, -2, 0, 1, 4.5))],
          "gates.py", mp.dps)

    cases = [(-0.001, -5), (0, -5), (-1, 0), (-3, 1), (-19.5, 0.5), (-10, 2.5),
             (-0.25, -2), (-20, -4)]
    rows = []
    for mu, log_sigma in cases:
        mu, log_sigma = single(mu), single(log_sigma)
        values = truncated_log_normal(mpf(mu), mpf(log_sigma))
        rows.append((mu, log_sigma, *values))
    write("truncated_log_normal", ["mu", "log_sigma", "kl", "mean", "square"],
          rows, "gates.py", mp.dps)


main()
