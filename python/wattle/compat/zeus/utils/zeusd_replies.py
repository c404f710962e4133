# mypy: no-implicit-reexport
"""What daemons answer: mW, uJ, us."""

from __future__ import annotations

import dataclasses

__all__ = [
    "CpuDramPower",
    "CpuDramPowerLimits",
    "CpuEnergyResult",
    "CpuInfo",
    "CpuPowerLimitConstraints",
    "CpuPowerSnapshot",
    "GpuInfo",
    "GpuPowerSnapshot",
    "HsmpPowerInfo",
    "PowerLimitConstraint",
    "RaplPowerInfo",
    "ZonePowerLimits",
]


@dataclasses.dataclass(frozen=True)
class GpuInfo:
    id: int
    name: str
    pci_address: str
    cumulative_energy_available: bool


@dataclasses.dataclass(frozen=True)
class CpuInfo:
    id: int
    dram_available: bool


@dataclasses.dataclass(frozen=True)
class GpuPowerSnapshot:
    """timestamp_ms: milliseconds since 1970-01-01 UTC, by the clock of the daemon."""

    timestamp_ms: int
    power_mw: dict[int, int]


@dataclasses.dataclass(frozen=True)
class CpuDramPower:
    """dram_mw: None where the package has no DRAM counter."""

    cpu_mw: int
    dram_mw: int | None


@dataclasses.dataclass(frozen=True)
class CpuPowerSnapshot:
    """timestamp_ms: as of `GpuPowerSnapshot`."""

    timestamp_ms: int
    power_mw: dict[int, CpuDramPower]


@dataclasses.dataclass(frozen=True)
class CpuEnergyResult:
    """None: not asked for, or not available."""

    cpu_energy_uj: int | None
    dram_energy_uj: int | None


@dataclasses.dataclass(frozen=True)
class PowerLimitConstraint:
    """A limit that the kernel names, such as long_term. None: the kernel has no value."""

    name: str
    power_limit_mw: int
    max_power_mw: int | None
    time_window_us: int | None


@dataclasses.dataclass(frozen=True)
class ZonePowerLimits:
    enabled: bool
    constraints: list[PowerLimitConstraint]


@dataclasses.dataclass(frozen=True)
class CpuDramPowerLimits:
    """dram: None where the package has no DRAM zone."""

    cpu: ZonePowerLimits
    dram: ZonePowerLimits | None


@dataclasses.dataclass(frozen=True)
class RaplPowerInfo:
    """The range that an Intel CPU reports for its limits."""

    thermal_spec_power_mw: int
    min_power_mw: int
    max_power_mw: int
    max_time_window_us: int
    power_limit_register_max_mw: int


@dataclasses.dataclass(frozen=True)
class HsmpPowerInfo:
    """The highest limit of a socket that an AMD CPU accepts."""

    max_power_mw: int


@dataclasses.dataclass(frozen=True)
class CpuPowerLimitConstraints:
    """None: the package does not have this mechanism."""

    rapl: RaplPowerInfo | None
    hsmp: HsmpPowerInfo | None
