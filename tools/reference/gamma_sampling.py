"""How a Gamma(a, 1) draw moves with its shape at fixed probability:
gamma_sample_derivative.csv, dx/da = -(dP/da) / p(x), where P is mpmath's
regularised incomplete gamma function, differentiated by central differences in
high precision.
"""

from mpmath import exp, gammainc, log, loggamma, mp, mpf, sqrt

from reference_table import single, write

mp.dps = 110
STEP = mpf(10) ** -30


def derivative(shape, x):
    a, x = mpf(shape), mpf(x)

    def probability(shift):
        return gammainc(a + shift, 0, x, regularized=True)

    slope = (probability(STEP) - probability(-STEP)) / (2 * STEP)
    density = exp((a - 1) * log(x) - x - loggamma(a))
    return -slope / density


def points():
    for shape in (0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 29.0):
        for x in (1e-30, 1e-10, 1e-4, 0.01, 0.1, 0.3, 0.55, 0.57, 0.7, 1.0, 1.5,
                  2.0, 2.5, 4.0, 8.0, 15.0, 29.5, 30.0, 60.0):
            if x < shape + 12 * float(sqrt(shape)) + 30:
                yield single(shape), single(x)
    for shape in (30.0, 31.0, 100.0, 1e3, 1e4, 1e6):
        for deviations in (-5, -3, -1, -0.5, -0.2, 0, 0.2, 0.5, 1, 3, 6, 9):
            yield shape, single(shape + deviations * float(sqrt(shape)))


write("gamma_sample_derivative", ["shape", "x", "derivative"],
      [(a, x, derivative(a, x)) for a, x in points()], "gamma_sampling.py", 40)
