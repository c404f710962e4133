// Energies since the page was opened: of the daemon's history, with their ±, or of its counters.

/// The ± (k = 2) of a sum: parts that come back add up with their signs, the rest in squares. `common`: the part of a
/// ± that comes back.
export function doubtOf(parts: {doubt: number; common: number}[]): {doubt: number; common: number} {
  let [independent, common] = [0, 0];
  for (const part of parts) {
    const signed = Math.max(-part.doubt, Math.min(part.doubt, part.common));
    independent += part.doubt ** 2 - signed ** 2;
    common += signed;
  }
  return {doubt: Math.hypot(Math.sqrt(independent), common), common};
}

/// In the order in which they come, each once.
export const together = (...flags: string[][]): string[] => [...new Set(flags.flat())];

/// `joules` null: not known, for the `reason`.
export interface Energy {
  joules: number | null;
  /// Of the sampling, k = 2; null: nobody computed it.
  doubt: number | null;
  /// The part of `doubt` that comes back, with its sign.
  common: number;
  flags: string[];
  /// Some of it is missing.
  isAtLeast: boolean;
  reason: string;
}

/// A counter that goes on from where the page was opened, also where the daemon starts it again.
export class EnergyCount {
  private first: number | null = null;
  private last = 0;
  private created: number | null = null;
  private before = 0;
  private unknownS = 0;
  private isAtLeast = false;

  take(joules: number, created: number | null, unknownS: number): void {
    const isNew = this.first === null;
    const hasRestarted = !isNew && (joules < this.last || created !== this.created);
    if (hasRestarted) {
      this.before += this.last - (this.first ?? 0);
      this.isAtLeast = true;
    }
    if (isNew || hasRestarted) {
      this.first = joules;
      this.unknownS = unknownS;
    }
    this.last = joules;
    this.created = created;
    if (unknownS > this.unknownS + 0.5) this.isAtLeast = true;
  }

  restart(): void {
    this.first = null;
    this.before = 0;
    this.isAtLeast = false;
  }

  get energy(): Energy {
    const joules = this.first === null ? null : this.before + this.last - this.first;
    return {joules, doubt: null, common: 0, flags: [], isAtLeast: this.isAtLeast, reason: ""};
  }
}

/// The answer to /api/v1/energy.
export interface EnergyAnswer {
  from: number;
  to: number;
  domains: {
    domain: string; energy_j: number | null; uncertainty_j: number | null; unknown_s: number; flags?: string[];
    /// Null where it is hidden; older daemons do not have it.
    common_j?: number | null;
  }[];
}

/// What a sum has of some windows, one after the other.
interface Sum {
  joules: number;
  doubt: number;
  common: number;
  flags: string[];
  unknownS: number;
  isKnown: boolean;
}

const kNothing: Sum = {joules: 0, doubt: 0, common: 0, flags: [], unknownS: 0, isKnown: false};
/// Windows are closed at whole minutes: the daemon's history may be short.
const kWindowS = 60;
/// How far apart the ends of an open window are.
const kStepS = 5;
/// More unknown time than the ends of a window have.
const kUnknownS = 0.5;

/// The energy of a daemon's history, from one time on, in windows that it can still answer.
export class EnergyWindows {
  private start = 0;
  /// Of the first window.
  private begin = 0;
  /// Of the open window.
  private end = 0;
  private readonly closed = new Map<string, Sum>();
  private open = new Map<string, Sum>();

  /// Counts from `time` on, in Unix seconds of the daemon.
  restart(time: number): void {
    this.begin = this.start = this.end = Math.ceil(time);
    this.closed.clear();
    this.open.clear();
  }

  /// The window to ask for at `now`; null: none yet. From the first whole minute on all pages ask for the same windows,
  /// so that the daemon computes each once.
  next(now: number): {from: number; to: number} | null {
    // What was read in the last second may not have arrived.
    const last = Math.floor(now - 1);
    const minute = last - (last % kWindowS);
    const isShared = this.start % kWindowS === 0;
    const to = minute > this.start ? minute : isShared ? last - (last % kStepS) : last;
    return this.start > 0 && to > this.start ? {from: this.start, to} : null;
  }

  /// The answer for the window that starts at `asked`. A daemon may round its ends down. True if the window is closed.
  take(answer: EnergyAnswer, asked: number): boolean {
    // Counting has started again since.
    if (asked !== this.start) return false;
    if (this.begin === this.start) this.begin = answer.from;
    this.start = answer.from;
    this.end = answer.to;
    this.open = new Map(answer.domains.map(({domain, energy_j, uncertainty_j, common_j, flags = [], unknown_s}) => [domain, {
      joules: energy_j ?? 0, doubt: uncertainty_j ?? 0, common: common_j ?? 0, flags, unknownS: unknown_s,
      isKnown: energy_j !== null,
    }]));
    const isOver = answer.to - answer.from >= kWindowS || answer.to % kWindowS === 0;
    if (isOver) this.close();
    return isOver;
  }

  /// Keeps what is known so far, also if the daemon forgets it.
  close(): void {
    if (this.open.size === 0) return;
    for (const domain of new Set([...this.open.keys(), ...this.closed.keys()])) this.closed.set(domain, this.sum(domain));
    this.open.clear();
    this.start = this.end;
  }

  /// The time that the energies are of, in seconds; 0: there are none yet.
  get seconds(): number {
    return this.end - this.begin;
  }

  /// Null: the history has nothing of this domain.
  energyOf(domain: string): Energy | null {
    const {isKnown, unknownS, ...sum} = this.sum(domain);
    return isKnown ? {...sum, isAtLeast: unknownS > kUnknownS, reason: ""} : null;
  }

  private sum(domain: string): Sum {
    const [first, second] = [this.closed.get(domain) ?? kNothing, this.open.get(domain) ?? kNothing];
    const {doubt, common} = doubtOf([first, second]);
    return {
      joules: first.joules + second.joules, doubt, common, flags: together(first.flags, second.flags),
      unknownS: first.unknownS + second.unknownS, isKnown: first.isKnown || second.isKnown,
    };
  }
}
