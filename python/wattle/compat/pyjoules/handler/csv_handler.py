# mypy: no-implicit-reexport
"""Writes samples to a CSV file."""

from __future__ import annotations

import os

from wattle._errors import FormatError
from wattle.compat.pyjoules.exception import (
    NoSampleProcessedError,
    UnconsistantSamplesError,
)
from wattle.compat.pyjoules.handler.handler import EnergyHandler

__all__ = ["CSVHandler", "EnergyHandler", "NoSampleProcessedError", "UnconsistantSamplesError"]


class CSVHandler(EnergyHandler):
    """Keeps traces until `save_data` appends them, in micro-joules, with `;` between cells."""

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        super().__init__()
        self._filename = filename

    def save_data(self) -> None:
        """Appends, and forgets the traces.

        Raises `UnconsistantSamplesError`; `NoSampleProcessedError` without a sample;
        `wattle.FormatError` if the file has other columns; OSError.
        """
        samples = self._flaten_trace()
        if not samples:
            raise NoSampleProcessedError("there is no sample to save: measure something first")
        header = ";".join(["timestamp", "tag", "duration", *samples[0].energy])
        rows = [
            ";".join(
                [str(sample.timestamp), _cell(sample.tag), str(sample.duration)]
                + ["" if energy is None else str(energy) for energy in sample.energy.values()]
            )
            for sample in samples
        ]
        with open(self._filename, "a+", encoding="utf-8", newline="") as file:
            file.seek(0)
            first = file.readline().rstrip("\r\n")
            if first and first != header:
                raise FormatError(f"cannot append to {self._filename}: it has other columns")
            file.write("\n".join([*([] if first else [header]), *rows, ""]))
        self.traces = []


def _cell(tag: str) -> str:
    """Quoted only where the file would be corrupt without."""
    text = str(tag)
    if any(character in text for character in ';"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
