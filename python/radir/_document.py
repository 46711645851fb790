"""Benchmarks and reports: numbers with a page."""

from __future__ import annotations

import ctypes
import html
import os
import pathlib
from typing import Any, Optional, Union

from ._library import json_text, lib, read_json, read_text
from ._model import Callback, Interruptible

Path = Union[str, "os.PathLike[str]"]


class Document:
    """Numbers, as ``results``, and a page, as ``html``; notebooks show it."""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        try:
            #: What the command prints with --json.
            self.results: dict[str, Any] = read_json(lib.document_json, handle)
            #: One HTML document that needs no other file.
            self.html: str = read_text(lib.document_html, handle)
        finally:
            lib.document_free(handle)

    def save(self, path: Path) -> None:
        """Writes the page."""
        pathlib.Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{key}={value!r}" for key, value in self.results.items() if isinstance(value, str)
        )
        return f"{type(self).__name__}({shown})"

    def _repr_html_(self) -> str:
        # In a frame: the page has styles of its own.
        page = html.escape(self.html)
        return f'<iframe srcdoc="{page}" width="100%" height="600"></iframe>'


class Reproduction(Document):
    """A published table or figure, computed again."""


class Report(Document):
    """A page about a run."""

    @property
    def state(self) -> str:
        """Such as "finished" or "unfinished, 40 epochs"."""
        return str(self.results["state"])


def reproduce(
    what: str,
    run: Optional[Path] = None,
    *,
    callback: Optional[Callback] = None,
    **settings: Any,
) -> Reproduction:
    """Computes a published table or figure again, as ``radir reproduce`` does:
    "uci", "lenet5", "lenet300" or "figures". ``run`` is the folder of its
    results, where the same call resumes after a stop (not of "figures").
    Settings are the options of the command: ``data_dir``, ``sets``,
    ``methods``, ``steps``, ``seed``, ``threads`` and so on."""
    if run is not None:
        settings["run"] = os.fspath(run)
    handle = ctypes.c_void_p()
    Interruptible(lib.reproduce, callback).run(
        *[what.encode(), json_text(settings).encode(), ctypes.byref(handle)]
    )
    return Reproduction(handle)


def report(run: Path) -> Report:
    """A page about the run in a folder, finished or not, as ``radir report``
    writes it."""
    handle = ctypes.c_void_p()
    lib.report(os.fspath(run).encode(), ctypes.byref(handle))
    return Report(handle)
