"""fleet/kubernetes: what the manifests ask of a cluster, and that their daemon runs with it."""

import os
import pathlib
import re
import subprocess

import pytest
from conftest import FLEET, PROJECT, container_of, samples_of

yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed: run scripts/setup test")

FOLDER = FLEET / "kubernetes"


def objects(name="wattled.yaml"):
    return {each["kind"]: each for each in yaml.safe_load_all((FOLDER / name).read_text())}


def pod():
    return objects()["DaemonSet"]["spec"]["template"]["spec"]


def test_each_object_names_its_namespace_and_the_labels_agree():
    all_objects = {**objects(), **objects("podmonitor.yaml")}
    assert set(all_objects) == {
        "Namespace", "ServiceAccount", "DaemonSet", "Service", "NetworkPolicy", "PodMonitor"
    }
    for kind, each in all_objects.items():
        assert kind == "Namespace" or each["metadata"]["namespace"] == all_objects["Namespace"]["metadata"]["name"]
    labels = all_objects["DaemonSet"]["spec"]["template"]["metadata"]["labels"]
    assert labels
    assert all_objects["DaemonSet"]["spec"]["selector"]["matchLabels"] == labels
    assert all_objects["Service"]["spec"]["selector"] == labels
    assert all_objects["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"] == labels
    assert all_objects["PodMonitor"]["spec"]["selector"]["matchLabels"] == labels
    # The rules know the daemon's scrapes by the name of their job.
    assert labels[all_objects["PodMonitor"]["spec"]["jobLabel"]] == "wattled"


def test_the_pod_has_the_least_rights():
    spec = pod()
    assert len(spec["containers"]) == 1 and "initContainers" not in spec
    for right in ("hostNetwork", "hostPID", "hostIPC", "automountServiceAccountToken"):
        assert spec[right] is False, right
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    security = container_of()["securityContext"]
    assert security["privileged"] is False
    assert security["allowPrivilegeEscalation"] is False
    assert security["readOnlyRootFilesystem"] is True
    assert security["capabilities"] == {"drop": ["ALL"]}


def test_what_is_mounted_is_read_only():
    mounts = {mount["name"]: mount for mount in container_of()["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in pod()["volumes"]}
    assert set(mounts) == set(volumes)
    assert all(mount["readOnly"] is True for mount in mounts.values())
    hosts = [volume["hostPath"]["path"] for volume in volumes.values() if "hostPath" in volume]
    assert hosts == ["/sys"]
    assert volumes["secrets"]["secret"]["defaultMode"] & 0o077 == 0  # a key of others is refused


def test_memory_and_cpu_are_limited():
    resources = container_of()["resources"]
    assert set(resources["limits"]) == set(resources["requests"]) == {"cpu", "memory"}


def test_one_port_is_open_to_the_monitoring_namespace_alone():
    (port,) = container_of()["ports"]
    words = container_of()["args"]
    (address,) = [word.split("=")[1] for word in words if word.startswith("--tcp-bind-address=")]
    assert address == f"0.0.0.0:{port['containerPort']}"
    for probe in ("startupProbe", "livenessProbe"):
        assert container_of()[probe]["httpGet"] == {"path": "/health", "port": port["name"], "scheme": "HTTPS"}
    assert [each["targetPort"] for each in objects()["Service"]["spec"]["ports"]] == [port["name"]]
    policy = objects()["NetworkPolicy"]["spec"]
    assert sorted(policy["policyTypes"]) == ["Egress", "Ingress"] and policy["egress"] == []
    (rule,) = policy["ingress"]
    assert [each["port"] for each in rule["ports"]] == [port["name"]]
    assert all("namespaceSelector" in each for each in rule["from"]) and rule["from"]
    (endpoint,) = objects("podmonitor.yaml")["PodMonitor"]["spec"]["podMetricsEndpoints"]
    assert (endpoint["port"], endpoint["scheme"]) == (port["name"], "https")


def test_the_options_are_those_of_the_daemon():
    program, words = container_of()["command"], container_of()["args"]
    assert program == ["wattled"] and words[0] == "serve"
    shown = subprocess.run(
        [os.environ["WATTLE_TEST_DAEMON"], "serve", "--help"], capture_output=True, text=True, check=True
    ).stdout
    for word in words[1:]:
        assert re.search(rf"^  {re.escape(word.split('=')[0])}[ =]", shown, re.MULTILINE), word
    assert not any(word.startswith("--allow-plain-http") for word in words)


def test_the_secrets_are_those_that_are_mounted_and_asked_for(secrets):
    by_name = {volume["name"]: volume for volume in pod()["volumes"]}
    mounted = secrets[by_name["secrets"]["secret"]["secretName"]]
    (place,) = [m["mountPath"] for m in container_of()["volumeMounts"] if m["name"] == "secrets"]
    for option in ("--signing-key-path", "--tls-cert", "--tls-key"):
        (path,) = [word.split("=")[1] for word in container_of()["args"] if word.startswith(option + "=")]
        assert path.removeprefix(place + "/") in mounted
    (endpoint,) = objects("podmonitor.yaml")["PodMonitor"]["spec"]["podMetricsEndpoints"]
    for asked in (endpoint["authorization"]["credentials"], endpoint["tlsConfig"]["ca"]["secret"]):
        assert asked["key"] in secrets[asked["name"]]
    assert secrets["wattled-client"]["ca.pem"] == mounted["tls.crt"]
    assert "key" not in secrets["wattled-client"] and "tls.key" not in secrets["wattled-client"]


def test_the_daemon_serves_all_with_these_arguments_and_without_capabilities(daemon, scraped):
    domains = {labels["domain"] for labels in scraped["wattle_power_watts"]}
    assert domains == {"package_0", "dram_0", "nvidia_gpu_0", "nvidia_gpu_1"}
    if "setpriv" in daemon.process.args:
        status = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
        assert re.search(r"^CapEff:\t0+$", status, re.MULTILINE), status
        assert re.search(r"^NoNewPrivs:\t1$", status, re.MULTILINE)


def test_the_daemon_answers_probes_without_a_token_and_nothing_else(daemon):
    status, text = daemon.get("/health", token=False)
    assert (status, text) == (200, '{"status":"ok"}')
    assert daemon.get("/metrics", token=False)[0] == 401
    assert samples_of(daemon.get("/metrics")[1])["wattle_build_info"]


INSTRUCTIONS = {"FROM", "ARG", "ADD", "RUN", "USER", "EXPOSE", "ENTRYPOINT", "CMD"}


def test_the_containerfile_takes_the_archive_of_this_version():
    """It is read, not built: no registry can be reached from a test."""
    text = (FOLDER / "Containerfile").read_text().replace("\\\n", " ")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    found = dict(lines)
    assert set(found) <= INSTRUCTIONS
    assert lines[0][0] == "FROM" and re.fullmatch(r"[\w./-]+:[\w.-]+", found["FROM"])
    assert not found["FROM"].endswith(":latest")
    (version,) = re.findall(r"^project\(wattle VERSION (\S+)", (PROJECT / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert found["ARG"].startswith(f"ARCHIVE=wattle-{version}-linux-")
    assert found["ADD"] == "${ARCHIVE}.tar.gz /opt/"
    assert "/opt/${ARCHIVE}/bin/wattled" in found["RUN"]
    assert container_of()["image"].endswith(f":{version}")
    assert found["EXPOSE"] == str(container_of()["ports"][0]["containerPort"])
