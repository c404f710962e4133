# mypy: no-implicit-reexport
"""The command `wattle`, and what it reports, for Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wattle._errors import Error, InvalidArgument
from wattle._library import core
from wattle._text import energy_text, fitting, seconds_text

__all__ = ["Report", "command", "doctor", "run", "sensors"]


def command() -> str:
    """The path of the command `wattle`: that of this package first.

    `WATTLE_COMMAND` names another one. Raises `Error` if there is none.
    """
    named = os.environ.get("WATTLE_COMMAND")
    if named:
        return named
    import sysconfig

    for scheme in (None, f"{os.name}_user"):
        folder = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        path = os.path.join(folder, "wattle")
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("wattle")
    if found is None:
        raise Error("cannot find the command wattle: install it, or set WATTLE_COMMAND to its path")
    return found


class Report(Mapping[str, Any]):
    """What a run cost: a mapping (the JSON of `wattle run --json`), and its main figures.

    docs/json.md lists the keys. What is not known is None. Thread-safe.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = dict(data)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Report:
        """The report in a file that `wattle run --json` wrote."""
        with open(path, encoding="utf-8") as file:
            return cls(json.load(file))

    @property
    def returncode(self) -> int:
        """The exit status of the command; negative: the signal that ended it; 127: not found."""
        ended = self._data["exit"]
        if not ended["started"]:
            return int(ended["code"] or 127)
        return -int(ended["signal"]) if ended["signal"] is not None else int(ended["code"])

    @property
    def seconds(self) -> float:
        """How long the command took."""
        return float(self._data["wall_s"])

    @property
    def total_j(self) -> float | None:
        """Joules of the machine while the command ran: of packages, DRAM and GPUs."""
        return self._data["energy"]["total_j"]

    @property
    def uncertainty_j(self) -> float | None:
        """The sampling error of `total_j` (95 %), in joules."""
        return self._data["energy"]["total_uncertainty_j"]

    @property
    def unknown_s(self) -> float:
        """Seconds whose energy is not known: if above 0, `total_j` is a lower bound."""
        return float(self._data["energy"]["total_unknown_s"] or 0.0)

    @property
    def domains(self) -> dict[str, core.Energy]:
        """The energy of each domain."""
        return {
            row["name"]: core.Energy(
                row["energy_j"],
                row["uncertainty_j"] or 0.0,
                row["unknown_s"] or 0.0,
                row["flags"],
                row["common_j"] or 0.0,
            )
            for row in self._data["energy"]["domains"]
        }

    @property
    def missing(self) -> tuple[core.Refusal, ...]:
        """What was not measured, and why."""
        return _refusals(self._data["refused"])

    @property
    def cpu_s(self) -> float | None:
        """CPU time of the command and all its descendants, in seconds."""
        return self._data["resource_usage"]["cpu_s"]

    @property
    def peak_rss_bytes(self) -> int | None:
        """The largest resident memory of a single process."""
        return self._data["resource_usage"]["peak_rss_bytes"]

    @property
    def phases(self) -> list[dict[str, Any]]:
        """The phases that `wattle.mark` made."""
        return list(self._data["phases"]["rows"])

    def to_dict(self) -> dict[str, Any]:
        """All of it."""
        return dict(self._data)

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __str__(self) -> str:
        names = ", ".join(name for name, e in self.domains.items() if e.energy_j is not None)
        text = energy_text(self.total_j, self.uncertainty_j, self.unknown_s)
        return fitting(f"{text} in {seconds_text(self.seconds)} ({names or 'nothing measured'})")

    def __repr__(self) -> str:
        return fitting(f"<Report {self._data['command']!r}: {self}>")


def _refusals(rows: Iterable[Mapping[str, Any]]) -> tuple[core.Refusal, ...]:
    return tuple(
        core.Refusal(
            row["subject"] or "", row["reason"] or "", row["remedy"] or "", row.get("source") or ""
        )
        for row in rows
    )


def run(
    words: Sequence[str | os.PathLike[str]],
    *,
    options: Sequence[str] = (),
    check: bool = False,
    **popen: Any,
) -> Report:
    """Runs a command, measures it, and returns its report.

    options: of `wattle run`, for instance `["--estimate"]`. check: raise
    `subprocess.CalledProcessError` if the command fails. Other arguments are those of
    `subprocess.Popen`: cwd, env, stdin, stdout ... Raises `Error` if wattle itself fails. Ctrl-C
    ends the command too. Thread-safe.
    """
    for given in (words, options):
        if isinstance(given, (str, bytes)):
            raise TypeError(f'a command is a list of words, as ["ls", "-l"], not the text {given!r}')
    if not words:
        raise InvalidArgument("cannot run a command without a word")
    # Of a name that nobody else opens; the command writes the file as a whole.
    with tempfile.TemporaryDirectory(prefix="wattle-") as folder:
        path = os.path.join(folder, "report.json")
        line = [command(), "run", "--quiet", "--json", path, *options, "--", *(os.fspath(word) for word in words)]
        with subprocess.Popen(line, **popen) as child:
            try:
                status = child.wait()
            except BaseException:
                child.terminate()
                raise
        try:
            report = Report.load(path)
        except (FileNotFoundError, ValueError):
            raise Error(
                f"cannot measure {os.fspath(words[0])}: wattle run ended with status {status}"
            ) from None
    if check and report.returncode != 0:
        raise subprocess.CalledProcessError(report.returncode, list(words))
    return report


def _asked(*words: str) -> dict[str, Any]:
    line = [command(), *words]
    ended = subprocess.run(line, capture_output=True, encoding="utf-8", errors="replace", check=False)
    try:
        return dict(json.loads(ended.stdout))
    except ValueError:
        raise Error(f"cannot run wattle {words[0]}: {ended.stderr.strip()}") from None


def sensors() -> dict[str, Any]:
    """What can be read, by which source: the JSON of `wattle sensors --json` (docs/json.md)."""
    return _asked("sensors", "--json")


def doctor() -> dict[str, Any]:
    """What cannot be measured here, why, and the remedy: the JSON of `wattle doctor --json`."""
    return _asked("doctor", "--json")
