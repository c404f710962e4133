# mypy: no-implicit-reexport
"""gpu_tracker's command: `python -m wattle.compat.gpu_tracker -e COMMAND`, and `sub-track`.

Its exit status is that of the command. `wattle track` and `wattle run` do the same and more.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wattle._errors import Error, FormatError
from wattle._text import fitting
from wattle.compat.gpu_tracker import (
    SubTrackingAnalyzer,
    Tracker,
    TrackingComparison,
)

__all__ = ["main"]

_FORMATS = ("text", "json", "pickle")

# Option, argument of a tracker, type, help.
_OPTIONS: tuple[tuple[str, str, Any, str], ...] = (
    ("st", "sleep_time", float, "seconds between two samples (default: 1)"),
    ("ru", "ram_unit", str, "bytes, kilobytes, megabytes, gigabytes or terabytes (default: gigabytes)"),
    ("gru", "gpu_ram_unit", str, "the same for the memory of GPUs"),
    ("tu", "time_unit", str, "seconds, minutes, hours or days (default: hours)"),
    ("nec", "n_expected_cores", int, "cores that the command is expected to use"),
    ("guuids", "gpu_uuids", str, "comma-separated UUIDs of the GPUs to track"),
    ("gb", "gpu_brand", str, "nvidia or amd"),
    ("tf", "tracking_file", str, "a row for each sample: .csv or .sqlite"),
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gpu-tracker", description="Track a command: memory, CPU, GPUs, time.")
    parser.add_argument("-e", "--execute", required=True, metavar="COMMAND", help="the command; quotes group words")
    _add_output(parser)
    parser.add_argument("--tconfig", metavar="FILE", help="JSON with arguments of a tracker; options win")
    for option, name, kind, text in _OPTIONS:
        parser.add_argument(f"--{option}", dest=name, type=kind, help=text)
    for option in ("--disable-logs", "--overwrite"):
        parser.add_argument(option, action="store_true", default=None)
    return parser


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", help="instead of stdout")
    parser.add_argument("-f", "--format", choices=_FORMATS, default="text")


def _sub_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gpu-tracker sub-track")
    parts = parser.add_subparsers(dest="part", required=True)
    combine = parts.add_parser("combine", help="join the files of several processes")
    combine.add_argument("--stf", required=True, metavar="FILE", help="the file to write")
    combine.add_argument("-p", dest="paths", action="append", required=True, metavar="PATH", help="file or folder")
    analyze = parts.add_parser("analyze", help="what each block used")
    analyze.add_argument("--tf", required=True, metavar="FILE", help="the tracking file")
    analyze.add_argument("--stf", required=True, metavar="FILE", help="the sub-tracking file")
    _add_output(analyze)
    compare = parts.add_parser("compare", help="sessions, from pickled results")
    compare.add_argument("-m", dest="sessions", action="append", default=[], metavar="NAME=FILE")
    compare.add_argument("--cconfig", metavar="FILE", help="JSON with file_path_map and statistic")
    compare.add_argument("--stat", choices=("min", "max", "mean", "std"))
    _add_output(compare)
    return parser


def _load(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}
    with open(path, encoding="utf-8") as file:
        loaded = json.load(file)
    if not isinstance(loaded, dict):
        raise FormatError(f"{path} holds no JSON object", path)
    return loaded


def _write(given: argparse.Namespace, result: Any, values: Any) -> None:
    """result: as text, and what is pickled; values: for JSON."""
    if given.format == "pickle":
        if given.output is None:
            raise ValueError("the format pickle needs a file: add -o FILE")
        Path(given.output).write_bytes(pickle.dumps(result))
        return
    text = str(result) if given.format == "text" else json.dumps(values, indent=1)
    if given.output is None:
        print(fitting(text))
    else:
        Path(given.output).write_text(text + "\n", encoding="utf-8")


def _track(arguments: Sequence[str]) -> int:
    given = _parser().parse_args(arguments)
    words = shlex.split(given.execute)
    if not words:
        raise ValueError("the command is empty")
    if given.format == "pickle" and given.output is None:
        raise ValueError("the format pickle needs a file: add -o FILE")
    names = [name for _, name, _, _ in _OPTIONS] + ["disable_logs", "overwrite"]
    chosen = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    settings: dict[str, Any] = {**_load(given.tconfig), **chosen}
    if isinstance(settings.get("gpu_uuids"), str):
        settings["gpu_uuids"] = [one for one in settings["gpu_uuids"].split(",") if one]
    # Wrong values are refused before the command starts.
    checked: dict[str, Any] = {**settings, "process_id": None, "tracking_file": None}
    Tracker(**checked)
    with subprocess.Popen(words) as child:
        try:
            settings["process_id"] = child.pid
            tracker = Tracker(**settings)
            with tracker:
                status = child.wait()
        except BaseException:
            child.terminate()
            raise
    line = f"Resource tracking complete. Process completed with status code: {status}"
    print(line, file=sys.stdout if given.format == "text" and given.output is None else sys.stderr)
    _write(given, tracker if given.format != "pickle" else tracker.resource_usage, tracker.to_json())
    return status if status >= 0 else 128 - status


def _sub_track(arguments: Sequence[str]) -> int:
    given = _sub_parser().parse_args(arguments)
    if given.part == "combine":
        paths = [Path(path) for path in given.paths]
        if len(paths) == 1 and paths[0].is_dir():
            paths = sorted(paths[0].iterdir())
        SubTrackingAnalyzer(None, given.stf).combine_sub_tracking_files(paths)
    elif given.part == "analyze":
        results = SubTrackingAnalyzer(given.tf, given.stf).sub_tracking_results()
        _write(given, results, results.to_json())
    else:
        config = _load(given.cconfig)
        sessions = dict(config.get("file_path_map", {}))
        for session in given.sessions:
            name, equals, path = session.partition("=")
            if not equals:
                raise ValueError(f"{session!r} is no NAME=FILE")
            sessions[name] = path
        if not sessions:
            raise ValueError("no session is named: add -m NAME=FILE")
        statistic = given.stat or config.get("statistic", "mean")
        compared = TrackingComparison(sessions).compare(statistic)
        _write(given, compared, compared.to_json())
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: the command's; 1 for what cannot be done; 127: no such command."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _sub_track(words[1:]) if words[:1] == ["sub-track"] else _track(words)
    except FileNotFoundError as error:
        print(f"gpu-tracker: {error.filename}: {os.strerror(error.errno or 2)}", file=sys.stderr)
        return 127
    except (Error, ValueError, TypeError, OSError) as error:
        print(f"gpu-tracker: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
