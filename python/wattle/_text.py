# mypy: no-implicit-reexport
"""Numbers and tables for people."""

from __future__ import annotations

import math
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "energy_text", "fitting", "parse_energy", "power_text", "printable", "row_html", "seconds_text",
    "UNKNOWN", "UNKNOWN_CELL",
]

UNKNOWN = "unknown"
"""An unknown value in a sentence or after a label."""
UNKNOWN_CELL = "-"
"""An unknown value in a cell of a table."""

_PREFIXES = ((1e9, "GJ"), (1e6, "MJ"), (1e3, "kJ"), (1.0, "J"), (1e-3, "mJ"), (0.0, "µJ"))


def energy_text(energy_j: float | None, uncertainty_j: float | None, unknown_s: float = 0.0) -> str:
    """ "1.23 kJ ± 0.04"; "at least 1.23 kJ ± 0.04, 0.5 s unknown"; "unknown"."""
    if energy_j is None:
        return UNKNOWN
    size = max(abs(energy_j), uncertainty_j or 0.0)
    factor, unit = next(prefix for prefix in _PREFIXES if size >= prefix[0])
    factor = factor or 1e-6
    if size == 0:
        factor, unit = 1.0, "J"
    decimals = _decimals(energy_j / factor, (uncertainty_j or 0.0) / factor)
    text = f"{energy_j / factor:.{decimals}f} {unit}"
    if uncertainty_j is not None:
        text += f" ± {uncertainty_j / factor:.{decimals}f}"
    if unknown_s > 0:
        text = f"at least {text}, {seconds_text(unknown_s)} unknown"
    return text


def power_text(power_w: float | None, uncertainty_w: float | None) -> str:
    """ "120 W ± 2"; "unknown"."""
    return energy_text(power_w, uncertainty_w).replace("J", "W", 1)


def seconds_text(seconds: float) -> str:
    """ "2.5 s", "3.1 ms", "120 µs"."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(seconds) >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _decimals(value: float, uncertainty: float) -> int:
    """As many as the uncertainty has at one significant digit, and at most four of the value."""
    digits = 3 if value == 0 else max(0, 3 - math.floor(math.log10(abs(value))))
    if uncertainty > 0:
        digits = min(digits, max(0, -math.floor(math.log10(uncertainty))))
    return min(digits, 6)


def row_html(cells: Iterable[object], tag: str = "td") -> str:
    """A row of a table, its texts escaped."""
    import html

    inner = "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells)
    return f"<tr>{inner}</tr>"


_JOULES = {
    "uJ": 1e-6,
    "µJ": 1e-6,
    "mJ": 1e-3,
    "J": 1.0,
    "kJ": 1e3,
    "MJ": 1e6,
    "GJ": 1e9,
    "mWh": 3.6,
    "Wh": 3.6e3,
    "kWh": 3.6e6,
}


def parse_energy(given: object) -> float:
    """Joules of "5 J", "1.2 kJ", "3 Wh" or a number of joules. Raises `ValueError` unless above 0."""
    number, unit = given, "J"
    if isinstance(given, str):
        number = given.rstrip("uµmkMGJWh")
        unit = given[len(number) :]
    joules = math.nan
    if isinstance(number, (int, float, str)) and not isinstance(number, bool):
        try:
            joules = float(number) * _JOULES.get(unit, math.nan)
        except (ValueError, OverflowError):
            joules = math.nan
    if not (math.isfinite(joules) and joules > 0):
        raise ValueError(f'{given!r} is not an energy above 0: write "5 J", "200 mJ" or "1.2 kJ"')
    return joules


_SPELLINGS = (("±", "+/-"), ("µ", "u"), ("°", ""))


def fitting(text: str, file: object = None) -> str:
    """The text as `file` (None: stdout) can print it: in its encoding "±" may have to be "+/-"."""
    if text.isascii():
        return text
    encoding = getattr(sys.stdout if file is None else file, "encoding", None)
    if not isinstance(encoding, str):
        encoding = "utf-8"
    try:
        text.encode(encoding)
    except LookupError:
        return text
    except UnicodeError:
        for character, spelling in _SPELLINGS:
            text = text.replace(character, spelling)
        return text.encode(encoding, "backslashreplace").decode(encoding)
    return text


def printable(text: str) -> str:
    """Without characters that a terminal obeys, or that change the direction of the text."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
