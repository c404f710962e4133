# mypy: no-implicit-reexport
"""The tracker of a process and its descendants."""

from __future__ import annotations

import dataclasses
import enum
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from wattle._errors import InvalidArgument, InvalidState, NoSuchDevice
from wattle._library import core
from wattle.compat.gpu_tracker.sub_tracking_files import is_sqlite

if TYPE_CHECKING:
    from typing import Self


@dataclasses.dataclass
class RSSValues:
    total_rss: float | None = 0.0
    private_rss: float | None = 0.0
    shared_rss: float | None = 0.0


@dataclasses.dataclass
class MaxRAM:
    unit: str
    system_capacity: float | None
    system: float | None = 0.0
    main: RSSValues = dataclasses.field(default_factory=RSSValues)
    descendants: RSSValues = dataclasses.field(default_factory=RSSValues)
    combined: RSSValues = dataclasses.field(default_factory=RSSValues)


@dataclasses.dataclass
class MaxGPURAM:
    unit: str
    system_capacity: float | None
    system: float | None = 0.0
    main: float | None = 0.0
    descendants: float | None = 0.0
    combined: float | None = 0.0


@dataclasses.dataclass
class ProcessingUnitPercentages:
    max_sum_percent: float | None = 0.0
    max_hardware_percent: float | None = 0.0
    mean_sum_percent: float | None = 0.0
    mean_hardware_percent: float | None = 0.0


_Percentages = ProcessingUnitPercentages


@dataclasses.dataclass
class CPUUtilization:
    system_core_count: int | None
    n_expected_cores: int | None
    system: ProcessingUnitPercentages = dataclasses.field(default_factory=_Percentages)
    main: ProcessingUnitPercentages = dataclasses.field(default_factory=_Percentages)
    descendants: ProcessingUnitPercentages = dataclasses.field(default_factory=_Percentages)
    combined: ProcessingUnitPercentages = dataclasses.field(default_factory=_Percentages)
    main_n_threads: int | None = 0
    descendants_n_threads: int | None = 0
    combined_n_threads: int | None = 0


@dataclasses.dataclass
class GPUUtilization:
    system_gpu_count: int | None
    n_expected_gpus: int | None
    gpu_percentages: ProcessingUnitPercentages = dataclasses.field(default_factory=_Percentages)


@dataclasses.dataclass
class ComputeTime:
    unit: str
    time: float | None = 0.0


@dataclasses.dataclass
class ResourceUsage:
    """What was used; None: unknown."""

    max_ram: MaxRAM
    max_gpu_ram: MaxGPURAM
    cpu_utilization: CPUUtilization
    gpu_utilization: GPUUtilization
    compute_time: ComputeTime


def _percentages(values: dict[str, Any]) -> ProcessingUnitPercentages:
    return ProcessingUnitPercentages(**values)


def _usage(groups: dict[str, Any]) -> ResourceUsage:
    """From the five groups of the library's JSON, which have these names."""
    parts = ("main", "descendants", "combined")
    ram = dict(groups["max_ram"])
    ram.update({part: RSSValues(**ram[part]) for part in parts})
    cpu = dict(groups["cpu_utilization"])
    cpu.update({part: _percentages(cpu[part]) for part in ("system", *parts)})
    gpu = dict(groups["gpu_utilization"])
    gpu["gpu_percentages"] = _percentages(gpu["gpu_percentages"])
    return ResourceUsage(
        max_ram=MaxRAM(**ram),
        max_gpu_ram=MaxGPURAM(**groups["max_gpu_ram"]),
        cpu_utilization=CPUUtilization(**cpu),
        gpu_utilization=GPUUtilization(**gpu),
        compute_time=ComputeTime(**groups["compute_time"]),
    )


class Tracker:
    """Tracks from `start` to `stop`, once, in a thread of the library. A context manager.

    The arguments are those of gpu_tracker. n_join_attempts and join_timeout are ignored: no other
    process is waited for. ValueError for units and values that do not exist; RuntimeError for calls
    in the wrong order. Not thread-safe.
    """

    class State(enum.Enum):
        NEW = 0
        STARTED = 1
        STOPPED = 2

    def __init__(
        self,
        sleep_time: float = 1.0,
        ram_unit: str = "gigabytes",
        gpu_ram_unit: str = "gigabytes",
        time_unit: str = "hours",
        n_expected_cores: int | None = None,
        gpu_uuids: Iterable[str] | None = None,
        disable_logs: bool = False,
        process_id: int | None = None,
        resource_usage_file: str | os.PathLike[str] | None = None,
        n_join_attempts: int = 5,
        join_timeout: float = 10.0,
        gpu_brand: str | None = None,
        tracking_file: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
    ) -> None:
        del n_join_attempts, join_timeout
        uuids = None if gpu_uuids is None else sorted(gpu_uuids)
        if uuids is not None and not uuids:
            raise InvalidArgument("gpu_uuids is empty: name at least one GPU, or leave it out")
        if tracking_file is not None:
            is_sqlite(Path(tracking_file))
        try:
            self._tracker = core.TrackerBase(
                sleep_time,
                ram_unit,
                gpu_ram_unit,
                time_unit,
                n_expected_cores,
                gpus=uuids,
                disable_logs=disable_logs,
                process_id=process_id,
                resource_usage_file=resource_usage_file,
                gpu_brand=gpu_brand,
                tracking_file=tracking_file,
                overwrite=overwrite,
            )
        except NoSuchDevice as error:
            raise InvalidArgument(str(error)) from error
        self.resource_usage: ResourceUsage | None = None

    @property
    def state(self) -> Tracker.State:
        return Tracker.State[self._tracker.state]

    def start(self) -> None:
        self._tracker.start()

    def stop(self) -> None:
        if self.state is not Tracker.State.STARTED:
            raise InvalidState(f"cannot stop: the tracker is {self.state.name.lower()}")
        self._tracker.stop()
        self.resource_usage = _usage(self._tracker.resource_usage.to_dict())

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.state is Tracker.State.STARTED:
            self.stop()

    def to_json(self) -> dict[str, Any]:
        """The five groups as dictionaries. Raises RuntimeError before the end."""
        self._require_end()
        return self._tracker.resource_usage.to_dict()

    def __str__(self) -> str:
        self._require_end()
        return str(self._tracker.resource_usage)

    def __repr__(self) -> str:
        return f"State: {self.state.name}"

    def _require_end(self) -> None:
        if self.state is not Tracker.State.STOPPED:
            raise InvalidState("the tracker has no result before it was stopped")
