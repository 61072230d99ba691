// Findings by their tag: answers, then problems, then limits of the measurement.
import { group } from "d3";
import { element } from "./dom.js";
import { byName } from "./format.js";

const SHOWN = 60;
const classes = ["answer", "problem", "limit"];
const plural = { answer: "Answers", problem: "Problems", limit: "Limits of the measurement" };

const evidence = (finding) => Object.entries(finding.evidence ?? {})
  .map(([name, value]) => `${name} ${byName(name, value)}`).join(", ");

const item = ({ cell, finding }) => element("li", {},
  element("b", {}, `${cell.engine} ${cell.workload} ${cell.wait ?? ""}`.trim(), cell.depth != null ? `, depth ${cell.depth}` : ""),
  ` ${finding.confidence ? `(${finding.confidence})` : ""}: ${finding.text ?? ""}`,
  evidence(finding) && element("span", { class: "evidence" }, ` Evidence: ${evidence(finding)}.`),
  finding.advice && element("span", {}, element("em", {}, " Try: "), finding.advice));

function ofTag(tag, list) {
  const rest = element("ul");
  const folded = element("details", {
    ontoggle: () => { if (!rest.childElementCount) rest.append(...list.slice(1, SHOWN).map(item)); },
  }, element("summary", {}, `${list.length - 1} more${list.length > SHOWN ? `, of which ${SHOWN - 1} are shown` : ""}`), rest);
  return element("div", { class: "finding" }, element("h4", {}, tag), element("ul", {}, item(list[0])), list.length > 1 && folded);
}

export function findings(cells) {
  const all = cells.flatMap((cell) => cell.findings.map((finding) => ({ cell, finding })));
  return classes.flatMap((name) => {
    const tags = group(all.filter(({ finding }) => finding.class === name), ({ finding }) => finding.tag ?? "-");
    return tags.size ? [element("h3", {}, plural[name]), ...[...tags].map(([tag, list]) => ofTag(tag, list))] : [];
  });
}
