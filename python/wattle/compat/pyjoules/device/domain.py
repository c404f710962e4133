# mypy: no-implicit-reexport
"""A part of a device that has an energy."""

from __future__ import annotations

from typing import Any


class Domain:
    """Override both methods. Two domains of one text are one domain."""

    def __repr__(self) -> str:
        raise NotImplementedError

    def get_device_type(self) -> type[Any]:
        raise NotImplementedError


class NumberedDomain(Domain):
    """A domain with a number: sorts by its kind, then by its number."""

    _kind = ""

    def __init__(self, number: int, die: int | None = None) -> None:
        self._number = number
        self._die = die

    def __repr__(self) -> str:
        die = "" if self._die is None else f"_die_{self._die}"
        return f"{self._kind}_{self._number}{die}"

    def library_name(self) -> str:
        """The name that `wattle.domains` gives it."""
        return repr(self)

    def _order(self) -> tuple[str, int, int]:
        return self._kind, self._number, -1 if self._die is None else self._die

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumberedDomain) and self._order() == other._order()

    def __hash__(self) -> int:
        return hash(self._order())

    def __lt__(self, other: NumberedDomain) -> bool:
        if not isinstance(other, NumberedDomain):
            raise ValueError(f"cannot compare {self} with {other}")  # noqa: TRY004 (as in pyJoules)
        return self._order() < other._order()

    def __gt__(self, other: NumberedDomain) -> bool:
        if not isinstance(other, NumberedDomain):
            raise ValueError(f"cannot compare {self} with {other}")  # noqa: TRY004 (as in pyJoules)
        return self._order() > other._order()
