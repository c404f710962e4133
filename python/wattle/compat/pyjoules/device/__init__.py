# mypy: no-implicit-reexport
"""Devices and their domains."""

from wattle.compat.pyjoules.device.device import Device
from wattle.compat.pyjoules.device.device_factory import DeviceFactory
from wattle.compat.pyjoules.device.domain import Domain
from wattle.compat.pyjoules.exception import (
    NoSuchDeviceError,
    NoSuchDomainError,
    NotConfiguredDeviceException,
)

__all__ = [
    "Device",
    "DeviceFactory",
    "Domain",
    "NoSuchDeviceError",
    "NoSuchDomainError",
    "NotConfiguredDeviceException",
]
