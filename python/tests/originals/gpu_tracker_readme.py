# type: ignore
"""What the README of gpu_tracker shows: a tracker as a context and by its calls, and sub-trackers."""

import time

import gpu_tracker as gput
from gpu_tracker import SubTracker, sub_track

with gput.Tracker(ram_unit="megabytes", time_unit="seconds", sleep_time=0.05, n_expected_cores=1) as tracker:
    kept = bytearray(20_000_000)
    time.sleep(0.3)
print("usage", tracker.resource_usage.max_ram.unit, tracker.resource_usage.max_ram.main.total_rss > 15)
print("time", 0.2 < tracker.resource_usage.compute_time.time < 30)
print("json", list(tracker.to_json()))
print("text", str(tracker).splitlines()[0])

tracker = gput.Tracker(sleep_time=0.05, tracking_file="tracking.csv", overwrite=True)
print(repr(tracker))


@sub_track(code_block_name="function", sub_tracking_file="sub.csv")
def work():
    time.sleep(0.1)


tracker.start()
with SubTracker(code_block_name="block", sub_tracking_file="sub.csv"):
    time.sleep(0.2)
for _ in range(2):
    work()
tracker.stop()
print(tracker.state.name)
results = gput.SubTrackingAnalyzer("tracking.csv", "sub.csv").sub_tracking_results()
print("blocks", sorted(block["name"] for block in results.to_json()["code_block_results"]))
try:
    tracker.stop()
except RuntimeError as error:
    print("RuntimeError", "stop" in str(error))
