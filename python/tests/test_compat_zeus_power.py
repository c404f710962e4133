# type: ignore
"""Power over time by the names of Zeus: those of its older versions, and of its newer ones."""

import math
import time

import pytest
from wattle.compat.zeus.monitor import (
    CPUPowerDomain,
    GPUPowerDomain,
    PowerDomain,
    PowerMonitor,
)


def monitor_that_read(**arguments):
    """A monitor that is stopped, and has seen power of each device."""
    monitor = PowerMonitor(update_period=0.02, **arguments)
    for _ in range(500):
        lines = monitor.get_all_power_timelines()
        if all(any(watts > 0 for _, watts in line) for one in lines.values() for line in one.values()):
            break
        time.sleep(0.02)
    monitor.stop()
    return monitor


def test_power_is_monitored_by_zeus_names(tree, gpus):
    monitor = PowerMonitor(update_period=0.05)
    assert monitor.gpu_indices == [0]
    assert PowerDomain.DEVICE_INSTANT in monitor.supported_domains
    start = time.time()
    time.sleep(0.3)
    end = time.time()
    power = monitor.get_power()
    energy = monitor.get_energy(start, end)
    monitor.stop()
    line = monitor.get_power_timeline("device_instant")[0]
    assert power == {0: pytest.approx(100.0, rel=0.5)}
    # 100 W, or a part at 300 W: never the 0 J of a steady power.
    assert energy is not None
    assert 5 < energy[0] < 120
    assert line == monitor.get_all_power_timelines()["device_instant"][0]
    assert all(math.isfinite(t) and w > 0 for t, w in line)
    assert monitor.samples[PowerDomain.DEVICE_INSTANT][0][0].power_mw == line[0][1] * 1e3


def test_an_unknown_power_domain_is_a_value_error(tree, gpus):
    monitor = PowerMonitor(update_period=0.05)
    with pytest.raises(ValueError):
        monitor.get_power_timeline("soc")
    monitor.stop()


def test_the_power_of_packages_and_dram_is_monitored_by_cpu(tree, load):
    monitor = monitor_that_read()
    assert (monitor.gpu_indices, monitor.cpu_indices) == ([], [0, 1])
    assert monitor.cpu_measurement_domains == [CPUPowerDomain.PACKAGE_AVERAGE, CPUPowerDomain.DRAM_AVERAGE]
    assert monitor.gpu_measurement_domains == []
    packages = monitor.get_power_timeline(cpu_power_domain="package_average")
    assert sorted(packages) == [0, 1]
    assert all(any(watts > 0 for _, watts in line) for line in packages.values())
    # The second package has no DRAM counter.
    assert sorted(monitor.get_power_timeline(cpu_power_domain=CPUPowerDomain.DRAM_AVERAGE)) == [0]
    assert sorted(monitor.get_all_power_timelines()) == ["dram_average", "package_average"]
    (sample, *_) = monitor.samples[CPUPowerDomain.PACKAGE_AVERAGE][1]
    assert (sample.cpu_index, sample.power_mw) == (1, packages[1][0][1] * 1e3)


def test_one_cpu_and_one_of_its_domains_can_be_chosen(tree, load):
    monitor = monitor_that_read(cpu_indices=[1], cpu_power_domains=["package_average"])
    assert monitor.cpu_indices == [1]
    assert list(monitor.get_all_power_timelines()) == ["package_average"]
    with pytest.raises(ValueError, match="dram_average is not monitored: package_average"):
        monitor.get_power_timeline(cpu_power_domain="dram_average")
    assert list(monitor.get_power_timeline(cpu_power_domain="package_average", cpu_index=1)) == [1]
    assert monitor.get_power_timeline(cpu_power_domain="package_average", cpu_index=0) == {}


def test_newer_names_of_the_arguments_of_gpus_are_taken(tree, gpus):
    monitor = PowerMonitor(gpu_update_period=0.05, gpu_power_domains=["device_instant"], cpu_indices=[])
    monitor.stop()
    assert monitor.gpu_update_period == monitor.update_period == pytest.approx(0.05)
    assert monitor.cpu_indices == []
    assert monitor.gpu_measurement_domains == [GPUPowerDomain.DEVICE_INSTANT]


@pytest.mark.parametrize(
    "arguments",
    [
        ([0], [1], 0.05, 0.2, 100, 200, ["device_instant"], ["package_average"]),
        ([0], [1], 0.05),
        ([0], None, 0.05),
        ([0], (1,)),
        ([0], None, None, 0.2),
    ],
)
def test_arguments_are_taken_in_the_order_of_newer_versions(tree, gpus, arguments):
    monitor = PowerMonitor(*arguments)
    monitor.stop()
    assert monitor.gpu_indices == [0]
    assert monitor.cpu_indices == ([0, 1] if arguments[1] is None else [1])
    if len(arguments) == 3:
        assert monitor.gpu_update_period == pytest.approx(0.05)
    if len(arguments) == 8:
        assert monitor.gpu_measurement_domains == [GPUPowerDomain.DEVICE_INSTANT]
        assert monitor.cpu_measurement_domains == [CPUPowerDomain.PACKAGE_AVERAGE]


def test_arguments_are_taken_in_the_order_of_older_versions(tree, gpus):
    monitor = PowerMonitor([0], 0.05, 100, ["device_average"])
    monitor.stop()
    assert monitor.update_period == pytest.approx(0.05)
    assert monitor.cpu_indices == [0, 1]
    assert monitor.measurement_domains == [GPUPowerDomain.DEVICE_AVERAGE]


def test_an_argument_is_given_once(tree, gpus):
    with pytest.raises(TypeError, match="two values for 'cpu_indices'"):
        PowerMonitor([0], [1], cpu_indices=[0])
    with pytest.raises(TypeError, match="at most 8"):
        PowerMonitor([0], [1], 0.05, 0.2, 100, 200, ["device_instant"], ["package_average"], 1)


@pytest.mark.parametrize("arguments", [{"max_samples_per_gpu": 0}, {"max_samples_per_cpu": -5}])
def test_a_monitor_keeps_at_least_one_sample(tree, arguments):
    with pytest.raises(ValueError, match="at least one sample"):
        PowerMonitor(**arguments)


def test_a_domain_that_is_not_monitored_is_refused_by_its_newer_name(tree, gpus):
    monitor = PowerMonitor(gpu_update_period=0.05, gpu_power_domains=["device_instant"])
    monitor.stop()
    assert monitor.get_power_timeline("memory_average") == {}
    with pytest.raises(ValueError, match="memory_average is not monitored: device_instant"):
        monitor.get_power_timeline(gpu_power_domain="memory_average")


def test_a_query_names_one_domain_and_its_own_kind_of_device(tree, gpus):
    monitor = PowerMonitor(update_period=0.05)
    monitor.stop()
    for arguments in (
        {},
        {"gpu_power_domain": "device_instant", "cpu_power_domain": "package_average"},
        {"cpu_power_domain": "package_average", "gpu_index": 0},
        {"gpu_power_domain": "device_instant", "cpu_index": 0},
    ):
        with pytest.raises(ValueError, match="index|one domain"):
            monitor.get_power_timeline(**arguments)


@pytest.mark.parametrize("arguments", [{"gpu_power_domains": []}, {"cpu_power_domains": []}])
def test_an_empty_list_of_domains_is_refused(tree, arguments):
    with pytest.raises(ValueError, match="is empty"):
        PowerMonitor(**arguments)


def test_a_cpu_that_is_not_there_is_refused(tree):
    with pytest.raises(RuntimeError, match="CPU 2"):
        PowerMonitor(cpu_indices=[2])


def test_a_machine_with_nothing_to_read_is_refused(empty_tree):
    with pytest.raises(ValueError, match="no GPU and no CPU"):
        PowerMonitor()


# The fake library reads its script once: three GPUs are in a process of their own.
def test_gpus_are_numbered_as_the_environment_leaves_them(run_python, gpus):
    gpus.write_text("".join(f"gpu NVIDIA H100 {i}\npower step 0 {100 * (i + 1)}\n" for i in range(3)))
    run_python(
        """
        import time
        import wattle
        from wattle.compat.zeus.monitor import PowerMonitor

        monitor = PowerMonitor(update_period=0.05, cpu_indices=[])
        while monitor.get_power() is None:
            time.sleep(0.01)
        monitor.stop()
        assert monitor.gpu_indices == [0, 1]
        assert monitor.get_power() == {0: 300.0, 1: 100.0}
        assert list(monitor.get_power_timeline("device_instant", gpu_index=1)) == [1]
        assert monitor.get_power_timeline("device_instant", gpu_index=2) == {}
        now = time.time()
        assert sorted(monitor.get_energy(now - 0.1, now)) == [0, 1]

        second = PowerMonitor([1], 0.05, cpu_indices=[])
        while second.get_power() is None:
            time.sleep(0.01)
        second.stop()
        assert second.get_power() == {1: 100.0}
        try:
            PowerMonitor(gpu_indices=[2])
        except wattle.NoSuchDevice as error:
            assert "leaves 2" in str(error)
        else:
            raise SystemExit("a hidden GPU was accepted")
        """,
        env={"CUDA_VISIBLE_DEVICES": "2,0"},
    )
