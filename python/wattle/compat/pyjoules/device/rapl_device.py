# mypy: no-implicit-reexport
"""CPU packages, DRAM, cores, integrated GPUs."""

from __future__ import annotations

from typing import ClassVar

from wattle.compat.pyjoules.device.device import LibraryDevice
from wattle.compat.pyjoules.device.domain import Domain, NumberedDomain


class RaplDomain(NumberedDomain):
    """A domain of a socket; `die` where a socket has several."""

    def __init__(self, socket: int, die: int | None = None) -> None:
        super().__init__(socket, die)
        self.socket = socket

    @classmethod
    def get_domain_name(cls) -> str:
        """Without the socket."""
        return cls._kind

    def get_device_type(self) -> type[RaplDevice]:
        return RaplDevice


class RaplPackageDomain(RaplDomain):
    _kind = "package"


class RaplDramDomain(RaplDomain):
    _kind = "dram"


class RaplCoreDomain(RaplDomain):
    _kind = "core"


class RaplUncoreDomain(RaplDomain):
    _kind = "uncore"


class RaplPsysDomain(RaplDomain):
    """The platform, as its vendor wired it. It overlaps the others, and is measured only if named."""

    _kind = "psys"

    def library_name(self) -> str:
        return "psys"


class RaplDevice(LibraryDevice):
    """The energy counters of the CPUs, by whatever interface Wattle finds."""

    _domain_classes: ClassVar = {
        "package": RaplPackageDomain,
        "dram": RaplDramDomain,
        "core": RaplCoreDomain,
        "uncore": RaplUncoreDomain,
        "psys": RaplPsysDomain,
    }
    _absent = "no CPU energy counter can be read; wattle doctor has the reason and the remedy"

    def _named_only(self) -> list[Domain]:
        return RaplDevice.available_psys_domains()

    @staticmethod
    def available_domains() -> list[Domain]:
        return RaplDevice._available(["package", "dram", "core", "uncore"])

    @staticmethod
    def available_package_domains() -> list[Domain]:
        return RaplDevice._available(["package"])

    @staticmethod
    def available_dram_domains() -> list[Domain]:
        return RaplDevice._available(["dram"])

    @staticmethod
    def available_core_domains() -> list[Domain]:
        return RaplDevice._available(["core"])

    @staticmethod
    def available_uncore_domains() -> list[Domain]:
        return RaplDevice._available(["uncore"])

    @staticmethod
    def available_psys_domains() -> list[Domain]:
        return RaplDevice._available(["psys"])
