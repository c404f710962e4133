# mypy: no-implicit-reexport
"""Daemons of this and of other machines: their power as a stream, and single questions.

Needs libcurl, unlike the rest of the package: it is loaded with this module.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from types import TracebackType

from wattle._errors import AuthError, CapabilityError, ConnectionError
from wattle._library import adopt

try:
    from wattle import _stream as library  # pyright: ignore[reportMissingModuleSource]
except ImportError as _error:
    raise ImportError(f"wattle.stream is not part of this installation: {_error}") from _error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

adopt(library)

ConnectionState = library.ConnectionState
CpuPowerReading = library.CpuPowerReading
DaemonClient = library.DaemonClient
PowerReadings = library.PowerReadings
PowerUpdate = library.PowerUpdate
Server = library.Server
ServerEnergy = library.ServerEnergy

__all__ = [
    "AuthError",
    "CapabilityError",
    "ConnectionError",
    "ConnectionState",
    "CpuPowerReading",
    "DaemonClient",
    "PowerReadings",
    "PowerStream",
    "PowerUpdate",
    "Server",
    "ServerEnergy",
]


class PowerStream(library.PowerStreamBase):
    """The power of the devices of many servers, as their daemons report it.

        with PowerStream([Server.tcp("node1")]) as stream:
            for readings in stream:          # also `async for`
                readings["node1:4938"].gpu_power_w

    `snapshot()` is what is known now, by endpoint. Each iteration starts with that, and each
    step is one event of a daemon; it ends with `stop`, or with the block. on_update: called with
    each `PowerUpdate`, in a thread of the library. history_s: how far back `energy(start, end)` can
    be asked. Raises `ConnectionError`, `AuthError`, `NoSuchDevice`, `CapabilityError`,
    `InvalidArgument`. Thread-safe. In the child of a `fork` it does nothing.
    """

    def __iter__(self) -> Iterator[dict[str, library.PowerReadings]]:
        reader = self.reader()
        if (known := self._known()) is not None:
            yield known
        while (readings := reader.step()) is not None:
            yield readings

    async def __aiter__(self) -> AsyncIterator[dict[str, library.PowerReadings]]:
        import asyncio

        reader = self.reader()
        loop = asyncio.get_running_loop()
        came = asyncio.Event()
        descriptor = reader.fileno()
        loop.add_reader(descriptor, came.set)
        try:
            if (known := self._known()) is not None:
                yield known
            while True:
                reader.clear()
                came.clear()
                while (readings := reader.step(0.0)) is not None:
                    yield readings
                if reader.has_ended:
                    return
                await came.wait()
        finally:
            loop.remove_reader(descriptor)

    def _known(self) -> dict[str, library.PowerReadings] | None:
        """The first view of an iteration; None before anything came, and after `stop`."""
        readings = self.snapshot()
        is_live = any(one.timestamp and one.gpu.status != "gone" for one in readings.values())
        return readings if is_live else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
