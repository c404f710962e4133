# mypy: no-implicit-reexport
"""Not available: the class raises NotImplementedError."""

from wattle.compat.zeus._absent import Absent

__all__ = ["TemperatureMonitor"]


class TemperatureMonitor(Absent):
    """Not available."""

    _reason = "wattle.HardwareMonitor writes the temperature of GPUs to a file (hw_metrics.csv)"
