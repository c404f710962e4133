# mypy: no-implicit-reexport
"""Daemons, `wattled` or zeusd: their addresses, and a client for single requests."""

from wattle.compat.zeus.utils.zeusd_client import ZeusdClient, require_capabilities
from wattle.compat.zeus.utils.zeusd_config import (
    ZeusdAuthError,
    ZeusdCapabilityError,
    ZeusdConfig,
    ZeusdConnectionError,
)
from wattle.compat.zeus.utils.zeusd_replies import (
    CpuDramPower,
    CpuDramPowerLimits,
    CpuEnergyResult,
    CpuInfo,
    CpuPowerLimitConstraints,
    CpuPowerSnapshot,
    GpuInfo,
    GpuPowerSnapshot,
    HsmpPowerInfo,
    PowerLimitConstraint,
    RaplPowerInfo,
    ZonePowerLimits,
)

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
    "ZeusdAuthError",
    "ZeusdCapabilityError",
    "ZeusdClient",
    "ZeusdConfig",
    "ZeusdConnectionError",
    "ZonePowerLimits",
    "require_capabilities",
]
