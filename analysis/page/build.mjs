// Bundles the page into one file: build.mjs OUT. Its own script and style are the only ones that
// its policy lets run, by their hashes.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];

async function bundle(entry) {
  const made = await build({
    absWorkingDir: here, entryPoints: [join(here, entry)], bundle: true, minify: true, write: false,
    format: "iife", target: ["chrome100", "firefox100", "safari15"], charset: "ascii",
    legalComments: "inline", logLevel: "warning",
  });
  return made.outputFiles[0].text.trim();
}

const script = (await bundle("src/main.js")).replaceAll("</script", "<\\/script");
const style = await bundle("page.css");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = [
  "default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`, "img-src data:",
  "base-uri 'none'", "form-action 'none'",
].join("; ");

const page = readFileSync(join(here, "page.html"), "utf8")
  .replace("@POLICY@", () => policy)
  .replace("@STYLE@", () => style)
  .replace("@SCRIPT@", () => script);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, page);
