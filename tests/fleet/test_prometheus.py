"""fleet/prometheus: rules and scrape configurations, with Debian's Prometheus."""

import json
import re
import subprocess

import pytest
from conftest import FLEET, PROJECT, Prometheus, end, eventually, need

yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed: run scripts/setup test")

RULES = sorted((FLEET / "prometheus" / "rules").glob("*.yml"))
TESTS = sorted((PROJECT / "tests" / "fleet" / "rules").glob("*.yml"))
SCRAPE = FLEET / "prometheus" / "scrape"
CONFIGS = ("file", "consul", "kubernetes")
# What each service discovery finds of one machine, as Prometheus documents its labels.
DISCOVERED = {
    "file": {"rack": "r1"},
    "consul": {
        "__meta_consul_node": "n1",
        "__meta_consul_dc": "c1",
        "__meta_consul_service_metadata_rack": "r1",
    },
    "kubernetes": {
        "__meta_kubernetes_pod_label_app_kubernetes_io_name": "wattled",
        "__meta_kubernetes_pod_container_port_name": "metrics",
        "__meta_kubernetes_pod_node_name": "n1",
        "__meta_kubernetes_node_label_topology_kubernetes_io_rack": "r1",
    },
}


def rules():
    for path in RULES:
        for group in yaml.safe_load(path.read_text())["groups"]:
            yield from group["rules"]


def promtool(*words, **options):
    need("promtool", "prometheus")
    done = subprocess.run(["promtool", *words], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_rules_are_valid():
    promtool("check", "rules", "--lint-fatal", *RULES)


def test_rules_give_what_their_tests_expect():
    promtool("test", "rules", *TESTS)


def test_each_rule_and_alert_has_a_test():
    tested = "".join(path.read_text() for path in TESTS)
    names = [rule.get("record") or rule["alert"] for rule in rules()]
    assert len(names) > 20
    assert [name for name in names if name not in tested] == []


def test_each_alert_names_the_machine_and_has_a_description():
    for rule in rules():
        if "alert" in rule:
            assert rule["labels"]["severity"] in ("info", "warning"), rule
            assert "{{ $labels." in rule["annotations"]["summary"], rule
            assert rule["annotations"]["description"], rule


def test_rules_use_metrics_that_the_daemon_serves(scraped):
    used = set()
    for rule in rules():
        text = re.sub(r"\w+:\w+(?::\w+)?", "", rule["expr"])  # recorded ones
        used |= set(re.findall(r"\b(?:wattle|process)_\w+", text))
    assert len(used) > 5
    assert used - set(scraped) == set()


def config_of(name, folder, machines):
    """The configuration with its files in `folder`, and machines from a file where Debian's Prometheus lacks
    the service discovery."""
    config = yaml.safe_load((SCRAPE / f"{name}.yml").read_text().replace("/etc/prometheus/wattle", str(folder)))
    (job,) = config["scrape_configs"]
    for kind in ("consul", "kubernetes"):
        if job.pop(f"{kind}_sd_configs", None):
            job["file_sd_configs"] = [{"files": [f"{folder}/targets/{name}.json"]}]
    if machines:
        job["file_sd_configs"] = [{"files": [f"{folder}/targets/{name}.json"]}]
        (folder / "targets" / f"{name}.json").write_text(json.dumps(machines))
    return config


def place_files(folder, client):
    (folder / "rules").mkdir()
    for path in RULES:
        (folder / "rules" / path.name).write_text(path.read_text())
    (folder / "targets").mkdir()
    (folder / "targets" / "racks.json").write_text((SCRAPE / "targets.json").read_text())
    for name, content in client.items():
        (folder / name).write_bytes(content)


def test_scrape_configurations_are_valid(tmp_path, secrets):
    place_files(tmp_path, secrets["wattled-client"])
    for name in CONFIGS:
        (tmp_path / f"{name}.yml").write_text(yaml.safe_dump(config_of(name, tmp_path, None)))
        promtool("check", "config", tmp_path / f"{name}.yml")


def test_service_discoveries_have_the_options_that_prometheus_documents():
    """Debian's Prometheus is built without them, so that promtool does not know their options."""
    known = {"server", "services", "role", "namespaces", "attach_metadata"}
    for name in ("consul", "kubernetes"):
        (job,) = yaml.safe_load((SCRAPE / f"{name}.yml").read_text())["scrape_configs"]
        (discovery,) = job[f"{name}_sd_configs"]
        assert set(discovery) <= known
        for rule in job["relabel_configs"]:
            assert set(rule.get("source_labels", [])) <= set(DISCOVERED[name])


def test_a_real_prometheus_scrapes_the_daemon_with_each(tmp_path, daemon):
    place_files(tmp_path, daemon.secrets)
    jobs = []
    for name in CONFIGS:
        target = [{"targets": [f"127.0.0.1:{daemon.port}"], "labels": DISCOVERED[name]}]
        (job,) = config_of(name, tmp_path, target)["scrape_configs"]
        jobs.append({**job, "job_name": name, "scrape_interval": "1s", "scrape_timeout": "1s"})
    prometheus = Prometheus(tmp_path, yaml.safe_dump({"scrape_configs": jobs}))
    try:
        found = eventually(lambda: {
            each["metric"]["job"]: each["metric"]
            for each in (prometheus.api("query", query="up == 1") or {"result": []})["result"]
        }.keys() >= set(CONFIGS) and prometheus.api("query", query="wattle_build_info")["result"])
    finally:
        end(prometheus.process)
    labels = {each["metric"]["job"]: each["metric"] for each in found}
    for name in CONFIGS:
        assert labels[name]["rack"] == "r1"
        assert labels[name]["cluster"] == "c1"
        assert labels[name]["instance"] == ("127.0.0.1" if name == "file" else "n1")
