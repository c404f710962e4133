# mypy: no-implicit-reexport
"""CodeCarbon's names: EmissionsTracker, OfflineEmissionsTracker, track_emissions.

Energies are measured; carbon is computed only from a factor that you give (`kg_co2_per_kwh`, or the
variable WATTLE_KG_CO2_PER_KWH). docs/python.md lists the differences.
"""

from wattle.compat.codecarbon.emissions_tracker import (
    EmissionsTracker,
    OfflineEmissionsTracker,
    track_emissions,
)

__all__ = ["EmissionsTracker", "OfflineEmissionsTracker", "track_emissions"]
