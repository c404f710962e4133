# mypy: no-implicit-reexport
"""Each HTTP request of an ASGI application as a unit of work.

    app = wattle.asgi.UnitMiddleware(app)

Imports nothing of a framework.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from wattle._units import Unit, Units, unit

__all__ = ["UnitMiddleware"]

_Message = MutableMapping[str, Any]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Message, Callable[[], Awaitable[_Message]], _Send], Awaitable[None]]


class UnitMiddleware:
    """Counts each HTTP request of `app` as a unit of work.

    units: a `Units`; None: that of `wattle.unit`. tag: of all requests. server_timing: answers have a
    header `Server-Timing: energy;dur=JOULES`, with `energy_uncertainty` (joules, 95 %) and, if there are
    some, `energy_flags` beside it. The whole answer then waits for the readings that cover
    the request, up to a second: for tests, not for answers that are streamed. The handler finds its
    unit in `scope["wattle.unit"]`, to count tokens. The unit keeps the request's `traceparent`.
    """

    def __init__(
        self,
        app: _App,
        *,
        units: Units | None = None,
        tag: str = "http",
        server_timing: bool = False,
    ) -> None:
        self._app = app
        self._units = units
        self._tag = tag
        self._server_timing = server_timing

    async def __call__(
        self, scope: _Message, receive: Callable[[], Awaitable[_Message]], send: _Send
    ) -> None:
        if scope.get("type") != "http":
            await self._app(scope, receive, send)
            return
        trace = _traceparent(scope)
        if self._units is None:
            own = unit(self._tag, traceparent=trace)
        else:
            own = self._units.unit(self._tag, traceparent=trace)
        scope["wattle.unit"] = own
        if not self._server_timing:
            async with own:
                await self._app(scope, receive, send)
            return
        kept: list[_Message] = []

        async def keep(message: _Message) -> None:
            kept.append(message)

        async with own:
            await self._app(scope, receive, keep)
        header = await _server_timing(own)
        for message in kept:
            if header is not None and message.get("type") == "http.response.start":
                message["headers"] = [*message.get("headers", []), header]
            await send(message)


def _traceparent(scope: _Message) -> str | None:
    """The header of that name; None: there is none, or several, which makes it invalid."""
    found = [value for name, value in scope.get("headers", ()) if name.lower() == b"traceparent"]
    return found[0].decode("latin-1") if len(found) == 1 else None


async def _server_timing(own: Unit) -> tuple[bytes, bytes] | None:
    """The header; None if the energy is not known."""
    for _ in range(100):
        energy = own.energy
        if energy is not None:
            if energy.energy_j is None or energy.unknown_s > 0:
                return None
            text = f'energy;dur={energy.energy_j:.6g};desc="J"'
            if energy.uncertainty_j is not None:
                text += f', energy_uncertainty;dur={energy.uncertainty_j:.2g};desc="J"'
            if energy.flags:
                text += f', energy_flags;desc="{" ".join(energy.flags)}"'
            return b"server-timing", text.encode()
        await asyncio.sleep(0.01)
    return None
