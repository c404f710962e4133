// A plot that can be zoomed and read off, in place of a drawing.
import uPlot from "uplot";

import {type Column, readColumns} from "./columns";
import {time, watts} from "./format";

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

const kHeight = 180;
const kIncrements = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
  1800, 3600, 7200, 14400, 21600, 43200, 86400,
];

const color = (name: string) => () =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

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

/// The values of uPlot: the last one is held to the end of its column.
function dataOf({columns, edges, step}: Drawing): uPlot.AlignedData {
  const held = (value: (column: Column) => number | null) => {
    const values = columns.map((column) => {
      const steps = value(column);
      return steps === null ? null : steps * step;
    });
    return [...values, values[values.length - 1] ?? null];
  };
  const around = (sign: number) => (column: Column) =>
    column.mean === null || column.doubt === null ? null : column.mean + sign * column.doubt;
  return [edges, held((c) => c.high), held((c) => c.low), held(around(1)), held(around(-1)),
          held((c) => c.mean)];
}

export class LivePlot {
  readonly element: HTMLElement;
  private readonly readout: HTMLElement;
  private readonly drawing: Drawing;
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
    figure: HTMLElement, drawing: Drawing, private readonly group: string,
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
    this.plot = new uPlot(this.options(), dataOf(drawing), this.element);
    figure.classList.add("is-live");
    this.plot.setSize({width: this.element.clientWidth, height: kHeight});
    new ResizeObserver(() =>
      this.plot.setSize({width: this.element.clientWidth, height: kHeight})).observe(this.element);
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

  private options(): uPlot.Options {
    const {seconds, top} = this.drawing;
    const stepped = uPlot.paths.stepped?.({align: 1});
    const bare: uPlot.Series = {paths: stepped, points: {show: false}};
    const axis: uPlot.Axis = {
      stroke: color("--muted"), grid: {stroke: color("--rule"), width: 1},
      ticks: {show: false}, font: "12px system-ui, sans-serif",
    };
    return {
      width: 400, height: kHeight,
      legend: {show: false},
      cursor: {sync: {key: this.group, scales: ["x", null]}, drag: {x: true, y: false}, points: {show: false}},
      scales: {x: {time: false, range: (_, min, max) => [Math.max(0, min), Math.min(seconds, max)]},
               y: {range: [0, top]}},
      axes: [
        {...axis, incrs: kIncrements, space: 64, size: 28,
         values: (_, splits, __, ___, step) => splits.map((split) => time(split, step, seconds))},
        {...axis, size: 64, space: 26, values: (_, splits) => splits.map((split) => watts(split, 1))},
      ],
      series: [
        {}, bare, bare, bare, bare,
        {...bare, stroke: color("--line"), width: 1.5, points: {show: false}},
      ],
      bands: [{series: [1, 2], fill: color("--range")}, {series: [3, 4], fill: color("--doubt")}],
      hooks: {
        drawClear: [(plot) => this.drawPhases(plot)],
        setCursor: [(plot) => this.showValues(plot.cursor.idx ?? null)],
        setScale: [(plot, name) => {
          const {min, max} = plot.scales["x"] ?? {};
          if (name === "x" && min != null && max != null) this.zoomed(min, max);
        }],
      },
    };
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
    let what = "unknown";
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
