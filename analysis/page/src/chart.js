// What all pictures have in common: their plain frame, small panels, and the key to colours.
import * as Plot from "@observablehq/plot";
import { element } from "./dom.js";

export const colour = {
  flight: "var(--flight)", parked: "var(--parked)", held: "var(--held)", faint: "var(--faint)",
  ink: "var(--ink)", soft: "var(--soft)",
};

// In the order in which the results name them.
export const stateColours = {
  running: "var(--running)", runnable: "var(--runnable)", "parked-direct": "var(--parked)",
  "parked-waiter": "var(--waiter)", "parked-on-result": "var(--on-result)", idle: "var(--idle)",
  other: "var(--other)", unseen: "var(--unseen)",
};

export function plot(options) {
  return Plot.plot({ className: "plot", style: { background: "none", overflow: "visible" }, ...options });
}

// Items laid out as small panels: each gets its column (fx) and row (fy).
export function layOut(items, width, least) {
  const columns = Math.max(1, Math.min(items.length, Math.floor(width / least)));
  return {
    columns, width: Math.min(width, columns * 2 * least), rows: Math.ceil(items.length / columns),
    panels: items.map((item, i) => ({ item, fx: i % columns, fy: Math.floor(i / columns) })),
  };
}

// The panels' names above each.
export const panelTitles = (panels, name) => Plot.text(panels, {
  fx: "fx", fy: "fy", text: (panel) => name(panel.item), frameAnchor: "top-left", dy: -16,
  fill: colour.ink, fontWeight: 600, fontSize: 12,
});

export const facets = { fx: { axis: null, padding: 0.1 }, fy: { axis: null, padding: 0.26 } };

// Words with their colours, in the order in which the picture has them.
export const key = (entries) => element("p", { class: "key" }, entries.map(([name, fill]) => {
  const swatch = element("i", { "aria-hidden": "true" });
  swatch.style.background = fill;
  return element("span", {}, swatch, name);
}));

// What is cut off so that a picture stays readable is said.
export function atMost(items, most) {
  return {
    shown: items.slice(0, most),
    note: items.length > most
      ? `The first ${most} of ${items.length}; the filter above narrows them, and the table has all.` : null,
  };
}
