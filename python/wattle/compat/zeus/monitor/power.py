# mypy: no-implicit-reexport
"""Power of GPUs and CPUs over time."""

from __future__ import annotations

import collections
import enum
import functools
import numbers
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from wattle import _power
from wattle._domain import Domain
from wattle._domain import domains as available_domains
from wattle._errors import CapabilityError, InvalidArgument, NoSuchDevice
from wattle._library import core
from wattle.compat.zeus.monitor.visible_gpus import visible_gpus

__all__ = [
    "CPUPowerDomain",
    "CPUPowerSample",
    "GPUPowerDomain",
    "GPUPowerSample",
    "PowerDomain",
    "PowerMonitor",
    "PowerSample",
    "infer_counter_update_period",
    "infer_gpu_counter_update_period",
]

_Points = list[tuple[float, float]]


class PowerDomain(enum.Enum):
    DEVICE_INSTANT = "device_instant"
    DEVICE_AVERAGE = "device_average"
    MEMORY_AVERAGE = "memory_average"


class CPUPowerDomain(enum.Enum):
    PACKAGE_AVERAGE = "package_average"
    DRAM_AVERAGE = "dram_average"


class PowerSample(NamedTuple):
    timestamp: float
    gpu_index: int
    power_mw: float


class CPUPowerSample(NamedTuple):
    timestamp: float
    cpu_index: int
    power_mw: float


# The names of newer versions.
GPUPowerDomain = PowerDomain
GPUPowerSample = PowerSample


def infer_counter_update_period(gpu_indicies: Sequence[int]) -> float:
    """Half of the shortest update interval of these GPUs' power, in seconds."""
    return core.infer_update_period(list(gpu_indicies))


infer_gpu_counter_update_period = infer_counter_update_period


def _name(domain: PowerDomain | str) -> str:
    """Raises ValueError for a name that is none."""
    return PowerDomain(domain).value


_NEWER_ORDER = (
    "gpu_indices",
    "cpu_indices",
    "gpu_update_period",
    "cpu_update_period",
    "max_samples_per_gpu",
    "max_samples_per_cpu",
    "gpu_power_domains",
    "cpu_power_domains",
)
_Init = TypeVar("_Init", bound=Callable[..., None])


def _is_newer_order(given: Sequence[Any]) -> bool:
    """The second is a list of CPUs, the third a period, or the fourth; older: a period, a number, a list."""
    _, second, third, fourth, *more = (*given, None, None, None, None)
    return (
        len(given) > 4
        or isinstance(second, (list, tuple, range))
        or isinstance(third, float)
        or isinstance(fourth, numbers.Real)
        or any(one is not None for one in more)
    )


def _in_either_order(init: _Init) -> _Init:
    """Takes positional arguments in the order of newer versions, too."""

    @functools.wraps(init)
    def call(self: Any, *given: Any, **named: Any) -> None:
        if _is_newer_order(given):
            if len(given) > len(_NEWER_ORDER):
                raise TypeError(f"PowerMonitor takes at most {len(_NEWER_ORDER)} arguments")
            for name, value in zip(_NEWER_ORDER, given):
                if name in named:
                    raise TypeError(f"PowerMonitor has two values for {name!r}")
                named[name] = value
            given = ()
        init(self, *given, **named)

    return call  # type: ignore[return-value]


class PowerMonitor:
    """Reads the power of GPUs and CPUs over and over, in this process, until `stop`.

    gpu_indices: among the GPUs that CUDA_VISIBLE_DEVICES leaves; None: all. cpu_indices: packages,
    in their order; None: all. []: none of them. update_period, power_domains and the arguments
    after them are the names of older and newer versions: gpu_update_period, gpu_power_domains. Without
    names they are taken in the order of either version. CPUs are read with the period of the GPUs
    where there are some.

    Energies are those of `wattle.PowerMonitor`: a value holds until the next one, and both ends of
    a window are cut. Times are Unix seconds. Raises ValueError if there is nothing to read.
    Thread-safe.
    """

    @_in_either_order
    def __init__(
        self,
        gpu_indices: list[int] | None = None,
        update_period: float | None = None,
        max_samples_per_gpu: int | None = None,
        power_domains: Sequence[PowerDomain | str] | None = None,
        *,
        cpu_indices: list[int] | None = None,
        gpu_update_period: float | None = None,
        cpu_update_period: float = 0.1,
        max_samples_per_cpu: int | None = None,
        gpu_power_domains: Sequence[PowerDomain | str] | None = None,
        cpu_power_domains: Sequence[CPUPowerDomain | str] | None = None,
    ) -> None:
        gpu_power_domains = _chosen(gpu_power_domains, power_domains, "gpu_power_domains")
        cpu_power_domains = _chosen(cpu_power_domains, None, "cpu_power_domains")
        period = update_period if gpu_update_period is None else gpu_update_period
        for most in (max_samples_per_gpu, max_samples_per_cpu):
            if most is not None and most < 1:
                raise InvalidArgument(f"a monitor keeps at least one sample per device, not {most}")
        self._drivers = _driver_numbers(gpu_indices)
        numbers = gpu_indices if self._drivers is None else list(self._drivers.values())
        self._monitor = _power.PowerMonitor(
            numbers if numbers != [] else "none",
            cpu_update_period if period is None and numbers == [] else period,
            max_samples_per_gpu or max_samples_per_cpu,
            power_domains=None if gpu_power_domains is None else [_name(d) for d in gpu_power_domains],
            cpus=cpu_indices != [],
            strict=bool(numbers),
        )
        if self._drivers is None:
            self._drivers = {number: number for number in self._monitor.gpu_indices}
        self._packages = _packages(self._monitor.cpu_domains, cpu_indices)
        self._cpu_domains = [CPUPowerDomain(d) for d in cpu_power_domains or CPUPowerDomain]
        self.gpu_indices = list(self._drivers)
        self.cpu_indices = list(self._packages)
        self.gpu_update_period = self.update_period = self._monitor.update_period
        self.cpu_update_period = self._monitor.update_period
        if not self.gpu_indices and not self.cpu_indices:
            self._monitor.stop()
            reasons = "; ".join(f"{lack.subject}: {lack.reason}" for lack in self._monitor.missing)
            raise InvalidArgument(f"there is no GPU and no CPU whose power can be read: {reasons or 'none was asked for'}")

    @property
    def gpu_measurement_domains(self) -> list[PowerDomain]:
        """Those that a GPU has."""
        numbers = self._numbers.values()
        found = {name for number in numbers for name in self._monitor.supported_domains(number)}
        return [domain for domain in PowerDomain if domain.value in found]

    @property
    def cpu_measurement_domains(self) -> list[CPUPowerDomain]:
        """Those that a CPU has."""
        return [
            domain
            for domain in self._cpu_domains
            if any(domain in names for names in self._packages.values())
        ]

    @property
    def supported_domains(self) -> list[PowerDomain]:
        """As `gpu_measurement_domains`."""
        return self.gpu_measurement_domains

    @property
    def measurement_domains(self) -> list[PowerDomain]:
        """As `gpu_measurement_domains`."""
        return self.gpu_measurement_domains

    @property
    def _numbers(self) -> dict[int, int]:
        """The driver's number of each GPU."""
        return self._drivers or {}

    def _by_index(self, found: Mapping[int, Any]) -> dict[int, Any]:
        return {index: found[number] for index, number in self._numbers.items() if number in found}

    @property
    def samples(self) -> dict[Any, dict[int, collections.deque[Any]]]:
        """A copy of all samples: `PowerSample`s by domain and GPU, `CPUPowerSample`s by domain and CPU."""
        gpus = {domain: self.get_power_timeline(domain) for domain in self.gpu_measurement_domains}
        cpus = {
            domain: self.get_power_timeline(cpu_power_domain=domain) for domain in self.cpu_measurement_domains
        }
        return {**_deques(gpus, PowerSample), **_deques(cpus, CPUPowerSample)}

    def get_power_timeline(
        self,
        power_domain: PowerDomain | str | None = None,
        gpu_index: int | None = None,
        start_time: float | None = None,
        end_time: float | None = None,
        *,
        gpu_power_domain: PowerDomain | str | None = None,
        cpu_power_domain: CPUPowerDomain | str | None = None,
        cpu_index: int | None = None,
    ) -> dict[int, _Points]:
        """(Unix seconds, W) by GPU, or by CPU; no entry for a device that lacks the domain.

        Takes one of the three domains. Raises ValueError for none, for two, for an index of the other
        kind of device, and for a domain that is not monitored, if it has one of the newer names:
        gpu_power_domain, cpu_power_domain.
        """
        asked = power_domain if gpu_power_domain is None else gpu_power_domain
        if (power_domain, gpu_power_domain, cpu_power_domain).count(None) != 2:
            raise InvalidArgument("name one domain: gpu_power_domain or cpu_power_domain")
        if gpu_power_domain is not None:
            _check_monitored(PowerDomain(gpu_power_domain), self.gpu_measurement_domains)
        if cpu_power_domain is not None:
            _check_monitored(CPUPowerDomain(cpu_power_domain), self.cpu_measurement_domains)
        if asked is None:
            if gpu_index is not None:
                raise InvalidArgument("gpu_index selects no CPU: use cpu_index")
            return self._cpu_timelines(CPUPowerDomain(cpu_power_domain), cpu_index, start_time, end_time)
        if cpu_index is not None:
            raise InvalidArgument("cpu_index selects no GPU: use gpu_index")
        number = None if gpu_index is None else self._numbers.get(gpu_index, -1)
        if number == -1:
            return {}
        lines = self._monitor.timeline(_name(asked), number, start_time, end_time)
        return {index: _points(line) for index, line in self._by_index(lines).items()}

    def _cpu_timelines(
        self, domain: CPUPowerDomain, index: int | None, start: float | None, end: float | None
    ) -> dict[int, _Points]:
        return {
            cpu: _points(self._monitor.cpu_timeline(names[domain], start, end))
            for cpu, names in self._packages.items()
            if domain in names and index in (None, cpu)
        }

    def get_all_power_timelines(
        self,
        gpu_index: int | None = None,
        start_time: float | None = None,
        end_time: float | None = None,
        *,
        cpu_index: int | None = None,
    ) -> dict[str, dict[int, _Points]]:
        """Those of all domains of GPUs and CPUs, by the names of the domains."""
        gpus = {
            domain.value: self.get_power_timeline(domain, gpu_index, start_time, end_time)
            for domain in self.gpu_measurement_domains
        }
        cpus = {
            domain.value: self._cpu_timelines(domain, cpu_index, start_time, end_time)
            for domain in self.cpu_measurement_domains
        }
        return {**gpus, **cpus}

    def get_energy(
        self,
        start_time: float,
        end_time: float,
        power_domain: PowerDomain | str | None = None,
    ) -> dict[int, float] | None:
        """Joules by GPU; None if a GPU has no reading. Raises ValueError for a missing domain."""
        try:
            energies = self._monitor.energy(start_time, end_time, None if power_domain is None else _name(power_domain))
        except CapabilityError as error:
            raise ValueError(str(error)) from error
        joules = {gpu: energy.energy_j for gpu, energy in self._by_index(energies).items()}
        known = {gpu: energy_j for gpu, energy_j in joules.items() if energy_j is not None}
        return known if len(known) == len(joules) else None

    def get_power(
        self, time: float | None = None, power_domain: PowerDomain | str | None = None
    ) -> dict[int, float] | None:
        """W by GPU: the newest, or the nearest to `time`; None if a GPU has none."""
        domain = _name(power_domain or PowerDomain.DEVICE_INSTANT)
        try:
            if time is None:
                found = self._monitor.power(domain)
            else:
                found = self._monitor.power_at(time, domain, "nearest")
        except CapabilityError as error:
            raise ValueError(str(error)) from error
        samples = self._by_index(found)
        known = {gpu: sample.power_w for gpu, sample in samples.items() if sample is not None}
        return known if len(known) == len(samples) else None

    def stop(self) -> None:
        """Ends the reading; what was read stays."""
        self._monitor.stop()


def _check_monitored(domain: Any, monitored: Sequence[Any]) -> None:
    if domain not in monitored:
        names = ", ".join(one.value for one in monitored) or "none"
        raise InvalidArgument(f"{domain.value} is not monitored: {names}")


def _chosen(newer: Sequence[Any] | None, older: Sequence[Any] | None, name: str) -> Sequence[Any] | None:
    chosen = older if newer is None else newer
    if chosen is not None and not chosen:
        raise InvalidArgument(f"{name} is empty: name at least one domain, or leave it out")
    return chosen


def _driver_numbers(indices: list[int] | None) -> dict[int, int] | None:
    """The driver's number of each index; None where they are the same."""
    if "CUDA_VISIBLE_DEVICES" not in os.environ or indices == []:
        return None
    visible = [domain.number for domain in visible_gpus(available_domains())]
    chosen = range(len(visible)) if indices is None else indices
    for index in chosen:
        if not 0 <= index < len(visible):
            raise NoSuchDevice(f"there is no GPU {index}: CUDA_VISIBLE_DEVICES leaves {len(visible)}")
    return {index: visible[index] for index in chosen}


def _packages(found: Iterable[str], indices: list[int] | None) -> dict[int, dict[CPUPowerDomain, str]]:
    """The domains of each package that is asked for."""
    domains = [Domain(name) for name in found]
    drams = {(domain.number, domain.die): str(domain) for domain in domains if domain.kind == "dram"}
    packages: list[dict[CPUPowerDomain, str]] = []
    for domain in domains:
        if domain.kind == "package":
            names = {CPUPowerDomain.PACKAGE_AVERAGE: str(domain)}
            dram = drams.get((domain.number, domain.die))
            if dram is not None:
                names[CPUPowerDomain.DRAM_AVERAGE] = dram
            packages.append(names)
    for index in indices or ():
        if not 0 <= index < len(packages):
            raise RuntimeError(f"CPU {index} cannot be measured: {len(packages)} can")
    return {index: packages[index] for index in (range(len(packages)) if indices is None else indices)}


def _points(line: Any) -> _Points:
    return list(zip(line.timestamp.tolist(), line.power_w.tolist()))


def _deques(lines: Mapping[Any, Mapping[int, _Points]], kind: Any) -> dict[Any, dict[int, collections.deque[Any]]]:
    return {
        domain: {
            index: collections.deque(kind(time, index, power_w * 1e3) for time, power_w in points)
            for index, points in by_index.items()
        }
        for domain, by_index in lines.items()
    }
