# mypy: no-implicit-reexport
"""Joules per unit of work: requests, steps, tests, while many run at once."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Any

from wattle._decorate import unit_for_each_call
from wattle._library import core

if TYPE_CHECKING:
    from typing import Self


__all__ = ["Unit", "Units", "unit", "unit_report"]


class Unit:
    """A unit of work: a context manager (with `async`, too), or the decorator of a function.

    It starts with the block. What is divided, and what a share means: docs/units.md. One thread or
    task at a time.
    """

    __slots__ = ("__weakref__", "_arguments", "_tokens", "_unit", "_units")

    def __init__(
        self,
        units: Units | None,
        tag: str,
        *,
        weight: float = 1.0,
        tokens: float | None = None,
        gpu: str | None = None,
        traceparent: str | None = None,
        by: str = "weight",
    ) -> None:
        self._units = units
        self._arguments = (tag, weight, gpu, traceparent, by)
        self._tokens = tokens
        self._unit: core.WorkUnit | None = None

    def __enter__(self) -> Self:
        if self._units is None:
            self._units = _default()
        if self._unit is not None:
            self._unit.end()
        self._unit = self._units.begin(*self._arguments)
        if self._tokens is not None:
            self._unit.add(self._tokens)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        unit = self._unit
        if unit is not None and unit.is_running:
            unit.end()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

    def __call__(self, function: Any) -> Any:
        """`function`, each call of which is a unit. A coroutine stays one, a generator too."""
        tag, weight, gpu, _, by = self._arguments
        return unit_for_each_call(
            function,
            lambda: Unit(self._units, tag, weight=weight, tokens=self._tokens, gpu=gpu, by=by),
        )

    def add(self, work: float) -> None:
        """Counts work that was done in it: tokens, rows. Ignored before the start and after the end."""
        if self._unit is not None:
            self._unit.add(work)

    def phase(self, name: str, weight: float = 1.0) -> None:
        """A phase of it starts; the one before ends."""
        if self._unit is not None:
            self._unit.phase(name, weight)

    def end(self) -> None:
        """Ends it before the block does. A second time it does nothing."""
        if self._unit is not None and self._unit.is_running:
            self._unit.end()

    @property
    def energy(self) -> core.Energy | None:
        """Its share; None until the readings that cover it are there."""
        if self._unit is None or self._units is None:
            return None
        return self._units.energy(self._unit.id)

    @property
    def cpu_time_s(self) -> float | None:
        """Its part of the CPU time of its threads, once its energy is known; None: it has its share by weight."""
        if self._unit is None or self._units is None:
            return None
        return self._units.cpu_time(self._unit.id)

    @property
    def traceparent(self) -> str | None:
        """That of its trace, once its energy is known; None: it has none, or what was given is not valid."""
        if self._unit is None or self._units is None:
            return None
        return self._units.traceparent(self._unit.id)


class Units(core.UnitsBase):
    """Divides the energy of the machine among units of work.

    idle: "to_units", or "kept" (for nobody; then idle_w has the idle power of each domain in watts, or
    the machine idles for half a second before the first unit). period: seconds between readings. lag:
    how late the sensors are, in seconds; None: found from the units. strict: raises where nothing can
    be measured. Thread-safe. In the child of a `fork` it does nothing.
    """

    def unit(
        self,
        tag: str,
        *,
        weight: float = 1.0,
        tokens: float | None = None,
        gpu: str | None = None,
        traceparent: str | None = None,
        by: str = "weight",
    ) -> Unit:
        """A unit of these: see `wattle.unit`."""
        return Unit(
            self, tag, weight=weight, tokens=tokens, gpu=gpu, traceparent=traceparent, by=by
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


# One for the process; a child makes its own.
_shared: dict[int, Units] = {}


def _default() -> Units:
    pid = os.getpid()
    if pid not in _shared:
        _shared.setdefault(pid, Units())
    return _shared[pid]


def unit(
    tag: str,
    *,
    weight: float = 1.0,
    tokens: float | None = None,
    gpu: str | None = None,
    traceparent: str | None = None,
    by: str = "weight",
) -> Unit:
    """A unit of work of this program: `with wattle.unit("request", tokens=n):`, or `@wattle.unit("step")`.

    weight: its part of the power relative to other units. gpu: "nvidia_gpu_0": it uses no other one.
    traceparent: of the trace that it belongs to, as in the HTTP header (W3C Trace Context); ignored if it is
    not valid. by: "cpu_time": of CPUs it gets its part by the CPU time of the thread that starts it, not by
    its weight; units that run on one thread, as the tasks of an event loop do, divide that by their weights.
    All units of the program share one `Units`; `unit_report` has what was found.
    """
    return Unit(None, tag, weight=weight, tokens=tokens, gpu=gpu, traceparent=traceparent, by=by)


def unit_report() -> dict[str, Any]:
    """What was found about the units of this program (`unit`): see `Units.report`."""
    units = _default()
    units.update()
    return units.report()
