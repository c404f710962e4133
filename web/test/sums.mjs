// node test/sums.mjs: adds up energies as the daemon's page does, and fails where a ± or a flag is not what it should be.
import assert from "node:assert/strict";
import {fileURLToPath} from "node:url";

import {build} from "esbuild";

const sources = ["model", "energy", "view"].map((name) =>
  `export * from ${JSON.stringify(fileURLToPath(new URL(`../src/dashboard/${name}.ts`, import.meta.url)))};`);
const {outputFiles: [bundle]} = await build({
  stdin: {contents: sources.join("\n"), resolveDir: "/"},
  bundle: true, format: "esm", target: "es2020", write: false,
});
// Plots follow the colours of the screen; nothing is drawn here.
globalThis.matchMedia = () => ({addEventListener() {}});
const {doubtOf, EnergyWindows, energyOf, Model, powerOf, summaryOf} =
  await import(`data:text/javascript;base64,${Buffer.from(bundle.text).toString("base64")}`);

const kMinute = 60;
const windowsOf = (domains) => {
  const windows = new EnergyWindows();
  windows.restart(kMinute);
  domains.forEach((each, i) => {
    const answer = {from: (i + 1) * kMinute, to: (i + 2) * kMinute, domains: each};
    assert.equal(windows.take(answer, answer.from), true, "a whole minute is closed");
  });
  return windows;
};
const domain = (name, common_j, flags = []) =>
  ({domain: name, energy_j: 100, uncertainty_j: 5, common_j, unknown_s: 0, flags});

const tests = {
  "what comes back adds up with its sign": () => {
    assert.deepEqual(doubtOf([{doubt: 5, common: 3}, {doubt: 5, common: 3}]), {doubt: Math.hypot(Math.sqrt(32), 6), common: 6});
    assert.deepEqual(doubtOf([{doubt: 5, common: 4}, {doubt: 5, common: -4}]), {doubt: Math.sqrt(18), common: 0});
  },
  "what one window lacks is in the next": () => {
    const late = (sign) => [domain("package_0", 4 * sign)];
    assert.equal(windowsOf([late(1), late(-1)]).energyOf("package_0").doubt, Math.sqrt(18));
    assert.equal(windowsOf([late(1), late(1)]).energyOf("package_0").doubt, Math.hypot(Math.sqrt(18), 8));
  },
  "a daemon that hides it, or does not know it, has windows that are independent": () => {
    for (const common of [null, undefined]) {
      const windows = windowsOf([[domain("package_0", common)], [domain("package_0", common)]]);
      assert.equal(windows.energyOf("package_0").doubt, Math.sqrt(50));
    }
  },
  "devices of one kind are late alike": () => {
    const windows = windowsOf([[domain("package_0", 5), domain("package_1", 5)]]);
    const model = new Model(() => 0, windows);
    assert.equal(energyOf([model.device("package_0"), model.device("package_1")]).doubt, 10);
  },
  "a flag of any window is one of the energy, and of the total": () => {
    const windows = windowsOf([[domain("nvidia_gpu_0", 0, ["partial_coverage"])], [domain("nvidia_gpu_0", 0, ["gap"])]]);
    const model = new Model(() => 0, windows);
    const devices = [model.device("nvidia_gpu_0")];
    assert.deepEqual(devices[0].energy.flags, ["partial_coverage", "gap"]);
    assert.deepEqual(energyOf(devices).flags, ["partial_coverage", "gap"]);
  },
  "a sensor that sees a part of the time flags the power of now": () => {
    const model = new Model(() => 0, new EnergyWindows());
    model.takeMetrics('wattle_sensor_up{domain="nvidia_gpu_0",additive="true"} 1\n' +
      'wattle_power_watts{domain="nvidia_gpu_0"} 150\nwattle_power_coverage_ratio{domain="nvidia_gpu_0"} 0.14\n', 1);
    const [power, energy] = [powerOf(model.sorted), energyOf(model.sorted)];
    assert.deepEqual(power.flags, ["partial_coverage"]);
    const subject = {name: "node1", isOne: true, parts: [], seconds: 0};
    assert.match(summaryOf(subject, model.sorted, power, energy), / Flags: partial_coverage\.$/);
  },
};

for (const [name, test] of Object.entries(tests)) {
  test();
  console.log(`ok: ${name}`);
}
