"""A day of three nodes in the metrics of the daemon, as OpenMetrics for promtool to store."""

import math

DAY = 86400
# Closer at its end, so that rates over 5 minutes exist some minutes after it.
TIMES = [*range(0, DAY - 1800, 120), *range(DAY - 1800, DAY + 1, 15)]
MODELS = {"nvidia": "NVIDIA H100 80GB HBM3", "amd": "AMD Instinct MI300X", "": "Made up"}


class Domain:
    """A mean power with a wave of 40 minutes, and what a domain of its kind has beside it."""

    def __init__(self, name, watts, vendor="", source="powercap", additive=True, up=True, use=None, integrated=False):
        self.name, self.watts, self.vendor, self.source = name, watts, vendor, source
        self.additive, self.up, self.use, self.integrated = additive, up, use, integrated

    def labels(self, source=None):
        return {
            "domain": self.name, "device": f"id-{self.name}", "vendor": self.vendor,
            "source": source or self.source, "additive": "true" if self.additive else "false",
        }

    def power(self, t):
        return self.watts * (1 + 0.3 * math.sin(t * math.tau / 2400))

    def energy(self, t):
        """The exact integral of `power` since 0."""
        return self.watts * (t + 0.3 * 2400 / math.tau * (1 - math.cos(t * math.tau / 2400)))

    def values(self, t):
        """(metric, labels, value) at t seconds."""
        own = self.labels()
        yield "wattle_sensor_up", own, 1 if self.up else 0
        facts = {"domain": self.name, "device": own["device"], "vendor": self.vendor, "model": MODELS[self.vendor]}
        yield "wattle_device_info", facts, 1
        if not self.up:
            reason = {"source": self.source, "device": self.name, "reason": "its counter does not move"}
            yield "wattle_sensor_refused_info", reason, 1
            return
        of_energy = self.labels("integrated" if self.integrated else None)
        yield "wattle_energy_joules_total", of_energy, self.energy(t)
        yield "wattle_power_watts", own, self.power(t)
        yield "wattle_sensor_last_success_timestamp_seconds", own, None
        if self.integrated:
            yield "wattle_energy_uncertainty_joules", of_energy, 0.01 * self.energy(t)
            yield "wattle_energy_unknown_seconds_total", of_energy, 0.001 * t
        if self.use is None:
            if not self.integrated:
                yield "wattle_energy_resets_total", own, 0
            return
        yield "wattle_power_limit_watts", own, 700
        yield "wattle_power_coverage_ratio", own, 0.25
        yield "wattle_gpu_utilization_ratio", own, self.use
        yield "wattle_memory_used_bytes", own, 6e10 * self.use
        yield "wattle_memory_total_bytes", own, 8e10
        yield "wattle_temperature_celsius", own, 30 + 40 * self.use
        yield "wattle_gpu_clock_hertz", own, 1.98e9
        yield "wattle_memory_clock_hertz", own, 2.6e9


CPUS = [Domain("package_0", 150), Domain("dram_0", 30), Domain("psys", 250, additive=False)]
NODES = {
    ("n1", "r1"): [*CPUS, Domain("nvidia_gpu_0", 500, "nvidia", "nvml", use=0.9),
                   Domain("nvidia_gpu_1", 120, "nvidia", "nvml", use=0.0)],
    ("n2", "r1"): [*CPUS, Domain("amd_gpu_0", 400, "amd", "drm", use=0.5, integrated=True)],
    ("n3", "r2"): [Domain("package_0", 80), Domain("dram_0", 0, up=False),
                   Domain("hwmon_psu", 200, source="hwmon", additive=False, integrated=True)],
}
POD = "0f6e3a52-5f0c-4a8e-9a6f-0a3c1d2e4f56"
# (kind, group, part of the energy): all of it.
GROUPS = [("pod", POD, 0.4), ("slurm_job", "77", 0.2), ("service", "nginx.service", 0.1), ("idle", "", 0.25),
          ("rest", "", 0.05)]
ALL_NODES = {
    "wattle_build_info": {"version": "0.1.0"},
    "wattle_clients_turned_away_total": {"reason": "full"},
    "wattle_samples_dropped_total": {"reason": "slow_reader"},
    "process_cpu_seconds_total": {},
    "process_resident_memory_bytes": {},
}
OWN_VALUES = {"wattle_build_info": 1, "process_resident_memory_bytes": 8e6}


def additive_watts():
    return sum(domain.watts for node in NODES.values() for domain in node if domain.additive and domain.up)


def shares_at(domains, t):
    """What the daemon divides: of packages and their memory together, and of each GPU."""
    parts = {}
    for domain in domains:
        if domain.additive and domain.up:
            name = domain.name if domain.vendor else "cpu"
            parts[name] = parts.get(name, 0) + domain.energy(t)
    for name, energy in parts.items():
        yield "wattle_share_measured_joules_total", {"domain": name}, energy
        for kind, group, part in GROUPS:
            labels = {"domain": name, "group_kind": kind, "group": group}
            yield "wattle_share_energy_joules_total", labels, part * energy
            if group:
                yield "wattle_share_uncertainty_joules_total", labels, 0.5 * part * energy
        if name != "cpu":
            for kind, part in (("process", 0.7), ("idle", 0.25), ("other", 0.05), ("undivided", 0)):
                labels = {"domain": name, "kind": kind}
                if kind == "process":
                    labels |= {"pid": "4711", "start_ticks": "77", "comm": "train"}
                yield "wattle_process_gpu_energy_joules_total", labels, part * energy
    yield "wattle_share_group_info", {"group_kind": "pod", "group": POD, "namespace": "web", "pod": "shop-0"}, 1


def values_at(t):
    """(metric, labels of the target and the sample, value) of all nodes."""
    for (name, rack), domains in NODES.items():
        target = {"job": "wattled", "instance": name, "cluster": "c1", "rack": rack}
        for domain in domains:
            for metric, labels, value in domain.values(t):
                yield metric, {**target, **labels}, value
        for metric, labels, value in shares_at(domains, t):
            yield metric, {**target, **labels}, value
        for metric, labels in ALL_NODES.items():
            yield metric, {**target, **labels}, OWN_VALUES.get(metric, 0.001 * t)


def open_metrics(end):
    """The day that ends at the Unix time `end`, in the order that OpenMetrics wants: by series, then by time."""
    series = {}
    for t in TIMES:
        at = end - DAY + t
        for metric, labels, value in values_at(t):
            named = ",".join(f'{key}="{text}"' for key, text in labels.items() if text)
            series.setdefault(metric, {}).setdefault(named, []).append((at if value is None else value, at))
    for metric, members in series.items():
        kind = "counter" if metric.endswith("_total") else "gauge"
        yield f"# TYPE {metric.removesuffix('_total')} {kind}\n"
        for labels, values in members.items():
            for value, at in values:
                yield f"{metric}{{{labels}}} {value:.10g} {at}\n"
    yield "# EOF\n"
