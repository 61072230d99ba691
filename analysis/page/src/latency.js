// Latency as curves over percentiles, a panel for each cell with the others in grey behind it.
import * as Plot from "@observablehq/plot";
import { extent, range } from "d3";
import { atMost, colour, facets, layOut, panelTitles, plot } from "./chart.js";
import { time } from "./format.js";
import { picture } from "./picture.js";

const PANELS = 20;
const nines = (quantile) => -Math.log10(1 - quantile);
const percentile = (quantile) => `${Number((100 * quantile).toFixed(4))} %`;

function points(cell, curve, what, quantiles) {
  return (cell[curve] ?? []).slice(0, quantiles.length)
    .map((ns, i) => ({ cell, what, ns, quantile: quantiles[i], x: nines(quantiles[i]) }))
    .filter((point) => point.ns > 0);
}

export function latency(group, data) {
  const { shown, note } = atMost(group.shown.filter((cell) => cell.submitted || cell.scheduled), PANELS);
  const open = shown.some((cell) => cell.scheduled);
  if (!shown.length) return [];
  return [picture({
    title: `Latency: ${group.title}`, note, height: 240,
    label: `Latency over percentiles, ${group.title}. ${shown.map((cell) =>
      `${cell.name}: median ${time(cell.summary.latency_p50_ns)}, 99th percentile ${time(cell.summary.latency_p99_ns)}`).join("; ")}.`,
    draw: (width) => draw(shown, data.quantiles, width, open),
  })];
}

// Round times between the least and the most: a few.
function timeTicks(low, high) {
  const steps = Math.log10(high / low) > 1.6 ? [1] : [1, 2, 3, 5];
  const round = range(0, 12).flatMap((power) => steps.map((step) => step * 10 ** power)).filter((ns) => ns >= low && ns <= high);
  return round.length > 1 ? round : high > 1.1 * low ? [low, high] : [high];
}

function draw(shown, quantiles, width, open) {
  const { panels, columns, rows, width: wanted } = layOut(shown, width, 200);
  const submitted = shown.flatMap((cell) => points(cell, "submitted", "from submission", quantiles));
  const place = new Map(panels.map((panel) => [panel.item, panel]));
  const own = [...submitted, ...shown.flatMap((cell) => points(cell, "scheduled", "from the schedule", quantiles))]
    .map((point) => ({ ...point, fx: place.get(point.cell).fx, fy: place.get(point.cell).fy }));
  const ends = [];
  for (const what of open ? ["from submission", "from the schedule"] : [])
    for (const panel of panels) {
      const last = own.filter((point) => point.cell === panel.item && point.what === what).at(-1);
      if (last) ends.push(last);
    }
  if (!own.length) return null;
  const most = Math.max(...own.map((point) => point.x));
  const [low, high] = extent(own, (point) => point.ns);
  const wide = wanted / columns > 60 * most;
  return plot({
    width: wanted, height: rows * 150 + 78, marginLeft: 56, marginTop: 44, marginBottom: 38, marginRight: 14, ...facets,
    x: {
      domain: [0, most], ticks: (wide ? [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999] : [0.5, 0.99, 0.9999]).map(nines).filter((x) => x <= most),
      tickFormat: (x) => percentile(1 - 10 ** -x).replace(" %", ""), label: "percentile of requests, %",
    },
    y: { type: "log", domain: [0.9 * low, 1.1 * high], ticks: timeTicks(low, high), tickFormat: time, tickSize: 0, label: "latency", grid: true },
    marks: [
      Plot.line(submitted, { x: "x", y: "ns", z: (point) => point.cell.number, stroke: colour.faint }),
      Plot.line(own, {
        fx: "fx", fy: "fy", x: "x", y: "ns", z: "what", strokeWidth: 2, stroke: colour.flight,
        strokeDasharray: (point) => (point.what === "from submission" ? null : "5 3"),
      }),
      Plot.dot(own, {
        fx: "fx", fy: "fy", x: "x", y: "ns", r: 6, fill: colour.flight, fillOpacity: 0,
        title: (point) => `${point.cell.name}: ${percentile(point.quantile)} within ${time(point.ns)}, ${point.what}`,
      }),
      ...[["from submission", 10], ["from the schedule", -8]].map(([what, dy]) =>
        Plot.text(ends.filter((point) => point.what === what), {
          fx: "fx", fy: "fy", x: "x", y: "ns", text: "what", textAnchor: "end", dy, fill: colour.ink, fontSize: 11,
        })),
      panelTitles(panels, (cell) => cell.name),
    ],
  });
}
