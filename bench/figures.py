#!/usr/bin/env python3
"""Runs the benchmarks and writes what was promised, and what is, to docs/benchmarks.md.

    bench/figures.py BUILD [PATTERN]

BUILD: a build of the preset release. PATTERN: only the benchmarks whose names have it, to look at;
the page is then left as it is. Exit status: 1 where a benchmark failed or said something unexpected.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/benchmarks.md"
BEGIN, END = "<!-- figures: begin -->\n", "<!-- figures: end -->\n"


class Promise(NamedTuple):
    what: str
    limit: float
    unit: str
    found: str  # an expression whose first group is the figure, on one line of the output
    at_least: bool = False

    def is_kept(self, value):
        return value >= self.limit if self.at_least else value <= self.limit


class Benchmark(NamedTuple):
    name: str
    command: list  # "{build}" is the folder of the build
    promises: list


def counter(name, of):
    """A counter of a Google Benchmark; its time where `of` is one."""
    return rf"^{name}\b.*\b{of}=([0-9.]+)"


BENCHMARKS = [
    Benchmark("start", ["bench/start", "{build}/apps/wattle/wattle"], [
        Promise("`wattle run -- true`, of what GNU time adds", 1.3, "times",
                r"^wattle run adds ([0-9.]+) times what GNU time adds"),
        Promise("`wattle run -- true`, of what `perf stat` adds", 0.33, "times",
                r"^wattle run adds ([0-9.]+) times what perf stat adds"),
        Promise("`wattle run`: peak memory", 12, "MiB", r"^wattle peak memory ([0-9.]+) MiB"),
    ]),
    Benchmark("bench", ["/usr/bin/python3", "bench/bench_peer.py", "{build}/apps/wattle/wattle"], [
        Promise("what `wattle bench` adds to a run of `true`, of what hyperfine adds", 2, "times",
                r"^wattle bench adds .* ([0-9.]+) times"),
    ]),
    Benchmark("timeline", ["{build}/bench/timeline_bench"], [
        Promise("a counter on a perfect grid", 1.4, "bytes a reading",
                counter("append/counter_on_grid", "bytes_per_reading")),
        Promise("a counter that steps every ~1 ms", 1.7, "bytes a reading",
                counter("append/counter_stepping", "bytes_per_reading")),
        Promise("a counter on a perfect grid, read by a thread that wakes up late", 2.3,
                "bytes a reading", counter("append/counter_late", "bytes_per_reading")),
        Promise("a counter that steps, read by a thread that wakes up late", 2.7,
                "bytes a reading", counter("append/counter_stepping_late", "bytes_per_reading")),
        Promise("appending a reading on a regular schedule", 20, "ns",
                counter("append/counter_on_grid", "per_reading") + "ns"),
        Promise("a window over 10 million readings, warm", 3, "us",
                counter("counter_window/warm", "median_us")),
        Promise("a window over 10 million readings, cold", 8, "us",
                counter("counter_window/cold", "median_us")),
        Promise("a reading at a time, warm", 2, "us", counter("lookup/warm", "median_us")),
    ]),
    Benchmark("sampler", ["{build}/bench/sampler_bench"], [
        Promise("a lane at 1 kHz over four counters, of the loop with bare reads", 1.2, "times",
                r"^lane with 4 counters .* ([0-9.]+) times the preads"),
    ]),
    Benchmark("meter", ["{build}/bench/energy_meter_bench", "bench/energy_meter_peer.py"], [
        Promise("`start` and `stop`, of the eight bare reads", 1.5, "times",
                r"^start \+ stop.* ([0-9.]+) times the reads"),
        Promise("allocations of `start` and `stop`", 0, "",
                r"^start \+ stop.*, (\d+) allocations"),
        Promise("the same reads in Python, of `start` and `stop`", 20, "times",
                r"^open, read and close in Python .* ([0-9.]+) times", at_least=True),
        Promise("what a record keeps", 64, "bytes a domain", r"^a record keeps +([0-9.]+) bytes"),
    ]),
    Benchmark("power monitor", ["{build}/bench/power_monitor_bench"], [
        Promise("one hour of 8 GPUs x 3 domains at 20 Hz", 4, "MiB",
                r"renewed every 50 ms: ([0-9.]+) MiB"),
        Promise("`energy(start, end)` over 10 million samples, warm", 3, "us",
                r"energy\(start, end\) .* warm +([0-9.]+) us"),
        Promise("`energy(start, end)` over 10 million samples, cold", 8, "us",
                r"energy\(start, end\) .* cold +([0-9.]+) us"),
        Promise("`power_at(t)`, warm", 2, "us", r"power_at\(t\) .* warm +([0-9.]+) us"),
        Promise("its end, with 8 GPUs that hang", 100, "ms",
                r"all of them hanging: .* at most ([0-9.]+) ms"),
    ]),
    Benchmark("hardware monitor", ["{build}/bench/hardware_monitor_bench"], [
        Promise("a row, of the bare reads, with a driver that takes 200 us a GPU", 1.2, "times",
                r"takes 200 us a GPU.* ([0-9.]+)x"),
        Promise("a row, of the bare reads, with a driver that takes 36 us a GPU", 1.2, "times",
                r"takes 36 us a GPU.* ([0-9.]+)x"),
    ]),
    Benchmark("python", ["env", "PYTHONPATH={build}/python", "/usr/bin/python3", "bench/python.py"], [
        Promise("`with wattle.measure()`, two packages and DRAM", 12, "us",
                r"^with wattle.measure\(\) +([0-9.]+) us"),
        Promise("Python that opens and reads the files, of `with wattle.measure()`", 8, "times",
                r"^with wattle.measure\(\) .* 1 / ([0-9.]+)", at_least=True),
        Promise("`import wattle`, and its first use", 10, "ms",
                r"^the same, and its first use +([0-9.]+) ms"),
        Promise("the columns of a timeline of 1 million samples", 20, "ms",
                r"^columns of a timeline +([0-9.]+) ms"),
    ]),
    Benchmark("summary", ["bench/summary_bench", "{build}/apps/wattle/wattle", "1024", "3"], [
        Promise("1 GiB by pandas, of `wattle summary`", 8, "times",
                r"^pandas, the same .* ([0-9.]+) times", at_least=True),
        Promise("pandas' `read_csv` of four columns, of `wattle summary`", 3, "times",
                r"^pandas, read_csv .* ([0-9.]+) times", at_least=True),
        Promise("`wattle summary`: peak memory", 6, "MiB", r"^wattle .* ([0-9.]+) MiB"),
    ]),
    Benchmark("tracker", ["{build}/bench/process_tree_bench", "bench/process_tree_peer.py",
                               "9", "/usr/bin/python3"], [
        Promise("a sample of a process with 200 children", 0.6, "ms",
                r"^a look at \d+ processes +([0-9.]+) ms"),
        Promise("a sample, more with 800 others on the machine", 5, "%",
                r"^with \d+ others .* ([-+][0-9.]+) %"),
        Promise("psutil as gpu_tracker calls it, of a sample", 100, "times",
                r"^psutil, as gpu_tracker .* ([0-9.]+) times", at_least=True),
        Promise("psutil's cheapest equivalents, of a sample", 10, "times",
                r"^psutil, its cheapest .* ([0-9.]+) times", at_least=True),
        Promise("interval error (median)", 5, "%", r"^interval error.* ([0-9.]+) %  "),
        Promise("its end, with a period of 60 s", 50, "ms", r"^stop of one .* ([0-9.]+) ms"),
    ]),
    Benchmark("daemon, fan-out", ["{build}/bench/fan_out_bench"], [
        Promise("1,000 readers, one event a write, of a bare loop", 0.9, "times",
                r"^ *1 events a write: .* ([0-9.]+)x", at_least=True),
        Promise("1,000 readers, ten events a write, of a bare loop", 0.9, "times",
                r"^ *10 events a write: .* ([0-9.]+)x", at_least=True),
    ]),
    Benchmark("daemon", ["/usr/bin/python3", "bench/daemon_cost.py", "{build}/apps/wattled/wattled",
                         "{build}/tests/fakes/nvml/current/libnvidia-ml.so.1"], [
        Promise("at rest: memory of its own", 4, "MiB", r"RssAnon ([0-9.]+) MiB"),
        Promise("at rest: resident", 16, "MiB", r"RSS ([0-9.]+) MiB$"),
        Promise("a subscriber that waits", 2, "KiB", r"^a subscriber: ([0-9.]+) KiB"),
        Promise("a scrape of `/metrics`, 2 sockets and 8 GPUs", 1, "ms",
                r"\(with GPUs\): ([0-9.]+) ms"),
        Promise("the same with shares of 200 pods", 3, "ms",
                r"^a scrape of /metrics with shares .*: ([0-9.]+) ms"),
    ]),
    Benchmark("daemon, flood", ["/usr/bin/python3", "bench/daemon_flood.py",
                                "{build}/apps/wattled/wattled"], [
        Promise("one client of the Unix socket beside 2,000 hostile ones, longest wait", 50, "ms",
                r"^places for 4096:.* most ([0-9.]+) ms"),
        Promise("the same with places for 1,000", 50, "ms",
                r"^places for 1000:.* most ([0-9.]+) ms"),
        Promise("kernel memory of 2,000 hostile clients", 512, "MiB",
                r"^places for 4096:.* kernel ([0-9.]+) MiB"),
    ]),
    Benchmark("stream", ["{build}/bench/stream_bench"], [
        Promise("readings followed, the 8 events of a server in one chunk", 160000, "a core and s",
                r"events of a server together: .*\(([0-9]+)/s a core\)", at_least=True),
        Promise("readings followed, each event alone", 80000, "a core and s",
                r"events alone: .*\(([0-9]+)/s a core\)", at_least=True),
        Promise("memory of each, libcurl's included", 16, "KiB",
                r"events of a server together: .* ([0-9.]+) KiB a stream"),
        Promise("allocations in that time", 0, "",
                r"events of a server together: .* ([0-9]+) allocations"),
        Promise("the end of 1,000", 100, "ms",
                r"events of a server together: .* stop ([0-9.]+) ms"),
    ]),
]


def run(benchmark, build):
    """What a benchmark prints; absent where it failed."""
    command = [word.format(build=build) for word in benchmark.command]
    print(f"== {benchmark.name}: {' '.join(command)}", flush=True)
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, flush=True)
    return done.stdout if done.returncode == 0 else None


def rows_of(benchmark, output):
    """(kept, row of the table) for each promise, and the names of those that were not found."""
    rows, missing = [], []
    for promise in benchmark.promises:
        match = re.search(promise.found, output, re.MULTILINE)
        if not match:
            missing.append(promise.what)
            continue
        value = float(match[1])
        kept = promise.is_kept(value)
        relation = "at least" if promise.at_least else "at most"
        rows.append((kept, f"| {benchmark.name} | {promise.what} | {value:g} {promise.unit} | "
                           f"{relation} {promise.limit:g} | {'' if kept else '**missed**'} |\n"))
    return rows, missing


def write_page(rows):
    table = "| | | measured | promised | |\n|---|---|---|---|---|\n"
    table += "".join(row for _, row in sorted(rows, key=lambda row: row[0]))
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(before + BEGIN + table + END + after, encoding="utf-8")


def main():
    build = Path(sys.argv[1]).resolve()
    pattern = sys.argv[2] if len(sys.argv) > 2 else ""
    rows, failed = [], []
    for benchmark in BENCHMARKS:
        if pattern not in benchmark.name:
            continue
        output = run(benchmark, build)
        if output is None:
            failed.append(benchmark.name)
            continue
        found, missing = rows_of(benchmark, output)
        rows += found
        failed += missing
    if failed:
        sys.exit(f"failed, or nowhere in what was printed: {', '.join(failed)}")
    if pattern:
        print("".join(row for _, row in rows), end="")
    else:
        write_page(rows)


main()
