# type: ignore
"""The command from Python: run, doctor, sensors, marks."""

import json
import os
import subprocess
import sys

import pytest
import wattle


def test_run_returns_the_report_of_a_command(tree, command):
    zone = str(tree.zones / "intel-rapl:0")
    # A load of 100 W.
    player = [os.environ["WATTLE_TEST_PLAYER"], "300", zone, "100", str(2**-14), "61035", "0"]
    report = wattle.run(player, stdout=subprocess.DEVNULL)
    assert report.returncode == 0
    assert report.seconds > 0
    assert list(report.domains) == ["package_0", "package_1", "dram_0"]
    assert 0 < report.domains["package_0"].energy_j < 50
    assert report.total_j > 0 and report.uncertainty_j > 0
    assert report["schema"].startswith("wattle.run/")
    assert report.cpu_s is not None
    # A sanitized command has a larger peak than what it starts, whose own is then unknown.
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        assert report.peak_rss_bytes > 0
    assert " in " in str(report)


def test_run_keeps_the_status_of_the_command(tree, command):
    assert wattle.run(["sh", "-c", "exit 3"]).returncode == 3
    assert wattle.run(["sh", "-c", "kill -9 $$"], stderr=subprocess.DEVNULL).returncode == -9
    with pytest.raises(subprocess.CalledProcessError):
        wattle.run(["false"], check=True)
    report = wattle.run(["/nowhere/program"], stderr=subprocess.DEVNULL)
    assert report.returncode == 127


def test_run_raises_where_wattle_fails(tree, command):
    with pytest.raises(wattle.Error, match="cannot measure"):
        wattle.run(["true"], options=["--no-such-option"], stderr=subprocess.DEVNULL)


def test_marks_of_a_python_program_are_phases(tree, command):
    program = "import wattle\nassert wattle.mark('ä')\nwith wattle.Phase('b'): pass\n"
    report = wattle.run([sys.executable, "-B", "-c", program])
    assert report.returncode == 0
    assert [row["name"] for row in report.phases] == ["ä", "b"]
    assert not wattle.mark("outside")


def test_a_program_reads_the_energy_since_its_last_mark(tree, command, tmp_path):
    zone = str(tree.zones / "intel-rapl:0")
    player = [os.environ["WATTLE_TEST_PLAYER"], "200", zone, "100", str(2**-14), "61035", "0"]
    program = """
import json, subprocess, sys, wattle
shown = [wattle.run_energy(30)]
wattle.mark("load")
subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL)
shown.append(wattle.run_energy(30))
json.dump(shown, open(sys.argv[1], "w"))
"""
    path = tmp_path / "shown"
    report = wattle.run([sys.executable, "-B", "-c", program, str(path), *player])
    assert report.returncode == 0
    start, load = json.loads(path.read_text())
    assert start["schema"] == load["schema"] == "wattle.mark/1"
    assert (start["since"], load["since"]) == ("start", "mark")
    package = next(one for one in load["domains"] if one["name"] == "package_0")
    # 100 W over a fifth of a second, and less where the machine is busy.
    assert 5 < package["energy_j"] < 30
    assert load["time_s"] > 0.2
    assert wattle.run_energy() is None


def test_without_sensors_doctor_has_reasons(empty_tree, command):
    assert wattle.doctor()
    assert wattle.sensors()["schema"].startswith("wattle.sensors/")


def test_the_package_is_the_command(command, run_python):
    ended = subprocess.run(
        [sys.executable, "-B", "-m", "wattle", "--version"], capture_output=True, text=True, check=True
    )
    assert ended.stdout.startswith("wattle ")
