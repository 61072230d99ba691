// Which engines and workloads are shown. With none chosen, all are.
import { element } from "./dom.js";

const MOST = 40;

function chips(title, names, chosen, changed) {
  return element("fieldset", {}, element("legend", {}, title), names.slice(0, MOST).map((name) =>
    element("label", {}, element("input", {
      type: "checkbox", value: name,
      onchange: (event) => {
        if (event.target.checked) chosen.add(name);
        else chosen.delete(name);
        changed();
      },
    }), element("span", {}, name))));
}

// Builds it into place; changed() is called with a test of cells.
export function filter(place, cells, changed) {
  const engines = new Set(), workloads = new Set();
  const names = (take) => [...new Set(cells.map(take))];
  const said = element("p", { class: "said", role: "status" });
  const isShown = (cell) =>
    (!engines.size || engines.has(cell.engine)) && (!workloads.size || workloads.has(cell.workload));
  const tell = () => {
    const shown = cells.filter(isShown).length;
    said.textContent = shown === cells.length ? "" : `${shown} of ${cells.length} cells shown`;
    changed(isShown);
  };
  const all = element("button", {
    type: "button", class: "quiet",
    onclick: () => {
      engines.clear();
      workloads.clear();
      place.querySelectorAll("input").forEach((input) => { input.checked = false; });
      tell();
    },
  }, "Show all");
  place.append(chips("Engine", names((cell) => cell.engine), engines, tell),
    chips("Workload", names((cell) => cell.workload), workloads, tell), all, said);
  return isShown;
}
