// Headless Chromium, driven over the two pipes of its DevTools protocol: no library, no port.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SECONDS = 60; // for one answer: only a browser that hangs takes so long

export async function open(program) {
  const home = mkdtempSync(join(tmpdir(), "iostudy-page-"));
  const child = spawn(program, [
    "--headless", "--no-sandbox", "--remote-debugging-pipe", `--user-data-dir=${home}`, "--disable-gpu",
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars", "about:blank",
  ], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], env: { ...process.env, HOME: home } });
  const [, , , input, output] = child.stdio;
  const asked = new Map(), listeners = [];
  let number = 0, rest = [];
  const gone = new Promise((resolve) => child.on("exit", resolve));

  child.on("error", () => {});
  for (const stream of [input, output]) stream.on("error", () => {});
  output.on("data", (bytes) => {
    for (let end; (end = bytes.indexOf(0)) >= 0; bytes = bytes.subarray(end + 1)) {
      const message = JSON.parse(Buffer.concat([...rest, bytes.subarray(0, end)]).toString());
      rest = [];
      if (message.id) asked.get(message.id)?.(message);
      else listeners.forEach((listener) => listener(message));
    }
    rest.push(bytes);
  });
  function ask(method, params = {}, sessionId) {
    const id = ++number;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${method}: no answer in ${SECONDS} s`)), SECONDS * 1000);
      asked.set(id, (message) => {
        clearTimeout(late);
        asked.delete(id);
        if (message.error) reject(new Error(`${method}: ${message.error.message}`));
        else resolve(message.result);
      });
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }
  return {
    newPage: () => newPage(ask, (listener) => listeners.push(listener)),
    async close() {
      ask("Browser.close").catch(() => {});
      const killer = setTimeout(() => child.kill("SIGKILL"), 5000);
      await gone;
      clearTimeout(killer);
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function newPage(ask, listen) {
  const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await ask("Target.attachToTarget", { targetId, flatten: true });
  const page = { complaints: [], requests: [] };
  const send = (method, params) => ask(method, params, sessionId);
  const waiting = [];

  listen((message) => {
    if (message.sessionId !== sessionId) return;
    const { method, params } = message;
    if (method === "Runtime.exceptionThrown")
      page.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled")
      page.complaints.push(`console.${params.type}: ${params.args.map((a) => a.value ?? a.description).join(" ")}`);
    if (method === "Log.entryAdded") page.complaints.push(`${params.entry.source}: ${params.entry.text}`);
    if (method === "Network.requestWillBeSent") page.requests.push(params.request.url);
    for (const entry of waiting.filter(([name]) => name === method)) entry[1](params);
  });
  await send("Emulation.setFocusEmulationEnabled", { enabled: true });
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`);

  Object.assign(page, {
    send,
    event: (name) => new Promise((resolve) => waiting.push([name, resolve])),
    // The value of an expression in the page, also of a promise.
    async evaluate(expression) {
      const { result, exceptionDetails } = await send("Runtime.evaluate",
        { expression, awaitPromise: true, returnByValue: true });
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    },
    async size(width, height = 900, mobile = false) {
      await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile });
      await page.settle();
    },
    async theme(value) {
      await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });
      await page.settle();
    },
    async visit(url) {
      const loaded = page.event("Page.loadEventFired");
      await send("Page.navigate", { url });
      await loaded;
      await page.settle();
    },
    // Two frames: sizes are told, and what came into view is drawn.
    settle: () => page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"),
    // Through the whole page, so that everything is drawn.
    async scrollThrough() {
      await page.evaluate(`(async () => {
        for (let y = 0; y < document.documentElement.scrollHeight; y += 0.8 * innerHeight) {
          scrollTo(0, y);
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        }
        scrollTo(0, 0);
      })()`);
      await page.settle();
    },
    // From the top, so many pixels of it.
    async screenshot(height) {
      const clip = { x: 0, y: 0, width: await page.evaluate("innerWidth"), height, scale: 1 };
      const { data } = await send("Page.captureScreenshot", { format: "png", captureBeyondViewport: true, clip });
      return Buffer.from(data, "base64");
    },
  });
  return page;
}
