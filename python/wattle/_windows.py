# mypy: no-implicit-reexport
"""Windows by name: any number at a time, that may overlap."""

from __future__ import annotations

from wattle import _sensors
from wattle._errors import InvalidState, NotStarted
from wattle._library import core
from wattle._measurement import Measurement
from wattle._sensors import Choice
from wattle._text import fitting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator
    from typing import Any

    from wattle._sensors import _Gpus

__all__ = ["Windows"]


class Windows:
    """Windows that start and end anywhere: `begin(key)`, `end(key)`.

    Any number may be open at a time, nested or overlapping, each with a key of its own. The
    arguments are those of `measure`. Thread-safe: a window may end in another thread than it
    started in. In the child of a `fork`, windows that were open have no energy; new ones do.
    """

    def __init__(
        self,
        *,
        domains: Iterable[str] | str | None = None,
        gpus: _Gpus = None,
        strict: bool = False,
        aligned: bool = False,
        system: core.System | None = None,
    ) -> None:
        self._choice = Choice.of(domains, gpus, strict, aligned, system)
        # Each operation on it is one of the interpreter: no lock, which a fork could leave locked.
        self._open: dict[Hashable, Any] = {}
        if strict:
            _sensors.shared(self._choice)

    def begin(self, key: Hashable, *, restart: bool = False) -> None:
        """Starts the window `key`. Raises `InvalidState` if it is open, unless `restart` is True."""
        meter = _sensors.shared(self._choice)
        if restart:
            self._open.pop(key, None)
        place = object()
        if self._open.setdefault(key, place) is not place:
            raise InvalidState(f"the window {key!r} is open already: end it first, or pass restart=True")
        try:
            self._open[key] = Measurement(str(key), meter.begin(str(key)))
        except BaseException:
            self._open.pop(key, None)
            raise

    def end(self, key: Hashable) -> Measurement:
        """Ends the window `key`. Raises `NotStarted` if it is not open."""
        measurement = self._open.pop(key, None)
        if not isinstance(measurement, Measurement):
            raise NotStarted(f"the window {key!r} is not open: begin it first")
        if measurement._window is not None:
            measurement._window.stop()
        return measurement

    def cancel(self, key: Hashable) -> None:
        """Forgets the window `key`. Raises `NotStarted` if it is not open."""
        if self._open.pop(key, None) is None:
            raise NotStarted(f"the window {key!r} is not open: begin it first")

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains that are measured."""
        return _sensors.shared(self._choice).domains

    def __contains__(self, key: object) -> bool:
        return key in self._open

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(list(self._open))

    def __repr__(self) -> str:
        return fitting(f"<Windows, open: {', '.join(map(repr, self)) or 'none'}>")
