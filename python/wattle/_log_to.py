# mypy: no-implicit-reexport
"""Energies beside the other figures of a training run: wandb, mlflow, trackio."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

from wattle._measurement import Measurement

__all__ = ["log_to", "metrics"]

Log = Callable[..., dict[str, Any]]
"""What `log_to` returns: `log(values, step=None)`."""


def metrics(measurement: Measurement, prefix: str = "energy/") -> dict[str, float]:
    """The figures of a measurement by name, each with its unit; what is not known is left out.

    total_j, uncertainty_j (joules), unknown_s, seconds, power_w, power_uncertainty_w (watts), the joules of
    each domain and their ±: package_0_j, package_0_uncertainty_j ..., and 1 for each flag of the total:
    flag_partial_coverage ...
    """
    values = {
        "total_j": measurement.total_j,
        "uncertainty_j": measurement.uncertainty_j,
        "unknown_s": measurement.unknown_s,
        "seconds": measurement.seconds,
        "power_w": measurement.power_w,
        "power_uncertainty_w": measurement.power_uncertainty_w,
        **{f"{name}_j": energy.energy_j for name, energy in measurement.domains.items()},
        **{f"{name}_uncertainty_j": energy.uncertainty_j for name, energy in measurement.domains.items()},
        **{f"flag_{name}": 1.0 for name in measurement.flags},
    }
    return {prefix + name: value for name, value in values.items() if value is not None}


def log_to(run: Any, prefix: str = "energy/") -> Log:
    """A function that logs a measurement, or a dictionary, to a run of wandb, mlflow or trackio.

        log = wattle.log_to(wandb.init())     # or the module mlflow, or trackio
        with wattle.measure("epoch") as m:
            train()
        log(m, step=epoch)

    run: has `log_metrics(dict, step=)` (mlflow, loggers of Lightning) or `log(dict, step=)` (wandb,
    trackio), or is a function over a dictionary. The step is left out where it does not take one.
    Values that are None or not a number are left out; prefix: of the names of a measurement
    (`metrics`). The function returns what it logged, and is a handler for `measure`. What the run
    raises, passes. As thread-safe as the run.
    """
    target = _target(run)
    takes_step = _takes_step(target)

    def log(values: Measurement | Mapping[str, Any], step: int | None = None) -> dict[str, Any]:
        named = metrics(values, prefix) if isinstance(values, Measurement) else values
        known = {name: value for name, value in named.items() if not _is_unknown(value)}
        if not known:
            return known
        if step is None or not takes_step:
            target(known)
        else:
            target(known, step=step)
        return known

    return log


def _is_unknown(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _target(run: Any) -> Callable[..., object]:
    for name in ("log_metrics", "log"):
        function = getattr(run, name, None)
        if callable(function):
            return function
    if callable(run) and not isinstance(run, type):
        return run
    raise TypeError(
        f"cannot log to {type(run).__name__}: pass the run of wandb, the module mlflow or trackio, or "
        "a function over a dictionary"
    )


def _takes_step(function: Callable[..., object]) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    return "step" in parameters or any(
        one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()
    )
