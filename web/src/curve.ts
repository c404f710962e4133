// The plot of a power over time: the one of reports and of the daemon's page.
import uPlot from "uplot";

import type {Column} from "./columns";
import {watts} from "./format";

/// Columns side by side: each holds from its edge to the next one.
export interface Course {
  columns: readonly Column[];
  /// Where each column starts, and where the last one ends, in seconds.
  edges: readonly number[];
  /// What one step of a column is in watts.
  step: number;
}

export interface CurveOptions {
  /// Plots of one group show the same time under the pointer.
  group: string;
  /// Names of colours in the style of the page.
  line: string;
  range: string;
  /// Between the line and 0; absent: nothing.
  area?: string;
  canZoom: boolean;
  height?: number;
  /// What is shown of the times from `min` to `max`.
  rangeX: (min: number, max: number) => [number, number];
  /// The text of a time; `step` is the distance to the next one.
  labelX: (time: number, step: number) => string;
  /// The top of the plot, in watts.
  top: () => number;
  drawBelow?: (plot: uPlot) => void;
  /// Called with the column under the pointer; null: none.
  pointed?: (index: number | null) => void;
  zoomed?: (from: number, to: number) => void;
}

const kHeight = 180;
const kIncrements = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
  1800, 3600, 7200, 14400, 21600, 43200, 86400,
];

/// Colours of the page by their names. To ask for one makes the browser compute the style of what has changed.
const colors = new Map<string, string>();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => colors.clear());

export const color = (name: string) => (): string => {
  const known = colors.get(name);
  if (known !== undefined) return known;
  const value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  colors.set(name, value);
  return value;
};

/// The values of uPlot: the last one is held to the end of its column.
function dataOf({columns, edges, step}: Course): uPlot.AlignedData {
  const held = (value: (column: Column) => number | null) => {
    const values = columns.map((column) => {
      const steps = value(column);
      return steps === null ? null : steps * step;
    });
    return [...values, values[values.length - 1] ?? null];
  };
  const around = (sign: number) => (column: Column) =>
    column.mean === null || column.doubt === null ? null : column.mean + sign * column.doubt;
  return [[...edges], held((c) => c.high), held((c) => c.low), held(around(1)), held(around(-1)),
          held((c) => c.mean)];
}

/// After a gap the line would start with the rise from the value before it.
const withoutRisers: uPlot.Series.GapsRefiner = (_, __, ___, ____, gaps) =>
  gaps.map(([from, to]) => [from, to + devicePixelRatio]);

export class Curve {
  readonly plot: uPlot;
  private readonly observer = new ResizeObserver(() => this.fit());

  constructor(private readonly place: HTMLElement, private readonly options: CurveOptions, course: Course) {
    this.plot = new uPlot(this.uPlotOptions(), dataOf(course), place);
    this.fit();
    this.observer.observe(place);
  }

  /// Takes it out of the page.
  remove(): void {
    this.observer.disconnect();
    this.plot.destroy();
  }

  /// As wide as its place.
  fit(): void {
    const {clientWidth: width} = this.place;
    const height = this.options.height ?? kHeight;
    if (width > 0 && (width !== this.plot.width || height !== this.plot.height)) {
      this.plot.setSize({width, height});
    }
  }

  show(course: Course): void {
    this.plot.setData(dataOf(course));
  }

  /// Puts the cursor at a time, in all plots of the group.
  point(time: number): void {
    // The types of uPlot 1.6 lack its last parameter.
    const setCursor = this.plot.setCursor as (at: {left: number; top: number}, fires: boolean, publishes: boolean) => void;
    setCursor({left: this.plot.valToPos(time, "x"), top: 20}, true, true);
  }

  private uPlotOptions(): uPlot.Options {
    const {options} = this;
    const stepped = uPlot.paths.stepped?.({align: 1});
    const bare: uPlot.Series = {paths: stepped, points: {show: false}};
    const axis: uPlot.Axis = {
      stroke: color("--muted"), grid: {stroke: color("--rule"), width: 1},
      ticks: {show: false}, font: "12px system-ui, sans-serif",
    };
    return {
      width: 400, height: options.height ?? kHeight,
      legend: {show: false},
      cursor: {
        sync: {key: options.group, scales: ["x", null]},
        y: options.canZoom, drag: {x: options.canZoom, y: false, setScale: options.canZoom}, points: {show: false},
      },
      scales: {x: {time: false, range: (_, min, max) => options.rangeX(min, max)},
               y: {range: () => [0, options.top()]}},
      axes: [
        {...axis, incrs: kIncrements, space: 64, size: 28,
         values: (_, splits, __, ___, step) => splits.map((split) => options.labelX(split, step))},
        {...axis, size: 64, space: 26, values: (_, splits, __, ___, step) => splits.map((split) => watts(split, Math.min(step, 1)))},
      ],
      series: [
        {}, bare, bare, bare, bare,
        {...bare, stroke: color(options.line), width: 1.5, gaps: withoutRisers, ...(options.area ? {fill: color(options.area)} : {})},
      ],
      bands: [{series: [1, 2], fill: color(options.range)}, {series: [3, 4], fill: color("--doubt")}],
      hooks: {
        drawClear: [(plot) => options.drawBelow?.(plot)],
        setCursor: [(plot) => options.pointed?.(plot.cursor.idx ?? null)],
        setScale: [(plot, name) => {
          const {min, max} = plot.scales["x"] ?? {};
          if (name === "x" && min != null && max != null) options.zoomed?.(min, max);
        }],
      },
    };
  }
}
