# type: ignore
"""Daemons: a stream, and single questions, of a real wattled over fake sensors."""

import asyncio
import threading
import time

import pytest
import wattle

stream = pytest.importorskip("wattle.stream")


@pytest.fixture
def daemon(daemon_socket):
    return stream.Server.unix_socket(daemon_socket)


def test_a_client_asks_a_daemon(daemon):
    client = stream.DaemonClient(daemon)
    assert [gpu.id for gpu in client.gpus] == [0]
    assert client.can_read_cpu
    assert client.gpu_power().power_w[0] == pytest.approx(100.0)
    assert client.gpu_energy()[0] >= 0
    assert client.cpu_energy()[0].cpu_j is not None
    assert client.time() == pytest.approx(time.time(), abs=60)
    with pytest.raises(wattle.NoSuchDevice):
        client.gpu_power([7])


def test_a_stream_is_iterated(daemon):
    updates = []
    with stream.PowerStream([daemon], on_update=updates.append) as power:
        for readings in power:
            if readings[daemon.endpoint].gpu_power_w:
                break
        assert readings[daemon.endpoint].gpu_power_w[0] == pytest.approx(100.0)
        assert power.snapshot()[daemon.endpoint].gpu.status == "live"
    assert updates


def test_a_stream_is_iterated_asynchronously(daemon):
    async def use():
        with stream.PowerStream([daemon]) as power:
            async for readings in power:
                if readings[daemon.endpoint].gpu_power_w:
                    return readings

    readings = asyncio.run(asyncio.wait_for(use(), 30))
    assert readings[daemon.endpoint].gpu_power_w[0] == pytest.approx(100.0)


def test_stop_ends_iterations(daemon):
    power = stream.PowerStream([daemon])
    ended = threading.Event()

    def iterate():
        for _ in power:
            pass
        ended.set()

    thread = threading.Thread(target=iterate)
    thread.start()
    power.stop()
    assert ended.wait(10)
    thread.join()

    async def follow():
        return [readings async for readings in power]

    assert asyncio.run(follow()) == []


def test_a_daemon_that_is_absent_is_a_connection_error(tmp_path):
    absent = stream.Server.unix_socket(tmp_path / "absent")
    with pytest.raises(ConnectionError) as caught:
        stream.DaemonClient(absent)
    assert isinstance(caught.value, wattle.ConnectionError)
    assert "absent" in str(caught.value)
    with pytest.raises(wattle.ConnectionError):
        stream.PowerStream([absent])
    with pytest.raises(wattle.InvalidArgument):
        stream.PowerStream([])


def test_a_server_never_shows_its_token():
    server = stream.Server.tcp("::1", token="secret", gpu_indices=[0])
    assert server.endpoint == "[::1]:4938"
    assert "secret" not in repr(server)
    assert stream.Server.parse("https://node").transport == "https"
