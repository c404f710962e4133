// Puts what is known of devices into the page.
import {duration, energyParts, gibibytes, kUnknownCell, powerParts} from "../format";
import {byId, make, setNumber, setText, showList} from "./elements";
import {type Energy, together} from "./energy";
import type {Category, Device, Refusal, Total} from "./model";
import {powerText, PowerPlot} from "./plot";

/// " ±21 J"; empty where it is not known.
export function doubtText(doubt: number | null): string {
  if (doubt === null || doubt <= 0) return "";
  const [, unit] = energyParts(doubt);
  const size = {GJ: 1e9, MJ: 1e6, kJ: 1e3}[unit] ?? 1;
  return ` ±${Number((doubt / size).toPrecision(2))} ${unit}`;
}

/// The flags of a device: of its power now, and of its energy.
const flagsOf = (device: Device): string => together(device.flags, device.energy.flags).join(", ");

export function energyText({joules, doubt, isAtLeast}: Energy): string {
  if (joules === null) return kUnknownCell;
  return `${isAtLeast ? "≥ " : ""}${energyParts(joules).join(" ")}${doubtText(doubt)}`;
}

/// A device that was shown this long ago, in seconds, is not shown as of now.
const kOldS: Record<"streamed" | "asked", number> = {streamed: 3.5, asked: 8};

export function isOld(device: Device): boolean {
  return device.watts !== null && device.age > kOldS[device.isStreamed ? "streamed" : "asked"];
}

const ageText = (device: Device) => `last read ${duration(device.age)} ago`;

export class Card {
  readonly element = make("article", "card");
  readonly plot: PowerPlot;
  isVisible = true;
  /// What its plot shows: "" the last minutes, else a part of the history; null: nothing yet.
  shown: string | null = null;
  private readonly title = make("h3");
  private readonly model = make("p", "model");
  private readonly value = make("p", "value");
  private readonly bar = make("div", "bar");
  private readonly part = make("span");
  private readonly facts = make("ul", "facts");
  private readonly reason = make("p", "reason");
  private readonly observer = new IntersectionObserver(([entry]) => (this.isVisible = entry?.isIntersecting ?? true));

  constructor(readonly device: Device, place: HTMLElement) {
    this.element.classList.add(device.category);
    const head = make("header");
    const names = make("div");
    this.title.append(make("span", "dot"), device.name);
    names.append(this.title, this.model);
    head.append(names, this.value);
    this.bar.append(this.part);
    const live = make("div", "live");
    const readout = make("p", "readout");
    live.setAttribute("aria-hidden", "true");
    const below = make("div", "below");
    below.append(this.facts, readout);
    this.element.append(head, this.bar, this.reason, live, below);
    place.append(this.element);
    this.plot = new PowerPlot(live, readout, device.category, 110);
    this.observer.observe(this.element);
  }

  remove(): void {
    this.observer.disconnect();
    this.plot.remove();
    this.element.remove();
  }

  update(): void {
    const {device} = this;
    const old = isOld(device);
    this.element.classList.toggle("is-old", old);
    setText(this.model, device.model && device.model !== device.name ? device.model : device.domain);
    setNumber(this.value, device.watts === null ? null : powerParts(device.watts, device.step));
    setText(this.reason, old ? ageText(device) : device.watts === null ? device.reason : "");
    this.bar.hidden = device.limit === null;
    const part = device.limit && device.watts !== null ? Math.min(1, device.watts / device.limit) : 0;
    this.part.style.width = `${(100 * part).toFixed(1)}%`;
    showList(this.facts, factsOf(device), () => make("li"), (place, fact) => setText(place, fact));
  }
}

function memoryText(device: Device): string {
  const {memoryUsed, memoryTotal} = device;
  if (memoryUsed === null) return "";
  return memoryTotal === null ? `${gibibytes(memoryUsed)} GiB` : `${gibibytes(memoryUsed)} of ${gibibytes(memoryTotal)} GiB`;
}

function factsOf(device: Device): string[] {
  const {energy} = device;
  const facts = [energy.joules === null ? `energy: ${energy.reason}` : `used ${energyText(energy)}`];
  const flags = flagsOf(device);
  if (flags !== "") facts.push(flags);
  if (device.limit !== null) facts.push(`limit ${powerText(device.limit)}`);
  if (device.utilization !== null) facts.push(`${Math.round(100 * device.utilization)} % busy`);
  if (device.memoryUsed !== null) facts.push(memoryText(device));
  if (device.temperature !== null) facts.push(`${Math.round(device.temperature)} °C`);
  if (!device.isAdditive) facts.push("part of another device");
  return facts;
}

/// A row of the table: a device, or the name of the machine of those that follow.
export type Row = Device | string;

const kNumberColumns = 10;
const kFlagsColumn = 4;

/// The rows of the table.
export function showRows(body: HTMLElement, rows: Row[], total: number | null): void {
  while (body.children.length > rows.length) body.lastChild!.remove();
  rows.forEach((what, i) => {
    const isTitle = typeof what === "string";
    let row = body.children[i];
    if (row && row.classList.contains("machine-row") !== isTitle) {
      const fresh = make("tr");
      row.replaceWith(fresh);
      row = fresh;
    }
    row ??= body.appendChild(make("tr"));
    if (isTitle) showTitleRow(row, what);
    else showDeviceRow(row, what, total);
  });
}

function showTitleRow(row: Element, title: string): void {
  row.className = "machine-row";
  const cell = (row.firstElementChild ?? row.appendChild(make("th"))) as HTMLTableCellElement;
  cell.colSpan = kNumberColumns;
  cell.scope = "rowgroup";
  setText(cell, title);
}

function showDeviceRow(row: Element, device: Device, total: number | null): void {
  const known = (value: number | null, text: (value: number) => string) => (value === null ? kUnknownCell : text(value));
  const isShare = device.isAdditive && total !== null && total > 0;
  const state = device.watts === null ? device.reason
    : isOld(device) ? ageText(device)
    : device.isStreamed ? "live" : "every 2 s";
  const cells = [
    device.model ? `${device.name}: ${device.model}` : device.name,
    known(device.watts, (watts) => powerParts(watts, device.step).join(" ")),
    isShare ? known(device.watts, (watts) => `${((100 * watts) / total).toFixed(0)} %`) : kUnknownCell,
    energyText(device.energy), flagsOf(device), known(device.limit, powerText),
    known(device.utilization, (part) => `${Math.round(100 * part)} %`), memoryText(device) || kUnknownCell,
    known(device.temperature, (degrees) => `${Math.round(degrees)} °C`), state,
  ];
  cells.forEach((text, column) => {
    let cell = row.children[column];
    if (!cell) {
      cell = row.appendChild(make(column === 0 ? "th" : "td", column > 0 && column < kNumberColumns - 1 && column !== kFlagsColumn ? "number" : ""));
      if (column === 0) cell.setAttribute("scope", "row");
    }
    setText(cell, text);
  });
}

const kLegend: Record<Category, string> = {cpu: "CPUs", memory: "Memory", gpu: "GPUs", other: "Other"};
const kWords: Record<Category, [string, string]> = {
  cpu: ["CPU", "CPUs"], memory: ["memory", "memory"], gpu: ["GPU", "GPUs"], other: ["meter", "meters"],
};

/// What each kind of devices draws.
function kindsOf(devices: Device[]): {category: Category; count: number; watts: number}[] {
  return (Object.keys(kWords) as Category[]).flatMap((category) => {
    const known = devices.filter((device) => device.isAdditive && device.category === category && device.watts !== null);
    return known.length === 0 ? []
      : [{category, count: known.length, watts: known.reduce((sum, {watts}) => sum + watts!, 0)}];
  });
}

/// How much each kind draws, beside the bar of shares.
export function showLegend(place: HTMLElement, devices: Device[]): void {
  const makeOne = () => {
    const entry = make("li");
    entry.append(make("span", "dot"), make("span"));
    return entry;
  };
  showList(place, kindsOf(devices), makeOne, (entry, {category, watts}) => {
    entry.className = category;
    setText(entry.children[1]!, `${kLegend[category]} ${powerText(watts)}`);
  });
}

/// What the sentence of a page is about.
export interface Subject {
  /// "node1", "3 machines".
  name: string;
  isOne: boolean;
  /// Of each machine, if there are several: "node1 420 W".
  parts: string[];
  /// How long energy is counted, in seconds.
  seconds: number;
}

/// One sentence for who reads or hears the page instead of looking at it.
export function summaryOf(subject: Subject, devices: Device[], power: Total, energy: Total): string {
  const {name, isOne} = subject;
  if (devices.length === 0) return `No device of ${name} can be read. The reasons are below.`;
  if (power.value === null) return `The power of ${name} is unknown.`;
  const kinds = kindsOf(devices).map(({category, count, watts}) => {
    const [one, many] = kWords[category];
    return `${category === "memory" ? "memory" : `${count} ${count === 1 ? one : many}`} ${powerText(watts)}`;
  });
  const old = devices.filter((device) => device.isAdditive && isOld(device)).length;
  const missing = power.missing.map((device) => device.name).join(", ");
  return `${name} ${isOne ? "draws" : "draw"} ${power.isAtLeast ? "at least " : ""}${powerText(power.value)}: ` +
    `${(isOne ? kinds : subject.parts).join(", ")}.` +
    (energy.value === null ? "" : ` ${isOne ? "It" : "They"} used ${energyParts(energy.value).join(" ")}` +
      `${doubtText(energy.doubt)} in the last ${duration(subject.seconds)}.`) +
    flagsSentence(together(power.flags, energy.flags)) +
    (missing ? ` Unknown: ${missing}.` : "") + (old > 0 ? ` ${old} of the values are old.` : "");
}

const flagsSentence = (flags: string[]) => (flags.length === 0 ? "" : ` Flags: ${flags.join(", ")}.`);

export function showShares(place: HTMLElement, devices: Device[], total: number | null): void {
  const counted = devices.filter(({isAdditive, watts}) => isAdditive && watts !== null);
  showList(place, counted, () => make("span"), (part, device) => {
    part.className = device.category;
    part.style.width = total ? `${((100 * device.watts!) / total).toFixed(2)}%` : "0";
  });
}

/// `refused`: with the name of the machine before the subject, if there are several.
export function showRefusals(refused: Refusal[]): void {
  byId("refused").hidden = refused.length === 0;
  showList(byId("refusals"), refused, () => make("li"), (place, {subject, reason, remedy}) =>
    setText(place, `${subject}: ${reason}${remedy ? `; ${remedy}` : ""}`));
}
