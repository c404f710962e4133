#!/usr/bin/env python3
"""Writes the dashboards of this folder, wattle-*.json: the one source of their panels and expressions.

    fleet/grafana/make_dashboards.py [--check]    --check: only says whether the files are those

The dashboard of the fleet reads what fleet/prometheus/rules record, so that it is fast with thousands of nodes;
the others read the daemon's metrics. Each expression is run by tests/fleet/test_grafana.py.
"""

import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH = 24  # of Grafana's grid


def variable(name, query, label):
    """A list to choose from; All matches where the label is missing, too."""
    return {
        "name": name, "label": label, "type": "query", "datasource": SOURCE,
        "query": {"query": query, "refId": name}, "definition": query, "refresh": 2, "sort": 1,
        "multi": True, "includeAll": True, "allValue": ".*",
        "current": {"text": ["All"], "value": ["$__all"]},
    }


def targets(expressions, instant):
    return [
        {
            "refId": chr(ord("A") + i), "datasource": SOURCE, "expr": expression, "legendFormat": legend,
            "instant": instant, "range": not instant, "format": "table" if instant == "table" else "time_series",
        }
        for i, (expression, legend) in enumerate(expressions)
    ]


def panel(kind, title, unit, expressions, width, height, description="", **more):
    instant = {"stat": True, "table": "table"}.get(kind, False)
    made = {
        "type": kind, "title": title, "description": description, "datasource": SOURCE,
        "gridPos": {"w": width, "h": height},
        "fieldConfig": {"defaults": {"unit": unit, **more.pop("defaults", {})}, "overrides": []},
        "targets": targets(expressions, instant),
    }
    for target in made["targets"]:
        target["instant"] = bool(target["instant"])
    return {**made, **more}


def number(title, unit, expression, description="", decimals=None):
    defaults = {} if decimals is None else {"decimals": decimals}
    return panel("stat", title, unit, [(expression, "")], 4, 4, description, defaults=defaults,
                 options={"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "none"})


def plot(title, unit, *expressions, stacked=False, least=0, most=None, description="", width=12):
    custom = {"fillOpacity": 20 if stacked else 5, "showPoints": "never", "spanNulls": False}
    if stacked:
        custom["stacking"] = {"mode": "normal", "group": "A"}
    defaults = {"custom": custom, "min": least}
    if most is not None:
        defaults["max"] = most
    return panel("timeseries", title, unit, expressions, width, 8, description, defaults=defaults,
                 options={"legend": {"displayMode": "list", "placement": "bottom"},
                          "tooltip": {"mode": "multi", "sort": "desc"}})


def table(title, unit, *expressions, description="", width=24):
    """One column per expression, under its name."""
    names = {f"Value #{chr(ord('A') + i)}": legend for i, (_, legend) in enumerate(expressions)}
    if len(expressions) == 1:
        names = {"Value": expressions[0][1]}
    hidden = {"Time": True, "__name__": True, "job": True, "additive": True}
    if not expressions[0][1]:
        hidden["Value"] = True
    return panel("table", title, unit, expressions, width, 8, description, options={"showHeader": True},
                 transformations=[
                     {"id": "merge", "options": {}},
                     {"id": "organize", "options": {"excludeByName": hidden, "renameByName": names}},
                 ])


def placed(panels):
    """Panels in rows, from left to right, each with its number."""
    x = y = height = 0
    for i, each in enumerate(panels, 1):
        place = each["gridPos"]
        if x + place["w"] > WIDTH:
            x, y, height = 0, y + height, 0
        place.update(x=x, y=y)
        x, height = x + place["w"], max(height, place["h"])
        each["id"] = i
    return panels


def dashboard(uid, title, description, variables, panels):
    return {
        "uid": uid, "title": title, "description": description, "tags": ["wattle"], "schemaVersion": 38,
        "editable": True, "time": {"from": "now-24h", "to": "now"}, "refresh": "1m", "timezone": "browser",
        "links": [{"type": "dashboards", "title": "Wattle", "tags": ["wattle"], "asDropdown": True,
                   "includeVars": True, "keepTime": True}],
        "templating": {"list": [
            {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
            *variables,
        ]},
        "panels": placed(panels),
    }


def fleet():
    here = '{cluster=~"$cluster",rack=~"$rack"}'
    power, energy = f"instance:wattle_power_watts:sum{here}", f"instance:wattle_energy_joules:rate5m{here}"
    kwh = f"avg_over_time(sum({energy})[$__range:5m]) * $__range_s / 3.6e6"
    return dashboard(
        "wattle-fleet", "Wattle: fleet", "Power, energy and cost of all nodes. Needs the rules of fleet/prometheus.",
        [variable("cluster", "label_values(instance:wattle_power_watts:sum, cluster)", "Cluster"),
         variable("rack", 'label_values(instance:wattle_power_watts:sum{cluster=~"$cluster"}, rack)', "Rack")],
        [
            number("Power now", "watt", f"sum({power})", "Domains that may be added to others, of all nodes."),
            number("Energy of the time shown", "kwatth", kwh, "Mean power by energy counters, times the time.", 1),
            number("Its cost", "short", f"{kwh} * scalar(wattle:price_per_kwh)",
                   "In the currency of wattle:price_per_kwh.", 2),
            number("Nodes", "short", f"count({power})", "Nodes whose power is known."),
            number("Power of idle GPUs", "watt", f"sum(instance:wattle_gpu_idle_power_watts:sum{here}) or vector(0)",
                   "GPUs below 2 % of utilization for 5 minutes."),
            number("Sensors unknown", "short", f"sum(instance:wattle_sensors_unknown:count{here}) or vector(0)",
                   "Domains that are missing in the sums."),
            plot("Power by rack", "watt",
                 ('rack:wattle_power_watts:sum{cluster=~"$cluster",rack=~"$rack"}', "{{cluster}} {{rack}}"),
                 ('rack:wattle_energy_joules:rate5m{cluster=~"$cluster",rack=~"$rack"}',
                  "{{cluster}} {{rack}}, by energy"),
                 description="Twice: as the devices report it, and by their counters of energy."),
            plot("Power by cluster", "watt",
                 ('cluster:wattle_power_watts:sum{cluster=~"$cluster"}', "{{cluster}}"),
                 ('cluster:wattle_energy_joules:rate5m{cluster=~"$cluster"}', "{{cluster}}, by energy"),
                 description="Nodes without a rack too."),
            plot("The ten nodes with the most power", "watt", (f"topk(10, {power})", "{{instance}}")),
            plot("Energy per hour", "kwatth",
                 ('cluster:wattle_energy_kwh:increase1h{cluster=~"$cluster"}', "{{cluster}}")),
            plot("Power of idle GPUs", "watt",
                 (f"topk(10, instance:wattle_gpu_idle_power_watts:sum{here})", "{{instance}}")),
            plot("Cost per hour", "short",
                 ('rack:wattle_cost:increase1h{cluster=~"$cluster",rack=~"$rack"}', "{{cluster}} {{rack}}"),
                 ('cluster:wattle_cost:increase1h{cluster=~"$cluster"}', "{{cluster}}")),
            table("Racks, the last hour", "short",
                  ('rack:wattle_power_watts:sum{cluster=~"$cluster",rack=~"$rack"}', "W now"),
                  ('rack:wattle_energy_joules:increase1h{cluster=~"$cluster",rack=~"$rack"}', "J"),
                  ('rack:wattle_energy_kwh:increase1h{cluster=~"$cluster",rack=~"$rack"}', "kWh"),
                  ('rack:wattle_cost:increase1h{cluster=~"$cluster",rack=~"$rack"}', "cost"), width=12),
            table("Nodes, the last hour", "short", (power, "W now"),
                  (f"instance:wattle_energy_joules:increase1h{here}", "J"),
                  (f"instance:wattle_energy_kwh:increase1h{here}", "kWh"),
                  (f"instance:wattle_cost:increase1h{here}", "cost"), width=12),
            table("Nodes with sensors that cannot be read", "short",
                  (f"instance:wattle_sensors_unknown:count{here}", "sensors")),
        ])


def node():
    here = 'instance=~"$instance"'
    added = f'{here},additive="true"'
    own = "and on (job, instance) wattle_build_info"
    return dashboard(
        "wattle-node", "Wattle: node", "Every domain of some nodes, and what the daemon itself uses.",
        [variable("instance", "label_values(wattle_build_info, instance)", "Node")],
        [
            number("Power now", "watt", f"sum(wattle_power_watts{{{added}}})"),
            number("Energy of the time shown", "kwatth",
                   f"sum(increase(wattle_energy_joules_total{{{added}}}[$__range])) / 3.6e6", decimals=2),
            number("Domains in the sum", "short", f"count(wattle_power_watts{{{added}}})"),
            number("Sensors unknown", "short", f"count(wattle_sensor_up{{{here}}} == 0) or vector(0)"),
            number("Counters restarted", "short", f"sum(increase(wattle_energy_resets_total{{{here}}}[$__range]))",
                   decimals=0),
            number("Age of the oldest reading", "s",
                   f"max(time() - wattle_sensor_last_success_timestamp_seconds{{{here}}})", decimals=1),
            plot("Power by domain", "watt", (f"wattle_power_watts{{{added}}}", "{{instance}} {{domain}}"), stacked=True,
                 description="Domains that may be added to others."),
            plot("Power by counters of energy", "watt",
                 (f"rate(wattle_energy_joules_total{{{added}}}[$__rate_interval])", "{{instance}} {{domain}}"),
                 stacked=True, description="Right also between two scrapes; the last value is of a mean."),
            plot("Meters, rails and platform", "watt",
                 (f'wattle_power_watts{{{here},additive="false"}}', "{{instance}} {{domain}}"),
                 description="They overlap the domains above, or each other: not in any sum."),
            plot("Energy of one hour", "kwatth",
                 (f"sum by (instance) (increase(wattle_energy_joules_total{{{added}}}[1h])) / 3.6e6",
                  "{{instance}}")),
            plot("Uncertainty of integrated energies", "percentunit",
                 (f"wattle_energy_uncertainty_joules{{{here}}} / wattle_energy_joules_total", "{{instance}} {{domain}}"),
                 description="k = 2, of the energy since the first scrape."),
            plot("Time that is missing in an energy", "percentunit",
                 (f"rate(wattle_energy_unknown_seconds_total{{{here}}}[1h])", "{{instance}} {{domain}}")),
            table("Sensors that see a part of the time (partial_coverage)", "percentunit",
                  (f"wattle_power_coverage_ratio{{{here}}} < 0.995", "part")),
            table("Devices", "short", (f"wattle_device_info{{{here}}}", "")),
            table("Sensors that cannot be read", "short", (f"wattle_sensor_refused_info{{{here}}}", ""), width=16),
            table("Version of wattled", "short", (f"wattle_build_info{{{here}}}", ""), width=8),
            plot("CPU time of the daemon", "percentunit",
                 (f"rate(process_cpu_seconds_total{{{here}}}[$__rate_interval]) {own}", "{{instance}}"), width=8,
                 description="Of one CPU core."),
            plot("Memory of the daemon", "bytes",
                 (f"process_resident_memory_bytes{{{here}}} {own}", "{{instance}}"), width=8),
            plot("Clients that were refused, samples that were dropped", "short",
                 (f"increase(wattle_clients_turned_away_total{{{here}}}[$__rate_interval])",
                  "{{instance}} clients: {{reason}}"),
                 (f"increase(wattle_samples_dropped_total{{{here}}}[$__rate_interval])",
                  "{{instance}} samples: {{reason}}"), width=8),
        ])


def gpu():
    here = 'instance=~"$instance",domain=~"$gpu"'
    of_gpus = f'{here},domain=~".*_gpu_.*"'
    name = "{{instance}} {{domain}}"
    model = "* on (job, instance, domain) group_left (model) wattle_device_info"
    idle = f"avg_over_time(wattle_gpu_utilization_ratio{{{here}}}[1h]) < 0.02"
    processes = f"wattle_process_gpu_energy_joules_total{{{here}}}"
    return dashboard(
        "wattle-gpu", "Wattle: GPUs", "Power, use and limits of GPUs.",
        [variable("instance", "label_values(wattle_build_info, instance)", "Node"),
         variable("gpu", 'label_values(wattle_power_watts{instance=~"$instance",domain=~".*_gpu_.*"}, domain)',
                  "GPU")],
        [
            number("Power now", "watt", f"sum(wattle_power_watts{{{of_gpus}}})"),
            number("Energy of the time shown", "kwatth",
                   f"sum(increase(wattle_energy_joules_total{{{of_gpus}}}[$__range])) / 3.6e6", decimals=2),
            number("GPUs", "short", f"count(wattle_power_watts{{{of_gpus}}})"),
            number("Mean utilization", "percentunit", f"avg(wattle_gpu_utilization_ratio{{{here}}})", decimals=0),
            number("Idle for an hour", "short", f"count({idle}) or vector(0)", "Utilization below 2 %."),
            number("Their power", "watt", f"sum(wattle_power_watts{{{here}}} and {idle}) or vector(0)"),
            plot("Power", "watt", (f"wattle_power_watts{{{of_gpus}}}", name)),
            plot("Power by counters of energy", "watt",
                 (f"rate(wattle_energy_joules_total{{{of_gpus}}}[$__rate_interval])", name)),
            plot("Power as a part of the limit", "percentunit",
                 (f"wattle_power_watts{{{here}}} / wattle_power_limit_watts", name)),
            plot("Utilization", "percentunit", (f"wattle_gpu_utilization_ratio{{{here}}}", name), most=1),
            plot("Memory in use", "percentunit",
                 (f"wattle_memory_used_bytes{{{here}}} / wattle_memory_total_bytes", name), most=1),
            plot("Temperature", "celsius", (f"wattle_temperature_celsius{{{here}}}", name)),
            plot("Clock of the GPU", "hertz", (f"wattle_gpu_clock_hertz{{{here}}}", name)),
            plot("Clock of its memory", "hertz", (f"wattle_memory_clock_hertz{{{here}}}", name)),
            plot("The 20 processes with the most power", "watt",
                 (f"topk(20, sum by (instance, domain, kind, pid, comm) (rate({processes}[$__rate_interval])))",
                  "{{instance}} {{domain}} {{kind}} {{comm}} {{pid}}"), stacked=True,
                 description="wattled serve --enable shares --shares-gpu-processes N: all of a GPU is what was measured."),
            table("Energy of processes", "joule",
                  (f"sum by (instance, domain, kind, pid, comm) (increase({processes}[$__range]))", "J"), width=16),
            table("Idle GPUs, and what they draw", "watt",
                  (f"(avg_over_time(wattle_power_watts{{{here}}}[1h]) and {idle}) {model}", "W, mean of an hour")),
            plot("Uncertainty of integrated energies", "percentunit",
                 (f"wattle_energy_uncertainty_joules{{{of_gpus}}} / wattle_energy_joules_total", name),
                 description="k = 2, of the energy since the first scrape."),
            table("Part of the time that sensors of power sample", "percentunit",
                  (f"wattle_power_coverage_ratio{{{of_gpus}}} {model}", "part"), width=12),
            table("Power by model", "watt",
                  (f"sum by (model) (wattle_power_watts{{{of_gpus}}} {model})", "W"), width=12),
        ])


def job():
    here = 'instance=~"$instance",group_kind=~"$kind"'
    counters = "wattle_share_energy_joules_total"
    power = f"rate({counters}{{{here}}}[$__rate_interval])"
    energy = f"increase({counters}{{{here}}}[$__range])"
    doubt = f"increase(wattle_share_uncertainty_joules_total{{{here}}}[$__range])"
    nobody = 'group_kind=~"idle|unexplained|rest|undivided"'
    names = 'group by (group, namespace, pod) (wattle_share_group_info{group_kind="pod"})'
    of_pods = f'{counters}{{instance=~"$instance",group_kind="pod"}}'
    pods = f"sum by (namespace, pod) (rate({of_pods}[$__rate_interval]) * on (group) group_left (namespace, pod) {names})"
    of_jobs = f'{counters}{{instance=~"$instance",group_kind="slurm_job"}}'
    return dashboard(
        "wattle-job", "Wattle: pods, jobs and services",
        "Shares of the measured energy: wattled serve --enable shares. docs/daemon.md says when not to believe one.",
        [variable("instance", f"label_values({counters}, instance)", "Node"),
         variable("kind", f'label_values({counters}{{instance=~"$instance"}}, group_kind)', "Kind")],
        [
            number("Power now", "watt", f"sum({power})", "Of the kinds that are chosen."),
            number("Energy of the time shown", "kwatth", f"sum({energy}) / 3.6e6", decimals=2),
            number("Groups", "short", f"count(group by (group_kind, group) ({counters}{{{here},group!=\"\"}}))",
                   "With a counter of their own."),
            number("Nodes", "short", f"count(group by (instance) ({counters}{{{here}}}))"),
            number("In no group", "percentunit",
                   f'sum(rate({counters}{{instance=~"$instance",{nobody}}}[$__rate_interval])) / '
                   'sum(rate(wattle_share_measured_joules_total{instance=~"$instance"}[$__rate_interval]))',
                   "Idle, unexplained, rest and undivided, of all that was measured.", decimals=0),
            number("Power of GPUs", "watt", f'sum(rate({counters}{{{here},domain!="cpu"}}[$__rate_interval]))'),
            plot("The 20 groups with the most power", "watt",
                 (f"topk(20, sum by (group_kind, group) ({power}))", "{{group_kind}} {{group}}"), stacked=True,
                 description="On all of their nodes."),
            plot("Power by kind", "watt", (f"sum by (group_kind) ({power})", "{{group_kind}}"), stacked=True,
                 description="All kinds together are what was measured."),
            plot("Power of pods", "watt", (pods, "{{namespace}} {{pod}}"), stacked=True,
                 description="By the names of their folders in /var/log/pods."),
            plot("Power of Slurm's jobs", "watt",
                 (f"sum by (group) (rate({of_jobs}[$__rate_interval]))", "{{group}}"), stacked=True),
            plot("CPUs and GPUs", "watt", (f"sum by (domain) ({power})", "{{domain}}"), stacked=True,
                 description="cpu: packages and their memory."),
            plot("Power of groups by node", "watt", (f"sum by (instance) ({power})", "{{instance}}"), stacked=True),
            table("Energy by group", "joule", (f"sum by (group_kind, group) ({energy})", "J"), width=12),
            table("± of the energy by group", "joule", (f"sum by (group_kind, group) ({doubt})", "J"), width=12),
            table("Names of pods", "short",
                  ('group by (instance, group, namespace, pod) (wattle_share_group_info{instance=~"$instance"})', ""),
                  width=12),
        ])


def text_of(made):
    """One line per panel, so that a change of one shows as one line."""
    panels = ",\n".join("  " + json.dumps(each) for each in made["panels"])
    rest = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in made.items() if key != "panels"]
    return "{\n" + ",\n".join(rest) + ',\n "panels": [\n' + panels + "\n ]\n}\n"


def main():
    stale = []
    for made in (fleet(), node(), gpu(), job()):
        path = FOLDER / f"{made['uid']}.json"
        if not path.exists() or path.read_text() != text_of(made):
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(text_of(made))
    if stale and "--check" in sys.argv:
        sys.exit(f"{', '.join(stale)}: not what make_dashboards.py writes; run it")


if __name__ == "__main__":
    main()
