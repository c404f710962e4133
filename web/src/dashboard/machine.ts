// One machine of the page: follows its daemon.
import {EnergyWindows, type EnergyAnswer} from "./energy";
import {type History, type Past, columnsOf, pastOf} from "./history";
import {Model} from "./model";
import {kColumns, kColumnS} from "./series";
import {pause, Problem, Server} from "./server";
import type {Shares} from "./shares";

/// An answer to another page will do: many pages cost the daemon as much as one.
const kMetricsMs = 2000;
/// Values may be read this long after their times.
const kReadS = 0.6;
const kEnergyMs = 5000;
/// Events of this time come together: the page wakes up less often, and so does the daemon.
const kHoldMs = 500;
const kSharesMs = 5000;
/// After a stream that the daemon no longer has, it is asked for its devices again.
const kLearnMs = 5000;
const kFirstRetryMs = 1000;
const kLongestRetryMs = 15_000;
/// A clock that differs by more was set: it is asked for again.
const kClockMs = 600_000;

type Source = "gpu" | "cpu" | "metrics";

export interface MachineOptions {
  /// "https://node1:4938"; empty: the daemon that served this page.
  origin: string;
  /// Calls back with a token, once the user has entered one.
  askForToken: (machine: Machine, reason: string) => Promise<string>;
  /// What is shown has changed, and does not wait for the next second.
  changed: () => void;
  /// Since when energy is counted, in Unix seconds of the browser; 0: from now on.
  countedFrom: () => number;
}

export class Machine {
  readonly model: Model;
  readonly address: string;
  /// As the daemon names it; empty: not known.
  host = "";
  version = "";
  /// When its values were first there, in Unix seconds of the daemon; 0: they were not yet.
  since = 0;
  /// It waits for a token, for this reason; null: it does not.
  wantsToken: string | null = null;
  /// Why it has no history; "": it has one.
  historyProblem = "";
  past: Past | null = null;
  shares: Shares | null = null;
  readonly lostFor = new Map<string, string>();
  readonly lastHeard = {gpu: 0, cpu: 0, metrics: 0};
  private readonly windows = new EnergyWindows();
  private readonly server: Server;
  /// What the daemon's clock is ahead of the browser's, in seconds.
  private ahead = 0;
  private pastSeconds = 0;
  private servesShares = false;
  /// The streams that are followed.
  private followed = new Set<"gpu" | "cpu">();

  constructor(private readonly options: MachineOptions) {
    const {origin} = options;
    this.address = origin === "" ? location.host : origin.replace(/^https?:\/\//, "");
    this.model = new Model(() => this.now, this.windows);
    this.server = new Server(origin, async (reason) => {
      this.wantsToken = reason || "it needs a token";
      options.changed();
      const token = await options.askForToken(this, reason);
      this.wantsToken = null;
      return token;
    });
  }

  get isOwn(): boolean {
    return this.options.origin === "";
  }
  get now(): number {
    return Date.now() / 1000 + this.ahead;
  }
  /// The time that its energies are of, in seconds.
  get countedS(): number {
    return this.windows.seconds > 0 ? this.windows.seconds : this.now - this.since;
  }
  get hasHistory(): boolean {
    return this.historyProblem === "";
  }
  /// Why it is not up to date; empty: it is.
  get problems(): string[] {
    if (this.wantsToken !== null) return [this.wantsToken];
    return [...new Set(this.lostFor.values())];
  }

  /// Until `signal`.
  async follow(signal: AbortSignal): Promise<void> {
    this.followed = new Set();
    let retryMs = kFirstRetryMs;
    while (!signal.aborted) {
      try {
        await this.readClock();
        // Asks for the token where there is one.
        await this.server.json("/api/v1/sensors");
        await this.learn();
        break;
      } catch (error) {
        this.lostFor.set("server", (error as Problem).message);
        this.options.changed();
        await pause(retryMs * (0.75 + Math.random() / 2));
        retryMs = Math.min(1.5 * retryMs, kLongestRetryMs);
      }
    }
    if (signal.aborted) return;
    this.lostFor.delete("server");
    if (this.since === 0) this.startEnergy();
    void this.fillFromHistory();
    // The second in which the streams started.
    void pause(3000).then(() => (signal.aborted ? undefined : this.fillFromHistory()));
    this.followStreams(signal);
    void this.repeat(signal, kMetricsMs, () => this.readMetrics(signal));
    void this.repeat(signal, kEnergyMs, () => this.readEnergy(signal));
    void this.repeat(signal, kSharesMs, () => this.readShares(signal));
    void pause(kClockMs).then(() => this.repeat(signal, kClockMs, () => this.readClock()));
    this.options.changed();
  }

  /// The page is not followed for a while.
  rest(reason: string): void {
    this.lose(["gpu", "cpu", "metrics"], reason);
  }

  restartEnergy(): void {
    this.since = this.now;
    this.model.restartEnergy();
    this.windows.restart(this.since);
  }
  /// A machine that comes later has the time before in its history.
  private startEnergy(): void {
    this.restartEnergy();
    const from = this.options.countedFrom();
    if (from > 0) this.windows.restart(from + this.ahead);
  }

  /// What the streams have not changed since holds.
  hold(): void {
    for (const kind of ["gpu", "cpu"] as const) {
      if (!this.lostFor.has(kind)) this.model.hold(kind, this.lastHeard[kind] - kReadS);
    }
  }

  /// Asks for the `seconds` until now, in `columns` columns.
  async readPast(seconds: number, columns: number): Promise<void> {
    this.pastSeconds = seconds;
    const to = this.wholeNow(seconds / columns);
    try {
      const history = await this.ask(seconds, columns, seconds / columns);
      if (this.pastSeconds !== seconds) return;
      this.past = pastOf(history, seconds, to);
      this.historyProblem = "";
    } catch (error) {
      this.historyProblem = (error as Problem).message;
    }
  }
  /// The last minutes are shown.
  forgetPast(): void {
    this.pastSeconds = 0;
    this.past = null;
  }

  private async readClock(): Promise<void> {
    const before = Date.now();
    const {timestamp_ms} = await this.server.json<{timestamp_ms: number}>("/time");
    this.ahead = (timestamp_ms - (before + Date.now()) / 2) / 1000;
  }

  private async repeat(signal: AbortSignal, periodMs: number, call: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      try {
        await call();
      } catch {}
      await pause(periodMs);
    }
  }

  /// What the daemon is and serves now.
  private async learn(): Promise<void> {
    const health = await this.server.json<{host?: string | null; version?: string}>("/health");
    this.host = health.host ?? this.address.replace(/:\d+$/, "");
    this.version = health.version ?? "";
    const found = await this.server.json<Parameters<Model["discover"]>[0]>("/discover");
    this.model.discover(found);
    this.servesShares = found.enabled_api_groups.includes("shares");
    if (!this.servesShares) this.shares = null;
    this.options.changed();
  }

  /// Of the kinds of devices that are there now.
  private followStreams(signal: AbortSignal): void {
    for (const kind of ["gpu", "cpu"] as const) {
      if (!this.followed.has(kind) && this.model.streamed(kind).length > 0) void this.followStream(kind, signal);
    }
  }

  private async followStream(kind: "gpu" | "cpu", signal: AbortSignal): Promise<void> {
    const {followed} = this;
    followed.add(kind);
    let hasEnded = false;
    const line = (text: string): void => {
      if (text === "") return;
      this.lastHeard[kind] = this.now;
      this.lostFor.delete(kind);
      // A daemon that was started again may have other devices.
      if (hasEnded) void this.learnAgain(signal);
      hasEnded = false;
      this.model.takeLine(kind, text, this.now);
    };
    await this.server.follow(`/${kind}/stream_power?hold_ms=${kHoldMs}`, signal, line, (reason) => {
      hasEnded = true;
      this.lose([kind], reason);
    });
    followed.delete(kind);
    do await pause(kLearnMs);
    while (!signal.aborted && !(await this.learnAgain(signal)));
  }

  /// Devices come and go. False if the daemon does not answer.
  private async learnAgain(signal: AbortSignal): Promise<boolean> {
    try {
      await this.learn();
    } catch {
      return false;
    }
    if (signal.aborted) return true;
    for (const kind of ["gpu", "cpu"] as const) {
      if (this.model.streamed(kind).length === 0) this.lostFor.delete(kind);
    }
    this.followStreams(signal);
    await this.fillFromHistory();
    return true;
  }

  private async readMetrics(signal: AbortSignal): Promise<void> {
    try {
      const text = await this.server.text(`/metrics?max_age=${kMetricsMs / 1000}`);
      if (signal.aborted) return;
      this.lastHeard.metrics = this.now;
      this.lostFor.delete("metrics");
      // A driver that was loaded later: its stream has it too.
      if (this.model.takeMetrics(text, this.now)) void this.learnAgain(signal);
    } catch (error) {
      this.lose(["metrics"], (error as Problem).message);
    }
  }

  private async readEnergy(signal: AbortSignal): Promise<void> {
    // One that ends at a whole minute, and the one after it.
    for (let i = 0; i < 2; ++i) {
      const window = this.hasHistory ? this.windows.next(this.now) : null;
      if (!window) return;
      const path = `/api/v1/energy?from=${window.from}&to=${window.to}&max_age=${kEnergyMs / 1000}`;
      const answer = await this.server.json<EnergyAnswer>(path);
      if (signal.aborted || !this.windows.take(answer, window.from)) return;
    }
  }

  private async readShares(signal: AbortSignal): Promise<void> {
    if (!this.servesShares) return;
    const shares = await this.server.json<Shares>("/api/v1/shares");
    if (!signal.aborted) this.shares = shares;
  }

  private lose(sources: Source[], reason: string): void {
    for (const source of sources) {
      this.lostFor.set(source, reason);
      const devices = source === "metrics"
        ? [...this.model.devices.values()].filter((device) => !device.isStreamed)
        : this.model.streamed(source);
      if (source === "metrics") {
        this.shares = null;
        this.windows.close();
        for (const device of this.model.devices.values()) device.energyReason = reason;
      }
      this.model.lose(devices, this.lastHeard[source], reason);
    }
    this.options.changed();
  }

  // --- history ---

  /// Pages ask at the same times, for whole columns.
  private wholeNow(width: number): number {
    return Math.floor(this.now / width) * width;
  }

  private ask(seconds: number, columns: number, width: number): Promise<History> {
    const to = this.wholeNow(width);
    return this.server.json(`/api/v1/power?from=${to - seconds}&to=${to}&columns=${columns}`);
  }

  /// The minutes before the page was opened, and while it was cut off.
  private async fillFromHistory(): Promise<void> {
    try {
      const history = await this.ask(kColumns * kColumnS, kColumns, kColumnS);
      this.historyProblem = "";
      if (history.column_s !== kColumnS) return;
      for (const [domain, columns] of columnsOf(history)) {
        const series = this.model.devices.get(domain)?.series;
        columns.forEach((column, i) => series?.fill(history.from + i * kColumnS, column));
      }
    } catch (error) {
      this.historyProblem = (error as Problem).message;
    }
    this.options.changed();
  }
}
