"""The predictive distribution of rows."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
#: Gives the wanted numbers of the rows, as Model.predict does.
Source = Callable[..., dict[str, Array]]


class PredictiveDistribution:
    """What a model says of the numbers of some rows, one distribution each: a
    mixture over draws of the weights. Names are those of SciPy's
    distributions; numbers that are given have one entry per row, or are one
    number for all."""

    def __init__(self, source: Source, rows: int) -> None:
        self._source = source
        self._rows = rows

    def __len__(self) -> int:
        return self._rows

    def mean(self) -> Array:
        return self._one("mean")

    def std(self) -> Array:
        """Of the next observation."""
        return self._one("sd")

    def epistemic_std(self) -> Array:
        """Due to the uncertain weights: what more data removes."""
        return self._one("epistemic_sd")

    def aleatoric_std(self) -> Array:
        """Due to the noise of the data."""
        return self._one("aleatoric_sd")

    def median(self) -> Array:
        return self.ppf(0.5)

    def quantiles(self, probabilities: Sequence[float]) -> Array:
        """[row, probability]"""
        return self._source(["quantiles"], probabilities=probabilities)["quantiles"]

    def ppf(self, probability: float) -> Array:
        """One quantile of each row."""
        return self.quantiles([probability])[:, 0]

    def interval(self, confidence: float = 0.9) -> tuple[Array, Array]:
        """Lower and upper ends of the central interval."""
        tail = (1 - confidence) / 2
        ends = self.quantiles([tail, 1 - tail])
        return ends[:, 0], ends[:, 1]

    def cdf(self, values: Any) -> Array:
        return self._of(values, "cdf")

    def logpdf(self, values: Any) -> Array:
        return self._of(values, "log_density")

    def pdf(self, values: Any) -> Array:
        return np.exp(self.logpdf(values))

    def crps(self, values: Any) -> Array:
        """Continuous ranked probability score; lower is better."""
        return self._of(values, "crps")

    def __repr__(self) -> str:
        return f"PredictiveDistribution({self._rows} rows)"

    def _repr_html_(self) -> str:
        names = ["mean", "sd", "epistemic_sd", "aleatoric_sd"]
        levels = [0.05, 0.5, 0.95]
        found = self._source([*names, "quantiles"], probabilities=levels)
        columns = [*(found[name] for name in names), *found["quantiles"].T]
        head = "".join(f"<th>{t}</th>" for t in ["row", *names, *(f"q{p:g}" for p in levels)])
        shown = min(self._rows, 10)
        rows = "".join(
            f"<tr><td>{i}</td>" + "".join(f"<td>{c[i]:.4g}</td>" for c in columns) + "</tr>"
            for i in range(shown)
        )
        more = "" if shown == self._rows else f"<p>and {self._rows - shown} more rows</p>"
        return f"<table><tr>{head}</tr>{rows}</table>{more}"

    def _one(self, name: str) -> Array:
        return self._source([name])[name]

    def _of(self, values: Any, name: str) -> Array:
        numbers = np.broadcast_to(np.asarray(values, dtype=np.float64), (self._rows,))
        return self._source([name], values=numbers)[name]
