# type: ignore
"""Fake hardware for the tests: a powercap tree, and an NVIDIA library."""

import os
import socket
import subprocess
import sys
import textwrap
import threading
import time

import pytest

TICK_J = 1.0 / 16384.0
TICK_NJ = 61035
RANGE_UJ = 0xFFFFFFFF * TICK_NJ // 1000


class PowercapTree:
    """Files as the kernel has them. `spend` moves a counter, as the hardware would."""

    def __init__(self, root):
        self.sysfs = root / "sys"
        self.procfs = root / "proc"
        self.zones = self.sysfs / "class" / "powercap"
        self.zones.mkdir(parents=True)
        (self.zones / "intel-rapl").mkdir()
        self.procfs.mkdir()
        (self.procfs / "cpuinfo").write_text(
            "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 106\n"
            "model name\t: Intel(R) Xeon(R)\nphysical id\t: 0\ncore id\t\t: 0\n\n"
        )
        self.ticks = {}

    def add_zone(self, folder, name, joules=0.0):
        zone = self.zones / folder
        zone.mkdir()
        (zone / "name").write_text(name + "\n")
        (zone / "max_energy_range_uj").write_text(f"{RANGE_UJ}\n")
        self.ticks[folder] = 0
        (zone / "energy_uj").write_text("0" * 19 + "\n")
        self.spend(folder, joules)

    def spend(self, folder, joules):
        self.ticks[folder] += round(joules / TICK_J)
        value = (self.ticks[folder] & 0xFFFFFFFF) * TICK_NJ // 1000
        # In place and of one width: a reader never sees an empty file.
        with open(self.zones / folder / "energy_uj", "r+b", buffering=0) as file:
            file.write(b"%019d\n" % value)

    def variables(self):
        return {
            "WATTLE_SYSFS": str(self.sysfs),
            "WATTLE_PROCFS": str(self.procfs),
            "WATTLE_SOCK_PATH": "none",
        }


@pytest.fixture
def empty_tree(tmp_path, monkeypatch):
    """A machine without any sensor."""
    tree = PowercapTree(tmp_path)
    for name, value in tree.variables().items():
        monkeypatch.setenv(name, value)
    return tree


@pytest.fixture
def tree(empty_tree):
    """Two packages and DRAM."""
    empty_tree.add_zone("intel-rapl:0", "package-0", 10.0)
    empty_tree.add_zone("intel-rapl:0:0", "dram", 20.0)
    empty_tree.add_zone("intel-rapl:1", "package-1", 30.0)
    return empty_tree


@pytest.fixture
def run_python(tree):
    """Runs a program in an interpreter of its own, over the tree."""

    def run(program, *arguments, check=True, **options):
        ended = subprocess.run(
            [sys.executable, "-B", *options.pop("flags", ()), "-c", textwrap.dedent(program), *arguments],
            env={**os.environ, **tree.variables(), **options.pop("env", {})},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            **options,
        )
        if check:
            assert ended.returncode == 0, ended.stderr
            assert ended.stderr == ""
        return ended

    return run


@pytest.fixture
def gpus(tree, tmp_path, monkeypatch):
    """One NVIDIA GPU of 100 W."""
    script = tmp_path / "gpus"
    script.write_text(
        "gpu NVIDIA H100 PCIe\npower step 0 100\nmemory_power step 0 20\n"
        "memory 80000000000 1000000000\nutilization 50 10\n"
    )
    monkeypatch.setenv("WATTLE_FAKE_NVML", str(script))
    monkeypatch.setenv("WATTLE_NVML_LIBRARY", os.environ["WATTLE_TEST_NVML"])
    return script


@pytest.fixture
def partial_gauge(empty_tree, tmp_path, monkeypatch):
    """One sensor: the gauge of an M40, which sees 14 of 31 ms."""
    script = tmp_path / "gpus"
    script.write_text(
        "gpu Tesla M40 24GB\nuuid GPU-a\ncounter none\ninstant none\naverage none\npower step 0 150\n"
    )
    monkeypatch.setenv("WATTLE_FAKE_NVML", str(script))
    monkeypatch.setenv("WATTLE_NVML_LIBRARY", os.environ["WATTLE_TEST_NVML"])
    return script


@pytest.fixture
def load(tree):
    """Moves all counters of the tree while a test runs: about 50 W each."""
    is_over = threading.Event()

    def spend():
        while not is_over.wait(0.01):
            for zone in tree.ticks:
                tree.spend(zone, 0.5)

    thread = threading.Thread(target=spend)
    thread.start()
    yield
    is_over.set()
    thread.join()


def accepts(path):
    """Whether the Unix socket can be connected to: its file is there a little earlier."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0


@pytest.fixture
def daemon_socket(gpus, tree, tmp_path):
    """The Unix socket of a daemon that serves the fake sensors."""
    path = os.environ.get("WATTLE_TEST_DAEMON")
    if not path:
        pytest.skip("the daemon was not built")
    at = tmp_path / "socket"
    program = subprocess.Popen(
        [path, "serve", "--socket-path", str(at)],
        env={**os.environ, **tree.variables()},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    for _ in range(500):
        if accepts(at) or program.poll() is not None:
            break
        time.sleep(0.02)
    assert program.poll() is None, program.stderr.read()
    yield str(at)
    program.terminate()
    program.communicate()


@pytest.fixture
def command(monkeypatch):
    """The built command."""
    path = os.environ.get("WATTLE_TEST_COMMAND")
    if not path:
        pytest.skip("the command was not built")
    monkeypatch.setenv("WATTLE_COMMAND", path)
    return path
