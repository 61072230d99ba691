// Writes the pictures of docs/experiments.md: experiments.mjs RESULTS.jsonl FOLDER PREFIX. Prints the
// Markdown that shows them. A chart of calls (a row for a thread, a box for a call), lines over calls,
// users or files, and what changed over time.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const [, , file, folder, prefix] = process.argv;
const cases = readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
const measured = cases.filter((c) => c.measured);
const colours = ["#4269d0", "#efb118", "#ff725c", "#3ca951", "#9467bd", "#97bbf5", "#9c6b4e", "#555"];
const steps = ["calls", "users", "files"];
mkdirSync(folder, { recursive: true });

const escape = (text) => `${text}`.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const text = (x, y, content, rest = "") => `<text x="${x}" y="${y}" ${rest}>${escape(content)}</text>`;
const seconds = (ns) => (ns < 1e9 ? `${+(ns / 1e6).toPrecision(3)} ms` : `${+(ns / 1e9).toPrecision(3)} s`);

function save(name, title, width, height, parts) {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" \
height="${height}" font-family="sans-serif" font-size="11" role="img" aria-label="${escape(title)}">
<rect width="100%" height="100%" fill="#fff"/>
${text(8, 16, title, 'font-size="13" font-weight="bold"')}
${parts.join("\n")}
</svg>
`;
  writeFileSync(`${folder}/${name}.svg`, svg);
  console.log(`![${title}](${prefix}/${name}.svg)\n`);
}

const settingText = (c) => Object.entries(c.plan.setting)
  .map(([key, value]) => (key.endsWith("_ns") ? `${key.slice(0, -3)} ${seconds(value)}` : `${key} ${value}`))
  .join(", ");

// One panel for each mode: its threads as rows.
function drawCalls(name, group) {
  const width = 900, left = 130, parts = [];
  let top = 30;
  for (const c of group) {
    const end = Math.max(...c.calls.map((call) => call[1]));
    const threads = [...new Set(c.calls.map((call) => call[2]))].sort((a, b) => a - b);
    // Calls that overlap on one thread get lanes of their own.
    const lanes = new Map(threads.map((thread) => [thread, []]));
    const boxes = [...c.calls].sort((a, b) => a[0] - b[0]).map(([from, to, thread]) => {
      const ends = lanes.get(thread);
      let lane = ends.findIndex((at) => at <= from);
      if (lane < 0) lane = ends.push(0) - 1;
      ends[lane] = to;
      return { from, to, thread, lane };
    });
    const rows = [...lanes.values()].map((ends) => ends.length);
    const height = Math.max(2, Math.min(10, 110 / rows.reduce((a, b) => a + b)));
    const first = new Map();
    let row = 0;
    threads.forEach((thread, i) => { first.set(thread, row); row += rows[i]; });
    parts.push(text(8, top + 12, c.plan.mode), text(8, top + 25, seconds(c.measured.total_ns), 'fill="#555"'));
    parts.push(text(8, top + 38, `${threads.length} thread${threads.length > 1 ? "s" : ""} in calls`, 'fill="#555"'));
    for (const b of boxes) {
      const x = left + (b.from / end) * (width - left - 10);
      const w = Math.max(0.5, ((b.to - b.from) / end) * (width - left - 10) - 0.5);
      parts.push(`<rect x="${x.toFixed(1)}" y="${(top + (first.get(b.thread) + b.lane) * height).toFixed(1)}" \
width="${w.toFixed(1)}" height="${(height - Math.min(1, height / 4)).toFixed(1)}" fill="${colours[first.get(b.thread) % 2 ? 5 : 0]}"/>`);
    }
    top += Math.max(row * height, 42) + 14;
  }
  const c = group[0];
  save(name, `${c.plan.scenario}: a row for a thread, a box for a call (${settingText(c)})`, width, top, parts);
}

const nice = (low, high) => {
  const ticks = [];
  for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++)
    for (const m of [1, 2, 5]) if (m * 10 ** p >= low * 0.999 && m * 10 ** p <= high * 1.001) ticks.push(m * 10 ** p);
  return ticks;
};

// Lines over logarithmic axes.
function drawLines(name, title, xName, lines, format) {
  const width = 900, height = 380, left = 70, right = 210, top = 34, bottom = 40;
  const points = lines.flatMap((line) => line.points);
  const [x0, x1] = [Math.min(...points.map((p) => p[0])), Math.max(...points.map((p) => p[0]))];
  const [y0, y1] = [Math.min(...points.map((p) => p[1])) / 1.3, Math.max(...points.map((p) => p[1])) * 1.3];
  const x = (v) => left + (Math.log(v / x0) / Math.log(x1 / x0)) * (width - left - right);
  const y = (v) => height - bottom - (Math.log(v / y0) / Math.log(y1 / y0)) * (height - top - bottom);
  const parts = [];
  for (const v of nice(y0, y1))
    parts.push(`<path d="M${left} ${y(v)}H${width - right}" stroke="#ddd"/>`, text(left - 6, y(v) + 4, format(v), 'text-anchor="end"'));
  for (const v of [...new Set(points.map((p) => p[0]))])
    parts.push(text(x(v), height - bottom + 16, v.toLocaleString("en"), 'text-anchor="middle"'));
  parts.push(text((left + width - right) / 2, height - 6, xName, 'text-anchor="middle"'));
  const labels = lines.map((line, i) => ({ line, i, at: y(line.points.at(-1)[1]) })).sort((a, b) => a.at - b.at);
  labels.forEach((label, k) => { if (k && label.at < labels[k - 1].at + 13) label.at = labels[k - 1].at + 13; });
  for (const { line, i, at } of labels) {
    const path = line.points.map((p, k) => `${k ? "L" : "M"}${x(p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}`).join("");
    const colour = colours[i % colours.length];
    parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="2" stroke-dasharray="${i >= 4 ? "5 3" : "none"}"/>`);
    for (const p of line.points) parts.push(`<circle cx="${x(p[0]).toFixed(1)}" cy="${y(p[1]).toFixed(1)}" r="3" fill="${colour}"/>`);
    parts.push(text(width - right + 10, at + 4, line.name, `fill="${colour}"`));
  }
  save(name, title, width, height, parts);
}

// Calls that succeeded and failed in each part of the time, and the slowest of them.
function drawTime(name, group) {
  const width = 900, left = 130, parts = [];
  let top = 34;
  const end = Math.max(...group.map((c) => c.measured.total_ns));
  const x = (ns) => left + (ns / end) * (width - left - 90);
  for (const c of group) {
    const of = (series) => c.series.find((s) => s.name === series)?.points ?? [];
    const [good, bad, slow] = [of("succeeded"), of("failed"), of("latency_max")];
    const most = Math.max(1, ...good.map((p, i) => p[1] + (bad[i]?.[1] ?? 0)));
    const slowest = Math.max(1, ...slow.map((p) => p[1]));
    const each = good.length > 1 ? good[1][0] : end;
    good.forEach(([at, n], i) => {
      const failed = bad[i]?.[1] ?? 0, w = Math.max(1, x(each) - x(0) - 1);
      parts.push(`<rect x="${x(at).toFixed(1)}" y="${top + 50 - (n / most) * 50}" width="${w.toFixed(1)}" height="${(n / most) * 50}" fill="${colours[0]}"/>`);
      parts.push(`<rect x="${x(at).toFixed(1)}" y="${top + 50 - ((n + failed) / most) * 50}" width="${w.toFixed(1)}" height="${(failed / most) * 50}" fill="${colours[2]}"/>`);
    });
    const path = slow.map(([at, v], i) => `${i ? "L" : "M"}${x(at + each / 2).toFixed(1)} ${(top + 50 - (v / slowest) * 48).toFixed(1)}`).join("");
    parts.push(`<path d="${path}" fill="none" stroke="#222"/>`);
    parts.push(text(8, top + 14, c.plan.mode), text(8, top + 28, `${c.measured.calls - c.measured.failed} of ${c.measured.calls} good`, 'fill="#555"'));
    parts.push(text(width - 84, top + 14, `slowest ${seconds(slowest)}`, 'fill="#222"'));
    top += 64;
  }
  parts.push(text(left, top + 8, "0"), text(width - 90, top + 8, seconds(end), 'text-anchor="end"'));
  const c = group[0];
  save(name, `${c.plan.scenario}: answered (blue), failed (red), slowest (line), over time (${settingText(c)})`, width, top + 18, parts);
}

const by = (list, key) => {
  const groups = new Map();
  for (const item of list) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return [...groups.values()];
};
const step = (c) => steps.find((name) => typeof c.plan.setting[name] === "number");
const rest = (c) => JSON.stringify({ ...c.plan.setting, [step(c)]: 0 });

for (const all of by(measured, (c) => c.plan.scenario)) {
  const scenario = all[0].plan.scenario;
  let n = 0;
  console.log(`### ${scenario}\n`);
  for (const group of by(all, (c) => JSON.stringify(c.plan.setting))) {
    const drawn = group.filter((c) => c.calls.length && c.calls.length <= 2000);
    if (drawn.length < 2) continue;
    if (group[0].calls_from === "subject" && n < 2 && drawn.length >= 3) drawCalls(`${scenario}-calls-${++n}`, drawn);
    if (group[0].calls_from === "load" && group.length > 2) drawTime(`${scenario}-time-${++n}`, group);
  }
  let k = 0;
  for (const group of by(all.filter(step), rest)) {
    const values = new Set(group.map((c) => c.plan.setting[step(c)]));
    if (values.size < 2) continue;
    k++;
    const { form } = group[0].plan.setting;
    const lines = (value) => by(group, (c) => c.plan.mode).map((list) => ({
      name: list[0].plan.mode,
      points: list.map((c) => [c.plan.setting[step(c)], value(c)]).filter((p) => p[1] > 0).sort((a, b) => a[0] - b[0]),
    })).filter((line) => line.points.length > 1);
    const name = step(group[0]), suffix = form ? ` (${form})` : "";
    if (scenario !== "virtual-threads")
      drawLines(`${scenario}-total-${k}`, `${scenario}: total time against ${name}${suffix}`, name, lines((c) => c.measured.total_ns), seconds);
    drawLines(`${scenario}-threads-${k}`, `${scenario}: threads against ${name}${suffix}`, name, lines((c) => c.measured.threads_max), (v) => v.toLocaleString("en"));
  }
}
