"""Three daemons, Prometheus with the rules, Alertmanager and VictoriaMetrics: the fleet's joules are those of the
fakes, also when a daemon is restarted, a GPU is lost for a while, and a counter wraps; the shares of pods, jobs and services close."""

import json
import os
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import pytest
from conftest import FLEET, Prometheus, accepts, end, eventually, need, start_at_free_port

yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed: run scripts/setup test")

TICK_J = 1 / 16384
WATTS = {
    ("n1", "package_0"): 100, ("n2", "package_0"): 50, ("n2", "nvidia_gpu_0"): 300,
    ("n2", "nvidia_gpu_1"): 200, ("n3", "package_0"): 80,
}
# One is off the bus for 7 s, one has no counter of energy.
GPUS = {"n2": "gpu A\nuuid GPU-a\npower step 0 300\nlost 10 17\ngpu B\nuuid GPU-b\npower step 0 200\ncounter none\n"}
# Control groups, and the CPU time of each in a second, in microseconds.
GROUPS = {
    "kubepods/burstable/pod0f6e3a52-5f0c-4a8e-9a6f-0a3c1d2e4f56": 400_000,
    "system.slice/slurmstepd.scope/job_77": 300_000,
    "system.slice/web.service": 100_000,
}
# How long it is watched; the counter wraps and the lost GPU is back within 16 s.
SECONDS = int(os.environ.get("WATTLE_TEST_FLEET_SECONDS", 16))
# Seconds of power by which a sum may be off: counters are renewed, scrapes have a time of their own, at both ends.
SLACK_S = 2.0


def get(port, path, **parameters):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(parameters)}", timeout=60) as answer:
        return json.load(answer)


class Node:
    def __init__(self, root, name):
        self.folder = root / name
        zone = self.folder / "sys" / "class" / "powercap" / "intel-rapl:0"
        zone.mkdir(parents=True)
        (self.folder / "proc").mkdir()
        (self.folder / "proc" / "cpuinfo").write_text(
            "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: msr\nphysical id\t: 0\n\n"
        )
        (zone / "name").write_text("package-0\n")
        (zone / "max_energy_range_uj").write_text("262143328850\n")
        (zone / "energy_uj").write_text("0" * 19 + "\n")
        (self.folder / "gpus").write_text(GPUS.get(name, ""))
        watts = WATTS[name, "package_0"]
        # The one of n1 wraps after 15 s.
        ticks = 2**32 - int(15 * watts / TICK_J) if name == "n1" else 1000
        self.player = subprocess.Popen(
            [os.environ["WATTLE_TEST_PLAYER"], str((SECONDS + 600) * 1000), zone, str(watts), "6.103515625e-05", "61035", str(ticks)],
            stdout=subprocess.DEVNULL,
        )
        self.use_cpus(0)
        self.is_over = threading.Event()
        self.groups = threading.Thread(target=self.keep_using)
        self.groups.start()
        self.daemon, self.port = start_at_free_port(self.command, **self.options())

    def use_cpus(self, seconds):
        """As the kernel shows it after so long."""
        root = self.folder / "sys" / "fs" / "cgroup"
        for group, usec in {"": 0, **GROUPS}.items():
            (root / group).mkdir(parents=True, exist_ok=True)
            # A reader sees the old text or the new one.
            name = "cpu.stat" if group else "cgroup.controllers"
            text = f"usage_usec {1_000_000 + int(usec * seconds)}\n" if group else "cpu\n"
            (root / group / "new").write_text(text)
            (root / group / "new").rename(root / group / name)

    def keep_using(self):
        start = time.monotonic()
        while not self.is_over.wait(0.1):
            self.use_cpus(time.monotonic() - start)

    def command(self, port):
        return [
            os.environ["WATTLE_TEST_DAEMON"], "serve", "--mode=tcp", f"--tcp-bind-address=127.0.0.1:{port}",
            "--user=root", "--public-cpu-period=0", "--enable=gpu-read,cpu-read,shares", "--shares-interval=1", "--shares-gpu-processes=5", f"--sysfs={self.folder}/sys", f"--procfs={self.folder}/proc",
            f"--nvml-library={os.environ['WATTLE_TEST_NVML']}",
        ]

    def options(self):
        return {
            "env": {**os.environ, "WATTLE_FAKE_NVML": str(self.folder / "gpus")},
            "stdout": subprocess.DEVNULL, "stderr": open(self.folder / "log", "a"),
        }

    def restart(self):
        end(self.daemon)
        self.daemon = subprocess.Popen(self.command(self.port), **self.options())
        eventually(lambda: accepts(self.port))

    def stop(self):
        end(self.daemon)
        end(self.player)
        self.is_over.set()
        self.groups.join()


def rules_without_waits(folder):
    folder.mkdir()
    for path in (FLEET / "prometheus" / "rules").glob("*.yml"):
        rules = yaml.safe_load(path.read_text())
        for group in rules["groups"]:
            group.pop("interval", None)
            for rule in group["rules"]:
                rule.pop("for", None)
        (folder / path.name).write_text(yaml.safe_dump(rules))


@pytest.fixture
def servers(tmp_path):
    """(port of Alertmanager, port of VictoriaMetrics)."""
    need("prometheus", "prometheus")
    need("prometheus-alertmanager", "prometheus-alertmanager")
    need("victoria-metrics", "victoria-metrics")
    (tmp_path / "alertmanager.yml").write_text("route: {receiver: nobody, group_wait: 0s}\nreceivers: [{name: nobody}]\n")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    alerts, alerts_port = start_at_free_port(
        lambda port: ["prometheus-alertmanager", f"--config.file={tmp_path}/alertmanager.yml",
                      f"--storage.path={tmp_path}/alerts", f"--web.listen-address=127.0.0.1:{port}",
                      "--cluster.listen-address="], **quiet)
    store, store_port = start_at_free_port(
        lambda port: ["victoria-metrics", f"-storageDataPath={tmp_path}/store", f"-httpListenAddr=127.0.0.1:{port}",
                      "-search.latencyOffset=0s", "-search.disableCache", "-memory.allowedBytes=100MB"], **quiet)
    yield alerts_port, store_port
    end(alerts)
    end(store)


@pytest.fixture
def nodes():
    """Those that are started, by name: the test starts them."""
    started = {}
    yield started
    for node in started.values():
        node.stop()


def add_node(root, nodes, name):
    nodes[name] = Node(root, name)
    targets = [
        {"targets": [f"127.0.0.1:{node.port}"], "labels": {"instance": each, "rack": "r1", "cluster": "c1"}}
        for each, node in nodes.items()
    ]
    (root / "new").write_text(json.dumps(targets))
    (root / "new").rename(root / "targets.json")


def config(alerts_port, store_port):
    return yaml.safe_dump({
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": ["rules/*.yml"],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [f"127.0.0.1:{alerts_port}"]}]}]},
        "remote_write": [
            {"url": f"http://127.0.0.1:{store_port}/api/v1/write", "queue_config": {"batch_send_deadline": "1s"}}
        ],
        "scrape_configs": [{"job_name": "wattled", "file_sd_configs": [{"files": ["targets.json"]}]}],
    })


def check_energy(samples, watts, label):
    """Between the first and the last sample, within the slack; a restart loses the time around it, and no more."""
    counted, lost_s = 0.0, 0.0
    for (before_s, before), (after_s, after) in zip(samples, samples[1:]):
        if after < before:
            counted, lost_s = counted + after, lost_s + after_s - before_s
        else:
            counted += after - before
    truth = watts * (samples[-1][0] - samples[0][0])
    assert truth - watts * (lost_s + SLACK_S) <= counted <= truth + watts * SLACK_S, (label, counted, truth, lost_s)
    return lost_s > 0


def check_shares(prometheus, stop, seconds):
    """At each scrape all shares of a domain add up to what was measured, to the microjoule."""
    gpus = {("n2", "nvidia_gpu_0"), ("n2", "nvidia_gpu_1")}
    for kind, selector, domains in (
        ("share", "", gpus | {(node, "cpu") for node in ("n1", "n2", "n3")}),
        ("process_gpu", '{domain!="cpu"}', gpus),
    ):
        left_uj, scrapes = {}, 0
        for metric, sign in ((f"{kind}_energy", 1), (f"{kind}_ended_energy", 1), ("share_measured", -1)):
            query = f"wattle_{metric}_joules_total{selector}[{seconds}s]"
            for each in prometheus.api("query", query=query, time=stop)["result"]:
                of = each["metric"]["instance"], each["metric"]["domain"]
                for at, value in each["values"]:
                    scrapes += sign < 0
                    left_uj[of, at] = left_uj.get((of, at), 0) + sign * round(float(value) * 1e6)
        assert {place: left for place, left in left_uj.items() if left != 0} == {}
        assert {of for of, _ in left_uj} == domains
        assert scrapes > 5 * len(domains)
    for family in ("energy", "uncertainty"):
        query = f'count by (instance) (wattle_share_{family}_joules_total{{group_kind=~"pod|slurm_job|service"}} > 0)'
        answer = prometheus.api("query", query=query, time=stop)["result"]
        shown = {each["metric"]["instance"]: int(each["value"][1]) for each in answer}
        assert shown == {node: len(GROUPS) for node in ("n1", "n2", "n3")}, family


def test_joules_of_the_fleet_are_those_of_the_fakes(tmp_path, nodes, servers):
    alerts_port, store_port = servers
    rules_without_waits(tmp_path / "rules")
    add_node(tmp_path, nodes, "n3")
    prometheus = Prometheus(tmp_path, config(alerts_port, store_port))
    try:
        def count(query):
            found = (prometheus.api("query", query=f"count({query})") or {"result": []})["result"]
            return int(found[0]["value"][1]) if found else 0

        eventually(lambda: count("wattle_energy_joules_total") == 1)
        # From here on time passes for what happens to them.
        add_node(tmp_path, nodes, "n1")
        add_node(tmp_path, nodes, "n2")
        eventually(lambda: count('wattle_energy_joules_total{additive="true"}') == len(WATTS))
        start = time.time()

        def firing():
            return [
                alert["labels"] for alert in get(alerts_port, "/api/v2/alerts")
                if alert["labels"]["alertname"] == "WattleSensorLost"
            ]

        lost = eventually(firing)
        assert [(each["instance"], each["domain"]) for each in lost] == [("n2", "nvidia_gpu_0")]
        nodes["n1"].restart()
        eventually(lambda: count('wattle_sensor_up{additive="true"} == 1') == len(WATTS))
        time.sleep(max(3.0, start + SECONDS - time.time()))  # the counter wraps, the lost GPU is back
        stop = time.time()

        query = f'wattle_energy_joules_total{{additive="true"}}[{int(stop - start)}s]'
        restarted = set()
        for each in prometheus.api("query", query=query, time=stop)["result"]:
            of = each["metric"]["instance"], each["metric"]["domain"]
            samples = [(at, float(value)) for at, value in each["values"]]
            assert len(samples) > 5, of
            if check_energy(samples, WATTS[of], of):
                restarted.add(of)
        assert restarted == {("n1", "package_0")}
        check_shares(prometheus, stop, int(stop - start))

        # Power, now that all are back, and the same in the store for years.
        fleet = "cluster:wattle_power_watts:sum"

        def power(answer):
            return [float(each["value"][1]) for each in answer["result"]]

        eventually(lambda: power(prometheus.api("query", query=fleet)) == pytest.approx([sum(WATTS.values())], rel=0.05))
        at = prometheus.api("query", query=f"timestamp({fleet})")["result"][0]["value"][1]
        for stored in (fleet, 'sum(wattle_energy_joules_total{additive="true"})'):
            here = power(prometheus.api("query", query=stored, time=at))
            eventually(
                lambda: power(get(store_port, "/api/v1/query", query=stored, time=at)["data"]) == pytest.approx(here, rel=1e-9)
            )
    finally:
        end(prometheus.process)
