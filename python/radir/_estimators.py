"""Estimators for scikit-learn; they work without it too."""

from __future__ import annotations

import copy
import inspect
import os
from typing import Any, Optional, Sequence

import numpy as np
import numpy.typing as npt

from ._compatibility import (
    HAS_SKLEARN,
    BaseEstimator,
    ClassifierMixin,
    NotFittedError,
    RegressorMixin,
    check_classification_targets,
    is_frame,
    remember_features,
    validate,
)
from ._data import add_inputs, free_name, needs_table, read_frame, row_counts, take_rows, target_name
from ._distribution import PredictiveDistribution
from ._model import Callback, Model, Progress, Table, fit_settings
from ._progress import ProgressBar

Array = npt.NDArray[Any]

# Parameters that are not settings of the fit by the same name.
_OWN_DEFAULTS: dict[str, Any] = {
    "random_state": 0,
    "n_jobs": -1,
    "samples": 200,
    "verbose": False,
    "callback": None,
}


def _defaults() -> dict[str, Any]:
    """Of all parameters: the library knows its settings, so that no list here
    can differ from them."""
    defaults: dict[str, Any] = {}
    for setting in fit_settings():
        # Those are random_state, n_jobs and sample_weight.
        if setting["name"] not in ("seed", "threads", "weights"):
            value = setting["default"]
            defaults[setting["name"]] = tuple(value) if isinstance(value, list) else value
    return {**defaults, **_OWN_DEFAULTS}


_DEFAULTS = _defaults()
_FLOAT32, _FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def _same(value: Any, default: Any) -> bool:
    if isinstance(default, tuple):
        return tuple(np.atleast_1d(value)) == default
    return bool(value == default)


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """What regression and classification share. The parameters are the
    settings of ``radir train`` (``radir.fit_settings()`` describes them) and:

    random_state : the seed; None takes one from NumPy's global generator
    n_jobs       : threads; -1 for all processors. Results do not depend on it
    samples      : draws of the weights per network in predictions
    verbose      : whether to show the progress (with tqdm where it is there)
    callback     : is called with a ``Progress``; returning True stops the fit
    """

    conformal: bool
    missing: str
    hidden: Sequence[int]
    random_state: Any
    n_jobs: Optional[int]
    samples: int
    verbose: bool
    callback: Optional[Callback]
    model_: Model
    n_features_in_: int

    def __init__(self, **parameters: Any) -> None:
        for name, default in _DEFAULTS.items():
            setattr(self, name, parameters.pop(name, default))
        if parameters:
            raise TypeError(
                f"{type(self).__name__} has no parameter {', '.join(map(repr, parameters))}; "
                f"it has {', '.join(_DEFAULTS)}"
            )

    # ---- what the model is ------------------------------------------------

    @property
    def feature_importances_(self) -> Array:
        """How strongly each feature enters the network, as shares of 1: the
        length of its weights in the first layer; 0 for a constant one."""
        importance = self._fitted().importance()
        values = np.array([importance.get(name, 0.0) for name in self._column_names()])
        return values / values.sum() if values.sum() > 0 else values

    def evaluate(self, X: Any, y: Any) -> dict[str, float]:
        """Scores of the predictions: log-likelihood, coverage and more."""
        model = self._fitted()
        table, _ = self._table(X)
        self._add_target(table, self._target(), y)
        return model.evaluate(table, samples=self.samples, threads=self._threads())

    def prune(
        self,
        *,
        threshold: Optional[float] = None,
        max_flops: Optional[int] = None,
        max_parameters: Optional[int] = None,
    ) -> Any:
        """A fitted estimator without the units that the network does not need."""
        result = copy.copy(self)
        result.model_ = self._fitted().prune(
            threshold=threshold, max_flops=max_flops, max_parameters=max_parameters
        )
        return result

    def to_onnx(self, path: str | os.PathLike[str], network: int = 1) -> None:
        """Writes one network, counted from 1, with its mean weights. Its inputs
        are standardised as the file's metadata say."""
        self._fitted().export_onnx(path, network)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, which ``radir predict`` reads too."""
        self._fitted().save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Any:
        """A fitted estimator from a model file or a run's folder. Columns have
        the names of the file, classes are texts. Data frames may lack columns
        that the model does not use."""
        estimator = cls()
        model = Model.load(path)
        estimator.model_ = model
        training = model.description["training"]
        known = set(estimator.get_params()) - set(_OWN_DEFAULTS)
        settings = {key: value for key, value in training.items() if key in known}
        if settings.get("likelihood") == "categorical":  # no choice: of every classifier
            del settings["likelihood"]
        estimator.set_params(**settings, random_state=model.description["seed"])
        names = model.columns_of_fit
        numbered = [f"column_{i + 1}" for i in range(len(names))]
        given = None if names == numbered else names  # None: a matrix without names
        remember_features(estimator, given, len(names), reset=True)
        estimator._after_load()
        return estimator

    # ---- fitting -----------------------------------------------------------

    def _fit(self, X: Any, y: Any, sample_weight: Any, numeric_y: bool) -> None:
        columns = [str(c) for c in X.columns] if is_frame(X) else []
        name = target_name(columns, y)
        X, y = self._check(X, y, reset=True, numeric_y=numeric_y)
        if len(X) < 2:
            raise ValueError(f"n_samples = {len(X)}: a fit needs at least 2 rows")
        y = self._remember_target(y)
        counts = row_counts(sample_weight, len(X))
        if counts is not None:
            kept = np.flatnonzero(counts)
            X, y, counts = take_rows(X, kept), take_rows(y, kept), counts[kept]
        table = Table(type(self).__name__)
        add_inputs(table, X, getattr(self, "feature_names_in_", None))
        self._add_target(table, name, y)
        settings = self._settings()
        if counts is not None and (counts > 1).any():
            weights = free_name("sample_weight", [name, *columns])
            table.add_numbers(weights, counts)
            settings["weights"] = weights
        with ProgressBar(self.verbose) as bar:

            def tell(progress: Progress) -> Optional[bool]:
                bar.show(progress)
                return self.callback(progress) if self.callback is not None else None

            self.model_ = Model.fit(table, name, settings, tell)

    def _settings(self) -> dict[str, Any]:
        params = self.get_params(deep=False)
        # Those that differ from their defaults; the others are the preset's.
        settings = {
            name: value
            for name, value in params.items()
            if name not in _OWN_DEFAULTS and not _same(value, _DEFAULTS[name])
        }
        if "hidden" in settings:
            settings["hidden"] = [int(units) for units in np.atleast_1d(self.hidden)]
        settings["seed"] = self._seed()
        settings["threads"] = self._threads()
        return settings

    def _seed(self) -> int:
        state = self.random_state
        if state is None:
            state = np.random
        if hasattr(state, "randint"):
            return int(state.randint(2**31 - 1))
        if hasattr(state, "integers"):
            return int(state.integers(2**31 - 1))
        return int(state)

    def _threads(self) -> int:
        if self.n_jobs is None:
            return 1
        return max(0, int(self.n_jobs))

    def _check(
        self, X: Any, y: Any = None, *, reset: bool, numeric_y: bool = False
    ) -> tuple[Any, Any]:
        """X ready for a table, and y checked."""
        allow_nan = self.missing != "refuse"
        if not reset:
            X = self._with_unused_columns(X)
        categories = () if reset else self._fitted().categorical_columns
        if is_frame(X):
            X = read_frame(X, categories)
        if not (is_frame(X) and needs_table(X, categories)):
            return validate(self, X, y, reset=reset, allow_nan=allow_nan, numeric_y=numeric_y)
        remember_features(self, [str(c) for c in X.columns], X.shape[1], reset)
        if y is not None:
            # The checks of y alone; there is no matrix to go with it.
            _, y = validate(
                *[copy.copy(self), np.zeros((len(X), 1)), y],
                **{"reset": True, "allow_nan": True, "numeric_y": numeric_y},
            )
        return X, y

    def _with_unused_columns(self, X: Any) -> Any:
        """A data frame of the columns that the model uses alone, with the others
        as zeros."""
        names = getattr(self, "feature_names_in_", None)
        if names is None or not is_frame(X) or X.shape[1] == len(names):
            return X
        if [str(name) for name in X.columns] != self._fitted().columns:
            return X
        named = X.set_axis([str(name) for name in X.columns], axis=1)
        return named.reindex(columns=[str(name) for name in names], fill_value=0)

    def _is_plain(self, X: Any) -> bool:
        """Whether all checks would pass, seen at a glance: they take as long as
        the prediction of a row."""
        return (
            type(X) is np.ndarray
            and (X.dtype == _FLOAT32 or X.dtype == _FLOAT64)
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and "feature_names_in_" not in self.__dict__
            and bool(np.logical_and.reduce(np.isfinite(X), None))
        )

    # ---- predicting ---------------------------------------------------------

    def _fitted(self) -> Model:
        model = getattr(self, "model_", None)
        if model is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        return model  # type: ignore[no-any-return]

    def _table(self, X: Any) -> tuple[Table, int]:
        X, _ = self._check(X, reset=False)
        table = Table("X")
        names = getattr(self, "feature_names_in_", None)
        rows = add_inputs(table, X, names, self._fitted().categorical_columns)
        return table, rows

    def _predict(self, X: Any, wanted: Sequence[str], **options: Any) -> dict[str, Array]:
        model = self._fitted()
        options.update(samples=self.samples, threads=self._threads())
        if self._is_plain(X):
            return model.predict_matrix(X, wanted, **options)
        table, rows = self._table(X)
        return model.predict(table, rows, wanted, **options)

    def _column_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
        return [f"column_{i + 1}" for i in range(self.n_features_in_)]

    def _target(self) -> str:
        return str(self._fitted().description["preprocessing"]["target"]["name"])

    # ---- of the kind of target ------------------------------------------------

    def _remember_target(self, y: Any) -> Any:
        return y

    def _after_load(self) -> None:
        pass

    def _add_target(self, table: Table, name: str, y: Any) -> None:
        raise NotImplementedError

    # ---- what scikit-learn asks -------------------------------------------------

    def _more_tags(self) -> dict[str, Any]:
        return {"allow_nan": self.missing != "refuse"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "refuse"
        return tags


# For scikit-learn, which reads the parameters of an estimator there, and help().
_Estimator.__init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
        *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in _DEFAULTS.items()
        ),
    ]
)


class RadirRegressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    __doc__ = "A Bayesian network for numbers. " + (_Estimator.__doc__ or "")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RadirRegressor:
        """Fits to a matrix or a data frame. ``sample_weight`` counts rows."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        self._fit(X, y, sample_weight, numeric_y=True)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The predictive mean and, if asked for, the standard deviation of the
        next observation."""
        wanted = ["mean", "sd"] if return_std else ["mean"]
        result = self._predict(X, wanted)
        return (result["mean"], result["sd"]) if return_std else result["mean"]

    def predict_quantiles(self, X: Any, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> Array:
        """[row, quantile]"""
        return self._predict(X, ["quantiles"], probabilities=quantiles)["quantiles"]

    def predict_interval(self, X: Any, confidence: float = 0.9) -> Array:
        """Lower and upper ends of the central interval, [row, 2]."""
        tail = (1 - confidence) / 2
        return self.predict_quantiles(X, (tail, 1 - tail))

    def predict_dist(self, X: Any) -> PredictiveDistribution:
        """The predictive distribution of every row."""
        model = self._fitted()
        # What is asked later must not follow what becomes of X meanwhile.
        table, rows = self._table(X.copy() if hasattr(X, "copy") else X)

        def source(wanted: Sequence[str], **options: Any) -> dict[str, Array]:
            return model.predict(
                table, rows, wanted, samples=self.samples, threads=self._threads(), **options
            )

        return PredictiveDistribution(source, rows)

    def predict_frame(self, X: Any, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> Any:
        """Everything about each row as a pandas DataFrame, with the index of X:
        mean, sd, epistemic_sd, aleatoric_sd and a column per quantile."""
        import pandas

        names = ["mean", "sd", "epistemic_sd", "aleatoric_sd"]
        result = self._predict(X, [*names, "quantiles"], probabilities=quantiles)
        columns = {name: result[name] for name in names}
        for i, probability in enumerate(quantiles):
            columns[f"q{probability:g}"] = result["quantiles"][:, i]
        return pandas.DataFrame(columns, index=getattr(X, "index", None))

    def _add_target(self, table: Table, name: str, y: Any) -> None:
        table.add_numbers(name, y)


class RadirClassifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    __doc__ = "A Bayesian network for classes. " + (_Estimator.__doc__ or "")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RadirClassifier:
        """Fits to a matrix or a data frame. ``sample_weight`` counts rows."""
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        self._fit(X, y, sample_weight, numeric_y=False)
        return self

    def predict(self, X: Any) -> Array:
        """The most likely class."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Any) -> Array:
        """[row, class], classes as in ``classes_``."""
        found = self._predict(X, ["class_probabilities"])["class_probabilities"]
        missing = np.flatnonzero(np.isnan(found).any(axis=1))
        if len(missing) > 0:
            raise ValueError(f"row {missing[0]} and {len(missing) - 1} others cannot be predicted")
        texts = self._fitted().classes
        result = np.zeros((len(found), len(self.classes_)))
        for i, label in enumerate(self.classes_):
            if str(label) in texts:  # else all its rows had the weight 0
                result[:, i] = found[:, texts.index(str(label))]
        return result

    def predict_uncertainty(self, X: Any) -> dict[str, Array]:
        """entropy and, of it, mutual_information: what more data removes."""
        return self._predict(X, ["entropy", "mutual_information"])

    def predict_frame(self, X: Any) -> Any:
        """Everything about each row as a pandas DataFrame, with the index of X:
        label, a column p_CLASS per class, entropy and mutual_information."""
        import pandas

        probabilities = self.predict_proba(X)
        columns = {"label": self.classes_[np.argmax(probabilities, axis=1)]}
        for i, label in enumerate(self.classes_):
            columns[f"p_{label}"] = probabilities[:, i]
        columns.update(self.predict_uncertainty(X))
        return pandas.DataFrame(columns, index=getattr(X, "index", None))

    def _remember_target(self, y: Any) -> Any:
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        return y

    def _after_load(self) -> None:
        self.classes_ = np.asarray(self._fitted().classes, dtype=object)

    def _add_target(self, table: Table, name: str, y: Any) -> None:
        labels, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(labels) < 2 and getattr(self, "model_", None) is None:
            raise ValueError(
                f"a classifier needs at least 2 classes, but y has {len(labels)} class"
            )
        table.add_categories(name, [str(label) for label in labels], codes)


if not HAS_SKLEARN:
    del _Estimator.__sklearn_tags__
