# mypy: no-implicit-reexport
"""Phases of a program that `wattle run` measures."""

from __future__ import annotations

from wattle._library import core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Self

__all__ = ["Phase", "end_mark", "mark", "run_energy"]


def mark(name: str) -> bool:
    """Starts a phase of the run that this process belongs to: a row of its report.

    False, and without effect, outside of `wattle run`. Takes about 50 µs. Thread-safe.
    """
    return core.mark(name)


def end_mark(name: str = "") -> bool:
    """Ends the phase of that name that started last; without a name, the one that started last."""
    return core.end_mark(name)


def run_energy(timeout_s: float = 1.0) -> dict[str, Any] | None:
    """What `wattle run` measured since the last mark, or since its start if there was none.

    A dictionary: `since` ("mark" or "start"), `time_s`, `total_j`, `total_uncertainty_j`,
    `total_unknown_s`, `domains` (`name`, `energy_j`, `uncertainty_j`, `unknown_s`, `flags`); what is
    not known is None. None outside of a run, and if the run does not answer within `timeout_s`.
    Thread-safe.
    """
    import json
    import os
    import socket

    path = os.environ.get("WATTLE_RUN")
    if not path:
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asking:
        asking.settimeout(timeout_s)
        try:
            asking.bind("")  # an address that the kernel chooses
            asking.connect(path)
            asking.send(b"read")
            reply = asking.recv(1 << 16)
        except OSError:
            return None
    return dict(json.loads(reply))


class Phase:
    """`with wattle.Phase("load"):`: a phase that lasts as long as the block."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> Self:
        mark(self.name)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        end_mark(self.name)
