// Numbers as people read them.

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
