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
    if not callable(function):
        raise TypeError(f"wattle.measure decorates a function, not {type(function).__name__}")
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
    if not callable(function):
        raise TypeError(f"wattle.unit decorates a function, not {type(function).__name__}")
    return _wrapped(function, start)


def _wrapped(function: Any, window: Callable[[], contextlib.AbstractContextManager[Any]]) -> Any:
    """`function` in a window of its own for each call."""
    if inspect.isasyncgenfunction(function):

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

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            with window():
                return await function(*args, **kwargs)

        return coroutine

    if inspect.isgeneratorfunction(function):

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
