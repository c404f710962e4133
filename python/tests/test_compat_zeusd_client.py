# type: ignore
"""The client for single requests to a daemon: against answers that are played, and a real daemon."""

import pytest
from wattle.compat.zeus.device.exception import ZeusdError
from wattle.compat.zeus.exception import ZeusBaseError
from wattle.compat.zeus.utils.zeusd import (
    CpuDramPower,
    CpuEnergyResult,
    CpuInfo,
    GpuInfo,
    HsmpPowerInfo,
    PowerLimitConstraint,
    ZeusdAuthError,
    ZeusdCapabilityError,
    ZeusdClient,
    ZeusdConfig,
    ZeusdConnectionError,
    ZonePowerLimits,
    require_capabilities,
)

httpx = pytest.importorskip("httpx")

LIMITS = {"enabled": True, "constraints": [
    {"name": "long_term", "power_limit_mw": 9, "max_power_mw": None, "time_window_us": 7}
]}
ANSWERS = {
    "/discover": {
        "gpus": [{"id": 3, "name": "G", "pci_address": "0000:03:00.0", "cumulative_energy_available": True}],
        "cpus": [{"id": 0, "dram_available": True}, {"id": 1, "dram_available": False}],
        "enabled_api_groups": ["gpu-read", "cpu-read"],
        "auth_required": False,
    },
    "/auth/whoami": {"sub": "alice", "scopes": ["cpu-read"]},
    "/time": {"timestamp_ms": 1500},
    "/gpu/get_power": {"timestamp_ms": 5, "power_mw": {"3": 70000}},
    "/gpu/get_cumulative_energy": {"3": {"energy_mj": 11}},
    "/gpu/get_power_limit": {"3": {"power_limit_mw": 300000}},
    "/gpu/get_power_limit_constraints": {"3": {"min_power_limit_mw": 1, "max_power_limit_mw": 2}},
    "/gpu/get_persistence_mode": {"3": {"enabled": True}},
    "/cpu/get_power": {"timestamp_ms": 5, "power_mw": {"0": {"cpu_mw": 4, "dram_mw": 2}, "1": {"cpu_mw": 3}}},
    "/cpu/get_cumulative_energy": {"0": {"cpu_energy_uj": 8, "dram_energy_uj": None}},
    "/cpu/get_power_limit": {"0": {"cpu": LIMITS, "dram": None}},
    "/cpu/get_power_limit_constraints": {"0": {"rapl": None, "hsmp": {"max_power_mw": 6}}},
}


class Daemon:
    """Answers as a daemon would, and keeps the requests."""

    def __init__(self, changes):
        self.answers = {**ANSWERS, **changes}
        self.requests = []

    def answer(self, request):
        self.requests.append((request.method, request.url.path, dict(request.url.params)))
        found = self.answers.get(request.url.path, "")
        if isinstance(found, int):
            return httpx.Response(found, text="no")
        return httpx.Response(200, json=found)


@pytest.fixture
def connect(monkeypatch):
    """Makes a client of a daemon whose answers are changed."""

    def make(changes=None, token=None):
        daemon = Daemon(changes or {})
        monkeypatch.setattr(
            ZeusdConfig,
            "make_client",
            lambda config: httpx.Client(transport=httpx.MockTransport(daemon.answer), headers=config._auth_headers()),
        )
        client = ZeusdClient(ZeusdConfig.tcp("node1", 4938, token=token))
        del daemon.requests[:]
        return client, daemon

    return make


def discovered(**changes):
    return {"/discover": {**ANSWERS["/discover"], **changes}}


def test_devices_are_those_that_the_daemon_lists(connect):
    client, _ = connect()
    assert client.gpus == [GpuInfo(3, "G", "0000:03:00.0", True)]
    assert client.cpus == [CpuInfo(0, True), CpuInfo(1, False)]
    assert (client.gpu_ids, client.cpu_ids, client.dram_available) == ([3], [0, 1], [True, False])
    assert (client.endpoint, client.url("/time")) == ("node1:4938", "http://node1:4938/time")
    assert ZeusdConfig.uds("/run/s").url("/time") == "http://localhost/time"


READS = [
    (lambda c: c.get_time(), "/time", {}, 1.5),
    (lambda c: c.get_gpu_energy([3]), "/gpu/get_cumulative_energy", {"gpu_ids": "3"}, {3: 11}),
    (lambda c: c.get_gpu_power().power_mw, "/gpu/get_power", {}, {3: 70000}),
    (lambda c: c.get_power_limit([0, 3]), "/gpu/get_power_limit", {"gpu_ids": "0,3"}, {3: 300000}),
    (lambda c: c.get_power_limit_constraints(), "/gpu/get_power_limit_constraints", {}, {3: (1, 2)}),
    (lambda c: c.get_persistence_mode(), "/gpu/get_persistence_mode", {}, {3: True}),
    (
        lambda c: c.get_cpu_power([0, 1]).power_mw,
        "/cpu/get_power",
        {"cpu_ids": "0,1"},
        {0: CpuDramPower(4, 2), 1: CpuDramPower(3, None)},
    ),
    (
        lambda c: c.get_cpu_energy(dram=False),
        "/cpu/get_cumulative_energy",
        {"cpu": "true", "dram": "false"},
        {0: CpuEnergyResult(8, None)},
    ),
    (
        lambda c: c.get_cpu_power_limit()[0].cpu,
        "/cpu/get_power_limit",
        {},
        ZonePowerLimits(True, [PowerLimitConstraint("long_term", 9, None, 7)]),
    ),
    (
        lambda c: c.get_cpu_power_limit_constraints()[0].hsmp,
        "/cpu/get_power_limit_constraints",
        {},
        HsmpPowerInfo(6),
    ),
]


@pytest.mark.parametrize(("ask", "path", "parameters", "value"), READS, ids=lambda one: str(one)[:40])
def test_a_question_has_its_path_its_parameters_and_its_value(connect, ask, path, parameters, value):
    client, daemon = connect()
    assert ask(client) == value
    assert daemon.requests == [("GET", path, parameters)]


ORDERS = [
    (lambda c: c.set_power_limit([0, 3], 250000), "set_power_limit", {"power_limit_mw": "250000"}, "0,3"),
    (lambda c: c.set_persistence_mode([3], False, block=False), "set_persistence_mode", {"enabled": "false"}, "3"),
    (
        lambda c: c.set_gpu_locked_clocks([3], 300, 1200),
        "set_gpu_locked_clocks",
        {"min_clock_mhz": "300", "max_clock_mhz": "1200"},
        "3",
    ),
    (
        lambda c: c.set_mem_locked_clocks([3], 400, 1600),
        "set_mem_locked_clocks",
        {"min_clock_mhz": "400", "max_clock_mhz": "1600"},
        "3",
    ),
    (lambda c: c.reset_gpu_locked_clocks([3]), "reset_gpu_locked_clocks", {}, "3"),
    (lambda c: c.reset_mem_locked_clocks([3]), "reset_mem_locked_clocks", {}, "3"),
    (lambda c: c.reset_locked_clocks([3]), "reset_locked_clocks", {}, "3"),
]


@pytest.mark.parametrize(("order", "name", "parameters", "gpus"), ORDERS, ids=lambda one: str(one)[:40])
def test_a_setting_of_gpus_is_posted(connect, order, name, parameters, gpus):
    client, daemon = connect()
    order(client)
    block = "false" if name == "set_persistence_mode" else "true"
    assert daemon.requests == [("POST", f"/gpu/{name}", {"gpu_ids": gpus, **parameters, "block": block})]


def test_a_setting_of_cpus_is_posted(connect):
    client, daemon = connect()
    client.set_cpu_power_limit([0, 1], "long_term", 150000)
    client.set_cpu_time_window([1], "short_term", 2440)
    client.reset_cpu_power_limit([0])
    assert daemon.requests == [
        ("POST", "/cpu/set_power_limit", {"cpu_ids": "0,1", "constraint": "long_term", "power_limit_mw": "150000"}),
        ("POST", "/cpu/set_time_window", {"cpu_ids": "1", "constraint": "short_term", "time_window_us": "2440"}),
        ("POST", "/cpu/reset_power_limit", {"cpu_ids": "0"}),
    ]


def test_a_refused_request_names_itself_and_the_answer(connect):
    client, _ = connect({"/gpu/get_power": 403})
    with pytest.raises(ZeusdError, match="get_gpu_power.*node1:4938.*HTTP 403: no"):
        client.get_gpu_power()


def test_an_address_is_needed(monkeypatch):
    for name in ("ZEUSD_SOCK_PATH", "ZEUSD_HOST_PORT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ZeusdConnectionError, match="set ZEUSD_SOCK_PATH or ZEUSD_HOST_PORT"):
        ZeusdClient()


def test_a_daemon_that_does_not_answer_is_a_connection_error(tmp_path):
    with pytest.raises(ZeusdConnectionError, match="Cannot reach Zeusd at .*absent"):
        ZeusdClient(ZeusdConfig.uds(str(tmp_path / "absent")))
    assert issubclass(ZeusdConnectionError, ZeusBaseError)


def test_a_daemon_that_fails_is_a_connection_error(connect):
    with pytest.raises(ZeusdConnectionError, match="HTTP 503"):
        connect({"/discover": 503})


def test_a_daemon_that_lacks_a_field_is_too_old(connect):
    with pytest.raises(ZeusdConnectionError, match="'pci_address'.*Upgrade"):
        connect(discovered(gpus=[{"id": 0, "name": "G"}]))


def test_without_a_token_nothing_is_permitted(connect):
    client, _ = connect(discovered(auth_required=True))
    assert "no token" in client.auth_error
    assert not client.can_read_gpu and not client.can_read_cpu
    assert client.gpu_ids == [3]
    with pytest.raises(ZeusdAuthError, match="no token"):
        require_capabilities(client)


@pytest.mark.parametrize(("status", "text"), [(401, "Token rejected"), (500, "HTTP 500")])
def test_a_token_that_is_refused_is_no_error_before_it_is_needed(connect, status, text):
    client, _ = connect({**discovered(auth_required=True), "/auth/whoami": status}, token="t")
    assert text in client.auth_error
    assert client.granted_scopes == frozenset()


def test_what_is_permitted_is_what_the_daemon_enables_and_the_token_grants(connect):
    client, _ = connect(discovered(auth_required=True), token="t")
    assert client.auth_error is None
    assert client.granted_scopes == {"cpu-read"}
    assert client.can_read_cpu
    assert not client.can_read_gpu and not client.can_control_gpu and not client.can_control_cpu


def test_all_that_lacks_is_named_at_once(connect):
    client, _ = connect(discovered(auth_required=True), token="t")
    require_capabilities(client, read_cpu=True, cpu_ids=[0, 1], gpu_ids=[3])
    with pytest.raises(ZeusdCapabilityError) as raised:
        require_capabilities(client, read_gpu=True, control_cpu=True, gpu_ids=[3, 5], cpu_ids=[2])
    text = str(raised.value)
    assert "lacks required scope 'gpu-read' (granted: cpu-read)" in text
    assert "'cpu-control' is not enabled" in text
    assert "GPU indices [5]" in text and "CPU indices [2]" in text


def test_a_daemon_of_wattle_answers(daemon_socket):
    client = ZeusdClient(ZeusdConfig.uds(daemon_socket))
    assert client.cpu_ids == [0, 1] and client.dram_available == [True, False]
    assert len(client.gpu_ids) == 1 and client.gpus[0].name.startswith("NVIDIA")
    require_capabilities(client, read_gpu=True, read_cpu=True, gpu_ids=client.gpu_ids)
    assert client.get_gpu_power().power_mw == {client.gpu_ids[0]: 100000}
    energies = client.get_cpu_energy()
    assert energies[0].cpu_energy_uj > 0 and energies[1].dram_energy_uj is None
    assert client.get_time() > 1e9
    with pytest.raises(ZeusdError, match="get_cpu_power_limit"):
        client.get_cpu_power_limit()
