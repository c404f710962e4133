// Puts what is known into the page. Foreign text goes in as text, never as HTML.
import type {Column} from "../columns";
import {Curve} from "../curve";
import {duration, energyParts, gibibytes, powerParts} from "../format";
import type {Category, Device, Energy, Refusal, Total} from "./model";

export function byId<E extends HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K, className = "", text = "",
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

/// Changes a text only where it differs: a page that stays open for days does no work for nothing.
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/// A number with a small unit; a dash where there is none.
export function setNumber(element: HTMLElement, parts: [string, string] | null, prefix = ""): void {
  const key = parts ? `${prefix}${parts[0]} ${parts[1]}` : "-";
  if (element.dataset["shown"] === key) return;
  element.dataset["shown"] = key;
  if (!parts) {
    const dash = make("span", "", "–");
    dash.setAttribute("aria-hidden", "true");
    element.replaceChildren(dash, make("span", "visually-hidden", "unknown"));
    return;
  }
  element.replaceChildren(...(prefix ? [make("span", "prefix", prefix)] : []), parts[0], make("span", "unit", ` ${parts[1]}`));
}

export const powerText = (watts: number) => powerParts(watts).join(" ");

export function energyText({joules, isAtLeast}: Energy): string {
  if (joules === null) return "–";
  return `${isAtLeast ? "≥ " : ""}${energyParts(joules).join(" ")}`;
}

/// What a plot shows: `columns` of `width` seconds from `start` on.
export interface Span {
  start: number;
  width: number;
  count: number;
}

/// Clock time, with seconds where they matter.
export function clock(time: number, step: number): string {
  return new Date(time * 1000).toLocaleTimeString(undefined, {
    hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...(step < 60 ? {second: "2-digit"} : {}),
  });
}

/// The next round number that is high enough: 1, 1.5, 2, 3, 5, 7.5, 10 ...
function roundedUp(value: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(value, 1e-3)));
  return size * ([1, 1.5, 2, 3, 4, 5, 7.5, 10].find((step) => value <= step * size) ?? 10);
}

export class PowerPlot {
  private readonly curve: Curve;
  private columns: Column[] = [];
  private span: Span = {start: 0, width: 1, count: 0};
  private top = 1;
  private index: number | null = null;

  constructor(
    place: HTMLElement, private readonly readout: HTMLElement, tone: Category | "total", height: number,
  ) {
    this.curve = new Curve(place, {
      group: "power", line: `--${tone}`, range: `--${tone}-range`, area: `--${tone}-area`, canZoom: false, height,
      rangeX: () => [this.span.start, this.span.start + this.span.count * this.span.width],
      labelX: clock,
      top: () => this.top,
      pointed: (index) => {
        this.index = index;
        this.showValue();
      },
    }, this.course());
  }

  show(columns: Column[], span: Span): void {
    this.columns = columns;
    this.span = span;
    let highest = 0;
    for (const {mean, high} of columns) highest = Math.max(highest, high ?? mean ?? 0);
    this.top = roundedUp(Math.max(1.05 * highest, 1));
    this.curve.show(this.course());
    this.showValue();
  }
  redraw(): void {
    this.curve.plot.redraw(false);
  }
  /// By that many columns; plots of the page follow.
  move(columns: number | "first" | "last"): void {
    const {count, start, width} = this.span;
    const index = this.index ?? count;
    const target = columns === "first" ? 0 : columns === "last" ? count - 1 : index + columns;
    const time = start + (Math.max(0, Math.min(count - 1, target)) + 0.01) * width;
    this.curve.point(time);
  }

  private course() {
    const {start, width, count} = this.span;
    return {columns: this.columns, edges: Array.from({length: count + 1}, (_, i) => start + i * width), step: 1};
  }

  private showValue(): void {
    const {start, width, count} = this.span;
    if (this.index === null || count === 0) return setText(this.readout, "");
    const i = Math.min(this.index, count - 1);
    const column = this.columns[i];
    let what = "unknown";
    if (column && column.mean !== null) {
      what = powerText(column.mean);
      if (column.doubt !== null && column.doubt > 0) what += ` ±${Number(column.doubt.toPrecision(2))} W`;
      if (column.low !== null && column.high !== null && column.high > column.low) {
        what += `, lowest ${powerText(column.low)}, highest ${powerText(column.high)}`;
      }
    }
    setText(this.readout, `${clock(start + i * width, width)}: ${what}`);
  }
}

/// A device that was shown this long ago, in seconds, is not shown as of now.
const kOldS: Record<"streamed" | "asked", number> = {streamed: 3.5, asked: 8};

export function isOld(device: Device, now: number): boolean {
  return device.watts !== null && now - device.at > kOldS[device.isStreamed ? "streamed" : "asked"];
}

const ageText = (device: Device, now: number) => `last read ${duration(now - device.at)} ago`;

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
    new IntersectionObserver(([entry]) => (this.isVisible = entry?.isIntersecting ?? true)).observe(this.element);
  }

  update(now: number): void {
    const {device} = this;
    const old = isOld(device, now);
    this.element.classList.toggle("is-old", old);
    setText(this.model, device.model && device.model !== device.name ? device.model : device.domain);
    setNumber(this.value, device.watts === null ? null : powerParts(device.watts, device.step));
    setText(this.reason, old ? ageText(device, now) : device.watts === null ? device.reason : "");
    this.bar.hidden = device.limit === null;
    const part = device.limit && device.watts !== null ? Math.min(1, device.watts / device.limit) : 0;
    this.part.style.width = `${(100 * part).toFixed(1)}%`;
    const facts = factsOf(device);
    while (this.facts.children.length > facts.length) this.facts.lastChild!.remove();
    facts.forEach((fact, i) => setText(this.facts.children[i] ?? this.facts.appendChild(make("li")), fact));
  }
}

function memoryText(device: Device): string {
  const {memoryUsed, memoryTotal} = device;
  if (memoryUsed === null) return "";
  return memoryTotal === null ? `${gibibytes(memoryUsed)} GiB` : `${gibibytes(memoryUsed)} of ${gibibytes(memoryTotal)} GiB`;
}

function factsOf(device: Device): string[] {
  const facts = [device.energy.joules === null ? `energy: ${device.energy.reason}` : `used ${energyText(device.energy)}`];
  if (device.limit !== null) facts.push(`limit ${powerText(device.limit)}`);
  if (device.utilization !== null) facts.push(`${Math.round(100 * device.utilization)} % busy`);
  if (device.memoryUsed !== null) facts.push(memoryText(device));
  if (device.temperature !== null) facts.push(`${Math.round(device.temperature)} °C`);
  if (!device.isAdditive) facts.push("part of another device");
  return facts;
}

/// The rows of the table, one per device.
export function showRows(body: HTMLElement, devices: Device[], total: number | null, now: number): void {
  while (body.children.length > devices.length) body.lastChild!.remove();
  devices.forEach((device, i) => {
    const row = body.children[i] ?? body.appendChild(make("tr"));
    const known = (value: number | null, text: (value: number) => string) => (value === null ? "–" : text(value));
    const isShare = device.isAdditive && total !== null && total > 0;
    const state = device.watts === null ? device.reason
      : isOld(device, now) ? ageText(device, now)
      : device.isStreamed ? "live" : "every 2 s";
    const cells = [
      device.model ? `${device.name}: ${device.model}` : device.name,
      known(device.watts, (watts) => powerParts(watts, device.step).join(" ")),
      isShare ? known(device.watts, (watts) => `${((100 * watts) / total).toFixed(0)} %`) : "–",
      energyText(device.energy), known(device.limit, powerText),
      known(device.utilization, (part) => `${Math.round(100 * part)} %`), memoryText(device) || "–",
      known(device.temperature, (degrees) => `${Math.round(degrees)} °C`), state,
    ];
    cells.forEach((text, column) => {
      let cell = row.children[column];
      if (!cell) {
        cell = row.appendChild(make(column === 0 ? "th" : "td", column > 0 && column < 8 ? "number" : ""));
        if (column === 0) cell.setAttribute("scope", "row");
      }
      setText(cell, text);
    });
  });
}

/// How much each kind draws, beside the bar of shares.
export function showLegend(place: HTMLElement, devices: Device[]): void {
  const kinds = (Object.keys(kWords) as Category[]).flatMap((category) => {
    const known = devices.filter((device) => device.isAdditive && device.category === category && device.watts !== null);
    return known.length === 0 ? [] : [{category, name: kLegend[category], watts: known.reduce((sum, {watts}) => sum + watts!, 0)}];
  });
  while (place.children.length > kinds.length) place.lastChild!.remove();
  kinds.forEach(({category, name, watts}, i) => {
    let entry = place.children[i];
    if (!entry) (entry = place.appendChild(make("li"))).append(make("span", "dot"), make("span"));
    entry.className = category;
    setText(entry.children[1]!, `${name} ${powerText(watts)}`);
  });
}

const kLegend: Record<Category, string> = {cpu: "CPUs", memory: "Memory", gpu: "GPUs", other: "Other"};
const kWords: Record<Category, [string, string]> = {
  cpu: ["CPU", "CPUs"], memory: ["memory", "memory"], gpu: ["GPU", "GPUs"], other: ["meter", "meters"],
};

/// One sentence for who reads or hears the page instead of looking at it.
export function summaryOf(host: string, devices: Device[], power: Total, energy: Total, since: number, now: number): string {
  if (devices.length === 0) return `No device of ${host} can be read. The reasons are below.`;
  if (power.value === null) return `The power of ${host} is unknown.`;
  const counted = devices.filter(({isAdditive}) => isAdditive);
  const parts = (Object.keys(kWords) as Category[]).flatMap((category) => {
    const known = counted.filter((device) => device.category === category && device.watts !== null);
    if (known.length === 0) return [];
    const sum = known.reduce((all, {watts}) => all + watts!, 0);
    const [one, many] = kWords[category];
    return [`${category === "memory" ? "memory" : `${known.length} ${known.length === 1 ? one : many}`} ${powerText(sum)}`];
  });
  const old = counted.filter((device) => isOld(device, now)).length;
  const missing = power.missing.map(({name}) => name).join(", ");
  return `${host} draws ${missing ? "at least " : ""}${powerText(power.value)}: ${parts.join(", ")}.` +
    (energy.value === null ? "" : ` It used ${energyParts(energy.value).join(" ")} in the last ${duration(now - since)}.`) +
    (missing ? ` Unknown: ${missing}.` : "") + (old > 0 ? ` ${old} of the values are old.` : "");
}

export function showShares(place: HTMLElement, devices: Device[], total: number | null): void {
  const counted = devices.filter(({isAdditive, watts}) => isAdditive && watts !== null);
  while (place.children.length > counted.length) place.lastChild!.remove();
  counted.forEach((device, i) => {
    const part = (place.children[i] ?? place.appendChild(make("span"))) as HTMLElement;
    part.className = device.category;
    part.style.width = total ? `${((100 * device.watts!) / total).toFixed(2)}%` : "0";
  });
}

export function showRefusals(refused: Refusal[]): void {
  byId("refused").hidden = refused.length === 0;
  byId("refusals").replaceChildren(...refused.map(({subject, reason, remedy}) =>
    make("li", "", `${subject}: ${reason}${remedy ? `; ${remedy}` : ""}`)));
}
