// Reads the text of /metrics.

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const kUnescaped: Record<string, string> = {"\\n": "\n", '\\"': '"', "\\\\": "\\"};

/// Lines that are no sample are left out.
export function readMetrics(text: string): Sample[] {
  const samples: Sample[] = [];
  for (const line of text.split("\n")) {
    const parts = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!parts) continue;
    const [, name = "", list = "", number = ""] = parts;
    const labels: Record<string, string> = {};
    for (const [, key = "", value = ""] of list.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      labels[key] = value.replace(/\\[n"\\]/g, (escape) => kUnescaped[escape] ?? escape);
    }
    const value = Number(number);
    if (Number.isFinite(value)) samples.push({name, labels, value});
  }
  return samples;
}
