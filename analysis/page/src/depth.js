// Threads and throughput against the depth, where the same thing was asked at several depths.
import * as Plot from "@observablehq/plot";
import { group } from "d3";
import { atMost, colour, facets, layOut, panelTitles, plot } from "./chart.js";
import { isMeasured } from "./data.js";
import { count, mean, short } from "./format.js";
import { picture } from "./picture.js";

const PANELS = 20;

// [[title, lines]]; a line is an engine and a way of waiting, at two depths or more.
export function families(cells) {
  const found = [];
  for (const family of group(cells.filter((cell) => isMeasured(cell) && cell.depth > 0), (cell) => cell.family).values()) {
    const lines = [...group(family, (cell) => JSON.stringify([cell.engine, cell.wait])).values()]
      .filter((line) => new Set(line.map((cell) => cell.depth)).size > 1)
      .map((line) => ({
        name: [line[0].engine, line[0].wait !== "park" && line[0].wait].filter(Boolean).join(" "),
        cells: line.toSorted ? line.toSorted((a, b) => a.depth - b.depth) : [...line].sort((a, b) => a.depth - b.depth),
      }));
    if (lines.length) found.push({ title: title(family[0]), lines });
  }
  return found;
}

function title(cell) {
  const { block_bytes: block, direct, filesystem } = cell.settings;
  const disk = cell.workload.startsWith("disk-");
  return [cell.workload, disk && block && `${block / 1024} KiB`, disk && (direct ? "direct" : "buffered"), disk && filesystem]
    .filter(Boolean).join(", ");
}

export function depth(family) {
  const { shown, note } = atMost(family.lines, PANELS);
  const say = (field, show) => shown.map((line) => `${line.name}: ${line.cells.map((cell) =>
    `${show(cell.summary[field])} at depth ${cell.depth}`).join(", ")}`).join("; ");
  return [
    picture({
      title: `Threads parked against depth: ${family.title}`, note, label: `Threads parked. ${say("threads_parked_mean", mean)}.`,
      draw: (width) => draw(shown, width, "threads_parked_mean", "threads parked", mean, colour.parked),
    }),
    picture({
      title: `Throughput against depth: ${family.title}`, note, label: `Operations a second. ${say("iops", count)}.`,
      draw: (width) => draw(shown, width, "iops", "operations per second", short, colour.flight),
    }),
  ];
}

function draw(lines, width, field, what, show, stroke) {
  const { panels, rows, width: wanted } = layOut(lines, width, 190);
  const own = panels.flatMap(({ item, fx, fy }) => item.cells
    .filter((cell) => cell.summary[field] != null)
    .map((cell) => ({ fx, fy, line: item, depth: cell.depth, value: cell.summary[field] })));
  if (!own.length) return null;
  const depths = [...new Set(own.map((point) => point.depth))].sort((a, b) => a - b);
  const every = Math.ceil(depths.length / 5);
  return plot({
    width: wanted, height: rows * 130 + 78, marginLeft: 50, marginTop: 44, marginBottom: 38, marginRight: 14, ...facets,
    x: { type: "log", base: 2, ticks: depths.filter((d, i) => i % every === 0), tickFormat: count, label: "requests wanted in flight (depth)" },
    y: { domain: [0, Math.max(...own.map((point) => point.value)) || 1], nice: true, ticks: 4, tickFormat: short, label: what, grid: true },
    marks: [
      Plot.ruleY([0], { stroke: colour.soft }),
      Plot.line(own.map(({ fx, fy, ...point }) => point), { x: "depth", y: "value", z: (point) => point.line.name, stroke: colour.faint }),
      Plot.line(own, { fx: "fx", fy: "fy", x: "depth", y: "value", stroke, strokeWidth: 2 }),
      Plot.dot(own, {
        fx: "fx", fy: "fy", x: "depth", y: "value", fill: stroke, r: 3,
        title: (point) => `${point.line.name}, depth ${count(point.depth)}: ${show(point.value)} ${what}`,
      }),
      panelTitles(panels, (line) => line.name),
    ],
  });
}
