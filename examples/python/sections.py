"""Sections that follow each other, as rows of a CSV file."""

import sys

import wattle

meter = wattle.EnergyMeter(default_tag="load")
with meter:
    numbers = list(range(500_000))
    meter.record("sort")
    numbers.sort(key=lambda n: -n)
    meter.record("sum")
    total = sum(numbers)

trace = meter.trace()
for sample in trace:
    print(sample.tag, sample.seconds, sample.total_j)
print("sort:", trace["sort"].total_j, "J")

handler = wattle.CsvHandler(sys.argv[1] if len(sys.argv) > 1 else "energy.csv")
handler.process(trace)
handler.save_data()
