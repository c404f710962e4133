# mypy: no-implicit-reexport
"""Blocks of code within a tracked process."""

from __future__ import annotations

import functools
import inspect
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from wattle.compat.gpu_tracker.sub_tracking_analysis import (
    SubTrackingAnalyzer,
    TrackingComparison,
)
from wattle.compat.gpu_tracker.sub_tracking_files import START, STOP, append, is_sqlite
from wattle.compat.gpu_tracker.sub_tracking_results import (
    CodeBlockResults,
    ComparisonResults,
    SubTrackingResults,
)

if TYPE_CHECKING:
    from typing import Self

__all__ = [
    "CodeBlockResults",
    "ComparisonResults",
    "SubTracker",
    "SubTrackingAnalyzer",
    "SubTrackingResults",
    "TrackingComparison",
    "sub_track",
]

_Path = str | os.PathLike[str]


class SubTracker:
    """A block of code: `with SubTracker("load"):` notes its start and its end. Not thread-safe."""

    def __init__(
        self,
        code_block_name: str | None = None,
        code_block_attribute: str | None = None,
        sub_tracking_file: _Path | None = None,
        overwrite: bool = False,
    ) -> None:
        if code_block_name is None:
            caller = inspect.stack(0)[1]
            attribute = code_block_attribute or str(caller.lineno)
            code_block_name = f"{os.path.relpath(caller.filename)}:{attribute}"
        self.code_block_name = code_block_name
        self.process_id = os.getpid()
        self.sub_tracking_file = os.fspath(sub_tracking_file or f"{self.process_id}.csv")
        self._path = Path(self.sub_tracking_file)
        is_sqlite(self._path)
        if overwrite:
            self._path.unlink(missing_ok=True)

    def _note(self, position: int) -> None:
        append(self._path, [(self.process_id, self.code_block_name, position, time.time())])

    def __enter__(self) -> Self:
        self._note(START)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._note(STOP)


def sub_track(
    code_block_name: str | None = None,
    code_block_attribute: str | None = None,
    sub_tracking_file: _Path | None = None,
    overwrite: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Each call of a function is a block, by default of the name file:function."""

    def tracked(function: Callable[..., Any]) -> Callable[..., Any]:
        attribute = code_block_attribute or function.__name__
        name = code_block_name or f"{os.path.abspath(inspect.getfile(function))}:{attribute}"

        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            with SubTracker(name, None, sub_tracking_file, overwrite):
                return function(*arguments, **named)

        return call

    return tracked
