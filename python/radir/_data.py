"""From arrays and data frames to tables."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from ._model import Table

Array = npt.NDArray[Any]


def _is_number(dtype: Any) -> bool:
    """Whether a column of a data frame holds numbers (or truth values)."""
    kind = getattr(dtype, "kind", "O")
    is_category = type(dtype).__name__ == "CategoricalDtype"
    return kind in "fiub" and not is_category


def has_categories(frame: Any) -> bool:
    """Whether a data frame has a column that is not of numbers."""
    return not all(_is_number(dtype) for dtype in frame.dtypes)


def add_frame(table: Table, frame: Any) -> None:
    """Adds the columns of a data frame: numbers as they are, all others as
    categories."""
    for name, dtype in zip(frame.columns, frame.dtypes):
        column = frame[name]
        if _is_number(dtype):
            table.add_numbers(str(name), column.to_numpy(dtype=np.float64, na_value=np.nan))
        else:
            add_categories(table, str(name), column)


def add_categories(table: Table, name: str, column: Any) -> None:
    """Adds a column of categories of a data frame."""
    values = column.astype("category").cat
    texts = [str(category) for category in values.categories]
    table.add_categories(name, texts, values.codes.to_numpy())


def add_inputs(table: Table, X: Any, names: Optional[Array]) -> int:
    """Adds a matrix, or the columns of a data frame; the number of rows."""
    if hasattr(X, "columns"):
        add_frame(table, X)
    else:
        table.add_matrix(X, None if names is None else [str(name) for name in names])
    return len(X)


def target_name(inputs: list[str], y: Any) -> str:
    """The name of y, or another that no input has."""
    name = getattr(y, "name", None)
    text = name if isinstance(name, str) and name else "target"
    while text in inputs:
        text += "_"
    return text


def repeat_rows(sample_weight: Any, rows: int) -> Optional[Array]:
    """The rows to fit to, each as often as its weight says; None: all once."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.ndim != 1 or len(weights) != rows:
        raise ValueError(
            f"Sample weights must be 1D, one for each of {rows} rows, but have the "
            f"shape {weights.shape}"
        )
    counts = np.rint(weights)
    if not np.array_equal(counts, weights) or (counts < 0).any():
        raise ValueError(
            "Sample weights count rows: they must be whole numbers >= 0. Other weights "
            "have no exact meaning for a posterior and are not supported"
        )
    if not counts.any():
        raise ValueError("Sample weights are all zero: there is no row to fit to")
    if (counts == 1).all():
        return None
    return np.repeat(np.arange(rows), counts.astype(np.int64))


def take_rows(X: Any, rows: Optional[Array]) -> Any:
    """Some rows of a matrix, a vector or a data frame."""
    if rows is None:
        return X
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
