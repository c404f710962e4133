#!/usr/bin/env python3
"""The cost of the history of runs: room on the disk, listing, saving.

    bench/history.py [WATTLE [RUNS]]    default: build/release/apps/wattle/wattle, 100000 runs

Makes a history of RUNS runs that differ in command, host, tag, time and numbers, and prints, medians of 9:
a filtered list, by the whole program and without its start; the room a run takes; a save, with and without the
disk's own sync (the same transaction on /dev/shm), and where git is asked for changes first.
"""

import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

WATTLE = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/release/apps/wattle/wattle")
RUNS = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
ROUNDS = 9


def wattle(folder, *words, work="/"):
    """Seconds that wattle takes. `work`: where it runs; in no git repository unless told."""
    environment = {**os.environ, "XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    environment.pop("WATTLE_HISTORY", None)
    environment.pop("WATTLE_SAVE", None)
    begin = time.perf_counter()
    done = subprocess.run([WATTLE, *words], env=environment, capture_output=True, text=True, check=True,
                          cwd=work)
    return time.perf_counter() - begin, done.stdout


def median_ms(folder, *words):
    return 1e3 * statistics.median(wattle(folder, *words)[0] for _ in range(ROUNDS))


def cost_of_save_ms(place, work):
    wattle(place, "run", "--quiet", "--save", "--", "true", work=work)
    plain, saved = [], []
    for _ in range(5 * ROUNDS):
        plain.append(wattle(place, "run", "--quiet", "--", "true", work=work)[0])
        saved.append(wattle(place, "run", "--quiet", "--save", "--", "true", work=work)[0])
    return 1e3 * (statistics.median(saved) - statistics.median(plain))


def records(record):
    """RUNS different ones."""
    chance = random.Random(1)
    for i in range(RUNS):
        record["command"] = ["make", f"-j{i % 64}", f"target-{i % 2000}"]
        record["host"]["name"] = f"n{i % 16}"
        record["started_unix_s"] = 1.76e9 + 61.7 * i + chance.random()
        record["ended_unix_s"] = record["started_unix_s"] + 10 * chance.random()
        record["wall_s"] = 10 * chance.random()
        record["resource_usage"]["cpu_user_s"] = round(10 * chance.random(), 6)
        record["resource_usage"]["peak_rss_bytes"] = chance.randrange(10**6, 10**10)
        record["energy"]["total_j"] = 1e3 * chance.random()
        record["overhead"]["cpu_s"] = chance.random()
        tags = {"branch": ["main", "topic"][i % 2], "n": str(i % 50)}
        yield json.dumps({"schema": "wattle.saved/1", "tags": tags, "record": record})


def main():
    with tempfile.TemporaryDirectory(dir=".") as folder, tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        folder = pathlib.Path(folder).resolve()  # a relative one does not count
        _, record = wattle(folder, "run", "--quiet", "--json", "-", "--", "true")
        lines = folder / "runs.jsonl"
        with lines.open("w", encoding="utf-8") as file:
            for line in records(json.loads(record)):
                file.write(line + "\n")
        seconds, _ = wattle(folder, "history", "import", str(lines))
        size = (folder / "wattle/history.db").stat().st_size
        start = median_ms(folder, "--version")
        print(f"{RUNS} runs: import {seconds:.1f} s, {size / RUNS:.0f} bytes a run")
        for filters in (["--command", "target-77"], ["--tag", "n=7"], ["--tag", "branch=main", "--host", "n3"],
                        ["--since", "2026-01-01", "--command", "nothing"]):
            whole = median_ms(folder, "history", *filters, "--json", "--limit", "20")
            print(f"list {' '.join(filters)}: {whole:.1f} ms, without the program's start {whole - start:.1f} ms")
        for name, place, work in (("here", folder, "/"), ("/dev/shm", memory, "/"),
                                  ("/dev/shm, in a git repository", memory, ".")):
            print(f"save, history on {name}: {cost_of_save_ms(place, work):.2f} ms more than without")


if __name__ == "__main__":
    main()
