// Numbers as people read them.

/// An unknown value in a sentence.
export const kUnknownWord = "unknown";
/// An unknown value in a cell of a table.
export const kUnknownCell = "-";

/// At most as many decimals as `step` has.
export function decimalsOf(step: number): number {
  return Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
}

export function watts(value: number, step: number): string {
  return value >= 10000 ? `${(value / 1000).toFixed(2)} kW` : `${value.toFixed(decimalsOf(step))} W`;
}

/// "0.25 s", "12 s", "3:05", "1:02:30": `step` is the distance to the next time shown.
export function time(seconds: number, step: number, longest: number): string {
  const decimals = Math.min(6, decimalsOf(step));
  if (longest < 60) return `${seconds.toFixed(decimals)} s`;
  const whole = Math.floor(seconds + 1e-9);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (longest < 3600) parts.shift();
  const text = parts.map((part, i) => (i === 0 ? `${part}` : `${part}`.padStart(2, "0"))).join(":");
  return decimals > 0 ? text + (seconds - whole).toFixed(decimals).slice(1) : text;
}

function significant(value: number): string {
  const decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return value.toFixed(decimals);
}

function scaled(value: number, units: [string, number][]): [string, string] {
  const [unit, size] = units.find(([, each]) => value >= 0.9995 * each) ?? units[units.length - 1]!;
  return [significant(value / size), unit];
}

/// Number and unit, with three digits at least, but none finer than `step`.
export function powerParts(value: number, step = 0): [string, string] {
  if (value >= 10000) return [(value / 1000).toFixed(2), "kW"];
  return [step > 0 ? value.toFixed(Math.min(decimalsOf(step), 2)) : significant(value), "W"];
}
export function energyParts(joules: number): [string, string] {
  return scaled(joules, [["GJ", 1e9], ["MJ", 1e6], ["kJ", 1e3], ["J", 1]]);
}
export function wattHours(joules: number): string {
  return scaled(joules / 3600, [["MWh", 1e6], ["kWh", 1e3], ["Wh", 1], ["mWh", 1e-3]]).join(" ");
}
export function gibibytes(bytes: number): string {
  return significant(bytes / 2 ** 30);
}

/// "12 s", "3 min", "2 h 5 min".
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  const minutes = Math.floor(whole / 60) % 60;
  return `${Math.floor(whole / 3600)} h${minutes > 0 ? ` ${minutes} min` : ""}`;
}
