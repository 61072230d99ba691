// The picture at the top: requests in flight against threads, a small panel for each engine.
import * as Plot from "@observablehq/plot";
import { greatest, group, max } from "d3";
import { colour, facets, layOut, panelTitles, plot } from "./chart.js";
import { isMeasured, nameCells } from "./data.js";
import { mean } from "./format.js";
import { picture } from "./picture.js";

const PANELS = 18;
const bars = [
  ["in flight", "in_flight_mean", colour.flight, "var(--on-flight)", "requests in flight"],
  ["parked", "threads_parked_mean", colour.parked, "var(--on-parked)", "threads parked"],
  ["held", "threads_held_mean", colour.held, "var(--on-held)", "threads held"],
];

// The first thing that was asked of nearly all engines, whatever they did while they waited.
export function mainCells(cells) {
  const shown = cells.filter((cell) => isMeasured(cell) && cell.summary.in_flight_mean != null && cell.engine !== "null");
  const families = [...group(shown, (cell) => `${cell.family} ${cell.depth}`).values()];
  const engines = (family) => new Set(family.map((cell) => cell.engine)).size;
  const most = max(families, engines);
  const rich = families.filter((family) => engines(family) >= 0.75 * most);
  // the deepest of it: there a thread for each request shows
  return greatest(rich.filter((family) => family[0].family === rich[0][0].family), (family) => family[0].depth ?? 0) ?? [];
}

export function panels(cells, title) {
  const shown = cells.slice(0, PANELS).map((cell) => ({ ...cell }));
  nameCells(shown);
  const most = max(shown, (cell) => max(bars, ([, field]) => cell.summary[field])) || 1;
  const label = shown.map((cell) =>
    `${cell.name}: ${bars.map(([, field, , , what]) => `${mean(cell.summary[field])} ${what}`).join(", ")}`).join("; ");

  return picture({
    title, label: `${title}. ${label}.`, height: 120,
    note: cells.length > PANELS ? `The first ${PANELS} of ${cells.length}; the tables have all.` : null,
    draw: (width) => drawPanels(shown, most, width),
  });
}

function drawPanels(shown, most, width) {
  const { panels: laid, columns, rows, width: wanted } = layOut(shown, width, 210);
  const lines = laid.flatMap(({ item, fx, fy }) => bars
    .map(([name, field, fill, on, what], i) => ({ fx, fy, i, name, fill, on, what, cell: item, value: item.summary[field] }))
    .filter((line) => line.value != null));
  const wide = (line) => line.value > 0.5 * most;
  const text = (inside) => Plot.text(lines.filter((line) => wide(line) === inside), {
    fx: "fx", fy: "fy", y: "i", x: "value", text: (line) => `${mean(line.value)} ${line.name}`,
    textAnchor: inside ? "end" : "start", dx: inside ? -5 : 5, fill: inside ? "on" : colour.ink, fontSize: 12,
    fontVariant: "tabular-nums",
  });
  if (!lines.length) return null;
  return plot({
    width: wanted, height: rows * 88 + 50, marginLeft: 4, marginRight: 8, marginTop: 24, marginBottom: 34, ...facets,
    x: { domain: [0, most], ticks: columns > 4 ? 3 : 4, label: "requests, or threads, on average", nice: false },
    y: { domain: [0, 1, 2], type: "band", axis: null, padding: 0.12 },
    color: { type: "identity" },
    marks: [
      Plot.ruleX([0], { stroke: colour.soft }),
      Plot.barX(lines, {
        fx: "fx", fy: "fy", y: "i", x: "value", fill: "fill", rx: 1,
        title: (line) => `${line.cell.name}: ${mean(line.value)} ${line.what}`,
      }),
      text(true), text(false), panelTitles(laid, (cell) => cell.name),
    ],
  });
}
