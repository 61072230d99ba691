// Sets the few things of Markdown that the document's prose uses: headings, items, emphasis.
import { element } from "./dom.js";

const entities = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };
const plain = (text) => text.replace(/\\(.)|&(?:lt|gt|amp);/g, (all, escaped) => escaped ?? entities[all]);

// *words* in emphasis; a backslash takes a star's meaning away.
function spans(text) {
  return text.split(/((?<!\\)\*(?:[^*\\]|\\.)+\*)/).filter(Boolean).map((part) =>
    /^\*.+\*$/.test(part) ? element("em", {}, plain(part.slice(1, -1))) : plain(part));
}

export function prose(markdown) {
  return markdown.split(/\n{2,}/).filter((block) => block.trim()).map((block) => {
    const lines = block.trim().split("\n");
    if (lines[0].startsWith("## ")) return element("h3", {}, spans(lines[0].slice(3)));
    if (lines[0].startsWith("* ")) return element("ul", {}, lines.map((line) => element("li", {}, spans(line.replace(/^\* /, "")))));
    return element("p", {}, spans(lines.join(" ")));
  });
}
