// Saves the first picture of a report page as SVG, as its button does: picture.mjs PAGE OUT BROWSER.
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { open } from "../tests/page/browser.mjs";

const [, , file, out, program] = process.argv;
const browser = await open(program);
const page = await browser.newPage();
await page.theme("light");
await page.size(960);
await page.visit(`file://${resolve(file)}`);
const svg = await page.evaluate(`new Promise((done) => {
  URL.createObjectURL = (blob) => { done(blob.text()); return "blob:none"; };
  HTMLAnchorElement.prototype.click = () => {};
  document.querySelector("#top figure button").click();
})`);
writeFileSync(out, `${svg.replaceAll("><", ">\n<")}\n`);
await browser.close();
