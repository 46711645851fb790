"""Bayesian neural networks with error bars, over the C library libradir.

- ``RadirRegressor``, ``RadirClassifier``: scikit-learn estimators;
- ``Table``, ``Model``: the same without scikit-learn;
- ``compress``: small image classifiers;
- ``reproduce``, ``report``: published tables again, pages about runs;
- ``radir.vmf``: von Mises-Fisher distributions on arrays;
- ``radir.torch``: Bayesian layers for PyTorch networks.
"""

from typing import TYPE_CHECKING, Any

from ._compress import CompressedNetwork, compress, compress_settings
from ._document import Report, Reproduction, report, reproduce
from ._library import (
    ArgumentError,
    DomainError,
    IoError,
    NumericalError,
    OutOfMemoryError,
    RadirError,
    StoppedError,
    UnsupportedError,
    version,
)
from ._model import Model, Progress, Table, fit_settings

if TYPE_CHECKING:
    from ._distribution import PredictiveDistribution
    from ._estimators import RadirClassifier, RadirRegressor

__version__ = version()
__all__ = [
    "ArgumentError",
    "CompressedNetwork",
    "DomainError",
    "IoError",
    "Model",
    "NumericalError",
    "OutOfMemoryError",
    "PredictiveDistribution",
    "Progress",
    "RadirClassifier",
    "RadirError",
    "RadirRegressor",
    "Report",
    "Reproduction",
    "StoppedError",
    "Table",
    "UnsupportedError",
    "compress",
    "compress_settings",
    "fit_settings",
    "report",
    "reproduce",
]

_LATER = {
    "PredictiveDistribution": "_distribution",
    "RadirClassifier": "_estimators",
    "RadirRegressor": "_estimators",
}


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import: only those who use it wait for it.
    if name in _LATER:
        import importlib

        module = importlib.import_module(f"radir.{_LATER[name]}")
        return getattr(module, name)
    raise AttributeError(f"module 'radir' has no attribute {name!r}")
