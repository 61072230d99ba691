// The tables: one for each group of cells that differ in one respect alone.
import { mainCells, panels } from "./answer.js";
import { isMeasured } from "./data.js";
import { element } from "./dom.js";
import { count, mean, ratio, time } from "./format.js";
import { table } from "./table.js";

const REASONS = 20;

const figure = (name, field, show) => ({
  name, key: field, value: (cell) => cell.summary[field], show: (cell) => (isMeasured(cell) ? show(cell.summary[field]) : ""),
});

const columns = [
  { name: "engine", value: (cell) => cell.engine, show: (cell) => cell.name },
  { name: "workload", value: (cell) => cell.workload, left: true, constant: true },
  { name: "--wait", key: "wait", value: (cell) => cell.wait, left: true, constant: true },
  { name: "asked", key: "depth", value: (cell) => cell.depth, show: (cell) => count(cell.depth) },
  figure("in flight", "in_flight_mean", mean), figure("served", "served_mean", mean),
  figure("parked", "threads_parked_mean", mean), figure("held", "threads_held_mean", mean),
  figure("held / served", "held_per_served", ratio),
  {
    name: "per s", key: "iops", value: (cell) => cell.summary.iops,
    show: (cell) => (!isMeasured(cell) ? "" : count(cell.summary.iops) +
      (cell.iops_deviation != null ? ` ± ${count(cell.iops_deviation)}` : "")),
  },
  figure("p50", "latency_p50_ns", time), figure("p99", "latency_p99_ns", time),
  figure("CPU / op", "cpu_ns_per_operation", time),
  { name: "runs", value: (cell) => cell.runs, show: (cell) => count(cell.runs) },
  { name: "status", hidden: true, value: (cell) => cell.status }, { name: "why", hidden: true, value: (cell) => cell.why },
];

export function result(group, data, cells) {
  const measured = group.shown.filter(isMeasured);
  const top = new Set(mainCells(cells));
  const drawn = measured.filter((cell) => cell.summary.in_flight_mean != null);

  return [
    drawn.some((cell) => !top.has(cell)) && panels(drawn, `Requests in flight against threads: ${group.title}`),
    table({
      title: `results ${group.title}`, caption: `${measured.length} of ${group.shown.length} measured`, rows: group.shown, columns,
    }),
    group.verdict && element("p", {}, group.verdict),
    measured.length < group.shown.length && element("ul", { class: "note" }, group.shown.filter((cell) => !isMeasured(cell))
      .slice(0, REASONS).map((cell) => element("li", {}, element("b", {}, cell.name), ` was ${cell.status}: ${cell.why}`))),
  ];
}

export const words = () => element("p", { class: "note" },
  "Parked: off the CPU until I/O completes. Held: parked, or running or ready inside that same call or wait. " +
  "Served: the requests on which the kernel or the peer works, without those that wait for a worker. " +
  "Held / served: threads held for each request being served. -: not measured; 0: measured, and none.");
