# mypy: no-implicit-reexport
"""Energy of a program, by CodeCarbon's names."""

from __future__ import annotations

import datetime
import functools
import logging
import math
import os
import platform
import uuid
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import wattle
from wattle._decorate import _wrapped
from wattle._domain import Domain
from wattle._errors import InvalidArgument, NotStarted
from wattle._measurement import Measurement
from wattle._windows import Windows
from wattle.compat.codecarbon.output import EmissionsData, FileOutput

if TYPE_CHECKING:
    from typing import Self

__all__ = ["EmissionsTracker", "OfflineEmissionsTracker", "track_emissions"]

_logger = logging.getLogger("wattle.codecarbon")
_KWH_J = 3.6e6


class _Sums(NamedTuple):
    """Of windows that follow each other: seconds and kWh. What is unknown in one of them is unknown."""

    seconds: float = 0.0
    cpu: float | None = 0.0
    gpu: float | None = 0.0
    ram: float | None = 0.0
    total: float | None = 0.0

    def plus(self, measurement: Measurement) -> _Sums:
        def added(sum_kwh: float | None, kwh: float | None) -> float | None:
            return None if sum_kwh is None or kwh is None else sum_kwh + kwh

        return _Sums(
            self.seconds + measurement.seconds,
            added(self.cpu, _kwh(measurement, "cpu")),
            added(self.gpu, _kwh(measurement, "gpu")),
            added(self.ram, _kwh(measurement, "ram")),
            added(self.total, _whole_kwh(measurement)),
        )


# Settings of CodeCarbon that have no effect here: nothing is estimated, and no service is asked.
_IGNORED = frozenset(
    (
        "api_call_interval",
        "api_endpoint",
        "api_key",
        "co2_signal_api_token",
        "electricitymaps_api_token",
        "cpu_power",
        "default_cpu_power",
        "emissions_endpoint",
        "experiment_name",
        "force_cpu_power",
        "force_mode_cpu_load",
        "force_ram_power",
        "allow_multiple_runs",
        "log_level",
        "logger_preamble",
        "logging_logger",
        "prometheus_url",
        "rapl_include_dram",
        "rapl_prefer_psys",
        "wue",
    )
)
# What cannot be done, and why.
_REFUSED = {
    "save_to_api": "Wattle sends nothing to a service",
    "save_to_logger": "give the values of final_emissions_data to your logger",
    "save_to_prometheus": "run wattled, which Prometheus can ask",
    "save_to_logfire": "Wattle sends nothing to a service",
    "output_handlers": "use final_emissions_data after stop()",
}


class EmissionsTracker:
    """Measures the energy of the machine from `start` to `stop`, and writes a row of emissions.csv.

    A context manager too. output_dir, output_file: of the CSV file, if `save_to_file`. gpu_ids: GPUs
    by number; None: all. measure_power_secs: accepted; the counters need no sampling.
    kg_co2_per_kwh: carbon is computed from it alone, and is None without it; else the variable
    WATTLE_KG_CO2_PER_KWH. pue: counts in the emissions, not in the energies. Raises
    NotImplementedError for what Wattle cannot do, `FormatError` for a file with other columns.
    Thread-safe, except that one thread at a time calls `flush` and `stop`.
    """

    def __init__(
        self,
        project_name: str = "codecarbon",
        measure_power_secs: float = 15,
        *,
        output_dir: str | os.PathLike[str] = ".",
        output_file: str = "emissions.csv",
        save_to_file: bool = True,
        gpu_ids: Sequence[int | str] | str | None = None,
        experiment_id: str = "",
        tracking_mode: str = "machine",
        on_csv_write: str = "append",
        pue: float = 1.0,
        kg_co2_per_kwh: float | None = None,
        **settings: Any,
    ) -> None:
        _check(settings)
        if tracking_mode not in ("machine", "process"):
            raise InvalidArgument(f'tracking_mode is {tracking_mode!r}: "machine" is known')
        if tracking_mode != "machine":
            raise NotImplementedError(
                f"tracking_mode={tracking_mode!r}: the counters of energy do not distinguish processes; "
                'only "machine" can be measured'
            )
        self._factor = _factor(kg_co2_per_kwh)
        self._pue = float(pue)
        if not (math.isfinite(self._pue) and self._pue >= 1.0):
            raise InvalidArgument(f"pue is {pue!r}: it is at least 1")
        self._project_name = project_name
        self._experiment_id = experiment_id
        self._place: dict[str, str | None] = {}
        self._output: FileOutput | None = None
        if save_to_file:
            folder = os.fspath(output_dir)
            if not os.path.isdir(folder):
                raise FileNotFoundError(f"output_dir is not there: {folder}")
            self._output = FileOutput(os.path.join(folder, output_file), on_csv_write)
        if isinstance(gpu_ids, str):
            # Numbers, or UUIDs, which the library reads.
            gpu_ids = [one.strip() for one in gpu_ids.split(",") if one.strip()]
        self._windows = Windows(gpus=("none" if gpu_ids == [] else gpu_ids))
        # Of the windows that `flush` has ended: the run goes on in a new one.
        self._flushed = _Sums()
        self._starts = 0
        self._tasks: dict[str, EmissionsData] = {}
        self.run_id = str(uuid.uuid4())
        self.final_emissions: float | None = None
        """kg of CO2 equivalent, after `stop`; None without a factor."""
        self.final_emissions_data: EmissionsData | None = None
        """The row, after `stop`."""

    def start(self) -> None:
        """Starts the measurement. Once started it does nothing but warn."""
        if _RUN in self._windows:
            _logger.warning("the tracker is started already")
            return
        self._windows.begin(_RUN)

    def stop(self) -> float | None:
        """Ends it, writes the row, and returns kg of CO2 equivalent; None without a factor."""
        if _RUN not in self._windows:
            _logger.warning("the tracker is not started, or stopped already")
            return self.final_emissions
        for name in [key for key in self._windows if key != _RUN]:
            self.stop_task(str(name))
        ended = self._windows.end(_RUN)
        self.final_emissions_data = data = self._data(ended, self._flushed.plus(ended))
        self._flushed = _Sums()
        self.final_emissions = data.emissions
        if self._output is not None:
            self._output.out(data)
        return data.emissions

    def flush(self) -> float | None:
        """Writes a row of the run until now, and returns kg of CO2 equivalent; None without a factor.

        With `on_csv_write="update"` later rows of the run replace it.
        """
        if _RUN not in self._windows:
            _logger.warning("the tracker is not started, or stopped already")
            return None
        ended = self._windows.end(_RUN)
        self._windows.begin(_RUN)
        self._flushed = self._flushed.plus(ended)
        data = self._data(ended, self._flushed)
        if self._output is not None:
            self._output.out(data)
        return data.emissions

    def start_task(self, task_name: str | None = None) -> None:
        """Starts a task. Tasks may overlap. Raises `wattle.InvalidState` if it is open."""
        self._starts += 1
        self._windows.begin(task_name if task_name is not None else f"task {self._starts}")

    def stop_task(self, task_name: str | None = None) -> EmissionsData:
        """Ends a task, or without a name the newest; its energies. Raises `wattle.NotStarted`."""
        if task_name is None:
            opened = [key for key in self._windows if key != _RUN]
            if not opened:
                raise NotStarted("cannot stop a task: none is open; start one first")
            task_name = str(opened[-1])
        ended = self._windows.end(task_name)
        self._tasks[task_name] = data = self._data(ended, _Sums().plus(ended))
        return data

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _data(self, measurement: Measurement, sums: _Sums) -> EmissionsData:
        """measurement: the last of the windows that are in the sums."""
        seconds, total = sums.seconds, sums.total
        energies = {"cpu": sums.cpu, "gpu": sums.gpu, "ram": sums.ram}
        if total is None:
            _logger.warning("the energy is unknown: %s", measurement)
        emissions = None
        if total is not None and self._factor is not None:
            emissions = total * self._pue * self._factor
        elif self._factor is None:
            _logger.warning("emissions are None: give kg_co2_per_kwh or set %s", _FACTOR)
        known = {f"{kind}_energy": kwh for kind, kwh in energies.items()}
        powers = {
            f"{kind}_power": None if kwh is None or seconds <= 0 else kwh * _KWH_J / seconds
            for kind, kwh in energies.items()
        }
        values: dict[str, Any] = {**known, **powers, **self._place, **_machine(measurement)}
        return EmissionsData(
            timestamp=datetime.datetime.now().astimezone().replace(tzinfo=None).isoformat(timespec="seconds"),
            project_name=self._project_name,
            run_id=self.run_id,
            experiment_id=self._experiment_id,
            duration=seconds,
            emissions=emissions,
            emissions_rate=None if emissions is None or seconds <= 0 else emissions / seconds,
            energy_consumed=total,
            pue=self._pue,
            **values,
        )


class OfflineEmissionsTracker(EmissionsTracker):
    """As `EmissionsTracker`, which asks no service either; the place is written to the row."""

    def __init__(
        self,
        *args: Any,
        country_iso_code: str | None = None,
        region: str | None = None,
        cloud_provider: str | None = None,
        cloud_region: str | None = None,
        country_2letter_iso_code: str | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(*args, **settings)
        del country_2letter_iso_code
        self._place = {
            "country_iso_code": country_iso_code,
            "region": region,
            "cloud_provider": cloud_provider,
            "cloud_region": cloud_region,
        }


def track_emissions(
    fn: Any = None, project_name: str = "codecarbon", *, offline: bool = False, **settings: Any
) -> Any:
    """Measures each call of a function: `@track_emissions`, or with the arguments of a tracker.

    A coroutine and a generator stay one. A call that raises is measured, too.
    """
    if fn is None:
        return functools.partial(track_emissions, project_name=project_name, offline=offline, **settings)
    kind: Callable[..., EmissionsTracker] = OfflineEmissionsTracker if offline else EmissionsTracker
    return _wrapped(fn, lambda: kind(project_name, **settings))


_RUN = object()
_FACTOR = "WATTLE_KG_CO2_PER_KWH"


def _check(settings: dict[str, Any]) -> None:
    for name, value in settings.items():
        if name in _REFUSED:
            if value:
                raise NotImplementedError(f"{name}: {_REFUSED[name]}")
        elif name not in _IGNORED:
            raise TypeError(f"EmissionsTracker has no argument {name!r}")


def _factor(given: float | None) -> float | None:
    value = os.environ.get(_FACTOR) if given is None else given
    if value is None or value == "":
        return None
    try:
        factor = float(value)
    except ValueError:
        factor = math.nan
    if not (math.isfinite(factor) and factor >= 0):
        raise InvalidArgument(f"the factor {value!r} is no number of kg of CO2 equivalent per kWh")
    return factor


def _is_whole(unknown_s: float, seconds: float) -> bool:
    return unknown_s <= 1e-3 * seconds


def _kwh(measurement: Measurement, part: str) -> float | None:
    """Of CPUs, GPUs or DRAM; None if one of them is unknown, or if there is none."""
    total_j = 0.0
    found = False
    for name, energy in measurement.domains.items():
        if _part(name) != part:
            continue
        if energy.energy_j is None or not _is_whole(energy.unknown_s, measurement.seconds):
            return None
        total_j += energy.energy_j
        found = True
    return total_j / _KWH_J if found else None


def _part(name: str) -> str:
    domain = Domain(name)
    if domain.category == "gpu":
        return "gpu"
    return {"package": "cpu", "dram": "ram"}.get(domain.kind, "")


def _whole_kwh(measurement: Measurement) -> float | None:
    if measurement.total_j is None or not _is_whole(measurement.unknown_s, measurement.seconds):
        return None
    return measurement.total_j / _KWH_J


def _machine(measurement: Measurement) -> dict[str, Any]:
    gpus = sum(1 for name in measurement.covers if _part(name) == "gpu")
    return {
        "os": platform.platform(),
        "python_version": platform.python_version(),
        "codecarbon_version": f"wattle {wattle.__version__}",
        "cpu_count": os.cpu_count(),
        "cpu_model": _cpu_model(),
        "gpu_count": gpus or None,
        "ram_total_size": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30,
    }


def _cpu_model() -> str | None:
    """From procfs; None if it does not name it."""
    path = os.path.join(os.environ.get("WATTLE_PROCFS") or "/proc", "cpuinfo")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name.strip() == "model name":
                    return value.strip() or None
    except OSError:
        return None
    return None
