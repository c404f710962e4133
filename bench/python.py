#!/usr/bin/env python3
"""What measuring from Python costs, beside Python that opens and reads the files itself.

    PYTHONPATH=build/release/python bench/python.py

Over a powercap tree of two packages and DRAM in memory. Prints the median of 9 interleaved rounds, and
ratios: these hold on other machines, too.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ZONES = {"intel-rapl:0": "package-0", "intel-rapl:0:0": "dram", "intel-rapl:1": "package-1"}
ROUNDS = 9


def make_tree(root):
    """The files of a machine with three counters; their paths."""
    paths = []
    for folder, name in ZONES.items():
        zone = root / "sys" / "class" / "powercap" / folder
        zone.mkdir(parents=True)
        (zone / "name").write_text(name + "\n")
        (zone / "max_energy_range_uj").write_text("262143328850\n")
        (zone / "energy_uj").write_text("0000000000123456789\n")
        paths.append(str(zone / "energy_uj"))
    (root / "sys" / "class" / "powercap" / "intel-rapl").mkdir()
    (root / "proc").mkdir()
    (root / "proc" / "cpuinfo").write_text(
        "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 106\n"
        "physical id\t: 0\ncore id\t\t: 0\n\n"
    )
    os.environ.update(
        WATTLE_SYSFS=str(root / "sys"), WATTLE_PROCFS=str(root / "proc"), WATTLE_SOCK_PATH="none"
    )
    return paths


def per_call_us(function, calls):
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls * 1e6


def start_ms(program):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    return (time.perf_counter() - start) * 1e3


def blocks(paths):
    """The ways to measure a block, by name."""
    import wattle

    def measure():
        with wattle.measure():
            pass

    def measure_and_print():
        with wattle.measure() as m:
            pass
        return m.total_j

    def open_and_read():
        for _ in range(2):
            for path in paths:
                with open(path) as file:
                    int(file.read())

    return {
        "with wattle.measure()": measure,
        "the same, with its value": measure_and_print,
        "Python, open and read": open_and_read,
    }


def main():
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        ways = blocks(make_tree(pathlib.Path(folder)))
        times = {name: [] for name in ways}
        starts = {"pass": [], "import wattle": []}
        for _ in range(ROUNDS):
            for name, function in ways.items():
                times[name].append(per_call_us(function, 500))
            for program, taken in starts.items():
                taken.append(start_ms(program))
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    slowest = medians["Python, open and read"]
    for name, median in medians.items():
        print(f"{name:28} {median:8.1f} us  1 / {slowest / median:.1f}")
    bare, with_wattle = (statistics.median(taken) for taken in starts.values())
    print(f"{'import wattle':28} {with_wattle - bare:8.1f} ms more than an interpreter ({bare:.1f} ms)")


if __name__ == "__main__":
    main()
