"""What a meter costs that opens, reads and closes each counter's file at every call, in Python.

usage: energy_meter_peer.py CALLS FILE...

Prints the seconds that one start and one stop take together: the wall clock and every file, twice.
"""

import sys
import time


def read_counter(path):
    with open(path) as file:
        return float(file.readline())


def read_state(paths):
    return time.time(), [read_counter(path) for path in paths]


def measure(paths):
    first = read_state(paths)
    last = read_state(paths)
    return [b - a for a, b in zip(first[1], last[1])]


calls = int(sys.argv[1])
files = sys.argv[2:]
measure(files)
begin = time.perf_counter()
for _ in range(calls):
    measure(files)
print((time.perf_counter() - begin) / calls)
