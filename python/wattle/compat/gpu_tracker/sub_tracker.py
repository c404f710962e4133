# mypy: no-implicit-reexport
"""Blocks of code within a tracked process, and what each of them used."""

from __future__ import annotations

import collections
import csv
import dataclasses
import functools
import inspect
import json
import os
import pickle
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from wattle._errors import FormatError, InvalidArgument

if TYPE_CHECKING:
    from typing import Self

_Path = str | os.PathLike[str]
_COLUMNS = ("process_id", "code_block_name", "position", "timestamp")
_START, _STOP = 0, 1


class _Pair(NamedTuple):
    """One run of a block."""

    name: str
    start: float
    stop: float


def _is_sqlite(path: Path) -> bool:
    if path.suffix not in (".csv", ".sqlite"):
        raise InvalidArgument(f"{path} is no tracking file: its name ends in .csv or .sqlite")
    return path.suffix == ".sqlite"


def _append(path: Path, row: tuple[int, str, int, float]) -> None:
    if not _is_sqlite(path):
        with open(path, "a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if file.tell() == 0:
                writer.writerow(_COLUMNS)
            writer.writerow(row)
        return
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE IF NOT EXISTS data "
            "(process_id INTEGER, code_block_name TEXT, position INTEGER, timestamp REAL)"
        )
        database.execute("INSERT INTO data VALUES (?, ?, ?, ?)", row)


def _table(path: _Path, name: str = "data") -> list[dict[str, Any]]:
    """The rows of a file; of a tracking file in CSV, `static_data` is its first two lines."""
    path = Path(path)
    if _is_sqlite(path):
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            # Both names are ours.
            return [dict(row) for row in database.execute(f"SELECT * FROM {name}")]
    with open(path, encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    has_static = bool(lines) and lines[0][:1] == ["ram_unit"]
    if name == "static_data":
        lines = lines[:2]
    elif has_static:
        lines = lines[2:]
    if not lines:
        raise FormatError(f"{path} has no header")
    header, *rows = lines
    return [dict(zip(header, map(_value, row))) for row in rows if len(row) == len(header)]


def _value(cell: str) -> Any:
    """A number where it is one; None for an empty cell."""
    if not cell:
        return None
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


class SubTracker:
    """A block of code: `with SubTracker("load"):` notes its start and its end. Not thread-safe."""

    def __init__(
        self,
        code_block_name: str | None = None,
        code_block_attribute: str | None = None,
        sub_tracking_file: _Path | None = None,
        overwrite: bool = False,
    ) -> None:
        if code_block_name is None:
            caller = inspect.stack(0)[1]
            attribute = code_block_attribute or str(caller.lineno)
            code_block_name = f"{os.path.relpath(caller.filename)}:{attribute}"
        self.code_block_name = code_block_name
        self._process_id = os.getpid()
        self.sub_tracking_file = os.fspath(sub_tracking_file or f"{self._process_id}.csv")
        self._path = Path(self.sub_tracking_file)
        _is_sqlite(self._path)
        if overwrite:
            self._path.unlink(missing_ok=True)

    def _note(self, position: int) -> None:
        _append(self._path, (self._process_id, self.code_block_name, position, time.time()))

    def __enter__(self) -> Self:
        self._note(_START)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._note(_STOP)


def sub_track(
    code_block_name: str | None = None,
    code_block_attribute: str | None = None,
    sub_tracking_file: _Path | None = None,
    overwrite: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Each call of a function is a block, by default of the name file:function."""

    def tracked(function: Callable[..., Any]) -> Callable[..., Any]:
        attribute = code_block_attribute or function.__name__
        name = code_block_name or f"{os.path.abspath(inspect.getfile(function))}:{attribute}"

        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            with SubTracker(name, None, sub_tracking_file, overwrite):
                return function(*arguments, **named)

        return call

    return tracked


@dataclasses.dataclass
class SubTrackingResults:
    """`overall` and each block: min, max, mean, std by column; None: no sample."""

    overall: dict[str, Any]
    static_data: dict[str, Any]
    code_block_results: list[dict[str, Any]]

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        return json.dumps(self.to_json(), indent=1)


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


class SubTrackingAnalyzer:
    """What blocks used, from a tracking file and a sub-tracking file."""

    def __init__(self, tracking_file: _Path | None, sub_tracking_file: _Path) -> None:
        self.tracking_file = tracking_file
        self.sub_tracking_file = Path(sub_tracking_file)

    def _tracking_file(self) -> _Path:
        if self.tracking_file is None:
            raise InvalidArgument("a tracking file is needed: SubTrackingAnalyzer(tracking_file, ...)")
        return self.tracking_file

    def read_static_data(self) -> dict[str, Any]:
        return _table(self._tracking_file(), "static_data")[0]

    def load_code_block_names(self) -> list[str]:
        return sorted({str(row["code_block_name"]) for row in _table(self.sub_tracking_file)})

    def combine_sub_tracking_files(self, files: Iterable[_Path]) -> None:
        """Adds the rows of `files` to the sub-tracking file."""
        for file in files:
            for row in _table(file):
                _append(
                    self.sub_tracking_file,
                    (row["process_id"], row["code_block_name"], row["position"], row["timestamp"]),
                )

    def load_timestamp_pairs(self, code_block_name: str) -> list[tuple[float, float]]:
        """The start and end of each run of a block. Nested runs are paired from the inside."""
        return [
            (pair.start, pair.stop) for pair in self._pairs() if pair.name == code_block_name
        ]

    def _pairs(self) -> list[_Pair]:
        open_starts: dict[tuple[int, str], list[float]] = collections.defaultdict(list)
        pairs: list[_Pair] = []
        for row in sorted(_table(self.sub_tracking_file), key=lambda row: row["timestamp"]):
            name = str(row["code_block_name"])
            starts = open_starts[row["process_id"], name]
            if row["position"] == _START:
                starts.append(row["timestamp"])
            elif starts:
                pairs.append(_Pair(name, starts.pop(), row["timestamp"]))
            else:
                raise FormatError(f"the block {name!r} ends at {row['timestamp']}, but never started")
        return pairs

    def load_timepoints(self, timestamp_pairs: Iterable[tuple[float, float]]) -> list[dict[str, Any]]:
        """The samples within any of the pairs."""
        pairs = list(timestamp_pairs)
        return [
            row
            for row in _table(self._tracking_file())
            if any(start <= row["timestamp"] <= stop for start, stop in pairs)
        ]

    def overall_timepoint_results(self) -> dict[str, Any]:
        return _columns(_table(self._tracking_file()))

    def sub_tracking_results(self) -> SubTrackingResults:
        return SubTrackingResults(
            overall=self.overall_timepoint_results(),
            static_data=self.read_static_data(),
            code_block_results=[self._block(name) for name in self.load_code_block_names()],
        )

    def _block(self, name: str) -> dict[str, Any]:
        pairs = self.load_timestamp_pairs(name)
        points = self.load_timepoints(pairs)
        seconds = [stop - start for start, stop in pairs]
        times = _statistics(seconds)
        return {
            "name": name,
            "num_timepoints": len(points),
            "num_calls": len(pairs),
            "num_non_empty_calls": sum(
                any(start <= point["timestamp"] <= stop for point in points) for start, stop in pairs
            ),
            "compute_time": None if times is None else {**times, "total": sum(seconds)},
            "resource_usage": _columns(points),
        }


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Unknown cells are in no figure."""
    names = [name for name in (rows[0] if rows else {}) if name != "timestamp"]
    return {
        name: _statistics(row[name] for row in rows if isinstance(row[name], (int, float)))
        for name in names
    }


class TrackingComparison:
    """Compares sessions: pickled `SubTrackingResults` by the name of the session."""

    def __init__(self, file_path_map: Mapping[str, _Path]) -> None:
        self._sessions: dict[str, SubTrackingResults] = {}
        for name, path in file_path_map.items():
            with open(path, "rb") as file:
                results = pickle.load(file)  # files of the user's own, as in the original
            if not isinstance(results, SubTrackingResults):
                raise FormatError(f"{path} holds no results of a SubTrackingAnalyzer")
            self._sessions[name] = results

    def compare(self, statistic: str = "mean") -> dict[str, dict[str, dict[str, float]]]:
        """The sessions in ascending order: of the whole, and of the blocks that all of them have."""
        if statistic not in ("min", "max", "mean", "std"):
            raise InvalidArgument(f"there is no statistic {statistic!r}: min, max, mean or std")
        blocks: dict[str, dict[str, Any]] = {
            session: {str(block["name"]): block for block in results.code_block_results}
            for session, results in self._sessions.items()
        }
        names: set[str] = set()
        if blocks:
            names = set.intersection(*(set(of) for of in blocks.values()))
        overall = {session: results.overall for session, results in self._sessions.items()}
        usage: dict[str, dict[str, float]] = {}
        times: dict[str, dict[str, float]] = {}
        for name in sorted(names):
            used = {session: of[name]["resource_usage"] for session, of in blocks.items()}
            usage.update(
                (f"{name} {column}", ordered)
                for column, ordered in _compared(used, statistic).items()
            )
            took = {session: {name: of[name]["compute_time"]} for session, of in blocks.items()}
            times.update(_compared(took, statistic))
        return {
            "overall_resource_usage": _compared(overall, statistic),
            "code_block_resource_usage": usage,
            "code_block_compute_time": times,
        }


def _compared(
    sessions: Mapping[str, Mapping[str, dict[str, float] | None]], statistic: str
) -> dict[str, dict[str, float]]:
    """By column: the statistic of each session that knows it, in ascending order."""
    columns = {column for figures in sessions.values() for column in figures}
    compared: dict[str, dict[str, float]] = {}
    for column in sorted(columns):
        found = {session: figures.get(column) for session, figures in sessions.items()}
        known = {session: of[statistic] for session, of in found.items() if of is not None}
        compared[column] = dict(sorted(known.items(), key=lambda item: item[1]))
    return compared
