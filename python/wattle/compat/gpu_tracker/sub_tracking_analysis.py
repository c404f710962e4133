# mypy: no-implicit-reexport
"""What blocks of a tracked process used, and how sessions compare."""

from __future__ import annotations

import collections
import functools
import logging
import os
import pickle
import statistics
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from wattle._errors import FormatError, InvalidArgument
from wattle._library import optional
from wattle.compat.gpu_tracker.sub_tracking_files import (
    START,
    append,
    rows_of,
    static_data_of,
)
from wattle.compat.gpu_tracker.sub_tracking_results import (
    STATISTICS,
    CodeBlockResults,
    ComparisonResults,
    SubTrackingResults,
    frame_of,
)

__all__ = ["SubTrackingAnalyzer", "TrackingComparison"]

_Path = str | os.PathLike[str]
_Rows = list[dict[str, Any]]

_logger = logging.getLogger("wattle.gpu_tracker")


class _Pair(NamedTuple):
    """One run of a block."""

    name: str
    start: float
    stop: float


class SubTrackingAnalyzer:
    """What blocks used, from a tracking file and a sub-tracking file.

    tracking_file: None where only `combine_sub_tracking_files` and the blocks are asked for.
    """

    def __init__(self, tracking_file: _Path | None, sub_tracking_file: _Path) -> None:
        self.tracking_file = tracking_file
        self.sub_tracking_file = Path(sub_tracking_file)

    def _tracking_file(self) -> _Path:
        if self.tracking_file is None:
            raise InvalidArgument("a tracking file is needed: SubTrackingAnalyzer(tracking_file, ...)")
        return self.tracking_file

    def read_static_data(self) -> Any:
        """Units and sizes: a pandas Series."""
        return optional("pandas").Series(static_data_of(self._tracking_file()))

    def load_code_block_names(self) -> list[str]:
        return sorted({str(row["code_block_name"]) for row in rows_of(self.sub_tracking_file)})

    def combine_sub_tracking_files(self, files: Iterable[_Path]) -> None:
        """Makes the sub-tracking file from `files`.

        Raises `wattle.InvalidArgument` if it is there already, or if a file is of the other format.
        """
        paths = [Path(file) for file in files]
        for path in paths:
            if path.suffix != self.sub_tracking_file.suffix:
                raise InvalidArgument(f"cannot combine {path} into {self.sub_tracking_file}: their formats differ")
        if self.sub_tracking_file.exists():
            raise InvalidArgument(f"cannot make {self.sub_tracking_file}: it exists already")
        for path in paths:
            rows = [
                (row["process_id"], row["code_block_name"], row["position"], row["timestamp"])
                for row in rows_of(path)
            ]
            append(self.sub_tracking_file, rows)

    def load_timestamp_pairs(self, code_block_name: str) -> list[tuple[float, float]]:
        """The start and end of each run of a block. Nested runs are paired from the inside."""
        return [(pair.start, pair.stop) for pair in self._pairs() if pair.name == code_block_name]

    def _pairs(self) -> list[_Pair]:
        open_starts: dict[tuple[int, str], list[float]] = collections.defaultdict(list)
        pairs: list[_Pair] = []
        for row in sorted(rows_of(self.sub_tracking_file), key=lambda row: row["timestamp"]):
            name = str(row["code_block_name"])
            starts = open_starts[row["process_id"], name]
            if row["position"] == START:
                starts.append(row["timestamp"])
            elif starts:
                pairs.append(_Pair(name, starts.pop(), row["timestamp"]))
            else:
                raise FormatError(f"the block {name!r} ends at {row['timestamp']}, but never started")
        return pairs

    def load_timepoints(self, timestamp_pairs: Iterable[tuple[float, float]]) -> Any:
        """The samples within any of the pairs: a pandas DataFrame."""
        return optional("pandas").DataFrame(self._points(timestamp_pairs))

    def _points(self, timestamp_pairs: Iterable[tuple[float, float]]) -> _Rows:
        pairs = list(timestamp_pairs)
        return [
            row
            for row in rows_of(self._tracking_file())
            if any(start <= row["timestamp"] <= stop for start, stop in pairs)
        ]

    def overall_timepoint_results(self) -> Any:
        """Of all samples: a pandas DataFrame, measurements by min, max, mean, std."""
        return frame_of(_columns(rows_of(self._tracking_file())))

    def sub_tracking_results(self) -> SubTrackingResults:
        path = self._tracking_file()
        overall = _columns(rows_of(path))
        return SubTrackingResults(
            overall,
            static_data_of(path),
            [self._block(name, overall) for name in self.load_code_block_names()],
        )

    def _block(self, name: str, measurements: Iterable[str]) -> CodeBlockResults:
        pairs = self.load_timestamp_pairs(name)
        points = self._points(pairs)
        seconds = [stop - start for start, stop in pairs]
        return CodeBlockResults(
            name,
            len(points),
            len(pairs),
            sum(any(start <= point["timestamp"] <= stop for point in points) for start, stop in pairs),
            {**(_statistics(seconds) or {}), "total": sum(seconds)},
            _columns(points, measurements),
        )


def _statistics(values: Iterable[float]) -> dict[str, float] | None:
    known = list(values)
    if not known:
        return None
    return {
        "min": min(known),
        "max": max(known),
        "mean": statistics.fmean(known),
        "std": statistics.pstdev(known),
    }


def _columns(rows: _Rows, names: Iterable[str] | None = None) -> dict[str, dict[str, float] | None]:
    """By measurement, all of them or `names`. Unknown cells are in no figure."""
    if names is None:
        names = [name for name in (rows[0] if rows else {}) if name != "timestamp"]
    return {
        name: _statistics(row[name] for row in rows if isinstance(row[name], (int, float)))
        for name in names
    }


class TrackingComparison:
    """Compares sessions: pickled `SubTrackingResults` by the name of the session.

    Blocks are matched by their names. Those that are a line of a file are matched in their order,
    with a warning where the lines differ. Raises ValueError if the blocks do not match.
    """

    def __init__(self, file_path_map: Mapping[str, _Path]) -> None:
        self.results_map: dict[str, SubTrackingResults] = {}
        for name, path in file_path_map.items():
            with open(path, "rb") as file:
                results = pickle.load(file)  # files of the user's own, as in the original
            if not isinstance(results, SubTrackingResults):
                raise FormatError(f"{path} holds no results of a SubTrackingAnalyzer")
            results.code_block_results.sort(key=lambda block: _split(block.name))
            self.results_map[name] = results
        self._check_blocks()

    def _check_blocks(self) -> None:
        first, *others = self.results_map or [""]
        names = [block.name for block in self.results_map[first].code_block_results] if first else []
        for other in others:
            theirs = [block.name for block in self.results_map[other].code_block_results]
            if len(theirs) != len(names):
                raise InvalidArgument(f"{first} has {len(names)} blocks, {other} has {len(theirs)}: they do not match")
            for mine, their in zip(names, theirs):
                if mine == their:
                    continue
                (file, line), (their_file, their_line) = _split(mine), _split(their)
                if file != their_file or -1 in (line, their_line):
                    raise InvalidArgument(f"the block {mine!r} of {first} does not match {their!r} of {other}")
                _logger.warning("the block %r of %s is compared with %r of %s", mine, first, their, other)

    def compare(self, statistic: str = "mean") -> ComparisonResults:
        """Sessions in ascending order of min, max, mean or std. Those without a sample are left out."""
        if statistic not in STATISTICS:
            raise InvalidArgument(f"there is no statistic {statistic!r}: {', '.join(STATISTICS)}")
        overall = {name: results._overall for name, results in self.results_map.items()}
        blocks = list(zip(*(results.code_block_results for results in self.results_map.values())))
        return ComparisonResults(
            {column: _ordered(overall, column, statistic) for column in _names(overall)},
            {
                column: self._of_blocks(blocks, functools.partial(_figure, column, statistic))
                for column in (_names(overall) if blocks else ())
            },
            self._of_blocks(blocks, lambda block: block._compute_time.get(statistic)),
        )

    def _of_blocks(
        self,
        blocks: Iterable[tuple[CodeBlockResults, ...]],
        figure: Callable[[CodeBlockResults], float | None],
    ) -> dict[str, dict[str, float]]:
        """By block: the figure of each session."""
        compared: dict[str, dict[str, float]] = {}
        for same in blocks:
            name = " -> ".join(dict.fromkeys(block.name for block in same))
            compared[name] = _ascending(dict(zip(self.results_map, map(figure, same))))
        return compared


def _figure(column: str, statistic: str, block: CodeBlockResults) -> float | None:
    return (block._resource_usage.get(column) or {}).get(statistic)


def _split(name: str) -> tuple[str, int]:
    """The file and the line of a block that is named so; else the name, and -1."""
    file, _, line = name.rpartition(":")
    return (file, int(line)) if file and line.isdecimal() else (name, -1)


def _names(sessions: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(column for figures in sessions.values() for column in figures))


def _ordered(
    sessions: Mapping[str, Mapping[str, Mapping[str, float] | None]], column: str, statistic: str
) -> dict[str, float]:
    return _ascending({name: (figures.get(column) or {}).get(statistic) for name, figures in sessions.items()})


def _ascending(figures: Mapping[str, float | None]) -> dict[str, float]:
    known = {name: figure for name, figure in figures.items() if figure is not None}
    return dict(sorted(known.items(), key=lambda item: item[1]))
