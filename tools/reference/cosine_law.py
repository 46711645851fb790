"""The law of the cosine w = mu.x under a von Mises-Fisher law, by quadrature.

Its density is exp(k w) (1 - w^2)^{(m-3)/2} / Z. With w = tanh(x) the integrand
becomes exp(k tanh x - (m-1) log cosh x), analytic in a strip around the real
line, so the trapezoidal rule converges exponentially; the step is halved until
every moment agrees with the previous one. No expansion, recurrence or Bessel
function is used anywhere.
"""

import functools
from dataclasses import dataclass

from mpmath import mp, mpf

mp.dps = 75
AGREED_DIGITS = 50


@dataclass
class CosineLaw:
    log_z: mpf  # log of the integral Z
    mean: mpf  # A = E[w]
    one_minus_mean: mpf
    variance: mpf  # A'
    third: mpf  # A'' = E[(w - A)^3]


def trapezoid(m, kappa, center, step):
    """Sums over the grid center + i*step, out to where terms no longer count."""
    negligible = mpf(10) ** (-mp.dps - 5)
    log_peak = log_integrand(m, kappa, center)
    points = []
    for direction in (0, 1):
        i = direction
        while True:
            x = center + (i if direction else -i) * step
            weight = mp.exp(log_integrand(m, kappa, x) - log_peak)
            if weight < negligible:
                break
            points.append((weight, 2 / (1 + mp.exp(2 * x))))  # weight, 1 - w
            i += 1
    total = mp.fsum(weight for weight, _ in points)
    gap = mp.fsum(weight * v for weight, v in points) / total
    variance = mp.fsum(weight * (gap - v) ** 2 for weight, v in points) / total
    third = mp.fsum(weight * (gap - v) ** 3 for weight, v in points) / total
    log_z = log_peak + mp.log(total * step)
    return CosineLaw(log_z, 1 - gap, gap, variance, third)


def log_integrand(m, kappa, x):
    u = mp.exp(-2 * abs(x))
    tanh = mp.sign(x) * (1 - u) / (1 + u)
    log_cosh = abs(x) + mp.log1p(u) - mp.log(2)
    return kappa * tanh - (m - 1) * log_cosh


def agree(a, b, scale):
    return abs(a - b) <= mpf(10) ** -AGREED_DIGITS * scale


@functools.lru_cache(maxsize=None)
def cosine_law(m, kappa):
    """The law for real m > 1 and kappa >= 0, to some 45 digits or more."""
    m, kappa = mpf(m), mpf(kappa)
    root = mp.sqrt(4 * kappa**2 + (m - 1) ** 2)
    mode = 2 * kappa / (m - 1 + root)
    # The integrand peaks at w = mode with curvature (1 - w^2) root.
    center = mp.atanh(mode)
    step = mpf(1) / 2 / mp.sqrt((1 - mode**2) * root)
    previous = trapezoid(m, kappa, center, step)
    for _ in range(8):
        step /= 2
        law = trapezoid(m, kappa, center, step)
        spread = mp.sqrt(law.variance)
        if (agree(law.log_z, previous.log_z, 1) and
                agree(law.mean, previous.mean, spread) and
                agree(law.variance, previous.variance, law.variance) and
                agree(law.third, previous.third, spread**3)):
            return law
        previous = law
    raise ArithmeticError(f"no agreement at m={m}, kappa={kappa}")


def log_partition(m, kappa):
    """Phi(k) = log(I_n(k) k^-n), n = m/2 - 1."""
    n = mpf(m) / 2 - 1
    constant = mp.log(mp.pi) / 2 + mp.loggamma(n + mpf(1) / 2) + n * mp.log(2)
    return cosine_law(m, kappa).log_z - constant
