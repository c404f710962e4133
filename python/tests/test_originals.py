# type: ignore
"""Programs for other tools, as their READMEs show them: with the import line changed, and unchanged."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ORIGINALS = pathlib.Path(__file__).resolve().parent / "originals"

# What each prints, line by line, as regular expressions.
LINES = {
    "pyjoules_readme": [
        r"begin timestamp : .*; tag : first; duration : .*package_0 : [1-9].*",
        r"domains \['package_0', 'package_1'\]",
        r"csv timestamp;tag;duration;package_1;dram_0 4 True",
        r"frame \['load', 'train'\] True",
        r"trace \['a', 'b'\] 2 True",
        r"clean \['b'\]|clean \[\]",
    ],
    "zeus_readme": [
        r"epoch 0 True True \[0, 1\] True",
        r"epoch 1 True True \[0, 1\] True",
        r"log 9",
        r"power True True \[0\]",
    ],
    "gpu_tracker_readme": [
        r"usage megabytes True",
        r"time True",
        r"json \['max_ram', 'max_gpu_ram', 'cpu_utilization', 'gpu_utilization', 'compute_time'.*\]",
        r"text Max RAM:",
        r"State: NEW",
        r"STOPPED",
        r"blocks \['block', 'function'\]",
        r"RuntimeError True",
    ],
    "codecarbon_readme": [
        r"emissions True",
        r"context FRA True",
        r"trained",
        r"task True",
        r"rows \['calls', 'context', 'decorated'\] True",
    ],
    "run_monitor_readme": [
        r"log \['phase', 'event'\] 3",
        r"files hw_metrics.csv cpu_metrics.csv .*",
        r"summary True [0-9.]+",
        r"keys \['cpu_idle_mean_pct', 'cpu_usr_mean_pct', 'gpu_util_max_pct'\]",
        r"never started \(None, None, None\)",
    ],
}

# The import line, and that of ours.
IMPORTS = {
    r"\bpyJoules\b": "wattle.compat.pyjoules",
    r"\bimport gpu_tracker as gput\b": "from wattle.compat import gpu_tracker as gput",
    r"\bgpu_tracker\b": "wattle.compat.gpu_tracker",
    r"\bzeus\b": "wattle.compat.zeus",
    r"\bcodecarbon\b": "wattle.compat.codecarbon",
    r"\brun_monitor\b": "wattle.compat.run_monitor",
}


def with_our_imports(text):
    lines = []
    for line in text.splitlines():
        if re.match(r"(from|import) ", line):
            for theirs, ours in IMPORTS.items():
                changed = re.sub(theirs, ours, line)
                if changed != line:
                    line = changed
                    break
        lines.append(line)
    return "\n".join(lines) + "\n"


def run(words, folder):
    ended = subprocess.run(
        [sys.executable, "-B", *words],
        cwd=folder,
        env={**os.environ, "WATTLE_KG_CO2_PER_KWH": "0.4", "CUDA_VISIBLE_DEVICES": "0"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.splitlines()


def check(name, lines):
    assert len(lines) == len(LINES[name]), lines
    for line, expected in zip(lines, LINES[name]):
        assert re.fullmatch(expected, line), f"{line!r} is not {expected!r}"


@pytest.fixture(autouse=True)
def processes(tree, monkeypatch, request):
    """Processes are real where they are tracked."""
    if "gpu_tracker" in request.node.name or "run_monitor" in request.node.name:
        monkeypatch.setenv("WATTLE_PROCFS", "/proc")


@pytest.mark.parametrize("name", LINES)
def test_with_the_import_line_changed(tree, load, gpus, tmp_path, name):
    script = tmp_path / "script.py"
    script.write_text(with_our_imports((ORIGINALS / f"{name}.py").read_text()))
    check(name, run([script], tmp_path))


@pytest.mark.parametrize("name", [name for name in LINES if name != "run_monitor_readme"])
def test_unchanged(tree, load, gpus, tmp_path, name):
    check(name, run(["-m", "wattle.shim", ORIGINALS / f"{name}.py"], tmp_path))


def test_every_script_is_run():
    assert {path.stem for path in ORIGINALS.glob("*.py")} == set(LINES)
