# mypy: no-implicit-reexport
"""CodeCarbon's names: EmissionsTracker, OfflineEmissionsTracker, track_emissions.

Energies are measured; carbon is computed only from a factor that you give (`kg_co2_per_kwh`, or the
variable WATTLE_KG_CO2_PER_KWH). docs/python.md lists the differences.
"""

from __future__ import annotations

from typing import Any, NoReturn

import wattle
from wattle.compat.codecarbon.emissions_tracker import (
    EmissionsTracker,
    OfflineEmissionsTracker,
    track_emissions,
)

__all__ = [
    "EmissionsTracker",
    "OfflineEmissionsTracker",
    "init_telemetry",
    "set_telemetry",
    "track_emissions",
]

__version__ = f"wattle {wattle.__version__}"


def init_telemetry(*_: Any, **__: Any) -> NoReturn:
    """Not available: raises NotImplementedError."""
    raise NotImplementedError("telemetry: Wattle sends nothing to a service")


set_telemetry = init_telemetry
