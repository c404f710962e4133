# mypy: no-implicit-reexport
"""Devices by their domains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wattle.compat.pyjoules.device.device import Device
from wattle.compat.pyjoules.device.domain import Domain
from wattle.compat.pyjoules.exception import NoSuchDeviceError


class DeviceFactory:
    @staticmethod
    def create_devices(domains: Sequence[Domain] | None = None) -> list[Device]:
        """One device of each type, with its domains. None: all that this machine has.

        Raises `NoSuchDeviceError` and `NoSuchDomainError` for domains that are named.
        """
        if domains is None:
            return DeviceFactory._create_all()
        chosen: dict[type[Any], list[Domain]] = {}
        for domain in domains:
            chosen.setdefault(domain.get_device_type(), []).append(domain)
        return [DeviceFactory._create(kind, chosen[kind]) for kind in chosen]

    @staticmethod
    def _create_all() -> list[Device]:
        from wattle.compat.pyjoules.device.nvidia_device import NvidiaGPUDevice
        from wattle.compat.pyjoules.device.rapl_device import RaplDevice

        devices: list[Device] = []
        for kind in (RaplDevice, NvidiaGPUDevice):
            try:
                devices.append(DeviceFactory._create(kind, None))
            except NoSuchDeviceError:
                continue
        return devices

    @staticmethod
    def _create(kind: type[Any], domains: Sequence[Domain] | None) -> Device:
        device = kind()
        device.configure(domains)
        return device
