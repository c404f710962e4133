# mypy: no-implicit-reexport
"""CPUs: the energy of packages and their memory."""

from __future__ import annotations

import dataclasses

from wattle._domain import domains as available_domains
from wattle._errors import Error
from wattle._library import core
from wattle.compat.zeus.device import readings
from wattle.compat.zeus.device.exception import ZeusBaseCPUError

__all__ = [
    "CPU",
    "CPUs",
    "CpuDramMeasurement",
    "ZeusBaseCPUError",
    "ZeusCPUInitError",
    "ZeusCPUNotFoundError",
    "ZeusCPUUnknownError",
    "get_cpus",
]


class ZeusCPUInitError(ZeusBaseCPUError):
    """No CPU can be read."""


class ZeusCPUNotFoundError(ZeusBaseCPUError):
    """There is no CPU of that index."""


class ZeusCPUUnknownError(ZeusBaseCPUError):
    """It is not known: a counter was reset, or could not be read for a while."""


@dataclasses.dataclass
class CpuDramMeasurement:
    """Millijoules of a package and of its memory; dram_mj: None where there is no counter."""

    cpu_mj: float
    dram_mj: float | None = None

    def __sub__(self, other: CpuDramMeasurement) -> CpuDramMeasurement:
        dram_mj = None if self.dram_mj is None or other.dram_mj is None else self.dram_mj - other.dram_mj
        return CpuDramMeasurement(self.cpu_mj - other.cpu_mj, dram_mj)

    def __truediv__(self, by: float) -> CpuDramMeasurement:
        return CpuDramMeasurement(self.cpu_mj / by, None if self.dram_mj is None else self.dram_mj / by)


class CPU:
    """One socket. Thread-safe."""

    def __init__(self, cpu_index: int, owner: CPUs) -> None:
        self.cpu_index = cpu_index
        self._owner = owner

    def get_total_energy_consumption(self) -> CpuDramMeasurement:
        """As of `CPUs`."""
        return self._owner.get_total_energy_consumption(self.cpu_index)

    def supports_get_dram_energy_consumption(self) -> bool:
        """As of `CPUs`."""
        return self._owner.supports_get_dram_energy_consumption(self.cpu_index)


class CPUs:
    """The sockets. Raises `ZeusCPUInitError` if none can be read. Thread-safe."""

    def __init__(self) -> None:
        found = available_domains()
        sockets = sorted({name.number for name in found if name.kind == "package"})
        if not sockets:
            raise ZeusCPUInitError("no CPU energy counter can be read; wattle doctor has the reason and the remedy")

        def of(kind: str) -> list[list[str]]:
            # Of a socket with several dies, several.
            return [[str(name) for name in found if name.kind == kind and name.number == one] for one in sockets]

        self._packages, self._drams = of("package"), of("dram")
        try:
            self._reader = core.Reader(domains=[name for names in self._packages + self._drams for name in names])
        except Error as error:
            raise ZeusCPUInitError(str(error)) from error
        self._cpus = [CPU(index, self) for index in range(len(sockets))]

    @property
    def cpus(self) -> list[CPU]:
        """One object for each."""
        return list(self._cpus)

    def __len__(self) -> int:
        return len(self._cpus)

    def get_total_energy_consumption(self, cpu_index: int) -> CpuDramMeasurement:
        """Millijoules since `get_cpus` was first called in this process. Raises `ZeusCPUUnknownError`."""
        self._check(cpu_index)
        energies = self._reader.read()
        cpu_mj = readings.millijoules(energies, self._packages[cpu_index])
        if cpu_mj is None:
            raise ZeusCPUUnknownError(f"the energy of CPU {cpu_index} is unknown: its counter has a gap")
        names = self._drams[cpu_index]
        return CpuDramMeasurement(cpu_mj, readings.millijoules(energies, names) if names else None)

    def supports_get_dram_energy_consumption(self, cpu_index: int) -> bool:
        """True if the memory of the socket has a counter."""
        self._check(cpu_index)
        return bool(self._drams[cpu_index])

    def _check(self, cpu_index: int) -> None:
        if not 0 <= cpu_index < len(self):
            raise ZeusCPUNotFoundError(f"there is no CPU {cpu_index}: {len(self)} can be read")


def get_cpus() -> CPUs:
    """The CPUs of this process: the same object at every call. Raises `ZeusCPUInitError`."""
    return readings.shared(CPUs, CPUs)
