"""The progress of a sort: the objects for callbacks, and the bar of terminals and notebooks."""

from __future__ import annotations

import sys
from typing import Callable, NamedTuple, Optional, Union

import numpy

from ._errors import has_type


class Progress(NamedTuple):
    """A running sort."""

    phase: str                     # "read", "merge", "write" or "sync"
    bytes: int                     # moved in this phase
    total_bytes: Optional[int]     # that the phase has to move; None: unknown
    seconds: float                 # since the start
    bytes_per_second: float        # of the last seconds
    seconds_left: Optional[float]  # until the end; None: unknown
    text: str                      # the program's status line


Watch = Callable[[Progress], object]

_QUIET_SECONDS = 1.0
_CELLS = 20


class Bar:
    """A line on standard error, from the first second on, that is cleared in the end."""

    def __init__(self) -> None:
        self._shown = 0

    def __call__(self, progress: Progress) -> None:
        if progress.seconds < _QUIET_SECONDS:
            return
        done = int(_CELLS * progress.bytes / progress.total_bytes) if progress.total_bytes else 0
        line = f"gsort |{'#' * min(done, _CELLS):{_CELLS}}| {progress.text}"
        sys.stderr.write("\r" + line.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(line)

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


class Watching:
    """The function that the native module calls while it works, its argument `watch`; None without one."""

    def __init__(self, progress: Union[bool, Watch, None]) -> None:
        self._bar = None
        if progress is not None and not isinstance(progress, (bool, numpy.bool_)) and not callable(progress):
            raise has_type("progress", progress, "give True, False, None, or a function")
        if progress is None:
            progress = sys.stderr is not None and (sys.stderr.isatty() or _in_notebook())
        if isinstance(progress, (bool, numpy.bool_)) and progress:
            self._bar = progress = Bar()
        self._watch = progress or None

    def __enter__(self) -> Optional[Callable[..., object]]:
        watch = self._watch
        return watch and (lambda *status: watch(Progress(*status)))

    def __exit__(self, *raised: object) -> None:
        if self._bar:
            self._bar.close()
