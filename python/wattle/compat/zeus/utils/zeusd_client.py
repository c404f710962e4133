# mypy: no-implicit-reexport
"""A client for single requests to a daemon. `wattle.stream.DaemonClient` needs no package."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from wattle._library import optional
from wattle.compat.zeus.device.exception import ZeusdError
from wattle.compat.zeus.utils.zeusd_config import (
    ZeusdAuthError,
    ZeusdCapabilityError,
    ZeusdConfig,
    ZeusdConnectionError,
)
from wattle.compat.zeus.utils.zeusd_replies import (
    CpuDramPower,
    CpuDramPowerLimits,
    CpuEnergyResult,
    CpuInfo,
    CpuPowerLimitConstraints,
    CpuPowerSnapshot,
    GpuInfo,
    GpuPowerSnapshot,
    HsmpPowerInfo,
    PowerLimitConstraint,
    RaplPowerInfo,
    ZonePowerLimits,
)

__all__ = ["ZeusdClient", "require_capabilities"]

_logger = logging.getLogger("wattle.zeus")


class ZeusdClient:
    """Asks a daemon. Needs the package httpx. config: None: that of the environment.

    Ids are those of `gpu_ids` and `cpu_ids`; None: all. Raises `ZeusdConnectionError` if the daemon
    does not answer, and `ZeusdError` for a request that it refuses. Not thread-safe.
    """

    def __init__(self, config: ZeusdConfig | None = None) -> None:
        config = config or ZeusdConfig.from_env()
        if config is None:
            raise ZeusdConnectionError(
                "No Zeusd connection is configured: set ZEUSD_SOCK_PATH or ZEUSD_HOST_PORT, or pass a ZeusdConfig"
            )
        self._config = config
        self._client = config.make_client()
        found = self._discover()
        try:
            self._gpus = [
                GpuInfo(one["id"], one["name"], one["pci_address"], one["cumulative_energy_available"])
                for one in found["gpus"]
            ]
            self._cpus = [CpuInfo(one["id"], one["dram_available"]) for one in found["cpus"]]
            self._enabled_api_groups = frozenset(found["enabled_api_groups"])
            self._auth_required = bool(found["auth_required"])
        except KeyError as error:
            raise ZeusdConnectionError(
                f"{config.endpoint} does not report {error} in /discover: it is too old. Upgrade zeusd"
            ) from error
        self._auth_error: str | None = None
        self._granted_scopes: frozenset[str] = frozenset()
        self._whoami_sub: str | None = None
        self._whoami_exp: int | None = None
        if self._auth_required:
            self._authenticate()

    def _discover(self) -> Any:
        reply = self._request("GET", "/discover")
        if reply.status_code != 200:
            raise ZeusdConnectionError(f"{self.endpoint} answers /discover with HTTP {reply.status_code}: {reply.text}")
        return reply.json()

    def _authenticate(self) -> None:
        """Sets the scopes, or the reason why there are none."""
        if not self._config.token:
            self._auth_error = (
                f"{self.endpoint} needs a token, and no token was provided: set ZEUSD_TOKEN, or pass token="
            )
        else:
            reply = self._request("GET", "/auth/whoami")
            if reply.status_code == 200:
                who = reply.json()
                self._granted_scopes = frozenset(who.get("scopes", ()))
                self._whoami_sub = who.get("sub")
                self._whoami_exp = who.get("exp")
                return
            what = "Token rejected" if reply.status_code == 401 else f"HTTP {reply.status_code}"
            self._auth_error = f"{what} by {self.endpoint} for /auth/whoami: {reply.text}"
        _logger.warning("%s", self._auth_error)

    @property
    def endpoint(self) -> str:
        """The path of the socket, or host:port."""
        return self._config.endpoint

    def url(self, path: str) -> str:
        """The URL of a path of the daemon."""
        return self._config.url(path)

    def make_client(self) -> Any:
        """A new `httpx.Client` for the same daemon."""
        return self._config.make_client()

    @property
    def gpus(self) -> list[GpuInfo]:
        return list(self._gpus)

    @property
    def gpu_ids(self) -> list[int]:
        return [gpu.id for gpu in self._gpus]

    @property
    def cpus(self) -> list[CpuInfo]:
        return list(self._cpus)

    @property
    def cpu_ids(self) -> list[int]:
        return [cpu.id for cpu in self._cpus]

    @property
    def dram_available(self) -> list[bool]:
        """For each of `cpu_ids`."""
        return [cpu.dram_available for cpu in self._cpus]

    @property
    def auth_required(self) -> bool:
        """Whether the daemon asks for a token."""
        return self._auth_required

    @property
    def auth_error(self) -> str | None:
        """Why the token is refused, or missing; None: it is accepted, or none is needed."""
        return self._auth_error

    @property
    def granted_scopes(self) -> frozenset[str]:
        """The scopes of the token; empty without one."""
        return self._granted_scopes

    @property
    def can_read_gpu(self) -> bool:
        return self._lack("gpu-read") is None

    @property
    def can_control_gpu(self) -> bool:
        return self._lack("gpu-control") is None

    @property
    def can_read_cpu(self) -> bool:
        return self._lack("cpu-read") is None

    @property
    def can_control_cpu(self) -> bool:
        return self._lack("cpu-control") is None

    def _lack(self, group: str) -> str | None:
        """Why requests of a group are refused; None: they are not."""
        if group not in self._enabled_api_groups:
            return f"the API group {group!r} is not enabled on this server"
        if self._auth_required and group not in self._granted_scopes:
            granted = ", ".join(sorted(self._granted_scopes)) or "none"
            return f"the token lacks required scope {group!r} (granted: {granted})"
        return None

    def _request(self, method: str, path: str, parameters: dict[str, str] | None = None) -> Any:
        try:
            return self._client.request(method, self.url(path), params=parameters)
        except optional("httpx").RequestError as error:
            raise ZeusdConnectionError(f"Cannot reach Zeusd at {self.endpoint}: {error}") from error

    def _reply(self, operation: str, method: str, path: str, parameters: dict[str, Any]) -> Any:
        given = {name: _text(value) for name, value in parameters.items() if value is not None}
        reply = self._request(method, path, given)
        if reply.status_code != 200:
            raise ZeusdError(f"cannot {operation}: {self.endpoint} answers HTTP {reply.status_code}: {reply.text}")
        return reply

    def _ask(self, operation: str, path: str, **parameters: Any) -> Any:
        return self._reply(operation, "GET", path, parameters).json()

    def _order(self, operation: str, path: str, **parameters: Any) -> None:
        self._reply(operation, "POST", path, parameters)

    def get_time(self) -> float:
        """Seconds since 1970-01-01 UTC, by the clock of the daemon."""
        return float(self._ask("get_time", "/time")["timestamp_ms"]) / 1e3

    def get_gpu_energy(self, gpu_ids: Sequence[int] | None = None) -> dict[int, int]:
        """mJ since the driver was loaded."""
        found = self._ask("get_gpu_energy", "/gpu/get_cumulative_energy", gpu_ids=gpu_ids)
        return {int(gpu): one["energy_mj"] for gpu, one in found.items()}

    def get_gpu_power(self, gpu_ids: Sequence[int] | None = None) -> GpuPowerSnapshot:
        found = self._ask("get_gpu_power", "/gpu/get_power", gpu_ids=gpu_ids)
        return GpuPowerSnapshot(found["timestamp_ms"], {int(gpu): mw for gpu, mw in found["power_mw"].items()})

    def get_power_limit(self, gpu_ids: Sequence[int] | None = None) -> dict[int, int]:
        """mW."""
        found = self._ask("get_power_limit", "/gpu/get_power_limit", gpu_ids=gpu_ids)
        return {int(gpu): one["power_limit_mw"] for gpu, one in found.items()}

    def get_power_limit_constraints(self, gpu_ids: Sequence[int] | None = None) -> dict[int, tuple[int, int]]:
        """The lowest and the highest limit, in mW."""
        found = self._ask("get_power_limit_constraints", "/gpu/get_power_limit_constraints", gpu_ids=gpu_ids)
        return {int(gpu): (one["min_power_limit_mw"], one["max_power_limit_mw"]) for gpu, one in found.items()}

    def get_persistence_mode(self, gpu_ids: Sequence[int] | None = None) -> dict[int, bool]:
        found = self._ask("get_persistence_mode", "/gpu/get_persistence_mode", gpu_ids=gpu_ids)
        return {int(gpu): one["enabled"] for gpu, one in found.items()}

    def set_power_limit(self, gpu_ids: Sequence[int], power_limit_mw: int, block: bool = True) -> None:
        self._order(
            "set_power_limit", "/gpu/set_power_limit", gpu_ids=gpu_ids, power_limit_mw=power_limit_mw, block=block
        )

    def set_persistence_mode(self, gpu_ids: Sequence[int], enabled: bool, block: bool = True) -> None:
        self._order("set_persistence_mode", "/gpu/set_persistence_mode", gpu_ids=gpu_ids, enabled=enabled, block=block)

    def set_gpu_locked_clocks(
        self, gpu_ids: Sequence[int], min_clock_mhz: int, max_clock_mhz: int, block: bool = True
    ) -> None:
        self._lock_clocks("set_gpu_locked_clocks", gpu_ids, min_clock_mhz, max_clock_mhz, block)

    def set_mem_locked_clocks(
        self, gpu_ids: Sequence[int], min_clock_mhz: int, max_clock_mhz: int, block: bool = True
    ) -> None:
        self._lock_clocks("set_mem_locked_clocks", gpu_ids, min_clock_mhz, max_clock_mhz, block)

    def _lock_clocks(self, what: str, gpu_ids: Sequence[int], low: int, high: int, block: bool) -> None:
        self._order(what, f"/gpu/{what}", gpu_ids=gpu_ids, min_clock_mhz=low, max_clock_mhz=high, block=block)

    def reset_gpu_locked_clocks(self, gpu_ids: Sequence[int], block: bool = True) -> None:
        self._order("reset_gpu_locked_clocks", "/gpu/reset_gpu_locked_clocks", gpu_ids=gpu_ids, block=block)

    def reset_mem_locked_clocks(self, gpu_ids: Sequence[int], block: bool = True) -> None:
        self._order("reset_mem_locked_clocks", "/gpu/reset_mem_locked_clocks", gpu_ids=gpu_ids, block=block)

    def reset_locked_clocks(self, gpu_ids: Sequence[int], block: bool = True) -> None:
        self._order("reset_locked_clocks", "/gpu/reset_locked_clocks", gpu_ids=gpu_ids, block=block)

    def get_cpu_energy(
        self, cpu_ids: Sequence[int] | None = None, cpu: bool = True, dram: bool = True
    ) -> dict[int, CpuEnergyResult]:
        found = self._ask("get_cpu_energy", "/cpu/get_cumulative_energy", cpu_ids=cpu_ids, cpu=cpu, dram=dram)
        return {
            int(index): CpuEnergyResult(one.get("cpu_energy_uj"), one.get("dram_energy_uj"))
            for index, one in found.items()
        }

    def get_cpu_power(self, cpu_ids: Sequence[int] | None = None) -> CpuPowerSnapshot:
        found = self._ask("get_cpu_power", "/cpu/get_power", cpu_ids=cpu_ids)
        powers = {int(index): CpuDramPower(one["cpu_mw"], one.get("dram_mw")) for index, one in found["power_mw"].items()}
        return CpuPowerSnapshot(found["timestamp_ms"], powers)

    def get_cpu_power_limit(self, cpu_ids: Sequence[int] | None = None) -> dict[int, CpuDramPowerLimits]:
        """Only of a zeusd: a wattled sets no limits of CPUs, and refuses."""
        found = self._ask("get_cpu_power_limit", "/cpu/get_power_limit", cpu_ids=cpu_ids)
        return {
            int(index): CpuDramPowerLimits(_zone(one["cpu"]), _zone(one["dram"]) if one["dram"] else None)
            for index, one in found.items()
        }

    def get_cpu_power_limit_constraints(
        self, cpu_ids: Sequence[int] | None = None
    ) -> dict[int, CpuPowerLimitConstraints]:
        """Only of a zeusd, as `get_cpu_power_limit`."""
        found = self._ask("get_cpu_power_limit_constraints", "/cpu/get_power_limit_constraints", cpu_ids=cpu_ids)
        return {
            int(index): CpuPowerLimitConstraints(
                RaplPowerInfo(**one["rapl"]) if one["rapl"] else None,
                HsmpPowerInfo(**one["hsmp"]) if one["hsmp"] else None,
            )
            for index, one in found.items()
        }

    def set_cpu_power_limit(self, cpu_ids: Sequence[int], constraint: str, power_limit_mw: int) -> None:
        """Only of a zeusd, as `get_cpu_power_limit`."""
        self._order(
            "set_cpu_power_limit",
            "/cpu/set_power_limit",
            cpu_ids=cpu_ids,
            constraint=constraint,
            power_limit_mw=power_limit_mw,
        )

    def set_cpu_time_window(self, cpu_ids: Sequence[int], constraint: str, time_window_us: int) -> None:
        """Only of a zeusd, as `get_cpu_power_limit`."""
        self._order(
            "set_cpu_time_window",
            "/cpu/set_time_window",
            cpu_ids=cpu_ids,
            constraint=constraint,
            time_window_us=time_window_us,
        )

    def reset_cpu_power_limit(self, cpu_ids: Sequence[int]) -> None:
        """Only of a zeusd, as `get_cpu_power_limit`."""
        self._order("reset_cpu_power_limit", "/cpu/reset_power_limit", cpu_ids=cpu_ids)


def _text(value: Any) -> str:
    """A parameter as daemons read it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return str(value)
    return ",".join(str(one) for one in value)


def _zone(found: dict[str, Any]) -> ZonePowerLimits:
    return ZonePowerLimits(
        found["enabled"],
        [
            PowerLimitConstraint(one["name"], one["power_limit_mw"], one["max_power_mw"], one["time_window_us"])
            for one in found["constraints"]
        ],
    )


def require_capabilities(
    client: ZeusdClient,
    *,
    read_gpu: bool = False,
    control_gpu: bool = False,
    read_cpu: bool = False,
    control_cpu: bool = False,
    gpu_ids: Sequence[int] | None = None,
    cpu_ids: Sequence[int] | None = None,
) -> None:
    """Raises `ZeusdAuthError` or `ZeusdCapabilityError` if the daemon would refuse such requests."""
    if client.auth_error is not None:
        raise ZeusdAuthError(client.auth_error)
    groups = {"gpu-read": read_gpu, "gpu-control": control_gpu, "cpu-read": read_cpu, "cpu-control": control_cpu}
    lacks = [client._lack(group) for group, is_needed in groups.items() if is_needed]
    for kind, wanted, available in (("GPU", gpu_ids, client.gpu_ids), ("CPU", cpu_ids, client.cpu_ids)):
        absent = sorted(set(wanted or ()) - set(available))
        if absent:
            lacks.append(f"{kind} indices {absent} are not available: {sorted(available)} are")
    reasons = [lack for lack in lacks if lack is not None]
    if reasons:
        raise ZeusdCapabilityError(f"{client.endpoint}: {'; '.join(reasons)}")
