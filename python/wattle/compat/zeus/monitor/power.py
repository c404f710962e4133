# mypy: no-implicit-reexport
"""Power of GPUs over time."""

from __future__ import annotations

import collections
import enum
from collections.abc import Sequence
from typing import NamedTuple

from wattle import _power
from wattle._errors import CapabilityError
from wattle._library import core

__all__ = ["PowerDomain", "PowerMonitor", "PowerSample", "infer_counter_update_period"]


class PowerDomain(enum.Enum):
    DEVICE_INSTANT = "device_instant"
    DEVICE_AVERAGE = "device_average"
    MEMORY_AVERAGE = "memory_average"


class PowerSample(NamedTuple):
    timestamp: float
    gpu_index: int
    power_mw: float


def infer_counter_update_period(gpu_indicies: Sequence[int]) -> float:
    """Half of the shortest update interval of these GPUs' power, in seconds."""
    return core.infer_update_period(list(gpu_indicies))


def _name(domain: PowerDomain | str) -> str:
    """Raises ValueError for a name that is none."""
    return PowerDomain(domain).value


class PowerMonitor:
    """Reads the power of GPUs over and over, in this process, until `stop`.

    Energies are those of `wattle.PowerMonitor`: a value holds until the next one, and both ends of
    a window are cut. Times are Unix seconds. Thread-safe.
    """

    def __init__(
        self,
        gpu_indices: list[int] | None = None,
        update_period: float | None = None,
        max_samples_per_gpu: int | None = None,
        power_domains: Sequence[PowerDomain | str] | None = None,
    ) -> None:
        self._monitor = _power.PowerMonitor(
            gpu_indices,
            update_period,
            max_samples_per_gpu,
            power_domains=None if power_domains is None else [_name(d) for d in power_domains],
            cpus=False,
            strict=True,
        )
        self.gpu_indices = self._monitor.gpu_indices
        self.update_period = self._monitor.update_period

    @property
    def supported_domains(self) -> list[PowerDomain]:
        """Those that a GPU has."""
        found = {name for gpu in self.gpu_indices for name in self._monitor.supported_domains(gpu)}
        return [domain for domain in PowerDomain if domain.value in found]

    @property
    def measurement_domains(self) -> list[PowerDomain]:
        """As `supported_domains`."""
        return self.supported_domains

    @property
    def samples(self) -> dict[PowerDomain, dict[int, collections.deque[PowerSample]]]:
        """A copy of all samples."""
        return {
            domain: {
                gpu: collections.deque(
                    PowerSample(time, gpu, power_w * 1e3)
                    for time, power_w in line
                )
                for gpu, line in self.get_power_timeline(domain).items()
            }
            for domain in self.supported_domains
        }

    def get_power_timeline(
        self,
        power_domain: PowerDomain | str,
        gpu_index: int | None = None,
        start_time: float | None = None,
        end_time: float | None = None,
    ) -> dict[int, list[tuple[float, float]]]:
        """(Unix seconds, W) by GPU; no entry for a GPU that lacks the domain."""
        lines = self._monitor.timeline(_name(power_domain), gpu_index, start_time, end_time)
        return {
            gpu: list(zip(line.timestamp.tolist(), line.power_w.tolist()))
            for gpu, line in lines.items()
        }

    def get_all_power_timelines(
        self,
        gpu_index: int | None = None,
        start_time: float | None = None,
        end_time: float | None = None,
    ) -> dict[str, dict[int, list[tuple[float, float]]]]:
        """Those of all domains, by their names."""
        return {
            domain.value: self.get_power_timeline(domain, gpu_index, start_time, end_time)
            for domain in self.supported_domains
        }

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
        joules = {gpu: energy.energy_j for gpu, energy in energies.items()}
        known = {gpu: energy_j for gpu, energy_j in joules.items() if energy_j is not None}
        return known if len(known) == len(joules) else None

    def get_power(
        self, time: float | None = None, power_domain: PowerDomain | str | None = None
    ) -> dict[int, float] | None:
        """W by GPU: the newest, or the nearest to `time`; None if a GPU has none."""
        domain = _name(power_domain or PowerDomain.DEVICE_INSTANT)
        try:
            if time is None:
                samples = self._monitor.power(domain)
            else:
                samples = self._monitor.power_at(time, domain, "nearest")
        except CapabilityError as error:
            raise ValueError(str(error)) from error
        known = {gpu: sample.power_w for gpu, sample in samples.items() if sample is not None}
        return known if len(known) == len(samples) else None

    def stop(self) -> None:
        """Ends the reading; what was read stays."""
        self._monitor.stop()
