"""What `wattled` costs: memory at rest and for each subscriber that waits, time of a scrape.

usage: daemon_cost.py WATTLED [NVML_LIBRARY]

Two sockets with their memory are made up (files of the powercap interface). With the tests' own
libnvidia-ml.so.1 as NVML_LIBRARY the scrapes are of eight made-up GPUs too.
"""

import os
import resource
import socket
import subprocess
import sys
import tempfile
import time

SUBSCRIBERS = 1000
SCRAPES = 300


def make_sockets(sysfs):
    for package in range(2):
        zone = f"{sysfs}/class/powercap/intel-rapl:{package}"
        for folder, name in ((zone, f"package-{package}"), (f"{zone}/intel-rapl:{package}:0", "dram")):
            os.makedirs(folder)
            for file, text in (("name", name), ("energy_uj", "1000000"),
                               ("max_energy_range_uj", "262143328850")):
                with open(f"{folder}/{file}", "w", encoding="ascii") as out:
                    out.write(text + "\n")


def status(pid, key):
    with open(f"/proc/{pid}/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key + ":"))


def cpu_s(pid):
    """Of all its threads, in steps of the scheduler's clock."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as text:
            total += int(text.read().split()[0])
    return total * 1e-9


def ask(path, target):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(10)
    connection.connect(path)
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return connection


def read_scrape(path):
    connection = ask(path, "/metrics")
    text = b""
    while b"\r\n\r\n" not in text:
        text += connection.recv(1 << 16)
    head, body = text.split(b"\r\n\r\n", 1)
    length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n")
                  if line.startswith(b"content-length"))
    while len(body) < length:
        body += connection.recv(1 << 16)
    connection.close()
    return body


class Daemon:
    def __init__(self, program, folder, library):
        self.path = f"{folder}/socket"
        self.process = subprocess.Popen(
            [program, "serve", "--sysfs", f"{folder}/sys", "--socket-path", self.path,
             "--nvml-library", library], stderr=subprocess.DEVNULL)
        self.pid = self.process.pid
        for _ in range(500):
            if os.path.exists(self.path):
                break
            time.sleep(0.01)
        ask(self.path, "/health").recv(4096)
        time.sleep(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def main():
    program = sys.argv[1]
    library = sys.argv[2] if len(sys.argv) > 2 else ""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    with tempfile.TemporaryDirectory() as folder:
        make_sockets(f"{folder}/sys")
        with Daemon(program, folder, "/nowhere") as daemon:
            rest = status(daemon.pid, "RssAnon")
            print(f"at rest: RssAnon {rest / 1024:.1f} MiB, RSS "
                  f"{status(daemon.pid, 'VmRSS') / 1024:.1f} MiB")
            streams = [ask(daemon.path, "/cpu/stream_power") for _ in range(SUBSCRIBERS)]
            for stream in streams:
                if not stream.recv(4096).startswith(b"HTTP/1.1 200"):
                    sys.exit("a subscriber was refused")
            more = status(daemon.pid, "RssAnon") - rest
            print(f"a subscriber: {more / SUBSCRIBERS:.2f} KiB of RssAnon, of {SUBSCRIBERS}")
        if library:
            script = f"{folder}/gpus"
            with open(script, "w", encoding="ascii") as out:
                for gpu in range(8):
                    out.write(f"gpu NVIDIA H100 PCIe\nuuid GPU-{gpu}\npower step 0 {100 + gpu}\n")
            os.environ["WATTLE_FAKE_NVML"] = script
        with Daemon(program, folder, library or "/nowhere") as daemon:
            if library and b"nvidia_gpu_7" not in read_scrape(daemon.path):
                sys.exit("the GPUs are not in the scrape")
            before = cpu_s(daemon.pid)
            for _ in range(SCRAPES):
                read_scrape(daemon.path)
            each_ms = (cpu_s(daemon.pid) - before) / SCRAPES * 1e3
            print(f"a scrape of /metrics ({'with' if library else 'without'} GPUs): "
                  f"{each_ms:.2f} ms of processor time, mean of {SCRAPES}")


main()
