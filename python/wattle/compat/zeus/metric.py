# mypy: no-implicit-reexport
"""Not available: each class raises NotImplementedError."""

from wattle.compat.zeus._absent import Absent

__all__ = ["EnergyCumulativeCounter", "EnergyHistogram", "PowerGauge"]

_REASON = "Wattle pushes to no gateway of Prometheus; wattled serves power and energy at /metrics, and pushes by --otlp"


class EnergyHistogram(Absent):
    """Not available."""

    _reason = _REASON


class EnergyCumulativeCounter(Absent):
    """Not available."""

    _reason = _REASON


class PowerGauge(Absent):
    """Not available."""

    _reason = _REASON
