#!/usr/bin/env python3
"""What a fleet costs its Prometheus: series, bytes a day, CPU time and memory.

    fleet_scale.py BUILD [NODES] [SECONDS] [INTERVAL]      default: 1000 nodes for 180 s, scraped every 15 s

A wattled of BUILD over fake hardware (2 sockets, 8 GPUs) shows what a node serves. This process then serves NODES such
nodes, whose values change as real ones do, and Debian's Prometheus scrapes all of them with the rules of
fleet/prometheus. The bytes of a day are those of the blocks that promtool writes for one node.
"""

import asyncio
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

PROJECT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(sys.argv[1])
NODES = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
SECONDS = int(sys.argv[3]) if len(sys.argv) > 3 else 180
INTERVAL = int(sys.argv[4]) if len(sys.argv) > 4 else 15
DAY = 86400
GPU = "gpu NVIDIA H100 80GB HBM3\nuuid GPU-{}\npower step 0 500\nlimit 700 700\nutilization 90 50\n" \
      "memory 80000000000 60000000000\ntemperature 60\nclocks 1980 2619\n"
CPU = "processor\t: {0}\nvendor_id\t: GenuineIntel\nflags\t\t: msr\nphysical id\t: {0}\ncore id\t\t: 0\n\n"


def fetch(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=120) as answer:
        return answer.read().decode()


def scrape_of_a_node(folder):
    """What the daemon serves on fake hardware."""
    zones = folder / "sys" / "class" / "powercap"
    words = []
    for socket in (0, 1):
        package = f"intel-rapl:{socket}"
        for name, watts, label in ((package, 150, f"package-{socket}"), (f"{package}:0", 30, "dram")):
            (zones / name).mkdir(parents=True)
            (zones / name / "name").write_text(label + "\n")
            (zones / name / "max_energy_range_uj").write_text("262143328850\n")
            (zones / name / "energy_uj").write_text("0" * 19 + "\n")
            words += [zones / name, str(watts), "6.103515625e-05", "61035", "1000"]
    (folder / "proc").mkdir()
    (folder / "proc" / "cpuinfo").write_text(CPU.format(0) + CPU.format(1))
    (folder / "gpus").write_text("".join(GPU.format(i) for i in range(8)))
    player = subprocess.Popen([BUILD / "tests/fakes/powercap_player", "60000", *words], stdout=subprocess.DEVNULL)
    daemon = subprocess.Popen(
        [BUILD / "apps/wattled/wattled", "serve", "--user", "root", "--mode=tcp", "--tcp-bind-address=127.0.0.1:19438",
         "--public-cpu-period=0", f"--sysfs={folder}/sys", f"--procfs={folder}/proc",
         f"--nvml-library={BUILD}/tests/fakes/nvml/current/libnvidia-ml.so.1"],
        env={**os.environ, "WATTLE_FAKE_NVML": str(folder / "gpus")}, stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(4):  # mean powers are known from the third on
            time.sleep(1.5)
            text = fetch(19438, "/metrics")
    finally:
        for process in (daemon, player):
            process.kill()
            process.wait()
    return text


class Node:
    """One sample per line; values move as those of the kind do."""

    def __init__(self, text, seed):
        self.random = random.Random(seed)
        self.lines = []  # text, or (name and labels, function of the time)
        for line in text.splitlines():
            if line.startswith("#"):
                self.lines.append(line)
                continue
            name, value = line.rsplit(" ", 1)
            self.lines.append((name, self.moving(name, float(value))))

    def moving(self, name, value):
        noise = self.random.gauss
        phase = self.random.uniform(0, math.tau)
        kind = name.split("{")[0]
        if kind == "wattle_energy_joules_total":
            watts = 500 if "gpu" in name else 150
            return lambda t: round(watts * (t % 1e7 + 60 * math.sin(t / 600 + phase)) + noise(0, watts / 50), 3)
        if kind == "wattle_power_watts":
            return lambda t: round(value * (1 + 0.1 * math.sin(t / 600 + phase) + noise(0, 0.02)), 3)
        if kind == "wattle_gpu_utilization_ratio":
            return lambda t: round(min(1.0, max(0.0, noise(0.9, 0.05))), 2)
        if kind == "wattle_temperature_celsius":
            return lambda t: round(noise(value, 1))
        if kind == "wattle_gpu_clock_hertz":
            return lambda t: 15e6 * round(noise(value / 15e6, 1))
        if kind == "wattle_memory_used_bytes":
            return lambda t: value + (2**21) * (int(t) // 300 % 7)
        if kind.endswith("timestamp_seconds"):
            return lambda t: round(t, 3)
        if kind == "process_cpu_seconds_total":
            return lambda t: round(t % 1e7 * 0.002, 3)
        return lambda t: value

    def text(self, t):
        return "\n".join(line if isinstance(line, str) else f"{line[0]} {line[1](t)!r}" for line in self.lines) + "\n"


def bytes_of_a_day(folder, node):
    """(samples, bytes) of one node in blocks, scraped every 15 s."""
    end = int(time.time()) - 3600
    samples = 0
    with open(folder / "day", "w") as day:
        for name, value in (line for line in node.lines if not isinstance(line, str)):
            day.write(f"# TYPE {name.split('{')[0]}_x gauge\n")
            name = re.sub(r"^\w+", lambda match: match[0] + "_x", name)
            for t in range(end - DAY, end, INTERVAL):
                day.write(f"{name} {value(t)!r} {t}\n")
                samples += 1
        day.write("# EOF\n")
    subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=64h", folder / "day",
                    folder / "day_blocks"], check=True, stdout=subprocess.DEVNULL)
    return samples, sum(path.stat().st_size for path in (folder / "day_blocks").rglob("*") if path.is_file())


async def serve(nodes, port, done):
    async def answer(reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                body = nodes[int(head.split()[1][1:])].text(time.time()).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %d\r\n\r\n"
                             % len(body) + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", port, backlog=4096):
        await asyncio.get_running_loop().run_in_executor(None, done)


def value_of(port, expression):
    found = json.loads(fetch(port, "/api/v1/query?" + urllib.parse.urlencode({"query": expression})))["data"]["result"]
    return float(found[0]["value"][1]) if found else math.nan


def main():
    with tempfile.TemporaryDirectory(prefix="fleet-scale-") as name:
        folder = pathlib.Path(name)
        text = scrape_of_a_node(folder)
        series = len(re.findall(r"^[^#]", text, re.MULTILINE))
        print(f"a node with 2 sockets and 8 GPUs: {series} series, {len(text)} bytes per scrape", flush=True)
        samples, size = bytes_of_a_day(folder, Node(text, 0))
        print(f"a day of it, every {INTERVAL} s: {samples} samples, {size / 1e6:.2f} MB, {size / samples:.2f} bytes each",
              flush=True)
        groups = [{"targets": ["127.0.0.1:19439"],
                   "labels": {"__metrics_path__": f"/{i}", "instance": f"n{i}", "rack": f"r{i // 20}", "cluster": "c1"}}
                  for i in range(NODES)]
        (folder / "targets.json").write_text(json.dumps(groups))
        (folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": f"{INTERVAL}s", "evaluation_interval": f"{INTERVAL}s"},
            "rule_files": [f"{PROJECT}/fleet/prometheus/rules/*.yml"],
            "scrape_configs": [{"job_name": "wattled", "file_sd_configs": [{"files": ["targets.json"]}]}],
        }))
        nodes = [Node(text, i) for i in range(NODES)]
        prometheus = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             "--web.listen-address=127.0.0.1:19440", "--log.level=error"])

        def own(metric):
            return sum(float(value) for value in re.findall(rf"^{metric}(?:{{.*}})? (\S+)$", fetch(19440, "/metrics"),
                                                           re.MULTILINE))

        def measure():
            time.sleep(SECONDS / 2)
            start, cpu = time.monotonic(), own("process_cpu_seconds_total")
            appended = own("prometheus_tsdb_head_samples_appended_total")
            time.sleep(SECONDS / 2)
            passed = time.monotonic() - start
            rate = (own("prometheus_tsdb_head_samples_appended_total") - appended) / passed
            print(f"{NODES} nodes for {SECONDS} s: {value_of(19440, 'sum(up)'):.0f} are scraped, "
                  f"{own('prometheus_tsdb_head_series'):.0f} series with those of the rules, {rate:.0f} samples/s")
            print(f"Prometheus: {(own('process_cpu_seconds_total') - cpu) / passed:.2f} CPU cores, "
                  f"{own('process_resident_memory_bytes') / 1e6:.0f} MB")
            for group in json.loads(fetch(19440, "/api/v1/rules"))["data"]["groups"]:
                begun = time.monotonic()
                for rule in group["rules"]:
                    value_of(19440, rule["query"])
                print(f"rules of {group['name']}: {(time.monotonic() - begun) * 1e3:.0f} ms every {group['interval']:.0f} s")
            for title, expression in (("power now", "sum(instance:wattle_power_watts:sum)"),
                                      ("the same from raw metrics", 'sum(wattle_power_watts{additive="true"})')):
                begun = time.monotonic()
                watts = value_of(19440, expression)
                print(f"query of {title}: {watts / 1e3:.0f} kW in {(time.monotonic() - begun) * 1e3:.0f} ms")

        def measure_and_end():
            try:
                measure()
            finally:
                prometheus.kill()
                prometheus.wait()

        asyncio.run(serve(nodes, 19439, measure_and_end))


main()
