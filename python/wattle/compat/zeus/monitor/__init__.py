# mypy: no-implicit-reexport
"""What measures."""

from wattle.compat.zeus.monitor.energy import Measurement, ZeusMonitor
from wattle.compat.zeus.monitor.power import (
    CPUPowerDomain,
    CPUPowerSample,
    GPUPowerDomain,
    GPUPowerSample,
    PowerDomain,
    PowerMonitor,
    PowerSample,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wattle.compat.zeus.monitor.power_streaming import (
        CpuPowerReading,
        PowerReadings,
        PowerStreamingClient,
    )

__all__ = [
    "CPUPowerDomain",
    "CPUPowerSample",
    "CpuPowerReading",
    "GPUPowerDomain",
    "GPUPowerSample",
    "Measurement",
    "PowerDomain",
    "PowerMonitor",
    "PowerReadings",
    "PowerSample",
    "PowerStreamingClient",
    "ZeusMonitor",
]


def __getattr__(name: str) -> object:
    # They need libcurl, which the others do without.
    if name in ("CpuPowerReading", "PowerReadings", "PowerStreamingClient"):
        from wattle.compat.zeus.monitor import power_streaming

        return getattr(power_streaming, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
