// node test/cost.mjs WATTLED NVML [--browser CHROMIUM] [--only paint,page,pages,day] [--seconds 20]
//
// Prints what the page of a daemon costs:
//   paint  the time until a browser on this machine shows it, the median of 7
//   page   the processor time of the browser, all its processes: 32 devices, each 10 times a second
//   pages  the processor time and the memory of the daemon with 0, 50 and 200 open pages: each is a set of connections
//          with the streams and requests of a page
//   day    the memory of a page that is left open for a day, of a daemon that is played (feed.mjs) 600 times as fast
// The processor time of a busy machine is higher than that of a quiet one. NVML: the fake one of the tests.
import {execFileSync} from "node:child_process";
import {readdirSync, readFileSync} from "node:fs";
import {Agent, get} from "node:http";
import {parseArgs} from "node:util";

import {Browser} from "./browser.mjs";
import {Daemon} from "./daemon.mjs";
import {fastClock, Feed} from "./feed.mjs";
import {Machine} from "./machine.mjs";

const {values: options, positionals: [wattled, nvml]} = parseArgs({
  allowPositionals: true,
  options: {browser: {type: "string", default: "/usr/bin/chromium"}, only: {type: "string", default: "paint,page,pages,day"},
            seconds: {type: "string", default: "20"}},
});
if (!nvml) throw new Error("usage: node test/cost.mjs WATTLED NVML [--browser CHROMIUM] [--only LIST] [--seconds N]");
const kSeconds = Number(options.seconds);
const kGpus = 28;
const kDaySpeed = 600;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

// 28 GPUs; the 4 CPU devices are those of Machine.
const gpus = Array.from({length: kGpus}, (_, i) => {
  const curve = Array.from({length: 600}, (_, s) => `${s} ${Math.round(180 + 90 * Math.sin(s / 7 + i) + 20 * Math.sin(s * 1.7))}`);
  return `gpu NVIDIA H100 PCIe\nuuid GPU-${i}\npci 0000:${(16 + i).toString(16)}:00\npower linear ${curve.join(" ")}\nlimit 310 350\n` +
    "counter 500000\n";
}).join("");

const statOf = (pid) => {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
};
// A process and its descendants.
function processesOf(root) {
  const children = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const parent = statOf(pid)[1];
      children.set(parent, [...(children.get(parent) ?? []), pid]);
    } catch {}
  }
  const all = [String(root)];
  for (let i = 0; i < all.length; ++i) all.push(...(children.get(all[i]) ?? []));
  return all;
}
// Nanoseconds of all threads that live.
function cpuOf(pid) {
  let sum = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    sum += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]);
  }
  return sum;
}
const cpuOfTree = (root) => processesOf(root).reduce((sum, pid) => {
  try {
    return sum + cpuOf(pid);
  } catch {
    return sum;
  }
}, 0);
const residentMib = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

// Percent of a core.
async function cost(cpu, seconds) {
  const [before, start] = [cpu(), process.hrtime.bigint()];
  await pause(1000 * seconds);
  return (100 * (cpu() - before)) / Number(process.hrtime.bigint() - start);
}

async function measurePaint(browser, url) {
  const times = [];
  for (let i = 0; i < 7; ++i) {
    const page = await browser.open(url);
    await pause(1500);
    times.push(await page.evaluate(`() => performance.getEntriesByName("first-contentful-paint")[0].startTime`));
    await page.close();
  }
  console.log(`first paint: ${median(times).toFixed(0)} ms after the start of loading`);
}

async function measurePage(browser, url) {
  for (const [width, height] of [[1280, 900], [2560, 1440]]) {
    const page = await browser.open(url, {width, height});
    // What it reports to this program costs the browser, too.
    await page.send("Network.disable");
    await pause(6000);
    const shown = await page.evaluate(`() => document.querySelectorAll("#rows tr").length`);
    const percent = await cost(() => cpuOfTree(browser.process.pid), kSeconds);
    console.log(`a page of ${width}x${height} with ${shown} devices: ${percent.toFixed(2)} % of a core`);
    await page.close();
  }
}

// The connections of a page: two streams, and its requests on kept connections.
class OpenPage {
  constructor(url) {
    this.url = url;
    this.agent = new Agent({keepAlive: true, maxSockets: 4});
    this.streams = ["gpu", "cpu"].map((kind) => get(`${url}${kind}/stream_power?hold_ms=500`, (response) => response.resume()).on("error", () => {}));
    this.timers = [[2000, () => "metrics?max_age=2"], [5000, () => {
      const last = Math.floor(Date.now() / 1000) - 1;
      const to = last - (last % 5);
      return `api/v1/energy?from=${to - 1 - ((to - 1) % 60)}&to=${to}&max_age=5`;
    }]].map(([ms, path]) => {
      const ask = () => get(url + path(), {agent: this.agent}, (response) => response.resume()).on("error", () => ++OpenPage.failed);
      return setTimeout(() => {
        ask();
        this.intervals.push(setInterval(ask, ms));
      }, Math.random() * ms);
    });
    this.intervals = [];
  }
  close() {
    for (const timer of this.timers) clearTimeout(timer);
    for (const timer of this.intervals) clearInterval(timer);
    for (const stream of this.streams) stream.destroy();
    this.agent.destroy();
  }
}
OpenPage.failed = 0;

async function measurePages(daemon, url) {
  for (const count of [0, 50, 200]) {
    const pages = Array.from({length: count}, () => new OpenPage(url));
    await pause(5000);
    const percent = await cost(() => cpuOf(daemon.process.pid), kSeconds);
    console.log(`the daemon with ${count} pages: ${percent.toFixed(2)} % of a core, ${residentMib(daemon.process.pid).toFixed(1)} MiB, ` +
      `${OpenPage.failed} requests failed`);
    for (const page of pages) page.close();
    await pause(1000);
  }
}

async function measureDay(browser) {
  const feed = new Feed({speed: kDaySpeed});
  const url = await feed.start();
  const page = await browser.open("about:blank");
  await page.send("Network.disable");
  await page.prepare(fastClock(kDaySpeed));
  await page.go(url);
  const heaps = [];
  for (let hour = 1; hour <= 24; ++hour) {
    await pause((3600 * 1000) / kDaySpeed);
    await page.send("HeapProfiler.collectGarbage");
    const {usedSize} = await page.send("Runtime.getHeapUsage");
    const {nodes} = await page.send("Memory.getDOMCounters");
    heaps.push({hour, mib: usedSize / 2 ** 20, nodes});
  }
  const text = ({hour, mib, nodes}) => `after ${hour} h ${mib.toFixed(2)} MiB and ${nodes} nodes`;
  console.log(`a page left open: ${[1, 2, 6, 12, 18, 24].map((hour) => text(heaps[hour - 1])).join(", ")}; ` +
    `it shows "${await page.evaluate(`() => document.getElementById("summary").textContent`)}"`);
  await page.close();
  feed.close();
}

const wants = (what) => options.only.split(",").includes(what);
const machine = new Machine({slow: true});
// Of a machine whose GPUs stream 10 times a second, as its CPUs do.
const daemon = new Daemon(wattled, {sysfs: machine.sysfs, nvml, gpus, words: [
  "--history", "3600", "--gpu-power-poll-hz", "10", "--public-cpu-period", "0"]});
let browser;
try {
  const url = await daemon.start();
  console.log(`${execFileSync("nproc", {encoding: "utf8"}).trim()} cores, load ${readFileSync("/proc/loadavg", "utf8").split(" ")[0]}`);
  if (wants("pages")) await measurePages(daemon, url);
  browser = await Browser.start(options.browser);
  if (wants("paint")) await measurePaint(browser, url);
  if (wants("page")) await measurePage(browser, url);
  if (wants("day")) await measureDay(browser);
} finally {
  await browser?.close();
  await daemon.close();
  machine.close();
}
