# mypy: no-implicit-reexport
"""What a window cost: `Measurement`, and `Estimate` where no sensor is."""

from __future__ import annotations

from wattle._errors import NotStopped
from wattle._library import core
from wattle._text import UNKNOWN_CELL, energy_text, fitting, power_text, row_html, seconds_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["EnergyRange", "Estimate", "Measurement"]


class EnergyRange:
    """Where an energy lies that was not measured: low <= typical <= high."""

    __slots__ = ("high_j", "low_j", "typical_j")

    def __init__(self, low_j: float, typical_j: float, high_j: float) -> None:
        self.low_j = low_j
        self.typical_j = typical_j
        self.high_j = high_j

    def __repr__(self) -> str:
        return f"EnergyRange(low_j={self.low_j!r}, typical_j={self.typical_j!r}, high_j={self.high_j!r})"

    def __str__(self) -> str:
        low, high = energy_text(self.low_j, None), energy_text(self.high_j, None)
        return fitting(f"{low} to {high}, typically {energy_text(self.typical_j, None)}")


class Estimate:
    """A range from published results of servers of the same kind: never a measurement.

    docs/estimates.md derives it.
    """

    __slots__ = (
        "basis",
        "covers",
        "excludes",
        "is_known",
        "machine",
        "mean_load",
        "method",
        "microarchitecture",
        "own",
        "unknown",
    )

    machine: EnergyRange | None
    """Energy of the machine at the wall; None if `unknown` has a reason."""
    own: EnergyRange | None
    """What the CPU time of this process added to the idle energy; a part of `machine`."""
    unknown: str
    """Why nothing is estimated; else empty."""
    method: str
    basis: str
    covers: str
    excludes: tuple[str, ...]
    microarchitecture: str
    is_known: bool
    """False: the ranges are the widest of the vendor, or of all vendors."""
    mean_load: float
    """Of the hardware threads, 0 to 1."""

    def __init__(self, described: dict[str, Any]) -> None:
        for name in self.__slots__:
            value = described[name]
            if name in ("machine", "own") and value is not None:
                value = EnergyRange(*value)
            setattr(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    def __str__(self) -> str:
        if self.machine is None:
            return fitting(f"no estimate: {self.unknown}")
        return fitting(f"{self.machine} ({self.covers})")

    def __repr__(self) -> str:
        return f"Estimate(machine={self.machine!r}, own={self.own!r}, unknown={self.unknown!r})"


class Measurement:
    """The energy and time of a window, by domain and in total.

    It covers the whole machine: no counter distinguishes processes. A value that is not known is
    None; `missing` and `flags` have the reasons. While the window is open, its values raise
    `NotStopped`. Thread-safe once the window has ended.
    """

    __slots__ = ("_estimate", "_sample", "_total", "_trace", "_window", "tag")

    tag: str
    """The name of the window."""

    def __init__(self, tag: str, window: core.Meter | None = None) -> None:
        self.tag = tag
        self._window = window
        self._trace: core.EnergyTraceBase | None = None
        self._sample: core.EnergySample | None = None
        self._total: core.Energy | None = None
        self._estimate: Estimate | None = None

    def _measured(self) -> core.EnergySample:
        sample = self._sample
        if sample is None:
            window = self._window
            if window is None or window.is_running:
                raise NotStopped(f"the window {self.tag!r} has not ended: its energy is unknown until then")
            self._trace = trace = window.trace()
            self._sample = sample = trace._sample(0)
        return sample

    def _sum(self) -> core.Energy:
        total = self._total
        if total is None:
            self._total = total = self._measured().total
        return total

    @property
    def sample(self) -> core.EnergySample:
        """The window as a sample of a trace."""
        return self._measured()

    @property
    def timestamp(self) -> float:
        """When the window started, in seconds since 1970-01-01 UTC."""
        return self._measured().timestamp

    @property
    def seconds(self) -> float:
        """How long the window was."""
        return self._measured().seconds

    @property
    def domains(self) -> dict[str, core.Energy]:
        """The energy of each domain that was asked for."""
        return self._measured().domains

    @property
    def total_j(self) -> float | None:
        """The sum of packages, DRAM and GPUs, in joules: a lower bound if `unknown_s` is above 0.

        None if none of them is known.
        """
        return self._sum().energy_j

    @property
    def uncertainty_j(self) -> float | None:
        """The sampling error of `total_j` (95 %), in joules. It does not include that of the sensors."""
        return self._sum().uncertainty_j

    @property
    def unknown_s(self) -> float:
        """Seconds of the window whose energy is not known, of the domain that lacks most."""
        return self._sum().unknown_s

    @property
    def flags(self) -> tuple[str, ...]:
        """What is to be known about the total: "wrapped", "reset", "gap", "short_window" ..."""
        return self._sum().flags

    @property
    def covers(self) -> tuple[str, ...]:
        """The domains that are in `total_j`."""
        from wattle._domain import Domain

        return tuple(
            name
            for name, energy in self.domains.items()
            if energy.energy_j is not None and _counts(name, Domain)
        )

    @property
    def power_w(self) -> float | None:
        """The mean power, in watts. None if a part of the window is unknown."""
        total = self._sum()
        if total.energy_j is None or total.unknown_s > 1e-3 * self.seconds or self.seconds <= 0:
            return None
        return total.energy_j / self.seconds

    @property
    def power_uncertainty_w(self) -> float | None:
        """The sampling error of `power_w` (95 %), in watts. None where that is None."""
        error_j = self._sum().uncertainty_j
        return None if self.power_w is None or error_j is None else error_j / self.seconds

    @property
    def missing(self) -> tuple[core.Refusal, ...]:
        """What was not measured, why, and what would change that."""
        self._measured()
        return () if self._trace is None else self._trace.missing

    @property
    def estimate(self) -> Estimate | None:
        """With `measure(estimate=True)`: a range. It is never in the fields of the measurement."""
        return self._estimate

    def to_dict(self) -> dict[str, Any]:
        """All of it, of types that `json` writes."""
        total = self._sum()
        return {
            "tag": self.tag,
            "timestamp": self.timestamp,
            "seconds": self.seconds,
            "total_j": total.energy_j,
            "uncertainty_j": total.uncertainty_j,
            "unknown_s": total.unknown_s,
            "flags": list(total.flags),
            "covers": list(self.covers),
            "domains": {
                name: {
                    "energy_j": energy.energy_j,
                    "uncertainty_j": energy.uncertainty_j,
                    "unknown_s": energy.unknown_s,
                    "flags": list(energy.flags),
                }
                for name, energy in self.domains.items()
            },
            "missing": [
                {"subject": lack.subject, "reason": lack.reason, "remedy": lack.remedy}
                for lack in self.missing
            ],
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.tag, self._measured(), self.missing, self._estimate)

    def __str__(self) -> str:
        total = self._sum()
        if total.energy_j is not None:
            text = energy_text(total.energy_j, total.uncertainty_j, total.unknown_s)
            return fitting(f"{', '.join((text, *total.flags))} ({', '.join(self.covers)})")
        reasons = "; ".join(str(lack) for lack in self.missing)
        text = f"unknown energy ({reasons or ', '.join(total.flags) or 'no domain counts in a total'})"
        if self._estimate is not None and self._estimate.machine is not None:
            text += f"; estimated: {self._estimate.machine}"
        return fitting(text)

    def __repr__(self) -> str:
        window = self._window
        if self._sample is None and (window is None or window.is_running):
            return fitting(f"<Measurement {self.tag!r}, not ended>")
        return fitting(f"<Measurement {self.tag!r}: {self}, {seconds_text(self.seconds)}>")

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        window = self._window
        if self._sample is None and (window is None or window.is_running):
            return f"<table>{row_html((repr(self),))}</table>"
        rows = [row_html((self.tag or "domain", "energy", "power", "flags"), "th")]
        for name, energy in self.domains.items():
            is_known = energy.energy_j is not None
            text = energy_text(energy.energy_j, energy.uncertainty_j, energy.unknown_s)
            rows.append(row_html((name, text if is_known else UNKNOWN_CELL, "", " ".join(energy.flags))))
        power = "" if self.power_w is None else power_text(self.power_w, self.power_uncertainty_w)
        total = f"total in {seconds_text(self.seconds)}"
        rows.append(row_html((total, str(self), power, " ".join(self.flags))))
        for lack in self.missing:
            rows.append(row_html((lack.subject, UNKNOWN_CELL, "", f"{lack.reason} {lack.remedy}".strip())))
        return f"<table>{''.join(rows)}</table>"


def _counts(name: str, parse: Any) -> bool:
    """True for a domain of a total; a source of the user's own is none."""
    try:
        return bool(parse(name).counts_in_total)
    except ValueError:
        return False


def _restored(
    tag: str,
    sample: core.EnergySample,
    missing: tuple[core.Refusal, ...],
    estimate: Estimate | None,
) -> Measurement:
    measurement = Measurement(tag)
    measurement._sample = sample
    measurement._trace = core.EnergyTraceBase([sample], missing)
    measurement._estimate = estimate
    return measurement
