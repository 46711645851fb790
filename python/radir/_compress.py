"""Small image classifiers."""

from __future__ import annotations

import ctypes
import html
import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._library import Handle, Images, json_text, lib, read_json
from ._model import Callback, Interruptible

Array = npt.NDArray[Any]


def compress_settings() -> list[dict[str, Any]]:
    """Every setting of ``compress``: name, help, type, default and so on."""
    return list(read_json(lib.compress_settings))


def _pixels(images: Any) -> Array:
    """[count, channels, height, width], from 0 to 1."""
    array = np.asarray(images)
    if array.dtype == np.uint8:
        array = array.astype(np.float32) / 255
    array = np.ascontiguousarray(array, dtype=np.float32)
    if array.ndim == 3:
        array = array[:, np.newaxis]
    if array.ndim != 4:
        raise ValueError(
            "images must be [count, height, width] or [count, channels, height, width], "
            f"but have {array.ndim} dimensions"
        )
    return array


class CompressedNetwork:
    """A small network with fixed weights, and how it came about."""

    def __init__(
        self, handle: Handle, classes: Array, image_shape: tuple[int, ...]
    ) -> None:
        self._handle = handle
        self.classes_ = classes
        #: (channels, height, width) of the images it takes.
        self.image_shape = image_shape
        #: Figures of the network before and after, and every removal.
        self.report: dict[str, Any] = read_json(lib.network_describe, handle)

    @property
    def _stages(self) -> dict[str, dict[str, Any]]:
        names = ("unpruned", "pruned", "fine_tuned", "mean_tuned")
        return {name: self.report[name] for name in names if self.report.get(name)}

    @property
    def figures(self) -> dict[str, Any]:
        """Those of this network: test_error, flops, parameters and so on."""
        return list(self._stages.values())[-1]

    def decision_function(self, images: Any) -> Array:
        """The outputs of the last layer, [image, class]."""
        pixels = _pixels(images)
        if pixels.shape[1:] != self.image_shape:
            raise ValueError(
                "the network takes images of [channels, height, width] = "
                f"{list(self.image_shape)}, but these are {list(pixels.shape[1:])}"
            )
        outputs = np.empty((len(pixels), len(self.classes_)), dtype=np.float32)
        lib.network_run(self._handle, pixels.ctypes.data, len(pixels), outputs.ctypes.data)
        return outputs

    def predict(self, images: Any) -> Array:
        """The most likely class."""
        return self.classes_[np.argmax(self.decision_function(images), axis=1)]

    def predict_proba(self, images: Any) -> Array:
        """[image, class]"""
        outputs = self.decision_function(images).astype(np.float64)
        powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def to_onnx(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the network as an ONNX file."""
        lib.network_export_onnx(self._handle, os.fspath(path).encode())

    def __repr__(self) -> str:
        about = self.figures
        return (
            f"CompressedNetwork({about['architecture']}, {about['parameters']} parameters, "
            f"{about['flops']} FLOPs, test error {100 * about['test_error']:.2f} %)"
        )

    def _repr_html_(self) -> str:
        titles = ["architecture", "parameters", "flops", "test_error"]
        head = "".join(f"<th>{title}</th>" for title in ["network", *titles])
        rows = "".join(
            f"<tr><td>{name}</td>"
            + "".join(f"<td>{html.escape(str(figures[t]))}</td>" for t in titles)
            + "</tr>"
            for name, figures in self._stages.items()
        )
        return f"<table><tr>{head}</tr>{rows}</table>"


def compress(
    images: Any,
    labels: Any,
    test_images: Any,
    test_labels: Any,
    network: Union[str, os.PathLike[str], Mapping[str, Any]] = "lenet5",
    settings: Optional[Mapping[str, Any]] = None,
    callback: Optional[Callback] = None,
) -> CompressedNetwork:
    """Trains an image classifier and removes what it does not need, as ``radir
    compress`` does. Images are [count, height, width] or [count, channels,
    height, width], numbers from 0 to 1 or bytes. ``network`` is "lenet5",
    "lenet300", a description (a dict, or a file of JSON) or an ONNX file, of
    which the architecture is taken. ``compress_settings()`` lists the settings."""
    train, test = _pixels(images), _pixels(test_images)
    if train.shape[1:] != test.shape[1:]:
        raise ValueError(f"training images {train.shape[1:]}, test images {test.shape[1:]}")
    classes = np.unique(np.concatenate([np.asarray(labels), np.asarray(test_labels)]))
    codes: Sequence[Array] = [
        np.searchsorted(classes, np.asarray(given)).astype(np.int64)
        for given in (labels, test_labels)
    ]
    for pixels, numbers in zip((train, test), codes):
        if numbers.shape != (len(pixels),):
            raise ValueError(f"{len(pixels)} images, but labels of the shape {numbers.shape}")
    request = Images(
        *[*train.shape[1:], len(classes)],
        *[len(train), train.ctypes.data, codes[0].ctypes.data],
        *[len(test), test.ctypes.data, codes[1].ctypes.data],
    )
    text = json.dumps(network) if isinstance(network, Mapping) else os.fspath(network)
    handle = Handle("network")
    Interruptible(lib.compress, callback, (train, test, codes)).run(
        *[ctypes.byref(request), text.encode(), json_text(dict(settings or {})).encode()],
        ctypes.byref(handle),
    )
    return CompressedNetwork(handle, classes, train.shape[1:])
