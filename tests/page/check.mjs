// Looks at a report page as a reader would: check.mjs CHECK PAGE FOLDER BROWSER. Prints what is
// wrong, a line each, then "checked N things"; pictures of the screen go into FOLDER.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "./browser.mjs";

const [, , check, file, folder, program] = process.argv;
let things = 0;

function expect(holds, what) {
  things++;
  if (!holds) console.log(what);
}

// No word in the console, no script's failure, nothing refused by the policy, nothing asked for.
function quiet(page) {
  expect(page.complaints.length === 0, `the console says: ${page.complaints.slice(0, 3).join(" | ").slice(0, 600)}`);
  expect(page.requests.every((url) => /^(file|data|blob):/.test(url)) && page.requests.filter((url) => url.startsWith("file:")).length === 1,
    `it asked for ${page.requests.join(" ")}`);
}

async function allDrawn(page) {
  await page.evaluate(`for (const more of document.querySelectorAll("button.more")) while (!more.hidden) more.click()`);
  if (check === "drawn") await page.scrollThrough();
  else await page.evaluate(`dispatchEvent(new Event("beforeprint"))`);
  await page.settle();
  const figures = await page.evaluate(`[...document.querySelectorAll("figure")].map((f) => ({
    title: f.querySelector("figcaption").textContent, drawn: f.dataset.drawn,
    marks: f.querySelectorAll("svg [data-tip]").length, axis: f.querySelectorAll("svg text").length,
    label: f.querySelector(".frame").getAttribute("aria-label") }))`);
  for (const { title, drawn, marks, axis, label } of figures) {
    expect(Number(drawn) > 0 && marks > 0 && axis > 2, `not drawn: ${title} (${drawn}, ${marks} marks)`);
    expect(label?.length > title.length - 3, `no words for: ${title}`);
  }
  return figures.map((figure) => figure.title);
}

const checks = {
  async drawn(page) {
    const titles = await allDrawn(page);
    for (const wanted of ["Requests in flight against threads", "Latency", "Threads parked against depth",
      "Throughput against depth", "Over whom it arrived", "States of threads"])
      expect(titles.some((title) => title.includes(wanted)), `no picture: ${wanted}`);
    const sections = await page.evaluate(`[...document.querySelectorAll("main section")].map((s) => s.id).join(" ")`);
    expect(sections === "top results findings latency depth completions states facts runs method", `sections: ${sections}`);
    const probes = await page.evaluate("[...document.querySelectorAll('#method table tbody tr')].map((row) => row.textContent).join(' ')");
    expect(probes.includes("(table 1)perf"), `no table of the probes side by side: ${probes}`);
    expect((await page.evaluate("document.querySelector('h1').textContent")).startsWith("With "), "no answer at the top");
    expect(await page.evaluate("/script-src 'sha256-/.test(document.querySelector('meta[http-equiv]').content)"), "no strict policy");
    const sums = await page.evaluate(`[...document.querySelectorAll("#states figure")].flatMap((figure) => {
      const bars = {};
      for (const mark of figure.querySelectorAll("rect[data-tip]")) {
        const y = mark.getAttribute("y");
        bars[y] = (bars[y] ?? 0) + Number(mark.getAttribute("width"));
      }
      const most = Math.max(...Object.values(bars));
      return Object.values(bars).map((width) => [width, most]);
    })`);
    expect(sums.length > 3, "no bars of states");
    for (const [width, most] of sums) expect(Math.abs(width - most) < 0.03 * most, `states do not sum to 100 %: ${width} of ${most}`);
    const dashed = await page.evaluate(`[...document.querySelectorAll("#latency [data-tip]")].some((m) => m.dataset.tip.includes("from the schedule"))`);
    expect(dashed, "no curve from the schedule");
  },

  async layout(page) {
    mkdirSync(folder, { recursive: true });
    for (const theme of ["light", "dark"]) {
      await page.theme(theme);
      for (const width of [360, 768, 1440]) {
        await page.size(width);
        await allDrawn(page);
        const [wide, beyond] = await page.evaluate(`[document.documentElement.scrollWidth,
          [...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll, svg, .tip, .skip") &&
            e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.tagName + "." + e.className).slice(0, 5).join(" ")]`);
        expect(wide <= width, `at ${width} px it is ${wide} px wide: ${beyond}`);
        expect(beyond === "", `at ${width} px beyond the edge: ${beyond}`);
        const picture = join(folder, `${theme}-${width}.png`);
        writeFileSync(picture, await page.screenshot(2400));
        expect(statSync(picture).size > 20000, `${picture} is empty`);
      }
      const [paper, ink] = await page.evaluate(`[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]`);
      const light = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) > 380;
      expect(light(paper) === (theme === "light") && light(ink) === (theme === "dark"), `${theme}: ${ink} on ${paper}`);
    }
    await page.send("Emulation.setEmulatedMedia", { media: "print", features: [] });
    await page.settle();
    const { data } = await page.send("Page.printToPDF", { printBackground: true });
    expect(data.length > 50000, "the print is empty");
  },

  async use(page) {
    // what is saved is looked at instead of written
    await page.evaluate(`(() => { window.saved = [];
      URL.createObjectURL = (blob) => { saved.push(blob); return "blob:none"; };
      HTMLAnchorElement.prototype.click = function () { saved.push(this.download); }; })()`);
    const engines = () => page.evaluate(`[...new Set([...document.querySelectorAll("#results tbody th")].map((th) => th.textContent.split(" ")[0]))].join(" ")`);
    expect((await engines()).includes("blocking"), `engines: ${await engines()}`);
    await page.evaluate(`document.querySelector("#filter input[value=uring]").click()`);
    expect(await engines() === "uring", `filtered to uring: ${await engines()}`);
    await page.evaluate(`document.querySelector("#filter input[value=socket-delay]").click()`);
    expect(await page.evaluate(`document.querySelector(".said").textContent`) !== "", "what is shown is not said");
    await page.evaluate(`document.querySelector("#filter button").click()`);
    expect((await engines()).includes("blocking"), "Show all shows not all");
    await allDrawn(page);
    const tip = () => page.evaluate(`document.querySelector(".tip.shown")?.textContent ?? ""`);
    const at = await page.evaluate(`(() => { const mark = document.querySelector("#top [data-tip]");
      mark.scrollIntoView({ block: "center" }); const box = mark.getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2, tip: mark.dataset.tip }; })()`);
    await page.send("Input.dispatchMouseEvent", { type: "mouseMoved", x: at.x, y: at.y });
    await page.settle();
    expect(await tip() === at.tip && /\d (requests|threads) /.test(at.tip), `the tooltip says "${await tip()}", not "${at.tip}"`);
    await page.send("Input.dispatchMouseEvent", { type: "mouseMoved", x: 1, y: 1 });
    await page.evaluate(`document.querySelector("#latency .frame").focus()`);
    await page.settle();
    for (let i = 0; i < 3; i++) await page.send("Input.dispatchKeyEvent", { type: "keyDown", key: "ArrowRight", code: "ArrowRight" });
    await page.settle();
    expect(/ % within .* [µmn]?s/.test(await tip()), `by the keys: "${await tip()}"`);
    await page.evaluate(`document.activeElement.blur()`);
    expect(await tip() === "", "the tooltip stays");
    await page.evaluate(`for (const b of document.querySelectorAll("button")) if (/^(SVG|CSV)$/.test(b.textContent)) b.click()`);
    const texts = await page.evaluate(`Promise.all(saved.filter((s) => s instanceof Blob).map((b) => b.text()))`);
    const figures = await page.evaluate(`document.querySelectorAll("figure").length`);
    const svg = texts.filter((text) => text.startsWith("<svg"));
    expect(svg.length === figures, `${svg.length} SVG of ${figures} pictures`);
    expect(svg.every((text) => text.includes("xmlns=") && !text.includes("var(--")), "an SVG that does not stand alone");
    const csv = texts.filter((text) => !text.startsWith("<svg"));
    expect(csv.length >= 4 && csv.every((text) => text.split("\r\n").length > 2), `${csv.length} CSV`);
    expect(csv.some((text) => text.startsWith("engine,workload,wait,depth,in_flight_mean")), "no CSV of the results");
    await page.evaluate(`document.querySelector("#runs summary").click()`);
    await page.settle();
    expect(await page.evaluate(`document.querySelectorAll("#runs tbody tr").length`) > 3, "no rows run by run");
    const named = await page.evaluate(`[...document.querySelectorAll("button, input, [tabindex='0']")].every((e) =>
      e.textContent.trim() || e.getAttribute("aria-label") || e.closest("label"))`);
    expect(named, "something to use has no name");
  },

  async hostile(page) {
    await allDrawn(page);
    expect(await page.evaluate("window.hacked === undefined && document.title !== 'hacked'"), "a name was run");
    expect(await page.evaluate(`document.querySelectorAll("img, iframe, object, embed, script[src], link[href^=http], b script").length`) === 0, "a name became an element");
    expect(await page.evaluate("document.querySelectorAll('script:not([type])').length") === 1, "a script more");
    const text = await page.evaluate("document.body.innerText");
    expect(text.includes("</script><script>hacked"), "the name is not shown as it is");
    expect(text.includes("<img src=x onerror="), "the other name is not shown as it is");
    expect(!/[\u202e\u0007]/u.test(text), "controls are in the text");
  },

  async many(page) {
    const shown = await page.evaluate("performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart");
    console.error(`10,000 runs: shown after ${shown} ms`);
    expect(await page.evaluate("document.getElementById('counted').textContent.includes('10,000 runs')"), "not 10,000 runs");
    expect(shown < 30000, `shown after ${shown} ms`);
    expect(await page.evaluate("document.querySelectorAll('*').length") < 20000, "too many elements at once");
  },
};

const browser = await open(program);
try {
  const page = await browser.newPage();
  await page.size(1280);
  await page.visit(`file://${file}`);
  expect(await page.evaluate("document.documentElement.dataset.ready") === "yes", "it did not come up");
  await checks[check](page);
  quiet(page);
} catch (error) {
  console.log(`it broke off: ${error.message}`);
} finally {
  await browser.close();
}
console.log(`checked ${things} things`);
