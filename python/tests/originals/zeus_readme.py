# type: ignore
"""What the README of Zeus shows: windows of a monitor around epochs and steps, and power over time."""

import time

from zeus.monitor import PowerMonitor, ZeusMonitor

monitor = ZeusMonitor(gpu_indices=[0], approx_instant_energy=True, log_file="zeus.csv")
for epoch in range(2):
    monitor.begin_window("epoch")
    steps = []
    for _ in range(3):
        monitor.begin_window("step")
        time.sleep(0.05)
        steps.append(monitor.end_window("step"))
    measurement = monitor.end_window("epoch")
    parts = sum(step.time for step in steps)
    print(
        "epoch",
        epoch,
        0 < parts <= measurement.time,
        measurement.total_energy == sum(measurement.gpu_energy.values()),
        sorted(measurement.cpu_energy),
        all(joules > 0 for joules in measurement.cpu_energy.values()),
    )
with open("zeus.csv") as file:
    print("log", len(file.read().splitlines()))

power = PowerMonitor(gpu_indices=[0], update_period=0.05)
start = time.time()
time.sleep(0.3)
end = time.time()
joules = power.get_energy(start, end)
timeline = power.get_power_timeline("device_instant", gpu_index=0, start_time=start, end_time=end)
print("power", joules is not None and joules[0] > 0, power.get_power() is not None, sorted(timeline))
power.stop()
