// Drives headless Chromium by playwright-core.
import {chromium} from "playwright-core";

export class Browser {
  static async start(program) {
    const browser = new Browser();
    browser.server = await chromium.launchServer({
      executablePath: program,
      args: ["--no-sandbox", "--disable-gpu"],
      env: {...process.env, TZ: "UTC", LC_ALL: "C.UTF-8"},
    });
    browser.process = browser.server.process();
    browser.connection = await chromium.connect(browser.server.wsEndpoint());
    return browser;
  }

  // `answers`: by path, what is answered instead of the server.
  async open(url, {script = true, dark = false, width = 1100, height = 900, answers = {}} = {}) {
    const context = await this.connection.newContext({
      viewport: {width, height},
      colorScheme: dark ? "dark" : "light",
      javaScriptEnabled: script,
    });
    const page = new Page(context, await context.newPage());
    page.session = await context.newCDPSession(page.page);
    for (const [path, answer] of Object.entries(answers)) {
      await page.page.route((asked) => asked.pathname === path, (route) => route.fulfill({json: answer}));
    }
    const start = performance.now();
    if (url !== "about:blank") await page.go(url);
    page.loadedMs = performance.now() - start;
    return page;
  }

  async close() {
    await this.connection.close();
    await this.server.close();
  }
}

class Page {
  constructor(context, page) {
    Object.assign(this, {context, page, messages: [], requests: [], tokens: []});
    page.on("console", (message) => this.messages.push(message.text()));
    page.on("pageerror", (error) => this.messages.push(error.stack ?? error.message));
    page.on("request", (request) => {
      this.requests.push(request.url());
      const token = request.headers().authorization;
      if (token) this.tokens.push({url: request.url(), token});
    });
  }
  // A script that runs before those of every page that it goes to.
  async prepare(text) {
    await this.page.addInitScript({content: text});
  }
  async go(url) {
    await this.page.goto(url, {waitUntil: "load"});
  }
  // Speaks to Chromium's DevTools directly, for what playwright-core has no name for.
  send(method, params = {}) {
    return this.session.send(method, params);
  }

  // What `source`, a function, returns in the page. No Content-Security-Policy stops it.
  async evaluate(source, ...values) {
    const {result, exceptionDetails} = await this.send("Runtime.evaluate", {
      expression: `(${source})(...${JSON.stringify(values)})`, awaitPromise: true, returnByValue: true,
    });
    if (exceptionDetails) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value;
  }
  // A whole script.
  async inject(text) {
    await this.send("Runtime.evaluate", {expression: text});
  }

  get mouse() {
    return this.page.mouse;
  }
  async press(key) {
    await this.page.keyboard.press(key);
  }
  // What is seen without scrolling, as WebP.
  async screenshot() {
    const {data} = await this.send("Page.captureScreenshot", {format: "webp", quality: 80});
    return Buffer.from(data, "base64");
  }
  async close() {
    await this.context.close();
  }
}
