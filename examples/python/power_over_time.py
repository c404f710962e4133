"""The power of GPUs and CPUs while something runs."""

import time

import wattle

with wattle.PowerMonitor() as monitor:
    start = time.time()
    time.sleep(0.5)
    end = time.time()

for gpu, energy in monitor.energy(start, end).items():
    print(f"GPU {gpu}: {energy.energy_j} J by {energy.method}")
    for timestamp, power_w in zip(
        monitor.timeline()[gpu].timestamp.tolist(), monitor.timeline()[gpu].power_w.tolist()
    ):
        print(f"  {timestamp:.3f} {power_w} W")
for name, energy in monitor.cpu_energy(start, end).items():
    print(f"{name}: {energy.energy_j} J")
for lack in monitor.missing:
    print("not measured:", lack.subject, lack.reason)
