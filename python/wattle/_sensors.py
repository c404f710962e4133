# mypy: no-implicit-reexport
"""The sensors that all windows of a process share. They are opened at the first use."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Sequence

from wattle._library import core

__all__ = ["Choice", "Gpus", "default", "shared"]

Gpus = str | Sequence[int | str] | None
"""None or "all", "none", "visible" (by CUDA_VISIBLE_DEVICES ...), or a list of numbers, UUIDs or names."""


_Choice = namedtuple("_Choice", "domains gpus strict aligned system")


class Choice(_Choice):
    """What is measured, as a key: meters of equal choices share their sensors.

    Not of `typing`, whose import takes longer than that of all of Wattle.
    """

    __slots__ = ()

    @classmethod
    def of(
        cls,
        domains: Iterable[str] | str | None,
        gpus: Gpus,
        strict: bool,
        aligned: bool,
        system: core.System | None,
    ) -> Choice:
        if isinstance(domains, str):
            domains = (domains,)
        if gpus is not None and not isinstance(gpus, str):
            gpus = tuple(gpus)
        names = None if domains is None else tuple(str(name) for name in domains)
        return cls(names, gpus, bool(strict), bool(aligned), system)


# The environment and the process for which sensors are open: they change with a fork.
_generation = -1
_meters: dict[Choice, core.Meter] = {}
_default: core.Meter | None = None
_ALL = Choice.of(None, None, False, False, None)


def shared(choice: Choice) -> core.Meter:
    """The meter of a choice, which is never started itself. Thread-safe."""
    global _generation, _default
    generation = core.generation()
    if generation != _generation:
        # Those who still use the old ones keep them.
        _meters.clear()
        _default = None
        _generation = generation
    meter = _meters.get(choice)
    if meter is None:
        meter = core.Meter(
            domains=choice.domains,
            gpus=choice.gpus,
            strict=choice.strict,
            aligned=choice.aligned,
            system=choice.system,
        )
        meter = _meters.setdefault(choice, meter)
    return meter


def default() -> core.Meter:
    """`shared` for all that is available."""
    global _default
    meter = _default
    if meter is None or core.generation() != _generation:
        _default = meter = shared(_ALL)
    return meter
