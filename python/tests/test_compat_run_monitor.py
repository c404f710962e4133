"""wattle.compat.run_monitor."""

import json
import time

import pytest
import wattle
from wattle.compat.run_monitor import (
    HWMonitor,
    ResourceSummary,
    RunLog,
    build_resource_summary,
)


def test_the_log_is_written_as_lines_of_json(tmp_path):
    log = RunLog()
    log.log_phase("compile", 1.23456, shape=[1, 2], worst=float("nan"))
    log.log_event("start", {"path": tmp_path})
    log.log_event("end")
    log.write(tmp_path / "run.jsonl")
    phase, start, end = map(json.loads, (tmp_path / "run.jsonl").read_text().splitlines())
    assert phase["ts"].endswith("+00:00")
    del phase["ts"], end["ts"]
    assert phase == {
        "type": "phase",
        "name": "compile",
        "seconds": 1.235,
        "shape": [1, 2],
        "worst": None,
    }
    assert start["data"] == {"path": str(tmp_path)}
    assert end == {"type": "event", "event": "end"}


def test_a_key_of_the_log_itself_is_refused():
    log = RunLog()
    with pytest.raises(wattle.InvalidArgument, match="ts"):
        log.log_phase("a", 1.0, ts="x")


def test_files_and_their_summary(tree, gpus, tmp_path):
    monitor = HWMonitor()
    assert monitor.stop() == (None, None, None)
    monitor.start(tmp_path, interval_sec=0.1)
    with pytest.raises(wattle.InvalidState):
        monitor.start(tmp_path)
    time.sleep(0.35)
    gpu_csv, cpu_csv, dmon_csv = monitor.stop()
    summary = build_resource_summary(gpu_csv, cpu_csv, dmon_csv)
    assert summary.power_watts_mean == pytest.approx(100.0, rel=0.5)
    assert summary.to_dict()["gpu_util_max_pct"] == 50.0


def test_what_no_file_has_is_named():
    summary = build_resource_summary(None, None)
    assert summary.power_watts_mean == 0.0
    assert "power_watts_mean" in summary.unknown
    assert summary.to_dict()["power_watts_mean"] is None


def test_figures_that_are_set_are_rounded():
    summary = ResourceSummary(peak_vram_mb=12.34, jax_peak_bytes_mb=5.0)
    assert summary.to_dict()["peak_vram_mb"] == 12.3
    assert summary.to_dict()["jax_peak_bytes_mb"] == 5.0
    assert "mem_util_mean_pct" not in summary.to_dict()
