# type: ignore
"""Zeus itself and its names of Wattle, in one script over the same fake machine.

Runs where the package `zeus` can be imported: Debian does not have it. ZEUS_SOURCE names a folder with it.
"""

import importlib.machinery
import json
import os
import pathlib
import subprocess
import sys

import pytest

SCRIPT = """
import json
import sys
import time

import zeus.device.cpu.rapl
from zeus.monitor import ZeusMonitor as Theirs
import wattle
from wattle.compat.zeus.monitor import ZeusMonitor as Ours


def spend(powercap, zone, joules):
    with open(f"{powercap}/{zone}/energy_uj", "r+b", buffering=0) as file:
        value = int(file.read()) + round(joules * 1e6)
        file.seek(0)
        file.write(b"%019d\\n" % value)


def work(powercap):
    # A second in which each zone spends 1 J: the energy of a counter that stands still is unknown.
    for _ in range(50):
        time.sleep(0.02)
        for zone in ("intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1"):
            spend(powercap, zone, 0.02)


def begin(monitors, key):
    for monitor in monitors:
        monitor.begin_window(key, sync_execution=False)


def end(monitors, key):
    ended = [monitor.end_window(key, sync_execution=False) for monitor in monitors]
    return [[one.time, one.cpu_energy, one.dram_energy, one.gpu_energy] for one in ended]


def main(powercap):
    zeus.device.cpu.rapl.RAPL_DIR = f"{powercap}/intel-rapl"
    monitors = [Theirs(), Ours()]
    found = {}
    # GPUs are read every 0.1 s.
    time.sleep(0.5)
    with wattle.measure() as around:
        begin(monitors, "epoch")
        spend(powercap, "intel-rapl:0", 4.0)
        spend(powercap, "intel-rapl:0:0", 0.25)
        work(powercap)
        begin(monitors, "step")
        spend(powercap, "intel-rapl:0", 0.5)
        spend(powercap, "intel-rapl:1", 2.0)
        work(powercap)
        found["epoch"] = end(monitors, "epoch")
        spend(powercap, "intel-rapl:1", 8.0)
        spend(powercap, "intel-rapl:0:0", 1.0)
        work(powercap)
        found["step"] = end(monitors, "step")
    gpu = around.domains.get("nvidia_gpu_0")
    found["gpu_uncertainty_j"] = gpu and gpu.uncertainty_j
    json.dump(found, sys.stdout)


# Zeus starts processes, which import this file.
if __name__ == "__main__":
    main(sys.argv[1])
"""


def source():
    """The folders to import Zeus from; skips the test where there is none."""
    folder = os.environ.get("ZEUS_SOURCE")
    # Of the folders alone: the shim of other tests finds the names of Wattle.
    if folder is None and importlib.machinery.PathFinder.find_spec("zeus") is None:
        pytest.skip("the package zeus is not installed, and ZEUS_SOURCE does not name a folder with it")
    return [folder] if folder else []


@pytest.fixture
def windows(tree, gpus, tmp_path):
    """What both measured, by window."""
    folders = source()
    # The kernel shows zones in the folder of their driver, too; sub-zones are in their package.
    for zone in ("intel-rapl:0", "intel-rapl:1"):
        (tree.zones / "intel-rapl" / zone).symlink_to(tree.zones / zone)
    (tree.zones / "intel-rapl:0" / "intel-rapl:0:0").symlink_to(tree.zones / "intel-rapl:0:0")
    library = pathlib.Path(os.environ["WATTLE_TEST_NVML"])
    script = tmp_path / "both.py"
    script.write_text(SCRIPT)
    ended = subprocess.run(
        [sys.executable, "-B", script, tree.zones],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")]),
            "LD_LIBRARY_PATH": str(library.parent),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_both_measure_the_same_joules_in_windows_that_overlap(windows):
    for key, cpus, drams in (("epoch", [6.5, 4.0], [2.25]), ("step", [2.5, 12.0], [3.0])):
        theirs, ours = windows[key]
        for measured in (theirs, ours):
            # A tick of the counters, 61 uJ, at each end.
            assert list(measured[1].values()) == pytest.approx(cpus, abs=2e-4)
            assert list(measured[2].values()) == pytest.approx(drams, abs=2e-4)
        assert theirs[1].keys() == ours[1].keys() and theirs[2].keys() == ours[2].keys()
        assert ours[0] == pytest.approx(theirs[0], abs=0.2)


def test_both_measure_the_same_joules_of_a_gpu(windows):
    """Within the ± of Wattle, and what 100 W are in the time between the calls of both."""
    for key in ("epoch", "step"):
        theirs, ours = windows[key]
        allowed = windows["gpu_uncertainty_j"] + 100.0 * abs(theirs[0] - ours[0]) + 100.0 * 0.1
        assert ours[3]["0"] == pytest.approx(theirs[3]["0"], abs=allowed)
        assert theirs[3]["0"] > 100
