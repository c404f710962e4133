# mypy: no-implicit-reexport
"""Not available: each class raises NotImplementedError."""

from wattle.compat.zeus._absent import Absent

__all__ = ["PipelineFrequencyOptimizer"]


class PipelineFrequencyOptimizer(Absent):
    """Not available."""

    _reason = "Wattle measures, and sets no clocks of GPUs while a program trains"
