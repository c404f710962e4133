#!/usr/bin/env python3
"""What a query costs that looks at every sample: the peer of power_monitor_bench.

    linear_scan.py [SAMPLES]

Samples are pairs (time, watts) in a list. Energy: those inside the window, trapezoids between
them. Power at a time: the nearest sample. Zeus's power monitor does the same.
"""

import random
import sys
import time


def energy(samples, start, end):
    inside = [(at, power) for at, power in samples if start <= at <= end]
    return sum(
        (later[0] - at) * (power + later[1]) / 2
        for (at, power), later in zip(inside, inside[1:])
    )


def power_at(samples, wanted):
    return min(samples, key=lambda sample: abs(sample[0] - wanted))[1]


def median_ms(question):
    times = []
    for _ in range(9):
        begin = time.perf_counter()
        question()
        times.append((time.perf_counter() - begin) * 1e3)
    return sorted(times)[len(times) // 2]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rng = random.Random(1)
    samples = [(i * 1e-3, 300.0 + rng.gauss(0.0, 3.0)) for i in range(count)]
    length = count * 1e-3
    print(f"the same in Python, looking at every sample, of {count} samples:")
    window = median_ms(lambda: energy(samples, 0.25 * length, 0.75 * length))
    lookup = median_ms(lambda: power_at(samples, 0.6 * length))
    print(f"  energy(start, end)           {window:.0f} ms")
    print(f"  power_at(t, nearest)         {lookup:.0f} ms")


if __name__ == "__main__":
    main()
