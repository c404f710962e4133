# mypy: no-implicit-reexport
"""Files that show what GPUs and CPUs did, and their summaries."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING

from wattle._errors import InvalidState
from wattle._library import core

if TYPE_CHECKING:
    from typing import Self

__all__ = ["HardwareMonitor", "summarize"]


class HardwareMonitor(core.HardwareMonitorBase):
    """Writes what GPUs, CPUs, memory, disks and network do to CSV files in a folder.

    `with HardwareMonitor("out"):`, or `start(folder)` and `stop()`. interval: seconds between two
    rows. overwrite: replace its files; otherwise rows are added. Raises `WriteError`, `FormatError`
    (a file holds something else) and `InvalidState` (started already). Not thread-safe.
    """

    files: core.HardwareFiles | None
    """What `stop` returned, as a context manager."""

    def __init__(
        self,
        output_dir: str | os.PathLike[str] | None = None,
        *,
        interval: float = 2.0,
        overwrite: bool = False,
        gpus: str | list[int | str] | None = None,
        strict: bool = False,
        system: core.System | None = None,
    ) -> None:
        super().__init__(
            interval=interval, overwrite=overwrite, gpus=gpus, strict=strict, system=system
        )
        self._output_dir = output_dir
        self.files = None

    def __enter__(self) -> Self:
        if self._output_dir is None:
            raise InvalidState("the hardware monitor has no folder: HardwareMonitor(folder)")
        self.start(self._output_dir)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.files = self.stop()


def summarize(source: str | os.PathLike[str] | core.HardwareFiles) -> core.ResourceSummary:
    """The use of a run: of a folder of a hardware monitor, or of the files that its `stop` returned.

    A file that is absent or damaged is no error: its figures are None. Thread-safe.
    """
    if isinstance(source, core.HardwareFiles):
        return core.summarize_files(source)
    folder = os.fspath(source)
    return core.build_resource_summary(
        *(
            os.path.join(folder, name)
            for name in ("hw_metrics.csv", "cpu_metrics.csv", "hw_dmon.csv", "hw_samples.csv")
        )
    )
