// Reads the values of a plot from its SVG: the drawing is the data, so a page holds each value once.

/// One column of a plot, in the plot's own steps above 0; null: unknown.
export interface Column {
  mean: number | null;
  low: number | null;
  high: number | null;
  /// The mean is uncertain by this much in both directions.
  doubt: number | null;
}

interface Command {
  name: string;
  numbers: number[];
}

/// The commands of a path: "M0 12h3v-4" is M 0 12, h 3, v -4.
export function commandsOf(path: string): Command[] {
  const commands: Command[] = [];
  for (const [, name = "", rest = ""] of path.matchAll(/([MmHhVv])([^MmHhVv]*)/g)) {
    commands.push({name, numbers: (rest.match(/-?\d*\.?\d+/g) ?? []).map(Number)});
  }
  return commands;
}

/// Calls `visit(column, y)` for each column that a line of steps crosses ("M0 500h1v-3h2").
function eachStep(path: string, visit: (column: number, y: number) => void): void {
  let x = 0;
  let y = 0;
  for (const {name, numbers} of commandsOf(path)) {
    const [first = 0, second = 0] = numbers;
    if (name === "M") {
      x = first;
      y = second;
    } else if (name === "v") {
      y += first;
    } else if (name === "h") {
      for (let i = 0; i < first; ++i) visit(x + i, y);
      x += first;
    }
  }
}

/// Calls `visit(column, top, bottom)` for each upright bar ("M.5 400v30m1-35v31").
function eachBar(path: string, visit: (column: number, top: number, bottom: number) => void): void {
  let x = 0;
  let y = 0;
  for (const {name, numbers} of commandsOf(path)) {
    const [first = 0, second = 0] = numbers;
    if (name === "M") {
      x = first;
      y = second;
    } else if (name === "m") {
      x += first;
      y += second;
    } else if (name === "v") {
      visit(Math.floor(x), y, y + first);
      y += first;
    }
  }
}

/// The columns of a plot whose 0 is at `height` steps below the top.
export function readColumns(drawing: Element, count: number, height: number): Column[] {
  const columns: Column[] = [];
  for (let i = 0; i < count; ++i) columns.push({mean: null, low: null, high: null, doubt: null});
  const path = (name: string) => drawing.querySelector(`path.${name}`)?.getAttribute("d") ?? "";
  const at = (i: number, change: Partial<Column>) => Object.assign(columns[i] ?? {}, change);
  eachStep(path("mean"), (i, y) => at(i, {mean: height - y}));
  eachBar(path("range"), (i, top, bottom) => at(i, {low: height - bottom, high: height - top}));
  eachBar(path("doubt"), (i, top, bottom) => at(i, {doubt: (bottom - top) / 2}));
  return columns;
}
