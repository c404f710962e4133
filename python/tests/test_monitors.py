# type: ignore
"""Tracker, run log, hardware monitor, summaries."""

import datetime
import json
import pathlib
import time

import numpy
import pytest
import wattle


def test_a_tracker_reports_what_this_process_used(tree, tmp_path, monkeypatch):
    monkeypatch.setenv("WATTLE_PROCFS", "/proc")
    rows = tmp_path / "rows.csv"
    with wattle.Tracker(
        sleep_time=0.05, time_unit="seconds", resource_usage_file="", tracking_file=rows
    ) as tracker:
        assert tracker.state == "STARTED"
        assert str(tracker) == "State: STARTED"
        with pytest.raises(wattle.NotStopped):
            print(tracker.resource_usage)
        time.sleep(0.1)
    usage = tracker.resource_usage
    assert usage.max_ram.unit == "gigabytes"
    assert usage.max_ram.main.total_rss > 0
    assert usage.compute_time.time >= 0.1
    assert usage.to_dict()["compute_time"]["unit"] == "seconds"
    assert usage.to_native_dict()["schema"].startswith("wattle.track/")
    assert str(tracker) == str(usage)
    assert rows.exists()
    with pytest.raises(wattle.InvalidState):
        tracker.start()


def test_a_tracker_stops_where_the_block_raises(tree, monkeypatch):
    monkeypatch.setenv("WATTLE_PROCFS", "/proc")
    with pytest.raises(KeyError), wattle.Tracker(sleep_time=0.05, resource_usage_file="") as tracker:
        raise KeyError
    assert tracker.state == "STOPPED"


def test_a_tracker_refuses_what_is_out_of_range(tree):
    for options in ({"ram_unit": "acres"}, {"sleep_time": 0}, {"sleep_time": float("nan")}):
        with pytest.raises(wattle.InvalidArgument):
            wattle.Tracker(**options)


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_run_log_writes_lines_as_they_happen(tmp_path):
    path = tmp_path / "ä" / "log.jsonl"
    log = wattle.RunLog(path)
    log.log_phase("compile", 1.2345, rows=3)
    log.log_event("start", {"gpus": 8, "when": datetime.date(2026, 1, 2), "path": pathlib.Path("a")})
    with log.phase("load", kind="ü") as phase:
        phase.add("bytes", numpy.int64(7))
    lines = lines_of(path)
    assert lines[0]["name"] == "compile" and lines[0]["seconds"] == 1.234 or 1.235
    assert lines[0]["rows"] == 3
    assert lines[1]["data"] == {"gpus": 8, "when": "2026-01-02", "path": "a"}
    assert (lines[2]["kind"], lines[2]["bytes"]) == ("ü", 7)


def test_a_run_log_takes_any_value(tmp_path):
    log = wattle.RunLog()
    values = {
        "none": None, "true": True, "big": 2**70, "nan": float("nan"), "list": [1, (2, "3")],
        "half": numpy.float32(0.5), "nested": {1: {"a": []}}, "set": {1},
    }  # fmt: skip
    log.log_event("values", values)
    log.write(tmp_path / "log")
    (line,) = lines_of(tmp_path / "log")
    assert line["data"] == {
        "none": None, "true": True, "big": str(2**70), "nan": None, "list": [1, [2, "3"]],
        "half": 0.5, "nested": {"1": {"a": []}}, "set": [1],
    }  # fmt: skip
    endless = []
    endless.append(endless)
    with pytest.raises(wattle.InvalidArgument):
        log.log_event("endless", {"x": endless})
    with pytest.raises(wattle.InvalidArgument):
        log.log_phase("a", 1.0, ts="own")


def test_a_phase_is_logged_where_the_block_raises(tmp_path):
    log = wattle.RunLog(tmp_path / "log")
    with pytest.raises(KeyError), log.phase("load"):
        raise KeyError
    assert lines_of(tmp_path / "log")[0]["name"] == "load"


def test_a_run_log_refuses_another_file(tmp_path):
    (tmp_path / "notes").write_text("shopping list\n")
    with pytest.raises(wattle.FormatError) as caught:
        wattle.RunLog(tmp_path / "notes")
    assert caught.value.path == str(tmp_path / "notes")


def test_a_hardware_monitor_writes_files_that_can_be_summarized(gpus, tree, tmp_path):
    with wattle.HardwareMonitor(tmp_path / "out", interval=0.05) as monitor:
        time.sleep(0.15)
    assert monitor.files.gpu_csv == str(tmp_path / "out" / "hw_metrics.csv")
    for source in (monitor.files, tmp_path / "out"):
        summary = wattle.summarize(source)
        assert summary.gpu_util_mean_pct == pytest.approx(50.0)
        assert summary.to_dict()["gpu_util_mean_pct"] == 50.0
        assert summary.gpus[0].name == "0"
        assert "nvidia" in str(summary).lower() or str(summary)
    with pytest.raises(wattle.NotStarted):
        wattle.HardwareMonitor().stop()


def test_a_summary_of_nothing_is_unknown(tmp_path):
    summary = wattle.summarize(tmp_path)
    assert summary.peak_vram_mb is None
    assert summary.to_dict()["power_watts_mean"] is None
