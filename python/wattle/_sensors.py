# mypy: no-implicit-reexport
"""The sensors that all windows of a process share. They are opened at the first use."""

from __future__ import annotations

from wattle._library import core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    _Gpus = str | Sequence[int | str] | None
    """None or "all", "none", "visible" (by CUDA_VISIBLE_DEVICES ...), or a list of numbers, UUIDs or names."""

__all__ = ["Choice", "default", "shared"]


class Choice(tuple):
    """What is measured, as a key: meters of equal choices share their sensors.

    No named tuple: the import of `collections` takes a millisecond, that of `typing` several.
    """

    __slots__ = ()

    @classmethod
    def of(
        cls,
        domains: Iterable[str] | str | None,
        gpus: _Gpus,
        strict: bool,
        aligned: bool,
        system: core.System | None,
    ) -> Choice:
        if isinstance(domains, str):
            domains = (domains,)
        if gpus is not None and not isinstance(gpus, str):
            gpus = tuple(gpus)
        names = None if domains is None else tuple(str(name) for name in domains)
        return cls((names, gpus, bool(strict), bool(aligned), system))

    @property
    def system(self) -> core.System | None:
        return self[4]

    def meter(self) -> core.Meter:
        """Opens the sensors."""
        domains, gpus, strict, aligned, system = self
        return core.Meter(domains=domains, gpus=gpus, strict=strict, aligned=aligned, system=system)


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
        meter = _meters.setdefault(choice, choice.meter())
    return meter


def default() -> core.Meter:
    """`shared` for all that is available."""
    global _default
    meter = _default
    if meter is None or core.generation() != _generation:
        _default = meter = shared(_ALL)
    return meter
