# mypy: no-implicit-reexport
"""Not available: each class raises NotImplementedError."""

from wattle.compat.zeus._absent import Absent

__all__ = ["BatchSizeOptimizer", "JobSpec"]

_REASON = "Wattle measures, and chooses no batch size; wattle bench compares the energy of several"


class BatchSizeOptimizer(Absent):
    """Not available."""

    _reason = _REASON


class JobSpec(Absent):
    """Not available."""

    _reason = _REASON
