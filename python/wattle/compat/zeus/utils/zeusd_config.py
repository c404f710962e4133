# mypy: no-implicit-reexport
"""The address of a daemon, `wattled` or zeusd."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from wattle._library import optional
from wattle.compat.zeus.exception import ZeusBaseError

__all__ = ["ZeusdAuthError", "ZeusdCapabilityError", "ZeusdConfig", "ZeusdConnectionError"]


class ZeusdConnectionError(ZeusBaseError):
    """A daemon does not answer."""


class ZeusdAuthError(ZeusBaseError):
    """A daemon refuses the token."""


class ZeusdCapabilityError(ZeusBaseError):
    """A daemon does not provide what is asked for."""


@dataclasses.dataclass(frozen=True)
class ZeusdConfig:
    """Make it with `tcp`, `uds` or `from_env`.

    gpu_indices, cpu_indices: what a stream follows; None: all; []: none.
    """

    host_port: str | None = None
    socket_path: str | None = None
    token: str | None = None
    gpu_indices: list[int] | None = None
    cpu_indices: list[int] | None = None

    @classmethod
    def tcp(
        cls,
        host: str,
        port: int,
        *,
        token: str | None = None,
        gpu_indices: list[int] | None = None,
        cpu_indices: list[int] | None = None,
    ) -> ZeusdConfig:
        return cls(
            host_port=f"{host}:{port}", token=token, gpu_indices=gpu_indices, cpu_indices=cpu_indices
        )

    @classmethod
    def uds(
        cls,
        socket_path: str,
        *,
        token: str | None = None,
        gpu_indices: list[int] | None = None,
        cpu_indices: list[int] | None = None,
    ) -> ZeusdConfig:
        return cls(
            socket_path=socket_path, token=token, gpu_indices=gpu_indices, cpu_indices=cpu_indices
        )

    @classmethod
    def from_env(cls) -> ZeusdConfig | None:
        """ZEUSD_SOCK_PATH, else ZEUSD_HOST_PORT; with ZEUSD_TOKEN. None if neither is set."""
        token = os.environ.get("ZEUSD_TOKEN") or None
        if path := os.environ.get("ZEUSD_SOCK_PATH"):
            return cls(socket_path=path, token=token)
        if host_port := os.environ.get("ZEUSD_HOST_PORT"):
            return cls(host_port=host_port, token=token)
        return None

    @property
    def endpoint(self) -> str:
        """The path of the socket, or host:port. Raises ValueError without one."""
        if not (self.socket_path or self.host_port):
            raise ValueError("a ZeusdConfig needs an address: make it with tcp, uds or from_env")
        return self.socket_path or self.host_port or ""

    def url(self, path: str) -> str:
        """The URL of a path of the daemon."""
        return f"http://{'localhost' if self.socket_path else self.host_port}{path}"

    def make_client(self) -> Any:
        """An `httpx.Client` for the daemon, with the token. Needs the package httpx."""
        httpx = optional("httpx")
        transport = httpx.HTTPTransport(uds=self.socket_path) if self.socket_path else None
        return httpx.Client(transport=transport, headers=self._auth_headers())

    def _auth_headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}
