// Who used the energy of a machine: groups of processes, closed to 100 % of each domain.
import {energyParts, kUnknownCell, powerParts} from "../format";
import {make, setText, showList} from "./elements";

/// The answer to /api/v1/shares.
export interface Shares {
  since_unix_s: number;
  domains: ShareDomain[];
  notes: string[];
}
interface ShareDomain {
  domain: string;
  covers: string[];
  energy_uj: number;
  power_w: number | null;
  reason: string | null;
  rows: ShareRow[];
}
interface ShareRow {
  kind: string;
  group: string;
  label: string;
  power_w: number | null;
  energy_uj: number;
  reason: string | null;
  ended: boolean;
}

const kMostRows = 10;
/// Rows that are no group: they come last, and are never part of "more".
const kRests = ["other", "rest", "idle", "unexplained", "undivided", "ended"];
const kKinds: Record<string, string> = {
  pod: "pod", container: "container", slurm_job: "Slurm job", service: "service", scope: "scope", user: "user", cgroup: "control group",
};
const kMicro = 1e-6;

interface Line {
  label: string;
  kind: string;
  watts: number | null;
  joules: number;
  /// In tenths of a percent of the domain's energy; null: it has none yet.
  share: number | null;
  reason: string;
  isRest: boolean;
}

/// Whole numbers next to `parts` that add up to `total`.
function rounded(parts: number[], total: number): number[] {
  const whole = parts.map(Math.floor);
  let rest = total - whole.reduce((sum, each) => sum + each, 0);
  const order = parts.map((part, i) => ({i, rest: part - Math.floor(part)})).sort((a, b) => b.rest - a.rest);
  for (const {i} of order) if (rest-- > 0) whole[i]! += 1;
  return whole;
}

/// The largest groups, all others together, and what is no group.
function linesOf({rows, energy_uj}: ShareDomain): Line[] {
  const isRest = ({kind}: ShareRow) => kRests.includes(kind);
  const hasAny = ({energy_uj: uj, power_w}: ShareRow) => uj > 0 || (power_w ?? 0) > 0;
  const groups = rows.filter((row) => !isRest(row) && hasAny(row)).sort((a, b) => b.energy_uj - a.energy_uj);
  const shown = groups.length > kMostRows + 1 ? groups.slice(0, kMostRows) : groups;
  const hidden = groups.slice(shown.length);
  const line = (row: ShareRow): Line => ({
    label: row.label, kind: `${kKinds[row.kind] ?? ""}${row.ended ? ", ended" : ""}`.replace(/^, /, ""), watts: row.power_w,
    joules: row.energy_uj * kMicro, share: null, reason: row.reason ?? "", isRest: isRest(row),
  });
  const lines = shown.map(line);
  if (hidden.length > 0) {
    const isKnown = hidden.every(({power_w}) => power_w !== null);
    lines.push({
      label: `${hidden.length} more`, kind: "", watts: isKnown ? hidden.reduce((sum, {power_w}) => sum + power_w!, 0) : null,
      joules: hidden.reduce((sum, row) => sum + row.energy_uj, 0) * kMicro, share: null, reason: "", isRest: false,
    });
  }
  lines.push(...rows.filter((row) => isRest(row) && hasAny(row)).map(line));
  if (energy_uj > 0) {
    const shares = rounded(lines.map(({joules}) => (1000 * joules) / (energy_uj * kMicro)), 1000);
    lines.forEach((each, i) => (each.share = shares[i]!));
  }
  return lines;
}

const kHeads = ["Group", "Power", "Energy", "Share"];
/// A few tones of one colour, in turn.
const kTones = 6;

export class SharesPanel {
  readonly element = make("section", "who-uses");
  private readonly title = make("h3", "", "Who uses it");
  private readonly places = make("div", "domains");
  private readonly notes = make("ul", "note");

  constructor() {
    this.element.append(this.title, this.places, this.notes);
    this.element.hidden = true;
  }

  /// `nameOf`: of a domain. Null: the daemon serves no shares.
  show(shares: Shares | null, nameOf: (domain: string) => string, since: (time: number) => string): void {
    this.element.hidden = shares === null;
    if (!shares) return;
    setText(this.title, `Who uses it, since ${since(shares.since_unix_s)}`);
    showList(this.places, shares.domains, makeDomain, (place, domain) => showDomain(place, domain, nameOf));
    showList(this.notes, shares.notes, () => make("li"), (place, note) => setText(place, note));
  }
}

function makeDomain(): HTMLElement {
  const place = make("div", "shared");
  const bar = make("div", "shares");
  bar.setAttribute("aria-hidden", "true");
  const table = make("table");
  const head = make("tr");
  kHeads.forEach((text, i) => {
    const cell = make("th", i === 0 ? "" : "number", text);
    cell.setAttribute("scope", "col");
    head.append(cell);
  });
  table.append(make("caption"), make("thead"), make("tbody"), make("tfoot"));
  table.tHead!.append(head);
  place.append(make("h4"), bar, table);
  return place;
}

function showDomain(place: HTMLElement, domain: ShareDomain, nameOf: (domain: string) => string): void {
  const name = domain.domain === "cpu" ? "CPUs and memory" : nameOf(domain.domain);
  const [title, bar, table] = [...place.children] as [HTMLElement, HTMLElement, HTMLTableElement];
  const lines = linesOf(domain);
  place.className = `shared ${/gpu/.test(domain.domain) ? "gpu" : "cpu"}`;
  setText(title, name);
  setText(table.caption!, `Who used the energy of ${name}`);
  showList(bar, lines, () => make("span"), (part, {share, isRest}, i) => {
    part.className = isRest ? "rest" : `tone-${i % kTones}`;
    part.style.width = `${(share ?? 0) / 10}%`;
  });
  showList(table.tBodies[0]!, lines, makeLine, (row, line, i) => {
    const [head, ...cells] = [...row.children] as HTMLElement[];
    const [dot, label, kind, reason] = [...head!.children] as HTMLElement[];
    dot!.className = `dot ${line.isRest ? "rest" : `tone-${i % kTones}`}`;
    setText(label!, line.label);
    setText(kind!, line.kind);
    setText(reason!, line.reason);
    textsOf(line.watts, line.joules, line.share).forEach((text, column) => setText(cells[column]!, text));
  });
  showList(table.tFoot!, [domain], makeLine, (row) => {
    const [head, ...cells] = [...row.children] as HTMLElement[];
    setText(head!.children[1]!, "all");
    setText(head!.children[3]!, domain.reason ?? "");
    textsOf(domain.power_w, domain.energy_uj * kMicro, domain.energy_uj > 0 ? 1000 : null)
      .forEach((text, column) => setText(cells[column]!, text));
  });
}

function makeLine(): HTMLElement {
  const row = make("tr");
  const head = make("th");
  head.setAttribute("scope", "row");
  head.append(make("span", "dot"), make("span"), make("span", "kind"), make("span", "reason"));
  row.append(head, make("td", "number"), make("td", "number"), make("td", "number"));
  return row;
}

function textsOf(watts: number | null, joules: number, share: number | null): string[] {
  return [
    watts === null ? kUnknownCell : powerParts(watts).join(" "), energyParts(joules).join(" "),
    share === null ? kUnknownCell : `${(share / 10).toFixed(1)} %`,
  ];
}
