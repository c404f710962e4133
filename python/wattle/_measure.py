# mypy: no-implicit-reexport
"""`wattle.measure`: a block, a function, a coroutine or a generator."""

from __future__ import annotations

import time

from wattle import _sensors
from wattle._errors import InvalidState
from wattle._library import core
from wattle._measurement import Estimate, Measurement
from wattle._sensors import Choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType
    from typing import Any, TypeVar, overload

    from wattle._sensors import _Gpus

    _Function = TypeVar("_Function", bound=Callable[..., Any])
    _Handler = Callable[[Measurement], object] | Any | None
else:

    def overload(function):
        """That of `typing`, whose import takes longer than that of all of Wattle."""
        return function


__all__ = ["Measure", "measure"]


class Measure:
    """What `measure` returns: a context manager, also an asynchronous one, and a decorator.

    It can be used again, but is in one block at a time. Functions that it decorates may run in
    any number of threads at a time.
    """

    __slots__ = ("_choice", "_cpu_s", "_estimate", "_estimator", "_handler", "_open", "_tag")

    def __init__(self, tag: str | None, choice: Choice | None, handler: _Handler, estimate: bool) -> None:
        self._tag = tag
        self._choice = choice
        self._handler = handler
        self._estimate = estimate
        self._open: Measurement | None = None
        self._estimator: core.Estimator | None = None

    def __enter__(self) -> Measurement:
        if self._open is not None:
            raise InvalidState("this object measures a block already: call wattle.measure() for each block")
        choice = self._choice
        meter = _sensors.default() if choice is None else _sensors.shared(choice)
        tag = self._tag or ""
        if self._estimate:
            self._estimator = core.Estimator(None if choice is None else choice.system)
            self._cpu_s = time.process_time()
            self._estimator.start()
        self._open = measurement = Measurement(tag, meter.begin(tag))
        return measurement

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        measurement = self._open
        if measurement is None:
            return
        window = measurement._window
        if window is not None:
            window.stop()
        self._open = None
        if self._estimator is not None:
            self._estimator.stop()
            cpu_s = time.process_time() - self._cpu_s
            measurement._estimate = Estimate(self._estimator.estimate(cpu_s))
            self._estimator = None
        if self._handler is not None:
            _hand_over(self._handler, measurement)

    async def __aenter__(self) -> Measurement:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, traceback)

    def __call__(self, function: _Function) -> _Function:
        from wattle._decorate import measured

        return measured(self, function)

    def _again(self, tag: str, keep: Callable[[Measurement], object]) -> Measure:
        """For one call of a function that it decorates."""
        handler = self._handler

        def handle(measurement: Measurement) -> None:
            keep(measurement)
            if handler is not None:
                _hand_over(handler, measurement)

        return Measure(self._tag or tag, self._choice, handle, self._estimate)


def _hand_over(handler: Any, measurement: Measurement) -> None:
    process = getattr(handler, "process", None)
    if process is None:
        handler(measurement)
        return
    from wattle._trace import EnergyTrace

    process(EnergyTrace([measurement.sample], measurement.missing))


@overload
def measure(tag: _Function) -> _Function: ...
@overload
def measure(  # noqa: F811
    tag: str | None = None,
    *,
    domains: Iterable[str] | str | None = None,
    gpus: _Gpus = None,
    strict: bool = False,
    aligned: bool = False,
    estimate: bool = False,
    handler: _Handler = None,
    system: core.System | None = None,
) -> Measure: ...
def measure(  # noqa: F811
    tag: Any = None,
    *,
    domains: Iterable[str] | str | None = None,
    gpus: _Gpus = None,
    strict: bool = False,
    aligned: bool = False,
    estimate: bool = False,
    handler: _Handler = None,
    system: core.System | None = None,
) -> Any:
    """Measures the energy of a block or of a function: `with wattle.measure("epoch") as m`.

    domains: what to measure; None: all CPUs and GPUs. gpus: which of the GPUs, where `domains` is
    None. strict: raise `PermissionDenied`, `NoSuchDevice` or `NoSuchDomain` if something that was
    asked for cannot be read; otherwise its energy is None and `missing` has the reason. aligned:
    move both ends to the updates of the counters, for windows of a few milliseconds. estimate: add
    a range from the model of docs/estimates.md. handler: called with each `Measurement`; or an
    object with `process(trace)`. system: where to search for sensors.

    As a decorator, with or without arguments, it measures each call, and keeps the results of the
    newest 1,000 calls in the attribute `measurements` of the function. The window of a coroutine
    or of a generator lasts from its first step to its end, pauses included.

    The sensors are opened by the first window and stay open. Thread-safe. After `fork`, the child
    opens its own; a window that was open then has no energy in the child.
    """
    if tag is not None and not isinstance(tag, str):
        if callable(tag):
            return Measure(None, None, None, False)(tag)
        raise TypeError(f"a tag is a text, not {type(tag).__name__}")
    choice = None
    if not (domains is None and gpus is None and system is None) or strict or aligned:
        choice = Choice.of(domains, gpus, strict, aligned, system)
    return Measure(tag, choice, handler, estimate)
