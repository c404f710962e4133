# mypy: no-implicit-reexport
"""The names of the run monitor: `RunLog`, `HWMonitor`, `ResourceSummary`.

A figure that is unknown is 0.0, as in the original, and named in `ResourceSummary.unknown`:
`wattle.summarize` has None instead.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from wattle._errors import InvalidArgument
from wattle._library import core, optional

__all__ = [
    "HWMonitor",
    "ResourceSummary",
    "RunLog",
    "build_resource_summary",
    "probe_jax_peak_memory_mb",
]

_Path = str | os.PathLike[str]
_RESERVED = frozenset({"ts", "type", "name", "seconds"})


class RunLog:
    """Phases and events of a run, kept until `write`. `wattle.RunLog` writes them as they happen."""

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []

    def _log(self, entry: dict[str, Any]) -> None:
        utc = timezone.utc  # noqa: UP017 (Python 3.10)
        now = datetime.now(utc).isoformat(timespec="milliseconds")
        self._entries.append({"ts": now, **entry})

    def log_phase(self, name: str, seconds: float, **extra: Any) -> None:
        """A phase that ended now. Raises `wattle.InvalidArgument` for extra keys of its own."""
        taken = _RESERVED & extra.keys()
        if taken:
            raise InvalidArgument(f"log_phase cannot take the key {min(taken)!r}: it is the log's own")
        self._log({"type": "phase", "name": name, "seconds": round(seconds, 3), **extra})

    def log_event(self, event_type: str, data: Mapping[str, Any] | None = None) -> None:
        entry: dict[str, Any] = {"type": "event", "event": event_type}
        if data:
            entry["data"] = data
        self._log(entry)

    def write(self, path: _Path) -> None:
        """Writes one line of JSON per entry; what the file held is replaced."""
        lines = [json.dumps(_finite(entry), default=str) + "\n" for entry in self._entries]
        Path(path).write_text("".join(lines), encoding="utf-8")


def _finite(value: Any) -> Any:
    """NaN and infinity are no JSON: null."""
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


class HWMonitor:
    """Writes hw_metrics.csv, hw_dmon.csv and cpu_metrics.csv, in this process."""

    def __init__(self) -> None:
        self._monitor: core.HardwareMonitorBase | None = None

    def start(self, output_dir: _Path, interval_sec: float = 2) -> None:
        """Raises `wattle.InvalidState` if it is started."""
        if self._monitor is None or not self._monitor.is_started:
            self._monitor = core.HardwareMonitorBase(interval=interval_sec, overwrite=True)
        self._monitor.start(output_dir)

    def stop(self) -> tuple[Path | None, Path | None, Path | None]:
        """The files of GPUs, CPUs and dmon; None for one that was not written."""
        if self._monitor is None:
            return None, None, None
        files = self._monitor.stop()
        self._monitor = None
        return _path(files.gpu_csv), _path(files.cpu_csv), _path(files.dmon_csv)


def _path(name: str | None) -> Path | None:
    return None if name is None else Path(name)


@dataclasses.dataclass
class ResourceSummary:
    """What a run used: percent, W, and MiB (`_mb`, as in the original)."""

    peak_vram_mb: float = 0.0
    jax_peak_bytes_mb: float = 0.0
    gpu_util_mean_pct: float = 0.0
    gpu_util_max_pct: float = 0.0
    mem_util_mean_pct: float = 0.0
    mem_util_max_pct: float = 0.0
    power_watts_mean: float = 0.0
    power_watts_max: float = 0.0
    cpu_usr_mean_pct: float = 0.0
    cpu_idle_mean_pct: float = 0.0
    unknown: tuple[str, ...] = dataclasses.field(default=(), repr=False, compare=False)
    """The figures that the files do not have."""

    def to_dict(self) -> dict[str, Any]:
        """Rounded to 1 decimal. A figure that the files do not have is None."""
        names = [
            "peak_vram_mb",
            "gpu_util_mean_pct",
            "gpu_util_max_pct",
            "power_watts_mean",
            "power_watts_max",
            "cpu_usr_mean_pct",
            "cpu_idle_mean_pct",
        ]
        if self.jax_peak_bytes_mb > 0:
            names.append("jax_peak_bytes_mb")
        if self.mem_util_mean_pct > 0:
            names += ["mem_util_mean_pct", "mem_util_max_pct"]
        return {
            name: None if name in self.unknown else round(getattr(self, name), 1) for name in names
        }


_FIGURES = tuple(
    field.name
    for field in dataclasses.fields(ResourceSummary)
    if field.name not in ("jax_peak_bytes_mb", "unknown")
)


def build_resource_summary(
    gpu_csv_path: _Path | None,
    cpu_csv_path: _Path | None,
    dmon_csv_path: _Path | None = None,
) -> ResourceSummary:
    """The summary of the files; one that is None or absent has no figures."""
    summary = core.build_resource_summary(gpu_csv_path, cpu_csv_path, dmon_csv_path)
    known = {name: getattr(summary, name) for name in _FIGURES}
    return ResourceSummary(
        **{name: value for name, value in known.items() if value is not None},
        unknown=tuple(name for name, value in known.items() if value is None),
    )


def probe_jax_peak_memory_mb() -> float:
    """MiB that JAX had in use on its first GPU at most; 0.0 if there is none, or no JAX."""
    try:
        jax: Any = optional("jax")
        gpu = next(device for device in jax.local_devices() if device.platform == "gpu")
        return float(gpu.memory_stats()["peak_bytes_in_use"]) / 1048576
    # Whatever is wrong with it: a probe must not end a run.
    except Exception:  # noqa: BLE001
        return 0.0
