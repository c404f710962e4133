"""wattle.compat.gpu_tracker."""

import pickle
import time

import pytest
from wattle.compat.gpu_tracker import (
    SubTracker,
    SubTrackingAnalyzer,
    Tracker,
    TrackingComparison,
    sub_track,
)


def test_a_tracker_has_states(tmp_path):
    tracker = Tracker(sleep_time=0.1, time_unit="seconds")
    assert repr(tracker) == "State: NEW"
    assert tracker.resource_usage is None
    with pytest.raises(RuntimeError):
        tracker.stop()
    with pytest.raises(RuntimeError):
        str(tracker)
    with tracker:
        assert tracker.state is Tracker.State.STARTED
        with pytest.raises(RuntimeError):
            tracker.start()
        time.sleep(0.25)
    assert tracker.state is Tracker.State.STOPPED
    with pytest.raises(RuntimeError):
        tracker.stop()


def test_usage_has_the_groups_of_the_original():
    with Tracker(sleep_time=0.1, ram_unit="megabytes", time_unit="seconds") as tracker:
        time.sleep(0.25)
    usage = tracker.resource_usage
    assert usage is not None
    assert usage.max_ram.unit == "megabytes"
    assert (usage.max_ram.main.total_rss or 0) > 1
    assert usage.compute_time.time == pytest.approx(0.25, abs=0.25)
    assert list(tracker.to_json())[:5] == [
        "max_ram",
        "max_gpu_ram",
        "cpu_utilization",
        "gpu_utilization",
        "compute_time",
    ]
    assert str(tracker).startswith("Max RAM:\n   Unit: megabytes\n")


@pytest.mark.parametrize(
    "arguments",
    [
        {"ram_unit": "milibytes"},
        {"gpu_ram_unit": "x"},
        {"time_unit": "weeks"},
        {"gpu_uuids": set()},
        {"gpu_uuids": {"GPU-none"}},
        {"gpu_brand": "voodoo"},
        {"sleep_time": 0},
        {"tracking_file": "file.txt"},
    ],
)
def test_wrong_values_are_value_errors(empty_tree, arguments):
    with pytest.raises(ValueError):
        Tracker(**arguments)


@pytest.mark.parametrize("suffix", ["csv", "sqlite"])
def test_blocks_have_the_samples_that_fall_into_them(tmp_path, suffix):
    tracking, blocks = tmp_path / f"track.{suffix}", tmp_path / f"sub.{suffix}"

    @sub_track("called", sub_tracking_file=blocks)
    def called():
        time.sleep(0.05)

    tracker = Tracker(sleep_time=0.05, time_unit="seconds", tracking_file=tracking)
    with tracker, SubTracker("long", sub_tracking_file=blocks):
        time.sleep(0.3)
        called()
        called()
    results = SubTrackingAnalyzer(tracking, blocks).sub_tracking_results()
    by_name = {block.name: block for block in results.code_block_results}
    assert by_name["called"].num_calls == 2
    assert by_name["long"].num_calls == by_name["long"].num_non_empty_calls == 1
    assert by_name["long"].num_timepoints >= 2
    described = results.to_json()
    (long,) = [block for block in described["code_block_results"] if block["name"] == "long"]
    assert long["compute_time"]["total"] >= 0.4
    assert long["resource_usage"]["main_ram"]["max"] > 0
    assert described["static_data"]["time_unit"] == "seconds"
    assert described["overall"]["main_ram"]["mean"] > 0


def test_recursion_is_paired_from_the_inside(tmp_path):
    file = tmp_path / "sub.csv"
    with SubTracker("a", sub_tracking_file=file):
        with SubTracker("a", sub_tracking_file=file):
            time.sleep(0.01)
        time.sleep(0.01)
    inner, outer = SubTrackingAnalyzer(None, file).load_timestamp_pairs("a")
    assert outer[0] < inner[0] < inner[1] < outer[1]


def test_a_block_without_a_name_is_its_line(tmp_path):
    tracker = SubTracker(sub_tracking_file=tmp_path / "sub.csv")
    assert tracker.code_block_name.rpartition(":")[0].endswith("test_compat_gpu_tracker.py")


def test_an_end_without_a_start_is_named(tmp_path):
    file = tmp_path / "sub.csv"
    file.write_text("process_id,code_block_name,position,timestamp\n1,a,1,5.0\n")
    with pytest.raises(ValueError, match="never started"):
        SubTrackingAnalyzer(None, file).load_timestamp_pairs("a")


def test_files_of_processes_are_combined(tmp_path):
    for name in ("one", "two"):
        with SubTracker("a", sub_tracking_file=tmp_path / f"{name}.csv"):
            pass
    combined = SubTrackingAnalyzer(None, tmp_path / "all.csv")
    combined.combine_sub_tracking_files([tmp_path / "one.csv", tmp_path / "two.csv"])
    assert len(combined.load_timestamp_pairs("a")) == 2


def test_sessions_are_compared_in_ascending_order(tmp_path):
    paths = {}
    for name, seconds in (("slow", 0.2), ("fast", 0.1)):
        tracking, blocks = tmp_path / f"{name}.csv", tmp_path / f"{name}_sub.csv"
        tracker = Tracker(sleep_time=0.05, tracking_file=tracking)
        with tracker, SubTracker("a", sub_tracking_file=blocks):
            time.sleep(seconds)
        paths[name] = tmp_path / f"{name}.pkl"
        results = SubTrackingAnalyzer(tracking, blocks).sub_tracking_results()
        paths[name].write_bytes(pickle.dumps(results))
    compared = TrackingComparison(paths).compare()
    described = compared.to_json()
    assert list(described["code_block_compute_time"]["a"]) == ["fast", "slow"]
    assert sorted(described["code_block_resource_usage"]["main_ram"]["a"]) == ["fast", "slow"]
    assert sorted(described["overall_resource_usage"]["main_ram"]) == ["fast", "slow"]
    with pytest.raises(ValueError, match="median"):
        TrackingComparison(paths).compare("median")
