# mypy: no-implicit-reexport
"""Magic commands for Jupyter and IPython: `%load_ext wattle`, then `%%wattle` and `%wattle`."""

from __future__ import annotations

from typing import Any

from wattle._domain import domains
from wattle._errors import InvalidArgument
from wattle._measure import measure
from wattle._measurement import Measurement

__all__ = ["load_ipython_extension", "unload_ipython_extension"]

_USAGE = (
    "usage: %%wattle [--domains LIST] [--gpus LIST] [--estimate] [--strict] [--into NAME] [TAG], or "
    "%wattle [OPTIONS] STATEMENT"
)


def load_ipython_extension(ipython: Any) -> None:
    """What `%load_ext wattle` calls: it adds the magic commands `%%wattle` and `%wattle`."""

    def wattle(line: str, cell: str | None = None) -> Any:
        """Measures the energy of a cell, or of a statement.

            %%wattle epoch 3
            train()

            %wattle train()

        The result is a `wattle.Measurement`. Options: --domains and --gpus (comma-separated), --estimate,
        --strict: as of `wattle.measure`; --into NAME: also the name of a variable for the result.
        `%wattle` alone lists the domains that can be measured. A cell that awaits cannot be measured.
        """
        options, rest = _options(line)
        if cell is None and not rest:
            return domains()
        return _measured(ipython, options, *(("", rest) if cell is None else (rest, cell)))

    ipython.register_magic_function(wattle, "line_cell", "wattle")


def unload_ipython_extension(ipython: Any) -> None:
    """What `%unload_ext wattle` calls."""
    for kind in ("line", "cell"):
        ipython.magics_manager.magics[kind].pop("wattle", None)


def _options(line: str) -> tuple[dict[str, Any], str]:
    """The options at the start of a line, and its rest as it is."""
    options: dict[str, Any] = {}
    rest = line.strip()
    while rest.startswith("--"):
        word, _, rest = rest.partition(" ")
        name, equals, value = word[2:].partition("=")
        rest = rest.lstrip()
        if name in ("estimate", "strict") and not equals:
            options[name] = True
            continue
        if name not in ("domains", "gpus", "into"):
            raise InvalidArgument(f"unknown option {word}; {_USAGE}")
        if not equals:
            value, _, rest = rest.partition(" ")
            rest = rest.lstrip()
        value = value.strip("\"'")
        if not value:
            raise InvalidArgument(f"the option --{name} lacks its value; {_USAGE}")
        options[name] = value
    if (into := options.get("into")) is not None and not into.isidentifier():
        raise InvalidArgument(f"{into!r} is no name of a variable; {_USAGE}")
    return options, rest


def _measured(ipython: Any, options: dict[str, Any], tag: str, code: str) -> Measurement:
    into = options.pop("into", None)
    if "domains" in options:
        options["domains"] = options["domains"].split(",")
    gpus = options.get("gpus", "all")
    if gpus not in ("all", "none", "visible"):
        options["gpus"] = [int(one) if one.isdecimal() else one for one in gpus.split(",")]
    with measure(tag, **options) as measurement:
        result = ipython.run_cell(code)
    if into is not None:
        ipython.user_ns[into] = measurement
    if not getattr(result, "success", True):
        # It has been shown; "run all cells" must stop here nevertheless.
        print(measurement)
        result.raise_error()
    return measurement
