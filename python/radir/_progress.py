"""A line that shows how far a fit is."""

from __future__ import annotations

import sys
from typing import Any, Optional

from ._model import Progress


class ProgressBar:
    """tqdm where it is there, a line of text where not, nothing unless asked."""

    def __init__(self, shown: bool) -> None:
        self._shown = shown
        self._bar: Optional[Any] = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._shown:
            print(file=sys.stderr)

    def show(self, progress: Progress) -> None:
        if not self._shown:
            return
        text = "tuning" if progress.tuning else f"nll {progress.nll:.4f}, kl {progress.kl:.4f}"
        try:
            from tqdm.auto import tqdm
        except ImportError:
            line = f"\r{progress.done} of {progress.total}, {text}\033[K"
            print(line, end="", file=sys.stderr, flush=True)
            return
        if self._bar is None or self._bar.total != progress.total:
            if self._bar is not None:
                self._bar.close()
            self._bar = tqdm(total=progress.total)
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(progress.done - self._bar.n)
