# type: ignore
"""gpu_tracker's command, by its own module name over the shim."""

import json
import os
import pickle
import subprocess
import sys
import time

import pytest
from wattle.compat.gpu_tracker import ResourceUsage, SubTracker, Tracker


@pytest.fixture
def command(empty_tree, tmp_path):
    """Runs it over real processes."""

    def run(*words, status=0):
        ended = subprocess.run(
            [sys.executable, "-B", "-m", "wattle.shim", "-m", "gpu_tracker", *words],
            env={**os.environ, "WATTLE_PROCFS": "/proc"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ended.returncode == status, ended.stderr
        assert "Traceback" not in ended.stderr
        return ended

    run.folder = tmp_path
    return run


def test_a_command_is_tracked_and_reported_as_text(command):
    ended = command("-e", "sh -c 'sleep 0.3; echo done'", "--st=0.05", "--ru=megabytes", "--tu=seconds")
    lines = ended.stdout.splitlines()
    assert lines[0] == "done"
    assert lines[1] == "Resource tracking complete. Process completed with status code: 0"
    assert lines[2] == "Max RAM:"
    assert "Unit: megabytes" in ended.stdout


def test_json_on_stdout_is_json_alone(command):
    ended = command("-e", "sleep 0.3", "--st", "0.05", "-f", "json", "--nec=2", "--tf=track.csv")
    groups = json.loads(ended.stdout)
    assert list(groups)[:2] == ["max_ram", "max_gpu_ram"]
    assert groups["cpu_utilization"]["n_expected_cores"] == 2
    assert "status code: 0" in ended.stderr
    assert (command.folder / "track.csv").exists()


def test_the_status_of_the_command_is_kept(command):
    command("-e", "sh -c 'sleep 0.2; exit 3'", "--st=0.05", status=3)
    command("-e", "sh -c 'sleep 0.2; kill -9 $$'", "--st=0.05", status=137)


def test_results_go_to_a_file(command):
    command("-e", "sleep 0.2", "--st=0.05", "-o", "out.json", "--format=json")
    assert "max_ram" in json.loads((command.folder / "out.json").read_text())
    command("-e", "sleep 0.2", "--st=0.05", "-o", "out.pkl", "-f", "pickle")
    assert isinstance(pickle.loads((command.folder / "out.pkl").read_bytes()), ResourceUsage)


def test_a_file_has_the_arguments_and_options_win(command):
    (command.folder / "t.json").write_text('{"sleep_time": 0.05, "ram_unit": "bytes", "time_unit": "days"}')
    ended = command("-e", "sleep 0.2", "--tconfig=t.json", "--tu=seconds", "-f", "json")
    groups = json.loads(ended.stdout)
    assert (groups["max_ram"]["unit"], groups["compute_time"]["unit"]) == ("bytes", "seconds")


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["-e", "touch started", "--ru=pounds"], 1, "pounds"),
        (["-e", "touch started", "--st=0"], 1, "0"),
        (["-e", "touch started", "-f", "pickle"], 1, "needs a file"),
        (["-e", "touch started", "--st=abc"], 2, "--st"),
        (["-e", "touch started", "-f", "xml"], 2, "xml"),
        (["-e", " "], 1, "empty"),
        (["-e", "/nowhere/program"], 127, "/nowhere/program"),
        ([], 2, "--execute"),
    ],
    ids=range(8),
)
def test_wrong_words_are_refused_before_the_command_starts(command, words, status, message):
    assert message in command(*words, status=status).stderr
    assert not (command.folder / "started").exists()


def test_sub_tracking_files_are_combined_analyzed_and_compared(command, monkeypatch):
    monkeypatch.chdir(command.folder)
    monkeypatch.setenv("WATTLE_PROCFS", "/proc")
    parts = command.folder / "parts"
    parts.mkdir()
    tracker = Tracker(sleep_time=0.05, tracking_file="track.csv")
    tracker.start()
    for name in ("a", "b"):
        with SubTracker(name, sub_tracking_file=parts / f"{name}.csv"):
            time.sleep(0.15)
    tracker.stop()
    command("sub-track", "combine", "--stf=sub.csv", "-p", "parts")
    analyzed = json.loads(command("sub-track", "analyze", "--tf=track.csv", "--stf=sub.csv", "-f", "json").stdout)
    assert [block["name"] for block in analyzed["code_block_results"]] == ["a", "b"]
    for name in ("A", "B"):
        command("sub-track", "analyze", "--tf=track.csv", "--stf=sub.csv", "-f", "pickle", "-o", f"{name}.pkl")
    (command.folder / "c.json").write_text('{"file_path_map": {"A": "A.pkl"}, "statistic": "max"}')
    compared = json.loads(command("sub-track", "compare", "--cconfig=c.json", "-m", "B=B.pkl", "-f", "json").stdout)
    assert set(compared) == {"overall_resource_usage", "code_block_resource_usage", "code_block_compute_time"}
    assert set(compared["code_block_compute_time"]["a"]) == {"A", "B"}
    assert "no session" in command("sub-track", "compare", status=1).stderr
