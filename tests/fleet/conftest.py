"""Fake machines, real daemons and a real Prometheus for the tests of fleet/."""

import base64
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
from otlp_collector import Collector

PROJECT = pathlib.Path(__file__).resolve().parents[2]
FLEET = PROJECT / "fleet"
POD = "0f6e3a52-5f0c-4a8e-9a6f-0a3c1d2e4f56"
GPUS = (
    "gpu NVIDIA H100 80GB HBM3\nuuid GPU-aaaa\nprocess compute 4711 1000000\npower step 0 500\nlimit 700 700\nutilization 90 50\n"
    "memory 80000000000 60000000000\ntemperature 60\nclocks 1980 2619\n"
    "gpu NVIDIA A100\nuuid GPU-bbbb\npci 0000:61:00\npower step 0 60\nlimit 400 400\nutilization 0 0\n"
    "memory 40000000000 500000000\ntemperature 35\nclocks 210 1215\ncounter none\n"
)


def need(program, package):
    """Skips the test where a program of a Debian package is not installed."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} (package {package}) is not installed: run scripts/setup test")


def eventually(attempt, seconds=60, pause=0.1):
    """The first value of `attempt` that is true. For other processes, which may be slow on a busy machine."""
    end = time.monotonic() + seconds
    while True:
        found = attempt()
        if found:
            return found
        assert time.monotonic() < end, "not in time"
        time.sleep(pause)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def accepts(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def start_at_free_port(command_at, **options):
    """Starts a server; another program may take the port first, then it ends."""
    for _ in range(5):
        port = free_port()
        process = subprocess.Popen(command_at(port), **options)
        eventually(lambda: accepts(port) or process.poll() is not None, pause=0.05)
        if process.poll() is None:
            return process, port
    raise AssertionError("the server does not start")


def end(process):
    process.kill()
    process.wait()


class Machine:
    """A package with memory and two GPUs, of constant power."""

    def __init__(self, root):
        self.root = root
        zones = root / "sys" / "class" / "powercap"
        words = []
        for folder, name, watts in (("intel-rapl:0", "package-0", 100), ("intel-rapl:0:0", "dram", 20)):
            zone = zones / folder
            zone.mkdir(parents=True)
            (zone / "name").write_text(name + "\n")
            (zone / "max_energy_range_uj").write_text("262143328850\n")
            (zone / "energy_uj").write_text("0" * 19 + "\n")
            (zone / "energy_uj").chmod(0o600)  # for its owner alone, as the kernel has it
            words += [zone, str(watts), "6.103515625e-05", "61035", "1000"]
        (root / "proc").mkdir()
        (root / "proc" / "cpuinfo").write_text(
            "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 106\n"
            "model name\t: Made up\nphysical id\t: 0\ncore id\t\t: 0\n\n"
        )
        (root / "gpus").write_text(GPUS)
        # A pod, whose process uses the first GPU.
        pod = f"kubepods/burstable/pod{POD}"
        group = root / "sys" / "fs" / "cgroup"
        (group / pod).mkdir(parents=True)
        (group / "cgroup.controllers").write_text("cpu\n")
        (group / pod / "cpu.stat").write_text("usage_usec 1000000\n")
        (root / "proc" / "4711").mkdir()
        (root / "proc" / "4711" / "cgroup").write_text(f"0::/{pod}\n")
        (root / "proc" / "4711" / "stat").write_text("4711 (train) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 77 4096 1 0\n")
        (root / "pods" / f"ml_train-0_{POD}").mkdir(parents=True)
        self.player = subprocess.Popen(
            [os.environ["WATTLE_TEST_PLAYER"], "3600000", *words], stdout=subprocess.DEVNULL
        )
        self.environment = {
            **os.environ,
            "WATTLE_SYSFS": str(root / "sys"),
            "WATTLE_PROCFS": str(root / "proc"),
            "WATTLE_NVML_LIBRARY": os.environ["WATTLE_TEST_NVML"],
            "WATTLE_FAKE_NVML": str(root / "gpus"),
            "WATTLE_SOCK_PATH": "none",
        }


@pytest.fixture(scope="session")
def machine(tmp_path_factory):
    made = Machine(tmp_path_factory.mktemp("machine"))
    yield made
    end(made.player)


@pytest.fixture(scope="session")
def secrets():
    """What make-secrets prints: {name: {key: bytes}}."""
    yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed: run scripts/setup test")
    need("openssl", "openssl")
    made = subprocess.run(
        [FLEET / "kubernetes" / "make-secrets"],
        env={**os.environ, "WATTLED": os.environ["WATTLE_TEST_DAEMON"]},
        capture_output=True, text=True, check=True,
    )
    return {
        secret["metadata"]["name"]: {key: base64.b64decode(text) for key, text in secret["data"].items()}
        for secret in yaml.safe_load_all(made.stdout)
    }


def container_of(name="wattled.yaml"):
    import yaml

    for each in yaml.safe_load_all((FLEET / "kubernetes" / name).read_text()):
        if each["kind"] == "DaemonSet":
            return each["spec"]["template"]["spec"]["containers"][0]
    raise AssertionError("no DaemonSet")


def mount_secret(folder, files):
    """As the kubelet does: files in a folder of their own, behind two links."""
    data = folder / "..2026_01_01"
    data.mkdir(parents=True)
    (folder / "..data").symlink_to(data.name)
    for name, content in files.items():
        (data / name).write_bytes(content)
        (data / name).chmod(0o400)
        (folder / name).symlink_to(f"..data/{name}")


class Daemon:
    """The DaemonSet's wattled with its own arguments, other places and another port."""

    def __init__(self, root, machine, secrets):
        self.secrets = secrets["wattled-client"]
        mount_secret(root / "etc", secrets["wattled"])
        words = container_of()["args"]
        # User 0 without capabilities, where the test may drop them.
        without = ["setpriv", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--"]
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            without = []

        def command(port):
            places = {
                "0.0.0.0:4938": f"127.0.0.1:{port}",
                "/host/sys": machine.environment["WATTLE_SYSFS"],
                "/etc/wattled": str(root / "etc"),
            }
            arguments = []
            for word in words:
                for theirs, ours in places.items():
                    word = word.replace(theirs, ours)
                arguments.append(word)
            shares = ["--enable=shares", "--shares-interval=1", f"--pod-logs-dir={machine.root}/pods",
                      "--shares-gpu-processes=5"]
            return [*without, os.environ["WATTLE_TEST_DAEMON"], *arguments, *shares]

        self.process, self.port = start_at_free_port(
            command, env=machine.environment, stdout=subprocess.DEVNULL, stderr=open(root / "log", "w")
        )
        self.log = root / "log"

    def get(self, path, token=True):
        context = ssl.create_default_context(cadata=self.secrets["ca.pem"].decode())
        context.check_hostname = False  # urllib has no server_name: the chain is checked, and Prometheus checks both
        request = urllib.request.Request(f"https://127.0.0.1:{self.port}{path}")
        if token:
            request.add_header("Authorization", "Bearer " + self.secrets["token"].decode())
        try:
            with urllib.request.urlopen(request, context=context, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


@pytest.fixture(scope="session")
def daemon(tmp_path_factory, machine, secrets):
    made = Daemon(tmp_path_factory.mktemp("daemon"), machine, secrets)
    yield made
    end(made.process)


class Prometheus:
    def __init__(self, root, config, options=()):
        need("prometheus", "prometheus")
        (root / "prometheus.yml").write_text(config)
        self.process, self.port = start_at_free_port(
            lambda port: [
                "prometheus", f"--config.file={root}/prometheus.yml", f"--storage.tsdb.path={root}/data",
                f"--web.listen-address=127.0.0.1:{port}", "--storage.tsdb.retention.time=20y", "--log.level=error",
                "--query.lookback-delta=15m", *options,
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )

    def api(self, path, **parameters):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters, doseq=True)}"
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # not ready yet
                return None
            raise AssertionError(f"{parameters}: {error.read().decode()}") from error


@pytest.fixture
def collector():
    """Of OTLP; each request that it took has to follow the schema."""
    made = Collector()
    yield made
    made.stop()
    assert made.invalid == []


SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def samples_of(text):
    """{name: [labels]} of a scrape."""
    found = {}
    for line in text.splitlines():
        sample = SAMPLE.match(line)
        if sample:
            found.setdefault(sample[1], []).append(dict(LABEL.findall(sample[2] or "")))
    return found


@pytest.fixture(scope="session")
def scraped(daemon):
    """What the daemon serves, once mean powers, integrated energies and shares are known."""

    def complete():
        samples = samples_of(daemon.get("/metrics")[1])
        ready = len(samples.get("wattle_power_watts", [])) == 4 and "wattle_energy_uncertainty_joules" in samples
        ready = ready and "wattle_share_group_info" in samples
        return samples if ready else None

    return eventually(complete, pause=0.3)
