# mypy: no-implicit-reexport
"""Not available: the class raises NotImplementedError."""

from wattle.compat.zeus._absent import Absent

__all__ = ["EnergyCostMonitor"]


class EnergyCostMonitor(Absent):
    """Not available."""

    _reason = "Wattle asks no service for a tariff; multiply the energy of ZeusMonitor by a price of your own"
