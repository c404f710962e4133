# type: ignore
"""What users of the run monitor have: phases, files of the hardware, a summary."""

import json
import time

from run_monitor import HWMonitor, ResourceSummary, RunLog, build_resource_summary

log = RunLog()
hardware = HWMonitor()
hardware.start("logs", interval_sec=0.1)
start = time.time()
time.sleep(0.5)
log.log_phase("train", time.time() - start, epochs=3)
log.log_event("done", {"path": object})
gpu, cpu, dmon = hardware.stop()
log.write("run.jsonl")
with open("run.jsonl") as file:
    entries = [json.loads(line) for line in file]
print("log", [entry["type"] for entry in entries], entries[0]["epochs"])
print("files", gpu.name, cpu.name, dmon is None or dmon.name)
summary = build_resource_summary(gpu, cpu, dmon)
print("summary", isinstance(summary, ResourceSummary), summary.power_watts_mean)
print("keys", sorted(summary.to_dict())[:3])
print("never started", HWMonitor().stop())
