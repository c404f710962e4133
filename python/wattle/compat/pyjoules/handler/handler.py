# mypy: no-implicit-reexport
"""The base of all handlers."""

from __future__ import annotations

from collections.abc import Iterable

from wattle.compat.pyjoules.energy_trace import EnergySample
from wattle.compat.pyjoules.exception import UnconsistantSamplesError

__all__ = ["EnergyHandler", "UnconsistantSamplesError"]


class EnergyHandler:
    """Keeps the traces. Derive from it, and override `process`."""

    def __init__(self) -> None:
        self.traces: list[Iterable[EnergySample]] = []

    def process(self, trace: Iterable[EnergySample]) -> None:
        self.traces.append(trace)

    def _flaten_trace(self) -> list[EnergySample]:
        """All samples. Raises `UnconsistantSamplesError` if their domains differ."""
        samples = [sample for trace in self.traces for sample in trace]
        for sample in samples:
            if list(sample.energy) != list(samples[0].energy):
                raise UnconsistantSamplesError("the samples have different domains")
        return samples
