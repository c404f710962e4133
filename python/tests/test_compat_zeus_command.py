# type: ignore
"""`python -m zeus.monitor`, over the shim."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest


def wait_for_sensors(pid):
    """Until the process has its counters open, and some time to start its window."""
    for _ in range(3000):
        folder = pathlib.Path(f"/proc/{pid}/fd")
        if any(str(os.readlink(one)).endswith("energy_uj") for one in folder.iterdir() if one.is_symlink()):
            break
        time.sleep(0.01)
    time.sleep(1)


def interrupted(*words, after=1):
    """Runs it, sends Ctrl-C after that many lines (0: once it measures), and returns all lines."""
    child = subprocess.Popen(
        [sys.executable, "-B", "-m", "wattle.shim", "-m", "zeus.monitor", *words],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        lines = [child.stdout.readline().rstrip() for _ in range(after)]
        if not after:
            wait_for_sensors(child.pid)
        child.send_signal(signal.SIGINT)
        rest, errors = child.communicate(timeout=30)
    finally:
        child.kill()
    assert child.returncode == 0, errors
    return lines + rest.splitlines()


def test_power_is_printed_every_period_and_ends_with_totals(tree, gpus):
    lines = interrupted("power", "--update-period", "0.2", "--gpu-indices", "0", after=4)
    assert lines[1] == lines[3] == "{'GPU0': 100.0}"
    assert lines[-2].startswith("Total time (s): ")
    assert lines[-1].startswith("Total energy (J): {'GPU0': ")


def test_energy_is_printed_at_the_end(tree, gpus, load):
    (line,) = interrupted("energy", after=0)
    assert line.startswith("Measurement(time=")
    assert "gpu_energy={0: " in line and "cpu_energy={0: " in line


@pytest.mark.parametrize(("words", "status"), [(["power", "--gpu-indices", "7"], 1), (["speed"], 2), ([], 2)])
def test_wrong_words_are_refused(tree, gpus, words, status):
    ended = subprocess.run(
        [sys.executable, "-B", "-m", "wattle.shim", "-m", "zeus.monitor", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == status
    assert ended.stderr and "Traceback" not in ended.stderr
