// The results, as they stand in the page: a JSON object in pieces.
import { group as byTitle } from "d3";

export function read() {
  const data = JSON.parse([...document.querySelectorAll("script[type='application/json']")].map((piece) => piece.textContent).join(""));
  const Summary = summaries(data.figures);
  data.cells.forEach((cell, number) => {
    cell.number = number;
    cell.summary = new Summary(cell.summary);
    cell.engine ??= "-";
    cell.workload ??= "-";
    cell.family = JSON.stringify([cell.workload, cell.settings.block_bytes, cell.settings.direct,
      ...["rate_per_s", "files", "fsync_every", "read_percent", "connections", "delay_min_ns",
        "delay_max_ns", "cache", "transport", "arrival", "peer", "filesystem", "host"]
        .map((key) => cell.settings[key])]);
  });
  data.groups.forEach((group, number) => {
    group.number = number;
    group.cells = [];
  });
  for (const cell of data.cells) data.groups[cell.group].cells.push(cell);
  for (const group of data.groups) nameCells(group.cells);
  nameGroups(data.groups);
  return data;
}

// The figures of a cell by their names, over the row in which they came: thousands of objects with
// dozens of fields would take longer to make than all else.
function summaries(figures) {
  class Summary {
    constructor(row) { this.row = row ?? []; }
  }
  figures.forEach((name, i) => Object.defineProperty(Summary.prototype, name, { get() { return this.row[i]; } }));
  return Summary;
}

// Titles leave out what most results have in common: it is added where they do not.
function nameGroups(groups) {
  for (const [say, take] of [["depth", (cell) => cell.depth], ["", (cell) => cell.settings.filesystem], ["", (cell) => cell.settings.host]]) {
    const values = (list) => new Set(list.flatMap((group) => group.cells.map(take)));
    for (const same of byTitle(groups, (group) => group.title).values())
      if (values(same).size > 1)
        for (const group of same)
          if (values([group]).size === 1) group.title += `, ${`${say} ${take(group.cells[0]) ?? "-"}`.trim()}`;
  }
}

// The shortest name that tells a cell from the others beside it.
export function nameCells(cells) {
  const several = (take) => new Set(cells.map(take)).size > 1;
  const parts = [
    [(c) => c.engine, (c) => c.engine],
    [(c) => c.workload, (c) => c.workload],
    [(c) => c.wait, (c) => (c.wait === "park" ? "" : c.wait ?? "")],
    [(c) => c.depth, (c) => `depth ${c.depth ?? "-"}`],
    [(c) => c.settings.host, (c) => c.settings.host ?? ""],
  ].filter(([take], i) => i === 0 || several(take));
  for (const cell of cells) cell.name = parts.map(([, say]) => say(cell)).filter(Boolean).join(" ");
  const seen = new Map();
  for (const cell of cells) seen.set(cell.name, (seen.get(cell.name) ?? 0) + 1);
  for (const cell of cells)
    if (seen.get(cell.name) > 1)
      cell.name += ["threads", "pool"].filter((key) => cell.settings[key] != null)
        .map((key) => ` ${cell.settings[key]} ${key === "pool" ? "in the pool" : "threads"}`).join("");
}

export const isMeasured = (cell) => cell.measured > 0;
