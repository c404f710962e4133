# mypy: no-implicit-reexport
"""The base of all devices, and what those of Wattle's library share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from wattle._domain import Domain as DomainName
from wattle._domain import domains as available_names
from wattle._errors import Error
from wattle._library import core
from wattle.compat.pyjoules.device.domain import Domain, NumberedDomain
from wattle.compat.pyjoules.exception import (
    NoSuchDeviceError,
    NoSuchDomainError,
    NotConfiguredDeviceException,
)


class Device:
    """Derive from it to measure a device of your own: `available_domains` and `get_energy`.

    `get_energy` gives energies that grow, in micro-joules, in the order of `configure`.
    """

    def __init__(self) -> None:
        self._configured_domains: list[Domain] | None = None
        type(self).available_domains()

    @staticmethod
    def available_domains() -> Sequence[Domain]:
        raise NotImplementedError

    def configure(self, domains: Sequence[Domain] | None = None) -> None:
        """Chooses domains; None: all. Raises `NoSuchDomainError`."""
        available = type(self).available_domains()
        if domains is not None:
            known = [*available, *self._named_only()]
            for domain in domains:
                if domain not in known:
                    raise NoSuchDomainError(domain)
        self._configured_domains = list(available if domains is None else domains)

    def _named_only(self) -> Sequence[Domain]:
        """Domains that are measured only if they are named."""
        return ()

    def get_configured_domains(self) -> list[Domain]:
        if self._configured_domains is None:
            raise NotConfiguredDeviceException("configure was not called")
        return self._configured_domains

    def get_energy(self) -> Sequence[float | None]:
        raise NotImplementedError


class Counted(float):
    """Micro-joules that a counter shows, without wraps, and the seconds that lack in it."""

    unknown_s: float

    @classmethod
    def of(cls, start_uj: float, energy_j: float, unknown_s: float) -> Counted:
        # A counter's tick is 1 uJ or more: what is below is the arithmetic's.
        value = cls(start_uj + round(energy_j * 1e6, 3))
        value.unknown_s = unknown_s
        return value


class LibraryDevice(Device):
    """A device that the library reads: wraps are unwrapped, resets are unknown."""

    _domain_classes: ClassVar[dict[str, type[NumberedDomain]]] = {}
    _absent = ""

    @classmethod
    def _available(cls, kinds: Sequence[str]) -> list[Domain]:
        names: list[DomainName] = list(available_names())
        if not any(name.kind in cls._domain_classes for name in names):
            raise NoSuchDeviceError(cls._absent)
        return [
            cls._domain_classes[kind](name.number, name.die)
            for kind in kinds
            for name in names
            if name.kind == kind
        ]

    def configure(self, domains: Sequence[Domain] | None = None) -> None:
        super().configure(domains)
        self._names = list(dict.fromkeys(map(_library_name, self.get_configured_domains())))
        self._starts_uj = self._counters_uj()
        try:
            self._reader = core.Reader(domains=self._names) if self._names else None
        except Error as error:
            # A domain that is there but cannot be read: the message has the remedy.
            raise NoSuchDeviceError(str(error)) from error

    def _counters_uj(self) -> dict[str, float]:
        """What counters show now, by domain; none for a counter that shows no value of its own."""
        return {}

    def get_energy(self) -> list[float | None]:
        """Micro-joules by domain; None: unknown.

        What the counter showed at `configure`, and the energy since: it never wraps.
        """
        names = map(_library_name, self.get_configured_domains())
        energies = self._reader.read() if self._reader else {}
        return [self._value(self._starts_uj.get(name, 0.0), *energies[name]) for name in names]

    @staticmethod
    def _value(start_uj: float, energy_j: float | None, unknown_s: float) -> float | None:
        return None if energy_j is None else Counted.of(start_uj, energy_j, unknown_s)


def _library_name(domain: Domain) -> str:
    return domain.library_name() if isinstance(domain, NumberedDomain) else str(domain)
