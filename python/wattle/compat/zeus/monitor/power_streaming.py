# mypy: no-implicit-reexport
"""Power of many machines, as their daemons (`wattled` or zeusd) report it.

Needs `wattle.stream`, which needs libcurl.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import AsyncIterator, Iterator, Sequence

from wattle import stream as daemons
from wattle._errors import AuthError, CapabilityError, ConnectionError, NoSuchDevice
from wattle.compat.zeus.utils.zeusd_config import (
    ZeusdAuthError,
    ZeusdCapabilityError,
    ZeusdConfig,
    ZeusdConnectionError,
)

__all__ = ["CpuPowerReading", "PowerReadings", "PowerStreamingClient"]


@dataclasses.dataclass
class CpuPowerReading:
    """Watts of a CPU; dram_w: None where the daemon reports none."""

    cpu_w: float = 0.0
    dram_w: float | None = None


@dataclasses.dataclass
class PowerReadings:
    """The newest power of each device of a server, by index."""

    timestamp_s: float = 0.0
    """Of the latest reading, in seconds since 1970-01-01 UTC, by the clock of this machine."""
    gpu_power_w: dict[int, float] = dataclasses.field(default_factory=dict)
    cpu_power_w: dict[int, CpuPowerReading] = dataclasses.field(default_factory=dict)


class PowerStreamingClient:
    """Follows the power of servers until `stop`: `get_power()`, `for` and `async for`.

    Results are by endpoint; a server without a first event has no entry, and a device whose power is
    unknown has none either. reconnect_delay_s: the first pause, in seconds; later ones grow to 5 s.
    Raises ValueError (an endpoint twice, a device that a server lacks), `ZeusdConnectionError`,
    `ZeusdAuthError`, `ZeusdCapabilityError`. Thread-safe.
    """

    def __init__(self, servers: Sequence[ZeusdConfig], reconnect_delay_s: float = 1.0) -> None:
        self._stopped = threading.Event()
        self._stream: daemons.PowerStream | None = None
        self._names: dict[str, str] = {}
        endpoints = [config.endpoint for config in servers]
        twice = sorted({name for name in endpoints if endpoints.count(name) > 1})
        if twice:
            raise ValueError(f"each server can be followed once: {', '.join(twice)} is there twice")
        if not servers:
            return
        try:
            self._stream = daemons.PowerStream(
                [_server(config) for config in servers],
                reconnect_delay_s=reconnect_delay_s,
                longest_reconnect_delay_s=max(5.0, reconnect_delay_s),
            )
        except ConnectionError as error:
            raise ZeusdConnectionError(str(error)) from error
        except AuthError as error:
            raise ZeusdAuthError(str(error)) from error
        except CapabilityError as error:
            raise ZeusdCapabilityError(str(error)) from error
        except NoSuchDevice as error:
            raise ValueError(str(error)) from error
        for config, server in zip(servers, self._stream.servers):
            self._names[server.endpoint] = config.endpoint

    def get_power(self) -> dict[str, PowerReadings]:
        """A copy of what is known now, by endpoint."""
        return {} if self._stream is None else self._view(self._stream.snapshot())

    def __iter__(self) -> Iterator[dict[str, PowerReadings]]:
        """One view after each event of a server; ends with `stop`."""
        if self._stream is None:
            self._stopped.wait()
            return
        for readings in self._stream:
            if view := self._view(readings):
                yield view

    async def __aiter__(self) -> AsyncIterator[dict[str, PowerReadings]]:
        if self._stream is None:
            await self._until_stopped()
            return
        async with contextlib.aclosing(self._stream.__aiter__()) as steps:  # type: ignore[type-var]
            async for readings in steps:
                if view := self._view(readings):
                    yield view

    async def _until_stopped(self) -> None:
        import asyncio

        while not self._stopped.is_set():
            await asyncio.sleep(0.05)

    def stop(self) -> None:
        """Ends all iterations, within 100 ms. What was read stays."""
        self._stopped.set()
        if self._stream is not None:
            self._stream.stop()

    def _view(self, readings: dict[str, daemons.PowerReadings]) -> dict[str, PowerReadings]:
        return {
            self._names.get(endpoint, endpoint): PowerReadings(
                one.timestamp,
                dict(one.gpu_power_w),
                {
                    index: CpuPowerReading(power.cpu_w, power.dram_w)
                    for index, power in one.cpu_power.items()
                    if power.cpu_w is not None
                },
            )
            for endpoint, one in readings.items()
            if one.timestamp
        }


def _server(config: ZeusdConfig) -> daemons.Server:
    if config.socket_path:
        return daemons.Server.unix_socket(
            config.socket_path,
            token=config.token,
            gpu_indices=config.gpu_indices,
            cpu_indices=config.cpu_indices,
        )
    host, _, port = (config.host_port or "").rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"{config.host_port!r} is no address of a daemon: write host:port")
    return daemons.Server.tcp(
        host.strip("[]"),
        int(port),
        token=config.token,
        gpu_indices=config.gpu_indices,
        cpu_indices=config.cpu_indices,
    )
