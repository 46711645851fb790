"""scikit-learn where it is there, of any version from 1.0 on; else what the
estimators need of it."""

from __future__ import annotations

import inspect
from typing import Any, Optional

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.utils import validation
    from sklearn.utils.multiclass import check_classification_targets

    HAS_SKLEARN = True
except ImportError:
    HAS_SKLEARN = False

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """The estimator was not fitted."""

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters as scikit-learn has them."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            names = list(inspect.signature(type(self).__init__).parameters)[1:]
            return {name: getattr(self, name) for name in names}

        def set_params(self, **params: Any) -> Any:
            known = self.get_params()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"{type(self).__name__} has no parameter {name!r}")
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            params = self.get_params()
            parameters = inspect.signature(type(self).__init__).parameters
            changed = [
                f"{name}={value!r}"
                for name, value in params.items()
                if value != parameters[name].default
            ]
            return f"{type(self).__name__}({', '.join(changed)})"

    class RegressorMixin:  # type: ignore[no-redef]
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """R squared."""
            y = np.asarray(y, dtype=np.float64)
            weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
            residuals = y - self.predict(X)  # type: ignore[attr-defined]
            spread = y - np.average(y, weights=weights)
            return float(1 - (weights @ residuals**2) / (weights @ spread**2))

    class ClassifierMixin:  # type: ignore[no-redef]
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """Share of right classes."""
            right = self.predict(X) == np.asarray(y)  # type: ignore[attr-defined]
            return float(np.average(right, weights=sample_weight))

    def check_classification_targets(y: Any) -> None:  # type: ignore[no-redef]
        """Classes are not checked."""


def is_frame(X: Any) -> bool:
    """Whether X is a pandas DataFrame (or looks like one)."""
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "index")


def validate(
    estimator: Any, X: Any, y: Any = None, *, reset: bool, allow_nan: bool, numeric_y: bool
) -> tuple[Any, Any]:
    """X as a matrix of float32 or float64 and y as a vector, checked as
    scikit-learn does; sets or compares the number and names of the features."""
    if not HAS_SKLEARN:
        return _validate_alone(estimator, X, y, reset, allow_nan)
    finite: Any = "allow-nan" if allow_nan else True
    modern = hasattr(validation, "validate_data")
    options: dict[str, Any] = {
        "dtype": [np.float64, np.float32],
        "ensure_all_finite" if modern else "force_all_finite": finite,
        "reset": reset,
    }
    if y is not None:
        options["y_numeric"] = numeric_y
        options["y"] = y
    if modern:
        result = validation.validate_data(estimator, X, **options)
    else:
        result = estimator._validate_data(X, **options)
    return result if y is not None else (result, None)


def _validate_alone(
    estimator: Any, X: Any, y: Any, reset: bool, allow_nan: bool
) -> tuple[Any, Any]:
    matrix = np.asarray(X)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"Expected a matrix, but got {matrix.ndim} dimensions")
    if np.isinf(matrix).any() or (not allow_nan and np.isnan(matrix).any()):
        raise ValueError("X has infinite or missing values; see the parameter missing")
    if y is not None:
        y = np.asarray(y)
        if y.shape != (len(matrix),):
            raise ValueError(f"{len(matrix)} rows, but y of the shape {y.shape}")
    names = [str(name) for name in X.columns] if is_frame(X) else None
    remember_features(estimator, names, matrix.shape[1], reset)
    return matrix, y


def remember_features(
    estimator: Any, names: Optional[list[str]], count: int, reset: bool
) -> None:
    """Sets, or compares, the number and the names of the features."""
    if reset:
        estimator.n_features_in_ = count
        if names is not None:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return
    if count != estimator.n_features_in_:
        raise ValueError(
            f"X has {count} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    known = getattr(estimator, "feature_names_in_", None)
    if names is not None and known is not None and list(known) != names:
        raise ValueError("The feature names should match those that were passed during fit")
