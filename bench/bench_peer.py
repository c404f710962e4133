#!/usr/bin/env python3
"""What `wattle bench` adds to each run of `true`, beside hyperfine.

    bench_peer.py WATTLE [REPETITIONS]

Both run `true` 200 times without a shell, in turns. What one adds is the time of the whole benchmark divided by
its runs, less the time of a bare fork, exec and wait. Needs hyperfine (Debian's package).
"""

import os
import shutil
import statistics
import subprocess
import sys
import time

WATTLE = sys.argv[1]
REPETITIONS = int(sys.argv[2]) if len(sys.argv) > 2 else 9
RUNS = 200
TRUE = shutil.which("true")


def bare():
    for _ in range(RUNS):
        os.waitpid(os.posix_spawn(TRUE, [TRUE], {}), 0)


def program(*words):
    def run():
        subprocess.run([*words, "-N", "--runs", str(RUNS), TRUE], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return run


def main():
    if shutil.which("hyperfine") is None:
        sys.exit("bench_peer.py: hyperfine is not installed; scripts/setup bench installs it")
    ways = {"bare": bare, "wattle bench": program(WATTLE, "bench"), "hyperfine": program("hyperfine", "--style", "none")}
    times = {name: [] for name in ways}
    for _ in range(REPETITIONS):
        for name, run in ways.items():
            start = time.perf_counter()
            run()
            times[name].append((time.perf_counter() - start) / RUNS)
    medians = {name: statistics.median(each) for name, each in times.items()}
    print(f"{'a bare fork, exec and wait':34} {medians['bare'] * 1e3:.3f} ms")
    added = {name: medians[name] - medians["bare"] for name in ("hyperfine", "wattle bench")}
    print(f"{'hyperfine adds to each run':34} {added['hyperfine'] * 1e3:.3f} ms")
    print(f"{'wattle bench adds to each run':34} {added['wattle bench'] * 1e3:.3f} ms, "
          f"{added['wattle bench'] / added['hyperfine']:.2f} times hyperfine")


main()
