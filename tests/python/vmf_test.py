"""radir.vmf against closed forms and samples."""

import unittest

import numpy as np

import radir
from radir import vmf


class VmfTest(unittest.TestCase):
    def test_dimension_three_has_closed_forms(self):
        kappa = np.array([[0.1, 1.0], [10.0, 300.0]])
        log_c = np.log(kappa) - np.log(4 * np.pi) - kappa - np.log(-np.expm1(-2 * kappa) / 2)
        np.testing.assert_allclose(vmf.log_normalizer(3, kappa), log_c, rtol=1e-12)
        mean = 1 / np.tanh(kappa) - 1 / kappa
        np.testing.assert_allclose(vmf.mean_cosine(3, kappa), mean, rtol=1e-10)
        np.testing.assert_allclose(vmf.entropy(3, kappa), -log_c - kappa * mean, rtol=1e-10)
        variance = 1 / kappa**2 - 1 / np.sinh(np.minimum(kappa, 300)) ** 2
        np.testing.assert_allclose(vmf.cosine_variance(3, kappa), variance, rtol=1e-9)

    def test_bessel_functions(self):
        z = np.array([0.5, 2.0, 30.0])
        half = np.sqrt(2 / (np.pi * z)) * np.sinh(z)
        np.testing.assert_allclose(vmf.log_bessel_i(0.5, z), np.log(half), rtol=1e-12)
        ratio = 1 / np.tanh(z) - 1 / z
        np.testing.assert_allclose(vmf.bessel_ratio(1.5, z), ratio, rtol=1e-12)
        self.assertIsInstance(vmf.bessel_ratio(1.5, 2.0), float)
        self.assertTrue(np.isfinite(vmf.log_bessel_i(1000.0, 1e-3)))  # SciPy: log 0

    def test_kl(self):
        law = vmf.vonmises_fisher([1, 0, 0], 5)
        other = vmf.vonmises_fisher([0, 1, 0], 3)
        draws = law.rvs(200000, random_state=1)
        estimate = np.mean(law.logpdf(draws) - other.logpdf(draws))
        self.assertAlmostEqual(law.kl(other), estimate, delta=0.02)
        self.assertEqual(law.kl(law), 0)
        np.testing.assert_allclose(vmf.kl(3, [5.0, 5.0], 3.0, [0.0, 1.0])[0], law.kl(other))

    def test_sampling_and_fitting(self):
        direction = np.ones(10) / np.sqrt(10)
        law = vmf.vonmises_fisher(direction, 20)
        draws = law.rvs(20000, random_state=3)
        np.testing.assert_array_equal(draws, law.rvs(20000, random_state=3))
        np.testing.assert_allclose(np.linalg.norm(draws, axis=1), 1)
        np.testing.assert_allclose(draws.mean(axis=0), law.mean(), atol=0.01)
        self.assertAlmostEqual(-law.logpdf(draws).mean(), law.entropy(), delta=0.05)
        fitted = vmf.vonmises_fisher.fit(draws)
        self.assertAlmostEqual(fitted.kappa, 20, delta=0.5)
        self.assertGreater(fitted.mu @ direction, 0.999)

    def test_errors(self):
        with self.assertRaises(radir.DomainError):
            vmf.entropy(3, -1.0)
        with self.assertRaises(ValueError):
            vmf.vonmises_fisher([1, 1], 3)
        with self.assertRaises(ValueError):
            vmf.vonmises_fisher([1], 3)
        for mu, kappa, message in (
            ([np.nan, 0, 1], 1.0, "length 1"),
            ([0, 0, 1], -1.0, "kappa must be"),
            ([0, 0, 1], np.nan, "kappa must be"),
            ([0, 0, 1], np.inf, "kappa must be"),
        ):
            with self.assertRaisesRegex(ValueError, message):
                vmf.vonmises_fisher(mu, kappa)


if __name__ == "__main__":
    unittest.main()
