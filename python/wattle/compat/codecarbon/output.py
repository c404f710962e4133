# mypy: no-implicit-reexport
"""The rows of emissions.csv."""

from __future__ import annotations

import csv
import dataclasses
import io
import os
from typing import Any

from wattle._errors import FormatError

__all__ = ["EmissionsData", "FileOutput"]


@dataclasses.dataclass
class EmissionsData:
    """A row of emissions.csv, with CodeCarbon's columns. What is not known is None."""

    timestamp: str
    """Local time of the end, ISO 8601, to the second."""
    project_name: str
    run_id: str
    experiment_id: str
    duration: float
    """Seconds."""
    emissions: float | None = None
    """kg of CO2 equivalent; None without a factor."""
    emissions_rate: float | None = None
    """kg per second."""
    cpu_power: float | None = None
    """Mean, in watts; so are the next two."""
    gpu_power: float | None = None
    ram_power: float | None = None
    cpu_energy: float | None = None
    """CPU packages, in kWh."""
    gpu_energy: float | None = None
    """GPUs, in kWh."""
    ram_energy: float | None = None
    """DRAM, in kWh."""
    energy_consumed: float | None = None
    """The sum of all that was measured, in kWh; None if nothing was, or if a part of the time is unknown."""
    country_name: str | None = None
    country_iso_code: str | None = None
    region: str | None = None
    cloud_provider: str | None = None
    cloud_region: str | None = None
    os: str | None = None
    python_version: str | None = None
    codecarbon_version: str | None = None
    """ "wattle" and its version."""
    cpu_count: int | None = None
    """Logical CPUs."""
    cpu_model: str | None = None
    gpu_count: int | None = None
    """GPUs whose energy was measured."""
    gpu_model: str | None = None
    longitude: float | None = None
    latitude: float | None = None
    ram_total_size: float | None = None
    """GiB, as in CodeCarbon, which calls them GB."""
    tracking_mode: str = "machine"
    on_cloud: str | None = None
    pue: float = 1.0

    @property
    def values(self) -> dict[str, Any]:
        """By the name of the column."""
        return dataclasses.asdict(self)


class FileOutput:
    """A CSV file of runs. on_csv_write: "append", or "update": a run replaces its own row.

    Raises `FormatError`, and leaves the file as it is, if it has other columns.
    """

    def __init__(self, path: str, on_csv_write: str = "append") -> None:
        if on_csv_write not in ("append", "update"):
            raise ValueError(f'on_csv_write is {on_csv_write!r}: "append" and "update" are known')
        self.path = path
        self._is_update = on_csv_write == "update"
        self.check()

    def check(self) -> None:
        """Raises `FormatError` if the file has other columns."""
        self._rows()

    def out(self, data: EmissionsData) -> None:
        """Writes a row."""
        rows = self._rows()
        row = ["" if value is None else str(value) for value in data.values.values()]
        run = _COLUMNS.index("run_id")
        if self._is_update and any(old[run : run + 1] == [data.run_id] for old in rows or []):
            kept = [old for old in rows or [] if old[run : run + 1] != [data.run_id]]
            temporary = f"{self.path}.{os.getpid()}.tmp"
            with open(temporary, "w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([_COLUMNS, *kept, row])
            os.replace(temporary, self.path)
            return
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([row] if rows is not None else [_COLUMNS, row])
        # In one call, so that rows of several programs do not mix.
        with open(self.path, "ab", buffering=0) as file:
            file.write(text.getvalue().encode("utf-8", "backslashreplace"))

    def _rows(self) -> list[list[str]] | None:
        """Below the header; None if there is none. Raises `FormatError` if the file has other columns."""
        try:
            with open(self.path, encoding="utf-8", errors="backslashreplace", newline="") as file:
                rows = list(csv.reader(file))
        except FileNotFoundError:
            return None
        except csv.Error:
            rows = [["?"]]
        if not rows:
            return None
        if rows[0] and rows[0] != _COLUMNS:
            raise FormatError(f"cannot add to {self.path}: it has other columns; name another file", self.path)
        return rows[1:] if rows[0] else None


_COLUMNS = [field.name for field in dataclasses.fields(EmissionsData)]
