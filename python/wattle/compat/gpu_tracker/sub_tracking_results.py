# mypy: no-implicit-reexport
"""What an analysis of blocks gives: pandas objects where they are asked for, JSON, and text."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from wattle._library import optional

__all__ = ["STATISTICS", "CodeBlockResults", "ComparisonResults", "SubTrackingResults", "frame_of"]

STATISTICS = ("min", "max", "mean", "std")

_Statistics = Mapping[str, float]
_Usage = Mapping[str, _Statistics | None]
"""By measurement; None: no sample of it."""
_Sessions = Mapping[str, float]
"""A figure by the name of the session, in ascending order."""


def frame_of(usage: _Usage) -> Any:
    """A row for each measurement; NaN where there is no sample."""
    rows = [[(figures or {}).get(name) for name in STATISTICS] for figures in usage.values()]
    return optional("pandas").DataFrame(rows, index=list(usage), columns=list(STATISTICS), dtype=float)


def _usage_of(frame: Any) -> _Usage:
    """From a data frame: results that the original pickled hold such ones."""
    rows: dict[str, dict[str, float]] = frame.astype(float).to_dict("index")
    return {
        str(name): None if any(map(math.isnan, row.values())) else {str(key): row[key] for key in row}
        for name, row in rows.items()
    }


def _series_of(values: Mapping[str, float]) -> Any:
    return optional("pandas").Series(dict(values), dtype=float)


def _adopted(state: Mapping[str, Any], makers: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a result; that of the original has pandas objects under these names."""
    return {
        f"_{name}" if name in makers else name: makers[name](value) if name in makers else value
        for name, value in state.items()
    }


@dataclasses.dataclass
class CodeBlockResults:
    """Of all calls of a block. num_non_empty_calls: those with a sample in them."""

    name: str
    num_timepoints: int
    num_calls: int
    num_non_empty_calls: int
    _compute_time: _Statistics
    _resource_usage: _Usage

    def __setstate__(self, state: dict[str, Any]) -> None:
        names = {"compute_time": dict, "resource_usage": _usage_of}
        self.__dict__.update(_adopted(state, names))

    @property
    def compute_time(self) -> Any:
        """min, max, mean, std and total of the calls, in seconds: a pandas Series."""
        return _series_of(self._compute_time)

    @property
    def resource_usage(self) -> Any:
        """A pandas DataFrame: measurements by min, max, mean, std."""
        return frame_of(self._resource_usage)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "num_timepoints": self.num_timepoints,
            "num_calls": self.num_calls,
            "num_non_empty_calls": self.num_non_empty_calls,
            "compute_time": dict(self._compute_time),
            "resource_usage": dict(self._resource_usage),
        }


@dataclasses.dataclass
class SubTrackingResults:
    """Of a session, and of each block in it."""

    _overall: _Usage
    _static_data: Mapping[str, Any]
    code_block_results: list[CodeBlockResults]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(_adopted(state, {"overall": _usage_of, "static_data": dict}))

    @property
    def overall(self) -> Any:
        """Of all samples: a pandas DataFrame, as `CodeBlockResults.resource_usage`."""
        return frame_of(self._overall)

    @property
    def static_data(self) -> Any:
        """Units and sizes: a pandas Series."""
        return optional("pandas").Series(dict(self._static_data))

    def to_json(self) -> dict[str, Any]:
        """min, max, mean and std by measurement; None for a measurement without a sample."""
        return {
            "overall": dict(self._overall),
            "static_data": dict(self._static_data),
            "code_block_results": [block.to_json() for block in self.code_block_results],
        }

    def __str__(self) -> str:
        return _titled(
            {
                "overall": _Table(self._overall, STATISTICS),
                "static_data": _Table({"": self._static_data}),
                "code_block_results": [
                    {
                        **block.to_json(),
                        "compute_time": _Table({"": block._compute_time}),
                        "resource_usage": _Table(block._resource_usage, STATISTICS),
                    }
                    for block in self.code_block_results
                ],
            }
        )


@dataclasses.dataclass
class ComparisonResults:
    """Sessions in ascending order of a statistic, by measurement and by block."""

    _overall_resource_usage: Mapping[str, _Sessions]
    _code_block_resource_usage: Mapping[str, Mapping[str, _Sessions]]
    _code_block_compute_time: Mapping[str, _Sessions]

    @property
    def overall_resource_usage(self) -> dict[str, Any]:
        """A pandas Series over the sessions by measurement."""
        return _all_series(self._overall_resource_usage)

    @property
    def code_block_resource_usage(self) -> dict[str, dict[str, Any]]:
        """The same by measurement and block."""
        return {name: _all_series(blocks) for name, blocks in self._code_block_resource_usage.items()}

    @property
    def code_block_compute_time(self) -> dict[str, Any]:
        """The same by block, in seconds."""
        return _all_series(self._code_block_compute_time)

    def to_json(self) -> dict[str, Any]:
        return {
            "overall_resource_usage": _plain(self._overall_resource_usage),
            "code_block_resource_usage": {
                name: _plain(blocks) for name, blocks in self._code_block_resource_usage.items()
            },
            "code_block_compute_time": _plain(self._code_block_compute_time),
        }

    def __str__(self) -> str:
        blocks = frozenset(self._code_block_compute_time)
        return _titled(
            {
                "overall_resource_usage": _tables(self._overall_resource_usage),
                "code_block_resource_usage": {
                    name: _tables(usage) for name, usage in self._code_block_resource_usage.items()
                },
                "code_block_compute_time": _tables(self._code_block_compute_time),
            },
            untitled=blocks,
        )


def _all_series(sessions: Mapping[str, _Sessions]) -> dict[str, Any]:
    return {name: _series_of(values) for name, values in sessions.items()}


def _plain(sessions: Mapping[str, _Sessions]) -> dict[str, dict[str, float]]:
    return {name: dict(values) for name, values in sessions.items()}


@dataclasses.dataclass
class _Table:
    """Rows by name. Without `columns`, those of its only row."""

    rows: Mapping[str, Mapping[str, Any] | None]
    columns: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        names = list(self.columns)
        if not names:
            names = [name for row in self.rows.values() for name in row or ()]
        cells = {name: [_cell((row or {}).get(name)) for row in self.rows.values()] for name in names}
        widths = {name: max(len(text) for text in (name, *cells[name])) for name in names}
        title = max(map(len, self.rows), default=0)
        lines = [" " * title + "".join(f" {name:>{widths[name]}}" for name in names)]
        for i, row in enumerate(self.rows):
            lines.append(f"{row:{title}}" + "".join(f" {cells[name][i]:>{widths[name]}}" for name in names))
        return lines


def _tables(sessions: Mapping[str, _Sessions]) -> dict[str, _Table]:
    return {name: _Table({"": values}) for name, values in sessions.items()}


def _cell(value: Any) -> str:
    if value is None:
        return "NaN"
    if isinstance(value, str):
        return f" {value}"
    return str(value) if isinstance(value, int) else str(float(f"{value:.8f}"))


def _titled(values: Mapping[str, Any], level: int = 0, untitled: frozenset[str] = frozenset()) -> str:
    """Each value after its name; what has several lines is one level deeper."""
    tabs = "\t" * level
    titles = {name: name if name in untitled else name.replace("_", " ").title() for name in values}
    width = max(map(len, titles.values()), default=0)
    text = ""
    for name, value in values.items():
        start = f"{tabs}{titles[name]}:"
        if isinstance(value, _Table):
            text += "\n".join([start, *(f"{tabs}\t{line}" for line in value.lines()), ""])
        elif isinstance(value, Mapping):
            text += f"{start}\n{_titled(value, level + 1, untitled)}"
        elif isinstance(value, list):
            text += f"{start}\n" + "".join(f"{_titled(one, level + 1, untitled)}\n" for one in value)
        else:
            text += f"{start}{' ' * (width - len(titles[name]))} {value}\n"
    return text
