"""A Prometheus that asks for native histograms gets those of units of work, and everything else too."""

import json
import os
import subprocess
import urllib.request

import pytest
from conftest import Prometheus, end, eventually, samples_of, start_at_free_port

UNITS = 30
NATIVE = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"


class UnitDaemon:
    """A daemon that serves units of work to who has a token."""

    def __init__(self, root, machine):
        key = root / "key"
        key.write_bytes(os.urandom(32))
        key.chmod(0o600)
        program = os.environ["WATTLE_TEST_DAEMON"]
        issued = subprocess.run(
            [program, "token", "issue", "--signing-key-path", key, "--user", "a", "--scope", "gpu-read,cpu-read", "--expires", "1h"],
            capture_output=True, text=True, check=True,
        )
        self.token = issued.stdout.strip()
        self.process, self.port = start_at_free_port(
            lambda port: [program, "serve", "--mode", "tcp", "--tcp-bind-address", f"127.0.0.1:{port}",
                          "--signing-key-path", key, "--history", "600"],
            env=machine.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )

    def ask(self, path, method="GET", accept="text/plain"):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", method=method,
            headers={"Authorization": f"Bearer {self.token}", "Accept": accept},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.headers["Content-Type"], answer.read()

    def tag(self):
        """What is known of the units that have ended; None until that is all of them."""
        report = json.loads(self.ask("/api/v1/units")[1])["units"]
        tags = [tag for tag in report["tags"] if tag["tag"] == "a" and not tag["phase"]]
        return tags[0] if tags and tags[0]["count"] + tags[0]["unknown"] == UNITS else None


@pytest.fixture(scope="module")
def units(tmp_path_factory, machine):
    """A daemon whose units have ended, of lengths that differ."""
    daemon = UnitDaemon(tmp_path_factory.mktemp("units"), machine)
    open_units = [json.loads(daemon.ask("/api/v1/units/start?tag=a", "POST")[1])["id"] for _ in range(UNITS)]
    for unit in open_units:
        daemon.ask(f"/api/v1/units/end?tag=a&id={unit}", "POST")
    eventually(daemon.tag)
    yield daemon
    end(daemon.process)


def value_of(prometheus, query):
    found = (prometheus.api("query", query=query) or {"result": []})["result"]
    return float(found[0]["value"][1]) if found else None


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory, units):
    config = (
        f"scrape_configs: [{{job_name: a, scrape_interval: 1s, authorization: {{credentials: {units.token}}}, "
        f"static_configs: [{{targets: ['127.0.0.1:{units.port}']}}]}}]\n"
    )
    made = Prometheus(tmp_path_factory.mktemp("native"), config, ["--enable-feature=native-histograms"])
    query = "histogram_count(wattle_unit_energy_joules)"
    try:
        eventually(lambda: value_of(made, query) is not None)
        yield made
    finally:
        end(made.process)


def test_counts_and_sums_are_those_of_the_units(units, prometheus):
    tag = units.tag()
    assert value_of(prometheus, "histogram_count(wattle_unit_energy_joules)") == tag["count"]
    total = value_of(prometheus, "histogram_sum(wattle_unit_energy_joules)")
    assert total == pytest.approx(tag["sum_j"], rel=1e-9)


def test_the_buckets_have_every_unit_once(units, prometheus):
    (found,) = prometheus.api("query", query="wattle_unit_energy_joules")["result"]
    shown = found["histogram"][1]
    assert sum(float(count) for *_, count in shown["buckets"]) == units.tag()["count"] == float(shown["count"])


def bucket_of(quantile, tag):
    """The ends of the daemon's own bucket in which this part of the units is."""
    shown = tag["distribution"]
    passed = shown["none"]
    for i, count in enumerate(shown["counts"]):
        passed += count
        if passed >= quantile * tag["count"]:
            return shown["from_j"] * shown["ratio"] ** i, shown["from_j"] * shown["ratio"] ** (i + 1)
    raise AssertionError(f"{shown} has not all units")


def test_quantiles_are_those_of_the_units(units, prometheus):
    for quantile in (0.1, 0.5, 0.95, 1):
        found = value_of(prometheus, f"histogram_quantile({quantile}, wattle_unit_energy_joules)")
        above, up_to = bucket_of(quantile, units.tag())
        assert above * (1 - 1e-9) <= found <= up_to * (1 + 1e-9)


def test_everything_of_the_text_format_is_there(units, prometheus):
    def missing():
        names = set(prometheus.api("label/__name__/values"))
        text = {name for name in samples_of(units.ask("/metrics")[1].decode())
                if name not in {f"wattle_unit_energy_joules_{part}" for part in ("bucket", "sum", "count")}}
        return text - names

    eventually(lambda: not missing(), seconds=20)
    assert "wattle_unit_work_total" in prometheus.api("label/__name__/values")
    watts = {each["metric"]["domain"]: float(each["value"][1])
             for each in eventually(lambda: prometheus.api("query", query="wattle_power_limit_watts")["result"])}
    assert watts["nvidia_gpu_0"] == 700


def test_who_does_not_ask_for_it_gets_text(units):
    kind, text = units.ask("/metrics")
    assert kind.startswith("text/plain; version=0.0.4")
    assert b'wattle_unit_energy_joules_bucket{tag="a",le="+Inf"} 30\n' in text
    kind, text = units.ask("/metrics", accept=NATIVE + ";q=0.1,application/openmetrics-text")
    assert kind.startswith("application/openmetrics-text") and text.endswith(b"# EOF\n")
    assert units.ask("/metrics", accept=NATIVE)[0].startswith("application/vnd.google.protobuf")
