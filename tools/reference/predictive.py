"""Predictive log-likelihoods with a Gamma precision: predictive_ll.csv.

The mixture and the expectation are integrals over the precision tau, by
the trapezoidal rule in log tau; no closed form of them is used.
"""

from mpmath import exp, fsum, log, loggamma, mp, mpf, pi, sqrt

from recompute import recompute

mp.dps = 40


def expectation(function, a, b, residual):
    """E[function(tau)] under Gamma(shape a, rate b).

    With tau = exp(t) the integrand is analytic and falls off exponentially on
    both sides, so the trapezoidal rule converges exponentially. The grid spans
    the bulk of the prior and of the posterior given the residual, whose rate
    is b + residual^2/2."""
    width = 1 / sqrt(a)
    step = min(width / 8, mpf(1) / 32)
    low = log(a / (b + residual**2 / 2)) - max(14 * width, 100 / a) - 5
    high = log((a + 1) / b) + 14 * width + 5

    def integrand(t):
        log_density = a * (t + log(b)) - b * exp(t) - loggamma(a)
        return exp(log_density) * function(exp(t))

    count = int((high - low) / step)
    return step * fsum(integrand(low + i * step) for i in range(count))


def log_normal_density(tau, residual):
    return (log(tau) - log(2 * pi) - tau * residual**2) / 2


def likelihoods(count, a, b, mean, std, target, *outputs):
    a, b, mean, std = mpf(a), mpf(b), mpf(mean), mpf(std)
    residuals = [(mpf(target) - mean) / std - mpf(f)
                 for f in outputs[:int(count)]]
    densities = [expectation(lambda tau: exp(log_normal_density(tau, r)),
                             a, b, r) for r in residuals]
    expected = [expectation(lambda tau: log_normal_density(tau, r), a, b, r)
                for r in residuals]
    mixture = sum(densities) / len(densities)
    return (log(densities[0]), log(mixture) - log(std),
            sum(expected) / len(expected) - log(std))


recompute("predictive_ll",
          ["S", "a", "b", "target_mean", "target_std", "y_raw", "f1", "f2",
           "f3", "f4"],
          ["student_ll_f1_standardised", "predictive_ll_raw",
           "expected_ll_raw"], likelihoods)
