// node build.mjs FOLDER: bundles the script of the HTML pages, uPlot in it, into FOLDER/page.js and its
// style into FOLDER/page.css.
// node build.mjs --dashboard [FOLDER]: builds the page of the daemon into FOLDER (default: built/), which is
// checked in: dashboard.html, its Content-Security-Policy dashboard.csp, and SHA256SUMS of these and of all
// that they are built from.
import {createHash} from "node:crypto";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";
import {build} from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const modules = join(here, "node_modules");
const license = readFileSync(join(modules, "uplot/LICENSE"), "utf8").trim();
const {version} = JSON.parse(readFileSync(join(modules, "uplot/package.json"), "utf8"));
const notice = `/*! uPlot ${version}, part of this page.\n${license}\n*/`;

const common = {
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2020",
  charset: "utf8",
  legalComments: "none",
  banner: {js: notice, css: notice},
  logLevel: "warning",
};

const kMostGzipBytes = 120 * 1024;

async function buildDashboard(folder) {
  const {outputFiles, metafile} = await build({
    ...common, entryPoints: [join(here, "src/dashboard/main.ts")], outfile: "page.js", write: false,
    metafile: true, absWorkingDir: here,
  });
  const text = (ending) => outputFiles.find(({path}) => path.endsWith(ending)).text;
  const [style, script] = [text(".css"), text(".js")];
  if (/<\/(script|style)/i.test(script + style)) throw new Error("the bundle would end its own element");
  const page = readFileSync(join(here, "src/dashboard/page.html"), "utf8")
    .replace("/*STYLE*/", () => style).replace("/*SCRIPT*/", () => script);
  const sha256 = (data, form) => createHash("sha256").update(data).digest(form);
  const policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
    `connect-src 'self'; img-src data:; style-src 'sha256-${sha256(style, "base64")}'; ` +
    `script-src 'sha256-${sha256(script, "base64")}'`;
  const packed = gzipSync(page, {level: 9}).length;
  if (packed > kMostGzipBytes) throw new Error(`the page takes ${packed} bytes with gzip, more than ${kMostGzipBytes}`);
  mkdirSync(folder, {recursive: true});
  writeFileSync(join(folder, "dashboard.html"), page);
  writeFileSync(join(folder, "dashboard.csp"), policy);
  const sources = Object.keys(metafile.inputs).filter((path) => !path.startsWith("node_modules/"));
  sources.push("build.mjs", "package-lock.json", "src/dashboard/page.html");
  const sums = sources.sort().map((path) => `${sha256(readFileSync(join(here, path)), "hex")}  ${path}\n`);
  sums.push(`${sha256(page, "hex")}  built/dashboard.html\n`, `${sha256(policy, "hex")}  built/dashboard.csp\n`);
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
  console.log(`dashboard.html: ${page.length} bytes, ${packed} with gzip`);
}

const [first, second] = process.argv.slice(2);
if (!first) throw new Error("usage: node build.mjs FOLDER | --dashboard [FOLDER]");
if (first === "--dashboard") {
  await buildDashboard(second ?? join(here, "built"));
} else {
  await build({...common, entryPoints: [join(here, "src/main.ts")], outfile: join(first, "page.js")});
}
