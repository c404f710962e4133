// The power of one device over the last minutes, in columns of equal length.
import type {Column} from "../columns";

interface Slot {
  /// The number of the column since 1970.
  number: number;
  sum: number;
  /// Seconds of it that are known.
  known: number;
  low: number;
  high: number;
}

export const kColumnS = 1;
export const kColumns = 300;

/// A column of which less is known counts as unknown.
const kLeastKnown = 0.5;

export const kUnknown: Column = {mean: null, low: null, high: null, doubt: null};

/// Times are Unix seconds of the daemon's clock. Takes the same memory however long it runs.
export class Series {
  private readonly slots: Slot[] = Array.from({length: kColumns + 2}, () => (
    {number: -1, sum: 0, known: 0, low: Infinity, high: -Infinity}));
  private value: number | null = null;
  private at = 0;
  /// The columns that were asked for last, the number after the last of them, and the first that changed since.
  private shown: Column[] = [];
  private shownEnd = 0;
  private changed = 0;

  /// From `time` on the power is `watts`; null: unknown.
  set(time: number, watts: number | null): void {
    this.hold(time);
    this.value = watts;
    this.at = Math.max(this.at, time);
    // A value that holds for a moment alone is an extreme all the same.
    if (watts !== null) this.extend(this.slot(Math.floor(time / kColumnS)), watts);
  }

  /// The last value was still so at `time`.
  hold(time: number): void {
    if (time <= this.at) return;
    // The time before what is kept needs no columns.
    let from = Math.max(this.at, time - (kColumns + 1) * kColumnS);
    this.at = time;
    if (this.value === null) return;
    while (from < time) {
      const number = Math.floor(from / kColumnS + 1e-9);
      const to = Math.min(time, (number + 1) * kColumnS);
      const slot = this.slot(number);
      slot.sum += this.value * (to - from);
      slot.known += to - from;
      this.extend(slot, this.value);
      from = to;
    }
  }

  /// Takes over what another source knows of a column of which nothing is known here.
  fill(start: number, {mean, low, high}: Column): void {
    const number = Math.round(start / kColumnS);
    if (mean === null || this.columnOf(number).mean !== null) return;
    Object.assign(this.slot(number), {
      sum: mean * kColumnS, known: kColumnS, low: low ?? mean, high: high ?? mean,
    });
  }

  /// `count` columns, of which the last one ends at `end`.
  columns(end: number, count: number): Column[] {
    const last = Math.round(end / kColumnS);
    const kept = this.shown.length === count ? Math.min(this.changed, this.shownEnd) : 0;
    const shift = last - this.shownEnd;
    const first = last - count;
    const columns = shift < 0 ? [] : this.shown.slice(shift, Math.max(shift, shift + kept - first));
    while (columns.length < count) columns.push(this.columnOf(first + columns.length));
    this.shown = columns;
    this.shownEnd = last;
    this.changed = last;
    return this.shown;
  }

  private columnOf(number: number): Column {
    const slot = this.slots[number % this.slots.length]!;
    if (slot.number !== number || slot.known < kLeastKnown * kColumnS) return kUnknown;
    return {mean: slot.sum / slot.known, low: slot.low, high: slot.high, doubt: null};
  }

  /// The column, to be changed.
  private slot(number: number): Slot {
    this.changed = Math.min(this.changed, number);
    const slot = this.slots[number % this.slots.length]!;
    if (slot.number !== number) {
      Object.assign(slot, {number, sum: 0, known: 0, low: Infinity, high: -Infinity});
    }
    return slot;
  }

  private extend(slot: Slot, watts: number): void {
    slot.low = Math.min(slot.low, watts);
    slot.high = Math.max(slot.high, watts);
  }
}
