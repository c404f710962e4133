"""wattle.compat.zeus and wattle.shim: what users of Zeus type."""

import time

import pytest
import wattle
from wattle.compat.zeus.monitor import ZeusMonitor
from wattle.compat.zeus.utils.zeusd import ZeusdConfig


def test_windows_have_the_energy_of_each_socket(tree):
    monitor = ZeusMonitor()
    assert (monitor.gpu_indices, monitor.cpu_indices) == ([], [0, 1])
    monitor.begin_window("epoch")
    time.sleep(0.05)
    tree.spend("intel-rapl:0", 4.0)
    monitor.begin_window("step")
    time.sleep(0.05)
    tree.spend("intel-rapl:0", 0.5)
    tree.spend("intel-rapl:1", 2.0)
    tree.spend("intel-rapl:0:0", 1.0)
    step = monitor.end_window("step")
    epoch = monitor.end_window("epoch")
    assert step.cpu_energy == pytest.approx({0: 0.5, 1: 2.0})
    assert epoch.cpu_energy == pytest.approx({0: 4.5, 1: 2.0})
    assert epoch.dram_energy == pytest.approx({0: 1.0})
    assert epoch.gpu_energy == {}
    assert epoch.time >= step.time


def test_windows_that_do_not_exist_are_refused(tree):
    monitor = ZeusMonitor(cpu_indices=[0])
    monitor.begin_window("a")
    with pytest.raises(ValueError, match="already exists"):
        monitor.begin_window("a")
    monitor.begin_window("a", restart=True)
    monitor.end_window("a")
    with pytest.raises(ValueError, match="does not exist"):
        monitor.end_window("a")


def test_a_cpu_that_is_not_there_is_refused(tree):
    with pytest.raises(RuntimeError, match="CPU 7"):
        ZeusMonitor(cpu_indices=[7])


def test_a_gpu_that_is_not_there_is_refused(tree):
    with pytest.raises(wattle.NoSuchDevice, match="GPU 3"):
        ZeusMonitor(gpu_indices=[3])


def test_a_machine_without_sensors_has_times(empty_tree):
    monitor = ZeusMonitor()
    monitor.begin_window("a")
    measured = monitor.end_window("a")
    assert measured.time >= 0
    assert (measured.gpu_energy, measured.cpu_energy, measured.dram_energy) == ({}, None, None)


def test_joules_are_those_of_the_native_meter(tree, gpus):
    monitor = ZeusMonitor()
    monitor.begin_window("a")
    with wattle.measure() as m:
        time.sleep(0.3)
    measured = monitor.end_window("a")
    native = m.domains["nvidia_gpu_0"]
    allowed = 2 * (native.uncertainty_j or 0.0) + 5.0
    assert measured.gpu_energy[0] == pytest.approx(native.energy_j, abs=allowed)
    assert measured.total_energy == measured.gpu_energy[0]


def test_windows_are_logged_as_zeus_does(tree, gpus, tmp_path):
    log = tmp_path / "new" / "folder" / "log.csv"
    monitor = ZeusMonitor(log_file=log)
    monitor.begin_window("a,b")
    monitor.end_window("a,b")
    monitor.begin_window("c")
    monitor.end_window("c", cancel=True)
    lines = log.read_text().splitlines()
    assert lines[0] == "start_time,window_name,elapsed_time,gpu0_energy"
    assert len(lines) == 2
    assert '"a,b"' in lines[1]


def test_the_environment_names_a_daemon(monkeypatch):
    for name in ("ZEUSD_SOCK_PATH", "ZEUSD_HOST_PORT", "ZEUSD_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    assert ZeusdConfig.from_env() is None
    monkeypatch.setenv("ZEUSD_HOST_PORT", "node1:4938")
    monkeypatch.setenv("ZEUSD_TOKEN", "")
    assert ZeusdConfig.from_env() == ZeusdConfig(host_port="node1:4938")
    monkeypatch.setenv("ZEUSD_SOCK_PATH", "/run/zeusd.sock")
    config = ZeusdConfig.from_env()
    assert config is not None
    assert config.endpoint == "/run/zeusd.sock"
    assert ZeusdConfig.tcp("h", 1, token="t", gpu_indices=[]).gpu_indices == []


def test_a_script_runs_unchanged(run_python, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "from pyJoules.energy_meter import measure_energy\n"
        "from pyJoules.device.rapl_device import RaplPackageDomain\n"
        "import pyJoules.handler.csv_handler\n"
        "from zeus.monitor import ZeusMonitor\n"
        "@measure_energy(domains=[RaplPackageDomain(0)])\n"
        "def work(): return 1\n"
        "work()\n"
        "print(sys.argv[1:], ZeusMonitor.__module__, __name__)\n"
    )
    ended = run_python(
        "import sys; from wattle import shim; shim.main(sys.argv[1:])", str(script), "-x", "y"
    )
    assert "tag : work" in ended.stdout
    assert "['-x', 'y'] wattle.compat.zeus.monitor.energy __main__" in ended.stdout


def test_what_the_original_lacks_is_no_module_of_ours(run_python):
    run_python(
        """
        from wattle import shim
        shim.install()
        shim.install()
        try:
            import pyJoules.nothing
        except ModuleNotFoundError:
            pass
        else:
            raise SystemExit("found")
        """
    )
