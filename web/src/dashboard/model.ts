// What the daemon shows of its devices, as it comes in.
import type {Column} from "../columns";
import {readMetrics, type Sample} from "./metrics";
import {Series} from "./series";

export type Category = "cpu" | "memory" | "gpu" | "other";

/// An energy since the page was opened. `joules` null: not known, for the `reason`.
export interface Energy {
  joules: number | null;
  /// Some of it is missing.
  isAtLeast: boolean;
  reason: string;
}

/// A counter that goes on from where the page was opened, also where the daemon starts it again.
class EnergyCount {
  private first: number | null = null;
  private last = 0;
  private created: number | null = null;
  private before = 0;
  private unknownS = 0;
  private isAtLeast = false;

  take(joules: number, created: number | null, unknownS: number): void {
    const isNew = this.first === null;
    const hasRestarted = !isNew && (joules < this.last || created !== this.created);
    if (hasRestarted) {
      this.before += this.last - (this.first ?? 0);
      this.isAtLeast = true;
    }
    if (isNew || hasRestarted) {
      this.first = joules;
      this.unknownS = unknownS;
    }
    this.last = joules;
    this.created = created;
    if (unknownS > this.unknownS + 0.5) this.isAtLeast = true;
  }

  restart(): void {
    this.first = null;
    this.before = 0;
    this.isAtLeast = false;
  }

  get energy(): Energy {
    const joules = this.first === null ? null : this.before + this.last - this.first;
    return {joules, isAtLeast: this.isAtLeast, reason: ""};
  }
}

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

  constructor(readonly domain: string) {}

  get category(): Category {
    if (/_gpu_\d+$/.test(this.domain)) return "gpu";
    if (/^dram_/.test(this.domain)) return "memory";
    return /^(package|core|uncore|psys)(_|$)/.test(this.domain) ? "cpu" : "other";
  }

  /// "CPU package 0", "Memory 0", "GPU 0 (NVIDIA)"; what is not known by name is called as it is.
  get name(): string {
    const words: [RegExp, string][] = [
      [/^package_(\d+)$/, "CPU package $1"], [/^package_(\d+)_die_(\d+)$/, "CPU package $1, die $2"],
      [/^dram_(\d+)$/, "Memory $1"], [/^core_(\d+)$/, "CPU cores $1"], [/^uncore_(\d+)$/, "CPU uncore $1"],
      [/^psys$/, "Platform"], [/^(?:nvidia|amd|intel)_gpu_(\d+)$/, "GPU $1"],
    ];
    const found = words.find(([pattern]) => pattern.test(this.domain));
    return found ? this.domain.replace(...found) : this.domain;
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
    const energy = this.count.energy;
    return energy.joules === null ? {...energy, reason: this.energyReason} : energy;
  }
}

/// A sum of devices. `missing`: those that it lacks.
export interface Total {
  value: number | null;
  missing: Device[];
}

export interface Refusal {
  subject: string;
  source: string;
  reason: string;
  remedy: string | null;
}

interface Discovery {
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
}

const kMilli = 1e-3;

export class Model {
  readonly devices = new Map<string, Device>();
  refused: Refusal[] = [];
  cpuLimit: Discovery["cpu_limit"] | null = null;
  private gpus = new Map<number, string>();
  private cpus = new Map<number, {domain: string; memory: string | null}>();

  /// In the order in which they are shown: what counts in a total first.
  get sorted(): Device[] {
    const order: Category[] = ["cpu", "memory", "gpu", "other"];
    const place = (device: Device) => order.indexOf(device.category) + (device.isAdditive ? 0 : order.length);
    return [...this.devices.values()].sort((a, b) =>
      place(a) - place(b) || a.domain.localeCompare(b.domain, "en", {numeric: true}));
  }

  device(domain: string): Device {
    let device = this.devices.get(domain);
    if (!device) this.devices.set(domain, device = new Device(domain));
    return device;
  }

  discover(found: Discovery): void {
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
    this.takeEvent(event, time);
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

  /// The total of the last `count` columns before `end`.
  totalColumns(end: number, count: number): Column[] {
    return sumOf([...this.devices.values()].filter(({isAdditive}) => isAdditive)
      .map(({series}) => series.columns(end, count)), count);
  }

  get power(): Total {
    return this.totalOf((device) => device.watts);
  }
  get energy(): Total {
    return this.totalOf((device) => device.energy.joules);
  }

  restartEnergy(): void {
    for (const device of this.devices.values()) device.count.restart();
  }

  private totalOf(value: (device: Device) => number | null): Total {
    const counted = [...this.devices.values()].filter(({isAdditive}) => isAdditive);
    const known = counted.filter((device) => value(device) !== null);
    const sum = known.reduce((all, device) => all + value(device)!, 0);
    return {value: known.length > 0 ? sum : null, missing: counted.filter((device) => !known.includes(device))};
  }
}

/// The answer to /api/v1/power.
export interface History {
  from: number;
  column_s: number;
  step_s: number;
  columns: number;
  domains: {
    domain: string; additive: boolean; mean_w: (number | null)[]; uncertainty_w: (number | null)[];
    lowest_w: (number | null)[]; highest_w: (number | null)[];
  }[];
}

/// Where one of the devices is unknown, so is the sum, and likewise its ±; those that are unknown
/// throughout are left out.
function sumOf(devices: Column[][], count: number): Column[] {
  const known = devices.filter((columns) => columns.some(({mean}) => mean !== null));
  return Array.from({length: count}, (_, i) => {
    const start = known.length > 0 ? 0 : null;
    const sum: Column = {mean: start, low: null, high: null, doubt: start};
    for (const columns of known) {
      const {mean = null, doubt = null} = columns[i] ?? {};
      sum.mean = mean === null || sum.mean === null ? null : sum.mean + mean;
      sum.doubt = doubt === null || sum.doubt === null ? null : Math.hypot(sum.doubt, doubt);
    }
    return sum;
  });
}

/// The columns of each domain, and of the total under "".
export function columnsOf(history: History): Map<string, Column[]> {
  const all = new Map<string, Column[]>();
  for (const {domain, ...lists} of history.domains) {
    all.set(domain, Array.from({length: history.columns}, (_, i): Column => ({
      mean: lists.mean_w[i] ?? null, low: lists.lowest_w[i] ?? null,
      high: lists.highest_w[i] ?? null, doubt: lists.uncertainty_w[i] ?? null,
    })));
  }
  const counted = history.domains.filter(({additive}) => additive).map(({domain}) => all.get(domain)!);
  all.set("", sumOf(counted, history.columns));
  return all;
}
