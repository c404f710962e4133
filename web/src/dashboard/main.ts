// The page of the daemon: live power and energy of its machine, and of others.
import "uplot/dist/uPlot.min.css";
import "../../page.css";
import "./dashboard.css";

import type {Column} from "../columns";
import {duration, energyParts, kUnknownWord, powerParts, wattHours} from "../format";
import {Door} from "./door";
import {byId, make, setNumber, setText} from "./elements";
import {type Span, sumOf} from "./history";
import {Machine} from "./machine";
import {type Device, energyOf, powerOf, type Refusal, type Total} from "./model";
import {clock, powerText, PowerPlot} from "./plot";
import {MachineSection, problemOf} from "./section";
import {kColumns, kColumnS, kUnknown} from "./series";
import {pause} from "./server";
import {doubtText, isOld, showLegend, showRefusals, showRows, showShares, summaryOf} from "./view";

/// To draw the page costs the browser about the same for each device: that of many is drawn less often.
const kDevicesPerS = 16;
const kLongestDrawS = 4;
/// How long after its time a column is known: a second may pass until a stream shows that a value still holds.
const kBehindS = 2;
/// Plots of devices are drawn in turn: each moves by about a pixel per second.
const kPlotsPerS = 6;
/// Machines need not be there in the same moment.
const kLateS = 5;
/// A browser draws its own window again for each title.
const kTitleS = 4.5;
/// Columns of a plot of the history.
const kPastColumns = 360;
const kSpans = [
  {text: "5 min", seconds: 300}, {text: "1 h", seconds: 3600}, {text: "6 h", seconds: 21600},
  {text: "24 h", seconds: 86400},
];

/// "any" where the user may enter machines, and the origins of those that the daemon lets the page ask.
function followedOrigins(): {takesMachines: boolean; origins: string[]} {
  const words = document.querySelector<HTMLMetaElement>('meta[name="machines"]')!.content.split(" ").filter((word) => word !== "");
  const origins = words.filter((word) => word !== "any" && word !== location.origin);
  return {takesMachines: words.includes("any"), origins};
}

/// Those that the user entered: they stand in the address of the page.
const enteredMachines = () => (new URLSearchParams(location.search).get("machines") ?? "").split(",").filter((word) => word !== "");

/// The page is loaded again: only a new page may ask other machines.
function openWith(machines: string[]): void {
  const query = machines.map(encodeURIComponent).join(",");
  location.assign(query === "" ? location.pathname : `${location.pathname}?machines=${query}`);
}

class Dashboard {
  private readonly door = new Door();
  private readonly machines: Machine[];
  private readonly sections: MachineSection[];
  private readonly totalPlot = new PowerPlot(byId("total-plot"), byId("total-readout"), "total", 200);
  private readonly takesMachines: boolean;
  /// When counting started, by the clock of the first machine, and by that of the browser.
  private since = 0;
  private countedFrom = 0;
  private span = kSpans[0]!;
  private isPaused = false;
  private isDue = false;
  private turn = 0;
  /// Seconds since it was drawn.
  private undrawn = 0;
  private titled = 0;
  private stop = new AbortController();

  constructor() {
    const {takesMachines, origins} = followedOrigins();
    this.takesMachines = takesMachines;
    this.machines = ["", ...origins].map((origin) => new Machine({
      origin,
      askForToken: (machine, reason) => this.door.ask(machine.address, !machine.isOwn, reason),
      changed: () => this.drawSoon(),
      countedFrom: () => this.countedFrom,
    }));
    this.sections = this.machines.map((machine) => new MachineSection(machine, {
      enterToken: () => this.door.open(machine.address),
      remove: this.isEntered(machine) ? () => openWith(enteredMachines().filter((each) => !this.isNamed(machine, each))) : null,
    }));
    byId("machines").append(...this.sections.map(({element}) => element));
  }

  start(): void {
    this.addControls();
    document.addEventListener("visibilitychange", () => this.followVisibility());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      const cards = this.sections.flatMap(({cards}) => [...cards.values()]);
      for (const plot of [this.totalPlot, ...cards.map((card) => card.plot)]) plot.redraw();
    });
    setInterval(() => (++this.undrawn >= this.drawS ? this.drawSoon() : undefined), 1000);
    this.connect();
  }

  private get own(): Machine {
    return this.machines[0]!;
  }
  private get devices(): Device[] {
    return this.machines.flatMap(({model}) => model.sorted);
  }
  /// How often it is drawn, in seconds.
  private get drawS(): number {
    return Math.min(kLongestDrawS, Math.max(1, Math.ceil(this.devices.length / kDevicesPerS)));
  }

  private isNamed(machine: Machine, entered: string): boolean {
    const name = entered.replace(/^https?:\/\//, "").toLowerCase();
    return name === machine.address || `${name}:4938` === machine.address;
  }
  private isEntered(machine: Machine): boolean {
    return this.takesMachines && enteredMachines().some((each) => this.isNamed(machine, each));
  }
  /// A name that no other machine has.
  private nameOf(machine: Machine): string {
    if (machine.host === "") return machine.address;
    const isTaken = this.machines.some((other) => other !== machine && other.host === machine.host);
    return isTaken ? `${machine.host} (${machine.address})` : machine.host;
  }

  /// A page that nobody sees asks for nothing: browsers allow few connections to one server.
  private followVisibility(): void {
    this.stop.abort();
    if (document.hidden) {
      for (const machine of this.machines) machine.rest("the page was in the background");
    } else {
      this.connect();
    }
  }

  private connect(): void {
    const {signal} = (this.stop = new AbortController());
    for (const machine of this.machines) void machine.follow(signal);
    void this.followPast(signal);
  }

  /// Follows the part of the past that is shown, until `signal` or another part is chosen.
  private async followPast(signal: AbortSignal): Promise<void> {
    const {span} = this;
    for (const machine of this.machines) machine.forgetPast();
    while (!signal.aborted && span === this.span && span !== kSpans[0]) {
      const known = this.machines.filter(({since}) => since > 0);
      await Promise.all(known.map((machine) => machine.readPast(span.seconds, kPastColumns)));
      if (span === this.span) this.drawSoon();
      await pause(Math.max(2000, (span.seconds / kPastColumns) * 500));
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
        void this.followPast(this.stop.signal);
        this.drawSoon();
      });
      label.append(input, span.text);
      byId("spans").append(label);
    });
    const button = byId("pause");
    button.addEventListener("click", () => {
      this.isPaused = !this.isPaused;
      button.setAttribute("aria-pressed", `${this.isPaused}`);
      this.drawSoon();
    });
    byId("restart").addEventListener("click", () => {
      for (const machine of this.machines) if (machine.since > 0) machine.restartEnergy();
      this.countFromNow();
      this.draw();
    });
    this.addKeys();
    byId("add").hidden = !this.takesMachines;
    byId("add").addEventListener("submit", (event) => {
      event.preventDefault();
      const entered = byId<HTMLInputElement>("machine").value.split(/[\s,]+/).filter((word) => word !== "");
      if (entered.length > 0) openWith([...enteredMachines(), ...entered]);
    });
  }

  private addKeys(): void {
    const place = byId("total-plot");
    const readout = byId("total-readout");
    place.addEventListener("keydown", (event) => {
      const step = event.shiftKey ? 10 : 1;
      const moves: Record<string, number | "first" | "last"> = {
        ArrowLeft: -step, ArrowRight: step, Home: "first", End: "last",
      };
      const move = moves[event.key];
      if (move === undefined) return;
      this.totalPlot.move(move);
      event.preventDefault();
    });
    place.addEventListener("focus", () => readout.setAttribute("aria-live", "polite"));
    place.addEventListener("blur", () => readout.removeAttribute("aria-live"));
  }

  private countFromNow(): void {
    this.since = this.own.now;
    this.countedFrom = Date.now() / 1000;
  }

  /// With the next frame of the browser, once.
  private drawSoon(): void {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.undrawn = 0;
      this.draw();
    });
  }

  private draw(): void {
    const {own} = this;
    for (const machine of this.machines) machine.hold();
    this.showState();
    this.offerHistory();
    const isThere = this.machines.some(({since}) => since > 0);
    if (this.isPaused || document.hidden || !isThere) return;
    if (this.since === 0) this.countFromNow();
    byId("main").hidden = false;
    const {devices} = this;
    const {now} = own;
    const hasSeveral = this.machines.length > 1;
    const [power, energy] = this.totals(devices);
    this.showTotals(power, energy, devices);
    const name = hasSeveral ? `${this.machines.length} machines` : this.nameOf(own);
    setText(byId("host"), name);
    if (now - this.titled > kTitleS) {
      this.titled = now;
      document.title = `${power.value === null ? "" : `${powerText(power.value)} - `}${name}`;
    }
    showShares(byId("shares"), devices, power.value);
    showLegend(byId("legend"), devices);
    const parts = this.machines.map((machine) => {
      const {value} = powerOf(machine.model.sorted);
      return `${this.nameOf(machine)} ${value === null ? kUnknownWord : powerText(value)}`;
    });
    setText(byId("summary"), summaryOf({name, isOne: !hasSeveral, parts, seconds: own.countedS}, devices, power, energy));
    for (const section of this.sections) section.update(hasSeveral ? this.nameOf(section.machine) : null);
    showRows(byId("rows"), this.machines.flatMap((machine) =>
      (hasSeveral ? [this.nameOf(machine), ...machine.model.sorted] : machine.model.sorted)), power.value);
    this.showPlots();
    this.showNotes(hasSeveral);
  }

  /// A machine of which nothing is known is missing in them, too.
  private totals(devices: Device[]): [Total, Total] {
    const [power, energy] = [powerOf(devices), energyOf(devices)];
    const lacksMachine = this.machines.some(({since}) => since === 0);
    // Without a history, the time before it was first there is missing.
    const isLate = this.machines.some(({since, hasHistory, now}) => !hasHistory && now - since < this.own.now - this.since - kLateS);
    return [{...power, isAtLeast: power.isAtLeast || lacksMachine}, {...energy, isAtLeast: energy.isAtLeast || lacksMachine || isLate}];
  }

  private showState(): void {
    const hasSeveral = this.machines.length > 1;
    const problems = this.machines.flatMap((machine) => {
      const problem = problemOf(machine);
      return problem === "" ? [] : [hasSeveral ? `${this.nameOf(machine)}: ${problem}` : problem];
    });
    const isThere = this.machines.some(({since}) => since > 0);
    const state = byId("state");
    state.dataset["state"] = this.isPaused ? "paused" : problems.length > 0 ? "lost" : isThere ? "live" : "wait";
    setText(state, this.isPaused ? "Paused" : problems.length > 0 ? `Not up to date: ${problems.join("; ")}`
      : isThere ? "Live" : "Connecting");
  }

  private offerHistory(): void {
    const problem = this.machines.some(({hasHistory}) => hasHistory) ? "" : this.own.historyProblem;
    for (const input of byId("spans").querySelectorAll<HTMLInputElement>("input")) {
      const isDisabled = problem !== "" && input.value !== "0";
      if (input.disabled === isDisabled) continue;
      input.disabled = isDisabled;
      input.parentElement!.title = isDisabled ? problem : "";
    }
  }

  private showNotes(hasSeveral: boolean): void {
    const before = (machine: Machine) => (hasSeveral ? `${this.nameOf(machine)}: ` : "");
    const known = this.machines.filter(({since}) => since > 0);
    showRefusals(known.flatMap((machine): Refusal[] =>
      machine.model.refused.map((refusal) => ({...refusal, subject: before(machine) + refusal.subject}))));
    setText(byId("limits"), known.flatMap((machine) => {
      const limit = machine.model.cpuLimit;
      return limit ? [`${before(machine)}Power of CPUs is shown once per ${limit.period_s} s, in steps of ` +
        `${limit.quantum_j / limit.period_s} W: ${limit.remedy}.`] : [];
    }).join(" "));
    setText(byId("foot"), `Wattle ${this.own.version}. Energies are those of counters. Power is what the sensors show now. A dash is an unknown value, never 0. ` +
      "± is the sampling error (95 %).");
  }

  private showTotals(power: Total, energy: Total, devices: Device[]): void {
    const names = (list: {name: string}[]) => list.map(({name}) => name).join(", ");
    const {own} = this;
    setNumber(byId("total"), power.value === null ? null : powerParts(power.value), power.isAtLeast && power.value !== null ? "≥ " : "");
    byId("total").parentElement!.classList.toggle("is-old", devices.some(isOld));
    const absent = this.machines.filter(({since}) => since === 0).map((machine) => ({name: this.nameOf(machine)}));
    const missing = [...absent, ...power.missing];
    const reasons = new Set(power.missing.map(({reason}) => reason));
    setText(byId("total-note"), missing.length === 0 ? power.flags.join(", ")
      : power.value !== null ? `Without ${names(missing)}` : `Unknown: ${[...reasons].join("; ")}`);
    setNumber(byId("energy"), energy.value === null ? null : energyParts(energy.value),
              energy.isAtLeast && energy.value !== null ? "≥ " : "");
    const seconds = own.countedS;
    const mean = energy.value !== null && seconds > 5 && !energy.isAtLeast ? `, mean ${powerText(energy.value / seconds)}` : "";
    const until = own.lostFor.has("metrics") ? `until ${clock(own.lastHeard.metrics, 1)}` : null;
    setText(byId("since"), clock(this.since, 1));
    setText(byId("energy-note"), energy.value === null ? "" :
      `${energy.doubt === null ? "" : `${doubtText(energy.doubt).trim()}, `}${wattHours(energy.value)} ` +
      `${until ?? `in ${duration(seconds)}${mean}`}` +
      (energy.missing.length > 0 ? `, without ${names(energy.missing)}` : "") + energy.flags.map((flag) => `, ${flag}`).join(""));
  }

  private showPlots(): void {
    const isLive = this.span === kSpans[0];
    const endOf = (machine: Machine) => Math.floor((machine.now - kBehindS) / kColumnS) * kColumnS;
    const past = this.machines.find((machine) => machine.past)?.past;
    const span: Span = isLive || !past
      ? {start: endOf(this.own) - kColumns * kColumnS, width: kColumnS, count: kColumns} : past.span;
    const nothing = (): Column[] => Array.from({length: span.count}, () => kUnknown);
    const columns = (machine: Machine, {domain, series}: Device): Column[] => {
      if (isLive) return series.columns(endOf(machine), kColumns);
      const {past: own} = machine;
      return own && own.span.count === span.count && own.span.width === span.width ? own.columns.get(domain) ?? nothing() : nothing();
    };
    const counted = this.machines.flatMap((machine) => machine.model.sorted.filter(({isAdditive}) => isAdditive)
      .map((device) => columns(machine, device)));
    this.totalPlot.show(sumOf(counted, span.count), span);
    // History changes rarely.
    ++this.turn;
    const key = isLive ? "" : `${span.start} ${span.count}`;
    const visible = this.sections.flatMap(({cards}) => [...cards.values()]).filter(({isVisible}) => isVisible).length;
    const every = Math.max(2, Math.ceil(visible / (kPlotsPerS * this.drawS)));
    for (const section of this.sections) section.drawPlots(this.turn, every, key, span, (device) => columns(section.machine, device));
  }
}

new Dashboard().start();
