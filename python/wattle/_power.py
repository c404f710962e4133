# mypy: no-implicit-reexport
"""Power over time."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from wattle._library import core, optional

if TYPE_CHECKING:
    from typing import Self


__all__ = ["PowerMonitor", "to_numpy", "to_pandas"]


class PowerMonitor(core.PowerMonitorBase):
    """Reads the power of GPUs and the energy counters of CPUs over and over.

    It starts with the constructor and ends with `stop`, or as a context manager; then it still
    answers. Times are seconds since 1970-01-01 UTC, as of `time.time()`; both ends of a window
    belong to it. GPUs have the number of their driver. gpus, strict, system: as of `measure`.
    update_period: seconds; None: found out. Thread-safe. In the child of a `fork` it does nothing.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


def to_numpy(timeline: core.Timeline | core.CpuTimeline) -> dict[str, Any]:
    """The columns of a timeline as arrays, without a copy: timestamp (Unix seconds), power_w."""
    numpy = optional("numpy")
    return {
        "timestamp": numpy.asarray(timeline.timestamp),
        "power_w": numpy.asarray(timeline.power_w),
    }


def to_pandas(timeline: core.Timeline | core.CpuTimeline) -> Any:
    """A timeline as a data frame: timestamp (Unix seconds), power_w."""
    return optional("pandas").DataFrame(to_numpy(timeline))
