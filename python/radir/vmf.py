"""Von Mises-Fisher distributions on arrays, with the names of SciPy.

    >>> from radir import vmf
    >>> law = vmf.vonmises_fisher([0.0, 0.6, 0.8], 10.0)
    >>> law.entropy(), law.logpdf([0.0, 0.0, 1.0])

The functions take a dimension ``m`` >= 2 (a real number) and concentrations
``kappa`` >= 0 of any shape; they are accurate to a few rounding errors for any
of them, also where SciPy's Bessel functions overflow.
"""

from __future__ import annotations

import ctypes
from typing import Any, Callable, Optional

import numpy as np
import numpy.typing as npt

from ._library import lib, stream

Array = npt.NDArray[np.float64]


def _numbers(values: Any) -> Array:
    return np.asarray(values, dtype=np.float64, order="C")


def _apply(function: Callable[..., None], m: float, values: Any) -> Any:
    array = _numbers(values)
    result = np.empty_like(array)
    function(float(m), array.ctypes.data, array.size, result.ctypes.data)
    return result if result.ndim else float(result)


def bessel_ratio(nu: float, z: Any) -> Any:
    """I_nu(z) / I_{nu-1}(z), nu >= 1/2."""
    return _apply(lib.bessel_ratio, nu, z)


def log_bessel_i(nu: float, z: Any) -> Any:
    """log I_nu(z), nu >= 0."""
    return _apply(lib.log_bessel_i, nu, z)


def log_normalizer(m: float, kappa: Any) -> Any:
    """log C_m(kappa): the log-density is it plus kappa times the cosine."""
    return _apply(lib.vmf_log_normalizer, m, kappa)


def mean_cosine(m: float, kappa: Any) -> Any:
    """A_m(kappa), the mean cosine to the mean direction."""
    return _apply(lib.vmf_mean_cosine, m, kappa)


def cosine_variance(m: float, kappa: Any) -> Any:
    """The variance of that cosine."""
    return _apply(lib.vmf_cosine_variance, m, kappa)


def entropy(m: float, kappa: Any) -> Any:
    """Differential entropy in nats."""
    return _apply(lib.vmf_entropy, m, kappa)


def kl(m: float, kappa: Any, other_kappa: Any, cosine: Any = 1.0) -> Any:
    """KL(vMF(mu, kappa) || vMF(mu', kappa')), given the cosine mu.mu'."""
    arrays = [_numbers(a) for a in np.broadcast_arrays(kappa, other_kappa, cosine)]
    result = np.empty_like(arrays[0])
    pointers = [array.ctypes.data for array in arrays]
    lib.vmf_kl(float(m), *pointers, result.size, result.ctypes.data)
    return result if result.ndim else float(result)


class vonmises_fisher:
    """The distribution of unit vectors around ``mu``."""

    def __init__(self, mu: Any, kappa: float) -> None:
        self.mu = _numbers(mu)
        self.kappa = float(kappa)
        if self.mu.ndim != 1 or self.dim < 2:
            raise ValueError("mu must be a vector of at least two numbers")
        if not abs(np.linalg.norm(self.mu) - 1) <= 1e-6:  # NaN too
            raise ValueError("mu must have length 1")
        if not 0 <= self.kappa < np.inf:
            raise ValueError(f"kappa must be finite and at least 0, but is {self.kappa}")

    @property
    def dim(self) -> int:
        return len(self.mu)

    def logpdf(self, x: Any) -> Any:
        """At unit vectors, [..., dim]."""
        return log_normalizer(self.dim, self.kappa) + self.kappa * (_numbers(x) @ self.mu)

    def pdf(self, x: Any) -> Any:
        return np.exp(self.logpdf(x))

    def entropy(self) -> float:
        return float(entropy(self.dim, self.kappa))

    def mean(self) -> Array:
        """The mean vector, of a length below 1."""
        return np.asarray(mean_cosine(self.dim, self.kappa) * self.mu)

    def kl(self, other: vonmises_fisher) -> float:
        """KL(self || other)."""
        cosine = float(np.clip(self.mu @ other.mu, -1, 1))
        return float(kl(self.dim, self.kappa, other.kappa, cosine))

    def rvs(self, size: int = 1, random_state: Optional[int] = None) -> Array:
        """Draws, [size, dim]; the same for the same random_state."""
        seed = np.random.randint(2**31 - 1) if random_state is None else random_state
        result = np.empty((size, self.dim))
        lib.vmf_sample(
            *[ctypes.byref(stream(int(seed))), self.dim, self.mu.ctypes.data],
            *[self.kappa, size, result.ctypes.data],
        )
        return result

    @classmethod
    def fit(cls, x: Any) -> vonmises_fisher:
        """The most likely distribution of unit vectors [n, dim]."""
        mean = _numbers(x).mean(axis=0)
        length = float(np.linalg.norm(mean))
        m = len(mean)
        if not 0 < length < 1:
            raise ValueError("the vectors are all equal, or their mean is 0")
        # Banerjee et al. (2005), then Newton's method.
        kappa = length * (m - length**2) / (1 - length**2)
        for _ in range(50):
            step = (mean_cosine(m, kappa) - length) / cosine_variance(m, kappa)
            kappa = max(kappa - step, kappa / 2)
            if abs(step) < 1e-12 * kappa:
                break
        return cls(mean / length, kappa)
