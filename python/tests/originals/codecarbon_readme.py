# type: ignore
"""What the README of CodeCarbon shows: a tracker by its calls, as a context, and as a decorator."""

import csv
import time

from codecarbon import EmissionsTracker, OfflineEmissionsTracker, track_emissions

tracker = EmissionsTracker(project_name="calls", measure_power_secs=1, log_level="error")
tracker.start()
try:
    time.sleep(0.2)
finally:
    emissions = tracker.stop()
print("emissions", emissions > 0)

with OfflineEmissionsTracker(country_iso_code="FRA", project_name="context") as tracker:
    time.sleep(0.2)
print("context", tracker.final_emissions_data.country_iso_code, tracker.final_emissions > 0)


@track_emissions(project_name="decorated")
def train():
    time.sleep(0.2)
    return "trained"


print(train())

tracker = EmissionsTracker(save_to_file=False)
tracker.start_task("load")
time.sleep(0.2)
print("task", tracker.stop_task().energy_consumed > 0)
tracker.stop()

with open("emissions.csv") as file:
    rows = list(csv.DictReader(file))
print("rows", [row["project_name"] for row in rows], all(float(row["cpu_energy"]) > 0 for row in rows))
