"""fleet/kubernetes/chart: gives the objects of the plain manifests, and takes a site's values."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
from conftest import FLEET, PROJECT, need

yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed: run scripts/setup test")

FOLDER = FLEET / "kubernetes"
GO_PACKAGES = pathlib.Path("/usr/share/gocode")


@pytest.fixture(scope="session")
def renderer(tmp_path_factory):
    """The program of render_chart/. Debian has no Helm, but Go's templates and Helm's functions for them."""
    need("go", "golang-go")
    if not (GO_PACKAGES / "src/github.com/Masterminds/sprig").is_dir():
        pytest.skip("golang-github-masterminds-sprig-dev is not installed: run scripts/setup test")
    built = tmp_path_factory.mktemp("go")
    environment = {
        **os.environ, "GO111MODULE": "off", "GOPATH": str(GO_PACKAGES), "GOCACHE": str(built / "cache"), "GOFLAGS": ""
    }
    subprocess.run(
        ["go", "build", "-o", built / "render_chart", "."],
        cwd=pathlib.Path(__file__).parent / "render_chart", env=environment, check=True,
    )
    return built / "render_chart"


@pytest.fixture
def attempt(renderer, tmp_path):
    """Renders the chart with some values of a site; the process that did it."""

    def render(namespace="wattle", chart=FOLDER / "chart", **values):
        request = tmp_path / "request.json"
        request.write_text(json.dumps({"Namespace": namespace, "Values": values}))
        return subprocess.run([renderer, chart, request], capture_output=True, text=True)

    return render


@pytest.fixture
def rendered(attempt):
    def objects(**given):
        done = attempt(**given)
        assert done.returncode == 0, done.stderr
        return {each["kind"]: each for each in yaml.safe_load_all(done.stdout) if each}

    return objects


def manifests():
    return {
        each["kind"]: each
        for name in ("wattled.yaml", "podmonitor.yaml")
        for each in yaml.safe_load_all((FOLDER / name).read_text())
    }


def container(objects):
    (one,) = objects["DaemonSet"]["spec"]["template"]["spec"]["containers"]
    return one


def test_its_objects_are_those_of_the_plain_manifests(rendered):
    plain = manifests()
    del plain["Namespace"]  # Helm makes it, by --create-namespace
    assert rendered(podMonitor={"enabled": True}) == plain


def test_without_the_operator_there_is_no_pod_monitor(rendered):
    assert set(rendered()) == {"ServiceAccount", "DaemonSet", "Service", "NetworkPolicy"}


def test_all_objects_are_in_the_namespace_of_the_release(rendered):
    objects = rendered(namespace="energy", podMonitor={"enabled": True})
    assert {each["metadata"]["namespace"] for each in objects.values()} == {"energy"}


def test_a_site_names_its_image_and_its_nodes(rendered):
    objects = rendered(
        image={"repository": "site/wattled", "tag": "7", "pullPolicy": "Always"},
        imagePullSecrets=[{"name": "site"}],
        runtimeClassName="nvidia",
        priorityClassName="system-node-critical",
        nodeSelector={"gpu": "true"},
        tolerations=[],
        affinity={"nodeAffinity": {}},
        addCapabilities=["PERFMON"],
        port=5000,
        extraArgs=["--public-cpu-period=1s"],
        secret="other",
    )
    pod, one = objects["DaemonSet"]["spec"]["template"]["spec"], container(objects)
    assert (one["image"], one["imagePullPolicy"]) == ("site/wattled:7", "Always")
    assert objects["ServiceAccount"]["imagePullSecrets"] == [{"name": "site"}]
    assert (pod["runtimeClassName"], pod["priorityClassName"]) == ("nvidia", "system-node-critical")
    # Helm joins maps: a key is removed by null.
    assert pod["nodeSelector"] == {"gpu": "true", "kubernetes.io/os": "linux"}
    assert pod["tolerations"] == [] and pod["affinity"] == {"nodeAffinity": {}}
    assert one["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["PERFMON"]}
    assert "--tcp-bind-address=0.0.0.0:5000" in one["args"] and one["args"][-1] == "--public-cpu-period=1s"
    assert one["ports"][0]["containerPort"] == objects["Service"]["spec"]["ports"][0]["port"] == 5000
    assert pod["volumes"][1]["secret"]["secretName"] == "other"


def test_the_energy_of_pods_needs_the_devices_of_the_kubelet_and_their_names_the_logs(rendered):
    for names in (False, True):
        objects = rendered(shares={"enabled": True, "podNames": names})
        one, volumes = container(objects), objects["DaemonSet"]["spec"]["template"]["spec"]["volumes"]
        assert "--enable=gpu-read,cpu-read,shares" in one["args"]
        assert {"--kubelet-dir=/host/kubelet", "--pod-logs-dir=/host/pod-logs"} < set(one["args"])
        mounted = {mount["name"]: mount["mountPath"] for mount in one["volumeMounts"] if mount["readOnly"] is True}
        paths = {volume["name"]: volume.get("hostPath", {}).get("path") for volume in volumes}
        more = {"device-plugins": ("/host/kubelet/device-plugins", "/var/lib/kubelet/device-plugins")}
        if names:
            more["pod-logs"] = ("/host/pod-logs", "/var/log/pods")
        assert {name: (mounted[name], paths[name]) for name in mounted if name not in ("sys", "secrets")} == more
        assert mounted.keys() == paths.keys()


def test_the_network_policy_names_who_may_scrape_or_is_left_to_the_site(rendered):
    (rule,) = rendered(networkPolicy={"from": "prometheus"})["NetworkPolicy"]["spec"]["ingress"]
    assert rule["from"][0]["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "prometheus"}
    assert "NetworkPolicy" not in rendered(networkPolicy={"enabled": False})


@pytest.mark.parametrize("text", ['a: b', '"', "x\ny", "{{ .Values }}", "#"])
def test_a_value_stays_one_value_whatever_it_holds(rendered, text):
    objects = rendered(image={"tag": text}, extraArgs=[text], secret=text, networkPolicy={"from": text})
    assert container(objects)["image"] == f"registry.example/wattled:{text}"
    assert container(objects)["args"][-1] == text
    assert objects["DaemonSet"]["spec"]["template"]["spec"]["volumes"][1]["secret"]["secretName"] == text


def test_without_a_secret_it_says_what_is_missing(attempt):
    done = attempt(secret="")
    assert done.returncode != 0
    assert "the name of the Secret with key, tls.crt and tls.key" in done.stderr


def test_a_template_that_asks_for_an_unknown_value_is_found(attempt, tmp_path):
    copy = tmp_path / "chart"
    shutil.copytree(FOLDER / "chart", copy)
    with (copy / "templates" / "network.yaml").open("a") as file:
        file.write("# {{ .Values.misspelt }}\n")
    assert "misspelt" in attempt(chart=copy).stderr


def test_its_version_is_that_of_the_project():
    chart = yaml.safe_load((FOLDER / "chart" / "Chart.yaml").read_text())
    (version,) = re.findall(r"^project\(wattle VERSION (\S+)", (PROJECT / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert chart["appVersion"] == chart["version"] == version


def test_the_secrets_can_be_made_for_another_namespace():
    need("openssl", "openssl")
    made = subprocess.run(
        [FOLDER / "make-secrets"], capture_output=True, text=True, check=True,
        env={**os.environ, "WATTLED": os.environ["WATTLE_TEST_DAEMON"], "NAMESPACE": "energy"},
    )
    assert {each["metadata"]["namespace"] for each in yaml.safe_load_all(made.stdout)} == {"energy"}
