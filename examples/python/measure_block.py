"""The energy of a block of code."""

import wattle

with wattle.measure("squares") as m:
    squares = [n * n for n in range(1_000_000)]

print(m)  # 1.23 J ± 0.04 (package_0, dram_0), or why it is unknown
for name, energy in m.domains.items():
    print(name, energy.energy_j, energy.uncertainty_j)
for lack in m.missing:
    print("not measured:", lack.subject, lack.reason, lack.remedy)
