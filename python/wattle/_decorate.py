# mypy: no-implicit-reexport
"""Functions that measure each of their calls."""

from __future__ import annotations

import collections
import contextlib
import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wattle._measure import Measure

__all__ = ["measured", "unit_for_each_call"]

_KEPT = 1000


def measured(measure: Measure, function: Any) -> Any:
    """`function`, of the same kind: a coroutine stays one, a generator too."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(measured(measure, function.__func__))
    _check(function, "wattle.measure")
    tag = getattr(function, "__name__", type(function).__name__)
    kept: collections.deque[Any] = collections.deque(maxlen=_KEPT)

    def window() -> Measure:
        return measure._again(tag, kept.append)

    wrapper: Any = _wrapped(function, window)
    wrapper.measurements = kept
    return wrapper


def unit_for_each_call(
    function: Any, start: Callable[[], contextlib.AbstractContextManager[Any]]
) -> Any:
    """`function`, each call of which is in a unit of its own, of the same kind."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_wrapped(function.__func__, start))
    _check(function, "wattle.unit")
    return _wrapped(function, start)


def _check(function: Any, name: str) -> None:
    if isinstance(function, type):
        raise TypeError(f"{name} decorates a function, not the class {function.__name__}: decorate its methods")
    if not callable(function):
        raise TypeError(f"{name} decorates a function, not {type(function).__name__}")


def _called(function: Any) -> Any:
    """The function that a call runs: of an object its `__call__`."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) else getattr(type(function), "__call__", function)  # noqa: B004


def _wrapped(function: Any, window: Callable[[], contextlib.AbstractContextManager[Any]]) -> Any:
    """`function` in a window of its own for each call."""
    called = _called(function)
    if inspect.isasyncgenfunction(called):

        @functools.wraps(function)
        async def asynchronous_steps(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
            # What `yield from` does for a generator: values and exceptions go both ways.
            with window():
                async with contextlib.aclosing(function(*args, **kwargs)) as inner:
                    step = inner.asend(None)
                    while True:
                        try:
                            item = await step
                        except StopAsyncIteration:
                            return
                        try:
                            step = inner.asend((yield item))
                        except GeneratorExit:
                            raise
                        except BaseException as error:  # noqa: BLE001
                            step = inner.athrow(error)

        return asynchronous_steps

    if inspect.iscoroutinefunction(called):

        @functools.wraps(function)
        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            with window():
                return await function(*args, **kwargs)

        return coroutine

    if inspect.isgeneratorfunction(called):

        @functools.wraps(function)
        def steps(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            with window():
                return (yield from function(*args, **kwargs))

        return steps

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with window():
            return function(*args, **kwargs)

    return call
