# mypy: no-implicit-reexport
"""Devices: their energy and power. What sets them raises NotImplementedError: Wattle reads."""

from __future__ import annotations

from typing import Any, NoReturn

from wattle.compat.zeus._absent import refuse
from wattle.compat.zeus.device.cpu import get_cpus
from wattle.compat.zeus.device.gpu import get_gpus

__all__ = ["get_cpus", "get_gpus", "get_soc"]


def get_soc(*_: Any) -> NoReturn:
    """Not available: raises NotImplementedError."""
    refuse("zeus.device.get_soc", "no sensor of Wattle's reads a system on a chip")
