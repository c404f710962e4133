# mypy: no-implicit-reexport
"""The names of what can be measured."""

from __future__ import annotations

from wattle._library import core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

__all__ = ["Domain", "domains"]


class Domain(str):
    """A measurable part of a device: "package_0", "dram_0", "nvidia_gpu_0".

    A text whose parts are known: wherever Wattle takes or gives the name of a domain, it is one.
    Raises `InvalidArgument` for text that is no name of a domain. Thread-safe.
    """

    __slots__ = ("category", "counts_in_total", "die", "kind", "number")

    kind: str
    """ "package", "dram", "core", "uncore", "nvidia_gpu", "amd_gpu", "intel_gpu", "psys", "custom"."""
    number: int
    """The number of the socket or device; 0 for a custom domain."""
    die: int | None
    """None if the socket has one die."""
    category: str
    """ "cpu", "gpu", "platform" or "other"."""
    counts_in_total: bool
    """True for packages, DRAM and GPUs: a total is their sum."""

    def __new__(cls, name: str) -> Self:
        parsed = core.parse_domain(name)
        self = super().__new__(cls, parsed[0])
        _, self.kind, self.number, self.die, self.category, self.counts_in_total = parsed
        return self

    def __repr__(self) -> str:
        return f"Domain({str(self)!r})"

    def __reduce__(self) -> tuple[type[Domain], tuple[str]]:
        return Domain, (str(self),)

    @classmethod
    def package(cls, socket: int) -> Domain:
        """A CPU socket: cores, caches, memory controller."""
        return cls(f"package_{socket}")

    @classmethod
    def dram(cls, socket: int) -> Domain:
        """The memory of a socket."""
        return cls(f"dram_{socket}")

    @classmethod
    def core(cls, socket: int) -> Domain:
        """The cores of a socket; a part of its package."""
        return cls(f"core_{socket}")

    @classmethod
    def uncore(cls, socket: int) -> Domain:
        """In practice the integrated GPU; a part of its package."""
        return cls(f"uncore_{socket}")

    @classmethod
    def nvidia_gpu(cls, index: int) -> Domain:
        """An NVIDIA GPU, by the number of its driver."""
        return cls(f"nvidia_gpu_{index}")

    @classmethod
    def amd_gpu(cls, index: int) -> Domain:
        """An AMD GPU."""
        return cls(f"amd_gpu_{index}")

    @classmethod
    def intel_gpu(cls, index: int) -> Domain:
        """An Intel GPU that has memory of its own."""
        return cls(f"intel_gpu_{index}")

    @classmethod
    def psys(cls) -> Domain:
        """The platform, as its vendor wired it; it overlaps everything else."""
        return cls("psys")

    @classmethod
    def custom(cls, source: str, part: str) -> Domain:
        """Anything else: `custom("hwmon", "psu_12v")` is "hwmon_psu_12v"."""
        return cls(core.custom_domain(source, part))


def domains(system: core.System | None = None) -> list[Domain]:
    """Every domain whose energy this process can measure now.

    Empty if nothing can be read: `wattle.doctor()` has the reasons. GPU drivers have two seconds
    to answer. Thread-safe.
    """
    return [Domain(name) for name in core.available_domains(system)]
