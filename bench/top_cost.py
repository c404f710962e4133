#!/usr/bin/env python3
"""What `wattle top` costs at 1 Hz, in turns with procps' top, btop and psutil's calls, those that are here.

    top_cost.py WATTLE [PROCESSES [SECONDS]]    500 more processes and 10 s a turn by default

Prints the CPU time of each as a part of a core, all threads together, and the resident memory.
With WATTLE_SYSFS, WATTLE_NVML_LIBRARY and WATTLE_FAKE_NVML set, devices are those of the fakes.
"""

import fcntl
import importlib.util
import os
import pathlib
import pty
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

TURNS = 5
PSUTIL = """
import psutil, time
def row(it):
    with it.oneshot():
        return it.name(), it.username(), it.cpu_times(), it.memory_info(), it.ppid()
while True:
    for it in psutil.process_iter():
        try: row(it)
        except psutil.Error: pass
    time.sleep(1)
"""


def cpu_s(pid):
    """Of all its threads that live."""
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def memory_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def make_btop_settings(folder):
    """btop renews its screen every 2 s by default."""
    (folder / "btop").mkdir()
    (folder / "btop/btop.conf").write_text("update_ms = 1000\nproc_tree = False\n")


def drain(terminal, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            os.read(terminal, 65536)


def measure(command, seconds, settings):
    """Percent of a core, and MiB. `settings`: a folder with those of btop."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update({"TERM": "xterm", "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": settings})
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    drain(terminal, 3)
    before, start = cpu_s(pid), time.monotonic()
    drain(terminal, seconds)
    result = 100 * (cpu_s(pid) - before) / (time.monotonic() - start), memory_mib(pid)
    os.kill(pid, signal.SIGTERM)
    os.close(terminal)
    os.waitpid(pid, 0)
    return result


def main():
    processes = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 10
    sleepers = [subprocess.Popen(["sleep", "3600"]) for _ in range(processes)]
    commands = {"wattle top": [sys.argv[1], "top"]}
    if importlib.util.find_spec("psutil"):
        commands["psutil"] = [sys.executable, "-c", PSUTIL]
    for peer in ("top", "btop"):
        if shutil.which(peer):
            commands[peer] = [peer, "-d", "1"] if peer == "top" else [peer]
    try:
        results = {name: [] for name in commands}
        with tempfile.TemporaryDirectory() as settings:
            make_btop_settings(pathlib.Path(settings))
            for _ in range(TURNS):
                for name, command in commands.items():
                    results[name].append(measure(command, seconds, settings))
    finally:
        for sleeper in sleepers:
            sleeper.kill()
    for name, values in results.items():
        print(f"{name}: {statistics.median(cpu for cpu, _ in values):.2f} % of a core, "
              f"{statistics.median(memory for _, memory in values):.1f} MiB")


if __name__ == "__main__":
    main()
