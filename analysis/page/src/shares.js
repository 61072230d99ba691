// Bars that sum to 100 %: where completions arrived, over whom, who posted them; what threads did.
import * as Plot from "@observablehq/plot";
import { sum } from "d3";
import { atMost, key, plot, stateColours } from "./chart.js";
import { element } from "./dom.js";
import { count, mean, percent, time } from "./format.js";
import { picture } from "./picture.js";
import { table } from "./table.js";

const ROWS = 40;

const arrivals = [
  ["The device's half: in which context it arrived", "arrived_in",
    [["hard interrupt", "var(--tone-1)"], ["soft interrupt", "var(--tone-2)"], ["task", "var(--tone-3)"]]],
  ["Over whom it arrived", "arrived_over",
    [["an idle CPU", "var(--tone-4)"], ["the subject", "var(--tone-1)"], ["others", "var(--tone-3)"]]],
  ["The other half: who posted the result", "posted_in",
    [["submitter", "var(--tone-1)"], ["worker", "var(--tone-3)"], ["SQPOLL", "var(--tone-4)"], ["interrupt", "var(--tone-2)"]]],
];

// rows: {name, counts}; entries: [[name, colour]] in the order of counts.
function draw(rows, entries, width, unit) {
  const parts = rows.flatMap((row, y) => {
    const all = sum(row.counts);
    let at = 0;
    return row.counts.map((value, i) => {
      const from = at;
      at += (value ?? 0) / all;
      return { y, row, value, from, to: at, name: entries[i][0], fill: entries[i][1] };
    }).filter((part) => part.value > 0);
  });
  const left = Math.min(190, 0.38 * width, Math.max(60, 7 * Math.max(...rows.map((row) => row.name.length))));
  const room = Math.floor(left / 6.4);
  return plot({
    width, height: rows.length * 24 + 52, marginLeft: left, marginTop: 6, marginBottom: 36, marginRight: 18,
    x: { domain: [0, 1], ticks: width < 420 ? 2 : 4, tickFormat: (share) => `${Math.round(100 * share)}`, label: "share, %" },
    y: {
      domain: rows.map((row, y) => y), type: "band", padding: 0.16, label: null, tickSize: 0,
      tickFormat: (y) => (rows[y].name.length > room ? `${rows[y].name.slice(0, room - 1)}…` : rows[y].name),
    },
    color: { type: "identity" },
    marks: [
      Plot.barX(parts, {
        y: "y", x1: "from", x2: "to", fill: "fill", stroke: "var(--paper)", strokeWidth: 1,
        title: (part) => `${part.row.name}: ${part.name} ${percent(part.to - part.from)} (${unit(part.value)})`,
      }),
    ],
  });
}

function shares(title, rows, entries, unit) {
  const usable = rows.filter((row) => row.counts && sum(row.counts) > 0);
  const { shown, note } = atMost(usable, ROWS);
  if (!shown.length) return null;
  const used = entries.filter((entry, i) => shown.some((row) => row.counts[i] > 0));
  const say = (row) => `${row.name}: ${entries.map(([name], i) => [name, row.counts[i] / sum(row.counts)])
    .filter(([, share]) => share > 0).map(([name, share]) => `${name} ${percent(share)}`).join(", ")}`;
  const made = picture({
    title, note, label: `${title}. ${shown.map(say).join("; ")}.`, height: shown.length * 24 + 52,
    draw: (width) => draw(shown, entries, width, unit),
  });
  made.querySelector("figcaption").after(key(used));
  return made;
}

export function completions(group) {
  const cells = group.shown.filter((cell) => cell.probe && arrivals.some(([, field]) => cell.probe[field]));
  if (!cells.length) return [];
  const columns = [
    { name: "run", value: (cell) => cell.name },
    ...arrivals.flatMap(([, field, entries]) => entries.map(([name], i) => ({
      name, key: `${field} ${name}`, value: (cell) => cell.probe[field]?.[i], show: (cell) => count(cell.probe[field]?.[i]),
    }))),
    ...["from idle CPUs", "from the subject", "from others", "as task work"].map((name, i) => ({
      name: `borrowed ${name}`, key: `borrowed_ns ${name}`, value: (cell) => cell.probe.borrowed_ns?.[i],
      show: (cell) => time(cell.probe.borrowed_ns?.[i]),
    })),
    { name: "nobody parked at", key: "nobody_parked_share", value: (cell) => cell.summary.nobody_parked_share, show: (cell) => percent(cell.summary.nobody_parked_share) },
    { name: "borrowed / op", key: "borrowed_ns_per_operation", value: (cell) => cell.summary.borrowed_ns_per_operation, show: (cell) => time(cell.summary.borrowed_ns_per_operation) },
    { name: "speed kept", key: "compute_speed_ratio", value: (cell) => cell.summary.compute_speed_ratio, show: (cell) => percent(cell.summary.compute_speed_ratio) },
  ];
  return [
    element("div", { class: "side" }, arrivals.map(([title, field, entries]) =>
      shares(title, cells.map((cell) => ({ name: cell.name, counts: cell.probe[field] })), entries, (value) => `${count(value)} completions`))),
    table({ title: `completions ${group.title}`, caption: "Counts, and CPU time borrowed", columns, rows: cells }),
  ];
}

export function states(group, data) {
  const rows = group.shown.flatMap((cell) => (cell.probe?.kinds ?? []).map(([kind, most, means, running, ready, parks]) =>
    ({ name: cell.probe.kinds.length > 1 || kind !== "application" ? `${cell.name} ${kind}` : cell.name, cell, kind, most, counts: means, running, ready, parks })));
  if (!rows.length) return [];
  const columns = [
    { name: "run", value: (row) => row.cell.name }, { name: "kind", left: true, value: (row) => row.kind },
    { name: "at most", key: "threads_max", value: (row) => row.most, show: (row) => count(row.most) },
    ...data.states.map((name, i) => ({ name, value: (row) => row.counts?.[i], show: (row) => mean(row.counts?.[i]) })),
    { name: "in the call, running", value: (row) => row.running, show: (row) => mean(row.running) },
    { name: "in the call, ready", value: (row) => row.ready, show: (row) => mean(row.ready) },
    { name: "parks", value: (row) => row.parks, show: (row) => count(row.parks) },
  ];
  return [
    shares(`States of threads: ${group.title}`, rows, data.states.map((name) => [name, stateColours[name] ?? "var(--other)"]),
      (value) => `${mean(value)} threads on average`),
    table({ title: `states ${group.title}`, caption: "Threads in each state, on average", columns, rows }),
  ];
}
