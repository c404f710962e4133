# mypy: no-implicit-reexport
"""Names of Zeus that Wattle has no counterpart of: they can be imported, and say why when they are used."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["Absent", "refuse"]


def refuse(name: str, reason: str) -> NoReturn:
    """Raises NotImplementedError."""
    raise NotImplementedError(f"{name}: {reason}")


class Absent:
    """Base of classes that cannot be made."""

    _reason = ""

    def __init__(self, *_: Any, **__: Any) -> None:
        refuse(f"{type(self).__module__.removeprefix('wattle.compat.')}.{type(self).__qualname__}", self._reason)
