# mypy: no-implicit-reexport
"""Phases of a program that `wattle run` measures."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from wattle._library import core

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Phase", "end_mark", "mark"]


def mark(name: str) -> bool:
    """Starts a phase of the run that this process belongs to: a row of its report.

    False, and without effect, outside of `wattle run`. Takes about 50 µs. Thread-safe.
    """
    return core.mark(name)


def end_mark(name: str = "") -> bool:
    """Ends the phase of that name that started last; without a name, the one that started last."""
    return core.end_mark(name)


class Phase:
    """`with wattle.Phase("load"):`: a phase that lasts as long as the block."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> Self:
        mark(self.name)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        end_mark(self.name)
