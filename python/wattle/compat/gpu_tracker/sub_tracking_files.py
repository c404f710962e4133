# mypy: no-implicit-reexport
"""The files of trackers and of sub-trackers: CSV or SQLite."""

from __future__ import annotations

import csv
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from wattle._errors import FormatError, InvalidArgument

__all__ = ["START", "STOP", "append", "is_sqlite", "rows_of", "static_data_of"]

START, STOP = 0, 1
"""The positions of a row: a block starts, and ends."""

_COLUMNS = ("process_id", "code_block_name", "position", "timestamp")


def is_sqlite(path: Path) -> bool:
    """Raises `wattle.InvalidArgument` unless the name ends in .csv or .sqlite."""
    if path.suffix not in (".csv", ".sqlite"):
        raise InvalidArgument(f"{path} is no tracking file: its name ends in .csv or .sqlite")
    return path.suffix == ".sqlite"


def append(path: Path, rows: Sequence[tuple[int, str, int, float]]) -> None:
    """Adds rows to a sub-tracking file; makes it if it is not there."""
    if not is_sqlite(path):
        with open(path, "a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if file.tell() == 0:
                writer.writerow(_COLUMNS)
            writer.writerows(rows)
        return
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE IF NOT EXISTS data "
            "(process_id INTEGER, code_block_name TEXT, position INTEGER, timestamp REAL)"
        )
        database.executemany("INSERT INTO data VALUES (?, ?, ?, ?)", rows)


def rows_of(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The rows of a file, by the names of its columns."""
    return _table(Path(path), "data")


def static_data_of(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Units and sizes, which a tracking file has once. Raises `wattle.FormatError` if it has none."""
    rows = _table(Path(path), "static_data")
    if not rows:
        raise FormatError(f"{path} has no units and sizes: it is no tracking file")
    return rows[0]


def _table(path: Path, name: str) -> list[dict[str, Any]]:
    """In CSV, `static_data` is the first two lines of a tracking file."""
    if is_sqlite(path):
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
