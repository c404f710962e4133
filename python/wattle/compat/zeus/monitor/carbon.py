# mypy: no-implicit-reexport
"""Not available: the class raises NotImplementedError."""

from wattle.compat.zeus._absent import Absent

__all__ = ["CarbonEmissionMonitor"]


class CarbonEmissionMonitor(Absent):
    """Not available."""

    _reason = "Wattle asks no service for a carbon intensity; multiply the energy of ZeusMonitor by a factor of your own"
