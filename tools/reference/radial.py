"""Divergences of radial laws, the half-Cauchy law and the radius:
kl_radial.csv, halfcauchy_quantiles.csv, lognormal_radius.csv.

Divergences are expectations of log q - log p written with the moments of q,
and their gradients are numerical derivatives of that expression, so nothing
here repeats the rearranged formulas of the library.
"""

from mpmath import (diff, digamma, euler, exp, gamma, log, loggamma, mp, mpf,
                    pi, tan)

from recompute import recompute

mp.dps = 80


def kl_lognormal_gamma(mu, s2, shape, scale):
    """E log q of a log-normal and E log p from E log x = mu, E x."""
    entropy = mu + log(2 * pi * s2) / 2 + mpf(1) / 2
    mean = exp(mu + s2 / 2)
    expected_log_p = ((shape - 1) * mu - mean / scale - loggamma(shape) -
                      shape * log(scale))
    return -entropy - expected_log_p


def kl_lognormal_inverse_gamma(mu, s2, shape, scale):
    entropy = mu + log(2 * pi * s2) / 2 + mpf(1) / 2
    mean_inverse = exp(-mu + s2 / 2)
    expected_log_p = (shape * log(scale) - loggamma(shape) -
                      (shape + 1) * mu - scale * mean_inverse)
    return -entropy - expected_log_p


def kl_gamma(shape_q, rate_q, shape_p, rate_p):
    mean_log = digamma(shape_q) - log(rate_q)
    mean = shape_q / rate_q

    def expected_log(shape, rate):
        return (shape * log(rate) - loggamma(shape) + (shape - 1) * mean_log -
                rate * mean)

    return expected_log(shape_q, rate_q) - expected_log(shape_p, rate_p)


def kl_weibull(scale_q, shape_q, scale_p, shape_p):
    mean_log = log(scale_q) - euler / shape_q

    def expected_log(scale, shape):
        power = (scale_q / scale) ** shape * gamma(1 + shape / shape_q)
        return (log(shape) - shape * log(scale) + (shape - 1) * mean_log -
                power)

    return expected_log(scale_q, shape_q) - expected_log(scale_p, shape_p)


def kl_normal(mean_q, var_q, mean_p, var_p):
    square = var_q + (mean_q - mean_p) ** 2
    return (log(var_p / var_q) + square / var_p - 1) / 2


DIVERGENCES = {
    "lognormal_gamma_scale": kl_lognormal_gamma,
    "lognormal_invgamma": kl_lognormal_inverse_gamma,
    "gamma_gamma_rate": kl_gamma,
    "weibull_weibull": kl_weibull,
    "normal_normal": kl_normal,
    "lognormal_lognormal": kl_normal,
}


def divergence(family, *parameters):
    function = DIVERGENCES[family]
    point = tuple(mpf(x) for x in parameters)
    yield function(*point)
    for i in range(4):
        orders = tuple(int(i == j) for j in range(4))
        yield diff(function, point, orders)


def half_cauchy(scale, probability):
    scale, probability = mpf(scale), mpf(probability)
    quantile = scale * tan(pi * probability / 2)
    density = 2 / (pi * scale * (1 + (quantile / scale) ** 2))
    return quantile, quantile**2, density


def radius(*factors):
    """Moments of r = sqrt(product of four log-normal factors)."""
    mu = [mpf(x) / 2 for x in factors[0::2]]
    s2 = [mpf(x) / 4 for x in factors[1::2]]
    location, spread = sum(mu), sum(s2)
    mean = exp(location + spread / 2)
    variance = exp(2 * location + 2 * spread) - mean**2
    local = sum(mu[:2]) - sum(s2[:2])
    product = 2 * sum(mu[:2]) - 4 * sum(s2[:2])
    return mean, variance, location - spread, local, product


recompute("kl_radial", ["family", "q1", "q2", "p1", "p2"],
          ["kl", "dkl_dq1", "dkl_dq2", "dkl_dp1", "dkl_dp2"], divergence)
recompute("halfcauchy_quantiles", ["gamma", "prob"],
          ["quantile", "quantile_of_square", "pdf_at_quantile"], half_cauchy)
recompute("lognormal_radius",
          ["mu_alpha", "s2_alpha", "mu_beta", "s2_beta", "mu_sa", "s2_sa",
           "mu_sb", "s2_sb"],
          ["mean_r", "var_r", "log_mode_r", "log_mode_local",
           "log_mode_alpha_beta_product"], radius)
