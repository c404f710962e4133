# mypy: no-implicit-reexport
"""What the devices of this folder share: readers that are made once for a process and its settings."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from wattle._library import core

__all__ = ["millijoules", "shared"]

_Made = TypeVar("_Made")
_made: dict[tuple[object, ...], object] = {}


def shared(kind: type[_Made], make: Callable[[], _Made]) -> _Made:
    """The object of a kind: another one in the child of a fork, and after a change of the environment."""
    key = (kind, os.getpid(), core.generation())
    found = _made.get(key)
    if not isinstance(found, kind):
        found = make()
        _made[key] = found
    return found


def millijoules(energies: dict[str, tuple[float | None, float]], names: list[str]) -> float | None:
    """The sum; None if a part of the energy, or of the time, is unknown."""
    total = 0.0
    for name in names:
        energy_j, unknown_s = energies[name]
        if energy_j is None or unknown_s > 0.0:
            return None
        total += energy_j
    return total * 1e3
