# mypy: no-implicit-reexport
"""Traces of tagged samples, and handlers that take them."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TextIO, overload

from wattle._errors import NoSampleProcessed, NoSuchSample
from wattle._library import core, optional
from wattle._text import fitting

if TYPE_CHECKING:
    from typing import Self

__all__ = ["CsvHandler", "EnergyHandler", "EnergyTrace", "PandasHandler", "PrintHandler"]


class EnergyTrace(core.EnergyTraceBase):
    """Samples in their order: a sequence by number (slices too), and a mapping by tag.

    `trace[0]`, `trace[-1]`, `trace[1:3]`, `trace["train"]` (the first of that tag); iteration gives
    the samples. A number or tag that it lacks raises `NoSuchSample`, an IndexError and a KeyError.
    Not thread-safe while it is changed.
    """

    @overload
    def __getitem__(self, key: int | str) -> core.EnergySample: ...
    @overload
    def __getitem__(self, key: slice) -> EnergyTrace: ...
    def __getitem__(self, key: int | str | slice) -> core.EnergySample | EnergyTrace:
        if isinstance(key, str):
            return self._tagged(key)
        if isinstance(key, slice):
            return _trace(self._slice(key))
        number = operator.index(key)
        if not -len(self) <= number < len(self):
            raise NoSuchSample(f"the trace has no sample {number}: it has {len(self)}")
        return self._sample(number)

    def __contains__(self, item: object) -> bool:
        if isinstance(item, str):
            return self._has_tag(item)
        return isinstance(item, core.EnergySample) and self._has_sample(item)

    def __iter__(self) -> Iterator[core.EnergySample]:
        for index in range(len(self)):
            yield self._sample(index)

    def __bool__(self) -> bool:
        return len(self) > 0

    def keys(self) -> list[str]:
        """The tags, in the order of the samples."""
        return self.tags

    def values(self) -> list[core.EnergySample]:
        return list(self)

    def items(self) -> list[tuple[str, core.EnergySample]]:
        return list(zip(self.tags, self))

    def get(self, tag: str, default: Any = None) -> Any:
        """The first sample of that tag, or `default`."""
        try:
            return self._tagged(tag)
        except NoSuchSample:
            return default

    def __add__(self, other: core.EnergyTraceBase) -> EnergyTrace:
        if not isinstance(other, core.EnergyTraceBase):
            return NotImplemented
        joined = _trace(self)
        joined._add(other)
        return joined

    def __iadd__(self, other: core.EnergyTraceBase) -> Self:
        if not isinstance(other, core.EnergyTraceBase):
            return NotImplemented
        self._add(other)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, core.EnergyTraceBase) and self._equals(other)

    __hash__ = None  # type: ignore[assignment]

    def remove_idle(self, idle: core.EnergyTraceBase | Mapping[str, float]) -> None:
        """Takes the idle energy off, sample by sample and domain by domain.

        idle: `EnergyMeter.measure_idle`, or watts by domain. Raises `InvalidArgument`, and changes
        nothing, if the traces differ in length or `idle` lacks a domain.
        """
        self._remove_idle(idle if isinstance(idle, core.EnergyTraceBase) else dict(idle))

    @property
    def total_j(self) -> float | None:
        """The sum of all samples, in joules; None if a sample is unknown."""
        total = 0.0
        for sample in self:
            energy = sample.total_j
            if energy is None:
                return None
            total += energy
        return total if len(self) else None

    def to_records(self) -> list[dict[str, Any]]:
        """A dictionary per sample: timestamp, tag, seconds, and three keys per domain."""
        names = list(self.columns())
        rows = zip(*(column.tolist() for column in self.columns().values()))
        return [
            {"tag": tag, **{name: _none(value) for name, value in zip(names, row)}}
            for tag, row in zip(self.tags, rows)
        ]

    def to_numpy(self) -> dict[str, Any]:
        """Columns by name, without a copy: timestamp, tag, seconds, package_0_j ... Unknown is NaN."""
        numpy = optional("numpy")
        arrays = {name: numpy.asarray(column) for name, column in self.columns().items()}
        return {"tag": numpy.array(self.tags, dtype=object), **arrays}

    def to_pandas(self) -> Any:
        """A row per sample; the columns are those of `to_numpy`."""
        return optional("pandas").DataFrame(self.to_numpy())

    def __repr__(self) -> str:
        return f"<EnergyTrace of {len(self)} samples>"

    def __str__(self) -> str:
        return fitting(self._lines(details=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return EnergyTrace, (list(self), self.missing)


def _trace(base: core.EnergyTraceBase) -> EnergyTrace:
    """A copy, as an object of the class that users know."""
    trace = EnergyTrace()
    trace._assign(base)
    return trace


def _none(value: float) -> float | None:
    return None if math.isnan(value) else value


class EnergyHandler:
    """Takes finished traces. Derive from it, or write any class with `process`."""

    def process(self, trace: EnergyTrace) -> None:
        raise NotImplementedError


class PrintHandler(EnergyHandler):
    """Prints each sample, one line each, in micro-joules. details: also what is uncertain."""

    def __init__(self, file: TextIO | None = None, *, details: bool = False) -> None:
        self._file = file
        self._details = details

    def process(self, trace: EnergyTrace) -> None:
        file = self._file or sys.stdout
        file.write(fitting(trace._lines(details=self._details), file))


class CsvHandler(core.CsvHandler, EnergyHandler):
    """Keeps traces until `save_data` appends them to a CSV file, in micro-joules."""


class PandasHandler(EnergyHandler):
    """Keeps traces, and gives them as one data frame. Raises `NoSampleProcessed` if it has none."""

    def __init__(self) -> None:
        self._trace = EnergyTrace()

    def process(self, trace: EnergyTrace) -> None:
        self._trace += trace

    def get_dataframe(self) -> Any:
        if not self._trace:
            raise NoSampleProcessed("there is no sample yet: measure something first")
        return self._trace.to_pandas()
