# mypy: no-implicit-reexport
"""Gives samples as a data frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wattle._library import optional
from wattle.compat.pyjoules.energy_trace import EnergySample
from wattle.compat.pyjoules.exception import (
    NoSampleProcessedError,
    UnconsistantSamplesError,
)
from wattle.compat.pyjoules.handler.handler import EnergyHandler

__all__ = [
    "EnergyHandler",
    "NoSampleProcessedError",
    "PandasHandler",
    "UnconsistantSamplesError",
    "trace_to_dataframe",
]


def trace_to_dataframe(trace: Iterable[EnergySample]) -> Any:
    """A row per sample: timestamp, tag, duration, and the domains in micro-joules."""
    rows = [
        {
            "timestamp": sample.timestamp,
            "tag": sample.tag,
            "duration": sample.duration,
            **sample.energy,
        }
        for sample in trace
    ]
    return optional("pandas").DataFrame(rows)


class PandasHandler(EnergyHandler):
    def get_dataframe(self) -> Any:
        """All samples. Raises `NoSampleProcessedError`, `UnconsistantSamplesError`."""
        samples = self._flaten_trace()
        if not samples:
            raise NoSampleProcessedError("there is no sample yet: measure something first")
        return trace_to_dataframe(samples)
