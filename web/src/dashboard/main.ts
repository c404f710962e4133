// The page of the daemon: live power and energy of this machine.
import "uplot/dist/uPlot.min.css";
import "../../page.css";
import "./dashboard.css";

import type {Column} from "../columns";
import {duration, energyParts, powerParts, wattHours} from "../format";
import {columnsOf, type History, Model} from "./model";
import {kColumns, kColumnS, kUnknown} from "./series";
import {pause, Problem, Server} from "./server";
import {
  byId, Card, clock, isOld, make, powerText, PowerPlot, setNumber, setText, showLegend, showRefusals, showRows, showShares,
  type Span, summaryOf,
} from "./view";

const kMetricsMs = 2000;
const kDrawMs = 1000;
/// After a stream that the daemon no longer has, it is asked for its devices again.
const kLearnMs = 5000;
const kSpans = [
  {text: "5 min", seconds: 300}, {text: "1 h", seconds: 3600}, {text: "6 h", seconds: 21600},
  {text: "24 h", seconds: 86400},
];

/// Asks for a token in a dialog: once, however many requests wait for it.
function askForToken(reason: string): Promise<string> {
  const door = byId<HTMLDialogElement>("door");
  const input = byId<HTMLInputElement>("token");
  setText(byId("door-why"), reason);
  input.value = "";
  if (!door.open) door.showModal();
  return new Promise((resolve) => {
    // A browser may close it for the second Escape; nothing goes on without a token.
    door.onclose = () => door.showModal();
    byId("door-form").onsubmit = (event) => {
      event.preventDefault();
      const token = input.value.trim();
      input.value = "";
      if (!/^[\x21-\x7e]+$/.test(token)) return setText(byId("door-why"), "This is not a token.");
      door.onclose = null;
      door.close();
      resolve(token);
    };
  });
}

class Dashboard {
  private readonly server = new Server(askForToken);
  private readonly model = new Model();
  private readonly cards = new Map<string, Card>();
  private readonly totalPlot = new PowerPlot(byId("total-plot"), byId("total-readout"), "total", 200);
  private readonly lastHeard = {gpu: 0, cpu: 0, metrics: 0};
  private readonly lostFor = new Map<string, string>();
  private host = location.hostname;
  private version = "";
  /// What the daemon's clock is ahead of the browser's, in seconds.
  private ahead = 0;
  private since = 0;
  private span = kSpans[0]!;
  private history: {span: Span; columns: Map<string, Column[]>} | null = null;
  private isPaused = false;
  private turn = 0;
  private stop = new AbortController();
  /// The streams that are followed until `stop`.
  private followed = new Set<"gpu" | "cpu">();

  start(): void {
    this.addControls();
    // Dialogs are closed with Escape, but nothing goes on without a token.
    byId("door").addEventListener("cancel", (event) => event.preventDefault());
    document.addEventListener("visibilitychange", () => this.followVisibility());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      for (const plot of [this.totalPlot, ...[...this.cards.values()].map((card) => card.plot)]) plot.redraw();
    });
    setInterval(() => this.draw(), kDrawMs);
    this.connect();
  }

  private get now(): number {
    return Date.now() / 1000 + this.ahead;
  }

  /// A page that nobody sees asks for nothing: browsers allow few connections to one server.
  private followVisibility(): void {
    this.stop.abort();
    if (document.hidden) {
      this.lose(["gpu", "cpu", "metrics"], "the page was in the background");
    } else {
      this.connect();
    }
  }

  private connect(): void {
    const {signal} = (this.stop = new AbortController());
    this.followed = new Set();
    void this.discover(signal);
  }

  /// Until the daemon has shown its devices.
  private async discover(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const before = Date.now();
        const {timestamp_ms} = await this.server.json<{timestamp_ms: number}>("/time");
        this.ahead = (timestamp_ms - (before + Date.now()) / 2) / 1000;
        // Asks for the token where there is one.
        await this.server.json("/api/v1/sensors");
        await this.learn();
        break;
      } catch (error) {
        this.lostFor.set("server", (error as Problem).message);
        this.showState();
        await pause(1500);
      }
    }
    if (signal.aborted) return;
    this.lostFor.delete("server");
    if (this.since === 0) this.since = this.now;
    void this.fillFromHistory();
    // The second in which the streams started.
    void pause(3000).then(() => (signal.aborted ? undefined : this.fillFromHistory()));
    this.followStreams(signal);
    void this.followMetrics(signal);
    void this.followHistory(signal);
    this.draw();
  }

  /// What the daemon is and serves now.
  private async learn(): Promise<void> {
    const health = await this.server.json<{host?: string | null; version?: string}>("/health");
    this.host = health.host ?? location.hostname;
    this.version = health.version ?? "";
    setText(byId("host"), this.host);
    this.model.discover(await this.server.json("/discover"));
    showRefusals(this.model.refused);
    const limit = this.model.cpuLimit;
    setText(byId("limits"), limit
      ? `Power of CPUs is shown once per ${limit.period_s} s, in steps of ${limit.quantum_j / limit.period_s} W: ${limit.remedy}.`
      : "");
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
    await this.server.follow(`/${kind}/stream_power`, signal, line, (reason) => {
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

  private async followMetrics(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const text = await this.server.text("/metrics");
        if (signal.aborted) return;
        this.lastHeard.metrics = this.now;
        this.lostFor.delete("metrics");
        const hasNew = this.model.takeMetrics(text, this.now);
        // A driver that was loaded later: its stream has it too.
        if (hasNew) void this.learnAgain(signal);
      } catch (error) {
        this.lose(["metrics"], (error as Problem).message);
      }
      await pause(kMetricsMs);
    }
  }

  private lose(sources: ("gpu" | "cpu" | "metrics")[], reason: string): void {
    for (const source of sources) {
      this.lostFor.set(source, reason);
      const devices = source === "metrics"
        ? [...this.model.devices.values()].filter((device) => !device.isStreamed)
        : this.model.streamed(source);
      if (source === "metrics") for (const device of this.model.devices.values()) device.energyReason = reason;
      this.model.lose(devices, this.lastHeard[source], reason);
    }
    this.showState();
  }

  // --- history ---

  private ask(seconds: number, columns: number, width: number): Promise<History> {
    // Pages ask at the same times, for whole columns.
    const to = Math.floor(this.now / width) * width;
    return this.server.json(`/api/v1/power?from=${to - seconds}&to=${to}&columns=${columns}`);
  }

  /// The minutes before the page was opened, and while it was cut off.
  private async fillFromHistory(): Promise<void> {
    try {
      const history = await this.ask(kColumns * kColumnS, kColumns, kColumnS);
      if (history.column_s !== kColumnS) return;
      for (const [domain, columns] of columnsOf(history)) {
        const series = this.model.devices.get(domain)?.series;
        columns.forEach((column, i) => series?.fill(history.from + i * kColumnS, column));
      }
      this.offerHistory("");
    } catch (error) {
      this.offerHistory((error as Problem).message);
    }
  }

  private offerHistory(problem: string): void {
    for (const input of byId("spans").querySelectorAll<HTMLInputElement>("input")) {
      input.disabled = problem !== "" && input.value !== "0";
      input.parentElement!.title = input.disabled ? problem : "";
    }
  }

  private async followHistory(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const {span} = this;
      const width = span.seconds / 360;
      if (span !== kSpans[0]) {
        try {
          const history = await this.ask(span.seconds, 360, width);
          if (span === this.span) {
            // What is before the history is unknown: it keeps its place.
            const to = Math.floor(this.now / width) * width;
            const count = Math.min(1000, Math.round(span.seconds / history.column_s));
            const lead = Math.max(0, count - history.columns);
            const columns = new Map([...columnsOf(history)].map(([domain, list]) =>
              [domain, [...Array.from({length: lead}, () => kUnknown), ...list]]));
            const start = history.columns > 0 ? history.from - lead * history.column_s : to - span.seconds;
            this.offerHistory("");
            this.history = {span: {start, width: history.column_s, count: lead + history.columns}, columns};
            this.draw();
          }
        } catch (error) {
          this.offerHistory((error as Problem).message);
        }
      }
      for (let waited = 0; waited < Math.max(2000, width * 500) && span === this.span; waited += 200) {
        await pause(200);
        if (signal.aborted) return;
      }
    }
  }

  // --- what is shown ---

  private addControls(): void {
    kSpans.forEach((span, i) => {
      const label = make("label");
      const input = make("input");
      Object.assign(input, {type: "radio", name: "span", value: `${i}`, checked: i === 0});
      input.addEventListener("change", () => {
        this.span = span;
        this.history = null;
        this.draw();
      });
      label.append(input, span.text);
      byId("spans").append(label);
    });
    const button = byId("pause");
    const togglePause = () => {
      this.isPaused = !this.isPaused;
      button.setAttribute("aria-pressed", `${this.isPaused}`);
      this.draw();
    };
    button.addEventListener("click", togglePause);
    byId("restart").addEventListener("click", () => {
      this.model.restartEnergy();
      this.since = this.now;
      this.draw();
    });
    byId("total-plot").addEventListener("keydown", (event) => {
      const step = event.shiftKey ? 10 : 1;
      const moves: Record<string, number | "first" | "last"> = {
        ArrowLeft: -step, ArrowRight: step, Home: "first", End: "last",
      };
      const move = moves[event.key];
      if (move === undefined) return;
      this.totalPlot.move(move);
      event.preventDefault();
    });
    const readout = byId("total-readout");
    byId("total-plot").addEventListener("focus", () => readout.setAttribute("aria-live", "polite"));
    byId("total-plot").addEventListener("blur", () => readout.removeAttribute("aria-live"));
  }

  private showState(): void {
    const lost = [...new Set(this.lostFor.values())];
    const old = this.since === 0 ? [] : [...this.model.devices.values()].filter((device) => isOld(device, this.now));
    if (lost.length === 0 && old.length > 0) {
      const who = old.length === this.model.devices.size ? "the daemon" : old.map(({name}) => name).join(", ");
      lost.push(`${who} silent for ${duration(Math.max(...old.map(({at}) => this.now - at)))}`);
    }
    const state = byId("state");
    state.dataset["state"] = this.isPaused ? "paused" : lost.length > 0 ? "lost" : this.since === 0 ? "wait" : "live";
    setText(state, this.isPaused ? "Paused" : lost.length > 0 ? `Not up to date: ${lost.join("; ")}`
      : this.since === 0 ? "Connecting" : "Live");
  }

  private draw(): void {
    const {now} = this;
    for (const kind of ["gpu", "cpu"] as const) {
      if (!this.lostFor.has(kind)) this.model.hold(kind, this.lastHeard[kind]);
    }
    this.showState();
    if (this.isPaused || document.hidden || this.since === 0) return;
    byId("main").hidden = false;
    const devices = this.model.sorted;
    const [power, energy] = [this.model.power, this.model.energy];
    this.showTotals(power, energy, now);
    document.title = `${power.value === null ? "" : `${powerText(power.value)} - `}${this.host}`;
    showShares(byId("shares"), devices, power.value);
    showLegend(byId("legend"), devices);
    setText(byId("summary"), summaryOf(this.host, devices, power, energy, this.since, now));
    for (const [domain, {device, element}] of this.cards) {
      if (this.model.devices.get(domain) === device) continue;
      this.cards.delete(domain);
      element.remove();
    }
    for (const device of devices) {
      if (!this.cards.has(device.domain)) this.cards.set(device.domain, new Card(device, byId("cards")));
      this.cards.get(device.domain)!.update(now);
    }
    devices.forEach((device, i) => {
      const {element} = this.cards.get(device.domain)!;
      const place = byId("cards").children[i];
      if (place !== element) byId("cards").insertBefore(element, place ?? null);
    });
    showRows(byId("rows"), devices, power.value, now);
    this.showPlots(now);
    setText(byId("foot"), `Wattle ${this.version}. Energies are those of the daemon's counters. ` +
      "A dash is an unknown value, never 0.");
  }

  private showTotals(power: Model["power"], energy: Model["energy"], now: number): void {
    const names = (list: {name: string}[]) => list.map(({name}) => name).join(", ");
    setNumber(byId("total"), power.value === null ? null : powerParts(power.value), power.missing.length > 0 && power.value !== null ? "≥ " : "");
    byId("total").parentElement!.classList.toggle("is-old", [...this.model.devices.values()].some((device) => isOld(device, now)));
    const reasons = new Set(power.missing.map(({reason}) => reason));
    setText(byId("total-note"), power.missing.length === 0 ? ""
      : power.value !== null ? `Without ${names(power.missing)}` : `Unknown: ${[...reasons].join("; ")}`);
    const isLess = energy.missing.length > 0 ||
      [...this.model.devices.values()].some((device) => device.isAdditive && device.energy.isAtLeast);
    setNumber(byId("energy"), energy.value === null ? null : energyParts(energy.value),
              isLess && energy.value !== null ? "≥ " : "");
    const mean = energy.value !== null && now - this.since > 5 ? `, mean ${powerText(energy.value / (now - this.since))}` : "";
    const until = this.lostFor.has("metrics") ? `until ${clock(this.lastHeard.metrics, 1)}` : null;
    setText(byId("since"), clock(this.since, 1));
    setText(byId("energy-note"), energy.value === null ? "" :
      `${wattHours(energy.value)} ${until ?? `in ${duration(now - this.since)}${isLess ? "" : mean}`}` +
      (energy.missing.length > 0 ? `, without ${names(energy.missing)}` : ""));
  }

  private showPlots(now: number): void {
    const isLive = this.span === kSpans[0];
    // A second may pass until a stream shows that a value still holds.
    const end = Math.floor((now - 1.2) / kColumnS) * kColumnS;
    const span: Span = isLive || !this.history
      ? {start: end - kColumns * kColumnS, width: kColumnS, count: kColumns} : this.history.span;
    const nothing = (): Column[] => Array.from({length: span.count}, () => kUnknown);
    const columns = (domain: string) => {
      if (!isLive) return this.history?.columns.get(domain) ?? nothing();
      return domain === "" ? this.model.totalColumns(end, kColumns)
        : this.model.devices.get(domain)!.series.columns(end, kColumns);
    };
    this.totalPlot.show(columns(""), span);
    // Every second one in turn: each moves by less than a pixel per second. History changes rarely.
    ++this.turn;
    [...this.cards.values()].forEach((card, i) => {
      const key = isLive ? "" : `${span.start} ${span.count}`;
      const isDue = isLive ? (this.turn + i) % 2 === 0 || card.shown !== key : card.shown !== key;
      if (!card.isVisible || !isDue) return;
      card.shown = key;
      card.plot.show(columns(card.device.domain), span);
    });
  }
}

new Dashboard().start();
