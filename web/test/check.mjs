// node test/check.mjs WATTLE [--browser CHROMIUM] [--images FOLDER] [--large PAGE]
//
// Opens the pages of `WATTLE run`, `bench`, `compare` and `report --html` from files, as a reader would,
// and fails where one of these is not so: plots are drawn; hover, zoom and keys work; nothing is written
// to the console; nothing is requested; axe finds nothing, in light, in dark and without script; without
// script everything is there; in print the drawings are, in light colours; on a phone text is large enough
// and no column is hidden.
// --images writes pictures for the docs instead. --large opens another page too, and prints how long that
// takes.
import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {dirname, join, resolve} from "node:path";
import {parseArgs} from "node:util";
import {pathToFileURL} from "node:url";

import {Browser} from "./browser.mjs";
import {Machine} from "./machine.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const {values: options, positionals: [wattle]} = parseArgs({
  allowPositionals: true,
  options: {browser: {type: "string", default: "/usr/bin/chromium"}, images: {type: "string"}, large: {type: "string"}},
});
if (!wattle) throw new Error("usage: node test/check.mjs WATTLE [--browser CHROMIUM] [--images FOLDER]");

const hostile = `</script><script>document.title="taken over"</script><b onmouseover=alert(1)>"'&`;

// What wattle prints. `options`: of spawn.
async function run(words, options = {}) {
  const process = spawn(wattle, words, {stdio: ["ignore", "pipe", "inherit"], ...options});
  let text = "";
  process.stdout.on("data", (part) => (text += part));
  const status = await new Promise((resolve) => process.once("close", resolve));
  assert.equal(status, 0, `wattle ${words[0]} failed`);
  return text;
}

// Loads of a command: names of phases are foreign text too.
const phases = `wattle mark load; sleep 1; wattle mark --next "$1"; sleep 1.5; wattle mark --end; sleep 0.5`;

// Pages of all kinds in `folder`: their files by name.
async function makePages(folder, title) {
  let machine = new Machine();
  const at = (name) => join(folder, name);
  const source = ["--sysfs", machine.sysfs, "--gpus", "none"];
  const path = `${dirname(resolve(wattle))}:${process.env.PATH}`;
  const env = {...process.env, PATH: path, XDG_STATE_HOME: at("state"), XDG_CONFIG_HOME: at("config")};
  delete env.WATTLE_HISTORY;
  await run(["run", "--quiet", ...source, "--save", "--html", at("run.html"), "--",
             "sh", "-c", phases, "sh", title], {env});
  machine.close();
  machine = new Machine({steady: true});
  source[1] = machine.sysfs;
  const bench = (file, seconds, more) => run(
    ["bench", ...source, "-r", "6", "--seed", "1", "--interval", "0.05", "--export-json", file, ...more,
     "-n", title, `sleep ${seconds}`, "-n", "longer", "sleep 0.2"], {stdio: ["ignore", "pipe", "ignore"]});
  await bench(at("before.json"), 0.15, ["--html", at("bench.html")]);
  await bench(at("after.json"), 0.12, []);
  machine.close();
  await run(["compare", "--html", "compare.html", "before.json", "after.json"], {cwd: folder});
  writeFileSync(at("runs.jsonl"), await run(["history", "export"], {env}));
  await run(["report", "--html", "report.html", "runs.jsonl"], {cwd: folder});
  return ["run", "bench", "compare", "report"];
}

async function findings(page) {
  await page.inject(axe);
  const violations = await page.evaluate("async () => (await axe.run()).violations.map((v) => " +
    "`${v.id}: ${v.help}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`)");
  return violations;
}

function expectQuiet(page, url) {
  assert.deepEqual(page.messages, [], "the console has messages");
  assert.deepEqual(page.requests, [url], "something was requested");
}

const folder = mkdtempSync(join(tmpdir(), "wattle-check-"));
const urlOf = (name) => pathToFileURL(join(folder, `${name}.html`)).href;

let browser;
// Of the page of a run.
const runChecks = {
  "plots are drawn, and the page is live": async (url) => {
    const page = await browser.open(url);
    const state = await page.evaluate(`() => ({
      figures: document.querySelectorAll("figure.power").length,
      canvases: [...document.querySelectorAll("canvas")].map((canvas) => {
        const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        return pixels.some((value) => value !== 0);
      }),
      hidden: [...document.querySelectorAll("svg.drawing")].every((svg) => svg.clientHeight === 0),
    })`);
    assert.equal(state.figures, 5, "total, two packages, two DRAMs");
    assert.equal(state.canvases.length, state.figures);
    assert.ok(state.canvases.every(Boolean), "a plot is empty");
    assert.ok(state.hidden, "drawings are shown beside the plots");
    expectQuiet(page, url);
    await page.close();
  },

  "the mouse reads off values and zooms": async (url) => {
    const page = await browser.open(url);
    const box = await page.evaluate(`() => {
      const {x, y, width, height} = document.querySelectorAll(".u-over")[1].getBoundingClientRect();
      return {x, y, width, height};
    }`);
    const readouts = () => page.evaluate(`() => [...document.querySelectorAll(".readout")].map((r) => r.textContent)`);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const seconds = await page.evaluate(`() => Number(document.querySelector("figure.power").dataset.seconds)`);
    // The time that a readout begins with is about this part of the run.
    const expectTime = (text, part, why) => assert.ok(
      Math.abs(parseFloat(text) - part * seconds) < 0.06 * seconds, `${why}: ${text}`);
    for (const text of await readouts()) {
      assert.match(text, /^\d\.\d+ s to \d\.\d+ s: \d.* W ±\d.* W/);
      expectTime(text, 0.5, "every plot shows the same time");
    }
    const labels = () => page.evaluate(`() => {
      const canvas = document.querySelector("canvas");
      return canvas.toDataURL().length + canvas.toDataURL();
    }`);
    const before = await labels();
    await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.4, box.y + 20);
    await page.mouse.move(box.x + box.width * 0.5, box.y + 20);
    await page.mouse.up();
    await page.mouse.move(box.x + 5, box.y + 20);
    expectTime((await readouts())[0], 0.25, "after zooming, all plots start at a quarter");
    assert.notEqual(await labels(), before, "the first plot follows the second");
    for (const count of [1, 2]) {
      await page.mouse.down({clickCount: count});
      await page.mouse.up({clickCount: count});
    }
    await page.mouse.move(box.x + 6, box.y + 20);
    expectTime((await readouts())[0], 0, "a double click shows all again");
    expectQuiet(page, url);
    await page.close();
  },

  "the keyboard reads off values and zooms": async (url) => {
    const page = await browser.open(url);
    await page.evaluate(`() => document.querySelector(".live").focus()`);
    const readout = () => page.evaluate(`() => document.querySelector(".readout").textContent`);
    await page.press("ArrowRight");
    const first = await readout();
    assert.match(first, /^0\.0 s to 0\.1 s: /);
    await page.press("ArrowRight");
    assert.match(await readout(), /^0\.1 s to 0\.2 s: /);
    await page.press("End");
    assert.match(await readout(), /^[2-9]\.\d s to [3-9]\.\d s: /);
    await page.press("Home");
    for (const key of ["+", "+", "+", "0"]) await page.press(key);
    await page.press("Home");
    assert.equal(await readout(), first);
    assert.equal(await page.evaluate(`() => document.querySelector(".readout").getAttribute("aria-live")`), "polite");
    expectQuiet(page, url);
    await page.close();
  },

  "without script everything is drawn": async (url) => {
    const page = await browser.open(url, {script: false, height: 2200});
    const {root} = await page.send("DOM.getDocument", {depth: -1});
    const count = async (selector) => {
      const {nodeIds} = await page.send("DOM.querySelectorAll", {nodeId: root.nodeId, selector});
      return nodeIds.length;
    };
    assert.equal(await count("canvas"), 0);
    assert.equal(await count("figure.power svg.drawing path.mean"), 5);
    assert.equal(await count("figure.power details table"), 5);
    assert.ok(await count("table th[scope=row]") > 20);
    const {nodeId} = await page.send("DOM.querySelector", {nodeId: root.nodeId, selector: "svg.drawing"});
    const {model} = await page.send("DOM.getBoxModel", {nodeId});
    assert.ok(model.height > 100, "the drawing is visible");
    expectQuiet(page, url);
    await page.close();
  },
};

// Of the page of a benchmark.
const benchChecks = {
  "dots are read off by mouse and keyboard": async (url) => {
    const page = await browser.open(url);
    const figure = "[...document.querySelectorAll('figure.values')].find((f) => f.querySelector('.readable'))";
    const place = await page.evaluate(`() => {
      const figure = ${figure};
      figure.scrollIntoView();
      const drawing = figure.querySelector("svg");
      const [, x, y] = figure.querySelectorAll("path.dots")[1].getAttribute("d").match(/M([\\d.]+) ([\\d.]+)h0/);
      const box = drawing.getBoundingClientRect();
      const scale = box.width / drawing.viewBox.baseVal.width;
      return {x: box.left + x * scale, y: box.top + y * scale};
    }`);
    const readout = () => page.evaluate(`() => ${figure}.querySelector(".readout").textContent`);
    await page.mouse.move(place.x, place.y);
    assert.match(await readout(), /^longer, run 1 of 6: \d+(\.\d+)? (J|mJ)$/);
    await page.mouse.move(1, 1);
    assert.equal(await readout(), "");
    await page.evaluate(`() => ${figure}.querySelector(".readable").focus()`);
    for (const key of ["End", "ArrowLeft"]) await page.press(key);
    assert.match(await readout(), /^longer, run 5 of 6: /);
    await page.press("Home");
    assert.match(await readout(), /, run 1 of 6: /);
    expectQuiet(page, url);
    await page.close();
  },
};

// Of a page of each kind.
const pageChecks = {
  "loads in silence, and asks for nothing": async (url) => {
    const page = await browser.open(url);
    assert.ok((await page.evaluate(`() => document.querySelectorAll("svg.drawing").length`)) > 0);
    assert.equal(await page.evaluate(`() => document.querySelectorAll("b").length`), 0,
                 "foreign text became an element");
    expectQuiet(page, url);
    await page.close();
  },

  "axe finds nothing, light and dark, with and without script": async (url) => {
    for (const dark of [false, true]) {
      const page = await browser.open(url, {dark});
      assert.deepEqual(await findings(page), [], dark ? "dark" : "light");
      await page.close();
    }
    // axe is a script itself: the page's own is taken out instead.
    const still = url.replace(/\.html$/, "-still.html");
    const page = await browser.open(still);
    assert.equal(await page.evaluate(`() => document.querySelectorAll("canvas").length`), 0);
    assert.deepEqual(await findings(page), [], "without script");
    assert.doesNotMatch(await page.evaluate(`() => document.body.innerText`), /zoom|point at|double-click/i,
                        "a page without script promises what it cannot do");
    await page.close();
  },

  "Tab reaches all that can be operated": async (url) => {
    const page = await browser.open(url);
    const wanted = await page.evaluate(
      `() => document.querySelectorAll(".live, .readable, .wide:not(details:not([open]) *), summary").length`);
    const seen = await page.evaluate(`() => { globalThis.seen = new Set(); return 0; }`);
    assert.equal(seen, 0);
    for (let i = 0; i < wanted; ++i) {
      await page.press("Tab");
      await page.evaluate(`() => { globalThis.seen.add(document.activeElement); return 0; }`);
    }
    const [reached, outlined] = await page.evaluate(`() => [
      [...globalThis.seen].filter((e) => e.matches(".live, .readable, .wide, summary")).length,
      getComputedStyle(document.activeElement).outlineStyle]`);
    assert.equal(reached, wanted);
    assert.notEqual(outlined, "none", "the focus is not shown");
    await page.close();
  },

  "is printed as drawn, in light colours": async (url) => {
    const page = await browser.open(url, {dark: true});
    await page.send("Emulation.setEmulatedMedia",
                    {media: "print", features: [{name: "prefers-color-scheme", value: "dark"}]});
    const state = await page.evaluate(`() => ({
      background: getComputedStyle(document.body).backgroundColor,
      drawings: [...document.querySelectorAll("svg.drawing")].map((svg) => svg.getBoundingClientRect().height),
      hidden: [...document.querySelectorAll(".live, .readout, details")].every((e) => e.getClientRects().length === 0),
      tables: [...document.querySelectorAll("main > .wide")].every((e) => e.scrollWidth <= e.clientWidth + 1),
    })`);
    assert.equal(state.background, "rgb(255, 255, 255)");
    assert.ok(state.drawings.every((height) => height > 60), "a drawing is missing");
    assert.ok(state.hidden, "what cannot be operated on paper is printed");
    assert.ok(state.tables, "a table is cut off");
    const {data} = await page.send("Page.printToPDF", {printBackground: false});
    const pdf = Buffer.from(data, "base64").toString("latin1");
    assert.match(pdf, /^%PDF-/);
    assert.ok((pdf.match(/\/Type ?\/Page\b/g) ?? []).length >= 1);
    await page.close();
  },

  "is readable on a phone: no small text, and the last column can be reached": async (url) => {
    for (const address of [url, url.replace(/\.html$/, "-still.html")]) {
      const page = await browser.open(address, {width: 390, height: 844});
      const state = await page.evaluate(`() => {
        document.querySelectorAll("details").forEach((e) => (e.open = true));
        const shown = [...document.querySelectorAll("body *")].filter((e) => e.getClientRects().length > 0);
        const ownText = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
        // The text of a drawing is scaled with it.
        const pixels = (e) => parseFloat(getComputedStyle(e).fontSize) * (e.getScreenCTM?.().a ?? 1);
        const reached = (cell) => {
          const box = cell.closest(".wide") ?? document.documentElement;
          box.scrollLeft = box.scrollWidth;
          const {left, right, width} = cell.getBoundingClientRect();
          return width > 0 && left >= 0 && right <= innerWidth + 1;
        };
        return {
          small: shown.filter((e) => ownText(e) && pixels(e) < 10).map((e) => e.outerHTML.slice(0, 90)),
          texts: shown.filter(ownText).length,
          last: [...document.querySelectorAll("main table tr > :last-child")]
            .filter((e) => !reached(e)).map((e) => e.outerHTML.slice(0, 90)),
          width: document.documentElement.scrollWidth,
        };
      }`);
      assert.ok(state.texts > 10);
      assert.deepEqual(state.small, [], "text of less than 10 px");
      assert.deepEqual(state.last, [], "a column is hidden");
      assert.ok(state.width <= 390, `the page is ${state.width} px wide`);
      await page.close();
    }
  },

  "is complete without script": async (url) => {
    const page = await browser.open(url, {script: false, height: 2200});
    const {root} = await page.send("DOM.getDocument", {depth: -1});
    const count = async (selector) => {
      const {nodeIds} = await page.send("DOM.querySelectorAll", {nodeId: root.nodeId, selector});
      return nodeIds.length;
    };
    assert.equal(await count("canvas"), 0);
    assert.equal(await count("figure svg.drawing"), await count("figure"));
    assert.equal(await count("figure > .summary"), await count("figure"), "a plot has no text");
    assert.ok((await count("table th[scope=row]")) > 3);
    expectQuiet(page, url);
    await page.close();
  },
};

async function writeImages(folder) {
  mkdirSync(folder, {recursive: true});
  const pictured = [["run", false, "html-light"], ["run", true, "html-dark"], ["bench", false, "html-bench"],
                    ["compare", true, "html-compare"], ["report", false, "html-report"]];
  for (const [name, dark, file] of pictured) {
    const page = await browser.open(urlOf(name), {dark, width: 1000, height: 820});
    // Plots say more than the sentences above them.
    const heading = {run: "Power over time", bench: "All runs"}[name];
    if (heading) {
      await page.evaluate(`(text) => [...document.querySelectorAll("h2")]
        .find((h2) => h2.textContent === text).scrollIntoView()`, heading);
    }
    const box = await page.evaluate(`() => {
      const over = document.querySelectorAll(".u-over");
      if (over.length === 0) return null;
      const {x, y, width, height} = over[Math.min(1, over.length - 1)].getBoundingClientRect();
      return {x, y, width, height};
    }`);
    if (box) await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2);
    writeFileSync(join(folder, `${file}.webp`), await page.screenshot());
    await page.close();
  }
}

let failed = 0;
let passed = 0;
async function check(name, call) {
  try {
    await call();
    ++passed;
    console.log(`ok: ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED: ${name}\n${error.stack}`);
  }
}

try {
  const names = await makePages(folder, options.images ? "shorter" : hostile);
  for (const name of names) {
    const text = readFileSync(join(folder, `${name}.html`), "utf8");
    writeFileSync(join(folder, `${name}-still.html`), text.replace(/<script>[\s\S]*<\/script>/, ""));
    console.log(`${name}: ${(text.length / 1000).toFixed(0)} kB`);
  }
  browser = await Browser.start(options.browser);
  const checkAll = async (checks, kind) => {
    for (const [name, call] of Object.entries(checks)) await check(`${kind}: ${name}`, () => call(urlOf(kind)));
  };
  if (options.images) {
    await writeImages(options.images);
  } else {
    await checkAll(runChecks, "run");
    await checkAll(benchChecks, "bench");
    for (const kind of names) await checkAll(pageChecks, kind);
  }
  if (options.large) {
    const page = await browser.open(pathToFileURL(options.large).href);
    console.log(`${options.large}: loaded and drawn in ${page.loadedMs.toFixed(0)} ms`);
    assert.deepEqual(page.messages, []);
    assert.deepEqual(await findings(page), []);
    await page.close();
  }
} finally {
  await browser?.close();
  rmSync(folder, {recursive: true});
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
