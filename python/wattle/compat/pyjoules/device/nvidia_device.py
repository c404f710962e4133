# mypy: no-implicit-reexport
"""NVIDIA GPUs."""

from __future__ import annotations

from typing import ClassVar

from wattle.compat.pyjoules.device.device import LibraryDevice
from wattle.compat.pyjoules.device.domain import Domain, NumberedDomain
from wattle.compat.pyjoules.exception import GPUDoesNotSupportEnergyMonitoringError

__all__ = ["GPUDoesNotSupportEnergyMonitoringError", "NvidiaGPUDevice", "NvidiaGPUDomain"]


class NvidiaGPUDomain(NumberedDomain):
    _kind = "nvidia_gpu"

    def __init__(self, device_id: int, die: None = None) -> None:
        super().__init__(device_id, die)
        self.device_id = device_id

    @classmethod
    def get_domain_name(cls) -> str:
        return cls._kind

    def get_device_type(self) -> type[NvidiaGPUDevice]:
        return NvidiaGPUDevice


class CountedByGpu(int):
    """Micro-joules since the device was configured, and the seconds that lack in it."""

    unknown_s: float


class NvidiaGPUDevice(LibraryDevice):
    """The counters of the driver; a GPU without one is integrated from its power."""

    _domain_classes: ClassVar = {"nvidia_gpu": NvidiaGPUDomain}
    _absent = "no NVIDIA GPU can be read; wattle doctor has the reason and the remedy"

    @staticmethod
    def available_domains() -> list[Domain]:
        return NvidiaGPUDevice._available(["nvidia_gpu"])

    @staticmethod
    def _value(start_uj: float, energy_j: float | None, unknown_s: float) -> int | None:
        if energy_j is None:
            return None
        # The driver counts milli-joules.
        value = CountedByGpu(round(start_uj) + round(energy_j * 1e3) * 1000)
        value.unknown_s = unknown_s
        return value
