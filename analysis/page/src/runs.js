// Each run by itself, made when somebody asks for it.
import { element } from "./dom.js";
import { byName, count } from "./format.js";
import { table } from "./table.js";

const titles = {
  in_flight_mean: "in flight", served_mean: "served", threads_parked_mean: "parked", threads_held_mean: "held",
  held_per_served: "held / served", iops: "per s", latency_p50_ns: "p50", latency_p99_ns: "p99",
  latency_max_ns: "max", cpu_ns_per_operation: "CPU / op",
};

const settings = (cell) => Object.entries(cell.settings)
  .map(([name, value]) => `${name} ${typeof value === "string" ? value : byName(name, value)}`).join(", ");

export function runs(data, isShown) {
  const rows = data.runs.rows.filter(([cell]) => isShown(data.cells[cell]));
  const cell = ([number]) => data.cells[number];
  const columns = [
    { name: "engine", value: (row) => cell(row).engine },
    { name: "workload", left: true, value: (row) => cell(row).workload },
    { name: "--wait", key: "wait", left: true, value: (row) => cell(row).wait },
    { name: "depth", value: (row) => cell(row).depth, show: (row) => count(cell(row).depth) },
    { name: "repeat", value: (row) => row[1], show: (row) => count(row[1]) },
    { name: "status", left: true, value: (row) => row[2] },
    ...data.runs.figures.map((field, i) => ({
      name: titles[field] ?? field, key: field, value: (row) => row[4 + i], show: (row) => byName(field, row[4 + i]),
    })),
    { name: "probe", left: true, value: (row) => cell(row).probe?.name },
    { name: "lost", key: "lost_events", value: (row) => row[3], show: (row) => count(row[3]) },
    { name: "settings", prose: true, value: (row) => settings(cell(row)) },
  ];
  const folded = element("details", {
    ontoggle: () => {
      if (folded.open && !folded.querySelector("table")) folded.append(table({ title: "runs", caption: "Each run", columns, rows }));
    },
  }, element("summary", {}, `${count(rows.length)} runs, one by one`));
  return [folded];
}
