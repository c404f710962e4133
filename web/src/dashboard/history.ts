// The power of the past: what the daemon answers, and sums of columns.
import type {Column} from "../columns";
import {kUnknown} from "./series";

/// The answer to /api/v1/power.
export interface History {
  from: number;
  column_s: number;
  step_s: number;
  columns: number;
  domains: {
    domain: string; additive: boolean; mean_w: (number | null)[]; uncertainty_w: (number | null)[];
    lowest_w: (number | null)[]; highest_w: (number | null)[];
  }[];
}

/// What a plot shows: `columns` of `width` seconds from `start` on.
export interface Span {
  start: number;
  width: number;
  count: number;
}

/// A part of the past of one machine.
export interface Past {
  span: Span;
  columns: Map<string, Column[]>;
}

/// Where one of the devices is unknown, so is the sum, and likewise its ±; those that are unknown
/// throughout are left out.
export function sumOf(devices: Column[][], count: number): Column[] {
  const known = devices.filter((columns) => columns.some(({mean}) => mean !== null));
  return Array.from({length: count}, (_, i) => {
    const start = known.length > 0 ? 0 : null;
    const sum: Column = {mean: start, low: null, high: null, doubt: start};
    for (const columns of known) {
      const {mean = null, doubt = null} = columns[i] ?? {};
      sum.mean = mean === null || sum.mean === null ? null : sum.mean + mean;
      sum.doubt = doubt === null || sum.doubt === null ? null : Math.hypot(sum.doubt, doubt);
    }
    return sum;
  });
}

/// The columns of each domain.
export function columnsOf(history: History): Map<string, Column[]> {
  return new Map(history.domains.map(({domain, ...lists}) => [domain, Array.from({length: history.columns}, (_, i): Column => ({
    mean: lists.mean_w[i] ?? null, low: lists.lowest_w[i] ?? null,
    high: lists.highest_w[i] ?? null, doubt: lists.uncertainty_w[i] ?? null,
  }))]));
}

/// An answer for the `seconds` before `to`. What is before the history is unknown: it keeps its place.
export function pastOf(history: History, seconds: number, to: number): Past {
  const count = Math.min(1000, Math.round(seconds / history.column_s));
  const lead = Math.max(0, count - history.columns);
  const columns = new Map([...columnsOf(history)].map(([domain, list]) =>
    [domain, [...Array.from({length: lead}, () => kUnknown), ...list]]));
  const start = history.columns > 0 ? history.from - lead * history.column_s : to - seconds;
  return {span: {start, width: history.column_s, count: lead + history.columns}, columns};
}
