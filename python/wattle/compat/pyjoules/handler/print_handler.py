# mypy: no-implicit-reexport
"""Prints samples."""

from __future__ import annotations

from collections.abc import Iterable

from wattle._text import fitting
from wattle.compat.pyjoules.energy_trace import EnergySample
from wattle.compat.pyjoules.handler.handler import EnergyHandler


class PrintHandler(EnergyHandler):
    """One line per sample on stdout; keeps nothing."""

    def process(self, trace: Iterable[EnergySample]) -> None:
        for sample in trace:
            fields = [
                f"begin timestamp : {sample.timestamp}",
                f"tag : {sample.tag}",
                f"duration : {sample.duration}",
                *(f"{name} : {energy}" for name, energy in sample.energy.items()),
            ]
            print(fitting("; ".join(fields)))
