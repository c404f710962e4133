# type: ignore
"""The plugin for pytest: `--wattle` and `@pytest.mark.energy_budget`, in a pytest of its own."""

import os
import subprocess
import sys
import textwrap
import xml.etree.ElementTree

import pytest

HELPERS = """
import os, pathlib, time
import pytest

def spend(joules, zones=("intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1")):
    # In steps, as a counter does: what jumps once in a while has a large uncertainty.
    for _ in range(20):
        time.sleep(0.0015)
        for zone in zones:
            path = pathlib.Path(os.environ["WATTLE_SYSFS"], "class/powercap", zone, "energy_uj")
            value = int(path.read_text()) + round(joules * 1e6 / len(zones) / 20)
            with open(path, "r+b", buffering=0) as file:
                file.write(b"%019d\\n" % value)
"""


@pytest.fixture
def run_tests(empty_tree, tmp_path):
    """Runs pytest over a file of tests; the fake sensors are those of the fixture `tree`, if used."""

    def run(tests, *options):
        folder = tmp_path / "tests"
        folder.mkdir()
        (folder / "test_it.py").write_text(HELPERS + textwrap.dedent(tests))
        ended = subprocess.run(
            [sys.executable, "-B", "-m", "pytest", "-p", "wattle.pytest_plugin", "-p", "no:cacheprovider"]
            + ["--strict-markers", "-rA", *options, str(folder)],
            env={**os.environ, **empty_tree.variables(), "PYTEST_ADDOPTS": "", "COLUMNS": "200"},
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert "INTERNALERROR" not in ended.stdout, ended.stdout
        return ended

    return run


def test_each_test_has_its_joules(tree, run_tests):
    ended = run_tests(
        """
        def test_small(): spend(1.5)
        def test_large():
            spend(6)
            assert False
        """,
        "--wattle",
    )
    lines = ended.stdout.partition("energy of each test")[2].splitlines()
    small = next(line for line in lines if "test_small" in line)
    large = next(line for line in lines if "test_large" in line)
    assert small.startswith("1.5") and "J ± " in small
    # On a slow machine its ± can be as large, and it is "6 J" then.
    assert float(large.split()[0]) == pytest.approx(6.0, abs=0.1)
    assert ended.returncode == 1


def test_nothing_is_measured_or_printed_without_the_option(tree, run_tests):
    ended = run_tests(
        """
        import sys
        def test_it(): assert "wattle._core" not in sys.modules
        """
    )
    assert ended.returncode == 0, ended.stdout
    assert "energy" not in ended.stdout


def test_fixtures_are_not_in_the_energy_of_a_test(tree, run_tests):
    ended = run_tests(
        """
        @pytest.fixture
        def costly():
            spend(9)
            yield
            spend(9)
        @pytest.mark.energy_budget("5 J")
        def test_it(costly): spend(1)
        """
    )
    assert ended.returncode == 0, ended.stdout


def test_a_test_above_its_budget_fails(tree, run_tests):
    ended = run_tests(
        """
        @pytest.mark.energy_budget("2 J")
        def test_over(): spend(6)
        @pytest.mark.energy_budget("8 J")
        def test_within(): spend(3)
        """
    )
    assert ended.returncode == 1
    assert "energy budget exceeded: " in ended.stdout
    assert "the budget is 2.000 J" in ended.stdout
    assert "1 failed, 1 passed" in ended.stdout


def test_a_budget_within_the_uncertainty_is_not_decided(run_tests, tmp_path):
    class Measured:
        total_j, uncertainty_j, unknown_s, seconds, missing, flags = 5.1, 0.2, 0.0, 1.0, (), ()

        def __str__(self):
            return "5.1 J ± 0.2 (package_0)"

    from wattle.pytest_plugin import _judge

    for budget_j, is_over, word in [
        (4.8, True, "exceeded"),
        (5.0, False, "within the uncertainty"),
        (5.2, False, "within the uncertainty"),
        (5.4, False, ""),
    ]:
        over, message = _judge(Measured(), budget_j)
        assert over == is_over
        assert word in message and bool(word) == bool(message)


def test_an_energy_that_lacks_a_part_decides_only_an_excess():
    class Measured:
        total_j, uncertainty_j, unknown_s, seconds, missing, flags = 5.0, 0.1, 0.5, 1.0, (), ("gap",)

    from wattle.pytest_plugin import _judge

    assert _judge(Measured(), 4.0)[0]
    over, message = _judge(Measured(), 9.0)
    assert not over
    assert "a part of the energy is unknown" in message


def test_without_sensors_a_budget_is_not_checked_and_says_so(run_tests):
    ended = run_tests(
        """
        @pytest.mark.energy_budget("2 J")
        def test_it(): pass
        """,
        "--wattle",
    )
    assert ended.returncode == 0
    assert "1 passed, 1 warning" in ended.stdout
    assert "EnergyBudgetWarning: the energy budget of 2.000 J is not checked: " in ended.stdout
    assert "\n-  " in ended.stdout.partition("energy of each test")[2]
    assert "\nunknown: " in ended.stdout


def test_a_test_that_fails_keeps_its_own_reason(tree, run_tests):
    ended = run_tests(
        """
        @pytest.mark.energy_budget("1 J")
        def test_it():
            spend(6)
            assert 1 == 2
        @pytest.mark.energy_budget("1 J")
        @pytest.mark.skip
        def test_skipped(): pass
        """
    )
    assert "1 failed, 1 skipped" in ended.stdout
    assert "assert 1 == 2" in ended.stdout
    assert "exceeded" not in ended.stdout.partition("short test summary")[2].partition("FAILED")[2]


def test_a_test_that_is_expected_to_fail_may_fail_by_its_budget(tree, run_tests):
    ended = run_tests(
        """
        def test_before(): spend(6)
        @pytest.mark.energy_budget("1 J")
        @pytest.mark.xfail
        def test_expected(): spend(6)
        """
    )
    assert "1 passed, 1 xfailed" in ended.stdout


def test_unittest_classes_have_budgets_too(tree, run_tests):
    ended = run_tests(
        """
        import unittest
        class TestIt(unittest.TestCase):
            @pytest.mark.energy_budget("1 J")
            def test_over(self): spend(6)
            @pytest.mark.energy_budget("9 J")
            def test_within(self): spend(3)
        """
    )
    assert "1 failed, 1 passed" in ended.stdout, ended.stdout


@pytest.mark.parametrize("mark", ['"five"', '"5 apples"', "0", "-1", '"nan J"', "", "1, 2", "joules=5", "True"])
def test_a_budget_that_is_no_energy_is_refused(run_tests, mark):
    ended = run_tests(f"@pytest.mark.energy_budget({mark})\ndef test_it(): pass\n")
    assert ended.returncode == 1
    assert "1 error" in ended.stdout
    assert 'write "5 J"' in ended.stdout or "takes one argument" in ended.stdout
    assert "another exception" not in ended.stdout


@pytest.mark.parametrize(
    ("text", "joules"),
    [("5 J", 5), ("5J", 5), (" 1.2 kJ", 1200), ("200 mJ", 0.2), ("3 µJ", 3e-6), ("1 Wh", 3600), (7, 7)],
)
def test_energies_are_read(text, joules):
    from wattle._text import parse_energy

    assert parse_energy(text) == pytest.approx(joules)


def test_reports_for_other_programs_have_the_joules(tree, run_tests, tmp_path):
    report = tmp_path / "report.xml"
    run_tests("def test_it(): spend(3)\n", "--wattle", f"--junitxml={report}")
    properties = {
        one.get("name"): one.get("value")
        for one in xml.etree.ElementTree.parse(report).iter("property")
    }
    assert float(properties["energy_j"]) == pytest.approx(3.0, abs=0.1)
    assert float(properties["energy_uncertainty_j"]) > 0


def test_beside_other_workers_no_budget_is_checked(tree, run_tests, monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "4")
    ended = run_tests(
        """
        @pytest.mark.energy_budget("1 J")
        def test_it(): spend(6)
        """
    )
    assert ended.returncode == 0, ended.stdout
    assert "not checked: other tests ran at the same time" in ended.stdout
