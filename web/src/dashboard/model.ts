// What the daemon shows of its devices, as it comes in.
import {doubtOf, type Energy, EnergyCount, type EnergyWindows, together} from "./energy";
import {readMetrics, type Sample} from "./metrics";
import {Series} from "./series";

export type Category = "cpu" | "memory" | "gpu" | "other";

function categoryOf(domain: string): Category {
  if (/_gpu_\d+$/.test(domain)) return "gpu";
  if (/^dram_/.test(domain)) return "memory";
  return /^(package|core|uncore|psys)(_|$)/.test(domain) ? "cpu" : "other";
}

/// "CPU package 0", "Memory 0", "GPU 0"; what is not known by name is called as it is.
function nameOf(domain: string): string {
  const words: [RegExp, string][] = [
    [/^package_(\d+)$/, "CPU package $1"], [/^package_(\d+)_die_(\d+)$/, "CPU package $1, die $2"],
    [/^dram_(\d+)$/, "Memory $1"], [/^core_(\d+)$/, "CPU cores $1"], [/^uncore_(\d+)$/, "CPU uncore $1"],
    [/^psys$/, "Platform"], [/^(?:nvidia|amd|intel)_gpu_(\d+)$/, "GPU $1"],
  ];
  const found = words.find(([pattern]) => pattern.test(domain));
  return found ? domain.replace(...found) : domain;
}

/// How exactly it is known which part of the time a sensor sees.
const kWholeCoverage = 0.995;

/// One domain: what is measured by itself.
export class Device {
  readonly series = new Series();
  readonly count = new EnergyCount();
  model = "";
  isAdditive = true;
  /// Its power now; null: not known, for the `reason`.
  watts: number | null = null;
  reason = "no reading yet";
  /// When that was last shown, in the daemon's Unix seconds; 0: never.
  at = 0;
  /// A stream shows it; else it is asked for now and then.
  isStreamed = false;
  energyReason = "the daemon has not shown an energy yet";
  /// The daemon rounds its power to multiples of this, in watts; 0: it does not.
  step = 0;
  limit: number | null = null;
  utilization: number | null = null;
  memoryUsed: number | null = null;
  memoryTotal: number | null = null;
  temperature: number | null = null;
  /// The part of the time that its sensor of power sees; null: not known, or all.
  coverage: number | null = null;

  readonly category: Category;
  readonly name: string;

  /// `now`: in Unix seconds of the daemon.
  constructor(readonly domain: string, private readonly windows: EnergyWindows, readonly now: () => number) {
    this.category = categoryOf(domain);
    this.name = nameOf(domain);
  }

  /// How long ago its power was last shown, in seconds.
  get age(): number {
    return this.now() - this.at;
  }

  /// The power from `time` on. `watts` null: unknown, for `reason`.
  set(time: number, watts: number | null, reason = ""): void {
    this.series.set(time, watts);
    this.watts = watts;
    this.reason = reason;
    if (watts !== null) this.at = time;
  }
  /// The last power still holds.
  hold(time: number): void {
    if (this.watts === null) return;
    this.series.hold(time);
    this.at = Math.max(this.at, time);
  }

  get energy(): Energy {
    const energy = this.windows.energyOf(this.domain) ?? {...this.count.energy, flags: this.flags};
    return energy.joules === null ? {...energy, reason: this.energyReason} : energy;
  }

  /// Of its power now.
  get flags(): string[] {
    return this.coverage !== null && this.coverage < kWholeCoverage ? ["partial_coverage"] : [];
  }
}

/// A sum of devices. `missing`: those that it lacks.
export interface Total {
  value: number | null;
  /// k = 2; null: that of a part is not known.
  doubt: number | null;
  flags: string[];
  isAtLeast: boolean;
  missing: Device[];
}

/// Devices that count in a total.
const counted = (devices: Device[]) => devices.filter(({isAdditive}) => isAdditive);

export function powerOf(devices: Device[]): Total {
  const known = counted(devices).filter(({watts}) => watts !== null);
  const missing = counted(devices).filter(({watts}) => watts === null);
  return {
    value: known.length > 0 ? known.reduce((sum, {watts}) => sum + watts!, 0) : null,
    doubt: null, flags: together(...known.map(({flags}) => flags)), isAtLeast: missing.length > 0, missing,
  };
}

export function energyOf(devices: Device[]): Total {
  const all = counted(devices).map((device) => ({device, energy: device.energy}));
  const known = all.filter(({energy}) => energy.joules !== null);
  const missing = all.filter(({energy}) => energy.joules === null).map(({device}) => device);
  const doubts = known.flatMap(({energy: {doubt, common}}) => (doubt === null ? [] : [{doubt, common}]));
  return {
    value: known.length > 0 ? known.reduce((sum, {energy}) => sum + energy.joules!, 0) : null,
    doubt: doubts.length === known.length ? doubtOf(doubts).doubt : null,
    flags: together(...known.map(({energy}) => energy.flags)),
    isAtLeast: missing.length > 0 || known.some(({energy}) => energy.isAtLeast), missing,
  };
}

export interface Refusal {
  subject: string;
  source: string;
  reason: string;
  remedy: string | null;
}

interface Discovery {
  enabled_api_groups: string[];
  gpus: {id: number; name: string; domain?: string}[];
  cpus: {id: number; dram_available: boolean; domain?: string}[];
  refused: Refusal[];
  cpu_limit?: {period_s: number; quantum_j: number; remedy: string};
}

/// An event of a stream, of either generation.
interface PowerEvent {
  gpu_id?: number;
  cpu_id?: number;
  power_mw?: number | Record<string, number | {cpu_mw: number; dram_mw: number | null}>;
  cpu_mw?: number;
  dram_mw?: number | null;
  /// Of the reading, by the daemon's clock.
  timestamp_ms?: number;
}

const kMilli = 1e-3;
const kCollator = new Intl.Collator("en", {numeric: true});

export class Model {
  readonly devices = new Map<string, Device>();
  refused: Refusal[] = [];
  cpuLimit: Discovery["cpu_limit"] | null = null;
  private order: Device[] | null = null;
  private gpus = new Map<number, string>();
  private cpus = new Map<number, {domain: string; memory: string | null}>();

  constructor(private readonly now: () => number, private readonly windows: EnergyWindows) {}

  /// In the order in which they are shown: what counts in a total first.
  get sorted(): Device[] {
    const order: Category[] = ["cpu", "memory", "gpu", "other"];
    const place = (device: Device) => order.indexOf(device.category) + (device.isAdditive ? 0 : order.length);
    return this.order ??= [...this.devices.values()].map((device) => ({device, place: place(device)}))
      .sort((a, b) => a.place - b.place || kCollator.compare(a.device.domain, b.device.domain)).map(({device}) => device);
  }

  device(domain: string): Device {
    let device = this.devices.get(domain);
    if (device) return device;
    this.order = null;
    this.devices.set(domain, device = new Device(domain, this.windows, this.now));
    return device;
  }

  discover(found: Discovery): void {
    this.order = null;
    for (const device of this.devices.values()) device.isStreamed = false;
    this.gpus = new Map(found.gpus.map(({id, domain, name}) => {
      const device = this.device(domain ?? `gpu_${id}`);
      device.model = name;
      device.isStreamed = true;
      return [id, device.domain];
    }));
    this.cpus = new Map(found.cpus.map(({id, dram_available, domain = `cpu_${id}`}) => {
      const memory = dram_available ? domain.replace(/^package/, "dram") : null;
      for (const each of memory === null ? [domain] : [domain, memory]) this.device(each).isStreamed = true;
      if (domain === "psys") this.device(domain).isAdditive = false;
      return [id, {domain, memory}];
    }));
    const limit = found.cpu_limit;
    for (const device of this.streamed("cpu")) device.step = limit ? limit.quantum_j / limit.period_s : 0;
    this.refused = found.refused;
    this.cpuLimit = found.cpu_limit ?? null;
  }

  /// The devices that a stream shows.
  streamed(kind: "gpu" | "cpu"): Device[] {
    const domains = kind === "gpu" ? [...this.gpus.values()]
      : [...this.cpus.values()].flatMap(({domain, memory}) => (memory === null ? [domain] : [domain, memory]));
    return domains.map((domain) => this.device(domain));
  }

  /// A stream was still there at `time`: what it has not changed holds.
  hold(kind: "gpu" | "cpu", time: number): void {
    for (const device of this.streamed(kind)) device.hold(time);
  }

  /// A line of a stream that came at `time`.
  takeLine(kind: "gpu" | "cpu", line: string, time: number): void {
    const reason = /^: (gpu|cpu) (\d+)( dram)?: (.*)$/.exec(line);
    if (reason) {
      const [, , id = "", isMemory, text = ""] = reason;
      const cpu = this.cpus.get(Number(id));
      const domain = kind === "gpu" ? this.gpus.get(Number(id)) : isMemory ? cpu?.memory : cpu?.domain;
      if (domain) this.device(domain).set(time, null, text);
      return;
    }
    if (!line.startsWith("data: ")) return;
    let event: PowerEvent;
    try {
      event = JSON.parse(line.slice(6)) as PowerEvent;
    } catch {
      return;
    }
    // Several lines are read at once: each has its own time.
    const {timestamp_ms = time * 1000} = event;
    this.takeEvent(event, Math.min(time, timestamp_ms * kMilli));
  }

  private takeEvent({gpu_id, cpu_id, power_mw, cpu_mw, dram_mw}: PowerEvent, time: number): void {
    const gpu = (id: number, mw: number) => {
      const domain = this.gpus.get(id);
      if (domain !== undefined) this.device(domain).set(time, mw * kMilli);
    };
    const cpu = (id: number, mw: number, memory: number | null | undefined) => {
      const found = this.cpus.get(id);
      if (!found) return;
      this.device(found.domain).set(time, mw * kMilli);
      // Its reason comes as a comment.
      if (found.memory !== null && memory != null) this.device(found.memory).set(time, memory * kMilli);
    };
    if (typeof power_mw === "number") {
      if (gpu_id !== undefined) gpu(gpu_id, power_mw);
    } else if (cpu_id !== undefined && cpu_mw !== undefined) {
      cpu(cpu_id, cpu_mw, dram_mw);
    } else if (power_mw) {
      for (const [id, power] of Object.entries(power_mw)) {
        if (typeof power === "number") gpu(Number(id), power);
        else cpu(Number(id), power.cpu_mw, power.dram_mw);
      }
    }
  }

  /// The text of /metrics at `time`. True if it shows devices that were not there before.
  takeMetrics(text: string, time: number): boolean {
    const before = this.devices.size;
    this.order = null;
    const samples = readMetrics(text);
    const by = (name: string) => samples.filter((sample) => sample.name === name && sample.labels["domain"]);
    const valueOf = (list: Sample[], domain: string) =>
      list.find(({labels}) => labels["domain"] === domain)?.value ?? null;
    const reasons = new Map(samples.filter(({name}) => name === "wattle_sensor_refused_info")
      .map(({labels}) => [labels["device"] ?? "", labels["reason"] ?? ""]));
    const named = (name: string) => by(`wattle_${name}`);
    const [power, energy, created] = [named("power_watts"), named("energy_joules_total"), named("energy_joules_created")];
    const unknown = named("energy_unknown_seconds_total");
    const [limit, used, total] = [named("power_limit_watts"), named("memory_used_bytes"), named("memory_total_bytes")];
    const [busy, heat] = [named("gpu_utilization_ratio"), named("temperature_celsius")];
    const coverage = named("power_coverage_ratio");
    for (const {labels, value: up} of named("sensor_up")) {
      const domain = labels["domain"]!;
      const device = this.device(domain);
      device.isAdditive = labels["additive"] === "true";
      const reason = reasons.get(domain) || reasons.get(`${domain} energy`) || "the sensor shows no value";
      if (!device.isStreamed) {
        const watts = up === 1 ? valueOf(power, domain) : null;
        device.set(time, watts, watts === null ? (up === 1 ? "no second reading yet" : reason) : "");
      }
      const joules = valueOf(energy, domain);
      if (joules === null) device.energyReason = reason;
      else {
        device.count.take(joules, valueOf(created, domain), valueOf(unknown, domain) ?? 0);
      }
      device.limit = valueOf(limit, domain);
      device.memoryUsed = valueOf(used, domain);
      device.memoryTotal = valueOf(total, domain);
      device.utilization = valueOf(busy, domain);
      device.temperature = valueOf(heat, domain);
      device.coverage = valueOf(coverage, domain);
    }
    const hasNew = this.devices.size > before;
    // A daemon that was started again may have lost some.
    const listed = new Set(named("sensor_up").map(({labels}) => labels["domain"]));
    for (const {domain, isStreamed} of this.devices.values()) {
      if (!isStreamed && !listed.has(domain)) this.devices.delete(domain);
    }
    for (const {labels} of named("device_info")) {
      const device = this.device(labels["domain"]!);
      device.model = labels["model"] ?? device.model;
    }
    return hasNew;
  }

  /// Nothing is known of these from `time` on.
  lose(devices: Iterable<Device>, time: number, reason: string): void {
    for (const device of devices) device.set(Math.max(time, device.at), null, reason);
  }

  restartEnergy(): void {
    for (const device of this.devices.values()) device.count.restart();
  }
}
