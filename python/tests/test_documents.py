# type: ignore
"""What documents and examples show runs: SKILL.md, README.md, docs/python.md, examples/python."""

import os
import pathlib
import re
import subprocess
import sys
import textwrap
import time
import types

import pytest
import wattle

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

# What an example prints where counters move, as a regular expression.
PRINTS = {
    "measure_block.py": r"J ± .*\(package_0, package_1, dram_0, nvidia_gpu_0\)\npackage_0 [0-9.]+",
    "overlapping_windows.py": r"(?s)thread 1: .*all: [0-9.]+ k?J ± ",
    "own_source.py": r"^at the wall: 2[3-9]\.\d J in 0\.2 s$|^at the wall: \d+\.\d J in [0-9.]+ s$",
    "power_over_time.py": r"(?s)GPU 0: [0-9.]+ J by \w+\n  [0-9.]+ 100\.0 W\n.*package_0: [0-9.]+ J",
    "pyjoules_import.py": r"timestamp;tag;duration;package_0.*\n[0-9.]+;work;",
    "sections.py": r"load [0-9.e-]+ .*\nsort [0-9.e-]+ .*\nsum .*\nsort: ",
    "test_budget.py": r"(?s)energy of each test.*J .*test_sorting.*1 passed",
    "training_loop.py": r"step 2 \{.*'energy/seconds': [0-9.e-]+, .*'loss': ",
}


def blocks(page):
    """(language, text) of each block of code, with the language and number as the name of the test."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for number, found in enumerate(FENCE.finditer(text)):
        yield pytest.param(*found.groups(), id=f"{page}-{number}-{found[1]}")


@pytest.fixture
def run(tree, load, gpus, command, tmp_path):
    """Runs a program with `wattle` and `python3` in its PATH, in an empty folder, over moving counters."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "wattle").symlink_to(command)
    (programs / "python3").symlink_to(sys.executable)
    here = tmp_path / "here"
    here.mkdir()

    def start(*words):
        ended = subprocess.run(
            [str(word) for word in words],
            env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=here,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended

    start.folder = here
    return start


def start_tests(run, path):
    return run(
        *(sys.executable, "-m", "pytest", "-q", "-p", "wattle.pytest_plugin", "-p", "no:cacheprovider"),
        *("--strict-markers", "--wattle", path),
    )


@pytest.mark.parametrize(("language", "text"), blocks("SKILL.md"))
def test_blocks_of_the_skill_run(run, language, text):
    if language == "sh":
        run("sh", "-euc", text)
        return
    assert language == "python"
    path = run.folder / ("test_block.py" if "def test_" in text else "block.py")
    path.write_text(text, encoding="utf-8")
    ended = start_tests(run, path) if "def test_" in text else run(sys.executable, path)
    assert "unknown" not in ended.stdout


def test_the_skill_has_a_name_and_a_description():
    text = (ROOT / "SKILL.md").read_text(encoding="utf-8")
    head = re.match(r"---\nname: ([a-z0-9-]{1,64})\ndescription: (.{1,1024})\n---\n", text)
    assert head is not None
    assert len(text.splitlines()) < 200


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_run(run, path):
    is_test = path.name.startswith("test_")
    ended = start_tests(run, path) if is_test else run(sys.executable, path)
    assert re.search(PRINTS[path.name], ended.stdout, re.MULTILINE), ended.stdout
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("path", [path for path in EXAMPLES if "test_" not in path.name], ids=lambda p: p.name)
def test_examples_run_without_sensors(empty_tree, tmp_path, path):
    ended = subprocess.run(
        [sys.executable, "-B", path], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    # An example for pyJoules ends as pyJoules does; the others have reasons.
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("language", "text"), [one for one in blocks("README.md") if one.values[0] == "python"]
)
def test_python_of_the_readme_runs(run, language, text):
    path = run.folder / "block.py"
    path.write_text(text, encoding="utf-8")
    assert re.search(r"J ± |: ", run(sys.executable, path).stdout)


def names_of_the_page():
    """What the blocks of docs/python.md take from the program around them."""

    def work():
        time.sleep(0.05)

    run = types.SimpleNamespace(log=lambda values, step=None: None)
    return {
        "wattle": wattle,
        "time": time,
        # pytest knows the mark where the plugin is loaded: test_pytest_plugin.py.
        "pytest": types.SimpleNamespace(mark=types.SimpleNamespace(energy_budget=lambda _: lambda test: test)),
        "wandb": types.SimpleNamespace(init=lambda: run),
        "model": lambda sample: sample,
        "sample": 1,
        **dict.fromkeys(("train", "load", "work"), work),
    }


@pytest.mark.parametrize(
    ("language", "text"), [one for one in blocks("docs/python.md") if one.values[0] == "python"]
)
def test_python_of_the_page_runs(tree, load, gpus, language, text):
    if "DaemonClient" in text:
        pytest.importorskip("wattle.stream")
        text = text.partition("\n\n")[0]  # the rest needs the machines that it names
    pytest.importorskip("pandas")
    names = names_of_the_page()
    with wattle.measure("earlier") as names["m"]:
        time.sleep(0.05)
    exec(textwrap.dedent(text), names)  # noqa: S102
