// node test/check.mjs WATTLE [--browser CHROMIUM] [--images FOLDER] [--large PAGE]
//
// Opens a page of `WATTLE run --html` from a file, as a reader would, and fails where one of these is
// not so: plots are drawn; hover, zoom and keys work; nothing is written to the console; nothing is
// requested; axe finds nothing, in light and in dark; without script everything is there.
// --images writes pictures for the docs. --large opens another page too, and prints how long that takes.
import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {parseArgs} from "node:util";
import {pathToFileURL} from "node:url";

import {Browser} from "./browser.mjs";
import {Machine} from "./machine.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const {values: options, positionals: [wattle]} = parseArgs({
  allowPositionals: true,
  options: {browser: {type: "string", default: "chromium"}, images: {type: "string"}, large: {type: "string"}},
});
if (!wattle) throw new Error("usage: node test/check.mjs WATTLE [--browser CHROMIUM] [--images FOLDER]");

const hostile = `</script><script>document.title="taken over"</script><b onmouseover=alert(1)>"'&`;

// A page of a run of three seconds.
async function makePage(file, command) {
  const machine = new Machine();
  const run = spawn(wattle, ["run", "--quiet", "--sysfs", machine.sysfs, "--gpus", "none",
                             "--html", file, "--", ...command], {stdio: "inherit"});
  const status = await new Promise((resolve) => run.once("exit", resolve));
  machine.close();
  assert.equal(status, 0, "wattle run failed");
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

let browser;
const checks = {
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

  "what a hostile command line says stays text": async (url) => {
    const page = await browser.open(url);
    assert.deepEqual(await page.evaluate(`() => [document.querySelectorAll("b").length,
                                                  document.title.includes("</script><script>")]`), [0, true]);
    await page.close();
  },

  "the mouse reads off values and zooms": async (url) => {
    const page = await browser.open(url);
    const box = await page.evaluate(`() => {
      const {x, y, width, height} = document.querySelectorAll(".u-over")[1].getBoundingClientRect();
      return {x, y, width, height};
    }`);
    const readouts = () => page.evaluate(`() => [...document.querySelectorAll(".readout")].map((r) => r.textContent)`);
    await page.mouse("mouseMoved", box.x + box.width / 2, box.y + box.height / 2);
    for (const text of await readouts()) {
      assert.match(text, /^1\.[345]\d* s to 1\.[456]\d* s: \d.* W ±\d.* W/, "every plot shows the same time");
    }
    const labels = () => page.evaluate(`() => {
      const canvas = document.querySelector("canvas");
      return canvas.toDataURL().length + canvas.toDataURL();
    }`);
    const before = await labels();
    await page.mouse("mouseMoved", box.x + box.width * 0.25, box.y + 20);
    await page.mouse("mousePressed", box.x + box.width * 0.25, box.y + 20, 1);
    await page.mouse("mouseMoved", box.x + box.width * 0.4, box.y + 20, 1);
    await page.mouse("mouseMoved", box.x + box.width * 0.5, box.y + 20, 1);
    await page.mouse("mouseReleased", box.x + box.width * 0.5, box.y + 20, 0);
    await page.mouse("mouseMoved", box.x + 5, box.y + 20);
    assert.match((await readouts())[0], /^0\.[678]/, "after zooming, all plots start at a quarter");
    assert.notEqual(await labels(), before, "the first plot follows the second");
    for (const count of [1, 2]) {
      await page.mouse("mousePressed", box.x + 5, box.y + 20, 1, count);
      await page.mouse("mouseReleased", box.x + 5, box.y + 20, 0, count);
    }
    await page.mouse("mouseMoved", box.x + 6, box.y + 20);
    assert.match((await readouts())[0], /^0\.[01]/, "a double click shows all again");
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
    assert.match(await readout(), /^[23]\.\d s to 3\.\d s: /);
    await page.press("Home");
    for (const key of ["+", "+", "+", "0"]) await page.press(key);
    await page.press("Home");
    assert.equal(await readout(), first);
    assert.equal(await page.evaluate(`() => document.querySelector(".readout").getAttribute("aria-live")`), "polite");
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
    const still = url.replace(/page\.html$/, "still.html");
    const page = await browser.open(still);
    assert.deepEqual(await findings(page), [], "without script");
    await page.close();
  },

  "without script everything is there": async (url) => {
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

async function writeImages(url, folder) {
  mkdirSync(folder, {recursive: true});
  for (const dark of [false, true]) {
    const page = await browser.open(url, {dark, width: 1000, height: 820});
    const box = await page.evaluate(`() => {
      const {x, y, width, height} = document.querySelectorAll(".u-over")[1].getBoundingClientRect();
      return {x, y, width, height};
    }`);
    await page.mouse("mouseMoved", box.x + box.width * 0.7, box.y + box.height / 2);
    writeFileSync(join(folder, dark ? "html-dark.webp" : "html-light.webp"), await page.screenshot());
    await page.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), "wattle-check-"));
let failed = 0;
try {
  const file = join(folder, "page.html");
  await makePage(file, ["sh", "-c", "sleep 3", hostile]);
  const url = pathToFileURL(file).href;
  writeFileSync(join(folder, "still.html"),
                readFileSync(file, "utf8").replace(/<script>[\s\S]*<\/script>/, ""));
  browser = await Browser.start(options.browser);
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check(url);
      console.log(`ok: ${name}`);
    } catch (error) {
      ++failed;
      console.log(`FAILED: ${name}\n${error.stack}`);
    }
  }
  if (options.images) {
    const pictured = join(folder, "pictured.html");
    await makePage(pictured, ["sleep", "10"]);
    await writeImages(pathToFileURL(pictured).href, options.images);
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
console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
