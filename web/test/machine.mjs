// A machine with two CPU packages and their memory, as files of powercap whose counters go on like those
// of real ones: the program under test reads these.
import {closeSync, mkdtempSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";

const kZones = [
  ["intel-rapl:0", "package-0", 40],
  ["intel-rapl:0:0", "dram", 6],
  ["intel-rapl:1", "package-1", 25],
  ["intel-rapl:1:0", "dram", 4],
];
const kUpdateMs = 5;

export class Machine {
  // `steady`: a load that stays, so that the energy of a run goes with its time. `slow`: one that changes over
  // minutes.
  constructor({steady = false, slow = false} = {}) {
    Object.assign(this, {steady, slow});
    this.folder = mkdtempSync(join(tmpdir(), "wattle-web-"));
    this.sysfs = join(this.folder, "sys");
    this.zones = kZones.map(([zone, name, watts]) => {
      const folder = join(this.sysfs, "class/powercap", zone);
      mkdirSync(folder, {recursive: true});
      writeFileSync(join(folder, "name"), `${name}\n`);
      writeFileSync(join(folder, "max_energy_range_uj"), "262143328850\n");
      writeFileSync(join(folder, "energy_uj"), "1000000\n");
      return {fd: openSync(join(folder, "energy_uj"), "r+"), watts, energyUj: 1_000_000};
    });
    this.start = this.last = performance.now();
    this.timer = setInterval(() => this.advance(), kUpdateMs);
  }

  // A load that rises and falls.
  advance() {
    const now = performance.now();
    const past = now - this.start;
    const wave = 1 + Math.sin(past / 300) + (past % 1000 < 200 ? 1.5 : 0);
    const tide = 1.3 + 0.6 * Math.sin(past / 13_000) + 0.2 * Math.sin(past / 2900) + (past % 70_000 < 14_000 ? 0.9 : 0);
    const load = this.steady ? 1 : this.slow ? tide : wave;
    for (const zone of this.zones) {
      zone.energyUj += (now - this.last) * 1000 * zone.watts * load;
      // At once, and never shorter than before: no reader sees a part.
      writeSync(zone.fd, `${Math.round(zone.energyUj)}\n`, 0);
    }
    this.last = now;
  }

  // The first package spends so much between two readings.
  burst(joules) {
    this.zones[0].energyUj += joules * 1e6;
    this.advance();
  }

  close() {
    clearInterval(this.timer);
    for (const zone of this.zones) closeSync(zone.fd);
    rmSync(this.folder, {recursive: true});
  }
}
