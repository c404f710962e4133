# mypy: no-implicit-reexport
"""GPUs: their energy and power. What sets a GPU raises NotImplementedError."""

from __future__ import annotations

from typing import Any, NoReturn

from wattle._domain import domains as available_domains
from wattle._errors import Error
from wattle._library import core
from wattle._power import PowerMonitor
from wattle.compat.zeus._absent import refuse
from wattle.compat.zeus.device import readings
from wattle.compat.zeus.device.exception import ZeusBaseGPUError
from wattle.compat.zeus.monitor.visible_gpus import visible_gpus

__all__ = [
    "GPU",
    "GPUs",
    "ZeusBaseGPUError",
    "ZeusGPUInitError",
    "ZeusGPUNotFoundError",
    "ZeusGPUNotSupportedError",
    "ZeusGPUUnknownError",
    "get_gpus",
]

_SETS = "Wattle's library reads GPUs; zeus.utils.zeusd.ZeusdClient sets them through a daemon that may"


class ZeusGPUInitError(ZeusBaseGPUError):
    """No GPU can be read."""


class ZeusGPUNotFoundError(ZeusBaseGPUError):
    """There is no GPU of that index."""


class ZeusGPUNotSupportedError(ZeusBaseGPUError):
    """The GPU does not report it."""


class ZeusGPUUnknownError(ZeusBaseGPUError):
    """It is not known now: the driver did not answer, or was reset."""


class GPU:
    """One GPU, by the index that frameworks use. Thread-safe."""

    def __init__(self, gpu_index: int, owner: GPUs) -> None:
        self.gpu_index = gpu_index
        self._owner = owner

    def get_total_energy_consumption(self) -> int:
        """Millijoules since `get_gpus` was first called in this process. Raises `ZeusGPUUnknownError`."""
        return self._owner.get_total_energy_consumption(self.gpu_index)

    def supports_get_total_energy_consumption(self) -> bool:
        """True: a GPU without a counter is integrated from its power."""
        return True

    def get_instant_power_usage(self) -> int:
        """Milliwatts. Raises `ZeusGPUNotSupportedError`, `ZeusGPUUnknownError`."""
        return self._owner.get_instant_power_usage(self.gpu_index)

    def get_average_power_usage(self) -> int:
        """Milliwatts, as a mean of the driver's. Raises as `get_instant_power_usage`."""
        return self._owner.get_average_power_usage(self.gpu_index)

    def get_average_memory_power_usage(self) -> int:
        """Milliwatts of the memory. Raises as `get_instant_power_usage`."""
        return self._owner.get_average_memory_power_usage(self.gpu_index)


class GPUs:
    """The GPUs that CUDA_VISIBLE_DEVICES leaves. Raises `ZeusGPUInitError` if there is none. Thread-safe."""

    def __init__(self, ensure_homogeneous: bool = False) -> None:
        # Any mix of GPUs can be read.
        self.ensure_homogeneous = ensure_homogeneous
        self._domains = visible_gpus(available_domains())
        if not self._domains:
            raise ZeusGPUInitError("no GPU can be read; wattle doctor has the reason and the remedy")
        try:
            self._reader = core.Reader(domains=[str(name) for name in self._domains])
        except Error as error:
            raise ZeusGPUInitError(str(error)) from error
        self._monitor: PowerMonitor | None = None
        self._gpus = [GPU(index, self) for index in range(len(self._domains))]

    @property
    def gpus(self) -> list[GPU]:
        """One object for each."""
        return list(self._gpus)

    def __len__(self) -> int:
        return len(self._gpus)

    def _number(self, gpu_index: int) -> int:
        """That of the driver."""
        if not 0 <= gpu_index < len(self._domains):
            raise ZeusGPUNotFoundError(f"there is no GPU {gpu_index}: {len(self)} can be read")
        return self._domains[gpu_index].number

    def get_total_energy_consumption(self, gpu_index: int) -> int:
        """Millijoules since `get_gpus` was first called in this process. Raises `ZeusGPUUnknownError`."""
        self._number(gpu_index)
        energy_mj = readings.millijoules(self._reader.read(), [str(self._domains[gpu_index])])
        if energy_mj is None:
            raise ZeusGPUUnknownError(f"the energy of GPU {gpu_index} is unknown: its counter has a gap")
        return round(energy_mj)

    def supports_get_total_energy_consumption(self, gpu_index: int) -> bool:
        """True: a GPU without a counter is integrated from its power."""
        self._number(gpu_index)
        return True

    def get_instant_power_usage(self, gpu_index: int) -> int:
        """Milliwatts. Raises `ZeusGPUNotSupportedError`, `ZeusGPUUnknownError`."""
        return self._power_mw(gpu_index, "device_instant")

    def get_average_power_usage(self, gpu_index: int) -> int:
        """Milliwatts, as a mean of the driver's. Raises as `get_instant_power_usage`."""
        return self._power_mw(gpu_index, "device_average")

    def get_average_memory_power_usage(self, gpu_index: int) -> int:
        """Milliwatts of the memory. Raises as `get_instant_power_usage`."""
        return self._power_mw(gpu_index, "memory_average")

    def _power_mw(self, gpu_index: int, domain: str) -> int:
        number = self._number(gpu_index)
        monitor = self._monitor
        if monitor is None:
            # Reads in the background from the first question on.
            self._monitor = monitor = PowerMonitor([name.number for name in self._domains], cpus=False)
        if domain not in monitor.supported_domains(number):
            raise ZeusGPUNotSupportedError(f"GPU {gpu_index} does not report {domain}")
        monitor.read_now()
        sample = monitor.power(domain).get(number)
        if sample is None:
            raise ZeusGPUUnknownError(f"the power of GPU {gpu_index} is unknown now")
        return round(sample.power_w * 1e3)

    # Names of older versions.
    getTotalEnergyConsumption = get_total_energy_consumption
    supportsGetTotalEnergyConsumption = supports_get_total_energy_consumption
    getInstantPowerUsage = get_instant_power_usage

    def set_power_management_limit(self, gpu_index: int, power_limit_mw: int, block: bool = True) -> NoReturn:
        """Not available: raises NotImplementedError."""
        del gpu_index, power_limit_mw, block
        refuse("set_power_management_limit", _SETS)

    def reset_power_management_limit(self, gpu_index: int, block: bool = True) -> NoReturn:
        """Not available: raises NotImplementedError."""
        del gpu_index, block
        refuse("reset_power_management_limit", _SETS)

    def set_persistence_mode(self, gpu_index: int, enabled: bool, block: bool = True) -> NoReturn:
        """Not available: raises NotImplementedError."""
        del gpu_index, enabled, block
        refuse("set_persistence_mode", _SETS)

    def set_gpu_locked_clocks(self, gpu_index: int, *clocks: Any, **named: Any) -> NoReturn:
        """Not available: raises NotImplementedError."""
        del gpu_index, clocks, named
        refuse("set_gpu_locked_clocks", _SETS)

    def set_memory_locked_clocks(self, gpu_index: int, *clocks: Any, **named: Any) -> NoReturn:
        """Not available: raises NotImplementedError."""
        del gpu_index, clocks, named
        refuse("set_memory_locked_clocks", _SETS)

    def reset_gpu_locked_clocks(self, gpu_index: int, block: bool = True) -> NoReturn:
        """Not available: raises NotImplementedError."""
        del gpu_index, block
        refuse("reset_gpu_locked_clocks", _SETS)

    def reset_memory_locked_clocks(self, gpu_index: int, block: bool = True) -> NoReturn:
        """Not available: raises NotImplementedError."""
        del gpu_index, block
        refuse("reset_memory_locked_clocks", _SETS)


def get_gpus(ensure_homogeneous: bool = False) -> GPUs:
    """The GPUs of this process: the same object at every call. Raises `ZeusGPUInitError`."""
    return readings.shared(GPUs, lambda: GPUs(ensure_homogeneous))
