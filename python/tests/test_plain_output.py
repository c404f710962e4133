# type: ignore
"""What people read can be printed wherever stdout cannot print every character: an encoding of ASCII."""

import io
import textwrap

import pytest
from wattle._text import energy_text, fitting, seconds_text

ASCII = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


class File:
    def __init__(self, encoding):
        self.encoding = encoding


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "1.2 J ± 0.1 in 5 µs"),
        ("latin-1", "1.2 J ± 0.1 in 5 µs"),
        ("ascii", "1.2 J +/- 0.1 in 5 us"),
        ("koi8-r", "1.2 J +/- 0.1 in 5 us"),
        ("no such encoding", "1.2 J ± 0.1 in 5 µs"),
        (None, "1.2 J ± 0.1 in 5 µs"),
    ],
)
def test_a_text_is_what_the_file_can_print(encoding, text):
    assert fitting("1.2 J ± 0.1 in 5 µs", File(encoding)) == text


def test_names_of_others_are_escaped_where_they_cannot_be_printed():
    assert fitting("größe 電", File("ascii")) == "gr\\xf6\\xdfe \\u96fb"
    assert fitting("a\udc80b", File("utf-8")) == "a\\udc80b"


def test_texts_have_their_characters_for_files_that_say_nothing():
    assert energy_text(2e-6, 1e-6) == "2 µJ ± 1"
    assert fitting(seconds_text(5e-6), io.StringIO()) == "5 µs"


PROGRAM = r"""
import time
import wattle

with wattle.measure("gr\u00f6\u00dfe") as m:
    time.sleep(0.3)
print(m)
print(repr(m))
windows = wattle.Windows()
windows.begin("gr\u00f6\u00dfe")
print(windows)
windows.end("gr\u00f6\u00dfe")
meter = wattle.EnergyMeter()
meter.start("gr\u00f6\u00dfe")
time.sleep(0.2)
meter.stop()
print(meter.trace())
wattle.PrintHandler().process(meter.trace())
wattle.PrintHandler(details=True).process(meter.trace())
print(wattle.summarize("nowhere"))
for sample in meter.trace():
    print(sample.total)
for domain in wattle.domains():
    print(domain, repr(domain))
print(wattle.EnergyRange(1e-6, 2e-6, 3e-6))
report = wattle.run(["true"])
print(report, repr(report))
assert wattle.doctor() and wattle.sensors()
"""


def test_everything_prints_on_a_stdout_of_ascii(run_python, load, command):
    ended = run_python(PROGRAM, check=False, env=ASCII)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.isascii()
    assert " J +/- " in ended.stdout
    assert "±" in run_python(PROGRAM, check=False, env={"PYTHONUTF8": "1"}).stdout


def test_the_drop_in_modules_print_on_a_stdout_of_ascii(run_python, load):
    ended = run_python(
        r"""
        import time
        from wattle.compat.pyjoules.energy_meter import EnergyContext, measure_energy
        from wattle.compat.zeus.monitor import ZeusMonitor
        from wattle.compat.gpu_tracker import Tracker

        @measure_energy
        def work(): time.sleep(0.1)

        work()
        with EnergyContext(start_tag="gr\u00f6\u00dfe"): time.sleep(0.1)
        monitor = ZeusMonitor()
        monitor.begin_window("gr\u00f6\u00dfe")
        print(monitor.end_window("gr\u00f6\u00dfe"))
        with Tracker(sleep_time=0.1) as tracker: time.sleep(0.2)
        print(tracker, repr(tracker))
        """,
        check=False,
        env={**ASCII, "WATTLE_PROCFS": "/proc", "PYTHONWARNINGS": "ignore"},
    )
    assert ended.returncode == 0, ended.stderr
    assert "tag : gr\\xf6\\xdfe" in ended.stdout


def test_a_handler_prints_what_its_own_file_can(run_python, tmp_path, load):
    ended = run_python(
        rf"""
        import time, wattle
        meter = wattle.EnergyMeter()
        meter.start("gr\u00f6\u00dfe")
        time.sleep(0.2)
        meter.stop()
        with open({str(tmp_path / "lines")!r}, "w", encoding="ascii") as file:
            wattle.PrintHandler(file, details=True).process(meter.trace())
        """
    )
    assert ended.returncode == 0
    assert "gr\\xf6\\xdfe" in (tmp_path / "lines").read_text(encoding="ascii")


def test_pytest_prints_energies_on_a_stdout_of_ascii(run_python, tmp_path, load):
    test = tmp_path / "test_it.py"
    test.write_text(
        textwrap.dedent(
            """
            import time, pytest

            @pytest.mark.energy_budget("1 mJ")
            def test_work(): time.sleep(0.3)
            """
        )
    )
    ended = run_python(
        "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))",
        "-p", "wattle.pytest_plugin", "-p", "no:cacheprovider", "--wattle", str(test),
        check=False,
        env=ASCII,
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "energy budget exceeded" in ended.stdout
    assert " J +/- " in ended.stdout
    assert "\\xb1" not in ended.stdout
    assert "±" not in ended.stdout




def test_an_analysis_prints_on_a_stdout_of_ascii(run_python, tmp_path):
    ended = run_python(
        rf"""
        import os, runpy, sys, time
        from wattle.compat.gpu_tracker import SubTracker, Tracker
        os.chdir({str(tmp_path)!r})
        with Tracker(sleep_time=0.05, tracking_file="track.csv", disable_logs=True):
            with SubTracker("gr\u00f6\u00dfe", sub_tracking_file="blocks.csv"):
                time.sleep(0.3)
        sys.argv = ["gpu-tracker", "sub-track", "analyze", "--tf=track.csv", "--stf=blocks.csv"]
        runpy.run_module("wattle.compat.gpu_tracker", run_name="__main__")
        """,
        check=False,
        env={**ASCII, "WATTLE_PROCFS": "/proc"},
    )
    assert ended.returncode == 0, ended.stderr
    assert "Gr\\xf6\\xdfe" in ended.stdout or "gr\\xf6\\xdfe" in ended.stdout
