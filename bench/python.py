#!/usr/bin/env python3
"""What measuring from Python costs, beside Python that opens and reads the files itself.

    PYTHONPATH=build/release/python bench/python.py

Over a powercap tree of two packages and DRAM in memory. Prints the median of 9 interleaved rounds (starts
of an interpreter: CPU time, median of 50), and ratios: these hold on other machines, too. The drop-in
modules are timed with the calls of the originals. The columns need python3-numpy.
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
STARTS = 50
SAMPLES = 1_000_000
COLD = """
from wattle.compat.codecarbon import EmissionsTracker
tracker = EmissionsTracker(save_to_file=False, kg_co2_per_kwh=0.4)
tracker.start()
tracker.stop()
"""


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


def start_ms(program, compiled):
    """CPU time: other work on the machine changes it least. compiled: the folder for compiled modules."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(compiled)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with subprocess.Popen([sys.executable, "-c", program], env=environment) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"python -c {program!r} failed")
    return (used.ru_utime + used.ru_stime) * 1e3


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

    from wattle.compat.pyjoules.energy_meter import EnergyContext
    from wattle.compat.zeus.monitor import ZeusMonitor

    class Ignore:
        def process(self, trace):
            pass

    units = wattle.Units(period=60, lag=0)

    def unit():
        with units.unit("request"):
            pass

    handler = Ignore()
    zeus = ZeusMonitor(gpu_indices=[])

    def pyjoules():
        with EnergyContext(handler=handler):
            pass

    def zeus_window():
        zeus.begin_window("block", sync_execution=False)
        return zeus.end_window("block", sync_execution=False).total_energy

    return {
        "with wattle.measure()": measure,
        "the same, with its value": measure_and_print,
        "a unit of work": unit,
        "Python, open and read": open_and_read,
        "compat: a window of Zeus": zeus_window,
        "compat: a context of pyJoules": pyjoules,
    }


def make_timeline(counter):
    """A million samples of a CPU's power, each of a read of its own."""
    import wattle

    with open(counter, "r+b", buffering=0) as file, wattle.PowerMonitor(update_period=60.0) as monitor:
        for step in range(SAMPLES):
            file.seek(0)
            file.write(b"%019d\n" % (123456789 + step * 1000))
            monitor.read_now(1.0)
    line = monitor.cpu_timeline("package_0")
    if len(line) < 0.9 * SAMPLES:
        sys.exit(f"the monitor has {len(line)} of {SAMPLES} samples")
    return line


def columns_ms(counter):
    """Milliseconds until numpy has the times and powers of a million samples, and how many there are."""
    import wattle

    line = make_timeline(counter)
    taken = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        wattle.to_numpy(line)
        taken.append((time.perf_counter() - start) * 1e3)
    return statistics.median(taken), len(line)


def main():
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        paths = make_tree(pathlib.Path(folder))
        ways = blocks(paths)
        times = {name: [] for name in ways}
        starts = {"pass": [], "import wattle": [], "import wattle; wattle.measure": [], COLD: []}
        for _ in range(ROUNDS):
            for name, function in ways.items():
                times[name].append(per_call_us(function, 500))
        for _ in range(STARTS):
            for program, taken in starts.items():
                taken.append(start_ms(program, pathlib.Path(folder, "compiled")))
        columns, samples = columns_ms(paths[0])
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    slowest = medians["Python, open and read"]
    for name, median in medians.items():
        print(f"{name:30} {median:8.1f} us  1 / {slowest / median:.1f}")
    bare, *more = (statistics.median(taken) for taken in starts.values())
    names = ("import wattle", "the same, and its first use", "compat: CodeCarbon, cold")
    for name, median in zip(names, more):
        print(f"{name:30} {median - bare:8.1f} ms of CPU time more than an interpreter ({bare:.1f} ms)")
    print(f"{'columns of a timeline':30} {columns:8.1f} ms for {samples} samples")


if __name__ == "__main__":
    main()
