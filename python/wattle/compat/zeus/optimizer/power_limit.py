# mypy: no-implicit-reexport
"""Not available: each class raises NotImplementedError."""

from wattle.compat.zeus._absent import Absent

__all__ = ["GlobalPowerLimitOptimizer", "HFGlobalPowerLimitOptimizer"]

_REASON = (
    "Wattle measures, and searches no power limit; set one by zeus.utils.zeusd.ZeusdClient.set_power_limit and compare "
    "the energies of windows (ZeusMonitor)"
)


class GlobalPowerLimitOptimizer(Absent):
    """Not available."""

    _reason = _REASON


class HFGlobalPowerLimitOptimizer(Absent):
    """Not available."""

    _reason = _REASON
