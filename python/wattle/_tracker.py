# mypy: no-implicit-reexport
"""What a process and all its descendants use."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from wattle._library import core

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Tracker"]


class Tracker(core.TrackerBase):
    """Tracks a process and its descendants: memory, CPU, GPUs, time, energy of the machine.

    A context manager, or `start` and `stop`; once. `resource_usage` has the results after the end.
    ram_unit, gpu_ram_unit: bytes, kilobytes, megabytes, gigabytes, terabytes, of 1000 each.
    time_unit: seconds, minutes, hours, days. process_id: None: this process. resource_usage_file:
    None: a file in the state folder while it tracks; "": none. tracking_file: a row per sample,
    CSV or ".sqlite". In the child of a `fork` it does nothing. Not thread-safe.
    """

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.state == "STARTED":
            self.stop()

    def __str__(self) -> str:
        return str(self.resource_usage) if self.state == "STOPPED" else f"State: {self.state}"

    def __repr__(self) -> str:
        return f"State: {self.state}" if self.state != "STOPPED" else str(self.resource_usage)
