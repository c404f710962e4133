# type: ignore
"""wattle.compat.codecarbon: what users of CodeCarbon type, and its CSV file."""

import asyncio
import csv
import inspect
import time

import pytest
import wattle
from wattle.compat.codecarbon import (
    EmissionsTracker,
    OfflineEmissionsTracker,
    track_emissions,
)

KWH_J = 3.6e6
COLUMNS = [
    "timestamp",
    "project_name",
    "run_id",
    "experiment_id",
    "duration",
    "emissions",
    "emissions_rate",
    "cpu_power",
    "gpu_power",
    "ram_power",
    "cpu_energy",
    "gpu_energy",
    "ram_energy",
    "energy_consumed",
    "country_name",
    "country_iso_code",
    "region",
    "cloud_provider",
    "cloud_region",
    "os",
    "python_version",
    "codecarbon_version",
    "cpu_count",
    "cpu_model",
    "gpu_count",
    "gpu_model",
    "longitude",
    "latitude",
    "ram_total_size",
    "tracking_mode",
    "on_cloud",
    "pue",
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder, where emissions.csv comes to be."""
    monkeypatch.delenv("WATTLE_KG_CO2_PER_KWH", raising=False)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


def rows(path="emissions.csv"):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def work(tree, cpu=3.0, dram=1.0):
    time.sleep(0.03)
    tree.spend("intel-rapl:0", cpu)
    tree.spend("intel-rapl:1", cpu)
    tree.spend("intel-rapl:0:0", dram)


def test_a_run_is_a_row_with_the_columns_of_codecarbon(tree):
    tracker = EmissionsTracker(project_name="prüfung", measure_power_secs=1)
    tracker.start()
    work(tree)
    assert tracker.stop() is None
    (row,) = rows()
    assert list(row) == COLUMNS
    assert row["project_name"] == "prüfung"
    assert float(row["cpu_energy"]) * KWH_J == pytest.approx(6.0, abs=0.01)
    assert float(row["ram_energy"]) * KWH_J == pytest.approx(1.0, abs=0.01)
    assert float(row["energy_consumed"]) * KWH_J == pytest.approx(7.0, abs=0.01)
    assert row["gpu_energy"] == row["emissions"] == row["country_name"] == ""
    assert float(row["cpu_power"]) == pytest.approx(6.0 / float(row["duration"]), rel=0.01)
    assert row["cpu_model"] == "Intel(R) Xeon(R)"
    assert row["codecarbon_version"].startswith("wattle ")


def test_carbon_is_computed_from_the_factor_of_the_user_alone(tree, monkeypatch, caplog):
    with EmissionsTracker(save_to_file=False, kg_co2_per_kwh=0.5, pue=1.2) as tracker:
        work(tree)
    data = tracker.final_emissions_data
    assert tracker.final_emissions == pytest.approx(data.energy_consumed * 0.5 * 1.2)
    assert data.emissions_rate == pytest.approx(data.emissions / data.duration)
    monkeypatch.setenv("WATTLE_KG_CO2_PER_KWH", "0.25")
    with EmissionsTracker(save_to_file=False) as tracker:
        work(tree)
    assert tracker.final_emissions == pytest.approx(tracker.final_emissions_data.energy_consumed * 0.25)
    monkeypatch.delenv("WATTLE_KG_CO2_PER_KWH")
    with OfflineEmissionsTracker(country_iso_code="FRA", save_to_file=False) as tracker:
        work(tree)
    assert tracker.final_emissions is None
    assert "kg_co2_per_kwh" in caplog.text
    assert tracker.final_emissions_data.country_iso_code == "FRA"


@pytest.mark.parametrize("factor", ["x", "nan", "-1", "inf"])
def test_a_factor_that_is_no_number_is_refused(empty_tree, monkeypatch, factor):
    monkeypatch.setenv("WATTLE_KG_CO2_PER_KWH", factor)
    with pytest.raises(ValueError, match="no number of kg"):
        EmissionsTracker()


def test_without_sensors_a_row_has_no_energy_and_a_reason_is_logged(empty_tree, caplog):
    with EmissionsTracker(kg_co2_per_kwh=1.0) as tracker:
        pass
    (row,) = rows()
    assert row["energy_consumed"] == row["cpu_energy"] == row["emissions"] == ""
    assert tracker.final_emissions is None
    assert "the energy is unknown: " in caplog.text


def test_gpus_are_counted_by_number(tree, gpus):
    with EmissionsTracker(gpu_ids=[0], save_to_file=False) as tracker:
        time.sleep(0.3)
    assert tracker.final_emissions_data.gpu_energy > 0
    assert tracker.final_emissions_data.gpu_count == 1
    with EmissionsTracker(gpu_ids=[], save_to_file=False) as tracker:
        pass
    assert tracker.final_emissions_data.gpu_energy is None


def test_tasks_have_energies_of_their_own(tree):
    tracker = EmissionsTracker(save_to_file=False)
    tracker.start()
    tracker.start_task("load")
    work(tree, cpu=1.0, dram=1.0)
    load = tracker.stop_task()
    tracker.start_task("train")
    work(tree, cpu=2.0, dram=1.0)
    train = tracker.stop_task("train")
    tracker.stop()
    joules = [data.energy_consumed * KWH_J for data in (load, train, tracker.final_emissions_data)]
    assert joules == pytest.approx([3.0, 5.0, 8.0], abs=0.01)
    with pytest.raises(wattle.NotStarted):
        tracker.stop_task("load")
    with pytest.raises(wattle.NotStarted, match="none is open"):
        tracker.stop_task()


def test_calls_in_the_wrong_order_are_warnings(tree, caplog):
    tracker = EmissionsTracker()
    assert tracker.stop() is None
    tracker.start()
    tracker.start()
    tracker.stop()
    tracker.stop()
    assert len(rows()) == 1
    assert len([one for one in caplog.records if "already" in one.message]) == 3


def test_a_decorated_function_writes_a_row_for_each_call(tree):
    @track_emissions
    def work_once(x):
        """Works."""
        return x

    @track_emissions(project_name="offline", offline=True, country_iso_code="DEU", output_file="b.csv")
    def fail():
        raise KeyError("x")

    assert [work_once(1), work_once(2)] == [1, 2]
    assert work_once.__doc__ == "Works."
    assert len(rows()) == 2
    with pytest.raises(KeyError):
        fail()
    assert [row["country_iso_code"] for row in rows("b.csv")] == ["DEU"]


def test_a_decorated_coroutine_is_measured_to_its_end(tree):
    @track_emissions(project_name="a")
    async def fetch():
        await asyncio.sleep(0)
        return "done"

    assert inspect.iscoroutinefunction(fetch)
    assert asyncio.run(fetch()) == "done"
    assert [row["project_name"] for row in rows()] == ["a"]


def test_rows_are_added_or_replaced(tree, folder):
    for _ in range(2):
        with EmissionsTracker():
            pass
    tracker = EmissionsTracker(on_csv_write="update")
    for _ in range(2):
        tracker.start()
        tracker.stop()
    runs = [row["run_id"] for row in rows()]
    assert len(runs) == len(set(runs)) == 3
    assert [path.name for path in folder.iterdir()] == ["emissions.csv"]


def test_a_file_of_something_else_is_left_as_it_is(tree, folder):
    (folder / "emissions.csv").write_text("a,b\n1,2\n")
    with pytest.raises(wattle.FormatError, match="other columns"):
        EmissionsTracker()
    assert (folder / "emissions.csv").read_text() == "a,b\n1,2\n"
    with pytest.raises(FileNotFoundError, match="nowhere"):
        EmissionsTracker(output_dir="nowhere")


@pytest.mark.parametrize(
    "settings",
    [{"tracking_mode": "process"}, {"save_to_api": True}, {"save_to_prometheus": True}, {"save_to_logger": True}],
)
def test_what_cannot_be_done_is_refused_with_the_reason(empty_tree, settings):
    with pytest.raises(NotImplementedError, match=next(iter(settings))):
        EmissionsTracker(**settings)


def test_settings_of_codecarbon_are_accepted_and_others_are_not(empty_tree):
    EmissionsTracker("p", 15, log_level="error", api_key="x", allow_multiple_runs=True, save_to_api=False)
    with pytest.raises(TypeError, match="no argument 'colour'"):
        EmissionsTracker(colour="red")
    with pytest.raises(ValueError, match="pue"):
        EmissionsTracker(pue=0.5)
    with pytest.raises(ValueError, match="on_csv_write"):
        EmissionsTracker(on_csv_write="drop")
    with pytest.raises(ValueError, match="tracking_mode"):
        EmissionsTracker(tracking_mode="room")


@pytest.mark.parametrize("chosen", ["0", [0], " 0 ,", "GPU-00000000-0000-0000-0000-000000000000"])
def test_gpus_are_chosen_by_number_or_uuid(gpus, chosen):
    tracker = EmissionsTracker(save_to_file=False, gpu_ids=chosen)
    tracker.start()
    tracker.stop()
    assert tracker.final_emissions_data.gpu_count == (None if chosen[0] == "G" else 1)


def test_a_script_of_codecarbon_runs_unchanged(run_python, folder):
    script = folder / "script.py"
    script.write_text(
        "from codecarbon import EmissionsTracker, track_emissions\n"
        "from codecarbon.emissions_tracker import OfflineEmissionsTracker\n"
        "tracker = EmissionsTracker(project_name='unchanged', output_dir='.', log_level='critical')\n"
        "tracker.start()\n"
        "try:\n"
        "    sum(range(1000))\n"
        "finally:\n"
        "    emissions = tracker.stop()\n"
        "print(emissions, tracker.final_emissions_data.project_name)\n"
    )
    ended = run_python(
        "import sys; from wattle import shim; shim.main(sys.argv[1:])",
        str(script),
        check=False,
        env={"WATTLE_KG_CO2_PER_KWH": "0.4"},
    )
    assert ended.stdout.endswith(" unchanged\n"), ended.stderr
    assert rows()[0]["project_name"] == "unchanged"


def test_a_flush_writes_the_run_until_then(tree):
    tracker = EmissionsTracker(kg_co2_per_kwh=0.5)
    tracker.start()
    work(tree)
    assert tracker.flush() == pytest.approx(7.0 / KWH_J * 0.5)
    work(tree)
    assert tracker.flush() == pytest.approx(14.0 / KWH_J * 0.5)
    work(tree)
    assert tracker.stop() == pytest.approx(21.0 / KWH_J * 0.5)
    written = rows()
    assert [float(row["energy_consumed"]) for row in written] == pytest.approx([n * 7.0 / KWH_J for n in (1, 2, 3)])
    assert len({row["run_id"] for row in written}) == 1
    assert [float(row["duration"]) for row in written] == sorted(float(row["duration"]) for row in written)


def test_a_row_of_a_run_is_replaced_by_the_next_if_the_file_is_updated(tree):
    tracker = EmissionsTracker(on_csv_write="update")
    tracker.start()
    work(tree)
    tracker.flush()
    work(tree)
    tracker.stop()
    (row,) = rows()
    assert float(row["cpu_energy"]) == pytest.approx(12.0 / KWH_J)


def test_a_flush_of_a_tracker_that_does_not_run_does_nothing_but_warn(tree, caplog):
    tracker = EmissionsTracker()
    assert tracker.flush() is None
    assert "not started" in caplog.text
    assert EmissionsTracker(save_to_file=False).flush() is None
