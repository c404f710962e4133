// A plot that can be zoomed and read off, in place of a drawing.
import type uPlot from "uplot";

import {type Column, readColumns} from "./columns";
import {color, Curve} from "./curve";
import {kUnknownWord, time, watts} from "./format";

/// What the drawing states about itself.
interface Drawing {
  name: string;
  columns: Column[];
  /// Where each column starts, and where the last one ends, in seconds.
  edges: number[];
  /// One step of the drawing, in watts.
  step: number;
  /// The top of the drawing, in watts.
  top: number;
  seconds: number;
  phases: {name: string; from: number; to: number}[];
}

function numberOf(element: Element, name: string): number {
  return Number(element.getAttribute(`data-${name}`) ?? "0");
}

function readDrawing(figure: HTMLElement): Drawing | null {
  const drawing = figure.querySelector("svg.data");
  const count = numberOf(figure, "columns");
  if (!drawing || !(count > 0)) return null;
  const seconds = numberOf(figure, "seconds");
  const width = numberOf(figure, "column-seconds");
  const step = numberOf(figure, "step-watts");
  const height = numberOf(figure, "steps");
  const edges = Array.from({length: count}, (_, i) => i * width);
  edges.push(seconds);
  const phases = [...drawing.querySelectorAll("rect.phase")].map((rect) => ({
    name: rect.getAttribute("data-name") ?? "",
    from: numberOf(rect, "from"),
    to: numberOf(rect, "to"),
  }));
  return {
    name: figure.querySelector("figcaption")?.textContent ?? "",
    columns: readColumns(drawing, count, height),
    edges,
    step,
    top: step * height,
    seconds,
    phases,
  };
}

export class LivePlot {
  readonly element: HTMLElement;
  private readonly readout: HTMLElement;
  private readonly drawing: Drawing;
  private readonly curve: Curve;
  private readonly plot: uPlot;

  /// Null where the figure has no values. `zoomed` is called with what is shown from now on.
  /// `group`: plots of one show the same time under the pointer.
  static replace(
    figure: HTMLElement, group: string, zoomed: (from: number, to: number) => void,
  ): LivePlot | null {
    const drawing = readDrawing(figure);
    return drawing ? new LivePlot(figure, drawing, group, zoomed) : null;
  }

  private constructor(
    figure: HTMLElement, drawing: Drawing, group: string,
    private readonly zoomed: (from: number, to: number) => void,
  ) {
    this.drawing = drawing;
    this.element = document.createElement("div");
    this.element.className = "live";
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "group");
    this.element.setAttribute(
      "aria-label", `${drawing.name}: arrow keys read off values, plus and minus zoom, 0 shows all`);
    this.readout = document.createElement("p");
    this.readout.className = "readout";
    const still = figure.querySelector("svg");
    figure.insertBefore(this.element, still);
    figure.insertBefore(this.readout, still);
    const {columns, edges, step, top, seconds} = drawing;
    this.curve = new Curve(this.element, {
      group, line: "--line", range: "--range", canZoom: true,
      rangeX: (min, max) => [Math.max(0, min), Math.min(seconds, max)],
      labelX: (split, between) => time(split, between, seconds),
      top: () => top,
      drawBelow: (plot) => this.drawPhases(plot),
      pointed: (index) => this.showValues(index),
      zoomed: (from, to) => this.zoomed(from, to),
    }, {columns, edges, step});
    this.plot = this.curve.plot;
    figure.classList.add("is-live");
    this.curve.fit();
    this.element.addEventListener("keydown", (event) => this.onKey(event));
    // Read out what the keyboard asks for, not each move of a mouse.
    this.element.addEventListener("focus", () => this.readout.setAttribute("aria-live", "polite"));
    this.element.addEventListener("blur", () => this.readout.removeAttribute("aria-live"));
    this.showValues(null);
  }

  show(from: number, to: number): void {
    const {min, max} = this.plot.scales["x"] ?? {};
    if (min !== from || max !== to) this.plot.setScale("x", {min: from, max: to});
  }
  redraw(): void {
    this.plot.redraw(false);
  }

  private drawPhases(plot: uPlot): void {
    const {ctx, bbox} = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    this.drawing.phases.forEach((phase, i) => {
      const left = plot.valToPos(phase.from, "x", true);
      const right = plot.valToPos(phase.to, "x", true);
      ctx.fillStyle = color(i % 2 === 0 ? "--stripe" : "--stripe-2")();
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
      ctx.fillStyle = color("--muted")();
      ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.textBaseline = "top";
      ctx.fillText(phase.name, Math.max(left, bbox.left) + 4, bbox.top + 3, Math.max(0, right - left - 6));
    });
    ctx.restore();
  }

  private showValues(index: number | null): void {
    const {columns, edges, step, seconds} = this.drawing;
    if (index === null) {
      this.readout.textContent = "";
      return;
    }
    const i = Math.min(index, columns.length - 1);
    const column = columns[i];
    const width = edges[1]! - edges[0]!;
    const when = `${time(edges[i]!, width, seconds)} to ${time(edges[i + 1]!, width, seconds)}`;
    let what = kUnknownWord;
    if (column && column.mean !== null) {
      const text = (steps: number) => watts(steps * step, step);
      what = text(column.mean);
      if (column.doubt !== null) what += ` ±${text(column.doubt)}`;
      if (column.low !== null && column.high !== null) {
        what += `, lowest ${text(column.low)}, highest ${text(column.high)}`;
      }
    }
    const phases = this.drawing.phases
      .filter(({from, to}) => from <= edges[i]! && edges[i]! < to).map(({name}) => name);
    this.readout.textContent = [when, what, ...phases].join(": ");
  }

  private onKey(event: KeyboardEvent): void {
    const {edges, columns, seconds} = this.drawing;
    const {min = 0, max = seconds} = this.plot.scales["x"] ?? {};
    const from = min ?? 0;
    const to = max ?? seconds;
    const index = this.plot.cursor.idx ?? null;
    const move = (target: number) => {
      const i = Math.max(0, Math.min(columns.length - 1, target));
      const middle = (edges[i]! + edges[i + 1]!) / 2;
      if (middle < from || middle > to) {
        const half = (to - from) / 2;
        const center = Math.max(half, Math.min(seconds - half, middle));
        this.plot.setScale("x", {min: center - half, max: center + half});
      }
      // A little after the start of a column, which is the value nearest to the cursor.
      const left = this.plot.valToPos(edges[i]! + (edges[i + 1]! - edges[i]!) * 0.01, "x");
      this.plot.setCursor({left, top: 20});
    };
    const zoom = (factor: number) => {
      const center = index === null ? (from + to) / 2 : edges[Math.min(index, columns.length - 1)]!;
      const length = Math.min(seconds, (to - from) * factor);
      const start = Math.max(0, Math.min(seconds - length, center - length / 2));
      this.plot.setScale("x", {min: start, max: start + length});
    };
    const first = edges.findIndex((edge) => edge >= from);
    switch (event.key) {
      case "ArrowRight": move(index === null ? first : index + (event.shiftKey ? 10 : 1)); break;
      case "ArrowLeft": move(index === null ? first : index - (event.shiftKey ? 10 : 1)); break;
      case "Home": move(0); break;
      case "End": move(columns.length - 1); break;
      case "+": case "=": zoom(0.5); break;
      case "-": zoom(2); break;
      case "0": case "Escape": this.plot.setScale("x", {min: 0, max: seconds}); break;
      default: return;
    }
    event.preventDefault();
  }
}
