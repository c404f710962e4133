# type: ignore
"""A sensor that sees a part of the time says so wherever Python gives out its energy."""

import os
import subprocess
import sys
import time
import xml.etree.ElementTree

import pytest
import wattle

FLAG = "partial_coverage"


@pytest.fixture
def measured(partial_gauge):
    with wattle.measure("epoch") as m:
        time.sleep(0.5)
    return m


def test_a_measurement_has_its_flags_in_all_its_texts(measured):
    assert FLAG in measured.flags
    assert FLAG in str(measured) and FLAG in repr(measured)
    assert FLAG in measured._repr_html_()
    assert FLAG in measured.to_dict()["flags"]
    assert str(measured).endswith("(nvidia_gpu_0)")


def test_a_mean_power_has_the_uncertainty_of_its_energy(measured):
    assert measured.power_uncertainty_w == pytest.approx(measured.uncertainty_j / measured.seconds)
    assert " W ± " in measured._repr_html_()


def test_a_power_that_is_not_known_has_no_uncertainty(empty_tree):
    with wattle.measure() as m:
        pass
    assert m.power_w is None and m.power_uncertainty_w is None


def test_a_log_of_a_training_has_them_as_numbers(measured):
    logged = wattle.metrics(measured)
    assert logged[f"energy/flag_{FLAG}"] == 1.0
    assert logged["energy/power_uncertainty_w"] == measured.power_uncertainty_w
    assert logged["energy/nvidia_gpu_0_uncertainty_j"] == measured.domains["nvidia_gpu_0"].uncertainty_j


def test_the_table_and_the_report_of_pytest_have_them(partial_gauge, empty_tree, tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text("import time\ndef test_it(): time.sleep(0.3)\n")
    report = tmp_path / "report.xml"
    ended = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-p", "wattle.pytest_plugin", "-p", "no:cacheprovider", "--wattle",
         f"--junitxml={report}", "tests"],
        env={**os.environ, **empty_tree.variables(), "PYTEST_ADDOPTS": "", "COLUMNS": "200"},
        cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert ended.returncode == 0, ended.stdout
    assert FLAG in ended.stdout.partition("energy of each test")[2]
    properties = {
        one.get("name"): one.get("value") for one in xml.etree.ElementTree.parse(report).iter("property")}
    assert FLAG in properties["energy_flags"].split()
