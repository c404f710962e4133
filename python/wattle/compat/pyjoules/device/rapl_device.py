# mypy: no-implicit-reexport
"""CPU packages, DRAM, cores, integrated GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from wattle._library import core
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

    def _counters_uj(self) -> dict[str, float]:
        found: dict[str, float] = {}
        folder = Path(core.System().sysfs, "class", "powercap")
        # Links to all zones; or zones within zones, as copies of sysfs have them.
        for zone in [*folder.glob("intel-rapl:*"), *folder.glob("intel-rapl/intel-rapl:*/")]:
            name = _text(zone / "name")
            if name is None or not name.startswith(("package-", "psys")):
                continue
            domain = name.replace("-", "_")
            for inner in [zone, *zone.glob(f"{zone.name}:*"), *folder.glob(f"{zone.name}:*")]:
                kind = domain if inner == zone else f"{_text(inner / 'name')}_{domain.partition('_')[2]}"
                counter = _text(inner / "energy_uj")
                if counter is not None and counter.isdecimal():
                    found.setdefault(kind, float(counter))
        return found

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


def _text(path: Path) -> str | None:
    """The text of a file of the kernel; None if it cannot be read."""
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None
