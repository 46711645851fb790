"""libradir.so: finding it, its functions and its errors."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

FLOAT32, FLOAT64 = 0, 1


class RadirError(Exception):
    """What the library reports."""


class ArgumentError(RadirError, ValueError):
    """A shape, option or handle that cannot be used."""


class DomainError(RadirError, ValueError):
    """A number outside the domain of a function."""


class NumericalError(RadirError, ArithmeticError):
    """No convergence, or a loss that is not finite."""


class IoError(RadirError, OSError, ValueError):
    """A file or a table that cannot be used."""


class UnsupportedError(RadirError, NotImplementedError):
    """Something that exists, but not in this combination."""


class OutOfMemoryError(RadirError, MemoryError):
    """More memory is needed than there is."""


class StoppedError(RadirError):
    """A callback asked for it."""


_ERRORS: dict[int, type[RadirError]] = {
    1: ArgumentError,
    2: DomainError,
    3: NumericalError,
    4: IoError,
    5: UnsupportedError,
    6: OutOfMemoryError,
    7: StoppedError,
}


class ProgressStruct(ctypes.Structure):
    """radir_progress"""

    _fields_ = [
        ("tuning", c_int64),
        ("done", c_int64),
        ("total", c_int64),
        ("network", c_int64),
        ("epoch", c_int64),
        ("nll", c_double),
        ("kl", c_double),
    ]


class PredictOptions(ctypes.Structure):
    """radir_predict_options"""

    _fields_ = [("samples", c_int64), ("seed", c_uint64), ("threads", c_int64)]


class Prediction(ctypes.Structure):
    """radir_prediction"""

    _fields_ = [
        ("mean", c_void_p),
        ("sd", c_void_p),
        ("epistemic_sd", c_void_p),
        ("aleatoric_sd", c_void_p),
        ("probabilities", c_void_p),
        ("probability_count", c_int64),
        ("quantiles", c_void_p),
        ("values", c_void_p),
        ("log_density", c_void_p),
        ("cdf", c_void_p),
        ("crps", c_void_p),
        ("class_probabilities", c_void_p),
        ("entropy", c_void_p),
        ("mutual_information", c_void_p),
    ]


class Images(ctypes.Structure):
    """radir_images"""

    _fields_ = [
        ("channels", c_int64),
        ("height", c_int64),
        ("width", c_int64),
        ("classes", c_int64),
        ("train_count", c_int64),
        ("train_pixels", c_void_p),
        ("train_labels", c_void_p),
        ("test_count", c_int64),
        ("test_pixels", c_void_p),
        ("test_labels", c_void_p),
    ]


class WeightShape(ctypes.Structure):
    """radir_weight_shape"""

    _fields_ = [("groups", c_int64), ("out", c_int64), ("inputs", c_int64), ("kernel", c_int64)]


class RandomStream(ctypes.Structure):
    """radir_random_stream"""

    _fields_ = [("seed", c_uint64), ("step", c_uint64), ("stream", c_uint32)]


ProgressCallback = ctypes.CFUNCTYPE(c_int32, POINTER(ProgressStruct), c_void_p)

_TEXT = [c_char_p, c_int64, POINTER(c_int64)]
_ARRAY = [c_double, c_void_p, c_int64, c_void_p]
_FUNCTIONS: dict[str, list[Any]] = {
    "table_create": [c_char_p, POINTER(c_void_p)],
    "table_read": [c_char_p, POINTER(c_void_p)],
    "table_free": [c_void_p],
    "table_rows": [c_void_p, POINTER(c_int64)],
    "table_add_numbers": [c_void_p, c_char_p, c_int32, c_void_p, c_int64, c_int64],
    "table_add_matrix": [
        *[c_void_p, c_int32, c_void_p, c_int64, c_int64, c_int64, c_int64],
        POINTER(c_char_p),
    ],
    "table_add_categories": [
        *[c_void_p, c_char_p, POINTER(c_char_p), c_int64, c_void_p, c_int64]
    ],
    "table_add_dates": [c_void_p, c_char_p, c_void_p, c_int64],
    "fit_settings": _TEXT,
    "model_fit": [
        *[c_void_p, c_char_p, c_char_p, ProgressCallback, c_void_p, POINTER(c_void_p)]
    ],
    "model_free": [c_void_p],
    "model_predict": [c_void_p, c_void_p, POINTER(PredictOptions), POINTER(Prediction)],
    "model_predict_matrix": [
        *[c_void_p, c_int32, c_void_p, c_int64, c_int64, c_int64, c_int64],
        *[POINTER(PredictOptions), POINTER(Prediction)],
    ],
    "model_evaluate": [c_void_p, c_void_p, POINTER(PredictOptions), *_TEXT],
    "model_describe": [c_void_p, *_TEXT],
    "model_importance": [c_void_p, c_void_p, c_int64],
    "model_prune": [c_void_p, c_char_p, POINTER(c_void_p)],
    "model_export_onnx": [c_void_p, c_char_p, c_int64],
    "model_save": [c_void_p, c_char_p],
    "model_load": [c_char_p, POINTER(c_void_p)],
    "model_to_bytes": [c_void_p, c_void_p, c_int64, POINTER(c_int64)],
    "model_from_bytes": [c_char_p, c_int64, POINTER(c_void_p)],
    "compress_settings": _TEXT,
    "compress": [
        *[POINTER(Images), c_char_p, c_char_p, ProgressCallback, c_void_p, POINTER(c_void_p)]
    ],
    "network_free": [c_void_p],
    "network_describe": [c_void_p, *_TEXT],
    "network_run": [c_void_p, c_void_p, c_int64, c_void_p],
    "network_export_onnx": [c_void_p, c_char_p],
    "reproduce": [c_char_p, c_char_p, ProgressCallback, c_void_p, POINTER(c_void_p)],
    "report": [c_char_p, POINTER(c_void_p)],
    "document_free": [c_void_p],
    "document_json": [c_void_p, *_TEXT],
    "document_html": [c_void_p, *_TEXT],
    "weight_create": [
        *[c_char_p, c_char_p, c_int32, POINTER(WeightShape), POINTER(c_void_p)]
    ],
    "weight_create_bias": [c_void_p, c_double, POINTER(c_void_p)],
    "weight_free": [c_void_p],
    "weight_describe": [c_void_p, *_TEXT],
    "weight_initialize": [c_void_p, POINTER(RandomStream), c_void_p],
    "weight_draw": [c_void_p, c_void_p, POINTER(RandomStream), c_void_p, POINTER(c_int64)],
    "weight_backward": [
        *[c_void_p, c_void_p, POINTER(RandomStream), c_int64, c_void_p, c_void_p, c_void_p]
    ],
    "weight_kl": [c_void_p, c_void_p, POINTER(c_double)],
    "weight_kl_backward": [c_void_p, c_void_p, c_double, c_void_p],
    "weight_moments": [c_void_p, c_void_p, c_void_p, c_void_p],
    "weight_point": [c_void_p, c_void_p, c_int32, c_void_p],
    "bessel_ratio": _ARRAY,
    "log_bessel_i": _ARRAY,
    "vmf_log_normalizer": _ARRAY,
    "vmf_mean_cosine": _ARRAY,
    "vmf_cosine_variance": _ARRAY,
    "vmf_entropy": _ARRAY,
    "vmf_kl": [c_double, c_void_p, c_void_p, c_void_p, c_int64, c_void_p],
    "vmf_sample": [
        *[POINTER(RandomStream), c_int64, c_void_p, c_double, c_int64, c_void_p]
    ],
}


def _load() -> ctypes.CDLL:
    """RADIR_LIBRARY, the library of the wheel, or that of the system."""
    given = os.environ.get("RADIR_LIBRARY")
    own = pathlib.Path(__file__).parent / "lib" / "libradir.so"
    library = ctypes.CDLL(given or (str(own) if own.exists() else "libradir.so.0.1"))
    for name, types in _FUNCTIONS.items():
        function = getattr(library, "radir_" + name)
        function.argtypes = types
        function.restype = c_int32
    library.radir_version.restype = c_char_p
    library.radir_last_error.restype = c_char_p
    return library


_library = _load()


def _wrapped(name: str) -> Callable[..., None]:
    function = getattr(_library, "radir_" + name)

    def call(*arguments: Any) -> None:
        status = function(*arguments)
        if status != 0:
            message = _library.radir_last_error().decode("utf-8", "replace")
            raise _ERRORS.get(status, RadirError)(message)

    return call


class Functions:
    """The functions of the C interface, which raise what they report."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in _FUNCTIONS:
            raise AttributeError(name)
        function = _wrapped(name)
        setattr(self, name, function)
        return function


lib = Functions()


class Handle(c_void_p):
    """What the library made. Freed with the last Python object that has it, so
    that copies of an object share it."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind
        self._free = getattr(lib, kind + "_free")

    def __del__(self) -> None:
        if self.value:
            self._free(self)

    def __reduce__(self) -> Any:
        raise TypeError(f"a {self._kind} of the library cannot be pickled or copied deeply")


def version() -> str:
    """The version of the library."""
    return str(_library.radir_version().decode())


def json_text(value: Any) -> str:
    """JSON, also of NumPy's numbers and arrays, and of paths."""

    def plain(value: Any) -> Any:
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        return value.tolist()

    return json.dumps(value, default=plain)


def read_json(function: Callable[..., None], *arguments: Any) -> Any:
    """What a function writes as JSON text."""
    return json.loads(read_text(function, *arguments))


def read_text(function: Callable[..., None], *arguments: Any) -> str:
    """What a function writes as text; called again where it is long."""
    length = c_int64()
    capacity = 1 << 16
    while True:
        buffer = ctypes.create_string_buffer(capacity)
        try:
            function(*arguments, buffer, capacity, ctypes.byref(length))
            return buffer.value.decode()
        except ArgumentError:
            if length.value < capacity:
                raise
            capacity = length.value + 1


def text_array(texts: list[str]) -> Any:
    """A ``const char* const*``."""
    return (c_char_p * len(texts))(*(text.encode() for text in texts))


def number_type(array: npt.NDArray[Any]) -> int:
    """FLOAT32 or FLOAT64."""
    return FLOAT32 if array.dtype == np.float32 else FLOAT64


def stream(seed: int, step: int = 0, number: int = 0) -> RandomStream:
    """The name of a sequence of random numbers; a negative seed wraps around."""
    return RandomStream(seed % 2**64, step, number)
