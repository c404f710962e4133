# mypy: no-implicit-reexport
"""The energy meter: sections that follow each other."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from wattle._errors import NotStopped
from wattle._library import core
from wattle._trace import EnergyTrace, _trace

if TYPE_CHECKING:
    from typing import Self

    from wattle._sensors import _Gpus

__all__ = ["Counter", "EnergyMeter", "EnergySource", "Gauge"]


class Counter(NamedTuple):
    """An energy counter of an `EnergySource`."""

    name: str
    """Its column: no name of a domain."""
    tick_j: float = 1e-6
    """The energy of one tick, in joules."""
    modulus: int = 0
    """The number of ticks after which the counter starts again at 0; 0: it never does."""
    max_power_w: float = 10_000.0
    """The device never draws more: a decrease that implies more is a reset, not a wrap."""
    update_interval_s: float = 0.0
    """How often the value is renewed; 0: at once."""


class Gauge(NamedTuple):
    """A power gauge of an `EnergySource`."""

    name: str
    update_interval_s: float = 0.0
    """How often the value is renewed; 0: not known."""


class EnergySource:
    """A device of your own: a wall meter, a battery, a simulation.

    Override `counters` and `read`, or `gauges` and `read_power`, or all four. `read` and
    `read_power` are called by threads of the library, each by one at a time. What they raise is
    logged once, and the value is unknown; Ctrl-C interrupts the program. They cannot use the meter
    that reads them: it raises `InvalidState`.
    """

    def counters(self) -> Sequence[Counter]:
        """Asked once; at most 64."""
        return ()

    def read(self) -> Iterable[int | None]:
        """The ticks of each counter; None for one that cannot be read now. Must return soon."""
        return ()

    def gauges(self) -> Sequence[Gauge]:
        """Asked once; at most 64."""
        return ()

    def read_power(self) -> Iterable[float | None]:
        """The watts of each gauge, at least 0. Called ten times a second; it may take its time."""
        return ()


class EnergyMeter:
    """Measures sections that follow each other: `start`, `record` at each border, `stop`.

    A tag names the section that starts with the call. As a context manager it starts and stops.
    The arguments are those of `measure`; `sources` are read beside the domains. Thread-safe: of
    several threads that call, one waits for the other. In the child of a `fork` its energies are
    unknown.
    """

    def __init__(
        self,
        domains: Iterable[str] | str | None = None,
        default_tag: str = "",
        *,
        gpus: _Gpus = None,
        sources: Iterable[EnergySource] = (),
        aligned: bool = False,
        strict: bool = False,
        system: core.System | None = None,
    ) -> None:
        if domains is not None and not isinstance(domains, str):
            domains = tuple(domains)
        self._meter = core.Meter(
            domains=domains,
            gpus=gpus,
            sources=sources,
            default_tag=default_tag,
            aligned=aligned,
            strict=strict,
            system=system,
        )

    @property
    def domains(self) -> tuple[str, ...]:
        """The columns of its traces."""
        return self._meter.domains

    @property
    def is_running(self) -> bool:
        return self._meter.is_running

    def start(self, tag: str | None = None) -> None:
        """Starts a new trace; the one before is dropped."""
        self._meter.start(tag)

    def record(self, tag: str | None = None) -> None:
        """Ends a section and starts the next. Raises `NotStarted` unless it is running."""
        self._meter.record(tag)

    def stop(self) -> None:
        """Ends the last section; does nothing if stopped. Raises `NotStarted` before a start."""
        self._meter.stop()

    def resume(self, tag: str | None = None) -> None:
        """Continues after `stop`: the pause is in no sample. Raises `NotStopped` while running."""
        self._meter.resume(tag)

    def reserve(self, calls: int) -> None:
        """Makes room for that many calls."""
        self._meter.reserve(calls)

    def trace(self) -> EnergyTrace:
        """What was recorded. Raises `NotStopped` while running."""
        return _trace(self._meter.trace())

    def measure_idle(self, trace: EnergyTrace) -> EnergyTrace:
        """Waits as long as each sample took, and measures that: for `EnergyTrace.remove_idle`.

        Raises `NotStopped` while running.
        """
        if self.is_running:
            raise NotStopped("cannot measure idle: the meter is running; stop it first")
        idle = self._meter.another()
        for sample in trace:
            idle.resume(sample.tag)
            time.sleep(sample.seconds)
            idle.stop()
        return _trace(idle.trace())

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
