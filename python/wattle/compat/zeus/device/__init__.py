# mypy: no-implicit-reexport
"""Zeus's own access to devices is not available: Wattle reads them. What is here says so."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["get_cpus", "get_gpus", "get_soc"]


def get_gpus(ensure_homogeneous: bool = False) -> NoReturn:
    """Not available: raises NotImplementedError."""
    del ensure_homogeneous
    raise NotImplementedError(_reason("get_gpus", "zeus.monitor.PowerMonitor and ZeusMonitor have power and energy"))


def get_cpus() -> NoReturn:
    """Not available: raises NotImplementedError."""
    raise NotImplementedError(_reason("get_cpus", "zeus.monitor.ZeusMonitor has the energy of CPUs"))


def get_soc(*_: Any) -> NoReturn:
    """Not available: raises NotImplementedError."""
    raise NotImplementedError(_reason("get_soc", "no sensor of Wattle's reads a system on a chip"))


def _reason(name: str, instead: str) -> str:
    return f"zeus.device.{name}: Wattle reads devices itself and shows no handles of drivers; {instead}"
