// A plot of power in the page: of one device, or of all.
import type {Column} from "../columns";
import {Curve} from "../curve";
import {kUnknownWord, powerParts} from "../format";
import {setText} from "./elements";
import type {Span} from "./history";
import type {Category} from "./model";

export const powerText = (watts: number) => powerParts(watts).join(" ");

// To make one takes longer than to use it.
const kMinutes = new Intl.DateTimeFormat(undefined, {hour: "2-digit", minute: "2-digit", hourCycle: "h23"});
const kSeconds = new Intl.DateTimeFormat(undefined, {hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23"});
const kDays = new Intl.DateTimeFormat(undefined, {
  day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23",
});

/// Clock time, with seconds where they matter.
export function clock(time: number, step: number): string {
  return (step < 60 ? kSeconds : kMinutes).format(time * 1000);
}

/// Clock time, with the date unless it is that of today.
export function moment(time: number): string {
  const isToday = new Date(time * 1000).toDateString() === new Date().toDateString();
  return isToday ? clock(time, 60) : kDays.format(time * 1000);
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
  remove(): void {
    this.curve.remove();
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
    let what = kUnknownWord;
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
