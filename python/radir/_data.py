"""From arrays and data frames to tables."""

from __future__ import annotations

import datetime
import decimal
import numbers
from typing import Any, Collection, Optional

import numpy as np
import numpy.typing as npt

from ._model import Table

Array = npt.NDArray[Any]


def _is_number(dtype: Any) -> bool:
    """Whether a column of a data frame holds numbers (or truth values)."""
    kind = getattr(dtype, "kind", "O")
    is_category = type(dtype).__name__ == "CategoricalDtype"
    return kind in "fiub" and not is_category


def _read_objects(column: Any) -> Any:
    """A column of objects that are all numbers, or all dates, as a column of
    these; others as they are."""
    values = column[column.notna()]
    if all(isinstance(v, (numbers.Real, np.bool_, decimal.Decimal)) for v in values):
        floats = np.full(len(column), np.nan)
        floats[column.notna().to_numpy()] = [float(value) for value in values]
        return type(column)(floats, index=column.index)
    if all(isinstance(v, datetime.date) for v in values):
        from pandas import to_datetime

        return to_datetime(column)
    return column


def read_frame(frame: Any, categories: Collection[str]) -> Any:
    """A data frame of which the columns of objects have a type where all their
    values have one. Those that are ``categories`` of a fit stay so."""
    result = frame.copy(deep=False)
    for name, dtype in zip(frame.columns, frame.dtypes):
        if getattr(dtype, "kind", "") == "O" and str(name) not in categories:
            if dtype == np.dtype(object):
                result[name] = _read_objects(frame[name])
    return result


def needs_table(frame: Any, categories: Collection[str]) -> bool:
    """Whether a data frame has columns that cannot be in a matrix of numbers."""
    return not all(
        _is_number(dtype) and str(name) not in categories
        for name, dtype in zip(frame.columns, frame.dtypes)
    )


def add_frame(table: Table, frame: Any, categories: Collection[str]) -> None:
    """Adds the columns of a data frame: numbers and dates as they are, all
    others, and those that are ``categories`` of a fit, as categories."""
    for name, dtype in zip(frame.columns, frame.dtypes):
        column = frame[name]
        kind = getattr(dtype, "kind", "O")
        if _is_number(dtype) and (kind == "f" or str(name) not in categories):
            table.add_numbers(str(name), column.to_numpy(dtype=np.float64, na_value=np.nan))
        elif kind == "M" and str(name) not in categories:
            table.add_dates(str(name), column.dt.tz_localize(None).to_numpy())
        elif kind in "mc":
            raise ValueError(f"the column {str(name)!r} is of {dtype}; make numbers of it")
        else:
            add_categories(table, str(name), column)


def add_categories(table: Table, name: str, column: Any) -> None:
    """Adds a column of categories of a data frame."""
    values = column.astype("category").cat
    texts = [str(category) for category in values.categories]
    table.add_categories(name, texts, values.codes.to_numpy())


def add_inputs(
    table: Table, X: Any, names: Optional[Array], categories: Collection[str] = ()
) -> int:
    """Adds a matrix, or the columns of a data frame; the number of rows."""
    if hasattr(X, "columns"):
        add_frame(table, X, categories)
    else:
        table.add_matrix(X, None if names is None else [str(name) for name in names])
    return len(X)


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, or one like it that is not taken."""
    while name in taken:
        name += "_"
    return name


def target_name(inputs: list[str], y: Any) -> str:
    """The name of y, or another that no input has."""
    name = getattr(y, "name", None)
    return free_name(name if isinstance(name, str) and name else "target", inputs)


def row_counts(sample_weight: Any, rows: int) -> Optional[Array]:
    """How often each row counts; None: all once."""
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
    return counts


def take_rows(X: Any, rows: Array) -> Any:
    """Some rows of a matrix, a vector or a data frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
