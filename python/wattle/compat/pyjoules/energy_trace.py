# mypy: no-implicit-reexport
"""Samples, and the trace that holds them: plain objects of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self


class EnergySample:
    """energy: micro-joules by the name of a domain; None: unknown."""

    def __init__(
        self, timestamp: Any, tag: str, duration: float, energy: dict[str, Any]
    ) -> None:
        self.timestamp = timestamp
        self.tag = tag
        self.duration = duration
        self.energy = energy

    def __repr__(self) -> str:
        return (
            f"EnergySample(timestamp={self.timestamp!r}, tag={self.tag!r}, "
            f"duration={self.duration!r}, energy={self.energy!r})"
        )


class EnergyTrace:
    """Samples in their order; an index is a number or a tag, whose first sample it gives."""

    def __init__(self, samples: Iterable[EnergySample]) -> None:
        self._samples = list(samples)

    def __iter__(self) -> Iterator[EnergySample]:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, key: Any) -> EnergySample:
        if isinstance(key, int):
            if not -len(self) <= key < len(self):
                raise IndexError(f"the trace has {len(self)} samples, and none of number {key}")
            return self._samples[key]
        for sample in self._samples:
            if sample.tag == key:
                return sample
        raise KeyError(f"no sample has the tag {key}")

    def __contains__(self, tag: object) -> bool:
        return any(sample.tag == tag for sample in self._samples)

    def __add__(self, other: EnergyTrace) -> EnergyTrace:
        return EnergyTrace([*self, *other])

    def __iadd__(self, other: EnergyTrace) -> Self:
        self._samples += list(other)
        return self

    def append(self, sample: EnergySample) -> None:
        self._samples.append(sample)

    def clean_data(self, guards: Sequence[Callable[[EnergySample], Any]] = ()) -> None:
        """Removes samples with an energy that is negative or unknown, and those a guard rejects."""
        self._samples = [
            sample
            for sample in self._samples
            if _is_clean(sample) and all(guard(sample) for guard in guards)
        ]

    def remove_idle(self, idle: Sequence[dict[str, Any]]) -> None:
        """Takes the idle energies off. Raises ValueError, and changes nothing, if they do not fit."""
        if len(idle) != len(self):
            raise ValueError(f"the trace has {len(self)} samples, the idle list {len(idle)}")
        for sample, energies in zip(self, idle):
            for name in sample.energy:
                if name not in energies:
                    raise ValueError(f"the idle list lacks the domain {name}")
        for sample, energies in zip(self, idle):
            for name, energy in sample.energy.items():
                sample.energy[name] = difference(energy, energies[name])


def _is_clean(sample: EnergySample) -> bool:
    return all(energy is not None and energy >= 0 for energy in sample.energy.values())


def difference(energy: Any, less: Any) -> Any:
    """None where one of them is unknown."""
    return None if energy is None or less is None else energy - less
