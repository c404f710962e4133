# mypy: no-implicit-reexport
"""The address of a daemon, `wattled` or zeusd."""

from __future__ import annotations

import dataclasses
import os

__all__ = ["ZeusdAuthError", "ZeusdCapabilityError", "ZeusdConfig", "ZeusdConnectionError"]


class ZeusdConnectionError(Exception):
    """A daemon does not answer."""


class ZeusdAuthError(Exception):
    """A daemon refuses the token."""


class ZeusdCapabilityError(Exception):
    """A daemon does not provide what is asked for."""


@dataclasses.dataclass(frozen=True)
class ZeusdConfig:
    """Make it with `tcp`, `uds` or `from_env`.

    gpu_indices, cpu_indices: None: all; []: none.
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
        """The path of the socket, or host:port."""
        return self.socket_path or self.host_port or ""
