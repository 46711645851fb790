"""Tables and models: what the C interface has, as Python objects."""

from __future__ import annotations

import ctypes
import dataclasses
import html
import os
import threading
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np
import numpy.typing as npt

from ._library import (
    Handle,
    PredictOptions,
    Prediction,
    ProgressCallback,
    json_text,
    lib,
    number_type,
    read_json,
    text_array,
)

Array = npt.NDArray[Any]


def fit_settings() -> list[dict[str, Any]]:
    """Every setting of a fit: name, help, type, default, choices or range."""
    return list(read_json(lib.fit_settings))


def _usable(values: Any, dimensions: int) -> Array:
    """Numbers the library can look at where they are; a copy where not."""
    array = np.asarray(values)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if array.ndim != dimensions:
        raise ValueError(f"expected {dimensions} dimensions, but got {array.ndim}")
    if array.flags.c_contiguous and array.flags.aligned:
        return array
    fits = array.flags.aligned and all(s % array.itemsize == 0 for s in array.strides)
    return array if fits else np.ascontiguousarray(array)


class Table:
    """Columns of equal length. Numbers are not copied, but kept alive."""

    def __init__(self, name: str = "table") -> None:
        self._handle = Handle("table")
        self._kept: list[Array] = []
        lib.table_create(name.encode(), ctypes.byref(self._handle))

    @classmethod
    def read(cls, source: str | os.PathLike[str]) -> Table:
        """A file of text or another source that ``radir train`` takes."""
        table = cls.__new__(cls)
        table._handle = Handle("table")
        table._kept = []
        lib.table_read(os.fspath(source).encode(), ctypes.byref(table._handle))
        return table

    def add_numbers(self, name: str, values: Any) -> Table:
        """A column of numbers, NaN where one is missing."""
        array = _usable(values, 1)
        self._kept.append(array)
        stride = array.strides[0] // array.itemsize
        lib.table_add_numbers(
            *[self._handle, name.encode(), number_type(array), array.ctypes.data],
            *[len(array), stride],
        )
        return self

    def add_matrix(self, values: Any, names: Optional[Sequence[str]] = None) -> Table:
        """A column of numbers for each column of a matrix."""
        array = _usable(values, 2)
        self._kept.append(array)
        rows, columns = array.shape
        if names is not None and len(names) != columns:
            raise ValueError(f"{columns} columns, but {len(names)} names")
        strides = [stride // array.itemsize for stride in array.strides]
        lib.table_add_matrix(
            *[self._handle, number_type(array), array.ctypes.data, rows, columns],
            *[*strides, None if names is None else text_array(list(names))],
        )
        return self

    def add_categories(self, name: str, categories: Sequence[str], codes: Any) -> Table:
        """A column of categories by their number, -1 where one is missing."""
        numbers = np.ascontiguousarray(codes, dtype=np.int32)
        lib.table_add_categories(
            *[self._handle, name.encode(), text_array(list(categories))],
            *[len(categories), numbers.ctypes.data, len(numbers)],
        )
        return self

    def add_dates(self, name: str, values: Any) -> Table:
        """A column of dates (numpy.datetime64), NaT where one is missing."""
        days = (np.asarray(values) - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
        days = np.ascontiguousarray(days, dtype=np.float64)
        if days.ndim != 1:
            raise ValueError(f"expected 1 dimension, but got {days.ndim}")
        lib.table_add_dates(self._handle, name.encode(), days.ctypes.data, len(days))
        return self


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a fit is."""

    tuning: bool  #: while candidates are compared
    done: int  #: candidates, or epochs of all networks
    total: int  #: of these
    network: int  #: from 1
    epoch: int  #: of this network
    nll: float  #: its loss, nats per row
    kl: float


#: Is told the progress; returning True stops the fit.
Callback = Callable[[Progress], Optional[bool]]


class Interruptible:
    """One call of a function that tells its progress, which Ctrl-C and
    exceptions can stop. ``kept`` is what the call reads: it stays alive until
    the call has returned."""

    def __init__(
        self, function: Callable[..., None], callback: Optional[Callback], kept: Any = None
    ) -> None:
        self._function = function
        self._callback = callback
        self._kept = kept
        self._stop = False
        self._begin = threading.Event()
        self._done = threading.Event()
        self._error: Optional[BaseException] = None

    def _tell(self, progress: Any, _user: Any) -> int:
        if self._callback is not None and not self._stop:
            values = progress.contents
            fields = {f.name: getattr(values, f.name) for f in dataclasses.fields(Progress)}
            fields["tuning"] = bool(fields["tuning"])
            try:
                if self._callback(Progress(**fields)):
                    self._stop = True  # Ctrl-C may have set it meanwhile
            except BaseException as error:  # must not cross C: raised again below
                self._error = error
                self._stop = True
        return int(self._stop)

    def _call(self, *arguments: Any) -> None:
        tell = ProgressCallback(self._tell)
        self._function(*arguments[:-1], tell, None, arguments[-1])

    def _call_and_keep_error(self, *arguments: Any) -> None:
        try:
            if not self._stop:
                self._call(*arguments)
        except BaseException as error:
            self._error = self._error or error
        finally:
            self._done.set()

    def _call_when_told(self, *arguments: Any) -> None:
        self._begin.wait()
        self._call_and_keep_error(*arguments)

    def _run_in_a_thread(self, *arguments: Any) -> None:
        worker = threading.Thread(target=self._call_when_told, args=arguments)
        try:
            # Ctrl-C may come inside start(), which then says nothing of whether
            # there is a thread: it does nothing before it is told to.
            worker.start()
            self._begin.set()
            while not self._done.wait(0.1):
                pass
        except BaseException:
            begun = self._begin.is_set()
            self._stop = True
            self._begin.set()
            if begun:
                self._done.wait()
            raise
        worker.join()

    def run(self, *arguments: Any) -> None:
        """The last argument is where the result goes."""
        if threading.current_thread() is threading.main_thread():
            # Python sees Ctrl-C in the main thread alone, and there only between
            # two of its own instructions: the library runs in another one.
            # (Not by join(): Ctrl-C there marks the thread as ended, 3.11.)
            self._run_in_a_thread(*arguments)
        else:
            self._call_and_keep_error(*arguments)
        if self._error is not None:
            raise self._error


# What a prediction can give, by the names of radir_prediction.
_RESULTS = (
    *("mean", "sd", "epistemic_sd", "aleatoric_sd", "quantiles"),
    *("log_density", "cdf", "crps"),
    *("class_probabilities", "entropy", "mutual_information"),
)


class _Request:
    """A radir_prediction and the arrays that it points to."""

    def __init__(
        self,
        model: Model,
        rows: int,
        wanted: Sequence[str],
        probabilities: Sequence[float],
        values: Optional[Array],
    ) -> None:
        unknown = [name for name in wanted if name not in _RESULTS]
        if unknown:
            raise ValueError(
                f"a prediction has no {', '.join(map(repr, unknown))}; it has "
                + ", ".join(_RESULTS)
            )
        self.struct = Prediction()
        self.results: dict[str, Array] = {}
        widths = {}
        if len(probabilities) > 0:
            self._levels = np.ascontiguousarray(probabilities, dtype=np.float64)
            self.struct.probabilities = self._levels.ctypes.data
            self.struct.probability_count = len(self._levels)
        if values is not None:
            self._values = np.ascontiguousarray(values, dtype=np.float64)
            if self._values.shape != (rows,):
                raise ValueError(f"{rows} rows, but values of the shape {self._values.shape}")
            self.struct.values = self._values.ctypes.data
        if "quantiles" in wanted:
            widths["quantiles"] = len(probabilities)
        if "class_probabilities" in wanted:
            widths["class_probabilities"] = len(model.classes)
        for name in wanted:
            result = np.empty((rows, widths[name]) if name in widths else rows)
            self.results[name] = result
            setattr(self.struct, name, result.ctypes.data)


class Model:
    """A network, or several, fitted to a table."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._described: Optional[dict[str, Any]] = None

    @classmethod
    def fit(
        cls,
        table: Table,
        target: str,
        settings: Optional[Mapping[str, Any]] = None,
        callback: Optional[Callback] = None,
    ) -> Model:
        """Fits to all rows. ``fit_settings()`` lists the settings."""
        handle = Handle("model")
        text = json_text(dict(settings or {})).encode()
        Interruptible(lib.model_fit, callback, table).run(
            *[table._handle, target.encode(), text, ctypes.byref(handle)]
        )
        return cls(handle)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """From a model file or a run's folder."""
        handle = Handle("model")
        lib.model_load(os.fspath(path).encode(), ctypes.byref(handle))
        return cls(handle)

    @classmethod
    def from_bytes(cls, data: bytes) -> Model:
        """From what ``to_bytes`` gave."""
        handle = Handle("model")
        lib.model_from_bytes(data, len(data), ctypes.byref(handle))
        return cls(handle)

    def __reduce__(self) -> tuple[Any, ...]:
        return Model.from_bytes, (self.to_bytes(),)

    def to_bytes(self) -> bytes:
        """The model file in memory."""
        length = ctypes.c_int64()
        lib.model_to_bytes(self._handle, None, 0, ctypes.byref(length))
        buffer = ctypes.create_string_buffer(length.value)
        lib.model_to_bytes(self._handle, buffer, length.value, ctypes.byref(length))
        return buffer.raw

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, which the program reads too."""
        lib.model_save(self._handle, os.fspath(path).encode())

    def export_onnx(self, path: str | os.PathLike[str], network: int = 1) -> None:
        """Writes one network, counted from 1, with its mean weights."""
        lib.model_export_onnx(self._handle, os.fspath(path).encode(), network)

    def prune(self, **options: Any) -> Model:
        """The model without the units it does not need: ``threshold``,
        ``max_flops``, ``max_parameters``."""
        handle = Handle("model")
        text = json_text({key: value for key, value in options.items() if value is not None})
        lib.model_prune(self._handle, text.encode(), ctypes.byref(handle))
        return Model(handle)

    @property
    def description(self) -> dict[str, Any]:
        """Columns, classes, settings, layers and more."""
        if self._described is None:
            self._described = read_json(lib.model_describe, self._handle)
        return self._described

    @property
    def columns(self) -> list[str]:
        """The input columns that it uses."""
        return [column["name"] for column in self.description["preprocessing"]["inputs"]]

    @property
    def categorical_columns(self) -> list[str]:
        """Those of its input columns that are categories."""
        inputs = self.description["preprocessing"]["inputs"]
        return [column["name"] for column in inputs if column["type"] == "categorical"]

    @property
    def columns_of_fit(self) -> list[str]:
        """The columns that the fit was given, also those that it does not use;
        of files of version 0.1 those that it uses."""
        found = self.description["data"].get("columns")
        if found is None:
            return self.columns
        return [
            column["name"]
            for column in found
            if column["role"] in ("input", "ignored") and column["type"] != "skipped"
        ]

    @property
    def classes(self) -> list[str]:
        """The classes, in the order of their probabilities; none of a number."""
        return list(self.description["preprocessing"]["target"].get("categories", []))

    def importance(self) -> dict[str, float]:
        """How strongly each input column enters the network."""
        columns = self.columns
        values = np.empty(len(columns))
        lib.model_importance(self._handle, values.ctypes.data, len(columns))
        return dict(zip(columns, values.tolist()))

    def evaluate(
        self, table: Table, *, samples: int = 200, seed: int = 0, threads: int = 0
    ) -> dict[str, float]:
        """Scores of the predictions of a table that has the target."""
        options = PredictOptions(samples, seed, threads)
        return dict(
            read_json(lib.model_evaluate, self._handle, table._handle, ctypes.byref(options))
        )

    def predict(
        self,
        table: Table,
        rows: int,
        wanted: Sequence[str],
        *,
        probabilities: Sequence[float] = (),
        values: Optional[Array] = None,
        samples: int = 200,
        seed: int = 0,
        threads: int = 0,
    ) -> dict[str, Array]:
        """The wanted numbers of ``rows`` rows by their names in radir/c_api.h:
        mean, sd, epistemic_sd, aleatoric_sd; quantiles, of ``probabilities``;
        log_density, cdf, crps, of ``values``; or class_probabilities, entropy,
        mutual_information."""
        count = ctypes.c_int64()
        lib.table_rows(table._handle, count)
        if count.value != rows:
            raise ValueError(f"the table has {count.value} rows, not {rows}")
        request = _Request(self, rows, wanted, probabilities, values)
        options = PredictOptions(samples, seed, threads)
        lib.model_predict(self._handle, table._handle, options, request.struct)
        return request.results

    def predict_matrix(
        self,
        matrix: Array,
        wanted: Sequence[str],
        *,
        probabilities: Sequence[float] = (),
        values: Optional[Array] = None,
        samples: int = 200,
        seed: int = 0,
        threads: int = 0,
    ) -> dict[str, Array]:
        """``predict`` of a matrix of float32 or float64 without a table around
        it, of a model that was fitted to a matrix without names: one call, which
        matters for one row."""
        array = _usable(matrix, 2)
        rows, columns = array.shape
        row_stride, column_stride = array.strides
        size = array.itemsize
        request = _Request(self, rows, wanted, probabilities, values)
        lib.model_predict_matrix(
            *[self._handle, number_type(array), array.ctypes.data, rows, columns],
            *[row_stride // size, column_stride // size],
            *[PredictOptions(samples, seed, threads), request.struct],
        )
        return request.results

    def __repr__(self) -> str:
        about = self.description
        target = about["preprocessing"]["target"]["name"]
        return f"Model({target!r}, {about['architecture']}, {about['networks']} networks)"

    def _repr_html_(self) -> str:
        titles = ["name", "layer", "inputs", "outputs", "parameters", "posterior"]
        head = "".join(f"<th>{title}</th>" for title in titles)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(layer[t]))}</td>" for t in titles) + "</tr>"
            for layer in self.description["layers"]
        )
        return f"<p>{html.escape(repr(self))}</p><table><tr>{head}</tr>{rows}</table>"
