// The part of the page that shows one machine.
import type {Column} from "../columns";
import {duration, energyParts, powerParts} from "../format";
import {make, setNumber, setText} from "./elements";
import type {Span} from "./history";
import type {Machine} from "./machine";
import {type Device, energyOf, powerOf} from "./model";
import {moment} from "./plot";
import {SharesPanel} from "./shares";
import {Card, doubtText, isOld} from "./view";

export interface SectionCalls {
  enterToken: (machine: Machine) => void;
  /// Null: the user may not remove this machine.
  remove: ((machine: Machine) => void) | null;
}

/// Why a machine is not up to date; empty: it is.
export function problemOf(machine: Machine): string {
  const {problems} = machine;
  if (problems.length > 0) return problems.join("; ");
  if (machine.since === 0) return "";
  const devices = [...machine.model.devices.values()];
  const old = devices.filter(isOld);
  if (old.length === 0) return "";
  const who = old.length === devices.length ? "the daemon" : old.map(({name}) => name).join(", ");
  return `${who} silent for ${duration(Math.max(...old.map(({age}) => age)))}`;
}

export class MachineSection {
  readonly element = make("section", "machine");
  readonly cards = new Map<Device, Card>();
  private readonly head = make("header");
  private readonly title = make("h3");
  private readonly state = make("p", "state");
  private readonly power = make("p", "value");
  private readonly energy = make("p", "note");
  private readonly places = make("div", "cards");
  private readonly shares = new SharesPanel();
  private readonly token = make("button", "", "Enter token");

  constructor(readonly machine: Machine, calls: SectionCalls) {
    const names = make("div", "who");
    names.append(this.title, this.state);
    this.token.type = "button";
    this.token.addEventListener("click", () => calls.enterToken(machine));
    this.head.append(names, this.token);
    if (calls.remove) {
      const button = make("button", "", "Remove");
      button.type = "button";
      button.addEventListener("click", () => calls.remove!(machine));
      this.head.append(button);
    }
    const figures = make("div", "machine-figures");
    figures.append(this.energy, this.power);
    this.head.append(figures);
    this.element.append(this.head, this.places, this.shares.element);
  }

  /// `name`: of the machine; null: it is the only one, and needs no head.
  update(name: string | null): void {
    const {machine} = this;
    this.head.hidden = name === null;
    if (name !== null) this.updateHead(name);
    const devices = machine.model.sorted;
    for (const [device, card] of this.cards) {
      if (devices.includes(device)) continue;
      this.cards.delete(device);
      card.remove();
    }
    devices.forEach((device, i) => {
      let card = this.cards.get(device);
      if (!card) this.cards.set(device, card = new Card(device, this.places));
      card.update();
      const place = this.places.children[i];
      if (place !== card.element) this.places.insertBefore(card.element, place ?? null);
    });
    this.shares.show(machine.shares, (domain) => machine.model.devices.get(domain)?.name ?? domain, moment);
  }

  remove(): void {
    for (const card of this.cards.values()) card.remove();
    this.element.remove();
  }

  /// Draws the plots of which it is the turn: of each in `every` seconds one. `key`: of what is shown; "": the last
  /// minutes.
  drawPlots(turn: number, every: number, key: string, span: Span, columns: (device: Device) => Column[]): void {
    [...this.cards.values()].forEach((card, i) => {
      const isDue = card.shown !== key || (key === "" && (turn + i) % every === 0);
      if (!card.isVisible || !isDue) return;
      card.shown = key;
      card.plot.show(columns(card.device), span);
    });
  }

  private updateHead(name: string): void {
    const {machine} = this;
    const problem = problemOf(machine);
    setText(this.title, name);
    this.title.title = machine.address;
    this.state.dataset["state"] = problem !== "" ? "lost" : machine.since === 0 ? "wait" : "live";
    setText(this.state, problem !== "" ? `Not up to date: ${problem}` : machine.since === 0 ? "Connecting" : "Live");
    this.token.hidden = machine.wantsToken === null;
    const devices = machine.model.sorted;
    const [power, energy] = [powerOf(devices), energyOf(devices)];
    setNumber(this.power, power.value === null ? null : powerParts(power.value), power.isAtLeast && power.value !== null ? "≥ " : "");
    this.element.classList.toggle("is-old", devices.some(isOld));
    setText(this.energy, energy.value === null ? ""
      : `used ${energy.isAtLeast ? "≥ " : ""}${energyParts(energy.value).join(" ")}${doubtText(energy.doubt)}` +
        energy.flags.map((flag) => `, ${flag}`).join(""));
  }
}
