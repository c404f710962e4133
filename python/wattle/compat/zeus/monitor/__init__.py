# mypy: no-implicit-reexport
"""What measures."""

from wattle.compat.zeus.monitor.energy import Measurement, ZeusMonitor
from wattle.compat.zeus.monitor.power import PowerDomain, PowerMonitor, PowerSample

__all__ = ["Measurement", "PowerDomain", "PowerMonitor", "PowerSample", "ZeusMonitor"]
