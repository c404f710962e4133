"""fleet/grafana: each expression finds something in a day of simulated nodes. Grafana itself is not run."""

import json
import re
import subprocess
import sys
import time

import pytest
from conftest import FLEET, PROJECT, Prometheus, end, eventually, need
from simulated_day import DAY, additive_watts, open_metrics, values_at

yaml = pytest.importorskip("yaml", reason="python3-yaml is not installed: run scripts/setup test")

FOLDER = FLEET / "grafana"
RULES = FLEET / "prometheus" / "rules"
FILES = sorted(FOLDER.glob("wattle-*.json"))
# What Grafana puts in: all nodes, the last day.
VALUES = {
    "$__rate_interval": "5m", "$__range_s": str(DAY), "$__range": f"{DAY}s",
    "$cluster": ".*", "$rack": ".*", "$instance": ".*", "$gpu": ".*", "$kind": ".*",
}
# What no dashboard shows: when a counter was 0, and of shares what rules do not record.
NOT_SHOWN = re.compile(r"_created$|^wattle_(process_gpu|share)_(ended_energy_joules_total|groups|idle_power_watts|undivided_info)$")


def dashboards():
    return {path.name: json.loads(path.read_text()) for path in FILES}


def filled(expression):
    for name, value in VALUES.items():
        expression = expression.replace(name, value)
    assert "$" not in expression, expression
    return expression


def all_targets():
    return [
        (name, panel, target)
        for name, made in dashboards().items() for panel in made["panels"] for target in panel["targets"]
    ]


def store(root, lines):
    (root / "text").write_text("".join(lines))
    subprocess.run(
        ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=64h", root / "text", root / "data"],
        check=True, capture_output=True,
    )


def recorded_day(root, last):
    """What the rules of nodes would have recorded from the daemon's metrics, every 5 minutes."""
    before = Prometheus(root, "{}")
    try:
        eventually(lambda: before.api("query", query="1"))
        groups = yaml.safe_load((RULES / "wattle_records.yml").read_text())["groups"]
        for rule in (rule for group in groups for rule in group["rules"]):
            if ":wattle_" in rule["expr"]:
                continue
            found = before.api("query_range", query=rule["expr"], start=last - DAY, end=last, step=300)["result"]
            yield f"# TYPE {rule['record']} gauge\n"
            for each in found:
                labels = ",".join(f'{name}="{text}"' for name, text in each["metric"].items())
                yield from (f"{rule['record']}{{{labels}}} {value} {at}\n" for at, value in each["values"])
        yield "# EOF\n"
    finally:
        end(before.process)


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory):
    """With the day in its storage, and all rules recorded once at its end. `at` is that time."""
    need("promtool", "prometheus")
    root = tmp_path_factory.mktemp("prometheus")
    last = int(time.time())
    store(root, open_metrics(last))
    store(root, recorded_day(root, last))
    # The groups have intervals of their own: each is evaluated once a second here.
    (root / "rules").mkdir()
    for path in RULES.glob("*.yml"):
        text = re.sub(r"interval: \w+", "interval: 1s", path.read_text())
        (root / "rules" / path.name).write_text(text)
    started = Prometheus(root, "global: {evaluation_interval: 1s}\nrule_files: [rules/*.yml]\n")
    try:
        # The last rule of each group.
        ends = f"timestamp(instance:wattle_sensors_unknown:count) > {last} or timestamp(cluster:wattle_cost:increase1h)"
        recorded = eventually(lambda: len((started.api("query", query=ends) or {"result": []})["result"]) == 2 and
                              started.api("query", query=f"max({ends})")["result"])
        started.at = float(recorded[0]["value"][1])
        yield started
    finally:
        end(started.process)


def test_the_files_are_those_of_their_source():
    done = subprocess.run(
        [sys.executable, "-B", FOLDER / "make_dashboards.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["wattle-node.json", "wattle-gpu.json"])
def test_what_shows_energies_of_devices_shows_their_uncertainty_and_their_coverage(name):
    shown = " ".join(target["expr"] for each, _, target in all_targets() if each == name)
    assert "wattle_energy_joules_total" in shown
    assert "wattle_energy_uncertainty_joules" in shown and "wattle_power_coverage_ratio" in shown


def test_no_panel_is_empty(prometheus):
    empty = []
    for name, panel, target in all_targets():
        expression = filled(target["expr"])
        found = prometheus.api("query", query=expression, time=prometheus.at)["result"]
        values = [each["value"][1] for each in found]
        if not values or any(value in ("NaN", "+Inf", "-Inf") for value in values):
            empty.append((name, panel["title"], expression, values))
    assert empty == []


def test_plots_have_values_over_the_day(prometheus):
    for name, panel, target in all_targets():
        expression = filled(target["expr"])
        if panel["type"] != "timeseries" or re.search("(rack|cluster):wattle_", expression):  # see recorded_day
            continue
        found = prometheus.api(
            "query_range", query=expression, start=prometheus.at - DAY, end=prometheus.at, step=1800
        )["result"]
        assert found and max(len(each["values"]) for each in found) > 40, (name, panel["title"], expression)


def test_variables_find_their_values(prometheus):
    queries = [
        variable["query"]["query"]
        for made in dashboards().values() for variable in made["templating"]["list"] if variable["type"] == "query"
    ]
    assert len(queries) >= 5
    for query in queries:
        series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query).groups()
        found = prometheus.api("series", **{"match[]": filled(series), "start": prometheus.at - DAY, "end": prometheus.at})
        assert all(each[label] for each in found) and found, query


def value_of(prometheus, dashboard, title):
    (target,) = [
        target for name, panel, target in all_targets() if name == f"wattle-{dashboard}.json" and panel["title"] == title
    ]
    (found,) = prometheus.api("query", query=filled(target["expr"]), time=prometheus.at)["result"]
    return float(found["value"][1])


@pytest.mark.parametrize("dashboard", ["fleet", "node", "job"])
def test_the_energy_of_the_day_is_that_of_the_simulation(prometheus, dashboard):
    kwh = additive_watts() * DAY / 3.6e6
    found = value_of(prometheus, dashboard, "Energy of the time shown")
    assert found == pytest.approx(kwh, rel=0.01)


def test_power_counts_nothing_twice(prometheus):
    now = sum(
        value for metric, labels, value in values_at(DAY)
        if metric == "wattle_power_watts" and labels["additive"] == "true"
    )
    assert value_of(prometheus, "fleet", "Power now") == pytest.approx(now, rel=1e-6)
    assert value_of(prometheus, "node", "Power now") == pytest.approx(now, rel=1e-6)
    assert value_of(prometheus, "fleet", "Nodes") == 3
    assert value_of(prometheus, "fleet", "Sensors unknown") == 1


def test_what_is_simulated_is_what_the_daemon_serves(scraped):
    of_target = {"job", "instance", "cluster", "rack"}
    for metric, labels, _ in values_at(0):
        # The shares of this daemon are certain; test_whole_fleet.py has some that are not.
        absent = ("wattle_sensor_refused_info", "wattle_share_uncertainty_joules_total")
        assert metric in scraped or metric in absent, metric
        if metric in scraped:
            known = set().union(*scraped[metric])
            assert {key for key, text in labels.items() if text} - of_target <= known, metric


def test_all_that_the_daemon_serves_is_shown(scraped):
    rules = "".join(path.read_text() for path in RULES.glob("*.yml"))
    shown = rules + "".join(target["expr"] for _, _, target in all_targets())
    assert [name for name in scraped if name not in shown and not NOT_SHOWN.search(name)] == []


def test_each_dashboard_takes_its_data_source_from_a_variable():
    assert {path.name for path in FILES} == {f"wattle-{name}.json" for name in ("fleet", "gpu", "job", "node")}
    for made in dashboards().values():
        assert made["templating"]["list"][0]["type"] == "datasource"
        names = {variable["name"] for variable in made["templating"]["list"]}
        sources = [made["templating"]["list"][1]["datasource"]]
        for panel in made["panels"]:
            sources += [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
            for target in panel["targets"]:
                used = set(re.findall(r"\$(\w+)", target["expr"]))
                assert used <= names | {"__rate_interval", "__range", "__range_s"}, target
        assert all(source == {"type": "prometheus", "uid": "${datasource}"} for source in sources)


def test_panels_do_not_overlap():
    for made in dashboards().values():
        taken = set()
        for panel in made["panels"]:
            place = panel["gridPos"]
            cells = {
                (x, y)
                for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])
            }
            assert place["x"] + place["w"] <= 24 and not cells & taken, panel["title"]
            taken |= cells
        assert len({panel["id"] for panel in made["panels"]}) == len(made["panels"])


def test_grafana_finds_them_where_the_page_puts_them():
    text = (FOLDER / "wattle.yml").read_text()
    (provider,) = yaml.safe_load(text)["providers"]
    assert f"sudo cp fleet/grafana/wattle* {provider['options']['path']}/" in text
    assert f"sudo cp fleet/grafana/wattle* {provider['options']['path']}/" in (PROJECT / "docs" / "fleet.md").read_text()
