# type: ignore
"""Zeus's streaming client, over a real wattled with fake sensors."""

import asyncio
import threading
import time

import pytest

pytest.importorskip("wattle.stream")

from wattle.compat.zeus.monitor import PowerStreamingClient
from wattle.compat.zeus.monitor.power_streaming import CpuPowerReading, PowerReadings
from wattle.compat.zeus.utils.zeusd import (
    ZeusdConfig,
    ZeusdConnectionError,
)


@pytest.fixture
def daemon(load, daemon_socket):
    """Its counters move."""
    return daemon_socket


def first(client, wanted):
    for readings in client:
        if wanted(readings):
            return readings
    return None


def test_a_stream_has_the_power_of_each_device(daemon):
    client = PowerStreamingClient([ZeusdConfig.uds(daemon)])
    readings = first(client, lambda found: daemon in found and found[daemon].cpu_power_w)
    assert readings is not None
    gpu = first(client, lambda found: found[daemon].gpu_power_w)[daemon]
    known = client.get_power()
    client.stop()
    assert gpu.gpu_power_w == {0: pytest.approx(100.0)}
    assert gpu.timestamp_s == pytest.approx(time.time(), abs=60)
    assert all(isinstance(one, CpuPowerReading) for one in readings[daemon].cpu_power_w.values())
    assert set(known) == {daemon}
    known[daemon].gpu_power_w.clear()
    assert client.get_power()[daemon].gpu_power_w


def test_devices_are_those_that_were_asked_for(daemon):
    client = PowerStreamingClient([ZeusdConfig.uds(daemon, gpu_indices=[0], cpu_indices=[])])
    readings = first(client, lambda found: found[daemon].gpu_power_w)
    client.stop()
    assert readings[daemon].cpu_power_w == {}
    with pytest.raises(ValueError, match="7"):
        PowerStreamingClient([ZeusdConfig.uds(daemon, gpu_indices=[7])])


def test_a_stream_is_iterated_asynchronously(daemon):
    async def use():
        client = PowerStreamingClient([ZeusdConfig.uds(daemon)])
        async for readings in client:
            if readings[daemon].gpu_power_w:
                client.stop()
                return readings

    readings = asyncio.run(asyncio.wait_for(use(), 30))
    assert isinstance(readings[daemon], PowerReadings)


def test_without_servers_an_iteration_waits_for_stop():
    client = PowerStreamingClient([])
    assert client.get_power() == {}
    thread = threading.Thread(target=list, args=(client,))
    thread.start()
    assert thread.is_alive()
    client.stop()
    thread.join(30)
    assert not thread.is_alive()

    async def follow():
        return [readings async for readings in client]

    assert asyncio.run(follow()) == []


def test_wrong_servers_are_refused(tmp_path):
    twice = [ZeusdConfig.tcp("node1", 4938), ZeusdConfig.tcp("node1", 4938)]
    with pytest.raises(ValueError, match="node1:4938 is there twice"):
        PowerStreamingClient(twice)
    with pytest.raises(ZeusdConnectionError, match="absent"):
        PowerStreamingClient([ZeusdConfig.uds(str(tmp_path / "absent"))])
    with pytest.raises(ValueError, match="write host:port"):
        PowerStreamingClient([ZeusdConfig(host_port="node1")])


def test_readings_have_the_defaults_of_zeus():
    assert PowerReadings() == PowerReadings(timestamp_s=0.0, gpu_power_w={}, cpu_power_w={})
    assert CpuPowerReading() == CpuPowerReading(cpu_w=0.0, dram_w=None)


def test_a_script_of_zeus_runs_unchanged(daemon, run_python, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from zeus.monitor.power_streaming import PowerStreamingClient\n"
        "from zeus.utils.zeusd import ZeusdConfig\n"
        f"client = PowerStreamingClient(servers=[ZeusdConfig.uds({daemon!r})])\n"
        "for readings in client:\n"
        f"    gpus = readings[{daemon!r}].gpu_power_w\n"
        "    if gpus:\n"
        "        break\n"
        "client.stop()\n"
        "print(gpus)\n"
    )
    ended = run_python("import sys; from wattle import shim; shim.main(sys.argv[1:])", str(script))
    assert ended.stdout.startswith("{0: 100")
