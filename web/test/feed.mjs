// Plays a daemon at any speed, for a day in minutes: its clock, and what it answers, go `speed` times as fast.
import {readFileSync} from "node:fs";
import {createServer} from "node:http";

const built = new URL("../built/", import.meta.url);
const html = readFileSync(new URL("dashboard.html", built));
const policy = readFileSync(new URL("dashboard.csp", built), "utf8");
const kPackages = [["package_0", 60], ["dram_0", 7.5], ["package_1", 48], ["dram_1", 6]];

export class Feed {
  // A reading per second of its clock. `refuses`: parameters that this daemon does not know.
  constructor({speed, gpus = 2, refuses = []}) {
    Object.assign(this, {speed, refuses, started: Date.now()});
    this.refused = 0;
    this.devices = [...kPackages, ...Array.from({length: gpus}, (_, i) => [`nvidia_gpu_${i}`, 180 + i])];
    this.gpus = gpus;
    this.streams = new Set();
    this.server = createServer((request, response) => this.answer(request, response));
    this.timer = setInterval(() => this.tick(), Math.max(10, 1000 / speed));
    this.ticked = this.nowS;
  }

  get nowS() {
    return this.started / 1000 + ((Date.now() - this.started) / 1000) * this.speed;
  }
  watts(base, time) {
    return base * (1 + 0.4 * Math.sin(time / 900 + base) + 0.1 * Math.sin(time / 7));
  }

  async start() {
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${this.server.address().port}/`;
  }
  close() {
    clearInterval(this.timer);
    this.server.closeAllConnections();
    this.server.close();
  }

  // What was read since the last tick.
  tick() {
    const until = Math.floor(this.nowS);
    for (let time = Math.floor(this.ticked) + 1; time <= until; ++time) {
      const lines = {gpu: "", cpu: ""};
      this.devices.forEach(([domain, base], i) => {
        const [at, mw] = [time * 1000, Math.round(1000 * this.watts(base, time))];
        if (domain.includes("gpu")) lines.gpu += `data: {"timestamp_ms":${at},"gpu_id":${i - kPackages.length},"power_mw":${mw}}\n\n`;
        else if (domain.startsWith("package")) lines.cpu += `data: {"timestamp_ms":${at},"cpu_id":${i / 2},"cpu_mw":${mw},"dram_mw":7000}\n\n`;
      });
      for (const {kind, response} of this.streams) response.write(lines[kind]);
    }
    this.ticked = until;
  }

  answer(request, response) {
    const {pathname, searchParams} = new URL(request.url, "http://localhost");
    if (this.refuses.some((name) => searchParams.has(name))) {
      ++this.refused;
      return response.writeHead(400).end("Query deserialize error: unknown field");
    }
    const json = (value) => response.setHeader("Content-Type", "application/json").end(JSON.stringify(value));
    const kind = /^\/(gpu|cpu)\/stream_power$/.exec(pathname)?.[1];
    if (kind) {
      const stream = {kind, response};
      this.streams.add(stream);
      response.setHeader("Content-Type", "text/event-stream").flushHeaders();
      return response.once("close", () => this.streams.delete(stream));
    }
    const window = {from: Number(searchParams.get("from")), to: Number(searchParams.get("to"))};
    const answers = {
      "/": () => response.setHeader("Content-Security-Policy", policy).setHeader("Content-Type", "text/html").end(html),
      "/time": () => json({timestamp_ms: this.nowS * 1000}),
      "/health": () => json({host: "played", version: "0"}),
      "/api/v1/sensors": () => json({}),
      "/discover": () => json({
        enabled_api_groups: ["gpu-read", "cpu-read"], refused: [],
        gpus: Array.from({length: this.gpus}, (_, id) => ({id, name: "GPU", domain: `nvidia_gpu_${id}`})),
        cpus: [0, 1].map((id) => ({id, dram_available: true, domain: `package_${id}`})),
      }),
      "/metrics": () => response.end(this.metrics()),
      "/api/v1/energy": () => json({...window, domains: this.devices.map(([domain, base]) =>
        ({domain, energy_j: base * (window.to - window.from), uncertainty_j: 0.1, unknown_s: 0}))}),
      "/api/v1/power": () => json(this.power(window, Number(searchParams.get("columns")))),
    };
    const call = answers[pathname];
    if (call) call();
    else response.writeHead(404).end('{"error":"there is no such path"}');
  }

  metrics() {
    const seconds = this.nowS - this.started / 1000;
    return this.devices.map(([domain, base]) =>
      `wattle_sensor_up{domain="${domain}",additive="true"} 1\n` +
      `wattle_energy_joules_total{domain="${domain}"} ${base * seconds}\n` +
      `wattle_energy_joules_created{domain="${domain}"} ${this.started / 1000}\n`).join("");
  }

  power({from, to}, columns) {
    const width = (to - from) / columns;
    const domains = this.devices.map(([domain, base]) => {
      const mean_w = Array.from({length: columns}, (_, i) => this.watts(base, from + i * width));
      return {domain, additive: true, mean_w, uncertainty_w: mean_w.map(() => 0.1), lowest_w: mean_w, highest_w: mean_w};
    });
    return {from, column_s: width, step_s: width, columns, domains};
  }
}

/// A script for a page: its clock goes `speed` times as fast.
export const fastClock = (speed) => `(() => {
  const [start, now] = [Date.now(), Date.now.bind(Date)];
  Date.now = () => start + (now() - start) * ${speed};
  for (const name of ["setTimeout", "setInterval"]) {
    const original = window[name];
    window[name] = (call, ms = 0, ...rest) => original(call, ms / ${speed}, ...rest);
  }
})()`;
