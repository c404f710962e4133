// Runs ruff with its default rules: node ruff.mjs FILE... (needs @astral-sh/ruff-wasm-nodejs).
import fs from "node:fs";
import { createRequire } from "node:module";
import process from "node:process";

const { PositionEncoding, Workspace } = createRequire(process.cwd() + "/")("@astral-sh/ruff-wasm-nodejs");
const workspace = new Workspace(Workspace.defaultSettings(), PositionEncoding.Utf16);
let found = 0;
for (const file of process.argv.slice(2)) {
  for (const one of workspace.check(fs.readFileSync(file, "utf8"))) {
    const { row, column } = one.start_location;
    console.log(`${file}:${row}:${column}: ${one.code} ${one.message}`);
    found += 1;
  }
}
console.log(`ruff: ${process.argv.length - 2} files, ${found || "nothing"} found`);
process.exit(found ? 1 : 0);
