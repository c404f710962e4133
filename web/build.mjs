// node build.mjs FOLDER: bundles the script of the HTML pages, uPlot in it, into FOLDER/page.js and its
// style into FOLDER/page.css.
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {fileURLToPath} from "node:url";
import {build} from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = process.argv[2];
if (!folder) throw new Error("usage: node build.mjs FOLDER");

const modules = join(here, "node_modules");
const license = readFileSync(join(modules, "uplot/LICENSE"), "utf8").trim();
const {version} = JSON.parse(readFileSync(join(modules, "uplot/package.json"), "utf8"));
const notice = `/*! uPlot ${version}, part of this page.\n${license}\n*/`;

await build({
  entryPoints: [join(here, "src/main.ts")],
  outfile: join(folder, "page.js"),
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  charset: "utf8",
  legalComments: "none",
  banner: {js: notice, css: notice},
  logLevel: "warning",
});
