// The page: the answer, then what it rests on, section by section. Everything is of the results.
import { mainCells, panels } from "./answer.js";
import { read } from "./data.js";
import { depth, families } from "./depth.js";
import { element } from "./dom.js";
import { facts } from "./facts.js";
import { filter } from "./filter.js";
import { findings } from "./findings.js";
import { count } from "./format.js";
import { latency } from "./latency.js";
import { drawAll } from "./picture.js";
import { prose } from "./prose.js";
import { result, words } from "./results.js";
import { runs } from "./runs.js";
import { completions, states } from "./shares.js";

const FIRST = 4; // groups of a section that are made at once; the others on demand
const flat = (parts) => parts.flat(3).filter(Boolean);

function section(id, title, ...parts) {
  const content = flat(parts);
  return content.length && element("section", { id, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title` }, title), content);
}

// make() of each; those after the first few when they are asked for.
function some(items, make) {
  const out = element("div");
  const more = element("button", { type: "button", class: "more", onclick: () => add(4 * FIRST) });
  let at = 0;
  const add = (most) => {
    for (const end = at + most; at < items.length && at < end;) {
      const made = flat([make(items[at++])]);
      out.append(...made);
    }
    more.hidden = at === items.length;
    more.textContent = `Show more: ${count(items.length - at)} are left`;
  };
  add(FIRST);
  return out.childElementCount ? [out, more] : [];
}

function render(data, isShown) {
  const cells = data.cells.filter(isShown);
  const groups = data.groups.map((group, k) => ({ ...group, number: k + 1, shown: group.cells.filter(isShown) }))
    .filter((group) => group.shown.length);
  const titled = (make) => (group) => {
    const parts = flat([make(group, data, cells)]);
    return parts.length ? [element("h3", {}, data.groups.length > 1 ? `Table ${group.number}: ${group.title}` : group.title), ...parts] : [];
  };
  const top = mainCells(cells);
  const first = top.length && panels(top, `Requests in flight against threads: ${data.groups[top[0].group].title.split(", --wait")[0]}`);
  document.getElementById("main").replaceChildren(...flat([
    first && element("section", { id: "top", "aria-label": "The answer as a picture" }, first),
    section("results", "Results", words(), some(groups, titled(result)), data.noise && element("p", { class: "note" }, data.noise)),
    section("findings", "Findings", findings(cells)),
    section("latency", "Latency", some(groups, (group) => latency(group, data))),
    section("depth", "Against depth", some(families(cells), depth)),
    section("completions", "Where completions arrived, and over whom", some(groups, titled(completions))),
    section("states", "What the threads did", some(groups, titled(states))),
    data.facts?.length && section("facts", "What is said of Linux, and what was measured here", facts(data.facts)),
    section("runs", "Run by run", runs(data, isShown)),
    section("method", "Environment, method, loss and cost", data.prose.filter(Boolean).map(prose)),
  ]));
}

function start() {
  const data = read();
  document.getElementById("answer").textContent = data.answer;
  document.getElementById("counted").textContent = [data.probe, `${count(data.run_count)} runs in ${count(data.cells.length)} cells.`,
    data.unreadable && `${count(data.unreadable)} runs could not be read and are left out.`].filter(Boolean).join(" ");
  render(data, filter(document.getElementById("filter"), data.cells, (isShown) => render(data, isShown)));
  addEventListener("beforeprint", drawAll);
  document.documentElement.dataset.ready = "yes";
}

start();
