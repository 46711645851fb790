"""The cosine of a von Mises-Fisher draw and derivatives of expectations:
vmf_acceptance.csv, vmf_implicit.csv, vmf_reparam_gradient.csv,
vmf_exp_linear_gradient.csv.

Everything is an integral over the law of the cosine w. Derivatives of
expectations are covariances with w (the score), so no reparameterisation
appears here.
"""

from mpmath import mp, mpf

from cosine_law import cosine_law, log_integrand, log_partition
from recompute import recompute


def acceptance(m, kappa):
    """Ratio of the integrals of target and envelope, log C(0) - log C(k) being
    Phi(k) - Phi(0)."""
    m, kappa = mpf(m), mpf(kappa)
    s = mp.sqrt(4 * kappa**2 + (m - 1) ** 2)
    x0 = 2 * kappa / (m - 1 + s)
    log_rate = (log_partition(m, kappa) - log_partition(m, mpf(0)) -
                kappa * x0 - (m - 1) / 2 * mp.log(1 - x0**2))
    return x0, s, mp.exp(log_rate)


def tail_integrals(m, kappa, w):
    """Integrals of p and of w p over (-1, w), p the density at its peak scaled
    to one, and p(w) itself; in x = atanh w, by tanh-sinh quadrature."""
    root = mp.sqrt(4 * kappa**2 + (m - 1) ** 2)
    center = mp.atanh(2 * kappa / (m - 1 + root))
    scale = 1 / mp.sqrt((1 - mp.tanh(center) ** 2) * root)
    peak = log_integrand(m, kappa, center)
    end = mp.atanh(w)

    def density(x):
        return mp.exp(log_integrand(m, kappa, x) - peak)

    start = min(center, end)
    while density(start) > mpf(10) ** -60:
        start -= 4 * scale
    count = int((end - start) / (2 * scale)) + 1
    cuts = [start + (end - start) * i / count for i in range(count + 1)]
    mass = mp.quad(density, cuts)
    moment = mp.quad(lambda x: mp.tanh(x) * density(x), cuts)
    # dx = dw/(1 - w^2): `density` is p(w) (1 - w^2).
    return mass, moment, density(end) / (1 - w**2), peak


def implicit(m, kappa, omega):
    m, kappa, w = mpf(m), mpf(kappa), mpf(omega)
    law = cosine_law(m, kappa)
    mass, moment, density, peak = tail_integrals(m, kappa, w)
    total = mp.exp(law.log_z - peak)
    velocity = (law.mean * mass - moment) / density
    s = mp.sqrt(4 * kappa**2 + (m - 1) ** 2)
    rejection = (1 - w**2) / s
    correction = w - law.mean + (kappa * (1 - w**2) - (m - 1) * w) / s
    return mass / total, velocity, rejection, correction


FUNCTIONS = {
    "omega": lambda w: w,
    "omega^2": lambda w: w**2,
    "exp(1*omega)": mp.exp,
    "exp(-3*omega)": lambda w: mp.exp(-3 * w),
    "tanh(3*omega)": lambda w: mp.tanh(3 * w),
    "log(1.5-omega)": lambda w: mp.log(mpf(3) / 2 - w),
}


def expectation_gradient(name, m, kappa):
    """E[f] and Cov(f, w) by the trapezoidal rule in x = atanh w."""
    m, kappa = mpf(m), mpf(kappa)
    f = FUNCTIONS[name]
    root = mp.sqrt(4 * kappa**2 + (m - 1) ** 2)
    center = mp.atanh(2 * kappa / (m - 1 + root))
    step = 1 / mp.sqrt((1 - mp.tanh(center) ** 2) * root)
    # tanh(3w) has poles off the real axis: the step must resolve them.
    step = min(step / 24, mpf(1) / 200)
    peak = log_integrand(m, kappa, center)
    points = []
    for direction in (1, -1):
        i = 0 if direction == 1 else 1
        while True:
            x = center + direction * i * step
            weight = mp.exp(log_integrand(m, kappa, x) - peak)
            if weight < mpf(10) ** -40:
                break
            points.append((weight, mp.tanh(x)))
            i += 1
    total = mp.fsum(p for p, _ in points)
    mean = mp.fsum(p * w for p, w in points) / total
    mean_f = mp.fsum(p * f(w) for p, w in points) / total
    covariance = mp.fsum(p * f(w) * (w - mean) for p, w in points) / total
    return mean_f, covariance


def exp_linear(m, kappa, a_par, a_perp):
    """E[exp(a.x)] = exp(Phi(|k mu + a|) - Phi(k)) and its derivatives."""
    m, kappa, a_par, a_perp = mpf(m), mpf(kappa), mpf(a_par), mpf(a_perp)
    tilted = mp.sqrt((kappa + a_par) ** 2 + a_perp**2)
    expectation = mp.exp(log_partition(m, tilted) - log_partition(m, kappa))
    mean = cosine_law(m, tilted).mean
    along = mean * (kappa + a_par) / tilted - cosine_law(m, kappa).mean
    across = mean * kappa * a_perp / tilted
    return expectation, expectation * along, expectation * across


recompute("vmf_acceptance", ["m", "kappa"], ["x0", "s", "accept_rate"],
          acceptance)
recompute("vmf_exp_linear_gradient", ["m", "kappa", "a_par", "a_perp"],
          ["E_exp", "dE_dkappa", "dE_dmu_perp"], exp_linear)
mp.dps = 40
recompute("vmf_reparam_gradient", ["f", "m", "kappa"], ["E_f", "dE_dkappa"],
          expectation_gradient)
mp.dps = 75
recompute("vmf_implicit", ["m", "kappa", "omega"],
          ["cdf", "domega_dkappa_implicit", "domega_dkappa_rejection",
           "correction_coeff_rejection"], implicit)
