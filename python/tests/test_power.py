# type: ignore
"""The power monitor over a fake NVIDIA library."""

import time

import numpy
import pytest
import wattle


def test_a_monitor_has_the_power_and_energy_of_gpus(gpus):
    start = time.time()
    with wattle.PowerMonitor(update_period=0.05, power_domains=["device_instant"]) as monitor:
        assert monitor.gpu_indices == [0]
        assert monitor.cpu_domains == ["package_0", "package_1", "dram_0"]
        assert monitor.supported_domains(0) == ("device_instant",)
        assert monitor.update_period == pytest.approx(0.05)
        monitor.read_now()
        power = monitor.power()
        assert power[0].power_w == pytest.approx(100.0)
        assert power[0].power_domain == "device_instant"
    (line,) = monitor.timeline().values()
    assert line[0].power_w == pytest.approx(100.0)
    assert start - 1 < line[0].timestamp < time.time() + 1
    energy = monitor.energy(line[0].timestamp, line[0].last_confirmed)[0]
    assert energy.energy_j is not None
    assert energy.method in ("counter", "integrated")
    assert monitor.total_energy(start, time.time()).unknown_s > 0


def test_a_timeline_gives_columns_without_a_copy(gpus):
    with wattle.PowerMonitor(update_period=0.01) as monitor:
        time.sleep(0.1)
    line = monitor.timeline("device_instant", 0)[0]
    columns = wattle.to_numpy(line)
    assert len(columns["power_w"]) == len(line)
    assert columns["power_w"].tolist() == [sample.power_w for sample in line]
    assert columns["timestamp"].tolist() == [sample.timestamp for sample in line]
    assert not columns["power_w"].flags.owndata
    assert columns["power_w"].strides[0] > 8  # the samples themselves
    assert len(wattle.to_pandas(line)) == len(line)
    del line, monitor
    assert numpy.isfinite(columns["power_w"]).all()


def test_windows_are_given_in_unix_seconds(gpus, tree):
    with wattle.PowerMonitor(update_period=0.01) as monitor:
        for _ in range(4):
            time.sleep(0.01)
            tree.spend("intel-rapl:0", 0.1)
            assert monitor.read_now(10.0)
        end = time.time()
    line = monitor.cpu_timeline("package_0")
    assert len(line) > 2
    first, last = line[0].timestamp, line[len(line) - 1].begin
    assert monitor.cpu_timeline("package_0", end=first)[0].timestamp == first
    assert len(monitor.cpu_timeline("package_0", start=last)) == 1
    later = monitor.all_timelines(start=end + 10)
    assert not any(len(line) for lines in later.values() for line in lines.values())
    with pytest.raises(wattle.InvalidArgument):
        monitor.energy(end, end - 1)
    with pytest.raises(wattle.InvalidArgument):
        monitor.timeline("device_peak")
    with pytest.raises(wattle.NoSuchDomain):
        monitor.cpu_timeline("package_7")
    with pytest.raises(wattle.NoSuchDevice):
        monitor.supported_domains(7)


def test_a_monitor_without_sensors_has_reasons(empty_tree):
    with wattle.PowerMonitor() as monitor:
        assert monitor.gpu_indices == []
    assert monitor.missing
    with pytest.raises(wattle.NoSuchDevice):
        wattle.PowerMonitor(strict=True)


def test_a_monitor_that_is_dropped_ends(gpus):
    for _ in range(3):
        wattle.PowerMonitor(update_period=0.01)


def test_a_million_times_are_converted_at_once(tree):
    samples = [wattle.EnergySample(1e9 + i, "", 0.0, {}) for i in range(1000)]
    trace = wattle.EnergyTrace(samples)
    assert trace.to_numpy()["timestamp"].tolist() == pytest.approx(
        [s.timestamp for s in samples], abs=1e-6
    )
