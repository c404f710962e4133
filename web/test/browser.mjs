// Drives headless Chromium over its DevTools protocol.
import {spawn} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import WebSocket from "ws";

const kPatienceMs = 30_000;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Browser {
  static async start(program) {
    const browser = new Browser();
    browser.profile = mkdtempSync(join(tmpdir(), "wattle-browser-"));
    browser.process = spawn(program, [
      "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
      "--disable-background-networking", "--remote-debugging-port=0",
      `--user-data-dir=${browser.profile}`, "about:blank",
    ], {stdio: "ignore", env: {...process.env, TZ: "UTC", LC_ALL: "C.UTF-8"}});
    const [port, path] = await browser.address();
    browser.socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
    await new Promise((resolve, reject) => {
      browser.socket.once("open", resolve).once("error", reject);
    });
    browser.socket.on("message", (text) => browser.receive(JSON.parse(text)));
    return browser;
  }

  constructor() {
    this.answers = new Map();
    this.pages = new Map();
    this.number = 0;
  }

  // Chromium writes it to a file once it listens.
  async address() {
    for (const start = Date.now(); Date.now() - start < kPatienceMs; await pause(50)) {
      try {
        const lines = readFileSync(join(this.profile, "DevToolsActivePort"), "utf8").split("\n");
        if (lines.length > 1) return lines;
      } catch {}
    }
    throw new Error("Chromium did not start");
  }

  receive(message) {
    const waiting = this.answers.get(message.id);
    if (waiting) {
      this.answers.delete(message.id);
      if (message.error) waiting.reject(new Error(`${waiting.method}: ${message.error.message}`));
      else waiting.resolve(message.result);
    } else if (message.sessionId) {
      this.pages.get(message.sessionId)?.onEvent(message.method, message.params);
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.number;
    this.socket.send(JSON.stringify({id, method, params, sessionId}));
    return new Promise((resolve, reject) => this.answers.set(id, {resolve, reject, method}));
  }

  // `answers`: by path, what is answered instead of the server.
  async open(url, {script = true, dark = false, width = 1100, height = 900, answers = {}} = {}) {
    const {targetId} = await this.send("Target.createTarget", {url: "about:blank"});
    const {sessionId} = await this.send("Target.attachToTarget", {targetId, flatten: true});
    const page = new Page(this, sessionId, targetId);
    this.pages.set(sessionId, page);
    await page.send("Page.enable");
    await page.send("Runtime.enable");
    await page.send("Log.enable");
    await page.send("Network.enable");
    await page.send("Emulation.setDeviceMetricsOverride",
                    {width, height, deviceScaleFactor: 1, mobile: false});
    await page.send("Emulation.setEmulatedMedia",
                    {features: [{name: "prefers-color-scheme", value: dark ? "dark" : "light"}]});
    page.answers = answers;
    if (Object.keys(answers).length > 0) {
      await page.send("Fetch.enable", {patterns: Object.keys(answers).map((path) => ({urlPattern: `*${path}`}))});
    }
    if (!script) await page.send("Emulation.setScriptExecutionDisabled", {value: true});
    const start = performance.now();
    const loaded = new Promise((resolve) => page.once("Page.loadEventFired", resolve));
    await page.send("Page.navigate", {url});
    await loaded;
    page.loadedMs = performance.now() - start;
    return page;
  }

  async close() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    await this.send("Browser.close").catch(() => {});
    await ended;
    this.socket.close();
    rmSync(this.profile, {recursive: true, force: true, maxRetries: 10, retryDelay: 100});
  }
}

class Page {
  constructor(browser, sessionId, targetId) {
    Object.assign(this, {browser, sessionId, targetId, messages: [], requests: [], tokens: [], waiting: []});
  }
  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }
  once(method, call) {
    this.waiting.push({method, call});
  }

  onEvent(method, params) {
    if (method === "Runtime.consoleAPICalled") this.messages.push(params.args.map((a) => a.value).join(" "));
    if (method === "Runtime.exceptionThrown") {
      this.messages.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    }
    if (method === "Log.entryAdded") this.messages.push(params.entry.text);
    if (method === "Network.requestWillBeSent") {
      const {url, headers} = params.request;
      this.requests.push(url);
      if (headers.Authorization) this.tokens.push({url, token: headers.Authorization});
    }
    if (method === "Fetch.requestPaused") {
      const body = Buffer.from(JSON.stringify(this.answers[new URL(params.request.url).pathname])).toString("base64");
      void this.send("Fetch.fulfillRequest", {requestId: params.requestId, responseCode: 200, body});
    }
    const [called, rest] = [[], []];
    for (const one of this.waiting) (one.method === method ? called : rest).push(one);
    this.waiting = rest;
    for (const {call} of called) call(params);
  }

  // What `source`, a function, returns in the page.
  async evaluate(source, ...values) {
    const {result, exceptionDetails} = await this.send("Runtime.evaluate", {
      expression: `(${source})(...${JSON.stringify(values)})`, awaitPromise: true, returnByValue: true,
    });
    if (exceptionDetails) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value;
  }
  // A whole script; no Content-Security-Policy stops it.
  async inject(text) {
    await this.send("Runtime.evaluate", {expression: text});
  }

  async mouse(type, x, y, buttons = 0, clickCount = 1) {
    const button = type === "mouseMoved" && !buttons ? "none" : "left";
    await this.send("Input.dispatchMouseEvent", {type, x, y, button, buttons, clickCount});
  }
  async press(key) {
    for (const type of ["keyDown", "keyUp"]) {
      const text = type === "keyDown" && key.length === 1 ? {text: key} : {};
      const codes = {Tab: 9, Escape: 27};
      if (codes[key]) Object.assign(text, {code: key, windowsVirtualKeyCode: codes[key]});
      await this.send("Input.dispatchKeyEvent", {type, key, ...text});
    }
  }
  // What is seen without scrolling, as WebP.
  async screenshot() {
    const {data} = await this.send("Page.captureScreenshot", {format: "webp", quality: 80});
    return Buffer.from(data, "base64");
  }
  async close() {
    await this.browser.send("Target.closeTarget", {targetId: this.targetId});
  }
}
