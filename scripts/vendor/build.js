// Makes vendor.js of the chat page and of the board (src/qiusuo/web/static/page and its folder board), with their
// licences and a vendor.json each (versions and hash, checked by a test); for the board also uPlot's style sheet.
//
//   npm ci && npm run build            (with a folder behind it: writes there)
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const page = process.argv[2] ? pathToFileURL(`${process.argv[2]}/`) : new URL("../../src/qiusuo/web/static/page/", import.meta.url);
const board = new URL("board/", page);
const lock = JSON.parse(readFileSync("package-lock.json", "utf8")).packages;

async function bundle(entry, folder) {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    minify: true,
    target: "es2022",
    legalComments: "none",
    charset: "utf8",
    metafile: true,
    alias: { entities: "./entities.js" },
    write: false,
  });
  const code = `/* Made by scripts/vendor from the packages named in vendor.json; licences in vendor-licenses.txt. */\n${result.outputFiles[0].text}`;

  const used = new Set();
  for (const file of Object.keys(result.metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file);
    if (found) used.add(found[1]);
  }
  const names = [...used].sort();
  const packages = Object.fromEntries(names.map((name) => [name, lock[`node_modules/${name}`].version]));
  const licences = names.map((name) => {
    const home = `node_modules/${name}`;
    const files = readdirSync(home).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
    const texts = files.map((file) => readFileSync(`${home}/${file}`, "utf8").trim());
    const { license } = JSON.parse(readFileSync(`${home}/package.json`, "utf8"));
    return `${"=".repeat(80)}\n${name} ${packages[name]} (${license})\n\n${texts.join("\n\n") || `Licence: ${license}`}\n`;
  });

  const sha256 = createHash("sha256").update(code).digest("hex");
  writeFileSync(new URL("vendor.js", folder), code);
  writeFileSync(new URL("vendor-licenses.txt", folder), licences.join("\n"));
  writeFileSync(new URL("vendor.json", folder), `${JSON.stringify({ sha256, packages }, null, 2)}\n`);
  console.log(`${entry}: ${code.length} bytes, ${gzipSync(code, { level: 9 }).length} compressed; ${names.join(", ")}`);
  for (const [file, { bytesInOutput }] of Object.entries(Object.values(result.metafile.outputs)[0].inputs)) {
    if (bytesInOutput > 4000) console.log(`  ${bytesInOutput}\t${file}`);
  }
}

await bundle("entry.js", page);
mkdirSync(board, { recursive: true });
await bundle("board.js", board);
writeFileSync(new URL("uplot.css", board), readFileSync("node_modules/uplot/dist/uPlot.min.css", "utf8"));
