// A daemon with the page of a machine that is made up: see Machine for its CPUs. Its GPUs are those of the
// fake NVML, whose script says what they draw.
import {spawn} from "node:child_process";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";

const kPatienceMs = 10_000;

/// Of a GPU that goes up and down, and of one that draws 120 W and has no counter. `name`: of the second.
export function gpusOf(name) {
  const curve = Array.from({length: 400}, (_, i) => {
    const load = 0.55 + 0.3 * Math.sin(i / 9) + 0.15 * Math.sin(i / 2.3) + (i % 40 < 9 ? -0.35 : 0);
    return `${i} ${Math.round(60 + 240 * Math.max(0, Math.min(1, load)))}`;
  });
  return `gpu NVIDIA H100 PCIe\nuuid GPU-aaaa\npci 0000:41:00\npower linear ${curve.join(" ")}\nlimit 310 350\n` +
    "counter 500000\npersistence on\n" +
    `gpu ${name}\nuuid GPU-bbbb\npci 0000:61:00\npower step 0 120\ncounter none\n`;
}

export class Daemon {
  constructor(program, {sysfs, nvml, gpus, words = []}) {
    this.folder = mkdtempSync(join(tmpdir(), "wattle-daemon-"));
    this.program = program;
    this.words = words;
    this.env = {
      ...process.env, WATTLE_SYSFS: sysfs, WATTLE_PROCFS: this.folder,
      WATTLE_NVML_LIBRARY: nvml ?? join(this.folder, "none.so"), WATTLE_FAKE_NVML: join(this.folder, "gpus"),
    };
    writeFileSync(this.env.WATTLE_FAKE_NVML, gpus ?? "");
    this.port = 0;
    this.enabled = "dashboard";
  }

  // Again at the same port, if it was there before.
  async start() {
    this.process = spawn(this.program, [
      "serve", "--enable", this.enabled, "--mode", "tcp", "--tcp-bind-address", `127.0.0.1:${this.port}`,
      ...this.words,
    ], {stdio: ["ignore", "ignore", "pipe"], env: this.env});
    let log = "";
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the daemon did not start: ${log}`)), kPatienceMs);
      const ended = () => reject(new Error(`the daemon ended: ${log}`));
      this.process.once("close", ended);
      this.process.stderr.on("data", (part) => {
        log += part;
        const place = / at 127\.0\.0\.1:(\d+)/.exec(log);
        if (!place) return;
        this.port = Number(place[1]);
        clearTimeout(timer);
        this.process.off("close", ended);
        resolve();
      });
    });
    return `http://127.0.0.1:${this.port}/`;
  }

  async stop() {
    const ended = new Promise((resolve) => this.process.once("close", resolve));
    this.process.kill("SIGTERM");
    await ended;
  }
  async close() {
    await this.stop();
    rmSync(this.folder, {recursive: true});
  }
}
