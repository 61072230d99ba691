// Sets the few things of Markdown that the document's prose uses: headings, items, emphasis, tables.
import { element } from "./dom.js";
import { table } from "./table.js";

const entities = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };
const plain = (text) => text.replace(/\\(.)|&(?:lt|gt|amp);/g, (all, escaped) => escaped ?? entities[all]);

// *words* in emphasis; a backslash takes a star's meaning away.
function spans(text) {
  return text.split(/((?<!\\)\*(?:[^*\\]|\\.)+\*)/).filter(Boolean).map((part) =>
    /^\*.+\*$/.test(part) ? element("em", {}, plain(part.slice(1, -1))) : plain(part));
}

// Its second line tells by "--:" which columns hold figures.
function grid(lines, title) {
  const [names, kinds, ...rows] = lines.map((line) => line.slice(1, -1).split(/(?<!\\)\|/).map((text) => plain(text.trim())));
  const columns = names.map((name, i) => ({ name, left: !kinds[i].endsWith(":"), value: (row) => row[i] }));
  return table({ title, columns, rows });
}

export function prose(markdown) {
  let title = "";
  return markdown.split(/\n{2,}/).filter((block) => block.trim()).map((block) => {
    const lines = block.trim().split("\n");
    if (lines[0].startsWith("## ")) return element("h3", {}, spans(title = lines[0].slice(3)));
    if (lines[0].startsWith("| ")) return grid(lines, title);
    if (lines[0].startsWith("* ")) return element("ul", {}, lines.map((line) => element("li", {}, spans(line.replace(/^\* /, "")))));
    return element("p", {}, spans(lines.join(" ")));
  });
}
