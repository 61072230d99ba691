// What is said of Linux against what these runs measured.
import { element } from "./dom.js";
import { count, ratio } from "./format.js";
import { table } from "./table.js";

const marks = { agrees: "✓", contradicts: "✗", "cannot be told": "?", "cannot be tested here": "–" };
const many = { agrees: "agree", contradicts: "contradict" };

function limits({ figure, least, most }) {
  if (!figure) return "";
  const range = most == null ? `at least ${least}` : least === most ? `${least}` : least === 0 ? `at most ${most}` : `${least} to ${most}`;
  return `${figure}: ${range}`;
}

function measured(fact) {
  if (!fact.measured) return "";
  return fact.low == null ? `${ratio(fact.value)} (one run)`
    : `${ratio(fact.value)} (${ratio(fact.low)} to ${ratio(fact.high)}, ${count(fact.measured)} runs)`;
}

export function facts(all) {
  const told = Object.keys(marks).map((verdict) => [all.filter((fact) => fact.verdict === verdict).length, verdict])
    .filter(([number]) => number).map(([number, verdict]) => `${number} ${many[verdict] ?? verdict}`).join(", ");
  const columns = [
    { name: "", key: "number", value: (fact) => fact.number },
    { name: "expected", prose: true, value: (fact) => fact.says },
    { name: "verdict", left: true, value: (fact) => fact.verdict, show: (fact) => `${marks[fact.verdict] ?? ""} ${fact.verdict}` },
    { name: "figure and limits", prose: true, value: limits },
    { name: "measured here", prose: true, value: measured },
    { name: "why", prose: true, value: (fact) => fact.why },
  ];
  return [
    element("p", {}, `Each was seen once, on Linux 6.18 with ext4 on a virtio disk, and is tested anew by these runs: ${told}. ` +
      "Measured is the median of the runs that test it, with the interval of 95 % by bootstrap over them."),
    table({ title: "what is said of Linux", caption: `${all.length} statements`, columns, rows: all }),
  ];
}
