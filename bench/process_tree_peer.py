"""What it costs to look at a process tree with psutil, as trackers written in Python do.

usage: process_tree_peer.py PID TICKS

Prints the seconds of processor time that a look takes: with the calls that gpu_tracker makes
(memory_maps, children, cpu_percent, num_threads), and with the cheapest that tell the same
(children and, all at once, cpu_times and memory_info of objects that are kept).
"""

import sys
import time

import psutil


def as_gpu_tracker_does(root):
    processes = [root] + root.children(recursive=True)
    for process in processes:
        process.cpu_percent()
    for process in processes:
        process.memory_maps(grouped=False)
        process.num_threads()
        process.cpu_percent()


def cheapest(root, known):
    for process in root.children(recursive=True):
        known.setdefault(process, process)
    for process in list(known):
        with process.oneshot():
            process.cpu_times()
            process.memory_info()


def seconds_of(ticks, look):
    look()
    begin = time.process_time()
    for _ in range(ticks):
        look()
    return (time.process_time() - begin) / ticks


root = psutil.Process(int(sys.argv[1]))
ticks = int(sys.argv[2])
known = {root: root}
print(seconds_of(ticks, lambda: as_gpu_tracker_does(root)))
print(seconds_of(ticks, lambda: cheapest(root, known)))
