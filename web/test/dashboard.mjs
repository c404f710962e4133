// node test/dashboard.mjs WATTLED NVML [--browser CHROMIUM] [--images FOLDER] [--only WORDS]
//
// Opens the page of a daemon whose devices are made up, and fails where one of these is not so: its values are
// those of the devices; names of devices are text; a token is asked for once and kept nowhere; what is cut off
// is shown as unknown, comes back, and leaves a gap; pause, pointer, keys and the history work; nothing is written to
// the console; nothing is asked of anybody else; several machines are kept apart, and added; axe finds nothing, in
// light and in dark, on a phone too.
// NVML: the fake one of the tests. --images writes pictures for the docs instead.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {createHmac} from "node:crypto";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {createServer} from "node:net";
import {join} from "node:path";
import {parseArgs} from "node:util";

import {Browser} from "./browser.mjs";
import {Daemon, gpusOf} from "./daemon.mjs";
import {Feed} from "./feed.mjs";
import {Machine} from "./machine.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const {values: options, positionals: [wattled, nvml]} = parseArgs({
  allowPositionals: true,
  options: {browser: {type: "string", default: "/usr/bin/chromium"}, images: {type: "string"}, only: {type: "string", default: ""}},
});
if (!nvml) throw new Error("usage: node test/dashboard.mjs WATTLED NVML [--browser CHROMIUM] [--images FOLDER]");

const hostile = `</script><script>document.title="taken over"</script><b onmouseover=alert(1)>"'&`;
const kPatienceMs = 20_000;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// What `source`, a function, returns in the page, once it is true.
async function eventually(page, source, why) {
  for (const start = Date.now(); Date.now() - start < kPatienceMs; await pause(100)) {
    // A page that is loaded again has no answer meanwhile.
    const value = await page.evaluate(source).catch((error) => {
      if (!/navigated|context was destroyed|Cannot find context/.test(error.message)) throw error;
    });
    if (value) return value;
  }
  throw new Error(`never so: ${why}; the page shows: ${await page.evaluate("() => document.body.innerText")}`);
}

const isLive = (page) => eventually(page, `() => document.getElementById("state").textContent === "Live" &&
  document.querySelectorAll("#rows tr").length === 6 && document.getElementById("total").textContent.includes("W") &&
  [...document.querySelectorAll("#rows tr")].every((row) => row.children[1].textContent !== "-")`,
  "the page is live, with a value of each device");
const rows = (page) => page.evaluate(`() => Object.fromEntries([...document.querySelectorAll("#rows tr")].map((row) =>
  [row.children[0].textContent, [...row.children].slice(1).map((cell) => cell.textContent)]))`);

function expectQuiet(page, url) {
  assert.deepEqual(page.messages, [], "the console has messages");
  const elsewhere = page.requests.filter((request) => !request.startsWith(url) && !request.startsWith("data:"));
  assert.deepEqual(elsewhere, [], "something was asked of others");
}

async function findings(page) {
  await page.inject(axe);
  return page.evaluate("async () => (await axe.run()).violations.map((v) => " +
    "`${v.id}: ${v.help}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`)");
}

const machine = new Machine(options.images ? {slow: true} : {steady: true});
let browser;
let daemon;
let url;

const checks = {
  "values are those of the devices": async () => {
    const page = await browser.open(url);
    await isLive(page);
    const constant = await eventually(page, `() => [...document.querySelectorAll("#rows tr")]
      .find((row) => row.textContent.startsWith("GPU 1"))?.children[1].textContent`, "the second GPU is shown");
    assert.equal(constant, "120 W");
    // The player of the CPUs writes in real time: a busy machine delays it.
    await eventually(page, `() => {
      const value = (name) => parseFloat([...document.querySelectorAll("#rows tr")]
        .find((row) => row.children[0].textContent === name).children[1].textContent);
      return [["CPU package 0", 40], ["CPU package 1", 25], ["Memory 0", 6], ["Memory 1", 4]]
        .every(([name, watts]) => Math.abs(value(name) - watts) <= Math.max(1, watts / 5));
    }`, "the CPUs draw 40, 25, 6 and 4 W");
    const parts = await page.evaluate(`() => ({
      total: parseFloat(document.getElementById("total").textContent),
      sum: [...document.querySelectorAll("#rows tr")].reduce((sum, row) => sum + parseFloat(row.children[1].textContent), 0),
      summary: document.getElementById("summary").textContent,
    })`);
    assert.ok(Math.abs(parts.total - parts.sum) < 4, `${parts.total} W of ${parts.sum} W`);
    assert.match(parts.summary, /^.+ draws \d+ W: 2 CPUs .* W, memory .* W, 2 GPUs \d+ W\./);
    expectQuiet(page, url);
    await page.close();
  },

  "energy goes on from when the page was opened": async () => {
    const page = await browser.open(url);
    await isLive(page);
    const watts = await eventually(page, `() => {
      const row = [...document.querySelectorAll("#rows tr")].find((each) => each.textContent.startsWith("CPU package 0"));
      const joules = parseFloat(row.children[3].textContent);
      return joules > 200 ? joules : 0;
    }`, "the first package has used more than 200 J");
    assert.ok(watts < 600, `${watts} J: since the page was opened, not since the daemon was started`);
    await page.evaluate(`() => document.getElementById("restart").click()`);
    const row = (await rows(page))["CPU package 0"];
    assert.equal(row[2], "-", "counting starts again with the next reading");
    await page.close();
  },

  "a burst between two readings is in the energy": async () => {
    const page = await browser.open(url);
    await isLive(page);
    // What the first package has beyond 40 J for 25 J of the second one.
    const more = (least, most) => eventually(page, `() => {
      const joules = (name) => {
        const text = [...document.querySelectorAll("#rows tr")].find((row) => row.textContent.startsWith(name)).children[3].textContent;
        return parseFloat(text) * (/^[\\d.]+ kJ/.test(text) ? 1000 : 1);
      };
      const found = joules("CPU package 0") - 1.6 * joules("CPU package 1");
      return found >= ${least} && found <= ${most} ? \`\${found} J\` : null;
    }`, `the first package has ${least} to ${most} J more`);
    await more(-15, 15);
    for (let i = 0; i < 5; ++i) {
      machine.burst(80);
      await pause(400);
    }
    await more(385, 415);
    await page.close();
  },

  "names of devices are text": async () => {
    const page = await browser.open(url);
    await isLive(page);
    const shown = await page.evaluate(`() => ({title: document.title, bold: document.querySelectorAll("b").length,
      names: [...document.querySelectorAll(".model")].map((each) => each.textContent)})`);
    assert.notEqual(shown.title, "taken over");
    assert.equal(shown.bold, 0);
    assert.ok(shown.names.includes(hostile), shown.names.join("\n"));
    expectQuiet(page, url);
    await page.close();
  },

  "keys read off values, and plots of devices follow": async () => {
    const page = await browser.open(url);
    await isLive(page);
    await eventually(page, `() => document.getElementById("total-plot").querySelector("canvas")`, "the plot is drawn");
    await page.evaluate(`() => document.getElementById("total-plot").focus()`);
    await page.press("End");
    await page.press("ArrowLeft");
    const readouts = await eventually(page, `() => {
      const all = [...document.querySelectorAll(".readout")].map((each) => each.textContent);
      return all.slice(0, 3).every((text) => /^\\d\\d:\\d\\d:\\d\\d: /.test(text)) ? all : null;
    }`, "values are read off");
    assert.equal(new Set(readouts.slice(0, 3).map((text) => text.slice(0, 8))).size, 1, "of one time");
    expectQuiet(page, url);
    await page.close();
  },

  "the pointer reads off values": async () => {
    const page = await browser.open(url);
    await isLive(page);
    const place = await eventually(page, `() => {
      const box = document.querySelector("#total-plot .u-over")?.getBoundingClientRect();
      return box && {x: box.right - 8, y: box.top + box.height / 2};
    }`, "the plot is drawn");
    await page.mouse.move(place.x, place.y);
    await eventually(page, `() => /^\\d\\d:\\d\\d:\\d\\d: \\d+ W/.test(document.getElementById("total-readout").textContent)`,
                     "the value under the pointer is shown");
    await page.mouse.move(5, 5);
    await eventually(page, `() => document.getElementById("total-readout").textContent === ""`, "it is gone again");
    await page.close();
  },

  "energy has the sampling error of its interval": async () => {
    const page = await browser.open(url);
    await isLive(page);
    const shown = await eventually(page, `() => {
      const cells = [...document.querySelectorAll("#rows tr")].slice(0, 4).map((row) => row.children[3].textContent);
      const note = document.getElementById("energy-note").textContent;
      return cells.every((text) => /^[\\d.]+ k?J ±[\\d.]+ m?J$/.test(text)) && /^±[\\d.]+ J, /.test(note) ? {cells, note} : null;
    }`, "each energy has its ±, and the sum, too");
    const doubt = (text) => parseFloat(text.split("±")[1]);
    assert.ok(doubt(shown.note) >= Math.max(...shown.cells.map(doubt)), JSON.stringify(shown));
    await page.close();
  },

  "the browser lets the page ask nobody else": async () => {
    const page = await browser.open(url);
    await isLive(page);
    const {port} = new URL(url);
    const refused = await page.evaluate(`async (addresses) => {
      const violated = [];
      document.addEventListener("securitypolicyviolation", ({violatedDirective}) => violated.push(violatedDirective));
      const answers = await Promise.all(addresses.map((address) => fetch(address).then(() => "answered", () => "refused")));
      const image = document.createElement("script");
      image.textContent = "document.title = 'taken over'";
      document.body.append(image);
      await new Promise((resolve) => setTimeout(resolve, 300));
      return {answers, violated: [...new Set(violated)].sort(), title: document.title};
    }`, [`http://127.0.0.1:${Number(port) + 1}/time`, "https://example.invalid/", `http://localhost:${port}/time`]);
    assert.deepEqual(refused.answers, ["refused", "refused", "refused"]);
    assert.deepEqual(refused.violated, ["connect-src", "script-src-elem"]);
    assert.notEqual(refused.title, "taken over");
    await page.close();
  },

  "pause stops the page, not the daemon": async () => {
    const page = await browser.open(url);
    await isLive(page);
    await page.evaluate(`() => document.getElementById("pause").click()`);
    const before = await page.evaluate(`() => document.getElementById("summary").textContent`);
    await pause(3000);
    assert.equal(await page.evaluate(`() => document.getElementById("summary").textContent`), before);
    await page.evaluate(`() => document.getElementById("pause").click()`);
    await isLive(page);
    await page.close();
  },

  "the last hour comes from the daemon": async () => {
    const page = await browser.open(url);
    await isLive(page);
    await page.evaluate(`() => document.querySelectorAll("#spans input")[1].click()`);
    await page.evaluate(`() => document.getElementById("total-plot").focus()`);
    await eventually(page, `() => {
      const plot = document.getElementById("total-plot");
      for (const key of ["End", "ArrowLeft"]) plot.dispatchEvent(new KeyboardEvent("keydown", {key}));
      return /^\\d\\d:\\d\\d:\\d\\d: \\d+ W/.test(document.getElementById("total-readout").textContent);
    }`, "the last column of the hour is read off");
    assert.ok(page.requests.some((request) => /\/api\/v1\/power\?from=\d+&to=\d+&columns=360$/.test(request)));
    expectQuiet(page, url);
    await page.close();
  },

  "what is cut off is unknown, comes back and leaves a gap": async () => {
    const page = await browser.open(url);
    await isLive(page);
    await pause(3000);
    await daemon.stop();
    await eventually(page, `() => document.getElementById("state").textContent.startsWith("Not up to date") &&
      document.getElementById("total").textContent.includes("unknown")`, "the page says that it is cut off");
    const [power, , , , , , , , state] = (await rows(page))["CPU package 0"];
    assert.equal(power, "-");
    assert.match(state, /connection to the daemon was lost|does not answer/);
    await pause(3000);
    await daemon.start();
    await isLive(page);
    await eventually(page, `() => [...document.querySelectorAll("#rows tr")]
      .find((row) => row.textContent.startsWith("GPU 1")).children[1].textContent === "120 W"`, "values are back");
    await eventually(page, `() => document.getElementById("energy").textContent.startsWith("≥")`,
                     "the energy of that time is missing");
    await page.evaluate(`() => document.getElementById("total-plot").focus()`);
    await eventually(page, `() => {
      document.getElementById("total-plot").dispatchEvent(new KeyboardEvent("keydown", {key: "End"}));
      return / W/.test(document.getElementById("total-readout").textContent);
    }`, "the plot goes on");
    const seen = [];
    for (let i = 0; i < 60; ++i) {
      await page.press(i === 0 ? "End" : "ArrowLeft");
      seen.push((await page.evaluate(`() => document.getElementById("total-readout").textContent`)).slice(10));
    }
    const shape = seen.map((text) => (text === "unknown" ? "-" : "w")).join("").replace(/(.)\1+/g, "$1");
    assert.match(shape, /w-w/, `a gap between values: ${seen.join(", ")}`);
    await page.close();
  },

  "devices that the daemon no longer has are gone, and come back": async () => {
    const page = await browser.open(url);
    await isLive(page);
    const asked = () => page.requests.filter((request) => request.includes("/gpu/stream_power?")).length;
    const restart = async (enabled) => {
      await daemon.stop();
      daemon.enabled = enabled;
      await daemon.start();
    };
    try {
      await restart("cpu-read,dashboard");
      await eventually(page, `() => document.getElementById("state").textContent === "Live" &&
        document.querySelectorAll("#rows tr").length === 4`, "the GPUs are gone");
      const before = asked();
      await pause(9000);
      assert.equal(asked(), before, "a stream that is not there is not asked for again");
    } finally {
      await restart("dashboard");
    }
    await isLive(page);
    await eventually(page, `() => [...document.querySelectorAll("#rows tr")]
      .find((row) => row.textContent.startsWith("GPU 1")).children[9].textContent === "live"`, "they are live");
    await page.close();
  },

  "a value of a silent daemon is marked as old": async () => {
    const page = await browser.open(url);
    await isLive(page);
    daemon.process.kill("SIGSTOP");
    try {
      await eventually(page, `() => document.querySelectorAll(".card.is-old").length === 6 &&
        /^Not up to date: .* silent for \\d s$/.test(document.getElementById("state").textContent) &&
        /^last read \\d s ago$/.test(document.querySelector("#rows tr").lastChild.textContent)`, "all values are marked");
    } finally {
      daemon.process.kill("SIGCONT");
    }
    await isLive(page);
    await eventually(page, `() => document.querySelectorAll(".card.is-old").length === 0`, "the marks are gone");
    await page.close();
  },

  "who uses it is closed to 100 %": async () => {
    const found = await (await fetch(`${url}discover`)).json();
    const row = (kind, label, joules, watts, reason = null) =>
      ({kind, group: label, label, power_w: watts, energy_uj: joules * 1e6, reason, ended: watts === null});
    const many = Array.from({length: 14}, (_, i) => row("service", `service-${i}`, 1, 0.1));
    const shares = {
      since_unix_s: Date.now() / 1000 - 60, notes: ["a note"],
      domains: [{
        domain: "cpu", covers: ["package_0"], energy_uj: 3014e6, power_w: 75, reason: null,
        rows: [...many, row("pod", hostile, 1000, 20), row("container", "ended one", 1000, null, "it has ended"),
               row("idle", "idle machine", 1000, 53.6), row("rest", "interrupts", 0, 0)],
      }, {domain: "nvidia_gpu_0", covers: ["nvidia_gpu_0"], energy_uj: 0, power_w: null, reason: "not read yet", rows: []}],
    };
    const answers = {"/discover": {...found, enabled_api_groups: [...found.enabled_api_groups, "shares"]}, "/api/v1/shares": shares};
    for (const width of [1280, 390]) {
      const page = await browser.open(url, {answers, width});
      await isLive(page);
      const tables = await eventually(page, `() => {
        const places = [...document.querySelectorAll(".shared")].map((place) => ({
          title: place.querySelector("h4").textContent,
          rows: [...place.querySelectorAll("tbody tr")].map((line) => [line.children[0].children[1].textContent,
            line.children[0].children[3].textContent, ...[...line.children].slice(1).map((cell) => cell.textContent)]),
          all: [...place.querySelectorAll("tfoot td")].map((cell) => cell.textContent)}));
        return places.length > 0 ? places : null;
      }`, "shares are shown");
      const [cpu, gpu] = tables;
      assert.equal(cpu.title, "CPUs and memory");
      assert.equal(cpu.rows.length, 12, "ten groups, those for which there is no room, and the idle machine");
      assert.deepEqual(cpu.rows[0], [hostile, "", "20.0 W", "1.00 kJ", "33.2 %"]);
      assert.deepEqual(cpu.rows[1], ["ended one", "it has ended", "-", "1.00 kJ", "33.2 %"]);
      assert.deepEqual(cpu.rows[10].slice(0, 4), ["6 more", "", "0.60 W", "6.00 J"]);
      const tenths = cpu.rows.reduce((sum, line) => sum + Math.round(10 * parseFloat(line[4])), 0);
      assert.equal(tenths, 1000, "the shares as they are printed");
      assert.deepEqual(cpu.all, ["75.0 W", "3.01 kJ", "100.0 %"]);
      assert.deepEqual([gpu.title, gpu.all], ["GPU 0", ["-", "0.00 J", "-"]]);
      assert.deepEqual(await findings(page), []);
      assert.ok(await page.evaluate("() => document.documentElement.scrollWidth") <= width);
      expectQuiet(page, url);
      await page.close();
    }
    const page = await browser.open(url);
    await isLive(page);
    assert.equal(await page.evaluate(`() => document.querySelector(".who-uses").hidden`), true, "a daemon without shares has no such part");
    assert.ok(!page.requests.some((request) => request.includes("/api/v1/shares")));
    await page.close();
  },

  "axe finds nothing, and nothing is wider than the page": async () => {
    for (const dark of [false, true]) {
      for (const width of [1280, 390]) {
        const page = await browser.open(url, {dark, width, height: 844});
        await isLive(page);
        assert.deepEqual(await findings(page), []);
        assert.ok(await page.evaluate("() => document.documentElement.scrollWidth") <= width);
        await page.close();
      }
    }
  },
};

// The seconds of the page are those of this program: `seconds(page, n)` lets n of them pass, and returns how often the
// page was drawn.
const heldSeconds = `(() => {
  const seconds = window.heldSeconds = [];
  const [interval, frame] = [window.setInterval, window.requestAnimationFrame];
  window.setInterval = (call, ms, ...rest) => (ms === 1000 ? seconds.push(call) : interval(call, ms, ...rest));
  window.drawnFrames = 0;
  window.requestAnimationFrame = (call) => (++window.drawnFrames, frame(call));
})()`;
const seconds = (page, count) => page.evaluate(`async (count) => {
  const before = window.drawnFrames;
  for (let i = 0; i < count; ++i) {
    for (const call of window.heldSeconds) call();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return window.drawnFrames - before;
}`, count);

// A page of a daemon that is played.
async function withFeed(options, call) {
  const feed = new Feed({speed: 1, ...options});
  const address = await feed.start();
  const page = await browser.open("about:blank");
  try {
    await call({feed, page, go: () => page.go(address)});
  } finally {
    await page.close();
    feed.close();
  }
}

async function checkManyDevices() {
  for (const [gpus, expected] of [[2, 12], [28, 6], [140, 3]]) {
    await withFeed({gpus}, async ({page, go}) => {
      await page.prepare(heldSeconds);
      await go();
      await eventually(page, `() => (window.heldSeconds ?? []).forEach((call) => call()) ||
        document.querySelectorAll("#rows tr").length === ${gpus + 4} &&
        [...document.querySelectorAll("#rows tr")].every((row) => row.children[1].textContent !== "-")`, "all devices are shown");
      // What it learns at its start is drawn at once.
      await pause(4000);
      await seconds(page, 4);
      assert.equal(await seconds(page, 12), expected, `drawings of ${gpus + 4} devices in 12 seconds`);
    });
  }
}

async function checkEarlierDaemon() {
  await withFeed({refuses: ["hold_ms", "max_age"]}, async ({feed, page, go}) => {
    await go();
    await isLive(page);
    assert.ok(feed.refused > 0, "the daemon has refused what it does not know");
    await eventually(page, `() => /^±[\\d.]+ J, /.test(document.getElementById("energy-note").textContent)`, "its energies are shown");
    const before = feed.refused;
    await pause(5000);
    assert.equal(feed.refused, before, "it is not asked again for what it does not know");
  });
}

// The daemon ends a stream with its token.
async function checkExpiry() {
  const key = join(daemon.folder, "short-key");
  writeFileSync(key, "s".repeat(40), {mode: 0o600});
  const locked = new Daemon(wattled, {sysfs: machine.sysfs, nvml, gpus: gpusOf("NVIDIA A40"), words: ["--signing-key-path", key]});
  // Taken for 60 s after its end.
  const token = (leftS) => {
    const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const signed = `${part({alg: "HS256", typ: "JWT"})}.${part({sub: "wall", scopes: ["gpu-read", "cpu-read"],
      exp: Math.floor(Date.now() / 1000) + leftS})}`;
    return `${signed}.${createHmac("sha256", "s".repeat(40)).update(signed).digest("base64url")}`;
  };
  const page = await browser.open(await locked.start());
  try {
    await eventually(page, `() => document.getElementById("door").open`, "a token is asked for");
    await enterToken(page, token(-52));
    await isLive(page);
    await eventually(page, `() => document.getElementById("door").open &&
      document.getElementById("door-why").textContent.includes("expired")`, "a new token is asked for, with the reason");
    assert.equal((await rows(page))["CPU package 0"][0], "-", "the power is unknown meanwhile");
    await enterToken(page, token(3600));
    await isLive(page);
    assert.equal(await page.evaluate(`() => document.getElementById("door").open`), false);
  } finally {
    await page.close();
    await locked.close();
  }
}

async function checkToken() {
  const key = join(daemon.folder, "key");
  writeFileSync(key, "k".repeat(40), {mode: 0o600});
  const locked = new Daemon(wattled, {sysfs: machine.sysfs, nvml, gpus: gpusOf("NVIDIA A40"), words: ["--signing-key-path", key]});
  const token = execFileSync(wattled, ["token", "issue", "--signing-key-path", key, "--user", "wall",
                                       "--scope", "gpu-read,cpu-read", "--expires", "1h"], {encoding: "utf8"}).trim();
  const page = await browser.open(await locked.start());
  try {
    await eventually(page, `() => document.getElementById("door").open`, "a token is asked for");
    assert.deepEqual(await findings(page), []);
    const enter = (text) => page.evaluate(`(text) => {
      document.getElementById("token").value = text;
      document.querySelector("#door button").click();
    }`, text);
    await enter("not.a.token");
    await eventually(page, `() => document.getElementById("door").open &&
      document.getElementById("door-why").textContent.includes("not accepted")`, "a wrong token is refused");
    await enter(token);
    await isLive(page);
    const kept = await page.evaluate(`() => ({local: localStorage.length, session: sessionStorage.length,
      cookie: document.cookie, field: document.getElementById("token").value, address: location.href})`);
    assert.deepEqual({...kept, address: ""}, {local: 0, session: 0, cookie: "", field: "", address: ""});
    assert.ok(!kept.address.includes(token));
    assert.ok(page.requests.every((request) => !request.includes(token)), "the token is in an address");
  } finally {
    await page.close();
    await locked.close();
  }
}

const freePort = () => new Promise((resolve) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const {port} = server.address();
    server.close(() => resolve(port));
  });
});

// A daemon that follows another one, which needs a token, and one that is not there. `words`: of the first.
async function withMachines(words, call) {
  const [port, closed] = [await freePort(), await freePort()];
  const other = new Machine(options.images ? {slow: true} : {steady: true});
  const key = join(daemon.folder, "other-key");
  writeFileSync(key, "o".repeat(40), {mode: 0o600});
  const second = new Daemon(wattled, {sysfs: other.sysfs, nvml, gpus: gpusOf("NVIDIA A40"), words: [
    "--history", "3600", "--signing-key-path", key, "--allow-dashboards", `127.0.0.1:${port}`]});
  await second.start();
  const first = new Daemon(wattled, {sysfs: machine.sysfs, nvml, gpus: gpusOf("NVIDIA L4"),
                                     words: ["--history", "3600", "--dashboard-machines", words(second.port, closed)]});
  first.port = port;
  try {
    const token = execFileSync(wattled, ["token", "issue", "--signing-key-path", key, "--user", "wall",
                                         "--scope", "gpu-read,cpu-read", "--expires", "1h"], {encoding: "utf8"}).trim();
    await call({address: await first.start(), second, closed, token});
  } finally {
    await first.close();
    await second.close();
    other.close();
  }
}

const sections = (page) => page.evaluate(`() => [...document.querySelectorAll(".machine")].map((section) => ({
  name: section.querySelector("header h3").textContent, state: section.querySelector(".state").textContent,
  cards: section.querySelectorAll(".card").length}))`);
const enterToken = (page, token) => page.evaluate(`(token) => {
  document.getElementById("token").value = token;
  document.querySelector("#door button").click();
}`, token);

async function checkMachines() {
  await withMachines((port, closed) => `127.0.0.1:${port},127.0.0.1:${closed}`, async ({address, second, closed, token}) => {
    const page = await browser.open(address);
    await eventually(page, `() => document.getElementById("door").open`, "the token of the second is asked for");
    assert.equal(await page.evaluate(`() => document.getElementById("door-title").textContent`), `127.0.0.1:${second.port} needs a token`);
    assert.deepEqual(await findings(page), []);
    await page.press("Escape");
    await eventually(page, `() => !document.getElementById("door").open && document.getElementById("total").textContent.startsWith("≥") &&
      document.querySelectorAll(".card").length === 6`, "the page goes on without it");
    const [own, locked, absent] = await sections(page);
    assert.equal(own.state, "Live");
    assert.match(locked.state, /^Not up to date: it needs a token$/);
    assert.match(absent.state, /^Not up to date: its daemon does not answer, or does not allow this page/);
    assert.equal(absent.name, `127.0.0.1:${closed}`);
    await page.evaluate(`() => [...document.querySelectorAll(".machine button")].find((button) => !button.hidden).click()`);
    await eventually(page, `() => document.getElementById("door").open`, "it can be entered later");
    await enterToken(page, token);
    await eventually(page, `() => document.querySelectorAll(".card").length === 12 &&
      document.querySelectorAll(".machine .state[data-state=live]").length === 2 &&
      [...document.querySelectorAll("#rows tr:not(.machine-row)")].every((row) => row.children[1].textContent !== "-")`, "two are live");
    const parts = await page.evaluate(`() => ({
      total: parseFloat(document.getElementById("total").textContent.replace("≥", "")),
      rows: [...document.querySelectorAll("#rows tr:not(.machine-row)")].map((row) => [row.children[0].textContent, parseFloat(row.children[1].textContent)]),
      machines: [...document.querySelectorAll("#rows .machine-row")].map((row) => row.textContent),
      sums: [...document.querySelectorAll(".machine > header .value")].map((value) => parseFloat(value.textContent)),
      summary: document.getElementById("summary").textContent,
    })`);
    assert.equal(parts.rows.filter(([name]) => name === "CPU package 0").length, 2, "devices of one name are kept apart");
    assert.equal(new Set(parts.machines).size, 3, parts.machines.join(", "));
    const sum = parts.rows.reduce((all, [, watts]) => all + watts, 0);
    assert.ok(Math.abs(parts.total - sum) < 8, `${parts.total} W of ${sum} W`);
    assert.ok(Math.abs(parts.total - parts.sums[0] - parts.sums[1]) < 3, JSON.stringify(parts));
    assert.match(parts.summary, /^3 machines draw at least \d+ W: .* W, .* W, 127.0.0.1:\d+ unknown\./);
    await eventually(page, `() => /^±[\\d.]+ J, /.test(document.getElementById("energy-note").textContent)`, "the sum of energies has a ±");
    assert.ok(page.tokens.length > 0);
    assert.ok(page.tokens.every(({url: asked, token: sent}) =>
      asked.startsWith(`http://127.0.0.1:${second.port}/`) && sent === `Bearer ${token}`), "its token goes to it alone");
    const allowed = [address, `http://127.0.0.1:${second.port}/`, `http://127.0.0.1:${closed}/`, "data:"];
    assert.deepEqual(page.requests.filter((asked) => !allowed.some((place) => asked.startsWith(place))), []);
    assert.deepEqual(await findings(page), []);

    await second.stop();
    await eventually(page, `() => document.querySelectorAll(".machine")[1].querySelector(".state").dataset.state === "lost" &&
      document.querySelectorAll(".machine")[0].querySelector(".state").dataset.state === "live"`, "one is cut off, the other is not");
    await second.start();
    await eventually(page, `() => document.querySelectorAll(".machine")[1].querySelector(".state").dataset.state === "live"`,
                     "it comes back without another token");
    assert.equal(await page.evaluate(`() => document.getElementById("door").open`), false);
    await page.close();
  });
}

async function checkEnteredMachines() {
  await withMachines(() => "any", async ({address, second, token}) => {
    const page = await browser.open(address);
    await isLive(page);
    assert.deepEqual(await findings(page), []);
    await page.evaluate(`(machine) => {
      document.getElementById("machine").value = machine;
      setTimeout(() => document.querySelector("#add button").click());
    }`, `127.0.0.1:${second.port}`);
    await eventually(page, `() => document.getElementById("door")?.open`, "the page is loaded again, with the other machine");
    await enterToken(page, token);
    await eventually(page, `() => document.querySelectorAll(".machine .state[data-state=live]").length === 2`, "it is followed");
    await page.evaluate(`() => void setTimeout(() => [...document.querySelectorAll(".machine button")]
      .find((button) => button.textContent === "Remove").click())`);
    await eventually(page, `() => document.querySelectorAll(".machine").length === 1 && location.search === ""`, "it can be removed");
    await page.close();
  });
}

// A machine that does not allow the page gives it nothing.
async function checkForbidden() {
  const port = await freePort();
  const first = new Daemon(wattled, {sysfs: machine.sysfs, nvml, gpus: gpusOf("NVIDIA L4"),
                                     words: ["--history", "3600", "--dashboard-machines", `127.0.0.1:${daemon.port}`]});
  first.port = port;
  const page = await browser.open(await first.start());
  try {
    await eventually(page, `() => document.querySelectorAll(".machine .state")[1]?.textContent.includes("does not allow this page")`,
                     "the page says that it is not allowed");
    assert.equal((await sections(page))[1].cards, 0);
  } finally {
    await page.close();
    await first.close();
  }
}

// Pictures of the page at the widths of a screen and a phone, once its plots are full.
async function writeImages(folder) {
  mkdirSync(folder, {recursive: true});
  const write = async (name, page) => {
    await pause(8000);
    writeFileSync(join(folder, `${name}.webp`), await page.screenshot());
    await page.close();
  };
  await withMachines((port) => `127.0.0.1:${port}`, async ({address, token}) => {
    await pause(295_000);
    for (const [name, width, height] of [["dashboard", 1280, 900], ["dashboard-phone", 390, 844]]) {
      for (const dark of [false, true]) {
        const page = await browser.open(url, {dark, width, height});
        await isLive(page);
        await write(`${name}-${dark ? "dark" : "light"}`, page);
      }
    }
    const page = await browser.open(address, {width: 1280, height: 1250});
    await eventually(page, `() => document.getElementById("door").open`, "a token is asked for");
    await enterToken(page, token);
    await write("dashboard-machines", page);
  });
}

let failed = 0;
async function check(name, call) {
  if (!name.includes(options.only)) return;
  try {
    await call();
    console.log(`ok: ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED: ${name}\n${error.stack}`);
  }
}

try {
  daemon = new Daemon(wattled, {sysfs: machine.sysfs, nvml, gpus: gpusOf(options.images ? "NVIDIA A40" : hostile),
                                words: ["--history", "3600"]});
  url = await daemon.start();
  browser = await Browser.start(options.browser);
  if (options.images) {
    await writeImages(options.images);
  } else {
    for (const [name, call] of Object.entries(checks)) await check(name, call);
    await check("a token is asked for once, and kept nowhere", checkToken);
    await check("a token that expires is asked for again", checkExpiry);
    await check("a page of many devices is drawn less often", checkManyDevices);
    await check("a daemon of an earlier version is followed", checkEarlierDaemon);
    await check("several machines are kept apart, and added", checkMachines);
    await check("machines that the user enters are followed", checkEnteredMachines);
    await check("a machine that does not allow the page gives it nothing", checkForbidden);
  }
} finally {
  await browser?.close();
  await daemon?.close();
  machine.close();
}
console.log(failed ? `${failed} failed` : "all passed");
process.exitCode = failed ? 1 : 0;
