# mypy: no-implicit-reexport
"""The meter, the decorator and the context manager of pyJoules."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from wattle.compat.pyjoules.device import Device, DeviceFactory, Domain
from wattle.compat.pyjoules.energy_trace import EnergySample, EnergyTrace, difference
from wattle.compat.pyjoules.exception import (
    EnergyMeterNotStartedError,
    EnergyMeterNotStoppedError,
    NoNextStateException,
    SampleNotFoundError,
    StateIsNotFinalError,
)
from wattle.compat.pyjoules.handler import EnergyHandler
from wattle.compat.pyjoules.handler.print_handler import PrintHandler

__all__ = [
    "EnergyContext",
    "EnergyMeter",
    "EnergyMeterNotStartedError",
    "EnergyMeterNotStoppedError",
    "EnergySample",
    "EnergyState",
    "EnergyTrace",
    "NoNextStateException",
    "SampleNotFoundError",
    "StateIsNotFinalError",
    "measure_energy",
]

# A device may lack this part of the time of a sample; above, its energy would be too low.
_UNKNOWN_PART = 1e-3


class EnergyState:
    """What all devices showed at a time. values: one list per device, in their order."""

    def __init__(self, timestamp: float, tag: str | None, values: Sequence[Sequence[Any]]) -> None:
        self.timestamp = timestamp
        self.tag = tag
        self.values = values
        self.next_state: EnergyState | None = None

    def is_last(self) -> bool:
        return self.next_state is None

    def _next(self) -> EnergyState:
        if self.next_state is None:
            raise NoNextStateException("the last state has no next one")
        return self.next_state

    def compute_duration(self) -> float:
        """Seconds until the next state. Raises `NoNextStateException`."""
        return self._next().timestamp - self.timestamp

    def compute_energy(self, domains: Sequence[Domain]) -> dict[str, Any]:
        """Micro-joules until the next state; None: unknown. Raises `NoNextStateException`."""
        after = self._next()
        starts = [value for values in self.values for value in values]
        ends = [value for values in after.values for value in values]
        seconds = self.compute_duration()
        return {
            str(domain): _energy(start, end, seconds)
            for domain, start, end in zip(domains, starts, ends, strict=True)
        }

    def add_next_state(self, state: EnergyState) -> None:
        """Raises `StateIsNotFinalError` if there is one."""
        if self.next_state is not None:
            raise StateIsNotFinalError("the state has a next one already")
        self.next_state = state


def _energy(start: Any, end: Any, seconds: float) -> Any:
    energy = difference(end, start)
    unknown_s = getattr(end, "unknown_s", 0.0) - getattr(start, "unknown_s", 0.0)
    if energy is None or energy < 0 or unknown_s > _UNKNOWN_PART * max(seconds, 1e-3):
        return None
    return energy


class EnergyMeter:
    """Measures sections that follow each other; a tag names the section that starts with the call.

    Not thread-safe: use one per thread.
    """

    def __init__(self, devices: Sequence[Device], default_tag: str = "") -> None:
        self.devices = devices
        self.default_tag = default_tag
        self._states: list[EnergyState] = []
        self._is_running = False

    def _measure_new_state(self, tag: str | None) -> EnergyState:
        timestamp = time.time()
        values = [device.get_energy() for device in self.devices]
        return EnergyState(timestamp, self.default_tag if tag is None else tag, values)

    def _append(self, state: EnergyState) -> None:
        # A pause lies between a stop and the state after it: that is no sample.
        if self._is_running:
            self._states[-1].add_next_state(state)
        self._states.append(state)

    def start(self, tag: str | None = None) -> None:
        """Starts a new trace; the one before is dropped."""
        state = self._measure_new_state(tag)
        self._states = [state]
        self._is_running = True

    def record(self, tag: str | None = None) -> None:
        """Ends a section and starts the next. Raises `EnergyMeterNotStartedError`."""
        if not self._is_running:
            raise EnergyMeterNotStartedError("the meter was not started, or is stopped")
        self._append(self._measure_new_state(tag))

    def resume(self, tag: str | None = None) -> None:
        """Continues after `stop`: the pause is in no sample. Raises `EnergyMeterNotStoppedError`."""
        if self._is_running:
            raise EnergyMeterNotStoppedError("the meter runs: stop it first")
        state = self._measure_new_state(tag)
        self._append(state)
        self._is_running = True

    def stop(self) -> None:
        """Ends the last section; does nothing if stopped. Raises `EnergyMeterNotStartedError`."""
        if not self._states:
            raise EnergyMeterNotStartedError("the meter was not started")
        if self._is_running:
            self._append(self._measure_new_state(None))
            self._is_running = False

    def get_trace(self) -> EnergyTrace:
        """What was recorded; empty before a start. Raises `EnergyMeterNotStoppedError`."""
        if self._is_running:
            raise EnergyMeterNotStoppedError("the meter runs: stop it first")
        domains = self._get_domain_list()
        return EnergyTrace(
            EnergySample(
                state.timestamp,
                state.tag or "",
                state.compute_duration(),
                state.compute_energy(domains),
            )
            for state in self._states
            if not state.is_last()
        )

    def gen_idle(self, trace: EnergyTrace) -> list[dict[str, Any]]:
        """Waits as long as each sample took, and gives the energies of that: for `remove_idle`.

        The trace of the meter stays.
        """
        idle = EnergyMeter(self.devices)
        for sample in trace:
            idle.resume()
            time.sleep(sample.duration)
            idle.stop()
        return [sample.energy for sample in idle.get_trace()]

    def _get_domain_list(self) -> list[Domain]:
        return [domain for device in self.devices for domain in device.get_configured_domains()]


class EnergyContext:
    """`with EnergyContext(handler) as ctx`: measures the block, and gives the handler its trace."""

    def __init__(
        self,
        handler: EnergyHandler | None = None,
        domains: Sequence[Domain] | None = None,
        start_tag: str = "start",
    ) -> None:
        self.handler = PrintHandler() if handler is None else handler
        self.start_tag = start_tag
        self.energy_meter = EnergyMeter(DeviceFactory.create_devices(domains))

    def __enter__(self) -> EnergyMeter:
        self.energy_meter.start(self.start_tag)
        return self.energy_meter

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.energy_meter.stop()
        self.handler.process(self.energy_meter.get_trace())


def measure_energy(
    func: Callable[..., Any] | None = None,
    handler: EnergyHandler | None = None,
    domains: Sequence[Domain] | None = None,
) -> Any:
    """Measures each call of a function, with the function's name as the tag.

    With or without arguments. A call that raises is measured, too. A coroutine function is measured
    from its start to its end. Thread-safe.
    """
    taker = PrintHandler() if handler is None else handler
    devices = DeviceFactory.create_devices(domains)

    def measured(function: Callable[..., Any]) -> Callable[..., Any]:
        def context() -> _Call:
            return _Call(EnergyMeter(devices), function.__name__, taker)

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def call_later(*arguments: Any, **named: Any) -> Any:
                with context():
                    return await function(*arguments, **named)

            return call_later

        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            with context():
                return function(*arguments, **named)

        return call

    return measured if func is None else measured(func)


class _Call:
    """One call of a measured function."""

    def __init__(self, meter: EnergyMeter, tag: str, handler: EnergyHandler) -> None:
        self._meter = meter
        self._tag = tag
        self._handler = handler

    def __enter__(self) -> None:
        self._meter.start(self._tag)

    def __exit__(self, *error: object) -> None:
        self._meter.stop()
        self._handler.process(self._meter.get_trace())
