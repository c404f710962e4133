"""What `wattled` costs: memory at rest and for each subscriber that waits, time of a scrape.

usage: daemon_cost.py WATTLED [NVML_LIBRARY]

Two sockets with their memory are made up (files of the powercap interface). With the tests' own
libnvidia-ml.so.1 as NVML_LIBRARY the scrapes are of eight made-up GPUs too, and a daemon is measured that divides
energy among 200 made-up pods. Where
prometheus-node-exporter is installed, its rapl collector is scraped beside wattled, in turn and on the
same tree.
"""

import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SUBSCRIBERS = 1000
SCRAPES = 300
PODS = 200
DIVISIONS_S = 20
ROUNDS = 9
FIRST_ENERGY_UJ = 100_000_000_000  # as long as all that follow: written in place


def make_sockets(sysfs):
    powercap = f"{sysfs}/class/powercap"
    for package in range(2):
        zone = f"{powercap}/intel-rapl:{package}"
        memory = f"intel-rapl:{package}:0"
        for folder, name in ((zone, f"package-{package}"), (f"{zone}/{memory}", "dram")):
            os.makedirs(folder)
            for file, text in (("name", name), ("energy_uj", str(FIRST_ENERGY_UJ)),
                               ("max_energy_range_uj", "262143328850")):
                with open(f"{folder}/{file}", "w", encoding="ascii") as out:
                    out.write(text + "\n")
        # The kernel lists all zones at the top too.
        os.symlink(f"{zone}/{memory}", f"{powercap}/{memory}")


def keep_counting(sysfs, ended):
    """Until `ended`: a counter that stands still is told as dead, and has no figures."""
    zones = ("intel-rapl:0", "intel-rapl:0/intel-rapl:0:0",
             "intel-rapl:1", "intel-rapl:1/intel-rapl:1:0")
    counters = [os.open(f"{sysfs}/class/powercap/{zone}/energy_uj", os.O_WRONLY)
                for zone in zones]
    energy_uj = FIRST_ENERGY_UJ
    while not ended.wait(0.05):
        energy_uj += 5_000_000  # 100 W
        for counter in counters:
            os.pwrite(counter, str(energy_uj).encode(), 0)


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


def ask(place, target):
    """`place`: the path of a Unix socket, or a port."""
    connection = socket.socket(socket.AF_UNIX if isinstance(place, str) else socket.AF_INET)
    connection.settimeout(10)
    connection.connect(place if isinstance(place, str) else ("127.0.0.1", place))
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return connection


def read_scrape(place):
    connection = ask(place, "/metrics")
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


def scrape_cost_ms(pid, place, scrapes):
    """Of processor time, in all threads; mean."""
    before = cpu_s(pid)
    for _ in range(scrapes):
        read_scrape(place)
    return (cpu_s(pid) - before) / scrapes * 1e3


class Program:
    """One that runs until the end of a `with`, and serves by then."""

    def __init__(self, command, place):
        self.place = place
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self.pid = self.process.pid
        for _ in range(500):
            try:
                ask(place, "/health").recv(4096)
                break
            except OSError:
                time.sleep(0.01)
        time.sleep(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def daemon(program, folder, library, *options):
    place = f"{folder}/socket"
    return Program([program, "serve", "--sysfs", f"{folder}/sys", "--socket-path", place,
                    "--nvml-library", library, *options], place)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def measure_memory(program, folder):
    with daemon(program, folder, "/nowhere") as wattled:
        rest = status(wattled.pid, "RssAnon")
        print(f"at rest: RssAnon {rest / 1024:.1f} MiB, RSS "
              f"{status(wattled.pid, 'VmRSS') / 1024:.1f} MiB")
        streams = [ask(wattled.place, "/cpu/stream_power") for _ in range(SUBSCRIBERS)]
        for stream in streams:
            if not stream.recv(4096).startswith(b"HTTP/1.1 200"):
                sys.exit("a subscriber was refused")
        more = status(wattled.pid, "RssAnon") - rest
        print(f"a subscriber: {more / SUBSCRIBERS:.2f} KiB of RssAnon, of {SUBSCRIBERS}")


def measure_scrapes(program, folder, library):
    if library:
        script = f"{folder}/gpus"
        with open(script, "w", encoding="ascii") as out:
            for gpu in range(8):
                out.write(f"gpu NVIDIA H100 PCIe\nuuid GPU-{gpu}\npower step 0 {100 + gpu}\n")
        os.environ["WATTLE_FAKE_NVML"] = script
    with daemon(program, folder, library or "/nowhere") as wattled:
        if library and b"nvidia_gpu_7" not in read_scrape(wattled.place):
            sys.exit("the GPUs are not in the scrape")
        print(f"a scrape of /metrics ({'with' if library else 'without'} GPUs): "
              f"{scrape_cost_ms(wattled.pid, wattled.place, SCRAPES):.2f} ms of processor time, "
              f"mean of {SCRAPES}")


def use_cpus(cgroup, ended):
    """All pods, until `ended`, which begin before this returns."""
    files = []
    for pod in range(PODS):
        place = f"{cgroup}/kubepods/burstable/pod{pod:08x}-0000-4000-8000-000000000000"
        os.makedirs(place)
        files.append(os.open(f"{place}/cpu.stat", os.O_WRONLY | os.O_CREAT))
    used_us = 10**12

    def use_more():
        nonlocal used_us
        used_us += 1000
        for number, file in enumerate(files):
            os.pwrite(file, f"usage_usec {used_us + number}\nuser_usec 1\nsystem_usec 1\n".encode(), 0)

    def run():
        while not ended.wait(0.2):
            use_more()

    use_more()
    using = threading.Thread(target=run)
    using.start()
    return using


def measure_shares(program, folder, library):
    """Scrapes and divisions with shares of pods, which use the CPUs, and of eight GPUs, each with a process."""
    cgroup = f"{folder}/sys/fs/cgroup"
    os.makedirs(cgroup)
    with open(f"{cgroup}/cgroup.controllers", "w", encoding="ascii") as out:
        out.write("cpu\n")
    with open(f"{folder}/gpus", "w", encoding="ascii") as out:
        for gpu in range(8):
            out.write(f"gpu NVIDIA H100 PCIe\nuuid GPU-{gpu}\npower step 0 {100 + gpu}\nprocess compute {os.getpid()} 1000\n")
    os.environ["WATTLE_FAKE_NVML"] = f"{folder}/gpus"
    ended = threading.Event()
    using = use_cpus(cgroup, ended)
    try:
        with daemon(program, folder, library, "--enable", "shares", "--shares-interval", "1", "--shares-top",
                    str(2 * PODS)) as wattled:
            for _ in range(100):
                text = read_scrape(wattled.place)
                if text.count(b'group_kind="pod"') >= PODS:
                    break
                time.sleep(0.1)
            else:
                sys.exit("the pods are not in the scrape")
            before = cpu_s(wattled.pid)
            time.sleep(DIVISIONS_S)
            division_ms = (cpu_s(wattled.pid) - before) / DIVISIONS_S * 1e3
            begin = time.monotonic()
            cost_ms = scrape_cost_ms(wattled.pid, wattled.place, SCRAPES)
            others_ms = (time.monotonic() - begin) * division_ms / SCRAPES
            print(f"a scrape of /metrics with shares of {PODS} pods and 8 GPUs: {cost_ms - others_ms:.2f} ms of processor "
                  f"time, mean of {SCRAPES}; {len(text) / 1000:.0f} kB")
            print(f"a division among {PODS} pods: {division_ms:.2f} ms of processor time, mean of {DIVISIONS_S}; "
                  f"resident {status(wattled.pid, 'VmRSS') / 1024:.1f} MiB")
    finally:
        ended.set()
        using.join()


def compare_with_exporter(program, folder):
    exporter = shutil.which("prometheus-node-exporter")
    if exporter is None:
        print("not compared: prometheus-node-exporter (the Debian package) is not installed")
        return
    port, other_port = free_port(), free_port()
    command = [exporter, "--path.sysfs", f"{folder}/sys", "--collector.disable-defaults",
               "--collector.rapl", "--web.disable-exporter-metrics", "--web.listen-address",
               f"127.0.0.1:{other_port}"]
    with daemon(program, folder, "/nowhere", "--mode", "uds,tcp", "--tcp-bind-address",
                f"127.0.0.1:{port}") as wattled, Program(command, other_port) as peer:
        if read_scrape(port).count(b"\nwattle_energy_joules_total{") != 4:
            sys.exit("wattled does not show four counters")
        if read_scrape(other_port).count(b"_joules_total{") != 4:
            sys.exit("node-exporter does not show four counters")
        costs = [(scrape_cost_ms(wattled.pid, port, SCRAPES),
                  scrape_cost_ms(peer.pid, other_port, SCRAPES)) for _ in range(ROUNDS)]
        for name, of_one in zip(("wattled", "node-exporter"), zip(*costs)):
            print(f"a scrape of four counters through TCP, {name}: "
                  f"{statistics.median(of_one):.2f} ms of processor time "
                  f"({min(of_one):.2f} to {max(of_one):.2f}), {ROUNDS} rounds of {SCRAPES} in turn")
        for name, pid in (("wattled", wattled.pid), ("node-exporter", peer.pid)):
            print(f"resident after that, {name}: {status(pid, 'VmRSS') / 1024:.1f} MiB")


def main():
    program = sys.argv[1]
    library = sys.argv[2] if len(sys.argv) > 2 else ""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    with tempfile.TemporaryDirectory() as folder:
        make_sockets(f"{folder}/sys")
        ended = threading.Event()
        counting = threading.Thread(target=keep_counting, args=(f"{folder}/sys", ended))
        counting.start()
        try:
            measure_memory(program, folder)
            compare_with_exporter(program, folder)
            measure_scrapes(program, folder, library)
            if library:
                measure_shares(program, folder, library)
        finally:
            ended.set()
            counting.join()


main()
